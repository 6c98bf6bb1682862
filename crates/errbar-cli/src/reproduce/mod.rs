//! `errbar reproduce`: the paper's table and figures, made again.

mod page;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;
use errbar::Monitor;
use errbar_paper::{
    BeyondMethod, BeyondRow, Claim, DataSet, FiveDMethod, FiveDOutcome, Method, PaperFigure, Run,
    Skewed, Table, claim_steps, claims, crps_isolines, general_network, quantile, regressions,
    run_all, run_beyond, run_five_d, run_skewed, sigma_density, sigma_distribution,
    sigma_estimates, skewed_steps,
};
use errbar_report::Figure;

use self::page::Page;
use crate::console::Console;
use crate::{output, stop};

/// Make the paper's Table 1 and figures again, from nothing.
///
/// Draws the data sets of Camporeale (2018), fits every method to each run, prints the table beside
/// the paper's numbers, and writes everything to a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar reproduce                       everything, 100 runs, into ./reproduction
  errbar reproduce --runs 10 --only table
  errbar reproduce --only skewed         which law for skewed errors, which cost for sigma
  errbar reproduce --seed 1 --out seed-1

The same seed gives the same bytes, whatever the number of threads; times go to timings.csv.")]
pub(crate) struct Arguments {
    /// Runs of each data set, each with 100 training and 900 test points of its own.
    #[arg(long, allow_negative_numbers = true, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,

    /// Runs of the five-dimensional data set, each with 10,000 training points.
    #[arg(long, allow_negative_numbers = true, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs_5d: u64,

    /// Runs of each set of skewed errors.
    #[arg(long, allow_negative_numbers = true, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs_skewed: u64,

    /// Training rows of each run with skewed errors.
    #[arg(long, allow_negative_numbers = true, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    rows_skewed: u32,

    /// The seed of all random numbers.
    #[arg(long, allow_negative_numbers = true, default_value_t = 0)]
    seed: u64,

    /// Seeds whose runs are pooled in the parts beyond the paper and with skewed errors: this many, from
    /// --seed on.
    #[arg(long, allow_negative_numbers = true, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    /// Only this part.
    #[arg(long, value_enum)]
    only: Option<Section>,

    /// The folder to write to; it is made if it is not there.
    #[arg(long, default_value = "reproduction", value_name = "DIR")]
    out: PathBuf,

