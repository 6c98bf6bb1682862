"""errbar.jax against 60-digit references, against the library, and against finite differences."""

import doctest
import json
import math
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: errbar.jax is not tested")

import jax.numpy as jnp
from jax.test_util import check_grads

import errbar
import errbar.jax
from errbar.jax import (
    accuracy_reliability,
    crps,
    heuristic_beta,
    reliability_score,
    two_piece_accuracy_reliability,
    two_piece_crps,
)

CRATES = Path(__file__).resolve().parents[2] / "crates"
VECTORS = json.loads((CRATES / "errbar/tests/score_vectors.json").read_text())


@pytest.fixture(autouse=True)
def double():
    """float64, which JAX has switched off."""
    with jax.enable_x64(True):
        yield


def doubles(values):
    return np.array([float(value) for value in values])


def sample(n, seed=0, ties=False):
    """Errors and sigmas that are wrong by some 30%."""
    rng = np.random.default_rng(seed)
    truth = np.exp(0.5 * rng.standard_normal(n))
    error, sigma = truth * rng.standard_normal(n), truth * np.exp(0.3 * rng.standard_normal(n))
    if ties:
        error, sigma = np.round(error), np.full(n, 0.75)
    return error, sigma


def gradient(error, sigma, beta="heuristic", weight=None):
    """The cost and its gradient by sigma, compiled."""
    cost = lambda s: accuracy_reliability(error, s, beta, weight)
    value, slope = jax.jit(jax.value_and_grad(cost))(sigma)
    return float(value), np.asarray(slope)


@pytest.mark.parametrize("case", range(len(VECTORS["sets"])))
def test_sets_have_their_reference_values(case):
    reference = VECTORS["sets"][case]
    error, sigma = doubles(reference["error"]), doubles(reference["sigma"])
    value, slope = gradient(error, sigma)
    assert value == pytest.approx(float(reference["ar_exact"]), rel=1e-13)
    printed = float(accuracy_reliability(error, sigma, "printed"))
    assert printed == pytest.approx(float(reference["ar_as_printed"]), rel=1e-13)
    assert float(heuristic_beta(error)) == pytest.approx(float(reference["beta_exact"]), rel=1e-13)
    # RS is a difference from 0.4: its digits are those of 0.4.
    rs, constant = float(reference["rs"]), 1.0 / math.sqrt(2.0 * math.pi)
    assert abs(float(reliability_score(error, sigma)) - rs) < 4e-15 * (rs + constant)
    expected = doubles(reference["dar_dsigma_exact"])
    assert np.abs(slope - expected).max() <= 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("case", range(len(VECTORS["weighted"])))
def test_weighted_sets_have_their_reference_values(case):
    reference = VECTORS["weighted"][case]
    error, sigma, weight = (doubles(reference[name]) for name in ("error", "sigma", "weight"))
    assert abs(float(reliability_score(error, sigma, weight)) - float(reference["rs"])) < 1e-15
    accuracy_only = float(accuracy_reliability(error, sigma, 1.0, weight))
    assert accuracy_only == pytest.approx(float(reference["mean_crps"]), rel=1e-13)


def test_points_have_their_reference_values():
    points = VECTORS["points"]
    error, sigma = (doubles(p[name] for p in points) for name in ("error", "sigma"))
    # CRPS is a difference of terms as large as the larger of error and sigma.
    digits = 4e-15 * np.maximum(np.abs(error), sigma)
    assert (np.abs(crps(error, sigma) - doubles(p["crps"] for p in points)) <= digits).all()
    each = jax.vmap(jax.grad(crps, argnums=(0, 1)))
    by_error, by_sigma = each(error, sigma)
    assert np.abs(by_sigma - doubles(p["dcrps_dsigma"] for p in points)).max() < 1e-15
    assert np.abs(by_error + doubles(p["dcrps_dforecast"] for p in points)).max() < 1e-15


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("beta", ["heuristic", "printed", 0.0, 0.3, 1.0])
@pytest.mark.parametrize("n, ties", [(1, False), (7, True), (1000, False), (1000, True)])
def test_value_and_gradient_are_the_librarys(n, ties, beta, weighted):
    error, sigma = sample(n, ties=ties)
    weight = np.random.default_rng(1).integers(0, 4, n) + (n == 1) if weighted else None
    expected = errbar.accuracy_reliability(error, sigma, beta, weight)
    slope = errbar.accuracy_reliability_gradient(error, sigma, beta, weight)
    value, found = gradient(error, sigma, beta, weight)
    assert value == pytest.approx(expected.value, rel=1e-12)
    assert np.abs(found - slope).max() <= 1e-10 * np.abs(slope).max()


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_finite_differences(weighted):
    error, sigma = sample(40)
    weight = np.linspace(0.0, 2.0, 40) if weighted else None
    by_all = lambda e, s, b: accuracy_reliability(e, s, b, weight)
    check_grads(by_all, (error, sigma, 0.3), order=1, modes=["rev"])
    by_sigma = lambda s: accuracy_reliability(error, s, "heuristic", weight)
    check_grads(by_sigma, (sigma,), order=1, modes=["rev"])
    check_grads(crps, (error, sigma), order=2)


