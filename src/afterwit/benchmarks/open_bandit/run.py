"""Each policy's value from the other one's log, against what its own log got.

A case is a campaign and a direction, as ``men:bts>random``: the value of ``random`` from the log of ``bts``. Its truth
is the mean click of the target's own log, which is itself an estimate: ``error`` and ``agrees`` carry the noise of
both, ``covered`` that of the estimate alone.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from afterwit.benchmarks.open_bandit.data import POLICIES, Campaign, load
from afterwit.benchmarks.open_bandit.estimators import ESTIMATORS, effective, estimates, shown_shares, weights
from afterwit.credit.items import Floats
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.metrics.share import share
from afterwit.evaluate.record import EvaluationRecord, sha256_of
from afterwit.model import Interval
from afterwit.ports import Progress

_TAILS = (0.025, 0.975)


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure:
    """A value at each position with its resamples: value (P,), draws (P, R). n: clicks behind it."""

    value: Floats
    draws: Floats
    n: int

    @staticmethod
    def of(ratios: Sequence[Ratio], resamples: Resamples, clicks: float) -> "Figure":
        return Figure(
            value=np.array([ratio.value for ratio in ratios]),
            draws=np.array([resamples.draws(ratio) for ratio in ratios]),
            n=round(clicks),
        )

    def mean(self) -> Interval:
        """Over positions, which count alike."""
        return _interval(float(self.value.mean()), self.draws.mean(axis=0), self.n)

    def at(self, position: int) -> Interval:
        return _interval(float(self.value[position]), self.draws[position], self.n)


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One target from one log. effective: rows that the weighted log is worth; heaviest: its largest weight."""

    name: str
    truth: Figure
    found: dict[str, Figure]
    effective: float
    heaviest: float


def run(folder: Path, *, seed: int = 13, progress: Progress | None = None) -> EvaluationRecord:
    """folder: random_NAME.parquet and bts_NAME.parquet a campaign. Intervals: bootstrap by row of both logs.

    The random target's probabilities are 1 / items; those of bts are how often its own log shows an item at a
    position, taken as known. Raises InputError, MissingExtra.
    """
    began = time.perf_counter()
    campaigns = load(folder)
    cases, counts = [], {}
    for campaign in campaigns:
        for case in _cases(campaign, seed):
            cases.append(case)
            if progress is not None:
                progress(len(cases), 2 * len(campaigns))
        for policy, log in campaign.logs.items():
            counts[f"rows_{policy}_{campaign.name}"] = len(log)
            counts[f"clicks_{policy}_{campaign.name}"] = int(log.click.sum())
    figures = {"truth": _truth(cases)}
    figures |= {name: _figures(name, cases) for name in ESTIMATORS}
    return EvaluationRecord(
        benchmark="open_bandit",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - began,
        data={path.name: sha256_of(path) for campaign in campaigns for path in campaign.paths.values()},
        policies=figures,
        counts=counts,
        leads=("relative_error", "relative_bias", "agrees"),
        notes=_notes(figures),
    )


def _cases(campaign: Campaign, seed: int) -> list[Case]:
    shares = {
        "random": np.full((campaign.items, campaign.positions), 1 / campaign.items),
        "bts": shown_shares(campaign.logs["bts"], campaign.items, campaign.positions),
    }
    made = {}
    for source in POLICIES:
        target = next(policy for policy in POLICIES if policy != source)
        log = campaign.logs[source]
        # The two logs were drawn apart, so they are resampled apart.
        resamples = Resamples.of(np.arange(len(log)), seed=seed + POLICIES.index(source))
        clicks = float(log.click.sum())
        ratios = estimates(log, shares[target], seed=seed)
        found = {name: Figure.of(parts, resamples, clicks) for name, parts in ratios.items()}
        made[source] = (target, found, weights(log, shares[target]))
    return [
        Case(
            name=f"{campaign.name}:{source}>{target}",
            truth=made[target][1]["naive"],
            found=found,
            effective=effective(w),
            heaviest=float(w.max()),
        )
        for source, (target, found, w) in made.items()
    ]


