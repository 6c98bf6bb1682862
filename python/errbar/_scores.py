"""All scores of some forecasts with error bars, at once."""

from __future__ import annotations

import dataclasses
import html
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _errbar
from ._arrays import Floats, column, maybe_column, one_name
from ._cost import AR, Beta
from ._forms import (
    EnsembleScores,
    EventScores,
    Interval,
    IntervalScores,
    QuantileScores,
    matrix,
    quantile_columns,
    told_beside,
)


class Constant(NamedTuple):
    """The best single sigma for all rows, and its mean CRPS."""

    sigma: float
    crps: float


class Decomposition(NamedTuple):
    """Hersbach's decomposition of the mean CRPS, ``crps = reliability + potential``."""

    crps: float
    reliability: float
    """What is lost to miscalibration."""
    reliability_by_chance: float
    """What a calibrated forecast of as many rows would lose by chance."""
    potential: float
    uncertainty: float
    resolution: float


class Coverage(NamedTuple):
    """How often a central interval holds the observation, and how wide it is."""

    level: float
    observed: float
    mean_width: float
    low: float
    """The lower end of what chance leaves to a calibrated forecast."""
    high: float
    """Its upper end."""


class SpreadSkillBin(NamedTuple):
    """Rows of like sigma: the root mean square of sigma (spread) and of their errors (skill)."""

    rows: int
    sigma_from: float
    sigma_to: float
    spread: float
    skill: float


@dataclass(frozen=True)
class PitHistogram:
    """The share of probability integral transforms in each of equal bins of [0, 1]."""

    frequency: Floats
    low: float
    """The lower end of what chance leaves to each bin of a calibrated forecast."""
    high: float
    """Its upper end."""
    confidence: float


@dataclass(frozen=True)
class ReliabilityDiagram:
    """How often what was said to happen with some probability did happen."""

    nominal: Floats
    observed: Floats
    low: Floats
    """The lower end of what chance leaves to a calibrated forecast."""
    high: Floats
    """Its upper end."""
    confidence: float
    largest_deviation: float
    p_value: float
    """That of the largest deviation, by Kolmogorov."""


@dataclass(frozen=True)
class Verdict:
    """Whether error bars can be trusted, in a word or two and in sentences."""

    word: str
    """reliable, overconfident, underconfident, biased, uneven, not Gaussian, too few rows"""
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Intervals:
    """A confidence interval for each score, by the bootstrap."""

    bias: Interval
    mae: Interval
    rmse: Interval
    mean_sigma: Interval
    mean_z: Interval
    rms_z: Interval
    crps: Interval
    crps_skill: Interval
    nlpd: Interval
    rs: Interval
    ar: Interval
    coverage: list[Interval]
    """One for each of :attr:`Scores.coverage`."""
    confidence: float
    block: int
    """The number of consecutive rows that were drawn together."""
    note: str | None
    """That blocks were drawn and why, where the rows made that necessary."""


@dataclass(frozen=True, repr=False)
class Scores:
    """All scores of some forecasts with error bars; see :func:`scores`."""

    rows: int
    effective_rows: float
    """The number of equally weighted rows that would be as informative."""
    bias: float
    """The mean error, observation minus forecast."""
    mae: float
    rmse: float
    mean_sigma: float
    mean_z: float
    """The mean of error over sigma: 0 without bias."""
    rms_z: float
    """The root mean square of error over sigma: 1 where sigma has the right size."""
    crps: float
    crps_skill: float
    """1 - crps / constant.crps: better than the best single sigma above 0."""
    nlpd: float
    rs: float
    """The Reliability Score: 0 is perfect."""
    rs_by_chance: float
    """What it is on average for calibrated error bars on as many rows."""
    rs_min: float
    """The least that as many rows can have."""
    ar: AR
    constant: Constant
    decomposition: Decomposition
    coverage: list[Coverage]
    pit: PitHistogram
    diagram: ReliabilityDiagram
    spread_skill: list[SpreadSkillBin]
    verdict: Verdict
    intervals: Intervals | None
    """Confidence intervals, where they were asked for."""
    table: str = field(compare=False)
    """Everything as a table of text."""
    members: EnsembleScores | None = None
    """What is said of members alone,"""
    quantiles: QuantileScores | None = None
    """of quantiles alone,"""
    interval: IntervalScores | None = None
    """and of one interval alone, which tells no CRPS."""
    events: list[EventScores] = field(default_factory=list)
    """How good the probabilities of events are."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists and numbers, ready for JSON (but for infinities)."""
        out = _plain(self)
        del out["table"]
        assert isinstance(out, dict)
        return out

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        note = self._note()
        return f"{self.verdict}\n\n{self.table}" + (f"\n{note}\n" if note else "")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{value:.5g}</td>"
            f"<td style='text-align:left'>{html.escape(note)}</td></tr>"
            for name, value, note in self._lines()
            if value == value
        )
        note = html.escape(self._note())
        return f"<p>{html.escape(self.verdict.text)}</p><table>{rows}</table>" + (
            f"<p>{note}</p>" if note else ""
        )

    def _note(self) -> str:
        """That blocks of rows were drawn, as a sentence; empty where single ones were."""
        note = self.intervals.note if self.intervals else None
        return f"{note[0].upper()}{note[1:]}." if note else ""

    def _lines(self) -> list[tuple[str, float, str]]:
        def beside(name: str, note: str) -> tuple[str, float, str]:
            interval = getattr(self.intervals, name, None)
            if interval is not None:
                note = f"{interval.low:.4g} to {interval.high:.4g}" + (f"; {note}" if note else "")
            value = getattr(self, name)
            return name, float(value), note

        lines = [
            beside("rows", ""),
            beside("bias", "mean of observation minus forecast"),
            beside("mae", "mean absolute error"),
            beside("rmse", "root mean squared error"),
            beside("mean_sigma", ""),
            beside("rms_z", "errors over sigma; 1 is right, above 1 sigma is too small"),
            beside("crps", f"{self.constant.crps:.4g} for the best single sigma"),
            beside("crps_skill", "above 0 is better than the best single sigma"),
            beside("nlpd", ""),
            beside("rs", f"0 is perfect, {self.rs_by_chance:.2g} by chance"),
            beside("ar", f"with beta = {self.ar.beta:.4g}"),
        ]
        for one in self.coverage:
            chance = f"{100 * one.low:.1f}% to {100 * one.high:.1f}% by chance"
            lines.append((f"coverage of {100 * one.level:g}%", one.observed, chance))
        return lines


