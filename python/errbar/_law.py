"""Laws of the observation around a forecast, one for each row."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _errbar
from ._arrays import Floats, common_shape, floats, levels_of, shaped

if TYPE_CHECKING:
    from typing_extensions import Self

_BASES = ("normal", "logistic", "laplace", "t", "curve")

# What each parameter must be, and an observation.
_SCALE = "finite and greater than 0"
_NEEDED = {
    "location": "finite",
    "scale": _SCALE,
    "left": _SCALE,
    "right": _SCALE,
    "df": "greater than 0",
    "lower": "finite, or -inf for no bound",
    "upper": "finite, or inf for no bound",
    "mean": "finite",
    "std": _SCALE,
    "y": "finite",
}


class Law:
    r"""Distributions around forecasts: normal, logistic, Laplace or Student's t, skewed or not, or of any
    shape, with bounds or without.

    ``location`` is the mode, where the forecast is. The two sides of it may have scales of their
    own: with the distribution function :math:`F_0` of the base, :math:`s_1` for ``left`` and
    :math:`s_2` for ``right``,

    .. math::
        F(y) = \frac{2 s_1}{s_1 + s_2} F_0\Big(\frac{y - \mu}{s_1}\Big) \text{ for } y \le \mu, \qquad
        1 - F(y) = \frac{2 s_2}{s_1 + s_2} F_0\Big(\frac{\mu - y}{s_2}\Big) \text{ beyond,}

    which are the two-piece normal and the asymmetric Laplace distributions. With bounds (rain is
    not negative, a share is at most 1), what lies beyond a bound counts as the bound, which so has a
    probability of its own: the distribution is censored.

    Methods have the names of ``scipy.stats``, and arguments are broadcast against the parameters. Laws of
    rows have a length, and ``law[3]``, ``law[mask]`` or ``law[10:20]`` are those of some rows. Both tails keep their digits. The CRPS and the log score of an observation are there as well.

    Parameters
    ----------
    base : "normal", "logistic", "laplace", "t" or "curve"
        What the sides are halves of, or a ``curve``.
    location : array_like
        The mode.
    scale : array_like, optional
        The scale of both sides, in the units of ``scipy.stats``: the standard deviation of a normal
        distribution, but not of others.
    left, right : array_like, optional
        The scale of each side, in place of ``scale``.
    df : array_like, optional
        The degrees of freedom of Student's t: more than 1 for a mean and a CRPS, more than 2 for a
        standard deviation.
    lower, upper : array_like, optional
        The least and the most that an observation can be; infinite where there is no bound.
    curve : (q, z), optional
        Of base "curve": values ``q`` of a standard normal distribution that rise, and what they become in
        this one, ``location + scale * z``. Between and beyond them are straight lines.

    Raises
    ------
    ValueError
        A parameter that cannot be; its place is named.

    References
    ----------
    Jordan, Krüger, Lerch (2019), https://doi.org/10.18637/jss.v090.i12, on their scores.

    Examples
    --------
    >>> from errbar import Law
    >>> wind = Law("logistic", [3.0, 8.0], left=[1.0, 1.0], right=[2.0, 1.0])
    >>> wind.sf(10.0).round(3)  # the probability of more than 10
    array([0.039, 0.119])
    >>> low, high = wind.interval(0.9)
    >>> low.round(1), high.round(1)
    (array([0.5, 5.1]), array([ 9.5, 10.9]))
    >>> wind.crps([4.0, 9.5]).round(3)
    array([0.604, 0.903])
    >>> len(wind), wind[1]
    (2, Law('logistic', location=8, left=1, right=1))
    >>> rain = Law("normal", 1.0, 2.0, lower=0.0)
    >>> round(rain.cdf(0.0), 3)  # the probability of none
    0.309
    >>> rain
    Law('normal', location=1, scale=2, lower=0)
    """

    _curve: tuple[list[float], list[float]] | None = None

    def __init__(
        self,
        base: str,
        location: Any,
        scale: Any = None,
        *,
        left: Any = None,
        right: Any = None,
        df: Any = None,
        lower: Any = None,
        upper: Any = None,
        curve: Any = None,
    ) -> None:
        if base not in _BASES:
            known = '"normal", "logistic", "laplace", "t" or "curve"'
            raise ValueError(f"base is {base!r}: give {known}")
        if (base == "curve") != (curve is not None) or (base == "curve" and scale is None):
            raise ValueError(f'base is {base!r}: curve and scale go with "curve", which needs both')
        self._curve = None if curve is None else _knots(curve)
        if (left is None) != (right is None) or (scale is None) == (left is None):
            raise ValueError("give either scale, or left and right, the scale of each side")
        if (base == "t") != (df is not None):
            raise ValueError(f"base is {base!r}: df goes with \"t\", which needs it, and with no other")
        sides = {"scale": scale, "left": left, "right": right}
        bounds = {"lower": lower, "upper": upper}
        self._take(base, {"location": floats("location", location), **sides, "df": df, **bounds})

    def _take(self, base: str, given: dict[str, Any]) -> None:
        named = {name: floats(name, one) for name, one in given.items() if one is not None}
        for name, values in named.items():
            _check(name, values)
        self._base, self._named, self._shape = base, named, common_shape(named)
        if "lower" in named and "upper" in named:
            _check_order(named["lower"], named["upper"])

    def __repr__(self) -> str:
        return self._told(f"Law({self._base!r}, ")

    def _told(self, start: str) -> str:
        if self._shape == ():
            numbers = (f"{name}={float(one):.6g}" for name, one in self._named.items())
            return f"{start}{', '.join(numbers)})"
        return f"{start}of shape {self._shape})"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the distributions: that of their parameters together."""
        return self._shape

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("this is one distribution, not a row of them: it has no length")
        return self._shape[0]

    def __getitem__(self, key: Any) -> Self:
        """The distributions of some rows, by whatever chooses rows of an array: a place, a slice, a mask."""
        if not self._shape:
            raise TypeError("this is one distribution, not a row of them: there is nothing to choose")
        made = copy.copy(self)
        # One value goes on standing for all rows.
        made._named = {
            name: one if one.ndim == 0 else floats(name, np.broadcast_to(one, self._shape)[key])
            for name, one in self._named.items()
        }
        made._shape = common_shape(made._named)
        return made

    def __iter__(self) -> Iterator[Self]:
        return (self[row] for row in range(len(self)))

    def mean(self) -> Any:
        """The means, of the distributions before their bounds; NaN where there is none."""
        return self._ask("mean")

    def median(self) -> Any:
        """The medians."""
        return self._ask("median")

    def std(self) -> Any:
        """The standard deviations, before bounds; infinite for a ``df`` of at most 2."""
        return self._ask("std")

    def var(self) -> Any:
        """The variances, before bounds; infinite for a ``df`` of at most 2."""
        return self._ask("var")

    def cdf(self, x: Any) -> Any:
        """The probability of values up to ``x``. Both tails keep their accuracy."""
        return self._ask("cdf", "x", x)

    def sf(self, x: Any) -> Any:
        """The probability of values above ``x``."""
        return self._ask("sf", "x", x)

    def logcdf(self, x: Any) -> Any:
        """The logarithm of :meth:`cdf`, finite where that is too small for a number."""
        return self._ask("logcdf", "x", x)

    def logsf(self, x: Any) -> Any:
        """The logarithm of :meth:`sf`, finite where that is too small for a number."""
        return self._ask("logsf", "x", x)

    def pdf(self, x: Any) -> Any:
        """The density at ``x``. At a bound it is the probability of the bound, beyond it 0: what a
        likelihood is made of."""
        return self._ask("pdf", "x", x)

    def logpdf(self, x: Any) -> Any:
        """The logarithm of :meth:`pdf`, so at a bound that of its probability."""
        return self._ask("logpdf", "x", x)

    def ppf(self, q: Any) -> Any:
        """The value that is exceeded with probability ``1 - q``; NaN outside of [0, 1]."""
        return self._ask("ppf", "q", q)

    def isf(self, q: Any) -> Any:
        """The value that is exceeded with probability ``q``, accurate for small ones."""
        return self._ask("isf", "q", q)

    def interval(self, level: Any = 0.9) -> tuple[Any, Any]:
        """The lower and the upper ends of the central intervals of this level, or of several: those are
        along a last axis."""
        shares, one = levels_of(level)
        outside = [0.5 * (1.0 - share) for share in shares]
        if one:
            return self.ppf(outside[0]), self.isf(outside[0])
        low, high = [self.ppf(q) for q in outside], [self.isf(q) for q in outside]
        return np.stack(low, axis=-1), np.stack(high, axis=-1)

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Random values; ``size`` broadcasts against the parameters. ``random_state`` is a seed or a
        ``numpy.random.Generator``."""
        uniform = np.random.default_rng(random_state).random(self._shape if size is None else size)
        try:
            np.broadcast_to(np.empty(self._shape), np.shape(uniform))
        except ValueError:
            words = f"it has no room for distributions of shape {self._shape}"
            raise ValueError(f"size is {size!r}: {words}") from None
        # One in 2^53 is 0, at which the tails are infinite.
        return self.ppf(np.maximum(uniform, 2.0**-54))

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        """``n`` random values of each distribution, in the first axis."""
        return self.rvs((n, *self._shape), random_state)

    def crps(self, y: Any) -> Any:
        """The CRPS of each distribution when ``y`` is then observed. Smaller is better. A ``y`` beyond
        a bound, which should not be, adds its distance from it."""
        return self._ask("crps", "y", y)

    def logscore(self, y: Any) -> Any:
        """The log score when ``y`` is then observed, which is minus :meth:`logpdf`. Smaller is
        better; infinite beyond a bound."""
        return self._ask("logscore", "y", y)

    def _ask(self, what: str, name: str = "", argument: Any = None) -> Any:
        """A function of the laws, at an argument if it has one."""
        named = self._named
        if name:
            named = {**named, name: floats(name, argument)}
            if name == "y":
                _check(name, named[name])
        shape = common_shape(named)
        # One value stands for all rows, without being repeated.
        flat = {
            name: (one if one.size == 1 else np.broadcast_to(one, shape)).reshape(-1)
            for name, one in named.items()
        }
        both = flat.get("scale", flat.get("std"))
        parameters = {
            "location": flat.get("location", flat.get("mean")),
            "left": flat.get("left", both),
            "right": flat.get("right", both),
            "df": flat.get("df"),
            "lower": flat.get("lower"),
            "upper": flat.get("upper"),
            "curve": self._curve,
        }
        at = flat.get(name)
        return shaped(_errbar.law(what, self._base, parameters, at, math.prod(shape)), shape)


def _knots(curve: Any) -> tuple[list[float], list[float]]:
    """The knots of a curve, which rise."""
    try:
        q, z = (floats("curve", one).reshape(-1) for one in curve)
    except (TypeError, ValueError):
        raise ValueError("curve: give (q, z), two columns of numbers") from None
    rise = all(np.isfinite(one).all() and (np.diff(one) > 0).all() for one in (q, z))
    if len(q) != len(z) or len(q) < 2 or not rise:
        raise ValueError("curve: give (q, z), as many of each, two or more, that are finite and rise")
    return q.tolist(), z.tolist()


def _check(name: str, values: Floats) -> None:
    """Refuses what a parameter, or an observation, cannot be, and names the first place of it."""
    if name in ("lower", "upper"):
        wrong = np.isnan(values) | (values == (np.inf if name == "lower" else -np.inf))
    elif name == "df":
        wrong = ~(values > 0)
    else:
        wrong = ~np.isfinite(values) | ((_NEEDED[name] == _SCALE) & (values <= 0))
    if wrong.any():
        place = _first(wrong)
        words = f"{values[place]:g}: it must be {_NEEDED[name]}"
        raise ValueError(f"{name}{_where(place)} is {words}")


def _check_order(lower: Floats, upper: Floats) -> None:
    low, high = np.broadcast_arrays(lower, upper)
    wrong = low >= high
    if wrong.any():
        place = _first(wrong)
        words = f"{low[place]:g}, which is not below upper, {high[place]:g}"
        raise ValueError(f"lower{_where(place)} is {words}")


def _first(wrong: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def _where(place: tuple[int, ...]) -> str:
    """A place in words; a single number has none."""
    return f" at {place[0] if len(place) == 1 else place}" if place else ""
