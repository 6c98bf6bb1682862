//! A fitted model with everything needed to use it and to explain it, and its saved form.

use serde::{Deserialize, Serialize};

use super::categories::{Categories, Levels};
use super::forecasts::{Forecasts, Rows};
use super::guarantee::{Guarantee, Method};
use super::shape::Shape;
use super::training_rows::TrainingRows;
use super::{Kind, LEAST_ROWS, Options, Validation};
use crate::adapt::promise::Promise;
use crate::checks::check_length;
use crate::cycles::{self, Cycle};
use crate::data::Data;
use crate::diagnose::Summary;
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::law::Bounds;
use crate::mean::Mean;
use crate::mean::bias::Bias;
use crate::series::{Series, Span};
use crate::sigma::{Model, Scaling, Supported};

/// Where the errors come from that a model was fitted to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorSource {
    /// The forecaster had not seen the observations: its errors are those of real use.
    #[default]
    HeldOut,
    /// The forecaster was fitted to these very observations: its errors elsewhere will be larger.
    InSample,
    /// The forecaster is a Gaussian process of errbar's own, and each error is that of a forecast
    /// from all the other observations.
    LeaveOneOut,
}

/// A fitted model of sigma, its inputs' names and ranges, and how it was made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fitted {
    pub(super) names: Vec<String>,
    pub(super) ranges: Scaling,
    pub(super) model: Supported,
    pub(super) mean: Option<Mean>,
    pub(super) forecast: Option<String>,
    pub(super) error_source: ErrorSource,
    pub(super) options: Options,
    pub(super) rows: usize,
    pub(super) trained_on: usize,
    pub(super) training: Summary,
    pub(super) validation: Option<Validation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) guarantee: Option<Guarantee>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bias: Option<Bias>,
    /// The inputs that are categories, and the numbers that stand for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) categories: Option<Categories>,
    /// The law of errors in units of sigma; a Gaussian where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shape: Option<Shape>,
    /// The rows it was fitted to, and what models said of them that had not seen them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) known: Option<TrainingRows>,
    /// The errors that were left when their bias was taken off; files of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) debiased: Option<Summary>,
    /// What the sigma is called that each row has already, and that this model corrects: its own sigma, bias and laws are in
    /// units of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prior: Option<String>,
    /// The members that make the forecast, and some of the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ensemble: Option<Ensemble>,
    /// What comes round in the calendar and is an input, after those of the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) cycles: Vec<Cycle>,
    /// The same without lagged errors, for rows of which they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) without_lags: Option<Box<Fitted>>,
    /// The series that it is of, where rows have times. The last of all, so that it is found at once when it is
    /// written anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) series: Option<Series>,
}

impl Fitted {
    /// Around a model that was trained on its own, with settings of one's choice: what it takes to
    /// save it and to predict with it. Nothing was held out to judge it by, and nothing holds its
    /// sigma where there were hardly any rows.
    ///
    /// ```
    /// use errbar::Data;
    /// use errbar::fit::Fitted;
    /// use errbar::sigma::polynomial;
    ///
    /// let x: Vec<f64> = (0..50).map(|i| f64::from(i) / 50.0).collect();
    /// let error: Vec<f64> = x.iter().enumerate().map(|(i, x)| (x + 0.1) * [1.0, -1.0][i % 2]).collect();
    /// let line = polynomial::Options { largest_order: 1, ..polynomial::Options::general() };
    /// let model = polynomial::fit(&x, 1, &error, &line)?;
    /// let fitted = Fitted::of(model.clone(), &Data::new(&x, 1, &error)?, &["x".into()])?;
    /// let loaded = Fitted::from_json(&fitted.to_json()?)?;
    /// assert_eq!(loaded.predict(&[0.3])?.sigma(), model.predict(&[0.3])?);
    /// # Ok::<(), errbar::Error>(())
    /// ```
    ///
    /// # Errors
    /// Names or a model of another number of inputs than the data.
    pub fn of(model: impl Into<Model>, data: &Data, names: &[String]) -> Result<Self> {
        let model = model.into();
        if names.len() != data.columns() {
            return Err(Error::WrongNames { names: names.len(), columns: data.columns() });
        }
        check_length("inputs of the model", model.columns(), "columns", data.columns())?;
        Ok(Self {
            names: names.to_vec(),
            ranges: Scaling::of_data(data)?,
            mean: None,
            forecast: None,
            error_source: ErrorSource::HeldOut,
            options: Options { kind: Kind::of(&model), validation: 0.0, ..Options::default() },
            model: model.into(),
            rows: data.rows(),
            trained_on: data.rows(),
            training: Summary::of(data.error(), data.weight()),
            validation: None,
            guarantee: None,
            bias: None,
            categories: None,
            shape: None,
            known: None,
            debiased: None,
            prior: data.prior_name().map(String::from),
            ensemble: None,
            cycles: data.cycles().iter().map(|(_, cycle)| *cycle).collect(),
            series: None,
            without_lags: None,
        })
    }

