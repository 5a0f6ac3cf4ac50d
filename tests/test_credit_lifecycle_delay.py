"""The reporting delay against lifelines and scipy, and in a log; rates against the beta-binomial."""

import lifelines
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from afterwit.credit.temporal.delay import kaplan_meier, reporting_delay
from afterwit.credit.temporal.rates import Prior, beta_posterior, beta_prior
from lifecycle_cases import START, delivery, event, hours, reason, ripen, shown, steady, verdicts


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 80))
def test_survival_is_that_of_lifelines_and_scipy(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    hours_, ended = np.ceil(rng.exponential(20, n)), rng.random(n) < 0.6
    clicks = rng.integers(1, 4, n).astype(float)
    found = kaplan_meier(hours_, ended, clicks)
    at = np.linspace(0, hours_.max(), 50)
    fitted = lifelines.KaplanMeierFitter().fit(hours_, ended, weights=clicks)
    assert found.at(at) == pytest.approx(fitted.predict(at).to_numpy(), abs=1e-9)
    if ended.any():
        repeated = np.repeat(np.arange(n), clicks.astype(int))
        h, e = hours_[repeated], ended[repeated]
        surviving = stats.ecdf(stats.CensoredData(uncensored=h[e], right=h[~e])).sf
        assert found.at(at) == pytest.approx(surviving.evaluate(at), abs=1e-9)


def test_the_delay_by_hand() -> None:
    """100 clicks followed for 1000 h, 20 convert at 1…20 h: F rises by 1/20 an hour, so F(19) = 0.95."""
    hours_ = np.concatenate([np.arange(1.0, 21.0), np.full(80, 1000.0)])
    found = reporting_delay(hours_, hours_ < 1000)
    assert (found.hours, found.settled, found.clicks) == (19.0, True, 100)


def test_censoring_is_normalised_by_the_longest_follow_up_with_thirty_at_risk() -> None:
    """Among 40 clicks 10 convert at 5 h; 29 are followed for 50 h and one for 60: T = 50, one at risk beyond."""
    hours_ = np.concatenate([np.full(10, 5.0), np.full(29, 50.0), [60.0]])
    found = reporting_delay(hours_, hours_ == 5)
    assert (found.hours, found.settled) == (5.0, True)


def test_no_delay_can_be_told_while_survival_still_falls() -> None:
    """S falls from 0.92 to 0.90 in the last fifth of 100 h: by 2.17 % of itself; by 1.09 % with half as many."""
    stable = np.concatenate([np.full(8, 10.0), np.full(2, 90.0), np.full(90, 100.0)])
    assert not reporting_delay(stable, stable < 100).settled
    fewer = np.concatenate([np.full(8, 10.0), np.full(1, 90.0), np.full(91, 100.0)])
    assert reporting_delay(fewer, fewer < 100).settled


def test_too_few_clicks_tell_no_delay_and_no_conversions_need_none() -> None:
    assert not reporting_delay(np.arange(1.0, 30.0), np.arange(29) == 0).settled
    assert reporting_delay(np.arange(1.0, 30.0), np.zeros(29, dtype=bool)).settled


def buyers(delivery_id: str, n: int, after: float) -> list[dict[str, object]]:
    """n users click in hour 1; every fourth converts ``after`` hours later."""
    rows = [event(delivery_id, "click", 1, user=f"u{i}") for i in range(n)]
    return rows + [event(delivery_id, "conversion", 1 + after, user=f"u{i}") for i in range(0, n, 4)]


def test_an_item_waits_for_the_reporting_delay_and_conversions_go_to_the_stage_of_their_click() -> None:
    old = delivery("old", after=-1500)
    events = [
        *[
            row | {"at": row["at"] - hours(1500), "available_at": row["at"] - hours(1500)}
            for row in [*steady("old", each=100), *buyers("old", 400, 200)]
        ],
        *steady("d", each=100),
        *buyers("d", 40, 200),
    ]
    closing = 168 + 200
    before = ripen(events, [old, delivery("d")], START + hours(closing - 1))
    assert before.delay.hours == 200
    assert verdicts(before)["d"] == "immature"
    after = ripen(events, [old, delivery("d")], START + hours(closing))
    assert verdicts(after) == {"old": "ready", "d": "ready"}
    assert after.stages.engagements["conversion"].tolist() == [[100, 0, 0], [10, 0, 0]]


def test_items_are_immature_while_conversions_still_arrive() -> None:
    events = [*steady("d", each=100)]
    for i in range(100):
        events.append(event("d", "click", 1, user=f"u{i}"))
        events.append(event("d", "conversion", 2 + 3 * i, user=f"u{i}"))
    found = ripen([*events, *shown("agg", 1000, 5)], [delivery("d"), delivery("agg")], START + hours(180))
    assert verdicts(found) == {"d": "immature", "agg": "ready"}
    assert reason(found, "d").startswith("conversions still arrive")


def test_the_prior_of_equal_rates_is_strong_and_of_scattered_ones_weak() -> None:
    rng = np.random.default_rng(1)
    strata, trials = np.repeat(np.arange(60), 5), np.full(300, 2000.0)
    level = np.repeat(rng.uniform(0.02, 0.2, 60), 5)
    equal = beta_prior(rng.binomial(2000, level).astype(float), trials, strata)
    assert np.median(equal.a + equal.b) > 5000
    true = 200.0
    rates = rng.beta(level * true, (1 - level) * true)
    scattered = beta_prior(rng.binomial(2000, rates).astype(float), trials, strata)
    assert float((scattered.a + scattered.b)[0]) == pytest.approx(true, rel=0.25)
    assert np.abs(scattered.a / (scattered.a + scattered.b) - level).max() < 0.06


def test_the_prior_by_hand() -> None:
    """One stratum, 10/100 and 30/100: m = (40 + 40.5/201)/201, scatter and noise as in the formula."""
    m = (40 + 40.5 / 201) / 201
    scatter = sum(100 * (x - m) ** 2 for x in (0.1, 0.3)) / (m * (1 - m))
    rho = (scatter - 1) / (2 * 99 * 0.5)
    found = beta_prior(np.array([10.0, 30.0]), np.array([100.0, 100.0]), np.array([0, 0]))
    assert float(found.a[0] + found.b[0]) == pytest.approx(1 / rho - 1)
    assert float(found.a[0] / (found.a[0] + found.b[0])) == pytest.approx(m)


def test_posteriors_are_scipys_beta() -> None:
    x, n = np.array([0.0, 5.0, 50.0]), np.array([0.0, 100.0, 50.0])
    found = beta_posterior(x, n, Prior(np.full(3, 2.0), np.full(3, 30.0)))
    exact = stats.beta(2 + x, 30 + n - x)
    assert found.mean == pytest.approx(exact.mean())
    assert found.low == pytest.approx(exact.ppf(0.025))
    assert found.high == pytest.approx(exact.ppf(0.975))


def test_rates_are_kept_per_objective_and_stage() -> None:
    events = [*steady("a", each=100), *steady("b", each=100), event("a", "click", 1, 40), event("b", "click", 30, 8)]
    found = ripen(events, [delivery("a"), delivery("b")])
    first, second, third = found.rates("click")
    assert first.mean[0] > first.mean[1]
    assert second.mean[1] > second.mean[0]
    assert third.mean[0] == pytest.approx(third.mean[1])
    assert ((first.low < first.mean) & (first.mean < first.high)).all()
