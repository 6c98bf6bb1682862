//! Chosen columns of Parquet files, read whole or some rows at a time. Row groups and columns are decoded
//! side by side.

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use rayon::prelude::*;

use super::file::{Parquet, guard};
use super::leaf::Leaf;
use super::read::{ROWS, too_few};
use super::values::Meaning;
use crate::dictionary::{All, Few};
use crate::{Columns, Error, Na, NumberColumn, Numbers, Odd};

impl Parquet {
    pub(crate) fn reading(
        self,
        numbers: &[NumberColumn],
        texts: &[usize],
        na: &Na,
    ) -> crate::Result<ParquetReading> {
        let mut columns = vec![];
        for number in numbers {
            columns.push(match self.numbers_of(number)? {
                Ok(place) => NumberPart::Stored { place, values: vec![] },
                Err(instead) => NumberPart::Known(instead),
            });
        }
        let mut parts = vec![];
        for &column in texts {
            let place = self.places.get(column).copied().flatten();
            let place = place.ok_or_else(|| self.nested(column))?;
            self.check_packing(place.0)?;
            parts.push((place, All::new()));
        }
        Ok(ParquetReading {
            table: self,
            numbers: columns,
            odd: numbers.iter().map(|_| Odd::default()).collect(),
            texts: parts,
            group: 0,
            rows: 0,
            taken: 0,
            open: None,
            na: na.clone(),
        })
    }
}

/// A Parquet file of which chosen columns are read, some rows at a time or all at once.
pub(crate) struct ParquetReading {
    table: Parquet,
    numbers: Vec<NumberPart>,
    /// Of each of them, the cells that stand for no number, so far.
    odd: Vec<Odd>,
    texts: Vec<((usize, Meaning), All)>,
    /// The next row group.
    group: usize,
    /// Rows read, and those of them that were taken.
    rows: usize,
    taken: usize,
    /// A row group of which some rows were read.
    open: Option<OpenGroup>,
    na: Na,
}

/// A column of numbers.
enum NumberPart {
    Stored {
        place: (usize, Meaning),
        /// Of the rows not taken yet; more where there is room for later ones.
        values: Vec<f64>,
    },
    /// One whose values are no numbers, or of which all are missing.
    Known(Numbers),
}

/// A row group that is read in parts.
struct OpenGroup {
    numbers: Vec<Open>,
    texts: Vec<Open>,
    left: usize,
}

/// A column of it.
struct Open {
    reader: ColumnReader,
    part: Leaf,
}

/// Rows of a larger row group that are read at once where not all are wanted.
const STEP: usize = 1 << 17;

impl ParquetReading {
    /// See [`crate::Reading::fill`].
    pub(crate) fn fill(
        &mut self,
        wanted: u64,
        done: &mut dyn FnMut(f64) -> bool,
    ) -> crate::Result<bool> {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        while self.rows - self.taken < wanted {
            if self.open.is_none() && self.group >= self.table.groups() {
                return Ok(true);
            }
            let missing = wanted - (self.rows - self.taken);
            let groups = self.whole_groups(missing);
            match self.open.is_none() && !groups.is_empty() {
                true => self.read_groups(&groups, missing)?,
                false => self.read_some(missing)?,
            }
            let share = self.rows as f64 / (self.table.all_rows() as f64).max(1.0);
            if done(share) {
                return Err(Error::Stopped);
            }
        }
        Ok(self.open.is_none() && self.group >= self.table.groups())
    }

    /// The next row groups that are wanted whole, several so that there is work for all threads.
    fn whole_groups(&self, wanted: usize) -> Vec<usize> {
        let columns = self.texts.len() + self.stored();
        let at_once = (4 * rayon::current_num_threads()).div_ceil(columns.max(1));
        let mut rows = 0;
        let fits = |group: &usize| {
            rows += self.table.rows(*group);
            rows <= wanted.max(STEP)
        };
        (self.group..self.table.groups()).take(at_once).take_while(fits).collect()
    }

