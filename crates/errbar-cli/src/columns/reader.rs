//! The columns of a request as they come from its files, one after the other.

use anyhow::bail;
use errbar::Monitor;
use errbar_table::{Joined, NumberColumn, Numbers, Odd, Reading, Tables, Texts};

use super::members::Making;
use super::times::{RawTimes, RequestedTimes};
use crate::console::Progress;
use crate::files::is_stdin;
use crate::stop;

/// Which columns to read.
pub(super) struct Wanted {
    /// Columns of numbers, each of them once, whatever it is used as.
    pub(super) numbers: Vec<NumberColumn>,
    /// Columns that are made of some of them, and come after them.
    pub(super) making: Option<Making>,
    pub(super) texts: Vec<usize>,
    pub(super) time: Option<WantedTime>,
}

/// The column of times.
pub(super) struct WantedTime {
    pub(super) column: usize,
    /// Its place among the numbers, unless it must be text.
    pub(super) number: Option<usize>,
}

/// Reads the columns of a request file by file.
pub(super) struct Reader {
    tables: Tables,
    wanted: Wanted,
    /// The next file to be opened.
    next: usize,
    current: Option<Current>,
}

/// A file that is being read.
struct Current {
    file: usize,
    /// Rows that were read.
    rows: u64,
    reading: Reading,
    time: TimeIs,
}

/// How the times of a file are read.
#[derive(Clone)]
enum TimeIs {
    /// Not at all.
    Nothing,
    Numbers,
    Texts {
        /// The first value that is no number, and its row, where numbers were looked for.
        not_number: Option<(String, u64)>,
    },
    /// As both: what cannot be read again.
    Both,
}

/// Some rows of a file.
pub(super) struct Part {
    pub(super) file: usize,
    /// Rows of the file before these.
    pub(super) before: u64,
    /// With the times as the last of the texts, where they are texts.
    pub(super) columns: errbar_table::Columns,
    time: TimeIs,
}

