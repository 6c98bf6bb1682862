//! Members of an ensemble among the columns: what is made of them is asked for as if the table had it.

use anyhow::bail;
use errbar::ensemble::{Center, Ensemble};
use errbar_table::{Numbers, Odd, Tables};
use rayon::prelude::*;

use super::{NumberId, Request, RequestedColumn, Role};

/// Columns that no file has, made of members that all have.
pub(super) struct Made {
    pub(super) ensemble: Ensemble,
    pub(super) members: Vec<NumberId>,
}

/// The same of columns that are read.
pub(super) struct Making {
    pub(super) ensemble: Ensemble,
    /// Where the members are among the columns of numbers.
    pub(super) members: Vec<usize>,
}

impl Request {
    /// The ensemble of columns that patterns stand for, none of them the observation.
    pub(crate) fn ensemble(
        &self,
        patterns: &[String],
        center: Center,
        observed: &str,
    ) -> anyhow::Result<Ensemble> {
        let members = self.matching(patterns, ", a member of the ensemble")?;
        if members.iter().any(|name| name == observed) {
            bail!(
                "--members {} stands for the observation \"{observed}\" too: name the members alone",
                patterns.join(",")
            );
        }
        if let [only] = members.as_slice() {
            bail!(
                "--members {} stands for one column only: name it with --forecast {only}",
                patterns.join(",")
            );
        }
        Ok(Ensemble::new(members, center))
    }

    /// Has what is made of an ensemble, too, as if these were columns of the table.
    pub(crate) fn with_ensemble(&mut self, ensemble: Option<&Ensemble>) -> anyhow::Result<()> {
        let Some(ensemble) = ensemble else { return Ok(()) };
        for name in ensemble.inputs() {
            if self.has(&name) {
                bail!(
                    "{} a column \"{name}\" already, which is made of the members here; rename it",
                    self.have()
                );
            }
        }
        let mut members = Vec::with_capacity(ensemble.members().len());
        for name in ensemble.members() {
            let column = self.tables.column_for(name, ", a member of the ensemble")?;
            self.numbers.push(RequestedColumn::new(Role::Member, name, column, true));
            let id = NumberId(self.numbers.len() - 1);
            // Those that are there make the forecast.
            self.keep_gaps(id);
            members.push(id);
        }
        self.header.extend(ensemble.inputs());
        self.made = Some(Made { ensemble: ensemble.clone(), members });
        Ok(())
    }
}

impl Making {
    /// Adds what is made of the members of some rows.
    pub(super) fn add(&self, columns: &mut errbar_table::Columns) {
        let mut members = Vec::with_capacity(self.members.len());
        for place in &self.members {
            match &columns.numbers[*place] {
                Numbers::Values(values) => members.push(values.as_slice()),
                // It is required, and refused at the end of the file.
                Numbers::NotNumbers { value, row } => {
                    let (value, row) = (value.clone(), *row);
                    let made = self.ensemble.inputs();
                    columns.numbers.extend(
                        made.iter().map(|_| Numbers::NotNumbers { value: value.clone(), row }),
                    );
                    columns.odd.extend(made.iter().map(|_| Odd::default()));
                    return;
                }
            }
        }
        let made = made_of(&self.ensemble, &members, columns.rows);
        columns.odd.extend(made.iter().map(|_| Odd::default()));
        columns.numbers.extend(made.map(Numbers::Values));
    }
}

/// What is made of members, column by column.
fn made_of(ensemble: &Ensemble, members: &[&[f64]], rows: usize) -> [Vec<f64>; 3] {
    let each: Vec<[f64; 3]> = (0..rows)
        .into_par_iter()
        .with_min_len(4096)
        .map_init(Vec::new, |row: &mut Vec<f64>, i| {
            row.clear();
            row.extend(members.iter().map(|member| member[i]));
            ensemble.of_row(row)
        })
        .collect();
    std::array::from_fn(|k| each.iter().map(|made| made[k]).collect())
}

/// Where columns of a stream come from, those that are made of members among them.
pub(crate) struct Sources {
    ensemble: Option<Ensemble>,
    /// For each column asked for its place among those read, or among those made.
    asked: Vec<Source>,
    /// Where the members are among those read.
    members: Vec<usize>,
    /// The columns to read.
    pub(crate) columns: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Source {
    Read(usize),
    Made(usize),
}

impl Sources {
    pub(crate) fn new(
        ensemble: Option<&Ensemble>,
        tables: &Tables,
        file: &str,
    ) -> anyhow::Result<Self> {
        let mut sources = Self {
            ensemble: ensemble.cloned(),
            asked: Vec::new(),
            members: Vec::new(),
            columns: Vec::new(),
        };
        for name in ensemble.map_or(&[][..], Ensemble::members) {
            let column =
                tables.column_for(name, &format!(", a member of the ensemble of {file}"))?;
            sources.columns.push(column);
            sources.members.push(sources.columns.len() - 1);
        }
        Ok(sources)
    }

    /// Asks for a column; `why` says what it is wanted for.
    pub(crate) fn ask(&mut self, tables: &Tables, name: &str, why: &str) -> anyhow::Result<()> {
        let made = self.ensemble.as_ref().and_then(|ensemble| {
            ensemble
                .inputs()
                .iter()
                .position(|made| made == name && tables.with_column(name).is_none())
        });
        let source = match made {
            Some(place) => Source::Made(place),
            None => {
                self.columns.push(tables.column_for(name, why)?);
                Source::Read(self.columns.len() - 1)
            }
        };
        self.asked.push(source);
        Ok(())
    }

    /// Puts the columns of numbers of a batch in the order they were asked for.
    pub(crate) fn arrange(&self, batch: &mut errbar_table::Batch) {
        let Some(ensemble) = &self.ensemble else { return };
        let members: Vec<&[f64]> =
            self.members.iter().map(|place| batch.numbers[*place].as_slice()).collect();
        let made = made_of(ensemble, &members, batch.rows);
        let numbers = self.asked.iter().map(|source| match *source {
            Source::Read(place) => batch.numbers[place].clone(),
            Source::Made(place) => made[place].clone(),
        });
        let odd = self.asked.iter().map(|source| match *source {
            Source::Read(place) => batch.odd[place].clone(),
            Source::Made(_) => Odd::default(),
        });
        (batch.numbers, batch.odd) = (numbers.collect(), odd.collect());
    }
}
