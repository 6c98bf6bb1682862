r"""The Accuracy-Reliability cost for JAX: it can be jitted, mapped and differentiated.

>>> import jax
>>> import jax.numpy as jnp
>>> from errbar.jax import accuracy_reliability
>>> error = jnp.array([0.3, -1.2, 0.7, 0.1])
>>> slope = jax.grad(accuracy_reliability, argnums=1)(error, jnp.full(4, 9.0))
>>> bool((slope > 0).all())  # every sigma is too large
True

The words are those of the rest of errbar: ``error`` is observation minus forecast, ``sigma`` its
standard deviation. Where errors are skewed, ``two_piece_accuracy_reliability`` takes a scale for each
side of the forecast.

- All elements of an array count alike, whatever its shape. Reliability is a property of the whole
  batch: it compares the batch's scaled errors with the distribution they claim. The Reliability
  Score of n rows of a *perfect* forecast is :math:`1/(\sqrt{2\pi}\,n)` on average (0.4 at n = 1,
  0.004 at n = 100), and cannot be less than ``errbar.reliability_score_min(n)``. In batches of n
  rows sigma is learned too large by about 0.9/n of itself: take 100 rows or more.
- What cannot be gives NaN or infinity: an error that is not finite, a sigma that is not positive, a
  negative weight. Shapes that differ are a ``ValueError``.
- Rows of weight zero count for nothing, whatever they hold.
- Half precision is computed (and returned) as float32. For float64 switch on ``jax_enable_x64``.
- Gradients are made by hand, in reverse mode alone (``jax.grad``, not ``jax.jvp``), and can be
  taken once, not twice.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy import special
from jax.scipy.special import erf, erfc, erfinv

import errbar

from . import _two_piece

__all__ = [
    "accuracy_reliability",
    "crps",
    "heuristic_beta",
    "reliability_score",
    "two_piece_accuracy_reliability",
    "two_piece_crps",
]

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_1_OVER_SQRT_PI = 1.0 / math.sqrt(math.pi)
# What a reported RS leaves out, so that 0 is perfect.
_CONSTANT = 1.0 / math.sqrt(2.0 * math.pi)
# Least CRPS over the mean absolute error: right, and as the paper prints it.
_CRPS_MIN = {
    "heuristic": math.erf(math.sqrt(math.log(4.0)) / 2.0),
    "printed": math.sqrt(math.log(4.0)) / 2.0,
}


def accuracy_reliability(
    error: Any, sigma: Any, beta: Any = "heuristic", weight: Any = None
) -> Array:
    r"""The Accuracy-Reliability cost of a batch,
    :math:`\beta\,\overline{\mathrm{CRPS}} + (1-\beta)\,\mathrm{RS}`.

    The value is ``beta * crps + (1 - beta) * (rs + 1 / sqrt(2 * pi))`` with ``rs`` of
    :func:`reliability_score`: the cost leaves out the constant that makes a reported RS zero at
    best.

    Parameters
    ----------
    error, sigma : array_like
        Of the same shape. There are gradients for both.
    beta : "heuristic", "printed", float or array_like
        The weight of accuracy. "heuristic" is the paper's, from the batch's own mean absolute
        error. "printed" is the same with the paper's misprint. Or a number from 0 to 1. The
        heuristic is taken as a constant: no gradient flows through it. In small batches it varies;
        take it once, from all errors, by :func:`heuristic_beta`. A string is no argument for
        ``jax.jit``: bind it outside, or name it in ``static_argnames``.
    weight : array_like, optional
        The weight of each element. No gradient flows to it.
    """
    _check_beta(beta)
    error, sigma, weight = _checked(error, sigma, weight)
    value: Array = _cost(error, sigma, weight, *_parts(beta, error, weight))
    return value


def two_piece_accuracy_reliability(
    error: Any,
    left: Any,
    right: Any,
    base: str = "normal",
    beta: Any = "heuristic",
    weight: Any = None,
) -> Array:
    r"""The Accuracy-Reliability cost of skewed laws: the forecast is the mode, with the scale ``left``
    below it and ``right`` above.

    ``base`` is "normal" (the two-piece normal law) or "laplace" (the asymmetric Laplace law). The
    CRPS is that of ``errbar.Law(base, forecast, left=left, right=right)``. The Reliability Score is
    that of the Gaussian values which are as improbable as the errors, :math:`\Phi^{-1}(F)`, so that
    equal scales of base "normal" give :func:`accuracy_reliability`. Beta is the Gaussian's for every
    base. There are gradients for the error and both scales.
    """
    _check_beta(beta)
    error, left, right, weight = _checked_sides(base, error, left, right, weight)
    accuracy, reliability = _parts(beta, error, weight)
    crps = jnp.average(_by_hand(_two_piece.crps, base, error, left, right), weights=weight)
    quantile = _by_hand(_two_piece.gaussian_quantile, base, error, left, right)
    zero = jnp.zeros((), error.dtype)
    rs: Array = _cost(quantile, jnp.ones_like(quantile), weight, zero, reliability)
    return jnp.where(accuracy == 0.0, 0.0, accuracy * crps) + rs


def two_piece_crps(error: Any, left: Any, right: Any, base: str = "normal") -> Array:
    """The CRPS of each element of a skewed law: see :func:`two_piece_accuracy_reliability`."""
    flat = _checked_sides(base, error, left, right, None)
    value: Array = _by_hand(_two_piece.crps, base, *flat[:3])
    return value.reshape(jnp.shape(error))


def reliability_score(error: Any, sigma: Any, weight: Any = None) -> Array:
    """The Reliability Score: 0 is perfect.

    n rows of a perfect forecast have ``1 / (sqrt(2 * pi) * n)`` on average.
    """
    error, sigma, weight = _checked(error, sigma, weight)
    zero, one = jnp.zeros((), error.dtype), jnp.ones((), error.dtype)
    rs: Array = _cost(error, sigma, weight, zero, one)
    return rs - _CONSTANT


def crps(error: Any, sigma: Any) -> Array:
    """The CRPS of each element, in the units of the error."""
    value: Array = _crps(*_same_type(error, sigma))
    return value


def heuristic_beta(error: Any, weight: Any = None) -> Array:
    """The paper's weight of accuracy for these errors, ``RS_min / (CRPS_min + RS_min)``."""
    error, _, weight = _checked(error, jnp.ones_like(error), weight)
    return _heuristic(error, weight, "heuristic")[0]