    /// How many columns of numbers are to be decoded.
    fn stored(&self) -> usize {
        self.numbers.iter().filter(|part| matches!(part, NumberPart::Stored { .. })).count()
    }

    /// Makes room for further rows, and right away for as many as are wanted.
    fn room(&mut self, rows: usize, wanted: usize) -> crate::Result<()> {
        let here = self.rows - self.taken;
        let left = (self.table.all_rows() as usize).saturating_sub(self.rows);
        for part in &mut self.numbers {
            let NumberPart::Stored { values, .. } = part else { continue };
            if values.is_empty() {
                let room = wanted.min(left).max(rows);
                // A damaged file may claim more rows than there is memory.
                if Vec::<f64>::new().try_reserve_exact(room).is_err() {
                    return Err(self.table.too_many_rows(room));
                }
                // Memory that is zero from the start costs nothing until it is used.
                *values = vec![0.0; room];
            } else if values.len() < here + rows {
                values.resize(here + rows, 0.0);
            }
        }
        Ok(())
    }

    /// Decodes row groups, columns and groups side by side.
    fn read_groups(&mut self, groups: &[usize], wanted: usize) -> crate::Result<()> {
        let rows: usize = groups.iter().map(|group| self.table.rows(*group)).sum();
        let here = self.rows - self.taken;
        self.room(rows, wanted)?;
        let table = &self.table;
        let mut number_tasks = vec![];
        for part in &mut self.numbers {
            let NumberPart::Stored { place, values } = part else { continue };
            let mut rest = values.get_mut(here..).unwrap_or_default();
            for group in groups {
                let all = std::mem::take(&mut rest);
                let (here, later) = all.split_at_mut(table.rows(*group).min(all.len()));
                rest = later;
                number_tasks.push((*group, *place, here));
            }
        }
        let mut text_tasks = vec![];
        for (place, _) in &self.texts {
            text_tasks.extend(groups.iter().map(|group| (*group, *place)));
        }
        let (filled, found) = rayon::join(
            || {
                number_tasks.into_par_iter().try_for_each(|(group, place, numbers)| {
                    guard(|| table.fill(group, place, numbers))
                })
            },
            || {
                let texts = |(group, place)| guard(|| table.texts(group, place));
                text_tasks.into_par_iter().map(texts).collect::<Result<Vec<_>, _>>()
            },
        );
        filled.map_err(|error| table.failed(&error))?;
        let mut found = found.map_err(|error| table.failed(&error))?.into_iter();
        for (_, all) in &mut self.texts {
            for few in found.by_ref().take(groups.len()) {
                few.append_to(all, |text| text.into())?;
            }
        }
        self.rows += rows;
        self.group += groups.len();
        Ok(())
    }

    /// Decodes some rows of a row group, columns side by side.
    fn read_some(&mut self, wanted: usize) -> crate::Result<()> {
        if self.open.is_none() {
            let opened = self.open_group();
            self.open = Some(opened.map_err(|error| self.table.failed(&error))?);
            self.group += 1;
        }
        let left = self.open.as_ref().map_or(0, |open| open.left);
        let (rows, here) = (left.min(wanted.max(STEP)), self.rows - self.taken);
        self.room(rows, wanted)?;
        let (Some(open), table) = (&mut self.open, &self.table) else { return Ok(()) };
        let mut number_tasks = vec![];
        let stored = self.numbers.iter_mut().filter_map(|part| match part {
            NumberPart::Stored { place, values } => Some((place.1, values)),
            NumberPart::Known(_) => None,
        });
        for ((meaning, values), open) in stored.zip(&mut open.numbers) {
            let values = values.get_mut(here..here + rows).unwrap_or_default();
            number_tasks.push((open, meaning, values));
        }
        let text_tasks: Vec<_> = self.texts.iter().zip(&mut open.texts).collect();
        let (filled, found) = rayon::join(
            || {
                number_tasks
                    .into_par_iter()
                    .try_for_each(|(open, meaning, values)| guard(|| open.numbers(meaning, values)))
            },
            || {
                let texts = |((place, _), open): (&((usize, Meaning), All), &mut Open)| {
                    guard(|| open.texts(place.1, rows))
                };
                text_tasks.into_par_iter().map(texts).collect::<Result<Vec<_>, _>>()
            },
        );
        filled.map_err(|error| table.failed(&error))?;
        let found = found.map_err(|error| table.failed(&error))?;
        for ((_, all), few) in self.texts.iter_mut().zip(found) {
            few.append_to(all, |text| text.into())?;
        }
        self.rows += rows;
        open.left -= rows;
        if open.left == 0 {
            self.open = None;
        }
        Ok(())
    }