    /// Threads to use; all cores when left out.
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print nothing but errors.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Table 1.
    Table,
    /// The nine figures.
    Figures,
    /// The five-dimensional test.
    #[value(name = "5d")]
    FiveD,
    /// The paper's claims as experiments.
    Claims,
    /// What goes beyond the paper: smooth functions, local units, mean and sigma in turn.
    Beyond,
    /// Skewed, heavy-tailed and mixed errors of known laws: which law, and which cost.
    Skewed,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    let folder = &arguments.out;
    output::make_folder(folder)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads.map_or(0, usize::from))
        .build()
        .context("cannot start threads")?;
    let mut timings = String::from("part,seconds\n");
    let mut took = |part: &str, seconds: f64| {
        let _ = writeln!(timings, "{part},{seconds:.3}");
    };
    let wanted = |part: Section| arguments.only.is_none_or(|only| only == part);
    let say = |text: &str| if arguments.quiet { Ok(()) } else { output::print(text) };

    // Everything is computed first and written then: Ctrl-C leaves the folder as it was.
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut runs = Vec::new();
    if wanted(Section::Table) || wanted(Section::Figures) {
        let start = Instant::now();
        runs = pool.install(|| table_runs(arguments))?;
        took("table1", start.elapsed().as_secs_f64());
    }
    let table = wanted(Section::Table)
        .then(|| Table::new(&runs, &DataSet::ONE_DIMENSIONAL, &Method::ALL, arguments.seed));
    if let Some(table) = &table {
        files.push(("table1.csv".into(), table.csv().into_bytes()));
        files.push(("table1.md".into(), table.markdown().into_bytes()));
        say(&format!("{}\n", table.markdown()))?;
    }
    let mut five_d = None;
    if wanted(Section::FiveD) {
        let start = Instant::now();
        let outcomes = pool.install(|| five_d_runs(arguments))?;
        took("5d", start.elapsed().as_secs_f64());
        let table = five_d_table(&outcomes, arguments);
        files.push(("five-d.md".into(), table.markdown().into_bytes()));
        say(&format!("{}\n", table.markdown()))?;
        five_d = Some(table);
    }
    let mut beyond = None;
    if wanted(Section::Beyond) {
        let start = Instant::now();
        let rows = pool.install(|| beyond_rows(arguments))?;
        took("beyond", start.elapsed().as_secs_f64());
        for row in &rows {
            let BeyondRow { set, method, seconds, .. } = row;
            let name = format!("{}, {}, mean {}", method.kind.name(), method.cost(), method.mean());
            took(&format!("\"one fit, {}: {name}\"", set.name()), *seconds);
        }
        let table = beyond_table(&rows, arguments);
        files.push(("beyond.md".into(), table.markdown().into_bytes()));
        say(&format!("{}\n", table.markdown()))?;
        beyond = Some(table);
    }
    let mut skewed = Vec::new();
    if wanted(Section::Skewed) {
        let start = Instant::now();
        let fits = pool.install(|| skewed_fits(arguments))?;
        took("skewed", start.elapsed().as_secs_f64());
        let mut text = String::new();
        for claim in fits.claims() {
            let svg = drawn_claim(&claim, &mut files)?;
            let _ = writeln!(text, "## {}\n\n{}", claim.title, PlainTable::of(&claim).markdown());
            skewed.push((claim, svg));
        }
        say(&text)?;
        files.push(("skewed.md".into(), text.into_bytes()));
        files.push(("skewed-laws.csv".into(), fits.laws_csv().into_bytes()));
        files.push(("skewed-costs.csv".into(), fits.costs_csv().into_bytes()));
    }
    let mut figures = Vec::new();
    if wanted(Section::Figures) {
        let start = Instant::now();
        for figure in pool.install(|| all_figures(&runs, arguments))? {
            let svg = drawn(&figure.figure, figure.name, &mut files)?;
            figures.push((figure, svg));
        }
        took("figures", start.elapsed().as_secs_f64());
    }
    let mut tried = Vec::new();
    if wanted(Section::Claims) {
        let start = Instant::now();
        for claim in pool.install(|| all_claims(arguments))? {
            let svg = drawn_claim(&claim, &mut files)?;
            say(&format!("{}\n{}\n\n", claim.title, claim.text))?;
            tried.push((claim, svg));
        }
        took("claims", start.elapsed().as_secs_f64());
    }
    let command = arguments.command();
    let page = Page {
        table: table.as_ref(),
        figures: &figures,
        five_d: five_d.as_ref(),
        claims: &tried,
        beyond: beyond.as_ref(),
        skewed: &skewed,
        command: &command,
    };
    files.push(("index.html".into(), page::render(&page).into_bytes()));
    files.push(("timings.csv".into(), timings.into_bytes()));
    stop::check()?;
    for (name, bytes) in &files {
        output::write(&folder.join(name), bytes)?;
    }
    let page = folder.join("index.html");
    say(&format!("{} files in {}; open {}\n", files.len(), folder.display(), page.display()))
}

impl Arguments {
    fn pooled_seeds(&self) -> Vec<u64> {
        (0..self.seeds).map(|i| self.seed.wrapping_add(i)).collect()
    }

