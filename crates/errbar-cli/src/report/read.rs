//! From a table and perhaps a model to what is judged.

use anyhow::{Context, bail};
use errbar::Data;
use errbar::cycles::Cycle;
use errbar::fit::guarantee::Guarantee;
use errbar::fit::{Fitted, Importance, Known, Rows};
use errbar::law::judge::ErrorLaws;
use errbar::law::{Bounds, ErrorLaw, Transform};
use errbar::score::errors_of;
use errbar::score::events::Event;
use errbar::sigma::Model;
use errbar_report::report::{Column, Curve, Groups, Order, Places, Subject};
use errbar_table::dates::DateFormat;

use super::{Arguments, known};
use crate::columns::{self, Columns, NumberId, Request, Role, TextId};
use crate::{promise, stop};

/// Rows with everything that the report needs.
pub(super) struct ReportRows {
    pub(super) kept: Columns,
    /// The names of the columns with the observation and the forecast; none for a forecast that the
    /// model makes.
    pub(super) observation: String,
    pub(super) forecast: Option<String>,
    pub(super) sigma_column: Option<String>,
    time: Option<String>,
    by: Option<(String, TextId)>,
    lead: Option<(String, TextId)>,
    /// Latitude and longitude.
    places: Option<[(String, NumberId); 2]>,
    /// As they were written, and on the scale of the observations.
    events: Vec<(String, Event)>,
    y: Vec<f64>,
    mu: Vec<f64>,
    sigma: Vec<f64>,
    /// In units of sigma; none where all are Gaussian.
    laws: Vec<ErrorLaw>,
    /// Whether these differ with the inputs.
    turns: bool,
    /// Whether forecasts are moved by the bias of the model.
    moved: bool,
    /// Of each error, where observations keep to some.
    bounds: Option<Vec<Bounds>>,
    weight: Option<Vec<f64>>,
    /// What sigma is shown against.
    inputs: Vec<(String, Shown)>,
    /// The places of the rows in the cycles of the calendar that the model takes.
    calendar: Vec<(Cycle, Vec<f64>)>,
    /// Whether those are in the order of the model's importance.
    ranked: bool,
    curve: Option<Curve>,
    pub(super) seen: RowsOfTheFit,
    /// Rows outside the range of the inputs that the model was fitted to.
    pub(super) outside: usize,
    /// How often guaranteed intervals hold the observation.
    pub(super) promise: Option<String>,
    pub(super) notes: Vec<String>,
}

/// Where the values of an input are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    Column(NumberId),
    Calendar(Cycle),
}

/// Whether the model knows these rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowsOfTheFit {
    /// Each forecast here is made from all the other rows.
    pub(super) leave_one_out: bool,
    /// Rows of the fit that are judged by the sigma of a model that had not seen them.
    pub(super) held_out: usize,
    /// Rows of the fit that have no such sigma: left out where others have one.
    pub(super) trained: usize,
}

/// What was asked of the table.
struct ReportColumns {
    observation: NumberId,
    forecast: Option<NumberId>,
    sigma: Option<NumberId>,
    weight: Option<NumberId>,
    /// The sigma that the model corrects.
    prior: Option<NumberId>,
    /// Of the model, in its order.
    model_inputs: Vec<NumberId>,
    /// What its guarantee is grouped by.
    group: Option<TextId>,
}

