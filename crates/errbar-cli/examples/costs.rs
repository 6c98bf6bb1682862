//! Which cost should I use? The same models of sigma trained by AR, CRPS and NLPD, on real tables.
//!
//! Folders hold a train and a test file of each table (inputs x…, observation y, forecast mu), as
//! `tools/real_tables.py` makes them of forecasts that other people made. Some of the training errors are made
//! ten times as large; the test rows are as they are. The law is a Gaussian of the sigma that the model says,
//! not calibrated afterwards, so that the cost alone speaks.
//!
//! ```sh
//! cargo run --release -p errbar-cli --example costs -- FOLDER [FOLDER ...] --out FILE
//! ```

#[path = "shared/table.rs"]
mod table;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use errbar::fit::{self, Kind, LawKind};
use errbar::loss::LossKind;
use errbar::score::{Sample, calibration, crps, nlpd, reliability};
use errbar::{Data, Silent};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use self::table::Table;

const COSTS: [(&str, LossKind); 3] = [
    ("AR", LossKind::Ar(errbar::score::Beta::Heuristic)),
    ("CRPS", LossKind::Crps),
    ("NLPD", LossKind::Nlpd),
];
const MODELS: [Kind; 3] = [Kind::Polynomial, Kind::Network, Kind::Trees];
const OUTLIERS: [f64; 3] = [0.0, 0.01, 0.05];
/// By this factor.
const LARGER: f64 = 10.0;

#[derive(Parser)]
struct Arguments {
    /// Where the tables are.
    #[arg(required = true)]
    folders: Vec<PathBuf>,

    /// Train on so many rows of a table at most.
    #[arg(long, default_value_t = 5000)]
    most_rows: usize,

    /// The seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Write the result here as well.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// What one cost makes of one table.
struct Judged {
    /// The mean CRPS over that of one sigma, the root mean square of the training errors.
    crps: f64,
    /// The mean negative log density less that of the same.
    nlpd: f64,
    rs: f64,
    coverage: f64,
}

/// A model, a share of outliers, a cost.
type Case = (Kind, f64, usize);

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for model in MODELS {
        for outliers in OUTLIERS {
            all.extend((0..COSTS.len()).map(|cost| (model, outliers, cost)));
        }
    }
    all
}

fn judge(train: &Table, test: &Table, case: Case, seed: u64) -> anyhow::Result<Judged> {
    let (model, outliers, cost) = case;
    let mut error = train.error.clone();
    let mut order: Vec<usize> = (0..error.len()).collect();
    order.shuffle(&mut Pcg64::seed_from_u64(seed));
    let count = (outliers * error.len() as f64).round() as usize;
    order[..count].iter().for_each(|&row| error[row] *= LARGER);
    let options = fit::Options::default()
        .kind(model)
        .loss(COSTS[cost].1)
        .law(LawKind::Normal)
        .recalibrate(false)
        .validation(0.0)
        .seed(seed);
    let data = Data::new(&train.inputs, train.names.len(), &error)?;
    let fitted = fit::fit(&data, &train.names, &options, &Silent)?.fitted;
    let said = fitted.predict(&test.inputs)?;
    let square = train.error.iter().map(|e| e * e).sum::<f64>() / train.error.len() as f64;
    let one = vec![square.sqrt(); test.error.len()];
    let (own, plain) = (Sample::new(&test.error, said.sigma())?, Sample::new(&test.error, &one)?);
    let held = calibration::coverage(&own, &[0.9], 0.95)?;
    Ok(Judged {
        crps: crps::mean(&own) / crps::mean(&plain),
        nlpd: nlpd::mean(&own) - nlpd::mean(&plain),
        rs: reliability::reliability(&own),
        coverage: held.first().map_or(f64::NAN, |held| held.observed),
    })
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut tables = Vec::new();
    for folder in &arguments.folders {
        for name in table::names(folder)? {
            let [train, test] =
                ["train", "test"].map(|part| folder.join(format!("{name}_{part}.csv")));
            tables.push((
                name,
                Table::read(&train)?.thinned(arguments.most_rows),
                Table::read(&test)?,
            ));
        }
    }
    let jobs: Vec<(&(String, Table, Table), Case)> = tables
        .iter()
        .flat_map(|table| cases().into_iter().map(move |case| (table, case)))
        .collect();
    let judged: Vec<Judged> = (jobs.par_iter())
        .map(|((name, train, test), case)| {
            eprintln!("{name}: {} by {}", case.0.name(), COSTS[case.2].0);
            judge(train, test, *case, arguments.seed).with_context(|| name.clone())
        })
        .collect::<anyhow::Result<_>>()?;
    let names: Vec<&str> = tables.iter().map(|(name, ..)| name.as_str()).collect();
    let text = page(&names, &judged, &arguments)?;
    print!("{text}");
    if let Some(out) = &arguments.out {
        std::fs::write(out, text).with_context(|| format!("cannot write {}", out.display()))?;
    }
    Ok(())
}

