//! Dates on an axis, from seconds since 1970 (UTC, the proleptic Gregorian calendar).

use errbar::calendar::{date, day};

use crate::ticks::{self, Ticks};

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3_600.0;
const DAY: f64 = 86_400.0;
/// Beyond this many days from 1970 years are no longer dates: about a million years.
const FAR: f64 = 3.6e8;

/// The distance of ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Seconds(f64),
    Days(f64),
    Months(i64),
}

const STEPS: [Step; 21] = [
    Step::Seconds(1.0),
    Step::Seconds(5.0),
    Step::Seconds(15.0),
    Step::Seconds(30.0),
    Step::Seconds(MINUTE),
    Step::Seconds(5.0 * MINUTE),
    Step::Seconds(15.0 * MINUTE),
    Step::Seconds(30.0 * MINUTE),
    Step::Seconds(HOUR),
    Step::Seconds(3.0 * HOUR),
    Step::Seconds(6.0 * HOUR),
    Step::Seconds(12.0 * HOUR),
    Step::Days(1.0),
    Step::Days(2.0),
    Step::Days(7.0),
    Step::Days(14.0),
    Step::Months(1),
    Step::Months(2),
    Step::Months(3),
    Step::Months(6),
    Step::Months(12),
];

/// At most `most` ticks at round dates or times of day. `low < high`, both finite.
pub(crate) fn ticks(low: f64, high: f64, most: usize) -> Ticks {
    let most = most.max(2);
    if low.abs().max(high.abs()) > FAR * DAY || high - low < 2.0 {
        return ticks::linear(low, high, most);
    }
    let years = (0..6).flat_map(|k| [2, 5, 10].map(|m| Step::Months(12 * m * 10i64.pow(k))));
    for step in STEPS.into_iter().chain(years) {
        let values = multiples(step, low, high, most);
        if let Some(values) = values {
            let label = |value: f64| (value, written(value, step));
            return Ticks { major: values.into_iter().map(label).collect(), minor: Vec::new() };
        }
    }
    Ticks::default()
}

/// The multiples of a step within a range, if they are not too many.
fn multiples(step: Step, low: f64, high: f64, most: usize) -> Option<Vec<f64>> {
    let evenly = |length: f64, origin: f64| -> Option<Vec<f64>> {
        let (from, to) = (((low - origin) / length).ceil(), ((high - origin) / length).floor());
        let count = (to - from + 1.0).max(0.0);
        let at = |i: usize| origin + (from + i as f64) * length;
        (count <= most as f64).then(|| (0..count as usize).map(at).collect())
    };
    match step {
        Step::Seconds(length) => evenly(length, 0.0),
        // Weeks begin on Monday: 5 January 1970 was one.
        Step::Days(days) if days >= 7.0 => evenly(days * DAY, 4.0 * DAY),
        Step::Days(days) => evenly(days * DAY, 0.0),
        Step::Months(months) => {
            let month = |seconds: f64| {
                let (year, month, _) = date((seconds / DAY).floor() as i64);
                year * 12 + month - 1
            };
            let (from, to) = (month(low).div_euclid(months), month(high).div_euclid(months));
            if to - from > 2 * most as i64 {
                return None;
            }
            let begin = |k: i64| {
                let months = k * months;
                day(months.div_euclid(12), months.rem_euclid(12) + 1, 1) as f64 * DAY
            };
            let inside: Vec<f64> =
                (from..=to).map(begin).filter(|&t| t >= low && t <= high).collect();
            (inside.len() <= most).then_some(inside)
        }
    }
}

fn written(seconds: f64, step: Step) -> String {
    let days = (seconds / DAY).floor();
    let (year, month, day) = date(days as i64);
    let of_day = (seconds - days * DAY).round() as i64;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    match step {
        Step::Months(months) if months >= 12 => format!("{year}"),
        Step::Months(_) => format!("{year}-{month:02}"),
        Step::Days(_) => format!("{year}-{month:02}-{day:02}"),
        Step::Seconds(length) if length >= HOUR => {
            format!("{month:02}-{day:02} {hour:02}:{minute:02}")
        }
        Step::Seconds(length) if length >= MINUTE => format!("{hour:02}:{minute:02}"),
        Step::Seconds(_) => format!("{hour:02}:{minute:02}:{second:02}"),
    }
}

/// A time as briefly as it can be said: 2017-03-05, or with its time of day.
pub(crate) fn moment(seconds: f64) -> String {
    if !seconds.is_finite() || seconds.abs() > FAR * DAY {
        return format!("{seconds}");
    }
    let whole = seconds.round();
    let days = (whole / DAY).floor();
    let (year, month, day) = date(days as i64);
    let of_day = (whole - days * DAY) as i64;
    let date = format!("{year:04}-{month:02}-{day:02}");
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    match (of_day, second) {
        (0, _) => date,
        (_, 0) => format!("{date} {hour:02}:{minute:02}"),
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, most: usize) -> Vec<String> {
        ticks(low, high, most).major.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_stand_at_round_dates() {
        // 2017 and 2018: 1483228800 is 2017-01-01, 1546300799 the last second of 2018.
        let (from, to) = (1_483_228_800.0, 1_546_300_799.0);
        assert_eq!(labels(from, to, 4), ["2017-01", "2017-07", "2018-01", "2018-07"]);
        assert_eq!(labels(from, to, 3), ["2017", "2018"]);
        assert_eq!(labels(from, from + 3.0 * DAY, 4)[1], "2017-01-02");
        assert_eq!(labels(from, from + DAY, 5)[1], "01-01 06:00");
        assert_eq!(labels(from, from + 120.0, 3)[1], "00:01");
        assert_eq!(labels(0.0, 100.0 * 365.25 * DAY, 6)[0], "1980");
        // Nothing that sorts is refused.
        for (low, high) in [(0.0, 1.0), (-1e300, 1e300), (0.0, 1e13), (-6e10, 1e9), (5.0, 5.5)] {
            for most in [0, 2, 9] {
                let ticks = ticks(low, high, most).major;
                assert!(ticks.len() <= most.max(2), "{low} {high} {most}");
                assert!(ticks.windows(2).all(|w| w[0].0 < w[1].0));
            }
        }
    }

    #[test]
    fn moments_are_brief() {
        assert_eq!(moment(1_483_228_800.0), "2017-01-01");
        assert_eq!(moment(1_483_228_800.0 + 43_200.0), "2017-01-01 12:00");
        assert_eq!(moment(1_483_228_801.2), "2017-01-01 00:00:01");
        assert_eq!(moment(f64::NAN), "NaN");
    }
}
