//! The table that is learned from: which columns make the errors, and which are inputs.

use anyhow::bail;
use errbar::ensemble::Ensemble;
use errbar::fit;
use errbar::score::errors_of;
use errbar::{Category, Data, Group, mean};

use std::collections::HashSet;
use std::path::PathBuf;

use crate::arguments::TableArguments;
use crate::columns::{Columns, NumberId, Passing, Request, Role, TextId, retain};
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
    /// Row-major; categories as places among their levels.
    pub(crate) inputs: Vec<f64>,
    pub(crate) categories: Vec<Category>,
    pub(crate) error: Vec<f64>,
    pub(crate) observation: Option<Vec<f64>>,
    /// What was forecast, and observed, as in the table; of a series only.
    pub(crate) raw: Option<Raw>,
    /// The column of what was observed, or of the error.
    pub(crate) observed: String,
    pub(crate) weight: Option<Vec<f64>>,
    /// A sigma that is corrected, and its name.
    pub(crate) prior: Option<(String, Vec<f64>)>,
    pub(crate) group: Option<Group>,
    pub(crate) forecast: Option<String>,
    /// What it and some of the inputs are made of.
    pub(crate) ensemble: Option<Ensemble>,
    pub(crate) mean: Option<mean::Mean>,
    pub(crate) notes: Vec<String>,
}

/// What was forecast, where that is known, and observed; NaN where nothing was.
pub(crate) struct Raw {
    pub(crate) forecast: Option<Vec<f64>>,
    pub(crate) observation: Vec<f64>,
}

/// The columns that are asked of a table to learn from it.
#[derive(Clone)]
pub(crate) struct Asking {
    made: ErrorColumns,
    /// The column of what was observed, or of the error.
    observed: String,
    pub(crate) weight: Option<NumberId>,
    prior: Option<NumberId>,
    pub(crate) group: Option<TextId>,
    pub(crate) inputs: Vec<(String, NumberId)>,
    /// The members that the forecast and some inputs are made of.
    pub(crate) ensemble: Option<Ensemble>,
    /// Whether they were named.
    named: bool,
    not_in_all: Option<String>,
}

/// What is noted of an input as its values go by.
#[derive(Clone, Default)]
pub(crate) struct InputSeen {
    first: Option<f64>,
    varies: bool,
    gaps: usize,
    rows: usize,
}

/// Which columns the errors are made of.
#[derive(Clone)]
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
        let asking = Asking::of(arguments, &mut request)?;
        asking.training(arguments, request.read(arguments.console)?)
    }
}

impl Asking {
    pub(crate) fn of(arguments: &Source, request: &mut Request) -> anyhow::Result<Self> {
        let (made, mut used, ensemble) = ErrorColumns::ask(arguments, request)?;
        let observed = used[0].clone();
        if arguments.unobserved {
            request.keep_gaps(made.seen());
        }
        let weight = request.if_given(Role::Weight, arguments.columns.weight.as_deref())?;
        let prior = request.if_given(Role::PriorSigma, arguments.columns.prior_sigma.as_deref())?;
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
        let mut inputs: Vec<(String, NumberId)> = Vec::new();
        let made_inputs = ensemble.as_ref().map(Ensemble::inputs);
        let is_made = |name: &String| made_inputs.iter().flatten().any(|made| made == name);
        let names = match arguments.columns.inputs.is_empty() {
            // Who names some of what is made of the members wants no more of it.
            false if arguments.columns.inputs.iter().any(is_made) => {
                arguments.columns.inputs.clone()
            }
            false => {
                let made = made_inputs.iter().flatten();
                arguments.columns.inputs.iter().chain(made).cloned().collect()
            }
            true => request.header().iter().filter(|name| !used.contains(name)).cloned().collect(),
        };
        // A table of times, forecasts and observations: the forecast itself may tell.
        let alone = match &made {
            ErrorColumns::Difference { name, .. } if names.is_empty() => Some(name.clone()),
            _ => None,
        };
        if alone.is_some() {
            request.note("inputs: the forecast itself, as there is no other column");
        }
        let names: Vec<String> = names.into_iter().chain(alone.clone()).collect();
        let categories = &arguments.columns.categories;
        if let Some(name) = categories.iter().find(|name| !names.contains(name)) {
            if !request.has(name) {
                return Err(request.lacks(name, ""));
            }
            bail!(
                "--categories names the column \"{name}\", which is no input: name it with --inputs too"
            );
        }
        // A Gaussian process knows numbers alone.
        let text = match arguments.fit_mean {
            true => HashSet::new(),
            false => request.begin_with_text(&names)?,
        };
        for name in &names {
            if inputs.iter().any(|(other, _)| other == name) {
                bail!("--inputs names the column \"{name}\" twice; name it once");
            }
            if used.first() == Some(name) {
                let role = made.role().name();
                bail!(
                    "--inputs names the {role} \"{name}\": it is not known when the forecast is made; \
                     leave it out"
                );
            }
            let is_category = categories.contains(name);
            let id = match arguments.columns.inputs.is_empty() {
                _ if is_category => request.category(Role::Input, name, None)?,
                false if !text.contains(name) => request.number(Role::Input, name)?,
                _ => request.maybe_number(Role::Input, name)?,
            };
            if text.contains(name) && !is_category {
                request.or_category(id, name)?;
            }
            // What is missing may tell something; but a Gaussian process needs every number.
            if arguments.table.missing.is_none() && !arguments.fit_mean {
                request.keep_gaps(id);
            }
            inputs.push((name.clone(), id));
        }
        let not_in_all = request.not_in_all();
        let named = !arguments.columns.inputs.is_empty() || alone.is_some();
        Ok(Self { made, observed, weight, prior, group, inputs, ensemble, named, not_in_all })
    }