impl Reader {
    pub(super) fn new(tables: Tables, wanted: Wanted) -> Self {
        Self { tables, wanted, next: 0, current: None }
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Begins anew, where files can be read again.
    pub(super) fn restart(&mut self) {
        (self.next, self.current) = (0, None);
    }

    /// The next rows: of one file, as many as are wanted at least, or all that are left of it, which may be none.
    pub(super) fn next(&mut self, rows: u64, progress: &Progress) -> anyhow::Result<Option<Part>> {
        if self.current.is_none() {
            if self.next >= self.tables.len() {
                return Ok(None);
            }
            self.current = Some(self.open(self.next)?);
            self.next += 1;
        }
        let Some(current) = &mut self.current else { return Ok(None) };
        let ended = fill(&mut current.reading, rows, progress, current.file, self.tables.len())?;
        let mut columns = current.reading.take();
        self.wanted.making.iter().for_each(|making| making.add(&mut columns));
        let (file, before, time) = (current.file, current.rows, current.time.clone());
        current.rows += columns.rows as u64;
        if ended {
            self.current = None;
        }
        Ok(Some(Part { file, before, columns, time }))
    }

    /// The times of some rows, as they stand there.
    pub(super) fn times(&self, part: &mut Part) -> anyhow::Result<Option<RawTimes>> {
        let number = self.wanted.time.as_ref().and_then(|time| time.number);
        let found = number.and_then(|at| part.columns.numbers.get(at));
        Ok(match &part.time {
            TimeIs::Nothing => None,
            TimeIs::Numbers => Some(match found {
                Some(Numbers::Values(values)) => RawTimes::Numbers(values.clone()),
                // Some of them were taken as numbers already.
                _ => RawTimes::Mixed,
            }),
            TimeIs::Both if matches!(found, Some(Numbers::Values(_))) => match found {
                Some(Numbers::Values(values)) => Some(RawTimes::Numbers(values.clone())),
                _ => None,
            },
            TimeIs::Both | TimeIs::Texts { .. } => {
                let not_number = match (&part.time, found) {
                    (TimeIs::Texts { not_number }, _) => not_number.clone(),
                    (_, Some(Numbers::NotNumbers { value, row })) => Some((value.clone(), *row)),
                    _ => None,
                };
                match part.columns.texts.pop() {
                    Some(texts) => Some(RawTimes::Texts { texts, not_number }),
                    None => bail!(self.changed(part.file)),
                }
            }
        })
    }

    /// The same of a whole file, which is read again where its times turned out to be text.
    pub(super) fn times_of_file(
        &self,
        part: &mut Part,
        progress: &Progress,
    ) -> anyhow::Result<Option<RawTimes>> {
        let times = self.times(part)?;
        if !matches!(times, Some(RawTimes::Mixed)) {
            return Ok(times);
        }
        let number = self.wanted.time.as_ref().and_then(|time| time.number);
        let not_number = match number.and_then(|at| part.columns.numbers.get(at)) {
            Some(Numbers::NotNumbers { value, row }) => Some((value.clone(), *row)),
            _ => None,
        };
        let texts = self.times_as_text(part.file, part.columns.rows, progress)?;
        Ok(Some(RawTimes::Texts { texts, not_number }))
    }

    /// The times of a whole file as text.
    fn times_as_text(
        &self,
        file: usize,
        rows: usize,
        progress: &Progress,
    ) -> anyhow::Result<Texts> {
        let column =
            self.wanted.time.as_ref().and_then(|time| self.tables.place(file, time.column));
        let Some(column) = column else { bail!(self.changed(file)) };
        let mut reading = self.tables.again(file)?.reading(&[], &[column])?;
        fill(&mut reading, u64::MAX, progress, file, self.tables.len())?;
        match reading.take().texts.pop() {
            Some(texts) if texts.rows.len() == rows => Ok(texts),
            _ => bail!(self.changed(file)),
        }
    }

    fn changed(&self, file: usize) -> String {
        format!("{} has changed while it was read", self.tables.file(file))
    }

    fn open(&mut self, file: usize) -> anyhow::Result<Current> {
        let place = |tables: &Tables, column: usize| {
            let place = tables.place(file, column);
            place.ok_or_else(|| anyhow::anyhow!("{} lacks a column", tables.file(file)))
        };
        let mut numbers = Vec::with_capacity(self.wanted.numbers.len());
        for wanted in &self.wanted.numbers {
            numbers.push(NumberColumn { column: place(&self.tables, wanted.column)?, ..*wanted });
        }
        let mut texts = Vec::with_capacity(self.wanted.texts.len() + 1);
        for column in &self.wanted.texts {
            texts.push(place(&self.tables, *column)?);
        }
        let time = match &self.wanted.time {
            None => TimeIs::Nothing,
            Some(WantedTime { column, number }) => {
                let column = place(&self.tables, *column)?;
                let time = match number {
                    None => TimeIs::Texts { not_number: None },
                    // What cannot be read again.
                    Some(_) if is_stdin(self.tables.path(file)) => TimeIs::Both,
                    Some(_) => self.look_at_times(file, column)?,
                };
                if !matches!(time, TimeIs::Numbers) {
                    texts.push(column);
                }
                time
            }
        };
        let reading = self.tables.table(file)?.reading(&numbers, &texts)?;
        Ok(Current { file, rows: 0, reading, time })
    }

    /// Whether times are numbers or texts, by the first rows of the file.
    fn look_at_times(&self, file: usize, column: usize) -> anyhow::Result<TimeIs> {
        let wanted = NumberColumn { column, required: false };
        let mut reading = self.tables.again(file)?.reading(&[wanted], &[])?;
        // Of more rows than that it is told in the end.
        reading.fill(1, &mut |_| stop::asked())?;
        Ok(match reading.take().numbers.pop() {
            Some(Numbers::NotNumbers { value, row }) => {
                TimeIs::Texts { not_number: Some((value, row)) }
            }
            _ => TimeIs::Numbers,
        })
    }
}

/// Reads on in one of some files, and says whether it ended.
fn fill(
    reading: &mut Reading,
    rows: u64,
    progress: &Progress,
    file: usize,
    files: usize,
) -> anyhow::Result<bool> {
    let ended = reading.fill(rows, &mut |share: f64| {
        progress.progress((file as f64 + share) / files as f64);
        progress.should_stop()
    });
    stop::check()?;
    Ok(ended?)
}

impl WantedTime {
    /// The column of times, which is looked at as numbers at `number` unless texts must be read.
    pub(super) fn of(asked: &RequestedTimes, number: impl FnOnce() -> usize) -> Self {
        let column = asked.column.column;
        Self { column, number: (!asked.must_be_text()).then(number) }
    }
}

impl Part {
    /// Puts the parts of one file together.
    pub(super) fn joined(parts: Vec<Self>) -> anyhow::Result<Option<Self>> {
        let mut parts = parts.into_iter();
        let Some(mut first) = parts.next() else { return Ok(None) };
        if parts.len() == 0 {
            return Ok(Some(first));
        }
        let nothing =
            errbar_table::Columns { rows: 0, numbers: vec![], odd: vec![], texts: vec![] };
        let mut joined = Joined::default();
        let mut columns = std::mem::replace(&mut first.columns, nothing);
        loop {
            // Cells that hold no number are counted from the beginning of the file.
            let count = columns.odd.len();
            let odd = std::mem::replace(&mut columns.odd, vec![Odd::default(); count]);
            joined.add(columns)?;
            match parts.next() {
                Some(part) => columns = part.columns,
                None => {
                    let Some(mut all) = joined.into_columns() else { return Ok(None) };
                    all.odd = odd;
                    return Ok(Some(Self { columns: all, ..first }));
                }
            }
        }
    }
}
