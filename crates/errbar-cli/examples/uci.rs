//! Error bars on ten real tables: every model of sigma, and other libraries beside them.
//!
//! The folder holds a train and a test file of each table (inputs x…, observation y, forecast mu)
//! and what other libraries make of them, `peers.csv`. Models learn from the train files alone, with
//! the inputs and the forecast; the test files judge them.
//!
//! ```sh
//! cargo run --release -p errbar-cli --example uci -- FOLDER --models constant,trees --out FILE
//! ```
//!
//! With `--folds 5` the test files stay closed: each table is judged by cross-validation within its
//! train file. That is the way to choose settings.

#[path = "shared/table.rs"]
mod table;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::Parser;
use errbar::fit::{self, Kind, LawKind};
use errbar::law::{self, ErrorLaw};
use errbar::score::{Sample, calibration, crps, nlpd};
use errbar::{Data, Silent};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use self::table::Table;

const LEVELS: [f64; 3] = [0.5, 0.9, 0.99];

/// Bootstrap samples of an interval.
const REPLICATES: usize = 2000;

#[derive(Parser)]
struct Arguments {
    /// Where the tables are.
    folder: PathBuf,

    /// Which models; the constant one is always fitted, as the measure of the others.
    #[arg(long, value_delimiter = ',', default_value = "polynomial,smooth,network,trees,auto")]
    models: Vec<String>,

    /// Which tables; all of them if none are named.
    #[arg(long, value_delimiter = ',')]
    tables: Vec<String>,

    /// Judge by cross-validation with so many folds within the train files.
    #[arg(long)]
    folds: Option<usize>,

    /// Use so many rows of a table at most.
    #[arg(long, default_value_t = usize::MAX)]
    most_rows: usize,

    /// Learn the bias as well, and move forecasts by it (but for the constant model).
    #[arg(long)]
    debias: bool,

    /// The law of the errors, as errbar fit --law; paper is the Gaussian without recalibration, and the
    /// constant model always has that.
    #[arg(long, default_value = "auto")]
    law: String,

    /// Train models a second time by the cost of the law that their errors have, as errbar fit --loss law.
    #[arg(long)]
    by_law: bool,

    /// The seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Write the result here as well.
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut models = vec![Kind::Constant];
    for name in arguments.models.iter().filter(|name| *name != "constant") {
        models.push(
            serde_json::from_value(name.as_str().into())
                .with_context(|| format!("there is no model '{name}'"))?,
        );
    }
    let mut results = Vec::new();
    for name in tables(&arguments)? {
        let table = Table::read(&arguments.folder.join(format!("{name}_train.csv")))?;
        let parts = match arguments.folds {
            Some(folds) => table.folds(folds, &arguments)?,
            None => {
                let test = Table::read(&arguments.folder.join(format!("{name}_test.csv")))?;
                vec![(table.thinned(&arguments), test)]
            }
        };
        for &model in &models {
            eprintln!("{name}: {}", model.name());
            results.push(Outcome::of(&name, model, &parts, &arguments)?);
        }
    }
    let text = page(&results, &models, &arguments)?;
    print!("{text}");
    if let Some(out) = &arguments.out {
        std::fs::write(out, text).with_context(|| format!("cannot write {}", out.display()))?;
    }
    Ok(())
}

/// The names of the tables asked for.
fn tables(arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let mut names = table::names(&arguments.folder)?;
    if let Some(unknown) = arguments.tables.iter().find(|name| !names.contains(name)) {
        bail!("there is no table '{unknown}' in {}", arguments.folder.display());
    }
    names.retain(|name| arguments.tables.is_empty() || arguments.tables.contains(name));
    Ok(names)
}

impl Table {
    fn pick(&self, rows: &[usize]) -> Self {
        let columns = self.names.len();
        let row = |&row: &usize| &self.inputs[row * columns..(row + 1) * columns];
        Self {
            names: self.names.clone(),
            inputs: rows.iter().flat_map(row).copied().collect(),
            error: rows.iter().map(|&row| self.error[row]).collect(),
        }
    }

