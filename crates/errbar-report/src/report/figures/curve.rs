//! Forecast with its error bars over the one input, and the observations.

use errbar::words::significant;

use super::cloud::cloud;
use super::frame::{frame, roomy};
use super::{BROAD, CLAIMED, CLAIMED_WIDE, FigureData, ReportFigure, Section, Spot, WIDTH, short};
use crate::axis::Axis;
use crate::color::FORECAST;
use crate::figure::Figure;
use crate::layer::{Band, Line};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::{Curve, LEVEL, bins};
use crate::scene::Dash;
use crate::table::{Cell, Table};

/// Half of all observations lie inside this interval.
const INNER: f64 = 0.5;

pub(super) fn figure(seen: &FigureData<'_>) -> Option<ReportFigure> {
    let [input] = seen.subject.inputs[..] else { return None };
    let x = input.values;
    if !x.iter().any(|value| Some(value) != x.first()) {
        return None;
    }
    let given = seen.subject.curve.as_ref().filter(|curve| {
        curve.x.len() > 1
            && curve.forecast.len() == curve.x.len()
            && curve.sigma.len() == curve.x.len()
    });
    let (curve, how) = match given {
        Some(curve) => (curve.clone(), String::new()),
        None => {
            let curve = averaged(seen, x);
            if curve.x.is_empty() {
                return None;
            }
            let how = format!(" Forecast and sigma are means of {} bins of rows.", curve.x.len());
            (curve, how)
        }
    };
    let name = names::shown(input.name, names::IN_TEXT);
    let (figure, words) = draw(seen, x, &curve, input.name, BROAD);
    let (narrow, _) = draw(seen, x, &curve, input.name, WIDTH);
    let level = format!("{}%", significant(100.0 * LEVEL, 3));
    let (from, to) = (format!("{level} from"), format!("{level} to"));
    let mut table = Table::new(&[&name, "forecast", "sigma", &from, &to]);
    let mut spots = Vec::new();
    let intervals = seen.intervals(&curve, LEVEL);
    // Some forty of them are enough to read out.
    let step = curve.x.len().div_ceil(40).max(1);
    for (row, i) in (0..curve.x.len()).step_by(step).enumerate() {
        let (mu, sigma) = (curve.forecast[i], curve.sigma[i]);
        let ends = [mu + intervals[i].0 * sigma, mu + intervals[i].1 * sigma];
        table.rows.push([curve.x[i], mu, sigma, ends[0], ends[1]].map(Cell::Number).to_vec());
        spots.push(Spot { row, panel: 0, x: curve.x[i], y: mu });
    }
    let wide = |i: usize| (intervals[i].1 - intervals[i].0) * curve.sigma[i];
    let extreme = |best: fn(f64, f64) -> bool| {
        let places = 0..curve.sigma.len();
        places.reduce(|a, b| if best(wide(b), wide(a)) { b } else { a }).unwrap_or(0)
    };
    let width = |i: usize| format!("{} at {}", short(wide(i)), short(curve.x[i]));
    let space = if words.is_empty() { "" } else { " " };
    Some(ReportFigure {
        name: "curve".into(),
        title: "Forecast and error bars".into(),
        message: format!(
            "The {level} interval is narrowest, {}, and widest, {}.",
            width(extreme(|b, a| b < a)),
            width(extreme(|b, a| b > a))
        ),
        reading: format!(
            "The forecast over {name} with the intervals that should hold {}% and {level} of the \
             observations.{how}{space}{words}",
            significant(100.0 * INNER, 3)
        ),
        figure,
        narrow: Some(narrow),
        table,
        spots,
        section: Section::Curve,
        open: false,
    })
}

