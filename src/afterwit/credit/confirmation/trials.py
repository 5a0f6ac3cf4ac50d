"""Confirmation: a trial per card version, declared at admission, under one online false discovery rate.

Two roads lead there, with levels of their own, 0.07 and 0.03, so that the rate of both together is at most q = 0.1
(what either finds wrongly is a smaller share of what both find).

*By wealth*, at any look (`credit/wealth`). Trial i has a weight w_i with Σ w_i ≤ 1, fixed when it is declared: the
first N trials of a bank share N / (N + 3), those of one round alike. With r confirmed so far and now, trial i is
confirmed as soon as its wealth reaches 1 / (q w_i r), the largest r for which that holds. Where confirmed trials are
kept and T_i is the first time, 1{i confirmed} / r ≤ q w_i E_i(T_i), and the mean of E_i(T_i) is at most 1 for a
true null: FDR ≤ q at any time, however trials depend on one another (Wang & Ramdas 2022, e-BH; weights and
stopping times as here: our reconstruction). A bank of a few cards waits for evidence, not for company.

*By batches of tests of fixed size*, which have more power where many trials end together:

a trial fixes its size when the card is admitted: the number of later strata that gives 80 % power to find half the
admission effect in a one-sided test at 5 %, at most 200. Its p-value (`later`) is spent once. Those that fall
due together form one batch of Batch-BH (Zrnic, Jiang, Ramdas & Jordan 2020, Algorithm 1): with γ_j ∝ j^−1.6 summing
to 1, n_t tests in batch t, R_s rejections and R⁺_s the most that lowering one p-value of batch s to 0 could give,

    β_t = Σ_{s<t} α_s R⁺_s / (R⁺_s + Σ_{r<t, r≠s} R_r)
    α_t = (q Σ_{s≤t} γ_s − β_t) · (n_t + Σ_{s<t} R_s) / n_t

and batch t is tested by Benjamini–Hochberg at α_t. A last batch, declared before its p-values are seen, gets all of
γ that is left. The guarantee FDR ≤ q is for p-values independent within and across batches; cards that share
strata bend it, which is why duplicates are one hypothesis.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from scipy import special

from afterwit.credit.confirmation.later import POWER
from afterwit.credit.items import Floats
from afterwit.model import Batch, Trial

_MAX_STRATA = 200
_MIN_STRATA = 3
_EXPONENT = 1.6
_POOL = 3
Q_WEALTH, Q_BATCH = 0.07, 0.03
"""What each of the two roads has of the false discovery rate q = 0.1."""


def declare_trial(*, effect: float, stratum_variance: float, as_of: datetime) -> Trial:
    """The test of a card admitted now.

    effect: admission effect (posterior mean) on the log rate ratio, whose sign is tested. stratum_variance: what
    one stratum's contrast typically varies by, strata · se² of the evidence. Size: POWER · variance / (effect/2)².
    """
    half = abs(effect) / 2
    wanted = POWER * stratum_variance / half**2 if half > 0 else math.inf
    needed = _MAX_STRATA if wanted >= _MAX_STRATA else max(_MIN_STRATA, math.ceil(wanted))
    return Trial(admitted_at=as_of, needed=needed, effect=effect)


def due(
    trials: Mapping[str, Trial],
    available: Mapping[str, int],
    *,
    as_of: datetime,
    last: datetime | None = None,
    final: bool = False,
    smallest: int = 20,
) -> tuple[str, ...]:
    """Names whose test is to be spent now, sorted. last: when the latest batch was tested.

    Those with enough later strata, once a calendar month and ``smallest`` or more together: each batch takes its
    share of the level however few it tests, so small ones starve the rest (our own rule). At a freeze (``final``)
    every open trial that three strata allow.
    """
    if not final and last is not None and (as_of.year, as_of.month) <= (last.year, last.month):
        return ()
    ready = sorted(
        name
        for name, trial in trials.items()
        if trial.tested_at is None
        and available.get(name, 0) >= (_MIN_STRATA if final else max(trial.needed, _MIN_STRATA))
    )
    return tuple(ready) if final or len(ready) >= smallest else ()


def weights(history: Sequence[Batch], admitted: Mapping[str, datetime]) -> dict[str, float]:
    """w_i of each trial by when it was declared; 0 for one whose round kept no count of those declared."""
    declared = [(batch.at, batch.declared) for batch in history if batch.declared]
    found = {}
    for name, at in admitted.items():
        before = sum(n for when, n in declared if when < at)
        own = sum(n for when, n in declared if when == at)
        share = (before + own) / (before + own + _POOL) - before / (before + _POOL)
        found[name] = share / own if own else 0.0
    return found


def wealth_needed(weight: float, confirmed: int, q: float = Q_WEALTH) -> float:
    """Log wealth that confirms a trial where ``confirmed`` are, itself among them; infinite without weight."""
    return -math.log(q * weight * max(confirmed, 1)) if weight > 0 else math.inf


def by_wealth(
    history: Sequence[Batch], admitted: Mapping[str, datetime], wealth: Mapping[str, float], *, q: float = Q_WEALTH
) -> tuple[str, ...]:
    """Names of the open trials that their log wealth confirms now, sorted."""
    already = sum(len(batch.wealth) for batch in history)
    given = weights(history, admitted)
    # What each would need alone, less what it has; r confirmed together make it cheaper by log r.
    short = sorted((wealth_needed(given[name], 1, q) - wealth[name], name) for name in admitted)
    most = max((k for k in range(1, len(short) + 1) if short[k - 1][0] <= math.log(already + k)), default=0)
    return tuple(sorted(name for _, name in short[:most]))


def spent(trial: Trial, *, batch: Batch, name: str, effect: float, sd: float) -> Trial:
    """The trial once its batch is tested; effect, sd: on the later items alone."""
    return replace(
        trial,
        tested_at=batch.at,
        p_value=batch.p_values[name],
        confirmed=name in batch.confirmed,
        post_effect=effect,
        post_sd=sd,
    )


def won_trial(trial: Trial, *, at: datetime, wealth: float, effect: float, sd: float) -> Trial:
    """The trial that its wealth confirmed; 1 / wealth is a p-value valid at any look."""
    return replace(
        trial, tested_at=at, p_value=min(1.0, math.exp(-wealth)), confirmed=True, post_effect=effect, post_sd=sd
    )


def batch_bh(
    history: Sequence[Batch], p_values: Mapping[str, float], at: datetime, *, q: float = 0.1, final: bool = False
) -> Batch:
    """Tests one batch, given all earlier ones in order. An empty batch confirms nothing and spends nothing."""
    earlier = [batch for batch in history if batch.p_values]
    if not p_values:
        return Batch(at=at, level=0.0, p_values={}, confirmed=(), max_rejections=0, final=final)
    rejected = [len(batch.confirmed) for batch in earlier]
    total = sum(rejected)
    used = sum(
        batch.level * batch.max_rejections / (batch.max_rejections + total - own)
        for batch, own in zip(earlier, rejected, strict=True)
        if batch.max_rejections
    )
    share = 1.0 if final or any(batch.final for batch in earlier) else _gamma_sum(len(earlier) + 1)
    n = len(p_values)
    level = min(1.0, max(0.0, q * share - used) * (n + total) / n)
    names = sorted(p_values, key=lambda name: (p_values[name], name))
    ordered = np.array([p_values[name] for name in names])
    # Lowering the largest p-value leaves every order statistic as small as lowering any other can.
    lowered = np.concatenate(([0.0], ordered[:-1]))
    return Batch(
        at=at,
        level=level,
        p_values=dict(p_values),
        confirmed=tuple(sorted(names[: _rejections(ordered, level)])),
        max_rejections=_rejections(lowered, level),
        final=final,
    )


def _gamma_sum(n: int) -> float:
    """Σ_{j≤n} γ_j."""
    return float((np.arange(1, n + 1) ** -_EXPONENT).sum() / special.zeta(_EXPONENT))


def _rejections(ordered: Floats, level: float) -> int:
    """Benjamini–Hochberg on ascending p-values: the largest r with p_(r) ≤ level · r / n."""
    if level <= 0:
        return 0
    below = np.flatnonzero(ordered <= level * np.arange(1, len(ordered) + 1) / len(ordered))
    return int(below[-1]) + 1 if len(below) else 0
