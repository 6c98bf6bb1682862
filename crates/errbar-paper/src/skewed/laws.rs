//! Which law: every kind alone, and the one that held-out rows choose.

use std::fmt::Write as _;

use errbar::fit::{self, Kind, LawKind};
use errbar::law::{Base, Law};

use super::figures::{PLACE, density_figure, regret_figure};
use super::{NEW, Run, Skewed, SkewedSet, mean_and_error};
use crate::claims::{Claim, listed};

/// The kinds of law, the simplest first, and the choice among them.
pub(super) const KINDS: [LawKind; 8] = [
    LawKind::Normal,
    LawKind::Logistic,
    LawKind::T,
    LawKind::Laplace,
    LawKind::TwoPieceNormal,
    LawKind::TwoPieceLaplace,
    LawKind::TwoPieceT,
    LawKind::Auto,
];

/// A polynomial throughout, so that nothing but the law differs.
pub(super) fn options(kind: LawKind) -> fit::Options {
    fit::Options::default().kind(Kind::Polynomial).law(kind)
}

/// One kind of law on one set, over all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct LawRow {
    /// The set.
    pub set: SkewedSet,
    /// The kind of law.
    pub kind: LawKind,
    /// The mean over runs of the regret in CRPS, as a share of the true law's; and its standard error.
    pub crps: (f64, f64),
    /// The mean of the regret in NLPD, and its standard error.
    pub nlpd: (f64, f64),
    /// The mean share of new rows that intervals of 90% hold.
    pub coverage: f64,
    /// Which kinds it turned out to be, in how many runs, the most frequent first.
    pub became: Vec<(LawKind, usize)>,
}

pub(super) fn rows(runs: &[Run]) -> Vec<LawRow> {
    let one = |(i, kind): (usize, LawKind)| {
        let of = |value: &dyn Fn(&super::Regret) -> f64| {
            mean_and_error(&runs.iter().map(|run| value(&run.laws[i].0)).collect::<Vec<f64>>())
        };
        let count =
            |kind: LawKind| runs.iter().filter(|run| kind_of(run.laws[i].1.law()) == kind).count();
        let mut became: Vec<(LawKind, usize)> = KINDS.map(|kind| (kind, count(kind))).to_vec();
        became.retain(|(_, count)| *count > 0);
        became.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        LawRow {
            set: runs[0].set,
            kind,
            crps: of(&|regret| regret.crps),
            nlpd: of(&|regret| regret.nlpd),
            coverage: of(&|regret| regret.coverage).0,
            became,
        }
    };
    KINDS.into_iter().enumerate().map(one).collect()
}

/// What kind a law is.
fn kind_of(law: &Law) -> LawKind {
    match (law.base, law.left != law.right) {
        (Base::Normal, false) => LawKind::Normal,
        (Base::Normal, true) => LawKind::TwoPieceNormal,
        (Base::Logistic, _) => LawKind::Logistic,
        (Base::Laplace, false) => LawKind::Laplace,
        (Base::Laplace, true) => LawKind::TwoPieceLaplace,
        (Base::StudentT { .. }, false) => LawKind::T,
        (Base::StudentT { .. }, true) => LawKind::TwoPieceT,
    }
}

/// How the choice did on one set, beside the best kind alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// The set.
    pub set: SkewedSet,
    /// The kind of the least regret.
    pub best: LawKind,
    /// Its regret.
    pub least: f64,
    /// The regret of the choice.
    pub auto: f64,
}

impl Goal {
    /// What the choice may have at most: 1.2 times the least, or 0.003 more.
    #[must_use]
    pub fn limit(&self) -> f64 {
        (1.2 * self.least).max(self.least + 0.003)
    }

    /// Whether it has no more.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.auto <= self.limit()
    }

    /// Of every set, by one of the scores.
    fn all(rows: &[LawRow], score: fn(&LawRow) -> (f64, f64)) -> Vec<Self> {
        let one = |rows: &[LawRow]| -> Option<Self> {
            let (auto, single): (Vec<_>, Vec<_>) =
                rows.iter().partition(|row| row.kind == LawKind::Auto);
            let best = single.iter().min_by(|a, b| score(a).0.total_cmp(&score(b).0))?;
            let (set, auto) = (best.set, score(auto.first()?).0);
            Some(Self { set, best: best.kind, least: score(best).0, auto })
        };
        rows.chunks(KINDS.len()).filter_map(one).collect()
    }
}

