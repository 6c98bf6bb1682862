//! Fitting sigma(x), and the fitted model.

use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;

use errbar::categories::{self, Codes};
use errbar::ensemble::{Center, Ensemble};
use errbar::fit::guarantee::{self, Method};
use errbar::fit::{self, Kind, Rows};
use errbar::law::{Base, Bounds, Law, Transform};
use errbar::loss::LossKind;
use errbar::{Category, Data, Error, Group, Split};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods, ToPyArray,
};
use pyo3::exceptions::{PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{Column, maybe, refused};
use crate::scores::beta_of;
use crate::threads::{detached, threads_of, watched};

/// A row of inputs for each row of the table.
pub(crate) type Inputs<'py> = PyReadonlyArray2<'py, f64>;

/// One number for each row.
pub(crate) type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// Bias and forecast where the model knows them, sigma, whether outside the range it was fitted to.
type Predicted<'py> =
    (Option<Numbers<'py>>, Option<Numbers<'py>>, Numbers<'py>, Bound<'py, PyArray1<bool>>);

/// Base, degrees of freedom, location, left and right scale of the law of each row.
type LawOfRows<'py> = (&'static str, Option<f64>, Numbers<'py>, Numbers<'py>, Numbers<'py>);

/// What groups are called that are too small to be promised something on their own.
pub(crate) const TOGETHER: &str = "small groups together";

/// What rows are grouped by, the groups, and for each row its place among them.
pub(crate) type Groups<'py> = (String, Vec<String>, PyReadonlyArray1<'py, u32>);

/// How to fit, as the front gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FitOptions<'py> {
    model: String,
    loss: String,
    beta: Bound<'py, PyAny>,
    validation: f64,
    time_order: bool,
    most_rows: Option<usize>,
    budget: Option<f64>,
    keep_inputs: bool,
    independent: bool,
    local_units: bool,
    debias: bool,
    law: String,
    recalibrate: bool,
    lower: Option<f64>,
    upper: Option<f64>,
    scale: String,
    pub(crate) fit_mean: bool,
    guarantee: Option<String>,
    calendar: bool,
    seed: u64,
    pub(crate) n_jobs: Option<isize>,
    pub(crate) progress: Option<Bound<'py, PyAny>>,
}

impl FitOptions<'_> {
    pub(crate) fn options(&self) -> PyResult<fit::Options> {
        let beta = beta_of(&self.beta)?;
        let Some(bounds) = Bounds::new(self.lower, self.upper) else {
            return Err(PyValueError::new_err(
                "lower is not below upper: swap them, or leave one out",
            ));
        };
        Ok(fit::Options::default()
            .kind(self.model.parse::<Kind>().map_err(refused)?)
            .loss(match self.loss.as_str() {
                "law" => LossKind::Ar(beta),
                name => LossKind::named(name, beta).map_err(refused)?,
            })
            .by_law(self.loss == "law")
            .validation(self.validation)
            .split(if self.time_order { Split::InOrder } else { Split::Random })
            .seed(self.seed)
            .most_rows(self.most_rows.unwrap_or(usize::MAX))
            .budget(self.budget.unwrap_or(f64::MAX))
            .keep_inputs(self.keep_inputs)
            .independent(self.independent)
            .local_units(self.local_units)
            .debias(self.debias)
            .law(self.law.parse().map_err(refused)?)
            .recalibrate(self.recalibrate)
            .bounds(bounds)
            .transform(self.scale.parse().map_err(refused)?)
            .guarantee(match &self.guarantee {
                Some(name) => Some(name.parse().map_err(refused)?),
                None => None,
            })
            .calendar(self.calendar))
    }
}

/// A fitted model of sigma(x), as it is in a model file.
#[pyclass(frozen, module = "errbar._errbar")]
pub(crate) struct Fitted {
    pub(crate) fitted: fit::Fitted,
}

