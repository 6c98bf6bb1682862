//! Accuracy against reliability as beta goes from 0 to 1.

use errbar::loss::LossKind;
use errbar::score::Beta;
use errbar_report::{Anchor, Axis, Dash, Figure, Legend, Line, Panel, Rule, Scatter, Text, color};

use super::{Claim, Context, ORDER, Scores, TRAINING, TrainAndTest, middle, number, strings};
use crate::data_set::DataSet;

/// The betas of the curve.
pub(super) const BETAS: [f64; 13] =
    [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0];

/// CRPS and RS, averaged over the middle half of the runs: where accuracy alone counts, some runs let
/// a sigma collapse, and a plain mean would show nothing else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) crps: f64,
    pub(super) rs: f64,
    /// CRPS minus that of the true sigma in the same run.
    pub(super) excess: f64,
}

/// What one data set gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    /// Training rows, for each beta and the heuristic one.
    pub(super) training: Vec<Place>,
    /// Test rows, likewise.
    pub(super) test: Vec<Place>,
    /// The true sigma on test rows.
    pub(super) truth: Place,
    /// The heuristic beta in the errors' own scale.
    pub(super) beta: f64,
}

/// The place of the heuristic beta, after those of the curve.
const HEURISTIC: usize = BETAS.len();
/// The last place of the curve.
const LAST: usize = BETAS.len() - 1;

/// Training and test scores for each beta, and those of the true sigma.
type OneRun = (Vec<[Scores; 2]>, [Scores; 2]);

pub(super) fn one_run(set: DataSet, seed: u64, run: u64) -> errbar::Result<OneRun> {
    let rows = TrainAndTest::new(set, TRAINING, set.stream(seed, run), |_| 0.0);
    let mut scores = Vec::new();
    for beta in BETAS.map(Beta::Fixed).into_iter().chain([Beta::Heuristic]) {
        let model = rows.fit(LossKind::Ar(beta))?;
        let training = Scores::of(&rows.error, &model.predict(&rows.x)?)?;
        scores.push([training, rows.on_test(&model)?]);
    }
    let truth: Vec<f64> = rows.x.iter().map(|&x| set.sigma(&[x])).collect();
    Ok((scores, [Scores::of(&rows.error, &truth)?, rows.oracle()?]))
}

fn curve(set: DataSet, context: &Context) -> errbar::Result<Option<Curve>> {
    let Some(runs) = context.over_runs(|run| one_run(set, context.seed, run))? else {
        return Ok(None);
    };
    let over = |which: usize, pick: &dyn Fn(&OneRun) -> Scores| Place {
        crps: middle(runs.iter().map(|run| pick(run).crps)),
        rs: middle(runs.iter().map(|run| pick(run).rs)),
        excess: middle(runs.iter().map(|run| pick(run).crps - run.1[which].crps)),
    };
    let places = |which: usize| -> Vec<Place> {
        (0..=HEURISTIC).map(|i| over(which, &|run| run.0[i][which])).collect()
    };
    Ok(Some(Curve {
        training: places(0),
        test: places(1),
        truth: over(1, &|run| run.1[1]),
        beta: Beta::Heuristic.value(1.0, TRAINING)?,
    }))
}

pub(super) fn claim(context: &Context) -> errbar::Result<Option<Claim>> {
    let mut curves = Vec::new();
    for set in DataSet::ONE_DIMENSIONAL {
        match curve(set, context)? {
            Some(curve) => curves.push((set, curve)),
            None => return Ok(None),
        }
    }
    let beta = curves.first().map_or(f64::NAN, |(_, curve)| curve.beta);
    let mut figure = Figure::new(960.0, 660.0).columns(3).title(format!(
        "Blue: β from 0 to 1. Circle: the heuristic β, {beta:.2}. Red, dashed: RS of the true σ."
    ));
    for (set, curve) in &curves {
        figure = figure.with(panel(*set, curve, true));
    }
    for (set, curve) in &curves {
        figure = figure.with(panel(*set, curve, false));
    }
    Ok(Some(Claim {
        name: "claim-1-trade-off",
        title: "Accuracy against reliability as β goes from 0 to 1".to_string(),
        text: text(&curves, context.runs),
        table: Some(table(&curves)),
        figure: Some(figure),
    }))
}

