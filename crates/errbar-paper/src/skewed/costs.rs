//! Which cost: sigma by AR, CRPS and NLPD in the same models, with outliers among the rows they learn from.

use std::fmt::Write as _;

use errbar::fit::{self, Kind, LawKind};
use errbar::loss::LossKind;
use errbar::score::Beta;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::figures::cost_figure;
use super::{NEW, Regret, Run, Skewed, SkewedSet, mean_and_error};
use crate::claims::{Claim, listed, strings};

/// The costs compared.
pub(super) const COSTS: [(&str, LossKind); 3] =
    [("AR", LossKind::Ar(Beta::Heuristic)), ("CRPS", LossKind::Crps), ("NLPD", LossKind::Nlpd)];
/// The models they train.
pub(super) const MODELS: [Kind; 2] = [Kind::Polynomial, Kind::Network];
/// The shares of training rows whose errors are made larger.
pub const OUTLIERS: [f64; 3] = [0.0, 0.01, 0.05];
/// By this factor.
const LARGER: f64 = 10.0;

/// A model, a cost and a share of outliers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) model: Kind,
    pub(super) cost: usize,
    pub(super) outliers: f64,
}

/// All of them, in the order of the table.
pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for model in MODELS {
        for outliers in OUTLIERS {
            all.extend((0..COSTS.len()).map(|cost| Case { model, cost, outliers }));
        }
    }
    all
}

impl Case {
    /// A Gaussian as wide as the model says: no held-out rows repair what the cost made.
    pub(super) fn options(&self) -> fit::Options {
        fit::Options::default()
            .kind(self.model)
            .loss(COSTS[self.cost].1)
            .law(LawKind::Normal)
            .recalibrate(false)
            .validation(0.0)
    }
}

/// An order of the training rows: outliers are the first of it, so that more of them include the fewer.
pub(super) struct Outliers(Vec<usize>);

impl Outliers {
    pub(super) fn new(rows: usize, rng: &mut Pcg64) -> Self {
        let mut order: Vec<usize> = (0..rows).collect();
        for last in (1..rows).rev() {
            order.swap(last, rng.random_range(0..=last));
        }
        Self(order)
    }

    /// The errors with a share of them made larger.
    pub(super) fn among(&self, error: &[f64], share: f64) -> Vec<f64> {
        let mut error = error.to_vec();
        let count = (share * error.len() as f64).round() as usize;
        self.0[..count].iter().for_each(|&row| error[row] *= LARGER);
        error
    }
}

/// One cost in one model on one set, over all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CostRow {
    /// The set.
    pub set: SkewedSet,
    /// The model.
    pub model: Kind,
    /// The cost.
    pub cost: &'static str,
    /// The share of training rows whose errors are ten times as large.
    pub outliers: f64,
    /// The mean over runs of the regret in CRPS, as a share of the true law's.
    pub crps: f64,
    /// The mean of the regret in NLPD.
    pub nlpd: f64,
    /// The mean Reliability Score.
    pub rs: f64,
    /// The mean share of new rows that intervals of 90% hold.
    pub coverage: f64,
}

pub(super) fn rows(runs: &[Run]) -> Vec<CostRow> {
    let one = |(i, Case { model, cost, outliers }): (usize, Case)| {
        let of = |value: fn(&Regret) -> f64| {
            mean_and_error(&runs.iter().map(|run| value(&run.costs[i])).collect::<Vec<f64>>()).0
        };
        CostRow {
            set: runs[0].set,
            model,
            cost: COSTS[cost].0,
            outliers,
            crps: of(|regret| regret.crps),
            nlpd: of(|regret| regret.nlpd),
            rs: of(|regret| regret.rs),
            coverage: of(|regret| regret.coverage),
        }
    };
    cases().into_iter().enumerate().map(one).collect()
}

/// A column of the table: its name, what the best of it is called, what it shows, how far that is from the
/// best there is, and how it is written.
struct Column {
    name: &'static str,
    best: &'static str,
    value: fn(&CostRow) -> f64,
    off: fn(f64) -> f64,
    written: fn(f64) -> String,
}

const COLUMNS: [Column; 4] = [
    Column {
        name: "regret in CRPS",
        best: "the least regret in CRPS",
        value: |row| row.crps,
        off: |regret| regret,
        written: |regret| format!("{regret:.4}"),
    },
    Column {
        name: "regret in NLPD",
        best: "the least regret in NLPD",
        value: |row| row.nlpd,
        off: |regret| regret,
        written: |regret| format!("{regret:.4}"),
    },
    Column {
        name: "RS",
        best: "the least RS",
        value: |row| row.rs,
        off: |rs| rs,
        written: |rs| format!("{rs:.5}"),
    },
    Column {
        name: "coverage of 90%",
        best: "the coverage nearest to 90%",
        value: |row| row.coverage,
        off: |coverage| (coverage - 0.9).abs(),
        written: |coverage| format!("{:.1}%", 100.0 * coverage),
    },
];

/// The mean over sets of what one case has.
pub(super) fn over_sets(rows: &[CostRow], case: &Case, value: fn(&CostRow) -> f64) -> f64 {
    let values: Vec<f64> = of_case(rows, case).map(value).collect();
    mean_and_error(&values).0
}