def scores(
    observation: Any,
    forecast: Any = None,
    sigma: Any = None,
    weight: Any = None,
    *,
    members: Any = None,
    quantiles: Any = None,
    quantile_levels: Any = None,
    interval: tuple[Any, Any] | None = None,
    interval_level: float = 0.9,
    events: str | Sequence[str] = (),
    beta: Beta = "heuristic",
    levels: Sequence[float] = (0.5, 0.8, 0.9, 0.95, 0.99),
    intervals: bool = False,
    confidence: float = 0.95,
    replicates: int = 1000,
    block: int | None = None,
    seed: int = 0,
    pit_bins: int = 20,
    diagram_levels: int = 20,
    spread_skill_bins: int = 10,
    sample_weight: Any = None,
    random_state: Any = None,
) -> Scores:
    """All scores of a forecast with error bars, and a verdict in words.

    The forecast is one of: ``forecast`` and ``sigma``, ``members``, ``quantiles``, or ``interval``.

    Parameters
    ----------
    observation, forecast : array_like
        What was observed and what had been forecast, one value for each row. For errors alone,
        give them as the observation and a forecast of 0.
    sigma : array_like
        The standard deviation given to each forecast. For forecast and sigma, one number stands
        for all rows.
    weight : array_like, optional
        The weight of each row; only ratios matter.
    members : array_like, optional
        The members of an ensemble, a row of them for each row; NaN where one is missing.
    quantiles : array_like or mapping, optional
        Quantiles, a row of them for each row, with `quantile_levels`; or a mapping from level to column.
    quantile_levels : array_like, optional
        The level of each column of `quantiles`.
    interval : (array_like, array_like), optional
        Where an interval begins and where it ends,
    interval_level : float
        and the share of observations that it is to hold.
    events : str or sequence of str
        Events whose probabilities are judged too, as ``"> 50"``, ``">= 50"``, ``"< 0"``, ``"<= 0"``.
    beta : "heuristic", "printed" or float
        How much accuracy counts in the cost ``ar``; see :func:`accuracy_reliability`.
    levels : sequence of float
        The levels of the central intervals.
    intervals : bool
        Whether to add confidence intervals by the bootstrap.
    confidence : float
        The probability of those intervals and of all ranges of chance.
    replicates, block, seed : int
        How many resamples, of how many consecutive rows at a time (1 takes them to be
        independent; when left out, as many as errors of neighbouring rows go together, as
        everywhere in errbar), and the seed of their random numbers.
    pit_bins, diagram_levels, spread_skill_bins : int
        How finely ``pit``, ``diagram`` and ``spread_skill`` look; the first two divide 18,000.
    sample_weight, random_state : optional
        Other names of ``weight`` and ``seed``; a ``numpy.random.Generator`` gives a seed, too.

    Returns
    -------
    Scores

    Examples
    --------
    >>> import errbar
    >>> observation = [12.1, 9.4, 15.0, 11.2, 13.3]
    >>> forecast = [11.5, 10.0, 14.2, 11.9, 12.8]
    >>> scores = errbar.scores(observation, forecast, 0.8)
    >>> scores.crps < scores.mae
    True
    >>> scores.verdict.word
    'too few rows'
    """
    y = column("observation", observation)
    weights = maybe_column("weight", one_name("weight", weight, "sample_weight", sample_weight))
    if random_state is not None:
        seed = one_name("seed", seed or None, "random_state", _seed_of(random_state))
    asked = [events] if isinstance(events, str) else [str(event) for event in events]
    wanted = {
        "beta": beta,
        "levels": [float(level) for level in np.atleast_1d(column("levels", list(levels)))],
        "intervals": bool(intervals),
        "confidence": _number("confidence", confidence),
        "replicates": _count("replicates", replicates),
        "block": None if block is None else _count("block", block),
        "seed": _count("seed", seed),
        "pit_bins": _count("pit_bins", pit_bins),
        "diagram_levels": _count("diagram_levels", diagram_levels),
        "spread_skill_bins": _count("spread_skill_bins", spread_skill_bins),
    }
    given = {
        "sigma": forecast is not None or sigma is not None,
        "members": members is not None,
        "quantiles": quantiles is not None,
        "interval": interval is not None,
    }
    forms = [name for name, here in given.items() if here]
    if len(forms) != 1:
        what = " and ".join(forms) or "none"
        raise ValueError(
            f"one forecast is judged, and {what} were given: give forecast and sigma, members, "
            "quantiles or interval"
        )
    [form] = forms
    of_levels: list[float] = []
    if form == "sigma":
        if forecast is None or sigma is None:
            raise ValueError("forecast and sigma go together: give both")
        mu = column("forecast", forecast, len(y))
        error = _errbar.errors_of(y, mu)
        s = column("sigma", sigma, len(y))
        if not asked:
            return scores_of(_errbar.scores(error, s, weights, wanted))
        if len(s) != len(y):
            raise ValueError(
                f"sigma has {len(s)} values but observation has {len(y)}: give one value per row"
            )
        values = np.stack([mu, s], axis=1)
    elif form == "members":
        values = matrix("members", members, len(y))
    elif form == "quantiles":
        values, of_levels = quantile_columns(quantiles, quantile_levels, len(y))
    else:
        values, of_levels = _ends(interval, len(y)), [_number("interval_level", interval_level)]
    told, beside = _errbar.scores_of_form(
        y,
        values.ravel(),
        weights,
        {"form": form, "columns": values.shape[1], "levels": of_levels, "events": asked},
        wanted,
    )
    return dataclasses.replace(scores_of(told), **told_beside(beside)._asdict())


