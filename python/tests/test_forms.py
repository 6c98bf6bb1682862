"""Members, quantiles, intervals and events: other people's implementations give the same numbers."""

from __future__ import annotations

import numpy as np
import properscoring
import pytest
import scipy.stats
import scoringrules
import sklearn.isotonic
import sklearn.metrics

import errbar


@pytest.fixture
def rows():
    random = np.random.default_rng(5)
    forecast = random.normal(size=500)
    sigma = np.exp(0.4 * random.normal(size=500))
    observation = forecast + sigma * random.normal(size=500)
    members = forecast[:, None] + 0.8 * sigma[:, None] * random.normal(size=(500, 11))
    # Ties, among members and with the observation.
    members[::7, :4] = np.round(members[::7, :4])
    observation[::7] = np.round(observation[::7])
    return observation, forecast, sigma, members


def near(got, want, relative=1e-12, absolute=1e-14):
    np.testing.assert_allclose(got, want, rtol=relative, atol=absolute)


@pytest.mark.parametrize("count", [1, 2, 5, 11])
def test_crps_of_members_is_that_of_scoringrules_and_properscoring(rows, count):
    observation, _, _, members = rows
    members = members[:, :count]
    as_is = errbar.crps_ensemble(observation, members, fair=False)
    near(as_is, scoringrules.crps_ensemble(observation, members, estimator="nrg"))
    near(as_is, properscoring.crps_ensemble(observation, members))
    if count > 1:
        fair = errbar.crps_ensemble(observation, members)
        near(fair, scoringrules.crps_ensemble(observation, members, estimator="fair"))
        found = errbar.scores(observation, members=members)
        near(found.crps, fair.mean())
        near([found.members.fair_crps, found.members.crps], [fair.mean(), as_is.mean()])


def test_missing_members_are_left_out(rows):
    observation, _, _, members = rows
    members = members.copy()
    members[np.random.default_rng(1).random(members.shape) < 0.2] = np.nan
    near(
        errbar.crps_ensemble(observation, members, fair=False),
        properscoring.crps_ensemble(observation, members),
    )
    found = errbar.scores(observation, members=members)
    assert found.members.missing == np.isnan(members).sum()
    near(np.sum(found.members.ranks.frequency), 1.0)


def test_ranks_and_spread_are_those_of_numpy(rows):
    observation, _, _, members = rows
    observation = observation + 1e-7  # no ties
    found = errbar.scores(observation, members=members).members
    rank = (members < observation[:, None]).sum(axis=1)
    near(found.ranks.frequency, np.bincount(rank, minlength=12) / len(rank))
    error = observation - members.mean(axis=1)
    variance = members.var(axis=1, ddof=1)
    ratio = np.sqrt((12 / 11 * variance).mean() / (error**2).mean())
    near(found.spread_skill, [np.sqrt(variance.mean()), np.sqrt((error**2).mean()), ratio])


def test_quantiles_are_those_of_scoringrules(rows):
    observation, forecast, sigma, _ = rows
    levels = np.arange(0.05, 1.0, 0.05)
    quantiles = scipy.stats.norm.ppf(levels, forecast[:, None], sigma[:, None])
    found = errbar.scores(observation, quantiles=quantiles, quantile_levels=levels)
    each = scoringrules.quantile_score(observation[:, None], quantiles, levels)
    near(found.quantiles.pinball, each.mean(axis=0))
    # Twice the mean pinball loss is what scoringrules takes for the CRPS.
    near(
        2 * found.quantiles.mean_pinball,
        scoringrules.crps_quantile(observation, quantiles, levels).mean(),
    )
    near(found.quantiles.shares_below, (observation[:, None] <= quantiles).mean(axis=0))
    exact = scoringrules.crps_normal(observation, forecast, sigma).mean()
    assert found.quantiles.crps_least < exact
    # Straight lines and cut tails are off by less than this.
    near(found.crps, exact, relative=0.02)
    same = errbar.scores(observation, quantiles=dict(zip(levels[::-1], quantiles.T[::-1])))
    assert same.crps == found.crps
    crossed = errbar.scores(observation, quantiles=quantiles[:, ::-1], quantile_levels=levels)
    assert crossed.quantiles.crossings.rows == len(observation)
    near(crossed.crps, found.crps)


