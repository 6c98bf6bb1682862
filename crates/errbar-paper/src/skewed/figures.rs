//! Figures of regrets, of laws and of costs.

use errbar::fit::{Kind, LawKind};
use errbar::law::ErrorLaw;
use errbar_report::{Axis, Color, Dash, Figure, Legend, Line, Panel, Rule, Scatter, color};

use super::costs::{COSTS, CostRow, MODELS, OUTLIERS, cases, over_sets};
use super::laws::{KINDS, LawRow};
use super::truth::Truth;
use super::{Run, Skewed, SkewedSet};
use crate::figures::between;

/// The inputs at which laws are shown.
pub(super) const PLACE: [f64; 2] = [0.25, 0.25];

/// The true law of a set at [`PLACE`] and two that were fitted, in units of the true sigma.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    set: SkewedSet,
    truth: Truth,
    normal: ErrorLaw,
    auto: ErrorLaw,
}

impl Shown {
    pub(super) fn new(run: &Run) -> Self {
        let law = |wanted: LawKind| {
            let at = KINDS.iter().position(|kind| *kind == wanted);
            at.map_or(ErrorLaw::default(), |i| run.laws[i].1.clone())
        };
        let truth = run.set.truth(&PLACE[..run.set.columns()]);
        Self { set: run.set, truth, normal: law(LawKind::Normal), auto: law(LawKind::Auto) }
    }
}

/// A colour for each kind of law alone.
const COLORS: [Color; 7] = [
    color::BLUE,
    color::SKY,
    color::GREEN,
    color::GREY,
    color::ORANGE,
    color::PURPLE,
    color::VERMILLION,
];

/// The regrets of all kinds of law on all sets, by both scores.
pub(super) fn regret_figure(skewed: &Skewed) -> Figure {
    let panel = |label: &str, score: fn(&LawRow) -> (f64, f64), names: Vec<&str>| {
        let x = Axis::new(label).log();
        // One legend does for both.
        let legend = if names[0].is_empty() { Legend::Hidden } else { Legend::Above };
        let mut panel = Panel::new(x, Axis::new("").names(names)).legend(legend);
        for (i, kind) in KINDS.into_iter().enumerate() {
            let of = skewed.laws.iter().filter(|row| row.kind == kind);
            let regret: Vec<f64> = of.map(|row| score(row).0).collect();
            // The first set is on top.
            let place: Vec<f64> = (0..regret.len()).rev().map(|i| i as f64).collect();
            let points = Scatter::new(regret, place).label(kind.name());
            panel = panel.with(match COLORS.get(i) {
                Some(color) => points.color(*color).radius(3.5).filled(),
                None => points.color(color::BLACK).radius(6.0),
            });
        }
        panel
    };
    let names: Vec<&str> = skewed.sets.iter().rev().map(|set| set.name()).collect();
    Figure::new(960.0, 460.0)
        .columns(2)
        .with(panel("regret in CRPS, as a share", |row| row.crps, names.clone()))
        .with(panel("regret in NLPD", |row| row.nlpd, vec![""; names.len()]))
}

/// The true laws, and what was made of them in one run.
pub(super) fn density_figure(shown: &[Shown]) -> Figure {
    let z = between(-3.5, 5.0, 341);
    let mut figure = Figure::new(960.0, 1150.0).columns(2);
    for (i, Shown { set, truth, normal, auto }) in shown.iter().enumerate() {
        let of =
            |density: &dyn Fn(f64) -> f64| -> Vec<f64> { z.iter().map(|&z| density(z)).collect() };
        let line = |density: &dyn Fn(f64) -> f64| Line::new(z.clone(), of(density)).width(1.8);
        let legend = if i == 0 { Legend::TopRight } else { Legend::Hidden };
        let panel = Panel::new(Axis::new("error in units of σ").range(-3.5, 5.0), "density")
            .title(set.name())
            .legend(legend)
            .with(line(&|z| truth.density(z)).color(color::TRUTH).label("true"))
            .with(
                line(&|z| normal.density(z))
                    .color(color::FORECAST)
                    .dash(Dash::Dotted)
                    .label("normal"),
            )
            .with(
                line(&|z| auto.density(z)).color(color::ESTIMATE).dash(Dash::Dashed).label("auto"),
            );
        figure = figure.with(panel);
    }
    figure
}

/// Means over sets against the share of outliers, a panel for each score.
pub(super) fn cost_figure(skewed: &Skewed) -> Figure {
    let colors = [color::BLACK, color::BLUE, color::GREEN];
    let panel = |y: Axis, value: fn(&CostRow) -> f64, legend: Legend| {
        let mut panel =
            Panel::new(Axis::new("outliers among the training rows").percent(), y).legend(legend);
        for model in MODELS {
            for (cost, (name, _)) in COSTS.into_iter().enumerate() {
                let of = cases().into_iter().filter(|c| c.model == model && c.cost == cost);
                let values: Vec<f64> = of.map(|c| over_sets(&skewed.costs, &c, value)).collect();
                let dash = if model == Kind::Polynomial { Dash::Solid } else { Dash::Dashed };
                let (x, color) = (OUTLIERS.to_vec(), colors[cost]);
                let line = Line::new(x.clone(), values.clone()).color(color).dash(dash);
                panel = panel
                    .with(if dash == Dash::Solid { line.label(name) } else { line })
                    .with(Scatter::new(x, values).color(color).radius(2.6).filled());
            }
        }
        panel
    };
    let coverage = panel(
        Axis::new("coverage of intervals of 90%").percent(),
        |row| row.coverage,
        Legend::Hidden,
    );
    Figure::new(960.0, 360.0)
        .columns(3)
        .with(panel(Axis::new("regret in CRPS, as a share").log(), |row| row.crps, Legend::TopLeft))
        .with(panel(Axis::new("regret in NLPD").log(), |row| row.nlpd, Legend::Hidden))
        .with(coverage.with(Rule::horizontal(0.9).dash(Dash::Dotted)))
}
