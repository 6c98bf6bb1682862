//! A deliberately wrong mean, and the larger sigma it gets.

use std::f64::consts::PI;

use errbar::loss::LossKind;
use errbar::score::Beta;
use errbar_report::{Axis, Band, Dash, Figure, Legend, Line, Panel, color};

use super::{Claim, Context, TRAINING, TrainAndTest, fit, listed, mean, strings};
use crate::data_set::DataSet;
use crate::figures::{between, mean_and_deviation};
use crate::protocol::grid;

/// How far the mean is off at most, in units of the mean true sigma.
pub(super) const AMPLITUDES: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

/// What one data set and one amplitude give.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Estimate {
    /// The largest offset.
    pub(super) amplitude: f64,
    /// The mean over runs of the estimated sigma on the grid, and its standard deviation.
    pub(super) sigma: Vec<(f64, f64)>,
    /// The root of the true sigma squared plus the offset squared, on the grid.
    pub(super) whole: Vec<f64>,
    /// The mean test RS, of the estimated and of the true sigma.
    pub(super) rs: [f64; 2],
}

/// The offset: zero at both ends of the range, largest in the middle.
fn offset(set: DataSet, amplitude: f64, x: f64) -> f64 {
    amplitude * (PI * x / set.range()).sin()
}

pub(super) fn estimates(set: DataSet, context: &Context) -> errbar::Result<Option<Vec<Estimate>>> {
    let (seed, x) = (context.seed, grid(set));
    let unit = mean(x.iter().map(|&x| set.sigma(&[x])));
    let runs = context.over_runs(|run| {
        let one = |amplitude: &f64| {
            let wrong = |x: f64| offset(set, amplitude * unit, x);
            let rows = TrainAndTest::new(set, TRAINING, set.stream(seed, run), wrong);
            let model = rows.fit(LossKind::Ar(Beta::Heuristic))?;
            let rs = rows.on_test(&model)?.rs;
            let truth = rows.oracle()?.rs;
            Ok((model.predict(&x)?, [rs, truth]))
        };
        AMPLITUDES.iter().map(one).collect::<errbar::Result<Vec<_>>>()
    })?;
    Ok(runs.map(|runs| {
        let estimate = |(i, amplitude): (usize, f64)| Estimate {
            amplitude: amplitude * unit,
            sigma: (0..x.len())
                .map(|j| mean_and_deviation(runs.iter().map(|run| run[i].0[j])))
                .collect(),
            whole: x
                .iter()
                .map(|&x| set.sigma(&[x]).hypot(offset(set, amplitude * unit, x)))
                .collect(),
            rs: [0, 1].map(|which| mean(runs.iter().map(|run| run[i].1[which]))),
        };
        AMPLITUDES.into_iter().enumerate().map(estimate).collect()
    }))
}

pub(super) fn claim(context: &Context) -> errbar::Result<Option<Claim>> {
    let mut sets = Vec::new();
    for set in DataSet::ONE_DIMENSIONAL {
        match estimates(set, context)? {
            Some(estimates) => sets.push((set, estimates)),
            None => return Ok(None),
        }
    }
    let x = between(0.0, 1.0, TRAINING);
    let model = fit(&x, &[1.0; TRAINING], LossKind::Ar(Beta::Heuristic))?;
    let all_equal = mean(model.predict(&x)?.into_iter());
    let mut figure = Figure::new(960.0, 780.0).columns(AMPLITUDES.len()).title(
        "Black: mean estimate ± 1 standard deviation. Red: √(σ² + offset²). Red, dotted: true σ.",
    );
    for (set, estimates) in &sets {
        // The same axis for all, so that one sees sigma grow.
        let high = estimates.iter().flat_map(|e| e.sigma.iter().map(|(mean, sd)| mean + sd));
        let most = estimates.iter().flat_map(|e| &e.whole).copied().fold(0.0, f64::max);
        let high = high.filter(|high| high.is_finite()).fold(most, f64::max).min(2.0 * most);
        for (amplitude, estimate) in AMPLITUDES.into_iter().zip(estimates) {
            figure = figure.with(panel(*set, amplitude, estimate, 1.05 * high));
        }
    }
    Ok(Some(Claim {
        name: "claim-3-wrong-mean",
        title: "A deliberately wrong mean".to_string(),
        text: text(&sets, all_equal, context.runs),
        table: Some(table(&sets)),
        figure: Some(figure),
    }))
}

