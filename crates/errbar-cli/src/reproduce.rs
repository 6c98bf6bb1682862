//! `errbar reproduce`: the paper's table and figures, made again.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;
use errbar_paper::{DataSet, FiveDMethod, FiveDOutcome, Method, Run, Table, run_all, run_five_d};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{output, stop};

/// Make the paper's Table 1 and figures again, from nothing.
///
/// Draws the data sets of Camporeale (2018), fits every method to each run, prints the table beside
/// the paper's numbers, and writes everything to a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar reproduce                       everything, 100 runs, into ./reproduction
  errbar reproduce --runs 10 --only table
  errbar reproduce --seed 1 --out seed-1

The same seed gives the same bytes, whatever the number of threads; times go to timings.csv.")]
pub(crate) struct Arguments {
    /// Runs of each data set, each with 100 training and 900 test points of its own.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,

    /// Runs of the five-dimensional data set, each with 10,000 training points.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs_5d: u64,

    /// The seed of all random numbers.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Only this part.
    #[arg(long, value_enum)]
    only: Option<Part>,

    /// The folder to write to; it is made if it is not there.
    #[arg(long, default_value = "reproduction", value_name = "DIR")]
    out: PathBuf,

    /// Threads to use; all cores when left out.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print nothing but errors.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Table 1.
    Table,
    /// The five-dimensional test.
    #[value(name = "5d")]
    FiveD,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    let folder = &arguments.out;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads.map_or(0, usize::from))
        .build()
        .context("cannot start threads")?;
    let mut timings = String::from("part,seconds\n");
    let mut timed = |part: &str, start: Instant| {
        let _ = writeln!(timings, "{part},{:.3}", start.elapsed().as_secs_f64());
    };
    let wanted = |part: Part| arguments.only.is_none_or(|only| only == part);
    let say = |text: &str| if arguments.quiet { Ok(()) } else { output::print(text) };

    if wanted(Part::Table) {
        let start = Instant::now();
        let runs = pool.install(|| table_runs(arguments))?;
        timed("table1", start);
        let table = Table::new(&runs, &DataSet::ONE_DIMENSIONAL, &Method::ALL, arguments.seed);
        output::write(&folder.join("table1.csv"), table.csv().as_bytes())?;
        output::write(&folder.join("table1.md"), table.markdown().as_bytes())?;
        say(&format!("{}\n", table.markdown()))?;
    }
    if wanted(Part::FiveD) {
        let start = Instant::now();
        let outcomes = pool.install(|| five_d_runs(arguments))?;
        timed("5d", start);
        let table = five_d_table(&outcomes, arguments);
        output::write(&folder.join("five-d.md"), table.as_bytes())?;
        say(&format!("{table}\n"))?;
    }
    output::write(&folder.join("timings.csv"), timings.as_bytes())?;
    say(&format!("Written to {}\n", folder.display()))
}

fn table_runs(arguments: &Arguments) -> anyhow::Result<Vec<Run>> {
    let sets = DataSet::ONE_DIMENSIONAL;
    let bar = bar(arguments, "Table 1", arguments.runs * sets.len() as u64);
    let done = || {
        bar.inc(1);
        stop::asked()
    };
    let runs = run_all(&sets, arguments.runs, arguments.seed, &Method::ALL, done)?;
    bar.finish_and_clear();
    stop::check()?;
    runs.ok_or_else(|| stop::Stopped.into())
}

fn five_d_runs(arguments: &Arguments) -> anyhow::Result<Vec<FiveDOutcome>> {
    let bar = bar(arguments, "5D", arguments.runs_5d * FiveDMethod::ALL.len() as u64);
    let done = || {
        bar.inc(1);
        stop::asked()
    };
    let outcomes = run_five_d(arguments.runs_5d, arguments.seed, done)?;
    bar.finish_and_clear();
    stop::check()?;
    outcomes.ok_or_else(|| stop::Stopped.into())
}

/// A progress bar with the time left, on standard error; none when quiet or not on a terminal.
fn bar(arguments: &Arguments, name: &str, length: u64) -> ProgressBar {
    if arguments.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length).with_message(name.to_string());
    if let Ok(style) = ProgressStyle::with_template("{msg:8} {bar:40} {pos}/{len}, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn five_d_table(outcomes: &[FiveDOutcome], arguments: &Arguments) -> String {
    let mut out = format!(
        "5D: medians of {} runs, seed {} (10,000 training and 10,000 test points each).\n\n\
         | method | NLPD | oracle | regret | CRPS | RS | error of sigma | correlation with sigma |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
        arguments.runs_5d, arguments.seed
    );
    for method in FiveDMethod::ALL {
        let of = |value: &dyn Fn(&FiveDOutcome) -> f64| {
            let values = outcomes.iter().filter(|o| o.method == method).map(value).collect();
            errbar_paper::quantile(values, 0.5)
        };
        let _ = writeln!(
            out,
            "| {} | {:.3} | {:.3} | {:.3} | {:.4} | {:.5} | {:.3} | {:.3} |",
            method.name(),
            of(&|o| o.nlpd),
            of(&|o| o.oracle),
            of(&|o| o.nlpd - o.oracle),
            of(&|o| o.crps),
            of(&|o| o.rs),
            of(&|o| o.sigma_rmse),
            of(&|o| o.correlation)
        );
    }
    out
}
