//! Cells that hold no number: those that count as missing, and those that nobody has explained.

/// What counts as missing besides what usually does, as `--na` gives it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Na {
    texts: Vec<String>,
    numbers: Vec<f64>,
}

impl Na {
    /// Each is a number, which stands for its value however it is written, or a text.
    pub(crate) fn new(given: &[String]) -> Self {
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
    pub(crate) fn is_text(&self, field: &[u8]) -> bool {
        self.texts.iter().any(|text| field.eq_ignore_ascii_case(text.as_bytes()))
    }

    /// Makes values that stand for missing ones NaN, and counts them. `before` is the number of rows
    /// before these.
    pub(super) fn take_out(&self, values: &mut [f64], before: u64, odd: &mut Odd) {
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
pub(crate) struct Odd {
    /// Each text once; not all of them where a column was given up.
    pub(crate) marks: Vec<Mark>,
    /// Cells that hold a number; 0 where a column was given up.
    pub(crate) numbers: u64,
}

/// A text in place of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) text: String,
    pub(crate) count: u64,
    /// The first row that has it.
    pub(crate) row: u64,
    /// Whether it stands for a missing value.
    pub(crate) missing: bool,
}

/// So many different texts, and a column is no column of numbers with a few marks.
const MOST: usize = 8;

impl Odd {
    pub(crate) fn add(&mut self, mark: Mark) {
        match self.marks.iter_mut().find(|m| m.text == mark.text && m.missing == mark.missing) {
            Some(known) => known.count += mark.count,
            None => self.marks.push(mark),
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.numbers += other.numbers;
        other.marks.into_iter().for_each(|mark| self.add(mark));
    }

    /// The texts that nobody has explained.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &Mark> {
        self.marks.iter().filter(|mark| !mark.missing)
    }

    /// Whether there are so many different ones that this is no column of numbers.
    pub(super) fn too_many(&self) -> bool {
        self.unknown().count() > MOST
    }

    /// "of 400 cells, 3 are no numbers (\"M\" 2, \"T\" 1): if they mark missing values, use --na M,T",
    /// where nearly all cells are numbers.
    pub(crate) fn in_words(&self) -> Option<String> {
        let odd: u64 = self.unknown().map(|mark| mark.count).sum();
        // One in six, at the most: more than a few cells are no slip.
        if odd == 0 || 5 * odd > self.numbers {
            return None;
        }
        let all: u64 = self.numbers + self.marks.iter().map(|mark| mark.count).sum::<u64>();
        let listed: Vec<String> =
            self.unknown().map(|mark| format!("{:?} {}", mark.text, mark.count)).collect();
        let (verb, they) = if odd == 1 {
            ("is no number", "it marks a missing value")
        } else {
            ("are no numbers", "they mark missing values")
        };
        Some(format!(
            "of {all} cells, {odd} {verb} ({}): if {they}, use --na {}",
            listed.join(", "),
            self.option()
        ))
    }

    /// What to give `--na` for all of them.
    fn option(&self) -> String {
        let texts: Vec<&str> = self.unknown().map(|mark| mark.text.as_str()).collect();
        let plain = |c: char| c.is_alphanumeric() || "_-./:@%+=".contains(c);
        match texts.join(",") {
            text if texts.iter().all(|text| text.chars().all(plain)) => text,
            text => format!("'{}'", text.replace('\'', r"'\''")),
        }
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
    }

    #[test]
    fn words_on_a_few_texts_among_numbers() {
        let mark = |text: &str, count| Mark { text: text.into(), count, row: 1, missing: false };
        let mut odd = Odd { marks: vec![mark("M", 2), mark("no t", 1)], numbers: 397 };
        let said = odd.in_words().unwrap();
        assert!(said.starts_with("of 400 cells, 3 are no numbers (\"M\" 2, \"no t\" 1)"), "{said}");
        assert!(said.ends_with("--na 'M,no t'"), "{said}");
        odd.numbers = 14;
        assert_eq!(odd.in_words(), None);
    }
}
