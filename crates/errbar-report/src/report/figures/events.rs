//! Events: are their probabilities right, do they tell events from the rest, and are they worth acting on?

use errbar::score::bootstrap::Interval;
use errbar::score::events::{EventBin, EventScores, ValuePoint};
use errbar::words::significant;

use super::{BROAD, CHANCE, ReportFigure, Section, Spot, WIDTH, of_all};
use crate::axis::Axis;
use crate::color::{FORECAST, GREY, TRUTH};
use crate::figure::Figure;
use crate::layer::{ErrorBars, Histogram, Line, Rule, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::JudgedEvent;
use crate::report::headline::grouped;
use crate::scene::Dash;
use crate::table::{Cell, Table, percent};

/// Events in a smaller share of the rows are rare: small ratios of cost to loss are what matters.
const RARE: f64 = 0.05;

pub(super) fn figures(events: &[JudgedEvent], observation: &str) -> Vec<ReportFigure> {
    events.iter().enumerate().map(|(nth, event)| figure(nth, event, observation)).collect()
}

fn figure(
    nth: usize,
    JudgedEvent { words, scores }: &JudgedEvent,
    observation: &str,
) -> ReportFigure {
    let name = names::shown(observation, names::ON_FIGURES);
    let mut table = Table::new(&[
        "probability from",
        "to",
        "rows",
        "events",
        "mean probability",
        "frequency",
        "by chance from",
        "by chance to",
    ]);
    let mut spots = Vec::new();
    for (row, bin) in scores.diagram.iter().enumerate() {
        table.rows.push(vec![
            Cell::Share(bin.from),
            Cell::Share(bin.to),
            Cell::Count(bin.rows),
            Cell::Count(bin.events),
            Cell::Share(bin.mean_probability),
            Cell::Share(bin.frequency),
            Cell::Share(bin.low),
            Cell::Share(bin.high),
        ]);
        spots.push(Spot { row, panel: 0, x: bin.mean_probability, y: bin.frequency });
    }
    ReportFigure {
        name: format!("event-{}", nth + 1),
        title: format!("{name} {words}"),
        message: message(scores),
        reading: reading(scores),
        figure: draw(scores, true),
        narrow: Some(draw(scores, false)),
        table,
        spots,
        section: Section::Events,
        open: false,
    }
}

/// "21% (95% interval 15% to 27%)"
fn with_interval(value: f64, interval: Option<Interval>) -> String {
    let share = |value: f64| percent(value).replace('-', "−");
    match interval.filter(Interval::is_known) {
        Some(Interval { low, high, .. }) => {
            format!("{} (95% interval {} to {})", share(value), share(low), share(high))
        }
        None => share(value),
    }
}

fn message(scores: &EventScores) -> String {
    let EventScores { events, rows, base_rate, brier, diagram, .. } = scores;
    let happened = match (*events, *events == *rows) {
        (0, _) => {
            return format!(
                "It happened in none of the {} rows: of its probabilities these rows say little.",
                grouped(*rows)
            );
        }
        (_, true) => {
            return format!(
                "It happened in all of the {} rows: of its probabilities these rows say little.",
                grouped(*rows)
            );
        }
        (1, _) => String::from("It happened in one row"),
        (n, _) => format!(
            "It happened in {} of {} rows ({})",
            grouped(n),
            grouped(*rows),
            percent(*base_rate)
        ),
    };
    let off = |bin: &&EventBin| bin.frequency < bin.low || bin.frequency > bin.high;
    let out = diagram.iter().filter(off).count();
    let intervals = scores.intervals.as_ref();
    let skill = with_interval(brier.skill.abs(), None);
    let skill = match brier.skill {
        s if s > 0.0 => format!(
            "the Brier score {} is {} better than that of the base rate",
            significant(brier.score, 3),
            with_interval(s, intervals.map(|all| all.brier_skill))
        ),
        _ => format!(
            "the Brier score {} is {skill} worse than that of the base rate",
            significant(brier.score, 3)
        ),
    };
    format!(
        "{happened}; {skill}. Frequencies leave the range of chance in {}.",
        of_all(out, diagram.len(), "bins")
    )
}

fn reading(scores: &EventScores) -> String {
    let mut words = String::from(
        "First how often it happened in rows of like probability, on the diagonal where the probability is \
         right, with the range in which chance leaves it then; beside it how many rows had which \
         probability: few in the middle and many at the ends is sharp. Below, what warnings catch against how \
         often they are given for nothing, as the probability at which one warns falls (an area of 1 is \
         perfect, 0.5 knows nothing); and what acting on the probabilities is worth to those whose cost of \
         acting is so large a part of their loss (1 as good as knowing, 0 as the base rate alone), dashed if \
         they were reliable.",
    );
    let at_half =
        scores.warnings.iter().min_by(|a, b| (a.at - 0.5).abs().total_cmp(&(b.at - 0.5).abs()));
    if let Some(warning) = at_half.filter(|w| w.caught.is_finite() && w.warned > 0.0) {
        words += &format!(
            " A warning from {} on would have been given in {} of the rows, before {} of the events, and for \
             nothing in {} of the cases.",
            percent(warning.at),
            percent(warning.warned),
            percent(warning.caught),
            percent(warning.false_alarms)
        );
    }
    if scores.few {
        words += " It happened, or did not, in fewer than ten rows: they tell little.";
    }
    words
}

fn draw(scores: &EventScores, broad: bool) -> Figure {
    let share = |label: &str| Axis::new(label).percent().range(0.0, 1.0);
    let column =
        |of: &dyn Fn(&EventBin) -> f64| -> Vec<f64> { scores.diagram.iter().map(of).collect() };
    let (x, y) = (column(&|bin| bin.mean_probability), column(&|bin| bin.frequency));
    // With room for points at the ends.
    let roomy = |label: &str| Axis::new(label).percent().range(-0.02, 1.02);
    let diagram = Panel::new(roomy("probability"), roomy("how often it happened"))
        .legend(Legend::Above)
        .with(
            ErrorBars::new(x.clone(), column(&|bin| bin.low), column(&|bin| bin.high))
                .color(CHANCE)
                .width(9.0)
                .label("range of chance (95%)"),
        )
        .with(Rule::diagonal())
        .with(Rule::horizontal(scores.base_rate).dash(Dash::Dashed).label("base rate"))
        .with(Line::new(x.clone(), y.clone()).color(TRUTH).width(1.2))
        .with(Scatter::new(x, y).color(TRUTH).filled().radius(3.5));

    let edges: Vec<f64> = (0..=10).map(|nth| f64::from(nth) / 10.0).collect();
    let mut counts = vec![0.0; 10];
    for bin in &scores.diagram {
        let place = ((bin.from * 10.0).round() as usize).min(9);
        counts[place] += bin.rows as f64;
    }
    let most = counts.iter().copied().fold(1.0, f64::max);
    let least = counts.iter().copied().filter(|n| *n > 0.0).fold(most, f64::min);
    let rows = match most > 30.0 * least {
        true => Axis::new("rows").log().range(0.5 * least.min(1.0), 1.6 * most),
        false => Axis::new("rows").counts().range(0.0, 1.1 * most),
    };
    let histogram = Panel::new(share("probability"), rows)
        .legend(Legend::Above)
        .with(Histogram::new(edges, counts).label("rows"));

    let of_roc = |of: fn(&errbar::score::events::RocPoint) -> f64| -> Vec<f64> {
        scores.roc.points.iter().map(of).collect()
    };
    let area = match scores.intervals.as_ref().map(|all| all.area).filter(Interval::is_known) {
        _ if !scores.roc.area.is_finite() => String::from("no area"),
        Some(Interval { low, high, .. }) => format!(
            "area {} (95% {} to {})",
            significant(scores.roc.area, 3),
            significant(low, 3),
            significant(high, 3)
        ),
        None => format!("area {}", significant(scores.roc.area, 3)),
    };
    let roc = Panel::new(share("warned although nothing came"), share("events warned of"))
        .legend(Legend::Above)
        .with(Rule::diagonal())
        .with(
            Line::new(of_roc(|p| p.false_alarm_rate), of_roc(|p| p.hit_rate))
                .color(TRUTH)
                .width(2.0)
                .label(area),
        );

    let of_value =
        |of: fn(&ValuePoint) -> f64| -> Vec<f64> { scores.value.iter().map(of).collect() };
    let lowest = of_value(|p| p.value).into_iter().filter(|v| v.is_finite()).fold(0.0, f64::min);
    let ratios = match scores.base_rate < RARE {
        true => Axis::new("cost of acting over loss").log().percent().range(0.001, 1.0),
        false => share("cost of acting over loss"),
    };
    let value = Panel::new(ratios, Axis::new("value").range(lowest.max(-0.3) - 0.02, 1.0))
        .legend(Legend::Above)
        .with(Rule::horizontal(0.0))
        .with(Rule::vertical(scores.base_rate).color(GREY).dash(Dash::Dotted).label("base rate"))
        .with(
            Line::new(of_value(|p| p.cost_loss), of_value(|p| p.recalibrated))
                .color(FORECAST)
                .width(1.2)
                .dash(Dash::Dashed)
                .label("if reliable"),
        )
        .with(
            Line::new(of_value(|p| p.cost_loss), of_value(|p| p.value))
                .color(FORECAST)
                .width(2.0)
                .label("value"),
        );
    let figure = match broad {
        true => Figure::new(BROAD, 700.0).columns(2),
        false => Figure::new(WIDTH, 1_330.0),
    };
    figure.with(diagram).with(histogram).with(roc).with(value)
}
