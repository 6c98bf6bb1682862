//! The table that is learned from: which columns make the errors, and which are inputs.

use anyhow::bail;
use errbar::fit;
use errbar::score::errors_of;
use errbar::{Group, mean};

use super::Arguments;
use crate::columns::{Columns, NumberId, Request, Role};
use crate::stop;

/// A table made ready to learn from.
pub(super) struct Training {
    pub(super) kept: Columns,
    pub(super) names: Vec<String>,
    /// Row-major.
    pub(super) inputs: Vec<f64>,
    pub(super) error: Vec<f64>,
    pub(super) observation: Option<Vec<f64>>,
    pub(super) weight: Option<Vec<f64>>,
    pub(super) group: Option<Group>,
    pub(super) forecast: Option<String>,
    pub(super) mean: Option<mean::Mean>,
    pub(super) notes: Vec<String>,
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
    pub(super) fn read(arguments: &Arguments) -> anyhow::Result<Self> {
        let mut request = Request::open(&arguments.file, &arguments.table)?;
        let (made, mut used) = ErrorColumns::ask(arguments, &mut request)?;
        let weight = request.if_given(Role::Weight, arguments.weight.as_deref())?;
        request.time(arguments.time.as_deref(), arguments.dates.date_format.as_ref())?;
        let group = arguments.group.as_ref().map(|name| request.text(name)).transpose()?;
        used.extend(
            [&arguments.weight, &arguments.time, &arguments.group].into_iter().flatten().cloned(),
        );
        let mut asked: Vec<(String, NumberId)> = Vec::new();
        let names = match arguments.inputs.is_empty() {
            false => arguments.inputs.clone(),
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
            let id = match arguments.inputs.is_empty() {
                false => request.number(Role::Input, name)?,
                true => request.maybe_number(Role::Input, name)?,
            };
            // What is missing may tell something; but a Gaussian process needs every number.
            if arguments.table.missing.is_none() && arguments.fit_mean.is_none() {
                request.keep_gaps(id);
            }
            asked.push((name.clone(), id));
        }
        let mut kept = request.read(arguments.console)?;
        let mut notes = kept.notes();
        kept.fill_values_in_words().iter().for_each(|warning| arguments.console.warn(warning));

        if arguments.inputs.is_empty() {
            for (name, id) in &asked {
                if let Some(few) = kept.few_texts(*id) {
                    arguments.console.warn(&format!("the column \"{name}\" is not used: {few}"));
                }
            }
            notes.extend(chosen_inputs(&mut asked, &kept));
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
        let (mut mean, mut forecast) = (None, None);
        let on_scale = |what: &'static str, values: Vec<f64>, kept: &Columns| {
            arguments.transform.all(what, &values).map_err(|error| kept.refused(error))
        };
        let (error, observation) = match made {
            ErrorColumns::Error(id) => (kept.take(id), None),
            ErrorColumns::Difference { observation, forecast: id, name } => {
                let observation = on_scale("observation", kept.take(observation), &kept)?;
                let around = on_scale("forecast", kept.take(id), &kept)?;
                let error = errors_of(&observation, &around);
                forecast = Some(name);
                (error.map_err(|error| kept.refused(error))?, Some(observation))
            }
            ErrorColumns::Observation(id) => {
                let observation = on_scale("observation", kept.take(id), &kept)?;
                let progress = arguments.console.progress("Mean");
                let options = fit::Options::default()
                    .loss(arguments.loss.with(arguments.beta))
                    .seed(arguments.seed);
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
        let group = group.zip(arguments.group.clone()).map(|(id, name)| {
            let texts = kept.texts(id);
            Group { name, labels: texts.values.clone(), rows: texts.rows.clone() }
        });
        Ok(Self { kept, names, inputs, error, observation, weight, group, forecast, mean, notes })
    }
}

impl ErrorColumns {
    /// Asks for the columns that make the errors; also the names of columns that are then no inputs
    /// unless they are named: first the observation, or the error, which never are.
    fn ask(arguments: &Arguments, request: &mut Request) -> anyhow::Result<(Self, Vec<String>)> {
        if let Some(name) = &arguments.error {
            let id = request.number(Role::Error, name)?;
            // An error and what it was made of must not explain its size.
            return Ok((Self::Error(id), vec![name.clone()]));
        }
        let listing = format!(". {}", request.listing());
        let given = arguments.observation.as_deref();
        let observed = request.name_of(Role::Observation, given, &listing)?;
        let observation = request.number(Role::Observation, &observed)?;
        if arguments.fit_mean.is_some() {
            return Ok((Self::Observation(observation), vec![observed]));
        }
        let instead = ", give --error instead, or have the forecast made with --fit-mean gp";
        let given = arguments.forecast.as_deref();
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
fn listed(names: &[&str]) -> String {
    const NAMED: usize = 12;
    match names.len() {
        n if n > NAMED => format!("{} and {} more", names[..NAMED].join(", "), n - NAMED),
        _ => names.join(", "),
    }
}
