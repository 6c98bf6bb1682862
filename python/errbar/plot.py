"""Figures of error bars with matplotlib: are they of the right size?

Each function takes ``ax=None`` (a new figure) and gives the axes back, so that figures can be put
together and changed. Bands and bars in grey say where chance alone would put a calibrated forecast,
point by point, with 95% probability. They take the rows to be independent.

The numbers are those of :func:`errbar.scores`, and the look is that of the report.

>>> import matplotlib
>>> matplotlib.use("agg")
>>> import numpy as np
>>> import errbar.plot
>>> rng = np.random.default_rng(0)
>>> sigma = rng.uniform(0.5, 2.0, 500)
>>> axes = errbar.plot.reliability_diagram(sigma * rng.standard_normal(500), sigma)
>>> axes.get_xlabel()
'claimed probability'
"""

from __future__ import annotations

import copy
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, NullFormatter

import errbar
from errbar._arrays import Floats, column, maybe_column, one_name
from errbar._forms import EventScores

__all__ = [
    "economic_value",
    "event_reliability",
    "pit_histogram",
    "reliability_diagram",
    "roc",
    "sigma_curve",
    "spread_skill",
]

# The report's colours: tones of Okabe and Ito, which colour-blind readers can tell apart.
_OBSERVED = "#D55E00"
_FORECAST = "#0072B2"
_BARS = "#8FB3CC"
_CHANCE = "#D0D0D0"
_CLAIMED = "#C6DCEC"
_CLAIMED_WIDE = "#E4EFF7"
_POINTS = "#6B6B6B"
_INK = "#262626"


def reliability_diagram(
    error: Any,
    sigma: Any,
    weight: Any = None,
    *,
    levels: int = 20,
    confidence: float = 0.95,
    ax: Axes | None = None,
    sample_weight: Any = None,
) -> Axes:
    """How often observations fall below each quantile of the forecast, and how often they should.

    On the diagonal all is well. Above it on the left and below it on the right, sigma is too small;
    the other way round, too large; all on one side, the forecast is biased.

    Parameters
    ----------
    error, sigma, weight : array_like
        As in :func:`errbar.reliability_score`.
    levels : int
        The curve is known at 1/levels, 2/levels, … . Must divide 18,000.
    confidence : float
        The probability of the grey band, at each single level.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    sample_weight : array_like, optional
        Another name of ``weight``.
    """
    weight = one_name("weight", weight, "sample_weight", sample_weight)
    error = column("error", error)
    found = errbar.scores(
        error, 0.0, sigma, weight, diagram_levels=levels, confidence=confidence
    ).diagram
    ax = _axes(ax)

    def ends(values: Floats) -> Floats:
        return np.concatenate([[0.0], values, [1.0]])

    nominal = ends(found.nominal)
    ax.fill_between(
        nominal, ends(found.low), ends(found.high), color=_CHANCE, lw=0, label=_chance(confidence)
    )
    ax.plot([0.0, 1.0], [0.0, 1.0], color=_INK, lw=0.8)
    ax.plot(nominal, ends(found.observed), color=_OBSERVED, lw=2.0, label="observed")
    ax.plot(found.nominal, found.observed, "o", color=_OBSERVED, ms=4.0)
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    ax.set(xlabel="claimed probability", ylabel="observed frequency")
    _in_percent(ax)
    ax.legend(loc="upper left", fontsize="small", frameon=False)
    return ax


def pit_histogram(
    error: Any,
    sigma: Any,
    weight: Any = None,
    *,
    bins: int = 20,
    confidence: float = 0.95,
    ax: Axes | None = None,
    sample_weight: Any = None,
) -> Axes:
    """Where in its own forecast distribution each observation fell.

    Flat is right. A U says that sigma is too small, a hump that it is too large, a slope that the
    forecast is biased.

    Parameters
    ----------
    error, sigma, weight : array_like
        As in :func:`errbar.reliability_score`.
    bins : int
        The number of bars. Must divide 18,000.
    confidence : float
        The probability of the grey band, at each single bar.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    sample_weight : array_like, optional
        Another name of ``weight``.
    """
    weight = one_name("weight", weight, "sample_weight", sample_weight)
    error = column("error", error)
    found = errbar.scores(error, 0.0, sigma, weight, pit_bins=bins, confidence=confidence).pit
    ax = _axes(ax)
    edges = np.linspace(0.0, 1.0, len(found.frequency) + 1)
    ax.axhspan(found.low, found.high, color=_CHANCE, lw=0, label=_chance(confidence))
    ax.bar(
        edges[:-1],
        found.frequency,
        np.diff(edges),
        align="edge",
        color=_BARS,
        edgecolor="white",
        lw=0.8,
        label="observed",
    )
    # Over the bars, which hide the band.
    for edge in (found.low, found.high):
        ax.axhline(edge, color=_INK, lw=0.8, ls=(0, (5, 4)))
    top = 1.12 * max(found.high, *found.frequency)
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, top))
    ax.set(
        xlabel="place of the observation in its forecast distribution",
        ylabel="share of the observations",
    )
    _in_percent(ax)
    _legend_above(ax)
    return ax


