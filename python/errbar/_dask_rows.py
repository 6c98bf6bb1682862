"""Dask collections as parts of rows, and what is made of the rows of a part on the worker that has them."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple, cast

import dask.config
import numpy as np
from dask.delayed import delayed

from . import ScoreSums, _errbar
from ._arrays import Floats, floats
from ._categories import Category, encoded
from ._members import Ensemble, ensemble_of, has_members, in_order, made_of


class Raw(NamedTuple):
    """The rows of a part as they came."""

    X: Any
    error: Floats
    weight: Floats | None
    group: list[str] | None


def is_table(X: Any) -> bool:
    """Whether it is a Dask DataFrame."""
    return hasattr(X, "divisions") and X.ndim == 2


def checked(name: str, values: Any, columns: bool = False) -> Any:
    """A Dask collection of rows, each of whose parts has all columns."""
    if is_table(values) or hasattr(values, "divisions"):
        if is_table(values) and not columns:
            raise ValueError(f"{name} is a table: give a column of one value per row")
        return values
    if not (hasattr(values, "chunks") and hasattr(values, "to_delayed")):
        raise ValueError(
            f"{name} is a {type(values).__name__}: give a Dask DataFrame, Series or Array; SigmaRegressor takes what is in memory"
        )
    if columns:
        if values.ndim != 2:
            raise ValueError(f"{name} has {values.ndim} dimensions: give a row for each forecast, a column for each input")
        return values if len(values.chunks[1]) == 1 else values.rechunk({1: -1})
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} has {values.ndim} dimensions: give a column of one value per row")
    return values


def number_of_parts(values: Any) -> int:
    """How many parts a collection has, as it is cut by whoever made it."""
    return int(values.numblocks[0] if hasattr(values, "chunks") else values.npartitions)


def parts_together(collections: dict[str, Any]) -> list[dict[str, Any]]:
    """For each part, delayed, what collections that are cut alike have there."""
    first, *_ = collections
    for name, values in collections.items():
        parts, others = number_of_parts(values), number_of_parts(collections[first])
        if parts != others:
            raise ValueError(f"{name} has {parts} partitions but {first} has {others}: cut both alike (repartition, rechunk)")
    tables = [name for name, values in collections.items() if not hasattr(values, "chunks")]
    each_part: dict[str, list[Any]] = {}
    if tables:
        import dask.dataframe as dd

        own = [collections[name] for name in tables]
        packed = dd.map_partitions(pack, *own, meta=(None, "object"), enforce_metadata=False, align_dataframes=False)
        with as_they_are():
            each = packed.to_delayed()
        each_part |= {name: [part[place] for part in each] for place, name in enumerate(tables)}
    for name, values in collections.items():
        if hasattr(values, "chunks"):
            each_part[name] = list(values.to_delayed().ravel())
    return [dict(zip(each_part, part)) for part in zip(*each_part.values())]


def as_they_are() -> Any:
    """Parts stay as whoever made them has cut them: Dask would join small files, and others where other columns are asked
    for."""
    return dask.config.set({"optimization.tune.active": False})


def pack(*values: Any) -> Any:
    return values


def parts_of(X: Any, columns: dict[str, Any], members: tuple[Any, str] | None = None) -> list[Any]:
    """For each part of X its rows with what else belongs to them, delayed."""
    collections = {"X": checked("X", X, columns=True)}
    collections |= {name: checked(name, values) for name, values in columns.items() if values is not None}
    rows = delayed(rows_of, pure=True)
    return [rows(number, part, members) for number, part in enumerate(parts_together(collections))]


def parts_of_columns(columns: dict[str, Any]) -> list[Any]:
    """For each part of columns, delayed, what :func:`sums_of` makes of them."""
    sums = delayed(sums_of, pure=True)
    collections = {name: checked(name, values) for name, values in columns.items() if values is not None}
    return [sums(number, part) for number, part in enumerate(parts_together(collections))]


def sums_of(number: int, given: dict[str, Any]) -> dict[str | None, bytes]:
    """What scores of a part are made of, by group where rows have one."""
    with in_part(number):
        given = dict(given)
        labels = given.pop("group", None)
        values = {name: floats(name, column) for name, column in given.items()}
        rows = len(values["observation"])
        for name, column in values.items():
            if len(column) != rows:
                raise ValueError(f"{name} has {len(column)} rows but observation has {rows}: cut both alike")
        if rows == 0:
            return {}
        if labels is None:
            return {None: ScoreSums().add(**values).to_bytes()}
        # Checked whole first, so that rows are named by their places in the part.
        ScoreSums().add(**values)
        groups, places = np.unique(np.asarray(labels).astype(str), return_inverse=True)
        if len(places) != rows:
            raise ValueError(f"by has {len(places)} rows but observation has {rows}: cut both alike")
        found: dict[str | None, bytes] = {}
        for place, group in enumerate(groups):
            own = {name: column[places == place] for name, column in values.items()}
            found[str(group)] = ScoreSums().add(**own).to_bytes()
        return found


def rows_of(number: int, given: dict[str, Any], members: tuple[Any, str] | None) -> Raw:
    """The rows of a part: errors are made of forecasts and observations where these are given, and forecasts of members."""
    with in_part(number):
        given = dict(given)
        X = given.pop("X")
        rows = len(X)
        values = {name: floats(name, column) for name, column in given.items() if name != "group"}
        group = None if "group" not in given else [str(label) for label in np.asarray(given["group"]).ravel()]
        lengths = {name: len(column) for name, column in values.items()} | ({} if group is None else {"group": len(group)})
        for name, length in lengths.items():
            if length != rows:
                raise ValueError(f"{name} has {length} rows but X has {rows}: cut both alike (repartition, rechunk)")
        if members is not None:
            ensemble = ensemble_of(X, *members)
            if ensemble is not None:
                values["forecast"] = made_of(X, ensemble)[1]
        if "error" in values:
            error = values["error"]
        else:
            error = _errbar.errors_of(values["observation"], values["forecast"])
        weight = values.get("sample_weight")
        refuse("error", error, ~np.isfinite(error), "every value must be finite; leave the row out")
        if weight is not None:
            refuse("sample_weight", weight, ~(np.isfinite(weight) & (weight >= 0)), "give 0 or more")
        return Raw(X, error, weight, group)


def refuse(name: str, values: Floats, wrong: Any, why: str) -> None:
    """A sentence with the first row that cannot be."""
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name} at row {row} is {values[row]}: {why}")


class Known(NamedTuple):
    """What is known of inputs since the sample was looked at."""

    names: list[str]
    categories: list[Category]
    ensemble: Ensemble | None
    named: bool
    """Whether X has names of its own."""


def inputs_of(X: Any, known: Known) -> Floats:
    """The inputs of a part in rows of doubles, as those of the sample are."""
    if known.ensemble is not None and has_members(X, known.ensemble):
        X = made_of(X, known.ensemble, known.names)[0]
    elif known.named:
        X = in_order(X, known.names)
    elif X.shape[1] != len(known.names):
        raise ValueError(f"X has {X.shape[1]} columns, and {len(known.names)} elsewhere")
    return encoded(X, [place for place, _ in known.categories], known.categories)[0]


def numbers_of(group: list[str] | None) -> Any:
    """A number for each group that is the same wherever it is met."""
    if group is None:
        return None
    return np.array([zlib.crc32(label.encode()) for label in group], dtype=np.uint32)


def picked(raw: Raw, rows: Any) -> Raw:
    """Some rows of a part."""
    X = raw.X.iloc[rows] if hasattr(raw.X, "iloc") else raw.X[rows]
    weight = None if raw.weight is None else raw.weight[rows]
    group = None if raw.group is None else [raw.group[row] for row in rows]
    return Raw(X, raw.error[rows], weight, group)


def together(raws: list[Raw]) -> Raw:
    """Rows of several parts as those of one."""
    first = raws[0]
    if hasattr(first.X, "iloc"):
        import pandas

        X = pandas.concat([raw.X for raw in raws], ignore_index=True)
        for name in X.columns:
            # Of categoricals that differ pandas makes objects.
            if str(first.X[name].dtype) == "category" and str(X[name].dtype) != "category":
                X[name] = X[name].astype("category")
    else:
        X = np.concatenate([raw.X for raw in raws])
    weight = None if first.weight is None else np.concatenate(cast("list[Floats]", [raw.weight for raw in raws]))
    group = None if first.group is None else [label for raw in raws for label in raw.group or []]
    return Raw(X, np.concatenate([raw.error for raw in raws]), weight, group)


class in_part:
    """Says of what goes wrong in which part it was."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ValueError) and not str(error).startswith("part "):
            raise ValueError(f"part {self.number}: {error}") from None