def _crps_value(error: Array, sigma: Array) -> Array:
    sigma = _positive(sigma)
    eta = _eta(error, sigma)
    # error * erf rather than sigma * z * erf: z may overflow where the score does not.
    return error * erf(eta) + sigma * _dcrps_dsigma(eta)


def _crps_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    """By hand: the derivatives of its terms cancel, and are NaN far out."""
    (error, sigma), (by_error, by_sigma) = primals, tangents
    eta = _eta(error, _positive(sigma))
    return _crps(error, sigma), erf(eta) * by_error + _dcrps_dsigma(eta) * by_sigma


def _cost_value(
    error: Array, sigma: Array, weight: Array | None, accuracy: Array, reliability: Array
) -> Array:
    """``accuracy * mean CRPS + reliability * RS``, RS without its constant."""
    return _cost_forward(error, sigma, weight, accuracy, reliability)[0]


def _cost_forward(
    error: Array, sigma: Array, weight: Array | None, accuracy: Array, reliability: Array
) -> tuple[Array, Any]:
    """The gradients are made together with the value, while what they share is at hand."""
    sigma = _positive(sigma)
    share = 1.0 / error.size if weight is None else weight / jnp.sum(weight)
    eta = _eta(error, sigma)
    slope, gap = _dcrps_dsigma(eta), _gap(eta, weight)
    pull = eta * gap
    crps = jnp.sum(share * (error * erf(eta) + sigma * slope))
    rs = jnp.sum(share * (pull + _1_OVER_SQRT_PI * jnp.exp(-eta * eta)))

    # A part that does not count must not count even where it is infinite.
    def part(weight: Array, score: Array) -> Array:
        return jnp.where(weight == 0.0, 0.0, weight * score)

    # Finite, however small sigma: what comes before it in a network makes them smaller again.
    most = float(np.finfo(error.dtype).max)
    by_error = part(accuracy, erf(eta)) + part(reliability, _SQRT_HALF * gap / sigma)
    by_sigma = part(accuracy, slope) - part(reliability, pull / sigma)
    by_error, by_sigma = (jnp.clip(share * x, -most, most) for x in (by_error, by_sigma))
    kept = (by_error, by_sigma, None if weight is None else jnp.zeros_like(weight), crps, rs)
    return part(accuracy, crps) + part(reliability, rs), kept