def _truth(cases: Sequence[Case]) -> dict[str, Interval]:
    """resolution: half the width of a truth's own interval, as a share of it: smaller errors cannot be told apart."""
    found = {f"value@{case.name}": case.truth.mean() for case in cases}
    halves = [_half_width(interval) / interval.value for interval in found.values() if interval.value]
    found["resolution"] = Interval(value=float(np.mean(halves)) if halves else 1.0, n=len(halves))
    for case in cases:
        found[f"effective_rows@{case.name}"] = Interval(value=case.effective)
        found[f"heaviest_weight@{case.name}"] = Interval(value=case.heaviest)
    return found


def _figures(name: str, cases: Sequence[Case]) -> dict[str, Interval]:
    figures: dict[str, Interval] = {}
    inside, apart, inside_each, apart_each, widths, signed = [], [], [], [], [], []
    for case in cases:
        found, truth = case.found[name], case.truth
        value, target = found.mean(), truth.mean()
        error = found.draws.mean(axis=0) - truth.draws.mean(axis=0)
        figures[f"value@{case.name}"] = value
        figures[f"error@{case.name}"] = _interval(value.value - target.value, error, found.n)
        inside.append(_holds(value, target.value))
        apart.append(_holds(figures[f"error@{case.name}"], 0.0))
        for k in range(len(found.value)):
            here = found.at(k)
            figures[f"value@{case.name}:{k + 1}"] = here
            inside_each.append(_holds(here, float(truth.value[k])))
            difference = _interval(float(found.value[k] - truth.value[k]), found.draws[k] - truth.draws[k], found.n)
            apart_each.append(_holds(difference, 0.0))
        if target.value:
            signed.append((value.value - target.value) / target.value)
            widths.append(_half_width(value) / target.value)
    n = len(signed)
    figures["relative_error"] = Interval(value=float(np.mean(np.abs(signed))) if n else 0.0, n=n)
    figures["relative_bias"] = Interval(value=float(np.mean(signed)) if n else 0.0, n=n)
    figures["relative_half_width"] = Interval(value=float(np.mean(widths)) if n else 0.0, n=n)
    for metric, right in (
        ("covered", inside),
        ("agrees", apart),
        ("covered@positions", inside_each),
        ("agrees@positions", apart_each),
    ):
        figures[metric] = share(sum(right), len(right))
    return figures


def _notes(figures: dict[str, dict[str, Interval]]) -> tuple[str, ...]:
    resolution = figures["truth"]["resolution"].value
    naive, best = (
        figures["naive"]["relative_error"].value,
        min(figures[name]["relative_error"].value for name in ESTIMATORS if name != "naive"),
    )
    return (
        f"the truths are known to ± {100 * resolution:.0f} % only (their own clicks): estimators whose errors differ "
        f"by less cannot be ranked here; the naive mean is off by {100 * naive:.0f} %, the nearest estimator by "
        f"{100 * best:.0f} %",
        "covered: the estimate's interval holds the target's own mean; agrees: 0 lies in the interval of their "
        "difference, which carries the noise of both; cases share logs, so these shares are not of independent trials",
        "for bts as target its probabilities are shares of its own log, averaged over the week in which it learned, "
        "and taken as known",
    )


def _interval(value: float, draws: Floats, n: int) -> Interval:
    low, high = np.quantile(draws, _TAILS)
    return Interval(value=value, low=float(low), high=float(high), n=n)


def _holds(interval: Interval, value: float) -> bool:
    return interval.low is not None and interval.high is not None and interval.low <= value <= interval.high


def _half_width(interval: Interval) -> float:
    return 0.0 if interval.low is None or interval.high is None else (interval.high - interval.low) / 2
