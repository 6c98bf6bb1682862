//! Where the ticks of an axis stand and what is written beside them.

/// The ticks of one axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ticks {
    /// Value and label, in increasing order.
    pub(crate) major: Vec<(f64, String)>,
    /// Ticks without a label.
    pub(crate) minor: Vec<f64>,
}

/// $10^k$, correctly rounded.
pub(crate) fn pow10(k: i32) -> f64 {
    format!("1e{k}").parse().unwrap_or(f64::NAN)
}

/// The $k$ with $10^k \le |v| < 10^{k+1}$.
fn decade(value: f64) -> i32 {
    let mut k = value.abs().log10().floor() as i32;
    // log10 may round up to the next integer, or down from one.
    if pow10(k) > value.abs() {
        k -= 1;
    } else if pow10(k + 1) <= value.abs() {
        k += 1;
    }
    k
}

/// At most `most` ticks at multiples of 1, 2 or 5 times a power of ten. `low < high`, both finite.
pub(crate) fn linear(low: f64, high: f64, most: usize) -> Ticks {
    let most = most.max(2);
    // Spacing as halves, since high - low may overflow where both are huge.
    let raw = 2.0 * ((high / 2.0 - low / 2.0) / (most as f64));
    if !(raw.is_finite() && raw > 0.0) {
        return Ticks::default();
    }
    let first = decade(raw);
    let candidates = (first..=first + 2).flat_map(|k| [1.0, 2.0, 5.0].map(|m| (m, k)));
    for (mantissa, k) in candidates {
        let multiple = |n: f64| {
            // Dividing by a whole power of ten gives 0.3, where multiplying gives 0.30000000000000004.
            if k < 0 && k > -300 { n * mantissa / pow10(-k) } else { n * mantissa * pow10(k) }
        };
        let slack = 1e-9;
        let from = (low / multiple(1.0) - slack).ceil();
        let to = (high / multiple(1.0) + slack).floor();
        if to - from + 1.0 > most as f64 {
            continue;
        }
        let count = (to - from + 1.0).max(0.0) as usize;
        let values: Vec<f64> = (0..count).map(|i| multiple(from + i as f64) + 0.0).collect();
        let labels = linear_labels(&values, k);
        return Ticks { major: values.into_iter().zip(labels).collect(), minor: Vec::new() };
    }
    Ticks::default()
}

/// As [`linear`], for shares written as percentages.
pub(crate) fn percent(low: f64, high: f64, most: usize) -> Ticks {
    let mut ticks = linear(100.0 * low, 100.0 * high, most);
    for (value, label) in &mut ticks.major {
        *value /= 100.0;
        label.push('%');
    }
    ticks
}

/// Degrees north and south, or east and west, which go round: at most `most` ticks at steps that go into
/// 90.
pub(crate) fn degrees(low: f64, high: f64, most: usize, [more, less]: [&str; 2]) -> Ticks {
    let most = most.max(2) as f64;
    let steps = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 90.0];
    let fits = |step: &&f64| (high / **step).floor() - (low / **step).ceil() < most;
    let Some(step) = steps.iter().find(fits) else { return Ticks::default() };
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    // Where there is no room for whole degrees, those of a linear axis.
    let plain = linear(low, high, most as usize);
    let values: Vec<(f64, usize)> = match last - first >= 2 {
        true => (first..=last).map(|n| (n as f64 * step, 0)).collect(),
        false => {
            let decimals = |label: &str| label.split_once('.').map_or(0, |(_, after)| after.len());
            plain.major.iter().map(|(value, label)| (*value, decimals(label))).collect()
        }
    };
    let label = |(value, decimals): (f64, usize)| {
        let round = if more == "E" { (value + 180.0).rem_euclid(360.0) - 180.0 } else { value };
        let side = match round {
            r if r.abs() < 1e-9 || (more == "E" && r.abs() > 180.0 - 1e-9) => "",
            r if r > 0.0 => more,
            _ => less,
        };
        (value, format!("{:.decimals$}°{side}", round.abs()))
    };
    Ticks { major: values.into_iter().map(label).collect(), minor: Vec::new() }
}

/// As [`linear`] where values have fractions; whole numbers with every digit where not.
pub(crate) fn counts(low: f64, high: f64, most: usize) -> Ticks {
    let mut ticks = linear(low, high, most);
    let whole = |(value, _): &(f64, String)| value.fract() == 0.0 && value.abs() < 1e15;
    if ticks.major.iter().all(whole) {
        for (value, label) in &mut ticks.major {
            let digits = format!("{}", value.abs());
            let groups: Vec<&str> = digits
                .as_bytes()
                .rchunks(3)
                .rev()
                .filter_map(|group| std::str::from_utf8(group).ok())
                .collect();
            let sign = if *value < 0.0 { "−" } else { "" };
            *label = format!("{sign}{}", groups.join(","));
        }
    }
    ticks
}

