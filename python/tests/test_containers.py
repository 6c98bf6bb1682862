"""Numbers come in many containers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import errbar

VALUES = [0.3, -1.2, 0.7, 2.0]

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy of another kind": lambda values: np.array(values, dtype=np.longdouble),
    "numpy backwards": lambda values: np.array(values[::-1])[::-1],
    "numpy of another byte order": lambda values: np.array(values, dtype=">f8"),
    "numpy of objects": lambda values: np.array(values, dtype=object),
    "numpy with a mask": lambda values: np.ma.array(values, mask=[False] * len(values)),
    "pandas": pd.Series,
    "pandas with another index": lambda values: pd.Series(values, index=list("dcba")),
    "pandas, nullable": lambda values: pd.Series(values, dtype="Float64"),
    "pandas on PyArrow": lambda values: pd.Series(values, dtype="float64[pyarrow]"),
    "Polars": pl.Series,
    "PyArrow": pa.array,
    "PyArrow in chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_the_same_numbers_from_every_container(container):
    sigma = np.full(4, 0.8)
    got = errbar.crps(container(VALUES), sigma)
    assert isinstance(got, np.ndarray) and got.dtype == np.float64
    assert np.array_equal(got, errbar.crps(np.array(VALUES), sigma))
    weight = container([1.0, 2.0, 0.5, 1.0])
    whole = errbar.accuracy_reliability(container(VALUES), container([0.8] * 4), weight=weight)
    assert whole == errbar.accuracy_reliability(VALUES, 0.8, weight=[1, 2, 0.5, 1])


def test_single_precision_and_whole_numbers():
    error = np.array(VALUES, dtype=np.float32)
    assert np.array_equal(errbar.crps(error, 1), errbar.crps(error.astype(float), 1.0))
    assert errbar.crps([1, 2], [1, 2])[1] == 2 * errbar.crps(1.0, 1.0)


def test_shapes_are_kept_and_broadcast():
    error = np.arange(12.0).reshape(3, 4)
    for function in (errbar.crps, errbar.crps_gradient, errbar.nlpd, errbar.pit):
        one = function(1.0, 2.0)
        assert type(one) is float
        assert function(error, 2.0).shape == (3, 4)
        assert function(error, 2.0)[0, 1] == one
        assert function(error, np.full((3, 1), 2.0)).shape == (3, 4)
        assert function(error[:, :, None], [1.0, 2.0]).shape == (3, 4, 2)
        assert function(np.asfortranarray(error), 2.0).tolist() == function(error, 2.0).tolist()
        assert function(np.empty((0, 3)), 1.0).shape == (0, 3)
    assert type(errbar.erf(0.5)) is float and errbar.erf(error).shape == (3, 4)
    assert type(errbar.erfinv(0.5)) is float
    assert errbar.coverage([1.0, 2.0], 1.0, [[0.5], [0.9]]).shape == (2, 1)
    assert type(errbar.coverage([1.0, 2.0], 1.0, 0.5)) is float


def test_doubles_in_one_piece_are_not_copied():
    from errbar._arrays import column, floats

    values = np.arange(10.0)
    assert np.shares_memory(floats("x", values), values)
    assert np.shares_memory(column("x", values), values)
    for series in (pd.Series(values), pl.Series(values), pa.array(values)):
        assert np.shares_memory(floats("x", series), series.to_numpy())


def test_the_input_is_left_alone():
    error, sigma = np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    error.flags.writeable = False
    errbar.accuracy_reliability_gradient(error, sigma)
    errbar.scores(error, 0.0, sigma)
    assert sigma.tolist() == [1.0, 2.0, 3.0]


def test_threads_of_python_work_at_the_same_time():
    """The interpreter is free during the work, and results do not depend on the company."""
    from concurrent.futures import ThreadPoolExecutor

    random = np.random.default_rng(0)
    error, sigma = random.normal(size=200_000), np.ones(200_000)
    want = errbar.accuracy_reliability(error, sigma)
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda _: errbar.accuracy_reliability(error, sigma), range(16)))
    assert got == [want] * 16


def test_children_by_fork_have_threads_of_their_own():
    """A pool of threads does not survive a fork; work in a child must not wait for it."""
    import multiprocessing

    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork on this system")
    error = np.random.default_rng(0).normal(size=200_000)
    want = errbar.accuracy_reliability(error, 1.0)  # starts the threads
    with multiprocessing.get_context("fork").Pool(1) as pool:
        got = pool.apply_async(errbar.accuracy_reliability, (error, 1.0)).get(timeout=60)
    assert got == want


def test_arrays_that_are_not_aligned_are_taken():
    error, sigma = np.array([0.3, -1.2, 2.0]), np.array([1.0, 0.5, 2.0])
    bytes_ = b"\0" + error.tobytes()
    crooked = np.frombuffer(bytes_, dtype=np.float64, count=3, offset=1)
    assert not crooked.flags.aligned
    np.testing.assert_array_equal(errbar.crps(crooked, sigma), errbar.crps(error, sigma))
    assert errbar.reliability_score(crooked, sigma) == errbar.reliability_score(error, sigma)
