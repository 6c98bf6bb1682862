"""Laws are those of SciPy and scoringrules, and two-piece ones what quadrature makes of SciPy's densities."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scoringrules
from scipy import integrate, stats

import errbar

NAN, INF = float("nan"), float("inf")
LOCATION, SCALE = np.array([12.0, -3.0, 0.0]), np.array([0.5, 2.0, 1.0])
DF = np.array([2.5, 7.0, 40.0])
BASES = {
    "normal": (stats.norm(), {}),
    "logistic": (stats.logistic(), {}),
    "laplace": (stats.laplace(), {}),
    "t": (stats.t(5.0), {"df": 5.0}),
}
SIDES = [(1.0, 1.0), (0.5, 2.0), (3.0, 0.2)]


def plain(base):
    """Three laws of one scale, here and at SciPy."""
    df = {"df": DF} if base == "t" else {}
    theirs = stats.norm if base == "normal" else getattr(stats, base)
    return errbar.Law(base, LOCATION, SCALE, **df), theirs(*df.values(), LOCATION, SCALE)


def near(got, want, relative=1e-12, absolute=0.0):
    np.testing.assert_allclose(got, want, rtol=relative, atol=absolute)


@pytest.mark.parametrize("name", ["cdf", "sf", "pdf", "logpdf", "logcdf", "logsf"])
@pytest.mark.parametrize("base", BASES)
def test_functions_of_a_value_are_scipys(base, name):
    ours, theirs = plain(base)
    x = np.linspace(-20, 20, 401)[:, None]
    got, want = getattr(ours, name)(x), getattr(theirs, name)(x)
    assert got.shape == (401, 3)
    # Where z is large, rounding it alone changes a tail of the normal law by z² units; SciPy's
    # logarithms of probabilities near 1 have the digits of 1.
    near(got, want, 1e-11, 1e-15 if name.startswith("log") else 1e-300)
    for end in (-INF, INF):
        assert getattr(ours, name)(end).tolist() == getattr(theirs, name)(end).tolist()
    assert np.isnan(getattr(ours, name)(NAN)).all()


@pytest.mark.parametrize("name", ["ppf", "isf"])
@pytest.mark.parametrize("base", BASES)
def test_quantiles_are_scipys(base, name):
    ours, theirs = plain(base)
    q = np.array([1e-200, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9])
    # SciPy's quantiles of t have lost their digits, or are infinite, so far out.
    q = q[1 if base == "t" else 0 :, None]
    # The last probability has 7 digits of what it leaves: both take the same 7.
    near(getattr(ours, name)(q), getattr(theirs, name)(q), 1e-11, 1e-12)
    assert np.isnan(getattr(ours, name)([[-0.1], [1.5], [NAN]])).all()
    for end in (0.0, 1.0):
        assert getattr(ours, name)(end).tolist() == getattr(theirs, name)(end).tolist()


@pytest.mark.parametrize("base", BASES)
def test_moments_and_intervals_are_scipys(base):
    ours, theirs = plain(base)
    for name in ("mean", "median", "std", "var"):
        near(getattr(ours, name)(), getattr(theirs, name)(), 1e-14)
    near(ours.interval(0.9), theirs.interval(0.9), 1e-12)
    low, high = errbar.Law(base, 0.0, 1.0, **BASES[base][1]).interval(0.9)
    assert type(low) is type(high) is float and low == -high


def two_piece(base, left, right):
    """Law, density and probabilities of a law around 1, which are made of SciPy's."""
    half, df = BASES[base]
    law = errbar.Law(base, 1.0, left=left, right=right, **df)

    def density(y):
        return 2 / (left + right) * half.pdf((y - 1.0) / (left if y < 1.0 else right))

    def below(y):
        """By quadrature, which must know of the kink."""
        parts = [(-INF, min(y, 1.0))] + ([(1.0, y)] if y > 1.0 else [])
        return sum(integrate.quad(density, *ends, epsabs=1e-13, epsrel=1e-12)[0] for ends in parts)

    return law, density, below


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("base", BASES)
def test_two_pieces_are_those_of_quadrature(base, sides):
    law, density, below = two_piece(base, *sides)
    for y in (-6.0, -0.3, 1.0, 1.7, 5.5):
        near(law.pdf(y), density(y), 1e-13)
        near(law.logpdf(y), math.log(density(y)), 1e-13, 1e-14)
        near(law.logscore(y), -math.log(density(y)), 1e-13, 1e-14)
        p = below(y)
        near([law.cdf(y), law.sf(y)], [p, 1 - p], 0, 1e-11)
        near([math.exp(law.logcdf(y)), math.exp(law.logsf(y))], [p, 1 - p], 0, 1e-11)
        if density(y) > 1e-4:
            # The quantile is known as well as the probability over the density.
            near([law.ppf(p), law.isf(1 - p)], y, 0, 1e-11 / density(y))
    near(below(law.median()), 0.5, 0, 1e-11)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("base", BASES)