/// Fits a model of sigma to inputs whose columns have these names.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the front gives them by name")]
pub(crate) fn fit_sigma(
    py: Python<'_>,
    inputs: Inputs<'_>,
    names: Vec<String>,
    categories: Vec<(usize, Vec<String>)>,
    errors: (Column<'_>, Option<Column<'_>>),
    weight: Option<Column<'_>>,
    prior: Option<(String, Column<'_>)>,
    group: Option<Groups<'_>>,
    wanted: FitOptions<'_>,
) -> PyResult<Fitted> {
    let (options, (error, observation)) = (wanted.options()?, errors);
    let threads = threads_of(wanted.n_jobs)?;
    let (x, columns) = (inputs.as_slice()?.to_vec(), inputs.shape()[1]);
    let error = error.as_slice()?.to_vec();
    let weight = maybe(weight.as_ref())?.map(<[f64]>::to_vec);
    let observation = maybe(observation.as_ref())?.map(<[f64]>::to_vec);
    let prior = match &prior {
        Some((name, prior)) => Some((name.clone(), prior.as_slice()?.to_vec())),
        None => None,
    };
    let group = match group {
        Some((name, labels, rows)) => Some(Group { name, labels, rows: rows.as_slice()?.to_vec() }),
        None => None,
    };
    let (columns_names, fit_mean) = (names.clone(), wanted.fit_mean);
    let (fit, said) = watched(py, threads, wanted.progress.as_ref(), move |monitor| {
        if fit_mean {
            let fit = fit::fit_with_mean(&x, columns, &error, &columns_names, &options, monitor)?;
            return Ok((fit, Vec::new()));
        }
        let mut data =
            Data::with_missing(&x, columns, &error)?.maybe_weighted(weight.as_deref())?;
        data = data.maybe_observed(observation.as_deref())?;
        if let Some((name, prior)) = &prior {
            data = data.with_prior(name, prior)?;
        }
        data = data.with_categories(categories_of(categories))?;
        if let Some(group) = group {
            data = data.grouped(group)?;
        }
        let said = to_be_told(&data, &columns_names, &options);
        fit::fit(&data, &columns_names, &options, monitor).map(|fit| (fit, said))
    })?
    .map_err(|error| refused_input(error, &names))?;
    for words in said {
        let words = CString::new(words)?;
        // For whoever called the front.
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &words, 2)?;
    }
    Ok(Fitted { fitted: fit.fitted })
}

/// What whoever fits should know of the data.
pub(crate) fn to_be_told(data: &Data, names: &[String], options: &fit::Options) -> Vec<String> {
    let unused = fit::groups_not_held_out(data.group(), options.split)
        .map(|why| format!("group does not decide which rows are held out: {why}"));
    let names_of_rows = fit::too_many(data, options).into_iter().map(|found| {
        format!("the input \"{}\" tells nothing, leave it out: {found}", names[found.column])
    });
    unused.into_iter().chain(names_of_rows).collect()
}

/// Inputs that are categories, as the front says them: which, and their levels.
pub(crate) fn categories_of(all: Vec<(usize, Vec<String>)>) -> Vec<Category> {
    all.into_iter().map(|(column, levels)| Category { column, levels }).collect()
}

/// The levels of texts, those that are known or those that come, and for each its place among them.
#[pyfunction]
pub(crate) fn coded<'py>(
    py: Python<'py>,
    texts: Vec<String>,
    levels: Option<Vec<String>>,
) -> (Vec<String>, Numbers<'py>) {
    let (levels, codes) = match levels {
        Some(levels) => {
            let known = Codes::of(&levels);
            let codes = texts.iter().map(|text| known.code(text)).collect();
            drop(known);
            (levels, codes)
        }
        None => categories::coded(texts.iter().map(String::as_str)),
    };
    (levels, codes.into_pyarray(py))
}

/// Rows with the sigma that they have already, where a model corrects one.
fn rows_of<'a>(inputs: &'a [f64], prior: Option<&'a [f64]>) -> Rows<'a> {
    let rows = Rows::new(inputs);
    prior.map_or(rows, |prior| rows.with_prior(prior))
}

impl Fitted {
    /// The model of single rows, whose earlier errors are not known.
    fn alone(&self) -> &fit::Fitted {
        self.fitted.without_lags().unwrap_or(&self.fitted)
    }
}

/// What a base is called, and its degrees of freedom.
fn named(base: Base) -> (&'static str, Option<f64>) {
    match base {
        Base::Normal => ("normal", None),
        Base::Logistic => ("logistic", None),
        Base::Laplace => ("laplace", None),
        Base::StudentT { nu } => ("t", Some(nu)),
    }
}

