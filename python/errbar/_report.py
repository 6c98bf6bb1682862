"""The report: one page that shows whether error bars can be trusted."""

from __future__ import annotations

import html
import os
from datetime import date, datetime, timezone
from typing import Any, Mapping, Sequence

import numpy as np

from . import _errbar
from ._arrays import Floats, column, floats, groups_of, maybe_column, name_of, one_name, refuse_twice
from ._scores import Scores, scores_of


class Report:
    """A page about some forecasts with error bars; see :func:`report`. A notebook shows it."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.html: str = told["html"]
        """The page: one file that loads nothing."""
        self.headline: list[str] = told["headline"]
        """The verdict, then how wide, how reliable, how much better than one constant sigma."""
        self.advice: list[str] = told["advice"]
        """What is wrong and what to do about it; empty where nothing is."""
        self.figures: dict[str, str] = told["figures"]
        """The figures by name, as SVG."""
        self.scores: Scores = scores_of(told["scores"])
        """All scores, with confidence intervals."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page, whole or not at all."""
        _errbar.write_file(path, self.html)

    def __str__(self) -> str:
        return "\n".join(self.headline)

    def __repr__(self) -> str:
        return f"<errbar.Report: {self.headline[0]}>"

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{page}" style="width: 100%; height: 800px; border: 0" '
            'sandbox="allow-scripts allow-downloads"></iframe>'
        )


def report(
    observation: Any,
    forecast: Any,
    sigma: Any,
    *,
    inputs: Any = None,
    weight: Any = None,
    time: Any = None,
    by: Any = None,
    lead: Any = None,
    latitude: Any = None,
    longitude: Any = None,
    event: str | Sequence[str] | None = None,
    title: str = "Error bars",
    path: str | os.PathLike[str] | None = None,
    sample_weight: Any = None,
    group: Any = None,
) -> Report:
    """Judges forecasts with error bars on one page: a headline in words, figures, all scores.

    It is the page that the program ``errbar report`` writes. Judge a model on rows it has not seen.

    Parameters
    ----------
    observation, forecast, sigma : array_like
        What was observed, what had been forecast, and the standard deviation given to it, one for
        each row. For forecast and sigma, one number stands for all rows.
    inputs : table, dict or array_like, optional
        What sigma may depend on: a table or dictionary of columns with names, or an array with a
        row of inputs for each row. The page shows sigma and the errors against them.
    weight : array_like, optional
        The weight of each row; only ratios matter.
    time : array_like, optional
        The time of each row, as dates or numbers. The rows are put in its order.
    by : array_like, optional
        The group of each row, to be compared: the worst come first.
    lead : array_like, optional
        The lead time of each forecast, to show scores by lead.
    latitude, longitude : array_like, optional
        Where each row is, in degrees, to make a map. What is no place on Earth is not on it.
    event : str or list of str, optional
        Events whose probabilities are judged: ``"> 50"``, ``">= 50"``, ``"< 0"`` or ``"<= 0"``.
    title : str
        The title of the page.
    path : path, optional
        Where to write the page; see also :meth:`Report.save`.
    sample_weight, group : optional
        Other names of ``weight`` and ``by``.

    Returns
    -------
    Report

    Examples
    --------
    >>> import numpy as np, errbar
    >>> forecast = np.arange(200) / 20
    >>> observation = forecast + np.sin(2.4 * np.arange(200))
    >>> page = errbar.report(observation, forecast, sigma=0.2)
    >>> page.headline[0].startswith("Overconfident")
    True
    """
    y = column("observation", observation)
    weight = one_name("weight", weight, "sample_weight", sample_weight)
    by = one_name("by", by, "group", group)
    judged: dict[str, Any] = {
        "observation": (name_of(observation, "observation"), y),
        "forecast": (name_of(forecast, "forecast"), column("forecast", forecast, len(y))),
        "sigma": column("sigma", sigma, len(y)),
        "weight": maybe_column("weight", weight),
        "inputs": _columns(inputs),
        "time": None,
        "by": None if by is None else groups_of(by),
        "lead": None if lead is None else groups_of(lead, "lead"),
        "places": _places(latitude, longitude),
        "events": [event] if isinstance(event, str) else list(event or []),
        "title": str(title),
        "facts": [("data", f"{len(y)} rows, from Python")],
    }
    if time is not None:
        judged["time"] = (name_of(time, "time"), *_times(time))
        judged = _in_time_order(judged, len(y))
    made = Report(_errbar.report(judged))
    if path is not None:
        made.save(path)
    return made


