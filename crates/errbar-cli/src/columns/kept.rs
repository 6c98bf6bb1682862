//! The rows of a table in which nothing is missing that was asked for.

use anyhow::bail;
use errbar_table::{Numbers, Odd, Texts};
use serde::Serialize;

use super::{NumberId, RequestedColumn, Role, TextId};
use crate::arguments::Missing;
use crate::fill_values::FillValues;

/// The rows in which nothing is missing.
pub(crate) struct Columns {
    /// What messages call the table.
    pub(super) file: String,
    /// The files it is made of.
    pub(super) files: Vec<FileRows>,
    /// Rows of the first of them that are not among these, before them.
    pub(super) before: u64,
    /// Rows in all of them.
    pub(super) total_rows: usize,
    pub(super) rows: usize,
    /// The number in the table of each row, counted from 1; none when they are all there and in
    /// order.
    pub(super) numbers_of_rows: Option<Vec<u64>>,
    pub(super) asked: Vec<RequestedColumn>,
    pub(super) numbers: Vec<Numbers>,
    /// The cells of each that hold no number.
    pub(super) odd: Vec<Odd>,
    pub(super) texts: Vec<Texts>,
    /// The levels of the columns that are categories; their numbers are places among these.
    pub(super) levels: Vec<(NumberId, Vec<String>)>,
    pub(super) time: Option<Vec<f64>>,
    /// Whether the times are seconds since 1970.
    pub(super) dates: bool,
    /// How they are written, where that is not ISO 8601.
    pub(super) time_written: Option<String>,
    /// Whether the times have an offset from UTC, where that is known.
    pub(super) time_offset: Option<bool>,
    /// What was missing, and in how many rows it was the first thing missing.
    pub(super) left_out: Vec<(String, usize)>,
    /// What was taken without being named.
    pub(super) notes: Vec<String>,
    /// What looks odd in the columns of numbers, where those have gone by.
    pub(super) fill: Option<Vec<FillValues>>,
}

/// A file, and how many rows it has.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FileRows {
    pub(crate) file: String,
    pub(crate) rows: usize,
}

impl Columns {
    /// The number of rows kept.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of rows in all files.
    pub(crate) fn total_rows(&self) -> usize {
        self.total_rows
    }

    /// What messages call the table.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The files that are one table here; none where there is only one.
    pub(crate) fn files(&self) -> Vec<FileRows> {
        if self.files.len() > 1 { self.files.clone() } else { Vec::new() }
    }

    /// The number in the table, counted from 1 through all files, of a kept row, counted from 0.
    pub(crate) fn row_in_table(&self, row: usize) -> u64 {
        match &self.numbers_of_rows {
            Some(numbers) => numbers[row],
            None => self.before + row as u64 + 1,
        }
    }

    /// The file and the number in it of a kept row, counted from 0: "b.csv, row 12".
    pub(crate) fn place(&self, row: usize) -> String {
        place_in(&self.files, self.row_in_table(row))
    }

    /// A column of numbers. (Empty if the column was only tried and holds none.)
    pub(crate) fn numbers(&self, id: NumberId) -> &[f64] {
        self.maybe(id).unwrap_or(&[])
    }

    /// A column of numbers, if it holds some.
    pub(crate) fn maybe(&self, id: NumberId) -> Option<&[f64]> {
        match &self.numbers[id.0] {
            Numbers::Values(values) => Some(values),
            Numbers::NotNumbers { .. } => None,
        }
    }

