//! Arguments that several commands share, and how their values are read.

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use errbar::law::Bounds;
use errbar::loss::LossKind;
use errbar::score::Beta;
use errbar_table::dates::{BadFormat, DateFormat};
use errbar_table::{Format, Na, Separator};

/// How the table is written, and what to do about its gaps.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Table")]
pub(crate) struct TableArguments {
    #[command(flatten)]
    pub(crate) format: FormatArguments,

    /// What to do with a row in which a value is missing [default: drop; but errbar fit keeps a row in
    /// which only inputs are missing].
    #[arg(long, value_enum)]
    pub(crate) missing: Option<Missing>,
}

/// How the table is written.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FormatArguments {
    /// What lies between the fields of a text: one character, or "tab", "space", or "whitespace" for any number of
    /// blanks, as in aligned tables [default: what its first lines tell].
    #[arg(long, value_name = "CHARACTER", value_parser = parse_separator)]
    pub(crate) separator: Option<Separator>,

    /// Numbers are written 3,14 instead of 3.14.
    #[arg(long)]
    pub(crate) decimal_comma: bool,

    /// What stands for a missing value besides empty fields, NA, -- and their like: texts or numbers,
    /// as in --na -999,M.
    #[arg(long, value_name = "VALUES", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_na)]
    pub(crate) na: Vec<String>,

    /// The sheet of a spreadsheet: its name, or its number, counted from 1 [default: the first that holds a table].
    #[arg(long, value_name = "NAME|NUMBER", value_parser = parse_sheet)]
    pub(crate) sheet: Option<String>,

    /// What begins a line that is a comment, anywhere in a text [default: #, above the header only].
    #[arg(long, value_name = "CHARACTER", value_parser = parse_comment)]
    pub(crate) comment: Option<u8>,
}

/// What to do with a row in which a value is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    /// Leave the row out, and say how many were.
    Drop,
    /// Refuse the table.
    Error,
}

impl FormatArguments {
    pub(crate) fn format(&self) -> Format {
        Format {
            separator: self.separator,
            decimal_comma: self.decimal_comma,
            na: Na::new(&self.na),
            sheet: self.sheet.clone(),
            comment: self.comment,
        }
    }
}

/// How times are written.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DateArguments {
    /// How the times are written, where the column does not tell: day/month/year or month/day/year;
    /// epoch or epoch-ms, for seconds or milliseconds since 1970; or a pattern such as
    /// "%d.%m.%Y %H:%M" (%Y year, %m month, %b its name, %d day, %j day of the year, %H hour, %I and
    /// %p hour of twelve, %M minute, %S second, %z offset from UTC) [default: as every value can be
    /// read, of ISO 8601, 31.01.2024, 01/31/2024 5:00 PM, 31 Jan 2024, 2024013117 and their like].
    #[arg(long, value_name = "FORMAT", requires = "time", value_parser = parse_date_format)]
    pub(crate) date_format: Option<DateFormat>,
}

pub(crate) fn parse_date_format(text: &str) -> Result<DateFormat, String> {
    text.parse().map_err(|error: BadFormat| error.to_string())
}

/// How many threads to use.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Threads {
    /// Threads to use; all cores when left out. The result does not depend on it.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

impl Threads {
    pub(crate) fn pool(self) -> anyhow::Result<rayon::ThreadPool> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.map_or(0, usize::from))
            .build()
            .context("cannot start threads")
    }

    /// As many as a table is worth: to start all of them takes longer than to read a few rows.
    pub(crate) fn worth(files: &[PathBuf]) -> Self {
        const SMALL: u64 = 64 << 10;
        let is_small = match files {
            [file] => {
                std::fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() < SMALL)
            }
            _ => false,
        };
        Self { threads: is_small.then_some(1) }
    }
}

/// Which cost to train by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossName {
    /// Accuracy and reliability in one cost.
    #[default]
    Ar,
    /// The mean CRPS: accuracy alone.
    Crps,
    /// The mean negative log predictive density: maximum likelihood.
    Nlpd,
    /// Accuracy and reliability in one cost, of the law that the errors have: models are trained twice, and
    /// the second ones are kept where rows held out speak for them.
    Law,
}

impl LossName {
    /// The cost; beta matters to one of them only.
    pub(crate) fn with(self, beta: Beta) -> LossKind {
        match self {
            Self::Ar | Self::Law => LossKind::Ar(beta),
            Self::Crps => LossKind::Crps,
            Self::Nlpd => LossKind::Nlpd,
        }
    }
}

