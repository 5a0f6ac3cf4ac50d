import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from afterwit.credit.semantic.fitness import Prior, fit_prior, lower_bound, posterior, recall_value


@pytest.mark.parametrize("seed", range(5))
def test_the_prior_maximises_the_marginal_likelihood(seed: int):
    rng = np.random.default_rng(seed)
    se = rng.uniform(0.02, 0.1, 400)
    y = rng.normal(0, np.hypot(0.05, se))

    def loss(s: float) -> float:
        return -float(stats.norm.logpdf(y, 0, np.hypot(s, se)).sum())

    best = optimize.minimize_scalar(loss, bounds=(1e-6, 1), method="bounded", options={"xatol": 1e-9})
    assert fit_prior(y, se).sd == pytest.approx(best.x, rel=1e-4)


def test_a_posterior_worked_by_hand():
    # Prior variance 0.04, error variance 0.01: four fifths of the effect stay, sd² = 0.04 · 0.01 / 0.05.
    found = posterior(np.array([0.3]), np.array([0.1]), Prior(mean=0.0, sd=0.2))
    assert found.mean[0] == pytest.approx(0.24)
    assert found.sd[0] == pytest.approx(np.sqrt(0.008))
    assert found.p_sign[0] == pytest.approx(stats.norm.cdf(0.24 / np.sqrt(0.008)))


def test_where_nothing_varies_beyond_noise_nothing_is_left():
    se = np.full(300, 0.1)
    y = np.random.default_rng(0).normal(0, 0.09, 300)
    prior = fit_prior(y, se)
    found = posterior(y, se, prior)
    assert prior.sd == 0
    assert not found.mean.any()
    assert (found.p_sign == 0.5).all()
    assert not recall_value(found.mean, prior, np.sign(y)).any()


def test_what_was_not_examined_keeps_the_prior_and_does_not_shape_it():
    y, se = np.array([0.5, -0.4, np.nan, 0.2]), np.array([0.1, 0.1, np.inf, np.inf])
    prior = fit_prior(y, se)
    assert prior == fit_prior(y[:2], se[:2])
    found = posterior(y, se, prior)
    assert found.mean[2:].tolist() == [0, 0]
    assert found.sd[2:] == pytest.approx([prior.sd, prior.sd])
    assert found.p_sign[2:].tolist() == [0.5, 0.5]
    assert fit_prior(np.array([]), np.array([])).sd == 0


def test_selection_does_not_bias_the_posterior():
    # The winner's curse: of 20,000 effects the 200 largest estimates overshoot, their posteriors do not.
    rng = np.random.default_rng(2)
    truth = rng.normal(0, 0.05, 20_000)
    y = rng.normal(truth, 0.08)
    found = posterior(y, np.full(20_000, 0.08), fit_prior(y, np.full(20_000, 0.08)))
    top = np.argsort(-y)[:200]
    assert y[top].mean() > 2 * truth[top].mean()
    assert found.mean[top].mean() == pytest.approx(truth[top].mean(), abs=0.01)


@settings(deadline=None)
@given(y=st.lists(st.floats(-2, 2), min_size=1, max_size=30), se=st.floats(0.01, 1), sd=st.floats(0.001, 1))
def test_signs_mirror_and_values_stay_in_range(y: list[float], se: float, sd: float):
    prior, effect, error = Prior(mean=0.0, sd=sd), np.array(y), np.full(len(y), se)
    a, b = posterior(effect, error, prior), posterior(-effect, error, prior)
    np.testing.assert_allclose(a.mean, -b.mean)
    np.testing.assert_allclose(a.p_sign, b.p_sign)
    assert (np.abs(a.mean) <= np.abs(effect) + 1e-12).all()
    assert (np.abs(recall_value(a.mean, prior, np.ones(len(y)))) <= 1).all()
    sign = np.sign(effect)
    assert (lower_bound(a.mean, a.sd, sign) <= sign * a.mean).all()
