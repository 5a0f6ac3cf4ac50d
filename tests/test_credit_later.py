from datetime import UTC, datetime

import numpy as np
import pytest
from scipy import optimize, stats

from afterwit.credit.confirmation.later import Later, always_valid, demoted, later, mixture_width
from afterwit.credit.items import moment
from afterwit.credit.semantic.contrast import Cells, cells, holding
from afterwit.credit.semantic.meta import random_effects
from afterwit.model import Condition
from credit_cases import DAY, START, make_design, make_items, random_case


def _cells(effect: np.ndarray, variance: np.ndarray) -> Cells:
    """(decisions, strata) effects, one stratum a day."""
    d, s = effect.shape
    stratum = np.tile(np.arange(s), d)
    return Cells(
        n_decisions=d,
        decision=np.repeat(np.arange(d), s),
        stratum=stratum,
        strata=np.arange(s),
        effect=effect.ravel(),
        variance=variance.ravel(),
        treated=np.ones(d * s, dtype=np.int64),
        controls=np.ones(d * s, dtype=np.int64),
        first_delivered=START + stratum * DAY,
        confirmable=np.ones(d * s, dtype=bool),
        between=0.0,
    )


def test_only_strata_that_began_later_count_and_the_first_needed_of_them():
    rng = np.random.default_rng(0)
    found = _cells(rng.normal(0.2, 0.3, (3, 30)), np.full((3, 30), 0.05))
    asked = later(
        found,
        np.array([2, 0, 2]),
        np.array([START + 9 * DAY, START + 19 * DAY, START + 29 * DAY]),
        np.array([1.0, -1.0, 1.0]),
        needed=np.array([12, 200, 5]),
    )
    assert asked.strata.tolist() == [12, 10, 0]
    for i, (d, first, last) in enumerate([(2, 10, 22), (0, 20, 30)]):
        y = found.effect.reshape(3, 30)[d, first:last]
        alone = random_effects(y, np.full(len(y), 0.05), np.zeros(len(y), dtype=np.int64), 1)
        assert asked.effect[i] == pytest.approx(alone.effect[0])
        sign = 1 if i == 0 else -1
        assert asked.p_value[i] == pytest.approx(stats.t.sf(sign * alone.effect[0] / alone.se[0], len(y) - 1))
    assert asked.p_value[2] == 1.0


def test_strata_that_cannot_confirm_are_left_out():
    items = make_items(
        [0, 0, 1, 1, 2, 2, 3, 3],
        [900] * 8,
        [30, 20, 28, 22, 33, 20, 90, 10],
        days=[1, 1, 2, 2, 3, 3, 4, 4],
        confirmable=[True] * 6 + [False, True],
    )
    found = cells(items, make_design([[1], [0]] * 4), "click")
    column, since, up = np.array([0]), np.array([START]), np.array([1.0])
    assert later(found, column, since, up).strata.tolist() == [3]
    assert later(found, column, since, up, confirmable_only=False).strata.tolist() == [4]


def test_p_values_are_uniform_under_no_effect():
    rng = np.random.default_rng(1)
    v = rng.uniform(0.05, 0.2, (3000, 25))
    found = _cells(rng.normal(0, np.sqrt(v + 0.02)), v)
    p = later(found, np.arange(3000), np.full(3000, START - DAY), np.ones(3000)).p_value
    for level in (0.01, 0.05, 0.1):
        assert (p <= level).mean() <= level + 3 * np.sqrt(level / 3000)
    assert (p <= 0.05).mean() > 0.03


def test_an_effect_is_found_with_the_declared_power():
    # Half the admission effect, 62 strata of variance 0.1: 80 % by design (see the size of a trial).
    rng = np.random.default_rng(2)
    found = _cells(rng.normal(0.1, np.sqrt(0.1), (2000, 90)), np.full((2000, 90), 0.1))
    k = np.arange(2000)
    p = later(found, k, np.full(2000, START - DAY), np.ones(2000), needed=np.full(2000, 62)).p_value
    assert 0.72 <= (p <= 0.05).mean() <= 0.83