    /// Columns of numbers, row by row.
    pub(crate) fn row_major(&self, ids: impl IntoIterator<Item = NumberId>) -> Vec<f64> {
        let columns: Vec<&[f64]> = ids.into_iter().map(|id| self.numbers(id)).collect();
        (0..self.rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
    }

    /// Takes a column of numbers out; it is empty from then on.
    pub(crate) fn take(&mut self, id: NumberId) -> Vec<f64> {
        match &mut self.numbers[id.0] {
            Numbers::Values(values) => std::mem::take(values),
            Numbers::NotNumbers { .. } => Vec::new(),
        }
    }

    /// Why a column that was tried holds no numbers: the first value that is none, and its row.
    pub(crate) fn not_numbers(&self, id: NumberId) -> Option<(&str, u64)> {
        match &self.numbers[id.0] {
            Numbers::Values(_) => None,
            Numbers::NotNumbers { value, row } => Some((value, *row)),
        }
    }

    /// A column of text.
    pub(crate) fn texts(&self, id: TextId) -> &Texts {
        &self.texts[id.0]
    }

    /// The times, in order: numbers as they are in the file, or seconds since 1970.
    pub(crate) fn time(&self) -> Option<&[f64]> {
        self.time.as_deref()
    }

    /// Whether the times are seconds since 1970.
    pub(crate) fn time_is_dates(&self) -> bool {
        self.dates
    }

    /// How the times are written, with the first of them, where that is not ISO 8601:
    /// "31.01.2024: day.month.year".
    pub(crate) fn time_written(&self) -> Option<&str> {
        self.time_written.as_deref()
    }

    /// Whether the times have an offset from UTC; none of numbers.
    pub(crate) fn time_has_offset(&self) -> Option<bool> {
        self.time_offset
    }

    /// A column that was only tried and holds nothing at all says nothing, and must not cost all rows.
    pub(super) fn give_up_empty_columns(&mut self) {
        for (asked, numbers) in self.asked.iter().zip(&mut self.numbers) {
            let Numbers::Values(values) = numbers else { continue };
            if !asked.required && values.iter().all(|value| value.is_nan()) {
                *numbers = Numbers::NotNumbers { value: String::new(), row: 1 };
            }
        }
    }

    /// Leaves rows out in which something is missing, and refuses a table without any others.
    pub(super) fn leave_out(
        &mut self,
        missing: Option<Missing>,
        time: Option<&RequestedColumn>,
    ) -> anyhow::Result<()> {
        self.drop_gaps(missing, time)?;
        self.check_rows()
    }

    /// Refuses a table without rows.
    pub(super) fn check_rows(&self) -> anyhow::Result<()> {
        if self.total_rows == 0 {
            let have = if self.files.len() > 1 { "have headers" } else { "has a header" };
            bail!(
                "{} {have} but no rows below {}",
                self.file,
                if have == "has a header" { "it" } else { "them" }
            );
        }
        if self.rows == 0 {
            bail!(
                "{}: no row is complete; of {} rows {}",
                self.file,
                self.total_rows,
                self.gaps_in_words()
            );
        }
        Ok(())
    }

    /// Leaves rows out in which something is missing.
    pub(super) fn drop_gaps(
        &mut self,
        missing: Option<Missing>,
        time: Option<&RequestedColumn>,
    ) -> anyhow::Result<()> {
        let mut keep: Vec<bool> = Vec::new(); // empty while nothing is missing
        if missing != Some(Missing::Error) {
            // A sigma of nothing has nothing to correct: members that agree, a process at its own points.
            let prior = self.asked.iter().zip(&mut self.numbers);
            for (_, numbers) in prior.filter(|(asked, _)| asked.role == Role::PriorSigma) {
                if let Numbers::Values(values) = numbers {
                    values.iter_mut().filter(|s| **s <= 0.0).for_each(|s| *s = f64::NAN);
                }
            }
        }
        let columns =
            self.asked.iter().zip(&self.numbers).filter_map(|(asked, numbers)| match numbers {
                Numbers::Values(values) => Some((asked, values)),
                Numbers::NotNumbers { .. } => None,
            });
        let columns = columns.filter(|(asked, _)| !asked.may_have_gaps);
        let times = time.zip(self.time.as_ref());
        for (asked, values) in columns.chain(times) {
            let Some(first) = values.iter().position(|value| value.is_nan()) else { continue };
            if missing == Some(Missing::Error) {
                bail!(
                    "{}, column \"{}\": the {} is missing; fill it in, or leave such rows out \
                     with --missing drop",
                    self.place(first),
                    asked.name,
                    asked.role.name()
                );
            }
            keep.resize(self.rows, true);
            let mut lost = 0;
            for (keep, _) in keep.iter_mut().zip(values).filter(|(_, value)| value.is_nan()) {
                lost += usize::from(std::mem::replace(keep, false));
            }
            if lost > 0 {
                self.left_out.push((self.called(asked), lost));
            }
        }
        if keep.is_empty() {
            return Ok(());
        }
        let rows = (self.before + 1..).zip(&keep).filter(|(_, keep)| **keep);
        let rows: Vec<u64> = rows.map(|(row, _)| row).collect();
        self.keep(&keep, rows);
        Ok(())
    }

    /// Keeps only some of the rows, for a reason that the caller gives.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let numbers = (0..self.rows).filter(|&row| keep[row]).map(|row| self.row_in_table(row));
        let numbers: Vec<u64> = numbers.collect();
        self.keep(keep, numbers);
    }

