//! Scores month by month, or by whatever people count so much time in.

use errbar::calendar::date;
use errbar::words::significant;

use super::cloud::range;
use super::frame::frame;
use super::{
    BROAD, FigureData, ReportFigure, Section, Spot, WIDTH, short, time, time_axis, with_room,
};
use crate::axis::Axis;
use crate::color::{GREY, TRUTH};
use crate::figure::Figure;
use crate::layer::{Edge, Line, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::bins::{self, BinSummary};
use crate::report::{LEVEL, Order};
use crate::scene::Dash;
use crate::table::{Cell, Table};

/// Of fewer rows a mean says nothing.
const FEWEST: usize = 5;
/// Times without a calendar are cut into so many.
const STRETCHES: usize = 12;

const DAY: f64 = 86_400.0;
/// Beyond this many seconds from 1970 years are no longer dates.
const FAR: f64 = 3e13;

/// What time is counted in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
    /// Parts of equal length, whatever the calendar says.
    Stretch,
}

impl Unit {
    /// The finest of which there are not too many to read, and that have rows enough.
    fn of(values: &[f64], dates: bool) -> Self {
        let near = values.iter().all(|t| t.abs() < FAR);
        let units = [(Self::Day, 14), (Self::Week, 12), (Self::Month, 36), (Self::Year, 60)];
        let readable = |&(unit, most): &(Self, usize)| {
            let mut changes =
                values.windows(2).filter(|pair| unit.key(pair[0]) != unit.key(pair[1]));
            let count = 1 + changes.by_ref().take(most).count();
            count <= most && count * FEWEST <= values.len()
        };
        let found = units.into_iter().filter(|_| dates && near).find(readable);
        found.map_or(Self::Stretch, |(unit, _)| unit)
    }

    /// Which day, week, month or year a time lies in.
    fn key(self, seconds: f64) -> i64 {
        let days = (seconds / DAY).floor() as i64;
        let (year, month, _) = date(days);
        match self {
            Self::Day => days,
            // Weeks begin on Monday: 5 January 1970 was one.
            Self::Week => (days - 4).div_euclid(7),
            Self::Month => 12 * year + month,
            Self::Year | Self::Stretch => year,
        }
    }

    /// What one of them is called: 2017-03 for a month.
    fn label(self, first: f64, dates: bool) -> String {
        let day = (first / DAY).floor() as i64;
        match self {
            Self::Day => time(day as f64 * DAY, true).shown(),
            Self::Week => time((7 * self.key(first) + 4) as f64 * DAY, true).shown(),
            Self::Month => {
                let (year, month, _) = date(day);
                format!("{year}-{month:02}")
            }
            Self::Year => date(day).0.to_string(),
            Self::Stretch => time(first, dates).shown(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
            Self::Stretch => "stretch",
        }
    }

    /// The head of the column that says which.
    fn head(self) -> &'static str {
        match self {
            Self::Week => "week from",
            Self::Stretch => "from",
            unit => unit.name(),
        }
    }

    /// Rows of the same unit together, in order.
    fn split(self, values: &[f64]) -> Vec<Vec<u32>> {
        let (Some(&first), Some(&last)) = (values.first(), values.last()) else {
            return Vec::new();
        };
        let parts = STRETCHES.min(values.len() / FEWEST).max(1);
        // Halves, since the whole may be more than the largest number.
        let length = 0.5 * last - 0.5 * first;
        let key = |t: f64| match self {
            Self::Stretch if length > 0.0 => {
                let part = (0.5 * t - 0.5 * first) / length * parts as f64;
                (part as i64).min(parts as i64 - 1)
            }
            Self::Stretch => 0,
            unit => unit.key(t),
        };
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        let same = |a: &u32, b: &u32| key(values[*a as usize]) == key(values[*b as usize]);
        rows.chunk_by(same).map(<[u32]>::to_vec).collect()
    }
}

/// One month, say.
struct Period {
    label: String,
    middle: f64,
    part: BinSummary,
    crps: f64,
    /// With the one constant sigma that is best for all rows.
    constant: f64,
    width: f64,
}

pub(super) fn figure(seen: &FigureData<'_>) -> Option<ReportFigure> {
    let Order::Time { name, values, dates } = seen.subject.order else { return None };
    let unit = Unit::of(values, dates);
    let periods: Vec<Period> = (unit.split(values).iter())
        .filter_map(|rows| period(seen, values, rows, unit, dates))
        .collect();
    if periods.len() < 2 {
        return None;
    }
    let level = format!("{}%", significant(100.0 * LEVEL, 3));
    let (inside, wide) = (format!("inside {level}"), format!("{level} width"));
    let mut table = Table::new(&[
        unit.head(),
        "rows",
        "CRPS",
        "one sigma",
        "bias",
        &wide,
        &inside,
        "by chance from",
        "by chance to",
    ]);
    let mut spots = Vec::new();
    for (row, Period { label, middle, part, crps, constant, width }) in periods.iter().enumerate() {
        table.rows.push(vec![
            Cell::Text(label.clone()),
            Cell::Count(part.rows),
            Cell::Number(*crps),
            Cell::Number(*constant),
            Cell::Number(part.bias),
            Cell::Number(*width),
            Cell::Share(part.inside),
            Cell::Share(part.inside_range.0),
            Cell::Share(part.inside_range.1),
        ]);
        spots.push(Spot { row, panel: 0, x: *middle, y: *crps });
    }
    let by_crps = |a: &&Period, b: &&Period| a.crps.total_cmp(&b.crps);
    let (best, worst) = (periods.iter().min_by(by_crps)?, periods.iter().max_by(by_crps)?);
    let preposition = match unit {
        Unit::Day => "on",
        Unit::Week | Unit::Stretch => "from",
        Unit::Month | Unit::Year => "in",
    };
    let said = |period: &Period| format!("{}, {preposition} {}", short(period.crps), period.label);
    let x = names::label(name);
    Some(ReportFigure {
        name: "periods".into(),
        title: match unit {
            Unit::Stretch => String::from("Stretch by stretch"),
            unit => format!("By {}", unit.name()),
        },
        message: format!("CRPS is lowest, {}, and highest, {}.", said(best), said(worst)),
        reading: format!(
            "The mean CRPS of each {0}, smaller being better, beside that of the one constant sigma that \
             is best for all rows. What comes back every year or week is a season that inputs can tell; \
             what only rises is drift. Where both lines rise together, the forecast got worse; where only \
             the first does, sigma.",
            unit.name()
        ),
        figure: draw(&periods, &x, dates, BROAD),
        narrow: Some(draw(&periods, &x, dates, WIDTH)),
        table,
        spots,
        section: Section::Order,
        open: true,
    })
}

