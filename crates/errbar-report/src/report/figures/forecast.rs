//! Forecast against observation, and what is observed on average where so much is forecast.

use errbar::means::Mean;

use super::cloud::{Cloud, cloud};
use super::frame::{frame, is_beyond, roomy, spaced};
use super::{BROAD, FigureData, ReportFigure, Section, Spot, WIDTH, of_all, short};
use crate::axis::Axis;
use crate::color::TRUTH;
use crate::figure::Figure;
use crate::layer::{Edge, ErrorBars, Line, Rule, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::bins;
use crate::report::{CONFIDENCE, Subject};
use crate::table::{Cell, Table};

/// Rows of like forecast.
struct Bin {
    from: f64,
    to: f64,
    rows: usize,
    /// The means of forecast and observation.
    forecast: f64,
    observed: f64,
    /// How far the interval of the latter reaches either way; NaN of one row.
    reach: f64,
}

impl Bin {
    fn bias(&self) -> f64 {
        self.observed - self.forecast
    }

    /// Whether the mean is off by more than its error.
    fn is_off(&self) -> bool {
        self.bias().abs() > self.reach
    }
}

pub(super) fn figure(seen: &FigureData<'_>) -> Option<ReportFigure> {
    let Subject { observation, forecast, .. } = *seen.subject;
    let (y, mu) = (observation.values, forecast.values);
    let bins: Vec<Bin> = cut(mu).iter().filter_map(|rows| bin(seen, rows)).collect();
    if bins.is_empty() {
        return None;
    }
    let (x_range, y_range) = frames(mu, y);
    let cloud = || cloud(&|i| mu[i], &|i| y[i], y.len(), x_range, y_range, "rows", false);
    let draw = |broad: bool| draw(seen, &bins, cloud(), (x_range, y_range), broad);
    let words = cloud().words;
    let mut table = Table::new(&[
        "forecast from",
        "to",
        "rows",
        "mean forecast",
        "mean observed",
        "off by",
        "±",
    ]);
    let mut spots = Vec::new();
    for (row, bin) in bins.iter().enumerate() {
        let number = Cell::Number;
        table.rows.push(vec![
            number(bin.from),
            number(bin.to),
            Cell::Count(bin.rows),
            number(bin.forecast),
            number(bin.observed),
            number(bin.bias()),
            number(bin.reach),
        ]);
        spots.push(Spot { row, panel: 0, x: bin.forecast, y: bin.observed });
    }
    let off = |spot: &Spot| Spot { panel: 1, y: bins[spot.row].bias(), ..*spot };
    let second: Vec<Spot> = spots.iter().map(off).collect();
    spots.extend(second);
    let mut reading = String::from(
        "On the left each row at its forecast and its observation, and rows in bins of like forecast: the \
         mean of what was observed belongs on the line. On the right how far that mean is off, with its \
         95% error: above 0 the forecast is too low there, below it too high. Falling from left to right, \
         forecasts go too far both ways; rising, not far enough.",
    );
    reading += &spaced(&words);
    let hidden = bins.iter().filter(|bin| is_beyond(bin.observed, y_range)).count();
    if hidden > 0 {
        reading += " Means beyond the frame are marked at its edge, and in the table.";
    }
    Some(ReportFigure {
        name: "forecast".into(),
        title: "Forecast against observation".into(),
        message: message(&bins),
        reading,
        figure: draw(true),
        narrow: Some(draw(false)),
        table,
        spots,
        section: Section::Curve,
        open: false,
    })
}

/// Bins of like forecast with as many rows each; those that would span much of the axis, where forecasts
/// are rare, are cut again into parts of the same width.
fn cut(forecast: &[f64]) -> Vec<Vec<u32>> {
    const ROWS: usize = 20;
    let (low, high) = frame(forecast.iter().copied());
    let width = (high - low) / 12.0;
    let at = |row: &u32| forecast[*row as usize];
    let mut out: Vec<Vec<u32>> = Vec::new();
    for rows in bins::by_value(forecast, 20, 12) {
        let spans = rows.first().zip(rows.last()).is_some_and(|(a, b)| at(b) - at(a) > 1.5 * width);
        if !spans || rows.len() < 2 * ROWS || width <= 0.0 {
            out.push(rows);
            continue;
        }
        let first = at(&rows[0]);
        let part = |row: &u32| ((at(row) - first) / width).min(1e6) as usize;
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for piece in rows.chunk_by(|a, b| part(a) == part(b)) {
            match parts.last_mut().filter(|last| last.len() < ROWS) {
                Some(last) => last.extend(piece),
                None => parts.push(piece.to_vec()),
            }
        }
        if parts.len() > 1
            && let Some(rest) = parts.pop_if(|last| last.len() < ROWS)
            && let Some(last) = parts.last_mut()
        {
            last.extend(rest);
        }
        out.extend(parts);
    }
    out
}

/// Every row beside the line, and how far means are off it.
fn draw(
    seen: &FigureData<'_>,
    bins: &[Bin],
    cloud: Cloud,
    (x_range, y_range): ((f64, f64), (f64, f64)),
    broad: bool,
) -> Figure {
    let Subject { observation, forecast, .. } = *seen.subject;
    let across = || Axis::new(names::label(forecast.name)).range(x_range.0, x_range.1);
    let column = |of: &dyn Fn(&Bin) -> f64| -> Vec<f64> { bins.iter().map(of).collect() };
    let (x, mean) = (column(&|bin| bin.forecast), column(&|bin| bin.observed));
    let dots = |y: &[f64]| Scatter::new(x.clone(), y.to_vec()).color(TRUTH).filled().radius(3.0);
    let line = |y: &[f64]| Line::new(x.clone(), y.to_vec()).color(TRUTH).width(1.0);
    let edge = |y: &[f64]| Edge::new(x.clone(), y.to_vec()).color(TRUTH);
    let rows =
        Panel::new(across(), Axis::new(names::label(observation.name)).range(y_range.0, y_range.1))
            .legend(Legend::Above)
            .with(cloud.layer)
            .with(Rule::diagonal().label("as forecast"))
            .with(cloud.edge)
            .with(line(&mean))
            .with(edge(&mean))
            .with(dots(&mean).label("mean observed"));
    let off = column(&Bin::bias);
    let (low, high) =
        (column(&|bin| bin.bias() - bin.reach), column(&|bin| bin.bias() + bin.reach));
    let (least, most) = roomy(frame(off.iter().chain(&low).chain(&high).copied().chain([0.0])));
    let bias = Panel::new(across(), Axis::new("mean observed − forecast").range(least, most))
        .legend(Legend::Above)
        .with(Rule::horizontal(0.0))
        .with(ErrorBars::new(x.clone(), low, high).color(TRUTH).width(1.6).label("95% error"))
        .with(line(&off))
        .with(edge(&off))
        .with(dots(&off).label("conditional bias"));
    let figure = match broad {
        true => Figure::new(BROAD, 380.0).columns(2),
        false => Figure::new(WIDTH, 680.0).share_x(),
    };
    figure.with(rows).with(bias)
}

fn bin(seen: &FigureData<'_>, rows: &[u32]) -> Option<Bin> {
    // In the order of the table again, where neighbours may resemble each other.
    let mut rows = rows.to_vec();
    let forecast = |row: u32| seen.subject.forecast.values[row as usize];
    let (from, to) = (forecast(*rows.first()?), forecast(*rows.last()?));
    rows.sort_unstable();
    let error: Vec<f64> = rows.iter().map(|&row| seen.sample.error()[row as usize]).collect();
    let weight: Option<Vec<f64>> =
        seen.sample.weight().map(|weight| rows.iter().map(|&row| weight[row as usize]).collect());
    let off = Mean::of(&error, weight.as_deref())?;
    let middle = bins::mean(seen.sample, &rows, |row| seen.subject.forecast.values[row])?;
    Some(Bin {
        from,
        to,
        rows: rows.len(),
        forecast: middle,
        observed: middle + off.value,
        reach: off.reach(CONFIDENCE),
    })
}

/// One range for both where they are alike, so that the line is the diagonal; else each its own.
fn frames(forecast: &[f64], observed: &[f64]) -> ((f64, f64), (f64, f64)) {
    const ALIKE: f64 = 0.4;
    let (x, y) = (frame(forecast.iter().copied()), frame(observed.iter().copied()));
    let both = (x.0.min(y.0), x.1.max(y.1));
    let share = |(low, high): (f64, f64)| (high - low) / (both.1 - both.0);
    match share(x) >= ALIKE && share(y) >= ALIKE {
        true => (roomy(both), roomy(both)),
        false => (roomy(x), roomy(y)),
    }
}

fn message(bins: &[Bin]) -> String {
    let off = bins.iter().filter(|bin| bin.is_off()).count();
    let judged = bins.iter().filter(|bin| !bin.reach.is_nan()).count();
    if judged == 0 {
        return String::from("So few rows do not tell where the forecast is biased.");
    }
    let beyond = |bin: &&Bin| bin.is_off();
    let worst = bins.iter().filter(beyond).max_by(|a, b| a.bias().abs().total_cmp(&b.bias().abs()));
    let Some(worst) = worst else {
        return match judged {
            1 => String::from("What is observed on average is what is forecast, within its error."),
            n => format!(
                "What is observed on average is what is forecast, within its error, in all {n} bins."
            ),
        };
    };
    format!(
        "What is observed on average differs from the forecast by more than its error in {}, most near \
         {}, where it is {} {}.",
        of_all(off, bins.len(), "bins"),
        short(worst.forecast),
        short(worst.bias().abs()),
        if worst.bias() > 0.0 { "higher" } else { "lower" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_forecasts_have_bins_of_their_own() {
        // 950 between 0 and 1, and 50 from 1 to 100.
        let forecast: Vec<f64> = (0..1_000)
            .map(|i| if i < 950 { f64::from(i) / 950.0 } else { 2.0 * f64::from(i - 949) })
            .collect();
        let bins = cut(&forecast);
        assert_eq!(bins.iter().map(Vec::len).sum::<usize>(), 1_000);
        assert!(bins.len() >= 20 && bins.iter().all(|bin| bin.len() >= 20), "{}", bins.len());
        let widest = bins.last().unwrap();
        assert!(widest.len() <= 30, "{}", widest.len());
        assert_eq!(cut(&[3.0; 100]).len(), 1);
        assert_eq!(cut(&[1e300, -1e300, 0.0]).iter().map(Vec::len).sum::<usize>(), 3);
    }
}
