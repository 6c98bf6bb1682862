"""Fits to rows that lie elsewhere: what the front for them stands on."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import errbar
from errbar._errbar import Elsewhere, Parts

ROWS = 6_000
ENDS = [1_000, 1_000, 3_500, ROWS]
"""Where parts end; the second is empty."""

NAMES = ["jump", "other"]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(1)
    x = random.random((ROWS, 2))
    error = np.where(x[:, 0] < 0.3, 0.5, 2.0) * random.standard_normal(ROWS)
    weight = random.choice([0.0, 1.0, 2.0], ROWS)
    return x, error, weight


def parts():
    return list(zip([0, *ENDS], ENDS))


def begun(table, model, every=4, **further):
    x, error, weight = table
    wanted = errbar.SigmaRegressor(model, **further)._wanted()
    rows = np.arange(0, ROWS, every)
    arrays = [np.ascontiguousarray(values[rows]) for values in (x, error, weight)]
    part_rows = [end - begin for begin, end in parts()]
    return Elsewhere(arrays[0], NAMES, [], (arrays[1], None), arrays[2], None, wanted, rows, part_rows)


def opened(table, opening, mine):
    """A worker who holds some parts, and what they say first."""
    x, error, weight = table
    worker = Parts(opening)
    first = []
    for number in mine:
        begin, end = parts()[number]
        first.append(worker.open(number, begin, x[begin:end], error[begin:end], weight[begin:end]))
    return worker, first


def fitted(table, model, split, **further):
    fit = begun(table, model, **further)
    workers, first = zip(*(opened(table, fit.opening, mine) for mine in split))

    def ask(question):
        assert threading.current_thread() is threading.main_thread()
        return [worker.answer(question, n_jobs=1) for worker in workers]

    model = fit.finish([one for first in first for one in first], ask)
    assert len({worker.asked for worker in workers}) == 1
    with pytest.raises(ValueError, match="finished"):
        fit.opening
    return model


@pytest.mark.parametrize("model", ["auto", "trees", "constant", "polynomial", "network"])
def test_who_holds_parts_does_not_matter(table, model):
    one, two = (fitted(table, model, split) for split in ([[0, 1, 2, 3]], [[3, 1], [2, 0]]))
    assert one.to_json() == two.to_json()
    counted = int((table[2] > 0).sum())
    assert one.rows[0] == counted
    new = np.array([[0.1, 0.5], [0.6, 0.5]])
    low, high = one.predict(new)[2]
    if model == "constant":
        assert low == high
    else:
        # A polynomial goes beyond a jump before it takes it.
        assert 3 < high / low < 7


def test_rows_that_may_be_in_a_sample():
    few = Elsewhere.candidates(10, 5, 1_000, False, 0)
    assert few.tolist() == [0, 1, 2, 3, 4] and few.dtype == np.int64
    whole = Elsewhere.candidates(0, 200_000, 200_000, False, 3)
    halves = [Elsewhere.candidates(begin, 100_000, 200_000, False, 3) + begin for begin in (0, 100_000)]
    assert np.array_equal(whole, np.concatenate(halves)) and 50_000 < len(whole) < 53_000
    assert np.array_equal(Elsewhere.candidates(0, 200_000, 200_000, True, 3), np.arange(0, 200_000, 4))


def test_all_rows_in_the_sample_are_fitted_as_ever(table):
    there = fitted(table, "polynomial", [[0, 1], [2, 3]], every=1)
    here = errbar.SigmaRegressor("polynomial").fit(table[0], table[1], table[2])
    new = np.random.default_rng(2).random((50, 2))
    assert np.array_equal(there.predict(new)[2], here.predict(new))


def test_what_ask_raises_is_raised(table):
    class Lost(Exception):
        pass

    def ask(question):
        raise Lost("worker 3")

    fit = begun(table, "constant")
    _, first = opened(table, fit.opening, [0, 1, 2, 3])
    with pytest.raises(Lost, match="worker 3"):
        fit.finish(first, ask)
    fit = begun(table, "constant")
    with pytest.raises(TypeError):
        fit.finish(first, lambda question: 3)


def test_progress_is_told(table):
    told = []
    fitted(table, "trees", [[0, 1, 2, 3]], progress=told.append)
    assert told[-1] == 1.0 and len(told) > 1


def test_what_is_wrong_is_said(table):
    x, error, weight = table
    fit = begun(table, "constant")
    worker = Parts(fit.opening)
    bad = error[:100].copy()
    bad[17] = np.nan
    with pytest.raises(ValueError, match="part 3 of the rows: error at row 17 is NaN"):
        worker.open(3, 0, x[:100], bad, weight[:100])
    with pytest.raises(ValueError, match="part 2 .*weight has 0 values"):
        worker.open(2, 0, x[:100], error[:100])
    with pytest.raises(ValueError, match="no message of errbar"):
        Parts(b"something else")
    with pytest.raises(ValueError, match="part 0 of the rows has not answered"):
        fit.finish([], lambda question: [])
    with pytest.raises(ValueError, match="auto, stack, trees, constant, polynomial or network"):
        begun(table, "smooth")
    with pytest.raises(ValueError, match="a mean is not fitted"):
        begun(table, "constant", fit_mean=True)
