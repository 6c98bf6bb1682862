//! What is said of a forecast of one form beside what is said of every forecast; and of events.

use errbar::law::Candidate;
use errbar::score::bootstrap::{Intervals, Options};
use errbar::score::ensemble::{EnsembleScores, EnsembleSums};
use errbar::score::events::{self, Event, EventSample, EventScores};
use errbar::score::quantiles::QuantileScores;
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

/// How rows are judged, which all forms share.
pub(crate) struct Given<'a> {
    pub(crate) weight: Option<&'a [f64]>,
    pub(crate) drawing: Options,
    pub(crate) without_intervals: bool,
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
                extra.quantiles = Some(quantiles.scores(given.weight)?);
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
