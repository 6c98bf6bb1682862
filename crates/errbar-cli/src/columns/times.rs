//! The column of times: numbers as they are, or dates as people write them.

use anyhow::bail;
use errbar_table::dates::{self, DateFormat, Dates, Layout, NotDates, Why};
use errbar_table::{Na, Texts};

use super::RequestedColumn;

/// The time of each row.
pub(super) struct Times {
    /// Numbers as they are in the file, or seconds since 1970; NaN where missing.
    pub(super) values: Vec<f64>,
    /// Whether they are seconds since 1970.
    pub(super) are_dates: bool,
    /// How they are written, where that is not ISO 8601: "31.01.2024: day.month.year".
    pub(super) written: Option<String>,
    /// Whether they have an offset from UTC, where that is known.
    pub(super) has_offset: Option<bool>,
}

/// The column of times that was asked for.
#[derive(Clone)]
pub(super) struct RequestedTimes {
    pub(super) column: RequestedColumn,
    pub(super) format: Option<DateFormat>,
}

/// The times of a file, or of some rows of it, as they stand there.
pub(super) enum RawTimes {
    Numbers(Vec<f64>),
    Texts {
        texts: Texts,
        /// The first that is no number, and its row, where numbers were looked for.
        not_number: Option<(String, u64)>,
    },
    /// Texts after numbers that were taken for such.
    Mixed,
}

/// In what way the times of a file are written, as far as its first rows tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    layout: Option<Layout>,
    are_dates: Option<bool>,
    pub(super) has_offset: Option<bool>,
}

/// The times of one file.
struct OfFile {
    values: Vec<f64>,
    /// Whether they are seconds since 1970; none where there are none.
    are_dates: Option<bool>,
    written: Option<String>,
    layout: Option<Layout>,
    has_offset: Option<bool>,
}

impl RequestedTimes {
    /// Whether texts must be read, whatever they look like: of 2004031 as a number no pattern is left.
    pub(super) fn must_be_text(&self) -> bool {
        self.format.as_ref().is_some_and(|format| format.per_second().is_none())
    }

    /// The times of some rows of a file, after so many, which are written in this way if one is known already. None where
    /// other rows must be seen to tell.
    pub(super) fn of_some(
        &self,
        file: &str,
        before: u64,
        raw: RawTimes,
        na: &Na,
        way: &mut Option<Way>,
    ) -> anyhow::Result<Option<(Vec<f64>, bool)>> {
        let found = match (raw, &way) {
            (RawTimes::Mixed, _) => return Ok(None),
            (RawTimes::Numbers(values), _) => self.of_numbers(values),
            (RawTimes::Texts { texts, not_number }, way) => {
                let texts = without_marks(texts, na);
                let known = way.as_ref().and_then(|way| way.layout);
                let format = known.and_then(|layout| layout.to_string().parse().ok());
                let asked =
                    Self { column: self.column.clone(), format: self.format.clone().or(format) };
                match asked.of_texts(&texts) {
                    Ok(found) => OfFile { layout: found.layout.or(known), ..found },
                    Err(NotDates { why: Why::TwoReadings { .. }, .. }) => return Ok(None),
                    Err(wrong) => {
                        return Err(self.refused(file, before, &texts, not_number, &wrong));
                    }
                }
            }
        };
        let are_dates = found.are_dates.or(way.as_ref().and_then(|way| way.are_dates));
        // What the first rows look like is not what later ones are.
        if way.as_ref().is_some_and(|way| way.are_dates.is_some() && way.are_dates != are_dates) {
            return Ok(None);
        }
        let has_offset = found.has_offset.or(way.as_ref().and_then(|way| way.has_offset));
        *way = Some(Way { layout: found.layout, are_dates, has_offset });
        Ok(Some((found.values, are_dates == Some(true))))
    }

    /// The times of files, each with its name: written alike within a file, or as the others are.
    pub(super) fn of_files(&self, files: Vec<(&str, RawTimes)>, na: &Na) -> anyhow::Result<Times> {
        let mut done: Vec<(&str, OfFile)> = Vec::new();
        let mut open = Vec::new();
        for (nth, (file, raw)) in files.into_iter().enumerate() {
            let found = match raw {
                RawTimes::Numbers(values) => self.of_numbers(values),
                RawTimes::Texts { texts, not_number } => {
                    let texts = without_marks(texts, na);
                    match self.of_texts(&texts) {
                        Ok(found) => found,
                        // Other files may tell what these cannot.
                        Err(wrong) => {
                            open.push((nth, texts, not_number, wrong));
                            OfFile::nothing()
                        }
                    }
                }
                RawTimes::Mixed => bail!("{file} has changed while it was read"),
            };
            done.push((file, found));
        }
        for (nth, texts, not_number, wrong) in open {
            let layouts = done.iter().filter_map(|(_, found)| found.layout);
            let found = match wrong.why {
                Why::TwoReadings { .. } => of_one(&texts, layouts),
                _ => None,
            };
            let Some((file, place)) = done.get_mut(nth) else { continue };
            *place = match found {
                Some(found) => found,
                None => return Err(self.refused(file, 0, &texts, not_number, &wrong)),
            };
        }
        check_alike(&done)?;
        let mut written: Vec<String> =
            done.iter().filter_map(|(_, found)| found.written.clone()).collect();
        let way = |written: &str| written.split_once(": ").map(|(_, way)| way.to_string());
        written.dedup_by_key(|written| way(written));
        let are_dates = done.iter().any(|(_, found)| found.are_dates == Some(true));
        // Of several ways none is that of the table.
        let all_so =
            done.iter().all(|(_, found)| found.written.is_some() || found.are_dates.is_none());
        let written = (written.len() == 1 && all_so).then(|| written.remove(0));
        let has_offset = done.iter().find_map(|(_, found)| found.has_offset);
        let mut files = done.into_iter().map(|(_, found)| found.values);
        let mut values = files.next().unwrap_or_default();
        files.for_each(|more| values.extend(more));
        Ok(Times { values, are_dates, written, has_offset })
    }

