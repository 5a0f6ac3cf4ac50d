import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.credit.items import Design, Items
from afterwit.credit.semantic.contrast import cells, rates
from credit_cases import make_design, make_items, random_case


def test_a_toy_case_worked_by_hand():
    # One stratum: 30 and 20 clicks of 1000 each, so 25 are expected of each. With equal weights a = 25,
    # Q = 25 · 2 · (ln 1.5 / 2)² and σ_b² = (Q − 1) / (50 − 2 · 25² / 50) = (Q − 1) / 25.
    found = cells(make_items([7, 7], [1000, 1000], [30, 20]), make_design([[1], [0]]), "click")
    between = (25 * 2 * (np.log(1.5) / 2) ** 2 - 1) / 25
    assert found.between == pytest.approx(between)
    assert found.effect == pytest.approx([np.log(1.5)])
    assert found.variance == pytest.approx([2 * (1 / 25 + between)])
    assert (found.treated.tolist(), found.controls.tolist(), found.strata.tolist()) == ([1], [1], [7])


def test_an_empty_item_counts_half_an_engagement():
    found = cells(make_items([0, 0], [100, 100], [0, 4]), make_design([[1], [0]]), "click")
    assert found.effect == pytest.approx([np.log(0.5 / 4)])


def test_cells_agree_with_plain_loops_on_random_weighted_items():
    items, design = random_case(3, weighted=True)
    found, r = cells(items, design, "click"), rates(items, "click")
    dense = design.matrix.toarray()[r.rows]
    expected = {}
    for d in range(dense.shape[1]):
        for s in range(r.n_strata):
            sides = [(r.stratum == s) & (dense[:, d] == side) for side in (1, 0)]
            if not all(side.any() for side in sides):
                continue
            means, variances = [], []
            for side in sides:
                a, v = r.weight[side], r.variance[side]
                means.append((a * r.y[side]).sum() / a.sum())
                variances.append(max((a * a * v).sum() / a.sum() ** 2, 1 / a.sum()))
            expected[d, s] = (means[0] - means[1], sum(variances), sides[0].sum(), sides[1].sum())
    keys = list(zip(found.decision.tolist(), found.stratum.tolist(), strict=True))
    assert keys == sorted(expected)
    columns = np.array([expected[key] for key in keys]).T
    for got, want in zip((found.effect, found.variance, found.treated, found.controls), columns, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9)


def test_a_degree_has_the_weighted_slope_and_its_variance():
    items, _ = random_case(5, strata=20)
    degrees = np.round(np.random.default_rng(1).uniform(0, 1, (len(items), 1)), 3)
    degrees[::5] = 0
    found, r = cells(items, make_design(degrees), "click"), rates(items, "click")
    assert len(found) == r.n_strata
    x = degrees[r.rows, 0]
    for s in range(r.n_strata):
        of = r.stratum == s
        design = np.column_stack((np.ones(of.sum()), x[of]))
        gram = design.T @ (r.weight[of, None] * design)
        slope = np.linalg.solve(gram, design.T @ (r.weight[of] * r.y[of]))[1]
        assert found.effect[s] == pytest.approx(slope, rel=1e-8)
        assert found.variance[s] == pytest.approx(np.linalg.inv(gram)[1, 1], rel=1e-8)
        above = x[of] > (r.weight[of] @ x[of]) / r.weight[of].sum()
        assert (found.treated[s], found.controls[s]) == (above.sum(), (~above).sum())


def test_between_item_variance_is_recovered():
    estimates = [
        rates(random_case(seed, strata=400, between=0.2, clicks=1000)[0], "click").between for seed in range(20)
    ]
    # Twenty studies of 400 strata; the mean of their estimates lies within 4 % of 0.2².
    assert np.mean(estimates) == pytest.approx(0.04, rel=0.04)
    assert np.mean([rates(random_case(s, strata=400, between=0)[0], "click").between for s in range(20)]) < 0.002


