"""Betting against "no effect": fair under symmetry whatever the distribution, quick where there is an effect."""

from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
import pytest

from afterwit.credit.confirmation.trials import by_wealth, wealth_needed, weights
from afterwit.credit.confirmation.wealth import log_wealth, strata_wanted
from afterwit.model import Batch

AT = datetime(2026, 1, 5, tzinfo=UTC)
WEEK = timedelta(days=7)


def wealth(effect: object, variance: object = 0.1, sought: float = 0.2, direction: float = 1.0) -> float:
    y = np.asarray(effect, dtype=float)
    v = np.broadcast_to(np.asarray(variance, dtype=float), y.shape)
    one = log_wealth(y, v, np.zeros(len(y), dtype=np.int64), np.array([direction]), np.array([sought]))
    return float(np.exp(one[0]))


@pytest.mark.parametrize("seed", range(5))
def test_over_all_signs_the_mean_wealth_is_one(seed: int):
    rng = np.random.default_rng(seed)
    size, v = rng.standard_t(2, 9), rng.uniform(0.01, 1, 9)
    found = [wealth(np.array(signs) * size, v) for signs in product((1, -1), repeat=9)]
    assert np.mean(found) == pytest.approx(1)


def test_by_hand():
    # One stratum, y / v = 1; stakes 0.05, 0.1, 0.2, 0.4: mean of e^x / cosh x.
    x = 0.2 * np.array([0.25, 0.5, 1, 2])
    assert wealth([0.1]) == pytest.approx(np.mean(np.exp(x) / np.cosh(x)))
    assert wealth([-0.1]) == pytest.approx(wealth([0.1], direction=-1.0))
    assert wealth([]) == pytest.approx(1)


def test_one_stratum_doubles_it_at_most_and_nothing_overflows():
    assert wealth([1e6]) == pytest.approx(2)
    assert wealth([-1e6]) == pytest.approx(0)
    assert np.isfinite(wealth([1e6, -1e6], 1e-9))


def test_an_effect_the_other_way_only_loses():
    rng = np.random.default_rng(0)
    found = [wealth(rng.normal(-0.1, 0.3, 40)) for _ in range(400)]
    assert np.mean(found) < 1


def test_looking_every_week_confirms_no_null_more_often_than_promised():
    rng, ever = np.random.default_rng(1), 0
    for _ in range(1000):
        y = rng.normal(0, 0.3, 120)
        looks = [wealth(y[:n], 0.09) for n in range(6, 121, 6)]
        ever += max(looks) >= 20
    assert ever / 1000 <= 0.05 + 1.96 * np.sqrt(0.05 * 0.95 / 1000)


def test_about_as_many_strata_as_foretold_are_needed():
    rng, took = np.random.default_rng(2), []
    for _ in range(200):
        y = rng.normal(0.2, 0.3, 600)
        took.append(next(n for n in range(1, 600) if wealth(y[:n], 0.09) >= 200))
    assert strata_wanted(0.2, 0.09, np.log(200)) / np.mean(took) == pytest.approx(1, abs=0.4)


def batch(at: datetime, declared: int, won: tuple[str, ...] = ()) -> Batch:
    return Batch(
        at=at, level=0.0, p_values={}, confirmed=(), max_rejections=0, declared=declared, wealth=dict.fromkeys(won, 9.0)
    )


def test_weights_are_shared_by_when_a_trial_was_declared_and_never_exceed_one():
    history = [batch(AT, 2), batch(AT + WEEK, 8)]
    given = weights(history, {"a": AT, "b": AT, "c": AT + WEEK, "unknown": AT + 2 * WEEK})
    assert given == pytest.approx({"a": 1 / 5, "b": 1 / 5, "c": (10 / 13 - 2 / 5) / 8, "unknown": 0})
    many = [batch(AT + k * WEEK, 7) for k in range(300)]
    assert sum(7 * weights(many, {"x": row.at})["x"] for row in many) < 1
    assert wealth_needed(0.0, 3) == np.inf


def test_those_confirmed_together_make_it_cheaper_for_each_other():
    history = [batch(AT, 4)]
    admitted = dict.fromkeys("abcd", AT)
    alone = wealth_needed(weights(history, admitted)["a"], 1)
    assert by_wealth(history, admitted, dict.fromkeys("abcd", alone - np.log(4) + 1e-9)) == ("a", "b", "c", "d")
    assert by_wealth(history, admitted, {**dict.fromkeys("bcd", 0.0), "a": alone - 0.1}) == ()
    assert by_wealth(history, admitted, {**dict.fromkeys("bcd", 0.0), "a": alone + 0.1}) == ("a",)
    earlier = [batch(AT - WEEK, 4, ("x", "y", "z")), *history]
    assert wealth_needed(weights(earlier, admitted)["a"], 4) < alone + 2


def test_the_false_discovery_rate_holds_when_trials_share_their_noise():
    rng, proportions = np.random.default_rng(3), []
    for _ in range(300):
        shared = rng.normal(0, 0.2, (60, 1))
        null = rng.random(12) < 0.7
        y = shared + rng.normal(np.where(null, 0, 0.25), 0.2, (60, 12))
        history, won = [batch(AT, 12)], set()
        names = [f"{i:02}" for i in range(12)]
        for n in range(6, 61, 6):
            left = [i for i in range(12) if names[i] not in won]
            now = by_wealth(
                history, {names[i]: AT for i in left}, {names[i]: np.log(wealth(y[:n, i], 0.08)) for i in left}
            )
            won |= set(now)
            history.append(batch(AT + n * WEEK, 0, now))
        proportions.append(sum(null[int(name)] for name in won) / max(len(won), 1))
    assert np.mean(proportions) <= 0.07
