//! Columns of dates and times as people write them, as seconds since 1970.
//!
//! One [`Layout`] holds for a whole column: of those that there are, the ones under which every value
//! is a time. Where two remain that mean different moments, as all days up to the 12th do in
//! 03/04/2024, nobody but the user can tell, and [`read`] says so instead of guessing.
//!
//! How the *day* is written is the layout. The time of day follows it, or does not, row by row: exports
//! often leave out what is midnight, or seconds that are zero.

mod error;
mod format;
pub(crate) mod fuzzing;
mod layout;
mod scan;
#[cfg(test)]
mod tests;

use crate::words::shown;

pub use error::{NotDates, Why};
pub use format::{BadFormat, DateFormat};
pub use layout::Layout;

/// A column of times.
#[derive(Debug, Clone, PartialEq)]
pub struct Dates {
    /// Seconds since 1970 of each value, to within a microsecond; NaN where it is empty. Without an
    /// offset from UTC they are taken as they are.
    pub seconds: Vec<f64>,
    /// How the days are written.
    pub layout: Layout,
    /// The first value, shortened where it is long; empty where all are.
    pub example: String,
    /// Whether they have an offset from UTC; none of an empty column, and of numbers.
    pub has_offset: Option<bool>,
}

/// A moment, and whether the text has an offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    /// Since 1970.
    microseconds: i64,
    has_offset: bool,
}

impl Moment {
    fn seconds(self) -> f64 {
        self.microseconds as f64 * 1e-6
    }
}

/// Reads texts as times, all in the one layout that fits them; empty ones are missing.
///
/// # Errors
/// [`NotDates`]: the first text that is no time, or that can be read in two ways.
pub fn read(values: &[String]) -> Result<Dates, NotDates> {
    let Some(first) = values.iter().position(|value| !value.trim().is_empty()) else {
        let seconds = vec![f64::NAN; values.len()];
        let (layout, example) = (Layout::Iso, String::new());
        return Ok(Dates { seconds, layout, example, has_offset: None });
    };
    let fails = |place: usize, why| {
        let text = values.get(place).map_or("", |value| value.trim());
        Err(NotDates { place, text: shown(text.as_bytes()), why })
    };
    let begin = values[first].trim();
    let (mut found, mut furthest): (Vec<(Layout, Vec<f64>)>, _) = (Vec::new(), None);
    for layout in Layout::ALL.into_iter().filter(|layout| layout.moment(begin).is_some()) {
        match all_as(values, |text| layout.moment(text)) {
            Ok(seconds) => found.push((layout, seconds)),
            Err((place, offset)) => {
                let why = match offset {
                    Some(has) => Why::Offset { has },
                    None => Why::OtherLayout(layout),
                };
                if furthest.as_ref().is_none_or(|(before, _)| *before < place) {
                    furthest = Some((place, why));
                }
            }
        }
    }
    let mut found = found.into_iter();
    let Some((layout, seconds)) = found.next() else {
        return match furthest {
            Some((place, why)) => fails(place, why),
            None => fails(first, Why::NoDate),
        };
    };
    for (other, others) in found {
        let pairs = seconds.iter().zip(&others);
        if let Some(place) = pairs.into_iter().position(|(a, b)| a.to_bits() != b.to_bits()) {
            let written = [seconds[place], others[place]].map(iso);
            return fails(place, Why::TwoReadings { layouts: [layout, other], written });
        }
    }
    let has_offset = layout.moment(begin).map(|moment| moment.has_offset);
    Ok(Dates { seconds, layout, example: shown(begin.as_bytes()), has_offset })
}

/// Reads texts as times that are written as told; empty ones are missing.
///
/// # Errors
/// [`NotDates`]: the first text that is written otherwise.
pub fn read_as(values: &[String], format: &DateFormat) -> Result<Vec<f64>, NotDates> {
    all_as(values, |text| format.moment(text)).map_err(|(place, offset)| {
        let why = match offset {
            Some(has) => Why::Offset { has },
            None => Why::OtherFormat(format.clone()),
        };
        let text = values.get(place).map_or("", |value| value.trim());
        NotDates { place, text: shown(text.as_bytes()), why }
    })
}

/// Numbers that are all dates: 20040131, or 2004013118 with the hour. NaN where missing.
///
/// None where one of them is no such date, from the year 1800 to 2200: then they are numbers.
#[must_use]
pub fn of_numbers(values: &[f64]) -> Option<Dates> {
    let first = *values.iter().find(|value| !value.is_nan())?;
    for layout in [Layout::Digits, Layout::DigitsAndHour] {
        let moment = |value: &f64| match value.is_nan() {
            true => Some(f64::NAN),
            false => layout.of_number(*value).map(Moment::seconds),
        };
        if let Some(seconds) = values.iter().map(moment).collect() {
            let example = format!("{first:.0}");
            return Some(Dates { seconds, layout, example, has_offset: None });
        }
    }
    None
}

/// All values by one way to read them; otherwise the place of the first that is none, and, if it is a
/// time, whether it has an offset from UTC, which those before have not.
fn all_as(
    values: &[String],
    moment: impl Fn(&str) -> Option<Moment>,
) -> Result<Vec<f64>, (usize, Option<bool>)> {
    let mut with_offset = None;
    let mut seconds = Vec::with_capacity(values.len());
    for (place, value) in values.iter().enumerate() {
        let text = value.trim();
        if text.is_empty() {
            seconds.push(f64::NAN);
            continue;
        }
        let Some(moment) = moment(text) else { return Err((place, None)) };
        if *with_offset.get_or_insert(moment.has_offset) != moment.has_offset {
            return Err((place, Some(moment.has_offset)));
        }
        seconds.push(moment.seconds());
    }
    Ok(seconds)
}

/// A moment as everybody reads it alike; without its time of day where that is midnight.
fn iso(seconds: f64) -> String {
    let microseconds = (seconds * 1e6).round() as i128;
    let text = crate::parquet::calendar::timestamp(microseconds, 1_000_000);
    match text.strip_suffix("T00:00:00") {
        Some(day) => day.to_string(),
        None => text.replacen('T', " ", 1),
    }
}
