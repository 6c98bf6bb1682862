//! What went by, for a word at the end.

use errbar::fit::Fitted;
use errbar::words::significant;
use errbar_table::{Batch, Odd};

use super::Arguments;
use super::columns::Columns;
use super::error_bars::ErrorBars;
use super::outputs;
use super::promise::Promise;
use crate::console::Console;
use crate::fill_values;
use crate::output::percent;

/// Counts of rows, and the range of sigma.
#[derive(Default)]
pub(super) struct Tally {
    rows: u64,
    without: u64,
    outside: u64,
    /// For each input the rows that it takes outside.
    outside_by: Vec<u64>,
    strangers: u64,
    /// For each level the rows that are promised it with others, and those that are not at all.
    together: Vec<u64>,
    nothing: Vec<u64>,
    /// For each level the rows whose guaranteed interval is unbounded.
    unbounded: Vec<u64>,
    smallest: Option<f64>,
    largest: f64,
    /// What stood for missing values, by column.
    marks: Vec<Odd>,
    /// Inputs that look like marks for missing values, by column.
    fill: Vec<Vec<(f64, usize)>>,
}

impl Tally {
    /// Counts what is no number, and what looks like a mark for a missing value: far outside of the range
    /// that the model knows.
    pub(super) fn look(&mut self, batch: &Batch, fitted: &Fitted) {
        const MOST: usize = 8;
        let inputs = fitted.table_names().len();
        self.marks.resize_with(inputs, Odd::default);
        self.fill.resize_with(inputs, Vec::new);
        for (seen, odd) in self.marks.iter_mut().zip(&batch.odd) {
            seen.append(odd.clone());
        }
        for (c, (seen, column)) in self.fill.iter_mut().zip(&batch.numbers).enumerate() {
            let Some((low, high)) = fitted.range(c).filter(|_| fitted.category(c).is_none()) else {
                continue;
            };
            for &value in column.iter().filter(|&&v| fill_values::is_far(v, 2, low, high)) {
                let is_new = !seen.iter().any(|(known, _)| *known == value);
                if is_new && seen.len() < MOST && fill_values::is_usual(value) {
                    seen.push((value, 0));
                }
                seen.iter_mut().filter(|(known, _)| *known == value).for_each(|(_, n)| *n += 1);
            }
        }
    }

    pub(super) fn count(&mut self, rows: &ErrorBars, promise: &Promise, columns: &Columns) {
        self.rows += rows.sigma.len() as u64;
        let unbounded = columns.unbounded(&rows.numbers);
        self.unbounded.resize(unbounded.len(), 0);
        self.unbounded.iter_mut().zip(unbounded).for_each(|(sum, more)| *sum += more);
        self.strangers += rows.strangers;
        for (level, by) in rows.by.iter().enumerate() {
            self.together.resize(rows.by.len(), 0);
            self.nothing.resize(rows.by.len(), 0);
            let together = by.iter().filter(|by| **by == Some(promise.together())).count();
            self.together[level] += together as u64;
            self.nothing[level] += rows.whole - by.iter().flatten().count() as u64 - rows.strangers;
        }
        self.outside += rows.outside.iter().filter(|o| **o == Some(true)).count() as u64;
        for &input in rows.outside_input.iter().flatten() {
            let input = input as usize;
            self.outside_by.resize(self.outside_by.len().max(input + 1), 0);
            self.outside_by[input] += 1;
        }
        for &sigma in rows.sigma.iter() {
            if sigma.is_nan() {
                self.without += 1;
            } else {
                self.smallest = Some(self.smallest.map_or(sigma, |s| s.min(sigma)));
                self.largest = self.largest.max(sigma);
            }
        }
    }

    pub(super) fn say(
        &self,
        console: Console,
        file: &str,
        names: &[String],
        arguments: &Arguments,
    ) {
        let rows = |n: u64| format!("{n} {}", if n == 1 { "row" } else { "rows" });
        let mut text = format!("{file}: {}", rows(self.rows));
        if let Some(smallest) = self.smallest {
            text += &format!(
                "; sigma from {} to {}",
                significant(smallest, 4),
                significant(self.largest, 4)
            );
        }
        match arguments.output.as_os_str() == "-" {
            true => {}
            false if outputs::is_folder(&arguments.output) => {
                text += &format!("; wrote them to files in {}", arguments.output.display());
            }
            false => text += &format!("; wrote {}", arguments.output.display()),
        }
        console.note(&text);
        if self.without > 0 {
            console.warn(&format!(
                "{} of {} without sigma: an input is missing or infinite",
                rows(self.without),
                self.rows
            ));
        }
        if self.strangers > 0 {
            console.warn(&format!(
                "{} of {} belong to no group that the guarantee knows: they are promised nothing, and \
                 their guaranteed intervals are empty",
                rows(self.strangers),
                self.rows
            ));
        }
        for (level, (&together, &nothing)) in
            arguments.guarantee.iter().zip(self.together.iter().zip(&self.nothing))
        {
            if together > 0 {
                console.note(&format!(
                    "{} of {} belong to groups with too few errors to be promised {level} on their own: \
                     they are promised it together (column {}guaranteed_by_{})",
                    rows(together),
                    self.rows,
                    arguments.prefix,
                    percent(*level)
                ));
            }
            if nothing > 0 {
                console.warn(&format!(
                    "{} of {} belong to groups with too few errors to be promised {level} even together: \
                     their guaranteed intervals are empty",
                    rows(nothing),
                    self.rows
                ));
            }
        }
        for (level, &unbounded) in arguments.guarantee.iter().zip(&self.unbounded) {
            if unbounded > 0 {
                console.warn(&format!(
                    "{} of {}: the guaranteed interval at {level} is unbounded (inf and -inf in its columns), since errors \
                     have been larger of late than those it is read off can tell; a new fit with recent rows bounds it",
                    rows(unbounded),
                    self.rows
                ));
            }
        }
        if self.outside > 0 {
            let mut by: Vec<(u64, &String)> = self.outside_by.iter().copied().zip(names).collect();
            by.retain(|(count, _)| *count > 0);
            by.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            let by: Vec<String> =
                by.iter().take(3).map(|(count, name)| format!("{count} by \"{name}\"")).collect();
            console.warn(&format!(
                "{} of {} where there were hardly any training rows ({}): there sigma deserves less \
                 trust (columns {prefix}support and {prefix}outside)",
                rows(self.outside),
                self.rows,
                by.join(", "),
                prefix = arguments.prefix
            ));
        }
    }
}

impl Tally {
    pub(super) fn say_missing(&self, console: Console, fitted: &Fitted) {
        let marks = fitted.table_names().iter().zip(&self.marks).flat_map(|(name, odd)| {
            odd.marks.iter().map(move |mark| {
                let cells = if mark.count == 1 { "cell" } else { "cells" };
                format!("\"{}\" ({} {cells} of \"{name}\")", mark.text, mark.count)
            })
        });
        let marks: Vec<String> = marks.collect();
        if !marks.is_empty() {
            console.note(&format!("taken as missing: {}", marks.join(", ")));
        }
        for (c, (name, found)) in fitted.table_names().iter().zip(&self.fill).enumerate() {
            let Some((low, high)) = fitted.range(c) else { continue };
            let far =
                |&&(value, count): &&(f64, usize)| fill_values::is_far(value, count, low, high);
            let found: Vec<(f64, usize)> = found.iter().filter(far).copied().collect();
            if let Some(said) = fill_values::in_words("input", name, &found) {
                console.warn(&said);
            }
        }
    }
}
