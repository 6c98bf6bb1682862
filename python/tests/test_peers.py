"""Other people's implementations give the same numbers."""

from __future__ import annotations

import numpy as np
import properscoring
import pytest
import scipy.special
import scipy.stats
import scoringrules

import errbar


@pytest.fixture
def rows():
    random = np.random.default_rng(7)
    sigma = np.exp(random.normal(size=2000))
    return random.normal(size=2000) * sigma * 1.3, sigma


def near(got, want, relative=1e-12, absolute=0.0):
    np.testing.assert_allclose(got, want, rtol=relative, atol=absolute)


def test_crps_is_that_of_scoringrules_and_properscoring(rows):
    error, sigma = rows
    got = errbar.crps(error, sigma)
    near(got, scoringrules.crps_normal(error, 0.0, sigma))
    # properscoring gives the gradient too; where it passes through 0 only its size before counts.
    want, gradient = properscoring.crps_gaussian(error, 0.0, sigma, grad=True)
    near(got, want)
    near(errbar.crps_gradient(error, sigma), gradient[1], absolute=1e-15)


def test_nlpd_and_pit_are_those_of_scipy(rows):
    error, sigma = rows
    near(errbar.nlpd(error, sigma), -scipy.stats.norm.logpdf(error, scale=sigma), absolute=1e-15)
    near(errbar.pit(error, sigma), scipy.stats.norm.cdf(error, scale=sigma))


def test_reliability_score_is_its_integral(rows):
    """The definition, piece by piece between the scaled errors, by quadrature."""
    error, sigma = (column[:20] for column in rows)
    eta = np.sort(error / np.sqrt(2) / sigma)
    ends = np.concatenate([[-9.0], eta, [9.0]])
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for i in range(len(ends) - 1):
        half = 0.5 * (ends[i + 1] - ends[i])
        x = ends[i] + half * (nodes + 1)
        gap = 0.5 * (scipy.special.erf(x) + 1) - i / len(eta)
        total += half * np.sum(weights * gap**2)
    near(errbar.reliability_score(error, sigma), total)


def test_gradient_is_that_of_finite_differences(rows):
    error, sigma = (column[:30] for column in rows)
    weight = np.linspace(0.5, 2, 30)
    gradient = errbar.accuracy_reliability_gradient(error, sigma, 0.4, weight)
    for i in range(30):
        step = np.zeros(30)
        step[i] = 1e-5 * sigma[i]
        up, down = (
            errbar.accuracy_reliability(error, sigma + sign * step, 0.4, weight).value
            for sign in (1, -1)
        )
        # The ranks do not change within so small a step.
        assert gradient[i] == pytest.approx((up - down) / (2 * step[i]), rel=1e-5, abs=1e-9)


def test_coverage_is_counted(rows):
    error, sigma = rows
    levels = np.array([0.5, 0.9, 0.99])
    reach = scipy.stats.norm.ppf(0.5 + levels / 2)
    counted = np.mean(np.abs(error)[:, None] <= reach * sigma[:, None], axis=0)
    assert np.array_equal(errbar.coverage(error, sigma, levels), counted)
    assert errbar.coverage(error, sigma, 0.9) == counted[1]


def test_error_functions_are_those_of_scipy():
    x = np.linspace(-6, 6, 1001)
    near(errbar.erf(x), scipy.special.erf(x), absolute=0)
    p = np.linspace(-1, 1, 1001)
    near(errbar.erfinv(p), scipy.special.erfinv(p), absolute=1e-300)
    assert np.isnan(errbar.erfinv(1.5)) and errbar.erfinv(1.0) == np.inf


def test_scores_are_those_of_numpy_and_the_peers(rows):
    error, sigma = rows
    forecast = np.linspace(0, 50, len(error))
    scores = errbar.scores(forecast + error, forecast, sigma)
    near(scores.mae, np.mean(np.abs(error)))
    near(scores.rmse, np.sqrt(np.mean(error**2)))
    near(scores.bias, np.mean(error), absolute=1e-14)
    near(scores.rms_z, np.sqrt(np.mean((error / sigma) ** 2)))
    near(scores.crps, np.mean(scoringrules.crps_normal(error, 0.0, sigma)))
    near(scores.nlpd, np.mean(-scipy.stats.norm.logpdf(error, scale=sigma)))
    counts, _ = np.histogram(scipy.stats.norm.cdf(error / sigma), bins=20, range=(0, 1))
    near(scores.pit.frequency, counts / len(error))
    # The best one sigma cannot be beaten by its neighbours.
    best = scores.constant.sigma
    for other in (0.99 * best, 1.01 * best):
        assert np.mean(scoringrules.crps_normal(error, 0.0, other)) > scores.constant.crps