/// `heuristic`, `printed` or a number from 0 to 1.
pub(crate) fn parse_beta(text: &str) -> Result<Beta, String> {
    text.parse().map_err(|_| {
        String::from(
            "give heuristic, printed, or a number from 0 (reliability only) to 1 (accuracy only)",
        )
    })
}

/// A probability strictly between 0 and 1, as 0.9 or 90%.
pub(crate) fn parse_probability(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|value| value / 100.0),
        None => text.parse::<f64>(),
    };
    match value {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err(String::from("give a probability strictly between 0 and 1, such as 0.9 or 90%")),
    }
}

/// The name of a column; spaces around it do not count, as in the header of a table.
pub(crate) fn parse_column(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err(String::from("give the name of a column")),
        name => Ok(name.into()),
    }
}

pub(crate) fn parse_finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(String::from("give a number")),
    }
}

/// The least and the most that an observation can be.
pub(crate) fn bounds(lower: Option<f64>, upper: Option<f64>) -> anyhow::Result<Bounds> {
    Bounds::new(lower, upper).with_context(|| {
        let [lower, upper] = [lower, upper].map(Option::unwrap_or_default);
        format!("--lower {lower} is not below --upper {upper}: swap them, or leave one out")
    })
}

/// What stands for a missing value.
pub(crate) fn parse_na(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => {
            Err(String::from("give texts or numbers, such as -999 or M (empty fields are missing)"))
        }
        // A forgotten value would swallow the next option.
        long if long.len() > 2 && long.starts_with("--") && !long.bytes().all(|b| b == b'-') => {
            Err(format!("\"{long}\" is an option: give what stands for a missing value before it"))
        }
        text => Ok(text.into()),
    }
}

/// A seed.
pub(crate) fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

/// One character of ASCII, or the name of one that is awkward to type.
pub(crate) fn parse_separator(text: &str) -> Result<Separator, String> {
    let byte = match text {
        "whitespace" | "blanks" | "\\s+" => return Ok(Separator::Blanks),
        "tab" | "\\t" => b'\t',
        "space" => b' ',
        "comma" => b',',
        "semicolon" => b';',
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() => *byte,
            _ => {
                return Err(String::from(
                    "give one character, or one of tab, space, whitespace (any number of blanks), comma, semicolon",
                ));
            }
        },
    };
    if byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b'\n' | b'\r' | b'.' | b'-' | b'+') {
        return Err(String::from(
            "this character is part of names and numbers and cannot separate them",
        ));
    }
    Ok(Separator::Byte(byte))
}

/// As it is typed.
pub(crate) fn separator_name(separator: Separator) -> String {
    match separator {
        Separator::Blanks => String::from("whitespace"),
        Separator::Byte(b'\t') => String::from("tab"),
        Separator::Byte(b' ') => String::from("space"),
        Separator::Byte(byte) => char::from(byte).to_string(),
    }
}

/// The name or the number of a sheet.
fn parse_sheet(text: &str) -> Result<String, String> {
    match text.trim() {
        "" | "0" => Err(String::from("give the name of a sheet, or its number, counted from 1")),
        name => Ok(name.into()),
    }
}

/// What begins a comment.
fn parse_comment(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_punctuation() && !b"\",.-+".contains(byte) => Ok(*byte),
        _ => Err(String::from(
            "give one character that begins no name and no number, such as # or %",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_by_character_and_name() {
        assert_eq!(parse_separator(";"), Ok(Separator::Byte(b';')));
        assert_eq!(parse_separator("\t"), Ok(Separator::Byte(b'\t')));
        assert_eq!(parse_separator("tab"), Ok(Separator::Byte(b'\t')));
        assert_eq!(parse_separator("\\t"), Ok(Separator::Byte(b'\t')));
        assert_eq!(parse_separator("|"), Ok(Separator::Byte(b'|')));
        assert_eq!(parse_separator("whitespace"), Ok(Separator::Blanks));
        for wrong in ["", ";;", "é", "a", "5", "\"", "."] {
            assert!(parse_separator(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn betas_and_probabilities() {
        assert_eq!(parse_beta("heuristic"), Ok(Beta::Heuristic));
        assert_eq!(parse_beta("printed"), Ok(Beta::AsPrinted));
        assert_eq!(parse_beta("0.25"), Ok(Beta::Fixed(0.25)));
        assert!(
            parse_beta("1.5").is_err() && parse_beta("NaN").is_err() && parse_beta("x").is_err()
        );
        assert_eq!(parse_probability("0.9"), Ok(0.9));
        assert_eq!(parse_probability("90%"), Ok(0.9));
        for wrong in ["0", "1", "100%", "-1", "NaN", "nine", ""] {
            assert!(parse_probability(wrong).is_err(), "{wrong:?}");
        }
    }
}
