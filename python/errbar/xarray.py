"""Scores of labelled arrays: xarray in, xarray out, lazy where the arrays are lazy.

>>> import numpy as np
>>> import xarray as xr
>>> import errbar.xarray
>>> error = xr.DataArray(np.sin(np.arange(60.0)).reshape(20, 3), dims=("time", "station"))
>>> errbar.xarray.crps(error, 0.7).dims
('time', 'station')
>>> errbar.xarray.reliability_score(error, 0.7, dim="time").dims
('station',)

- Functions of single rows (`crps`, `crps_gradient`, `nlpd`, `pit`) keep shape, labels and chunks.
- `coverage` takes a mean over `dim`, in any chunks.
- `reliability_score`, `accuracy_reliability` and `scores` look at all rows of `dim` together: their
  ranks. Those rows must be in one chunk; the other dimensions may be chunked as you like.
- ``dim`` is a name, several names, or None for all dimensions.
- A row where something is NaN is a missing one. Functions of single rows give NaN there; the others
  leave it out, and give NaN where nothing is left (``skipna=False``: where anything is missing).
- What cannot be is refused by a ``ValueError``, which a lazy array raises when it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

import errbar
from errbar._arrays import Floats

__all__ = [
    "accuracy_reliability",
    "coverage",
    "crps",
    "crps_ensemble",
    "crps_gradient",
    "ensemble_inputs",
    "nlpd",
    "pit",
    "reliability_score",
    "scores",
]

Dims = str | Iterable[Hashable] | None
"""One dimension, several, or None for all."""

# What a reader of a file wants to know about each number.
_LONG_NAMES = {
    "crps": "continuous ranked probability score",
    "spread_over_skill": "spread of the members over the error of their mean",
    "ranks": "share of observations at each place among the members",
    "crps_gradient": "derivative of the CRPS with respect to sigma",
    "nlpd": "negative log predictive density",
    "pit": "probability integral transform",
    "coverage": "share of observations inside the central interval",
    "rs": "reliability score",
    "ar": "accuracy-reliability cost",
    "beta": "weight of accuracy in the accuracy-reliability cost",
    "rows": "number of rows",
    "bias": "mean error",
    "mae": "mean absolute error",
    "rmse": "root mean squared error",
    "mean_sigma": "mean sigma",
    "mean_z": "mean of error over sigma",
    "rms_z": "root mean square of error over sigma",
    "crps_skill": "CRPS skill against the best constant sigma",
    "rs_by_chance": "mean reliability score of a calibrated forecast",
    "rs_min": "least reliability score of as many rows",
    "coverage_low": "lower end of the range of chance of the coverage",
    "coverage_high": "upper end of the range of chance of the coverage",
    "mean_width": "mean width of the central interval",
}
_UNITS_OF_ERROR = {"crps", "bias", "mae", "rmse", "mean_sigma", "mean_width"}
_OF_SCORES = (
    "rows bias mae rmse mean_sigma mean_z rms_z crps crps_skill nlpd rs rs_by_chance rs_min"
).split()
_OF_LEVELS = {
    "coverage": "observed",
    "coverage_low": "low",
    "coverage_high": "high",
    "mean_width": "mean_width",
}


def crps(error: xr.DataArray, sigma: Any) -> xr.DataArray:
    """The CRPS of each row: see :func:`errbar.crps`."""
    return _each("crps", errbar.crps, error, sigma)


def crps_ensemble(
    observation: xr.DataArray,
    members: xr.DataArray,
    member_dim: Hashable = "member",
    fair: bool = True,
) -> xr.DataArray:
    """The CRPS of the members along `member_dim`: see :func:`errbar.crps_ensemble`.

    A member that is NaN is a missing one; a place without an observation or any member is NaN.
    """
    _check_members(observation, members, member_dim)
    observation, members = xr.align(observation, members, join="exact", copy=False)
    values = xr.apply_ufunc(
        partial(_crps_of_members, fair),
        observation,
        members,
        input_core_dims=[[], [member_dim]],
        dask="parallelized",
        output_dtypes=[float],
    )
    return _labelled("crps", values, observation)


def _crps_of_members(fair: bool, observation: Any, members: Any) -> Floats:
    members = np.require(members, float, ["C", "A"])
    observation = np.broadcast_to(np.asarray(observation, float), members.shape[:-1])
    known = ~np.isnan(observation) & ~np.isnan(members).all(axis=-1)
    out = np.full(observation.shape, np.nan)
    if known.any():
        out[known] = errbar.crps_ensemble(observation[known], members[known], fair=fair)
    return out


def ensemble_inputs(
    members: xr.DataArray, member_dim: Hashable = "member", *, center: str = "mean"
) -> xr.Dataset:
    """The forecast that the members along `member_dim` make, their spread and the share of them that are zero, as inputs
    for a model of its errors: see :func:`errbar.ensemble_inputs`. Lazy where the members are lazy; `member_dim` is then to
    be one chunk.

    Examples
    --------
    >>> import xarray as xr
    >>> import errbar.xarray
    >>> members = xr.DataArray([[0.0, 3.0], [1.0, 3.0]], dims=("station", "member"))
    >>> errbar.xarray.ensemble_inputs(members)["members_mean"].values
    array([1.5, 2. ])
    """
    if not isinstance(members, xr.DataArray):
        raise ValueError(f"members is a {type(members).__name__}: give an xarray.DataArray")
    if member_dim not in members.dims:
        known = ", ".join(map(str, members.dims))
        raise ValueError(f"member_dim {member_dim!r} is no dimension of members, which has {known}")
    names = errbar.ensemble_inputs(np.empty((0, 1)), center=center).names
    made = xr.apply_ufunc(
        partial(_made_of_members, center),
        members,
        input_core_dims=[[member_dim]],
        output_core_dims=[["made"]],
        dask="parallelized",
        output_dtypes=[float],
        dask_gufunc_kwargs={"output_sizes": {"made": len(names)}},
    )
    return xr.Dataset({name: made.isel(made=place, drop=True) for place, name in enumerate(names)})


def _made_of_members(center: str, members: Any) -> Floats:
    members = np.require(members, float, ["C", "A"])
    rows = members.reshape(-1, members.shape[-1])
    return errbar.ensemble_inputs(rows, center=center).inputs.reshape(*members.shape[:-1], -1)


def _check_members(observation: Any, members: Any, member_dim: Hashable) -> None:
    for what, array in (("observation", observation), ("members", members)):
        if not isinstance(array, xr.DataArray):
            raise ValueError(f"{what} is a {type(array).__name__}: give an xarray.DataArray")
    if member_dim not in members.dims:
        known = ", ".join(map(str, members.dims))
        raise ValueError(f"member_dim {member_dim!r} is no dimension of members, which has {known}")
    if member_dim in observation.dims:
        raise ValueError(f"observation has a dimension {member_dim!r}: leave members out of it")


def crps_gradient(error: xr.DataArray, sigma: Any) -> xr.DataArray:
    """The derivative of each row's CRPS by its sigma: see :func:`errbar.crps_gradient`."""
    return _each("crps_gradient", errbar.crps_gradient, error, sigma)


