//! What to do about what the libraries find, in terms of the program's options: they know none.

use errbar::diagnose::Finding;
use errbar::words::significant;
use errbar_table::{Cause, Error, NotNumber, Note, Odd, Tables};

const SEPARATOR: &str = ": name the character between columns with --separator";

/// What follows an error's sentence: the way out, where there is one.
pub(crate) fn after(error: &anyhow::Error) -> String {
    match error.downcast_ref() {
        Some(Error::NotNumber(wrong)) => format!("; {}", for_text(wrong)),
        Some(Error::NoColumn(missing)) if missing.is_uncut => SEPARATOR.to_string(),
        _ => String::new(),
    }
}

/// What is wrong with the errors, and the option against it.
pub(crate) fn on_errors(finding: &Finding) -> String {
    let way_out = match finding {
        Finding::Biased { .. } => String::from(" (--debias)"),
        Finding::Autocorrelated { in_time_order: false, .. } => {
            String::from(": name the column of their time with --time")
        }
        Finding::Bounded { at, below, .. } => {
            let option = if *below { "--lower" } else { "--upper" };
            format!(
                ": fit with {option} {}, and the law of the errors ends there",
                significant(*at, 3)
            )
        }
        _ => String::new(),
    };
    finding.to_string() + &way_out
}

/// How a table was read, and the option against it.
pub(crate) fn on_note(note: &Note) -> String {
    match note {
        Note::Sheet { .. } => format!("{note} (--sheet names another one)"),
        note => note.to_string(),
    }
}

/// "It has: x, mu, y".
pub(crate) fn listing(tables: &Tables) -> String {
    tables.listing() + if tables.is_uncut() { SEPARATOR } else { "" }
}

fn for_text(wrong: &NotNumber) -> String {
    match (wrong.cause, few_marks(&wrong.odd)) {
        (Some(cause), _) => for_cause(cause).to_string(),
        (None, Some(advice)) => advice + "; otherwise write a number, or leave the field empty",
        (None, None) => String::from(
            "write a number, or leave the field empty where the value is missing (or say with --na \
             what marks it)",
        ),
    }
}

fn for_cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Date => {
            "it looks like a date: turn it into a number, such as the day of the year, or leave the \
             column out (errbar fit takes dates as --time)"
        }
        Cause::Point => "with --decimal-comma, numbers are written as 3,14",
        Cause::Comma => "if that is a decimal comma, use --decimal-comma",
    }
}

/// "of 400 cells, 3 are no numbers (\"M\" 2, \"T\" 1): if they mark missing values, use --na M,T",
/// where nearly all cells are numbers.
pub(crate) fn few_marks(odd: &Odd) -> Option<String> {
    let unknown: u64 = odd.unknown().map(|mark| mark.count).sum();
    // One in six, at the most: more than a few cells are no slip.
    if unknown == 0 || 5 * unknown > odd.numbers {
        return None;
    }
    let all: u64 = odd.numbers + odd.marks.iter().map(|mark| mark.count).sum::<u64>();
    let listed: Vec<String> =
        odd.unknown().map(|mark| format!("{:?} {}", mark.text, mark.count)).collect();
    let (verb, they) = if unknown == 1 {
        ("is no number", "it marks a missing value")
    } else {
        ("are no numbers", "they mark missing values")
    };
    Some(format!(
        "of {all} cells, {unknown} {verb} ({}): if {they}, use --na {}",
        listed.join(", "),
        option(odd)
    ))
}

/// What to give `--na` for all of them.
fn option(odd: &Odd) -> String {
    let texts: Vec<&str> = odd.unknown().map(|mark| mark.text.as_str()).collect();
    let plain = |c: char| c.is_alphanumeric() || "_-./:@%+=".contains(c);
    match texts.join(",") {
        text if texts.iter().all(|text| text.chars().all(plain)) => text,
        text => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use errbar_table::{Format, Mark, NumberColumn, Table};

    #[test]
    fn words_on_a_few_texts_among_numbers() {
        let mark = |text: &str, count| Mark { text: text.into(), count, row: 1, missing: false };
        let mut odd = Odd { marks: vec![mark("M", 2), mark("no t", 1)], numbers: 397 };
        let said = few_marks(&odd).unwrap();
        assert!(said.starts_with("of 400 cells, 3 are no numbers (\"M\" 2, \"no t\" 1)"), "{said}");
        assert!(said.ends_with("--na 'M,no t'"), "{said}");
        odd.numbers = 14;
        assert_eq!(few_marks(&odd), None);
    }

    /// What is said of a table whose columns must all be numbers, without the name of its file.
    fn said(table: &str, decimal_comma: bool) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(&path, table).unwrap();
        let table = Table::open(&path, &Format { decimal_comma, ..Format::default() }).unwrap();
        let columns = 0..table.header().len();
        let wanted: Vec<_> =
            columns.map(|column| NumberColumn { column, required: true }).collect();
        let error = table.read(&wanted, &[], &mut |_| false).err().unwrap();
        let sentence = error.to_string();
        let said = sentence + &after(&anyhow::Error::new(error).context("whatever is said before"));
        said.split_once("table.csv, ").unwrap().1.to_string()
    }

    #[test]
    fn what_to_do_about_a_text() {
        assert_eq!(
            said("a;b\n1;2\n1.234;1\n", true),
            "row 2, column \"a\": \"1.234\" is not a number; with --decimal-comma, numbers are written as 3,14"
        );
        assert_eq!(
            said("time,b\n2024-01-31,1\n2024-02-01,2\n", false),
            "row 1, column \"time\": \"2024-01-31\" is not a number; it looks like a date: turn it into a number, such as the day of the year, or leave the column out (errbar fit takes dates as --time)"
        );
        assert_eq!(
            said("a;b\n1;2\n\n1;3,14\n", false),
            "row 2, column \"b\": \"3,14\" is not a number; if that is a decimal comma, use --decimal-comma"
        );
        assert_eq!(
            said("a\n1\nM\n", false),
            "row 2, column \"a\": \"M\" is not a number; write a number, or leave the field empty where the value is missing (or say with --na what marks it)"
        );
        assert_eq!(
            said(&format!("a\n{}M\n", "1\n".repeat(9)), false),
            "row 10, column \"a\": \"M\" is not a number; of 10 cells, 1 is no number (\"M\" 1): if it marks a missing value, use --na M; otherwise write a number, or leave the field empty"
        );
    }
}
