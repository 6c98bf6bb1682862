"""Normal distributions, one for each row: a forecast with its error bar."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _errbar
from ._arrays import floats, one_level, shaped, together
from ._rows import crps


class Normal:
    """Normal distributions with these means and standard deviations.

    It speaks as the distributions of ``scipy.stats`` do, without needing SciPy. Arguments are
    broadcast against the means.

    Examples
    --------
    >>> from errbar import Normal
    >>> tomorrow = Normal([12.0, 15.0], [0.5, 2.0])
    >>> tomorrow.sf(16.0).round(4)  # the probability of more than 16
    array([0.    , 0.3085])
    >>> low, high = tomorrow.interval(0.9)
    >>> low.round(2), high.round(2)
    (array([11.18, 11.71]), array([12.82, 18.29]))
    """

    def __init__(self, mean: Any, std: Any) -> None:
        self._mean, self._std, self._shape = together("mean", mean, "std", std)
        for name, values in (("mean", self._mean), ("std", self._std)):
            wrong = ~np.isfinite(values) | ((name == "std") & (values <= 0))
            if wrong.any():
                place = tuple(int(i) for i in np.argwhere(wrong)[0])
                where = f" at {place[0] if len(place) == 1 else place}" if place else ""
                needed = "finite" if name == "mean" else "finite and greater than 0"
                raise ValueError(f"{name}{where} is {values[place]:g}: it must be {needed}")

    def __repr__(self) -> str:
        if self._shape == ():
            return f"Normal(mean={float(self._mean):.6g}, std={float(self._std):.6g})"
        return f"Normal(of shape {self._shape})"

    def mean(self) -> Any:
        """The means."""
        return shaped(self._mean.reshape(-1), self._shape)

    def std(self) -> Any:
        """The standard deviations."""
        return shaped(self._std.reshape(-1), self._shape)

    def var(self) -> Any:
        """The variances."""
        return self.std() ** 2

    def median(self) -> Any:
        """The medians, which are the means."""
        return self.mean()

    def cdf(self, x: Any) -> Any:
        """The probability of values up to ``x``. Both tails keep their accuracy."""
        return self._erfc(-1.0, x)

    def sf(self, x: Any) -> Any:
        """The probability of values above ``x``."""
        return self._erfc(1.0, x)

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density at ``x``."""
        z = self._z(x)
        with np.errstate(over="ignore"):
            return _number(-0.5 * z * z - np.log(self._std) - 0.5 * math.log(2 * math.pi))

    def pdf(self, x: Any) -> Any:
        """The density at ``x``."""
        return _number(np.exp(self.logpdf(x)))

    def ppf(self, q: Any) -> Any:
        """The value that is exceeded with probability ``1 - q``; NaN outside of [0, 1]."""
        return self._quantile(-1.0, q)

    def isf(self, q: Any) -> Any:
        """The value that is exceeded with probability ``q``, accurate for small ones."""
        return self._quantile(1.0, q)

    def interval(self, level: float = 0.9) -> tuple[Any, Any]:
        """The lower and the upper ends of the central intervals of this level."""
        share = one_level(level)
        if not 0 < share < 1:
            raise ValueError(f"level is {level!r}: it must lie strictly between 0 and 1")
        half = math.sqrt(2) * float(_errbar.erfinv(np.array([share]))[0]) * self._std
        return _number(self._mean - half), _number(self._mean + half)

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Random values; ``size`` broadcasts against the means. ``random_state`` is a seed or a
        ``numpy.random.Generator``."""
        generator = np.random.default_rng(random_state)
        return generator.normal(self._mean, self._std, self._shape if size is None else size)

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        """``n`` random values of each distribution, in the first axis."""
        return self.rvs((n, *self._shape), random_state)

    def crps(self, y: Any) -> Any:
        """The CRPS of each distribution when ``y`` is then observed."""
        return crps(floats("y", y) - self._mean, self._std)

    def _z(self, x: Any) -> Any:
        return (floats("x", x) - self._mean) / self._std

    def _erfc(self, sign: float, x: Any) -> Any:
        z = np.asarray(sign * math.sqrt(0.5) * self._z(x))
        return shaped(0.5 * _errbar.erfc(z.reshape(-1)), z.shape)

    def _quantile(self, sign: float, q: Any) -> Any:
        share = floats("q", q)
        z = sign * math.sqrt(2) * _errbar.erfcinv(2 * share.reshape(-1)).reshape(share.shape)
        return _number(self._mean + self._std * z)


def _number(values: Any) -> Any:
    """A plain number where there is only one."""
    return float(values) if np.ndim(values) == 0 else values
