//! Columns whose values are categories: read as text, and then places among levels.

use std::collections::HashSet;

use errbar::categories::{Codes, coded};
use errbar::fit::Fitted;
use errbar_table::{Cause, Na, NotNumber, NumberColumn, Numbers, Odd, Texts, dates};

use super::{Columns, NumberId, Request, Role, TextId};
use crate::files::is_stdin;
use crate::stop;

/// A column that is a category, or may be one.
#[derive(Debug, Clone)]
pub(super) struct WantedCategory {
    id: NumberId,
    text: TextId,
    /// Levels that are known already.
    levels: Option<Vec<String>>,
    /// Whether it is one only if it holds no numbers, and nothing that is written otherwise.
    if_text: bool,
}

impl Request {
    /// A column of categories, whose numbers are their places among levels: those that are given, or those that come. What is
    /// missing is a gap.
    pub(crate) fn category(
        &mut self,
        role: Role,
        name: &str,
        levels: Option<&[String]>,
    ) -> anyhow::Result<NumberId> {
        let id = self.ask(role, name, false)?;
        self.or_category(id, name)?;
        if let Some(own) = self.categories.last_mut() {
            (own.levels, own.if_text) = (levels.map(<[String]>::to_vec), false);
        }
        Ok(id)
    }

    /// An input that a model takes from the table, by its place among those.
    pub(crate) fn input(&mut self, fitted: &Fitted, column: usize) -> anyhow::Result<NumberId> {
        let name = &fitted.table_names()[column];
        match fitted.category(column) {
            Some(levels) => self.category(Role::Input, name, Some(levels.names())),
            None => self.number(Role::Input, name),
        }
    }

    /// Takes a column that was asked for as one of categories if it holds text.
    pub(crate) fn or_category(&mut self, id: NumberId, name: &str) -> anyhow::Result<()> {
        let text = self.text(name)?;
        self.categories.push(WantedCategory { id, text, levels: None, if_text: true });
        Ok(())
    }

    /// Whether some columns may be categories.
    pub(crate) fn has_categories(&self) -> bool {
        !self.categories.is_empty()
    }

    /// Those of some columns that begin with texts which may be categories; of what cannot be read twice, all of them.
    pub(crate) fn begin_with_text(&self, names: &[String]) -> anyhow::Result<HashSet<String>> {
        // What is made of others is no text.
        let there = |name: &&String| self.tables.header().contains(name);
        let names: Vec<&String> = names.iter().filter(there).collect();
        if (0..self.tables.len()).any(|file| is_stdin(self.tables.path(file))) {
            return Ok(names.into_iter().cloned().collect());
        }
        let mut wanted: Vec<NumberColumn> = Vec::new();
        for name in &names {
            let column = self.tables.column(name)?;
            let Some(column) = self.tables.place(0, column) else { continue };
            wanted.push(NumberColumn { column, required: false });
        }
        let mut reading = self.tables.again(0)?.reading(&wanted, &[])?;
        reading.fill(1, &mut |_| stop::asked())?;
        let found = reading.take().numbers;
        let is_text = |numbers: &Numbers| matches!(numbers, Numbers::NotNumbers { .. });
        let text =
            names.into_iter().zip(wanted).zip(&found).filter(|(_, numbers)| is_text(numbers));
        // Lists and structures are neither numbers nor text.
        let mut readable: Vec<(&String, usize)> = Vec::new();
        for ((name, wanted), _) in text {
            if self.tables.again(0)?.reading(&[], &[wanted.column]).is_ok() {
                readable.push((name, wanted.column));
            }
        }
        let (names, columns): (Vec<&String>, Vec<usize>) = readable.into_iter().unzip();
        if columns.is_empty() {
            return Ok(HashSet::new());
        }
        let mut reading = self.tables.again(0)?.reading(&[], &columns)?;
        reading.fill(1, &mut |_| stop::asked())?;
        let seen = reading.take();
        // Of many rows nobody need read the names of all.
        let are_names = |own: &Texts| seen.rows > MANY_ROWS && 2 * own.values.len() > seen.rows;
        let may_be = |own: &&(&String, &Texts)| are_categories(&own.1.values) && !are_names(own.1);
        let found = names.into_iter().zip(&seen.texts).collect::<Vec<_>>();
        Ok(found.iter().filter(may_be).map(|(name, _)| (*name).clone()).collect())
    }
}

