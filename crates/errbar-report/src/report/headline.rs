//! The report in words: what is right, what is wrong, what to do.

use errbar::diagnose::Finding;
use errbar::score::Scores;
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

/// What is wrong and what to do about it: what costs most first, then what has no measure.
pub(super) fn advice(report: &Report) -> Vec<String> {
    let all = || std::iter::once(&report.verdict.finding).chain(&report.verdict.also);
    let biased = all().any(|finding| matches!(finding, verdict::Finding::Biased { .. }));
    let mut out: Vec<(f64, String)> = all()
        .filter_map(|finding| Some((finding.cost(), remedy(finding, report)?)))
        .chain(against_constant(report).map(|words| (0.0, words)))
        .collect();
    for finding in &report.findings {
        let told = match finding {
            Finding::Biased { .. } => biased,
            // Errors beyond three sigmas are no news where sigma is too small.
            Finding::HeavyTails { .. } => report.rescaled.is_some(),
            _ => false,
        };
        let words = if told { None } else { in_words(finding, report) };
        out.extend(words.map(|words| (cost(finding, &report.scores), words)));
    }
    out.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    out.into_iter().map(|(_, words)| words).collect()
}

/// What a finding costs, in the measure of [`verdict::Finding::cost`].
fn cost(finding: &Finding, scores: &Scores) -> f64 {
    // Something that changes evenly, and by this much from the first quarter to the last, has a
    // range of 4/3 and so a variance of 4/27.
    let evenly = |change: f64| change * change * 4.0 / 27.0;
    match finding {
        // Then nothing else on the page means anything.
        Finding::Interpolates { .. } => f64::INFINITY,
        Finding::Biased { .. } => 0.5 * scores.mean_z * scores.mean_z,
        Finding::DriftingBias { first, last, .. } => {
            0.5 * evenly((last - first) / scores.mean_sigma)
        }
        Finding::DriftingSize { first, last } => evenly((last / first).ln()),
        _ => 0.0,
    }
}

/// What to do about what the verdict found.
fn remedy(finding: &verdict::Finding, report: &Report) -> Option<String> {
    match finding {
        verdict::Finding::Biased { .. } => Some(bias_in_words(report)),
        verdict::Finding::Uneven { .. } => Some(String::from(
            "Sigma does not vary as the errors do: have it learned (errbar fit) from inputs that tell \
             how large they will be, or fit it again with rows like these.",
        )),
        verdict::Finding::Overconfident { .. } | verdict::Finding::Underconfident { .. } => {
            report.rescaled.map(|rescaled| rescaled_in_words(rescaled, report))
        }
        _ => None,
    }
}

fn rescaled_in_words(Rescaled { factor, crps, skill }: Rescaled, report: &Report) -> String {
    let (factor, of) = (significant(factor, 3), significant(crps, 4));
    if crps >= report.scores.crps {
        return format!(
            "Multiply sigma by {factor} for intervals that hold what they say. The CRPS on these rows would \
             be no lower: {of} instead of {}.",
            significant(report.scores.crps, 4)
        );
    }
    let better = match skill {
        _ if !varies(report) => String::from("about as good as the best"),
        skill if skill >= 0.0 => format!("{} better than that of", percent(skill)),
        skill => format!("{} worse than that of", percent(-skill)),
    };
    format!(
        "Multiply sigma by {factor}: the CRPS on these rows would be {of}, {better} one constant sigma."
    )
}

/// The bias and how to be rid of it.
fn bias_in_words(report: &Report) -> String {
    let Scores { bias, mean_z, mae, .. } = report.scores;
    let short = |value: f64| significant(value, 3).replace('-', "−");
    let remedy = "Correct it first: errbar fit --debias learns the bias from the inputs and moves \
                  forecasts by it. Error bars can then be narrower.";
    // Unless most of the error is one bias, its sign must be explained.
    if mean_z * bias < 0.0 && bias.abs() < 0.5 * mae {
        let [small, large] = if mean_z > 0.0 { ["low", "high"] } else { ["high", "low"] };
        return format!(
            "The forecast is biased: too {small} where sigma is small, too {large} where it is large. \
             {remedy}"
        );
    }
    let error = report.intervals.bias.standard_error;
    let error = match error.is_finite() {
        true => format!(" (standard error {})", short(error)),
        false => String::new(),
    };
    format!(
        "The forecast is biased: observations lie {} {} it on average{error}, {} of the mean absolute \
         error. {remedy}",
        short(bias.abs()),
        if bias > 0.0 { "above" } else { "below" },
        percent(bias.abs() / mae)
    )
}

/// Whether sigma differs from row to row.
fn varies(report: &Report) -> bool {
    report.sigma_range.0 < report.sigma_range.1
}

/// Whether one constant sigma would do as well. Of a sigma of the wrong size, or of a forecast that is
/// biased above all, it says nothing.
fn against_constant(report: &Report) -> Option<String> {
    let skill = report.intervals.crps_skill;
    let first = matches!(report.verdict.finding, verdict::Finding::Biased { .. });
    if !varies(report) || first || report.rescaled.is_some() {
        return None;
    }
    if skill.high < 0.0 {
        return Some(format!(
            "One constant sigma of {} would do better on these rows. Use it, or give the model inputs \
             that tell more.",
            significant(report.scores.constant.sigma, 3)
        ));
    }
    (skill.low < 0.0 && skill.high > 0.0).then(|| {
        String::from(
            "Whether this sigma is better than one constant sigma cannot be told from these rows: \
             judge it on more of them, or give the model inputs that tell more.",
        )
    })
}

/// A finding as a reader of the report needs it.
fn in_words(finding: &Finding, report: &Report) -> Option<String> {
    let short = |value: f64| significant(value, 3).replace('-', "−");
    let text = match finding {
        // The verdict says it where it matters.
        Finding::FewRows { .. } => return None,
        Finding::Autocorrelated { correlation, rows, worth, .. } => format!(
            "Neighbouring errors resemble each other (correlation {}): {} rows tell as much as about \
             {} independent ones. {}",
            short(*correlation),
            grouped(*rows),
            grouped(*worth),
            match report.intervals.block > 1 {
                true =>
                    "The intervals of the scores take this into account, the ranges of chance in the \
                     figures do not.",
                false =>
                    "Over sigma they do not, so that the intervals of the scores take rows as \
                     independent.",
            }
        ),
        Finding::HeavyTails { share, rows } => format!(
            "The errors are heavy-tailed: {} of them ({} rows) lie beyond three sigmas, where a \
             Gaussian has 0.27%. Do not rely on intervals beyond 95%.",
            percent(*share),
            grouped(*rows)
        ),
        Finding::Biased { .. } => bias_in_words(report),
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
