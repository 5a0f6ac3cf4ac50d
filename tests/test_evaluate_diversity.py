"""How many different things a population says, by hand and against the definition."""

import numpy as np
import pytest

from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.metrics.diversity import effective, near_duplicates, similarity, spread


def test_all_different_counts_all_and_all_one_counts_one() -> None:
    assert effective(np.eye(7)) == pytest.approx(7)
    assert effective(np.ones((7, 7))) == pytest.approx(1)
    assert effective(np.zeros((0, 0))) == 0


def test_two_twins_and_a_stranger_by_hand() -> None:
    """Zp = 2/3, 2/3, 1/3: exp(−(2 ln 2/3 + ln 1/3) / 3) = (27/4)^(1/3)."""
    z = similarity(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert effective(z) == pytest.approx((27 / 4) ** (1 / 3))
    assert near_duplicates(z) == pytest.approx(2 / 3)
    assert spread(z) == pytest.approx(1 - 1 / 3)
    assert (near_duplicates(np.eye(1)), spread(np.eye(1))) == (0.0, 0.0)


def test_it_is_the_limit_of_the_orders_beside_one() -> None:
    """Of order q the number is (Σ p (Zp)^(q−1))^(1/(1−q)); cosines below 0 are no similarity."""
    vectors = np.random.default_rng(3).normal(size=(20, 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    z, p = similarity(vectors), np.full(20, 1 / 20)
    assert z.min() == 0
    low, high = (float((p * (z @ p) ** (q - 1)).sum() ** (1 / (1 - q))) for q in (1.001, 0.999))
    assert low < effective(z) < high
    assert high - low < 0.05


def test_nested_resamples_carry_what_differs_between_worlds() -> None:
    """Two worlds of 50 tasks, 0 in one and 1 in the other: the mean is 0, ½ or 1, each as often as coins fall."""
    worlds = np.repeat([0, 1], 50)
    ratio = Ratio(top=worlds.astype(np.float64), bottom=np.ones(100))
    draws = Resamples.nested(worlds, seed=1).draws(ratio)
    assert set(draws) == {0.0, 0.5, 1.0}
    assert (draws == 0.5).mean() == pytest.approx(0.5, abs=0.04)


def test_nested_resamples_of_one_world_are_those_of_its_tasks() -> None:
    values = np.random.default_rng(2).normal(size=60)
    one = Resamples.nested(np.zeros(60, dtype=np.int64), seed=1).draws(Ratio(top=values, bottom=np.ones(60)))
    assert one.std() == pytest.approx(values.std() / np.sqrt(60), rel=0.06)