fn panel(set: DataSet, curve: &Curve, training: bool) -> Panel {
    let (places, rows) = match training {
        true => (&curve.training, "training points"),
        false => (&curve.test, "test points"),
    };
    let x = |place: &Place| 1000.0 * place.rs;
    let (rs, excess): (Vec<f64>, Vec<f64>) = places.iter().map(|p| (x(p), p.excess)).unzip();
    // Where sigma collapses, RS is beyond any axis.
    let high = 1.35 * rs.iter().copied().filter(|rs| *rs < 10.0).fold(0.0, f64::max);
    let axis = Axis::new("1000 · RS").range(0.0, high);
    let mut panel = Panel::new(axis, "CRPS − CRPS of the true σ")
        .title(format!("{}, {rows}", set.name()))
        .legend(Legend::Hidden)
        .with(Line::new(&rs[..=LAST], &excess[..=LAST]).color(color::BLUE))
        .with(Scatter::new(&rs[..=LAST], &excess[..=LAST]).color(color::BLUE).radius(2.5).filled())
        .with(Scatter::new([rs[HEURISTIC]], [excess[HEURISTIC]]).radius(5.5).color(color::BLACK));
    for i in [0, LAST] {
        let text = format!("β = {}", BETAS[i]);
        panel = panel.with(if rs[i] < high {
            Text::new(rs[i] + 0.04 * high, excess[i], text)
        } else {
            // Above the line that leads there.
            let y = 0.94 * excess[LAST - 1] + 0.06 * excess[0];
            Text::new(0.97 * high, y, text + " →").anchor(Anchor::End)
        });
    }
    if !training {
        panel = panel.with(Rule::vertical(x(&curve.truth)).color(color::TRUTH).dash(Dash::Dashed));
    }
    panel
}

fn table(curves: &[(DataSet, Curve)]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows = Vec::new();
    for (set, curve) in curves {
        let mut row = |beta: String, training: Option<Place>, test: Place| {
            let training = training.map_or([String::new(), String::new()], |place| {
                [number(place.crps, 4), number(place.rs, 5)]
            });
            let [crps, rs] = training;
            rows.push(vec![
                set.name().to_string(),
                beta,
                crps,
                rs,
                number(test.crps, 4),
                number(test.rs, 5),
            ]);
        };
        for beta in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
            if let Some(i) = BETAS.iter().position(|b| *b == beta) {
                row(format!("{beta}"), Some(curve.training[i]), curve.test[i]);
            }
        }
        let heuristic = format!("heuristic ({:.3})", curve.beta);
        row(heuristic, Some(curve.training[HEURISTIC]), curve.test[HEURISTIC]);
        row("true σ".to_string(), None, curve.truth);
    }
    let heading = ["data", "β", "training CRPS", "training RS", "test CRPS", "test RS"];
    (strings(heading), rows)
}

fn text(curves: &[(DataSet, Curve)], runs: u64) -> String {
    let per_set = |sentence: &dyn Fn(&str, &Curve) -> String| {
        let parts: Vec<String> = curves.iter().map(|(set, c)| sentence(set.name(), c)).collect();
        parts.join("; ")
    };
    let training = per_set(&|set, curve| {
        let (low, high) = (curve.training[0], curve.training[LAST]);
        let [low_rs, high_rs] = [low.rs, high.rs].map(|rs| number(rs, 4));
        let [low_crps, high_crps] = [low.crps, high.crps].map(|crps| number(crps, 4));
        format!("on {set} RS from {low_rs} to {high_rs}, CRPS from {low_crps} to {high_crps}")
    });
    let test = per_set(&|set, curve| {
        let least = |of: fn(&Place) -> f64| {
            let better = |a: &usize, b: &usize| of(&curve.test[*a]).total_cmp(&of(&curve.test[*b]));
            let at = (0..=LAST).min_by(better).unwrap_or(0);
            (BETAS[at], of(&curve.test[at]))
        };
        let (crps, rs) = (least(|place| place.crps), least(|place| place.rs));
        let above = |value: f64, least: f64| (100.0 * (value / least - 1.0)).max(0.0);
        format!(
            "on {set} CRPS at β = {} and RS at β = {}, where the heuristic has {:.1}% more CRPS and {:.0}% more RS",
            crps.0,
            rs.0,
            above(curve.test[HEURISTIC].crps, crps.1),
            above(curve.test[HEURISTIC].rs, rs.1)
        )
    });
    let caught: String = curves
        .iter()
        .filter(|(_, c)| c.training[..LAST].iter().any(|p| p.crps < 0.999 * c.training[LAST].crps))
        .map(|(set, curve)| {
            format!(
                " On {} accuracy alone does not even reach the least training CRPS: the search ends short of it, \
                 probably where σ has collapsed and CRPS is flat (its slope in ln σ is proportional to σ); at \
                 β = {} it does not, and RS is {}.",
                set.name(),
                BETAS[LAST - 1],
                number(curve.training[LAST - 1].rs, 4)
            )
        })
        .collect();
    let both = curves.iter().filter(|(_, curve)| {
        let (heuristic, ends) = (curve.test[HEURISTIC], (curve.test[0], curve.test[LAST]));
        heuristic.rs < ends.1.rs && heuristic.crps < ends.0.crps
    });
    format!(
        "Means of the middle half of {runs} runs, polynomials of order {ORDER} for ln σ. On the training points, \
         where the cost is at work, β from 0 to 1 takes, {training}.{caught} On new points the least is, \
         {test}. The heuristic β ({:.2} in the errors' own scale) is both more reliable than accuracy \
         alone and more accurate than reliability alone on {} of {} data sets.",
        curves.first().map_or(f64::NAN, |(_, curve)| curve.beta),
        both.count(),
        curves.len()
    )
}
