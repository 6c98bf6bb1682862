//! Cells that hold no number: those that count as missing, and those that nobody has explained.

/// What counts as missing besides what usually does.
#[derive(Debug, Clone, Default)]
pub struct Na {
    texts: Vec<String>,
    numbers: Vec<f64>,
}

impl Na {
    /// Each is a number, which stands for its value however it is written, or a text.
    #[must_use]
    pub fn new(given: &[String]) -> Self {
        let mut na = Self::default();
        for text in given.iter().map(|text| text.trim()) {
            match text.parse::<f64>() {
                Ok(value) if !value.is_nan() => na.numbers.push(value),
                _ => na.texts.push(text.to_string()),
            }
        }
        na
    }

    /// Whether a text stands for a missing value.
    #[must_use]
    pub fn is_text(&self, field: &[u8]) -> bool {
        self.texts.iter().any(|text| field.eq_ignore_ascii_case(text.as_bytes()))
    }

    /// Whether a text stands for a missing value, as a text or as a number.
    #[must_use]
    pub fn is_mark(&self, text: &str) -> bool {
        let number = || text.trim().parse::<f64>().is_ok_and(|value| self.numbers.contains(&value));
        self.is_text(text.trim().as_bytes()) || number()
    }

    /// Makes values that stand for missing ones NaN, and counts them. `before` is the number of rows
    /// before these.
    pub(crate) fn take_out(&self, values: &mut [f64], before: u64, odd: &mut Odd) {
        if self.numbers.is_empty() {
            return;
        }
        for (row, value) in (before + 1..).zip(values) {
            if self.numbers.contains(value) {
                odd.add(Mark { text: value.to_string(), count: 1, row, missing: true });
                odd.numbers = odd.numbers.saturating_sub(1);
                *value = f64::NAN;
            }
        }
    }
}

/// The cells of a column that hold no number.
#[derive(Debug, Clone, Default)]
pub struct Odd {
    /// Each text once; not all of them where a column was given up.
    pub marks: Vec<Mark>,
    /// Cells that hold a number; 0 where a column was given up.
    pub numbers: u64,
}

/// A text in place of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// As it stands there, shortened where it is long.
    pub text: String,
    /// In how many cells.
    pub count: u64,
    /// The first row that has it.
    pub row: u64,
    /// Whether it stands for a missing value.
    pub missing: bool,
}

/// So many different texts, and a column is no column of numbers with a few marks.
const MOST: usize = 8;

impl Odd {
    /// Counts a further text.
    pub fn add(&mut self, mark: Mark) {
        match self.marks.iter_mut().find(|m| m.text == mark.text && m.missing == mark.missing) {
            Some(known) => known.count += mark.count,
            None => self.marks.push(mark),
        }
    }

    /// Counts those of further rows.
    pub fn append(&mut self, other: Self) {
        self.numbers += other.numbers;
        other.marks.into_iter().for_each(|mark| self.add(mark));
    }

    /// The texts that nobody has explained.
    pub fn unknown(&self) -> impl Iterator<Item = &Mark> {
        self.marks.iter().filter(|mark| !mark.missing)
    }

    /// Whether nobody has counted the numbers, since texts were too many.
    pub(crate) fn is_given_up(&self) -> bool {
        const MANY: u64 = 4096;
        let unknown: u64 = self.unknown().map(|mark| mark.count).sum();
        self.numbers == 0 && (self.too_many() || unknown > MANY)
    }

    /// Whether there are so many different ones that this is no column of numbers.
    pub(crate) fn too_many(&self) -> bool {
        self.unknown().count() > MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        let na = Na::new(&["-999".into(), "--".into(), "1e20".into()]);
        let mut values = [1.0, -999.0, 1e20, -998.0, -999.0];
        let mut odd = Odd { marks: vec![], numbers: 5 };
        na.take_out(&mut values, 10, &mut odd);
        assert_eq!(values.map(f64::is_nan), [false, true, true, false, true]);
        assert_eq!(odd.numbers, 2);
        assert_eq!((odd.marks[0].count, odd.marks[0].row), (2, 12));
        assert!(na.is_text(b"--") && !na.is_text(b"-"));
        assert!(na.is_mark(" -- ") && na.is_mark("-999.0") && !na.is_mark("-998"));
    }
}