def _places(latitude: Any, longitude: Any) -> tuple[tuple[str, Floats], ...] | None:
    """Latitude and longitude, gaps among them."""
    if (latitude is None) != (longitude is None):
        raise ValueError("a map needs latitude and longitude: give both")
    if latitude is None:
        return None
    both = (("latitude", latitude), ("longitude", longitude))
    return tuple((name_of(values, name), column(name, values)) for name, values in both)


def _columns(inputs: Any) -> list[tuple[str, Floats]]:
    """The inputs with their names."""
    if inputs is None:
        return []
    if isinstance(inputs, Mapping):
        return [(str(name), column(str(name), values)) for name, values in inputs.items()]
    if hasattr(inputs, "columns") and hasattr(inputs, "__getitem__"):
        names = getattr(inputs, "column_names", None) or list(inputs.columns)  # PyArrow, others
        refuse_twice([str(name) for name in names])
        return [(str(name), column(str(name), inputs[name])) for name in names]
    array = floats("inputs", inputs)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"inputs has {array.ndim} dimensions: give a row of inputs for each row")
    return [(f"x{i}", np.ascontiguousarray(array[:, i])) for i in range(array.shape[1])]


def _times(time: Any) -> tuple[Floats, bool]:
    """Times as numbers, and whether they are seconds since 1970."""
    if getattr(time, "tz", None) is not None or getattr(getattr(time, "dt", None), "tz", None):
        time = np.asarray(time, dtype="datetime64[us]")  # pandas with a time zone, as UTC
    array = np.asarray(time)
    kind = array.dtype.kind
    if kind in "UT" or (
        kind == "O" and any(isinstance(value, (str, date)) for value in array.flat)
    ):
        array = np.array([_date(row, value) for row, value in enumerate(array.tolist())])
    if array.dtype.kind != "M":
        return column("time", time), False
    seconds = array.astype("datetime64[us]").astype(np.float64) / 1e6
    seconds[np.isnat(array)] = np.nan
    return column("time", seconds), True


def _date(row: int, value: Any) -> np.datetime64:
    """A date from a text or an object, in UTC where it has a time zone."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = value.astimezone(timezone.utc).replace(tzinfo=None)
        if isinstance(value, (int, float)):
            raise TypeError
        return np.datetime64(value, "us")
    except (TypeError, ValueError):
        raise ValueError(f"time at row {row} is {value!r}: give dates, or numbers") from None


def _in_time_order(judged: dict[str, Any], rows: int) -> dict[str, Any]:
    """The same rows, sorted by time. Columns of another length are left to be refused."""
    name, values, dates = judged["time"]
    if len(values) != rows:
        return judged
    # What is wrong must be said with its row in the order it came in.
    error = _errbar.errors_of(judged["observation"][1], judged["forecast"][1])
    _errbar.reliability_score(error, judged["sigma"], judged["weight"])
    for label, one in [*judged["inputs"], (name, values)]:
        if not np.isfinite(one).all():
            row = int(np.argmin(np.isfinite(one)))
            raise ValueError(f'column "{label}" is {one[row]} at row {row}: leave such rows out')
    order = np.argsort(values, kind="stable")

    def sorted_(values: Any) -> Any:
        return values[order] if values is not None and len(values) == rows else values

    return {
        **judged,
        **{role: sorted_(judged[role]) for role in ("sigma", "weight")},
        **{
            role: (judged[role][0], sorted_(judged[role][1]))
            for role in ("observation", "forecast")
        },
        "inputs": [(name, sorted_(values)) for name, values in judged["inputs"]],
        "time": (name, sorted_(values), dates),
        **{
            role: judged[role] and (*judged[role][:2], sorted_(judged[role][2]))
            for role in ("by", "lead")
        },
        "places": judged["places"]
        and tuple((name, sorted_(values)) for name, values in judged["places"]),
    }