    /// Times of a column that holds numbers.
    fn of_numbers(&self, mut values: Vec<f64>) -> OfFile {
        let is_empty = values.iter().all(|value| value.is_nan());
        if let Some(per_second) = self.format.as_ref().and_then(DateFormat::per_second) {
            values.iter_mut().for_each(|value| *value /= per_second);
            return OfFile { values, are_dates: Some(true), ..OfFile::nothing() };
        }
        match dates::of_numbers(&values) {
            Some(dates) => {
                let written = Some(format!("{}: {}", dates.example, dates.layout));
                let (values, are_dates) = (dates.seconds, Some(true));
                OfFile { values, are_dates, written, ..OfFile::nothing() }
            }
            None => {
                let are_dates = (!is_empty).then_some(false);
                OfFile { values, are_dates, ..OfFile::nothing() }
            }
        }
    }

    /// Times of a column of text.
    fn of_texts(&self, texts: &Texts) -> Result<OfFile, NotDates> {
        let Some(format) = &self.format else {
            return Ok(OfFile::of(texts, &dates::read(&texts.values)?));
        };
        let seconds = dates::read_as(&texts.values, format)?;
        let values = of_rows(texts, &seconds);
        Ok(OfFile { values, are_dates: Some(true), ..OfFile::nothing() })
    }

    /// Why texts are no times, with the file and the row. `not_number` is what came of reading them as numbers, if that
    /// was tried.
    fn refused(
        &self,
        file: &str,
        before: u64,
        texts: &Texts,
        not_number: Option<(String, u64)>,
        wrong: &NotDates,
    ) -> anyhow::Error {
        let row_of = |place: usize| texts.rows.iter().position(|&at| at as usize == place);
        let mut row = before + row_of(wrong.place).map_or(1, |row| row as u64 + 1);
        let mut said = wrong.to_string();
        // Among numbers it is the text that is wrong.
        if let (Why::NoDate, Some((value, first))) = (&wrong.why, not_number)
            && wrong.text.parse::<f64>().is_ok()
        {
            (row, said) = (first, format!("\"{value}\" is no time"));
        }
        let name = &self.column.name;
        anyhow::anyhow!("{file}, row {row}, column \"{name}\": {said}{}", way_out(wrong))
    }
}

impl OfFile {
    fn nothing() -> Self {
        Self { values: vec![], are_dates: None, written: None, layout: None, has_offset: None }
    }

    fn of(texts: &Texts, dates: &Dates) -> Self {
        let is_plain = dates.layout == Layout::Iso;
        let is_empty = dates.example.is_empty();
        Self {
            values: of_rows(texts, &dates.seconds),
            are_dates: (!is_empty).then_some(true),
            written: (!is_plain).then(|| format!("{}: {}", dates.example, dates.layout)),
            layout: (!is_empty).then_some(dates.layout),
            has_offset: dates.has_offset,
        }
    }
}

/// Texts with nothing in the place of what marks a missing value.
fn without_marks(mut texts: Texts, na: &Na) -> Texts {
    for value in &mut texts.values {
        if errbar_table::is_missing(value) || na.is_mark(value) {
            value.clear();
        }
    }
    texts
}

/// Values by row; NaN where there is none.
fn of_rows(texts: &Texts, seconds: &[f64]) -> Vec<f64> {
    let values = texts.rows.iter().map(|&at| seconds.get(at as usize).copied());
    values.map(|time| time.unwrap_or(f64::NAN)).collect()
}

/// Texts that can be read in two ways, in the one of those that other files have.
fn of_one(texts: &Texts, layouts: impl Iterator<Item = Layout>) -> Option<OfFile> {
    for layout in layouts {
        let Ok(format) = layout.to_string().parse::<DateFormat>() else { continue };
        let Ok(seconds) = dates::read_as(&texts.values, &format) else { continue };
        let example = texts.values.iter().find(|value| !value.is_empty())?.clone();
        return Some(OfFile::of(texts, &Dates { seconds, layout, example, has_offset: None }));
    }
    None
}

/// Refuses times of files that cannot be put in one order.
fn check_alike(files: &[(&str, OfFile)]) -> anyhow::Result<()> {
    let of = |are_dates: bool| {
        files.iter().find(|(_, found)| found.are_dates == Some(are_dates)).map(|(file, _)| *file)
    };
    if let (Some(dates), Some(numbers)) = (of(true), of(false)) {
        bail!(
            "the times of {dates} are dates, and those of {numbers} are numbers: write all of them alike, or \
             say with --date-format how they are written"
        );
    }
    let with = |has: bool| {
        files.iter().find(|(_, found)| found.has_offset == Some(has)).map(|(file, _)| *file)
    };
    if let (Some(with), Some(without)) = (with(true), with(false)) {
        bail!(
            "the times of {with} have an offset from UTC, and those of {without} have none: give all of them \
             one, or none"
        );
    }
    Ok(())
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
