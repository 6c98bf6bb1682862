//! The Accuracy-Reliability cost against its parts, and against the likelihood.

use errbar::loss::LossKind;
use errbar::score::Beta;
use errbar_report::{Axis, Color, Dash, Figure, Legend, Line, Panel, Scatter, Text, color};

use super::{Claim, Context, Scores, TRAINING, TrainAndTest, listed, number, strings};
use crate::data_set::DataSet;

/// The costs compared. A hundredth of reliability is just enough to keep the search out of the flat
/// region where sigma collapses, and tells that effect from a balance of the two.
pub(super) const COSTS: [(&str, LossKind, Color, Dash); 5] = [
    ("AR", LossKind::Ar(Beta::Heuristic), color::BLACK, Dash::Solid),
    ("CRPS and 1% RS", LossKind::Ar(Beta::Fixed(0.99)), color::SKY, Dash::Solid),
    ("CRPS alone", LossKind::Crps, color::BLUE, Dash::Dashed),
    ("RS alone", LossKind::Ar(Beta::Fixed(0.0)), color::ORANGE, Dash::Dotted),
    ("NLPD", LossKind::Nlpd, color::GREEN, Dash::Solid),
];

/// Numbers of training points.
const SIZES: [usize; 4] = [25, 50, 100, 400];

/// The largest regret on the axis.
const LARGEST: f64 = 100.0;
/// A regret above this is a collapse: somewhere sigma is next to nothing.
const COLLAPSE: f64 = 5.0;

/// Whether a regret is larger than a bound, or not even a number.
fn beyond(regret: f64, bound: f64) -> bool {
    regret.is_nan() || regret > bound
}

/// For each run, size and cost: scores and the regret.
type Runs = Vec<Vec<[(Scores, f64); COSTS.len()]>>;

fn compare(set: DataSet, context: &Context) -> errbar::Result<Option<Runs>> {
    let seed = context.seed;
    context.over_runs(|run| {
        let one = |&size: &usize| {
            let rows = TrainAndTest::new(set, size, set.stream(seed, run), |_| 0.0);
            let oracle = rows.oracle()?.nlpd;
            let mut out = [(Scores { nlpd: 0.0, crps: 0.0, rs: 0.0 }, 0.0); COSTS.len()];
            for (place, (_, loss, ..)) in out.iter_mut().zip(COSTS) {
                let scores = rows.on_test(&rows.fit(loss)?)?;
                *place = (scores, scores.nlpd - oracle);
            }
            Ok(out)
        };
        SIZES.iter().map(one).collect()
    })
}

fn median(runs: &Runs, size: usize, cost: usize, value: impl Fn(&(Scores, f64)) -> f64) -> f64 {
    super::median(runs.iter().map(|run| value(&run[size][cost])))
}

pub(super) fn claim(context: &Context) -> errbar::Result<Option<Claim>> {
    let mut sets = Vec::new();
    for set in DataSet::ONE_DIMENSIONAL {
        match compare(set, context)? {
            Some(runs) => sets.push((set, runs)),
            None => return Ok(None),
        }
    }
    let mut figure = Figure::new(960.0, 380.0).columns(3);
    for (set, runs) in &sets {
        // One legend does for all.
        let legend = if *set == sets[0].0 { Legend::TopRight } else { Legend::Hidden };
        figure = figure.with(panel(*set, runs).legend(legend));
    }
    Ok(Some(Claim {
        name: "claim-2-costs",
        title: "Does reliability help, and where?".to_string(),
        text: text(&sets, context.runs),
        table: Some(table(&sets)),
        figure: Some(figure),
    }))
}

fn panel(set: DataSet, runs: &Runs) -> Panel {
    let sizes: Vec<f64> = SIZES.iter().map(|&size| size as f64).collect();
    let x = Axis::new("training points").log().range(20.0, 500.0);
    let mut panel = Panel::new(x, Axis::new("median regret in NLPD").log().range(0.005, LARGEST))
        .title(set.name());
    for (cost, (name, _, color, dash)) in COSTS.into_iter().enumerate() {
        let regret: Vec<f64> =
            (0..SIZES.len()).map(|size| median(runs, size, cost, |s| s.1)).collect();
        panel = panel
            .with(Line::new(sizes.clone(), regret.clone()).color(color).dash(dash).label(name))
            .with(Scatter::new(sizes.clone(), regret.clone()).color(color).radius(2.6).filled());
        if regret.iter().all(|&regret| beyond(regret, LARGEST)) {
            let text = format!("({name} is beyond the axis)");
            panel = panel.with(Text::new(22.0, 60.0, text));
        }
    }
    panel
}

