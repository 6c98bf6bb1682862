"""Formulas of two-piece laws for :mod:`errbar.torch` and :mod:`errbar.jax`: each value with its
derivatives by error, left and right scale, all by hand.

``xp`` is ``torch``, ``jax.numpy`` or ``numpy``, and ``special`` what has the error functions that go
with it. What cannot be is NaN.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

Slopes = tuple[Any, Any, Any]

BASES = ("normal", "laplace")

_SQRT_HALF = math.sqrt(0.5)
_SQRT_PI = math.sqrt(math.pi)
_LN_2 = math.log(2.0)
_HALF_LN_2PI = 0.5 * math.log(2.0 * math.pi)
# Tails vanish long before it; without it infinity would meet 0.
_FAR = 1000.0
# From here on a continued fraction has all digits of the normal hazard.
_OUT = 5.0
# Here a normal law's quantile is its z, to all digits, whatever its weight.
_ALIKE = 1e8


class _Side(NamedTuple):
    """The side of an error, as ``Place`` in the library."""

    below: Any
    sign: Any  # 1 below the mode, -1 above
    own: Any
    other: Any
    half: Any
    weight: Any
    z: Any


def _side(xp: Any, error: Any, left: Any, right: Any) -> _Side:
    left, right = (xp.where(scale > 0, scale, math.nan) for scale in (left, right))
    below = error <= 0
    own, other = xp.where(below, left, right), xp.where(below, right, left)
    half = 0.5 * left + 0.5 * right
    sign = xp.where(below, xp.ones_like(error), -1.0)
    return _Side(below, sign, own, other, half, own / half, xp.abs(error) / own)


def crps(
    xp: Any, special: Any, base: str, error: Any, left: Any, right: Any
) -> tuple[Any, Slopes]:
    """The CRPS of each error, as in ``law/crps.rs``."""
    below, sign, own, other, half, weight, z = _side(xp, error, left, right)
    z = xp.clip(z, None, _FAR)
    if base == "normal":
        mean_difference, distance = 1.0 / _SQRT_PI, _SQRT_HALF / _SQRT_PI
        skew = (1.5 - math.sqrt(2.0)) / _SQRT_PI
        tail, partial = 0.5 * special.erfc(_SQRT_HALF * z), distance * xp.exp(-0.5 * z * z)
        integral = partial - z * tail
    else:
        mean_difference, distance, skew = 0.75, 0.5, 0.125
        tail = 0.5 * xp.exp(-z)
        partial, integral = (1.0 + z) * tail, tail
    # The difference of the scales over their sum.
    ratio = (0.5 * right - 0.5 * left) / half
    inside = 1.0 - 2.0 * weight * tail
    constant = mean_difference + ratio * (2.0 * skew * ratio - 4.0 * sign * distance)
    value = xp.abs(error) * inside + half * (2.0 * weight * weight * partial - constant)
    by_own = weight * (other / half * integral + 2.0 * partial)
    by_other = -weight * weight * integral
    square, shift = ratio * ratio, 2.0 * distance * sign
    by_left = xp.where(below, by_own, by_other) - shift
    by_right = xp.where(below, by_other, by_own) + shift
    return value, (
        -sign * inside,
        by_left - (0.5 * mean_difference - skew * (2.0 * ratio + square)),
        by_right - (0.5 * mean_difference + skew * (2.0 * ratio - square)),
    )


def gaussian_quantile(
    xp: Any, special: Any, base: str, error: Any, left: Any, right: Any
) -> tuple[Any, Slopes]:
    r"""The standard Gaussian value that is as improbable as each error, :math:`\Phi^{-1}(F)`: for a
    Gaussian its scaled error."""
    below, sign, own, other, half, weight, z = _side(xp, error, left, right)
    far = z
    if base == "normal":
        z = xp.clip(z, None, _ALIKE)
        log_tail, hazard = _normal_tail(xp, special, z)
        inside = special.erf(_SQRT_HALF * z)
    else:
        z = xp.clip(z, None, 0.1 * float(xp.finfo(z.dtype).max))
        log_tail, hazard, inside = -z - _LN_2, xp.ones_like(z), -xp.expm1(-z)
    # The smaller tail may be that of the other side.
    log_beyond = xp.log(own) - xp.log(half) + log_tail
    flipped = log_beyond > -_LN_2
    rest = xp.where(flipped, 0.5 * (other / half + weight * inside), 0.5)
    rest = xp.clip(rest, float(xp.finfo(z.dtype).tiny), None)
    q = _normal_tail_quantile(xp, special, xp.where(flipped, xp.log(rest), log_beyond))
    # How q goes with the logarithm of what is beyond: F over the density there.
    odds = xp.where(flipped, xp.exp(log_beyond) / rest, 1.0)
    rate = odds / _normal_tail(xp, special, q)[1]
    q = xp.where(flipped, -q, q)
    if base == "normal":
        q = xp.where(far > _ALIKE, far, q)
    by_own = sign * (rate * 0.5 * other / half + far * (rate * hazard)) / own
    by_other = -sign * rate * 0.5 / half
    most = float(xp.finfo(z.dtype).max)
    by_error, by_left, by_right = (
        xp.clip(slope, -most, most)
        for slope in (
            rate * hazard / own,
            xp.where(below, by_own, by_other),
            xp.where(below, by_other, by_own),
        )
    )
    return -sign * q, (by_error, by_left, by_right)


def _normal_tail(xp: Any, special: Any, z: Any) -> tuple[Any, Any]:
    """The logarithm of the probability beyond z, from 0 on, and the density over that probability."""
    near, out = xp.clip(z, None, _OUT), xp.clip(z, _OUT, None)
    fraction = out
    for k in range(16, 0, -1):
        fraction = out + k / fraction
    log_density = -(0.5 * z) * z - _HALF_LN_2PI
    tail = 0.5 * special.erfc(_SQRT_HALF * near)
    hazard = xp.where(z < _OUT, xp.exp(-0.5 * near * near - _HALF_LN_2PI) / tail, fraction)
    return xp.where(z < _OUT, xp.log(tail), log_density - xp.log(fraction)), hazard


def _normal_tail_quantile(xp: Any, special: Any, log: Any) -> Any:
    """The z that is exceeded with a probability of at most one half, by Newton's method on its
    logarithm, from where it comes down without overshooting."""
    z = xp.sqrt(-2.0 * xp.clip(log + _LN_2, None, 0.0))
    for _ in range(6):
        log_tail, hazard = _normal_tail(xp, special, z)
        z = xp.clip(z + (log_tail - log) / hazard, 0.0, None)
    return z