impl Skewed {
    /// How the choice of a law did by CRPS, and by NLPD.
    #[must_use]
    pub fn goals(&self) -> [Vec<Goal>; 2] {
        [Goal::all(&self.laws, |row| row.crps), Goal::all(&self.laws, |row| row.nlpd)]
    }
}

pub(super) fn by_crps(skewed: &Skewed) -> Claim {
    let table = Table { title: "CRPS", score: |row| row.crps };
    Claim {
        name: "skewed-regret",
        title: "Which law for skewed errors, by CRPS".into(),
        text: format!(
            "Regret in CRPS: the mean on {NEW} new rows over that of the true law on the same rows, less 1. Means of \
             {} with {} training rows each, standard errors in brackets, the best single law in bold. Sigma \
             is a polynomial throughout. {}",
            skewed.in_words(),
            skewed.training,
            table.verdict(skewed)
        ),
        table: Some(table.of(skewed)),
        figure: Some(regret_figure(skewed)),
    }
}

pub(super) fn by_nlpd(skewed: &Skewed) -> Claim {
    let table = Table { title: "NLPD", score: |row| row.nlpd };
    Claim {
        name: "skewed-laws",
        title: "Which law for skewed errors, by NLPD".into(),
        text: format!(
            "Regret in NLPD: the mean on the same rows less that of the true law. {} The last column says \
             in how many runs auto chose which law; the figure shows the true laws where inputs are {}, \
             with what normal and auto made of them in the first run.",
            table.verdict(skewed),
            PLACE[0]
        ),
        table: Some(table.of(skewed)),
        figure: Some(density_figure(&skewed.shown)),
    }
}

/// Regrets by one score: sets below each other, kinds of laws side by side.
struct Table {
    title: &'static str,
    score: fn(&LawRow) -> (f64, f64),
}

impl Table {
    fn of(&self, skewed: &Skewed) -> (Vec<String>, Vec<Vec<String>>) {
        let score = self.score;
        let goals = Goal::all(&skewed.laws, score);
        let mut heads = vec![String::from("errors")];
        heads.extend(KINDS.map(|kind| kind.name().to_string()));
        heads.extend(["auto may have".into(), "goal".into(), "auto chose".into()]);
        let line = |(rows, goal): (&[LawRow], &Goal)| {
            let mut cells = vec![goal.set.name().to_string()];
            cells.extend(rows.iter().map(|row| {
                let (mean, error) = score(row);
                let bold = if row.kind == goal.best { "**" } else { "" };
                format!("{bold}{mean:.4}{bold} ({error:.4})")
            }));
            cells.push(format!("{:.4}", goal.limit()));
            cells.push(if goal.is_met() { "met" } else { "missed" }.into());
            let became = rows.last().map(|row| row.became.as_slice()).unwrap_or_default();
            let became: Vec<String> =
                became.iter().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
            cells.push(became.join(", "));
            cells
        };
        (heads, skewed.laws.chunks(KINDS.len()).zip(&goals).map(line).collect())
    }

    fn verdict(&self, skewed: &Skewed) -> String {
        let goals = Goal::all(&skewed.laws, self.score);
        let missed: Vec<String> = goals
            .iter()
            .filter(|goal| !goal.is_met())
            .map(|goal| {
                let Goal { set, best, least, auto } = goal;
                format!("{} ({auto:.4}, the best, {}, has {least:.4})", set.name(), best.name())
            })
            .collect();
        let (met, all) = (goals.len() - missed.len(), goals.len());
        let goal = format!(
            "By {} auto, which lets held-out rows choose, has at most 1.2 times the regret of the best single \
             law, or 0.003 more, on {met} of {all} sets",
            self.title
        );
        match missed.is_empty() {
            true => goal + ".",
            false => format!("{goal}; not on {}.", listed(missed)),
        }
    }
}

pub(super) fn csv(rows: &[LawRow]) -> String {
    let mut out =
        String::from("errors,law,crps_regret,crps_error,nlpd_regret,nlpd_error,coverage_90\n");
    for LawRow { set, kind, crps, nlpd, coverage, .. } in rows {
        let _ = writeln!(
            out,
            "\"{}\",{},{:.6},{:.6},{:.6},{:.6},{coverage:.4}",
            set.name(),
            kind.name(),
            crps.0,
            crps.1,
            nlpd.0,
            nlpd.1
        );
    }
    out
}