def test_moments_of_two_pieces_are_those_of_quadrature(base, sides):
    law, density, _ = two_piece(base, *sides)

    def moment(f):
        halves = [(-INF, 1.0), (1.0, INF)]
        of = lambda y: f(y) * density(y)
        return sum(integrate.quad(of, *ends, epsabs=1e-12, epsrel=1e-11)[0] for ends in halves)

    mean = moment(lambda y: y)
    near(law.mean(), mean, 0, 1e-9)
    near(law.var(), moment(lambda y: (y - mean) ** 2), 1e-8)
    near(law.std(), math.sqrt(moment(lambda y: (y - mean) ** 2)), 1e-8)


@pytest.mark.parametrize("bounds", [{}, {"lower": -0.5}, {"upper": 2.5}, {"lower": 0.5, "upper": 1.5}])
@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("base", BASES)
def test_crps_is_its_integral(base, sides, bounds):
    """The definition, with SciPy's distribution functions; bounds cut it off."""
    left, right = sides
    half, df = BASES[base]
    law = errbar.Law(base, 1.0, left=left, right=right, **df, **bounds)

    def tail(z):
        return half.sf(abs(z))

    def below(x):  # F
        z = (x - 1.0) / (left if x < 1.0 else right)
        own = 2 * (left if x < 1.0 else right) / (left + right) * tail(z)
        return own if x < 1.0 else 1 - own

    def above(x):  # 1 - F, with its digits
        z = (x - 1.0) / (left if x < 1.0 else right)
        own = 2 * (left if x < 1.0 else right) / (left + right) * tail(z)
        return own if x >= 1.0 else 1 - own

    lower, upper = bounds.get("lower", -INF), bounds.get("upper", INF)
    for y in (-0.4, 0.6, 1.0, 1.4, 2.4, -4.0, 6.0):
        seen = min(max(y, lower), upper)
        ends = sorted({lower, seen, upper, *([1.0] if lower < 1.0 < upper else [])})
        total = abs(y - seen)  # beyond a bound the distance counts
        for a, b in zip(ends, ends[1:]):
            f = below if b <= seen else above
            total += integrate.quad(lambda x: f(x) ** 2, a, b, epsabs=1e-12, epsrel=1e-11)[0]
        near(law.crps(y), total, 1e-9, 1e-11)


@pytest.fixture
def many():
    """More rows than one thread takes, each with a law of its own."""
    random = np.random.default_rng(3)
    n = 10_001
    left, right = np.exp(0.5 * random.normal(size=(2, n)))
    return random.normal(size=n) * 3, random.normal(size=n), left, right, random.uniform(2, 30, n)


