"""A forecaster of scikit-learn's kind with error bars."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from . import _errbar
from ._arrays import Floats
from ._normal import Normal
from ._sigma_regressor import SigmaRegressor, seed_of, target, weights


class ErrorBarRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Puts error bars on any regressor of scikit-learn's kind.

    The rows are forecast in folds, each by a regressor that has not seen them. Sigma is learned from
    the errors of those forecasts, and the regressor itself is fitted to all rows. (Errors on the
    rows a regressor was fitted to are too small to learn from.)

    Parameters
    ----------
    estimator : regressor, default=LinearRegression()
        The forecaster.
    sigma : regressor, default=SigmaRegressor()
        What learns sigma from inputs and errors; or a pipeline that ends in such.
    cv : int, splitter or iterable, default=5
        The folds. A number stands for so many random ones. For rows in the order of time give
        ``TimeSeriesSplit()``: rows that no fold holds out are then not learned from. Of a row held
        out more than once, the first forecast counts.
    n_jobs : int or None, default=None
        Folds that are fitted at the same time, as everywhere in scikit-learn.
    random_state : int, RandomState or None, default=None
        The seed of random folds. None is 0.

    Attributes
    ----------
    estimator_ : regressor
        The forecaster, fitted to all rows.
    sigma_ : regressor
        The fitted model of sigma.
    error_ : ndarray
        The out-of-fold error of each row, observation minus forecast; NaN where no fold held it out.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from errbar import ErrorBarRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ErrorBarRegressor(RidgeCV()).fit(X[:400], y[:400])
    >>> forecast, sigma = model.predict(X[400:], return_std=True)
    >>> low, high = model.predict_interval(X[400:], level=0.9).T
    >>> bool((low < forecast).all() and (forecast < high).all())
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        sigma: Any = None,
        *,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.sigma = sigma
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ErrorBarRegressor:
        """Fits the forecaster and sigma. ``sample_weight`` goes to both, where they take it."""
        if y is None:
            raise ValueError("ErrorBarRegressor requires y to be passed, but the target y is None")
        X = self._kept(X, reset=True)
        observation, weight = target("y", y), weights(sample_weight)
        for name, values in (("y", observation), ("sample_weight", weight)):
            if values is not None and len(values) != X.shape[0]:
                raise ValueError(
                    f"{name} has {len(values)} values but X has {X.shape[0]} rows: "
                    "give one value per row"
                )
        refuse_not_finite("y", observation)
        forecaster = LinearRegression() if self.estimator is None else self.estimator
        self.error_ = self._out_of_fold(forecaster, X, observation, weight)
        judged = np.flatnonzero(~np.isnan(self.error_))
        sigma = SigmaRegressor() if self.sigma is None else self.sigma
        self.sigma_ = _fit(
            clone(sigma),
            _safe_indexing(X, judged),
            self.error_[judged],
            None if weight is None else weight[judged],
        )
        self.estimator_ = _fit(clone(forecaster), X, observation, weight)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The forecast of each row; with ``return_std`` also its sigma, as Gaussian processes do."""
        check_is_fitted(self)
        X = self._kept(X, reset=False)
        forecast = np.asarray(self.estimator_.predict(X), dtype=np.float64) + _bias(self.sigma_, X)
        return (forecast, self.sigma_.predict(X)) if return_std else forecast

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """The ends of each row's central interval of this level, in two columns."""
        return self.predict_distribution(X).interval(level)

    def predict_distribution(self, X: Any) -> Normal:
        """A normal distribution for each row: ``cdf``, ``sf``, ``ppf``, ``pdf``, ``rvs``, ``crps``."""
        return Normal(*self.predict(X, return_std=True))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean CRPS of the observations ``y``: greater is better.

        Of a forecast without error bars the CRPS is the absolute error, so this compares with
        scikit-learn's "neg_mean_absolute_error".
        """
        forecast, sigma = self.predict(X, return_std=True)
        error = _errbar.errors_of(target("y", y), forecast)
        return -_errbar.accuracy_reliability(error, sigma, 1.0, weights(sample_weight))[2]

    def _kept(self, X: Any, *, reset: bool) -> Any:
        """The inputs: a table with names stays one, since the forecaster may want it so, and what
        it makes of words and gaps is its own affair."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)

    def _out_of_fold(
        self, forecaster: Any, X: Any, observation: Floats, weight: Floats | None
    ) -> Floats:
        """The error of each row, forecast by a regressor that has not seen it."""
        if isinstance(self.cv, (int, np.integer)):
            seed = seed_of(self.random_state) % 2**32
            folds = KFold(int(self.cv), shuffle=True, random_state=seed)
        else:
            folds = check_cv(self.cv, observation)

        def one(train: Any, test: Any) -> Any:
            known = None if weight is None else weight[train]
            fitted = _fit(clone(forecaster), _safe_indexing(X, train), observation[train], known)
            return test, np.asarray(fitted.predict(_safe_indexing(X, test)), dtype=np.float64)

        forecasts = Parallel(n_jobs=self.n_jobs)(
            delayed(one)(train, test) for train, test in folds.split(X, observation)
        )
        error = np.full(len(observation), np.nan)
        for test, forecast in reversed(forecasts):  # the first forecast of a row stays
            if forecast.shape != (len(test),):
                raise ValueError(
                    f"the estimator forecast an array of shape {forecast.shape} for {len(test)} "
                    "rows: give one that forecasts one number per row"
                )
            error[test] = observation[test] - forecast
        refuse_not_finite("an out-of-fold error", error, missing=True)
        return error

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The score is in the units of y and below 0.
        tags.regressor_tags.poor_score = True
        return tags


def refuse_not_finite(name: str, values: Floats, missing: bool = False) -> None:
    """A sentence with the first row that is infinite, or (unless it may be missing) NaN."""
    wrong = np.isinf(values) if missing else ~np.isfinite(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{name} at row {row} is {values[row]}: every value must be finite; leave the row out"
        )


def _bias(sigma: Any, X: Any) -> Any:
    """What the model of sigma would add to the forecast, if it learned that."""
    if isinstance(sigma, Pipeline):
        return _bias(sigma[-1], sigma[:-1].transform(X)) if len(sigma) > 1 else _bias(sigma[-1], X)
    return sigma.bias(X) if getattr(sigma, "debias", False) else 0.0


def _fit(model: Any, X: Any, y: Floats, weight: Floats | None) -> Any:
    """Fits a model, with weights where there are some."""
    if weight is None:
        return model.fit(X, y)
    if isinstance(model, Pipeline):
        return model.fit(X, y, **{f"{model.steps[-1][0]}__sample_weight": weight})
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"{type(model).__name__} takes no sample_weight: leave the weights out, or choose "
            "another model"
        )
    return model.fit(X, y, sample_weight=weight)