    /// Keeps some rows, which have these numbers in the file.
    fn keep(&mut self, keep: &[bool], rows: Vec<u64>) {
        for numbers in &mut self.numbers {
            if let Numbers::Values(values) = numbers {
                retain(values, keep);
            }
        }
        self.texts.iter_mut().for_each(|texts| retain(&mut texts.rows, keep));
        self.time.iter_mut().for_each(|time| retain(time, keep));
        self.rows = rows.len();
        self.numbers_of_rows = Some(rows);
    }

    /// A column by its role, or by its name where several have that role.
    pub(super) fn called(&self, asked: &RequestedColumn) -> String {
        if asked.role == Role::PriorSigma {
            return format!("prior sigma (\"{}\"; 0 counts as missing)", asked.name);
        }
        let same = self.asked.iter().filter(|other| other.role == asked.role).count();
        if same > 1 { format!("\"{}\"", asked.name) } else { asked.role.name().to_string() }
    }

    pub(super) fn check(&self) -> anyhow::Result<()> {
        for (asked, numbers) in self.asked.iter().zip(&self.numbers) {
            let Numbers::Values(values) = numbers else { continue };
            if asked.may_be_infinite {
                continue;
            }
            let role = asked.role;
            let wrong = |value: &f64| value.is_infinite() || role.refuses(*value).is_some();
            let Some(row) = values.iter().position(wrong) else { continue };
            let place = format!("{}, column \"{}\"", self.place(row), asked.name);
            match role.refuses(values[row]).filter(|_| values[row].is_finite()) {
                Some(must) => {
                    bail!("{place} is {}, but {} must be {must}", values[row], role.name())
                }
                None => bail!(
                    "{place} is infinite or too large for a number; correct it, or leave the field empty"
                ),
            }
        }
        let infinite = |time: &Vec<f64>| time.iter().position(|t| t.is_infinite());
        if let Some(row) = self.time.as_ref().and_then(infinite) {
            bail!(
                "{}: the time is infinite; correct it, or leave the field empty",
                self.place(row)
            );
        }
        Ok(())
    }

    /// Rows of the same time stay in the order of the file.
    pub(super) fn sort_by_time(&mut self) {
        let Some(time) = &self.time else { return };
        if time.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_by(|&a, &b| time[a].total_cmp(&time[b]));
        self.numbers_of_rows = Some(order.iter().map(|&row| self.row_in_table(row)).collect());
        for numbers in &mut self.numbers {
            if let Numbers::Values(values) = numbers {
                reorder(values, &order);
            }
        }
        self.texts.iter_mut().for_each(|texts| reorder(&mut texts.rows, &order));
        self.time.iter_mut().for_each(|time| reorder(time, &order));
    }
}

/// "b.csv, row 12", for a row of all files together, counted from 1.
fn place_in(files: &[FileRows], row: u64) -> String {
    let mut left = row;
    for (nth, FileRows { file, rows }) in files.iter().enumerate() {
        if left <= *rows as u64 || nth + 1 == files.len() {
            return format!("{file}, row {left}");
        }
        left -= *rows as u64;
    }
    format!("row {row}")
}

pub(crate) fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| keep.next().is_none_or(|keep| *keep));
    values.shrink_to_fit();
}

fn reorder<T: Copy>(values: &mut Vec<T>, order: &[usize]) {
    *values = order.iter().map(|&row| values[row]).collect();
}
