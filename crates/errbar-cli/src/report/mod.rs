//! `errbar report`: one page that shows whether error bars can be trusted.

mod known;
mod origin;
mod read;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use errbar::score::events::Event;
use errbar_report::report::{Origin, Report};

pub(crate) use self::origin::quoted;
use self::read::ReportRows;
use crate::arguments::{DateArguments, TableArguments, Threads};
use crate::console::Console;
use crate::files::FileArguments;
use crate::output::{self, Pending};
use crate::{model_file, stop};

/// Show whether error bars can be trusted: one page to look at.
///
/// Judges forecasts with error bars by what was then observed and writes a page that needs nothing
/// else to be opened: a headline in words, figures with their numbers, and what it takes to make it
/// again. Sigma comes from a column of the table or from a model that errbar fit wrote; judge a
/// model on rows it has not seen. Rows that it was fitted to (up to 10,000) are known again, and
/// judged by the sigmas of models for which they had been held out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar report test.csv --model model.json -o report.html
  errbar report test.csv --model model.json --time date --by station --lead lead_h
  errbar report rain.csv --model model.json --event '> 0' --event '> 20'
  errbar report forecasts.csv --forecast mu --observation y --sigma s --figures figures

Columns named forecast, observation and sigma (or mu and y) need not be named.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: FileArguments,

    /// The model file that errbar fit wrote: sigma is its, and the forecast where it makes one.
    #[arg(long, short, value_name = "FILE", conflicts_with = "sigma")]
    model: Option<PathBuf>,

    /// The column with the forecast.
    #[arg(long, value_name = "COLUMN")]
    forecast: Option<String>,

    /// The column with what was then observed.
    #[arg(long, value_name = "COLUMN")]
    observation: Option<String>,

    /// The column with sigma, the standard deviation given to each forecast.
    #[arg(long, value_name = "COLUMN")]
    sigma: Option<String>,

    /// The column with the weight of each row; only ratios of weights matter.
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,

    /// The column with the time of each row, which shows the series, its months and what errors have in
    /// common with earlier ones; the order of the file when left out.
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,

    #[command(flatten)]
    dates: DateArguments,

    /// The column with the group of each row, to be compared: a lead time, a station, a season. Where
    /// rows share moments, each group is a series of its own.
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,

    /// The column with the lead time (or step, or horizon) of each forecast, which shows scores by lead
    /// [default: a column named lead, lead_time, step, horizon or the like].
    #[arg(long, value_name = "COLUMN")]
    lead: Option<String>,

    /// The column with the latitude of each row in degrees, which with --longitude makes a map [default: a
    /// column named lat or latitude].
    #[arg(long, value_name = "COLUMN")]
    latitude: Option<String>,

    /// The column with the longitude of each row in degrees [default: a column named lon, lng, long or
    /// longitude].
    #[arg(long, value_name = "COLUMN")]
    longitude: Option<String>,

    /// Judge the probabilities of an event too: '> 50', '>= 50', '< 0' or '<= 0' of the observation. May be given for
    /// several thresholds.
    #[arg(long, value_name = "EVENT", allow_hyphen_values = true, value_parser = parse_event)]
    event: Vec<Event>,

    /// The columns to show sigma against [default: the inputs of the model, or every other column of
    /// numbers without gaps].
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    inputs: Vec<String>,

    /// Where to write the page, .html; - is standard output.
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,

    /// A folder for the figures alone, as SVG, PNG and CSV; it is made if it is not there.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,

    /// The title of the page [default: the name of the table].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    console: Console,
}

fn parse_event(text: &str) -> Result<Event, String> {
    text.parse()
        .map_err(|_| String::from("write >, >=, < or <= and a number, in quotes: --event '> 50'"))
}

/// Pixels of a PNG for each of the SVG: sharp in print.
const SCALE: f64 = 3.0;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    if let Some(model) = &arguments.model
        && model.as_os_str() == "-"
        && arguments.files.has_stdin()
    {
        bail!("the table and the model cannot both come from standard input");
    }
    if arguments.output.as_os_str() != "-" {
        output::check_ending(
            &arguments.output,
            &["html", "htm"],
            "the report is a page, and its file ends in .html (a browser prints it to PDF)",
        )?;
        output::check_place(&arguments.output)?;
    }
    let pool = arguments.threads.pool()?;
    pool.install(|| {
        let fitted = arguments.model.as_deref().map(model_file::read).transpose()?;
        let judged = ReportRows::read(arguments, fitted.as_ref())?;
        let subject = judged.subject();
        let progress = arguments.console.progress("Judging");
        let report = Report::new(&subject, &progress).map_err(|error| judged.refused(error))?;
        drop(progress);
        stop::check()?;
        let origin = origin::origin(arguments, fitted.as_ref(), &judged);
        judged.notes.iter().for_each(|note| arguments.console.note(note));
        write(arguments, &report, &origin, judged.kept.file())
    })
}

/// Makes everything first and writes then: a failure leaves earlier files as they were.
fn write(
    arguments: &Arguments,
    report: &Report,
    origin: &Origin,
    file: &str,
) -> anyhow::Result<()> {
    let title = arguments.title.clone().unwrap_or_else(|| {
        let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
        format!("Error bars of {}", name.as_deref().unwrap_or(file))
    });
    let page = report.html(&title, origin).context("cannot draw the report")?;
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    if let Some(folder) = &arguments.figures {
        for figure in report.figures() {
            stop::check()?;
            let failed = || format!("cannot draw the figure {}", figure.name);
            let path = |ending: &str| folder.join(format!("{}.{ending}", figure.name));
            files.push((path("svg"), figure.figure.svg().with_context(failed)?.into_bytes()));
            files.push((path("png"), figure.figure.png(SCALE).with_context(failed)?));
            files.push((path("csv"), figure.table.csv().into_bytes()));
        }
        output::make_folder(folder)?;
    }
    stop::check()?;
    for (path, bytes) in &files {
        output::write(path, bytes)?;
    }
    let mut out = Pending::create(&arguments.output)?;
    let written = std::io::Write::write_all(&mut out, page.as_bytes());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
        Err(error) => return Err(out.failed(error).into()),
        Ok(()) => out.finish()?,
    }
    say(arguments, report, origin, files.len(), page.len())
}

fn say(
    arguments: &Arguments,
    report: &Report,
    origin: &Origin,
    files: usize,
    bytes: usize,
) -> anyhow::Result<()> {
    let console = arguments.console;
    let to_file = arguments.output.as_os_str() != "-";
    if to_file && !console.quiet {
        let lines: Vec<String> = report.headline();
        console.result(&format!("{}\n", lines.join("\n")))?;
    }
    origin.warnings.iter().for_each(|warning| console.warn(warning));
    report.advice().iter().for_each(|advice| console.warn(advice));
    if let (Some(folder), true) = (&arguments.figures, files > 0) {
        console.note(&format!("wrote {files} files of figures to {}", folder.display()));
    }
    if to_file {
        console.note(&format!(
            "wrote {} ({} kB); open it in a browser",
            arguments.output.display(),
            bytes.div_ceil(1000)
        ));
    }
    Ok(())
}
