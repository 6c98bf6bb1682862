//! What comes round in the calendar: hour of day, day of week and season, as inputs.
//!
//! Each is two inputs, $\sin(2\pi u/p)$ and $\cos(2\pi u/p)$ of the place $u$ in a cycle of length $p$, so that its end
//! lies beside its beginning:
//!
//! | cycle | $u$ | $p$ |
//! |---|---|--:|
//! | hour of day | hours since midnight, with fractions | 24 |
//! | day of week | whole days since Monday | 7 |
//! | season | whole days since 1 January | 365.25 |
//!
//! Times are seconds since 1970, as their dates are written; those with an offset are in UTC.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use crate::calendar;

/// A cycle of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cycle {
    /// From midnight to midnight.
    HourOfDay,
    /// From Monday to Sunday.
    DayOfWeek,
    /// From January to December.
    Season,
}

const DAY: f64 = 86_400.0;

const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Cycle {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::HourOfDay, Self::DayOfWeek, Self::Season];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::HourOfDay => "hour of day",
            Self::DayOfWeek => "day of week",
            Self::Season => "season",
        }
    }

    /// The names of its two inputs.
    #[must_use]
    pub fn inputs(self) -> [String; 2] {
        ["sin", "cos"].map(|part| format!("{}_{part}", self.name().replace(' ', "_")))
    }

    /// How its place is counted, and how far.
    #[must_use]
    pub fn unit(self) -> (&'static str, f64) {
        match self {
            Self::HourOfDay => ("hours since midnight, with fractions", 24.0),
            Self::DayOfWeek => ("whole days since Monday", 7.0),
            Self::Season => ("whole days since 1 January", 365.25),
        }
    }

    /// A place in words.
    ///
    /// ```
    /// use errbar::cycles::Cycle;
    ///
    /// assert_eq!(Cycle::HourOfDay.said(6.5), "06:30");
    /// assert_eq!(Cycle::DayOfWeek.said(4.0), "Friday");
    /// assert_eq!(Cycle::Season.said(60.0), "2 March");
    /// ```
    #[must_use]
    pub fn said(self, place: f64) -> String {
        match self {
            Self::HourOfDay => {
                let minutes = (60.0 * place).round() as u64 % 1440;
                format!("{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Self::DayOfWeek => DAYS[place.round() as usize % 7].into(),
            Self::Season => {
                // Of a year without a leap day.
                let (_, month, day) = calendar::date((place.round() as i64).clamp(0, 364));
                format!("{day} {}", MONTHS[month as usize - 1])
            }
        }
    }

    /// The place of a time, in its unit.
    ///
    /// ```
    /// use errbar::cycles::Cycle;
    ///
    /// // 2024-03-01T06:30, a Friday of a leap year.
    /// let time = 1_709_274_600.0;
    /// assert_eq!(Cycle::ALL.map(|cycle| cycle.place(time)), [6.5, 4.0, 60.0]);
    /// ```
    #[must_use]
    pub fn place(self, time: f64) -> f64 {
        let days = (time / DAY).floor();
        match self {
            Self::HourOfDay => (time - days * DAY) / 3_600.0,
            // 1970 began on a Thursday.
            Self::DayOfWeek => (days + 3.0).rem_euclid(7.0),
            Self::Season => {
                let day = days as i64;
                (day - calendar::day(calendar::date(day).0, 1, 1)) as f64
            }
        }
    }

    /// The inputs of a time; NaN without one.
    #[must_use]
    pub fn of(self, time: f64) -> [f64; 2] {
        if !time.is_finite() {
            return [f64::NAN; 2];
        }
        let angle = TAU * self.place(time) / self.unit().1;
        [angle.sin(), angle.cos()]
    }

    /// The place that has these inputs.
    #[must_use]
    pub fn place_of(self, [sin, cos]: [f64; 2]) -> f64 {
        let period = self.unit().1;
        // What rounding puts just before the end is the beginning.
        let place = (sin.atan2(cos) / TAU).rem_euclid(1.0) * period;
        if period - place < 1e-9 * period { 0.0 } else { place }
    }

    /// Whether it can tell anything of rows with these times: they have three places of it at least, and those that
    /// are `learned` from, before the others, go round it.
    pub(crate) fn is_told(self, times: &[f64], learned: &[f64]) -> bool {
        let (coarse, least) = match self {
            Self::HourOfDay => (1.0, 7.0 * DAY),
            Self::DayOfWeek => (1.0, 28.0 * DAY),
            // Months, about.
            Self::Season => (30.5, 365.0 * DAY),
        };
        let of = |over: fn(f64, f64) -> f64, from: f64| learned.iter().copied().fold(from, over);
        let span = of(f64::max, f64::NEG_INFINITY) - of(f64::min, f64::INFINITY);
        let mut seen: Vec<u64> = Vec::new();
        for time in times {
            let place = (self.place(*time) / coarse) as u64;
            if seen.len() < 3 && !seen.contains(&place) {
                seen.push(place);
            }
        }
        seen.len() == 3 && span >= least
    }
}

/// Row-major inputs, each row with what its time is in these cycles.
pub(crate) fn beside(inputs: &[f64], time: &[f64], cycles: &[Cycle]) -> Vec<f64> {
    let width = inputs.len() / time.len().max(1);
    let mut out = Vec::with_capacity(inputs.len() + 2 * cycles.len() * time.len());
    for (row, &time) in time.iter().enumerate() {
        out.extend_from_slice(&inputs[row * width..(row + 1) * width]);
        out.extend(cycles.iter().flat_map(|cycle| cycle.of(time)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against `date -u -d DATE +'%s %u %j'`.
    #[test]
    fn places_are_those_of_the_calendar() {
        for (time, expected) in [
            (0.0, [0.0, 3.0, 0.0]),
            (1_704_067_200.0, [0.0, 0.0, 0.0]),
            (1_735_689_599.0, [23.0 + 3_599.0 / 3_600.0, 1.0, 365.0]),
            (-1.0, [23.0 + 3_599.0 / 3_600.0, 2.0, 364.0]),
        ] {
            let places = Cycle::ALL.map(|cycle| cycle.place(time));
            assert!(places.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{places:?}");
        }
    }

    #[test]
    fn a_place_comes_back_from_its_inputs() {
        for cycle in Cycle::ALL {
            for hours in 0..20_000 {
                let time = 3_600.0 * f64::from(hours);
                let (place, back) = (cycle.place(time), cycle.place_of(cycle.of(time)));
                assert!((place - back).abs() < 1e-9, "{cycle:?}: {place} {back}");
            }
            assert!(cycle.of(f64::NAN).iter().all(|x| x.is_nan()));
        }
    }

    /// Times once a day have one hour, those of weeks no season, and Mondays no day of week.
    #[test]
    fn a_cycle_needs_times_that_go_round() {
        let every = |seconds: f64, count: i32| -> Vec<f64> {
            (0..count).map(|row| 1_704_067_200.0 + seconds * f64::from(row)).collect()
        };
        let told = |times: &[f64]| Cycle::ALL.map(|cycle| cycle.is_told(times, times));
        assert_eq!(told(&every(3_600.0, 24 * 60)), [true, true, false]);
        assert_eq!(told(&every(DAY, 1000)), [false, true, true]);
        assert_eq!(told(&every(7.0 * DAY, 200)), [false, false, true]);
        assert_eq!(told(&every(0.5 * DAY, 2000)), [false, true, true]);
        assert_eq!(told(&every(60.0, 1440)), [false, false, false]);
        assert_eq!(told(&[]), [false, false, false]);
    }
}
