"""The wiring: the only place that knows which store, event log, embedder and generator stand behind the ports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from afterwit.chat.budget import Budget, Budgeted
from afterwit.chat.cache import Cached
from afterwit.chat.meter import Metered, Price
from afterwit.errors import InputError, UnknownScope, UsageError
from afterwit.ports import Chat, Clock, Embedder, EventLog, Progress, Store, system_clock
from afterwit.providers.embedder import SentenceEncoder
from afterwit.store.open import open_store
from afterwit.store.segments import Segments

if TYPE_CHECKING:
    from afterwit.evaluate.record import EvaluationRecord

IN_MEMORY = ":memory:"


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """close: gives everything back."""

    store: Store
    log: EventLog
    embedder: Embedder
    clock: Clock
    close: Callable[[], None]
    folder: Path


def open_parts(
    url: str | Path,
    *,
    scope: str,
    create: bool = True,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> Parts:
    """Opens the ledger and, beside it, the folder of event segments (``memory.db`` → ``memory.db.events``).

    Raises UnknownScope where the scope does not exist and ``create`` is False, StoreError where the place cannot
    be written.
    """
    embedder = embedder or SentenceEncoder()
    if not create and str(url) != IN_MEMORY and not _path(url).exists():
        raise UnknownScope(f"there is no memory at {url}: make one with 'afterwit init'")
    store = open_store(url)
    try:
        if not create and scope not in store.scopes():
            known = ", ".join(store.scopes()) or "none"
            raise UnknownScope(f"there is no scope {scope!r} in {url} (known: {known}): make it with 'afterwit init'")
        store.open_scope(scope, embedder=embedder.name, dimensions=embedder.dimensions)
    except BaseException:
        store.close()
        raise
    if str(url) == IN_MEMORY:
        temporary = TemporaryDirectory(prefix="afterwit-")
        folder, cleanup = Path(temporary.name), temporary.cleanup
    else:
        folder, cleanup = _path(url).with_name(_path(url).name + ".events"), _nothing

    def close() -> None:
        store.close()
        cleanup()

    return Parts(
        store=store,
        log=Segments(folder),
        embedder=embedder,
        clock=clock or system_clock,
        close=close,
        folder=folder,
    )


def open_chat(
    spec: str,
    *,
    cache: Path | None = None,
    calls: int | None = None,
    tokens: int | None = None,
    prices: Mapping[str, Price] | None = None,
) -> Metered:
    """A model by its spec: ``local`` (or ``local:FILE.gguf``), ``openai:MODEL``, ``anthropic:MODEL``; a model that is
    not named comes from the environment.

    Metered outside, then the cache (a folder), then the budget of calls and tokens: what the cache answers is counted
    and costs nothing, so a run that stopped at its budget goes on from there when it is started again. prices: by the
    name of the chat. Raises UsageError for an unknown spec or a missing key, MissingExtra where its packages are not
    installed.
    """
    chat = _provider(spec)
    if calls is not None or tokens is not None:
        chat = Budgeted(chat, Budget(calls=calls, tokens=tokens))
    if cache is not None:
        chat = Cached(chat, cache)
    return Metered(chat, prices=prices)


def _provider(spec: str) -> Chat:
    vendor, _, model = spec.partition(":")
    if vendor == "local":
        from afterwit.providers.local import LocalChat  # each vendor's packages are optional

        return LocalChat(Path(model) if model else None)
    if vendor == "openai":
        from afterwit.providers.openai import OpenAIChat

        return OpenAIChat(model or None)
    if vendor == "anthropic":
        from afterwit.providers.anthropic import AnthropicChat

        return AnthropicChat(model or None)
    raise UsageError(f"there is no model {spec!r}: name local, openai:MODEL or anthropic:MODEL")


def import_file(url: str | Path, path: Path) -> int:
    """Reads an export into a store; the number of lines. Raises InputError, naming file and line."""
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    store = open_store(url)
    try:
        return store.import_lines(lines)
    finally:
        store.close()


def worded(record: "EvaluationRecord", chat: Chat, progress: Progress | None = None) -> "EvaluationRecord":
    """The record with the cards of its bank worded by a model, as one more round that names what was refused."""
    from afterwit import models  # a memory at work may do without

    if not record.rounds:
        return record
    round_ = models.reworded(record.cards, models.worder(chat), like=record.rounds[-1], progress=progress)
    cards = tuple(edit.writes[0] for edit in round_.edits)
    taken = sum(card.guidance != before.guidance for card, before in zip(cards, record.cards, strict=True))
    note = f"{taken} of {len(cards)} cards are worded by {chat.name}; of the others the deterministic sentence stands."
    return replace(record, cards=cards, rounds=(*record.rounds, round_), notes=(*record.notes, note))


def evaluate_upworthy(
    history: Path, future: Path, *, capacity: int, seed: int, progress: Progress | None = None
) -> "EvaluationRecord":
    """The headline benchmark on a ledger of its own, which goes when it is done."""
    from afterwit.benchmarks.upworthy.run import run  # a memory at work does without the benchmarks

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
    domains: Sequence[str], *, most: int, seeds: int, progress: Progress | None = None
) -> "EvaluationRecord":
    """The attribution set on τ²-bench, whose Python ``AFTERWIT_TAU2_PYTHON`` names. Raises UsageError without it."""
    from afterwit.benchmarks.tau2.attribution import attribution  # a memory at work does without the benchmarks
    from afterwit.benchmarks.tau2.environment import Tau2

    world = Tau2()
    try:
        return attribution(world, domains, most=most, seeds=seeds, progress=progress)
    finally:
        world.close()


def split_sample(folder: Path) -> tuple[Path, Path]:
    """The bundled sample of headline tests as two files in a folder: the earlier three quarters, and the rest."""
    from afterwit.benchmarks.upworthy.sample import sample, split  # a memory at work does without the benchmarks

    return split(sample(), folder)


def _path(url: str | Path) -> Path:
    return Path(str(url).removeprefix("sqlite:///"))


def _nothing() -> None:
    pass
