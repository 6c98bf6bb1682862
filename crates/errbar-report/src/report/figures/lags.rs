//! Do errors tell of those to come? Their correlation with earlier ones, as they are and by the law.

use errbar::lags::correlations;

use super::{CHANCE, FigureData, HEIGHT, POINTS, ReportFigure, Section, Spot, WIDTH, of_all};
use crate::axis::Axis;
use crate::color::TRUTH;
use crate::figure::Figure;
use crate::layer::{Band, Line, Rule, Scatter};
use crate::legend::Legend;
use crate::panel::Panel;
use crate::report::Order;
use crate::report::bins::normal_reach;
use crate::report::tracks::{self, Tracks};
use crate::table::{Cell, Table};

/// So many moments back, where a series has four times as many.
const MOST: usize = 40;
/// Of fewer lags nothing is to be seen.
const FEWEST: usize = 5;
/// What lies farther off counts as this many sigmas.
const FAR: f64 = 10.0;

pub(super) fn figure(seen: &FigureData<'_>) -> Option<ReportFigure> {
    let Order::Time { values: time, .. } = seen.subject.order else { return None };
    let found = Tracks::of(seen.subject)?;
    let (error, equal, sigma) = (seen.sample.error(), seen.equal.error(), seen.sample.sigma());
    let scaled = |row: usize| (equal[row] / sigma[row]).clamp(-FAR, FAR);
    let series = |of: &dyn Fn(usize) -> f64| -> Vec<Vec<f64>> {
        let weight = |row: u32| seen.sample.weight().map_or(1.0, |w| w[row as usize]);
        let mean = |rows: &[u32]| -> f64 {
            let total: f64 = rows.iter().map(|&row| weight(row)).sum();
            rows.iter().map(|&row| weight(row) / total * of(row as usize)).sum()
        };
        let one =
            |track: &tracks::Track<'_>| tracks::moments(&track.rows, time).map(mean).collect();
        found.all.iter().map(one).collect()
    };
    let (before, after) = (series(&|row| error[row]), series(&scaled));
    let longest = before.iter().map(Vec::len).max()?;
    let lags: Vec<usize> = (1..=MOST.min(longest / 4)).collect();
    if lags.len() < FEWEST {
        return None;
    }
    let (before, after) = match (correlations(&before, &lags), correlations(&after, &lags)) {
        (Some(first), Some(second)) => (first, second),
        _ => return None,
    };
    let moments: usize = series(&|_| 0.0).iter().map(Vec::len).sum();
    let reach = normal_reach() / (moments as f64).sqrt();
    let mut table = Table::new(&["moments apart", "errors", "by the law", "by chance ±"]);
    let mut spots = Vec::new();
    for (row, &lag) in lags.iter().enumerate() {
        let numbers = [before[row], after[row], reach].map(Cell::Number);
        table.rows.push([vec![Cell::Count(lag)], numbers.to_vec()].concat());
        spots.push(Spot { row, panel: 0, x: lag as f64, y: after[row] });
    }
    let out = after.iter().filter(|r| r.abs() > reach).count();
    let two = |value: f64| format!("{value:.2}").replace("-0.00", "0.00").replace('-', "−");
    let mut reading = String::from(
        "How much errors resemble those some moments earlier: as they are, and by the law, where each \
         counts in units of its sigma. Within the range of chance there is nothing to gain. Above it, \
         earlier errors tell of later ones: give those that are known when a forecast is made as inputs. \
         A peak farther right is a cycle that the inputs do not know. Where errors resemble each other, \
         misses come in a row, and rows are worth fewer than they are.",
    );
    if found.all.len() > 1 {
        reading += &format!(" {} series together, each with its own mean.", found.all.len());
    }
    if found.crowded {
        reading += " Rows of one moment are averaged; --by a column that tells series apart looks at each.";
    }
    Some(ReportFigure {
        name: "lags".into(),
        title: "Errors that follow each other".into(),
        message: format!(
            "The correlation of errors one moment apart is {}, by the law {}; by the law {} leave the \
             range of chance, where about {} would by chance alone.",
            two(before[0]),
            two(after[0]),
            of_all(out, lags.len(), "lags"),
            (0.05 * lags.len() as f64).max(1.0).round()
        ),
        reading,
        figure: draw(&lags, &before, &after, reach),
        narrow: None,
        table,
        spots,
        section: Section::Order,
        open: false,
    })
}

fn draw(lags: &[usize], before: &[f64], after: &[f64], reach: f64) -> Figure {
    let x: Vec<f64> = lags.iter().map(|&lag| lag as f64).collect();
    let last = lags.len() as f64 + 0.5;
    let ends = before.iter().chain(after).copied();
    let (low, high) = ends.fold((-0.1f64, 0.2f64), |(low, high), r| (low.min(r), high.max(r)));
    let (low, high) = (low.min(-1.2 * reach), high.max(1.2 * reach));
    let room = 0.06 * (high - low);
    let panel = Panel::new(
        Axis::new("moments apart").range(0.5, last),
        Axis::new("correlation").range(low - room, high + room),
    )
    .legend(Legend::Above)
    .with(
        Band::new([0.5, last], [-reach; 2], [reach; 2])
            .color(CHANCE)
            .label("range of chance (95%)"),
    )
    .with(Rule::horizontal(0.0))
    .with(Line::new(x.clone(), before).color(POINTS).width(1.4).label("errors"))
    .with(Line::new(x.clone(), after).color(TRUTH).width(1.4))
    .with(Scatter::new(x, after).color(TRUTH).filled().radius(2.6).label("by the law"));
    Figure::new(WIDTH, HEIGHT).with(panel)
}