    /// As many rows as are wanted, in a random order.
    fn order(&self, arguments: &Arguments) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.error.len()).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(arguments.seed));
        order.truncate(arguments.most_rows);
        order
    }

    fn thinned(&self, arguments: &Arguments) -> Self {
        self.pick(&self.order(arguments))
    }

    /// Train and test parts that hold every row once in a test part.
    fn folds(&self, folds: usize, arguments: &Arguments) -> anyhow::Result<Vec<(Self, Self)>> {
        let order = self.order(arguments);
        ensure!(
            (2..=order.len()).contains(&folds),
            "--folds must be 2 or more, and at most the rows"
        );
        let fold = |i: usize| {
            let test = i * order.len() / folds..(i + 1) * order.len() / folds;
            let train = [&order[..test.start], &order[test.end..]].concat();
            (self.pick(&train), self.pick(&order[test]))
        };
        Ok((0..folds).map(fold).collect())
    }
}

/// What one model makes of one table.
struct Outcome {
    table: String,
    model: Kind,
    rows: usize,
    inputs: usize,
    /// Of every test row.
    crps: Vec<f64>,
    /// Of the root mean square of the training errors as sigma: the mean CRPS.
    plain_crps: f64,
    /// Likewise, the mean negative log predictive density.
    plain_nlpd: f64,
    nlpd: f64,
    /// By how much the law lowers it beside the paper's, the Gaussian of the sigma that the model says, and the
    /// standard error of that.
    by_law: (f64, f64),
    coverage: [f64; 3],
    /// To fit once.
    seconds: f64,
}

