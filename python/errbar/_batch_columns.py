"""Columns of Arrow batches, whatever they hold, as what models and scores take."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _errbar
from ._arrays import Floats
from ._categories import texts
from ._pyarrow import pa


class Batch:
    """A batch, and where it is for messages."""

    def __init__(self, batch: pa.RecordBatch, nth: int | None) -> None:
        self.batch = batch
        self.where = part_of_task() + ("" if nth is None else f"batch {nth}, ")

    @property
    def rows(self) -> int:
        """How many."""
        return int(self.batch.num_rows)

    def at(self, row: int) -> str:
        """A row for a message. Batches and rows count from 0."""
        return f"{self.where}row {row}"

    def column(self, name: str, why: str) -> Any:
        """A column by its name; dictionaries are what they stand for."""
        values = self.batch.column(place_of(self.batch.schema, name, why))
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        return values.cast(without_views(values.type))

    def numbers(self, name: str, why: str) -> Floats:
        """Numbers; NaN where one is missing."""
        values = plain(self.column(name, why))
        kind = values.type
        if pa.types.is_null(kind):
            return np.full(len(values), np.nan)
        if pa.types.is_boolean(kind):
            values = values.cast(pa.uint8())
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            raise ValueError(f'the column "{name}" holds {kind}, and numbers are needed{why}: cast it first')
        doubles = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return np.require(doubles, np.float64, ["C", "A"])

    def codes(self, name: str, levels: list[str], why: str) -> Floats:
        """Places of texts among the levels of a category."""
        distinct, places = self.labels(name, why)
        codes = _errbar.coded(distinct, levels)[1]
        return codes[places] if len(places) else np.empty(0)

    def labels(self, name: str, why: str) -> tuple[list[str], npt.NDArray[np.int64]]:
        """The distinct values as texts, empty for none, and for each row its place among them."""
        values, places = distinct_of(self.column(name, why))
        return texts(values), places

    def seconds(self, name: str, why: str) -> tuple[Floats, bool]:
        """Times as seconds since 1970, and whether they have a time zone."""
        values = self.column(name, why)
        kind = values.type
        if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
            raise ValueError(f'the column "{name}" holds {kind}, and dates are needed{why}: cast it to a timestamp first')
        zone = getattr(kind, "tz", None)
        whole = values.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
        seconds = whole.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) / 1e6
        return np.require(seconds, np.float64, ["C", "A"]), zone is not None


def place_of(schema: pa.Schema, name: str, why: str) -> int:
    """Where a column is, by its name."""
    places = schema.get_all_field_indices(name)
    if not places:
        known = ", ".join(f'"{one}"' for one in schema.names)
        raise ValueError(f'there is no column "{name}"{why}; there are {known or "none"}')
    if len(places) > 1:
        raise ValueError(f'{len(places)} columns are named "{name}"{why}: give each its own name')
    return int(places[0])


def without_views(kind: Any) -> Any:
    """The type of a column as it is worked on: PyArrow loses gaps of views of texts (Polars gives such) on the way to a
    dictionary."""
    return pa.large_string() if kind == pa.string_view() else kind


def plain(values: Any) -> Any:
    """What a dictionary stands for."""
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def distinct_of(values: Any) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """The distinct values, None for what is missing, and for each row its place among them."""
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode(null_encoding="encode")
    distinct = values.dictionary.to_pylist()
    # What is missing may be marked by the place of the value, or by the value.
    places = values.indices.cast(pa.int64()).fill_null(len(distinct)).to_numpy(zero_copy_only=False)
    known = [None if value != value else value for value in distinct]
    return [*known, None], places


def batches_of(given: Any) -> Any:
    """Batches one after the other, whatever holds them: a reader, which knows their schema, or what can be iterated over."""
    if isinstance(given, pa.RecordBatch):
        return [given]
    if hasattr(given, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(given)
    if isinstance(given, Iterable):
        return given
    raise ValueError(f"this is a {type(given).__name__}: give a table, a batch or an iterator of batches of PyArrow")


def counted(batches: Iterable[Any]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches with their number."""
    for nth, batch in enumerate(batches):
        if not isinstance(batch, pa.RecordBatch):
            raise ValueError(f"batch {nth} is a {type(batch).__name__}: give batches of PyArrow")
        yield nth, batch


def part_of_task() -> str:
    """The partition of Spark that a task is about, for messages."""
    spark = sys.modules.get("pyspark")
    task = spark.TaskContext.get() if spark is not None else None
    return "" if task is None else f"partition {task.partitionId()}, "
