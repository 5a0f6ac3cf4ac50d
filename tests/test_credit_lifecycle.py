"""Which items are ripe: toy cases by hand for every verdict, and the laws."""

import random
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from afterwit.credit.temporal.lifecycle import Lifecycles
from afterwit.model import Decision
from lifecycle_cases import (
    LATER,
    START,
    Event,
    delivery,
    event,
    hours,
    reason,
    ripen,
    shown,
    steady,
    total,
    verdicts,
)

WEEK = 168


def test_stages_count_exposures_users_and_engagements_apart() -> None:
    events = [
        *steady("d", each=60),
        event("d", "impression", 1, user="u1"),
        event("d", "impression", 2, user="u1"),
        event("d", "impression", 30, user="u2"),
        event("d", "click", 23.9, 2),
        event("d", "click", 24, 3),
        event("d", "negative", 167.99, 4),
        event("d", "click", WEEK, 50),
    ]
    found = ripen(events, [delivery("d")])
    assert verdicts(found) == {"d": "ready"}
    assert found.stages.exposures.tolist() == [[2 * 60 + 2, 4 * 60 + 1, 8 * 60]]
    assert found.stages.users.tolist() == [[1, 1, 0]]
    assert found.stages.engagements["click"].tolist() == [[2, 3, 0]]
    assert found.stages.engagements["negative"].tolist() == [[0, 0, 4]]
    items = found.items()
    assert (items.exposures.tolist(), items.engagements["click"].tolist()) == ([843.0], [5.0])
    assert items.available_at[0] == np.datetime64("2025-03-08T00:00:00")


def test_an_item_ripens_when_its_last_stage_closes() -> None:
    events = steady("d", each=100)
    assert verdicts(ripen(events, [delivery("d")], START + hours(WEEK) - timedelta(seconds=1))) == {"d": "immature"}
    assert verdicts(ripen(events, [delivery("d")], START + hours(WEEK))) == {"d": "ready"}


def test_a_pause_longer_than_a_day_is_discontinuous() -> None:
    base = steady("d", each=200, every=24)
    assert verdicts(ripen(base, [delivery("d")])) == {"d": "ready"}
    paused = [row for row in base if row["at"] != START + hours(96)]
    found = ripen(paused, [delivery("d")])
    assert verdicts(found) == {"d": "discontinuous"}
    assert reason(found, "d") == "a pause of more than 24 hours"


def test_exposure_after_the_last_stage_is_no_pause() -> None:
    events = [*steady("d", each=100), event("d", "impression", WEEK + 400)]
    assert verdicts(ripen(events, [delivery("d")])) == {"d": "ready"}


def test_a_stage_without_exposure_is_discontinuous() -> None:
    found = ripen([event("d", "impression", h, 500) for h in (0, 20, 44, 68)], [delivery("d")])
    assert reason(found, "d") == "a stage without exposure"


def test_fewer_exposures_than_n_in_one_stage_is_thin() -> None:
    assert verdicts(ripen(steady("d", each=50), [delivery("d")])) == {"d": "ready"}
    found = ripen(steady("d", each=49), [delivery("d")])
    assert verdicts(found) == {"d": "thin"}
    assert reason(found, "d") == "fewer than 100 exposures in a stage"


def test_deliveries_without_any_exposure_are_counted_too() -> None:
    found = ripen([event("b", "click", 1)], [delivery("a"), delivery("b"), delivery("c", after=59 * 24)])
    assert verdicts(found) == {"a": "thin", "b": "thin", "c": "immature"}
    assert len(found.items()) == 0


def test_aggregates_have_one_stage_and_continuity_is_not_observable() -> None:
    found = ripen([*shown("a", 1000, 30), *shown("b", 99, 1)], [delivery("a"), delivery("b")])
    assert verdicts(found) == {"a": "ready", "b": "thin"}
    assert found.stages.exposures.tolist()[0] == [1000, 0, 0]
    assert found.stages.longest_gap.tolist() == [0, 0]
    assert found.items().available_at[0] == np.datetime64("2025-03-08T00:00:00")


def test_aggregates_are_unknown_before_they_are_available() -> None:
    at = START + hours(WEEK)
    assert verdicts(ripen(shown("a", 1000, 30), [delivery("a")], at - timedelta(seconds=1))) == {"a": "immature"}
    assert verdicts(ripen(shown("a", 1000, 30), [delivery("a")], at)) == {"a": "ready"}


def test_the_latest_snapshot_stands_and_must_cover_the_stages() -> None:
    def snapshot(known: float, impressions: int, clicks: int) -> list[Event]:
        return [
            total("a", "impression", impressions, known=known, final=False),
            total("a", "click", clicks, known=known, final=False),
        ]

    early = [*snapshot(24, 500, 5), *snapshot(100, 900, 9)]
    assert verdicts(ripen(early, [delivery("a")])) == {"a": "immature"}
    items = ripen([*early, *snapshot(WEEK, 1000, 10)], [delivery("a")]).items()
    assert (items.exposures.tolist(), items.engagements["click"].tolist()) == ([1000.0], [10.0])


