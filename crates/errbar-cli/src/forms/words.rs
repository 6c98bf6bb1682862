//! Members, quantiles, intervals and events as people read them.

use errbar::score::bootstrap::Interval;
use errbar::words::{percent, significant};

use super::judged::{EventJudged, Extra};
use crate::text_table::{TextTable, bars, four, range, share_range, within};

/// What is said of one form alone: lines of a table, then tables.
pub(crate) fn extra_words(extra: &Extra, interval: &str) -> String {
    let mut text = String::new();
    if let Some(members) = &extra.members {
        let mut table = TextTable::new(&["", "value", "<"]);
        let mut add = |name: &str, value: String, note: String| {
            table.row(vec![name.into(), value, note]);
        };
        let missing = match (members.missing, members.single) {
            (0, _) => String::new(),
            (missing, 0) => format!("{missing} values are missing"),
            (missing, single) => {
                format!(
                    "{missing} values are missing; {single} rows have one member, and no spread"
                )
            }
        };
        add("members", members.members.to_string(), missing);
        add(
            "fair CRPS",
            four(members.fair_crps),
            "of endlessly many such members; the CRPS above".into(),
        );
        add("CRPS of these members", four(members.crps), "as if there never were more".into());
        let spread = &members.spread_skill;
        add("spread", four(spread.spread), "root of the mean variance of the members".into());
        add(
            "spread over skill",
            if spread.ratio.is_nan() { String::new() } else { significant(spread.ratio, 3) },
            "1 is right; below 1 the members are too close together".into(),
        );
        let ranks = &members.ranks;
        let even = format!(
            "{}  even when reliable: {} each by chance",
            bars(&ranks.frequency),
            share_range(ranks.low, ranks.high)
        );
        add("rank histogram", String::new(), even);
        text += &format!("\n{table}");
    }
    if let Some(quantiles) = &extra.quantiles {
        let mut table = TextTable::new(&["quantile", "pinball loss", "observations below"]);
        let columns = quantiles.levels.iter().zip(&quantiles.pinball).zip(&quantiles.shares_below);
        for ((level, loss), share) in columns {
            let level = format!("{}%", significant(100.0 * level, 5));
            table.row(vec![level, four(*loss), percent(*share)]);
        }
        table.row(vec!["mean".into(), four(quantiles.mean_pinball), String::new()]);
        text += &format!("\n{table}");
        text += &format!(
            "\nCRPS is that of straight lines between the quantiles. Any law with these quantiles has {} at least, and {}\n\
             at most unless it reaches beyond the outermost ones.\n",
            four(quantiles.crps_least),
            four(quantiles.crps_most)
        );
    }
    if let Some(one) = &extra.interval {
        let mut table = TextTable::new(&["", "value", interval, "<"]);
        let mut add = |name: &str, value: String, known: String, note: &str| {
            table.row(vec![name.into(), value, known, note.into()]);
        };
        let level = significant(100.0 * one.level, 5);
        let known = |interval: Interval| share_range(interval.low, interval.high);
        add(
            "interval score",
            within(one.score, Some(one.score_interval)),
            range(one.score_interval),
            "width and fines for misses; smaller is better",
        );
        add(
            "holds",
            percent(one.coverage),
            known(one.coverage_interval),
            &format!("{level}% is right"),
        );
        let side = format!("{}% is right", significant(50.0 * (1.0 - one.level), 5));
        add("below it", percent(one.below), known(one.below_interval), &side);
        add("above it", percent(one.above), known(one.above_interval), &side);
        add("mean width", four(one.mean_width), String::new(), "");
        text += &format!("\n{table}");
    }
    text
}

/// What each event's probabilities are worth, in a few sentences for each.
pub(crate) fn event_sentences(events: &[EventJudged], interval: &str) -> Vec<String> {
    events.iter().map(|event| sentences(event, interval)).collect()
}

