"""Scores and functions of single rows: arrays of any shape in, arrays of the same shape out."""

from __future__ import annotations

from typing import Any, Callable, Literal

import numpy as np

from . import _errbar
from ._arrays import Floats, floats, shaped, together

NanPolicy = Literal["propagate", "omit", "raise"]


def crps(error: Any, sigma: Any, *, nan_policy: NanPolicy = "raise") -> Any:
    r"""The Continuous Ranked Probability Score of a Gaussian forecast: how close, and how sharp.

    .. math::
        \mathrm{CRPS}(\varepsilon, \sigma) = \sigma\left[z\,\mathrm{erf}\frac{z}{\sqrt 2}
        + \sqrt{\frac 2\pi}\,e^{-z^2/2} - \frac 1{\sqrt\pi}\right], \quad z = \varepsilon/\sigma

    It has the units of the observation. It tends to ``abs(error)`` as sigma goes to 0. Smaller is
    better.

    Parameters
    ----------
    error : array_like
        Observation minus forecast.
    sigma : array_like
        The standard deviation given to each error, greater than 0. The two are broadcast.
    nan_policy : {"raise", "propagate", "omit"}, default="raise"
        What becomes of rows in which one of them is missing (NaN): they are refused, have a score of NaN, or are
        left out, of a result that then is a plain column of the others. Infinite values are refused in any case.

    Returns
    -------
    numpy.ndarray or float
        One score for each error; a float where both are numbers. (Of no rows: no scores.)

    Raises
    ------
    ValueError
        A value that is not finite, or a sigma that is not positive; its row is named.

    References
    ----------
    Gneiting, Raftery, Westveld, Goldman (2005), Mon. Wea. Rev. 133, 1098-1118.
    Camporeale (2018), https://arxiv.org/abs/1803.04475, Eq. CRPS.

    Examples
    --------
    >>> import errbar
    >>> round(errbar.crps(0.0, 1.0), 6)  # (sqrt(2) - 1) / sqrt(pi)
    0.233695
    >>> errbar.crps([0.3, -1.2, 0.7], 0.8).shape
    (3,)
    >>> errbar.crps([0.3, float("nan")], 0.8, nan_policy="propagate").round(3).tolist()
    [0.231, nan]
    """
    return _each(_errbar.crps, error, sigma, nan_policy)


def crps_ensemble(
    observation: Any, members: Any, *, fair: bool = True, nan_policy: NanPolicy = "raise"
) -> Any:
    """The CRPS of each row's members.

    Parameters
    ----------
    observation : array_like
        What was observed, of any shape.
    members : array_like
        The members, along one dimension more, the last. NaN is a missing member.
    fair : bool
        The fair CRPS (Ferro, 2014), that of endlessly many such members; else that of these alone.
    nan_policy : {"raise", "propagate", "omit"}, default="raise"
        What becomes of rows without an observation (NaN), or without any member: see :func:`crps`.

    Returns
    -------
    float or ndarray of the shape of `observation`

    Examples
    --------
    >>> import errbar
    >>> errbar.crps_ensemble([2.0, 3.0], [[1.0, 2.0, 4.0], [0.0, float("nan"), 2.0]]).tolist()
    [0.0, 1.0]
    """
    y, x = floats("observation", observation), floats("members", members)
    if x.ndim != y.ndim + 1 or x.shape[:-1] != y.shape:
        raise ValueError(
            f"members has shape {x.shape} and observation has shape {y.shape}: members need one "
            "dimension more, the last"
        )
    missing = None
    if _forgives(nan_policy):
        missing = np.isnan(y) | np.isnan(x).all(axis=-1)
        y, x = np.where(missing, 0.0, y), np.where(missing[..., np.newaxis], 0.0, x)
    found = _errbar.crps_ensemble(y.ravel(), x.ravel(), x.shape[-1], bool(fair))
    return _without(found, y.shape, missing, nan_policy)