    /// Of rows that are all held.
    pub(crate) fn training(
        mut self,
        arguments: &Source,
        mut kept: Columns,
    ) -> anyhow::Result<Training> {
        let mut notes = self.inputs_in_words(arguments, &kept)?;
        // Of most quantities nobody expects zeros.
        let made = self.ensemble.as_ref().map(Ensemble::inputs);
        let says_nothing = |name: &String, values: &[f64]| {
            made.iter().flatten().last() == Some(name) && values.iter().all(|x| *x == values[0])
        };
        self.inputs.retain(|(name, id)| !says_nothing(name, kept.numbers(*id)));
        for (name, id) in &self.inputs {
            let mut seen = InputSeen::default();
            seen.look(kept.numbers(*id));
            notes.extend(seen.in_words(name));
        }
        let inputs = kept.row_major(self.inputs.iter().map(|(_, id)| *id));
        let names = self.names();
        let mut raw = None;
        if arguments.columns.time.is_some() {
            let of = |id: &NumberId| kept.numbers(*id).to_vec();
            raw = match &self.made {
                ErrorColumns::Error(id) => Some(Raw { forecast: None, observation: of(id) }),
                ErrorColumns::Difference { observation, forecast, .. } => {
                    Some(Raw { forecast: Some(of(forecast)), observation: of(observation) })
                }
                ErrorColumns::Observation(_) => None,
            };
        }
        let mut mean = None;
        let (error, observation) = match self.made {
            ErrorColumns::Error(_) | ErrorColumns::Difference { .. } => {
                self.errors(arguments, &mut kept)?
            }
            ErrorColumns::Observation(id) => {
                let scale = arguments.learning.transform;
                let observation = scale.all("observation", &kept.take(id));
                let observation = observation.map_err(|error| kept.refused(error))?;
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
        let categories = self.categories(&kept);
        let weight = self.weight.map(|id| kept.take(id));
        let prior = self.prior.map(|id| kept.take(id));
        let prior = arguments.columns.prior_sigma.clone().zip(prior);
        let forecast = self.forecast();
        let group = self.group.zip(arguments.columns.group.clone()).map(|(id, name)| {
            let texts = kept.texts(id);
            Group { name, labels: texts.values.clone(), rows: texts.rows.clone() }
        });
        let mut training = Training {
            kept,
            names,
            inputs,
            categories,
            error,
            observation,
            raw,
            observed: self.observed,
            weight,
            prior,
            group,
            forecast,
            ensemble: self.ensemble,
            mean,
            notes,
        };
        training.leave_out_names(arguments)?;
        Ok(training)
    }

    /// Which of the inputs are categories.
    pub(crate) fn categories(&self, kept: &Columns) -> Vec<Category> {
        let one = |(column, (_, id)): (usize, &(String, NumberId))| {
            Some(Category { column, levels: kept.levels(*id)?.to_vec() })
        };
        self.inputs.iter().enumerate().filter_map(one).collect()
    }

    /// The names of the inputs.
    pub(crate) fn names(&self) -> Vec<String> {
        self.inputs.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The column with the forecast, if there is one.
    pub(crate) fn forecast(&self) -> Option<String> {
        match &self.made {
            ErrorColumns::Difference { name, .. } => Some(name.clone()),
            _ => None,
        }
    }

    /// The errors of some rows of a forecaster, and what was observed, on the scale that is learned on.
    pub(crate) fn errors(
        &self,
        arguments: &Source,
        kept: &mut Columns,
    ) -> anyhow::Result<(Vec<f64>, Option<Vec<f64>>)> {
        let (observation, forecast) = match self.made {
            ErrorColumns::Error(id) | ErrorColumns::Observation(id) => {
                return Ok((kept.take(id), None));
            }
            ErrorColumns::Difference { observation, forecast, .. } => (observation, forecast),
        };
        let mut on_scale = |what: &'static str, id: NumberId| {
            let values = arguments.learning.transform.all(what, &kept.take(id));
            values.map_err(|error| kept.refused(error))
        };
        let observation = on_scale("observation", observation)?;
        let around = on_scale("forecast", forecast)?;
        let error = match arguments.unobserved {
            true => Ok(observation.iter().zip(&around).map(|(y, at)| y - at).collect()),
            false => errors_of(&observation, &around),
        };
        Ok((error.map_err(|error| kept.refused(error))?, Some(observation)))
    }

    /// Without the inputs that hold no numbers, as far as the first rows of some that pass tell.
    pub(crate) fn inputs_so_far(&self, passing: &mut Passing) -> Vec<(String, NumberId)> {
        let holds_numbers = |(_, id): &&(String, NumberId)| self.named || !passing.gives_up(*id);
        self.inputs.iter().filter(holds_numbers).cloned().collect()
    }

    /// Keeps the inputs that hold numbers, and says what there is to say of the columns that were read.
    pub(crate) fn inputs_in_words(
        &mut self,
        arguments: &Source,
        kept: &Columns,
    ) -> anyhow::Result<Vec<String>> {
        let console = arguments.console;
        let mut notes = kept.notes();
        kept.fill_values_in_words().iter().for_each(|warning| console.warn(warning));
        if !self.named {
            for (name, id) in &self.inputs {
                if let Some(few) = kept.few_texts(*id) {
                    console.warn(&format!("the column \"{name}\" is not used: {few}"));
                }
            }
            notes.extend(chosen_inputs(&mut self.inputs, kept));
            notes.extend(self.not_in_all.take());
        }
        if let Some((name, id)) = self.inputs.iter().find(|(_, id)| kept.not_numbers(*id).is_some())
        {
            return Err(kept.refuse_text(*id, name, arguments.table.format.decimal_comma));
        }
        if self.inputs.is_empty() {
            bail!(
                "{} has no column of numbers or categories for sigma to depend on; name some with --inputs (the \
                 forecast itself may be one)",
                kept.file()
            );
        }
        Ok(notes)
    }
}

impl Training {
    /// Leaves out the categories that are names of rows, or have too many values to tell anything.
    fn leave_out_names(&mut self, arguments: &Source) -> anyhow::Result<()> {
        if self.categories.is_empty() {
            return Ok(());
        }
        let width = self.names.len();
        let seen: Vec<usize> =
            (0..self.error.len()).filter(|&row| self.error[row].is_finite()).collect();
        let inputs: Vec<f64> =
            seen.iter().flat_map(|&row| &self.inputs[row * width..][..width]).copied().collect();
        let error: Vec<f64> = seen.iter().map(|&row| self.error[row]).collect();
        if error.is_empty() {
            return Ok(());
        }
        let data = Data::with_missing(&inputs, width, &error)
            .and_then(|data| data.with_categories(self.categories.clone()))
            .map_err(|error| self.kept.refused(error))?;
        let in_time = arguments.columns.time.is_some();
        let split = if in_time { errbar::Split::InOrder } else { errbar::Split::Random };
        let options = fit::Options::default().seed(arguments.learning.seed).split(split);
        let left_out = fit::too_many(&data, &options);
        if left_out.len() == width {
            let names: Vec<String> = left_out
                .iter()
                .map(|why| format!("\"{}\": {why}", self.names[why.column]))
                .collect();
            bail!(
                "{}: no input is left to learn from ({}); name others with --inputs",
                self.kept.file(),
                names.join("; ")
            );
        }
        for why in &left_out {
            self.notes.push(format!("the input \"{}\" is left out: {why}", self.names[why.column]));
        }
        self.keep_inputs(
            &(0..width).map(|c| left_out.iter().all(|why| why.column != c)).collect::<Vec<bool>>(),
        );
        Ok(())
    }

    /// Keeps some of the inputs.
    fn keep_inputs(&mut self, keep: &[bool]) {
        if keep.iter().all(|keep| *keep) {
            return;
        }
        let before = |column: usize| keep[..column].iter().filter(|keep| **keep).count();
        self.categories.retain(|category| keep[category.column]);
        self.categories.iter_mut().for_each(|own| own.column = before(own.column));
        retain(&mut self.names, keep);
        let whole: Vec<bool> = keep.iter().copied().cycle().take(self.inputs.len()).collect();
        retain(&mut self.inputs, &whole);
    }
}

impl InputSeen {
    /// Looks at further values.
    pub(crate) fn look(&mut self, values: &[f64]) {
        for x in values {
            let first = *self.first.get_or_insert(*x);
            self.varies |= *x != first;
            self.gaps += usize::from(x.is_nan());
        }
        self.rows += values.len();
    }

    /// What there is to say of all of them.
    pub(crate) fn in_words(&self, name: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.varies {
            notes.push(format!("the input \"{name}\" never varies and tells nothing"));
        }
        if self.gaps > 0 {
            notes.push(format!(
                "the input \"{name}\" is missing in {} of {} rows; they are kept (--missing drop leaves them \
                 out)",
                self.gaps, self.rows
            ));
        }
        notes
    }
}

impl ErrorColumns {
    /// Asks for the columns that make the errors; also the names of columns that are then no inputs
    /// unless they are named: first the observation, or the error, which never are.
    fn ask(
        arguments: &Source,
        request: &mut Request,
    ) -> anyhow::Result<(Self, Vec<String>, Option<Ensemble>)> {
        if let Some(name) = &arguments.columns.error {
            let id = request.number(Role::Error, name)?;
            // An error and what it was made of must not explain its size.
            return Ok((Self::Error(id), vec![name.clone()], None));
        }
        let listing = format!(". {}", request.listing());
        let given = arguments.columns.observation.as_deref();
        let observed = request.name_of(Role::Observation, given, &listing)?;
        let observation = request.number(Role::Observation, &observed)?;
        if arguments.fit_mean {
            return Ok((Self::Observation(observation), vec![observed], None));
        }
        if !arguments.columns.members.is_empty() {
            let center = arguments.columns.center.center();
            let ensemble = request.ensemble(&arguments.columns.members, center, &observed)?;
            request.with_ensemble(Some(&ensemble))?;
            let name = ensemble.forecast();
            let forecast = request.number(Role::Forecast, &name)?;
            let used =
                std::iter::once(observed).chain(ensemble.members().iter().cloned()).collect();
            return Ok((Self::Difference { observation, forecast, name }, used, Some(ensemble)));
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
        Ok((Self::Difference { observation, forecast, name }, used, None))
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
    let is_number = |(_, id): &&(String, NumberId)| kept.levels(*id).is_none();
    let names: Vec<&str> = asked.iter().filter(is_number).map(|(name, _)| name.as_str()).collect();
    let categories = asked.iter().filter_map(|(name, id)| {
        let count = kept.levels(*id)?.len();
        Some(format!("{name}: {count} {}", if count == 1 { "value" } else { "values" }))
    });
    let categories: Vec<String> = categories.collect();
    let categories: Vec<&str> = categories.iter().map(String::as_str).collect();
    let numbers = format!("every other column of numbers ({})", listed(&names));
    let text = format!("every other column of categories ({})", listed(&categories));
    match (names.is_empty(), categories.is_empty()) {
        (true, true) => {}
        (false, true) => notes.push(format!("inputs: {numbers}")),
        (true, false) => notes.push(format!("inputs: {text}")),
        (false, false) => notes.push(format!("inputs: {numbers}, and {text}")),
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