    /// The names of the input columns, in their order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The model of sigma.
    #[must_use]
    pub fn model(&self) -> &Model {
        self.model.model()
    }

    /// The model of sigma, and where it was trained.
    #[must_use]
    pub fn supported(&self) -> &Supported {
        &self.model
    }

    /// The Gaussian process that makes the forecast, if the model has one.
    #[must_use]
    pub fn mean(&self) -> Option<&Mean> {
        self.mean.as_ref()
    }

    /// The name of the forecast column that the errors belong to, if it was given.
    #[must_use]
    pub fn forecast(&self) -> Option<&str> {
        self.forecast.as_deref()
    }

    /// What the sigma is called that each row has already, and that the model corrects, if there is one: rows then
    /// [come with it](Rows::with_prior).
    #[must_use]
    pub fn prior(&self) -> Option<&str> {
        self.prior.as_deref()
    }

    /// The members of an ensemble that its forecast, and some of its inputs, are made of, if they are.
    #[must_use]
    pub fn ensemble(&self) -> Option<&Ensemble> {
        self.ensemble.as_ref()
    }

    /// The same model, whose forecast and some of whose inputs are made of these members.
    #[must_use]
    pub fn with_ensemble(self, ensemble: Option<Ensemble>) -> Self {
        let without_lags =
            self.without_lags.map(|model| Box::new(model.with_ensemble(ensemble.clone())));
        Self { ensemble, without_lags, ..self }
    }

    /// Where the errors came from.
    #[must_use]
    pub fn error_source(&self) -> ErrorSource {
        self.error_source
    }

    /// How it was fitted.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Rows with a weight above zero that it was given, and how many of them it was trained on.
    #[must_use]
    pub fn rows(&self) -> (usize, usize) {
        (self.rows, self.trained_on)
    }

    /// The errors it was given, in numbers.
    #[must_use]
    pub fn training(&self) -> &Summary {
        &self.training
    }

    /// The errors that were left when the bias that was learned had been taken off: each by a bias that
    /// had not seen it. `None` where none was learned, or by an earlier version.
    #[must_use]
    pub fn debiased(&self) -> Option<&Summary> {
        self.debiased.as_ref()
    }

    /// How it did on held-out rows, if any were held out.
    #[must_use]
    pub fn validation(&self) -> Option<&Validation> {
        self.validation.as_ref()
    }

    /// The bias of the forecaster, if the model was asked to learn it.
    #[must_use]
    pub fn bias(&self) -> Option<&Bias> {
        self.bias.as_ref()
    }

    /// The inputs that are categories, and the numbers that stand for them in models: inputs hold the places of values
    /// among the levels ([`crate::categories`]).
    #[must_use]
    pub fn categories(&self) -> &[Levels] {
        self.categories.as_ref().map_or(&[], Categories::each)
    }

    /// The category that an input is, if it is one.
    #[must_use]
    pub fn category(&self, column: usize) -> Option<&Levels> {
        self.categories.as_ref().and_then(|own| own.of_input(column))
    }

    /// Whether the levels of categories have a part in what is added to forecasts.
    #[must_use]
    pub fn moves_by_level(&self) -> bool {
        self.categories().iter().any(|own| !own.means().is_empty())
    }

    /// What the numbers are that models see: of a category, how large errors are at its levels.
    #[must_use]
    pub fn names_of_numbers(&self) -> Vec<String> {
        let name = |(column, name): (usize, &String)| match self.category(column) {
            Some(_) => format!("the size of errors by {name}"),
            None => name.clone(),
        };
        self.names.iter().enumerate().map(name).collect()
    }

