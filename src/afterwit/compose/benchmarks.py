"""What the benchmarks run on: a ledger that goes when they are done, the default embedder, environments outside."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from afterwit import models
from afterwit.benchmarks.answers import read_responses, read_runs
from afterwit.benchmarks.bfcl import score as bfcl
from afterwit.benchmarks.bfcl.environment import Bfcl
from afterwit.benchmarks.bfcl.play import Answer, Calls, Player
from afterwit.benchmarks.browsecomp_zh import score as browsecomp_zh
from afterwit.benchmarks.browsecomp_zh.data import load as load_questions
from afterwit.benchmarks.injection import run as injection
from afterwit.benchmarks.longcontext import run as longcontext
from afterwit.benchmarks.perceive import run as perceiving
from afterwit.benchmarks.perceive.fit import fit
from afterwit.benchmarks.perceive.pages import pages
from afterwit.benchmarks.recsys import run as recsys
from afterwit.benchmarks.tau2.attribution import attribution
from afterwit.benchmarks.tau2.environment import Tau2
from afterwit.benchmarks.tau2.learning import learning, model_learning
from afterwit.benchmarks.tau2.model_agent import ModelAgent, Next, Planned, Speaker
from afterwit.benchmarks.upworthy.run import run
from afterwit.benchmarks.upworthy.sample import sample, split
from afterwit.benchmarks.vitabench import score as vitabench
from afterwit.benchmarks.vitabench.data import load as load_tasks
from afterwit.benchmarks.world import run as world
from afterwit.benchmarks.world.parameters import Parameters
from afterwit.compose.memory import IN_MEMORY
from afterwit.compose.perception import open_browser, open_readers
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.evaluate.chime.protocol import ChimeRules
from afterwit.evaluate.record import EvaluationRecord
from afterwit.ports import Chat, Progress
from afterwit.providers.embedder import SentenceEncoder
from afterwit.store.open import open_store
from afterwit.store.segments import Segments


def worded(record: EvaluationRecord, chat: Chat, progress: Progress | None = None) -> EvaluationRecord:
    """The record with the cards of its bank worded by a model, as one more round that names what was refused."""

    if not record.rounds:
        return record
    round_ = models.reworded(record.cards, models.worder(chat), like=record.rounds[-1], progress=progress)
    cards = tuple(edit.writes[0] for edit in round_.edits)
    taken = sum(card.guidance != before.guidance for card, before in zip(cards, record.cards, strict=True))
    note = f"{taken} of {len(cards)} cards are worded by {chat.name}; of the others the deterministic sentence stands."
    return replace(record, cards=cards, rounds=(*record.rounds, round_), notes=(*record.notes, note))


def evaluate_upworthy(
    history: Path, future: Path, *, capacity: int, seed: int, progress: Progress | None = None
) -> EvaluationRecord:
    """The headline benchmark on a ledger of its own, which goes when it is done."""

    with TemporaryDirectory(prefix="afterwit-") as folder:
        store = open_store(IN_MEMORY)
        try:
            return run(
                history,
                future,
                store=store,
                log=Segments(folder),
                capacity=capacity,
                seed=seed,
                embedder=SentenceEncoder(),
                progress=progress,
            )
        finally:
            store.close()


def evaluate_attribution(
    domains: Sequence[str],
    *,
    most: int,
    seeds: int,
    gate: Chat | None = None,
    repeats: int = 0,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """The attribution set on τ²-bench, whose Python ``AFTERWIT_TAU2_PYTHON`` names. Raises UsageError without it."""
    named = f"model:{gate.name}" if gate else ""
    gates = {named: models.gate(gate)} if gate else {}
    again = {named: models.repeated_gates(gate, repeats)} if gate and repeats else {}
    with Tau2() as world:
        return attribution(world, domains, most=most, seeds=seeds, gates=gates, repeats=again, progress=progress)


def evaluate_learning(
    domains: Sequence[str], *, orders: int, seed: int, progress: Progress | None = None
) -> EvaluationRecord:
    """The scripted learning agent on τ²-bench. Raises UsageError without its Python."""
    with Tau2() as world:
        rules = ChimeRules(orders=orders, seed=seed)
        return learning(world, domains, SentenceEncoder(), rules=rules, progress=progress)


def evaluate_model_learning(
    domains: Sequence[str],
    chat: Chat,
    *,
    gate: Chat | None,
    temperature: float,
    tasks: int | None,
    orders: int,
    seed: int,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """A model as the agent on τ²-bench. gate: a model that attributes; else the evidence gate, with replay."""
    speaker = Speaker(
        planned=models.asking(chat, Planned),
        next_call=models.asking(chat, Next),
        model=chat.name,
        temperature=temperature,
    )
    with Tau2() as world:
        agent = ModelAgent(world, speaker, domains, most=tasks)
        chosen = models.gate(gate) if gate else EvidenceGate(replay=agent.replay)
        rules = ChimeRules(orders=orders, seed=seed)
        return model_learning(agent, SentenceEncoder(), chosen, rules=rules, progress=progress)


def evaluate_bfcl(
    categories: Sequence[str], chat: Chat, *, most: int | None, progress: Progress | None = None
) -> EvaluationRecord:
    """A model at BFCL v4, whose Python ``AFTERWIT_BFCL_PYTHON`` names. Raises UsageError without it."""
    player = Player(calls=models.asking(chat, Calls), answer=models.asking(chat, Answer), model=chat.name)
    writer = models.profile_writer(chat)
    with Bfcl() as world:
        return bfcl.score(world, player, SentenceEncoder(), categories, most=most, writer=writer, progress=progress)


def evaluate_injection(folder: Path, chat: Chat, *, pages: int, progress: Progress | None = None) -> EvaluationRecord:
    """Orders hidden in pages, with a model that chooses."""
    reader = models.profile_reader(chat)
    return injection.run(folder, reader.rank, chat.name, n=pages, progress=progress)


def evaluate_longcontext(
    path: Path,
    lengths: Sequence[int],
    *,
    questions: int,
    chat: Chat | None,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """Questions hidden in long texts; with a chat its answers too."""
    reader = models.question_reader(chat) if chat else None
    return longcontext.run(path, lengths=lengths, most=questions, reader=reader, progress=progress)


def evaluate_browsecomp_zh(
    questions: Path, answers: Path, judge: Chat | None, *, progress: Progress | None = None
) -> EvaluationRecord:
    asking = models.asking(judge, browsecomp_zh.Judgement) if judge else None
    return browsecomp_zh.score(load_questions(questions), read_responses(answers), asking, progress=progress)


def evaluate_vitabench(
    tasks: Path, runs: Path, judge: Chat | None, *, progress: Progress | None = None
) -> EvaluationRecord:
    asking = models.asking(judge, vitabench.Checked) if judge else None
    return vitabench.score(load_tasks(tasks), read_runs(runs), asking, progress=progress)


def evaluate_perceive(
    folder: Path, *, reader: str | None, cache: Path | None, most: int | None, progress: Progress | None = None
) -> EvaluationRecord:
    """Pages against what people read on them. reader: who reads screenshots; None leaves that way out."""
    browser = open_browser(deadline=120.0, scripts=False) if reader else None
    readers = open_readers(reader) if reader else ()
    return perceiving.score(folder, browser=browser, readers=readers, cache=cache, most=most, progress=progress)


def fit_perceive(
    folder: Path, *, reader: str | None, cache: Path | None, progress: Progress | None = None
) -> Mapping[str, Mapping[str, float]]:
    """Weights of the evidence, from the half of the pages that rules were developed on."""
    browser = open_browser(deadline=120.0, scripts=False) if reader else None
    readers = open_readers(reader) if reader else ()
    found = [page for page in pages(folder) if page.half == "develop"]
    taken = perceiving.taken_in(found, browser=browser, readers=readers, cache=cache, progress=progress)
    return fit(found, taken.readings)


def evaluate_recsys(
    folder: Path,
    *,
    candidates: str,
    negatives: int,
    users: int | None,
    budget: int,
    windows: bool,
    train: bool,
    chat: Chat | None,
    seed: int,
    progress: Progress | None = None,
    told: Callable[[str], None] | None = None,
) -> EvaluationRecord:
    """Profiles beside other ways to use a history; with a chat also profiles that it writes."""
    return recsys.run(
        folder,
        SentenceEncoder(),
        candidates=candidates,
        negatives=negatives,
        most=users,
        budget=budget,
        windows=windows,
        train=train,
        told=told,
        writers={} if chat is None else {"model": models.profile_writer(chat)},
        seed=seed,
        progress=progress,
    )


def evaluate_tide(
    analysis: world.Analysis,
    *,
    parameters: Path | None,
    seed: int,
    seeds: int,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """The controlled world of a file of parameters, or the bundled one; its event logs go when it is done."""
    made = Parameters.load(parameters)
    with TemporaryDirectory(prefix="afterwit-") as folder:
        return world.run(
            analysis,
            SentenceEncoder(),
            parameters=made,
            seeds=range(seed, seed + seeds),
            open_log=lambda one: Segments(Path(folder) / str(one)),
            progress=progress,
        )


def split_sample(folder: Path) -> tuple[Path, Path]:
    """The bundled sample of headline tests as two files in a folder: the earlier three quarters, and the rest."""

    return split(sample(), folder)
