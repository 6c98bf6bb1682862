"""A forecaster of scikit-learn's kind with error bars."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from ._arrays import Floats, floats, levels_of, refuse_sparse
from ._categories import chosen
from ._given import refuse_what_is_no_number, seed_of, target, usual_names, weights
from ._importances import without
from ._law import Law
from ._normal import Normal
from ._routing import given_to, of_rows, routed, router, that_asks
from ._shown import Shown, of_forecaster
from ._sigma_regressor import SigmaRegressor

# What stands for a part that is not given.
USUAL = {"estimator": LinearRegression, "sigma": SigmaRegressor}

# With fewer groups they are taken for categories, as SigmaRegressor takes them.
LEAST_GROUPS = 10


class ErrorBarRegressor(MetaEstimatorMixin, RegressorMixin, Shown):
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
        out more than once, the first forecast counts. With ten groups or more a number holds out
        whole groups.
    law : str or None, default=None
        The law of the errors, by the names of :class:`SigmaRegressor`; None leaves it to ``sigma``.
    forecast_as_input : bool, default=True
        Whether the forecast is an input of sigma, beside the columns of X: what is forecast large
        is often off by much.
    n_jobs : int or None, default=None
        Folds that are fitted at the same time, as everywhere in scikit-learn.
    random_state : int, RandomState or None, default=None
        The seed of random folds (None is 0), and of the forecaster and of sigma where they have none
        of their own.

    Attributes
    ----------
    estimator_ : regressor
        The forecaster, fitted to all rows.
    sigma_ : regressor
        The fitted model of sigma.
    forecast_ : ndarray
        The out-of-fold forecast of each row; NaN where no fold held it out.
    feature_importances_ : ndarray
        What each column of X is worth to sigma.
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

    # Where metadata are routed: they are passed on to the parts, each of which says what it wants.
    __metadata_request__fit = {"sample_weight": True, "group": True, "groups": True}

    def __init__(
        self,
        estimator: Any = None,
        sigma: Any = None,
        *,
        cv: Any = 5,
        law: str | None = None,
        forecast_as_input: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.sigma = sigma
        self.cv = cv
        self.law = law
        self.forecast_as_input = forecast_as_input
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with ``deep`` those of forecaster and sigma too, the usual ones where
        they are not given."""
        params: dict[str, Any] = super().get_params(deep)
        for name, usual in USUAL.items():
            if deep and params[name] is None:
                nested = usual().get_params()
                params.update({f"{name}__{key}": value for key, value in nested.items()})
        return params

    def set_params(self, **params: Any) -> ErrorBarRegressor:
        """Sets parameters. Those of a forecaster or a sigma that is not given make it the usual one
        with these parameters."""
        for name, usual in USUAL.items():
            nested = any(key.startswith(f"{name}__") for key in params)
            if nested and params.get(name, getattr(self, name)) is None:
                params[name] = that_asks(usual())
        super().set_params(**params)
        return self

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        group: Any = None,
        groups: Any = None,
        **params: Any,
    ) -> ErrorBarRegressor:
        """Fits the forecaster and sigma. ``sample_weight`` goes to both, where they take it.

        ``group`` is the group of each row (a station, a patient, a storm), for folds such as
        ``GroupKFold()`` and for sigma: see :meth:`SigmaRegressor.fit`. ``groups`` is another name.

        Where scikit-learn routes metadata (``sklearn.set_config(enable_metadata_routing=True)``), forecaster and
        sigma get what they ask for by their ``set_fit_request``, also of ``params``; those that are not given here
        ask for ``sample_weight`` and ``group``.
        """
        if params and not routed():
            raise TypeError(f"ErrorBarRegressor.fit() got an unexpected keyword argument '{next(iter(params))}'")
        if y is None:
            raise ValueError("ErrorBarRegressor requires y to be passed, but the target y is None")
        X = self._kept(X, reset=True)
        observation, weight = target("y", y), weights(sample_weight)
        own = _labels(group, groups)
        for name, values in (("y", observation), ("sample_weight", weight), ("group", own)):
            if values is not None and len(values) != X.shape[0]:
                raise ValueError(
                    f"{name} has {len(values)} values but X has {X.shape[0]} rows: "
                    "give one value per row"
                )
        refuse_not_finite("y", observation)
        seed = None if self.random_state is None else seed_of(self.random_state) % 2**32
        forecaster, sigma = self._parts()
        forecaster, sigma = _seeded(forecaster, seed), _seeded(sigma, seed)
        if routed():
            named = params if weight is None else {**params, "sample_weight": weight}
            given = given_to(self, named, own)
        else:
            given = _given_unrouted(forecaster, sigma, weight, own)
        last = _last_step(sigma)
        if self.law is not None:
            if "law" not in last.get_params():
                raise ValueError(f"{type(last).__name__} takes no law: leave it out")
            last.set_params(law=self.law)
        if isinstance(last, SigmaRegressor) and last.scale != "none":
            raise ValueError(
                "sigma is to be learned on another scale than the forecaster's: put "
                "TransformedTargetRegressor around this, or leave scale out"
            )
        if isinstance(sigma, SigmaRegressor):  # before the forecaster says it in another way
            mask = np.asarray(sigma.categorical_features)
            if mask.dtype.kind == "b" and mask.ndim == 1 and len(mask) == X.shape[1]:
                # The forecast may be one more input.
                sigma.set_params(categorical_features=np.flatnonzero(mask).tolist())
            refuse_what_is_no_number(X, chosen(X, sigma.categorical_features))
        if isinstance(last, SigmaRegressor) and (last.lower is not None or last.upper is not None):
            given["sigma"][f"{_prefix(sigma)}observation"] = observation
            that_asks(last, ("observation",))
        labels = given["splitter"].get("groups", own)
        self.forecast_ = self._out_of_fold(
            forecaster, X, observation, given["estimator"], None if labels is None else np.asarray(labels), seed or 0
        )
        self.error_ = observation - self.forecast_
        refuse_not_finite("an out-of-fold error", self.error_, missing=True)
        judged = np.flatnonzero(~np.isnan(self.error_))
        known = _safe_indexing(X, judged)
        self._added = self._new_input(X) if self.forecast_as_input else None
        known = self._with_forecast(known, self.forecast_[judged])
        of_judged = of_rows(given["sigma"], judged, len(observation))
        self.sigma_ = clone(sigma).fit(known, self.error_[judged], **of_judged)
        self.estimator_ = clone(forecaster).fit(X, observation, **given["estimator"])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The forecast of each row; with ``return_std`` also its sigma, as Gaussian processes do."""
        forecast, known = self._forecast(X)
        return (forecast, self.sigma_.predict(known)) if return_std else forecast

    def predict_interval(
        self, X: Any, level: Any = 0.9, *, group: Any = None, groups: Any = None
    ) -> Floats:
        """The ends of each row's interval of this level, in two columns; of several levels an array of
        shape (rows, levels, 2).

        With ``sigma=SigmaRegressor(guarantee=...)`` these are its intervals with a guarantee: the
        forecast, and around it what :meth:`SigmaRegressor.guaranteed` says, of whatever shape the
        errors are. They come from out-of-fold errors, so what is promised is promised of forecasters
        fitted to a part of the rows; the one fitted to all rows is as good in practice. ``group`` (or
        ``groups``) is then the group of each row, where it was fitted with groups. Otherwise the
        intervals are the central ones of :meth:`predict_distribution`.
        """
        _, one = levels_of(level)
        forecast, known = self._forecast(X)
        labels = _labels(group, groups)
        last, inputs = _last(self.sigma_, known)
        if getattr(last, "guarantee", None) is not None:
            around = forecast[:, np.newaxis] if one else forecast[:, np.newaxis, np.newaxis]
            ends = around + last.guaranteed(inputs, level, labels)
            return floats("ends", np.clip(ends, last.lower, last.upper))
        return np.stack(_law(self.sigma_, known, forecast).interval(level), axis=-1)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
        """The values that the observation of each row stays below with these probabilities, a column
        for each: those of :meth:`predict_distribution`."""
        levels = np.atleast_1d(floats("quantiles", quantiles)).ravel()
        for level in levels.tolist():
            if not 0 < level < 1:
                raise ValueError(
                    f"the probability of a quantile is {level:g}: it must lie strictly between 0 and 1"
                )
        law = self.predict_distribution(X)
        return np.stack([law.ppf(level) for level in levels.tolist()], axis=-1)

    def predict_distribution(self, X: Any) -> Law:
        """A distribution for each row: ``cdf``, ``sf``, ``ppf``, ``pdf``, ``rvs``, ``crps``. Its law is
        the one that :class:`SigmaRegressor` chose, or a Gaussian with any other model of sigma."""
        forecast, known = self._forecast(X)
        return _law(self.sigma_, known, forecast)

    def outside(self, X: Any) -> Any:
        """Whether each row lies outside of what sigma was fitted to: there it deserves less trust."""
        _, known = self._forecast(X)
        last, inputs = _last(self.sigma_, known)
        if not hasattr(last, "outside"):
            raise ValueError(f"{type(last).__name__} does not say which rows are outside")
        return last.outside(inputs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes sigma as the model file that ``errbar predict`` and :meth:`load` read, whole or not
        at all. The forecaster is not in it: keep that in its own way, or all together by ``pickle``
        or ``joblib``.

        Where the forecast is an input, its column is named "forecast", or as the next one where
        columns have no names: x2 after x0 and x1.
        """
        check_is_fitted(self)
        if not isinstance(self.sigma_, SigmaRegressor):
            raise ValueError(
                f"a model file holds no {type(self.sigma_).__name__}: keep it by pickle or joblib"
            )
        name = "forecast" if self._added is None else self._added[0]
        self.sigma_.fitted_.with_forecast(name).save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], estimator: Any) -> ErrorBarRegressor:
        """Puts the error bars in a file that :meth:`save` or ``errbar fit`` wrote on a forecaster that
        is fitted already."""
        sigma = SigmaRegressor.load(path)
        return cls.of(estimator, sigma, sigma.fitted_.forecast)

    @classmethod
    def of(cls, estimator: Any, sigma: SigmaRegressor, forecast: str | None = None) -> ErrorBarRegressor:
        """Puts a fitted model of sigma on a forecaster that is fitted already; ``forecast`` is the name of the input of sigma
        that the forecast is, if it is one."""
        check_is_fitted(estimator)
        check_is_fitted(sigma)
        names = list(sigma.fitted_.names)
        made = cls(estimator, sigma, forecast_as_input=forecast in names)
        made._added = None
        if forecast is not None and forecast in names:
            made._added = (forecast, names.index(forecast))
            names.remove(forecast)
        if hasattr(sigma, "feature_names_in_"):
            made.feature_names_in_ = np.array(names, dtype=object)
        made.n_features_in_ = len(names)
        made.estimator_, made.sigma_ = estimator, sigma
        return made

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean CRPS of the observations ``y``: greater is better.

        Of a forecast without error bars the CRPS is the absolute error, so this compares with
        scikit-learn's "neg_mean_absolute_error".
        """
        crps = self.predict_distribution(X).crps(target("y", y))
        return -float(np.average(crps, weights=weights(sample_weight)))

    @property
    def feature_importances_(self) -> Floats:
        """What each column of X is worth to sigma, beside the forecast where that is an input:
        :attr:`SigmaRegressor.feature_importances_`, or that of any other model of sigma. Not what it is worth to the
        forecaster. An AttributeError where sigma says nothing about the columns of X, as a pipeline does."""
        check_is_fitted(self)
        if not hasattr(self.sigma_, "feature_importances_"):
            why = "no rows were held out, or its inputs are not the columns of X"
            raise AttributeError(f"{type(self.sigma_).__name__} does not say what columns of X are worth: {why}")
        return without(self.sigma_.feature_importances_, self._added, self.n_features_in_)

    def _kept(self, X: Any, *, reset: bool) -> Any:
        """The inputs: a table with names stays one, since the forecaster may want it so, and what
        it makes of words and gaps is its own affair."""
        refuse_sparse("X", X)
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)

    def _parts(self) -> tuple[Any, Any]:
        """Forecaster and sigma, the usual ones where they are not given."""
        forecaster, sigma = (
            that_asks(usual()) if getattr(self, name) is None else getattr(self, name)
            for name, usual in USUAL.items()
        )
        return forecaster, sigma

    def get_metadata_routing(self) -> Any:
        """Who asks for what, where scikit-learn routes metadata: its user guide explains that."""
        return router(self, *self._parts())

    def _forecast(self, X: Any) -> tuple[Floats, Any]:
        """The forecast of each row, moved by the bias where that was learned; and what sigma is a
        function of."""
        check_is_fitted(self)
        X = self._kept(X, reset=False)
        forecast = np.asarray(self.estimator_.predict(X), dtype=np.float64)
        known = self._with_forecast(X, forecast)
        return forecast + _bias(self.sigma_, known), known

    def _new_input(self, X: Any) -> tuple[str, int]:
        """The name of the forecast among the inputs of sigma, and its place there."""
        if not hasattr(self, "feature_names_in_"):
            return usual_names(X.shape[1] + 1)[-1], X.shape[1]
        names, name = self.feature_names_in_, "forecast"
        while name in names:
            name += "_"
        return name, X.shape[1]

    def _with_forecast(self, X: Any, forecast: Floats) -> Any:
        """What sigma is a function of: the inputs, and the forecast if it is one; a table stays one."""
        if self._added is None:
            return X
        name, place = self._added
        # A table whose columns have numbers for names has no names, to scikit-learn.
        if isinstance(X, np.ndarray) or not hasattr(self, "feature_names_in_"):
            return np.insert(np.asarray(X), place, forecast, axis=1)
        package = type(X).__module__.partition(".")[0]
        if package == "pandas":
            X = X.copy(deep=False)
            X.insert(place, name, forecast)
            return X
        if package == "polars":
            return X.clone().insert_column(place, type(X)({name: forecast}).to_series())
        if package == "pyarrow":
            return X.add_column(place, name, [forecast])
        raise ValueError(
            f"the forecast cannot be made a column of a {type(X).__name__}: give a table of pandas, "
            "Polars or PyArrow, or say forecast_as_input=False"
        )

    def _out_of_fold(
        self,
        forecaster: Any,
        X: Any,
        observation: Floats,
        given: dict[str, Any],
        group: Any,
        seed: int,
    ) -> Floats:
        """The forecast of each row, by a regressor that has not seen it."""
        if isinstance(self.cv, (int, np.integer)):
            many = group is not None and len(np.unique(group)) >= max(LEAST_GROUPS, int(self.cv))
            random, group = (GroupKFold, group) if many else (KFold, None)
            folds = random(int(self.cv), shuffle=True, random_state=seed)
        else:
            folds = check_cv(self.cv, observation)

        def one(train: Any, test: Any) -> Any:
            known = of_rows(given, train, len(observation))
            fitted = clone(forecaster).fit(_safe_indexing(X, train), observation[train], **known)
            return test, np.asarray(fitted.predict(_safe_indexing(X, test)), dtype=np.float64)

        forecasts = Parallel(n_jobs=self.n_jobs)(
            delayed(one)(train, test) for train, test in folds.split(X, observation, group)
        )
        out = np.full(len(observation), np.nan)
        for test, forecast in reversed(forecasts):  # the first forecast of a row stays
            if forecast.shape != (len(test),):
                raise ValueError(
                    f"the estimator forecast an array of shape {forecast.shape} for {len(test)} "
                    "rows: give one that forecasts one number per row"
                )
            out[test] = forecast
        return out

    def _verdict(self) -> list[str]:
        return of_forecaster(self.estimator_, self.sigma_) if self.__sklearn_is_fitted__() else []

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The score is in the units of y and below 0.
        tags.regressor_tags.poor_score = True
        tags.input_tags.allow_nan = all(get_tags(one).input_tags.allow_nan for one in self._parts())
        return tags


def refuse_not_finite(name: str, values: Floats, missing: bool = False) -> None:
    """A sentence with the first row that is infinite, or (unless it may be missing) NaN."""
    wrong = np.isinf(values) if missing else ~np.isfinite(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{name} at row {row} is {values[row]}: every value must be finite; leave the row out"
        )


def _labels(group: Any, groups: Any) -> Any:
    """The group of each row, by whichever name it came."""
    if group is not None and groups is not None:
        raise ValueError("group and groups are two names of the same: give one of them")
    return groups if group is None else group


def _seeded(model: Any, seed: int | None) -> Any:
    """A copy with this seed wherever it has none of its own."""
    model = clone(model)
    for key, value in ({} if seed is None else model.get_params()).items():
        if f"__{key}".endswith("__random_state") and value is None:
            model.set_params(**{key: seed})
    return model


def _last(sigma: Any, X: Any) -> tuple[Any, Any]:
    """What learned sigma, and its inputs: the last step of a pipeline, and what comes to it."""
    if not isinstance(sigma, Pipeline):
        return sigma, X
    return _last(sigma[-1], sigma[:-1].transform(X) if len(sigma) > 1 else X)


def _law(sigma: Any, X: Any, forecast: Floats) -> Law:
    """The distributions around forecasts that have been moved by their bias already."""
    last, inputs = _last(sigma, X)
    if isinstance(last, SigmaRegressor):
        return last._law(inputs, forecast, last.predict(inputs))
    return Normal(forecast, sigma.predict(X))


def _bias(sigma: Any, X: Any) -> Any:
    """What the model of sigma would add to the forecast, if it learned that."""
    last, inputs = _last(sigma, X)
    return last.bias(inputs) if getattr(last, "debias", False) else 0.0


def _last_step(model: Any) -> Any:
    """What a pipeline ends in, or the model itself."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def _prefix(model: Any) -> str:
    """What parameters of ``fit`` of the last step of a pipeline begin with, where they are not routed."""
    prefix = ""
    while isinstance(model, Pipeline) and not routed():
        name, model = model.steps[-1]
        prefix += f"{name}__"
    return prefix


def _given_unrouted(forecaster: Any, sigma: Any, weight: Floats | None, group: Any) -> dict[str, dict[str, Any]]:
    """Weights for both parts, and groups for a sigma that takes them."""
    given: dict[str, dict[str, Any]] = {"estimator": {}, "sigma": {}, "splitter": {}}
    for part, model in (("estimator", forecaster), ("sigma", sigma)):
        last = _last_step(model)
        if weight is not None:
            if not has_fit_parameter(last, "sample_weight"):
                raise ValueError(
                    f"{type(last).__name__} takes no sample_weight: leave the weights out, or choose "
                    "another model"
                )
            given[part][f"{_prefix(model)}sample_weight"] = weight
    if group is not None and has_fit_parameter(_last_step(sigma), "group"):
        given["sigma"][f"{_prefix(sigma)}group"] = group
    return given
