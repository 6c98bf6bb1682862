//! What it takes to make a report again.

use std::path::Path;

use errbar::Split;
use errbar::fit::{ErrorSource, Fitted};
use errbar::loss::LossKind;
use errbar::mean::Mean;
use errbar::words::{percent, significant};
use errbar_report::report::Origin;

use super::Arguments;
use super::read::{ReportRows, RowsOfTheFit};
use crate::arguments::{Missing, separator_name};
use crate::promise;

pub(super) fn origin(
    arguments: &Arguments,
    fitted: Option<&Fitted>,
    judged: &ReportRows,
) -> Origin {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_string(), value));
    let kept = &judged.kept;
    let rows = match kept.rows() == kept.total_rows() {
        true => format!("{} rows", kept.rows()),
        false => format!("{} of {} rows", kept.rows(), kept.total_rows()),
    };
    fact("data", format!("{}, {rows}", kept.file()));
    fact("observation", judged.observation.clone());
    if let Some(name) = &judged.forecast {
        fact("forecast", name.clone());
    }
    if let Some(name) = &judged.sigma_column {
        fact("sigma", name.clone());
    }
    let mut warnings: Vec<String> =
        kept.fill_values_in_words().into_iter().map(|words| capital(&words) + ".").collect();
    if let (Some(fitted), Some(path)) = (fitted, &arguments.model) {
        if let (None, Some(mean)) = (&judged.forecast, fitted.mean()) {
            fact("forecast", forecast(mean, judged.seen));
        }
        fact("model", format!("{}: {}", path.display(), fitted.model().explain()));
        if let Some(how) = held_out_rows(judged.seen, kept.rows()) {
            fact("sigma", how);
        }
        let mut called = fitted.called();
        // Both parts of a cycle of the calendar are one.
        called.dedup();
        fact("inputs", called.join(", "));
        fact("trained on", trained_on(fitted));
        if let Some(validation) = fitted.validation() {
            fact(
                "when it was made",
                format!(
                    "CRPS {} on {} held-out rows, {} of one constant sigma",
                    significant(validation.crps, 4),
                    validation.rows,
                    against(validation.crps_skill)
                ),
            );
        }
        if let Some(guarantee) = fitted.guarantee() {
            let in_order = fitted.options().split == Split::InOrder;
            fact("guarantee", promise::promised(guarantee, in_order, fitted.promise()));
        }
        if let Some(kept) = &judged.promise {
            fact("inside guaranteed 90% intervals", kept.clone());
        }
        fact("seed", fitted.options().seed.to_string());
        warnings.extend(seen_rows(judged.seen, kept.rows()));
        if judged.outside > 0 {
            warnings.push(format!(
                "{} of {} rows lie outside the range of the inputs that the model has seen: there \
                 sigma is that of the nearest edge, and deserves less trust.",
                judged.outside,
                kept.rows()
            ));
        }
    }
    let notes = [kept.left_out_in_words(), kept.marks_in_words()];
    let notes = notes.into_iter().flatten().map(|words| format!("{}.", capital(&words))).collect();
    Origin { facts, command: command(arguments), warnings, notes }
}

/// The first letter of a sentence.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn forecast(mean: &Mean, seen: RowsOfTheFit) -> String {
    let how = match seen.leave_one_out {
        true => "; each row forecast from all the others (leave-one-out)",
        false => "",
    };
    format!("the model's own, {}{how}", mean.explain())
}

/// That the model was fitted to some of the rows of the page, and what that means.
fn seen_rows(seen: RowsOfTheFit, rows: usize) -> Option<String> {
    let RowsOfTheFit { leave_one_out, held_out, trained } = seen;
    match (held_out, trained) {
        (_, 0) => None,
        (0, some) if some < rows => Some(format!(
            "Sigma was fitted to {some} of these {rows} rows, so this page flatters it: judge it on \
             rows that it has not seen."
        )),
        (0, _) if leave_one_out => Some(String::from(
            "The model was fitted to these rows. Each forecast on this page is made from all the \
             others, but sigma has seen its row: judge it on new rows when you have some.",
        )),
        (0, _) => Some(String::from(
            "Sigma was fitted to these very rows, so this page flatters it: judge it on rows that it \
             has not seen.",
        )),
        (_, trained) => Some(format!(
            "The model was fitted to {trained} more rows of the table that were never held out: they \
             are left out, since its sigma has seen them."
        )),
    }
}