def nlpd(error: xr.DataArray, sigma: Any) -> xr.DataArray:
    """The negative log predictive density of each row: see :func:`errbar.nlpd`."""
    return _each("nlpd", errbar.nlpd, error, sigma)


def pit(error: xr.DataArray, sigma: Any) -> xr.DataArray:
    """The probability integral transform of each row: see :func:`errbar.pit`."""
    return _each("pit", errbar.pit, error, sigma)


def coverage(
    error: xr.DataArray,
    sigma: Any,
    level: Any = 0.9,
    dim: Dims = None,
    weight: xr.DataArray | None = None,
    skipna: bool = True,
) -> xr.DataArray:
    """The share of observations inside the central interval of each level: see
    :func:`errbar.coverage`.

    Several levels make a dimension ``level``.
    """
    levels = xr.DataArray(np.asarray(level, float), dims=("level",) if np.ndim(level) else ())
    if not bool(((levels > 0.0) & (levels < 1.0)).all()):
        raise ValueError(f"level is {level}: give probabilities strictly between 0 and 1")
    error, sigma, weight = _together(error, sigma, weight)
    here = error.notnull() & sigma.notnull()
    reach = np.sqrt(2.0) * xr.apply_ufunc(errbar.erfinv, levels)
    # Through z, so that a sigma that is not positive is refused as everywhere else.
    z = _each("pit", _scaled, error, sigma)
    inside = (abs(z) <= reach).where(here)
    mean = inside.mean(_names(error, dim), skipna=skipna)
    if weight is not None:
        mean = inside.weighted(weight.fillna(0.0)).mean(_names(error, dim), skipna=skipna)
    if np.ndim(level):
        mean = mean.assign_coords(level=levels.values)
    return _labelled("coverage", mean, error)


