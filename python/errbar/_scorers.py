"""What ``scoring=`` of scikit-learn can be: scores of whole distributions, quantiles and intervals."""

from __future__ import annotations

import copy
from typing import Any, Callable, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from ._arrays import Floats, floats, levels_of
from ._given import target, weights
from ._routing import routed
from ._sigma_regressor import SigmaRegressor

# What a scorer may be given beside X and y, of each row.
_KNOWN = ("sample_weight", "forecast", "observation", "time", "group", "prior_sigma")


class _Judged(NamedTuple):
    """A fitted model, and how it is asked about some rows."""

    model: Any
    X: Any
    y: Floats
    """The observation of each row; of errors alone the error, around a forecast of 0."""
    more: dict[str, Any]

    def ask(self, name: str, **how: Any) -> Any:
        method = getattr(self.model, name, None)
        if method is None:
            raise ValueError(
                f"{type(self.model).__name__} has no {name}: such scores are for ErrorBarRegressor and SigmaRegressor"
            )
        # Distributions know of no groups.
        more = {key: value for key, value in self.more.items() if name != "predict_distribution" or key != "group"}
        return method(self.X, **more, **how)


class Scorer:
    """A score of scikit-learn's kind, ``scorer(estimator, X, y)``: greater is better.

    The estimator is an :class:`ErrorBarRegressor` and ``y`` are observations, or a :class:`SigmaRegressor` and ``y``
    are its errors (observations with ``fit_mean=True``); or a pipeline, or a search, of such.
    ``observation`` beside errors is for laws with bounds. Where scikit-learn routes metadata, :meth:`set_score_request`
    says which of ``sample_weight``, ``forecast``, ``observation``, ``time``, ``group`` and ``prior_sigma`` it gets.
    """

    def __init__(self, name: str, losses: Callable[[_Judged, float], Any], level: Any = 0.5) -> None:
        [self._level, *_], one = levels_of(level)
        if not one:
            raise ValueError(f"level is {level!r}: give one number strictly between 0 and 1, and make a scorer of each")
        self._losses = losses
        self._name = name if losses is _crps else f"{name}({self._level:g})"
        self._requests: dict[str, Any] = {"sample_weight": None}

    def __repr__(self) -> str:
        return self._name

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, **given: Any) -> float:
        """The score of a fitted estimator on these rows."""
        for name in given:
            if name not in _KNOWN:
                raise TypeError(f"{self._name} takes no {name}: it takes {', '.join(_KNOWN)}")
        weight = weights(sample_weight)
        judged = _judged(estimator, X, y, {name: one for name, one in given.items() if one is not None})
        losses = self._losses(judged, self._level)
        if weight is not None and len(weight) != len(losses):
            raise ValueError(f"sample_weight has {len(weight)} values but X has {len(losses)} rows: give one value per row")
        mean = float(np.average(losses, weights=weight))
        return -abs(mean - self._level) if self._losses is _inside else -mean

    def set_score_request(self, **requests: Any) -> Scorer:
        """A copy of this scorer that asks for these metadata, by ``name=True`` or ``name="another name"``."""
        if not routed():
            raise RuntimeError(
                "scikit-learn routes no metadata here: call sklearn.set_config(enable_metadata_routing=True) before"
            )
        for name in requests:
            if name not in _KNOWN:
                raise TypeError(f"{self._name} takes no {name}: it takes {', '.join(_KNOWN)}")
        made = copy.copy(self)
        made._requests = {**self._requests, **requests}
        return made

    def get_metadata_routing(self) -> Any:
        """What it asks for, as scikit-learn wants to know it."""
        request = MetadataRequest(owner=self._name)
        for param, alias in self._requests.items():
            request.score.add_request(param=param, alias=alias)
        return request