def test_interval_score_is_that_of_scoringrules(rows):
    observation, forecast, sigma, _ = rows
    low, high = forecast - 1.2 * sigma, forecast + 1.5 * sigma
    found = errbar.scores(observation, interval=(low, high), interval_level=0.8).interval
    near(found.score, scoringrules.interval_score(observation, low, high, 0.2).mean())
    near([found.below, found.above], [(observation < low).mean(), (observation > high).mean()])
    near(found.coverage, 1 - found.below - found.above)
    assert found.coverage_interval.low < found.coverage < found.coverage_interval.high


def test_events_are_those_of_scikit_learn(rows):
    observation, forecast, sigma, members = rows
    for event, happened in [("> 0.5", observation > 0.5), ("<= -1", observation <= -1)]:
        above = event.startswith(">")
        threshold = float(event.split()[1])
        of_law = scipy.stats.norm.sf if above else scipy.stats.norm.cdf
        side = np.greater if above else np.less_equal
        for found, p in [
            (
                errbar.scores(observation, forecast, sigma, events=event),
                of_law(threshold, forecast, sigma),
            ),
            (
                errbar.scores(observation, members=members, events=[event]),
                side(members, threshold).mean(axis=1),
            ),
        ]:
            [one] = found.events
            assert one.event == event and one.events == happened.sum()
            near(one.brier.score, sklearn.metrics.brier_score_loss(happened, p))
            near(one.brier.score, scoringrules.brier_score(happened, p).mean())
            near(one.roc.area, sklearn.metrics.roc_auc_score(happened, p))
            near(
                one.brier.reliability - one.brier.resolution + one.brier.uncertainty,
                one.brier.score,
            )
            near([one.base_rate, one.mean_probability], [happened.mean(), p.mean()])
            # The curve has all corners that scikit-learn's has, where there are few.
            if len(one.roc.points) < 150:
                far, hit, _ = sklearn.metrics.roc_curve(happened, p, drop_intermediate=False)
                near([point.false_alarm_rate for point in one.roc.points], far)
                near([point.hit_rate for point in one.roc.points], hit)
            isotonic = sklearn.isotonic.IsotonicRegression().fit(p, happened).predict(p)
            near(
                one.brier.reliability,
                one.brier.score - np.mean((isotonic - happened) ** 2),
                absolute=1e-12,
            )


def test_weights_count_as_rows(rows):
    observation, _, _, members = rows
    weight = np.arange(500) % 3
    twice = np.repeat(np.arange(500), weight)
    for options in [
        {"members": members},
        {"quantiles": np.sort(members, axis=1), "quantile_levels": np.arange(1, 12) / 12},
    ]:
        drawn = {
            name: value[twice] if name != "quantile_levels" else value
            for name, value in options.items()
        }
        a = errbar.scores(observation, weight=weight, events="> 1", **options)
        b = errbar.scores(observation[twice], events="> 1", **drawn)
        near([a.crps, a.bias, a.rmse], [b.crps, b.bias, b.rmse])
        near([*a.events[0].brier, a.events[0].roc.area], [*b.events[0].brier, b.events[0].roc.area])


