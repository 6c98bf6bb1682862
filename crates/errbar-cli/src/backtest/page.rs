//! The page of a walk.

use std::path::Path;

use anyhow::Context;
use errbar::law::ErrorLaw;
use errbar::law::judge::ErrorLaws;
use errbar::walk::Walk;
use errbar_report::report::{Column, Groups, Order, Origin, Report, Subject};

use super::Arguments;
use crate::learning::Calendar;
use crate::report::quoted;
use crate::training::Training;
use crate::{output, stop};

/// Writes the page.
pub(super) fn write(
    arguments: &Arguments,
    page: &Path,
    training: &Training,
    walk: &Walk,
    facts: Vec<(String, String)>,
) -> anyhow::Result<()> {
    let Some(raw) = &training.raw else { return Ok(()) };
    let transform = arguments.learning.transform;
    let observed = |row: usize| transform.forward(raw.observation[row]);
    let seen: Vec<_> = (walk.rows.iter())
        .filter(|walked| observed(walked.row).is_finite() && walked.crps[0].is_finite())
        .collect();
    let y: Vec<f64> = seen.iter().map(|walked| observed(walked.row)).collect();
    let mu: Vec<f64> = seen.iter().map(|walked| transform.forward(walked.forecast)).collect();
    let sigma: Vec<f64> = seen.iter().map(|walked| walked.sigma).collect();
    let laws: Vec<ErrorLaw> = seen.iter().map(|walked| walked.law.clone()).collect();
    let time = training.kept.time().unwrap_or(&[]);
    let times: Vec<f64> = seen.iter().map(|walked| time[walked.row]).collect();
    let error: Vec<f64> = y.iter().zip(&mu).map(|(y, mu)| y - mu).collect();
    let bounds = walk.fitted.bounds_of(&error, &y);
    let width = training.names.len();
    let inputs: Vec<Vec<f64>> = (0..width)
        .map(|c| seen.iter().map(|walked| training.inputs[walked.row * width + c]).collect())
        .collect();
    let whole = |values: &&Vec<f64>| values.iter().all(|x| x.is_finite());
    let groups: Option<(&str, &[String], Vec<u32>)> = training.group.as_ref().map(|group| {
        let rows = seen.iter().map(|walked| group.rows[walked.row]).collect();
        (group.name.as_str(), group.labels.as_slice(), rows)
    });
    let subject = Subject {
        observation: Column { name: &training.observed, values: &y },
        forecast: Column { name: training.forecast.as_deref().unwrap_or("0"), values: &mu },
        sigma: &sigma,
        laws: Some(ErrorLaws::new(&laws).within(bounds.as_deref())),
        inputs: (training.names.iter().zip(&inputs))
            .filter(|(_, values)| whole(values))
            .map(|(name, values)| Column { name, values })
            .collect(),
        order: Order::Time {
            name: arguments.columns.time.as_deref().unwrap_or("time"),
            values: &times,
            dates: training.kept.time_is_dates(),
        },
        groups: groups.as_ref().map(|(name, labels, rows)| Groups { name, labels, rows }),
        moved: walk.fitted.bias().is_some(),
        ..Subject::default()
    };
    let progress = arguments.console.progress("Judging");
    let report = Report::new(&subject, &progress).context("cannot judge the walk")?;
    drop(progress);
    stop::check()?;
    let file = training.kept.file();
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    let title = format!("A walk through {}", name.as_deref().unwrap_or(file));
    let origin = Origin { facts, command: command(arguments), ..Origin::default() };
    let html = report.html(&title, &origin).context("cannot draw the page")?;
    Ok(output::write(page, html.as_bytes())?)
}

/// The command, as far as it says what was walked through.
fn command(arguments: &Arguments) -> String {
    let mut words = vec!["errbar backtest".to_string(), arguments.files.quoted()];
    let columns = &arguments.columns;
    let mut add = |option: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{option} {}", quoted(&value))));
    };
    let joined = |spans: &[errbar::series::Span]| {
        spans.iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
    };
    add("time", columns.time.clone());
    add("forecast", columns.forecast.clone());
    add("observation", columns.observation.clone());
    add("error", columns.error.clone());
    add("inputs", (!columns.inputs.is_empty()).then(|| columns.inputs.join(",")));
    add("group", columns.group.clone());
    add("delay", Some(columns.delay.to_string()));
    let calendar = arguments.learning.calendar == Calendar::No;
    add("calendar", calendar.then(|| "no".to_string()));
    add("lag", (!columns.lag.is_empty()).then(|| joined(&columns.lag)));
    let levels = arguments.guarantee.iter().map(ToString::to_string).collect::<Vec<String>>();
    add("guarantee", (!levels.is_empty()).then(|| levels.join(",")));
    add("start", Some(arguments.start.clone()));
    add("refit", Some(arguments.refit_text()));
    add("seed", Some(arguments.learning.seed.to_string()));
    words.join(" ")
}