def _cost_backward(kept: Any, grad: Array) -> Any:
    return jax.tree.map(lambda slope: slope * grad, kept)


def _by_hand_value(of: Any, base: str, error: Array, left: Array, right: Array) -> Array:
    """A function of error, left and right scale that has its slopes with its value."""
    value: Array = of(jnp, special, base, error, left, right)[0]
    return value


def _by_hand_jvp(of: Any, base: str, primals: Any, tangents: Any) -> tuple[Array, Array]:
    value, slopes = of(jnp, special, base, *primals)
    by_error, by_left, by_right = (one * change for one, change in zip(slopes, tangents))
    return value, by_error + by_left + by_right


_by_hand: Any = jax.custom_jvp(_by_hand_value, nondiff_argnums=(0, 1))
_by_hand.defjvp(_by_hand_jvp)
_crps: Any = jax.custom_jvp(_crps_value)
_crps.defjvp(_crps_jvp)
_cost: Any = jax.custom_vjp(_cost_value)
_cost.defvjp(_cost_forward, _cost_backward)


def _parts(beta: Any, error: Array, weight: Array | None) -> tuple[Array, Array]:
    """The weights of accuracy and of reliability."""
    if isinstance(beta, str):
        return _heuristic(jax.lax.stop_gradient(error), weight, beta)
    number = jnp.asarray(beta, error.dtype).reshape(())
    return number, 1.0 - number


def _eta(error: Array, sigma: Array) -> Array:
    """The scaled error. Finite, so that it can be multiplied by zero; NaN stays NaN."""
    most = float(np.finfo(error.dtype).max)
    return jnp.clip(error / sigma * _SQRT_HALF, -most, most)


def _dcrps_dsigma(eta: Array) -> Array:
    return _SQRT_2_OVER_PI * jnp.exp(-eta * eta) - _1_OVER_SQRT_PI


def _gap(eta: Array, weight: Array | None) -> Array:
    """``erf(eta) + 1 - (W_i + W_(i-1)) / W``, or ``- (2i - 1) / n`` without weights: by how much
    the claimed distribution is ahead of the observed one. Equal eta share their mean rank."""
    n = eta.size
    position = jnp.arange(n)
    ordered, order = jax.lax.sort((eta, position), num_keys=1)
    # How many are below each one, and how many up to it: the ends of its run of equal values.
    differs = ordered[1:] != ordered[:-1]
    first, last = jnp.append(True, differs), jnp.append(differs, True)
    below = jax.lax.cummax(jnp.where(first, position, 0))
    up_to = jax.lax.cummin(jnp.where(last, position + 1, n), reverse=True)
    total: Any = n
    if weight is None:
        twice = below + up_to
    else:
        running = jnp.append(0.0, jnp.cumsum(weight[order]))
        total, twice = running[-1], running[below] + running[up_to]
    twice = jnp.zeros_like(twice).at[order].set(twice, unique_indices=True)
    # Both parts are counted from the nearer tail: the small gap of an outlier keeps its digits.
    lower = eta < 0
    observed = jnp.where(lower, twice, 2 * total - twice).astype(eta.dtype) / total
    gap = observed - erfc(jnp.abs(eta))
    return jnp.where(lower, -gap, gap)


