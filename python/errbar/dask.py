"""Error bars on a Dask cluster: rows that are too many for one machine, or lie on several.

What a fit asks of rows is little: counts of scaled errors, sums of slopes. So rows stay where they are; questions go to the
workers, sums come back, and the model at the end is the same file as from one machine. It does not depend on how many workers
there are, nor on whether one is lost on the way.

>>> import dask.array as da
>>> import numpy as np
>>> from distributed import Client
>>> from errbar.dask import DaskSigmaRegressor
>>> client = Client(processes=False, dashboard_address=None)
>>> x = da.linspace(0, 1, 200_000, chunks=50_000)
>>> error = (0.1 + x) * np.sin(2.4 * da.arange(200_000, chunks=50_000))  # grows with x
>>> model = DaskSigmaRegressor(model="polynomial").fit(x[:, None], error)
>>> sigma = model.predict(x[:, None])  # lazy, in the same chunks
>>> bool(sigma[-1].compute() > 5 * sigma[0].compute())
True
>>> local = model.to_local()  # an errbar.SigmaRegressor: saves what errbar predict reads
>>> client.close()

Needs ``errbar[dask]``. See docs/scale.md for when this is worth while, and for what goes over the wire.
"""

from __future__ import annotations

import copy
import math
import os
import uuid
from typing import Any, Callable

import dask.array as da
import numpy as np
from dask.base import compute
from dask.delayed import delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from . import ScoreSums, __version__, _errbar
from ._arrays import Floats, floats, groups_of, levels_of, one_name
from ._dask_rounds import Rounds, cut
from ._dask_rows import (
    Known,
    Raw,
    checked,
    in_part,
    is_table,
    number_of_parts,
    parts_of,
    parts_of_columns,
    picked,
    together,
)
from ._given import learned_table
from ._members import ensemble_of
from ._sigma_regressor import SigmaRegressor

__all__ = ["DaskErrorBarRegressor", "DaskSigmaRegressor", "scores"]

# Fewer rows than this are brought together and fitted where the caller is, as from so many on all rows refine a sample.
MANY = 100_000
SAMPLE = 50_000