def test_scores_are_those_of_scoringrules(many):
    y, location, left, right, df = many
    rules = scoringrules

    def law(base, **others):
        return errbar.Law(base, location, left, **others)

    # Their terms are as large as the error: so many digits are lost where the score is small.
    for got, want in [
        (law("normal").crps(y), rules.crps_normal(y, location, left)),
        (law("logistic").crps(y), rules.crps_logistic(y, location, left)),
        (law("laplace").crps(y), rules.crps_laplace(y, location, left)),
        (law("t", df=df).crps(y), rules.crps_t(y, df, location, left)),
        (law("normal").logscore(y), rules.logs_normal(y, location, left)),
        (law("logistic").logscore(y), rules.logs_logistic(y, location, left)),
        (law("laplace").logscore(y), rules.logs_laplace(y, location, left)),
        (law("t", df=df).logscore(y), rules.logs_t(y, df, location, left)),
    ]:
        near(got, want, 1e-10, 1e-12)


def test_scores_of_two_pieces_are_those_of_scoringrules(many):
    y, location, left, right, _ = many
    normal = errbar.Law("normal", location, left=left, right=right)
    laplace = errbar.Law("laplace", location, left=left, right=right)
    near(normal.crps(y), scoringrules.crps_2pnormal(y, left, right, location), 1e-10, 1e-12)
    near(laplace.crps(y), scoringrules.crps_2pexponential(y, left, right, location), 1e-10, 1e-12)
    near(normal.logscore(y), scoringrules.logs_2pnormal(y, left, right, location), 1e-10, 1e-12)
    want = scoringrules.logs_2pexponential(y, left, right, location)
    near(laplace.logscore(y), want, 1e-10, 1e-12)


def test_scores_within_bounds_are_those_of_scoringrules(many):
    y, location, scale, width, df = many
    lower, upper = location - 0.5, location - 0.5 + width
    y, bounds = np.clip(y, lower, upper), {"lower": lower, "upper": upper}
    rules = scoringrules
    for base, others, want in [
        ("normal", {}, rules.crps_cnormal(y, location, scale, lower, upper)),
        ("logistic", {}, rules.crps_clogistic(y, location, scale, lower, upper)),
        ("t", {"df": df}, rules.crps_ct(y, df, location, scale, lower, upper)),
    ]:
        near(errbar.Law(base, location, scale, **others, **bounds).crps(y), want, 1e-8, 1e-10)


@pytest.mark.parametrize("base", BASES)
def test_bounds_have_a_probability(base):
    half, df = BASES[base]
    law = errbar.Law(base, 1.0, 2.0, lower=0.0, upper=4.0, **df)
    no_rain, flood = half.cdf(-0.5), half.sf(1.5)
    near(law.cdf([-0.1, 0.0, 2.0, 4.0]), [0, no_rain, half.cdf(0.5), 1], 1e-13)
    near(law.sf([-0.1, 0.0, 2.0, 4.0]), [1, 1 - no_rain, half.sf(0.5), 0], 1e-13)
    near(law.pdf([-0.1, 0.0, 2.0, 4.0, 5.0]), [0, no_rain, half.pdf(0.5) / 2, flood, 0], 1e-13)
    inside = math.log(half.pdf(0.5) / 2)
    want = [-INF, math.log(no_rain), inside, math.log(flood), -INF]
    near(law.logpdf([-0.1, 0.0, 2.0, 4.0, 5.0]), want, 1e-13)
    near(law.logscore([-0.1, 0.0, 2.0, 4.0, 5.0]), -np.array(want), 1e-13)
    near(law.logcdf([-0.1, 0.0, 4.0]), [-INF, math.log(no_rain), 0], 1e-13)
    near(law.logsf([-0.1, 2.0, 4.0]), [0, math.log(half.sf(0.5)), -INF], 1e-13)
    # All of it together is 1.
    between = integrate.quad(law.pdf, 1e-9, 1.0)[0] + integrate.quad(law.pdf, 1.0, 4.0 - 1e-9)[0]
    near(between + law.pdf(0.0) + law.pdf(4.0), 1.0, 1e-8)
    assert law.ppf([0.0, 0.5 * no_rain, 1.0]).tolist() == [0.0, 0.0, 4.0]
    assert law.isf([0.0, 0.5 * flood]).tolist() == [4.0, 4.0]
    assert law.interval(0.99) == (0.0, 4.0) and law.median() == 1.0
    assert errbar.Law(base, -3.0, 2.0, lower=0.0, **df).median() == 0.0
    # Mean and spread are those before the bounds.
    near([law.mean(), law.std()], [1.0, 2.0 * half.std()], 1e-14)