fn sentences(event: &EventJudged, interval: &str) -> String {
    let EventJudged { event, scores } = event;
    let times = if scores.events == 1 { "once" } else { &format!("{} times", scores.events) };
    let mut text = format!(
        "Event {event}: happened {times} in {} rows ({}).",
        scores.rows,
        percent(scores.base_rate)
    );
    if scores.brier.skill.is_nan() {
        text += " With nothing else to tell it from, its probabilities cannot be judged.";
        return text;
    }
    let known = scores.intervals.map(|known| known.brier_skill).filter(Interval::is_known);
    let skill = scores.brier.skill;
    // What is worse by more is said as such.
    let held = known.map(|known| match skill < 0.0 {
        true => format!(" ({interval} {})", share_range(-known.high, -known.low)),
        false => format!(" ({interval} {})", share_range(known.low, known.high)),
    });
    let held = held.unwrap_or_default();
    let sure = known.is_none_or(|known| !known.contains(0.0));
    let better =
        format!("{} {}", percent(skill.abs()), if skill < 0.0 { "worse" } else { "better" });
    text += &match sure {
        true => format!(
            " The probabilities are {better} than saying {} each time, by the Brier score{held}.",
            percent(scores.base_rate)
        ),
        false => format!(
            " Whether the probabilities are better than saying {} each time these rows cannot show: they are {better} by \
             the Brier score{held}.",
            percent(scores.base_rate)
        ),
    };
    let right = &scores.calibration;
    if right.p_value < 0.01 {
        let (said, base) = (scores.mean_probability, scores.base_rate);
        text += &match right.slope {
            slope if slope < 0.9 => {
                String::from(" They go too far: high ones are too high, low ones too low.")
            }
            slope if slope > 1.1 => String::from(
                " They do not go far enough: high ones are too low, low ones too high.",
            ),
            _ if said > base => format!(" They are too high: {} on average.", percent(said)),
            _ => format!(" They are too low: {} on average.", percent(said)),
        };
    } else {
        text += " They are as right as these rows can tell.";
    }
    // A warning that people give, or the highest at which there are any.
    let given = |at: f64| scores.warnings.iter().find(|w| w.at == at && w.warned > 0.0);
    let warning = given(0.3).or_else(|| scores.warnings.iter().rfind(|w| w.warned > 0.0));
    if let Some(warning) = warning {
        text += &format!(
            " A warning at {}% catches {} of the events, and {} of such warnings are false.",
            significant(100.0 * warning.at, 3),
            percent(warning.caught),
            percent(warning.false_alarms)
        );
    }
    if scores.few {
        let (what, n) = match scores.base_rate < 0.5 {
            true => ("events", scores.events),
            false => ("rows without it", scores.rows - scores.events),
        };
        text += &format!(" With so few {what} ({n}) all of this is rough.");
    }
    text
}

/// The scores of each event.
pub(crate) fn event_table(events: &[EventJudged], interval: &str) -> TextTable {
    let known = events.iter().any(|event| event.scores.intervals.is_some());
    let mut heads = vec!["event", "happened", "said", "Brier"];
    heads.extend(known.then_some(interval));
    heads.extend(["skill", "reliability", "by chance", "resolution", "ROC area"]);
    heads.extend(known.then_some(interval));
    let mut table = TextTable::new(&heads);
    for EventJudged { event, scores } in events {
        let maybe = |value: f64, text: String| if value.is_nan() { String::new() } else { text };
        let of = |pick: &dyn Fn(&errbar::score::events::EventIntervals) -> Interval| {
            scores.intervals.as_ref().map(|known| range(pick(known)))
        };
        let mut cells = vec![
            event.to_string(),
            percent(scores.base_rate),
            percent(scores.mean_probability),
            four(scores.brier.score),
        ];
        cells.extend(of(&|known| known.brier));
        cells.extend([
            maybe(scores.brier.skill, percent(scores.brier.skill)),
            four(scores.brier.reliability),
            four(scores.calibration.reliability_by_chance),
            four(scores.brier.resolution),
            maybe(scores.roc.area, significant(scores.roc.area, 3)),
        ]);
        cells.extend(of(&|known| known.area));
        table.row(cells);
    }
    table
}

/// What warnings of each event are like.
pub(crate) fn warning_tables(events: &[EventJudged]) -> String {
    let mut text = String::new();
    for EventJudged { event, scores } in events {
        if scores.brier.skill.is_nan() {
            continue;
        }
        let heads = ["warn at", "warnings", "events caught", "false", "worth"];
        let mut table = TextTable::new(&heads);
        for warning in &scores.warnings {
            let share = |value: f64| if value.is_nan() { String::new() } else { percent(value) };
            table.row(vec![
                format!("{}%", significant(100.0 * warning.at, 3)),
                percent(warning.warned),
                share(warning.caught),
                share(warning.false_alarms),
                percent(warning.value),
            ]);
        }
        text += &format!(
            "\nWarnings of {event}, worth to those for whom acting costs that share of the loss (100% is perfect,\n\
             0% no better than the base rate):\n{table}"
        );
    }
    text
}