    /// What to type to make this again (where it is written to does not matter).
    fn command(&self) -> String {
        let mut command = format!(
            "errbar reproduce --runs {} --runs-5d {} --runs-skewed {} --seed {}",
            self.runs, self.runs_5d, self.runs_skewed, self.seed
        );
        if self.rows_skewed != 1000 {
            let _ = write!(command, " --rows-skewed {}", self.rows_skewed);
        }
        if self.seeds > 1 {
            let _ = write!(command, " --seeds {}", self.seeds);
        }
        if let Some(name) = self.only.and_then(|part| part.to_possible_value()) {
            let _ = write!(command, " --only {}", name.get_name());
        }
        command
    }
}

/// A figure as SVG and PNG among the files, and its SVG for the page.
fn drawn(
    figure: &Figure,
    name: &str,
    files: &mut Vec<(String, Vec<u8>)>,
) -> anyhow::Result<String> {
    let failed = || format!("cannot draw {name}");
    let svg = figure.svg().with_context(failed)?;
    files.push((format!("{name}.png"), figure.png(2.0).with_context(failed)?));
    files.push((format!("{name}.svg"), svg.clone().into_bytes()));
    Ok(svg)
}

/// The same for the figure of a claim, if it has one.
fn drawn_claim(
    claim: &Claim,
    files: &mut Vec<(String, Vec<u8>)>,
) -> anyhow::Result<Option<String>> {
    claim.figure.as_ref().map(|figure| drawn(figure, claim.name, files)).transpose()
}

fn all_figures(runs: &[Run], arguments: &Arguments) -> anyhow::Result<Vec<PaperFigure>> {
    const POINTS: u64 = 10_000_000;
    let mut figures = vec![crps_isolines()];
    figures.extend(regressions(arguments.seed)?);
    figures.push(sigma_distribution(1_000_000, arguments.seed));
    figures.extend(sigma_estimates(runs));
    let progress = Console { quiet: arguments.quiet, verbose: false }.steps("Figure 9", POINTS);
    let network = general_network(arguments.seed)?;
    stop::check()?;
    let done = |points: u64| {
        progress.progress(points as f64 / POINTS as f64);
        progress.should_stop()
    };
    let density = sigma_density(POINTS, arguments.seed, |x: &[f64]| network.predict(x), done)?;
    drop(progress);
    stop::check()?;
    let density = density.ok_or(stop::Stopped)?;
    figures.push(density.figure("errbar's general network, trained on 10,000 points"));
    Ok(figures)
}

fn all_claims(arguments: &Arguments) -> anyhow::Result<Vec<Claim>> {
    let steps = claim_steps(arguments.runs);
    in_steps(arguments, "Claims", steps, |done| claims(arguments.runs, arguments.seed, done))
}

fn table_runs(arguments: &Arguments) -> anyhow::Result<Vec<Run>> {
    let sets = DataSet::ONE_DIMENSIONAL;
    in_steps(arguments, "Table 1", arguments.runs * sets.len() as u64, |done| {
        run_all(&sets, arguments.runs, arguments.seed, &Method::ALL, done)
    })
}

fn five_d_runs(arguments: &Arguments) -> anyhow::Result<Vec<FiveDOutcome>> {
    let steps = arguments.runs_5d * FiveDMethod::ALL.len() as u64;
    in_steps(arguments, "5D", steps, |done| run_five_d(arguments.runs_5d, arguments.seed, done))
}

fn beyond_rows(arguments: &Arguments) -> anyhow::Result<Vec<BeyondRow>> {
    let sets = DataSet::ONE_DIMENSIONAL;
    let seeds = arguments.pooled_seeds();
    let fits = arguments.runs * (seeds.len() * sets.len()) as u64;
    in_steps(arguments, "Beyond", fits, |done| run_beyond(&sets, arguments.runs, &seeds, done))
}

fn skewed_fits(arguments: &Arguments) -> anyhow::Result<Skewed> {
    let steps = skewed_steps(arguments.runs_skewed * arguments.seeds);
    in_steps(arguments, "Skewed", steps, |done| {
        let rows = arguments.rows_skewed as usize;
        run_skewed(arguments.runs_skewed, rows, &arguments.pooled_seeds(), done)
    })
}

