"""errbar.plot: what is drawn, against NumPy and SciPy."""

import doctest

import numpy as np
import pytest

matplotlib = pytest.importorskip(
    "matplotlib", reason="matplotlib is not installed: errbar.plot is not tested"
)
stats = pytest.importorskip(
    "scipy.stats", reason="SciPy is not installed: errbar.plot is not tested"
)
matplotlib.use("agg")

import matplotlib.pyplot as plt

import errbar.plot
from errbar import plot


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    sigma = rng.uniform(0.5, 2.0, 600)
    return sigma * rng.standard_normal(600), sigma


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return np.array(found.get_data())


def corners(collection):
    return np.concatenate([path.vertices for path in collection.get_paths()])


def test_a_reliability_diagram_counts(pair):
    error, sigma = pair
    ax = plot.reliability_diagram(error, sigma, levels=10)
    nominal, observed = line(ax, "observed")
    np.testing.assert_allclose(nominal, np.linspace(0.0, 1.0, 11), atol=1e-12)
    place = stats.norm.cdf(error / sigma)
    expected = [np.mean(place <= level) for level in nominal[1:-1]]
    np.testing.assert_allclose(observed[1:-1], expected, atol=1e-12)
    assert observed[0] == 0.0 and observed[-1] == 1.0
    band = corners(ax.collections[0])
    for level in (0.1, 0.5, 0.9):
        ends = stats.binom.ppf([0.025, 0.975], 600, level) / 600
        drawn = band[np.abs(band[:, 0] - level) < 1e-9, 1]
        np.testing.assert_allclose([drawn.min(), drawn.max()], ends, atol=1e-12)


def test_a_pit_histogram_counts(pair):
    error, sigma = pair
    ax = plot.pit_histogram(error, sigma, bins=12, confidence=0.9)
    heights = [bar.get_height() for bar in ax.containers[0]]
    expected = np.histogram(stats.norm.cdf(error / sigma), np.linspace(0.0, 1.0, 13))[0] / 600
    np.testing.assert_allclose(heights, expected, atol=1e-12)
    low, high = (one.get_ydata()[0] for one in ax.lines)
    np.testing.assert_allclose([low, high], stats.binom.ppf([0.05, 0.95], 600, 1 / 12) / 600)
    assert "range of chance (90%)" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_spread_and_skill_by_hand():
    """Two sigmas make two bins; squared errors over sigma² are chi-squared."""
    rng = np.random.default_rng(0)
    sigma = np.repeat([1.0, 2.0], 50)
    error = sigma * rng.standard_normal(100)
    ax = plot.spread_skill(error, sigma)
    spread, skill = line(ax, "observed")
    np.testing.assert_allclose(spread, [1.0, 2.0])
    np.testing.assert_allclose(
        skill, [np.sqrt(np.mean(error[part] ** 2)) for part in (sigma == 1, sigma == 2)]
    )
    ends = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    expected = np.sqrt(stats.chi2.ppf([0.025, 0.975], 50) / 50)
    np.testing.assert_allclose(ends, [expected, 2.0 * expected], rtol=2e-3)


def test_weights_of_spread_and_skill_are_rows():
    """A weight of 2 is no second row: chance reaches as far as with half the rows."""
    rng = np.random.default_rng(0)
    error = rng.standard_normal(40)
    ends = []
    for weight in (np.full(40, 2.0), np.repeat([1.0, 0.0], 20)):
        ax = plot.spread_skill(error, 1.0, weight)
        ends.append(ax.collections[0].get_segments()[0][:, 1])
    np.testing.assert_allclose(ends[0], np.sqrt(stats.chi2.ppf([0.025, 0.975], 40) / 40), rtol=3e-3)
    np.testing.assert_allclose(ends[1], np.sqrt(stats.chi2.ppf([0.025, 0.975], 20) / 20), rtol=6e-3)


def test_much_smaller_sigmas_are_seen():
    rng = np.random.default_rng(0)
    sigma = 10.0 ** rng.uniform(-3.0, 3.0, 500)
    ax = plot.spread_skill(sigma * rng.standard_normal(500), sigma)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert plot.spread_skill(rng.standard_normal(500), 1.0).get_xscale() == "linear"


def test_chance_alone_stays_in_its_range():
    """Of calibrated rows, 95% of the points are inside, and a few more: counts are whole."""
    rng = np.random.default_rng(0)
    inside = {"reliability": [], "pit": [], "spread": []}
    _, ax = plt.subplots()
    for _ in range(60):
        sigma = np.exp(0.3 * rng.standard_normal(300))
        error = sigma * rng.standard_normal(300)
        ax.clear()
        plot.reliability_diagram(error, sigma, ax=ax)
        band, (nominal, observed) = corners(ax.collections[0]), line(ax, "observed")
        for x, y in zip(nominal[1:-1], observed[1:-1]):
            drawn = band[np.abs(band[:, 0] - x) < 1e-9, 1]
            inside["reliability"].append(drawn.min() - 1e-9 <= y <= drawn.max() + 1e-9)
        ax.clear()
        plot.pit_histogram(error, sigma, ax=ax)
        low, high = (one.get_ydata()[0] for one in ax.lines)
        heights = [bar.get_height() for bar in ax.containers[0]]
        inside["pit"] += [low - 1e-9 <= height <= high + 1e-9 for height in heights]
        ax.clear()
        plot.spread_skill(error, sigma, ax=ax)
        ends = [segment[:, 1] for segment in ax.collections[0].get_segments()]
        inside["spread"] += [a <= y <= b for (a, b), y in zip(ends, line(ax, "observed")[1])]
    # 60 times about 10 points, which depend on each other: 2.5 points either way.
    assert 0.925 < np.mean(inside["reliability"]) < 0.99
    assert 0.925 < np.mean(inside["pit"]) < 0.99
    assert 0.925 < np.mean(inside["spread"]) < 0.975


