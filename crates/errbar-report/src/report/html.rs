//! The report as a page.

use errbar::words::significant;
use maud::{Markup, html};

use super::figures::{ReportFigure, Section};
use super::headline::{self, Tone, grouped};
use super::{Origin, Report};
use crate::error::Result;
use crate::page::{self, FigureBlock, Plot};
use crate::table::{Cell, Table};

pub(super) fn page(report: &Report, title: &str, origin: &Origin) -> Result<String> {
    let shown = crate::names::shown(title, 120);
    let [observation, forecast] = &report.names;
    let mut sections = Vec::new();
    for (section, heading) in [
        (Section::Curve, "The forecast"),
        (Section::Size, "Are the error bars of the right size?"),
        (Section::Events, "Are the probabilities of events right?"),
        (Section::Inputs, "Where are they wide?"),
        (Section::Series, "How did it go?"),
        (Section::Order, "Does it last?"),
        (Section::Groups, "Is it the same for all?"),
    ] {
        let figures = report.figures.iter().filter(|figure| figure.section == section);
        let blocks: Vec<Markup> = figures.map(block).collect::<Result<_>>()?;
        if !blocks.is_empty() {
            sections.push(html! {
                h2 { (heading) }
                div.figures { @for block in &blocks { (block) } }
            });
        }
    }
    let content = html! {
        h1 { bdi { (shown) } }
        p.soft {
            (grouped(report.scores.rows)) " rows: the forecast (" (page::name(forecast)) ") beside \
             what was then observed (" (page::name(observation)) ")."
        }
        (top(report, origin))
        @for section in &sections { (section) }
        h2 { "All scores" }
        (page::table(&scores(report), "All scores"))
        (end(report, origin))
    };
    Ok(page::page(&shown, &content))
}

/// The headline, the few numbers, and what to do.
fn top(report: &Report, origin: &Origin) -> Markup {
    let verdict = report.verdict.to_string();
    let (word, rest) = verdict.split_once(':').map_or(("", verdict.as_str()), |(a, b)| (a, b));
    let class = match headline::tone(report) {
        Tone::Good => "lead good",
        Tone::Bad => "lead",
        Tone::Open => "lead open",
    };
    let advice = report.advice();
    html! {
        p class=(class) { @if !word.is_empty() { b { (word) ":" } } (rest) }
        ul.facts {
            @for fact in headline::facts(report) {
                li { b { (fact.number) } span { (fact.what) } (fact.more) }
            }
        }
        @if !(advice.is_empty() && origin.warnings.is_empty()) {
            h2 { "What to do" }
            ul.advice {
                @for warning in &origin.warnings { li { (said(warning)) } }
                @for advice in &advice { li { (advice) } }
            }
        }
    }
}

fn block(figure: &ReportFigure) -> Result<Markup> {
    let drawing = figure.figure.drawing()?;
    let spots = figure.places(&drawing);
    let narrow = figure.narrow.as_ref().map(|narrow| narrow.drawing()).transpose()?;
    let narrow_spots = narrow.as_ref().map(|narrow| figure.places(narrow)).unwrap_or_default();
    Ok(page::figure(&FigureBlock {
        id: &figure.name,
        title: &figure.title,
        caption: html! { p { b { (figure.message) } } p { (figure.reading) } },
        plot: Plot { svg: drawing.svg(), spots: &spots },
        narrow: narrow.as_ref().map(|narrow| Plot { svg: narrow.svg(), spots: &narrow_spots }),
        table: Some(&figure.table),
        open: figure.open,
        class: "",
    }))
}

/// Every score with its interval and what it says.
fn scores(report: &Report) -> Table {
    let (scores, intervals) = (&report.scores, &report.intervals);
    let chance = significant(scores.rs_by_chance, 3);
    let nothing = [f64::NAN; 2];
    let ends = |interval: errbar::score::bootstrap::Interval| [interval.low, interval.high];
    let rows: [(&str, f64, [f64; 2], String); 11] = [
        (
            "CRPS",
            scores.crps,
            ends(intervals.crps),
            "accuracy: how close and how sharp; smaller is better".into(),
        ),
        (
            "CRPS of one constant sigma",
            scores.constant.crps,
            nothing,
            format!("the best in hindsight, {}", significant(scores.constant.sigma, 4)),
        ),
        (
            "CRPS skill",
            scores.crps_skill,
            ends(intervals.crps_skill),
            "1 is perfect, 0 no better than the constant".into(),
        ),
        (
            "Reliability Score",
            scores.rs,
            ends(intervals.rs),
            format!("0 is perfect; {chance} on average for a right sigma with as many rows"),
        ),
        (
            "Accuracy-Reliability cost",
            scores.ar.value,
            ends(intervals.ar),
            format!("both in one, beta {}", significant(scores.ar.beta, 3)),
        ),
        (
            "negative log predictive density",
            scores.nlpd,
            ends(intervals.nlpd),
            "smaller is better".into(),
        ),
        (
            "errors over sigma",
            scores.rms_z,
            ends(intervals.rms_z),
            "root mean square; 1 when sigma has the right size".into(),
        ),
        ("mean sigma", scores.mean_sigma, ends(intervals.mean_sigma), "sharpness".into()),
        (
            "bias",
            scores.bias,
            ends(intervals.bias),
            "the mean of observation minus forecast".into(),
        ),
        ("mean absolute error", scores.mae, ends(intervals.mae), "of the forecast alone".into()),
        (
            "root mean squared error",
            scores.rmse,
            ends(intervals.rmse),
            "of the forecast alone".into(),
        ),
    ];
    let mut table = Table::new(&["score", "value", "95% from", "95% to", "what it says"]);
    for (name, value, [low, high], words) in rows {
        let numbers = [value, low, high].map(Cell::Number);
        let mut row = vec![Cell::Text(name.into())];
        row.extend(numbers);
        row.push(Cell::Text(words));
        table.rows.push(row);
    }
    table
}

/// What a caller says, which may have names in it: no sentence needs more than this.
fn said(text: &str) -> String {
    crate::names::shown(text, 600)
}

fn end(report: &Report, origin: &Origin) -> Markup {
    html! {
        h2 { "How this page was made" }
        dl.origin {
            @for (name, value) in &origin.facts { dt { (said(name)) } dd { bdi { (said(value)) } } }
            dt { "errbar" } dd { (env!("CARGO_PKG_VERSION")) }
        }
        @if !origin.command.is_empty() { pre { code { (origin.command) } } }
        @for note in &origin.notes { p.soft { (said(note)) } }
        p.soft {
            "Ranges of chance are where a right sigma would be in 95% of cases, rows being independent. \
             Intervals of scores are bootstrap intervals of " (report.intervals.options.replicates)
            " resamples"
            @if let Some(blocks) = report.intervals.blocks_in_words() { ": " (blocks) }
            ". The same data and command give the same page."
        }
    }
}