/// Work in so many steps, which says `done` after each of them and is told whether to stop.
fn in_steps<T>(
    arguments: &Arguments,
    what: &str,
    steps: u64,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> errbar::Result<Option<T>>,
) -> anyhow::Result<T> {
    let progress = Console { quiet: arguments.quiet, verbose: false }.steps(what, steps);
    let worked = work(&|| progress.step())?;
    stop::check()?;
    Ok(worked.ok_or(stop::Stopped)?)
}

/// A table as words.
struct PlainTable {
    caption: String,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl PlainTable {
    /// What a claim says, above its table.
    fn of(claim: &Claim) -> Self {
        let (heads, rows) = claim.table.clone().unwrap_or_default();
        Self { caption: claim.text.clone(), heads, rows }
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|---{}|\n", "|--:".repeat(self.heads.len() - 1));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}\n\n{}{rule}{rows}", self.caption, line(&self.heads))
    }
}

fn five_d_table(outcomes: &[FiveDOutcome], arguments: &Arguments) -> PlainTable {
    let row = |method: FiveDMethod| {
        let of = |digits: usize, value: &dyn Fn(&FiveDOutcome) -> f64| {
            let values = outcomes.iter().filter(|o| o.method == method).map(value).collect();
            format!("{:.digits$}", quantile(values, 0.5))
        };
        vec![
            method.name().to_string(),
            of(3, &|o| o.nlpd),
            of(3, &|o| o.oracle),
            of(3, &|o| o.nlpd - o.oracle),
            of(4, &|o| o.crps),
            of(5, &|o| o.rs),
            of(3, &|o| o.sigma_rmse),
            of(3, &|o| o.correlation),
        ]
    };
    let heads = [
        "method",
        "NLPD",
        "oracle",
        "regret",
        "CRPS",
        "RS",
        "error of sigma",
        "correlation with sigma",
    ];
    PlainTable {
        caption: format!(
            "5D: medians of {} runs, seed {} (10,000 training and 10,000 test points each).",
            arguments.runs_5d, arguments.seed
        ),
        heads: heads.map(String::from).to_vec(),
        rows: FiveDMethod::ALL.map(row).to_vec(),
    }
}

/// One line for each method, the data sets side by side.
fn beyond_table(rows: &[BeyondRow], arguments: &Arguments) -> PlainTable {
    let sets = DataSet::ONE_DIMENSIONAL;
    let line = |method: BeyondMethod| {
        let of = |set: DataSet| rows.iter().find(|row| row.method == method && row.set == set);
        let regret = |row: &BeyondRow| {
            let (low, high) = row.interval;
            format!("{:.4} ({low:.4} to {high:.4})", row.regret)
        };
        let band =
            |row: &BeyondRow| row.band.map_or(String::new(), |b| format!("{:.1}%", 100.0 * b));
        let mut cells =
            vec![method.kind.name().into(), method.cost().into(), method.mean().to_string()];
        cells.extend(sets.map(|set| of(set).map(regret).unwrap_or_default()));
        cells.extend(sets.map(|set| of(set).map(band).unwrap_or_default()));
        cells
    };
    let mut heads = vec![String::from("model"), "trained by".into(), "mean".into()];
    heads.extend(sets.map(|set| format!("regret on {}", set.name())));
    heads.extend(sets.map(|set| format!("90% band on {}", set.name())));
    PlainTable {
        caption: format!(
            "Beyond the paper: median regret (NLPD minus that of the true mean and sigma on the same \
             900 test points) of {} runs, seeds {} to {}, with its 95% bootstrap interval; and how \
             often a 90% band on sigma holds the true one.",
            arguments.runs * arguments.seeds,
            arguments.seed,
            arguments.seed.wrapping_add(arguments.seeds - 1),
        ),
        heads,
        rows: BeyondMethod::all().into_iter().map(line).collect(),
    }
}
