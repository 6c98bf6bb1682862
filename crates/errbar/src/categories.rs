//! Inputs that are categories: texts, truth values, numbers that only name something.
//!
//! In the inputs of [`Data`](crate::Data) a category is a column of codes: the place of its value among the levels that
//! are known, NaN where it is missing, and anything else for a level that is not known.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// An input that is a category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Which of the inputs, counted from 0.
    pub column: usize,
    /// Its values, each once; the inputs hold their places here.
    pub levels: Vec<String>,
}

/// The code of a level that is not known.
pub const UNSEEN: f64 = -1.0;

/// A value of a category as it is compared: truth values of any spelling are `true` and `false`, and a whole number is the
/// same with and without `.0`, since tables of different kinds write them differently. Empty text is missing.
///
/// ```
/// use errbar::categories::normal;
///
/// assert_eq!([normal("TRUE"), normal("7.0"), normal(" EWR "), normal("007")], ["true", "7", "EWR", "007"]);
/// ```
#[must_use]
pub fn normal(text: &str) -> &str {
    let text = text.trim();
    for truth in ["true", "false"] {
        if text.eq_ignore_ascii_case(truth) {
            return truth;
        }
    }
    let whole = text.trim_end_matches('0').strip_suffix('.').unwrap_or(text);
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { whole } else { text }
}

/// The codes of values by the levels that a model knows.
#[derive(Debug, Clone)]
pub struct Codes<'a>(HashMap<&'a str, f64>);

impl<'a> Codes<'a> {
    /// Of levels.
    #[must_use]
    pub fn of(levels: &'a [String]) -> Self {
        Self(
            levels
                .iter()
                .enumerate()
                .map(|(place, level)| (level.as_str(), place as f64))
                .collect(),
        )
    }

    /// The code of a value: NaN where it is missing, [`UNSEEN`] where no level is known by that name.
    #[must_use]
    pub fn code(&self, text: &str) -> f64 {
        match normal(text) {
            "" => f64::NAN,
            level => self.0.get(level).copied().unwrap_or(UNSEEN),
        }
    }
}

/// The levels of some values in the order in which they first come, and the code of each value.
#[must_use]
pub fn coded<'a>(values: impl IntoIterator<Item = &'a str>) -> (Vec<String>, Vec<f64>) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut levels: Vec<String> = Vec::new();
    let code = |value| match normal(value) {
        "" => f64::NAN,
        level => {
            let place = *places.entry(level).or_insert_with(|| {
                levels.push(level.to_string());
                levels.len() - 1
            });
            place as f64
        }
    };
    let codes = values.into_iter().map(code).collect();
    (levels, codes)
}

/// Whether a table of so many columns can have these categories.
pub(crate) fn check(categories: &[Category], inputs: &[f64], columns: usize) -> Result<()> {
    let mut is_one = vec![false; columns];
    for Category { column, levels } in categories {
        let twice = is_one.get_mut(*column).is_none_or(|is_one| std::mem::replace(is_one, true));
        if twice {
            return Err(Error::NoSuchCategory { column: *column, columns });
        }
        let bad =
            |x: &f64| !(x.is_nan() || (x.fract() == 0.0 && (0.0..levels.len() as f64).contains(x)));
        let codes = inputs.iter().skip(*column).step_by(columns);
        if let Some((row, &code)) = codes.enumerate().find(|(_, x)| bad(x)) {
            return Err(Error::NoSuchLevel { row, column: *column, code, levels: levels.len() });
        }
    }
    Ok(())
}
