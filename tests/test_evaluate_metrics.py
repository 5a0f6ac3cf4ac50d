"""Metrics against loops, the z statistic against statsmodels, intervals against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportions_ztest

from afterwit.evaluate.meg import meg, meg_by_round
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.metrics.negative_transfer import negative_transfer
from afterwit.evaluate.metrics.pairs_accuracy import pairs_accuracy
from afterwit.evaluate.metrics.significant_pairs_accuracy import significant_pairs_accuracy
from afterwit.evaluate.metrics.uplift import uplift
from afterwit.evaluate.tasks import Tasks
from evaluate_cases import make_tasks, random_tasks


def by_loop(tasks: Tasks, scores: np.ndarray) -> tuple[float, float, float]:
    """Significant-pair accuracy, pair accuracy and uplift, one pair and one task at a time."""
    hits, every, gains = [], [], []
    for g in range(len(tasks)):
        rows = np.flatnonzero(tasks.task == g)
        rate = {i: tasks.engagements[i] / tasks.exposures[i] for i in rows}
        best = max(scores[rows])
        top = [rate[i] for i in rows if scores[i] == best]
        gains.append(np.mean(top) / np.mean(list(rate.values())) - 1)
        for a, i in enumerate(rows):
            for j in rows[a + 1 :]:
                if rate[i] == rate[j]:
                    continue
                counts, shown = tasks.engagements[[i, j]], tasks.exposures[[i, j]]
                z, _ = proportions_ztest(counts, shown)
                right = 0.5 if scores[i] == scores[j] else float((scores[i] > scores[j]) == (rate[i] > rate[j]))
                every.append(right)
                if abs(z) > 1.96:
                    hits.append(right)
    return float(np.mean(hits)), float(np.mean(every)), float(np.mean(gains))


@pytest.mark.parametrize("seed", range(5))
def test_metrics_agree_with_loops(seed: int) -> None:
    tasks = random_tasks(seed)
    scores = np.random.default_rng(seed).integers(0, 4, len(tasks.ids)).astype(float)  # many ties
    found = (
        significant_pairs_accuracy(tasks, scores).value,
        pairs_accuracy(tasks, scores).value,
        uplift(tasks, scores).value,
    )
    assert found == pytest.approx(by_loop(tasks, scores))


def test_a_toy_case_by_hand() -> None:
    # Rates 4 %, 2 %, 2 % of 1,000: the first differs from each (z = 2.62); mean rate 8/3 %.
    tasks = make_tasks([[(1000, 40), (1000, 20), (1000, 20)]])
    right = np.array([1.0, 0.0, 0.5])
    assert significant_pairs_accuracy(tasks, right).value == 1.0
    assert significant_pairs_accuracy(tasks, right).bottom.sum() == 2
    assert pairs_accuracy(tasks, right).bottom.sum() == 2  # the equal pair has no right order
    assert uplift(tasks, right).value == pytest.approx(0.04 / (0.08 / 3) - 1)
    tied = np.array([1.0, 1.0, 0.0])
    assert uplift(tasks, tied).value == pytest.approx(0.03 / (0.08 / 3) - 1)
    assert significant_pairs_accuracy(tasks, tied).value == pytest.approx((0.5 + 1) / 2)


@given(st.integers(0, 10_000), st.floats(-5, 5))
@settings(max_examples=25, deadline=None)
def test_equal_scores_have_uplift_exactly_zero_and_accuracy_one_half(seed: int, score: float) -> None:
    tasks = random_tasks(seed, n=15)
    same = np.full(len(tasks.ids), score)
    assert np.all(uplift(tasks, same).top == 0.0)
    assert pairs_accuracy(tasks, same).value == 0.5


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_scores_that_differ_by_rounding_alone_are_ties(seed: int) -> None:
    tasks = random_tasks(seed, n=10)
    noise = np.random.default_rng(seed).normal(0, 1e-15, len(tasks.ids))
    assert np.all(uplift(tasks, 0.1 + noise).top == 0.0)


def test_nothing_shown_or_nothing_clicked_is_neither_a_pair_nor_a_gain() -> None:
    tasks = make_tasks([[(0, 0), (100, 5)], [(100, 0), (100, 0)]])
    scores = np.array([0.0, 1.0, 1.0, 0.0])
    assert pairs_accuracy(tasks, scores).bottom.sum() == 0
    assert uplift(tasks, scores).top[1] == 0.0


def test_the_bootstrap_agrees_with_scipy() -> None:
    chance = np.random.default_rng(3)
    clusters = np.repeat(np.arange(120), 2)
    ratio = Ratio(top=chance.normal(0.3, 1, 240), bottom=chance.integers(1, 4, 240).astype(float))
    found = Resamples.of(clusters, seed=1).interval(ratio)
    top, bottom = (np.bincount(clusters, weights=column) for column in (ratio.top, ratio.bottom))

    def statistic(a, b, axis):  # type: ignore[no-untyped-def]
        return a.sum(axis=axis) / b.sum(axis=axis)

    oracle = stats.bootstrap(
        (top, bottom), statistic, paired=True, vectorized=True, n_resamples=9999, method="percentile", rng=2
    ).confidence_interval
    width = oracle.high - oracle.low
    assert found.value == pytest.approx(top.sum() / bottom.sum())
    assert abs(found.low - oracle.low) < 0.06 * width
    assert abs(found.high - oracle.high) < 0.06 * width


def test_differences_are_paired_and_seeded() -> None:
    chance = np.random.default_rng(0)
    base, ones = chance.normal(0, 5, 200), np.ones(200)
    resamples = Resamples.of(np.arange(200), seed=7)
    near = resamples.difference(Ratio(top=base + 0.1, bottom=ones), Ratio(top=base, bottom=ones))
    assert near.low == pytest.approx(0.1)
    assert near.high == pytest.approx(0.1)
    again = Resamples.of(np.arange(200), seed=7)
    assert np.array_equal(resamples.counts, again.counts)
    assert not np.array_equal(resamples.counts, Resamples.of(np.arange(200), seed=8).counts)


def test_clusters_are_drawn_whole() -> None:
    codes = np.array([4, 4, 9, 9, 9, 2])
    resamples = Resamples.of(codes, seed=0)
    assert np.all(resamples.counts.sum(axis=1) == 3)
    assert np.array_equal(resamples.sums(np.ones(6)), [1.0, 2.0, 3.0])


def test_negative_transfer_and_meg_by_hand() -> None:
    evolved, reference = np.array([0.2, -0.1, 0.0, np.nan]), np.zeros(4)
    assert meg(evolved, reference).value == pytest.approx(0.1 / 3)
    assert negative_transfer(evolved[:3], reference[:3]).value == pytest.approx(1 / 3)


def test_meg_by_round_is_the_mean_of_each_window_and_of_all_so_far() -> None:
    gains = np.array([0.1, 0.3, -0.2, 0.4])
    windows = np.array([0, 0, 2, 2])
    resamples = Resamples.of(np.arange(4), seed=0)
    alone, so_far = meg_by_round(resamples, meg(gains, np.zeros(4)), windows, n=3)
    assert [one.value for one in alone] == pytest.approx([0.2, 0.0, 0.1])
    assert [one.n for one in alone] == [2, 0, 2]
    assert alone[1].low is None
    assert [one.value for one in so_far] == pytest.approx([0.2, 0.2, 0.15])
    whole = resamples.interval(meg(gains, np.zeros(4)))
    assert (so_far[2].low, so_far[2].high) == pytest.approx((whole.low, whole.high))
