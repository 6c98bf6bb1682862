"""Estimators of scikit-learn's kind. ``errbar.SigmaRegressor`` and ``errbar.ErrorBarRegressor`` are
these; they alone need scikit-learn. Scores for ``scoring=`` are here too."""

from __future__ import annotations

try:
    import sklearn.utils.validation as _validation

    _validation.validate_data  # since 1.6
except (ImportError, AttributeError) as missing:
    raise ImportError(
        "errbar's estimators need scikit-learn 1.6 or newer: pip install 'errbar[sklearn]'"
    ) from missing

from ._error_bar_regressor import ErrorBarRegressor
from ._scorers import Scorer, coverage_scorer, crps_scorer, interval_scorer, pinball_scorer
from ._sigma_regressor import Candidate, Importance, SigmaRegressor, Validation

__all__ = [
    "Candidate",
    "ErrorBarRegressor",
    "Importance",
    "Scorer",
    "SigmaRegressor",
    "Validation",
    "coverage_scorer",
    "crps_scorer",
    "interval_scorer",
    "pinball_scorer",
]
