//! What to do, and what it would gain.

use errbar::Monitor;
use errbar::diagnose::Finding;
use errbar::fit::Worth;
use errbar::remedies::{self, Judged, Remedy};
use errbar::score::{Sample, Scores, verdict};
use errbar::words::significant;

use super::headline::grouped;
use super::{Order, Report, Rescaled, Subject};
use crate::error::Result;
use crate::table::percent;

/// What remedies of what is wrong would gain.
#[derive(Debug, Clone, Default)]
pub(super) struct Gains(Vec<(Remedy, Worth)>);

impl Gains {
    /// Of those remedies that something found asks for.
    pub(super) fn of(
        subject: &Subject<'_>,
        sample: &Sample<'_>,
        (verdict, findings): (&verdict::Verdict, &[Finding]),
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let of_verdict = std::iter::once(&verdict.finding).chain(&verdict.also);
        let asked =
            of_verdict.filter_map(for_verdict).chain(findings.iter().filter_map(for_finding));
        let in_time_order = matches!(subject.order, Order::Time { .. });
        let judged = Judged {
            sample,
            laws: subject.laws,
            forecast: subject.forecast.values,
            inputs: subject.inputs.iter().map(|input| input.values).collect(),
            in_time_order,
        };
        let mut out: Vec<(Remedy, Worth)> = Vec::new();
        for remedy in asked {
            if !out.iter().any(|(known, _)| *known == remedy)
                && let Some(worth) = remedies::worth(remedy, &judged, monitor)?
            {
                out.push((remedy, worth));
            }
        }
        Ok(Self(out))
    }

    fn get(&self, remedy: Option<Remedy>) -> Option<&(Remedy, Worth)> {
        self.0.iter().find(|(known, _)| Some(*known) == remedy)
    }

    fn of_verdict(&self, finding: &verdict::Finding) -> Option<&(Remedy, Worth)> {
        self.get(for_verdict(finding))
    }

    fn of_finding(&self, finding: &Finding) -> Option<&(Remedy, Worth)> {
        self.get(for_finding(finding))
    }
}

/// What helps against what the verdict found.
fn for_verdict(finding: &verdict::Finding) -> Option<Remedy> {
    match finding {
        verdict::Finding::Overconfident { .. } | verdict::Finding::Underconfident { .. } => {
            Some(Remedy::Rescale)
        }
        verdict::Finding::Uneven { .. } => Some(Remedy::Stretch),
        verdict::Finding::Biased { .. } => Some(Remedy::Debias),
        _ => None,
    }
}

fn for_finding(finding: &Finding) -> Option<Remedy> {
    match finding {
        Finding::Biased { .. } => Some(Remedy::Debias),
        Finding::DriftingBias { .. } | Finding::DriftingSize { .. } => Some(Remedy::Follow),
        _ => None,
    }
}

/// What is wrong and what to do about it: what gains most first, then what has no measure.
pub(super) fn advice(report: &Report) -> Vec<String> {
    let all = || std::iter::once(&report.verdict.finding).chain(&report.verdict.also);
    let biased = all().any(|finding| matches!(finding, verdict::Finding::Biased { .. }));
    let gains = &report.gains;
    let mut out: Vec<(f64, String)> = all()
        .filter_map(|finding| Some(with_gain(remedy(finding, report)?, gains.of_verdict(finding))))
        .chain(against_constant(report))
        .collect();
    for finding in &report.findings {
        let told = match finding {
            Finding::Biased { .. } => biased,
            // Errors beyond three sigmas are no news where sigma is too small.
            Finding::HeavyTails { .. } => report.rescaled.is_some(),
            _ => false,
        };
        let words = if told { None } else { in_words(finding, report) };
        out.extend(words.map(|words| match finding {
            // Then nothing else on the page means anything.
            Finding::Interpolates { .. } => (f64::INFINITY, words),
            _ => with_gain(words, gains.of_finding(finding)),
        }));
    }
    out.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    out.into_iter().map(|(_, words)| words).collect()
}

/// Advice with what it would gain, by which it is sorted: what has no measure comes last.
fn with_gain(words: String, gain: Option<&(Remedy, Worth)>) -> (f64, String) {
    let Some((remedy, worth)) = gain else { return (f64::NEG_INFINITY, words) };
    (worth.gain, format!("{words} {}", gain_in_words(*remedy, *worth)))
}

/// "Judged on rows left out in turn, that would lower the CRPS by 3.1% (standard error 0.4%)."
fn gain_in_words(remedy: Remedy, worth: Worth) -> String {
    let what = match remedy {
        Remedy::Debias => {
            "Moving forecasts by a bias learned from forecast and inputs, and rescaling sigma,"
        }
        Remedy::Stretch => "Sigma to a power, times a factor,",
        Remedy::Follow => "Correcting each twentieth of the rows by the one before it",
        _ => "The factor",
    };
    let how = match remedy {
        Remedy::Follow => "earlier rows",
        _ => "rows left out in turn",
    };
    let error = match worth.standard_error.is_finite() {
        true => format!(" (standard error {})", percent(worth.standard_error)),
        false => String::new(),
    };
    match worth.gain {
        gain if gain >= 5e-4 => {
            format!("{what} would lower the CRPS by {}{error}, judged by {how}.", percent(gain))
        }
        gain if gain > -5e-4 => format!("{what} would not change the CRPS, judged by {how}."),
        gain => {
            format!("{what} would raise the CRPS by {}{error}, judged by {how}.", percent(-gain))
        }
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
    let remedy = match report.moved {
        false => {
            "Correct it first: errbar fit --debias learns the bias from the inputs and moves forecasts by it. \
             Error bars can then be narrower."
        }
        true => {
            "The bias that the model learned is not that of these rows: fit it again with recent ones, or have it \
             follow what is observed (errbar update)."
        }
    };
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
fn against_constant(report: &Report) -> Option<(f64, String)> {
    let skill = report.intervals.crps_skill;
    let first = matches!(report.verdict.finding, verdict::Finding::Biased { .. });
    if !varies(report) || first || report.rescaled.is_some() {
        return None;
    }
    if skill.high < 0.0 {
        // In hindsight, which of one number is hardly too good.
        let gain = 1.0 - report.scores.constant.crps / report.scores.crps;
        let words = format!(
            "One constant sigma of {} would do better on these rows. Use it, or give the model inputs \
             that tell more.",
            significant(report.scores.constant.sigma, 3)
        );
        return Some((gain, words));
    }
    (skill.low < 0.0 && skill.high > 0.0).then(|| {
        let words = "Whether this sigma is better than one constant sigma cannot be told from these \
                     rows: judge it on more of them, or give the model inputs that tell more.";
        (f64::NEG_INFINITY, String::from(words))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_a_beginning_and_an_end() {
        assert_eq!(capitalised("the errors drift. Fit again"), "The errors drift. Fit again.");
    }

    #[test]
    fn what_gains_most_comes_first_and_what_is_not_known_last() {
        let gain = |share: f64| (Remedy::Rescale, Worth::new(share, 0.004));
        let (known, words) = with_gain(String::from("Do it."), Some(&gain(0.031)));
        assert_eq!(known, 0.031);
        assert_eq!(
            words,
            "Do it. The factor would lower the CRPS by 3.1% (standard error 0.4%), judged by rows left out in turn."
        );
        assert!(with_gain(String::new(), None).0 < with_gain(String::new(), Some(&gain(-0.5))).0);
        assert!(with_gain(String::new(), Some(&gain(-0.02))).1.contains("raise the CRPS by 2.0%"));
    }
}