impl ReportRows {
    pub(super) fn read(arguments: &Arguments, fitted: Option<&Fitted>) -> anyhow::Result<Self> {
        let mut request = Request::open(arguments.files.given(), &arguments.table)?;
        request.with_ensemble(fitted.and_then(Fitted::ensemble))?;
        let observation =
            request.name_of(Role::Observation, arguments.observation.as_deref(), "")?;
        let own_mean = fitted.is_some_and(|fitted| fitted.mean().is_some());
        let forecast = match (&arguments.forecast, fitted.and_then(Fitted::forecast)) {
            (None, _) if own_mean => None,
            (None, Some(name)) => Some(name.to_string()),
            (given, _) => Some(request.name_of(Role::Forecast, given.as_deref(), "")?),
        };
        if forecast.as_ref() == Some(&observation) {
            bail!("the forecast and the observation are the same column \"{observation}\"");
        }
        let sigma_column = match fitted {
            Some(_) => None,
            None => {
                let instead = ", or give a model with --model";
                Some(request.name_of(Role::Sigma, arguments.sigma.as_deref(), instead)?)
            }
        };
        let asked = ReportColumns {
            observation: request.number(Role::Observation, &observation)?,
            forecast: request.if_given(Role::Forecast, forecast.as_deref())?,
            sigma: request.if_given(Role::Sigma, sigma_column.as_deref())?,
            weight: request.if_given(Role::Weight, arguments.weight.as_deref())?,
            prior: request.if_given(Role::PriorSigma, fitted.and_then(Fitted::prior))?,
            model_inputs: match (fitted, &arguments.model) {
                (Some(fitted), Some(path)) if !fitted.lags().is_empty() => bail!(
                    "{} takes errors of earlier rows (--lag), which a page on single rows does not know: \
                     errbar backtest --report shows it on a series; or add sigma with errbar predict, and name \
                     that column with --sigma",
                    path.display()
                ),
                (Some(fitted), Some(path)) => {
                    let needed = || format!("{} needs it as an input", path.display());
                    let input = |column: usize| {
                        let id = request.input(fitted, column).with_context(needed)?;
                        // What is missing means something to a model that has seen it missing.
                        if fitted.takes_missing() {
                            request.keep_gaps(id);
                        }
                        Ok(id)
                    };
                    (0..fitted.table_names().len()).map(input).collect::<anyhow::Result<_>>()?
                }
                _ => Vec::new(),
            },
            group: match fitted.and_then(Fitted::guarantee).and_then(Guarantee::grouped_by) {
                Some(name) if request.has(name) => Some(request.text(name)?),
                _ => None,
            },
        };
        // A model that takes hours and days from times needs them.
        let series = fitted.filter(|fitted| !fitted.calendar().is_empty()).and_then(Fitted::series);
        let time = arguments.time.clone().or(series.map(|series| series.time.clone()));
        let written = series.filter(|series| time.as_ref() == Some(&series.time));
        let written = written.and_then(|series| series.date_format.as_ref());
        let written: Option<DateFormat> = written.map(|format| format.parse()).transpose()?;
        request.time(time.as_deref(), arguments.dates.date_format.as_ref().or(written.as_ref()))?;
        let by = match &arguments.by {
            Some(name) => Some((name.clone(), request.text(name)?)),
            None => None,
        };
        let used =
            &[Some(&observation), sigma_column.as_ref(), arguments.weight.as_ref(), time.as_ref()];
        let lead = known::lead(&request, arguments.lead.as_deref(), used)?;
        let lead = match lead {
            Some(name) => Some((name.clone(), request.text(&name)?)),
            None => None,
        };
        let given = [arguments.latitude.as_deref(), arguments.longitude.as_deref()];
        let places = match known::places(&request, given)? {
            Some(names) => Some(known::ask(names, given, &mut request)?),
            None => None,
        };
        let (mut inputs, ranked) = shown_inputs(arguments, fitted, &asked, &mut request, used)?;
        let not_in_all = match arguments.inputs.is_empty() && fitted.is_none() {
            true => request.not_in_all(),
            false => None,
        };
        let kept = request.read(arguments.console)?;
        if let (Some(fitted), Some(series)) = (fitted, series) {
            crate::series::check_dates(fitted, series, &kept, time.as_deref().unwrap_or_default())?;
        }
        let whole = |id| kept.maybe(id).is_some_and(|x: &[f64]| x.iter().all(|x| x.is_finite()));
        inputs.retain(|(_, shown)| match shown {
            Shown::Column(id) => kept.levels(*id).is_some() || whole(*id),
            Shown::Calendar(_) => true,
        });

        let y = kept.numbers(asked.observation).to_vec();
        let mut judged = Self {
            observation,
            forecast,
            sigma_column,
            time,
            by,
            lead,
            places,
            events: arguments.event.iter().map(|event| (event.to_string(), *event)).collect(),
            mu: asked.forecast.map_or(Vec::new(), |id| kept.numbers(id).to_vec()),
            sigma: asked.sigma.map_or(Vec::new(), |id| kept.numbers(id).to_vec()),
            weight: asked.weight.map(|id| kept.numbers(id).to_vec()),
            laws: Vec::new(),
            turns: false,
            moved: false,
            bounds: None,
            y,
            inputs,
            calendar: Vec::new(),
            ranked,
            curve: None,
            seen: RowsOfTheFit::default(),
            outside: 0,
            promise: None,
            notes: kept.notes().into_iter().chain(not_in_all).collect(),
            kept,
        };
        if let Some(fitted) = fitted {
            judged.predict(fitted, &asked.model_inputs, asked.prior)?;
            // Its own rows keep any promise.
            if judged.seen.held_out + judged.seen.trained == 0 {
                judged.promise = judged.kept_promise(fitted, &asked)?;
            }
            let times = judged.kept.time().unwrap_or(&[]);
            let places = |cycle: &Cycle| times.iter().map(|time| cycle.place(*time)).collect();
            let cycles = fitted.calendar().iter();
            judged.calendar = cycles.map(|cycle| (*cycle, places(cycle))).collect();
        }
        Ok(judged)
    }

