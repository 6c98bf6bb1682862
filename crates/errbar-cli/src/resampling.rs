//! How the intervals are made, as arguments, and what is to be said of that.

use errbar::score::bootstrap::{Intervals, Options};
use errbar::words::significant;

use crate::arguments::{parse_probability, parse_seed};

/// How the intervals are made.
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Intervals")]
pub(crate) struct ResamplingArguments {
    /// Rows that are drawn together: 1 takes them as independent, about twice the number after which
    /// errors have forgotten each other suits rows in order of time [default: 1, or as many as the
    /// errors of neighbouring rows go together].
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
        Options::default()
            .replicates(self.replicates as usize)
            .confidence(self.confidence)
            .block(self.block.map(|block| block as usize))
            .seed(self.seed)
    }

    /// "95% interval".
    pub(crate) fn interval_in_words(&self) -> String {
        format!("{}% interval", significant(100.0 * self.confidence, 4))
    }

    /// Blocks that are too few.
    pub(crate) fn warning(&self, rows: usize) -> Option<String> {
        let block = self.block? as usize;
        let blocks = rows / block;
        (blocks < 10 && block > 1).then(|| match blocks {
            0 | 1 => format!(
                "--block {block} leaves fewer than two blocks of the {rows} rows: there are no intervals"
            ),
            _ => format!(
                "--block {block} leaves only {blocks} blocks of the {rows} rows: the intervals are rough"
            ),
        })
    }
}

/// That blocks of rows were drawn and why, and how not to.
pub(crate) fn note(intervals: &Intervals) -> Option<String> {
    let blocks = intervals.blocks_in_words()?;
    Some(format!("{blocks}; --block 1 takes the rows as independent"))
}