/// Sigma over the one input, and the band that holds it.
pub(super) fn sigma(seen: &FigureData<'_>) -> Option<ReportFigure> {
    let [input] = seen.subject.inputs[..] else { return None };
    let curve = seen.subject.curve.as_ref()?;
    let (low, high) = curve.band.as_ref()?;
    let (x, n) = (&curve.x, curve.x.len());
    if n < 2 || [curve.sigma.len(), low.len(), high.len()] != [n; 3] {
        return None;
    }
    let name = names::shown(input.name, names::IN_TEXT);
    let top = frame(high.iter().copied()).1;
    let draw = |width: f64, height: f64| {
        let axis = Axis::new("sigma").range(0.0, 1.04 * top);
        let panel = Panel::new(names::label(input.name), axis)
            .legend(Legend::Above)
            .with(Band::new(x.clone(), low.clone(), high.clone()).color(CLAIMED).label("90% band"))
            .with(
                Line::new(x.clone(), curve.sigma.clone()).color(FORECAST).width(2.2).label("sigma"),
            );
        Figure::new(width, height).with(panel)
    };
    let mut table = Table::new(&[&name, "sigma", "band from", "band to"]);
    let mut spots = Vec::new();
    let step = n.div_ceil(40).max(1);
    for (row, i) in (0..n).step_by(step).enumerate() {
        table.rows.push([x[i], curve.sigma[i], low[i], high[i]].map(Cell::Number).to_vec());
        spots.push(Spot { row, panel: 0, x: x[i], y: curve.sigma[i] });
    }
    let width = |i: usize| high[i] / low[i];
    let by = |better: fn(f64, f64) -> bool| {
        (0..n).reduce(|a, b| if better(width(b), width(a)) { b } else { a }).unwrap_or(0)
    };
    let (best, worst) = (by(|b, a| b < a), by(|b, a| b > a));
    let factor = |i: usize| format!("a factor of {} at {}", short(width(i).sqrt()), short(x[i]));
    Some(ReportFigure {
        name: "sigma-band".into(),
        title: "How well sigma is known".into(),
        message: format!(
            "Sigma is known best, within {}, and least, within {}.",
            factor(best),
            factor(worst)
        ),
        reading: format!(
            "Sigma over {name}, and the band that should hold the true one with a probability of 90% \
             at each place: it is learned from some rows, and not known exactly."
        ),
        figure: draw(BROAD, 360.0),
        narrow: Some(draw(WIDTH, 320.0)),
        table,
        spots,
        section: Section::Curve,
        open: false,
    })
}

/// Forecast and sigma from bins of rows, where nobody gave a curve.
fn averaged(seen: &FigureData<'_>, x: &[f64]) -> Curve {
    let mut curve = Curve::default();
    for rows in bins::by_value(x, 60, 5) {
        let mean = |values: &[f64]| {
            rows.iter().map(|&row| values[row as usize] / rows.len() as f64).sum::<f64>()
        };
        let Some(part) = bins::part(seen.sample, &rows) else { continue };
        curve.x.push(mean(x));
        curve.forecast.push(mean(seen.subject.forecast.values));
        curve.sigma.push(part.sigma);
        // Rows of a bin are neighbours: the law of the middle one does for all.
        let middle = rows[rows.len() / 2] as usize;
        let laws = seen.subject.laws.filter(|_| seen.subject.turns);
        curve.laws.extend(laws.and_then(|laws| laws.get(middle)).cloned());
    }
    curve
}

fn draw(
    seen: &FigureData<'_>,
    x: &[f64],
    curve: &Curve,
    name: &str,
    width: f64,
) -> (Figure, String) {
    let observation = seen.subject.observation;
    let y = observation.values;
    let edges = |level: f64| -> (Vec<f64>, Vec<f64>) {
        let rows = curve.forecast.iter().zip(&curve.sigma).zip(seen.intervals(curve, level));
        rows.map(|((mu, sigma), (least, most))| (mu + least * sigma, mu + most * sigma)).unzip()
    };
    let ((low, high), (inner_low, inner_high)) = (edges(LEVEL), edges(INNER));
    let x_range = frame(x.iter().copied());
    let usual = bins::quantile_range(y, 0.995);
    let (all, ends) = (frame(y.iter().copied()), frame(low.iter().chain(&high).copied()));
    let bottom = ends.0.min(usual.0.max(all.0));
    let y_range = roomy((bottom, ends.1.max(usual.1.min(all.1))));
    let broad = width > WIDTH;
    let cloud = cloud(&|i| x[i], &|i| y[i], x.len(), x_range, y_range, "observations", broad);
    let axis = Axis::new(names::label(observation.name)).range(y_range.0, y_range.1);
    let label = |level: f64| format!("{}% interval", significant(100.0 * level, 3));
    let across = Axis::new(names::label(name));
    let across = match cloud.is_density {
        true => across.range(x_range.0, x_range.1),
        false => {
            let (from, to) = roomy(x_range);
            across.range(from, to)
        }
    };
    let mut panel = Panel::new(across, axis).legend(Legend::Above);
    panel = match cloud.is_density {
        false => panel
            .with(Band::new(curve.x.clone(), low, high).color(CLAIMED_WIDE).label(label(LEVEL)))
            .with(
                Band::new(curve.x.clone(), inner_low, inner_high)
                    .color(CLAIMED)
                    .label(label(INNER)),
            )
            .with(cloud.layer),
        // Bands would hide what lies below them.
        true => panel
            .with(cloud.layer)
            .with(
                Line::new(curve.x.clone(), low)
                    .color(FORECAST)
                    .dash(Dash::Dashed)
                    .label(label(LEVEL)),
            )
            .with(Line::new(curve.x.clone(), high).color(FORECAST).dash(Dash::Dashed)),
    };
    let forecast = Line::new(curve.x.clone(), curve.forecast.clone()).color(FORECAST).width(2.2);
    let height = if broad { 420.0 } else { 360.0 };
    let panel = panel.with(cloud.edge).with(forecast.label("forecast"));
    (Figure::new(width, height).with(panel), cloud.words)
}