    /// What is shown is on the scale that the model was learned on.
    fn bring_to_scale(&mut self, scale: Transform) -> anyhow::Result<()> {
        if scale == Transform::None {
            return Ok(());
        }
        for (words, event) in &mut self.events {
            let threshold = scale.forward(event.threshold);
            if !threshold.is_finite() {
                bail!(
                    "--event '{words}' is beyond what --transform {} of the model can have",
                    scale.name()
                );
            }
            event.threshold = threshold;
        }
        let (name, refused) = (scale.name(), |error| self.kept.refused(error));
        self.y = scale.all("observation", &self.y).map_err(refused)?;
        self.mu = scale.all("forecast", &self.mu).map_err(refused)?;
        self.observation = format!("{name} {}", self.observation);
        self.forecast = self.forecast.as_ref().map(|forecast| format!("{name} {forecast}"));
        self.notes.push(format!(
            "observation, forecast and sigma are on the scale of --transform {name}, on which the model \
             was learned"
        ));
        Ok(())
    }

    /// Sigma, and where there is none the forecast, from the model.
    fn predict(
        &mut self,
        fitted: &Fitted,
        inputs: &[NumberId],
        prior: Option<NumberId>,
    ) -> anyhow::Result<()> {
        let scale = fitted.options().transform;
        self.bring_to_scale(scale)?;
        const CHUNK: usize = 65_536;
        let all = self.model_inputs(fitted, inputs)?;
        let columns = fitted.names().len();
        let (mut own, mut bias, mut outside) = (Vec::new(), Vec::new(), Vec::new());
        self.turns = fitted.shape().is_some_and(|shape| shape.turning().is_some());
        let has_laws =
            fitted.shape().is_some() || !scale.bounds(fitted.options().bounds).are_none();
        let prior = prior.map(|id| self.kept.numbers(id).to_vec());
        for (nth, inputs) in all.chunks(CHUNK * columns.max(1)).enumerate() {
            stop::check()?;
            let mut rows = Rows::new(inputs);
            if let Some(prior) = &prior {
                let end = ((nth + 1) * CHUNK).min(prior.len());
                rows = rows.with_prior(&prior[nth * CHUNK..end]);
            }
            let predicted = fitted.predict(rows).map_err(|error| self.kept.refused(error))?;
            self.sigma.extend(predicted.sigma());
            if has_laws {
                self.laws.extend(predicted.error_laws());
            }
            own.extend(predicted.forecast().unwrap_or_default().iter().map(|x| scale.forward(*x)));
            bias.extend(predicted.bias().unwrap_or_default());
            outside.extend_from_slice(predicted.outside());
        }
        if let ([x], 1) = (inputs, columns) {
            self.curve = curve(fitted, self.kept.numbers(*x))?;
        }
        if self.forecast.is_none() {
            self.mu = own;
            // The process knows its own observations: forecasts of these must not.
            let left = fitted.mean().map(|mean| mean.leave_one_out(&all, &self.y));
            let left = left.transpose().map_err(|error| self.kept.refused(error))?.flatten();
            if let Some(honest) = left {
                (self.mu, self.seen.leave_one_out) = (honest.mean, true);
            }
        }
        let known = self.known(fitted, &all, columns, prior.as_deref());
        if !bias.is_empty() {
            self.moved = true;
            self.mu.iter_mut().zip(&bias).for_each(|(mu, bias)| *mu += bias);
            self.notes
                .push("every forecast is moved by the bias that the model has learned".into());
        }
        for (row, known) in known.iter().enumerate() {
            match known.clone() {
                Known::New => {}
                Known::Trained => self.seen.trained += 1,
                Known::HeldOut { error, sigma, law } => {
                    self.seen.held_out += 1;
                    self.sigma[row] = sigma;
                    if let Some(own) = self.laws.get_mut(row) {
                        *own = law;
                    }
                    if !bias.is_empty() {
                        self.mu[row] = self.y[row] - error;
                    }
                }
            }
        }
        if self.seen.held_out > 0 && self.seen.trained > 0 {
            let keep: Vec<bool> = known.iter().map(|known| *known != Known::Trained).collect();
            for values in [&mut self.y, &mut self.mu, &mut self.sigma] {
                columns::retain(values, &keep);
            }
            if !self.laws.is_empty() {
                columns::retain(&mut self.laws, &keep);
            }
            self.weight.iter_mut().for_each(|weight| columns::retain(weight, &keep));
            columns::retain(&mut outside, &keep);
            self.kept.retain(&keep);
        }
        if let Ok(error) = errors_of(&self.y, &self.mu) {
            self.bounds = fitted.bounds_of(&error, &self.y);
        }
        self.outside = outside.iter().filter(|outside| **outside).count();
        Ok(())
    }

