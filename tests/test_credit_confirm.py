from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from statsmodels.stats.multitest import multipletests

from afterwit.credit.confirmation.trials import batch_bh, declare_trial, due, spent
from afterwit.model import Batch

AT = datetime(2024, 3, 15, tzinfo=UTC)
P_VALUES = st.lists(st.sampled_from([0.0, 1e-6, 1e-4, 0.001, 0.01, 0.03, 0.05, 0.2, 0.6, 1.0]), min_size=1, max_size=8)


def _named(p: Sequence[float]) -> dict[str, float]:
    return {f"d{i:03}": float(value) for i, value in enumerate(p)}


def _run(batches: Sequence[Sequence[float]], q: float = 0.1) -> list[Batch]:
    history: list[Batch] = []
    for p in batches:
        history.append(batch_bh(history, _named(p), AT, q=q))
    return history


def _count(p: Sequence[float], level: float) -> int:
    """Benjamini–Hochberg by its definition."""
    ordered = sorted(p)
    return max((r for r in range(1, len(p) + 1) if ordered[r - 1] <= level * r / len(p)), default=0)


def test_the_size_of_a_trial_by_hand():
    # (1.6449 + 0.8416)² = 6.1826; half of 0.2 is 0.1; 6.1826 · 0.1 / 0.01 = 61.8.
    trial = declare_trial(effect=-0.2, stratum_variance=0.1, as_of=AT)
    assert (trial.needed, trial.effect, trial.admitted_at) == (62, -0.2, AT)
    assert declare_trial(effect=0.05, stratum_variance=0.1, as_of=AT).needed == 200
    assert declare_trial(effect=0.0, stratum_variance=0.1, as_of=AT).needed == 200
    assert declare_trial(effect=2.0, stratum_variance=0.1, as_of=AT).needed == 3


def test_a_trial_of_that_size_has_eighty_per_cent_power():
    trial = declare_trial(effect=0.2, stratum_variance=0.1, as_of=AT)
    se = np.sqrt(0.1 / trial.needed)
    assert stats.norm.sf(stats.norm.isf(0.05) - 0.1 / se) == pytest.approx(0.8, abs=0.01)


def test_tests_are_spent_together_once_a_month_or_at_the_freeze():
    trials = {name: declare_trial(effect=0.2, stratum_variance=0.1, as_of=AT) for name in "fedcba"}
    available = {"a": 62, "b": 61, "c": 90, "d": 70, "e": 62, "f": 200}
    ready = ("a", "c", "d", "e", "f")
    assert due(trials, available, as_of=AT) == ()
    assert due(trials, available, as_of=AT, smallest=5) == ready
    assert due(trials, available, as_of=AT, smallest=5, last=AT - timedelta(days=3)) == ()
    assert due(trials, available, as_of=AT, smallest=5, last=AT - timedelta(days=20)) == ready
    assert due(trials, available | {"f": 61}, as_of=AT, smallest=5) == ()
    assert due(trials, available, as_of=AT, last=AT, final=True) == ("a", "b", "c", "d", "e", "f")
    assert due(trials, {"a": 2, "b": 3}, as_of=AT, final=True) == ("b",)
    batch = batch_bh([], {"a": 1e-9}, AT)
    done = spent(trials["a"], batch=batch, name="a", effect=0.15, sd=0.02)
    assert (done.confirmed, done.p_value, done.tested_at, done.post_effect) == (True, 1e-9, AT, 0.15)
    assert due(trials | {"a": done}, available, as_of=AT, final=True) == ("b", "c", "d", "e", "f")


