//! What was known at the time of each row of the table.

use anyhow::bail;
use errbar::adapt::Bend;
use errbar::adapt::promise::Promise;
use errbar::fit::Fitted;
use errbar::walk::Followed;

use super::Arguments;
use crate::arguments::TableArguments;
use crate::series::{Asked, Observations, SeriesTable, words_of};

/// What was known at the time of each row.
pub(super) struct InTime {
    said: Followed,
    columns: usize,
    /// For each row of the table, of all files together, its place among those that have a time.
    places: Vec<Option<u32>>,
}

/// Of one row: the inputs with those of the calendar and lagged errors, whether all of those are known, what becomes of its law, and the
/// levels that its guaranteed intervals are read off.
pub(super) struct Said<'a> {
    pub(super) inputs: &'a [f64],
    pub(super) whole: bool,
    pub(super) bend: Bend,
    pub(super) levels: &'a [f64],
}

impl InTime {
    /// `None` where nothing was observed that could be followed.
    pub(super) fn of(arguments: &Arguments, fitted: &Fitted) -> anyhow::Result<Option<Self>> {
        let Some(series) = fitted.series() else {
            if arguments.observation.is_some() {
                bail!(
                    "{} knows no time, so that observations tell it nothing (--observation): fit it with \
                     --time",
                    arguments.model.display()
                );
            }
            return Ok(None);
        };
        let takes_times = !fitted.lags().is_empty() || !fitted.calendar().is_empty();
        let needed = takes_times || series.learned() > 0;
        let told = arguments.observation.is_some();
        let as_fitted = arguments.as_fitted && !takes_times;
        if as_fitted || !(needed || told) {
            return Ok(None);
        }
        if arguments.files.has_stdin() {
            bail!(
                "the model {}, and so reads the table twice: name a file instead of standard input{}",
                match needed && !told && series.learned() == 0 && fitted.lags().is_empty() {
                    true => format!("takes {} from the times", words_of(fitted)),
                    false => "follows what was observed".into(),
                },
                if takes_times { "" } else { ", or say --as-fitted" }
            );
        }
        let format = TableArguments { format: arguments.format.clone(), missing: None };
        let asked = Asked {
            files: arguments.files.given(),
            table: &format,
            console: arguments.console,
            forecast: arguments.forecast.as_deref(),
            observation: arguments.observation.as_deref(),
            date_format: arguments.date_format.as_ref(),
            observations: match (told, fitted.lags().is_empty()) {
                (true, _) => Observations::Needed,
                (false, false) => Observations::IfThere,
                // A table with observations is not asked to tell about itself.
                (false, true) => Observations::None,
            },
        };
        let rows = SeriesTable::read(fitted, series, &asked)?;
        let mut said = fitted.follow(&rows.rows()).map_err(|error| rows.kept.refused(error))?;
        if arguments.as_fitted {
            said.bends.iter_mut().for_each(|bend| *bend = Bend::default());
        }
        // With nothing observed a guarantee is what it was.
        let is_new = said.bends.iter().all(Bend::is_none) && series.learned() == 0;
        match fitted.promise() {
            Some(promise) if !is_new && !arguments.as_fitted => {
                check_levels(arguments, promise)?;
            }
            _ => said.levels.clear(),
        }
        let mut places = vec![None; rows.kept.total_rows()];
        for row in 0..rows.kept.rows() {
            places[rows.kept.row_in_table(row) as usize - 1] = Some(row as u32);
        }
        Ok(Some(Self { said, columns: fitted.names().len(), places }))
    }

    /// How many rows of the table have no time.
    pub(super) fn without_time(&self) -> usize {
        self.places.iter().filter(|place| place.is_none()).count()
    }

    /// Whether guaranteed intervals move with what was observed.
    pub(super) fn keeps(&self) -> bool {
        !self.said.levels.is_empty()
    }

    /// A row of a batch that begins with a row of the table, counted from 1.
    pub(super) fn of_row(&self, first: u64, row: usize) -> Option<Said<'_>> {
        let place = (*self.places.get(first as usize - 1 + row)?)? as usize;
        let Followed { inputs, whole, bends, levels, .. } = &self.said;
        let inputs = &inputs[place * self.columns..(place + 1) * self.columns];
        let count = levels.len() / whole.len();
        let levels = &levels[place * count..(place + 1) * count];
        Some(Said { inputs, whole: whole[place], bend: bends[place], levels })
    }
}

/// Only some levels are kept.
fn check_levels(arguments: &Arguments, promise: &Promise) -> anyhow::Result<()> {
    match arguments.guarantee.iter().find(|level| promise.place(**level).is_err()) {
        None => Ok(()),
        Some(level) => bail!(
            "--guarantee {level}: {} keeps its guarantee, as rows are observed, at {}: ask for one of these, fit \
             with --guarantee-levels {level}, or say --as-fitted for what was promised when it was fitted",
            arguments.model.display(),
            promise.levels().iter().map(ToString::to_string).collect::<Vec<String>>().join(", ")
        ),
    }
}