def crps_gradient(error: Any, sigma: Any, *, nan_policy: NanPolicy = "raise") -> Any:
    r"""The derivative of each row's CRPS with respect to its sigma.

    .. math::
        \frac{\partial\,\mathrm{CRPS}}{\partial\sigma}
        = \sqrt{\frac 2\pi}\,e^{-z^2/2} - \frac 1{\sqrt\pi}, \quad z = \varepsilon/\sigma

    Negative where sigma is too small for the error, positive where it is too large, 0 at
    ``abs(error) / sqrt(log(2))``. It is that of each row by itself: divide by the number of rows
    for the gradient of the mean. Parameters and errors are those of :func:`crps`.

    Examples
    --------
    >>> import errbar, math
    >>> abs(errbar.crps_gradient(1.0, 1 / math.sqrt(math.log(2)))) < 1e-15
    True
    """
    return _each(_errbar.crps_gradient, error, sigma, nan_policy)


def nlpd(error: Any, sigma: Any, *, nan_policy: NanPolicy = "raise") -> Any:
    r"""The Negative Log Predictive Density: minus the log of the density given to what happened.

    .. math::
        \mathrm{NLPD}(\varepsilon, \sigma) = \tfrac 12 z^2 + \ln\sigma + \tfrac 12\ln 2\pi,
        \quad z = \varepsilon/\sigma

    Smaller is better; one row far in the tail can outweigh all others. Parameters and errors are
    those of :func:`crps`.

    Examples
    --------
    >>> import errbar
    >>> round(errbar.nlpd(0.0, 1.0), 6)  # log(2 pi) / 2
    0.918939
    """
    return _each(_errbar.nlpd, error, sigma, nan_policy)


def pit(error: Any, sigma: Any, *, nan_policy: NanPolicy = "raise") -> Any:
    r"""The probability integral transform: what the forecast gave to values up to the observation.

    .. math:: u = \Phi(z) = \tfrac 12\,\mathrm{erfc}\left(-\varepsilon/\sqrt 2\sigma\right)

    Uniform on [0, 1] where the forecast is calibrated. Both tails of the error keep their accuracy
    down to the smallest doubles. Parameters and errors are those of :func:`crps`.

    Examples
    --------
    >>> import errbar
    >>> errbar.pit(0.0, 3.0)
    0.5
    """
    return _each(_errbar.pit, error, sigma, nan_policy)


def erf(x: Any) -> Any:
    r"""The error function, :math:`\frac 2{\sqrt\pi}\int_0^x e^{-t^2}dt`, to 1.2 units in the last place.

    Examples
    --------
    >>> import errbar
    >>> round(errbar.erf(1.0), 12)
    0.84270079295
    """
    values = floats("x", x)
    return shaped(_errbar.erf(values.reshape(-1)), values.shape)


def erfinv(p: Any) -> Any:
    r"""The inverse of the error function: infinite at 1 and -1, NaN beyond.

    Examples
    --------
    >>> import errbar
    >>> round(errbar.erfinv(0.5), 12)
    0.476936276204
    """
    values = floats("p", p)
    return shaped(_errbar.erfinv(values.reshape(-1)), values.shape)


def _each(function: Callable[[Floats, Floats], Floats], error: Any, sigma: Any, nan_policy: NanPolicy) -> Any:
    e, s, shape = together("error", error, "sigma", sigma)
    missing = None
    if _forgives(nan_policy):
        # All rows are asked about, so that one that is refused is named by its place.
        missing = np.isnan(e) | np.isnan(s)
        e, s = np.where(missing, 0.0, e), np.where(missing, 1.0, s)
    return _without(function(e, s) if e.size else e.reshape(-1), shape, missing, nan_policy)


def _forgives(nan_policy: NanPolicy) -> bool:
    """Whether rows may have missing values."""
    if nan_policy not in ("raise", "propagate", "omit"):
        raise ValueError(f'nan_policy is {nan_policy!r}: give "propagate", "omit" or "raise"')
    return nan_policy != "raise"


def _without(found: Floats, shape: tuple[int, ...], missing: Any, nan_policy: NanPolicy) -> Any:
    """The scores of rows that have one, in their shape or on their own."""
    if missing is None:
        return shaped(found, shape)
    missing = np.broadcast_to(missing, shape).reshape(-1)
    if nan_policy == "omit":
        return found[~missing]
    return shaped(np.where(missing, np.nan, found), shape)
