"""Which rule confirms cards soonest at a false discovery rate of 10 %: five rules on simulated banks (docs/adr/0017).

    python benchmarks/confirmation_rules.py [--banks 100] [--seed 0]

A bank examines m decisions with true effects; strata come at a weekly rate with standard deviation 0.25. A decision is
admitted once P(sign) ≥ 0.8 on what it has, five strata at least; only later strata confirm. All rules see the same.
Prints per kind of bank the share of real effects confirmed by week 12, 20 and 51 and after a freeze, and the false
discovery rate with the 95 % interval of its mean over banks. Simulated: effects are constant and noise is normal.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from scipy import special

from afterwit.credit.confirmation.trials import Q_BATCH, Q_WEALTH, batch_bh, by_wealth, declare_trial
from afterwit.credit.confirmation.wealth import log_wealth
from afterwit.model import Batch

START = datetime(2026, 1, 5, tzinfo=UTC)
WEEK = timedelta(days=7)
WEEKS, A_WEEK, SD, Q = 52, 6, 0.25, 0.1
Found = dict[int, int]


@dataclass(frozen=True, kw_only=True)
class Kind:
    name: str
    decisions: int
    real: float
    spread: float
    at_once: bool


KINDS = (
    Kind(name="5 decisions, 2 real of 0.2", decisions=5, real=0.4, spread=0.2, at_once=True),
    Kind(name="5 decisions, none real", decisions=5, real=0.0, spread=0.2, at_once=True),
    Kind(name="50 over half a year, a fifth real", decisions=50, real=0.2, spread=0.12, at_once=False),
    Kind(name="300 at once, a fifth real", decisions=300, real=0.2, spread=0.08, at_once=True),
    Kind(name="300 over half a year, a fifth real", decisions=300, real=0.2, spread=0.08, at_once=False),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tried:
    """One admitted decision: true effect, week of admission, admission effect, later contrasts."""

    effect: float
    week: int
    sought: float
    later: NDArray[np.float64]

    @property
    def needed(self) -> int:
        return declare_trial(effect=self.sought, stratum_variance=SD**2, as_of=START).needed

    def seen(self, week: int) -> int:
        return max(0, min((week - self.week) * A_WEEK, len(self.later)))

    def p_value(self, n: int) -> float:
        y = np.sign(self.sought) * self.later[:n]
        return float(special.stdtr(n - 1, -y.mean() / (y.std(ddof=1) / np.sqrt(n))))

    def wealth(self, week: int) -> float:
        y = self.later[: self.seen(week)]
        direction, sought = np.array([np.sign(self.sought)]), np.array([self.sought])
        return float(log_wealth(y, np.full(len(y), SD**2), np.zeros(len(y), dtype=np.int64), direction, sought)[0])


def bank(kind: Kind, seed: int) -> tuple[list[Tried], int]:
    """Admitted decisions by week, and how many effects are real."""
    rng = np.random.default_rng([seed, kind.decisions])
    real = np.arange(kind.decisions) < round(kind.real * kind.decisions)
    size = (
        np.full(kind.decisions, kind.spread) if kind.decisions < 10 else np.abs(rng.normal(0, kind.spread, len(real)))
    )
    effects = np.where(real, rng.choice([-1, 1], len(real)) * size, 0.0)
    prior = max(kind.real * kind.spread**2, 1e-4)
    found = []
    for effect in effects:
        start = 0 if kind.at_once else int(rng.integers(0, WEEKS // 2))
        y = rng.normal(effect, SD, A_WEEK * (WEEKS - start))
        for week in range(1, WEEKS - start):
            n = week * A_WEEK
            variance = SD**2 / n
            mean = y[:n].mean() * prior / (prior + variance)
            if special.ndtr(abs(mean) / np.sqrt(prior * variance / (prior + variance))) >= 0.8:
                found.append(Tried(effect=float(effect), week=start + week, sought=float(mean), later=y[n:]))
                break
    return sorted(found, key=lambda t: t.week), int(real.sum())


def batches(tried: Sequence[Tried], *, q: float = Q, patience: int | None = None) -> Found:
    """Batch-BH once in four weeks where 20 are ready, or where one waited for ``patience`` weeks; all at the end."""
    history: list[Batch] = []
    done: Found = {}
    spent: set[int] = set()
    ready: dict[int, int] = {}
    last = -1
    for week in range(WEEKS + 1):
        for i, one in enumerate(tried):
            if i not in spent and one.seen(week) >= one.needed:
                ready.setdefault(i, week)
        waited = patience is not None and any(week - since >= patience for since in ready.values())
        due = list(ready) if week // 4 > last and (len(ready) >= 20 or waited) else []
        if week == WEEKS:
            due = [i for i, one in enumerate(tried) if i not in spent and one.seen(week) >= 3]
        if due:
            p = {str(i): tried[i].p_value(min(tried[i].needed, tried[i].seen(week))) for i in due}
            history.append(batch_bh(history, p, START + week * WEEK, q=q, final=week == WEEKS))
            last = week // 4
            spent.update(due)
            for i in due:
                ready.pop(i, None)
            done |= {int(name): week for name in history[-1].confirmed}
    return done


def lond(tried: Sequence[Tried]) -> Found:
    """LOND (Javanmard & Montanari 2015): one test at a time as each is ready, γ_j ∝ j^−1.6."""
    done: Found = {}
    tested = 0
    order = sorted(range(len(tried)), key=lambda i: tried[i].week + -(-tried[i].needed // A_WEEK))
    for i in order:
        week = tried[i].week + -(-tried[i].needed // A_WEEK)
        if week > WEEKS:
            continue
        tested += 1
        level = Q * tested**-1.6 / special.zeta(1.6) * (1 + len(done))
        if tried[i].p_value(tried[i].needed) <= level:
            done[i] = week
    return done


def wealth(tried: Sequence[Tried], *, q: float = Q) -> Found:
    history: list[Batch] = []
    for week in sorted({one.week for one in tried}):
        declared = sum(one.week == week for one in tried)
        history.append(
            Batch(at=START + week * WEEK, level=0.0, p_values={}, confirmed=(), max_rejections=0, declared=declared)
        )
    done: Found = {}
    for week in range(WEEKS + 1):
        open_ = [i for i, one in enumerate(tried) if i not in done and one.seen(week)]
        if not open_:
            continue
        at = START + week * WEEK
        known = [batch for batch in history if batch.at < at]
        now = by_wealth(
            known,
            {str(i): START + tried[i].week * WEEK for i in open_},
            {str(i): tried[i].wealth(week) for i in open_},
            q=q,
        )
        if now:
            history.append(
                Batch(at=at, level=0.0, p_values={}, confirmed=(), max_rejections=0, wealth=dict.fromkeys(now, 0.0))
            )
            done |= {int(name): week for name in now}
    return done


def both(tried: Sequence[Tried]) -> Found:
    """What the product does, each road with its share of the level."""
    one, other = wealth(tried, q=Q_WEALTH), batches(tried, q=Q_BATCH)
    return {i: min(one.get(i, WEEKS), other.get(i, WEEKS)) for i in one.keys() | other.keys()}


RULES: dict[str, Callable[[Sequence[Tried]], Found]] = {
    "batches of 20": batches,
    "batches, wait of 3 weeks": lambda tried: batches(tried, patience=3),
    "LOND": lond,
    "wealth": wealth,
    "wealth and batches": both,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--banks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| bank | rule | week 12 | 20 | 51 | freeze | false discoveries |\n|---|---|---|---|---|---|---|")
    for kind in KINDS:
        banks = [bank(kind, given.seed + k) for k in range(given.banks)]
        for name, rule in RULES.items():
            rows, wrong = [], []
            for tried, real in banks:
                done = rule(tried)
                good = [week for i, week in done.items() if tried[i].effect * tried[i].sought > 0]
                wrong.append((len(done) - len(good)) / max(len(done), 1))
                rows.append([sum(week <= by for week in good) / max(real, 1) for by in (12, 20, 51, WEEKS)])
            power = " | ".join(f"{share:.2f}" for share in np.mean(rows, axis=0)) if kind.real else "– | – | – | –"
            mean, half = np.mean(wrong), 1.96 * np.std(wrong) / np.sqrt(len(wrong))
            print(f"| {kind.name} | {name} | {power} | {mean:.3f} ± {half:.3f} |", flush=True)


if __name__ == "__main__":
    main()