def test_bounds_may_differ_by_row():
    law = errbar.Law("normal", 0.0, 1.0, lower=[-INF, 0.0], upper=[[1.0], [INF]])
    assert law.cdf(-1.0).shape == (2, 2)
    near(law.cdf(-1.0), [[stats.norm.cdf(-1), 0.0]] * 2)
    near(law.cdf(2.0), [[1.0, 1.0], [stats.norm.cdf(2)] * 2])


def test_tails_keep_their_digits():
    """Where a probability is too small for a number, its logarithm is not."""
    law = errbar.Law("normal", 0.0, left=1.0, right=3.0)
    near(law.logcdf(-50.0), math.log(0.5) + stats.norm.logcdf(-50.0), 1e-14)
    near(law.logsf(150.0), math.log(1.5) + stats.norm.logsf(50.0), 1e-14)
    near(law.isf(1.5e-200), 3.0 * stats.norm.isf(1e-200), 1e-13)
    assert law.sf(-10.0) == 1.0 and 0.0 < law.cdf(-10.0) < 1e-23


@pytest.mark.parametrize("sides", SIDES)
def test_logarithms_of_far_tails_are_those_of_their_formulas(sides):
    left, right = sides
    own, other = 2 * left / (left + right), 2 * right / (left + right)
    for far in (40.0, 1e3, 1e6):
        for base, tail in {
            "normal": stats.norm.logcdf(-far),
            "logistic": -far - math.log1p(math.exp(-far)),
            "laplace": -far + math.log(0.5),
        }.items():
            law = errbar.Law(base, 1.0, left=left, right=right)
            near(law.logcdf(1.0 - left * far), math.log(own) + tail, 1e-14)
            near(law.logsf(1.0 + right * far), math.log(other) + tail, 1e-14)
            near(law.logcdf(1.0 + right * far), -other * math.exp(tail), 1e-12)
            near(law.logsf(1.0 - left * far), -own * math.exp(tail), 1e-12)


@pytest.mark.parametrize("df", [0.5, 3.0, 30.0])
def test_logarithms_of_far_tails_of_t_are_those_of_its_power(df):
    """Far out the tail is c |x|^-df, with c = Γ((df+1)/2) df^(df/2 - 1) / (Γ(df/2) sqrt(π))."""
    law = errbar.Law("t", 0.0, 1.0, df=df)
    c = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(math.pi) + (df / 2 - 1) * math.log(df)
    for far in (1e12, 1e100, 1e300):
        near([law.logcdf(-far), law.logsf(far)], c - df * math.log(far), 1e-13)


def test_rows_of_any_law_are_chosen():
    y = np.array([0.5, 2.0, -1.0])
    shared = errbar.Law("t", LOCATION, left=SCALE, right=2.0, df=DF, lower=-4.0)
    grid = errbar.Law("logistic", LOCATION[:, None], [1.0, 2.0])
    curve = errbar.Law("curve", LOCATION, SCALE, curve=([-2.0, 0.0, 0.5, 3.0], [-1.0, -0.5, 1.5, 9.0]))
    for law in (shared, curve):
        for key in (2, slice(0, 2), [True, False, True], [-1]):
            assert np.array_equal(law[key].crps(y[key]), law.crps(y)[key])
            assert np.array_equal(law[key].ppf(0.3), law.ppf(0.3)[key])
    assert grid.shape == (3, 2) and len(grid) == 3
    assert np.array_equal(grid[1].cdf(0.5), grid.cdf(0.5)[1])
    assert np.array_equal(grid[:, 1].cdf(y), grid.cdf(y[:, None])[:, 1])
    assert grid.interval([0.5, 0.9])[0].shape == (3, 2, 2)
    assert np.array_equal(grid.interval([0.5, 0.9])[0][..., 1], grid.interval(0.9)[0])
    assert np.array_equal(pickle.loads(pickle.dumps(shared[1:])).cdf(y[1:]), shared[1:].cdf(y[1:]))


