"""An estimator of scikit-learn's kind that learns sigma(x), the size of errors."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Callable, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from . import _errbar
from ._arrays import Floats, at_levels, floats, groups_of, levels_of, name_of, refuse_sparse
from ._categories import Category
from ._cost import Beta
from ._given import (
    calendar_of,
    count,
    jobs,
    learned_table,
    number,
    one_of,
    seed_of,
    table,
    target,
    text,
    usual_names,
    weights,
)
from ._importances import importances_of
from ._law import Law
from ._members import ensemble_of, has_members, made_names, made_of, natural
from ._series import Kept, Update, offset_of, rows_in_time, span, spans, times
from ._shown import Shown, of_sigma


class Candidate(NamedTuple):
    """A model that was tried, and how it did on the held-out rows."""

    model: str
    crps: float
    nlpd: float


class Importance(NamedTuple):
    """What an input, or some that stand in for one another, is worth to sigma, on rows the model has
    not seen."""

    name: str
    crps_share: float
    """The share by which the CRPS grows when the values of this input, with those of its twins, are
    shuffled among the rows; near 0 it tells nothing. A model fitted without it may do better than that:
    other inputs may tell a part of what it told."""
    smallest: tuple[float, float]
    """Of the rows in fifths by this input, as they are: its median where sigma is smallest on average,
    and that sigma."""
    largest: tuple[float, float]
    """Where it is largest."""
    twins: list[str] = []
    """Inputs that nearly follow from it, or it from them: their worth cannot be told apart."""


class Validation(NamedTuple):
    """How a model did on the rows that were held out."""

    rows: int
    turns: int
    """How often some were held out while models learned from the others."""
    whole_groups: bool
    """Whether rows of one group were held out together."""
    crps: float
    constant_crps: float
    """That of one constant sigma."""
    crps_skill: float
    """1 - crps / constant_crps"""
    skill_standard_error: float
    nlpd: float
    rs: float
    rms_z: float
    coverage_90: float
    candidates: list[Candidate]
    not_tried: list[str]
    """Kinds of models that ``budget`` had no room for."""
    left_out: list[str]
    """Inputs that were not used: what they say of sigma did not carry over to rows held out."""
    importance: list[Importance]


class SigmaRegressor(RegressorMixin, Shown):
    """Learns sigma(x): how large the error of a forecast will be, as a function of the inputs.

    It is fitted to inputs and *errors*, observation minus forecast, of any forecaster. They should
    be errors of forecasts made without knowing the observation, as they will be in use; those of a
    forecaster on the rows it was trained on are too small. :class:`ErrorBarRegressor` takes care of
    that for forecasters of scikit-learn's kind.

    Parameters
    ----------
    model : str, default="auto"
        The model of sigma: "auto" is a mean of all kinds, with weights by how well they do on held-out
        rows, or one constant sigma where none does better; "constant" one sigma for all rows; then
        "polynomial", "smooth", "network", "trees" and whatever else ``errbar fit --model`` knows. A
        name that there is not is refused with those there are.
    loss : {"ar", "crps", "nlpd", "law"}, default="ar"
        What it is trained by: the Accuracy-Reliability cost, CRPS, or negative log density. "law" is the
        Accuracy-Reliability cost of the law that the errors have: models are trained twice, and the second
        ones are kept where held-out rows speak for them.
    beta : {"heuristic", "printed"} or float, default="heuristic"
        How much accuracy counts beside reliability in "ar"; see :func:`accuracy_reliability`.
    validation : float, default=0.2
        The share of rows held out at a time to choose and judge the model, in small tables in turn
        until each row has been held out once. The model is then fitted to all rows.
    time_order : bool, default=False
        Whether rows are in the order of time: then models are judged by rows later than those they
        learn from, not by random ones.
    most_rows : int, default=None
        The most rows a model is trained on, at least 20; of more, this many are chosen (of a constant
        sigma none are left out). All are used to judge. None: all rows; a smooth function and a
        network learn from 10,000 at most. ``trained_on_`` is how many, and a warning says where they
        are not all.
    budget : float, default=None
        How much work may be done, in evaluations of the cost of one row: it decides how often rows
        are held out, and if need be on how many rows models are trained. None: as much as it takes.
    keep_inputs : bool, default=False
        Whether every input is used, even where rows held out in time say that what it tells about
        sigma does not carry over to later rows.
    independent : bool, default=False
        Whether rows are taken as independent even where neighbouring errors resemble each other;
        otherwise neighbours are then held out together, in blocks.
    local_units : bool, default=True
        Whether each row's error counts in units of the sigma there, after a first fit; otherwise rows
        of small sigma hardly count.
    debias : bool, default=False
        Whether to learn the bias of the forecaster as well: :meth:`bias` is then to be added to its
        forecasts, and sigma belongs to forecasts so moved.
    law : {"auto", "normal", "logistic", "laplace", "t", "two-piece-normal", "two-piece-laplace", \
"two-piece-t"}, default="auto"
        The law of errors in units of sigma, which intervals and quantiles are read off: by default the
        one that held-out rows choose. The skew of "auto" and of two-piece laws varies with the inputs where
        held-out rows say so.
    recalibrate : bool, default=True
        Whether size and location of that law follow the errors of held-out rows. With
        ``law="normal", recalibrate=False`` error bars are the paper's.
    lower, upper : float or None, default=None
        The least and the most that an observation can be (rain: ``lower=0``): the law is censored there,
        and :meth:`fit` needs the observations.
    scale : {"none", "sqrt", "log"}, default="none"
        The scale to learn on (``errbar fit --transform``): square roots of counts and amounts, logarithms of what is positive and off
        by factors. :meth:`fit` then takes forecast and observation, sigma and bias are on that scale, and
        quantiles and intervals on the user's.
    fit_mean : bool, default=False
        For those who have no forecaster: what it is fitted to are then *observations*, whose mean is
        learned too (a Gaussian process whose noise follows sigma). :meth:`forecast` gives it, and
        intervals need no forecast.
    guarantee : {"split", "cross"}, optional
        Makes intervals possible that hold new observations with a promised probability, whatever the
        distribution of errors; see :meth:`guaranteed`. "split" keeps half of the rows (at most 2,000;
        with groups half of each group's, at most 200 where there are ten groups or more) from the model. "cross" learns from all rows, gives narrower intervals and promises less.
    guarantee_levels : sequence of float, default=()
        With ``guarantee="split"`` and rows in time: the levels whose share :meth:`update` keeps right as rows
        are observed, whatever the errors do. By default those of 0.5, 0.8, 0.9, 0.95 and 0.99 that there
        are rows enough for.
    categorical_features : {"from_dtype"}, array-like of bool, int or str, or None, default="from_dtype"
        Which columns are categories (a station, a carrier): a mask, places or names. By default those that hold
        text in a table with names: pandas and Polars categoricals and strings. Each level has a number of its
        own, shrunk by how few rows say so; levels that were not seen get a sigma, and :meth:`outside` says so.
    members : str, list or None, default=None
        Which columns are members of an ensemble: a pattern of names ("rainfc.*"), names, places or a mask. Their mean
        is then the forecast where none is given (``fit(X, observation=...)``, ``predict_interval(X)``), and the inputs
        are the other columns, that mean, the standard deviation of the members and the share of them that are zero.
        Members may be missing (NaN). The model file keeps which they are.
    center : {"mean", "median"}, default="mean"
        What the forecast is of the members.
    calendar : {"auto", "no"}, default="auto"
        Of rows in time (``fit(..., time=...)``) whose times are dates: whether hour of day, day of week and season are
        inputs, too, where later rows gain by them (``calendar_`` says which). The methods that take inputs then need the
        ``time`` of their rows.
    delay : int or str, default=1
        Of rows in time (``fit(..., time=...)``): when an observation becomes known, so many distinct times
        later, or a time later, as in "48h".
    lag : sequence of int or str, default=()
        Of rows in time: errors of earlier rows that are inputs, so many times of the row's own group
        before, or a time before. They are used where held-out rows gain by them.
    random_state : int, RandomState or None, default=None
        The seed of everything random. None is 0: the same data give the same model.
    n_jobs : int or None, default=None
        Threads; -1 is all cores. None leaves it to RAYON_NUM_THREADS or OMP_NUM_THREADS where one is
        set, and is all cores elsewhere. The result does not depend on it.
    verbose : bool, default=False
        Whether to say on standard error how far the fit is.
    progress : callable, optional
        Called now and then with the share of the work that is done, from 0 to 1.

    Attributes
    ----------
    model_ : str
        The kind of model that was chosen.
    explanation_ : str
        The model in a few words.
    calendar_ : list of str
        What of the calendar it takes from the time of each row.
    trained_on_ : int
        The rows it was trained on: fewer than it was given where ``most_rows``, ``budget`` or a
        guarantee keep some away. Of a mean of several models, the most that one was trained on.
    validation_ : Validation or None
        How it did on held-out rows; None where too few rows could be held out.
    feature_importances_ : ndarray
        What each column of X is worth to sigma.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the inputs, where they were given as a table with names.

    Notes
    -----
    With fewer than 20 rows every model is one constant sigma, and a warning says so.

    References
    ----------
    Camporeale (2018), https://arxiv.org/abs/1803.04475

    Examples
    --------
    >>> import numpy as np
    >>> from errbar import SigmaRegressor
    >>> x = np.linspace(0, 1, 300)
    >>> error = (0.1 + x) * np.sin(2.4 * np.arange(300))  # grows with x
    >>> model = SigmaRegressor().fit(x[:, None], error)
    >>> small, large = model.predict([[0.1], [0.9]])
    >>> bool(large > 2 * small)
    True
    """

    # The error is the target here, which scikit-learn gives by place.
    __metadata_request__fit = {"error": UNUSED}
    __metadata_request__score = {"error": UNUSED}

    def __init__(
        self,
        model: str = "auto",
        *,
        loss: str = "ar",
        beta: Beta = "heuristic",
        validation: float = 0.2,
        time_order: bool = False,
        most_rows: int | None = None,
        budget: float | None = None,
        keep_inputs: bool = False,
        independent: bool = False,
        local_units: bool = True,
        debias: bool = False,
        law: str = "auto",
        recalibrate: bool = True,
        lower: float | None = None,
        upper: float | None = None,
        scale: str = "none",
        fit_mean: bool = False,
        guarantee: str | None = None,
        guarantee_levels: Any = (),
        categorical_features: Any = "from_dtype",
        members: Any = None,
        center: str = "mean",
        calendar: str = "auto",
        delay: int | str = 1,
        lag: Any = (),
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        progress: Callable[[float], Any] | None = None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.beta = beta
        self.validation = validation
        self.time_order = time_order
        self.most_rows = most_rows
        self.budget = budget
        self.keep_inputs = keep_inputs
        self.independent = independent
        self.local_units = local_units
        self.debias = debias
        self.law = law
        self.recalibrate = recalibrate
        self.lower = lower
        self.upper = upper
        self.scale = scale
        self.fit_mean = fit_mean
        self.guarantee = guarantee
        self.guarantee_levels = guarantee_levels
        self.categorical_features = categorical_features
        self.members = members
        self.center = center
        self.calendar = calendar
        self.delay = delay
        self.lag = lag
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def fit(
        self,
        X: Any,
        error: Any = None,
        sample_weight: Any = None,
        *,
        forecast: Any = None,
        observation: Any = None,
        group: Any = None,
        time: Any = None,
        prior_sigma: Any = None,
        y: Any = None,
    ) -> SigmaRegressor:
        """Learns from inputs ``X`` and the error, observation minus forecast, of each row; with
        ``fit_mean=True`` from its observation.

        ``forecast`` and ``observation`` of each row may stand for its error; where observations have
        bounds, ``observation`` may stand beside it. An input may be missing (NaN): what that tells about the error is learned. ``sample_weight`` is
        the weight of each row; only ratios matter. ``group`` is the group of each row (a station, a
        patient, a storm): with ten groups or more, whole groups are held out to judge models by (not with
        ``time_order=True``; a warning says when they are not), and a guarantee holds in each group. ``y`` is another name for the error, for callers
        that know no other. Ctrl-C stops it.

        ``prior_sigma`` is a sigma that each row has already, greater than 0 (the spread of an ensemble, the standard
        deviation of a Gaussian process): it is corrected, sigma = ``prior_sigma`` times a function of the inputs. The methods that
        take inputs then need that of their rows.

        With ``time``, numbers or dates of the rows, models are judged by rows later than those they learn
        from, errors of earlier rows can be inputs (``lag``), and the model follows what :meth:`update`
        takes later.
        """
        refuse_sparse("X", X)
        wanted = self._wanted()
        ensemble = ensemble_of(X, self.members, self.center)
        inputs, categories, names = learned_table(self, X, ensemble)
        makes = ensemble is not None and error is None and y is None and forecast is None
        if ensemble is not None and makes:
            if observation is None:
                raise ValueError("members make the forecast: give the observation of each row too")
            forecast = made_of(X, ensemble)[1]
        errors = self._errors(error, y, forecast, observation)
        weight = weights(sample_weight)
        groups = None if group is None else groups_of(group)
        prior = None
        if prior_sigma is not None:
            prior = (name_of(prior_sigma, "prior_sigma"), target("prior_sigma", prior_sigma))
        if self.fit_mean:
            for name, given in (
                ("sample_weight", sample_weight is not None),
                ("group", group is not None),
                ("guarantee", self.guarantee is not None),
                ("debias", self.debias),
                ("inputs that are texts", bool(categories)),
                ("prior_sigma", prior is not None),
                ("members", ensemble is not None),
            ):
                if given:
                    raise ValueError(f"fit_mean=True does not go with {name}: leave one of them out")
        if time is not None:
            self.fitted_ = self._fit_series(
                (inputs, categories),
                list(names),
                (errors[0], forecast, observation),
                weight,
                (time, group, prior),
                wanted,
            )
        elif len(spans("lag", self.lag)):
            raise ValueError("errors of earlier rows (lag) need the time of each row: fit(..., time=...)")
        else:
            self.fitted_ = _errbar.fit_sigma(
                inputs, list(names), categories, errors, weight, prior, groups, wanted
            )
        if ensemble is not None:
            self.fitted_ = self.fitted_.with_ensemble(*ensemble, makes)
        self._warn()
        return self

    def _fit_series(
        self,
        table: tuple[Floats, list[Category]],
        names: list[str],
        told: tuple[Floats, Any, Any],
        weight: Floats | None,
        when: tuple[Any, Any, tuple[str, Floats] | None],
        wanted: dict[str, Any],
    ) -> _errbar.Fitted:
        """A model of rows in time."""
        (error, forecast, observation), (time, group, prior) = told, when
        inputs, categories = table
        if self.fit_mean:
            raise ValueError("fit_mean=True does not go with time: leave one of them out")
        around = None if forecast is None else target("forecast", forecast)
        if around is None and (self.lower is not None or self.upper is not None):
            around = target("observation", observation) - error
        seen = error if around is None else target("observation", observation)
        seconds, dates = times(time)
        rows = rows_in_time(inputs, seconds, group, around, seen, prior)
        of = {
            "time": name_of(time, "time"),
            "dates": dates,
            "offset": offset_of(time),
            "delay": span("delay", self.delay),
            "lag": spans("lag", self.lag),
            "debias_if_it_pays": False,
            "categories": categories,
            "promised": np.atleast_1d(floats("guarantee_levels", self.guarantee_levels)).ravel().tolist(),
        }
        return _errbar.fit_series(rows, names, weight, wanted, of)

    def update(
        self,
        X: Any,
        error: Any = None,
        *,
        time: Any,
        forecast: Any = None,
        observation: Any = None,
        group: Any = None,
        prior_sigma: Any = None,
        replace: bool = False,
    ) -> Update:
        """Takes newly observed rows, later than those that the model knows: its error bars follow them.

        It is to be fitted with ``time``. What is not observed yet may be NaN. ``error``, or ``forecast``
        and ``observation``, and ``group`` are given as they were to :meth:`fit`. With ``replace=True`` rows that are
        late, or known with another error, are taken too, as long as they are recent. Then :meth:`predict`,
        :meth:`predict_quantiles`, :meth:`predict_interval` and :meth:`guaranteed` take the ``time`` of their
        rows. Guaranteed intervals (``guarantee="split"``) move so that they hold their share in the long run
        whatever the errors do: ``guarantee`` of what is returned says what they held.
        """
        check_is_fitted(self)
        if (error is None) == (observation is None):
            raise ValueError("give the error of each row, or forecast and observation")
        self._check_time(time)
        inputs = table(self, X)
        seen = floats("error" if observation is None else "observation", error if observation is None else observation)
        if observation is not None:
            forecast = self._around(X, forecast)
        rows = rows_in_time(inputs, times(time)[0], group, forecast, seen, self._named_prior(prior_sigma))
        self.fitted_, said = _errbar.update(self.fitted_, rows, bool(replace))
        kept = [Kept(*one) for one in said.pop("guarantee")]
        return Update(**said, guarantee=kept)

    def _prior(self, prior_sigma: Any) -> Floats | None:
        """The sigma that rows have already, where the model corrects one."""
        check_is_fitted(self)
        name = self.fitted_.prior
        if name is None and prior_sigma is not None:
            raise ValueError("this model corrects no sigma: leave prior_sigma out, or fit one with it")
        if name is not None and prior_sigma is None:
            raise ValueError(f'this model corrects the sigma "{name}" of each row: give it, prior_sigma=...')
        return None if prior_sigma is None else target("prior_sigma", prior_sigma)

    def _named_prior(self, prior_sigma: Any) -> tuple[str, Floats] | None:
        values, name = self._prior(prior_sigma), self.fitted_.prior
        return None if values is None or name is None else (name, values)

    def _followed(
        self, X: Any, forecast: Any, time: Any, group: Any, levels: list[float], prior_sigma: Any
    ) -> tuple[Floats, list[Floats]]:
        """What is said of rows in time by what was known then."""
        inputs = table(self, X)
        around = np.zeros(len(inputs)) if forecast is None else target("forecast", forecast)
        rows = rows_in_time(inputs, times(time)[0], group, around, None, self._named_prior(prior_sigma))
        return _errbar.followed(self.fitted_, rows, levels)

    def _around(self, X: Any, forecast: Any) -> Floats | None:
        """The forecast of each row: that which is given, or that which its members make."""
        check_is_fitted(self)
        if forecast is not None:
            return target("forecast", forecast)
        ensemble = self.fitted_.ensemble
        if ensemble is None or self.fitted_.forecast not in made_names(ensemble) or not has_members(X, ensemble):
            return None
        return made_of(X, ensemble)[1]

    def _check_time(self, time: Any) -> None:
        check_is_fitted(self)
        if time is None and self.fitted_.followed_rows:
            raise ValueError(
                "this model follows what was observed (update): give the time of each row, time=..."
            )
        cycles = self.fitted_.calendar
        if time is None and cycles:
            raise ValueError(
                f"this model takes {' and '.join(cycles)} from the time of each row: give it, time=..."
            )
        if cycles and not times(time)[1]:
            raise ValueError("these times are numbers, and those that the model knows are dates")
        if cycles and None not in (known := self.fitted_.offset, here := offset_of(time)) and known != here:
            have, had = ("a time zone" if one else "none" for one in (here, known))
            raise ValueError(
                f"these times have {have}, and those that the model learned {' and '.join(cycles)} of had {had}: "
                "give both alike"
            )

    def _inputs(self, X: Any, time: Any) -> Floats:
        """Inputs with what of the calendar the model takes."""
        check_is_fitted(self)
        inputs = table(self, X)
        if not self.fitted_.calendar:
            return inputs
        self._check_time(time)
        seconds = times(time)[0]
        if len(seconds) != len(inputs):
            raise ValueError(f"time has {len(seconds)} values but X has {len(inputs)} rows: give one per row")
        return self.fitted_.with_calendar(inputs, seconds)

    def _errors(
        self, error: Any, y: Any, forecast: Any, observation: Any
    ) -> tuple[Floats, Floats | None]:
        """Errors, and observations where they are known, on the scale that is learned on."""
        scale = text("scale", self.scale)
        if scale != "none" and (forecast is None or observation is None) and not self.fit_mean:
            raise ValueError(
                f"scale={scale!r} needs the forecast and the observation of each row: "
                "fit(X, forecast=..., observation=...)"
            )
        if forecast is None or error is not None or y is not None:
            if forecast is not None:
                raise ValueError("give the error of each row, or forecast and observation: not both")
            e = target("error", one_of(error, y))
            if self.fit_mean:
                e = _errbar.on_scale(scale, "observation", e)
            observed = None if observation is None else target("observation", observation)
            return e, e if self.fit_mean else observed
        if observation is None:
            raise ValueError("forecast alone makes no error: give the observation of each row too")
        seen = _errbar.on_scale(scale, "observation", target("observation", observation))
        return _errbar.errors_of(
            seen, _errbar.on_scale(scale, "forecast", target("forecast", forecast))
        ), seen

    def predict(
        self, X: Any, *, time: Any = None, group: Any = None, prior_sigma: Any = None
    ) -> Floats:
        """Sigma of each row, of ``prior_sigma`` where the model corrects that. An input may be missing (NaN), also where none was in the rows it was
        fitted to; such a row counts as outside. A model that was fitted with ``time`` says with the time
        of each row (and its group) what is known then of earlier errors."""
        self._check_time(time)
        if time is not None:
            return self._followed(X, None, time, group, [], prior_sigma)[0]
        return self._predicted(X, prior_sigma=prior_sigma)[2]

    def predict_quantiles(
        self,
        X: Any,
        forecast: Any = None,
        quantiles: Any = (0.05, 0.5, 0.95),
        *,
        time: Any = None,
        group: Any = None,
        prior_sigma: Any = None,
    ) -> Floats:
        """The values that the observation of each row stays below with these probabilities, a column
        for each.

        ``forecast`` is the forecast of each row, which is moved by the bias where that was learned; a
        model that makes the forecast itself needs none. ``time``, ``group`` and ``prior_sigma`` are as in :meth:`predict`.
        """
        self._check_time(time)
        levels = np.atleast_1d(floats("quantiles", quantiles)).ravel().tolist()
        around = self._around(X, forecast)
        if time is not None:
            if around is None:
                raise ValueError("give the forecast of each row: this model knows sigma alone")
            columns = self._followed(X, around, time, group, levels, prior_sigma)[1]
        else:
            prior = self._prior(prior_sigma)
            columns = self.fitted_.quantiles(table(self, X), around, levels, prior)
        return np.stack(columns, axis=-1) if columns else np.empty((len(X), 0))

    def predict_interval(
        self,
        X: Any,
        forecast: Any = None,
        level: Any = 0.9,
        *,
        time: Any = None,
        group: Any = None,
        prior_sigma: Any = None,
    ) -> Floats:
        """The ends of each row's central interval of this level around its forecast, in two columns:
        see :meth:`predict_quantiles`. Several levels make an array of shape (rows, levels, 2). For intervals
        with a guarantee see :meth:`guaranteed`."""
        shares, one = levels_of(level)
        ends = [0.5 + sign * share for share in shares for sign in (-0.5, 0.5)]
        found = self.predict_quantiles(X, forecast, ends, time=time, group=group, prior_sigma=prior_sigma)
        return found if one else found.reshape(len(found), len(shares), 2)

    def predict_distribution(
        self, X: Any, forecast: Any = None, *, time: Any = None, prior_sigma: Any = None
    ) -> Law:
        """The distribution around the forecast of each row: ``cdf``, ``sf``, ``ppf``, ``pdf``, ``rvs``,
        ``crps``; see :meth:`predict_quantiles`. ``time`` is that of each row, where the model takes hour of day,
        day of week or season from it (``calendar_``)."""
        if self.fitted_.options["scale"] != "none":
            raise ValueError(
                "a model on another scale has no law on yours that could be named: see "
                "predict_quantiles, predict_interval"
            )
        if self.fitted_.followed_rows:
            raise ValueError(
                "laws that follow what was observed have no name: see predict_quantiles, predict_interval"
            )
        bias, own, sigma, _ = self._predicted(X, time, prior_sigma)
        around = self._around(X, forecast)
        if around is not None:
            centre = around + (0.0 if bias is None else bias)
        elif own is not None:
            centre = own
        else:
            raise ValueError("give the forecast of each row: this model knows sigma alone")
        return self._law(X, centre, sigma)

    def _law(self, X: Any, forecast: Floats, sigma: Floats) -> Law:
        told = self.fitted_.options
        bounds = {name: told[name] for name in ("lower", "upper") if told[name] is not None}
        if self.fitted_.curve is not None:
            return Law("curve", forecast, sigma, curve=self.fitted_.curve, **bounds)
        # Each row has its own where the skew turns with the inputs.
        of_rows = self.fitted_.laws_of(table(self, X))
        base, df, location, left, right = of_rows or self.fitted_.law
        sides = {"left": left * sigma, "right": right * sigma}
        return Law(base, forecast + location * sigma, df=df, **sides, **bounds)

    def bias(self, X: Any, *, time: Any = None, prior_sigma: Any = None) -> Floats:
        """What to add to the forecast of each row: the mean error there, learned with ``debias=True``.
        Zero where it was not. ``time`` is as in :meth:`predict_distribution`."""
        bias, _, sigma, _ = self._predicted(X, time, prior_sigma)
        return np.zeros_like(sigma) if bias is None else bias

    def outside(self, X: Any, *, time: Any = None) -> Any:
        """Whether each row lies where there were hardly any training rows, in all inputs together:
        there sigma is held by that of the nearest of them, and deserves less trust. ``time`` is as in
        :meth:`predict_distribution`."""
        return self.fitted_.predict(self._inputs(X, time))[3]

    def support(self, X: Any, *, time: Any = None) -> Floats:
        """How near the training rows are to each row: 1 where they are as near as they are to each
        other, 0.5 at twice that distance (rows below are :meth:`outside`), down to 0. NaN for a model
        that does not know: one constant sigma, or one of an older version."""
        inputs = self._inputs(X, time)
        support, _ = self.fitted_.support(inputs)
        return np.full(len(inputs), np.nan) if support is None else support

    def outside_input(self, X: Any, *, time: Any = None) -> list[str | None]:
        """For each row that lies outside, the name of the input that takes it from the training rows,
        given the others; None for the other rows."""
        return self.fitted_.support(self._inputs(X, time))[1]

    def sigma_band(
        self, X: Any, level: Any = 0.9, *, time: Any = None, prior_sigma: Any = None
    ) -> Floats:
        """The band that holds sigma itself with this probability, in two columns: how well the
        errors tell it. Smooth models have one. Several levels are as in :meth:`predict_interval`."""
        inputs, prior = self._inputs(X, time), self._prior(prior_sigma)

        def band(share: float) -> tuple[Floats, Floats]:
            found = self.fitted_.band(inputs, share, prior)
            if found is None:
                raise ValueError(
                    f'a model of kind "{self.model_}" has no band on sigma: fit one with model="smooth"'
                )
            return found

        return at_levels(level, band)

    def guaranteed(
        self,
        X: Any,
        level: Any = 0.9,
        group: Any = None,
        *,
        time: Any = None,
        prior_sigma: Any = None,
    ) -> Floats:
        """The least and the most error of each row, in two columns: between them, added to the forecast,
        lies the observation with probability ``level``, whatever the distribution of errors.

        The promise takes new rows to come from the same source as those it was fitted to, in no
        special order: a drift breaks it. ``group`` is the group of each row, where the model was
        fitted with groups; the promise then holds in each group, over all those with too few errors for
        that together, and is NaN for groups that were not seen (see :meth:`guaranteed_by`). Without it
        all groups are taken together. The model is to be fitted with ``guarantee="split"`` or
        ``"cross"``. Several levels are as in :meth:`predict_interval`; each is promised on its own.

        A model that was fitted with ``time`` and has been told what was observed (:meth:`update`) says with
        the time of each row what keeps the share right in the long run, at each of ``guarantee_levels``;
        infinite where an interval is unbounded.
        """
        check_is_fitted(self)
        if self.fitted_.promised or time is not None:
            self._check_time(time)
        if time is not None:
            inputs = table(self, X)
            named = self._named_prior(prior_sigma)
            rows = rows_in_time(inputs, times(time)[0], group, np.zeros(len(inputs)), None, named)
            return at_levels(level, lambda share: _errbar.guaranteed_in_time(self.fitted_, rows, share))
        labels = None if group is None else [str(one) for one in np.asarray(group).ravel()]
        inputs = self._inputs(X, None)
        prior = self._prior(prior_sigma)
        return at_levels(level, lambda share: self.fitted_.guaranteed(inputs, share, labels, prior))

    def guaranteed_by(self, group: Any, level: float = 0.9) -> Any:
        """Who the interval of :meth:`guaranteed` is promised to, for rows of these groups: the group by
        its name, "small groups together" for one with too few errors on its own, or None for one that
        gets no promise."""
        check_is_fitted(self)
        labels = [str(one) for one in np.asarray(group).ravel()]
        return np.array(self.fitted_.guaranteed_by(number("level", level), labels), dtype=object)

    def forecast(self, X: Any) -> Floats:
        """The forecast of each row, by a model that makes one (``fit_mean=True``), or of its ``members``."""
        made = self._around(X, None)
        forecast = self._predicted(X)[1] if made is None else made
        if forecast is None:
            raise ValueError("this model knows sigma alone: fit one with fit_mean=True for a forecast")
        return forecast

    def score(
        self,
        X: Any,
        error: Any = None,
        sample_weight: Any = None,
        *,
        observation: Any = None,
        time: Any = None,
        prior_sigma: Any = None,
        y: Any = None,
    ) -> float:
        """Minus the mean CRPS of the errors with the laws predicted for them: greater is better. A bias
        that was learned is taken away first; with ``fit_mean=True`` observations are given, and the
        forecast is taken away. ``time`` is as in :meth:`predict_distribution`."""
        bias, own, sigma, _ = self._predicted(X, time, prior_sigma)
        e = target("error", one_of(error, y))
        for known in (bias, own):
            if known is not None and e.shape == known.shape:
                e = _errbar.errors_of(e, known)
        if self.lower is not None or self.upper is not None:
            if observation is None:
                raise ValueError("observations have bounds: give them too, score(X, error, observation=...)")
            seen = target("observation", observation)
            crps = self._law(X, seen - e, sigma).crps(seen)
        else:
            crps = self._law(X, np.zeros_like(sigma), sigma).crps(e)
        weight = weights(sample_weight)
        return -float(np.average(crps, weights=weight))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file that ``errbar predict`` reads, whole or not at all."""
        check_is_fitted(self)
        self.fitted_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SigmaRegressor:
        """The model in a file that :meth:`save` or ``errbar fit`` wrote."""
        fitted = _errbar.Fitted.load(path)
        loaded = cls(**fitted.options)
        loaded.fitted_ = fitted
        names = fitted.names
        if (ensemble := fitted.ensemble) is not None:
            loaded.members, loaded.center = ensemble
            names = sorted({*names, *ensemble[0]} - {*made_names(ensemble)}, key=natural)
        loaded.n_features_in_ = len(names)
        if names != usual_names(len(names)):
            loaded.feature_names_in_ = np.array(names, dtype=object)
        return loaded

    @property
    def model_(self) -> str:
        """The kind of model that was chosen."""
        check_is_fitted(self)
        return self.fitted_.kind

    @property
    def explanation_(self) -> str:
        """The model in a few words."""
        check_is_fitted(self)
        return self.fitted_.explanation

    @property
    def calendar_(self) -> list[str]:
        """What of the calendar the model takes from the time of each row: of "hour of day", "day of week", "season"."""
        check_is_fitted(self)
        return self.fitted_.calendar

    @property
    def law_(self) -> str:
        """The law of errors in units of sigma, in a few words."""
        check_is_fitted(self)
        return self.fitted_.law_in_words or "a Gaussian"

    @property
    def trained_on_(self) -> int:
        """The rows the model was trained on; of a mean of several, the most that one was."""
        check_is_fitted(self)
        return self.fitted_.rows[1]

    @property
    def validation_(self) -> Validation | None:
        """How the model did on held-out rows."""
        check_is_fitted(self)
        found = self.fitted_.validation
        if found is None:
            return None
        tried = [Candidate(*one) for one in found.pop("candidates")]
        inputs = [Importance(*one) for one in found.pop("importance")]
        return Validation(**found, candidates=tried, importance=inputs)

    @property
    def feature_importances_(self) -> Floats:
        """What each column of X is worth to sigma: the share by which the CRPS of held-out rows grows when its values
        are shuffled, 0 where that is not above 0, of inputs that were left out, and of all to one constant sigma. Twins
        (inputs that stand in for one another) each have that of all of them together. What a model makes itself of
        times and earlier errors is in ``validation_.importance`` alone, with more about each.

        Like every attribute that there may not be it is an AttributeError where no rows were held out, and with
        ``members``.
        """
        check_is_fitted(self)
        return importances_of(self)

    def _predicted(
        self, X: Any, time: Any = None, prior_sigma: Any = None
    ) -> tuple[Floats | None, Floats | None, Floats, Any]:
        return self.fitted_.predict(self._inputs(X, time), self._prior(prior_sigma))

    def _warn(self) -> None:
        """Says what was done otherwise than one would think."""
        rows, used = self.fitted_.rows
        if self.fitted_.too_few_rows:
            warnings.warn(
                f'with fewer than 20 rows ({rows} here) every model is one constant sigma, "{self.model}" '
                "as well",
                stacklevel=3,
            )
        elif (found := self.validation_) is not None and found.not_tried:
            warnings.warn(
                f"budget={self.budget:g} had no room for {' and '.join(found.not_tried)}: raise it to try "
                "all kinds of models",
                stacklevel=3,
            )
        elif used < rows and self.most_rows is None and self.budget is None:
            # A guarantee keeps rows for itself, and says so.
            if self.guarantee is None:
                kind = {"smooth": "a smooth function", "network": "a network"}.get(self.model_, "this model")
                warnings.warn(
                    f"trained on {used} of {rows} rows: the most that {kind} learns from", stacklevel=3
                )
        elif used < rows:
            limits = [] if self.most_rows is None else [f"most_rows={self.most_rows}"]
            limits += [] if self.budget is None else [f"budget={self.budget:g}"]
            warnings.warn(
                f"trained on {used} of {rows} rows: {' and '.join(limits)} set the limit; leave that out "
                "to learn from all",
                stacklevel=3,
            )

    def _wanted(self) -> dict[str, Any]:
        """The parameters as Rust takes them, where their names and ranges are checked."""
        return {
            "model": text("model", self.model),
            "loss": text("loss", self.loss),
            "beta": self.beta,
            "validation": number("validation", self.validation),
            "time_order": bool(self.time_order),
            "most_rows": None if self.most_rows is None else count("most_rows", self.most_rows),
            "budget": None if self.budget is None else number("budget", self.budget),
            "keep_inputs": bool(self.keep_inputs),
            "independent": bool(self.independent),
            "local_units": bool(self.local_units),
            "debias": bool(self.debias),
            "law": text("law", self.law),
            "recalibrate": bool(self.recalibrate),
            "lower": None if self.lower is None else number("lower", self.lower),
            "upper": None if self.upper is None else number("upper", self.upper),
            "scale": text("scale", self.scale),
            "fit_mean": bool(self.fit_mean),
            "guarantee": None if self.guarantee is None else text("guarantee", self.guarantee),
            "calendar": calendar_of(self.calendar),
            "seed": seed_of(self.random_state),
            "n_jobs": jobs(self.n_jobs),
            "progress": self._progress(),
        }

    def _progress(self) -> Callable[[float], Any] | None:
        if self.progress is not None and not callable(self.progress):
            raise ValueError(f"progress is {self.progress!r}: give a function of a share, or None")
        if not self.verbose:
            return self.progress

        def say(share: float) -> None:
            end = "\n" if share >= 1 else ""
            print(f"\rerrbar: fitting, {100 * share:3.0f}%", end=end, file=sys.stderr, flush=True)
            if self.progress is not None:
                self.progress(share)

        return say

    def _verdict(self) -> list[str]:
        return of_sigma(self) if self.__sklearn_is_fitted__() else []

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Its target is an error, and what it predicts is not that.
        tags.regressor_tags.poor_score = True
        tags.input_tags.allow_nan = True
        return tags
