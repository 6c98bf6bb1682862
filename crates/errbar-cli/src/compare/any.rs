//! Forecasts of any form, compared.

use anyhow::bail;
use errbar::fit::Fitted;
use errbar::law::{self, Candidate};
use errbar::score::bootstrap::{self, Dependence, Paired, compare_means};
use errbar::score::events::{self, Event, EventDifference, EventSample, EventScores};
use errbar::score::winkler::CentralIntervals;
use errbar::score::{self, Judging};
use errbar::words::{percent, significant};
use serde::Serialize;

use super::words::difference_in_words;
use super::{Arguments, Contender};
use crate::columns::FileRows;
use crate::forms::{self, Beside, Extra, Form, Given, Joined, SigmaColumns, Spec};
use crate::resampling;
use crate::text_table::{TextTable, four, range, share_range, wrapped};

const WIDTH: usize = 100;

/// Everything there is to say.
#[derive(Serialize)]
pub(super) struct AnyReport {
    file: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileRows>,
    rows: usize,
    rows_in_file: usize,
    left_out: Vec<(String, usize)>,
    against: String,
    candidates: Vec<AnyContender>,
    /// The level of the intervals that are compared, where some are.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_level: Option<f64>,
    dependence: Option<Dependence>,
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// One of those compared.
#[derive(Serialize)]
struct AnyContender {
    form: &'static str,
    #[serde(flatten)]
    contender: Contender,
    #[serde(flatten)]
    extra: Extra,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_score_difference: Option<Paired>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventCompared>,
}

/// The probabilities of an event by one of those compared.
#[derive(Serialize)]
struct EventCompared {
    event: Event,
    /// Whether they are better than those compared with, in words.
    event_text: Option<String>,
    #[serde(flatten)]
    scores: EventScores,
    event_difference: Option<EventDifference>,
}

/// Compares them.
pub(super) fn compare(arguments: &Arguments) -> anyhow::Result<AnyReport> {
    if !arguments.error.is_empty() {
        bail!(
            "other forms than a sigma, events and --key need the observation: give --forecast and --observation instead of \
             --error"
        );
    }
    let models = arguments.models()?;
    arguments.forms.check_levels()?;
    let specs = arguments.specs(&models)?;
    if specs.len() < 2 {
        bail!("only one forecast was named: give two or more to compare, or use errbar score");
    }
    let beside = Beside {
        observation: arguments.observation.as_deref(),
        weight: arguments.weight.as_deref(),
        time: arguments.time.as_deref(),
        dates: &arguments.dates,
        by: None,
        key: &arguments.key.key,
    };
    let console = arguments.console;
    let joined = forms::read(&arguments.files, &arguments.table, specs, &beside, console)?;
    let against = place(&joined.forms, arguments.against.as_deref())?;
    let progress = console.progress("Scoring");
    let report = arguments.compare_forms(&joined, against, &progress);
    let mut report = report.map_err(|error| joined.refused(error))?;
    drop(progress);
    report.notes.splice(0..0, joined.notes.clone());
    report.warnings.extend(arguments.resampling.warning(joined.y.len()));
    report.warnings.extend(joined.kept.fill_values_in_words());
    for one in &report.candidates {
        let crossings =
            one.extra.quantiles.as_ref().map_or(0, |quantiles| quantiles.crossings.rows);
        if crossings > 0 {
            report.warnings.push(format!(
                "in {crossings} of {} rows quantiles of \"{}\" cross; they were put in order before they were judged",
                joined.y.len(),
                one.contender.name
            ));
        }
    }
    Ok(report)
}

/// The place of the one to compare with.
fn place(forms: &[Form], against: Option<&str>) -> anyhow::Result<usize> {
    for (nth, form) in forms.iter().enumerate() {
        if forms[..nth].iter().any(|other| other.name == form.name) {
            bail!("\"{}\" is named twice: each is compared once", form.name);
        }
    }
    let Some(name) = against else { return Ok(0) };
    match forms.iter().position(|form| form.name == name) {
        Some(nth) => Ok(nth),
        None => {
            let names: Vec<&str> = forms.iter().map(|form| form.name.as_str()).collect();
            bail!("--against {name}: there is no such one among {}", names.join(", "))
        }
    }
}

impl Arguments {
    /// The forecasts that are named: sigmas, then members, quantiles and intervals.
    fn specs<'a>(&'a self, models: &'a [Option<Fitted>]) -> anyhow::Result<Vec<Spec<'a>>> {
        let (forecasts, sigmas) = (self.forecast.len(), self.sigma.len());
        if sigmas == 0 && forecasts > 0 {
            bail!("--forecast is that of a sigma: name its column with --sigma");
        }
        if forecasts > 1 && forecasts != sigmas {
            bail!(
                "{forecasts} forecasts were named for {sigmas} sigmas: name one for all, or one for each"
            );
        }
        let mut specs = Vec::new();
        for (nth, sigma) in self.sigma.iter().enumerate() {
            let forecast = self.forecast.get(if forecasts > 1 { nth } else { 0 });
            let name = match forecast.filter(|_| forecasts > 1) {
                Some(forecast) => format!("{forecast} with {sigma}"),
                None => sigma.clone(),
            };
            specs.push(Spec::Sigma(SigmaColumns {
                forecast: forecast.map(String::as_str),
                sigma,
                model: models.get(nth).and_then(Option::as_ref),
                name,
            }));
        }
        specs.extend(self.forms.kinds()?.into_iter().map(Spec::Kind));
        Ok(specs)
    }

