"""Sums of Arrow batches, group by group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ._arrays import Floats
from ._batch_columns import Batch, batches_of, counted, distinct_of, place_of, without_views
from ._pyarrow import pa
from ._sums import MergedScores, ScoreSums

# Rows of a group that wait to be counted: as long as they are fewer, they take less memory than their sums.
_WAITING = 20_000

# Groups in a batch of sums, whose columns hold 2 GB at most.
_GROUPS = 1_000

Key = tuple[Any, ...]
Rows = tuple[Floats, Floats, Floats, Floats | None]


class ScoreBatches:
    """Makes sums of batches; see :func:`errbar.arrow.score_batches`."""

    def __init__(
        self,
        observation: str,
        forecast: str | float,
        sigma: str | float,
        weight: str | None,
        by: tuple[str, ...],
        alone: bool,
        drop: bool,
    ) -> None:
        self._columns = {"observation": observation, "forecast": forecast, "sigma": sigma, "weight": weight}
        self._by = by
        self._alone = alone
        self._drop = drop

    def __call__(self, batches: Any) -> Any:
        """The sums of batches, as an iterator of batches; of a table or a single batch, as a table."""
        if isinstance(batches, pa.RecordBatch):
            return pa.Table.from_batches(self._sums([batches]), self.schema(batches.schema))
        given = batches_of(batches)
        if isinstance(given, pa.RecordBatchReader):
            return pa.Table.from_batches(self._sums(given), self.schema(given.schema))
        return self._sums(given)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the sums: the groups, ``rows`` and ``sums``."""
        for role, name in self._columns.items():
            if isinstance(name, str):
                place_of(schema, name, f", the {role}")
        fields = []
        for name in self._by:
            kind = schema.field(place_of(schema, name, ", which groups the rows")).type
            fields.append((name, without_views(kind.value_type if pa.types.is_dictionary(kind) else kind)))
        return pa.schema([*fields, ("rows", pa.int64()), ("sums", pa.binary())])

    @property
    def inputs(self) -> list[str]:
        """The columns that are read."""
        used = [name for name in self._columns.values() if isinstance(name, str)]
        return list(dict.fromkeys([*self._by, *used]))

    def merge(self, sums: Any) -> Iterator[pa.RecordBatch]:
        """Sums of sums: batches of this function, or tables of them, with one row for each group."""
        schema, found = None, _Groups()
        for schema, key, part in self._parts(sums):
            found.merge(key, part)
        if schema is not None:
            yield from found.batches(schema)

    def finish(self, sums: Any, **options: Any) -> Any:
        """The scores of all sums, which may come as batches, tables, :class:`errbar.ScoreSums` or their bytes: one
        :class:`errbar.MergedScores`, or with ``by`` a dictionary of them by group. What is given by name is as in
        :meth:`errbar.ScoreSums.scores`."""
        return self._finish(((key, part) for _, key, part in self._parts(sums)), options)

    def finish_rows(self, rows: Iterable[Sequence[Any]], **options: Any) -> Any:
        """:meth:`finish` of the rows of these batches, as an engine gives them: the groups, how many rows, and the sums."""
        return self._finish(((tuple(map(_key, row[:-2])), row[-1]) for row in rows), options)

    def _finish(self, each: Iterable[tuple[Key, Any]], options: dict[str, Any]) -> Any:
        parts: dict[Key, list[Any]] = {}
        for key, part in each:
            parts.setdefault(key, []).append(part)
        if not self._by:
            return ScoreSums.merged(parts.get((), [])).scores(**options)
        # One group at a time, since sums take half a megabyte in memory.
        out: dict[Any, MergedScores] = {}
        for key in list(parts):
            name = key[0] if self._alone else key
            out[name] = ScoreSums.merged(parts.pop(key)).scores(**options)
        return out

    def _parts(self, sums: Any) -> Iterator[tuple[Any, Key, Any]]:
        """Schema, group and sums of each part."""
        if isinstance(sums, (pa.Table, pa.RecordBatch, ScoreSums, bytes)):
            sums = [sums]
        for nth, part in enumerate(sums):
            if isinstance(part, (ScoreSums, bytes)) and not self._by:
                yield None, (), part
                continue
            if not isinstance(part, (pa.Table, pa.RecordBatch)):
                raise ValueError(f"part {nth} of the sums is a {type(part).__name__}: give what score_batches made")
            table = cast(Any, part)
            for name in (*self._by, "sums"):
                place_of(table.schema, name, f", in part {nth} of the sums: give what score_batches made")
            keys = [table.column(name).to_pylist() for name in self._by]
            for row, each in enumerate(table.column("sums").to_pylist()):
                yield table.schema, tuple(_key(values[row]) for values in keys), each

    def _sums(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found, schema = _Groups(), None
        for nth, batch in counted(batches):
            schema = self.schema(batch.schema)
            given = Batch(batch, nth)
            rows, known = self._rows(given)
            if not self._by:
                found.add((), rows)
                continue
            for key, of_group in self._split(given, rows, known):
                found.add(key, of_group)
        if schema is not None:
            yield from found.batches(schema)

    def _rows(self, given: Batch) -> tuple[Rows, npt.NDArray[np.int64] | None]:
        """Observation, forecast, sigma and weight of each row, and which rows these are if not all."""
        columns: dict[str, Floats | None] = {}
        for role, name in self._columns.items():
            if isinstance(name, str):
                columns[role] = given.numbers(name, f", the {role}")
            else:
                columns[role] = None if name is None else np.full(given.rows, float(name))
        known = None
        if self._drop:
            there = np.ones(given.rows, bool)
            for values in columns.values():
                there &= True if values is None else ~np.isnan(values)
            if not there.all():
                known = np.flatnonzero(there)
                columns = {role: None if values is None else values[known] for role, values in columns.items()}
        for role, checked in columns.items():
            if checked is not None:
                self._check(given, role, checked, known)
        y, mu, sigma = columns["observation"], columns["forecast"], columns["sigma"]
        assert y is not None and mu is not None and sigma is not None
        return (y, mu, sigma, columns["weight"]), known

    def _check(self, given: Batch, role: str, values: Floats, known: npt.NDArray[np.int64] | None) -> None:
        """Refuses what no score can be made of, by its place."""
        fine = np.isfinite(values)
        if role == "sigma":
            fine &= values > 0.0
        elif role == "weight":
            fine &= values >= 0.0
        if fine.all():
            return
        place = int(np.flatnonzero(~fine)[0])
        row, value = place if known is None else int(known[place]), values[place]
        name = self._columns[role]
        what = f'the column "{name}", the {role},' if isinstance(name, str) else f"the {role}"
        if np.isnan(value):
            wanted = 'is missing: leave such rows out, missing="drop", or fill it in'
        elif role == "sigma" and not value > 0.0:
            wanted = f"is {value}: every sigma must be greater than 0"
        elif role == "weight" and value < 0.0:
            wanted = f"is {value}: no weight can be negative"
        else:
            wanted = f"is {value}: every value must be finite"
        raise ValueError(f"{given.at(row)}: {what} {wanted}")

    def _split(
        self, given: Batch, rows: Rows, known: npt.NDArray[np.int64] | None
    ) -> Iterator[tuple[Key, Rows]]:
        """The rows of each group, in their order."""
        code = np.zeros(given.rows, np.int64)
        levels = []
        for name in self._by:
            distinct, places = distinct_of(given.column(name, ", which groups the rows"))
            # Small numbers again, so that many columns cannot run over.
            _, code = np.unique(code * len(distinct) + places, return_inverse=True)
            levels.append((distinct, places))
        here = np.arange(given.rows) if known is None else known
        code = code[here]
        order = np.argsort(code, kind="stable")
        if not len(order):
            return
        begins = np.flatnonzero(np.diff(code[order], prepend=-1))
        for begin, end in zip(begins, [*begins[1:], len(order)]):
            own = order[begin:end]
            key = tuple(_key(distinct[places[here[own[0]]]]) for distinct, places in levels)
            y, mu, sigma, weight = rows
            yield key, (y[own], mu[own], sigma[own], None if weight is None else weight[own])


class _Groups:
    """Sums by group, and rows of groups that are small as yet."""

    def __init__(self) -> None:
        self._waiting: dict[Key, list[Rows]] = {}
        self._counts: dict[Key, int] = {}
        self._sums: dict[Key, ScoreSums] = {}

    def add(self, key: Key, rows: Rows) -> None:
        if key in self._sums:
            self._sums[key].add(*rows)
            return
        self._waiting.setdefault(key, []).append(rows)
        self._counts[key] = self._counts.get(key, 0) + len(rows[0])
        if self._counts[key] >= _WAITING:
            self._sums[key] = self._counted(key)

    def merge(self, key: Key, part: Any) -> None:
        if key in self._sums:
            self._sums[key].merge(part)
        else:
            self._sums[key] = ScoreSums().merge(part)

    def _counted(self, key: Key) -> ScoreSums:
        sums = ScoreSums()
        for rows in self._waiting.pop(key):
            sums.add(*rows)
        return sums

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """A row for each group."""
        names = schema.names[:-2]
        keys = [*self._sums, *self._waiting]
        for first in range(0, len(keys), _GROUPS):
            some = keys[first : first + _GROUPS]
            made = [self._sums.pop(key) if key in self._sums else self._counted(key) for key in some]
            columns = [pa.array([key[i] for key in some], schema.field(i).type) for i in range(len(names))]
            columns.append(pa.array([one.rows for one in made], pa.int64()))
            columns.append(pa.array([one.to_bytes() for one in made], pa.binary()))
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _key(value: Any) -> Any:
    """What is missing is one group, however it is said."""
    return None if value != value else value
