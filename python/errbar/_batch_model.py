"""A model in a task of an engine, read once in each process, and the columns that it takes and adds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _errbar
from ._arrays import Floats
from ._batch_columns import Batch
from ._members import made_names
from ._pyarrow import pa


class Asked:
    """What is asked of a model, plain enough to be sent anywhere."""

    def __init__(
        self,
        wanted: dict[str, Any],
        forecast: str | None,
        as_fitted: bool,
        prefix: str,
        keep: bool | tuple[str, ...],
        threads: int,
    ) -> None:
        self.wanted = wanted
        self.forecast = forecast
        self.as_fitted = as_fitted
        self.prefix = prefix
        self.keep = keep
        self.threads = threads


class Key:
    """What was asked for, to be found again."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.text = repr(sorted(vars(asked).items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@functools.lru_cache(maxsize=4)
def opened_of(text: str, key: Key) -> Opened:
    """Read once in each process, since engines send the function with every task."""
    return Opened(_errbar.Fitted.from_json(text), key.asked)


class Opened:
    """A model that was read, and the columns that it takes."""

    def __init__(self, model: _errbar.Fitted, asked: Asked) -> None:
        self.model = model
        _refuse_followers(model, asked.as_fitted)
        self.columns = _errbar.Columns(model, asked.wanted)
        self.categories = dict(model.categories)
        self.why = ", an input of the model"
        self.made: list[str] = []
        self.needed: list[tuple[str, str]] = []
        if model.ensemble is not None:
            self.made = made_names(model.ensemble)
            self.needed += [(name, ", a member of the ensemble of the model") for name in model.ensemble[0]]
        self.needed += [(name, self.why) for name in model.names]
        self.forecast = _forecast_of(model, asked)
        if self.forecast is not None:
            self.needed.append((self.forecast, ", the forecast"))
        if model.prior is not None:
            self.needed.append((model.prior, ", the prior sigma of the model"))
        self.group = model.grouped_by if asked.wanted["guarantee"] else None
        if self.group is not None:
            self.needed.append((self.group, ", which the guarantee of the model is grouped by"))
        self.time = model.time if model.calendar else None
        if self.time is not None:
            self.needed.append((self.time, f", of which the model takes {' and '.join(model.calendar)}"))

    def of(self, given: Batch, asked: Asked) -> list[Any]:
        """The columns to add to a batch."""
        numbers = self._numbers(given)
        inputs = [
            given.codes(name, self.categories[place], self.why) if place in self.categories else numbers(name, self.why)
            for place, name in enumerate(self.model.names)
        ]
        stacked = np.column_stack(inputs) if inputs else np.empty((given.rows, 0))
        stacked = np.require(stacked, np.float64, ["C", "A"])
        if self.time is not None:
            stacked = self.model.with_calendar(stacked, self._seconds(given, self.time))
        forecast = None if self.forecast is None else numbers(self.forecast, ", the forecast")
        prior = None if self.model.prior is None else numbers(self.model.prior, ", the prior sigma of the model")
        group = None
        if self.group is not None:
            labels, places = given.labels(self.group, ", which the guarantee of the model is grouped by")
            group = [labels[place] for place in places]
        told = self.columns.of(stacked, forecast, prior, group, asked.threads)
        return list(self._arrays(*told))

    def _numbers(self, given: Batch) -> Any:
        """Numbers by name: columns, or what is made of members where there is no such column."""
        if self.model.ensemble is None:
            return given.numbers
        names, center = self.model.ensemble
        members = np.column_stack([given.numbers(name, ", a member of the ensemble") for name in names])
        made, _ = _errbar.of_members(np.ascontiguousarray(members), center)

        def numbers(name: str, why: str) -> Floats:
            if name in self.made and name not in given.batch.schema.names:
                return np.ascontiguousarray(made[:, self.made.index(name)])
            return given.numbers(name, why)

        return numbers

    def _seconds(self, given: Batch, time: str) -> Floats:
        cycles = " and ".join(self.model.calendar)
        seconds, zone = given.seconds(time, f", of which the model takes {cycles}")
        if self.model.offset not in (None, zone):
            have, had = ("a time zone" if one else "none" for one in (zone, self.model.offset))
            raise ValueError(
                f'the times in "{time}" have {have}, and those that the model learned {cycles} of had {had}: give both alike'
            )
        return seconds

    def _arrays(self, numbers: Any, by: Any, outside: Any, outside_input: Any) -> Iterator[Any]:
        """As columns of Arrow, in their order."""
        numbers, by = iter(numbers), iter(by)
        for _, kind in self.columns.names:
            if kind == "number":
                yield pa.array(next(numbers), from_pandas=True)
            elif kind == "made_to":
                yield _texts(self.columns.made_to, next(by))
            elif kind == "flag":
                yield pa.array(outside == 1, mask=outside < 0)
            else:
                yield _texts(self.columns.called, outside_input)


def _texts(names: list[str], places: Any) -> Any:
    """Texts by their places, none where that is below 0."""
    return pa.array(names, pa.string()).take(pa.array(places, mask=places < 0))


def _forecast_of(model: _errbar.Fitted, asked: Asked) -> str | None:
    """The column with the forecast, where one is needed."""
    if asked.forecast is not None:
        return asked.forecast
    if model.has_forecast:
        return None
    wanted = asked.wanted
    needed = any(wanted[name] for name in ("interval", "quantiles", "exceed", "guarantee"))
    if not (needed or model.has_bias or model.ensemble is not None):
        return None
    if model.forecast is None:
        raise ValueError('intervals, quantiles, thresholds and debiasing need the forecast: name its column, forecast="..."')
    return model.forecast


def _refuse_followers(model: _errbar.Fitted, as_fitted: bool) -> None:
    """Rows of batches know nothing of rows before them."""
    if model.lags:
        raise ValueError(
            "this model takes errors of earlier rows (lag), which a batch does not hold: use errbar predict on the table, or fit "
            "one without lags"
        )
    if model.followed_rows and not as_fitted:
        raise ValueError(
            "this model follows what was observed, and batches come in any order: ask for error bars as they were fitted, "
            "as_fitted=True, or use errbar predict on the table"
        )