@pytest.mark.parametrize("df, mean, std", [(0.5, NAN, NAN), (1.0, NAN, NAN), (1.5, 3.0, INF)])
def test_heavy_tails_have_no_moments(df, mean, std):
    law = errbar.Law("t", 3.0, 2.0, df=df)
    np.testing.assert_equal([law.mean(), law.std()], [mean, std])
    assert law.median() == 3.0
    near(law.cdf(4.0), stats.t.cdf(0.5, df), 1e-13)
    assert math.isfinite(law.crps(4.0)) == (df > 1.0)


def test_endless_degrees_of_freedom_are_normal():
    law, x = errbar.Law("t", 1.0, 2.0, df=INF), np.linspace(-9, 9, 19)
    near(law.cdf(x), stats.norm.cdf(x, 1.0, 2.0), 1e-13)
    near(law.crps(x), scoringrules.crps_normal(x, 1.0, 2.0), 1e-12)


@pytest.mark.parametrize("base", BASES)
def test_random_values_follow_the_law(base):
    law = errbar.Law(base, [1.0, 2.0], left=[0.5, 1.0], right=2.0, **BASES[base][1])
    sample = law.sample(20_000, random_state=0)
    assert sample.shape == (20_000, 2)
    assert np.array_equal(sample, law.rvs((20_000, 2), random_state=0))
    assert law.rvs(random_state=np.random.default_rng(0)).shape == (2,)
    # Kolmogorov and Smirnov's test of the transform: 1 in 10,000 fails by chance, and not this seed.
    for column in law.cdf(sample).T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4
    floored = errbar.Law(base, 1.0, 2.0, lower=0.0, **BASES[base][1]).sample(20_000, 0)
    share = BASES[base][0].cdf(-0.5)
    assert abs(np.mean(floored == 0.0) - share) < 5 * math.sqrt(share / 20_000)
    assert floored.min() == 0.0


def test_a_draw_of_zero_is_no_infinity():
    class Zero(np.random.Generator):
        def random(self, size=None):
            return np.zeros(size)

    law = errbar.Law("normal", 0.0, 1.0)
    assert -9.0 < law.rvs(3, Zero(np.random.PCG64())).min() < -8.0


def test_shapes():
    law = errbar.Law("t", [[0.0], [1.0]], [1.0, 2.0, 3.0], df=5.0)
    assert law.mean().shape == law.std().shape == (2, 3)
    assert law.cdf(np.zeros((4, 1, 1))).shape == (4, 2, 3)
    near(law.cdf(0.5), stats.t.cdf(0.5, 5.0, [[0.0], [1.0]], [1.0, 2.0, 3.0]), 1e-13)
    one = errbar.Law("laplace", 0.0, left=1.0, right=2.0)
    for value in (one.mean(), one.cdf(0.0), one.ppf(0.5), one.crps(1.0), one.rvs(random_state=0)):
        assert type(value) is float
    none = errbar.Law("laplace", [], 1.0)
    assert none.mean().shape == none.crps([]).shape == none.cdf(0.0).shape == (0,)


def test_what_it_says_of_itself():
    law = errbar.Law("t", 1.0, left=0.5, right=2.0, df=5, lower=0)
    assert repr(law) == "Law('t', location=1, left=0.5, right=2, df=5, lower=0)"
    assert repr(errbar.Law("normal", [1.0, 2.0], 1.0)) == "Law('normal', of shape (2,))"
    again = pickle.loads(pickle.dumps(law))
    assert repr(again) == repr(law) and again.crps(3.0) == law.crps(3.0)