    fn compare_forms(
        &self,
        joined: &Joined,
        against: usize,
        monitor: &dyn errbar::Monitor,
    ) -> errbar::Result<AnyReport> {
        let (y, weight) = (&joined.y[..], joined.weight.as_deref());
        let candidates: errbar::Result<Vec<Candidate>> =
            joined.forms.iter().map(|form| form.candidate(y, weight)).collect();
        let candidates = candidates?;
        let scores = score::Options::default()
            .beta(self.beta)
            .coverage_levels(self.levels.clone())
            .confidence(self.resampling.confidence);
        let judging = Judging::default().scores(scores).drawing(self.resampling.options());
        let comparison = law::compare_any(&candidates, weight, against, &judging, monitor)?;
        let drawn = &comparison.candidates[against].judgement.intervals;
        let (block, dependence) = (drawn.block, drawn.dependence);
        let drawing = self.resampling.options().block(Some(block));
        let notes = resampling::note(drawn).into_iter().collect();

        let level = self.forms.level();
        let intervals = match level {
            Some(level) => Some(interval_scores(&candidates, level, y, weight, against, &drawing)?),
            None => None,
        };
        let interval = self.resampling.interval_in_words();
        let mut by_event = Vec::new();
        for event in &self.forms.event {
            by_event.push(compare_event(&candidates, *event, y, weight, against, &drawing)?);
        }
        let given = Given { weight, drawing: drawing.clone(), without_intervals: false };
        let other = &joined.forms[against].name;
        let mut contenders = Vec::new();
        let compared = comparison.candidates.into_iter().zip(&joined.forms).zip(&candidates);
        for (nth, ((candidate, form), of)) in compared.enumerate() {
            let extra = Extra::of(of, &given, monitor)?;
            let verdict = &candidate.judgement.verdict;
            let (verdict, verdict_word) = (extra.verdict(verdict, form.what()), verdict.word());
            let (score, difference) = intervals.as_ref().map_or((None, None), |all| {
                let (score, difference) = &all[nth];
                (Some(*score), *difference)
            });
            let name = form.name.clone();
            let known = of.has_crps() && candidates[against].has_crps();
            let text = match (candidate.difference, difference) {
                (Some(mut found), _) if known => {
                    // That of ranks depends on how many there are.
                    if form.what() != "sigma" || joined.forms[against].what() != "sigma" {
                        found.rs.interval.low = f64::NAN;
                    }
                    Some(difference_in_words(&name, other, &found, y.len(), &interval))
                }
                (Some(_), Some(found)) => {
                    let score_of_other = intervals.as_ref().map_or(f64::NAN, |all| all[against].0);
                    let level = level.unwrap_or(0.9);
                    Some(by_interval(
                        &name,
                        other,
                        level,
                        (score_of_other, &found),
                        y.len(),
                        &interval,
                    ))
                }
                _ => None,
            };
            let events = by_event.iter().map(|all| {
                let (event, scores, event_difference) = &all[nth];
                let base = &all[against].1;
                let event_text = event_difference
                    .as_ref()
                    .map(|found| by_event_in_words(&name, other, (event, base), found, &interval));
                EventCompared {
                    event: *event,
                    event_text,
                    scores: scores.clone(),
                    event_difference: *event_difference,
                }
            });
            contenders.push(AnyContender {
                form: form.what(),
                events: events.collect(),
                contender: Contender { name, text, verdict, verdict_word, candidate },
                extra,
                interval_score: score,
                interval_score_difference: difference,
            });
        }
        Ok(AnyReport {
            file: joined.file.clone(),
            files: joined.kept.files(),
            rows: y.len(),
            rows_in_file: joined.kept.total_rows(),
            left_out: joined.kept.left_out().to_vec(),
            against: other.clone(),
            candidates: contenders,
            interval_level: level,
            dependence,
            notes,
            warnings: Vec::new(),
        })
    }
}

/// The mean interval score of each at a level, and how it differs.
fn interval_scores(
    candidates: &[Candidate],
    level: f64,
    y: &[f64],
    weight: Option<&[f64]>,
    against: usize,
    drawing: &bootstrap::Options,
) -> errbar::Result<Vec<(f64, Option<Paired>)>> {
    let each = |candidate: &Candidate| -> errbar::Result<Vec<f64>> {
        let (low, high) = candidate.interval(level, y)?;
        Ok(CentralIntervals::new(&low, &high, level, y)?.scores())
    };
    let columns: errbar::Result<Vec<Vec<f64>>> = candidates.iter().map(each).collect();
    let columns = columns?;
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let differences = compare_means(&columns, weight, against, drawing, &errbar::Silent)?;
    let weight_of = |row: usize| weight.map_or(1.0, |weight| weight[row]);
    let total: f64 = (0..y.len()).map(weight_of).sum();
    let mean = |column: &[f64]| {
        column.iter().enumerate().map(|(row, score)| weight_of(row) / total * score).sum::<f64>()
    };
    Ok(columns.iter().map(|column| mean(column)).zip(differences).collect())
}

/// The scores of an event by each, and how they differ.
fn compare_event(
    candidates: &[Candidate],
    event: Event,
    y: &[f64],
    weight: Option<&[f64]>,
    against: usize,
    drawing: &bootstrap::Options,
) -> errbar::Result<Vec<(Event, EventScores, Option<EventDifference>)>> {
    let happened = event.happened(y);
    let probabilities: errbar::Result<Vec<Vec<f64>>> =
        candidates.iter().map(|candidate| candidate.probabilities(&event, y)).collect();
    let probabilities = probabilities?;
    let samples: errbar::Result<Vec<EventSample>> = (probabilities.iter())
        .map(|p| EventSample::new(p, &happened)?.maybe_weighted(weight))
        .collect();
    let samples = samples?;
    let differences = events::compare(&samples, against, drawing, &errbar::Silent)?;
    let options = events::Options { drawing: drawing.clone(), without_intervals: false };
    let judged: errbar::Result<Vec<EventScores>> =
        samples.iter().map(|sample| events::judge(sample, &options, &errbar::Silent)).collect();
    Ok(judged?.into_iter().zip(differences).map(|(scores, found)| (event, scores, found)).collect())
}

/// "x is better than y by the interval score at 90%: lower by 3.1% (95% interval ...)".
fn by_interval(
    name: &str,
    other: &str,
    level: f64,
    (of_other, found): (f64, &Paired),
    rows: usize,
    interval: &str,
) -> String {
    let level = significant(100.0 * level, 4);
    let by = format!("the interval score at {level}%");
    let told = told(found, of_other, interval);
    match (found.is_significant(), found.value < 0.0) {
        (true, true) => format!("{name} is better than {other} by {by}, which is {told}."),
        (true, false) => format!("{name} is worse than {other} by {by}, which is {told}."),
        (false, _) => format!(
            "{name} and {other}: no difference that these {rows} rows can show by {by}, which is {told}."
        ),
    }
}

/// The same of an event.
fn by_event_in_words(
    name: &str,
    other: &str,
    (event, base): (&Event, &EventScores),
    found: &EventDifference,
    interval: &str,
) -> String {
    let told = told(&found.brier, base.brier.score, interval);
    match (found.brier.is_significant(), found.brier.value < 0.0) {
        (true, true) => {
            format!(
                "Event {event}: {name} is better than {other} by the Brier score, which is {told}."
            )
        }
        (true, false) => {
            format!(
                "Event {event}: {name} is worse than {other} by the Brier score, which is {told}."
            )
        }
        (false, _) => format!(
            "Event {event}: {name} and {other} differ by no more than chance would; the Brier score is {told}."
        ),
    }
}

/// "lower by 3.2% (95% interval 2.1% to 4.3%)": a difference as a share of the score of the other.
fn told(found: &Paired, of_other: f64, interval: &str) -> String {
    if found.value == 0.0 {
        return String::from("the same");
    }
    let (side, sign) = if found.value > 0.0 { ("higher", 1.0) } else { ("lower", -1.0) };
    let share = found.value / of_other;
    if found.value.is_nan() {
        return String::from("beyond the range of doubles");
    }
    if !share.is_finite() {
        return format!("{side} by {}", four(found.value.abs()));
    }
    let ends = [found.interval.low, found.interval.high].map(|end| sign * end / of_other);
    let within = match ends.iter().any(|end| end.is_nan()) {
        true => format!("{interval} not known"),
        false => format!("{interval} {}", share_range(ends[0].min(ends[1]), ends[0].max(ends[1]))),
    };
    format!("{side} by {} ({within})", percent(share.abs()))
}

impl AnyReport {
    /// Words first, then the scores side by side, then the differences.
    pub(super) fn in_words(&self, interval: &str) -> String {
        let mut text = String::new();
        for sentence in self.candidates.iter().filter_map(|c| c.contender.text.as_ref()) {
            text += &wrapped(sentence, WIDTH);
        }
        let count = self.candidates.first().map_or(0, |c| c.events.len());
        for nth in 0..count {
            let of = |c: &AnyContender| c.events[nth].event_text.clone();
            for sentence in self.candidates.iter().filter_map(of) {
                text += &wrapped(&sentence, WIDTH);
            }
        }
        text += &format!("\n{}, {} rows\n\n", self.file, self.rows);
        text += &self.side_by_side(interval).to_string();
        if count > 0 {
            text += &format!("\n{}", self.events());
        }
        text += &format!("\nDifferences from {} (below 0 is better):\n\n", self.against);
        text += &self.differences(interval).to_string();
        text
    }

