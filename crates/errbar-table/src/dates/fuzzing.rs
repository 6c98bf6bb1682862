//! Any texts as a column of times.

use super::{DateFormat, Layout, of_numbers, read, read_as};

/// Reads a pattern, on the first line, and the lines below it as a column of times, in every way there
/// is.
///
/// # Panics
/// If two ways that must agree do not. That is a bug.
pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let pattern = lines.next().unwrap_or_default();
    let values: Vec<String> = lines.map(String::from).collect();
    if let Ok(format) = pattern.parse::<DateFormat>() {
        assert_eq!(format.to_string().parse(), Ok(format.clone()), "a format by what it is called");
        match read_as(&values, &format) {
            Ok(seconds) => assert_eq!(seconds.len(), values.len(), "a time for each value"),
            Err(wrong) => assert!(wrong.place < values.len() && !wrong.to_string().is_empty()),
        }
    }
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.trim().parse().ok()).collect();
    let as_numbers = of_numbers(&numbers);
    match read(&values) {
        Ok(dates) => {
            assert_eq!(dates.seconds.len(), values.len(), "a time for each value");
            let told = dates.layout.to_string().parse().expect("a layout by what it is called");
            let again = read_as(&values, &told).expect("what was found can be told");
            assert!(same(&again, &dates.seconds), "found and told");
            // As everybody reads them alike, where four digits make a year.
            let years = -62_167_219_200.0..253_402_300_800.0;
            for &seconds in dates.seconds.iter().filter(|seconds| years.contains(*seconds)) {
                let iso = super::iso(seconds);
                let again = read(std::slice::from_ref(&iso)).expect("a moment can be read again");
                assert_eq!(again.layout, Layout::Iso, "{iso}");
                // A microsecond, and what a double leaves of one far from 1970.
                let near = 1e-6 + 1e-15 * seconds.abs();
                assert!((again.seconds[0] - seconds).abs() <= near, "{iso} is not {seconds}");
            }
            if let Some(as_numbers) = as_numbers.filter(|_| numbers.len() == values.len()) {
                assert!(same(&as_numbers.seconds, &dates.seconds), "as text and as numbers");
            }
        }
        Err(wrong) => assert!(wrong.place < values.len() && !wrong.to_string().contains('\n')),
    }
}

fn same(one: &[f64], two: &[f64]) -> bool {
    let bits = |value: &f64| if value.is_nan() { None } else { Some(value.to_bits()) };
    one.iter().map(bits).eq(two.iter().map(bits))
}
