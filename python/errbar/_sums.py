"""Scores of rows that are never all in one place: sums of parts, merged."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Iterable, Sequence

import numpy as np

from . import _errbar
from ._arrays import column, maybe_column, one_name
from ._cost import AR, Beta
from ._scores import Coverage, PitHistogram, ReliabilityDiagram, _count, _number, _plain


@dataclass(frozen=True, repr=False)
class MergedScores:
    """The scores of :class:`ScoreSums`. They are those of all rows at once, but for ``rs`` (and with it ``ar``), which lies
    within ``rs_bound`` of it, and for frequencies between multiples of 1/18,000."""

    rows: int
    effective_rows: float
    """The number of equally weighted rows that would be as informative."""
    bias: float
    """The mean error, observation minus forecast."""
    mae: float
    rmse: float
    mean_sigma: float
    rms_z: float
    """The root mean square of error over sigma: 1 where sigma has the right size."""
    crps: float
    nlpd: float
    rs: float
    """The Reliability Score: 0 is perfect."""
    rs_bound: float
    """The largest possible distance of ``rs`` from that of all rows at once."""
    ar: AR
    coverage: list[Coverage]
    pit: PitHistogram
    diagram: ReliabilityDiagram

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists and numbers, ready for JSON (but for infinities)."""
        out = _plain(self)
        assert isinstance(out, dict)
        return out

    def __str__(self) -> str:
        names = [one.name for one in dataclasses.fields(self)]
        single = [name for name in names if isinstance(getattr(self, name), (int, float))]
        lines = [f"{name:<15}{getattr(self, name):.6g}" for name in single]
        lines.append(f"{'ar':<15}{self.ar.value:.6g}")
        lines += [f"{f'coverage {100 * one.level:g}%':<15}{one.observed:.6g}" for one in self.coverage]
        return "\n".join(lines)

    __repr__ = __str__


class ScoreSums:
    """Sums of what scores are made of, of some rows: to be counted where the rows are, sent as bytes, and merged.

    Methods
    -------
    add, merge, scores, to_bytes, from_bytes

    Examples
    --------
    >>> from errbar import ScoreSums
    >>> here = ScoreSums().add([12.1, 9.4], [11.5, 10.0], 0.8)
    >>> there = ScoreSums().add([15.0], [14.2], 0.8).to_bytes()
    >>> both = here.merge(ScoreSums.from_bytes(there))
    >>> both.rows, round(both.scores().mae, 3)
    (3, 0.667)
    """

    __slots__ = ("_sums",)

    def __init__(self) -> None:
        self._sums = _errbar.Sums()

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return self._sums.rows

    def add(
        self, observation: Any, forecast: Any, sigma: Any, weight: Any = None, *, sample_weight: Any = None
    ) -> ScoreSums:
        """Counts rows, and returns itself. ``sample_weight`` is another name of ``weight``. Parts must share one scale of weights. How rows are cut into calls of this does
        not change a bit."""
        y = column("observation", observation)
        error = _errbar.errors_of(y, column("forecast", forecast, len(y))) if len(y) else y
        s = column("sigma", sigma, len(y))
        weight = one_name("weight", weight, "sample_weight", sample_weight)
        if len(error):
            self._sums.add(error, s, maybe_column("weight", weight))
        return self

    def merge(self, other: ScoreSums | bytes) -> ScoreSums:
        """Adds what others have counted (as they are, or as bytes), and returns itself."""
        if not isinstance(other, ScoreSums):
            other = ScoreSums.from_bytes(other)
        self._sums.merge(other._sums)
        return self

    @classmethod
    def merged(cls, parts: Iterable[ScoreSums | bytes]) -> ScoreSums:
        """All parts together; the same order gives the same bits."""
        out = cls()
        for part in parts:
            out.merge(part)
        return out

    def scores(
        self,
        *,
        beta: Beta = "heuristic",
        levels: Sequence[float] = (0.5, 0.8, 0.9, 0.95, 0.99),
        confidence: float = 0.95,
        pit_bins: int = 20,
        diagram_levels: int = 20,
    ) -> MergedScores:
        """The scores of everything that was counted; what is given is as in :func:`scores`."""
        told = self._sums.scores(
            {
                "beta": beta,
                "levels": [float(level) for level in np.atleast_1d(column("levels", list(levels)))],
                "pit_bins": _count("pit_bins", pit_bins),
                "diagram_levels": _count("diagram_levels", diagram_levels),
                "confidence": _number("confidence", confidence),
            }
        )
        return MergedScores(
            **{
                **told,
                "ar": AR(*told["ar"]),
                "coverage": [Coverage(**one) for one in told["coverage"]],
                "pit": PitHistogram(**told["pit"]),
                "diagram": ReliabilityDiagram(**told["diagram"]),
            }
        )

    def to_bytes(self) -> bytes:
        """Every bit of it in few bytes: some hundred for a few rows, some hundred thousand for any number of them."""
        return self._sums.to_bytes()

    @classmethod
    def from_bytes(cls, sums: bytes) -> ScoreSums:
        """What :meth:`to_bytes` wrote; bytes of another version that this one cannot read are refused."""
        out = cls()
        out._sums = _errbar.Sums.from_bytes(bytes(sums))
        return out

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return ScoreSums.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"<ScoreSums of {self.rows} rows>"
