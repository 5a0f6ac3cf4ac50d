"""Effects that change: found soon, not found where there is none, and older evidence then left out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from afterwit.benchmarks.weekly.worlds import World, change, steady
from afterwit.credit.items import Design, Items
from afterwit.credit.semantic.change import changes, current
from afterwit.credit.semantic.contrast import Cells, cells
from credit_cases import make_design


def shown(items: Items) -> Design:
    return make_design([[float(text.endswith("?"))] for text in items.texts], ["asks"])


def looked(world: World, seed: int, weeks: int) -> tuple[Items, np.datetime64 | None]:
    items = world.items(seed)
    known = items.take(items.first_delivered_at < items.first_delivered_at.min() + np.timedelta64(7 * weeks, "D"))
    return known, current(known, shown(known), "click").since.get("asks")


@pytest.mark.parametrize("seed", range(6))
def test_a_change_is_found_and_dated_within_two_weeks(seed: int):
    items, at = looked(change(12), seed, 15)
    true = items.first_delivered_at.min() + np.timedelta64(7 * 12, "D")
    assert at is not None
    assert abs(at - true) <= np.timedelta64(14, "D")


def test_looking_every_week_at_a_steady_effect_rarely_sees_a_change():
    seen = 0
    for seed in range(60):
        seen += any(looked(steady(1.3), seed, weeks)[1] is not None for weeks in range(2, 21))
    assert seen <= 8  # 5 % of 60 is 3 (one named decision); P(> 8) = 0.003


def test_a_mix_of_contexts_that_moves_is_no_change():
    def effect(week: int, context: object) -> float:
        return 0.3 if dict(context)["channel"] == "push" else -0.3  # type: ignore[call-overload]

    turning = World(
        name="mix",
        effect=effect,
        contexts=lambda chance: {"channel": "push" if chance.random() < 0.5 else "email"},
    )
    items = turning.items(0)
    push = items.contexts["channel"] == "push"
    late = items.first_delivered_at > np.median(items.first_delivered_at.astype("int64")).astype("datetime64[us]")
    kept = items.take(push ^ late)  # first push alone, then email alone
    assert current(kept, shown(kept), "click").since == {}
    assert "asks" in current(replace(kept, contexts={}), shown(kept), "click").since


def test_the_statistic_is_students_where_there_is_one_context_and_no_excess():
    rng = np.random.default_rng(0)
    n = 40
    start = np.datetime64("2026-01-01", "us")
    y = np.concatenate((rng.normal(0.5, 0.1, 20), rng.normal(-0.5, 0.1, 20)))
    days = np.repeat([0, 7], 20)
    made = Cells(
        n_decisions=1,
        decision=np.zeros(n, dtype=np.int64),
        stratum=np.arange(n),
        strata=np.arange(n),
        effect=y,
        variance=np.full(n, 1e-4),
        treated=np.ones(n, dtype=np.int64),
        controls=np.ones(n, dtype=np.int64),
        first_delivered=start + days.astype("timedelta64[D]"),
        confirmable=np.ones(n, dtype=bool),
        between=0.0,
    )
    # With so small variances h is Q / (k − 2), and t is the two-sample t test of equal variances.
    p = stats.ttest_ind(y[:20], y[20:]).pvalue
    assert p * 21 * 22 / 20 < 1e-10
    assert list(changes(made, np.zeros(n, dtype=np.int64), np.ones(1, dtype=bool))) == [0]
    same = replace(made, effect=rng.permutation(y))
    assert changes(same, np.zeros(n, dtype=np.int64), np.ones(1, dtype=bool)) == {}


def test_after_a_change_only_later_strata_speak():
    items, at = looked(change(12), 0, 18)
    found = current(items, shown(items), "click")
    assert at is not None
    assert found.contrasts.first_delivered.min() >= at
    assert len(found.contrasts) < len(cells(items, shown(items), "click"))
    assert found.contrasts.effect.mean() < 0
