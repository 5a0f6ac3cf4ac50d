import numpy as np
import pytest
from scipy import sparse

from afterwit.credit.items import Design
from afterwit.credit.semantic.duplicates import Duplicate, duplicates
from afterwit.credit.semantic.joint import Centred, effect_variances, joint_effects, kinds, ridge, stratum_centred
from credit_cases import make_design, make_items, random_case


def one_variance(centred: Centred) -> float:
    """Of decisions that are all of one kind."""
    return float(effect_variances(centred, [np.ones(centred.matrix.shape[1], dtype=bool)])[0])


def test_the_ridge_is_the_dense_one():
    items, design = random_case(5, effects=np.linspace(-0.3, 0.3, 8), weighted=True)
    centred = stratum_centred(items, design, objective="click")
    r = centred.rates
    x = design.matrix.toarray()[r.rows]
    y = r.y.copy()
    for s in range(r.n_strata):
        of = r.stratum == s
        share = r.weight[of] / r.weight[of].sum()
        x[of] -= share @ x[of]
        y[of] -= share @ y[of]
    gram = x.T @ (r.weight[:, None] * x)
    expected = np.linalg.solve(gram + np.eye(8) / 0.02, x.T @ (r.weight * y))
    np.testing.assert_allclose(ridge(centred, np.full(8, 0.02)), expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(ridge(centred, np.full(8, 0.02), start=np.ones(8)), expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(centred.gram_diagonal(), np.diag(gram))
    np.testing.assert_allclose(centred.lengths(np.ones(8, dtype=bool)), (x**2).sum(axis=1), atol=1e-12)


def test_the_variance_of_effects_is_the_off_diagonal_moment():
    items, design = random_case(6, strata=40, effects=np.linspace(-0.3, 0.3, 8), weighted=True)
    centred = stratum_centred(items, design, objective="click")
    r, a, y = centred.rates, centred.weight, centred.y
    x = centred.forward(np.eye(8))
    k = x @ x.T
    apart = ~np.eye(len(a), dtype=bool)
    same = (r.stratum[:, None] == r.stratum) & apart
    pairs = np.outer(a, a) * k
    # Noise alone makes two items of a stratum correlate by −1/Σa.
    by_noise = -(pairs / centred.total[r.stratum][:, None])[same].sum()
    signs = 2.0 * np.random.default_rng(0).integers(0, 2, size=(8, 64)) - 1
    gram = x.T @ (a[:, None] * x)
    scale = ((gram @ signs) ** 2).sum() / 64 - ((a * np.diag(k)) ** 2).sum()
    expected = ((pairs * np.outer(y, y))[apart].sum() - by_noise) / scale
    assert expected > 0
    assert one_variance(centred) == pytest.approx(expected, rel=1e-8)


def test_the_variance_of_effects_is_recovered():
    found = []
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        items, design = random_case(seed, strata=300, decisions=60, effects=rng.normal(0, 0.1, 60))
        found.append(one_variance(stratum_centred(items, design, objective="click")))
    # Sixty effects a study: the mean of twelve has a standard error near 6 %.
    assert np.mean(found) == pytest.approx(0.01, rel=0.2)


def test_kinds_have_variances_of_their_own():
    rng = np.random.default_rng(3)
    of = kinds([*(f"word={j}" for j in range(40)), *(f"like=0:1|{j}" for j in range(40))])
    found = []
    for seed in range(8):
        effects = np.concatenate((rng.normal(0, 0.02, 40), rng.normal(0, 0.15, 40)))
        items, design = random_case(seed, strata=300, decisions=80, effects=effects)
        found.append(effect_variances(stratum_centred(items, design, objective="click"), of))
    said, meant = np.mean(found, axis=0)
    assert said < 0.002
    assert meant == pytest.approx(0.0225, rel=0.2)


def test_a_kind_without_excess_has_no_effects_and_the_other_keeps_its_own():
    items, design = random_case(1, strata=300, decisions=30, effects=np.repeat([0.0, 0.2, -0.2], 10))
    centred = stratum_centred(items, design, objective="click")
    variance = np.repeat([0.0, 0.02], [10, 20])
    alone = stratum_centred(items, Design(names=design.names[10:], matrix=design.matrix[:, 10:]), objective="click")
    beta = ridge(centred, variance, start=np.ones(30))
    assert not beta[:10].any()
    np.testing.assert_allclose(beta[10:], ridge(alone, np.full(20, 0.02)), rtol=1e-4, atol=1e-7)


def test_degrees_are_columns_like_any_other():
    items, design = random_case(4, effects=np.linspace(-0.3, 0.3, 8))
    graded = make_design(design.matrix.toarray() * np.random.default_rng(0).uniform(0.2, 1, (len(items), 1)))
    centred = stratum_centred(items, graded, objective="click")
    x = centred.forward(np.eye(8))
    gram = x.T @ (centred.weight[:, None] * x)
    np.testing.assert_allclose(centred.gram_diagonal(), np.diag(gram))
    np.testing.assert_allclose(centred.column(3), gram[3], atol=1e-9)
    np.testing.assert_allclose(centred.lengths(np.arange(8) < 5), (x[:, :5] ** 2).sum(axis=1), atol=1e-12)


def test_without_effects_nearly_nothing_is_left():
    found = [
        np.abs(joint_effects(*random_case(s, strata=200, decisions=40), objective="click")).max() for s in range(8)
    ]
    assert np.median(found) < 0.02


def test_overlapping_decisions_are_not_counted_twice():
    # Decision 0 works; decision 1 rides along with it four times in five and does nothing.
    rng = np.random.default_rng(0)
    items, design = random_case(1, strata=800, decisions=12, effects=np.array([0.3] + [0.0] * 11))
    shown = design.matrix.toarray()
    shown[:, 1] = np.where(rng.random(len(shown)) < 0.8, shown[:, 0], shown[:, 1])
    beta = joint_effects(items, make_design(shown), objective="click")
    assert beta[0] == pytest.approx(0.3, abs=0.06)
    assert abs(beta[1]) < 0.06


def test_the_order_of_items_does_not_matter():
    items, design = random_case(2, effects=np.linspace(-0.2, 0.2, 8))
    rows = np.random.default_rng(0).permutation(len(items))
    shuffled = joint_effects(
        items.take(rows), Design(names=design.names, matrix=design.matrix[rows]), objective="click"
    )
    np.testing.assert_allclose(joint_effects(items, design, objective="click"), shuffled, rtol=1e-4, atol=1e-7)


def test_nothing_to_fit_is_no_effect():
    empty = make_items([], [], [])
    assert joint_effects(empty, make_design(np.zeros((0, 3))), objective="click").tolist() == [0, 0, 0]
    none = Design(names=(), matrix=sparse.csr_array((2, 0)))
    assert len(joint_effects(make_items([0, 0], [9, 9], [1, 2]), none, objective="click")) == 0


def test_duplicates_share_the_name_with_most_support():
    rng = np.random.default_rng(0)
    code = np.repeat(np.arange(50), 4)
    items = make_items(code.tolist(), [100] * 200, [5] * 200)
    word = (rng.random(200) < 0.4).astype(float)
    pair = word.copy()
    pair[np.flatnonzero(word)[0]] = 0
    other = (rng.random(200) < 0.4).astype(float)
    constant = np.repeat(rng.integers(0, 2, 50), 4)
    design = make_design(
        np.column_stack((pair, word, 1 - word, other, constant)),
        ("word=of the", "word=the", "no=the", "word=she", "year=2014"),
    )
    found = duplicates(items, design)
    # "no=the" is shown by more items than "word=the" and so stands for the group; it is the opposite of the others.
    assert found == {
        "word=of the": Duplicate(name="no=the", sign=-1),
        "word=the": Duplicate(name="no=the", sign=-1),
        "no=the": Duplicate(name="no=the", sign=1),
    }
    assert duplicates(items, design, np.array([0, 1, 3])) == {
        "word=of the": Duplicate(name="word=the", sign=1),
        "word=the": Duplicate(name="word=the", sign=1),
    }
    assert duplicates(items, design, np.array([3, 4])) == {}


def test_duplicate_ties_go_to_the_shorter_then_earlier_name():
    x = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]])
    items = make_items([0, 0, 1, 1], [9] * 4, [1] * 4)
    assert {d.name for d in duplicates(items, make_design(x, ("ccc", "bb", "aa"))).values()} == {"aa"}