@pytest.fixture
def event():
    rng = np.random.default_rng(0)
    forecast, sigma = rng.normal(0.0, 2.0, 3000), rng.uniform(0.5, 3.0, 3000)
    observation = forecast + sigma * rng.normal(size=3000)
    found = errbar.scores(observation, forecast, 0.6 * sigma, events="> 2").events[0]
    said = stats.norm.sf((2.0 - forecast) / (0.6 * sigma))
    return found, said, observation > 2.0


def test_figures_of_an_event_say_what_happened(event):
    found, said, happened = event
    ax = plot.event_reliability(found)
    drawn = line(ax, "observed")
    tenth = np.minimum((10 * said).astype(int), 9)
    by_hand = [[f(values[tenth == k]) for k in range(10)] for f, values in ((np.mean, said), (np.mean, happened))]
    np.testing.assert_allclose(drawn, by_hand, rtol=1e-9)
    ends = [segment[:, 1] for segment in ax.collections[0].get_segments()]
    bins = [(said[tenth == k].mean(), np.sum(tenth == k)) for k in range(10)]
    for (low, high), (p, rows) in zip(ends, bins):
        assert abs(0.5 * (low + high) - p) < 1.0 / rows + 0.02 and high - low < 6.0 * np.sqrt(0.25 / rows)

    ax = plot.roc(found)
    x, y = ax.lines[1].get_data()
    assert (x[0], y[0]) == (0.0, 0.0) and (x[-1], y[-1]) == (1.0, 1.0)
    # The area is the share of pairs that are told apart.
    higher = (said[happened][:, None] > said[~happened]).mean()
    assert abs(np.trapezoid(y, x) - higher) < 1e-3
    assert ax.lines[1].get_label() == f"area {found.roc.area:.3f}"

    ax = plot.economic_value(found)
    x, y = line(ax, "as they are")
    base, near = happened.mean(), np.argmin(np.abs(np.asarray(x) - 0.3))
    ratio = x[near]
    warned = said >= ratio
    expense = ratio * warned.mean() + (happened & ~warned).mean()
    by_hand = (min(ratio, base) - expense) / (min(ratio, base) - base * ratio)
    np.testing.assert_allclose(y[near], by_hand, rtol=1e-6)
    plt.close("all")


def test_a_curve_has_its_intervals():
    x = np.array([2.0, 0.0, 1.0])
    ax = plot.sigma_curve(x, [5.0, 3.0, 4.0], [1.0, 2.0, 3.0], [4.0, 4.0, 4.0])
    assert line(ax, "forecast").tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert line(ax, "observations").tolist() == [[2.0, 0.0, 1.0], [4.0, 4.0, 4.0]]
    for collection, level in zip(ax.collections, (0.9, 0.5)):
        band = corners(collection)
        drawn = band[band[:, 0] == 1.0, 1]
        reach = stats.norm.ppf(0.5 + 0.5 * level) * 3.0
        np.testing.assert_allclose([drawn.min(), drawn.max()], [4.0 - reach, 4.0 + reach])


@pytest.mark.parametrize("name", ["reliability_diagram", "pit_histogram", "spread_skill"])
def test_axes_are_taken_and_given_back(pair, name):
    figure, (left, right) = plt.subplots(1, 2)
    assert getattr(plot, name)(*pair, ax=right) is right
    assert plt.get_fignums() == [figure.number] and not left.has_data()
    own = getattr(plot, name)(*pair)
    assert own.figure is not figure
    own.figure.canvas.draw()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: plot.reliability_diagram([1.0, np.nan], 1.0), "at row 1"),
        (lambda: plot.pit_histogram([1.0, 2.0], [1.0, -1.0]), "sigma.* at row 1"),
        (lambda: plot.pit_histogram([1.0, 2.0], 1.0, bins=7), "18,000"),
        (lambda: plot.reliability_diagram([1.0, 2.0], 1.0, confidence=2.0), "confidence"),
        (lambda: plot.spread_skill([1.0, 2.0], 1.0, bins=0), "at least 1"),
        (lambda: plot.spread_skill([], 1.0), "row"),
        (lambda: plot.sigma_curve([1.0, 2.0], [1.0], 1.0), "forecast has 1 values but x has 2"),
        (lambda: plot.sigma_curve([1.0], 1.0, 1.0, [1.0, 2.0]), "observation has 2 values but x"),
        (lambda: plot.sigma_curve([], 1.0, 1.0), "x has no"),
        (lambda: plot.sigma_curve([1.0, np.nan], 1.0, 1.0), "x at row 1"),
        (lambda: plot.sigma_curve([1.0, 2.0], 1.0, [1.0, 0.0]), "sigma at row 1"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()
    assert plt.get_fignums() == []


def test_examples_in_the_documentation_hold():
    found = doctest.testmod(errbar.plot)
    assert found.attempted > 3 and found.failed == 0