def test_counts_and_events_of_one_item_are_mixed() -> None:
    found = ripen([*steady("d", each=100), *shown("d", 1000, 5)], [delivery("d")])
    assert verdicts(found) == {"d": "mixed"}
    assert len(found.items()) == 0


def test_a_mismatch_of_sample_ratios_may_not_confirm() -> None:
    sizes = {"fair": (1000, 1020, 990), "skewed": (1000, 1020, 1400)}
    deliveries = [delivery(f"{t}{i}", experiment=t) for t, counts in sizes.items() for i in range(len(counts))]
    events = [e for t, counts in sizes.items() for i, n in enumerate(counts) for e in shown(f"{t}{i}", n, 20)]
    found = ripen(events, deliveries)
    assert all((v == "mixed") == d.startswith("skewed") for d, v in verdicts(found).items())
    items = found.items()
    assert len(items) == 6
    assert {i for i, sound in zip(items.ids, items.confirmable, strict=True) if not sound} == {
        "skewed0",
        "skewed1",
        "skewed2",
    }
    (refusal,) = found.refused
    assert (refusal.verdict, refusal.figures["items"]) == ("mixed", 3)
    assert "sample ratio mismatch" in refusal.reason


@settings(max_examples=25, deadline=None)
@given(counts=st.lists(st.integers(900, 1100), min_size=2, max_size=6))
def test_sample_ratios_are_the_chi_square_test(counts: list[int]) -> None:
    deliveries = [delivery(f"d{i}", experiment="x") for i in range(len(counts))]
    events = [e for i, n in enumerate(counts) for e in shown(f"d{i}", n, 20)]
    mismatch = stats.chisquare(counts).pvalue < 0.001
    assert set(verdicts(ripen(events, deliveries)).values()) == {"mixed" if mismatch else "ready"}


def test_logged_propensities_are_the_expected_ratio() -> None:
    events = [*shown("a", 900, 20), *shown("b", 100, 5)]
    logged = [delivery("a", experiment="x", propensity=0.9), delivery("b", experiment="x", propensity=0.1)]
    plain = [delivery("a", experiment="x"), delivery("b", experiment="x")]
    assert set(verdicts(ripen(events, logged)).values()) == {"ready"}
    assert set(verdicts(ripen(events, plain)).values()) == {"mixed"}


def test_open_arms_do_not_disturb_the_ratio() -> None:
    deliveries = [delivery(i, experiment="x") for i in "abc"]
    late = [total("c", "impression", 10, known=200, final=False), total("c", "click", 1, known=200, final=False)]
    late = [row | {"at": START + hours(190)} for row in late]
    found = ripen([*shown("a", 1000, 9), *shown("b", 1000, 9), *late], deliveries, START + hours(250))
    assert verdicts(found) == {"a": "ready", "b": "ready", "c": "immature"}


def test_the_same_text_of_one_stratum_is_one_item() -> None:
    deliveries = [
        delivery("a1", "Half  price", experiment="x", placement="p"),
        delivery("a2", "half price", experiment="x", placement="p", after=1),
        delivery("b", "half price", experiment="x", placement="q"),
        delivery("c", "Other", experiment="x", placement="p"),
    ]
    items = ripen([e for d in deliveries for e in shown(d.id, 1000, 10)], deliveries).items()
    assert items.ids.tolist() == ["a1", "b", "c"]
    assert items.exposures.tolist() == [2000, 1000, 1000]
    assert items.engagements["click"].tolist() == [20, 10, 10]
    assert items.strata[0] == items.strata[2] != items.strata[1]


def test_without_text_nothing_is_taken_for_the_same() -> None:
    deliveries = [delivery("a", ""), delivery("b", ""), delivery("c", " ")]
    assert len(ripen([e for d in deliveries for e in shown(d.id, 1000, 10)], deliveries).items()) == 3


def test_declared_decisions_keep_like_texts_apart() -> None:
    tone = Decision(name="tone", value="calm")
    deliveries = [delivery("a", "Hi"), delivery("b", "Hi", decisions=(tone,))]
    items = ripen([e for d in deliveries for e in shown(d.id, 1000, 10)], deliveries).items()
    assert items.declared.tolist() == [(), ("tone=calm",)]


