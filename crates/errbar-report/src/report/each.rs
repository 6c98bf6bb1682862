//! What is known of each row: its scores and its interval.

use errbar::law::judge;
use errbar::score::{Sample, Scores, calibration, crps};

use super::{LEVEL, Subject};
use crate::error::Result;

/// One value for each row.
pub(super) struct Each {
    /// CRPS by the law of the row.
    pub(super) crps: Vec<f64>,
    /// CRPS of the one constant sigma that is best for all rows.
    pub(super) constant: Vec<f64>,
    /// The least and the most error in the interval of the law.
    pub(super) ends: Vec<(f64, f64)>,
}

impl Each {
    pub(super) fn of(subject: &Subject<'_>, sample: &Sample<'_>, scores: &Scores) -> Result<Self> {
        let sigma = scores.constant.sigma;
        let with_constant = |&error: &f64| match sigma > 0.0 {
            true => crps::crps(error, sigma),
            false => error.abs(),
        };
        let (crps, ends) = match subject.laws {
            Some(laws) => (judge::scores(sample, laws)?.0, judge::intervals(sample, laws, LEVEL)?),
            None => {
                let reach = calibration::half_width(LEVEL);
                let ends = |sigma: &f64| (-reach * sigma, reach * sigma);
                (crps::each(sample), sample.sigma().iter().map(ends).collect())
            }
        };
        let constant = sample.error().iter().map(with_constant).collect();
        Ok(Self { crps, constant, ends })
    }

    /// How wide the interval of a row is.
    pub(super) fn width(&self, row: usize) -> f64 {
        let (least, most) = self.ends[row];
        most - least
    }
}