    /// The inputs of the model, row by row, those of the calendar among them.
    fn model_inputs(&self, fitted: &Fitted, inputs: &[NumberId]) -> anyhow::Result<Vec<f64>> {
        let table = self.kept.row_major(inputs.iter().copied());
        match self.kept.time() {
            Some(time) => Ok(fitted.with_calendar(&table, time)?),
            None => Ok(table),
        }
    }

    /// What the model knows of these rows; nothing where they are no data to fit to.
    fn known(
        &self,
        fitted: &Fitted,
        inputs: &[f64],
        columns: usize,
        prior: Option<&[f64]>,
    ) -> Vec<Known> {
        let Ok(error) = errors_of(&self.y, &self.mu) else { return Vec::new() };
        let data = Data::with_missing(inputs, columns, &error)
            .and_then(|data| data.maybe_weighted(self.weight.as_deref()))
            .and_then(|data| match fitted.prior().zip(prior) {
                Some((name, prior)) => data.with_prior(name, prior),
                None => Ok(data),
            });
        data.map_or(Vec::new(), |data| fitted.known(&data))
    }

    /// How often guaranteed intervals hold the observation here, where there are some.
    fn kept_promise(
        &self,
        fitted: &Fitted,
        asked: &ReportColumns,
    ) -> anyhow::Result<Option<String>> {
        let Some(guarantee) = fitted.guarantee() else { return Ok(None) };
        let Ok(error) = errors_of(&self.y, &self.mu) else { return Ok(None) };
        let inputs = self.model_inputs(fitted, &asked.model_inputs)?;
        let texts = asked.group.map(|id| self.kept.texts(id));
        let groups: Option<Vec<Option<u32>>> = texts.map(|texts| {
            let known: Vec<Option<u32>> =
                texts.values.iter().map(|label| guarantee.group(label)).collect();
            texts.rows.iter().map(|&row| known[row as usize]).collect()
        });
        let mut rows = Rows::new(&inputs);
        if let Some(id) = asked.prior {
            rows = rows.with_prior(self.kept.numbers(id));
        }
        if let Some(groups) = &groups {
            rows = rows.with_group(groups);
        }
        let said = fitted.predict(rows).map_err(|error| self.kept.refused(error))?;
        match said.guaranteed_errors(promise::LEVEL) {
            Ok((low, high)) => {
                let group = texts
                    .map(|texts| promise::Grouped { labels: &texts.values, rows: &texts.rows });
                Ok(Some(promise::kept(guarantee, &error, (&low, &high), group)))
            }
            Err(errbar::Error::TooFewForLevel { .. }) => Ok(None),
            Err(error) => Err(self.kept.refused(error)),
        }
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        let kept = &self.kept;
        Subject {
            observation: Column { name: &self.observation, values: &self.y },
            forecast: Column {
                name: self.forecast.as_deref().unwrap_or("the model's own"),
                values: &self.mu,
            },
            sigma: &self.sigma,
            turns: self.turns,
            moved: self.moved,
            laws: (!self.laws.is_empty())
                .then(|| ErrorLaws::new(&self.laws).within(self.bounds.as_deref())),
            weight: self.weight.as_deref(),
            inputs: self
                .inputs
                .iter()
                .map(|(name, shown)| Column { name, values: self.shown(*shown) })
                .collect(),
            levels: (self.inputs.iter().enumerate())
                .filter_map(|(place, (_, shown))| match shown {
                    Shown::Column(id) => Some((place, kept.levels(*id)?)),
                    Shown::Calendar(_) => None,
                })
                .collect(),
            ranked: self.ranked,
            order: match (&self.time, kept.time()) {
                (Some(name), Some(values)) => {
                    Order::Time { name, values, dates: kept.time_is_dates() }
                }
                _ => Order::Rows,
            },
            groups: self.by.as_ref().map(|(name, id)| {
                let texts = kept.texts(*id);
                Groups { name, labels: &texts.values, rows: &texts.rows }
            }),
            lead: self.lead.as_ref().map(|(name, id)| {
                let texts = kept.texts(*id);
                Groups { name, labels: &texts.values, rows: &texts.rows }
            }),
            places: self.places.as_ref().and_then(|[latitude, longitude]| {
                Some(Places {
                    latitude: Column { name: &latitude.0, values: kept.maybe(latitude.1)? },
                    longitude: Column { name: &longitude.0, values: kept.maybe(longitude.1)? },
                })
            }),
            events: self.events.clone(),
            curve: self.curve.clone(),
        }
    }