impl Columns {
    /// The levels of a column of categories.
    pub(crate) fn levels(&self, id: NumberId) -> Option<&[String]> {
        self.levels.iter().find(|(own, _)| *own == id).map(|(_, levels)| &levels[..])
    }

    /// Whether a column of numbers, by its place, is one of categories.
    pub(super) fn is_category(&self, nth: usize) -> bool {
        self.levels.iter().any(|(own, _)| own.0 == nth)
    }

    /// Puts places among levels for texts.
    pub(super) fn code_categories(&mut self, wanted: &[WantedCategory], na: &Na) {
        for WantedCategory { id, text, levels, if_text } in wanted {
            let texts = &self.texts[text.0];
            let values = texts.values.iter().map(|v| if na.is_mark(v) { "" } else { v.as_str() });
            if *if_text && !(self.not_numbers(*id).is_some() && self.is_text(*id, &texts.values)) {
                continue;
            }
            let (levels, codes) = match levels {
                Some(levels) => {
                    let codes = Codes::of(levels);
                    (levels.clone(), values.map(|value| codes.code(value)).collect())
                }
                None => coded(values),
            };
            let numbers = texts.rows.iter().map(|&row| codes[row as usize]).collect();
            self.numbers[id.0] = Numbers::Values(numbers);
            if let Some(odd) = self.odd.get_mut(id.0) {
                *odd = Odd::default();
            }
            self.levels.push((*id, levels));
        }
    }

    /// Whether a column that holds no numbers holds categories: no dates, and no numbers among which a few texts are, or which
    /// are written in another way.
    fn is_text(&self, id: NumberId, values: &[String]) -> bool {
        let few = !self.odd.is_empty() && self.few_texts(id).is_some();
        !few && are_categories(values)
    }

    /// That a column which was named as an input holds no numbers, and no categories.
    pub(crate) fn refuse_text(
        &self,
        id: NumberId,
        name: &str,
        decimal_comma: bool,
    ) -> anyhow::Error {
        let (text, row) = self.not_numbers(id).unwrap_or(("", 1));
        let cause = match text {
            text if dates::read(&[text.to_string()]).is_ok() => Some(Cause::Date),
            text if decimal_comma && text.contains('.') => Some(Cause::Point),
            text if is_nearly_a_number(text) && text.contains(',') => Some(Cause::Comma),
            _ => None,
        };
        let odd = self.odd.get(id.0).cloned().unwrap_or_default();
        let (file, column) = (self.file.clone(), name.to_string());
        let wrong = NotNumber { file, row, column, text: text.into(), cause, odd };
        errbar_table::Error::NotNumber(Box::new(wrong)).into()
    }
}

/// From so many rows on, texts that hardly ever come again are not read.
const MANY_ROWS: usize = 10_000;

/// Whether texts are no dates, and no numbers that are written in another way.
fn are_categories(values: &[String]) -> bool {
    let some: Vec<String> = values.iter().filter(|v| !v.trim().is_empty()).cloned().collect();
    let numbers = some.iter().filter(|value| is_nearly_a_number(value)).count();
    !some.is_empty() && 2 * numbers <= some.len() && dates::read(&some).is_err()
}

/// Whether a text would be a number without the marks that people put into numbers.
fn is_nearly_a_number(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| !"'_ %".contains(*c)).collect();
    plain.replace(',', ".").parse::<f64>().is_ok_and(f64::is_finite)
        || plain.replace(',', "").parse::<f64>().is_ok_and(f64::is_finite)
}