    /// Opens the wanted columns of the next row group.
    fn open_group(&self) -> Result<OpenGroup, ParquetError> {
        let (table, group) = (&self.table, self.group);
        let open = |leaf: usize| -> Result<Open, ParquetError> {
            let column = table.leaves().get(leaf).ok_or_else(too_few)?;
            let reader = guard(|| table.reader(group, leaf))?;
            Ok(Open { reader, part: Leaf::new(column) })
        };
        let mut numbers = vec![];
        for part in &self.numbers {
            if let NumberPart::Stored { place: (leaf, _), .. } = part {
                numbers.push(open(*leaf)?);
            }
        }
        let texts = self
            .texts
            .iter()
            .map(|((leaf, _), _)| open(*leaf))
            .collect::<Result<_, ParquetError>>()?;
        Ok(OpenGroup { numbers, texts, left: table.rows(group) })
    }

    /// See [`crate::Reading::take`].
    pub(crate) fn take(&mut self) -> Columns {
        let rows = self.rows - self.taken;
        let numbers = self.numbers.iter_mut().zip(&mut self.odd).map(|(part, odd)| match part {
            NumberPart::Stored { values, .. } => {
                let mut values = std::mem::take(values);
                values.truncate(rows);
                self.na.take_out(&mut values, self.taken as u64, odd);
                Numbers::Values(values)
            }
            NumberPart::Known(Numbers::Values(_)) => Numbers::Values(vec![f64::NAN; rows]),
            NumberPart::Known(Numbers::NotNumbers { value, row }) => {
                Numbers::NotNumbers { value: value.clone(), row: *row }
            }
        });
        let numbers = numbers.collect();
        let texts = self.texts.iter_mut();
        let texts = texts.map(|(_, all)| std::mem::replace(all, All::new()).texts).collect();
        self.taken = self.rows;
        Columns { rows, numbers, odd: self.odd.clone(), texts }
    }
}

impl Open {
    /// Decodes numbers.
    fn numbers(&mut self, meaning: Meaning, mut rest: &mut [f64]) -> Result<(), ParquetError> {
        while !rest.is_empty() {
            self.part.clear();
            let read = self.part.read(&mut self.reader, rest.len().min(ROWS))?;
            let all = std::mem::take(&mut rest);
            let (here, later) = all.split_at_mut(read.min(all.len()));
            if read == 0 || !self.part.numbers(meaning, here) {
                return Err(too_few());
            }
            rest = later;
        }
        Ok(())
    }

    /// Decodes texts.
    fn texts(&mut self, meaning: Meaning, rows: usize) -> Result<Few<'static, str>, ParquetError> {
        let (mut texts, mut left) = (Few::new(), rows);
        while left > 0 {
            self.part.clear();
            let read = self.part.read(&mut self.reader, left.min(ROWS))?;
            if read == 0 {
                return Err(too_few());
            }
            self.part.texts(meaning, &mut texts);
            left = left.saturating_sub(read);
        }
        Ok(texts)
    }
}
