"""Columns that are members of an ensemble: what is made of them stands in the table instead of them."""

from __future__ import annotations

import fnmatch
from typing import Any

import numpy as np

from ._arrays import Floats, floats, refuse_twice
from ._categories import columns_of
from ._ensemble import ensemble_inputs

# The columns of the members, and what the forecast is of them.
Ensemble = tuple[list[str], str]


def ensemble_of(X: Any, members: Any, center: Any) -> Ensemble | None:
    """The columns that are members, by patterns of names, names, places or a mask."""
    if members is None:
        return None
    names = names_of(X)
    refuse_twice(names)
    if isinstance(members, str):
        members = [members]
    given = np.asarray(members)
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"members is {members!r}: give a pattern of names, such as 'm*', names, places or a mask")
    if given.dtype.kind == "b":
        if len(given) != len(names):
            raise ValueError(f"members is a mask of {len(given)} values, but X has {len(names)} columns")
        found = [name for name, one in zip(names, given) if one]
    elif given.dtype.kind in "iu":
        for place in given:
            if not -len(names) <= place < len(names):
                raise ValueError(f"members has {place}, but X has {len(names)} columns")
        found = [names[place] for place in given]
    else:
        found = []
        for pattern in map(str, given):
            matching = [name for name in names if name == pattern or fnmatch.fnmatchcase(name, pattern)]
            if not matching:
                raise ValueError(f"members names {pattern!r}, but X has {', '.join(names)}")
            found += matching
    found = list(dict.fromkeys(found))
    if len(found) < 2:
        raise ValueError(f'members stands for {len(found)} column only: give its values as forecast')
    return found, str(center)


def names_of(X: Any) -> list[str]:
    """The names of columns; of those that have none as scikit-learn counts them."""
    names, columns = columns_of(X)
    return [f"x{place}" for place in range(len(columns))] if names is None else names


def has_members(X: Any, ensemble: Ensemble) -> bool:
    """Whether a table holds members, and not already what is made of them."""
    return made_names(ensemble)[0] not in names_of(X)


def made_names(ensemble: Ensemble) -> list[str]:
    """What is made of members is called so."""
    return ensemble_inputs(np.empty((0, len(ensemble[0]))), center=ensemble[1]).names


def natural(name: str) -> tuple[str, int, str]:
    """Sorts x2 before x10."""
    word = name.rstrip("0123456789")
    digits = name[len(word) :]
    return (word, int(digits), "") if digits else (word, -1, "")


def made_of(X: Any, ensemble: Ensemble, order: list[str] | None = None) -> tuple[Table, Floats]:
    """The table in which the forecast, spread and share of zeros of the members stand after the other columns (or all in
    the order of a model), and the forecast."""
    members, center = ensemble
    names, columns = columns_of(X)
    usual = [f"x{place}" for place in range(len(columns))] if names is None else names
    places = {name: place for place, name in enumerate(usual)}
    for name in members:
        if name not in places:
            raise ValueError(f'X has no column "{name}", a member of the ensemble; it has {", ".join(usual)}')
    values = [floats(f'the member "{name}"', columns[places[name]]) for name in members]
    made = ensemble_inputs(np.column_stack(values), center=center)
    for name in made.names:
        if name in places:
            raise ValueError(f'X has a column "{name}" already, which is made of the members here; rename it')
    found: dict[str, Any] = {name: columns[places[name]] for name in usual if name not in members}
    found.update(zip(made.names, made.inputs.T))
    return in_order(Table(found), order or list(found)), made.forecast


def in_order(X: Any, names: list[str]) -> Table:
    """Columns by their names."""
    known = names_of(X)
    for name in names:
        if name not in known:
            raise ValueError(f'X has no column "{name}"; it has {", ".join(known)}')
    return Table({name: X[name] for name in names})


class Table:
    """Columns with names, as far as they are asked for."""

    def __init__(self, named: dict[str, Any]) -> None:
        self._named = named
        self.columns = list(named)

    def __getitem__(self, name: str) -> Any:
        return self._named[name]