    fn side_by_side(&self, interval: &str) -> TextTable {
        let names = self.candidates.iter().map(|one| one.contender.name.as_str());
        let mut table = TextTable::new(&std::iter::once("").chain(names).collect::<Vec<_>>());
        let mut add = |name: &str, cell: &dyn Fn(&AnyContender) -> String| {
            let cells: Vec<String> = self.candidates.iter().map(cell).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                table.row(std::iter::once(name.to_string()).chain(cells).collect());
            }
        };
        let known = |value: f64, text: String| if value.is_nan() { String::new() } else { text };
        let number = |value: f64| known(value, four(value));
        fn of(one: &AnyContender) -> &score::Judgement {
            &one.contender.candidate.judgement
        }
        add("form", &|c| c.form.to_string());
        add("bias", &|c| four(of(c).scores.bias));
        add("root mean squared error", &|c| four(of(c).scores.rmse));
        add("CRPS", &|c| number(of(c).scores.crps));
        add(&format!("  {interval}"), &|c| known(of(c).scores.crps, range(of(c).intervals.crps)));
        add("CRPS skill", &|c| known(of(c).scores.crps, percent(of(c).scores.crps_skill)));
        add("NLPD", &|c| number(of(c).scores.nlpd));
        add(&format!("  {interval}"), &|c| known(of(c).scores.nlpd, range(of(c).intervals.nlpd)));
        add("reliability score RS", &|c| known(of(c).scores.crps, four(of(c).scores.rs)));
        if let Some(level) = self.interval_level {
            let name = format!("interval score at {}%", significant(100.0 * level, 5));
            add(&name, &|c| c.interval_score.map_or(String::new(), four));
        }
        add("spread over skill", &|c| {
            c.extra.members.as_ref().map_or(String::new(), |m| number(m.spread_skill.ratio))
        });
        add("mean pinball loss", &|c| {
            c.extra.quantiles.as_ref().map_or(String::new(), |q| four(q.mean_pinball))
        });
        let mut levels: Vec<f64> = Vec::new();
        for one in &self.candidates {
            for coverage in &of(one).scores.coverage {
                if !levels.iter().any(|level| (level - coverage.level).abs() < 1e-9) {
                    levels.push(coverage.level);
                }
            }
        }
        levels.sort_by(f64::total_cmp);
        for level in levels {
            let name = format!("{}% intervals hold", significant(100.0 * level, 5));
            add(&name, &|c| {
                let found =
                    of(c).scores.coverage.iter().find(|found| (found.level - level).abs() < 1e-9);
                found.map_or(String::new(), |found| percent(found.observed))
            });
        }
        add("verdict", &|c| c.contender.verdict_word.to_string());
        table
    }

