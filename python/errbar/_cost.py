"""Scores that need all rows at once: reliability, the Accuracy-Reliability cost, coverage."""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple, Union

from . import _errbar
from ._arrays import Floats, column, floats, maybe_column, one_name, shaped

Beta = Union[Literal["heuristic", "printed"], float]
"""How much accuracy counts beside reliability."""


class AR(NamedTuple):
    """The Accuracy-Reliability cost and its parts.

    ``value = beta * crps + (1 - beta) * (rs + 1 / sqrt(2 * pi))``: the cost leaves out the constant
    that makes a *reported* ``rs`` zero at best.
    """

    value: float
    """The cost."""
    beta: float
    """The weight of accuracy."""
    crps: float
    """The mean CRPS."""
    rs: float
    """The Reliability Score: 0 is perfect."""

    def __float__(self) -> float:
        return self.value


def reliability_score(error: Any, sigma: Any, weight: Any = None, *, sample_weight: Any = None) -> float:
    r"""The Reliability Score: do the scaled errors have the distribution they claim?

    .. math::
        \mathrm{RS} = \int\left[\Phi(\eta) - C(\eta)\right]^2 d\eta
        = \frac 1N\sum_i\left[\eta_i\left(\mathrm{erf}\,\eta_i + 1 - \frac{2i - 1}N\right)
        + \frac{e^{-\eta_i^2}}{\sqrt\pi}\right] - \frac 1{\sqrt{2\pi}}

    with :math:`\eta_i = \varepsilon_i/\sqrt 2\sigma_i` in rising order and :math:`C` their empirical
    distribution. 0 is perfect and out of reach: N rows have at least
    ``reliability_score_min(N)``, and calibrated ones ``1 / (sqrt(2 * pi) * N)`` on average.

    Parameters
    ----------
    error : array_like
        Observation minus forecast, one for each row.
    sigma : array_like
        The standard deviation given to each error; one number stands for all rows.
    weight : array_like, optional
        The weight of each row; only ratios matter. ``sample_weight`` is another name.

    Raises
    ------
    ValueError
        No rows, different lengths, a value that is not finite, or a sigma that is not positive.

    References
    ----------
    Camporeale (2018), https://arxiv.org/abs/1803.04475, Eq. RS.

    Examples
    --------
    >>> import errbar
    >>> error = [-1.3, -0.5, 0.1, 0.4, 1.1]
    >>> errbar.reliability_score(error, 0.9) < errbar.reliability_score(error, 0.1)
    True
    """
    return _errbar.reliability_score(*_sample(error, sigma, weight, sample_weight))


def reliability_score_min(n: int) -> float:
    """The least Reliability Score that ``n`` errors can have, whatever their sigmas.

    Examples
    --------
    >>> import errbar
    >>> errbar.reliability_score_min(1000) < errbar.reliability_score_min(100)
    True
    """
    try:
        rows = operator.index(n)
    except TypeError:
        raise ValueError(f"n is {n!r}: give a number of rows") from None
    if not 1 <= rows < 2**63:
        raise ValueError(f"n is {n}: give a number of rows, at least 1")
    return _errbar.reliability_score_min(rows)


def accuracy_reliability(
    error: Any, sigma: Any, beta: Beta = "heuristic", weight: Any = None, *, sample_weight: Any = None
) -> AR:
    r"""The Accuracy-Reliability cost: accuracy and reliability in one number.

    .. math:: \mathrm{AR} = \beta\,\overline{\mathrm{CRPS}} + (1 - \beta)\,\mathrm{RS}

    RS is here without the constant that makes it zero at best; see :class:`AR`.

    Parameters
    ----------
    error, sigma, weight : array_like
        As in :func:`reliability_score`.
    beta : "heuristic", "printed" or float
        The weight of accuracy. "heuristic" balances the least values that both parts can have,
        :math:`\beta = \mathrm{RS}_{\min}/(\mathrm{CRPS}_{\min} + \mathrm{RS}_{\min})`. "printed" is
        the same with :math:`\mathrm{CRPS}_{\min}` as printed in the paper, 1% smaller. Or a number
        from 0 (reliability only) to 1 (accuracy only).

    References
    ----------
    Camporeale (2018), https://arxiv.org/abs/1803.04475, Eq. AR.

    Examples
    --------
    >>> import errbar
    >>> ar = errbar.accuracy_reliability([0.6, -0.6, 0.8, -0.7, 0.5], 0.8)
    >>> ar.value < errbar.accuracy_reliability([0.6, -0.6, 0.8, -0.7, 0.5], 5.0).value
    True
    """
    e, s, w = _sample(error, sigma, weight, sample_weight)
    return AR(*_errbar.accuracy_reliability(e, s, beta, w))