def test_the_heuristic_beta_is_a_constant():
    """Through it, larger errors could lower the cost."""
    error, sigma = sample(40)
    heuristic = jax.grad(accuracy_reliability)(error, sigma)
    fixed = jax.grad(accuracy_reliability)(error, sigma, heuristic_beta(error))
    assert np.abs(heuristic - fixed).max() <= 1e-15 and np.abs(heuristic).max() > 1e-3


def test_gradients_of_errors_of_zero():
    """Three of them in the middle of six: the gap is known by hand."""
    error, sigma = np.array([-1.0, 0.0, 0.0, 0.0, 2.0, 3.0]), np.ones(6)
    by_error, by_sigma = jax.grad(accuracy_reliability, argnums=(0, 1))(error, sigma, 0.0)
    # The mean rank of rows 2, 3 and 4 of 6 makes (2i - 1) / n = 5 / 6, so that the gap is 1 / 6.
    np.testing.assert_allclose(by_error[1:4], math.sqrt(0.5) / 36.0, rtol=1e-14)
    assert (by_sigma[1:4] == 0.0).all()


def test_mapped_is_one_by_one():
    error, sigma = (values.reshape(6, 50) for values in sample(300))
    mapped = jax.jit(jax.vmap(jax.value_and_grad(accuracy_reliability, argnums=1)))(error, sigma)
    for i in range(6):
        value, slope = gradient(error[i], sigma[i])
        assert float(mapped[0][i]) == pytest.approx(value, rel=1e-14)
        assert np.abs(mapped[1][i] - slope).max() <= 1e-14 * np.abs(slope).max()


def test_float32_keeps_its_digits():
    error, sigma = sample(100_000)
    value, slope = gradient(error, sigma)
    value32, slope32 = gradient(error.astype(np.float32), sigma.astype(np.float32))
    assert slope32.dtype == np.float32
    assert value32 == pytest.approx(value, rel=1e-6)
    # Rounding makes neighbours change places, and with them their ranks.
    one_rank = 2.0 / len(error) ** 2 * np.abs(error / (math.sqrt(2.0) * sigma**2))
    assert (np.abs(slope32 - slope) <= 1e-6 * np.abs(slope).max() + 3.0 * one_rank).all()


@pytest.mark.parametrize("half", [jnp.float16, jnp.bfloat16])
def test_half_precision_is_computed_in_float32(half):
    error, sigma = (jnp.asarray(values, half) for values in sample(200))
    value, slope = gradient(error, sigma)
    expected, exact = gradient(error.astype(jnp.float32), sigma.astype(jnp.float32))
    assert accuracy_reliability(error, sigma).dtype == jnp.float32 and slope.dtype == half
    assert value == expected and (slope == exact.astype(half)).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_gradients_are_finite_however_extreme_the_input(kind):
    """Squares and quotients overflow here; no infinity may meet a zero."""
    far = 1e30 if kind == np.float32 else 1e200
    error = np.array([0.0, 0.0, 1.0, -1.0, 1.0, -far, far, 1.0], kind)
    sigma = np.array([1.0, 1 / far, 1 / far, 1 / far, far, 1 / far, far, 1.0], kind)
    for beta in ["heuristic", 0.0, 0.5, 1.0]:
        slopes = jax.grad(accuracy_reliability, argnums=(0, 1))(error, sigma, beta)
        assert np.isfinite(slopes).all(), beta
    values, slopes = jax.vmap(jax.value_and_grad(crps, argnums=(0, 1)))(error, sigma)
    assert np.isfinite(values).all() and np.isfinite(slopes).all()
    assert values[2] == 1.0 and values[5] == error[6]  # sigma to 0 gives |error|


def test_rows_of_weight_zero_do_not_count():
    error, sigma = sample(50)
    padded = np.append(error, [math.nan, math.inf, 1.0])
    sigmas = np.append(sigma, [1.0, -1.0, math.nan])
    weight = np.append(np.ones(50), np.zeros(3))
    for beta in ["heuristic", "printed", 0.4]:
        value, slope = gradient(padded, sigmas, beta, weight)
        expected, exact = gradient(error, sigma, beta)
        assert value == pytest.approx(expected, rel=1e-12)
        assert np.abs(slope[:50] - exact).max() <= 1e-12 * np.abs(exact).max()
        assert (slope[50:] == 0.0).all()