    fn events(&self) -> TextTable {
        let heads = ["event", "", "said", "happened", "Brier", "skill", "reliability", "ROC area"];
        let mut table = TextTable::new(&heads);
        let count = self.candidates.first().map_or(0, |c| c.events.len());
        for nth in 0..count {
            for (place, one) in self.candidates.iter().enumerate() {
                let EventCompared { event, scores, .. } = &one.events[nth];
                let known =
                    |value: f64, text: String| if value.is_nan() { String::new() } else { text };
                let brier = scores.brier;
                table.row(vec![
                    if place == 0 { event.to_string() } else { String::new() },
                    one.contender.name.clone(),
                    percent(scores.mean_probability),
                    percent(scores.base_rate),
                    four(brier.score),
                    known(brier.skill, percent(brier.skill)),
                    four(brier.reliability),
                    known(scores.roc.area, significant(scores.roc.area, 3)),
                ]);
            }
        }
        table
    }

    fn differences(&self, interval: &str) -> TextTable {
        let mut table = TextTable::new(&["", "<score", "difference", interval, "p"]);
        for one in &self.candidates {
            let Some(found) = one.contender.candidate.difference else { continue };
            let of_sigmas = self.candidates.iter().all(|one| one.form == "sigma");
            let mut scores =
                vec![("CRPS".to_string(), found.crps), ("NLPD".to_string(), found.nlpd)];
            scores.push(("RS".to_string(), found.rs));
            scores.extend(one.interval_score_difference.map(|d| ("interval score".to_string(), d)));
            for event in &one.events {
                let brier = event.event_difference.map(|d| d.brier);
                scores.extend(brier.map(|d| (format!("Brier of {}", event.event), d)));
            }
            let mut name = one.contender.name.clone();
            for (score, paired) in scores {
                // That of ranks depends on how many there are.
                let unknown = paired.value.is_nan() || (score == "RS" && !of_sigmas);
                if unknown {
                    continue;
                }
                table.row(vec![
                    std::mem::take(&mut name),
                    score,
                    four(paired.value),
                    range(paired.interval),
                    format!("{:.3}", paired.p_value),
                ]);
            }
        }
        table
    }
}