def _judged(estimator: Any, X: Any, y: Any, given: dict[str, Any]) -> _Judged:
    """What was fitted, under searches and pipelines, and what there is to compare with."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
            estimator = estimator[-1]
        else:
            break
    forecast, observation = given.pop("forecast", None), given.pop("observation", None)
    if not isinstance(estimator, SigmaRegressor):
        return _Judged(estimator, X, target("y", observation if y is None else y), given)
    if y is None:
        if forecast is None or observation is None:
            raise ValueError("give the error of each row as y, or forecast and observation")
        return _Judged(estimator, X, target("observation", observation), {**given, "forecast": forecast})
    error = target("y", y)
    if estimator.fit_mean:
        return _Judged(estimator, X, error, given)
    if observation is None:
        if estimator.lower is not None or estimator.upper is not None:
            raise ValueError("observations have bounds: give the scorer them too, observation=...")
        return _Judged(estimator, X, error, {**given, "forecast": np.zeros(len(error))})
    seen = target("observation", observation)
    if len(seen) != len(error):
        raise ValueError(f"observation has {len(seen)} values but y has {len(error)}: give one value per row")
    return _Judged(estimator, X, seen, {**given, "forecast": seen - error})


def _crps(of: _Judged, _: float) -> Any:
    return of.ask("predict_distribution").crps(of.y)


def _pinball(of: _Judged, level: float) -> Any:
    off = of.y - of.ask("predict_quantiles", quantiles=[level])[:, 0]
    return np.maximum(level * off, (level - 1.0) * off)


def _ends(of: _Judged, level: float) -> tuple[Floats, Floats]:
    ends = floats("ends", of.ask("predict_interval", level=level))
    return ends[:, 0], ends[:, 1]


def _winkler(of: _Judged, level: float) -> Any:
    low, high = _ends(of, level)
    beyond = np.maximum(low - of.y, 0.0) + np.maximum(of.y - high, 0.0)
    return high - low + 2.0 / (1.0 - level) * beyond


def _inside(of: _Judged, level: float) -> Any:
    low, high = _ends(of, level)
    return ((low <= of.y) & (of.y <= high)).astype(float)


crps_scorer = Scorer("crps_scorer", _crps)
"""Minus the mean CRPS of the distributions."""


def pinball_scorer(level: float) -> Scorer:
    """Minus the mean pinball loss of the quantile of this level: how good that quantile is.

    Parameters
    ----------
    level : float
        The probability of values below the quantile, strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from errbar import SigmaRegressor
    >>> from errbar.sklearn import pinball_scorer
    >>> x = np.linspace(0, 1, 200)
    >>> error = (0.1 + x) * np.sin(2.4 * np.arange(200))
    >>> found = cross_val_score(SigmaRegressor("polynomial"), x[:, None], error, scoring=pinball_scorer(0.9), cv=2)
    >>> bool((found < 0).all())
    True
    """
    return Scorer("pinball_scorer", _pinball, level)


def interval_scorer(level: float) -> Scorer:
    """Minus the mean interval score (Winkler's) of central intervals of this level: narrow ones that hold the
    observations are best. A guarantee of an :class:`ErrorBarRegressor` makes its intervals.

    Parameters
    ----------
    level : float
        The level of the intervals, strictly between 0 and 1.

    Examples
    --------
    >>> from errbar.sklearn import interval_scorer
    >>> interval_scorer(0.9)
    interval_scorer(0.9)
    """
    return Scorer("interval_scorer", _winkler, level)


def coverage_scorer(level: float) -> Scorer:
    """Minus the distance between the share of observations inside central intervals of this level and the level: 0 is
    best. It says nothing of how narrow they are, so look at another score beside it.

    Parameters
    ----------
    level : float
        The level of the intervals, strictly between 0 and 1.

    Examples
    --------
    >>> from errbar.sklearn import coverage_scorer
    >>> coverage_scorer(0.9)
    coverage_scorer(0.9)
    """
    return Scorer("coverage_scorer", _inside, level)
