"""The formulas of errbar.torch and errbar.jax for two-piece laws, here with NumPy: against the library's
laws, SciPy, and finite differences. test_torch.py and test_jax.py try them where they are used."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import errbar
from errbar import _two_piece

SIDES = [(1.0, 1.0), (0.5, 2.0), (3.0, 0.2), (1e-3, 40.0)]
# Up to 60 scales from the mode, where probabilities are no numbers.
ERROR = np.concatenate([np.linspace(-60, 60, 241), np.linspace(-3, 3, 121), [1e-9, -1e-9, 1e-300]])


def numpys(of, base, error, left, right):
    return of(np, special, base, error, left, right)


@pytest.fixture(params=[(base, sides) for base in _two_piece.BASES for sides in SIDES], ids=str)
def case(request):
    base, (left, right) = request.param
    # Each side in its own units.
    error = np.where(ERROR < 0, left, right) * ERROR
    columns = error, np.full_like(error, left), np.full_like(error, right)
    return base, columns, errbar.Law(base, 0.0, left=left, right=right)


def test_crps_is_that_of_the_law(case):
    base, columns, law = case
    value, _ = numpys(_two_piece.crps, base, *columns)
    # Its terms are as large as the error and the scales.
    size = np.abs(columns[0]) + columns[1] + columns[2]
    assert np.all(np.abs(value - law.crps(columns[0])) <= 4e-16 * size)


def test_quantiles_are_as_improbable_as_the_error(case):
    base, columns, law = case
    q, _ = numpys(_two_piece.gaussian_quantile, base, *columns)
    # The smaller tail, which q puts there within SciPy's and its own rounding.
    logs = np.stack([stats.norm.logcdf(q), stats.norm.logsf(q)])
    want = np.stack([law.logcdf(columns[0]), law.logsf(columns[0])])
    smaller = np.argmin(want, axis=0)
    pick = lambda both: np.take_along_axis(both, smaller[None], 0)[0]
    allowed = 5e-15 + 2e-14 * np.abs(pick(want))
    # The library takes the tail of the other side as 1 minus that of the error's.
    allowed += np.where((smaller == 0) == (columns[0] > 0), 4e-16 * np.exp(np.minimum(-pick(want), 99)), 0.0)
    assert np.all(np.abs(pick(logs) - pick(want)) <= allowed)
    if columns[1][0] == columns[2][0] and base == "normal":
        np.testing.assert_allclose(q, columns[0] / columns[1], rtol=1e-14, atol=3e-16)


@pytest.mark.parametrize("of", [_two_piece.crps, _two_piece.gaussian_quantile])
def test_slopes_are_those_of_finite_differences(case, of):
    base, columns, _ = case
    # Not across the mode, where slopes by a scale jump.
    keep = np.abs(ERROR) > 0.01
    columns = [column[keep] for column in columns]
    _, slopes = numpys(of, base, *columns)
    for i, slope in enumerate(slopes):
        step = 1e-5 * np.abs(columns[i])
        ends = []
        for sign in (1.0, -1.0):
            moved = list(columns)
            moved[i] = columns[i] + sign * step
            ends.append(numpys(of, base, *moved)[0])
        # A step squared, and rounding over the step.
        size = np.maximum(np.abs(ends[0]), np.abs(columns[0]) if of is _two_piece.crps else 1.0)
        differences = (ends[0] - ends[1]) / (2 * step)
        allowed = 1e-7 * np.abs(slope) + 1e-14 * (size + sum(columns[1:])) / step + 1e-9
        assert np.all(np.abs(slope - differences) <= allowed)


@pytest.mark.parametrize("kind, far", [(np.float32, 1e30), (np.float64, 1e200)])
@pytest.mark.parametrize("base", _two_piece.BASES)
def test_slopes_are_finite_however_extreme_the_input(base, kind, far):
    sizes = np.array([0.0, 1 / far, 1.0, far, -1 / far, -1.0, -far], kind)
    error, left, right = (one.ravel() for one in np.meshgrid(sizes, sizes[1:4], sizes[1:4]))
    with np.errstate(all="ignore"):
        for of in (_two_piece.crps, _two_piece.gaussian_quantile):
            value, slopes = numpys(of, base, error, left, right)
            assert value.dtype == kind and not np.isnan(value).any()
            assert np.isfinite(slopes).all() and all(one.dtype == kind for one in slopes)


@pytest.mark.parametrize("base", _two_piece.BASES)
def test_float32_keeps_its_digits(base):
    random = np.random.default_rng(0)
    columns = random.normal(size=1000), *np.exp(0.5 * random.normal(size=(2, 1000)))
    short = [column.astype(np.float32) for column in columns]
    columns = [column.astype(np.float64) for column in short]
    for of in (_two_piece.crps, _two_piece.gaussian_quantile):
        (value, slopes), (value32, slopes32) = (numpys(of, base, *c) for c in (columns, short))
        np.testing.assert_allclose(value32, value, rtol=1e-5, atol=2e-6)
        np.testing.assert_allclose(slopes32, slopes, rtol=1e-4, atol=5e-6)


@pytest.mark.parametrize("base", _two_piece.BASES)
def test_what_cannot_be_is_nan(base):
    for error, left, right in [(np.nan, 1, 1), (1, 0, 1), (1, 1, -1), (1, np.nan, 1)]:
        columns = [np.array([one], float) for one in (error, left, right)]
        for of in (_two_piece.crps, _two_piece.gaussian_quantile):
            with np.errstate(all="ignore"):
                assert np.isnan(numpys(of, base, *columns)[0]).all()