/// How rows of the fit are judged nevertheless.
fn held_out_rows(seen: RowsOfTheFit, rows: usize) -> Option<String> {
    let which = match seen.held_out {
        0 => return None,
        held_out if held_out == rows => String::from("each row is judged"),
        held_out => format!("{held_out} of these {rows} rows were part of the fit, each judged"),
    };
    Some(format!(
        "{which} by the sigma of a model that had not seen it: it was held out when the model was \
         fitted"
    ))
}

fn trained_on(fitted: &Fitted) -> String {
    let (rows, trained) = fitted.rows();
    let errors = match fitted.error_source() {
        ErrorSource::HeldOut => "errors of forecasts made without knowing the observation",
        ErrorSource::InSample => "errors of a forecaster on the rows it was fitted to",
        ErrorSource::LeaveOneOut => "leave-one-out errors",
    };
    let cost = match fitted.options().loss {
        _ if fitted.options().by_law => "the Accuracy-Reliability cost of the law of its errors",
        LossKind::Ar(_) | LossKind::OfLaw(..) => "the Accuracy-Reliability cost",
        LossKind::Crps => "CRPS",
        LossKind::Nlpd => "negative log predictive density",
    };
    match rows == trained {
        true => format!("{rows} rows: {errors}, by {cost}"),
        false => format!("{trained} of {rows} rows: {errors}, by {cost}"),
    }
}

fn against(skill: f64) -> String {
    let size = percent(skill.abs());
    if skill >= 0.0 { format!("{size} below that") } else { format!("{size} above that") }
}

/// What to type to make this page again.
fn command(arguments: &Arguments) -> String {
    let mut words = vec![String::from("errbar"), String::from("report")];
    let path = |path: &Path| quoted(&path.display().to_string());
    words.push(arguments.files.quoted());
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push(format!("--{name}"));
            words.push(value);
        }
    };
    let text = |value: &Option<String>| value.as_deref().map(quoted);
    option("model", arguments.model.as_deref().map(path));
    option("forecast", text(&arguments.forecast));
    option("observation", text(&arguments.observation));
    option("sigma", text(&arguments.sigma));
    option("weight", text(&arguments.weight));
    option("time", text(&arguments.time));
    let format = arguments.dates.date_format.as_ref();
    option("date-format", format.map(|format| quoted(&format.to_string())));
    option("by", text(&arguments.by));
    option("lead", text(&arguments.lead));
    option("latitude", text(&arguments.latitude));
    option("longitude", text(&arguments.longitude));
    for event in &arguments.event {
        option("event", Some(quoted(&event.to_string())));
    }
    let inputs = (!arguments.inputs.is_empty()).then(|| quoted(&arguments.inputs.join(",")));
    option("inputs", inputs);
    option("title", text(&arguments.title));
    let format = &arguments.table.format;
    option("separator", format.separator.map(|separator| quoted(&separator_name(separator))));
    option("sheet", text(&format.sheet));
    option("comment", format.comment.map(|mark| quoted(&char::from(mark).to_string())));
    option(
        "missing",
        (arguments.table.missing == Some(Missing::Error)).then(|| String::from("error")),
    );
    option("na", (!format.na.is_empty()).then(|| quoted(&format.na.join(","))));
    if format.decimal_comma {
        words.push(String::from("--decimal-comma"));
    }
    if let Some(folder) = &arguments.figures {
        words.extend([String::from("--figures"), path(folder)]);
    }
    words.extend([String::from("-o"), path(&arguments.output)]);
    words.join(" ")
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./,:@%+=".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("data/a-b.csv"), "data/a-b.csv");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
