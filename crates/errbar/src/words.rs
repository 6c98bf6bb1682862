//! Numbers as people read them.

/// A share in percent, with one decimal.
///
/// ```
/// assert_eq!(errbar::words::percent(0.905), "90.5%");
/// ```
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A number with so many significant digits and no tail of zeros, in powers of ten where it is very
/// large or small.
///
/// ```
/// use errbar::words::significant;
///
/// assert_eq!(significant(0.123456, 3), "0.123");
/// assert_eq!(significant(1460.0, 3), "1460");
/// assert_eq!(significant(2.5e-7, 3), "2.5e-7");
/// ```
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    let size = value.abs();
    if value == 0.0 {
        return String::from("0"); // -0 too
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let last = digits.max(1) as i32 - 1;
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{value:.*e}", last.min(3) as usize);
        return match text.split_once('e') {
            Some((mantissa, power)) => format!("{}e{power}", trim(mantissa)),
            None => text,
        };
    }
    let decimals = (last - size.log10().floor() as i32).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

/// Some names as one speaks.
///
/// ```
/// assert_eq!(errbar::words::and(&["a", "b", "c"]), "a, b and c");
/// ```
#[must_use]
pub fn and(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names[..] {
        [] => String::new(),
        [one] => one.to_string(),
        [ref others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// The numbers that all of some labels are, or begin with where all end alike; NaN for an empty label,
/// which stands for a missing one. None where any is something else.
///
/// ```
/// use errbar::words::numbers;
///
/// assert_eq!(numbers(&["12h", "6h"]), Some(vec![12.0, 6.0]));
/// assert_eq!(numbers(&["1", "north"]), None);
/// ```
#[must_use]
pub fn numbers(labels: &[impl AsRef<str>]) -> Option<Vec<f64>> {
    let split = |label: &str| -> Option<(f64, String)> {
        let label = label.trim();
        if let Ok(number) = label.parse::<f64>() {
            return (!number.is_nan()).then(|| (number, String::new()));
        }
        let end = label.rfind(|c: char| c.is_ascii_digit())? + 1;
        Some((label[..end].parse().ok()?, label[end..].trim().to_string()))
    };
    let mut unit: Option<String> = None;
    let mut number = |label: &str| {
        if label.trim().is_empty() {
            return Some(f64::NAN);
        }
        let (number, own) = split(label)?;
        (*unit.get_or_insert_with(|| own.clone()) == own).then_some(number)
    };
    labels.iter().map(|label| number(label.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_are_numbers_have_an_order() {
        assert_eq!(numbers(&["10", " 9", "-1", "1e1"]), Some(vec![10.0, 9.0, -1.0, 10.0]));
        assert_eq!(numbers(&["+6 h", "12 h"]), Some(vec![6.0, 12.0]));
        let missing = numbers(&["", "3"]).unwrap();
        assert!(missing[0].is_nan() && missing[1] == 3.0);
        for other in
            [&["6h", "1d"][..], &["1", "2h"], &["2024-01", "2024-02"], &["a1"], &["NaN"], &["ä"]]
        {
            assert_eq!(numbers(other), None, "{other:?}");
        }
    }
}
