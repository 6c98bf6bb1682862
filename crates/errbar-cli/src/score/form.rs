//! A forecast that is no sigma: members, quantiles or an interval.

use anyhow::bail;
use errbar::law::judge_any;
use errbar::score::bootstrap::{Dependence, Interval};
use errbar::score::{self, Judging};
use errbar::words::{percent, significant};
use serde::Serialize;

use super::words::WIDTH;
use super::{Arguments, Assessment, Said, WordedVerdict, groups, json};
use crate::columns::FileRows;
use crate::forms::{
    self, Beside, Extra, Form, Given, Joined, Spec, event_sentences, event_table, extra_words,
    judge_events, warning_tables,
};
use crate::resampling;
use crate::text_table::{TextTable, four, range, within, wrapped};

/// Everything there is to say.
#[derive(Serialize)]
pub(super) struct FormReport {
    file: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileRows>,
    rows: usize,
    rows_in_file: usize,
    left_out: Vec<(String, usize)>,
    /// The columns, as they were named, and what they hold.
    forecast: String,
    form: &'static str,
    #[serde(flatten)]
    all: Judged,
    dependence: Option<Dependence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Group>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Judged {
    #[serde(flatten)]
    assessment: Assessment,
    #[serde(flatten)]
    extra: Extra,
}

/// One value of the column to group by.
#[derive(Serialize)]
struct Group {
    value: String,
    rows: usize,
    /// None where no row has any weight.
    #[serde(flatten)]
    judged: Option<Judged>,
}

/// Judges it.
pub(super) fn judge(arguments: &Arguments) -> anyhow::Result<FormReport> {
    let kinds = arguments.forms.kinds()?;
    let kind = match <[_; 1]>::try_from(kinds) {
        Ok([kind]) => kind,
        Err(kinds) => bail!(
            "{} forecasts were named, and errbar score judges one: to see which is better use errbar compare",
            kinds.len()
        ),
    };
    for (given, name) in [
        (arguments.sigma.is_some(), "--sigma"),
        (arguments.forecast.is_some(), "--forecast"),
        (arguments.error.is_some(), "--error"),
        (arguments.model.is_some(), "--model"),
    ] {
        if given {
            bail!(
                "{name} and {} are two forecasts, and errbar score judges one: leave one out, or see which is better with \
                 errbar compare",
                kind.given
            );
        }
    }
    let beside = Beside {
        observation: arguments.observation.as_deref(),
        weight: arguments.weight.as_deref(),
        time: arguments.time.as_deref(),
        dates: &arguments.dates,
        by: arguments.by.as_deref(),
        key: &[],
    };
    let console = arguments.console;
    let mut joined =
        forms::read(&arguments.files, &arguments.table, vec![Spec::Kind(kind)], &beside, console)?;
    let Some(form) = joined.forms.pop() else { bail!("no forecast was named") };
    let progress = console.progress("Scoring");
    let weight = joined.weight.as_deref();
    let all = arguments.judge_form(&form, &joined.y, weight, &joined, &progress)?;
    drop(progress);
    let mut judged = Vec::new();
    if let (Some(id), Some(name)) = (joined.by, &arguments.by) {
        for (value, rows) in groups::split(joined.kept.texts(id), name, joined.kept.file())? {
            crate::stop::check()?;
            let choose = |all: &[f64]| rows.iter().map(|&row| all[row]).collect::<Vec<f64>>();
            let (y, weight) = (choose(&joined.y), weight.map(choose));
            let counts = weight.as_ref().is_none_or(|weight| weight.iter().any(|w| *w > 0.0));
            let part = form.part(&rows);
            let one = match counts {
                false => None,
                true => Some(arguments.judge_form(
                    &part,
                    &y,
                    weight.as_deref(),
                    &joined,
                    &errbar::Silent,
                )?),
            };
            judged.push(Group { value, rows: rows.len(), judged: one });
        }
    }
    let intervals = all.assessment.intervals.as_ref();
    let mut notes = joined.notes.clone();
    notes.extend(intervals.and_then(resampling::note));
    let mut warnings: Vec<String> = arguments
        .resampling
        .warning(joined.y.len())
        .filter(|_| !arguments.no_intervals)
        .into_iter()
        .collect();
    warnings.extend(joined.kept.fill_values_in_words());
    warnings.extend(all.crossings(&joined));
    Ok(FormReport {
        file: joined.file.clone(),
        files: joined.kept.files(),
        rows: joined.y.len(),
        rows_in_file: joined.kept.total_rows(),
        left_out: joined.kept.left_out().to_vec(),
        form: form.what(),
        forecast: form.name,
        dependence: intervals.and_then(|intervals| intervals.dependence),
        all,
        by: arguments.by.clone(),
        groups: judged,
        notes,
        warnings,
    })
}

impl Arguments {
    fn judge_form(
        &self,
        form: &Form,
        y: &[f64],
        weight: Option<&[f64]>,
        joined: &Joined,
        monitor: &dyn errbar::Monitor,
    ) -> anyhow::Result<Judged> {
        let given = Given {
            weight,
            drawing: self.resampling.options(),
            without_intervals: self.no_intervals,
        };
        let judged = || -> errbar::Result<Judged> {
            let candidate = form.candidate(y, weight)?;
            let scores = score::Options::default()
                .beta(self.beta)
                .coverage_levels(self.levels.clone())
                .confidence(self.resampling.confidence);
            let judging = Judging::default().scores(scores).drawing(given.drawing.clone());
            let judgement = judge_any(&candidate, weight, &judging, monitor)?;
            let extra = Extra::of(&candidate, &given, monitor)?;
            let text = extra.verdict(&judgement.verdict, form.what());
            let intervals = Some(judgement.intervals).filter(|_| !self.no_intervals);
            let events = judge_events(
                &candidate,
                &self.forms.event,
                y,
                &given,
                intervals.as_ref(),
                monitor,
            )?;
            let word = judgement.verdict.word();
            let verdict = WordedVerdict { word, text, verdict: judgement.verdict };
            let scores = judgement.scores;
            let assessment = Assessment { verdict, scores, intervals, rs_bound: None, events };
            Ok(Judged { assessment, extra })
        };
        judged().map_err(|error| joined.refused(error))
    }
}

impl Judged {
    /// That quantiles are not in order.
    fn crossings(&self, joined: &Joined) -> Option<String> {
        let crossings = self.extra.quantiles.as_ref()?.crossings;
        let (first, (low, high)) = crossings.first.zip(crossings.levels)?;
        let rows = if crossings.rows == 1 { "row" } else { "rows" };
        Some(format!(
            "in {} {rows} quantiles cross, by up to {}: in {} that of {}% is below that of {}%; they were put in order \
             before they were judged",
            crossings.rows,
            four(crossings.largest),
            joined.kept.place(first),
            significant(100.0 * high, 5),
            significant(100.0 * low, 5)
        ))
    }