def test_the_normal_distribution_is_a_law():
    ours = errbar.Normal(LOCATION, SCALE)
    assert isinstance(ours, errbar.Law)
    near(ours.logcdf(-9.0), stats.norm.logcdf(-9.0, LOCATION, SCALE), 1e-12)
    near(ours.logscore(1.0), -stats.norm.logpdf(1.0, LOCATION, SCALE), 1e-13)
    assert errbar.Normal(0.0, 1e200).std() == 1e200  # its square is no number


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: errbar.Law("cauchy", 0.0, 1.0), "base is 'cauchy': give \"normal\", .* or \"curve\""),
        (lambda: errbar.Law("normal", 0.0), "give either scale, or left and right"),
        (lambda: errbar.Law("normal", 0.0, left=1.0), "give either scale, or left and right"),
        (lambda: errbar.Law("normal", 0.0, 1.0, left=1.0, right=1.0), "give either scale, or left"),
        (lambda: errbar.Law("t", 0.0, 1.0), "base is 't': df goes with \"t\""),
        (lambda: errbar.Law("normal", 0.0, 1.0, df=5.0), "base is 'normal': df goes with \"t\""),
        (lambda: errbar.Law("normal", None, 1.0), "location is None, which is no number"),
        (lambda: errbar.Normal(0.0, None), "std is None, which is no number"),
        (lambda: errbar.Law("normal", [0.0, INF], 1.0), "location at 1 is inf: it must be finite"),
        (lambda: errbar.Law("normal", 0.0, [1.0, 0.0]), "scale at 1 is 0: .* greater than 0"),
        (lambda: errbar.Law("normal", 0.0, [[1.0, -2.0]]), r"scale at \(0, 1\) is -2: it must be"),
        (lambda: errbar.Law("normal", 0.0, left=NAN, right=1.0), "left is nan: it must be finite"),
        (lambda: errbar.Law("normal", 0.0, left=1.0, right=[INF]), "right at 0 is inf"),
        (lambda: errbar.Law("t", 0.0, 1.0, df=[3.0, 0.0]), "df at 1 is 0: .* greater than 0"),
        (lambda: errbar.Law("t", 0.0, 1.0, df=NAN), "df is nan"),
        (lambda: errbar.Law("normal", 0.0, 1.0, lower=NAN), "lower is nan: .* -inf for no bound"),
        (lambda: errbar.Law("normal", 0.0, 1.0, lower=INF), "lower is inf: .* -inf for no bound"),
        (lambda: errbar.Law("normal", 0.0, 1.0, upper=-INF), "upper is -inf: .* inf for no bound"),
        (
            lambda: errbar.Law("normal", 0.0, 1.0, lower=[0.0, 2.0], upper=1.0),
            "lower at 1 is 2, which is not below upper, 1",
        ),
        (
            lambda: errbar.Law("normal", [0.0, 1.0], [1.0, 2.0, 3.0]),
            "scale has 3 values but location has 2: give one value per row",
        ),
        (lambda: errbar.Law("normal", [0.0, 1.0], 1.0).cdf([1.0, 2.0, 3.0]), "x has 3 values but"),
        (
            lambda: errbar.Law("normal", 0.0, np.ones((2, 3))).cdf(np.ones((2, 2))),
            r"scale has shape \(2, 3\) and x has shape \(2, 2\)",
        ),
        (lambda: errbar.Law("normal", 0.0, 1.0).crps([1.0, NAN]), "y at 1 is nan: .* finite"),
        (lambda: errbar.Law("normal", 0.0, 1.0).logscore(INF), "y is inf: it must be finite"),
        (lambda: errbar.Law("normal", 0.0, 1.0).cdf("a"), "x is 'a', which is no number"),
        (lambda: errbar.Law("normal", 0.0, 1.0).interval(1.0), "level is 1.0"),
        (lambda: errbar.Law("normal", 0.0, 1.0).interval([1.5]), "give a number strictly between 0 and 1"),
        (lambda: errbar.Law("normal", [0.0, 1.0], 1.0).rvs(3), "size is 3"),
    ],
)
def test_what_cannot_be_is_refused(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_curve_is_a_normal_distribution_bent():
    q, z = [-2.0, 0.0, 0.5, 3.0], [-1.0, -0.5, 1.5, 9.0]
    law = errbar.Law("curve", 2.0, 3.0, curve=(q, z))
    y = 2.0 + 3.0 * np.array([-4.0, -0.7, 0.3, 4.0, 12.0])

    def bent(x):  # by NumPy alone, with the last lines carried on
        at = (np.asarray(x, dtype=float) - 2.0) / 3.0
        low, high = q[0] + (at - z[0]) * 4.0, q[-1] + (at - z[-1]) / 3.0
        return np.where(at < z[0], low, np.where(at > z[-1], high, np.interp(at, z, q)))

    near(law.cdf(y), stats.norm.cdf(bent(y)))
    near(law.logsf(y), stats.norm.logsf(bent(y)))
    near(law.ppf(law.cdf(y[:3])), y[:3])
    near(law.isf(law.sf(y[1:])), y[1:])
    knots = sorted(2.0 + 3.0 * np.array(z))

    def integral(f, low, high):
        ends = [low, *(k for k in knots if low < k < high), high]
        return sum(integrate.quad(f, a, b, epsabs=1e-13)[0] for a, b in zip(ends, ends[1:]))

    near(law.mean(), integral(lambda x: x * law.pdf(x), -20.0, 150.0), 1e-9)
    spread = integral(lambda x: (x - law.mean()) ** 2 * law.pdf(x), -20.0, 150.0)
    near(law.std() ** 2, spread, 1e-9)
    for bounds in ({}, {"lower": 0.0, "upper": 20.0}):
        own = errbar.Law("curve", 2.0, 3.0, curve=(q, z), **bounds)
        low, high = bounds.get("lower", -20.0), bounds.get("upper", 150.0)
        for seen in (1.0, 9.0):
            want = integral(lambda x: own.cdf(x) ** 2, low, seen) + integral(
                lambda x: own.sf(x) ** 2, seen, high
            )
            near(own.crps(seen), want, 1e-9)
    assert own.cdf(20.0) == 1.0 and own.sf(-1.0) == 1.0 and own.logcdf(-1.0) == -INF
    near(own.pdf(0.0), stats.norm.cdf(bent(0.0)))
    assert own.logscore(-1.0) == INF
    for wrong in [([0.0], [1.0]), ([0.0, 1.0], [1.0, 1.0]), ([0.0, 1.0], [1.0]), 3.0, ([0.0, NAN], [0, 1])]:
        with pytest.raises(ValueError, match="curve: give"):
            errbar.Law("curve", 0.0, 1.0, curve=wrong)
    with pytest.raises(ValueError, match="curve and scale go with"):
        errbar.Law("normal", 0.0, 1.0, curve=(q, z))


def test_errors_of_two_heaps_have_a_curve():
    rng = np.random.default_rng(0)
    X = rng.random((1500, 1))
    side = np.where(rng.random(1500) < 0.5, 1.0, -1.0)
    error = (0.3 + X[:, 0]) * (0.95 * side + 0.3 * rng.standard_normal(1500))
    model = errbar.SigmaRegressor(model="polynomial").fit(X, error)
    law = model.predict_distribution(X, np.zeros(1500))
    assert repr(law).startswith("Law('curve'")
    near(law.std(), model.predict(X))
    near(law.ppf(0.2), model.predict_quantiles(X, np.zeros(1500), [0.2])[:, 0])
    near(-law.crps(error).mean(), model.score(X, error))