def test_the_sequence_covers_at_all_looks_together():
    rng = np.random.default_rng(4)
    v = rng.uniform(0.05, 0.2, (800, 150))
    found = _cells(rng.normal(0.1, np.sqrt(v + 0.03)), v)
    k, since, up = np.arange(800), np.full(800, START - DAY), np.ones(800)
    missed, fixed = np.zeros(800, dtype=bool), np.zeros(800, dtype=bool)
    for look in range(5, 151, 5):
        at = later(found, k, since, up, needed=np.full(800, look))
        band = always_valid(at, np.full(800, 0.2))
        missed |= (band.low > 0.1) | (band.high < 0.1)
        fixed |= np.abs(at.effect - 0.1) > 1.96 * at.se
    assert missed.mean() <= 0.05
    # What it is for: intervals made for one look miss far more often when looked at thirty times.
    assert fixed.mean() > 0.15


def test_the_sequence_is_narrowest_where_it_was_meant_to_be():
    for target in (5.0, 300.0):

        def margin(rho: float, v: float = target) -> float:
            return float(np.sqrt((v + rho) / v**2 * np.log((v + rho) / (rho * 0.05**2))))

        best = optimize.minimize_scalar(margin, bounds=(1e-3, 10 * target), method="bounded")
        assert margin(float(mixture_width(np.array([target]))[0])) <= 1.001 * best.fun


def test_a_band_worked_by_hand():
    # Effect 0.2: V* = 6.1826 / 0.1² = 618.26, 2 ln 20 = 5.9915, ρ = 618.26 / (5.9915 + ln 6.9915) = 77.90.
    # se = 0.05 gives V = 400: margin² = 477.90 / 400² · ln(477.90 / (77.90 · 0.0025)) = 0.02331.
    found = Later(effect=np.array([0.3]), se=np.array([0.05]), strata=np.array([40]), p_value=np.ones(1))
    band = always_valid(found, np.array([-0.2]))
    assert (band.low[0], band.high[0]) == pytest.approx((0.3 - 0.15269, 0.3 + 0.15269), abs=2e-4)


def test_demotion_is_against_the_direction_or_inside_the_null_band():
    found = Later(
        effect=np.array([-0.5, -0.5, 0.0, 0.0, -0.5]),
        se=np.array([0.05, 0.05, 0.001, 0.05, 0.05]),
        strata=np.array([50, 50, 50, 50, 9]),
        p_value=np.ones(5),
    )
    band = always_valid(found, np.full(5, 0.2))
    assert demoted(band, np.array([1.0, -1.0, 1.0, 1.0, 1.0])).tolist() == [True, False, True, False, False]
    assert band.low[4] == -np.inf


def test_a_condition_keeps_the_strata_that_satisfy_it_as_a_whole():
    items, design = random_case(0, strata=3, size=4, decisions=3)
    place = ["a"] * 4 + ["b"] * 4 + ["a", "a", "b", "a"]
    items = make_items(
        items.strata.tolist(),
        items.exposures.tolist(),
        items.engagements["click"].tolist(),
        contexts={"place": place, "hour": [1, 2, None, 3] * 3},
    )
    found = cells(items, design, "click")
    assert set(holding(items, found, Condition.parse("place = a")).stratum.tolist()) == {0}
    assert set(holding(items, found, Condition.parse("place != a")).stratum.tolist()) == {1}
    assert len(holding(items, found, Condition.parse("hour >= 0"))) == 0
    assert len(holding(items, found, Condition.parse("weekday = 1"))) == 0
    assert holding(items, found, Condition()) is found


def test_moments_are_utc():
    assert moment(datetime(2024, 1, 1, 12, tzinfo=UTC)) == START + np.timedelta64(12, "h")
