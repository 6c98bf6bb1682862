//! The table that is learned from: which columns make the errors, and which are inputs.

use anyhow::bail;
use errbar::fit;
use errbar::score::errors_of;
use errbar::{Group, mean};

use std::path::PathBuf;

use crate::arguments::TableArguments;
use crate::columns::{Columns, NumberId, Request, Role};
use crate::console::Console;
use crate::learning::{ColumnArguments, LearningArguments};
use crate::stop;

/// The table to learn from, and what of it.
pub(crate) struct Source<'a> {
    /// The files that are one table.
    pub(crate) files: &'a [PathBuf],
    pub(crate) columns: &'a ColumnArguments,
    pub(crate) learning: &'a LearningArguments,
    pub(crate) table: &'a TableArguments,
    pub(crate) console: Console,
    /// Whether the forecast is still to be made.
    pub(crate) fit_mean: bool,
    /// Whether rows without an observation are kept: they are moments of a series.
    pub(crate) unobserved: bool,
}

/// A table made ready to learn from.
pub(crate) struct Training {
    pub(crate) kept: Columns,
    pub(crate) names: Vec<String>,
    /// Row-major.
    pub(crate) inputs: Vec<f64>,
    pub(crate) error: Vec<f64>,
    pub(crate) observation: Option<Vec<f64>>,
    /// What was forecast, and observed, as in the table; of a series only.
    pub(crate) raw: Option<Raw>,
    /// The column of what was observed, or of the error.
    pub(crate) observed: String,
    pub(crate) weight: Option<Vec<f64>>,
    pub(crate) group: Option<Group>,
    pub(crate) forecast: Option<String>,
    pub(crate) mean: Option<mean::Mean>,
    pub(crate) notes: Vec<String>,
}

/// What was forecast, where that is known, and observed; NaN where nothing was.
pub(crate) struct Raw {
    pub(crate) forecast: Option<Vec<f64>>,
    pub(crate) observation: Vec<f64>,
}

/// Which columns the errors are made of.
enum ErrorColumns {
    Error(NumberId),
    Difference {
        observation: NumberId,
        forecast: NumberId,
        name: String,
    },
    /// The observation, with a forecast still to be made.
    Observation(NumberId),
}

impl Training {
    pub(crate) fn read(arguments: &Source) -> anyhow::Result<Self> {
        let mut request = Request::open(arguments.files, arguments.table)?;
        let (made, mut used) = ErrorColumns::ask(arguments, &mut request)?;
        let observed = used[0].clone();
        if arguments.unobserved {
            request.keep_gaps(made.seen());
        }
        let weight = request.if_given(Role::Weight, arguments.columns.weight.as_deref())?;
        request.time(
            arguments.columns.time.as_deref(),
            arguments.columns.dates.date_format.as_ref(),
        )?;
        let group = arguments.columns.group.as_ref().map(|name| request.text(name)).transpose()?;
        used.extend(
            [&arguments.columns.weight, &arguments.columns.time, &arguments.columns.group]
                .into_iter()
                .flatten()
                .cloned(),
        );
        let mut asked: Vec<(String, NumberId)> = Vec::new();
        let names = match arguments.columns.inputs.is_empty() {
            false => arguments.columns.inputs.clone(),
            true => request.header().iter().filter(|name| !used.contains(name)).cloned().collect(),
        };
        for name in &names {
            if asked.iter().any(|(other, _)| other == name) {
                bail!("--inputs names the column \"{name}\" twice; name it once");
            }
            if used.first() == Some(name) {
                let role = made.role().name();
                bail!(
                    "--inputs names the {role} \"{name}\": it is not known when the forecast is made; \
                     leave it out"
                );
            }
            let id = match arguments.columns.inputs.is_empty() {
                false => request.number(Role::Input, name)?,
                true => request.maybe_number(Role::Input, name)?,
            };
            // What is missing may tell something; but a Gaussian process needs every number.
            if arguments.table.missing.is_none() && !arguments.fit_mean {
                request.keep_gaps(id);
            }
            asked.push((name.clone(), id));
        }
        let not_in_all = request.not_in_all();
        let mut kept = request.read(arguments.console)?;
        let mut notes = kept.notes();
        kept.fill_values_in_words().iter().for_each(|warning| arguments.console.warn(warning));

        if arguments.columns.inputs.is_empty() {
            for (name, id) in &asked {
                if let Some(few) = kept.few_texts(*id) {
                    arguments.console.warn(&format!("the column \"{name}\" is not used: {few}"));
                }
            }
            notes.extend(chosen_inputs(&mut asked, &kept));
            notes.extend(not_in_all);
        }
        if asked.is_empty() {
            bail!(
                "{} has no column of numbers for sigma to depend on; name some with --inputs (the \
                 forecast itself may be one)",
                kept.file()
            );
        }
        for (name, id) in &asked {
            let column = kept.numbers(*id);
            if column.iter().all(|x| Some(x) == column.first()) {
                notes.push(format!("the input \"{name}\" never varies and tells nothing"));
            }
            let gaps = column.iter().filter(|x| x.is_nan()).count();
            if gaps > 0 {
                notes.push(format!(
                    "the input \"{name}\" is missing in {gaps} of {} rows; they are kept (--missing drop \
                     leaves them out)",
                    column.len()
                ));
            }
        }
        let inputs = kept.row_major(asked.iter().map(|(_, id)| *id));
        let names: Vec<String> = asked.into_iter().map(|(name, _)| name).collect();
        let (mut mean, mut forecast, mut raw) = (None, None, None);
        let in_time = arguments.columns.time.is_some();
        let on_scale = |what: &'static str, values: Vec<f64>, kept: &Columns| {
            arguments.learning.transform.all(what, &values).map_err(|error| kept.refused(error))
        };
        let (error, observation) = match made {
            ErrorColumns::Error(id) => {
                let error = kept.take(id);
                raw = in_time.then(|| Raw { forecast: None, observation: error.clone() });
                (error, None)
            }
            ErrorColumns::Difference { observation, forecast: id, name } => {
                let (observation, around) = (kept.take(observation), kept.take(id));
                raw = in_time.then(|| Raw {
                    forecast: Some(around.clone()),
                    observation: observation.clone(),
                });
                let observation = on_scale("observation", observation, &kept)?;
                let around = on_scale("forecast", around, &kept)?;
                let error = match arguments.unobserved {
                    true => Ok(observation.iter().zip(&around).map(|(y, at)| y - at).collect()),
                    false => errors_of(&observation, &around),
                };
                forecast = Some(name);
                (error.map_err(|error| kept.refused(error))?, Some(observation))
            }
            ErrorColumns::Observation(id) => {
                let observation = on_scale("observation", kept.take(id), &kept)?;
                let progress = arguments.console.progress("Mean");
                let options = fit::Options::default()
                    .loss(arguments.learning.loss.with(arguments.learning.beta))
                    .seed(arguments.learning.seed);
                let learned =
                    fit::learn_mean(&inputs, names.len(), &observation, &options, &progress);
                drop(progress);
                stop::check()?;
                let (process, error) = learned.map_err(|error| kept.refused(error))?;
                mean = Some(process);
                (error, Some(observation))
            }
        };
        stop::check()?;
        let weight = weight.map(|id| kept.take(id));
        let group = group.zip(arguments.columns.group.clone()).map(|(id, name)| {
            let texts = kept.texts(id);
            Group { name, labels: texts.values.clone(), rows: texts.rows.clone() }
        });
        Ok(Self {
            kept,
            names,
            inputs,
            error,
            observation,
            raw,
            observed,
            weight,
            group,
            forecast,
            mean,
            notes,
        })
    }
}