impl Outcome {
    fn of(
        name: &str,
        model: Kind,
        parts: &[(Table, Table)],
        arguments: &Arguments,
    ) -> anyhow::Result<Self> {
        let options = fit::Options::default()
            .kind(model)
            .seed(arguments.seed)
            .debias(arguments.debias && model != Kind::Constant);
        let options = match (model, arguments.law.as_str()) {
            (Kind::Constant, _) | (_, "paper") => options.law(LawKind::Normal).recalibrate(false),
            (_, law) => options.law(law.parse()?).by_law(arguments.by_law),
        };
        let (mut error, mut sigma, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        let mut paper: Vec<f64> = Vec::new();
        let mut laws: Vec<ErrorLaw> = Vec::new();
        // Of forecasts that may have been moved.
        let mut left = Vec::new();
        let mut seconds = 0.0;
        for (train, test) in parts {
            let data = Data::new(&train.inputs, train.names.len(), &train.error)?;
            let start = Instant::now();
            let fitted = fit::fit(&data, &train.names, &options, &Silent)
                .with_context(|| format!("{name}, {}", model.name()))?
                .fitted;
            seconds += start.elapsed().as_secs_f64() / parts.len() as f64;
            let predicted = fitted.predict(&test.inputs)?;
            sigma.extend(predicted.sigma());
            laws.extend(predicted.error_laws());
            let factor = fitted.shape().map_or(1.0, |shape| shape.factor());
            paper.extend(predicted.sigma().iter().map(|sigma| sigma / factor));
            match predicted.bias() {
                Some(bias) => left.extend(test.error.iter().zip(bias).map(|(e, bias)| e - bias)),
                None => left.extend_from_slice(&test.error),
            }
            error.extend_from_slice(&test.error);
            let squares: Vec<f64> = train.error.iter().map(|e| e * e).collect();
            plain.resize(error.len(), mean(&squares).sqrt());
        }
        let (sample, plain) = (Sample::new(&left, &sigma)?, Sample::new(&error, &plain)?);
        let equal = law::judge::as_gaussian(&sample, &laws)?;
        let coverage = calibration::coverage(&Sample::new(&equal, &sigma)?, &LEVELS, 0.95)?;
        let (crps, log_scores) = law::judge::scores(&sample, &laws)?;
        let gaussian = vec![ErrorLaw::default(); left.len()];
        let (_, papers) = law::judge::scores(&Sample::new(&left, &paper)?, &gaussian)?;
        let gains: Vec<f64> = papers.iter().zip(&log_scores).map(|(a, b)| a - b).collect();
        let squares: Vec<f64> = gains.iter().map(|gain| (gain - mean(&gains)).powi(2)).collect();
        let by_law = (mean(&gains), (mean(&squares) / (gains.len() as f64 - 1.0).max(1.0)).sqrt());
        Ok(Self {
            by_law,
            table: name.to_owned(),
            model,
            rows: parts[0].0.error.len(),
            inputs: parts[0].0.names.len(),
            crps,
            plain_crps: crps::mean(&plain),
            plain_nlpd: nlpd::mean(&plain),
            nlpd: mean(&log_scores),
            coverage: std::array::from_fn(|level| coverage[level].observed),
            seconds,
        })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { 0.5 * (values[middle - 1] + values[middle]) }
}

fn geometric_mean(values: &[f64]) -> f64 {
    mean(&values.iter().map(|value| value.ln()).collect::<Vec<f64>>()).exp()
}

/// CRPS over that of one sigma, for each bootstrap sample of the rows. The same rows for every model.
fn ratios(own: &[f64], constant: &[f64], table: usize) -> Vec<f64> {
    let mut rng = Pcg64::new(0, table as u128);
    let ratio = |_| {
        let (mut above, mut below) = (0.0, 0.0);
        for _ in 0..own.len() {
            let row = rng.random_range(0..own.len());
            above += own[row];
            below += constant[row];
        }
        above / below
    };
    (0..REPLICATES).map(ratio).collect()
}

/// The middle 95% of bootstrap samples.
fn interval(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    format!("{:.3} to {:.3}", at(0.025), at(0.975))
}

/// Tables in Markdown: first all tables together, then one by one.
fn page(results: &[Outcome], models: &[Kind], arguments: &Arguments) -> anyhow::Result<String> {
    let of = |kind: Kind| -> Vec<&Outcome> { results.iter().filter(|r| r.model == kind).collect() };
    let constant = of(Kind::Constant);
    let peers = Peer::read(&arguments.folder.join("peers.csv"), &constant)?;
    let judged = match arguments.folds {
        Some(folds) => format!("cross-validation with {folds} folds within the train files"),
        None => String::from("the test files"),
    };
    let moved = match arguments.debias {
        true => {
            " Forecasts are moved by the bias that was learned (--debias), except for the constant."
        }
        false => "",
    };
    let law = &arguments.law;
    let mut all = format!(
        "# Error bars on {} tables\n\nJudged by {judged}.{moved} The law of errors: {law}. Ratios are CRPS over that of one sigma for all \
         rows; a smaller one is better. Intervals hold 95% of {REPLICATES} bootstrap samples of the \
         judged rows. The root mean \
         square is another sigma for all rows: other libraries are measured by it, and so is every gain \
         in NLPD.\n\n\
         | model | geometric mean of ratios | interval | the same over the root mean square | largest \
         ratio | median gain in NLPD | mean gain | mean \
         coverage of 50, 90, 99% intervals | seconds, all fits |\n|---|---|---|---|---|---|---|---|---|\n",
        constant.len()
    );
    let mut each = String::new();
    for &model in models {
        let own = of(model);
        writeln!(
            each,
            "\n## {}\n\n| table | train rows | inputs | NLPD | less than with the paper's law by | CRPS | ratio | interval | coverage of 50, 90, \
             99% intervals | seconds |\n|---|---|---|---|---|---|---|---|---|---|",
            model.name()
        )?;
        let mut summary = Summary::default();
        let mut products = vec![0.0; REPLICATES];
        for (i, (own, constant)) in own.iter().zip(&constant).enumerate() {
            let ratio = mean(&own.crps) / mean(&constant.crps);
            let samples = ratios(&own.crps, &constant.crps, i);
            products.iter_mut().zip(&samples).for_each(|(product, ratio)| *product += ratio.ln());
            writeln!(
                each,
                "| {} | {} | {} | {:.4} | {:.4} ({:.4}) | {:.5} | {ratio:.3} | {} | {} | {:.2} |",
                own.table,
                own.rows,
                own.inputs,
                own.nlpd,
                own.by_law.0,
                own.by_law.1,
                mean(&own.crps),
                interval(samples),
                own.coverage.map(|share| format!("{share:.3}")).join(" "),
                own.seconds
            )?;
            summary.plain_ratio.push(mean(&own.crps) / own.plain_crps);
            summary.ratio.push(ratio);
            summary.add(own.plain_nlpd - own.nlpd, own.coverage, own.seconds);
        }
        let means = products.iter().map(|product| (product / own.len() as f64).exp()).collect();
        summary.write(&mut all, model.name(), &interval(means))?;
    }
    if arguments.folds.is_none() {
        for peer in peers.iter().filter(|peer| peer.summary.plain_ratio.len() == constant.len()) {
            peer.summary.write(&mut all, &peer.name, "")?;
        }
    }
    Ok(all + &each)
}

/// A column of each number, over the tables.
#[derive(Default)]
struct Summary {
    /// Over the model of one sigma.
    ratio: Vec<f64>,
    /// Over the root mean square.
    plain_ratio: Vec<f64>,
    gain: Vec<f64>,
    coverage: Vec<[f64; 3]>,
    seconds: f64,
}

impl Summary {
    fn add(&mut self, gain: f64, coverage: [f64; 3], seconds: f64) {
        self.gain.push(gain);
        self.coverage.push(coverage);
        self.seconds += seconds;
    }

    fn write(&self, out: &mut String, name: &str, interval: &str) -> std::fmt::Result {
        let number = |values: &[f64], of: fn(&[f64]) -> f64| match values {
            [] => String::new(),
            values => format!("{:.4}", of(values)),
        };
        // Of other libraries only that of 90% is known.
        let coverage: Vec<String> = (0..3)
            .map(|level| mean(&self.coverage.iter().map(|c| c[level]).collect::<Vec<f64>>()))
            .filter(|share| !share.is_nan())
            .map(|share| format!("{share:.3}"))
            .collect();
        let largest = |ratios: &[f64]| ratios.iter().copied().fold(0.0, f64::max);
        writeln!(
            out,
            "| {name} | {} | {interval} | {} | {} | {:.3} | {:.3} | {} | {:.1} |",
            number(&self.ratio, geometric_mean),
            number(&self.plain_ratio, geometric_mean),
            number(if self.ratio.is_empty() { &self.plain_ratio } else { &self.ratio }, largest),
            median(self.gain.clone()),
            mean(&self.gain),
            coverage.join(" "),
            self.seconds
        )
    }
}

/// What another library makes of the same tables.
struct Peer {
    name: String,
    summary: Summary,
}

impl Peer {
    fn read(path: &Path, tables: &[&Outcome]) -> anyhow::Result<Vec<Self>> {
        #[derive(serde::Deserialize)]
        struct Line {
            file: String,
            method: String,
            nlpd: f64,
            crps: f64,
            coverage90: f64,
            fit_seconds: f64,
        }
        if !path.exists() {
            return Ok(Vec::new());
        }
        let mut lines: Vec<Line> =
            csv::Reader::from_path(path)?.deserialize().collect::<Result<_, _>>()?;
        lines.retain(|line| tables.iter().any(|table| table.table == line.file));
        let mut peers: Vec<Self> = Vec::new();
        for line in &lines {
            let Some(constant) =
                lines.iter().find(|one| one.file == line.file && one.method == "constant")
            else {
                continue;
            };
            let at = peers.iter().position(|peer| peer.name == line.method).unwrap_or_else(|| {
                peers.push(Self { name: line.method.clone(), summary: Summary::default() });
                peers.len() - 1
            });
            let (ratio, gain) = (line.crps / constant.crps, constant.nlpd - line.nlpd);
            peers[at].summary.plain_ratio.push(ratio);
            peers[at].summary.add(gain, [f64::NAN, line.coverage90, f64::NAN], line.fit_seconds);
        }
        peers.retain(|peer| peer.name != "constant");
        peers.sort_by(|a, b| {
            geometric_mean(&a.summary.plain_ratio)
                .total_cmp(&geometric_mean(&b.summary.plain_ratio))
        });
        Ok(peers)
    }
}
