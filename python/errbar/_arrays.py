"""Whatever holds numbers, as arrays of doubles: lists, NumPy, pandas, Polars, PyArrow.

Nothing is copied that is an array of doubles in one piece already.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def floats(name: str, values: Any) -> Floats:
    """Values of any shape as doubles in one piece; `name` is what they are called in messages."""
    refuse_sparse(name, values)
    array = _as_array(values)
    if array.dtype != np.float64:
        array = _as_doubles(name, array)
    return np.require(array, requirements=["C", "A"])


def column(name: str, values: Any, rows: int | None = None) -> Floats:
    """One value for each row. A single number stands for all rows where their number is given."""
    array = floats(name, values)
    if array.ndim == 0 and rows is not None:
        return np.full(rows, array)
    if array.ndim != 1:
        raise ValueError(f"{name} has {_dimensions(array)}: give a column of one value per row")
    return array


def maybe_column(name: str, values: Any) -> Floats | None:
    """`column`, where it may be left out."""
    return None if values is None else column(name, values)


def one_name(name: str, value: Any, other: str, same: Any) -> Any:
    """What goes by two names, by whichever it came."""
    if value is not None and same is not None:
        raise ValueError(f"{name} and {other} are two names of the same: give one of them")
    return value if same is None else same


def together(first: str, a: Any, second: str, b: Any) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Two arrays broadcast to the same shape, and that shape."""
    x, y = floats(first, a), floats(second, b)
    if x.shape == y.shape:
        return x, y, x.shape
    shape = common_shape({first: x, second: y})
    spread = [np.ascontiguousarray(np.broadcast_to(array, shape)) for array in (x, y)]
    return spread[0], spread[1], shape


def common_shape(named: dict[str, Floats]) -> tuple[int, ...]:
    """The shape that arrays have when they are broadcast."""
    try:
        return np.broadcast_shapes(*(array.shape for array in named.values()))
    except ValueError:
        pass
    # Two of them do not go together.
    for (first, x), (second, y) in combinations(named.items(), 2):
        if any(1 != m != n != 1 for m, n in zip(x.shape[::-1], y.shape[::-1])):
            break
    if x.ndim == 1 and y.ndim == 1:
        raise ValueError(
            f"{second} has {len(y)} values but {first} has {len(x)}: give one value per row"
        )
    raise ValueError(
        f"{first} has shape {x.shape} and {second} has shape {y.shape}: "
        "give shapes that are equal or broadcast"
    )


def refuse_twice(names: list[str]) -> None:
    """Refuses columns of the same name: one could not tell them apart."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValueError(f'two input columns are named "{name}": give each its own name')


def levels_of(level: Any) -> tuple[list[float], bool]:
    """The levels of intervals, and whether one number was given, which makes no axis."""
    try:
        array = floats("level", level)
        if array.ndim <= 1 and array.size and bool(((array > 0) & (array < 1)).all()):
            return [float(one) for one in array.reshape(-1)], array.ndim == 0
    except ValueError:
        pass
    raise ValueError(f"level is {level!r}: give a number strictly between 0 and 1, or several")


def at_levels(level: Any, ends: Callable[[float], tuple[Any, Any]]) -> Floats:
    """Both ends of an interval at each level, in the last axis; several levels have the axis before it."""
    shares, one = levels_of(level)
    found = [np.stack(ends(share), axis=-1) for share in shares]
    return found[0] if one else np.stack(found, axis=-2)


def groups_of(by: Any, usual: str = "group") -> tuple[str, list[str], npt.NDArray[np.uint32]]:
    """What rows are grouped by, the groups, and for each row its place among them."""
    labels, rows = np.unique(np.asarray(by).astype(str), return_inverse=True)
    return name_of(by, usual), [str(label) for label in labels], rows.astype(np.uint32)


def name_of(values: Any, usual: str) -> str:
    """The name of a column that has one."""
    name = getattr(values, "name", None)
    return name if isinstance(name, str) and name else usual


def shaped(flat: Floats, shape: tuple[int, ...]) -> Any:
    """A flat result in the shape of its input; a number for a number."""
    return flat.reshape(shape) if shape else float(flat[0])


def _dimensions(array: npt.NDArray[Any]) -> str:
    if array.ndim == 0:
        return "no rows"
    return f"{array.ndim} dimensions, {' x '.join(map(str, array.shape))}"


def refuse_sparse(name: str, values: Any) -> None:
    """One sentence for SciPy's sparse matrices and arrays."""
    if type(values).__module__.startswith("scipy.sparse") and hasattr(values, "toarray"):
        raise ValueError(f"{name} is sparse: give {name}.toarray(), since every value is looked at here")


def _as_array(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):  # a masked value is a missing one
        doubles: Any = values.astype(np.float64)
        return np.asarray(doubles.filled(np.nan))
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "to_numpy"):
        # pandas, Polars and PyArrow each have a way to say that a missing value is NaN.
        package = type(values).__module__.partition(".")[0]
        try:
            if package == "pandas":
                return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
            if package == "pyarrow":
                return np.asarray(values.to_numpy(zero_copy_only=False))
        except (TypeError, ValueError):
            pass  # said below with the row at which it fails
    try:
        return np.asarray(values)
    except ValueError:
        # Rows of different lengths, which have no shape.
        return np.asarray(values, dtype=object)


def _as_doubles(name: str, array: npt.NDArray[Any]) -> Floats:
    """Numbers of another kind as doubles; what is no number is named with its place."""
    if array.dtype.kind in "fiub":
        with np.errstate(over="ignore"):  # beyond doubles is infinite, and refused as that
            return array.astype(np.float64)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} holds complex numbers. Complex data not supported")
    out = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        out[place] = _as_double(name, place, value)
    return out


def _as_double(name: str, place: tuple[int, ...], value: Any) -> float:
    if value is None and place:  # a gap in a column
        return float("nan")
    number: Any = value
    if not isinstance(value, (str, bytes, complex, np.datetime64, np.timedelta64)):
        try:
            return float(number)
        except OverflowError:
            return float("inf") if number > 0 else float("-inf")
        except (TypeError, ValueError):
            pass
    where = f" at row {place[0]}" if len(place) == 1 else f" at {place}" if place else ""
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    raise ValueError(f"{name}{where} is {shown}, which is no number")