def spread_skill(
    error: Any,
    sigma: Any,
    weight: Any = None,
    *,
    bins: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
    sample_weight: Any = None,
) -> Axes:
    """Rows in bins of like sigma: how large sigma says the errors are, and how large they were.

    Points belong on the line. Flatter than the line, sigma varies too much; steeper, too little.

    Parameters
    ----------
    error, sigma, weight : array_like
        As in :func:`errbar.reliability_score`.
    bins : int, optional
        The number of bins: 12, or fewer where they would hold less than 10 rows.
    confidence : float
        The probability of the grey bars, in each single bin.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    sample_weight : array_like, optional
        Another name of ``weight``.
    """
    weight = one_name("weight", weight, "sample_weight", sample_weight)
    error = column("error", error)
    sigma = column("sigma", sigma, len(error))
    weight = maybe_column("weight", weight)
    bins = max(1, min(12, len(error) // 10)) if bins is None else bins
    found = errbar.scores(
        error, 0.0, sigma, weight, spread_skill_bins=bins, confidence=confidence
    ).spread_skill
    spread = np.array([one.spread for one in found])
    skill = np.array([one.skill for one in found])
    share = np.ones(len(error)) if weight is None else weight
    reach = [
        _mean_square_range(_freedom(sigma, share, one.sigma_from, one.sigma_to), confidence)
        for one in found
    ]
    low, high = spread * np.sqrt(np.array(reach).T)
    ax = _axes(ax)
    most = max(*spread, *skill, *high)
    least = min(value for value in (*spread, *skill) if value > 0.0)
    if most > 8.0 * least:  # many times: equal factors are equal steps
        least = min(value for value in (least, *low) if value > 0.0)
        ends = (0.8 * least, 1.25 * most)
        ax.set(xscale="log", yscale="log")
        marks = [1.0] if most > 300.0 * least else [1.0, 2.0, 5.0]
        locator: Locator = LogLocator(subs=marks)
    else:
        ends = (0.0, 1.06 * most)
        locator = MaxNLocator(5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(copy.copy(locator))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.10g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.vlines(spread, low, high, color=_CHANCE, lw=8.0, label=_chance(confidence))
    ax.plot(ends, ends, color=_INK, lw=0.8, label="error as large as sigma")
    ax.plot(spread, skill, "o-", color=_OBSERVED, lw=1.2, ms=6.0, label="observed")
    ax.set(xlim=ends, ylim=ends, aspect="equal")
    ax.set(xlabel="sigma (root mean square)", ylabel="error (root mean square)")
    ax.legend(loc="upper left", fontsize="small", frameon=False)
    return ax


def sigma_curve(
    x: Any,
    forecast: Any,
    sigma: Any,
    observation: Any = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """The forecast over one input with the intervals that should hold 50% and 90% of observations.

    Parameters
    ----------
    x : array_like
        The input; rows may be in any order.
    forecast, sigma : array_like
        The forecast at each x, and the standard deviation of its error.
    observation : array_like, optional
        What was observed at each x, drawn as points.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    """
    x = _finite("x", column("x", x))
    if len(x) == 0:
        raise ValueError("x has no values: give one per row")
    forecast, sigma = (
        _as_long(name, column(name, values, len(x)), x)
        for name, values in (("forecast", forecast), ("sigma", sigma))
    )
    if not (sigma > 0.0).all():
        row = int(np.argmin(sigma > 0.0))
        raise ValueError(f"sigma at row {row} is {sigma[row]:g}: give numbers greater than 0")
    if observation is not None:
        observation = _as_long("observation", column("observation", observation), x)
    order = np.argsort(x, kind="stable")
    ax = _axes(ax, width=7.2)
    for level, color in ((0.9, _CLAIMED_WIDE), (0.5, _CLAIMED)):
        reach = np.sqrt(2.0) * errbar.erfinv(level) * sigma[order]
        low, high = forecast[order] - reach, forecast[order] + reach
        ax.fill_between(x[order], low, high, color=color, lw=0, label=f"{level:.0%} interval")
    if observation is not None:
        many = len(x) > 500
        ax.plot(
            x,
            observation,
            "o",
            color=_POINTS,
            ms=2.0 if many else 3.0,
            alpha=0.5 if many else 0.8,
            mew=0,
            label="observations",
            rasterized=len(x) > 10_000,
        )
    ax.plot(x[order], forecast[order], color=_FORECAST, lw=2.2, label="forecast")
    ax.set(xlim=(x.min(), x.max()), xlabel="x", ylabel="observation")
    _legend_above(ax)
    return ax


def event_reliability(event: EventScores, *, ax: Axes | None = None) -> Axes:
    """How often an event happened where its probability was said to be so much.

    On the diagonal all is well; nearer to the base rate than that, probabilities are too sure. Points are tenths of the
    probabilities, the bars around the diagonal what chance leaves to such that are right (95% of the time), the line the
    isotonic regression, which would put them right.

    Parameters
    ----------
    event : EventScores
        Of :func:`errbar.scores`: ``errbar.scores(..., events="> 50").events[0]``.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    """
    ax = _axes(ax)
    said = np.array([one.mean_probability for one in event.diagram])
    low, high = (np.array([getattr(one, end) for one in event.diagram]) for end in ("low", "high"))
    ax.vlines(said, low, high, color=_CHANCE, lw=7.0, label="range of chance (95%)")
    ax.plot([0.0, 1.0], [0.0, 1.0], color=_INK, lw=0.8)
    ax.axhline(event.base_rate, color=_INK, lw=0.8, ls=(0, (5, 4)))
    x = [end for block in event.recalibrated for end in (block.from_, block.to)]
    ax.plot(x, [block.frequency for block in event.recalibrated for _ in range(2)], color=_FORECAST, lw=1.6, label="recalibrated")
    ax.plot(said, [one.frequency for one in event.diagram], "o", color=_OBSERVED, ms=5.0, label="observed")
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal", title=event.event)
    ax.set(xlabel="probability that was said", ylabel="how often it happened")
    _in_percent(ax)
    ax.legend(loc="upper left", fontsize="small", frameon=False)
    return ax


def roc(event: EventScores, *, ax: Axes | None = None) -> Axes:
    """What comes of warnings at every probability: events that are caught, against false alarms.

    The further the curve is above the diagonal the better events are told apart; its area is 1 where they all are, 0.5
    where none is. Parameters as in :func:`event_reliability`.
    """
    ax = _axes(ax)
    points = event.roc.points
    ax.plot([0.0, 1.0], [0.0, 1.0], color=_INK, lw=0.8)
    ax.plot(
        [point.false_alarm_rate for point in points],
        [point.hit_rate for point in points],
        color=_FORECAST,
        lw=2.0,
        label=f"area {event.roc.area:.3f}",
    )
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal", title=event.event)
    ax.set(xlabel="false alarms among all that were no events", ylabel="events that are caught")
    _in_percent(ax)
    ax.legend(loc="lower right", fontsize="small", frameon=False)
    return ax


def economic_value(event: EventScores, *, ax: Axes | None = None) -> Axes:
    """What probabilities are worth to people who can act: 1 is knowing what comes, 0 is knowing the base rate alone.

    For each ratio of what acting costs to what it saves; the dashed line is what they would be worth if they were
    reliable. Parameters as in :func:`event_reliability`.
    """
    ax = _axes(ax)
    x = [point.cost_loss for point in event.value]
    values = np.array([point.value for point in event.value])
    ax.axhline(0.0, color=_INK, lw=0.8)
    ax.plot(x, [point.recalibrated for point in event.value], color=_POINTS, lw=1.2, ls=(0, (5, 4)), label="if reliable")
    ax.plot(x, values, color=_FORECAST, lw=2.0, label="as they are")
    # Far below nothing, how far does not matter.
    ax.set(xlim=(0.0, 1.0), ylim=(max(-0.25, min(0.0, float(values.min())) - 0.05), 1.0))
    ax.set(xlabel="cost of acting / loss without", ylabel="relative economic value")
    _legend_above(ax)
    ax.set_title(event.event, pad=22.0)
    return ax


def _axes(ax: Axes | None, width: float = 4.8) -> Axes:
    if ax is None:
        _, ax = plt.subplots(figsize=(width, 3.8), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _in_percent(ax: Axes) -> None:
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100.0 * value:.4g}%"))


def _legend_above(ax: Axes) -> None:
    """Where nothing is hidden by it."""
    handles, _ = ax.get_legend_handles_labels()
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=len(handles),
        fontsize="small",
        frameon=False,
        columnspacing=1.2,
        handlelength=1.4,
    )


def _chance(confidence: float) -> str:
    return f"range of chance ({100.0 * confidence:.4g}%)"


def _as_long(name: str, values: Floats, x: Floats) -> Floats:
    if len(values) != len(x):
        raise ValueError(f"{name} has {len(values)} values but x has {len(x)}: give one per row")
    return _finite(name, values)


def _finite(name: str, values: Floats) -> Floats:
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"{name} at row {row} is {values[row]:g}: give numbers")
    return values


def _freedom(sigma: Floats, weight: Floats, low: float, high: float) -> float:
    """The degrees of freedom of the mean squared error of rows from `low` to `high`, whose sigmas
    and weights differ (Welch and Satterthwaite)."""
    inside = (sigma >= low) & (sigma <= high)
    # Relative to the largest, so that fourth powers neither overflow nor vanish.
    variance = weight[inside] * (sigma[inside] / high) ** 2
    return float(variance.sum() ** 2 / (variance**2).sum())


def _mean_square_range(freedom: float, confidence: float) -> tuple[float, float]:
    """The range of chance of a mean square over its expectation: quantiles of chi-squared over its
    degrees of freedom, by the cube of Wilson and Hilferty (1931)."""
    step = 2.0 / (9.0 * freedom)
    reach = np.sqrt(2.0) * errbar.erfinv(confidence) * np.sqrt(step)
    return max(1.0 - step - reach, 0.0) ** 3, (1.0 - step + reach) ** 3
