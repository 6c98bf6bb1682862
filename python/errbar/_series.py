"""Rows in time: times as seconds or numbers, spans of time, and walking through the past."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

import numpy as np

from . import _errbar
from ._arrays import Floats, column, floats, groups_of, maybe_column, name_of


class Kept(NamedTuple):
    """What became of guaranteed intervals of one level, since a fit."""

    level: float
    rows: int
    """Rows with such an interval that have been observed."""
    held: float
    """The share of them that it held."""
    proven_least: float
    """The least share that it can have held, whatever the errors were."""
    proven_most: float
    unbounded: int
    """Rows whose interval was unbounded."""
    unbounded_now: int
    """Groups whose next interval is unbounded: 0 or 1 where rows have no groups."""


class Update(NamedTuple):
    """What :meth:`SigmaRegressor.update` did: which rows it took, and how error bars have changed since the
    model was fitted."""

    rows: int
    """Observed rows that were taken."""
    late: list[int]
    """Observed rows that were not: of moments that had passed, or known with another error."""
    state: str
    """"fine": error bars are about as fitted; "rescaled"; or "refit": fit the model again."""
    factor: float
    """The width of error bars over that of the fit."""
    shift: float
    """By how many sigmas they have moved."""
    guarantee: list[Kept]
    """What guaranteed intervals held, at each level that is kept."""


class Fit(NamedTuple):
    """A fit of a walk."""

    time: Any
    rows: int
    lags_used: bool | None
    """Whether errors of earlier rows helped; None where none were asked for."""


class Backtest:
    """What error bars would have been, row by row: see :func:`backtest`.

    Attributes
    ----------
    row : ndarray of int
        The place of each row among those given, in the order of time. The other arrays are parallel.
    forecast, sigma : ndarray
        The forecast (moved by its bias where that was learned), and sigma.
    levels : list of float
    lower, upper : ndarray of shape (rows, levels)
        The ends of central intervals.
    guarantee : list of float
    guaranteed_lower, guaranteed_upper : ndarray of shape (rows, guarantee)
        The ends of guaranteed intervals, infinite where they are unbounded.
    kept : list of Kept
        What became of them, at each level.
    pit, crps : ndarray
        The probability that the law gave to less than was observed, and the score of the row.
    crps_as_fitted, pit_as_fitted : ndarray
        The same for laws that follow nothing between fits.
    crps_constant : ndarray
        The same for one constant sigma around the forecast as it was given.
    fits : list of Fit
    """

    def __init__(
        self, said: dict[str, Any], fitted: Any, levels: list[float], guarantee: list[float], dates: bool
    ) -> None:
        self.row = said["row"]
        self.forecast: Floats = said["forecast"]
        self.sigma: Floats = said["sigma"]
        self.levels = levels
        self.lower, self.upper = self._ends(said["intervals"])
        self.guarantee = guarantee
        self.guaranteed_lower, self.guaranteed_upper = self._ends(said["guaranteed"])
        self.kept = [Kept(*one) for one in said["kept"]]
        self.pit: Floats = said["pit"]
        self.crps: Floats = said["crps"]
        self.pit_as_fitted: Floats = said["pit_as_fitted"]
        self.crps_as_fitted: Floats = said["crps_as_fitted"]
        self.crps_constant: Floats = said["crps_constant"]
        self.fits = [Fit(when(time, dates), rows, used) for time, rows, used in said["fits"]]
        self.fitted_ = fitted

    def _ends(self, ends: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        """Lower and upper ends, a column for each level."""
        if not ends:
            return np.empty((len(self.row), 0)), np.empty((len(self.row), 0))
        return np.stack([low for low, _ in ends], axis=-1), np.stack([high for _, high in ends], axis=-1)

    def coverage(self, level: float = 0.9) -> float:
        """The share of observed rows that central intervals of this level held."""
        seen = self.pit[~np.isnan(self.pit)]
        return float(np.mean(np.abs(seen - 0.5) <= 0.5 * level)) if len(seen) else float("nan")

    def summary(self) -> dict[str, float]:
        """Mean CRPS, beside that of laws that follow nothing and of one constant sigma, and coverage."""
        said = {
            "rows": float(len(self.row)),
            "crps": float(np.nanmean(self.crps)),
            "crps_as_fitted": float(np.nanmean(self.crps_as_fitted)),
            "crps_constant": float(np.nanmean(self.crps_constant)),
        }
        for level in self.levels:
            said[f"coverage_{100 * level:g}"] = self.coverage(level)
        for one in self.kept:
            said[f"guaranteed_{100 * one.level:g}"] = one.held
        return said

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value:.4g}" for name, value in self.summary().items())
        return f"Backtest({told})"


def backtest(
    X: Any,
    forecast: Any,
    observation: Any,
    time: Any,
    *,
    group: Any = None,
    sample_weight: Any = None,
    start: Any = 0.7,
    delay: Any = 1,
    lag: Any = (),
    refit: Any = "10%",
    levels: Any = (0.5, 0.9, 0.99),
    guarantee: Any = (),
    debias: bool | str = "auto",
    **parameters: Any,
) -> Backtest:
    """Walks through the past: fits, forecasts, observes, and fits again.

    A model is learned from the rows before ``start``; every later row gets its error bars from what was
    known by then and from nothing else; what is then observed is followed, so that error bars grow and
    shrink with the errors; and now and then the model is fitted again.

    Parameters
    ----------
    X : array_like of shape (rows, inputs)
        What sigma may depend on.
    forecast, observation, time : array_like
        Of each row. The forecast may be None where ``members`` of X make it. What is not observed is NaN. Times are numbers, or dates (datetime64, datetime).
    group : array_like, optional
        The group of each row (a station), each of which is followed by itself.
    start : float or time, default=0.7
        Where the walk begins: a share of the rows, or a time.
    delay : int or str, default=1
        When an observation becomes known: so many distinct times later, or a time later, as in "48h".
    lag : sequence of int or str, default=()
        Errors of earlier rows that are inputs: so many times of the row's own group before, or a time
        before. They are used where rows held out gain by them.
    refit : str or int, default="10%"
        When the model is fitted again: "never", a number of rows, a time ("30d"), or when the known rows
        have grown by a share ("10%").
    levels : sequence of float
        Of central intervals.
    guarantee : sequence of float, default=()
        Levels of guaranteed intervals, too: read off rows that are kept from the model, and moved as rows
        are observed so that they hold their share in the long run whatever the errors do. They may be
        unbounded.
    debias : {"auto", True, False}, default="auto"
        Whether the bias of the forecaster is learned and taken off: "auto" where rows held out gain by it.
    **parameters
        Those of :class:`SigmaRegressor`.

    Examples
    --------
    >>> import numpy as np, errbar
    >>> rng = np.random.default_rng(0)
    >>> day = np.arange(400)
    >>> size = np.where(day < 300, 1.0, 3.0)  # errors grow threefold one day
    >>> forecast = rng.normal(size=400)
    >>> observation = forecast + size * rng.normal(size=400)
    >>> walk = errbar.backtest(forecast[:, None], forecast, observation, day, refit="never", model="constant")
    >>> bool(walk.crps.mean() < walk.crps_as_fitted.mean())
    True
    """
    from ._given import learned_table, weights
    from ._members import ensemble_of, made_of
    from ._sigma_regressor import SigmaRegressor

    promised = [float(level) for level in np.atleast_1d(floats("guarantee", guarantee)).ravel()]
    regressor = SigmaRegressor(**parameters, debias=debias is True, time_order=True)
    wanted = regressor._wanted()
    ensemble = ensemble_of(X, regressor.members, regressor.center)
    inputs, categories, names = learned_table(regressor, X, ensemble)
    if forecast is None:
        if ensemble is None:
            raise ValueError("give the forecast of each row, or name the members that make it: members=...")
        forecast = made_of(X, ensemble)[1]
    seconds, dates = times(time)
    of = {
        "time": name_of(time, "time"),
        "dates": dates,
        "offset": offset_of(time),
        "delay": span("delay", delay),
        "lag": spans("lag", lag),
        "debias_if_it_pays": debias == "auto",
        "categories": categories,
        "promised": promised,
    }
    asked = [float(level) for level in np.atleast_1d(floats("levels", levels)).ravel()]
    said, fitted = _errbar.backtest(
        rows_in_time(inputs, seconds, group, column("forecast", forecast), column("observation", observation)),
        list(names),
        weights(sample_weight),
        wanted,
        of,
        start_of(start, seconds, dates),
        refit_of(refit),
        asked,
    )
    return Backtest(said, fitted, asked, promised, dates)


def rows_in_time(
    inputs: Floats, time: Floats, group: Any, forecast: Any, observation: Any, prior: Any = None
) -> dict[str, Any]:
    """Rows as Rust takes them."""
    seen = np.full(len(time), np.nan) if observation is None else column("observation", observation)
    return {
        "inputs": inputs,
        "time": time,
        "group": None if group is None else groups_of(group),
        "forecast": maybe_column("forecast", forecast),
        "observation": seen,
        "prior": prior,
    }


def times(time: Any) -> tuple[Floats, bool]:
    """Times as numbers, and whether they were dates: then seconds since 1970."""
    values = np.asarray(time)
    if values.dtype.kind == "O" and values.size and isinstance(values.flat[0], (datetime.date, np.datetime64)):
        values = np.array([in_utc(one) for one in values.flat], dtype="datetime64[us]").reshape(values.shape)
    elif values.dtype.kind in "US" and values.size:
        try:
            values = values.astype("datetime64[us]")
        except ValueError:
            raise ValueError(f"time is {str(values.flat[0])!r}, which is no date as in 2024-01-31") from None
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
        seconds = np.where(np.isnat(values), np.nan, seconds)
        return np.require(seconds, dtype=np.float64, requirements=["C", "A"]), True
    return column("time", time), False


def in_utc(time: Any) -> Any:
    """A date with an offset as one without."""
    if getattr(time, "tzinfo", None) is None:
        return time
    return time.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def offset_of(time: Any) -> bool | None:
    """Whether dates have a time zone: then they are counted in UTC. None where that is not to be seen."""
    kind = getattr(time, "dtype", None)
    if kind is not None and kind != object:
        # As pandas and as polars call it.
        return any(getattr(kind, name, None) is not None for name in ("tz", "time_zone"))
    values = np.asarray(time, dtype=object).ravel()
    if values.size and isinstance(values[0], datetime.datetime):
        return values[0].tzinfo is not None
    return None


def when(time: float, dates: bool) -> Any:
    """A time as it was given."""
    return np.datetime64(int(round(time * 1e6)), "us") if dates else time


def span(name: str, value: Any) -> str:
    """A number of moments, or a time, as text."""
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        seconds = np.timedelta64(value) / np.timedelta64(1, "s")
        return f"{float(seconds):.17g}s"
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        return value
    raise ValueError(f'{name} is {value!r}: give a number of times, or a time as in "48h"')


def spans(name: str, values: Any) -> list[str]:
    """Some of them, or one."""
    if isinstance(values, (str, int, np.integer, datetime.timedelta, np.timedelta64)):
        values = values.split(",") if isinstance(values, str) else [values]
    return [span(name, value) for value in values]


def start_of(start: Any, seconds: Floats, dates: bool) -> float:
    """Where a walk begins, as a number."""
    if isinstance(start, (int, float, np.number)) and not isinstance(start, bool):
        share = float(start)
        if 0 < share < 1 and len(seconds):
            return float(np.sort(seconds)[int(share * len(seconds))])
        if not dates:
            return share
    elif dates:
        found, is_date = times(np.atleast_1d(start))
        if is_date:
            return float(found[0])
    raise ValueError(f"start is {start!r}: give a share of the rows between 0 and 1, or a time")


def refit_of(refit: Any) -> tuple[str, float]:
    """When a model is fitted again."""
    if refit is None or refit == "never":
        return "never", 0.0
    if isinstance(refit, (int, np.integer)) and not isinstance(refit, bool) and refit > 0:
        return "rows", float(refit)
    try:
        if isinstance(refit, str) and refit.endswith("%"):
            share = float(refit[:-1]) / 100
            if share > 0:
                return "share", share
        elif isinstance(refit, str) and refit.isdigit():
            return "rows", float(refit)
        elif isinstance(refit, (str, datetime.timedelta, np.timedelta64)):
            units = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0}
            text = span("refit", refit)
            unit = next(unit for unit in units if text.endswith(unit))
            return "time", float(text[: -len(unit)]) * units[unit]
    except (ValueError, StopIteration):
        pass
    raise ValueError(f'refit is {refit!r}: give "never", rows, a time as in "30d" or a share as in "10%"')