fn of_case<'a>(rows: &'a [CostRow], case: &Case) -> impl Iterator<Item = &'a CostRow> {
    let Case { model, cost, outliers } = *case;
    rows.iter()
        .filter(move |row| (row.model, row.cost, row.outliers) == (model, COSTS[cost].0, outliers))
}

/// The cost that is nearest to the best there is, among some cases, by what a function says of each.
fn nearest(cases: &[Case], off: impl Fn(&Case) -> f64) -> Option<usize> {
    cases.iter().min_by(|a, b| off(a).total_cmp(&off(b))).map(|case| case.cost)
}

pub(super) fn claim(skewed: &Skewed) -> Claim {
    let rows = &skewed.costs;
    let mut lines = Vec::new();
    for cases in cases().chunks(COSTS.len()) {
        for case in cases {
            let mut cells = vec![
                case.model.name().to_string(),
                format!("{:.0}%", 100.0 * case.outliers),
                COSTS[case.cost].0.to_string(),
            ];
            for column in &COLUMNS {
                let of = |case: &Case| over_sets(rows, case, column.value);
                let best = nearest(cases, |case| (column.off)(of(case))) == Some(case.cost);
                let bold = if best { "**" } else { "" };
                cells.push(format!("{bold}{}{bold}", (column.written)(of(case))));
            }
            for value in [COLUMNS[0].value, COLUMNS[1].value] {
                cells.push(best_on(skewed, cases, case.cost, value).to_string());
            }
            lines.push(cells);
        }
    }
    let heads = strings([
        "model",
        "outliers",
        "cost",
        COLUMNS[0].name,
        COLUMNS[1].name,
        COLUMNS[2].name,
        COLUMNS[3].name,
        "sets of least CRPS",
        "sets of least NLPD",
    ]);
    Claim {
        name: "skewed-costs",
        title: "Which cost should I use?".into(),
        text: format!(
            "The same models trained by three costs, on the same sets; in some of the {} training rows the error is ten \
             times as large as it was, and the {NEW} new rows are clean. The law is a Gaussian of the sigma \
             that the model says, not calibrated afterwards, so that the cost alone speaks. Means over {} \
             sets with {} of each; the best of each three in bold. (Networks are dashed in the figure.)\n\n{}",
            skewed.training,
            skewed.sets.len(),
            skewed.in_words(),
            sentences(rows)
        ),
        table: Some((heads, lines)),
        figure: Some(cost_figure(skewed)),
    }
}

/// On how many sets a cost has the least of something.
fn best_on(skewed: &Skewed, cases: &[Case], cost: usize, value: fn(&CostRow) -> f64) -> usize {
    let best = |set: SkewedSet| {
        let of = |case: &Case| of_case(&skewed.costs, case).find(|row| row.set == set).map(value);
        nearest(cases, |case| of(case).unwrap_or(f64::INFINITY))
    };
    skewed.sets.iter().filter(|set| best(**set) == Some(cost)).count()
}

/// What the table says.
fn sentences(rows: &[CostRow]) -> String {
    let all = cases();
    let with = |share: f64| {
        // Who gives what, in the order of columns.
        let mut given: Vec<(String, Vec<String>)> = Vec::new();
        for column in &COLUMNS {
            let best = MODELS.map(|model| {
                let of = |case: &&Case| case.outliers == share && case.model == model;
                let cases: Vec<Case> = all.iter().filter(of).copied().collect();
                let off = |case: &Case| (column.off)(over_sets(rows, case, column.value));
                nearest(&cases, off).map_or("", |cost| COSTS[cost].0)
            });
            let who = match best[0] == best[1] {
                true => best[0].to_string(),
                false => format!("{} (polynomial) or {} (network)", best[0], best[1]),
            };
            match given.iter_mut().find(|(other, _)| *other == who) {
                Some((_, what)) => what.push(column.best.to_string()),
                None => given.push((who, vec![column.best.to_string()])),
            }
        }
        let given = given.into_iter().map(|(who, what)| format!("{who} gives {}", listed(what)));
        format!("With {:.0}% outliers {}.", 100.0 * share, given.collect::<Vec<_>>().join("; "))
    };
    let most = COSTS.iter().enumerate().map(|(cost, (name, _))| {
        let of = all.iter().filter(|case| case.cost == cost);
        let regrets = of.map(|case| over_sets(rows, case, |row| row.crps));
        format!("{:.3} by {name}", regrets.fold(f64::NEG_INFINITY, f64::max))
    });
    format!(
        "{} Over all shares of outliers the regret in CRPS is at most {}.",
        OUTLIERS.map(with).join(" "),
        listed(most)
    )
}

pub(super) fn csv(rows: &[CostRow]) -> String {
    let mut out =
        String::from("errors,model,cost,outliers,crps_regret,nlpd_regret,rs,coverage_90\n");
    for CostRow { set, model, cost, outliers, crps, nlpd, rs, coverage } in rows {
        let _ = writeln!(
            out,
            "\"{}\",{},{cost},{outliers},{crps:.6},{nlpd:.6},{rs:.6},{coverage:.4}",
            set.name(),
            model.name()
        );
    }
    out
}
