"""What people give: tables of inputs, columns, and parameters, in the ways of scikit-learn."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d, validate_data

from ._arrays import Floats, floats, refuse_sparse, refuse_twice
from ._categories import Category, chosen, encoded
from ._members import Ensemble, has_members, in_order, made_of, names_of


def usual_names(columns: int) -> list[str]:
    """The names of inputs that have none, as scikit-learn counts them."""
    return [f"x{i}" for i in range(columns)]


def table(estimator: Any, X: Any) -> Floats:
    """Inputs as a fitted estimator wants them, in rows of doubles. scikit-learn looks at names and shapes; that values are
    finite is seen later, where row and column can be named."""
    refuse_sparse("X", X)
    fitted = estimator.fitted_
    places = [place for place, _ in fitted.categories]
    if (ensemble := fitted.ensemble) is not None:
        made = has_members(X, ensemble)
        X = made_of(X, ensemble, fitted.names)[0] if made else in_order(X, fitted.names)
        refuse_what_is_no_number(X, places)
        return encoded(X, places, fitted.categories)[0]
    refuse_what_is_no_number(X, places)
    if places:
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return encoded(X, places, fitted.categories)[0]
    return _checked(estimator, X, reset=False)


def learned_table(
    estimator: Any, X: Any, ensemble: Ensemble | None = None
) -> tuple[Floats, list[Category], list[str]]:
    """The same for inputs to learn from, some of which may be categories or members of an ensemble, and their names."""
    places = chosen(X, estimator.categorical_features)
    if ensemble is not None:
        validate_data(estimator, X, reset=True, skip_check_array=True)
        of_table = names_of(X)
        X = made_of(X, ensemble)[0]
        places = [X.columns.index(of_table[place]) for place in places if of_table[place] in X.columns]
        refuse_what_is_no_number(X, places)
        return *encoded(X, places, None), X.columns
    refuse_what_is_no_number(X, places)
    if places:
        validate_data(estimator, X, reset=True, skip_check_array=True)
        inputs, categories = encoded(X, places, None)
    else:
        inputs, categories = _checked(estimator, X, reset=True), []
    names = getattr(estimator, "feature_names_in_", None)
    return inputs, categories, usual_names(inputs.shape[1]) if names is None else list(names)


def _checked(estimator: Any, X: Any, *, reset: bool) -> Floats:
    inputs = validate_data(
        estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False
    )
    return np.require(inputs, requirements=["C", "A"])


def refuse_what_is_no_number(X: Any, categories: Any = ()) -> None:
    """A sentence for inputs that are words or times, with the first of them, but for categories, and for two columns of
    one name."""
    # PyArrow's columns are the values; elsewhere they are the names.
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    if names is not None:
        refuse_twice([str(name) for name in names])
        columns = [(str(name), np.asarray(X[name])) for name in names]
    elif isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) == 2:
        # Beside texts, numbers of a list would be texts too.
        rows = np.asarray(X, dtype=object) if len(categories) and not isinstance(X, np.ndarray) else np.asarray(X)
        columns = [(f"x{place}", values) for place, values in enumerate(rows.T)]
    else:
        return
    for place, (name, values) in enumerate(columns):
        if place in categories:
            continue
        for row, value in enumerate(values if values.dtype.kind in "OUSmM" else ()):
            if isinstance(value, (str, bytes)):
                what = f"{str(value)!r}, which is no number: name it in categorical_features, or leave the column out"
            elif isinstance(value, TIMES):
                what = f"{value}, a time: give numbers, such as the hour, or days since a start"
            else:
                continue
            raise ValueError(f'the input "{name}" at row {row} is {what}')


TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def target(name: str, values: Any) -> Floats:
    """One value for each row, in the ways of scikit-learn (a single column is warned about)."""
    return floats(name, column_or_1d(floats(name, values), warn=True))


def one_of(error: Any, y: Any) -> Any:
    """The error, by whichever name it came."""
    if (error is None) == (y is None):
        raise ValueError(
            "SigmaRegressor requires y to be passed, but the target y is None: "
            "give the error of each row, observation minus forecast"
            if y is None
            else "error and y are two names of the same: give one of them"
        )
    return y if error is None else error


def weights(sample_weight: Any) -> Floats | None:
    """The weight of each row, if there are weights."""
    if sample_weight is None:
        return None
    weight = target("sample_weight", sample_weight)
    if weight.size and not weight.any():
        raise ValueError(f"all {weight.size} weights are zero: at least one row must count")
    return weight


def seed_of(random_state: Any) -> int:
    """The seed that a ``random_state`` of scikit-learn means."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        return count("random_state", random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def text(name: str, value: Any) -> str:
    """A choice by its name."""
    if isinstance(value, str):
        return str(value)
    raise ValueError(f"{name} is {value!r}: give its name as text")


def calendar_of(value: Any) -> bool:
    """Whether the calendar may be looked at."""
    if value not in ("auto", "no"):
        raise ValueError(f'calendar is {value!r}: give "auto" or "no"')
    return bool(value == "auto")


def count(name: str, value: Any) -> int:
    """A whole number of 0 or more."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < 2**63:
        return int(value)
    raise ValueError(f"{name} is {value!r}: give a whole number of 0 or more")


def jobs(n_jobs: Any) -> int | None:
    """A number of threads as scikit-learn counts them."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, (int, np.integer)) and -(2**31) < n_jobs < 2**31:
        return int(n_jobs)
    raise ValueError(f"n_jobs is {n_jobs!r}: give a number of threads, -1 for all, or None")


def number(name: str, value: Any) -> float:
    """A number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}: give a number") from None
