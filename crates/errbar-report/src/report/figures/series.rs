//! Forecast, interval and observation over time: how the series ends, and where it is worst.

use errbar::words::significant;

use super::cloud::range;
use super::{
    BROAD, CLAIMED, FigureData, POINTS, ReportFigure, Section, Spot, WIDTH, of_all, short, time,
    time_axis, with_room,
};
use crate::axis::Axis;
use crate::color::{FORECAST, TRUTH};
use crate::figure::Figure;
use crate::layer::{Band, Line, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::stretch::{FEWEST, Length, Stretch, usual_step, worst};
use crate::report::tracks::{Track, Tracks};
use crate::report::{LEVEL, Order, bins};
use crate::table::{Cell, Table};

/// As many moments can be told apart across a page.
const RECENT: usize = 150;
/// The series that is drawn, and what is known of it.
struct Drawn<'a> {
    seen: &'a FigureData<'a>,
    track: &'a Track<'a>,
    /// How far moments usually are from each other.
    step: f64,
    time: &'a [f64],
    name: &'a str,
    dates: bool,
}

pub(super) fn figures(seen: &FigureData<'_>) -> Vec<ReportFigure> {
    let Order::Time { name, values, dates } = seen.subject.order else { return Vec::new() };
    // Rows that share a moment cannot be told apart on a line.
    let Some(tracks) = Tracks::of(seen.subject).filter(|tracks| !tracks.crowded) else {
        return Vec::new();
    };
    // A few rows with one large error are no worst week.
    let longest = tracks.all.iter().map(|track| track.rows.len()).max().unwrap_or(0);
    let enough = FEWEST.max(longest / 10);
    let candidates = tracks.all.iter().filter(|track| track.rows.len() >= enough);
    let worst = candidates
        .filter_map(|track| {
            let step = usual_step(&track.rows, values);
            let named = Length::of(step, track.rows.len(), dates);
            let plain = Length::of(step, track.rows.len(), false);
            let found = [named, plain].into_iter().find_map(|length| {
                Some((worst(seen.sample, &seen.each.crps, values, &track.rows, length)?, length))
            });
            found.map(|(stretch, length)| (stretch, length, track, step))
        })
        // The first of equals.
        .reduce(|a, b| if b.0.crps > a.0.crps { b } else { a });
    let Some((stretch, length, track, step)) = worst else { return Vec::new() };
    let drawn = Drawn { seen, track, step, time: values, name, dates };
    let mut out = vec![drawn.recent(&tracks, length)];
    if track.rows.len() > RECENT {
        out.push(drawn.worst(stretch, length));
    }
    out
}