/// Values on a scale by its name.
#[pyfunction]
pub(crate) fn on_scale<'py>(
    py: Python<'py>,
    scale: &str,
    what: &str,
    values: Column<'_>,
) -> PyResult<Numbers<'py>> {
    let what = if what == "forecast" { "forecast" } else { "observation" };
    let scale: Transform = scale.parse().map_err(refused)?;
    Ok(scale.all(what, values.as_slice()?).map_err(refused)?.into_pyarray(py))
}

#[pymethods]
impl Fitted {
    #[pyo3(signature = (inputs, prior=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'py>,
        prior: Option<Column<'py>>,
    ) -> PyResult<Predicted<'py>> {
        let (x, prior) = (inputs.as_slice()?, maybe(prior.as_ref())?);
        let predicted = detached(py, || self.alone().predict(rows_of(x, prior)))?;
        let predicted = predicted.map_err(|error| refused_input(error, self.fitted.names()))?;
        Ok((
            predicted.bias().map(|bias| bias.to_pyarray(py)),
            predicted.forecast().map(|forecast| forecast.to_pyarray(py)),
            predicted.sigma().to_pyarray(py),
            predicted.outside().to_pyarray(py),
        ))
    }

    /// What the sigma is called that rows have already, and that the model corrects.
    #[getter]
    fn prior(&self) -> Option<&str> {
        self.fitted.prior()
    }

    /// The members that make the forecast and some of the inputs, and what it is of them.
    #[getter]
    fn ensemble(&self) -> Option<(Vec<String>, &'static str)> {
        let own = self.fitted.ensemble()?;
        Some((own.members().to_vec(), own.center().name()))
    }

    /// The same model, some of whose inputs are made of members, and its forecast too or not.
    fn with_ensemble(&self, members: Vec<String>, center: &str, makes: bool) -> PyResult<Self> {
        let ensemble = Ensemble::new(members, center.parse::<Center>().map_err(refused)?);
        let forecast = ensemble.forecast();
        let own = Self { fitted: self.fitted.clone().with_ensemble(Some(ensemble)) };
        Ok(if makes { own.with_forecast(forecast) } else { own })
    }

    /// For each probability the values that rows do not exceed with it, around these forecasts (or the
    /// model's own), moved by the bias that was learned.
    #[pyo3(signature = (inputs, forecast, probabilities, prior=None))]
    fn quantiles<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'py>,
        forecast: Option<Column<'py>>,
        probabilities: Vec<f64>,
        prior: Option<Column<'py>>,
    ) -> PyResult<Vec<Numbers<'py>>> {
        let (x, forecast) = (inputs.as_slice()?, maybe(forecast.as_ref())?);
        let prior = maybe(prior.as_ref())?;
        let values = detached(py, || {
            let rows = rows_of(x, prior);
            let rows = forecast.map_or(rows, |forecast| rows.with_forecast(forecast));
            let said = self.alone().predict(rows)?;
            probabilities.iter().map(|p| said.quantile(*p)).collect::<errbar::Result<Vec<_>>>()
        })?;
        let values = values.map_err(|error| refused_input(error, self.fitted.names()))?;
        Ok(values.into_iter().map(|column| column.into_pyarray(py)).collect())
    }

    /// How near the training rows are to each row, where the model knows, and which input takes a row
    /// that lies outside from them.
    fn support<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'py>,
    ) -> PyResult<(Option<Numbers<'py>>, Vec<Option<String>>)> {
        let x = inputs.as_slice()?;
        let predicted = detached(py, || self.alone().predict(x))?;
        let predicted = predicted.map_err(|error| refused_input(error, self.fitted.names()))?;
        let called = self.fitted.called();
        let name = |input: Option<usize>| input.map(|input| called[input].clone());
        let inputs = predicted.outside_input().iter().copied().map(name).collect();
        Ok((predicted.support().map(|support| support.to_pyarray(py)), inputs))
    }

    /// The band that holds sigma itself with this probability, if the model has one.
    #[pyo3(signature = (inputs, level, prior=None))]
    fn band<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'py>,
        level: f64,
        prior: Option<Column<'py>>,
    ) -> PyResult<Option<(Numbers<'py>, Numbers<'py>)>> {
        let (x, prior) = (inputs.as_slice()?, maybe(prior.as_ref())?);
        let band = detached(py, || self.alone().predict(rows_of(x, prior))?.sigma_band(level))?;
        let band = band.map_err(|error| refused_input(error, self.fitted.names()))?;
        Ok(band.map(|(low, high)| (low.into_pyarray(py), high.into_pyarray(py))))
    }

    /// The least and the most error that each row's guaranteed interval holds.
    #[pyo3(signature = (inputs, level, group, prior=None))]
    fn guaranteed<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'py>,
        level: f64,
        group: Option<Vec<String>>,
        prior: Option<Column<'py>>,
    ) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let (x, rows) = (inputs.as_slice()?, inputs.shape()[0]);
        let prior = maybe(prior.as_ref())?;
        if let Some(labels) = group.as_ref().filter(|labels| labels.len() != rows) {
            return Err(PyValueError::new_err(format!(
                "group has {} values but X has {rows} rows: give one value per row",
                labels.len()
            )));
        }
        let ends = detached(py, || {
            let group = group.map(|labels| self.numbers_of(&labels));
            let rows = rows_of(x, prior);
            let rows = group.as_ref().map_or(rows, |group| rows.with_group(group));
            self.alone().predict(rows)?.guaranteed_errors(level)
        })?;
        let (low, high) = ends.map_err(|error| refused_input(error, self.fitted.names()))?;
        Ok((low.into_pyarray(py), high.into_pyarray(py)))
    }

    /// Who the guaranteed interval of a row of each group is promised to: the group itself, the small
    /// groups together, or nobody.
    fn guaranteed_by(&self, level: f64, group: Vec<String>) -> PyResult<Vec<Option<String>>> {
        let guarantee = self.fitted.guarantee().ok_or(Error::NoGuarantee).map_err(refused)?;
        guarantee.check_level(level).map_err(refused)?;
        let categories = guarantee.categories(level);
        let by = |(label, number): (String, Option<u32>)| match categories.get(number? as usize)? {
            guarantee::Category::Own => Some(label),
            guarantee::Category::Together => Some(TOGETHER.to_string()),
            guarantee::Category::Nothing => None,
        };
        let numbers = self.numbers_of(&group);
        Ok(group.into_iter().zip(numbers).map(by).collect())
    }

    /// The names of the inputs that a table must have.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.fitted.table_names().to_vec()
    }

    /// Which inputs are categories, and their levels.
    #[getter]
    fn categories(&self) -> Vec<(usize, Vec<String>)> {
        let one = |own: &fit::Levels| (own.column(), own.names().to_vec());
        self.fitted.categories().iter().map(one).collect()
    }

    /// The names of inputs that are errors of earlier rows.
    #[getter]
    fn lags(&self) -> Vec<String> {
        self.fitted.lag_names().to_vec()
    }

    /// What of the calendar it takes from the time of each row.
    #[getter]
    fn calendar(&self) -> Vec<&'static str> {
        self.fitted.calendar().iter().map(|cycle| cycle.name()).collect()
    }

    /// Whether the times that it was fitted to had an offset from UTC, where that matters to it.
    #[getter]
    fn offset(&self) -> Option<bool> {
        self.fitted.series().and_then(|series| series.offset)
    }

    /// Inputs with those of the calendar.
    fn with_calendar<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'py>,
        time: Column<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let all = self.fitted.with_calendar(inputs.as_slice()?, time.as_slice()?);
        let (all, rows) = (all.map_err(refused)?, inputs.shape()[0]);
        all.into_pyarray(py).reshape([rows, inputs.shape()[1] + 2 * self.fitted.calendar().len()])
    }

    /// The column of times, where it was fitted to rows in time.
    #[getter]
    fn time(&self) -> Option<&str> {
        self.fitted.series().map(|series| series.time.as_str())
    }

    /// What its guarantees are grouped by.
    #[getter]
    fn grouped_by(&self) -> Option<&str> {
        self.fitted.guarantee()?.grouped_by()
    }

    /// Whether it learned a bias, and so needs the forecast.
    #[getter]
    fn has_bias(&self) -> bool {
        self.fitted.bias().is_some()
    }

    /// Whether it knows times, and how many rows it has followed; none where it does not.
    #[getter]
    fn followed_rows(&self) -> Option<u64> {
        self.fitted.series().map(|series| series.learned())
    }

    /// The levels of guaranteed intervals that it keeps as rows are observed.
    #[getter]
    fn promised(&self) -> Vec<f64> {
        self.fitted.promise().map_or_else(Vec::new, |promise| promise.levels().to_vec())
    }

    /// The kind of model that was fitted.
    #[getter]
    fn kind(&self) -> &'static str {
        self.fitted.kind().name()
    }

    /// The model in a few words.
    #[getter]
    fn explanation(&self) -> String {
        self.fitted.model().explain()
    }

    /// The rows it was given, and how many of them it was trained on.
    #[getter]
    fn rows(&self) -> (usize, usize) {
        self.fitted.rows()
    }

    /// Whether it is one constant sigma because there were too few rows for what was asked for.
    #[getter]
    fn too_few_rows(&self) -> bool {
        self.fitted.too_few_rows()
    }

    /// The law of errors in units of sigma: base, degrees of freedom, location, left and right scale.
    #[getter]
    fn law(&self) -> (&'static str, Option<f64>, f64, f64, f64) {
        let law = self.fitted.shape().map_or(Law::normal(0.0, 1.0), |shape| *shape.law().law());
        let (base, nu) = named(law.base);
        (base, nu, law.location, law.left, law.right)
    }

    /// The same of each row, where the skew turns with the inputs.
    fn laws_of<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'py>,
    ) -> PyResult<Option<LawOfRows<'py>>> {
        let x = inputs.as_slice()?;
        let model = self.alone();
        let shape = model.shape().filter(|shape| shape.turning().is_some());
        let Some(shape) = shape else { return Ok(None) };
        let (base, nu) = named(shape.law().law().base);
        let laws = detached(py, || model.predict(x).map(|said| said.error_laws()))?;
        let laws = laws.map_err(|error| refused_input(error, self.fitted.names()))?;
        let column = |of: fn(&Law) -> f64| {
            laws.iter().map(|law| of(law.law())).collect::<Vec<f64>>().into_pyarray(py)
        };
        let sides: [fn(&Law) -> f64; 3] = [|law| law.location, |law| law.left, |law| law.right];
        let [location, left, right] = sides.map(column);
        Ok(Some((base, nu, location, left, right)))
    }

    /// The curve that takes its place, if one does: values of a standard Gaussian, and of the law.
    #[getter]
    fn curve(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let (q, z) = self.fitted.shape()?.law().curve()?.knots();
        Some((q.to_vec(), z.to_vec()))
    }

    /// The same in words.
    #[getter]
    fn law_in_words(&self) -> Option<String> {
        self.fitted.shape().map(|shape| shape.explain_with(&self.fitted.names_of_numbers()))
    }

    /// The name of the forecast that the errors belong to, if it is known.
    #[getter]
    fn forecast(&self) -> Option<&str> {
        self.fitted.forecast()
    }

    /// The same model, knowing the name of its forecast.
    fn with_forecast(&self, name: String) -> Self {
        let source = self.fitted.error_source();
        Self { fitted: self.fitted.clone().with_errors(source, Some(name)) }
    }

    /// Whether the model makes a forecast too.
    #[getter]
    fn has_forecast(&self) -> bool {
        self.fitted.mean().is_some()
    }

    /// How it was fitted, in the words of the front.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = self.fitted.options();
        let dict = PyDict::new(py);
        dict.set_item("model", options.kind.name())?;
        let (loss, beta) = match options.loss {
            LossKind::Ar(beta) if options.by_law => ("law", Some(beta)),
            LossKind::Ar(beta) | LossKind::OfLaw(beta, _) => ("ar", Some(beta)),
            LossKind::Crps => ("crps", None),
            LossKind::Nlpd => ("nlpd", None),
        };
        dict.set_item("loss", loss)?;
        match beta {
            Some(errbar::score::Beta::Fixed(value)) => dict.set_item("beta", value)?,
            Some(errbar::score::Beta::AsPrinted) => dict.set_item("beta", "printed")?,
            _ => dict.set_item("beta", "heuristic")?,
        }
        dict.set_item("validation", options.validation)?;
        dict.set_item("time_order", options.split == Split::InOrder)?;
        // As they are asked for: without limits.
        dict.set_item("most_rows", (options.most_rows < usize::MAX).then_some(options.most_rows))?;
        dict.set_item("budget", (options.budget < f64::MAX).then_some(options.budget))?;
        dict.set_item("local_units", options.local_units)?;
        dict.set_item("debias", options.debias)?;
        dict.set_item("law", options.law.name())?;
        dict.set_item("recalibrate", options.recalibrate)?;
        let finite = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
        dict.set_item("lower", finite(options.bounds.lower()))?;
        dict.set_item("upper", finite(options.bounds.upper()))?;
        dict.set_item("scale", options.transform.name())?;
        dict.set_item("fit_mean", self.fitted.mean().is_some())?;
        let guarantee = options.guarantee.map(|method| match method {
            Method::Split => "split",
            Method::Cross => "cross",
        });
        dict.set_item("guarantee", guarantee)?;
        dict.set_item("calendar", if options.calendar { "auto" } else { "no" })?;
        dict.set_item("random_state", options.seed)?;
        if let Some(series) = self.fitted.series() {
            dict.set_item("delay", series.delay.to_string())?;
            let lags: Vec<String> = series.lags.iter().map(ToString::to_string).collect();
            dict.set_item("lag", PyTuple::new(py, lags)?)?;
            let levels = self.promised();
            dict.set_item("guarantee_levels", PyTuple::new(py, levels)?)?;
        }
        Ok(dict)
    }

    /// How it did on held-out rows, if any were held out.
    #[getter]
    fn validation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(from) = self.fitted.validation() else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("rows", from.rows)?;
        dict.set_item("turns", from.turns)?;
        dict.set_item("whole_groups", from.whole_groups)?;
        for (name, value) in [
            ("crps", from.crps),
            ("constant_crps", from.constant_crps),
            ("crps_skill", from.crps_skill),
            ("skill_standard_error", from.skill_standard_error),
            ("nlpd", from.nlpd),
            ("rs", from.rs),
            ("rms_z", from.rms_z),
            ("coverage_90", from.coverage_90),
        ] {
            dict.set_item(name, value)?;
        }
        let tried: Vec<_> =
            from.candidates.iter().map(|one| (one.kind.name(), one.crps, one.nlpd)).collect();
        dict.set_item("candidates", tried)?;
        let not_tried: Vec<_> = from.not_tried.iter().map(|kind| kind.name()).collect();
        dict.set_item("not_tried", not_tried)?;
        dict.set_item("left_out", from.left_out.clone())?;
        let inputs: Vec<_> = (from.importance.iter())
            .map(|one| {
                (one.name.clone(), one.crps_share, one.smallest, one.largest, one.twins.clone())
            })
            .collect();
        dict.set_item("importance", inputs)?;
        Ok(Some(dict))
    }

    /// The text of a model file.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || self.fitted.to_json())?.map_err(refused)
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let fitted = detached(py, || fit::Fitted::from_json(text))?;
        Ok(Self { fitted: fitted.map_err(refused)? })
    }

    /// Writes a model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || errbar_cli::model_file::write(&path, &self.fitted))?
            .map_err(|error| PyOSError::new_err(format!("{error:#}")))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        // The program takes this name for standard input.
        let path = if path.as_os_str() == "-" { PathBuf::from("./-") } else { path };
        let there = path.exists();
        match detached(py, || errbar_cli::model_file::read(&path))? {
            Ok(fitted) => Ok(Self { fitted }),
            Err(error) if there => Err(PyValueError::new_err(format!("{error:#}"))),
            Err(error) => Err(PyOSError::new_err(format!("{error:#}"))),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let class = py.get_type::<Self>();
        Ok((class.getattr("from_json")?, (self.to_json(py)?,)))
    }
}

impl Fitted {
    /// The numbers of groups that the guarantee knows, each looked for once.
    fn numbers_of(&self, labels: &[String]) -> Vec<Option<u32>> {
        let mut known: HashMap<&String, Option<u32>> = HashMap::new();
        let find = |label| self.fitted.guarantee().and_then(|guarantee| guarantee.group(label));
        labels.iter().map(|label| *known.entry(label).or_insert_with(|| find(label))).collect()
    }
}

/// A refusal that names the input by its name.
pub(crate) fn refused_input(error: Error, names: &[String]) -> PyErr {
    match error {
        Error::InputNotFinite { row, column, value } if column < names.len() => {
            PyValueError::new_err(format!(
                "the input \"{}\" at row {row} is {value}: every value must be finite; leave the row \
                 out or fill it in",
                names[column]
            ))
        }
        error => refused(error),
    }
}