    /// The law of errors in units of sigma, where it is no plain Gaussian.
    #[must_use]
    pub fn shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    /// What guaranteed intervals are read off, if it was asked for.
    #[must_use]
    pub fn guarantee(&self) -> Option<&Guarantee> {
        self.guarantee.as_ref()
    }

    /// The series that it is of, where rows had times.
    #[must_use]
    pub fn series(&self) -> Option<&Series> {
        self.series.as_ref()
    }

    /// What guaranteed intervals hold in the long run, whatever the errors do, where rows had times.
    #[must_use]
    pub fn promise(&self) -> Option<&Promise> {
        self.series.as_ref().and_then(Series::promise)
    }

    /// The lagged errors that it takes: the last of its inputs.
    #[must_use]
    pub fn lags(&self) -> &[Span] {
        self.series.as_ref().map_or(&[], |series| &series.lags)
    }

    /// What comes round in the calendar and is an input, two columns each: after those of the table, before lagged
    /// errors.
    #[must_use]
    pub fn calendar(&self) -> &[Cycle] {
        &self.cycles
    }

    /// The names of the inputs that a table must have: all but those of the calendar and lagged errors.
    #[must_use]
    pub fn table_names(&self) -> &[String] {
        let others = 2 * self.cycles.len() + self.lags().len();
        &self.names[..self.names.len() - others]
    }

    /// The names of lagged errors.
    #[must_use]
    pub fn lag_names(&self) -> &[String] {
        &self.names[self.names.len() - self.lags().len()..]
    }

    /// What each input is called: both parts of a cycle of the calendar by its name.
    #[must_use]
    pub fn called(&self) -> Vec<String> {
        let cycles = self.cycles.iter().flat_map(|cycle| [cycle.name(); 2]).map(String::from);
        let table = self.table_names().iter().cloned();
        table.chain(cycles).chain(self.lag_names().iter().cloned()).collect()
    }

    /// Row-major inputs of a table, each row with what its time, in seconds since 1970, is in the calendar; of a time
    /// that is NaN that is missing.
    ///
    /// # Errors
    /// Not one time for each row of as many inputs as a table must have.
    pub fn with_calendar(&self, inputs: &[f64], time: &[f64]) -> Result<Vec<f64>> {
        let columns = self.table_names().len();
        check_length("inputs", inputs.len(), "times columns", time.len() * columns)?;
        Ok(cycles::beside(inputs, time, &self.cycles))
    }

    /// The model for rows whose lagged errors are not known, where there are lags.
    #[must_use]
    pub fn without_lags(&self) -> Option<&Self> {
        self.without_lags.as_deref()
    }

    /// The same model, of a series.
    #[must_use]
    pub fn with_series(mut self, series: Series) -> Self {
        self.series = Some(series);
        self
    }

    /// The same model with another for rows whose lagged errors are not known.
    #[must_use]
    pub(crate) fn beside(mut self, without_lags: Self) -> Self {
        // Rows are known again by the model that most of them are of.
        self.without_lags = Some(Box::new(Self { known: None, ..without_lags }));
        self
    }

    /// The kind of model that was fitted: never [`Kind::Auto`].
    #[must_use]
    pub fn kind(&self) -> Kind {
        match (self.options.kind, self.model.model()) {
            (Kind::Auto, model) => Kind::of(model),
            // A model given too few rows is a constant.
            (_, Model::Constant(_)) => Kind::Constant,
            (kind, _) => kind,
        }
    }

    /// Whether it is one constant sigma because there were too few rows for what was asked for.
    #[must_use]
    pub fn too_few_rows(&self) -> bool {
        self.rows < LEAST_ROWS && self.options.kind != Kind::Constant
    }

    /// Whether inputs may be missing (NaN). A model of an older version takes them only where some were
    /// missing in the data it was fitted to.
    #[must_use]
    pub fn takes_missing(&self) -> bool {
        self.ranges.missing().is_some()
    }

    /// The range of an input in the data it was fitted to.
    #[must_use]
    pub fn range(&self, column: usize) -> Option<(f64, f64)> {
        (column < self.names.len()).then(|| self.ranges.range(column))
    }