def reliability_score(
    error: xr.DataArray,
    sigma: Any,
    dim: Dims = None,
    weight: xr.DataArray | None = None,
    skipna: bool = True,
) -> xr.DataArray:
    """The Reliability Score over `dim`: see :func:`errbar.reliability_score`."""
    return _reduced(_rs, ["rs"], error, sigma, dim, weight, skipna)["rs"]


def accuracy_reliability(
    error: xr.DataArray,
    sigma: Any,
    dim: Dims = None,
    beta: Any = "heuristic",
    weight: xr.DataArray | None = None,
    skipna: bool = True,
) -> xr.Dataset:
    """The Accuracy-Reliability cost over `dim` and its parts: `ar`, `beta`, `crps`, `rs`.

    See :func:`errbar.accuracy_reliability`.
    """
    function = partial(_ar, beta)
    return _reduced(function, ["ar", "beta", "crps", "rs"], error, sigma, dim, weight, skipna)


def scores(
    observation: xr.DataArray,
    forecast: Any = None,
    sigma: Any = None,
    dim: Dims = None,
    levels: Iterable[float] = (0.5, 0.8, 0.9, 0.95, 0.99),
    weight: xr.DataArray | None = None,
    skipna: bool = True,
    members: xr.DataArray | None = None,
    member_dim: Hashable = "member",
) -> xr.Dataset:
    """All scores over `dim` as a dataset, with coverage and width along a dimension ``level``.

    With `members`, which have `member_dim` beside the dimensions of the observation, those of an
    ensemble: its fair CRPS, spread over skill, and ranks along a dimension ``rank``.

    See :func:`errbar.scores`.
    """
    if members is not None:
        if forecast is not None or sigma is not None:
            raise ValueError("one forecast is judged: give forecast and sigma, or members")
        return _scores_of_members(observation, members, member_dim, dim, weight, skipna)
    if forecast is None or sigma is None:
        raise ValueError("forecast and sigma go together: give both, or members")
    levels = [float(level) for level in levels]
    of_levels = [f"{name} {level}" for name in _OF_LEVELS for level in levels]
    outputs = [*_OF_SCORES, "ar", "beta", *of_levels]
    if isinstance(forecast, xr.DataArray):
        observation, forecast = xr.align(observation, forecast, join="exact", copy=False)
    error = (observation - forecast).assign_attrs(observation.attrs)
    flat = _reduced(partial(_scores, levels), outputs, error, sigma, dim, weight, skipna)
    out = flat.drop_vars(of_levels)
    for name in _OF_LEVELS:
        each = [flat[f"{name} {level}"] for level in levels]
        if each:
            stacked = xr.concat(each, xr.DataArray(levels, dims="level", name="level"))
            out[name] = _labelled(name, stacked.transpose(..., "level"), error)
    return out


_OF_MEMBERS = "rows bias mae rmse crps crps_skill rs".split()