def _heuristic(error: Array, weight: Array | None, which: str) -> tuple[Array, Array]:
    """Beta and 1 - beta, each with all its digits: one of them may be tiny."""
    crps_min = _CRPS_MIN[which] * jnp.average(jnp.abs(error), weights=weight)
    n = error.size
    if weight is None:
        rs_min: Any = errbar.reliability_score_min(n) + _CONSTANT
    else:
        # The same as a sum over the rows that count, whose number a traced function does not know.
        counted = jnp.sum(weight > 0)
        level = (2.0 * jnp.arange(1, n + 1).astype(error.dtype) - 1.0) / counted - 1.0
        bell = jnp.exp(-(erfinv(jnp.clip(level, max=1.0)) ** 2))  # zero from 1 on
        rs_min = _1_OVER_SQRT_PI * jnp.sum(bell) / counted
    total = crps_min + rs_min
    return rs_min / total, crps_min / total


def _positive(sigma: Array) -> Array:
    return jnp.where(sigma > 0, sigma, jnp.nan)


def _checked(error: Any, sigma: Any, weight: Any) -> tuple[Array, Array, Array | None]:
    """Flat and of one floating type; what does not count is made harmless."""
    error, sigma = (array.reshape(-1) for array in _same_type(error, sigma))
    if error.size == 0:
        raise ValueError("there are no errors: a batch needs at least one row")
    if weight is None:
        return error, sigma, None
    weight = jax.lax.stop_gradient(jnp.asarray(weight, error.dtype)).reshape(-1)
    if weight.size != error.size:
        raise ValueError(
            f"weight has {weight.size} elements but error has {error.size}: give one per row"
        )
    weight = jnp.where(weight >= 0, weight, jnp.nan)
    counts = weight != 0
    return jnp.where(counts, error, 0.0), jnp.where(counts, sigma, 1.0), weight


def _checked_sides(
    base: str, error: Any, left: Any, right: Any, weight: Any
) -> tuple[Array, Array, Array, Array | None]:
    """:func:`_checked` for two scales."""
    if base not in _two_piece.BASES:
        raise ValueError(f'base is {base!r}: give "normal" or "laplace"')
    error, left = _same_type(error, left, "left")
    error, right = _same_type(error, right, "right")
    left = left.astype(error.dtype)
    error, left, counted = _checked(error, left, weight)
    error, right, counted = _checked(error, right.reshape(-1), weight)
    return error, left, right, counted


def _same_type(error: Any, sigma: Any, name: str = "sigma") -> tuple[Array, Array]:
    error, sigma = jnp.asarray(error), jnp.asarray(sigma)
    if error.shape != sigma.shape:
        raise ValueError(
            f"error has shape {error.shape} but {name} has shape {sigma.shape}: give equal shapes"
        )
    kind = jnp.promote_types(error.dtype, sigma.dtype)
    kind = kind if kind in (jnp.float32, jnp.float64) else jnp.float32
    return error.astype(kind), sigma.astype(kind)


def _check_beta(beta: Any) -> None:
    if isinstance(beta, str):
        if beta not in _CRPS_MIN:
            known = '"heuristic", "printed" or a number from 0 to 1'
            raise ValueError(f"beta is {beta!r}: give {known}")
    elif isinstance(beta, (int, float)):
        if not 0.0 <= beta <= 1.0:
            raise ValueError(f"beta is {beta}: give a number from 0 to 1")
    elif jnp.size(beta) != 1:
        raise ValueError(f"beta has {jnp.size(beta)} elements: give a single number")