def test_between_item_variance_takes_two_moment_steps():
    items, _ = random_case(4, strata=30)
    r = rates(items, "click")
    within = r.variance - r.between
    found = 0.0
    for _ in range(2):
        q = expected = scale = 0.0
        for s in range(r.n_strata):
            v, y = within[r.stratum == s], r.y[r.stratum == s]
            a = 1 / (v + found)
            q += (a * (y - (a * y).sum() / a.sum()) ** 2).sum()
            expected += (a * v).sum() - (a * a * v).sum() / a.sum()
            scale += a.sum() - (a * a).sum() / a.sum()
        found = (q - expected) / scale
    assert found > 0
    assert r.between == pytest.approx(found, rel=1e-9)


def test_expected_counts_do_not_follow_an_items_own_outcome():
    before = rates(make_items([0, 0, 0], [100, 100, 100], [9, 3, 3]), "click")
    after = rates(make_items([0, 0, 0], [100, 100, 100], [3, 9, 3]), "click")
    np.testing.assert_array_equal(before.variance, after.variance)


def test_strata_without_engagement_or_company_say_nothing():
    base = make_items([0, 0, 1, 1], [100, 100, 90, 80], [9, 3, 5, 2])
    more = make_items([0, 0, 1, 1, 2, 3, 3, 4, 4], [100, 100, 90, 80, 50, 60, 70, 0, 9], [9, 3, 5, 2, 7, 0, 0, 0, 1])
    a = cells(base, make_design([[1], [0], [1], [0]]), "click")
    b = cells(more, make_design([[1], [0], [1], [0], [1], [1], [0], [1], [0]]), "click")
    np.testing.assert_allclose(a.effect, b.effect)
    np.testing.assert_allclose(a.variance, b.variance)


def test_no_items_give_no_cells():
    assert len(cells(make_items([], [], []), make_design(np.zeros((0, 3))), "click")) == 0
    assert len(cells(make_items([0, 0], [9, 9], [1, 2]), make_design([[1], [1]]), "click")) == 0


def test_a_weight_below_one_is_less_evidence_and_a_large_one_never_more():
    def variance(weight: float) -> float:
        items = make_items([0, 0, 0, 0], [500] * 4, [20, 25, 22, 18], weights=[weight] * 4)
        return float(cells(items, make_design([[1], [1], [0], [0]]), "click").variance[0])

    assert variance(0.5) == pytest.approx(2 * variance(1.0))
    assert variance(4.0) == pytest.approx(variance(1.0))


def test_a_stratum_is_as_early_as_its_first_item_and_confirms_only_as_a_whole():
    items = make_items([0, 0, 1, 1], [99] * 4, [5, 4, 3, 6], days=[3, 9, 5, 5], confirmable=[True, False, True, True])
    found = cells(items, make_design([[1], [0], [1], [0]]), "click")
    assert (found.first_delivered - items.first_delivered_at[0]).astype("timedelta64[D]").astype(int).tolist() == [
        0,
        2,
    ]
    assert found.confirmable.tolist() == [False, True]


def _taken(items: Items, design: Design, rows: np.ndarray) -> tuple[Items, Design]:
    return items.take(rows), Design(names=design.names, matrix=design.matrix[rows])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.5, 2.0, 10.0]))
def test_order_scale_and_side(seed: int, scale: float):
    items, design = random_case(seed, strata=12, decisions=4, weighted=True)
    base = cells(items, design, "click")
    shuffled = cells(*_taken(items, design, np.random.default_rng(seed).permutation(len(items))), "click")
    np.testing.assert_allclose(base.effect, shuffled.effect, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(base.variance, shuffled.variance, rtol=1e-8)
    longer = make_items(
        items.strata.tolist(),
        (items.exposures * scale).tolist(),
        items.engagements["click"].tolist(),
        weights=items.weights.tolist(),
    )
    scaled = cells(longer, design, "click")
    np.testing.assert_allclose(base.effect, scaled.effect, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(base.variance, scaled.variance, rtol=1e-8)
    opposite = cells(items, make_design(1 - design.matrix.toarray()), "click")
    np.testing.assert_allclose(base.effect, -opposite.effect, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(base.variance, opposite.variance, rtol=1e-8)