/// Labels of multiples of `10^k`: all with the same number of decimals, and as powers of ten where
/// plain digits would be hard to read.
fn linear_labels(values: &[f64], k: i32) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return values.iter().map(|_| "0".to_string()).collect();
    }
    let top = decade(largest);
    if top < 5 && k > -5 {
        let decimals = (-k).max(0) as usize;
        return values.iter().map(|v| minus(format!("{v:.decimals$}"))).collect();
    }
    let decimals = (top - k).clamp(0, 15) as usize;
    let label = |v: &f64| {
        if *v == 0.0 {
            return "0".to_string();
        }
        let mantissa = if (-300..=300).contains(&top) {
            v / pow10(top)
        } else {
            v / pow10(top / 2) / pow10(top - top / 2)
        };
        minus(format!("{mantissa:.decimals$}×10^{{{top}}}"))
    };
    values.iter().map(label).collect()
}

/// Ticks at powers of ten, between them too where there are few. `0 < low < high`, both finite.
pub(crate) fn logarithmic(low: f64, high: f64, most: usize) -> Ticks {
    let most = most.max(2);
    let (first, last) = (decade(low * (1.0 - 1e-9)), decade(high * (1.0 + 1e-9)));
    let within = |v: f64| v >= low * (1.0 - 1e-9) && v <= high * (1.0 + 1e-9);
    let at = |mantissas: &'static [f64], step: usize| -> Vec<(f64, i32)> {
        (first..=last)
            .filter(|k| k.rem_euclid(step as i32) == 0)
            .flat_map(|k| mantissas.iter().map(move |m| (*m, k)))
            .filter(|(m, k)| within(m * pow10(*k)))
            .collect()
    };
    let decades = at(&[1.0], 1);
    let (chosen, step) = if decades.len() >= 3 || decades.len() >= most {
        let step = (1..).find(|&step| at(&[1.0], step).len() <= most).unwrap_or(1);
        (at(&[1.0], step), step)
    } else {
        let finer = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0][..], &[1.0][..]].map(|set| at(set, 1));
        match finer.into_iter().find(|ticks| ticks.len() >= 2 && ticks.len() <= most) {
            Some(ticks) => (ticks, 1),
            None => return linear(low, high, most),
        }
    };
    let plain = chosen.iter().all(|(_, k)| (-3..=4).contains(k));
    let label = |&(m, k): &(f64, i32)| match (plain, m) {
        (true, _) => format!("{:.*}", (-k).max(0) as usize, m * pow10(k)),
        (false, 1.0) => minus(format!("10^{{{k}}}")),
        (false, _) => minus(format!("{m}×10^{{{k}}}")),
    };
    let minor = if step > 1 {
        at(&[1.0], 1)
    } else if decades.len() <= 8 {
        at(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1)
    } else {
        Vec::new()
    };
    Ticks {
        major: chosen.iter().map(|tick| (tick.0 * pow10(tick.1), label(tick))).collect(),
        minor: minor
            .into_iter()
            .filter(|tick| !chosen.contains(tick))
            .map(|(m, k)| m * pow10(k))
            .collect(),
    }
}

/// One value, as briefly as it can be written with at most six digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return minus(format!("{}", value + 0.0));
    }
    let k = decade(value);
    if (-4..6).contains(&k) {
        let text = format!("{value:.*}", (5 - k).max(0) as usize);
        let text = match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            false => text,
        };
        return minus(text);
    }
    let text = format!("{value:.5e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    minus(format!("{mantissa}×10^{{{exponent}}}"))
}

/// Several values, with the same number of decimals where all can be written without a power of ten.
pub(crate) fn alike(values: &[f64]) -> Vec<String> {
    let labels: Vec<String> = values.iter().map(|&value| short(value)).collect();
    if labels.iter().any(|label| label.contains('×')) {
        return labels;
    }
    let decimals = |label: &String| label.split_once('.').map_or(0, |(_, after)| after.len());
    let most = labels.iter().map(decimals).max().unwrap_or(0);
    values.iter().map(|value| minus(format!("{:.most$}", value + 0.0))).collect()
}