def accuracy_reliability_gradient(
    error: Any, sigma: Any, beta: Beta = "heuristic", weight: Any = None, *, sample_weight: Any = None
) -> Floats:
    r"""The derivative of the Accuracy-Reliability cost with respect to each sigma.

    .. math::
        \frac{\partial\,\mathrm{AR}}{\partial\sigma_i} = \frac 1N\left\{
        \beta\left[\sqrt{\tfrac 2\pi}\,e^{-\eta_i^2} - \tfrac 1{\sqrt\pi}\right] + (1 - \beta)
        \frac{\eta_i}{\sigma_i}\left[\frac{2i - 1}N - \mathrm{erf}\,\eta_i - 1\right]\right\}

    It is that of the cost of all rows, 1/N included; with weights, each row's share of the weight
    takes the place of 1/N. Equal scaled errors share their mean rank. The heuristic beta does not
    depend on sigma. Parameters are those of :func:`accuracy_reliability`.

    Examples
    --------
    >>> import errbar
    >>> gradient = errbar.accuracy_reliability_gradient([0.3, -1.2, 0.7], [9.0, 9.0, 9.0])
    >>> bool((gradient > 0).all())  # every sigma is too large
    True
    """
    return accuracy_reliability_value_and_gradient(error, sigma, beta, weight, sample_weight=sample_weight)[1]


def accuracy_reliability_value_and_gradient(
    error: Any, sigma: Any, beta: Beta = "heuristic", weight: Any = None, *, sample_weight: Any = None
) -> tuple[AR, Floats]:
    """:func:`accuracy_reliability` and its gradient from one pass, for those who minimise it.

    Examples
    --------
    >>> import errbar
    >>> ar, gradient = errbar.accuracy_reliability_value_and_gradient([0.3, -1.2, 0.7], 0.8)
    >>> gradient.shape
    (3,)
    """
    e, s, w = _sample(error, sigma, weight, sample_weight)
    parts, gradient = _errbar.accuracy_reliability_gradient(e, s, beta, w)
    return AR(*parts), gradient


def coverage(
    error: Any, sigma: Any, level: Any = 0.9, weight: Any = None, *, sample_weight: Any = None
) -> Any:
    r"""The share of observations inside central intervals of the given level.

    The interval is :math:`\mu \pm \sqrt 2\,\mathrm{erf}^{-1}(\mathrm{level})\,\sigma`. Where error bars
    are right, 90% intervals hold 90% of the observations.

    Parameters
    ----------
    error, sigma, weight : array_like
        As in :func:`reliability_score`.
    level : float or array_like
        Probabilities strictly between 0 and 1.

    Returns
    -------
    float, or numpy.ndarray in the shape of ``level``

    Examples
    --------
    >>> import errbar
    >>> errbar.coverage([0.1, -0.2, 5.0, 0.3], 1.0, level=0.9)
    0.75
    """
    e, s, w = _sample(error, sigma, weight, sample_weight)
    levels = floats("level", level)
    return shaped(_errbar.coverage(e, s, levels.reshape(-1), w), levels.shape)


def _sample(error: Any, sigma: Any, weight: Any, sample_weight: Any) -> tuple[Floats, Floats, Floats | None]:
    e = column("error", error)
    weight = one_name("weight", weight, "sample_weight", sample_weight)
    return e, column("sigma", sigma, len(e)), maybe_column("weight", weight)
