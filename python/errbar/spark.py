"""Error bars and scores of Spark's data frames: :mod:`errbar.arrow` in tasks of Spark.

Columns are found by their names. What runs in a task is ``mapInArrow``: errbar and PyArrow are needed on the workers.

Models are not fitted here. A fit asks its rows hundreds of questions, and between two of them workers must keep what they
made of the rows, for which Spark has no place. Fit on Dask (:mod:`errbar.dask`), or to files with the program, which never
has all rows in memory (``errbar fit 'table/*.parquet'``), and give the model here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Sequence

from ._pyarrow import pa
from .arrow import Levels, Model, PredictBatches, predict_batches, score_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["predict", "schema", "scores"]


def predict(
    df: DataFrame,
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
) -> DataFrame:
    """The rows of a data frame with error bars, lazily: what is given by name is as in :func:`errbar.arrow.predict_batches`.

    ``errbar.spark.predict(df, "model.json", interval=0.9)`` adds ``sigma``, ``lower_90``, ``upper_90``, ``support``, ``outside`` and
    ``outside_input``. The model is read here, once, and sent with the tasks.
    """
    made = predict_batches(
        model,
        forecast=forecast,
        interval=interval,
        quantiles=quantiles,
        exceed=exceed,
        guarantee=guarantee,
        sigma_band=sigma_band,
        lower=lower,
        upper=upper,
        as_fitted=as_fitted,
        prefix=prefix,
        keep=keep,
    )
    used = list(dict.fromkeys([*_kept(df, keep), *[name for name in made.inputs if name in df.columns]]))
    made.check(_names(df))
    # What is neither kept nor read need not leave the JVM.
    return _mapped(df, used, made, schema(df, made, keep))


def schema(df: DataFrame, predict: PredictBatches, keep: bool | Sequence[str] = True) -> StructType:
    """The schema of what ``predict`` makes of a data frame, for ``mapInArrow``."""
    from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

    def kind(field: pa.Field) -> Any:
        if pa.types.is_floating(field.type):
            return DoubleType()
        return BooleanType() if pa.types.is_boolean(field.type) else StringType()

    kept = [df.schema[name] for name in _kept(df, keep)]
    return StructType([*kept, *[StructField(field.name, kind(field)) for field in predict.added()]])


def scores(
    df: DataFrame,
    *,
    observation: str,
    forecast: str | float,
    sigma: str | float,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    missing: str = "error",
    **options: Any,
) -> Any:
    """The scores of all rows, in one pass: each partition makes small sums, which are merged here.

    What is given by name is as in :func:`errbar.arrow.score_batches`, and the rest as in :meth:`errbar.ScoreSums.scores`.

    Returns
    -------
    MergedScores, or with ``by`` a dictionary of them by group
    """
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    made = score_batches(
        observation=observation, forecast=forecast, sigma=sigma, weight=weight, by=by, missing=missing
    )
    made.schema(_names(df))
    groups = [by] if isinstance(by, str) else list(by or ())
    kept = [df.schema[name] for name in groups]
    sums = StructType([*kept, StructField("rows", LongType()), StructField("sums", BinaryType())])
    rows = _mapped(df, made.inputs, made, sums).toLocalIterator()
    return made.finish_rows((tuple(row) for row in rows), **options)


def _mapped(df: DataFrame, used: list[str], function: Any, schema: StructType) -> DataFrame:
    """``mapInArrow`` of some columns, which takes no names with dots: there columns have other names."""
    from pyspark.sql.types import StructField, StructType

    chosen = df.select([df[_quoted(name)] for name in used]).toDF(*_numbered(len(used)))
    fields = zip(_numbered(len(schema.fields)), schema.fields)
    plain = StructType([StructField(name, field.dataType) for name, field in fields])
    return chosen.mapInArrow(_Renamed(function, used), plain).toDF(*schema.names)


def _numbered(columns: int) -> list[str]:
    return [f"c{place}" for place in range(columns)]


class _Renamed:
    """A function of batches, whose columns have numbers where it runs."""

    def __init__(self, function: Any, names: list[str]) -> None:
        self.function = function
        self.names = names

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in self.function(batch.rename_columns(self.names) for batch in batches):
            yield batch.rename_columns(_numbered(batch.num_columns))


def _kept(df: DataFrame, keep: bool | Sequence[str]) -> list[str]:
    if isinstance(keep, bool):
        return list(df.columns) if keep else []
    return [str(name) for name in keep]


def _names(df: DataFrame) -> pa.Schema:
    """A schema with the names of a data frame, to be checked before any task runs."""
    return pa.schema([(name, pa.null()) for name in df.columns])


def _quoted(name: str) -> str:
    """A name as Spark takes it: dots stand for fields elsewhere."""
    return "`" + name.replace("`", "``") + "`"