class DaskSigmaRegressor(RegressorMixin, BaseEstimator):
    """Learns sigma(x) from rows on a Dask cluster: :class:`errbar.SigmaRegressor` for Dask DataFrames and arrays.

    All kinds of models learn from 50,000 rows, drawn from all of them (in the order of time: evenly) and brought to the
    caller. Then every row counts, where it lies: trees refine what the sample said (``model="auto"``, "stack", "trees"), or the
    parameters of the one model that was asked for are those of least cost for all rows ("constant", "polynomial", "network").
    With fewer than 100,000 rows all are brought to the caller, and the fit is that of :class:`errbar.SigmaRegressor`.

    Parameters
    ----------
    model, loss, beta, validation, time_order, keep_inputs, independent, local_units, debias, law, recalibrate, \
categorical_features, members, center, random_state, n_jobs, verbose, progress
        As in :class:`errbar.SigmaRegressor`. ``n_jobs`` is for the part of the work that the caller does; workers use the
        threads that Dask gives them. Rows in the order of time (``time_order=True``) are so from partition to partition.
    client : distributed.Client, optional
        The cluster; by default the client that is open.

    Attributes
    ----------
    local_ : SigmaRegressor
        The fitted model: see :meth:`to_local`.
    n_features_in_, feature_names_in_, model_, explanation_, law_, trained_on_, validation_
        Those of ``local_``.
    sample_rows_ : int
        How many rows the kinds of models were chosen on.
    rounds_ : int
        How many questions went to the workers.
    largest_message_ : int
        The bytes of the longest message, question or answer.

    Notes
    -----
    What needs rows together is refused with a sentence: a guarantee, ``fit_mean``, bounds, another scale, ``loss="law"``.
    """

    def __init__(
        self,
        model: str = "auto",
        *,
        loss: str = "ar",
        beta: Any = "heuristic",
        validation: float = 0.2,
        time_order: bool = False,
        keep_inputs: bool = False,
        independent: bool = False,
        local_units: bool = True,
        debias: bool = False,
        law: str = "auto",
        recalibrate: bool = True,
        categorical_features: Any = "from_dtype",
        members: Any = None,
        center: str = "mean",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        progress: Callable[[float], Any] | None = None,
        client: Any = None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.beta = beta
        self.validation = validation
        self.time_order = time_order
        self.keep_inputs = keep_inputs
        self.independent = independent
        self.local_units = local_units
        self.debias = debias
        self.law = law
        self.recalibrate = recalibrate
        self.categorical_features = categorical_features
        self.members = members
        self.center = center
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress
        self.client = client

    def fit(
        self,
        X: Any,
        error: Any = None,
        sample_weight: Any = None,
        *,
        forecast: Any = None,
        observation: Any = None,
        group: Any = None,
        y: Any = None,
    ) -> DaskSigmaRegressor:
        """Learns from inputs ``X`` and the error, observation minus forecast, of each row, as Dask collections that are cut
        alike. ``forecast`` and ``observation`` may stand for the error; ``sample_weight``, ``group`` and ``y`` are as in
        :meth:`errbar.SigmaRegressor.fit`. Ctrl-C stops it."""
        client = client_of(self.client)
        check_versions(client)
        local = SigmaRegressor(**{name: value for name, value in self.get_params(deep=False).items() if name != "client"})
        columns = {"sample_weight": sample_weight, "group": group}
        given = error_columns(error if y is None else y, error is not None and y is not None, forecast, observation)
        makes = self.members is not None and set(given) == {"observation"}
        if not makes and len(given) == 1 and "error" not in given:
            raise ValueError("give the error of each row, or its forecast and observation")
        parts = parts_of(X, columns | given, (self.members, self.center) if makes else None)
        self._fit(client, local, parts, makes)
        self.local_ = local
        self.n_features_in_ = local.n_features_in_
        if hasattr(local, "feature_names_in_"):
            self.feature_names_in_ = local.feature_names_in_
        return self

    def _fit(self, client: Any, local: SigmaRegressor, parts: list[Any], makes: bool) -> None:
        """Fits the local twin."""
        wanted = local._wanted()
        futures = client.compute(parts)
        sizes = client.gather(client.map(rows_in, futures, pure=False))
        if sum(sizes) == 0:
            raise ValueError("X has no rows: give at least one")
        there = dict(enumerate(futures))
        firsts = np.cumsum([0, *sizes])[:-1].tolist()
        asked = (sum(sizes), wanted["time_order"], wanted["seed"])
        found = client.gather(
            [
                client.submit(sample_of, number, future, firsts[number], *asked, pure=False)
                for number, future in there.items()
                if sizes[number]
            ]
        )
        rows = np.concatenate([places for places, _ in found])
        sample = together([raw for _, raw in found])
        del found
        ensemble = ensemble_of(sample.X, self.members, self.center)
        inputs, categories, names = learned_table(local, sample.X, ensemble)
        group = None if sample.group is None else groups_of(sample.group)
        pieces = cut(sizes, sample.weight is not None)
        of_pieces = [end - begin for own in pieces for _, begin, end in own]
        fit = _errbar.Elsewhere(
            inputs, names, categories, (sample.error, None), sample.weight, group, wanted, rows, of_pieces
        )
        self.sample_rows_ = min(len(rows), SAMPLE) if sum(sizes) >= MANY else len(rows)
        known = Known(names, categories, ensemble, hasattr(sample.X, "columns"))
        rounds = Rounds(client, uuid.uuid4().hex, parts, firsts, pieces, fit.opening, known)
        try:
            first = rounds.open(there)
            # Workers hold what they need by now; what is lost is made again from the graph.
            del futures, there
            local.fitted_ = fit.finish(first, rounds.ask)
        finally:
            rounds.close()
        if ensemble is not None:
            local.fitted_ = local.fitted_.with_ensemble(*ensemble, makes)
        self.rounds_, self.largest_message_ = len(rounds.history), rounds.largest

    def predict(self, X: Any) -> Any:
        """Sigma of each row, lazily: a Dask Series of a DataFrame, a Dask Array of an array."""
        return self._lazily(X, "sigma", sigma_of)

    def bias(self, X: Any) -> Any:
        """What to add to the forecast of each row, lazily: see :meth:`errbar.SigmaRegressor.bias`."""
        return self._lazily(X, "bias", bias_of)

    def outside(self, X: Any) -> Any:
        """Whether each row lies where there were hardly any training rows, lazily."""
        return self._lazily(X, "outside", outside_of, dtype="bool")

    def predict_quantiles(self, X: Any, forecast: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Any:
        """The values that the observation of each row stays below with these probabilities, a column for each, lazily."""
        levels = np.atleast_1d(floats("quantiles", quantiles)).ravel().tolist()
        return self._lazily(X, [f"q{level:g}" for level in levels], quantiles_of, forecast, levels)

    def predict_interval(self, X: Any, forecast: Any, level: float = 0.9) -> Any:
        """The ends of each row's central interval of this level around its forecast, in two columns, lazily."""
        [share, *more], _ = levels_of(level)
        if more:
            raise ValueError(f"level is {level!r}: give one number, and call once per level")
        return self._lazily(X, ["lower", "upper"], quantiles_of, forecast, [0.5 - 0.5 * share, 0.5 + 0.5 * share])

    def score(self, X: Any, error: Any, sample_weight: Any = None) -> float:
        """Minus the mean CRPS of the errors with the laws predicted for them, as :meth:`errbar.SigmaRegressor.score`."""
        check_is_fitted(self)
        parts = parts_of(X, {"error": error, "sample_weight": sample_weight})
        model = delayed(self.local_)
        sums = compute(*(delayed(score_of)(model, number, part) for number, part in enumerate(parts)))
        total = math.fsum(weight for _, weight in sums)
        if total <= 0:
            raise ValueError("no row counts: give at least one whose weight is above 0")
        return -math.fsum(crps for crps, _ in sums) / total

    def to_local(self) -> SigmaRegressor:
        """The model on its own, which needs no cluster: predicts what is in memory, saves and explains."""
        check_is_fitted(self)
        return copy.copy(self.local_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file that ``errbar predict`` reads, whole or not at all."""
        self.to_local().save(path)

    def _lazily(
        self, X: Any, names: str | list[str], function: Any, forecast: Any = None, *more: Any, dtype: str = "float64"
    ) -> Any:
        """What a function makes of the model and each part of X."""
        check_is_fitted(self)
        X = checked("X", X, columns=True)
        model = delayed(self.local_)
        if is_table(X):
            import pandas

            if isinstance(names, str):
                meta = pandas.Series([], name=names, dtype=dtype, index=X._meta.index[:0])
            else:
                meta = pandas.DataFrame({name: [] for name in names}, dtype=dtype, index=X._meta.index[:0])
            return X.map_partitions(in_partition, model, function, names, forecast, *more, meta=meta)
        columns = "i" if isinstance(names, str) else "ik"
        arrays = [X, "ij"] if forecast is None else [X, "ij", forecast, "i"]
        return da.blockwise(
            in_block,
            columns,
            *arrays,
            model=model,
            function=function,
            more=more,
            concatenate=True,
            new_axes=None if isinstance(names, str) else {"k": len(names)},
            dtype=dtype,
            meta=np.empty((0,) * len(columns), dtype=dtype),
        )

    @property
    def model_(self) -> str:
        """The kind of model that was chosen."""
        return self.to_local().model_

    @property
    def explanation_(self) -> str:
        """The model in a few words."""
        return self.to_local().explanation_

    @property
    def law_(self) -> str:
        """The law of errors in units of sigma, in a few words."""
        return self.to_local().law_

    @property
    def trained_on_(self) -> int:
        """The rows the model was trained on; of a mean of several, the most that one was."""
        return self.to_local().trained_on_

    @property
    def validation_(self) -> Any:
        """How the model did on held-out rows."""
        return self.to_local().validation_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "local_")

    def __getstate__(self) -> dict[str, Any]:
        # A client is of this process.
        return {**super().__getstate__(), "client": None}


class DaskErrorBarRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Puts error bars on a forecaster that learns from Dask collections, such as ``lightgbm.DaskLGBMRegressor``.

    The rows are forecast in folds of whole partitions, each by a forecaster that has not seen them. Sigma is learned from the
    errors of those forecasts, and the forecaster itself is fitted to all rows.

    Parameters
    ----------
    estimator : regressor
        The forecaster: one that takes Dask collections; with ``cv="prefit"`` also one of scikit-learn's kind.
    sigma : DaskSigmaRegressor, default=DaskSigmaRegressor()
        What learns sigma.
    cv : int or "prefit", default=5
        So many folds, or fewer where there are fewer partitions. "prefit": the forecaster is fitted already, to other rows
        than these.
    forecast_as_input : bool, default=True
        Whether the forecast is an input of sigma, beside the columns of X.

    Attributes
    ----------
    estimator_ : regressor
        The forecaster, fitted to all rows.
    sigma_ : DaskSigmaRegressor
        The fitted model of sigma.
    """

    def __init__(self, estimator: Any, sigma: Any = None, *, cv: Any = 5, forecast_as_input: bool = True) -> None:
        self.estimator = estimator
        self.sigma = sigma
        self.cv = cv
        self.forecast_as_input = forecast_as_input

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, group: Any = None) -> DaskErrorBarRegressor:
        """Fits the forecaster and sigma. ``sample_weight`` goes to both; ``group`` to sigma."""
        parts = number_of_parts(checked("X", X, columns=True))
        if (others := number_of_parts(checked("y", y))) != parts:
            raise ValueError(f"y has {others} partitions but X has {parts}: cut both alike (repartition, rechunk)")
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if self.cv == "prefit":
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            forecast = forecasts_of(self.estimator_, X)
        else:
            folds = self._folds(parts)
            if not takes_dask(self.estimator):
                raise ValueError(
                    f"{type(self.estimator).__name__} does not learn from Dask collections: give one that does "
                    '(lightgbm.DaskLGBMRegressor), or fit it to other rows and say cv="prefit"'
                )
            said: list[Any] = [None] * parts
            for fold in range(folds):
                held = range(fold, parts, folds)
                rest = [part for part in range(parts) if part % folds != fold]
                some = {name: some_of(values, rest) for name, values in weights.items()}
                forecaster = clone(self.estimator).fit(some_of(X, rest), some_of(y, rest), **some)
                forecast = forecasts_of(forecaster, some_of(X, held))
                for place, part in enumerate(held):
                    said[part] = some_of(forecast, [place])
            forecast = joined(said)
            self.estimator_ = clone(self.estimator).fit(X, y, **weights)
        sigma = DaskSigmaRegressor() if self.sigma is None else clone(self.sigma)
        self.sigma_ = sigma.fit(
            self._known(X, forecast), forecast=forecast, observation=y, sample_weight=sample_weight, group=group
        )
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The forecast of each row, moved by the bias where that was learned; with ``return_std`` also its sigma. Lazy."""
        forecast, known = self._forecast(X)
        if self.sigma_.debias:
            forecast = forecast + self.sigma_.bias(known)
        return (forecast, self.sigma_.predict(known)) if return_std else forecast

    def predict_interval(self, X: Any, level: float = 0.9) -> Any:
        """The ends of each row's central interval of this level, in two columns, lazily."""
        forecast, known = self._forecast(X)
        return self.sigma_.predict_interval(known, forecast, level)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Any:
        """The values that the observation of each row stays below with these probabilities, lazily."""
        forecast, known = self._forecast(X)
        return self.sigma_.predict_quantiles(known, forecast, quantiles)

    def to_local(self) -> Any:
        """The same as an :class:`errbar.ErrorBarRegressor`, with the forecaster's own local twin where it has one."""
        from ._error_bar_regressor import ErrorBarRegressor

        check_is_fitted(self)
        forecaster = self.estimator_.to_local() if hasattr(self.estimator_, "to_local") else self.estimator_
        return ErrorBarRegressor.of(forecaster, self.sigma_.to_local(), self._forecast_name() if self.forecast_as_input else None)

    def _folds(self, parts: int) -> int:
        if isinstance(self.cv, bool) or not isinstance(self.cv, (int, np.integer)) or self.cv < 2:
            raise ValueError(f'cv is {self.cv!r}: give a number of folds of 2 or more, or "prefit"')
        if parts < 2:
            raise ValueError("X has one partition, and folds are of whole ones: cut it (repartition, rechunk)")
        return min(int(self.cv), parts)

    def _forecast(self, X: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        forecast = forecasts_of(self.estimator_, X)
        return forecast, self._known(X, forecast)

    def _forecast_name(self) -> str:
        return str(getattr(self.sigma_, "feature_names_in_", [f"x{self.sigma_.n_features_in_ - 1}"])[-1])

    def _known(self, X: Any, forecast: Any) -> Any:
        """What sigma is a function of."""
        if not self.forecast_as_input:
            return X
        if not is_table(X):
            return da.concatenate([X, forecast[:, None]], axis=1).rechunk({1: -1})
        name = "forecast"
        while name in X.columns:
            name += "_"
        meta = X._meta.assign(**{name: np.empty(0)})
        return X.map_partitions(with_column, forecast, name, meta=meta)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "sigma_")


def with_column(X: Any, values: Any, name: str) -> Any:
    return X.assign(**{name: np.asarray(values, dtype=float)})


def takes_dask(forecaster: Any) -> bool:
    """Whether a forecaster learns from Dask collections, and forecasts them."""
    of_dask = any({"dask", "dask_ml"} & set(kind.__module__.split(".")) for kind in type(forecaster).__mro__)
    return of_dask or hasattr(forecaster, "client")


def forecasts_of(forecaster: Any, X: Any) -> Any:
    """The forecast of each row, lazily."""
    if takes_dask(forecaster) and not hasattr(forecaster, "to_local"):
        forecast = forecaster.predict(X)
        if is_table(X) and hasattr(forecast, "chunks"):
            raise ValueError(f"{type(forecaster).__name__} forecasts an array of a table: give X and y as Dask arrays")
        return forecast
    local = delayed(forecaster.to_local() if hasattr(forecaster, "to_local") else forecaster)
    if is_table(X):
        return X.map_partitions(forecast_here, local, meta=series_of(X))
    return da.map_blocks(forecast_block, X, forecaster=local, drop_axis=1, dtype="float64", meta=np.empty(0))


def series_of(X: Any) -> Any:
    """What a forecast of a table looks like to Dask."""
    import pandas

    return pandas.Series([], name="forecast", dtype="float64", index=X._meta.index[:0])


def forecast_here(X: Any, forecaster: Any) -> Any:
    """Those of a partition."""
    return indexed(forecaster.predict(X) if len(X) else np.empty(0), X)


def indexed(forecast: Any, X: Any) -> Any:
    """Forecasts with the index of their rows."""
    import pandas

    return pandas.Series(np.asarray(forecast, dtype=float).reshape(len(X)), index=X.index, name="forecast")


def forecast_block(X: Any, forecaster: Any) -> Floats:
    return np.asarray(forecaster.predict(X), dtype=float).reshape(len(X))


def some_of(values: Any, parts: Any) -> Any:
    """Some partitions of a collection."""
    if hasattr(values, "partitions") and not hasattr(values, "chunks"):
        return values.partitions[list(parts)]
    return values.blocks[list(parts)]


def joined(values: list[Any]) -> Any:
    """Collections of one partition each as one."""
    if hasattr(values[0], "chunks"):
        return da.concatenate(values)
    import dask.dataframe as dd

    return dd.concat(values, interleave_partitions=False)


def scores(
    observation: Any,
    forecast: Any,
    sigma: Any,
    weight: Any = None,
    *,
    by: Any = None,
    sample_weight: Any = None,
    group: Any = None,
    **options: Any,
) -> Any:
    """Scores of Dask collections that are cut alike: sums of each part, merged by whoever asks.

    Parameters
    ----------
    observation, forecast, sigma, weight : Dask Series or Array
        Of each row.
    by : Dask Series or Array, optional
        The group of each row (a station): scores of each group by itself.
    sample_weight, group : optional
        Other names of ``weight`` and ``by``.
    **options
        Those of :meth:`errbar.ScoreSums.scores`: ``beta``, ``levels``, ``confidence``.

    Returns
    -------
    MergedScores, or a dictionary of them by group
        Those of all rows at once, the Reliability Score within ``rs_bound``.
    """
    weight = one_name("weight", weight, "sample_weight", sample_weight)
    by = one_name("by", by, "group", group)
    given = {"observation": observation, "forecast": forecast, "sigma": sigma, "weight": weight, "group": by}
    sums: dict[str | None, ScoreSums] = {}
    for found in compute(*parts_of_columns(given)):
        for name, data in found.items():
            own = ScoreSums.from_bytes(data)
            sums[name] = sums[name].merge(own) if name in sums else own
    if by is not None:
        return {name: own.scores(**options) for name, own in sorted(sums.items(), key=lambda one: str(one[0]))}
    if None not in sums:
        raise ValueError("observation has no rows: give at least one")
    return sums[None].scores(**options)


def rows_in(raw: Raw) -> int:
    return len(raw.error)


def sample_of(number: int, raw: Raw, first: int, all_rows: int, time_order: bool, seed: int) -> tuple[Any, Raw]:
    """The rows of a part that may be in the sample, with their places among all."""
    with in_part(number):
        rows = _errbar.Elsewhere.candidates(first, len(raw.error), all_rows, time_order, seed)
        return first + rows, picked(raw, rows)


def sigma_of(model: SigmaRegressor, X: Any) -> Floats:
    return model.predict(X)


def bias_of(model: SigmaRegressor, X: Any) -> Floats:
    return model.bias(X)


def outside_of(model: SigmaRegressor, X: Any) -> Any:
    return model.outside(X)


def quantiles_of(model: SigmaRegressor, X: Any, forecast: Any, levels: list[float]) -> Floats:
    return model.predict_quantiles(X, forecast, levels)


def score_of(model: SigmaRegressor, number: int, raw: Raw) -> tuple[float, float]:
    """The sum of the CRPS of a part, and of its weights."""
    with in_part(number):
        if not len(raw.error):
            return 0.0, 0.0
        weight = float(len(raw.error)) if raw.weight is None else float(raw.weight.sum())
        return (-model.score(raw.X, raw.error, raw.weight) * weight if weight else 0.0), weight


def in_partition(X: Any, model: SigmaRegressor, function: Any, names: Any, forecast: Any, *more: Any) -> Any:
    """What a function makes of a part, with its index."""
    import pandas

    given = () if forecast is None else (np.asarray(forecast, dtype=float),)
    if len(X):
        values = function(model, X, *given, *more)
    else:
        values = np.empty(0 if isinstance(names, str) else (0, len(names)))
    kind = pandas.Series if isinstance(names, str) else pandas.DataFrame
    return kind(values, index=X.index, **{"name" if isinstance(names, str) else "columns": names})


def in_block(X: Any, *forecast: Any, model: SigmaRegressor, function: Any, more: tuple[Any, ...]) -> Any:
    """What a function makes of a block of rows."""
    return function(model, X, *forecast, *more)


def error_columns(error: Any, twice: bool, forecast: Any, observation: Any) -> dict[str, Any]:
    """What errors are made of, by the names that they were given."""
    if twice:
        raise ValueError("error and y are two names of the same: give one of them")
    given = {"error": error, "forecast": forecast, "observation": observation}
    given = {name: values for name, values in given.items() if values is not None}
    if not given or ("error" in given and len(given) > 1):
        raise ValueError("give the error of each row, or its forecast and observation")
    return given


def client_of(client: Any) -> Any:
    """The cluster to work on."""
    if client is not None:
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "there is no Dask client: open one, client = distributed.Client(), or give one, client=..."
        ) from None


def check_versions(client: Any) -> None:
    """Refuses workers that have another errbar, or none."""

    def version() -> str:  # by value: a worker without errbar can say so
        try:
            import errbar

            return str(errbar.__version__)
        except ImportError:
            return ""

    for worker, theirs in client.run(version).items():
        if theirs != __version__:
            have = f"has errbar {theirs}" if theirs else "has no errbar"
            raise ValueError(f"the worker {worker} {have}, and here is {__version__}: install the same everywhere")