    /// The values of an input.
    fn shown(&self, shown: Shown) -> &[f64] {
        match shown {
            Shown::Column(id) => self.kept.numbers(id),
            Shown::Calendar(cycle) => {
                let own = self.calendar.iter().find(|(other, _)| *other == cycle);
                own.map_or(&[], |(_, places)| places)
            }
        }
    }

    /// A sentence for what could not be judged.
    pub(super) fn refused(&self, error: errbar_report::Error) -> anyhow::Error {
        match error {
            errbar_report::Error::Scores(error) => self.kept.refused(error),
            error => {
                anyhow::Error::new(error).context(format!("cannot judge {}", self.kept.file()))
            }
        }
    }
}

/// The columns that sigma is shown against, and whether they come in the order of their importance.
fn shown_inputs(
    arguments: &Arguments,
    fitted: Option<&Fitted>,
    asked: &ReportColumns,
    request: &mut Request,
    used: &[Option<&String>],
) -> anyhow::Result<(Vec<(String, Shown)>, bool)> {
    if !arguments.inputs.is_empty() {
        let mut out: Vec<(String, Shown)> = Vec::new();
        for name in &arguments.inputs {
            if !out.iter().any(|(other, _)| other == name) {
                out.push((name.clone(), Shown::Column(request.number(Role::Input, name)?)));
            }
        }
        return Ok((out, true));
    }
    if let Some(fitted) = fitted {
        let table = fitted.table_names().iter().zip(&asked.model_inputs);
        let table = table.map(|(name, id)| (name.clone(), Shown::Column(*id)));
        let cycles = fitted.calendar().iter();
        let cycles = cycles.map(|cycle| (cycle.name().to_string(), Shown::Calendar(*cycle)));
        let all: Vec<(String, Shown)> = table.chain(cycles).collect();
        let importance = fitted.validation().map_or(&[][..], |v| &v.importance);
        let mut order: Vec<usize> = importance
            .iter()
            .flat_map(Importance::names)
            .filter_map(|one| all.iter().position(|(name, _)| name == one))
            .collect();
        let ranked = order.len() == all.len();
        order.extend((0..all.len()).filter(|i| !order.contains(i)).collect::<Vec<_>>());
        return Ok((order.into_iter().map(|i| all[i].clone()).collect(), ranked));
    }
    let names: Vec<String> = request.header().to_vec();
    let free = names.into_iter().filter(|name| !used.contains(&Some(name)));
    let out = free.map(|name| {
        let id = request.number_with_gaps(Role::Input, &name)?;
        Ok((name, Shown::Column(id)))
    });
    Ok((out.collect::<anyhow::Result<_>>()?, false))
}

/// Forecast and sigma over the range of the one input, where the model makes both or knows how well
/// it knows sigma.
fn curve(fitted: &Fitted, x: &[f64]) -> anyhow::Result<Option<Curve>> {
    const STEPS: usize = 240;
    let low = x.iter().copied().fold(f64::INFINITY, f64::min);
    let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let has_band = matches!(fitted.model(), Model::Smooth(_));
    if (fitted.mean().is_none() && !has_band) || low >= high {
        return Ok(None);
    }
    let grid: Vec<f64> =
        (0..=STEPS).map(|i| low + (high - low) * i as f64 / STEPS as f64).collect();
    let predicted = fitted.predict(&grid)?;
    let forecast = predicted.forecast().unwrap_or_default().to_vec();
    let turns = fitted.shape().is_some_and(|shape| shape.turning().is_some());
    let laws = if turns { predicted.error_laws() } else { Vec::new() };
    let (band, sigma) = (predicted.sigma_band(0.9)?, predicted.into_sigma());
    Ok(Some(Curve { x: grid, forecast, sigma, laws, band }))
}
