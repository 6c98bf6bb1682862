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