fn page(names: &[&str], judged: &[Judged], arguments: &Arguments) -> anyhow::Result<String> {
    let mut text = String::new();
    writeln!(text, "# Which cost should I use? On {} real tables\n", names.len())?;
    writeln!(
        text,
        "Trained on at most {} rows of each train file, judged by the test file. CRPS is over that of one \
         sigma, the root mean square of the training errors (geometric mean of all tables), NLPD less that of \
         the same; RS is the mean over tables in units of the mean of its three costs there; the best of three \
         in bold. In some of the training rows the error is {LARGER} times as large as it was. Tables: {}.\n",
        arguments.most_rows,
        names.join(", ")
    )?;
    writeln!(
        text,
        "| model | outliers | cost | CRPS | NLPD | RS | coverage of 90% | largest CRPS | tables of least CRPS |"
    )?;
    writeln!(text, "|---|--:|---|--:|--:|--:|--:|--:|--:|")?;
    let (count, cases) = (names.len() as f64, cases());
    let of = |case: usize| judged.iter().skip(case).step_by(cases.len());
    for three in (0..cases.len()).step_by(COSTS.len()) {
        let rows: Vec<[f64; 6]> = (three..three + COSTS.len())
            .map(|case| {
                let mean =
                    |value: &dyn Fn(&Judged) -> f64| of(case).map(value).sum::<f64>() / count;
                let rs = |table: usize| {
                    let all =
                        (three..three + COSTS.len()).map(|c| judged[table * cases.len() + c].rs);
                    judged[table * cases.len() + case].rs / (all.sum::<f64>() / COSTS.len() as f64)
                };
                let least = |table: usize| {
                    let all =
                        (three..three + COSTS.len()).map(|c| judged[table * cases.len() + c].crps);
                    judged[table * cases.len() + case].crps <= all.fold(f64::INFINITY, f64::min)
                };
                [
                    mean(&|one| one.crps.ln()).exp(),
                    mean(&|one| one.nlpd),
                    (0..names.len()).map(rs).sum::<f64>() / count,
                    mean(&|one| one.coverage),
                    of(case).map(|one| one.crps).fold(0.0, f64::max),
                    (0..names.len()).filter(|table| least(*table)).count() as f64,
                ]
            })
            .collect();
        let off = |column: usize, value: f64| if column == 3 { (value - 0.9).abs() } else { value };
        let best = |column: usize, row: usize| {
            rows.iter().all(|other| off(column, rows[row][column]) <= off(column, other[column]))
        };
        for (row, values) in rows.iter().enumerate() {
            let (model, outliers, cost) = cases[three + row];
            let bold = |column: usize, text: String| {
                if best(column, row) { format!("**{text}**") } else { text }
            };
            writeln!(
                text,
                "| {} | {:.0}% | {} | {} | {} | {} | {} | {:.3} | {:.0} |",
                model.name(),
                100.0 * outliers,
                COSTS[cost].0,
                bold(0, format!("{:.4}", values[0])),
                bold(1, format!("{:.3}", values[1])),
                bold(2, format!("{:.2}", values[2])),
                bold(3, format!("{:.1}%", 100.0 * values[3])),
                values[4],
                values[5]
            )?;
        }
    }
    Ok(text)
}

impl Table {
    /// Every so many of its rows.
    fn thinned(self, most: usize) -> Self {
        let (columns, every) = (self.names.len(), self.error.len().div_ceil(most));
        Self {
            inputs: self.inputs.chunks(columns).step_by(every).flatten().copied().collect(),
            error: self.error.into_iter().step_by(every).collect(),
            names: self.names,
        }
    }
}