/// The typographic minus sign, as wide as a plus.
fn minus(text: String) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_have_sides_and_go_round() {
        let labels = |ticks: Ticks| -> Vec<String> {
            ticks.major.into_iter().map(|(_, label)| label).collect()
        };
        let east = |low, high| labels(degrees(low, high, 5, ["E", "W"]));
        assert_eq!(east(-25.0, 12.0), ["20°W", "10°W", "0°", "10°E"]);
        assert_eq!(east(165.0, 200.0), ["170°E", "180°", "170°W", "160°W"]);
        assert_eq!(east(-180.0, 180.0), ["180°", "90°W", "0°", "90°E", "180°"]);
        let north = labels(degrees(-90.0, 90.0, 5, ["N", "S"]));
        assert_eq!(north, ["90°S", "45°S", "0°", "45°N", "90°N"]);
        assert_eq!(labels(degrees(51.2, 51.7, 6, ["N", "S"]))[0], "51.2°N");
        assert!(labels(degrees(1e300, 2e300, 5, ["N", "S"])).len() < 10);
    }

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn worked_by_hand_linear() {
        // 1 / 6 asks for a step of 0.2.
        let ticks = linear(0.0, 1.0, 6);
        assert_eq!(labels(&ticks), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(ticks.major[3].0, 0.6);
        // 7.4 / 5 asks for 2: the multiples within are -2, 0, 2, 4.
        assert_eq!(labels(&linear(-3.2, 4.2, 5)), ["−2", "0", "2", "4"]);
        assert_eq!(labels(&linear(0.0, 1e6, 3)), ["0", "0.5×10^{6}", "1.0×10^{6}"]);
        assert_eq!(labels(&linear(1e-7, 3e-7, 4)), ["1×10^{−7}", "2×10^{−7}", "3×10^{−7}"]);
        assert_eq!(labels(&linear(100.25, 100.75, 3)), ["100.4", "100.6"]);
        assert_eq!(labels(&counts(0.0, 1e6, 3)), ["0", "500,000", "1,000,000"]);
        assert_eq!(labels(&counts(-1500.0, 0.4, 2)), ["−1,000", "0"]);
        let ticks = percent(0.0, 1.0, 6);
        assert_eq!(labels(&ticks), ["0%", "20%", "40%", "60%", "80%", "100%"]);
        assert_eq!(ticks.major[3].0, 0.6);
    }

    #[test]
    fn worked_by_hand_logarithmic() {
        let ticks = logarithmic(0.01, 100.0, 8);
        assert_eq!(labels(&ticks), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(ticks.minor.len(), 4 * 8);
        assert_eq!(labels(&logarithmic(0.9, 60.0, 9)), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(
            labels(&logarithmic(1e-9, 1e9, 4)),
            ["10^{−5}", "1", "10^{5}"].map(|l| if l == "1" { "10^{0}" } else { l })
        );
        // Within one decade, as on a linear axis.
        assert_eq!(labels(&logarithmic(3.1, 4.9, 6)), ["3.5", "4.0", "4.5"]);
    }

    #[test]
    fn one_value() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (-2.5, "−2.5"),
            (123456.0, "123456"),
            (1e300, "1×10^{300}"),
            (2.5e-7, "2.5×10^{−7}"),
            (1000.0, "1000"),
            (0.1 + 0.2, "0.3"),
        ] {
            assert_eq!(short(value), expected);
        }
    }

    #[test]
    fn several_values() {
        assert_eq!(alike(&[0.5, 1.0, -2.25]), ["0.50", "1.00", "−2.25"]);
        assert_eq!(alike(&[1.0, 20.0]), ["1", "20"]);
        assert_eq!(alike(&[1.0, 1e9]), ["1", "1×10^{9}"]);
    }

    #[test]
    fn extremes_give_few_ordered_ticks_within_the_range() {
        for (low, high) in [
            (-1e300, 1e300),
            (-f64::MAX, f64::MAX),
            (0.0, 1e-300),
            (1e15, 1e15 + 10.0),
            (-1e-12, 0.0),
            (5e-324, 1.0),
        ] {
            for most in [0, 1, 2, 5, 9] {
                let ticks = linear(low, high, most);
                assert!(ticks.major.len() <= most.max(2), "{low} {high} {most}");
                assert!(ticks.major.windows(2).all(|w| w[0].0 < w[1].0));
                if low > 0.0 {
                    let ticks = logarithmic(low, high, most);
                    assert!(ticks.major.len() <= most.max(2), "{low} {high} {most} {ticks:?}");
                }
            }
        }
    }
}