fn period(
    seen: &FigureData<'_>,
    time: &[f64],
    rows: &[u32],
    unit: Unit,
    dates: bool,
) -> Option<Period> {
    // Intervals are those of the law.
    let BinSummary { inside, inside_range, .. } = bins::part(seen.equal, rows)?;
    let part = BinSummary { inside, inside_range, ..bins::part(seen.sample, rows)? };
    let (first, last) = (time[*rows.first()? as usize], time[*rows.last()? as usize]);
    let mean = |of: &dyn Fn(usize) -> f64| bins::mean(seen.sample, rows, of);
    Some(Period {
        label: unit.label(first, dates),
        middle: 0.5 * first + 0.5 * last,
        part,
        crps: mean(&|row| seen.each.crps[row])?,
        constant: mean(&|row| seen.each.constant[row])?,
        width: mean(&|row| seen.each.width(row))?,
    })
}

fn draw(periods: &[Period], name: &str, dates: bool, width: f64) -> Figure {
    let column = |of: fn(&Period) -> f64| -> Vec<f64> { periods.iter().map(of).collect() };
    let (x, crps, constant) = (column(|p| p.middle), column(|p| p.crps), column(|p| p.constant));
    let highest = frame(crps.iter().chain(&constant).copied()).1.max(f64::MIN_POSITIVE);
    let panel = Panel::new(
        time_axis(name, dates, with_room(range(&x))),
        Axis::new("CRPS").range(0.0, 1.08 * highest),
    )
    .legend(Legend::Above)
    .with(Line::new(x.clone(), constant).color(GREY).dash(Dash::Dashed).label("one constant sigma"))
    .with(Line::new(x.clone(), crps.clone()).color(TRUTH).width(1.4))
    .with(Edge::new(x.clone(), crps.clone()).color(TRUTH))
    .with(Scatter::new(x, crps).color(TRUTH).filled().radius(3.0).label("CRPS"));
    Figure::new(width, 260.0).with(panel)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1483228800 is 2017-01-01, a Sunday.
    const NEW_YEAR: f64 = 1_483_228_800.0;

    fn hourly(days: usize) -> Vec<f64> {
        (0..24 * days).map(|hour| NEW_YEAR + 3_600.0 * hour as f64).collect()
    }

    #[test]
    fn time_is_counted_in_the_finest_readable_unit() {
        for (days, unit, parts) in [
            (10, Unit::Day, 10),
            // One day of the old year's week, then eleven weeks.
            (78, Unit::Week, 12),
            (365, Unit::Month, 12),
            (4 * 365 + 1, Unit::Year, 4),
        ] {
            let values = hourly(days);
            assert_eq!(Unit::of(&values, true), unit, "{days} days");
            assert_eq!(unit.split(&values).len(), parts, "{days} days");
        }
        // One row a year says nothing; thousands of years are no table.
        let yearly: Vec<f64> = (0..50).map(|i| 365.25 * DAY * f64::from(i)).collect();
        assert_eq!(Unit::of(&yearly, true), Unit::Stretch);
        let monthly: Vec<f64> = (0..24_000).map(|i| 30.4 * DAY * f64::from(i)).collect();
        assert_eq!(Unit::of(&monthly, true), Unit::Stretch);
        assert_eq!(Unit::Stretch.split(&monthly).len(), 12);
        assert_eq!(Unit::of(&hourly(365), false), Unit::Stretch);
        assert_eq!(Unit::of(&[1e300; 100], true), Unit::Stretch);
    }

    #[test]
    fn units_have_names() {
        assert_eq!(Unit::Month.label(NEW_YEAR + 45.0 * DAY, true), "2017-02");
        assert_eq!(Unit::Year.label(NEW_YEAR - 1.0, true), "2016");
        // The Monday before.
        assert_eq!(Unit::Week.label(NEW_YEAR, true), "2016-12-26");
        assert_eq!(Unit::Day.label(NEW_YEAR + 40_000.0, true), "2017-01-01");
        assert_eq!(Unit::Stretch.label(2.5, false), "2.5");
    }

    #[test]
    fn stretches_of_any_length() {
        let ends = [f64::MIN, f64::MIN, f64::MIN, f64::MIN, f64::MIN, 0.0, 1.0, 2.0, 3.0, f64::MAX];
        assert_eq!(Unit::Stretch.split(&ends), [vec![0, 1, 2, 3, 4], vec![5, 6, 7, 8, 9]]);
        assert_eq!(Unit::Stretch.split(&[7.0; 30]).len(), 1);
        assert!(Unit::Stretch.split(&[]).is_empty());
    }
}