fn panel(set: DataSet, amplitude: f64, estimate: &Estimate, high: f64) -> Panel {
    let x = grid(set);
    let truth: Vec<f64> = x.iter().map(|&x| set.sigma(&[x])).collect();
    let edge = |deviations: f64| -> Vec<f64> {
        estimate.sigma.iter().map(|(mean, sd)| mean + deviations * sd).collect()
    };
    let title = match amplitude {
        0.0 => format!("{}, the right mean", set.name()),
        _ => format!("{}, off by {amplitude} mean σ", set.name()),
    };
    let y = Axis::new("σ(x)").range(0.0, high);
    Panel::new(Axis::new("x").range(0.0, set.range()), y)
        .title(title)
        .legend(Legend::Hidden)
        .with(
            Band::new(x.clone(), edge(-1.0), edge(1.0))
                .color(color::ONE_SD)
                .label("±1 standard deviation"),
        )
        .with(
            Line::new(x.clone(), edge(0.0))
                .color(color::ESTIMATE)
                .width(2.0)
                .label("mean estimate"),
        )
        .with(
            Line::new(x.clone(), estimate.whole.clone())
                .color(color::TRUTH)
                .width(2.0)
                .label("√(σ² + offset²)"),
        )
        .with(Line::new(x, truth).color(color::TRUTH).dash(Dash::Dotted).label("true σ"))
}

fn table(sets: &[(DataSet, Vec<Estimate>)]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows = Vec::new();
    for (set, estimates) in sets {
        for (amplitude, estimate) in AMPLITUDES.iter().zip(estimates) {
            let sigma = mean(estimate.sigma.iter().map(|s| s.0));
            let whole = mean(estimate.whole.iter().copied());
            rows.push(vec![
                set.name().to_string(),
                format!("{amplitude}"),
                format!("{sigma:.3}"),
                format!("{whole:.3}"),
                format!("{:.2}", sigma / whole),
                format!("{:.4}", estimate.rs[0]),
                format!("{:.4}", estimate.rs[1]),
            ]);
        }
    }
    let heading = [
        "data",
        "offset / mean σ",
        "mean estimated σ",
        "mean √(σ² + offset²)",
        "ratio",
        "RS",
        "RS of the true σ",
    ];
    (strings(heading), rows)
}

fn text(sets: &[(DataSet, Vec<Estimate>)], all_equal: f64, runs: u64) -> String {
    let last = AMPLITUDES.len() - 1;
    let sigma = |estimate: &Estimate| mean(estimate.sigma.iter().map(|s| s.0));
    let ratio = |estimate: &Estimate| sigma(estimate) / mean(estimate.whole.iter().copied());
    let grows = listed(sets.iter().map(|(set, e)| {
        format!("from {:.2} to {:.2} on {}", sigma(&e[0]), sigma(&e[last]), set.name())
    }));
    let range = |at: usize| {
        let ratios = || sets.iter().map(|(_, estimates)| ratio(&estimates[at]));
        (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max))
    };
    let reliability = listed(sets.iter().map(|(set, e)| {
        format!("{:.2} on {} where the true σ has {:.2}", e[last].rs[0], set.name(), e[last].rs[1])
    }));
    let (right, wrong) = (range(0), range(last));
    let why = match wrong.0 > 1.05 {
        true => format!(
            " It is more than that because errors of one sign are not Gaussian around zero: for errors that \
             are all equal AR is least at {all_equal:.2} |ε|."
        ),
        false => String::new(),
    };
    format!(
        "The forecast is the true mean plus a·sin(πx/range), with a from 0 to {} times the mean true σ, and σ is \
         estimated from its errors with AR ({runs} runs). Going to the largest offset, the mean estimate \
         changes {grows}. Divided by √(σ² + offset²), the root mean square of the error, it is {:.2} to \
         {:.2} with the right mean and {:.2} to {:.2} with the most wrong one.{why} The RS of the estimate \
         is then {reliability}.",
        AMPLITUDES[last], right.0, right.1, wrong.0, wrong.1
    )
}