    fn score_table(&self, interval: &str) -> TextTable {
        let Assessment { scores: s, intervals, .. } = &self.assessment;
        let mut heads = vec!["", "value"];
        heads.extend(intervals.as_ref().map(|_| interval));
        heads.push("<");
        let mut table = TextTable::new(&heads);
        let mut add = |name: &str, value: f64, known: Option<Interval>, note: &str| {
            let mut cells = vec![name.to_string(), within(value, known)];
            cells.extend(intervals.as_ref().map(|_| known.map_or_else(String::new, range)));
            cells.push(note.to_string());
            table.row(cells);
        };
        let i = intervals.as_ref();
        let middle = match (&self.extra.members, &self.extra.quantiles) {
            (Some(_), _) => "of the mean of the members",
            (_, Some(_)) => "of the median",
            _ => "of the middle of the interval",
        };
        add(
            "bias",
            s.bias,
            i.map(|i| i.bias),
            &format!("mean of observation minus forecast, {middle}"),
        );
        add("mean absolute error", s.mae, i.map(|i| i.mae), middle);
        add("root mean squared error", s.rmse, i.map(|i| i.rmse), middle);
        if s.crps.is_nan() {
            return table;
        }
        add("CRPS", s.crps, i.map(|i| i.crps), "accuracy, in the units of the observation");
        let better = format!("1 - CRPS over {}, that of one sigma for all", four(s.constant.crps));
        add("CRPS skill", s.crps_skill, i.map(|i| i.crps_skill), &better);
        let chance = format!("0 is perfect; {} by chance", four(s.rs_by_chance));
        add("reliability score RS", s.rs, i.map(|i| i.rs), &chance);
        table
    }
}

impl FormReport {
    pub(super) fn said(self, arguments: &Arguments) -> anyhow::Result<Said> {
        let text = match arguments.json {
            true => json(&self)?,
            false => self.in_words(&arguments.resampling.interval_in_words()),
        };
        Ok(Said { notes: self.notes, warnings: self.warnings, text })
    }