def test_a_last_batch_alone_is_plain_benjamini_hochberg():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = np.concatenate((rng.random(12), rng.random(4) * 0.02))
        batch = batch_bh([], _named(p), AT, q=0.1, final=True)
        rejected = multipletests(p, 0.1, "fdr_bh")[0]
        assert batch.level == pytest.approx(0.1)
        assert batch.confirmed == tuple(f"d{i:03}" for i in np.flatnonzero(rejected))


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(P_VALUES, min_size=1, max_size=5))
def test_levels_follow_algorithm_1_written_out(batches: list[list[float]]):
    gamma = [j**-1.6 / special.zeta(1.6) for j in range(1, 7)]
    levels: list[float] = []
    rejected: list[int] = []
    most: list[int] = []
    for t, p in enumerate(batches):
        beta = 0.0
        for s in range(t):
            others = sum(rejected[r] for r in range(t) if r != s)
            beta += levels[s] * most[s] / (most[s] + others) if most[s] else 0
        level = (0.1 * sum(gamma[: t + 1]) - beta) * (len(p) + sum(rejected)) / len(p)
        levels.append(level)
        rejected.append(_count(p, level))
        most.append(max(_count([*p[:i], 0.0, *p[i + 1 :]], level) for i in range(len(p))))
    found = _run(batches)
    assert [b.level for b in found] == pytest.approx(levels)
    assert [len(b.confirmed) for b in found] == rejected
    assert [b.max_rejections for b in found] == most


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(P_VALUES, min_size=1, max_size=6))
def test_the_false_discovery_estimate_never_exceeds_what_was_granted(batches: list[list[float]]):
    found = _run(batches)
    granted = 0.1 * (np.arange(1, len(found) + 1) ** -1.6).sum() / special.zeta(1.6)
    total = sum(len(b.confirmed) for b in found)
    spent_level = sum(
        b.level * b.max_rejections / (b.max_rejections + total - len(b.confirmed)) for b in found if b.max_rejections
    )
    assert spent_level <= granted + 1e-9


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(P_VALUES, min_size=1, max_size=4), place=st.integers(0, 7))
def test_a_smaller_p_value_never_loses_a_discovery_in_its_batch(batches: list[list[float]], place: int):
    lower = [*batches[-1]]
    lower[place % len(lower)] = 0.0
    assert set(_run(batches)[-1].confirmed) <= set(_run([*batches[:-1], lower])[-1].confirmed)


def test_without_discoveries_level_is_never_refunded():
    levels = [b.level for b in _run([[0.9] * 5] * 6)]
    gamma = np.arange(1, 7) ** -1.6 / special.zeta(1.6)
    # R⁺ is 1 and nobody else rejects, so each batch has spent all that it was given.
    assert levels == pytest.approx((0.1 * gamma).tolist())
    final = batch_bh(_run([[0.9] * 5]), _named([0.5]), AT, final=True)
    after = batch_bh([*_run([[0.9] * 5]), final], _named([0.5]), AT)
    assert final.level == pytest.approx(0.1 * (1 - gamma[0]))
    assert after.level == pytest.approx(0.0, abs=1e-12)


def test_an_empty_batch_spends_nothing():
    empty = batch_bh([], {}, AT)
    assert (empty.confirmed, empty.level) == ((), 0.0)
    assert batch_bh([empty], _named([0.01]), AT) == batch_bh([], _named([0.01]), AT)


def test_false_discovery_rate_by_simulation():
    rng = np.random.default_rng(3)
    proportions = []
    power = []
    for _ in range(1500):
        history: list[Batch] = []
        false = true = 0
        for step in range(5):
            null = rng.random(12) < 0.6
            p = stats.norm.sf(rng.normal(np.where(null, 0, 3.0)))
            batch = batch_bh(history, _named(p), AT, final=step == 4)
            history.append(batch)
            wrong = sum(bool(null[int(name[1:])]) for name in batch.confirmed)
            false, true = false + wrong, true + len(batch.confirmed) - wrong
        proportions.append(false / max(false + true, 1))
        power.append(true)
    se = np.std(proportions) / np.sqrt(len(proportions))
    assert np.mean(proportions) <= 0.1 + 2 * se
    assert np.mean(power) > 8
