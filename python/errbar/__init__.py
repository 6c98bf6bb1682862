"""Error bars you can trust, on any forecast.

A forecaster says one number; later the observation comes in. errbar is about sigma, the size of the
error as a function of the inputs: how to judge it (:func:`scores`, :func:`report`) and how to learn
it (:class:`SigmaRegressor`, :class:`ErrorBarRegressor`), by the Accuracy-Reliability cost of
Camporeale (2018), https://arxiv.org/abs/1803.04475.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._cost import (
    AR,
    accuracy_reliability,
    accuracy_reliability_gradient,
    accuracy_reliability_value_and_gradient,
    coverage,
    reliability_score,
    reliability_score_min,
)
from ._ensemble import EnsembleInputs, ensemble_inputs
from ._errbar import __version__
from ._law import Law
from ._normal import Normal
from ._report import Report, report
from ._rows import crps, crps_ensemble, crps_gradient, erf, erfinv, nlpd, pit
from ._scores import Scores, scores
from ._series import Backtest, Kept, Update, backtest
from ._sums import MergedScores, ScoreSums

if TYPE_CHECKING:
    from .sklearn import ErrorBarRegressor, SigmaRegressor

__all__ = [
    "AR",
    "Backtest",
    "EnsembleInputs",
    "Kept",
    "Law",
    "MergedScores",
    "Normal",
    "Report",
    "ScoreSums",
    "Scores",
    "Update",
    "__version__",
    "accuracy_reliability",
    "accuracy_reliability_gradient",
    "accuracy_reliability_value_and_gradient",
    "backtest",
    "coverage",
    "crps",
    "crps_ensemble",
    "crps_gradient",
    "ensemble_inputs",
    "erf",
    "erfinv",
    "nlpd",
    "pit",
    "reliability_score",
    "reliability_score_min",
    "report",
    "scores",
]

# Only these need scikit-learn, so it is imported when one of them is asked for.
_ESTIMATORS = ("ErrorBarRegressor", "SigmaRegressor")


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        from . import sklearn

        return getattr(sklearn, name)
    raise AttributeError(f"module 'errbar' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ESTIMATORS])
