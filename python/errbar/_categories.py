"""Inputs that are categories: texts, truth values, whatever only names something."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _errbar
from ._arrays import Floats, floats

# What columns of text and of categories are called by pandas, Polars and PyArrow.
TEXT = ("category", "categorical", "enum", "string", "utf8", "large_string", "dictionary")

# The levels of a category, and which of the inputs it is.
Category = tuple[int, list[str]]


def columns_of(X: Any) -> tuple[list[str] | None, list[Any]]:
    """The columns of a table with their names, or of rows without names."""
    # PyArrow's columns are the values; elsewhere they are the names.
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    if names is not None:
        return [str(name) for name in names], [X[name] for name in names]
    rows = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    return None, list(rows.T) if rows.ndim == 2 else []


def chosen(X: Any, asked: Any) -> list[int]:
    """The places of the columns that are categories: those of text in a table with names ("from_dtype"), or those that
    are given, as a mask, places or names; none of None."""
    if asked is None:
        return []
    if isinstance(asked, str):
        if asked != "from_dtype":
            raise ValueError(
                f'categorical_features is {asked!r}: give "from_dtype", a mask, places or names in a list, or None'
            )
        # Rows without names are numbers, unless somebody says otherwise.
        if not (hasattr(X, "columns") or hasattr(X, "column_names")):
            return []
        _, columns = columns_of(X)
        return [place for place, values in enumerate(columns) if is_text(values)]
    names, columns = columns_of(X)
    given = np.asarray(asked)
    if given.size == 0:
        return []
    if given.ndim != 1:
        raise ValueError("categorical_features has more than one dimension: give a mask, places or names in a list")
    if given.dtype.kind == "b":
        if len(given) != len(columns):
            raise ValueError(
                f"categorical_features is a mask of {len(given)} values, but X has {len(columns)} columns"
            )
        return [int(place) for place in np.flatnonzero(given)]
    if given.dtype.kind in "iu":
        for place in given:
            if not -len(columns) <= place < len(columns):
                raise ValueError(f"categorical_features has {place}, but X has {len(columns)} columns")
        return sorted({int(place) % len(columns) for place in given})
    found = []
    for name in given:
        if names is None or str(name) not in names:
            why = "X has no names" if names is None else f"X has {', '.join(names)}"
            raise ValueError(f"categorical_features names {str(name)!r}: {why}")
        found.append(names.index(str(name)))
    return sorted(set(found))


def is_text(values: Any) -> bool:
    """Whether a column of a table holds categories or texts."""
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    if kind == "str" or kind.startswith(TEXT):
        return True
    return kind == "object" and any(isinstance(value, str) for value in values)


def texts(values: Any) -> list[str]:
    """Each value as text; nothing where it is missing."""
    if hasattr(values, "to_pylist"):
        plain = values.to_pylist()
    else:
        plain = values.to_list() if hasattr(values, "to_list") else list(values)
    return [_text(value) for value in plain]


def _text(value: Any) -> str:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (float, np.floating)):
        if value != value:
            return ""
        return str(int(value)) if float(value).is_integer() else str(float(value))
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return str(value)


def encoded(X: Any, places: list[int], known: list[Category] | None) -> tuple[Floats, list[Category]]:
    """Rows of numbers in which categories are places among their levels: those that are known, or those that come."""
    names, columns = columns_of(X)
    levels = dict(known or [])
    out, found = [], []
    for place, values in enumerate(columns):
        name = f"x{place}" if names is None else names[place]
        if place in places:
            own, codes = _errbar.coded(texts(values), levels.get(place))
            found.append((place, own))
            out.append(codes)
        else:
            out.append(floats(f'the input "{name}"', values))
    return np.require(np.column_stack(out), dtype=np.float64, requirements=["C", "A"]), found