fn table(sets: &[(DataSet, Runs)]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows = Vec::new();
    for (set, runs) in sets {
        for (size, points) in SIZES.into_iter().enumerate() {
            for (cost, (name, ..)) in COSTS.into_iter().enumerate() {
                let median = |value: fn(&(Scores, f64)) -> f64| median(runs, size, cost, value);
                rows.push(vec![
                    set.name().to_string(),
                    points.to_string(),
                    name.to_string(),
                    number(median(|s| s.0.nlpd), 3),
                    number(median(|s| s.1), 3),
                    number(median(|s| s.0.crps), 4),
                    number(median(|s| s.0.rs), 5),
                ]);
            }
        }
    }
    let heading = ["data", "training points", "cost", "NLPD", "regret", "CRPS", "RS"];
    (strings(heading), rows)
}

fn text(sets: &[(DataSet, Runs)], runs: u64) -> String {
    let mut winners = [0; COSTS.len()];
    for (_, runs) in sets {
        for size in 0..SIZES.len() {
            let regret = |cost: &usize| median(runs, size, *cost, |s| s.1);
            let best = (0..COSTS.len()).min_by(|a, b| regret(a).total_cmp(&regret(b)));
            winners[best.unwrap_or(0)] += 1;
        }
    }
    let winners = COSTS.iter().zip(winners).filter(|(_, wins)| *wins > 0);
    let winners = listed(winners.map(|((name, ..), wins)| format!("{name} in {wins}")));
    let at = SIZES.iter().position(|size| *size == TRAINING).unwrap_or(0);
    let collapsed = |cost: usize| {
        listed(sets.iter().map(|(set, runs)| {
            let wild = runs.iter().filter(|run| beyond(run[at][cost].1, COLLAPSE)).count();
            format!("{wild} on {}", set.name())
        }))
    };
    format!(
        "Medians of {runs} runs, the same polynomials trained by {} costs in {} cases. {} {} With {TRAINING} \
         training points σ collapsed somewhere (a regret above {COLLAPSE}) in so many of {runs} runs: CRPS \
         alone {}; AR {}. The smallest regret has {winners} cases.",
        COSTS.len(),
        sets.len() * SIZES.len(),
        against(sets, 2, true),
        against(sets, 1, false),
        collapsed(2),
        collapsed(0)
    )
}

/// In how many cases AR has a smaller median regret than another cost, and in how many a larger one.
fn against(sets: &[(DataSet, Runs)], other: usize, details: bool) -> String {
    // A difference of less than this share of the regret is none.
    const SHARE: f64 = 0.05;
    let cases = |better: &dyn Fn(f64, f64) -> bool| {
        let mut count = 0;
        let mut of_set = |(set, runs): &(DataSet, Runs)| {
            let mut sizes = Vec::new();
            for (size, points) in SIZES.into_iter().enumerate() {
                let [ar, other] = [0, other].map(|cost| median(runs, size, cost, |s| s.1));
                if better(ar, other) {
                    let (ar, other) = (number(ar, 3), number(other, 3));
                    sizes.push(format!("{points} points: {ar} for {other}"));
                }
            }
            count += sizes.len();
            (!sizes.is_empty()).then(|| format!("{} ({})", set.name(), sizes.join(", ")))
        };
        let list = listed(sets.iter().filter_map(&mut of_set));
        match details && count > 0 {
            true => format!("in {count} cases, {list},"),
            false => format!("in {count}"),
        }
    };
    format!(
        "Against {} AR has a smaller regret by more than 5% {} and a larger one {}.",
        COSTS[other].0,
        cases(&|ar, other| ar < (1.0 - SHARE) * other),
        cases(&|ar, other| ar > (1.0 + SHARE) * other)
    )
}
