//! The column of times: numbers as they are, or dates as people write them.

use errbar_table::dates::{self, DateFormat, Layout, NotDates, Why};
use errbar_table::{Na, Numbers, Texts};

use super::RequestedColumn;

/// The time of each row.
pub(super) struct Times {
    /// Numbers as they are in the file, or seconds since 1970; NaN where missing.
    pub(super) values: Vec<f64>,
    /// Whether they are seconds since 1970.
    pub(super) are_dates: bool,
    /// How they are written, where that is not ISO 8601: "31.01.2024: day.month.year".
    pub(super) written: Option<String>,
}

/// The column of times that was asked for.
pub(super) struct RequestedTimes {
    pub(super) column: RequestedColumn,
    pub(super) format: Option<DateFormat>,
}

impl RequestedTimes {
    /// Whether texts must be read, whatever they look like: of 2004031 as a number no pattern is left.
    pub(super) fn must_be_text(&self) -> bool {
        self.format.as_ref().is_some_and(|format| format.per_second().is_none())
    }

    /// Times of a column that holds numbers.
    pub(super) fn of_numbers(&self, values: &[f64]) -> Times {
        if let Some(per_second) = self.format.as_ref().and_then(DateFormat::per_second) {
            let values = values.iter().map(|value| value / per_second).collect();
            return Times { values, are_dates: true, written: None };
        }
        match dates::of_numbers(values) {
            Some(dates) => {
                let written = Some(format!("{}: {}", dates.example, dates.layout));
                Times { values: dates.seconds, are_dates: true, written }
            }
            None => Times { values: values.to_vec(), are_dates: false, written: None },
        }
    }

    /// Times of a column of text. `numbers` is what came of reading it as numbers, if that was tried.
    pub(super) fn of_texts(
        &self,
        mut texts: Texts,
        numbers: Option<&Numbers>,
        na: &Na,
        file: &str,
    ) -> anyhow::Result<Times> {
        for value in &mut texts.values {
            if errbar_table::is_missing(value) || na.is_mark(value) {
                value.clear();
            }
        }
        let read = match &self.format {
            Some(format) => dates::read_as(&texts.values, format).map(|seconds| (seconds, None)),
            None => dates::read(&texts.values).map(|dates| {
                let is_plain = dates.layout == Layout::Iso;
                let written = (!is_plain).then(|| format!("{}: {}", dates.example, dates.layout));
                (dates.seconds, written)
            }),
        };
        let (seconds, written) = read.map_err(|wrong| {
            let row_of = |place: usize| texts.rows.iter().position(|&at| at as usize == place);
            let mut row = row_of(wrong.place).map_or(1, |row| row as u64 + 1);
            let mut said = wrong.to_string();
            // Among numbers it is the text that is wrong.
            if let (Why::NoDate, Some(Numbers::NotNumbers { value, row: first })) =
                (&wrong.why, numbers)
                && wrong.text.parse::<f64>().is_ok()
            {
                (row, said) = (*first, format!("\"{value}\" is no time"));
            }
            let name = &self.column.name;
            anyhow::anyhow!("{file}, row {row}, column \"{name}\": {said}{}", way_out(&wrong))
        })?;
        let values = texts.rows.iter().map(|&at| seconds.get(at as usize).copied());
        let values = values.map(|time| time.unwrap_or(f64::NAN)).collect();
        Ok(Times { values, are_dates: true, written })
    }
}

/// What to do about a text that is no time, in terms of the program's options.
fn way_out(wrong: &NotDates) -> String {
    match &wrong.why {
        Why::NoDate => String::from(
            ": give numbers, or dates as in 2024-01-31, 2024-01-31T18:00Z, 31.01.2024 18:00, \
             01/31/2024 6:00 PM, 31 Jan 2024 or 20240131, or say with --date-format how they are \
             written",
        ),
        Why::OtherLayout(_) => String::from(
            ": write all of them alike, or say with --date-format how they are written",
        ),
        Why::OtherFormat(_) => String::from(" of --date-format"),
        Why::TwoReadings { layouts: [one, two], .. } => {
            let [one, two] = [one, two].map(|layout| crate::report::quoted(&layout.to_string()));
            format!(": say --date-format {one} or --date-format {two}")
        }
        _ => String::new(),
    }
}