def _scores_of_members(
    observation: xr.DataArray,
    members: xr.DataArray,
    member_dim: Hashable,
    dim: Dims,
    weight: xr.DataArray | None,
    skipna: bool,
) -> xr.Dataset:
    """The scores of an ensemble over `dim`."""
    _check_members(observation, members, member_dim)
    arrays = [array for array in (observation, members, weight) if array is not None]
    observation, members, *rest = xr.align(*arrays, join="exact", copy=False)
    names = _names(observation, dim)
    own = [name for name in members.dims if name != member_dim]
    observation, *rest = xr.broadcast(observation, members.isel({member_dim: 0}, drop=True), *rest)
    rest = rest[1:]
    places = members.sizes[member_dim] + 1
    outputs = len(_OF_MEMBERS) + 1 + places
    for what, array in (("observation", observation), ("members", members)):
        _check_one_chunk(what, array, [name for name in names if name in array.dims])
    members = members.broadcast_like(observation) if set(own) != set(observation.dims) else members
    values = xr.apply_ufunc(
        partial(_members_at_each_place, outputs, len(names), skipna),
        observation,
        members,
        *rest,
        input_core_dims=[names, [*names, member_dim], *([names] * len(rest))],
        output_core_dims=[["score"]],
        dask="parallelized",
        dask_gufunc_kwargs={"output_sizes": {"score": outputs}},
        output_dtypes=[float],
    )
    single = [*_OF_MEMBERS, "spread_over_skill"]
    out = xr.Dataset(
        {name: _labelled(name, values.isel(score=i), observation) for i, name in enumerate(single)}
    )
    ranks = values.isel(score=slice(len(single), None)).rename(score="rank")
    out["ranks"] = _labelled("ranks", ranks, observation)
    return out


def _members_at_each_place(
    outputs: int, core: int, skipna: bool, observation: Any, members: Any, *weight: Any
) -> Floats:
    """The scores of all rows, which are the last `core` dimensions, at each place."""
    observation, members = np.asarray(observation, float), np.asarray(members, float)
    places = observation.shape[: observation.ndim - core]
    y = observation.reshape(*places, -1)
    x = members.reshape(*places, y.shape[-1], members.shape[-1])
    w = [np.asarray(one, float).reshape(*places, -1) for one in weight]
    out = np.full((*places, outputs), np.nan)
    for place in np.ndindex(places):
        known = ~np.isnan(y[place]) & ~np.isnan(x[place]).all(axis=-1)
        for one in w:
            known &= ~np.isnan(one[place])
        if not known.all() and not (skipna and known.any()):
            continue
        found = errbar.scores(
            y[place][known],
            weight=w[0][place][known] if w else None,
            members=x[place][known],
        )
        assert found.members is not None
        single = [float(getattr(found, name)) for name in _OF_MEMBERS]
        out[place] = [*single, found.members.spread_skill.ratio, *found.members.ranks.frequency]
    return out


def _rs(error: Floats, sigma: Floats, weight: Floats | None) -> list[float]:
    return [errbar.reliability_score(error, sigma, weight)]


def _ar(beta: Any, error: Floats, sigma: Floats, weight: Floats | None) -> list[float]:
    return list(errbar.accuracy_reliability(error, sigma, beta, weight))


def _scores(
    levels: list[float], error: Floats, sigma: Floats, weight: Floats | None
) -> list[float]:
    found = errbar.scores(error, 0.0, sigma, weight, levels=levels)
    single = [float(getattr(found, name)) for name in _OF_SCORES]
    of_levels = [
        float(getattr(one, field)) for field in _OF_LEVELS.values() for one in found.coverage
    ]
    return [*single, found.ar.value, found.ar.beta, *of_levels]


def _scaled(error: Floats, sigma: Floats) -> Floats:
    errbar.crps(error, sigma)
    return error / sigma


def _each(
    name: str, function: Callable[[Any, Any], Any], error: xr.DataArray, sigma: Any
) -> xr.DataArray:
    """A function of single rows, row by row."""
    error, sigma, _ = _together(error, sigma, None)
    values = xr.apply_ufunc(
        partial(_where_known, function), error, sigma, dask="parallelized", output_dtypes=[float]
    )
    return _labelled(name, values, error)


def _where_known(function: Callable[[Any, Any], Any], error: Any, sigma: Any) -> Floats:
    """The function where both are known, NaN elsewhere."""
    # What comes from another process may lie across the places of doubles in memory.
    error, sigma = (np.require(x, float, ["C", "A"]) for x in np.broadcast_arrays(error, sigma))
    known = ~(np.isnan(error) | np.isnan(sigma))
    if known.all():
        return np.asarray(function(error, sigma))
    out = np.full(error.shape, np.nan)
    out[known] = function(error[known], sigma[known])
    return out


