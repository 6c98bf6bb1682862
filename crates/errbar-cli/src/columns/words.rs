//! What is to be said of columns that were read: what was missing, what looks odd, what was refused.

use std::fmt::Write as _;

use errbar::words::significant;
use errbar_table::Numbers;

use super::{Columns, NumberId, Role};
use crate::fill_values::FillValues;
use crate::{advice, fill_values, stop};

impl Columns {
    /// What to do about the few cells of a column that was tried that are no numbers, where nearly all
    /// are.
    pub(crate) fn few_texts(&self, id: NumberId) -> Option<String> {
        self.not_numbers(id).and_then(|_| advice::few_marks(&self.odd[id.0]))
    }

    /// What was taken without being named, which rows were left out, and what was taken as missing.
    pub(crate) fn notes(&self) -> Vec<String> {
        let read = [self.left_out_in_words(), self.marks_in_words()];
        self.notes.iter().cloned().chain(read.into_iter().flatten()).collect()
    }

    /// "taken as missing: "--" (1 cell of "x"), "NA" (3 cells of "y")"; nothing when no mark was met.
    pub(crate) fn marks_in_words(&self) -> Option<String> {
        const NAMED: usize = 12;
        let mut all: Vec<String> = Vec::new();
        for (nth, (asked, odd)) in self.asked.iter().zip(&self.odd).enumerate() {
            // Of a column that is not used nobody needs to know.
            if matches!(self.numbers[nth], Numbers::NotNumbers { .. }) {
                continue;
            }
            for mark in odd.marks.iter().filter(|mark| mark.missing) {
                let cells = if mark.count == 1 { "cell" } else { "cells" };
                let one =
                    format!("\"{}\" ({} {cells} of \"{}\")", mark.text, mark.count, asked.name);
                // A column may have been asked for twice.
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
        let more = match all.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        all.truncate(NAMED);
        (!all.is_empty()).then(|| format!("taken as missing: {}{more}", all.join(", ")))
    }

    /// Looks for values that look like marks for missing ones now, as columns will be taken out.
    pub(crate) fn look_for_fill_values(&mut self) {
        let look = |numbers: &Numbers| {
            let mut seen = FillValues::default();
            if let Numbers::Values(values) = numbers {
                seen.look(values);
            }
            seen
        };
        self.fill = Some(self.numbers.iter().map(look).collect());
    }

    /// A warning for each column with values that look like marks for missing ones.
    pub(crate) fn fill_values_in_words(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for (nth, (asked, numbers)) in self.asked.iter().zip(&self.numbers).enumerate() {
            let Numbers::Values(values) = numbers else { continue };
            // Weights and columns that are only shown are no data.
            if asked.role == Role::Weight || asked.may_be_infinite || self.is_category(nth) {
                continue;
            }
            let found = match self.fill.as_ref().and_then(|fill| fill.get(nth)) {
                Some(seen) => seen.find(),
                None => fill_values::find(values),
            };
            if let Some(said) = fill_values::in_words(asked.role.name(), &asked.name, &found)
                && !all.contains(&said)
            {
                all.push(said);
            }
        }
        all
    }

    /// "12 of 1460 rows were left out: 10 have no observation, 2 no sigma"; nothing when none was.
    pub(crate) fn left_out_in_words(&self) -> Option<String> {
        let out: usize = self.left_out.iter().map(|(_, rows)| rows).sum();
        if out == 0 {
            return None;
        }
        let mut text = if out == 1 {
            format!("1 of {} rows was left out: ", self.total_rows)
        } else {
            format!("{out} of {} rows were left out: ", self.total_rows)
        };
        text.push_str(&self.gaps_in_words());
        Some(text)
    }

    /// What was missing, and in how many rows it was the first thing missing.
    pub(crate) fn left_out(&self) -> &[(String, usize)] {
        &self.left_out
    }

    pub(super) fn gaps_in_words(&self) -> String {
        const NAMED: usize = 5;
        let mut text = String::new();
        for (nth, (what, rows)) in self.left_out.iter().take(NAMED).enumerate() {
            let verb = match (nth, rows) {
                (0, 1) => "has ",
                (0, _) => "have ",
                _ => "",
            };
            let comma = if nth > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{rows} {verb}no {what}");
        }
        if self.left_out.len() > NAMED {
            let rows: usize = self.left_out[NAMED..].iter().map(|(_, rows)| rows).sum();
            let _ = write!(text, ", {rows} lack other columns");
        }
        text
    }

    /// A sentence for what the library refused, with the row's number in the file.
    pub(crate) fn refused(&self, error: errbar::Error) -> anyhow::Error {
        use errbar::Error;
        let place = |row: usize| self.place(row);
        match error {
            Error::Stopped => stop::Stopped.into(),
            Error::ErrorOverflow { index, observation, forecast } => anyhow::anyhow!(
                "{}: observation {observation:e} minus forecast {forecast:e} overflows; rescale the data",
                place(index)
            ),
            Error::NotFinite { what, index, value } => {
                anyhow::anyhow!("{}: {what} is {value}", place(index))
            }
            Error::NoPlaceOnScale { what, index, value, scale } => anyhow::anyhow!(
                "{}: the {what} is {value}, which has no place on the scale of --transform {scale}; leave \
                 the row out, or learn on another scale",
                place(index)
            ),
            Error::BeyondBound { index, value, bound } => anyhow::anyhow!(
                "{}: the observation is {value}, beyond the bound {bound}; give another --lower or \
                 --upper, or leave the row out",
                place(index)
            ),
            Error::SigmaNotPositive { index, value } => {
                anyhow::anyhow!("{}: sigma is {value}, but must be greater than 0", place(index))
            }
            Error::NegativeWeight { index, value } => {
                anyhow::anyhow!("{}: the weight is {value}, but must be 0 or more", place(index))
            }
            Error::InputNotFinite { row, value, .. } => {
                anyhow::anyhow!("{}: an input is {value}", place(row))
            }
            Error::IntervalTurned { index, low, high } => anyhow::anyhow!(
                "{}: the interval ends at {}, below where it begins, {}: swap its ends",
                place(index),
                significant(high, 6),
                significant(low, 6)
            ),
            other => anyhow::anyhow!("{}: {other}", self.file),
        }
    }
}
