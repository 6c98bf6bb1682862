//! What is said of a forecast of one form beside what is said of every forecast; and of events.

use errbar::law::Candidate;
use errbar::score::bootstrap::{Intervals, Options};
use errbar::score::ensemble::{EnsembleScores, EnsembleSums};
use errbar::score::events::{self, Event, EventSample, EventScores};
use errbar::score::quantiles::Crossings;
use errbar::score::verdict::Verdict;
use errbar::score::winkler::IntervalScores;
use serde::Serialize;

/// What is said of members, quantiles or an interval alone.
#[derive(Default, Serialize)]
pub(crate) struct Extra {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) members: Option<EnsembleScores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quantiles: Option<QuantileScores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interval: Option<IntervalScores>,
}

/// What is said of quantiles.
#[derive(Serialize)]
pub(crate) struct QuantileScores {
    pub(crate) levels: Vec<f64>,
    /// The mean pinball loss at each level,
    pub(crate) pinball: Vec<f64>,
    /// and the mean of these.
    pub(crate) mean_pinball: f64,
    /// The share of observations at or below each quantile.
    pub(crate) shares_below: Vec<f64>,
    /// The least mean CRPS of any law with these quantiles,
    pub(crate) crps_least: f64,
    /// and the most of one that does not reach beyond the outermost.
    pub(crate) crps_most: f64,
    pub(crate) crossings: Crossings,
}

/// How rows are judged, which all forms share.
pub(crate) struct Given<'a> {
    pub(crate) weight: Option<&'a [f64]>,
    pub(crate) drawing: Options,
    pub(crate) without_intervals: bool,
}

impl Given<'_> {
    /// The mean of what rows have.
    fn mean(&self, values: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, value) in values.enumerate() {
            let weight = self.weight.map_or(1.0, |weight| weight[row]);
            if weight > 0.0 {
                sum += weight * value;
                total += weight;
            }
        }
        sum / total
    }
}

impl Extra {
    pub(crate) fn of(
        candidate: &Candidate,
        given: &Given,
        monitor: &dyn errbar::Monitor,
    ) -> errbar::Result<Self> {
        let mut extra = Self::default();
        match candidate {
            Candidate::Members(ensemble) => {
                let mut sums = EnsembleSums::of(ensemble.members().columns());
                sums.add(ensemble, given.weight)?;
                extra.members = Some(sums.scores(given.drawing.confidence)?);
            }
            Candidate::Quantiles(quantiles) => {
                let pinball = quantiles.pinball(given.weight);
                let crps = quantiles.crps();
                extra.quantiles = Some(QuantileScores {
                    levels: quantiles.levels().to_vec(),
                    mean_pinball: pinball.iter().sum::<f64>() / pinball.len() as f64,
                    pinball,
                    shares_below: quantiles.shares_below(given.weight),
                    crps_least: given.mean(crps.iter().map(|crps| crps.least)),
                    crps_most: given.mean(crps.iter().map(|crps| crps.most)),
                    crossings: quantiles.crossings(),
                });
            }
            Candidate::Interval(intervals) => {
                extra.interval = Some(intervals.judge(given.weight, &given.drawing, monitor)?);
            }
            _ => {}
        }
        Ok(extra)
    }

    /// The verdict in words that fit the form.
    pub(crate) fn verdict(&self, verdict: &Verdict, what: &str) -> String {
        match what {
            "sigma" => verdict.to_string(),
            _ => {
                let ratio = self.members.as_ref().map(|members| members.spread_skill.ratio);
                verdict.in_words_of(what, ratio)
            }
        }
    }
}

/// An event, and how good its probabilities are.
#[derive(Serialize)]
pub(crate) struct EventJudged {
    pub(crate) event: Event,
    #[serde(flatten)]
    pub(crate) scores: EventScores,
}

/// Judges the probabilities of events, drawing rows in blocks as for the other scores.
pub(crate) fn judge_events(
    candidate: &Candidate,
    asked: &[Event],
    y: &[f64],
    given: &Given,
    intervals: Option<&Intervals>,
    monitor: &dyn errbar::Monitor,
) -> errbar::Result<Vec<EventJudged>> {
    let one = |event: &Event| {
        let probability = candidate.probabilities(event, y)?;
        let happened = event.happened(y);
        let sample = EventSample::new(&probability, &happened)?.maybe_weighted(given.weight)?;
        let mut drawing = given.drawing.clone();
        drawing.block = drawing.block.or(intervals.map(|intervals| intervals.block));
        let options = events::Options { drawing, without_intervals: given.without_intervals };
        Ok(EventJudged { event: *event, scores: events::judge(&sample, &options, monitor)? })
    };
    asked.iter().map(one).collect()
}
