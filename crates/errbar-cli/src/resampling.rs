//! How the intervals are made, as arguments; what to be warned of; and how far it is.

use errbar::Monitor;
use errbar::score::Sample;
use errbar::score::bootstrap::{Dependence, Options, dependence};
use errbar::words::significant;
use indicatif::ProgressBar;

use crate::arguments::{parse_probability, parse_seed};
use crate::stop;
use crate::voice::Voice;

/// How the intervals are made.
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Intervals")]
pub(crate) struct ResamplingArguments {
    /// Rows that are drawn together, for rows in order of time: about twice the number after which
    /// errors have forgotten each other [default: 1, independent rows].
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    block: Option<u32>,

    /// How many times the rows are drawn anew.
    #[arg(long, value_name = "N", default_value_t = 1000, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    replicates: u32,

    /// The probability with which an interval should hold the truth.
    #[arg(long, value_name = "PROBABILITY", default_value = "0.95", allow_negative_numbers = true, value_parser = parse_probability)]
    pub(crate) confidence: f64,

    /// The seed of the random numbers.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = parse_seed)]
    seed: u64,
}

impl ResamplingArguments {
    pub(crate) fn options(&self) -> Options {
        Options {
            replicates: self.replicates as usize,
            confidence: self.confidence,
            block: self.block.map_or(1, |block| block as usize),
            seed: self.seed,
        }
    }

    /// "95% interval".
    pub(crate) fn interval_in_words(&self) -> String {
        format!("{}% interval", significant(100.0 * self.confidence, 4))
    }

    /// What is to be warned of: rows that depend on each other, and blocks that are too few.
    pub(crate) fn warning(&self, sample: &Sample) -> (Option<Dependence>, Option<String>) {
        let found = dependence(sample);
        let warning = match (self.block, found) {
            (Some(block), _) => {
                let blocks = sample.len() / block as usize;
                (blocks < 10).then(|| match blocks {
                    0 | 1 => format!(
                        "--block {block} leaves fewer than two blocks of the {} rows: there are no intervals",
                        sample.len()
                    ),
                    _ => format!(
                        "--block {block} leaves only {blocks} blocks of the {} rows: the intervals are rough",
                        sample.len()
                    ),
                })
            }
            (None, Some(found)) => Some(format!(
                "{} of neighbouring rows go together (correlation {}): the intervals take the rows \
                 as independent and are too narrow; if the rows are in order of time, give --block {}",
                if found.of_sizes { "the sizes of errors" } else { "errors" },
                significant(found.autocorrelation, 2),
                found.block
            )),
            (None, None) => None,
        };
        (found, warning)
    }
}

/// A progress bar that also passes Ctrl-C on.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(voice: Voice, what: &str) -> Self {
        Self(voice.bar(what, 1000))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Monitor for Progress {
    fn progress(&self, share: f64) {
        self.0.set_position((1000.0 * share) as u64);
    }

    fn should_stop(&self) -> bool {
        stop::asked()
    }
}