def test_what_is_told(rows):
    observation, _, _, members = rows
    found = errbar.scores(observation, members=members, events=["> 0.5", "> 99"], intervals=True)
    assert found.verdict.word == "overconfident" and "members" in found.verdict.text
    assert "nan" not in found._repr_html_() and "NaN" not in str(found)
    [event, never] = found.events
    assert event.intervals.brier.low < event.brier.score < event.intervals.brier.high
    assert never.events == 0 and np.isnan(never.brier.skill) and never.few
    assert found.to_dict()["events"][0]["brier"]["score"] == event.brier.score
    assert errbar.scores(observation, members=members).events == []


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, "none were given"),
        ({"members": [[1.0], [2.0]], "forecast": [1, 2]}, "sigma and members were given"),
        ({"forecast": [1, 2]}, "forecast and sigma go together"),
        ({"members": [1.0, 2.0]}, "members has shape"),
        ({"members": [[1.0]]}, "members has 1 rows but observation has 2"),
        ({"members": [[1.0], [np.nan]]}, "no member at row 1 has a value"),
        ({"members": [[1.0], [np.inf]]}, "a member at row 1 is inf"),
        ({"quantiles": [[1.0], [2.0]]}, "quantiles need their levels"),
        ({"quantiles": [[1.0], [2.0]], "quantile_levels": [0.1, 0.9]}, "2 levels were given for 1"),
        ({"quantiles": {0.1: [1.0, 2.0], "x": [3.0, 4.0]}}, "the keys of quantiles are their levels"),
        ({"quantiles": {0.1: [1.0, 2.0], 0.9: [3.0]}}, "quantile 0.9 has 1 values"),
        ({"quantiles": {0.0: [1.0, 2.0]}}, "the level of a quantile is 0"),
        ({"interval": ([1.0, 2.0],)}, "give where it begins and where it ends"),
        ({"interval": ([1.0, 2.0], [0.0, 3.0])}, "swap its ends"),
        ({"members": [[1.0], [2.0]], "events": "x"}, "write >, >=, < or <= and a number"),
    ],
)
def test_refused(options, want):
    with pytest.raises(ValueError, match=want.replace("(", r"\(")):
        errbar.scores([1.0, 2.0], **options)


def test_crps_ensemble_keeps_shapes(rows):
    observation, _, _, members = rows
    flat = errbar.crps_ensemble(observation, members)
    cube = errbar.crps_ensemble(observation.reshape(50, 10), members.reshape(50, 10, 11))
    assert cube.shape == (50, 10) and np.array_equal(cube.ravel(), flat)
    assert errbar.crps_ensemble(2.0, [1.0, 2.0, 4.0]) == 0.0
    with pytest.raises(ValueError, match="members need one dimension more"):
        errbar.crps_ensemble(observation, members[0])


def test_xarray_with_a_member_dimension(rows):
    xr = pytest.importorskip("xarray")
    import errbar.xarray

    observation, _, _, members = rows
    y = xr.DataArray(observation.reshape(100, 5), dims=("time", "station"), attrs={"units": "K"})
    x = xr.DataArray(members.reshape(100, 5, 11), dims=("time", "station", "member"))
    x = x.transpose("member", "time", "station")
    each = errbar.xarray.crps_ensemble(y, x)
    assert each.dims == ("time", "station") and each.attrs["units"] == "K"
    near(each.values.ravel(), errbar.crps_ensemble(observation, members))
    lazy = errbar.xarray.crps_ensemble(y.chunk({"time": 30}), x.chunk({"time": 30}))
    near(lazy.values, each.values)
    found = errbar.xarray.scores(y, members=x, dim="time")
    assert found["crps"].dims == ("station",) and found["ranks"].dims == ("station", "rank")
    one = errbar.scores(y.values[:, 2], members=members.reshape(100, 5, 11)[:, 2])
    near(found["crps"].values[2], one.crps)
    near(found["ranks"].values[2], one.members.ranks.frequency)
    near(found["spread_over_skill"].values[2], one.members.spread_skill.ratio)
    gap = y.where(y.station != 1)
    assert np.isnan(errbar.xarray.scores(gap, members=x, dim="time")["crps"].values[1])
    with pytest.raises(ValueError, match="no dimension of members"):
        errbar.xarray.crps_ensemble(y, x, member_dim="number")