def _reduced(
    function: Callable[..., list[float]],
    outputs: list[str],
    error: xr.DataArray,
    sigma: Any,
    dim: Dims,
    weight: xr.DataArray | None,
    skipna: bool,
) -> xr.Dataset:
    """A function of all rows of `dim`, for each place of the other dimensions."""
    error, sigma, weight = _together(error, sigma, weight)
    names = _names(error, dim)
    arrays = [array for array in (error, sigma, weight) if array is not None]
    arrays = list(xr.broadcast(*arrays))
    for what, array in zip(("error", "sigma", "weight"), arrays):
        _check_one_chunk(what, array, names)
    values = xr.apply_ufunc(
        partial(_at_each_place, function, len(outputs), len(names), skipna),
        *arrays,
        input_core_dims=[names] * len(arrays),
        output_core_dims=[["score"]],
        dask="parallelized",
        dask_gufunc_kwargs={"output_sizes": {"score": len(outputs)}},
        output_dtypes=[float],
    )
    return xr.Dataset(
        {name: _labelled(name, values.isel(score=i), error) for i, name in enumerate(outputs)}
    )


def _at_each_place(
    function: Callable[..., list[float]], outputs: int, core: int, skipna: bool, *arrays: Floats
) -> Floats:
    """The function of all rows, which are the last `core` dimensions, at each place."""
    places = arrays[0].shape[: arrays[0].ndim - core]
    columns = [np.asarray(array, float).reshape(*places, -1) for array in arrays]
    out = np.full((*places, outputs), np.nan)
    for place in np.ndindex(places):
        rows = [column[place] for column in columns]
        known = ~np.isnan(rows).any(axis=0)
        if known.all() or (skipna and known.any()):
            error, sigma, *weight = (row[known] for row in rows)
            out[place] = function(error, sigma, weight[0] if weight else None)
    return out


def _together(
    error: xr.DataArray, sigma: Any, weight: xr.DataArray | None
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray | None]:
    """As arrays of the same labels; labels that differ are refused."""
    if not isinstance(error, xr.DataArray):
        raise ValueError(f"error is a {type(error).__name__}: give an xarray.DataArray")
    if not isinstance(sigma, xr.DataArray):
        if np.ndim(sigma):
            raise ValueError("sigma has no labels: give an xarray.DataArray or one number")
        sigma = xr.DataArray(float(sigma))
    if weight is None:
        error, sigma = xr.align(error, sigma, join="exact", copy=False)
        return error, sigma, None
    error, sigma, weight = xr.align(error, sigma, weight, join="exact", copy=False)
    return error, sigma, weight


def _names(error: xr.DataArray, dim: Dims) -> list[Hashable]:
    names: list[Hashable] = (
        list(error.dims) if dim is None else [dim] if isinstance(dim, str) else list(dim)
    )
    for name in names:
        if name not in error.dims:
            known = ", ".join(map(str, error.dims))
            raise ValueError(f"dim {name!r} is no dimension of error, which has {known}")
    return names


def _check_one_chunk(what: str, array: xr.DataArray, names: list[Hashable]) -> None:
    for name in names:
        chunks = len(array.chunksizes.get(name, (0,)))
        if chunks > 1:
            raise ValueError(
                f"{what} is in {chunks} chunks along {name!r}, and ranks need all of its rows at "
                f"once: put them in one chunk by {what}.chunk({{{name!r}: -1}})"
            )


def _labelled(name: str, values: xr.DataArray, error: xr.DataArray) -> xr.DataArray:
    """With the name of the score in place of that of the error, and its units where they are the
    error's."""
    attributes = {"long_name": _LONG_NAMES[name]} if name in _LONG_NAMES else {}
    if name in _UNITS_OF_ERROR and "units" in error.attrs:
        attributes["units"] = error.attrs["units"]
    values = values.rename(name)
    values.attrs = attributes
    return values
