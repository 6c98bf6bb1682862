"""What is said of members, quantiles, intervals and events beside what is said of every forecast."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._arrays import Floats, column, floats


class Interval(NamedTuple):
    """A confidence interval and a standard error; NaN where too few rows tell nothing."""

    low: float
    high: float
    standard_error: float


class SpreadSkill(NamedTuple):
    """The spread of members against the error of their mean."""

    spread: float
    """The root of the mean variance of the members."""
    rmse: float
    ratio: float
    """1 for a reliable ensemble, below 1 where members are too close together."""


@dataclass(frozen=True)
class RankHistogram:
    """How often observations fell below all members, between the lowest and the next, and so on."""

    frequency: Floats
    low: float
    """The lower end of what chance leaves to each place of a reliable ensemble."""
    high: float
    confidence: float


@dataclass(frozen=True)
class EnsembleScores:
    """What is said of members alone."""

    rows: int
    members: int
    missing: int
    """How many members are missing, of all rows."""
    single: int
    """Rows of a single member, which know no spread."""
    fair_crps: float
    """That of endlessly many such members (Ferro, 2014)."""
    crps: float
    """As if there never were more members."""
    spread_skill: SpreadSkill
    ranks: RankHistogram


class Crossings(NamedTuple):
    """Rows in which a quantile is below one of a smaller level."""

    rows: int
    first: int | None
    """The first of them, counted from 0."""
    levels: tuple[float, float] | None
    """The levels of a pair that crosses there."""
    largest: float


@dataclass(frozen=True)
class QuantileScores:
    """What is said of quantiles alone."""

    levels: Floats
    pinball: Floats
    """The mean pinball loss at each level,"""
    mean_pinball: float
    """and the mean of these."""
    shares_below: Floats
    """The share of observations at or below each quantile."""
    crps_least: float
    """The least mean CRPS of any law with these quantiles,"""
    crps_most: float
    """and the most of one that does not reach beyond the outermost."""
    crossings: Crossings


@dataclass(frozen=True)
class IntervalScores:
    """What is said of one interval alone."""

    rows: int
    level: float
    score: float
    """The mean interval score (Winkler's)."""
    coverage: float
    below: float
    above: float
    mean_width: float
    score_interval: Interval
    coverage_interval: Interval
    below_interval: Interval
    above_interval: Interval
    block: int


class Brier(NamedTuple):
    """The Brier score and its parts, ``score = reliability - resolution + uncertainty``."""

    score: float
    skill: float
    reliability: float
    resolution: float
    uncertainty: float


class Block(NamedTuple):
    """Neighbouring probabilities that recalibration makes one."""

    from_: float
    to: float
    share: float
    frequency: float


class Calibration(NamedTuple):
    """Whether probabilities are right, as far as independent rows can tell."""

    reliability_by_chance: float
    p_value: float
    slope: float


class EventBin(NamedTuple):
    """Rows whose probabilities are in one tenth of 0 to 1."""

    from_: float
    to: float
    rows: int
    events: int
    mean_probability: float
    frequency: float
    low: float
    """The lower end of what chance leaves to probabilities that are right."""
    high: float


class RocPoint(NamedTuple):
    """What comes of a warning wherever the probability is ``at`` or more."""

    at: float
    """NaN where there is no warning at all."""
    false_alarm_rate: float
    hit_rate: float


@dataclass(frozen=True)
class Roc:
    """The ROC curve and the area under it."""

    area: float
    points: list[RocPoint]


class ValuePoint(NamedTuple):
    """The relative economic value to those whose cost of acting is this share of the loss."""

    cost_loss: float
    value: float
    recalibrated: float
    """What it would be if the probabilities were reliable."""


class Warning_(NamedTuple):
    """What comes of a warning wherever the probability is at least ``at``."""

    at: float
    warned: float
    caught: float
    false_alarms: float
    value: float


class EventIntervals(NamedTuple):
    """Confidence intervals of an event's scores."""

    brier: Interval
    brier_skill: Interval
    area: Interval
    block: int


@dataclass(frozen=True)
class EventScores:
    """How good the probabilities of an event are."""

    event: str
    rows: int
    events: int
    base_rate: float
    mean_probability: float
    brier: Brier
    recalibrated: list[Block]
    """The isotonic regression of what happened on what was said."""
    calibration: Calibration
    diagram: list[EventBin]
    roc: Roc
    value: list[ValuePoint]
    warnings: list[Warning_]
    intervals: EventIntervals | None
    few: bool
    """Whether the event happened, or did not, in fewer than ten rows."""


class Beside(NamedTuple):
    """What a form has beside the scores of every forecast."""

    members: EnsembleScores | None
    quantiles: QuantileScores | None
    interval: IntervalScores | None
    events: list[EventScores]


def told_beside(text: str) -> Beside:
    """The classes of what Rust tells as JSON."""
    told = json.loads(text)
    return Beside(
        _members(told["members"]) if told["members"] else None,
        _quantiles(told["quantiles"]) if told["quantiles"] else None,
        _interval_scores(told["interval"]) if told["interval"] else None,
        [_event(one) for one in told["events"]],
    )


def _known(of: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers that JSON has no word for are null there."""
    names = {"from": "from_"}
    return {names.get(name, name): math.nan if v is None else v for name, v in of.items()}


def _members(of: dict[str, Any]) -> EnsembleScores:
    ranks = {**of["ranks"], "frequency": np.array(of["ranks"]["frequency"], float)}
    spread = SpreadSkill(**_known(of["spread_skill"]))
    return EnsembleScores(**{**_known(of), "spread_skill": spread, "ranks": RankHistogram(**ranks)})


def _quantiles(of: dict[str, Any]) -> QuantileScores:
    arrays = {name: np.array(of[name], float) for name in ("levels", "pinball", "shares_below")}
    crossings = of["crossings"]
    levels = crossings["levels"]
    crossings = Crossings(**{**crossings, "levels": tuple(levels) if levels else None})
    return QuantileScores(**{**_known(of), **arrays, "crossings": crossings})


def _interval(of: Mapping[str, Any]) -> Interval:
    return Interval(**_known(of))


def _interval_scores(of: dict[str, Any]) -> IntervalScores:
    ends = {name: _interval(value) for name, value in of.items() if name.endswith("_interval")}
    return IntervalScores(**{**_known(of), **ends})


def _event(of: dict[str, Any]) -> EventScores:
    intervals = of.get("intervals")
    return EventScores(
        **{
            **of,
            "brier": Brier(**_known(of["brier"])),
            "recalibrated": [Block(**_known(one)) for one in of["recalibrated"]],
            "calibration": Calibration(**_known(of["calibration"])),
            "diagram": [EventBin(**_known(one)) for one in of["diagram"]],
            "roc": Roc(
                _known(of["roc"])["area"],
                [RocPoint(**_known(one)) for one in of["roc"]["points"]],
            ),
            "value": [ValuePoint(**_known(one)) for one in of["value"]],
            "warnings": [Warning_(**_known(one)) for one in of["warnings"]],
            "intervals": None if intervals is None else _event_intervals(intervals),
        }
    )


def _event_intervals(of: dict[str, Any]) -> EventIntervals:
    brier, skill, area = (_interval(of[name]) for name in ("brier", "brier_skill", "area"))
    return EventIntervals(brier=brier, brier_skill=skill, area=area, block=of["block"])


def matrix(name: str, values: Any, rows: int) -> Floats:
    """Several numbers for each row, as an array of two dimensions."""
    array = floats(name, values)
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}: give one row of numbers for each row")
    if len(array) != rows:
        raise ValueError(
            f"{name} has {len(array)} rows but observation has {rows}: give one for each"
        )
    if array.shape[1] == 0:
        raise ValueError(f"{name} has no columns: give one at least")
    return array


def quantile_columns(values: Any, levels: Any, rows: int) -> tuple[Floats, list[float]]:
    """Quantiles with their levels, which are the keys where they come as a mapping."""
    if isinstance(values, Mapping):
        if levels is not None:
            raise ValueError("quantile_levels are the keys of quantiles: leave them out")
        if not values:
            raise ValueError("quantiles has no columns: give one at least")
        columns = [column(f"quantile {level}", one, rows) for level, one in values.items()]
        for level, one in zip(values, columns):
            if len(one) != rows:
                raise ValueError(
                    f"quantile {level} has {len(one)} values but observation has {rows}: give one "
                    "value per row"
                )
        try:
            return np.stack(columns, axis=1), [float(level) for level in values]
        except (TypeError, ValueError):
            raise ValueError("the keys of quantiles are their levels: give numbers") from None
    if levels is None:
        raise ValueError(
            "quantiles need their levels: give quantile_levels, or a mapping from level to column"
        )
    found = matrix("quantiles", values, rows)
    return found, [float(level) for level in np.atleast_1d(column("quantile_levels", levels))]