impl Drawn<'_> {
    fn recent(&self, tracks: &Tracks<'_>, length: Length) -> ReportFigure {
        let all = self.track.rows.len();
        let rows = &self.track.rows[all.saturating_sub(RECENT)..];
        let title = if rows.len() == all { "The series" } else { "The end of the series" };
        let (figure, narrow, beyond) = self.both(rows);
        let mut reading = format!(
            "What was forecast, the interval that should hold {} of the observations, and what was \
             then observed. Good error bars are wide before a large error, not after it, and \
             observations outside are on both sides and far from each other.",
            level()
        );
        if let Some(group) = self.group() {
            reading += &format!(
                " Several rows share a moment, so that one of {} series is drawn: {group}, which has the \
                 worst {}.",
                tracks.all.len(),
                length.name()
            );
        }
        ReportFigure {
            name: "series".into(),
            title: self.titled(title),
            message: format!("{}.", self.outside(rows)),
            reading: reading + &beyond,
            figure,
            narrow: Some(narrow),
            table: self.table(rows),
            spots: self.spots(rows),
            section: Section::Series,
            open: false,
        }
    }

    fn worst(&self, stretch: Stretch, length: Length) -> ReportFigure {
        let rows = &self.track.rows[stretch.from..stretch.to];
        let (figure, narrow, beyond) = self.both(rows);
        let usual = self.seen.scores.crps;
        let times = match usual > 0.0 {
            true => format!(", {} times that of all rows", short(stretch.crps / usual)),
            false => String::new(),
        };
        ReportFigure {
            name: "worst".into(),
            title: self.titled(&format!("The worst {}", length.name())),
            message: format!(
                "{}. The mean CRPS is {}{times}.",
                self.outside(rows),
                short(stretch.crps)
            ),
            reading: format!(
                "The {} with the largest mean CRPS. Is the forecast on one side all the time, or did \
                 the interval stay narrow while errors grew? What was different then, and known \
                 beforehand, is worth an input.{beyond}",
                length.name()
            ),
            figure,
            narrow: Some(narrow),
            table: self.table(rows),
            spots: self.spots(rows),
            section: Section::Series,
            open: false,
        }
    }

    /// The group that is drawn: "station north".
    fn group(&self) -> Option<String> {
        let name = |name: &str| names::shown(name, names::ON_FIGURES);
        Some(format!("{} {}", name(self.seen.subject.groups?.name), name(self.track.name?)))
    }

    fn titled(&self, title: &str) -> String {
        match self.group() {
            Some(group) => format!("{title}: {group}"),
            None => title.to_string(),
        }
    }

    /// "From 2018-12-01 to 2018-12-07, 3 of 14 observations lie outside the 90% interval, where about 1
    /// is expected"
    fn outside(&self, rows: &[u32]) -> String {
        let when = |row: Option<&u32>| {
            row.map_or(String::new(), |&row| time(self.time[row as usize], self.dates).shown())
        };
        let out = rows.iter().filter(|&&row| !self.holds(row)).count();
        format!(
            "From {} to {}, {} {} outside the {} interval, where about {} would be expected",
            when(rows.first()),
            when(rows.last()),
            of_all(out, rows.len(), "observations"),
            if out == 1 { "lies" } else { "lie" },
            level(),
            significant(((1.0 - LEVEL) * rows.len() as f64).max(1.0).round(), 3)
        )
    }

    /// Whether the interval of a row holds its observation.
    fn holds(&self, row: u32) -> bool {
        let row = row as usize;
        let ((least, most), error) = (self.seen.each.ends[row], self.seen.sample.error()[row]);
        // An observation at a bound is at the end of the interval, up to rounding.
        let slack = 1e-9 * self.seen.sample.sigma()[row];
        least - slack <= error && error <= most + slack
    }

    /// The ends of the interval of a row.
    fn ends(&self, row: u32) -> (f64, f64) {
        let (least, most) = self.seen.each.ends[row as usize];
        let forecast = self.seen.subject.forecast.values[row as usize];
        let end = |error: f64| (forecast + error).clamp(f64::MIN, f64::MAX);
        (end(least), end(most))
    }

    fn table(&self, rows: &[u32]) -> Table {
        let (from, to) = (format!("{} from", level()), format!("{} to", level()));
        let name = names::shown(self.name, names::IN_TEXT);
        let mut table = Table::new(&[&name, "observed", "forecast", "sigma", &from, &to]);
        for &row in rows {
            let (at, ends) = (row as usize, self.ends(row));
            let subject = self.seen.subject;
            let numbers = [
                subject.observation.values[at],
                subject.forecast.values[at],
                subject.sigma[at],
                ends.0,
                ends.1,
            ];
            let mut cells = vec![time(self.time[at], self.dates)];
            cells.extend(numbers.map(Cell::Number));
            table.rows.push(cells);
        }
        table
    }

    fn spots(&self, rows: &[u32]) -> Vec<Spot> {
        let spot = |(row, &at): (usize, &u32)| Spot {
            row,
            panel: 0,
            x: self.time[at as usize],
            y: self.seen.subject.observation.values[at as usize],
        };
        rows.iter().enumerate().map(spot).collect()
    }

    /// The broad drawing, the narrow one, and a sentence on what is beyond their frame.
    fn both(&self, rows: &[u32]) -> (Figure, Figure, String) {
        let y = self.seen.subject.observation.values;
        let frame = self.frame(rows);
        let beyond = rows.iter().map(|&row| y[row as usize]);
        let beyond = beyond.filter(|y| *y < frame.0 || *y > frame.1).count();
        let words = match beyond {
            0 => String::new(),
            1 => String::from(" One observation lies beyond the frame."),
            n => format!(" {n} observations lie beyond the frame."),
        };
        (self.draw(rows, frame, BROAD), self.draw(rows, frame, WIDTH), words)
    }

    /// What is shown from below to above: everything but what is far from all else.
    fn frame(&self, rows: &[u32]) -> (f64, f64) {
        let subject = self.seen.subject;
        let of = |&row: &u32| {
            let ((low, high), at) = (self.ends(row), row as usize);
            [low, high, subject.observation.values[at], subject.forecast.values[at]]
        };
        let values: Vec<f64> = rows.iter().flat_map(of).collect();
        let (low, high) = bins::quantile_range(&values, 0.9);
        let room = 4.0 * (high - low);
        let near = |value: &f64| *value >= low - room && *value <= high + room;
        let (low, high) = range(&values.into_iter().filter(near).collect::<Vec<f64>>());
        let room = 0.04 * (high - low);
        (low - room, high + room)
    }

    fn draw(&self, rows: &[u32], frame: (f64, f64), width: f64) -> Figure {
        let subject = self.seen.subject;
        let at = |row: u32| self.time[row as usize];
        let (mut x, mut forecast) = (Vec::new(), Vec::new());
        let (mut low, mut high) = (Vec::new(), Vec::new());
        let mut last = f64::INFINITY;
        for &row in rows {
            // Lines do not cross what is missing.
            if at(row) - last > 3.5 * self.step {
                x.push(last + 0.5 * (at(row) - last));
                for values in [&mut forecast, &mut low, &mut high] {
                    values.push(f64::NAN);
                }
            }
            let ends = self.ends(row);
            x.push(at(row));
            forecast.push(subject.forecast.values[row as usize]);
            low.push(ends.0);
            high.push(ends.1);
            last = at(row);
        }
        let points = |held: bool| {
            let these = rows.iter().filter(|&&row| self.holds(row) == held);
            let (x, y): (Vec<f64>, Vec<f64>) =
                these.map(|&row| (at(row), subject.observation.values[row as usize])).unzip();
            Scatter::new(x, y).filled().radius(if held { 2.2 } else { 3.0 })
        };
        let times: Vec<f64> = rows.iter().map(|&row| at(row)).collect();
        let axis = Axis::new(names::label(subject.observation.name)).range(frame.0, frame.1);
        let panel = Panel::new(
            time_axis(&names::label(self.name), self.dates, with_room(range(&times))),
            axis,
        )
        .legend(Legend::Above)
        .with(Band::new(x.clone(), low, high).color(CLAIMED).label(format!("{} interval", level())))
        .with(Line::new(x, forecast).color(FORECAST).width(1.6).label("forecast"))
        .with(points(true).color(POINTS).label("observed"))
        .with(points(false).color(TRUTH).label("observed, outside"));
        Figure::new(width, 340.0).with(panel)
    }
}

fn level() -> String {
    format!("{}%", significant(100.0 * LEVEL, 3))
}
