//! The cells of a sheet that hold something, as the text of a CSV with tabs.

use std::io::Write;

use calamine::{Data, ExcelDateTime, Range};

use crate::csv::write::push_text;

/// Cells of a CSV that a sheet may become, if nearly all of them are empty.
const MOST_EMPTY: u64 = 1 << 24;

/// The cells of a sheet that hold something.
pub(super) struct Grid {
    cells: Vec<Cell>,
    /// What the cells say, one behind the other.
    text: Vec<u8>,
    decimal_comma: bool,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    row: u32,
    column: u32,
    start: usize,
    end: usize,
    is_text: bool,
}

impl Grid {
    pub(super) fn new(decimal_comma: bool) -> Self {
        Self { cells: vec![], text: vec![], decimal_comma }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds all cells of a range.
    pub(super) fn add_range(&mut self, range: &Range<Data>) -> Result<(), String> {
        let (Some(start), Some(end)) = (range.start(), range.end()) else { return Ok(()) };
        let rows = (start.0..=end.0).zip(range.rows());
        for (row, cells) in rows {
            for (column, cell) in (start.1..=end.1).zip(cells) {
                self.add((row, column), cell)?;
            }
        }
        Ok(())
    }

    /// Adds a cell, if it holds something.
    pub(super) fn add(&mut self, (row, column): (u32, u32), value: &Data) -> Result<(), String> {
        let start = self.text.len();
        let mut is_text = false;
        match value {
            Data::Empty => return Ok(()),
            Data::Int(value) => push(&mut self.text, value),
            Data::Float(value) => self.push_number(*value),
            Data::Bool(value) => push(&mut self.text, value),
            Data::DateTime(value) => push_date(&mut self.text, *value),
            Data::DateTimeIso(value) | Data::DurationIso(value) => {
                push_text(&mut self.text, value.trim().as_bytes(), b'\t');
            }
            Data::Error(error) => push(&mut self.text, error),
            Data::String(value) => {
                is_text = true;
                // Names and values are on one line.
                let words: Vec<&str> = value
                    .split(|c: char| c.is_control())
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                    .collect();
                push_text(&mut self.text, words.join(" ").as_bytes(), b'\t');
            }
        }
        let end = self.text.len();
        if end > start {
            self.cells.push(Cell { row, column, start, end, is_text });
        }
        Ok(())
    }

    fn push_number(&mut self, value: f64) {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.is_nan() {
            return;
        }
        if value.fract() == 0.0 && value.abs() < EXACT {
            return push(&mut self.text, &(value as i64));
        }
        let start = self.text.len();
        self.text.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
        if self.decimal_comma {
            let digits = self.text.get_mut(start..).unwrap_or_default();
            digits.iter_mut().filter(|byte| **byte == b'.').for_each(|byte| *byte = b',');
        }
    }

    /// Row by row; of two cells in one place, which only damaged files have, the first counts.
    pub(super) fn put_in_order(&mut self) {
        let place = |cell: &Cell| (cell.row, cell.column);
        if !self.cells.is_sorted_by(|a, b| place(a) < place(b)) {
            self.cells.sort_by_key(place);
            self.cells.dedup_by_key(|cell| place(cell));
        }
    }

    fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunk_by(|a, b| a.row == b.row)
    }

    /// Whether there is a row of names over one with at least two values that are no text.
    pub(super) fn holds_table(&self) -> bool {
        let mut after_names = false;
        self.rows().any(|row| {
            let values = row.iter().filter(|cell| !cell.is_text).count();
            let is_table = after_names && values >= 2;
            after_names = values == 0 && row.len() >= 2;
            is_table
        })
    }

    /// A CSV with tabs, of the rows that hold something; or why there is none.
    pub(super) fn text(&self) -> Result<Vec<u8>, String> {
        let columns = || self.cells.iter().map(|cell| cell.column);
        let (Some(first), Some(last)) = (columns().min(), columns().max()) else {
            return Ok(vec![]);
        };
        let width = u64::from(last - first) + 1;
        let (rows, cells) = (self.rows().count() as u64, self.cells.len() as u64);
        if rows * width > MOST_EMPTY && rows * width / 16 > cells {
            return Err(format!(
                "its {rows} rows and {width} columns hold only {cells} cells; keep the table alone on its sheet"
            ));
        }
        let mut out = Vec::with_capacity(self.text.len() + (rows * width) as usize);
        for row in self.rows() {
            let mut at = first;
            for cell in row {
                (at..cell.column).for_each(|_| out.push(b'\t'));
                at = cell.column;
                out.extend_from_slice(self.text.get(cell.start..cell.end).unwrap_or_default());
            }
            (at..last).for_each(|_| out.push(b'\t'));
            out.push(b'\n');
        }
        Ok(out)
    }
}

/// Writing to memory does not fail.
fn push(text: &mut Vec<u8>, value: &impl std::fmt::Display) {
    let _ = write!(text, "{value}");
}

/// 2024-01-31, with the time where there is one: 2024-01-31T18:00:00. A time without a date is 18:00:00.
fn push_date(text: &mut Vec<u8>, value: ExcelDateTime) {
    let serial = value.as_f64();
    let (year, month, day, hour, minute, second, milli) = value.to_ymd_hms_milli();
    let seconds = |milli| match milli {
        0 => format!("{second:02}"),
        milli => format!("{second:02}.{milli:03}"),
    };
    if value.is_duration() || (0.0..1.0).contains(&serial) {
        let seconds = (serial * 86_400.0).round();
        let (hours, rest) = ((seconds / 3600.0).trunc(), (seconds % 3600.0).abs());
        push(text, &format_args!("{hours:02}:{:02}:{:02}", (rest / 60.0).trunc(), rest % 60.0));
        return;
    }
    push(text, &format_args!("{year:04}-{month:02}-{day:02}"));
    if (hour, minute, second, milli) != (0, 0, 0, 0) {
        push(text, &format_args!("T{hour:02}:{minute:02}:{}", seconds(milli)));
    }
}
