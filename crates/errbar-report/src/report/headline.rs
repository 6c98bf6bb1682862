//! The report in words: what is right, what is wrong, what to do.

use errbar::diagnose::Finding;
use errbar::score::calibration::Coverage;
use errbar::score::verdict;
use errbar::words::significant;

use super::{LEVEL, Report, Rescaled};
use crate::table::percent;

/// How a headline is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Bad,
    /// There is not enough to tell.
    Open,
}

/// One of the few numbers below the headline.
pub(super) struct Fact {
    pub(super) number: String,
    pub(super) what: String,
    pub(super) more: String,
}

pub(super) fn tone(report: &Report) -> Tone {
    match report.verdict.finding {
        verdict::Finding::Reliable => Tone::Good,
        verdict::Finding::TooFewRows => Tone::Open,
        _ => Tone::Bad,
    }
}

/// The verdict, then how wide and how much better.
pub(super) fn sentences(report: &Report) -> Vec<String> {
    let facts = facts(report);
    let mut out = vec![report.verdict.to_string()];
    if let [wide, _, better, _] = &facts[..] {
        let level = significant(100.0 * LEVEL, 3);
        out.push(format!(
            "The {level}% intervals are {} wide on average, {}.",
            wide.number, wide.more
        ));
        out.push(format!("That is {} {}: {}.", better.number, better.what, better.more));
    }
    out
}

/// How wide, how reliable, how much better than one constant sigma, of how many rows.
pub(super) fn facts(report: &Report) -> Vec<Fact> {
    let scores = &report.scores;
    let level = format!("{}%", significant(100.0 * LEVEL, 3));
    let mut out = Vec::new();
    let main = scores.coverage.iter().find(|c| c.level == LEVEL);
    if let Some(Coverage { mean_width, observed, low, high, .. }) = main {
        let per_sigma = mean_width / scores.mean_sigma;
        let width = |sigma: f64| significant(per_sigma * sigma, 3);
        let (from, to) = report.sigma_range;
        out.push(Fact {
            number: significant(*mean_width, 3),
            what: format!("is the mean width of the {level} intervals"),
            more: match width(from) == width(to) {
                true => String::from("the same for all rows"),
                false => format!("{} to {} in nine of ten rows", width(from), width(to)),
            },
        });
        out.push(Fact {
            number: percent(*observed),
            what: format!("of the observations lie inside the {level} intervals"),
            more: format!("chance alone leaves {} to {}", percent(*low), percent(*high)),
        });
    }
    let (skill, interval) = (scores.crps_skill, report.intervals.crps_skill);
    let crps = |value: f64| significant(value, 4);
    let of = format!("CRPS {} against {}", crps(scores.crps), crps(scores.constant.crps));
    out.push(Fact {
        number: match skill {
            skill if skill.abs() < 5e-4 => String::from("no better"),
            skill if skill > 0.0 => format!("{} better", percent(skill)),
            skill => format!("{} worse", percent(-skill)),
        },
        what: String::from("than one constant sigma, the best in hindsight"),
        more: match interval.is_known() {
            true => format!(
                "{of}; 95% interval {} to {}",
                percent(interval.low).replace('-', "−"),
                percent(interval.high).replace('-', "−")
            ),
            false => of,
        },
    });
    let rmse = significant(scores.rmse, 3);
    out.push(Fact {
        number: grouped(scores.rows),
        what: String::from(if scores.rows == 1 { "row" } else { "rows" }),
        more: match &report.span {
            Some((from, to)) => format!("{from} to {to}; root mean squared error {rmse}"),
            None => format!("root mean squared error {rmse}"),
        },
    });
    out
}

/// What is wrong and what to do about it.
pub(super) fn advice(report: &Report) -> Vec<String> {
    let mut out = Vec::new();
    let skill = report.intervals.crps_skill;
    let varies = report.sigma_range.0 < report.sigma_range.1;
    let constant = significant(report.scores.constant.sigma, 3);
    if let Some(Rescaled { factor, crps, .. }) =
        report.rescaled.filter(|rescaled| rescaled.crps >= report.scores.crps)
    {
        out.push(format!(
            "Multiply sigma by {} for intervals that hold what they say. The CRPS on these rows would be no \
             lower: {} instead of {}.",
            significant(factor, 3),
            significant(crps, 4),
            significant(report.scores.crps, 4)
        ));
    } else if let Some(Rescaled { factor, crps, skill }) = report.rescaled {
        out.push(format!(
            "Multiply sigma by {}: the CRPS on these rows would be {}, {} one constant sigma.",
            significant(factor, 3),
            significant(crps, 4),
            match skill {
                _ if !varies => String::from("about as good as the best"),
                skill if skill >= 0.0 => format!("{} better than that of", percent(skill)),
                skill => format!("{} worse than that of", percent(-skill)),
            }
        ));
    } else if varies && skill.high < 0.0 {
        out.push(format!(
            "One constant sigma of {constant} would do better on these rows. Use it, or give the \
             model inputs that tell more."
        ));
    } else if varies && skill.low < 0.0 && skill.high > 0.0 {
        out.push(String::from(
            "Whether this sigma is better than one constant sigma cannot be told from these rows: \
             judge it on more of them, or give the model inputs that tell more.",
        ));
    }
    // Errors beyond three sigmas are no news where sigma is too small.
    let tails = |finding: &&Finding| {
        report.rescaled.is_none() || !matches!(finding, Finding::HeavyTails { .. })
    };
    out.extend(report.findings.iter().filter(tails).filter_map(in_words));
    out
}

/// A finding as a reader of the report needs it.
fn in_words(finding: &Finding) -> Option<String> {
    let short = |value: f64| significant(value, 3).replace('-', "−");
    let text = match finding {
        // The verdict says it where it matters.
        Finding::FewRows { .. } => return None,
        Finding::Autocorrelated { correlation, rows, worth, .. } => format!(
            "Neighbouring errors resemble each other (correlation {}): {} rows tell as much as about \
             {} independent ones. The intervals of the scores take this into account, the ranges of \
             chance in the figures do not.",
            short(*correlation),
            grouped(*rows),
            grouped(*worth)
        ),
        Finding::HeavyTails { share, rows } => format!(
            "The errors are heavy-tailed: {} of them ({} rows) lie beyond three sigmas, where a \
             Gaussian has 0.27%. Do not rely on intervals beyond 95%.",
            percent(*share),
            grouped(*rows)
        ),
        Finding::Biased { bias, standard_error, mean_absolute_error } => format!(
            "The forecast is biased: observations lie {} {} it on average (standard error {}), {} of \
             the mean absolute error. Correct the forecast first: error bars can then be narrower.",
            short(bias.abs()),
            if *bias > 0.0 { "above" } else { "below" },
            short(*standard_error),
            percent(bias.abs() / mean_absolute_error)
        ),
        other => capitalised(&other.to_string()),
    };
    Some(text)
}

/// A sentence: a capital at the beginning, a full stop at the end.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// 1460 as 1,460.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sentences() {
        assert_eq!([7, 999, 1000, 1_234_567].map(grouped), ["7", "999", "1,000", "1,234,567"]);
        assert_eq!(capitalised("the errors drift. Fit again"), "The errors drift. Fit again.");
    }
}