    fn in_words(&self, interval: &str) -> String {
        let Judged { assessment, extra } = &self.all;
        let mut text = wrapped(&assessment.verdict.text, WIDTH);
        for sentences in event_sentences(&assessment.events, interval) {
            text += &format!("\n{}", wrapped(&sentences, WIDTH));
        }
        let rows = if self.rows == 1 { "1 row".into() } else { format!("{} rows", self.rows) };
        text += &format!("\n{}, {rows}, {} {}\n\n", self.file, self.form, self.forecast);
        text += &self.all.score_table(interval).to_string();
        text += &extra_words(extra, interval);
        if !assessment.scores.coverage.is_empty() && extra.interval.is_none() {
            text += &format!("\n{}", assessment.coverage_table(interval));
        }
        if !assessment.events.is_empty() {
            text += &format!("\n{}", event_table(&assessment.events, interval));
            text += &warning_tables(&assessment.events);
        }
        if let Some(by) = &self.by {
            text += &format!("\n{}", group_table(by, &self.groups, interval));
        }
        text
    }
}

fn group_table(by: &str, groups: &[Group], interval: &str) -> TextTable {
    let judged = || groups.iter().filter_map(|group| group.judged.as_ref());
    let known = judged().any(|judged| judged.assessment.intervals.is_some());
    let has_crps = judged().any(|judged| !judged.assessment.scores.crps.is_nan());
    let level = judged().find_map(|judged| judged.assessment.verdict.verdict.coverage);
    let holds = level.map(|c| format!("{}% holds", significant(100.0 * c.level, 4)));
    let mut heads = vec![by, "rows", "bias", "RMSE"];
    heads.push(if has_crps { "CRPS" } else { "interval score" });
    heads.extend(known.then_some(interval));
    heads.extend(holds.as_deref());
    heads.push("<verdict");
    let mut table = TextTable::new(&heads);
    for group in groups {
        let value = if group.value.is_empty() { "(missing)" } else { &group.value };
        let mut cells = vec![value.to_string(), group.rows.to_string()];
        let Some(Judged { assessment, extra }) = &group.judged else {
            cells.push(String::from("no row has any weight"));
            table.row(cells);
            continue;
        };
        let Assessment { scores, intervals, verdict, .. } = assessment;
        cells.extend([scores.bias, scores.rmse].map(four));
        let (score, within) = match &extra.interval {
            Some(one) => (one.score, Some(one.score_interval)),
            None => (scores.crps, intervals.as_ref().map(|intervals| intervals.crps)),
        };
        cells.push(four(score));
        if known {
            cells.push(within.map_or_else(String::new, range));
        }
        cells.extend(verdict.verdict.coverage.map(|c| percent(c.observed)));
        cells.push(verdict.word.to_string());
        table.row(cells);
    }
    table
}
