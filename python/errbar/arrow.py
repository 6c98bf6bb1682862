"""Error bars and scores of Arrow batches: for Spark, Ray, Dask, DuckDB, Polars, and whatever else speaks Arrow.

A task of an engine gets some batches of rows. :func:`predict_batches` makes a function that puts error bars on them, and
:func:`score_batches` one that makes small sums of them, which are merged afterwards. Both carry what they need as bytes
(the text of the model file), so that they can be sent to other processes and machines; batches come and go one by one,
and each task uses one thread.

>>> import pyarrow as pa
>>> import errbar.arrow
>>> table = pa.table({"y": [12.1, 9.4, 15.0], "forecast": [11.5, 10.0, 14.2], "sigma": [0.8, 0.7, 0.9]})
>>> score = errbar.arrow.score_batches(observation="y", forecast="forecast", sigma="sigma")
>>> sums = score(table)  # small, whatever the number of rows
>>> score.finish([sums]).rows
3
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, Sequence

import numpy as np

from . import _errbar
from ._arrays import column
from ._batch_columns import Batch, batches_of, counted, place_of
from ._batch_model import Asked, Key, Opened, opened_of
from ._batch_scores import ScoreBatches
from ._errbar import __version__
from ._pyarrow import pa

__all__ = ["PredictBatches", "ScoreBatches", "predict_batches", "score_batches"]

Levels = float | Sequence[float]
Model = Any
"""A path, the bytes of a model file, or a fitted :class:`SigmaRegressor`."""


def predict_batches(
    model: Model,
    *,
    forecast: str | None = None,
    interval: Levels = (),
    quantiles: Levels = (),
    exceed: Levels = (),
    guarantee: Levels = (),
    sigma_band: float | None = None,
    lower: float | None = None,
    upper: float | None = None,
    as_fitted: bool = False,
    prefix: str = "",
    keep: bool | Sequence[str] = True,
    n_jobs: int = 1,
) -> PredictBatches:
    """A function that puts error bars on batches, with the columns that ``errbar predict`` writes.

    Parameters
    ----------
    model : path, bytes or SigmaRegressor
        A model file, what it holds, or a fitted model. Its inputs are found in the batches by their names: numbers of
        any type, categories as texts or dictionaries. What is null is a missing input.
    forecast : str, optional
        The column with the forecast, which intervals, quantiles and thresholds need; by default the one that the model was
        fitted with, if it knows its name.
    interval, quantiles, exceed : float or sequence of float
        Levels of central intervals (``lower_90`` and ``upper_90`` for 0.9), levels of quantiles (``quantile_0.1``), thresholds
        that the observation may exceed (``exceed_30``).
    guarantee : float or sequence of float
        Levels of intervals with a guarantee, of a model that was fitted with one (``guaranteed_lower_90``, ``guaranteed_upper_90``; with
        groups ``guaranteed_by_90``).
    sigma_band : float, optional
        The probability of a band on sigma itself, of a smooth model.
    lower, upper : float, optional
        The least and the most that an observation can be; by default the model's own.
    as_fitted : bool
        Of a model that follows what was observed (``update``): error bars as they were fitted. Batches may come in any order, and
        so nobody knows what was known at the time of a row.
    prefix : str
        What the names of the new columns begin with.
    keep : bool or sequence of str
        Which columns of the batches are kept: all, none, or these.
    n_jobs : int
        Threads; one by default, since engines run as many tasks as there are cores. 0 is all.

    Returns
    -------
    PredictBatches
        Called with an iterator of batches it gives one; with a batch or a table of PyArrow it gives one of those, and of another table
        (pandas, Polars, DuckDB) a ``pyarrow.RecordBatchReader``. A row in which an input is infinite, or the sigma that the model corrects is not positive, gets nulls.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> import errbar.arrow
    >>> from errbar import SigmaRegressor
    >>> x = np.linspace(0, 1, 300)
    >>> model = SigmaRegressor().fit(x[:, None], (0.1 + x) * np.sin(2.4 * np.arange(300)))
    >>> predict = errbar.arrow.predict_batches(model, forecast="mu", interval=0.9)
    >>> out = predict(pa.table({"x0": [0.1, 0.9], "mu": [20.0, 30.0]}))
    >>> out.column_names
    ['x0', 'mu', 'sigma', 'lower_90', 'upper_90', 'support', 'outside', 'outside_input']
    """
    wanted = {
        "has_forecast": forecast is not None,
        "sigma_band": None if sigma_band is None else _level("sigma_band", sigma_band),
        "guarantee": [_level("guarantee", level) for level in _several("guarantee", guarantee)],
        "interval": [_level("interval", level) for level in _several("interval", interval)],
        "quantiles": [_level("quantiles", level) for level in _several("quantiles", quantiles)],
        "exceed": [_finite("exceed", threshold) for threshold in _several("exceed", exceed)],
        "lower": None if lower is None else _finite("lower", lower),
        "upper": None if upper is None else _finite("upper", upper),
    }
    kept = keep if isinstance(keep, bool) else tuple(str(name) for name in keep)
    asked = Asked(wanted, forecast, bool(as_fitted), str(prefix), kept, int(n_jobs))
    made = PredictBatches(_text_of(model), asked)
    made._opened()  # What cannot be is said here and not by each task.
    return made


def score_batches(
    *,
    observation: str,
    forecast: str | float,
    sigma: str | float,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    missing: str = "error",
) -> ScoreBatches:
    """A function that makes small sums of batches, of which scores are made when all are merged.

    Parameters
    ----------
    observation : str
        The column with what was observed.
    forecast, sigma : str or float
        The columns with the forecast and with sigma, or one number for all rows.
    weight : str, optional
        The column with the weight of each row.
    by : str or sequence of str, optional
        Columns whose values group the rows: then there are scores of each group. A group of many rows takes half a megabyte in the
        memory of each task.
    missing : {"error", "drop"}
        What to do with a row in which one of these columns is missing: refuse it by its place, or leave it out.

    Returns
    -------
    ScoreBatches
        Called with batches it gives batches of sums, a row for each group; its ``finish`` makes scores of all of them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import errbar.arrow
    >>> score = errbar.arrow.score_batches(observation="y", forecast=0.0, sigma="s", by="station")
    >>> parts = [
    ...     pa.table({"station": ["a", "b"], "y": [0.3, -1.2], "s": [1.0, 2.0]}),
    ...     pa.table({"station": ["a"], "y": [0.7], "s": [0.5]}),
    ... ]
    >>> scores = score.finish(score(part) for part in parts)
    >>> scores["a"].rows, scores["b"].mae
    (2, 1.2)
    """
    names = () if by is None else (by,) if isinstance(by, str) else tuple(str(name) for name in by)
    if missing not in ("error", "drop"):
        raise ValueError(f'missing is {missing!r}: give "error" or "drop"')
    for name in ("rows", "sums"):
        if name in names:
            raise ValueError(f'the groups are in a column "{name}", as what is made here would be: rename it')
    alone = by is None or isinstance(by, str)
    return ScoreBatches(observation, forecast, sigma, weight, names, alone, missing == "drop")


class PredictBatches:
    """Puts error bars on batches; see :func:`predict_batches`. Pickled, it is the text of the model and what was asked for."""

    def __init__(self, text: str, asked: Asked) -> None:
        self._text = text
        self._asked = asked

    def __call__(self, batches: Any) -> Any:
        """With error bars: an iterator of batches for an iterator, a batch for a batch, a table for a table of PyArrow, and a
        reader for whatever else is a table (of pandas, Polars, DuckDB)."""
        if isinstance(batches, pa.RecordBatch):
            return self._batch(Batch(batches, None))
        if isinstance(batches, pa.Table):
            return pa.Table.from_batches(self._each(batches.to_batches()), self.schema(batches.schema))
        given = batches_of(batches)
        if isinstance(given, pa.RecordBatchReader):
            return pa.RecordBatchReader.from_batches(self.schema(given.schema), self._each(given))
        return self._each(given)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what comes out for batches of this one."""
        self.check(schema)
        kept = [schema.field(place) for place in self._kept(schema)]
        return pa.schema([*kept, *self.added()], metadata=schema.metadata)

    def added(self) -> pa.Schema:
        """The columns that are added."""
        kinds = {"number": pa.float64(), "flag": pa.bool_()}
        columns = self._opened().columns.names
        return pa.schema([(self._asked.prefix + name, kinds.get(kind, pa.string())) for name, kind in columns])

    @property
    def inputs(self) -> list[str]:
        """The columns that are read."""
        return [name for name, _ in self._opened().needed]

    def check(self, schema: pa.Schema) -> None:
        """Refuses a schema without a column that is needed, or with one that would be there twice."""
        opened = self._opened()
        for name, why in opened.needed:
            if not (name in opened.made and name not in schema.names):
                place_of(schema, name, why)
        if isinstance(self._asked.keep, tuple):
            for name in self._asked.keep:
                place_of(schema, name, ", which is to be kept")
        there = {schema.field(place).name for place in self._kept(schema)}
        for name in self.added().names:
            if name in there:
                raise ValueError(
                    f'the table has a column "{name}" already: have the names of new ones begin with something else, as in '
                    'prefix="new_", or do not keep it'
                )
            if self.added().names.count(name) > 1:
                raise ValueError(f'the new column "{name}" is asked for twice: give each level or threshold once')

    def _kept(self, schema: pa.Schema) -> list[int]:
        keep = self._asked.keep
        if isinstance(keep, tuple):
            return [schema.get_field_index(name) for name in keep]
        return list(range(len(schema))) if keep else []

    def _each(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for nth, batch in counted(batches):
            yield self._batch(Batch(batch, nth))

    def _batch(self, given: Batch) -> pa.RecordBatch:
        schema = self.schema(given.batch.schema)
        opened = self._opened()
        arrays = [given.batch.column(place) for place in self._kept(given.batch.schema)]
        return pa.RecordBatch.from_arrays([*arrays, *opened.of(given, self._asked)], schema=schema)

    def _opened(self) -> Opened:
        return opened_of(self._text, Key(self._asked))

    def __reduce__(self) -> tuple[Any, tuple[str, dict[str, Any], str]]:
        return _from_text, (self._text, vars(self._asked), __version__)


def _from_text(text: str, asked: dict[str, Any], version: str) -> PredictBatches:
    """What was sent from another process; its model is read, and refused if need be, where it is called."""
    try:
        return PredictBatches(text, Asked(**asked))
    except TypeError:
        raise ValueError(
            f"errbar {version} sent this, and asks for more than errbar {__version__} knows: have one version everywhere"
        ) from None


def _text_of(model: Model) -> str:
    """The text of a model file."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model).decode()
    if isinstance(model, (str, os.PathLike)):
        return _errbar.Fitted.load(model).to_json()
    fitted = model if isinstance(model, _errbar.Fitted) else getattr(model, "fitted_", None)
    if isinstance(fitted, _errbar.Fitted):
        return fitted.to_json()
    raise ValueError(
        f"model is a {type(model).__name__}: give the path of a model file, its bytes, or a SigmaRegressor that was fitted"
    )


def _several(name: str, values: Any) -> list[float]:
    """One number or several."""
    return [float(value) for value in column(name, list(values) if np.ndim(values) else [values])]


def _level(name: str, value: Any) -> float:
    if not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name} is {value!r}: give probabilities strictly between 0 and 1")
    return float(value)


def _finite(name: str, value: Any) -> float:
    if not np.isfinite(float(value)):
        raise ValueError(f"{name} is {value!r}: give a finite number")
    return float(value)