def test_strata_are_the_experiment_or_the_context_with_policy_placement_and_audience() -> None:
    deliveries = [
        delivery("a", context={"channel": "push"}),
        delivery("b", context={"channel": "push"}),
        delivery("c", context={"channel": "mail"}),
        delivery("d", context={"channel": "push"}, policy="new"),
        delivery("e", context={"channel": "push"}, audience="members"),
        delivery("f", context={"channel": "push"}, experiment="x"),
        delivery("g", context={"channel": "mail"}, experiment="x"),
    ]
    items = ripen([e for d in deliveries for e in shown(d.id, 1000, 10)], deliveries).items()
    a, b, c, d, e, f, g = items.strata.tolist()
    assert a == b
    assert f == g
    assert len({a, c, d, e, f}) == 5
    assert items.contexts["channel"].tolist() == ["push", "push", "mail", "push", "push", "push", "mail"]


def test_weights_are_inverse_propensities_clipped_with_mean_one_in_a_stratum() -> None:
    chances = {"a": 0.5, "b": 0.25, "c": 0.001, "d": None}
    deliveries = [delivery(i, propensity=p) for i, p in chances.items()]
    items = ripen([e for d in deliveries for e in shown(d.id, 1000, 10)], deliveries).items()
    mean = (2 + 4 + 20) / 3
    assert items.weights.tolist() == pytest.approx([2 / mean, 4 / mean, 20 / mean, 1.0])


def test_a_late_event_makes_another_version_and_credit_is_reversed() -> None:
    deliveries = [delivery("a", episode_id="ep1"), delivery("b", episode_id="ep2")]
    events = [*steady("a", each=100), *steady("b", each=100)]
    before = ripen(events, deliveries, START + hours(200))
    late = event("a", "click", 5, known=300)
    assert ripen([*events, late], deliveries, START + hours(200)).versions() == before.versions()
    after = ripen([*events, late], deliveries, START + hours(301))
    assert after.versions().keys() == before.versions().keys()
    assert [d for d, version in after.versions().items() if before.versions()[d] != version] == ["a"]
    assert after.available_at[0] == np.datetime64(START.replace(tzinfo=None) + hours(300))


def same(a: Lifecycles, b: Lifecycles) -> None:
    assert verdicts(a) == verdicts(b)
    assert a.why.tolist() == b.why.tolist()
    assert a.versions() == b.versions()
    assert a.delay == b.delay
    assert a.available_at.tolist() == b.available_at.tolist()
    one, other = a.items(), b.items()
    assert one.ids.tolist() == other.ids.tolist()
    assert one.exposures.tolist() == other.exposures.tolist()
    assert {k: v.tolist() for k, v in one.engagements.items()} == {k: v.tolist() for k, v in other.engagements.items()}


def random_log(rng: random.Random) -> list[Event]:
    events = [*shown("agg", 1000, 10)]
    for d in ("a", "b", "c"):
        events += steady(d, each=rng.choice([40, 80, 120]), every=rng.choice([8, 24, 30]))
        for u in range(12):
            at = rng.uniform(0, 160)
            events.append(event(d, "click", at, user=f"u{u}"))
            if rng.random() < 0.3:
                events.append(event(d, "conversion", at + rng.expovariate(1 / 20), user=f"u{u}"))
    return events


DELIVERIES = [delivery(i, after=-n) for n, i in enumerate(["agg", "a", "b", "c"])]


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_events_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    events = random_log(rng)
    mixed = rng.sample(events, len(events))
    same(ripen(events, DELIVERIES), ripen(mixed, rng.sample(DELIVERIES, len(DELIVERIES))))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), after=st.integers(20, 400))
def test_what_is_known_later_changes_nothing_now(seed: int, after: int) -> None:
    """Law 3: only events and deliveries available at as_of enter."""
    rng = random.Random(seed)
    events = random_log(rng)
    as_of = START + hours(after)
    known = [row for row in events if row["available_at"] <= as_of]
    later = [event("a", "impression", rng.uniform(-50, 100), 500, known=after + 0.01) for _ in range(3)]
    later += [total("agg", "click", 900, known=after + 1), event("a", "conversion", 1, user="u1", known=after + 5)]
    unborn = [delivery("z", after=after + 1)]
    extra = [event("z", "impression", 1, 700), event("nobody", "click", 1, user="u")]
    same(ripen(known, DELIVERIES, as_of), ripen([*events, *later, *extra], [*DELIVERIES, *unborn], as_of))


def test_refusals_are_grouped_with_counts_and_examples() -> None:
    deliveries = [delivery(f"d{i}", after=i / 100) for i in range(9)]
    found = ripen([e for d in deliveries for e in shown(d.id, 50, 1)], deliveries)
    (refusal,) = found.refused
    assert refusal.subject == "9 items, such as d0, d1, d2"
    assert found.counts == {"thin": 9}


def test_nothing_at_all_is_no_error() -> None:
    for events, deliveries in (([], []), ([], [delivery("a")]), (steady("a"), [])):
        found = ripen(events, deliveries, LATER)
        assert len(found.items()) == 0
        assert found.versions() == {}