def test_what_cannot_be_is_nan_in_loss_and_gradient():
    error, sigma = sample(5)
    for e, s, w in [
        ([*error[:4], math.nan], sigma, None),
        (error, [*sigma[:4], math.nan], None),
        (error, [*sigma[:4], 0.0], None),
        (error, [*sigma[:4], -1.0], None),
        (error, sigma, np.array([1.0, 1.0, 1.0, 1.0, -1.0])),
    ]:
        value, slope = gradient(np.array(e), np.array(s), "heuristic", w)
        assert math.isnan(value) and np.isnan(slope).any(), (e, s, w)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda x: accuracy_reliability(x, x[:, None]),
            r"error has shape \(4,\) but sigma has shape \(4, 1\)",
        ),
        (lambda x: crps(x, x[:3]), r"error has shape \(4,\) but sigma has shape \(3,\)"),
        (
            lambda x: accuracy_reliability(x, x, weight=x[:2]),
            "weight has 2 elements but error has 4",
        ),
        (lambda x: accuracy_reliability(x[:0], x[:0]), "at least one row"),
        (
            lambda x: accuracy_reliability(x, x, "best"),
            'beta is \'best\': .*"heuristic", "printed"',
        ),
        (lambda x: accuracy_reliability(x, x, 1.5), "beta is 1.5: give a number from 0 to 1"),
        (lambda x: accuracy_reliability(x, x, x), "beta has 4 elements"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call(jnp.ones(4))


def test_examples_in_the_documentation_hold():
    found = doctest.testmod(errbar.jax)
    assert found.attempted > 3 and found.failed == 0


def sides(n, seed=0):
    """Errors and scales of both sides, which have little to do with each other."""
    rng = np.random.default_rng(seed)
    left, right = np.exp(0.5 * rng.standard_normal((2, n)))
    return rng.standard_normal(n) * np.where(rng.random(n) < 0.4, left, 1.3 * right), left, right


@pytest.mark.parametrize("base", ["normal", "laplace"])
@pytest.mark.parametrize("beta", ["heuristic", 0.0, 0.3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_pieces_are_those_of_the_library(base, beta, weighted):
    columns = error, left, right = sides(500)
    weight = np.random.default_rng(1).integers(0, 4, 500) if weighted else None
    law = errbar.Law(base, 0.0, left=left, right=right)
    normal, below = errbar.Normal(0.0, 1.0), law.cdf(error) < 0.5
    # From the nearer tail: the other may round to 1.
    quantiles = np.where(below, normal.ppf(law.cdf(error)), normal.isf(law.sf(error)))
    # Beta is the Gaussian's, which depends on the errors alone.
    accuracy = errbar.accuracy_reliability(error, 1.0, beta, weight).beta
    reliability = errbar.accuracy_reliability(quantiles, 1.0, 0.0, weight).value
    scores = law.crps(error)
    expected = accuracy * np.average(scores, weights=weight) + (1.0 - accuracy) * reliability
    cost = jax.jit(lambda *sides: two_piece_accuracy_reliability(*sides, base, beta, weight))
    assert float(cost(*columns)) == pytest.approx(expected, rel=1e-11)
    assert np.abs(two_piece_crps(*columns, base) - scores).max() < 1e-14


@pytest.mark.parametrize("base", ["normal", "laplace"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_two_pieces_are_those_of_finite_differences(base, weighted):
    weight = np.linspace(0.0, 2.0, 40) if weighted else None
    cost = lambda e, l, r: two_piece_accuracy_reliability(e, l, r, base, 0.3, weight)
    check_grads(cost, sides(40), order=1, modes=["rev"])
    check_grads(lambda e, l, r: two_piece_crps(e, l, r, base), sides(40), order=1)


def test_two_equal_pieces_are_one_sigma():
    error, sigma = sample(300)
    value, slope = gradient(error, sigma)
    cost = jax.value_and_grad(two_piece_accuracy_reliability, argnums=(1, 2))
    found, (by_left, by_right) = cost(error, sigma, sigma)
    assert float(found) == pytest.approx(value, rel=1e-12)
    assert np.abs(by_left + by_right - slope).max() <= 1e-10 * np.abs(slope).max()


def test_two_pieces_in_float32_and_with_padding():
    columns = sides(1000)
    expected = float(two_piece_accuracy_reliability(*columns))
    found = two_piece_accuracy_reliability(*(one.astype(np.float32) for one in columns))
    assert found.dtype == jnp.float32 and float(found) == pytest.approx(expected, rel=1e-5)
    padded = [np.append(one, math.nan) for one in columns]
    weight = np.append(np.ones(1000), 0.0)
    cost = lambda *sides: two_piece_accuracy_reliability(*sides, weight=weight)
    found, slopes = jax.value_and_grad(cost, argnums=(0, 1, 2))(*padded)
    assert float(found) == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(slopes).all() and all(one[-1] == 0.0 for one in slopes)


def test_two_pieces_that_cannot_be():
    x = jnp.ones(4)
    assert jnp.isnan(two_piece_accuracy_reliability(x, x, x.at[1].set(0.0)))
    for call, words in [
        (lambda: two_piece_crps(x, x, x, "t"), "base is 't': give \"normal\" or \"laplace\""),
        (lambda: two_piece_crps(x, x[:3], x), r"left has shape \(3,\)"),
        (lambda: two_piece_crps(x, x, x[:, None]), r"right has shape \(4, 1\)"),
        (lambda: two_piece_accuracy_reliability(x, x, x, beta=2.0), "beta is 2.0"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
