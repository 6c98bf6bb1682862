//! The numbers behind a figure.

use errbar::words::significant;

use crate::calendar;

/// A table. Columns of words are those whose first cell is text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What the columns are called.
    pub heads: Vec<String>,
    /// Row by row.
    pub rows: Vec<Vec<Cell>>,
}

/// One value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, shown with four digits.
    Number(f64),
    /// A share, shown as a percentage.
    Share(f64),
    /// A count.
    Count(usize),
    /// Seconds since 1970.
    Time(f64),
}

impl Cell {
    /// As people read it; nothing for a number that is none.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value) | Self::Share(value) if value.is_nan() => String::new(),
            Self::Number(value) => significant(*value, 4),
            Self::Share(value) => percent(*value),
            Self::Count(count) => count.to_string(),
            Self::Time(seconds) => calendar::moment(*seconds),
        }
    }

    /// With every digit, for machines.
    fn written(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(value) | Self::Share(value) if value.is_nan() => String::new(),
            Self::Number(value) | Self::Share(value) => format!("{value}"),
            Self::Count(count) => count.to_string(),
            Self::Time(seconds) => calendar::moment(*seconds),
        }
    }
}

impl Table {
    /// A table with these heads and no rows.
    #[must_use]
    pub fn new(heads: &[&str]) -> Self {
        Self { heads: heads.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Whether a column holds words.
    pub(crate) fn is_words(&self, column: usize) -> bool {
        let first = self.rows.first().and_then(|row| row.get(column));
        matches!(first, Some(Cell::Text(_)))
    }

    /// The table as CSV, with every digit; shares as fractions.
    #[must_use]
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let heads = line(self.heads.iter().map(|head| quoted(head)).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(Cell::written).collect()));
        std::iter::once(heads).chain(rows).collect()
    }
}

/// A share as a percentage, with one decimal; -0.0% is 0.0%.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.1}%", 100.0 * share);
    if text == "-0.0%" { String::from("0.0%") } else { text }
}

fn quoted(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_machines_read_different_digits() {
        let mut table = Table::new(&["name", "value, squared", "share", "n"]);
        let row = |text: &str, value: f64| {
            vec![
                Cell::Text(text.into()),
                Cell::Number(value),
                Cell::Share(0.905_17),
                Cell::Count(3),
            ]
        };
        table.rows = vec![row("a \"b\"", 1.0 / 3.0), row("", f64::NAN)];
        assert_eq!(
            table.csv(),
            "name,\"value, squared\",share,n\n\"a \"\"b\"\"\",0.3333333333333333,0.90517,3\n,,0.90517,3\n"
        );
        let shown: Vec<String> = table.rows[0].iter().map(Cell::shown).collect();
        assert_eq!(shown, ["a \"b\"", "0.3333", "90.5%", "3"]);
    }
}