    /// The same model, knowing where its errors come from.
    #[must_use]
    pub fn with_errors(mut self, source: ErrorSource, forecast: Option<String>) -> Self {
        self.without_lags =
            self.without_lags.map(|model| Box::new(model.with_errors(source, forecast.clone())));
        (self.error_source, self.forecast) = (source, forecast);
        self
    }

    /// The same model with a Gaussian process that makes the forecast; its errors are taken as
    /// leave-one-out ones.
    #[must_use]
    pub fn with_mean(mut self, mean: impl Into<Mean>) -> Self {
        self.mean = Some(mean.into());
        self.error_source = ErrorSource::LeaveOneOut;
        self
    }

    /// The bounds of each of some errors, of which the observations are known, both on the scale of the
    /// [transform](Options::transform); `None` where observations keep to none.
    #[must_use]
    pub fn bounds_of(&self, error: &[f64], observation: &[f64]) -> Option<Vec<Bounds>> {
        let bounds = self.options.transform.bounds(self.options.bounds);
        let one = |(error, y): (&f64, &f64)| bounds.of_error(*error, bounds.clamp(*y));
        (!bounds.are_none()).then(|| error.iter().zip(observation).map(one).collect())
    }

    /// A distribution for each of some rows, and what else the model knows about them.
    ///
    /// # Errors
    /// Another number of columns than the model was fitted to, another number of forecasts than rows, or
    /// an input that is not finite (NaN is fine for a model that [takes
    /// missing](Fitted::takes_missing) ones).
    pub fn predict<'a>(&'a self, rows: impl Into<Rows<'a>>) -> Result<Forecasts<'a>> {
        Forecasts::of(self, rows.into())
    }

    /// Whether its guarantee is such as can be kept in time, at these levels.
    fn can_keep(&self, promise: &Promise) -> bool {
        self.guarantee.as_ref().is_some_and(|guarantee| {
            let has_law = guarantee.has_law() == self.shape.is_some();
            let can = |level: &f64| guarantee.check_level(*level).is_ok();
            guarantee.method() == Method::Split && has_law && promise.levels().iter().all(can)
        })
    }

    /// Whether one that was read can be used.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        self.ranges.check()?;
        let columns = self.names.len();
        if self.ranges.columns() != columns || self.model.model().columns() != columns {
            return Err("its names, ranges and model are of different numbers of inputs".into());
        }
        self.ensemble.as_ref().map_or(Ok(()), Ensemble::check)?;
        if let Some(series) = &self.series {
            series.check()?;
            let whole = series.lags.is_empty() == self.without_lags.is_none();
            if series.lags.len() >= columns || !whole {
                return Err("its lags do not fit its inputs".into());
            }
        }
        let of_calendar: Vec<String> =
            self.cycles.iter().flat_map(|cycle| cycle.inputs()).collect();
        let table = columns.checked_sub(of_calendar.len() + self.lags().len());
        let fits = |table: usize| self.names[table..].starts_with(&of_calendar);
        if !table.is_some_and(|table| table > 0 && fits(table)) {
            return Err("what it knows of the calendar does not fit its inputs".into());
        }
        if let Some(promise) = self.promise() {
            let both = [Some(self), self.without_lags()];
            if !both.into_iter().flatten().all(|model| model.can_keep(promise)) {
                return Err("it has no guarantee that could be kept in time".into());
            }
        }
        if let Some(without) = &self.without_lags {
            without.check()?;
            let own = &self.names[..columns - self.lags().len()];
            if without.names != own
                || without.cycles != self.cycles
                || without.without_lags.is_some()
            {
                return Err("its model without lags has other inputs".into());
            }
        }
        if let Some(bias) = &self.bias {
            bias.check()?;
            if bias.columns() != columns {
                return Err("its bias has another number of inputs than its names".into());
            }
        }
        self.categories.as_ref().map_or(Ok(()), |own| own.check(columns))?;
        self.shape.as_ref().map_or(Ok(()), |shape| shape.check(columns))?;
        self.known.as_ref().map_or(Ok(()), TrainingRows::check)?;
        if let Some(guarantee) = &self.guarantee {
            guarantee.check(columns)?;
        }
        if self.mean.as_ref().is_some_and(|mean| mean.columns() != columns) {
            return Err("its Gaussian process has another number of inputs than its names".into());
        }
        self.mean.as_ref().map_or(Ok(()), Mean::check)?;
        Ok(self.model.check()?)
    }
}
