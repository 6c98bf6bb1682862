//! The report in words: the verdict, and the few numbers below it.

use errbar::score::calibration::Coverage;
use errbar::score::verdict;
use errbar::words::significant;

use super::{LEVEL, Report};
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
    fn thousands_are_grouped() {
        assert_eq!([7, 999, 1000, 1_234_567].map(grouped), ["7", "999", "1,000", "1,234,567"]);
    }
}