impl ErrorColumns {
    /// Asks for the columns that make the errors; also the names of columns that are then no inputs
    /// unless they are named: first the observation, or the error, which never are.
    fn ask(arguments: &Source, request: &mut Request) -> anyhow::Result<(Self, Vec<String>)> {
        if let Some(name) = &arguments.columns.error {
            let id = request.number(Role::Error, name)?;
            // An error and what it was made of must not explain its size.
            return Ok((Self::Error(id), vec![name.clone()]));
        }
        let listing = format!(". {}", request.listing());
        let given = arguments.columns.observation.as_deref();
        let observed = request.name_of(Role::Observation, given, &listing)?;
        let observation = request.number(Role::Observation, &observed)?;
        if arguments.fit_mean {
            return Ok((Self::Observation(observation), vec![observed]));
        }
        let instead = ", give --error instead, or have the forecast made with --fit-mean gp";
        let given = arguments.columns.forecast.as_deref();
        let name = request.name_of(Role::Forecast, given, &(instead.to_string() + &listing))?;
        let forecast = request.number(Role::Forecast, &name)?;
        if name == observed {
            bail!(
                "the forecast and the observation are the same column \"{name}\": name two with \
                 --forecast and --observation"
            );
        }
        let used = vec![observed, name.clone()];
        Ok((Self::Difference { observation, forecast, name }, used))
    }

    /// The column that is known afterwards.
    fn seen(&self) -> NumberId {
        match self {
            Self::Error(id) | Self::Observation(id) => *id,
            Self::Difference { observation, .. } => *observation,
        }
    }

    /// What the first of the columns asked for is, which nobody knows beforehand.
    fn role(&self) -> Role {
        match self {
            Self::Error(_) => Role::Error,
            Self::Difference { .. } | Self::Observation(_) => Role::Observation,
        }
    }
}

/// Keeps the columns that hold numbers, and says which were taken and which not.
fn chosen_inputs(asked: &mut Vec<(String, NumberId)>, kept: &Columns) -> Vec<String> {
    let mut notes = Vec::new();
    let mut no_numbers = Vec::new();
    asked.retain(|(name, id)| match kept.not_numbers(*id) {
        Some(("", _)) => {
            no_numbers.push(format!("\"{name}\" (empty)"));
            false
        }
        Some((value, _)) => {
            no_numbers.push(format!("\"{name}\" ({value} is no number)"));
            false
        }
        None => true,
    });
    let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        notes.push(format!("inputs: every other column of numbers ({})", listed(&names)));
    }
    if !no_numbers.is_empty() {
        let no_numbers: Vec<&str> = no_numbers.iter().map(String::as_str).collect();
        notes.push(format!("not used: {}", listed(&no_numbers)));
    }
    notes
}

/// Names in a row, not too many of them.
pub(crate) fn listed(names: &[&str]) -> String {
    const NAMED: usize = 12;
    match names.len() {
        n if n > NAMED => format!("{} and {} more", names[..NAMED].join(", "), n - NAMED),
        _ => names.join(", "),
    }
}