def _ends(interval: Any, rows: int) -> Floats:
    """Both ends of an interval, row by row."""
    try:
        low, high = interval
    except (TypeError, ValueError):
        raise ValueError("interval: give where it begins and where it ends, two columns") from None
    ends = [column("interval", end, rows) for end in (low, high)]
    for end in ends:
        if len(end) != rows:
            raise ValueError(
                f"interval has {len(end)} values but observation has {rows}: give one value per row"
            )
    return np.stack(ends, axis=1)


def scores_of(told: dict[str, Any]) -> Scores:
    """The class of what Rust tells as dictionaries."""
    found = told.get("intervals")
    return Scores(
        **{
            **told,
            "ar": AR(*told["ar"]),
            "constant": Constant(**told["constant"]),
            "decomposition": Decomposition(**told["decomposition"]),
            "coverage": [Coverage(**one) for one in told["coverage"]],
            "pit": PitHistogram(**told["pit"]),
            "diagram": ReliabilityDiagram(**told["diagram"]),
            "spread_skill": [SpreadSkillBin(**one) for one in told["spread_skill"]],
            "verdict": Verdict(*told["verdict"]),
            "intervals": None if found is None else _intervals_of(found),
        }
    )


def _intervals_of(found: dict[str, Any]) -> Intervals:
    kept = ("coverage", "confidence", "block", "note")
    ends = {name: Interval(*value) for name, value in found.items() if name not in kept}
    return Intervals(
        **ends,
        coverage=[Interval(*one) for one in found["coverage"]],
        confidence=found["confidence"],
        block=found["block"],
        note=found["note"],
    )


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        names = [one.name for one in dataclasses.fields(value)]
        return {name: _plain(getattr(value, name)) for name in names}
    as_dict = getattr(value, "_asdict", None)
    if isinstance(value, tuple) and as_dict is not None:
        return {name: _plain(one) for name, one in as_dict().items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _count(name: str, value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < 2**63:
        return int(value)
    raise ValueError(f"{name} is {value!r}: give a whole number of 0 or more")


def _seed_of(random_state: Any) -> Any:
    """The seed that a generator of random numbers gives; a number is one."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return _count("random_state", random_state)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}: give a number") from None
