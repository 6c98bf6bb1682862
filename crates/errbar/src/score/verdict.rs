//! Can these error bars be trusted? The scores in words.
//!
//! Two questions are asked of every deviation: is it more than chance (2.6 standard errors, 99%),
//! and is it large enough to matter? With ten million rows the first alone would find fault with
//! every forecast, with fifty rows the second.
//!
//! What is wrong most comes first: that whose remedy alone would lower the negative log predictive
//! density most ([`Finding::cost`]).

mod words;

use serde::{Deserialize, Serialize};

use super::bootstrap::Intervals;
use super::calibration::{Coverage, SpreadSkillBin, half_width};
use super::scores::Scores;

/// Standard errors that make a deviation more than chance: 99%.
const CHANCE: f64 = 2.576;
/// The size of errors over sigma matters when it is off by more than this share.
const SIZE_MATTERS: f64 = 0.05;
/// A coverage matters when it is off by more than this.
const COVERAGE_MATTERS: f64 = 0.02;
/// A bias matters when it is more than this many sigma,
const BIAS_MATTERS: f64 = 0.1;
/// or more than this share of the mean absolute error: a few sigmas that are far too small hide it.
const BIAS_IS_MOST: f64 = 0.5;
/// Small and large sigma may differ by this factor in how large their errors are.
const UNEVEN_MATTERS: f64 = 1.3;
/// With fewer rows than this, nothing found is no news.
const ENOUGH_ROWS: f64 = 30.0;

/// What is to be said of some error bars: the most important finding, then others.
///
/// Prints as one to three plain sentences.
///
/// ```
/// use errbar::score::{Sample, Scores, verdict::Verdict};
///
/// // Errors of 2 and -2 in turn, a sigma of 1.
/// let error: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 2.0 } else { -2.0 }).collect();
/// let scores = Scores::of(&Sample::new(&error, &[1.0; 100])?)?;
/// let verdict = Verdict::of(&scores);
/// assert_eq!(verdict.word(), "overconfident");
/// assert_eq!(
///     verdict.to_string(),
///     "Overconfident: the errors are 2 times as large as sigma says, and 90% intervals hold 0.0% \
///      of the observations. Multiply sigma by about 2."
/// );
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The most important finding.
    pub finding: Finding,
    /// Others, less important.
    pub also: Vec<Finding>,
    /// The rows it rests on.
    pub rows: usize,
    /// The number of independent rows, all of the same weight, that would tell as much.
    pub worth: f64,
    /// The central interval looked at, the one nearest to 90%; none when there is no interval.
    pub coverage: Option<Coverage>,
}

/// One thing found.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// Sigma is right as far as these rows can tell.
    Reliable,
    /// Sigma is too small.
    Overconfident {
        /// The errors over what sigma says, root mean square.
        factor: f64,
    },
    /// Sigma is too large.
    Underconfident {
        /// The errors over what sigma says, root mean square.
        factor: f64,
    },
    /// The forecast is too high or too low, and that is what is wrong most.
    Biased {
        /// The mean error, observation minus forecast.
        bias: f64,
        /// The mean error in sigmas.
        mean_z: f64,
        /// The errors over what sigma says, once the bias is taken away.
        spread_z: f64,
        /// The size of the mean error over the mean absolute error.
        #[serde(default)]
        share: f64,
    },
    /// Right on the whole (unless said otherwise), but not both where sigma is small and where it is large.
    Uneven {
        /// The errors over what sigma says, in the third of the rows with the smallest sigma.
        small: f64,
        /// The largest sigma of that third.
        small_to: f64,
        /// The same in the third with the largest.
        large: f64,
        /// The smallest sigma of that third.
        large_from: f64,
    },
    /// Right in size, but the errors over sigma are not Gaussian.
    WrongShape {
        /// Whether large errors are more frequent than sigma says, rather than rarer.
        heavy_tails: bool,
        /// The errors over what sigma says, root mean square.
        factor: f64,
        /// A narrow interval: its level and the share of observations it holds.
        narrow: (f64, f64),
        /// A wide one.
        wide: (f64, f64),
    },
    /// Nothing is wrong that so few rows could show.
    TooFewRows,
}

impl Verdict {
    /// The verdict on some scores, whose rows are taken to be independent: see [`judge`](super::judge()).
    #[must_use]
    pub fn of(scores: &Scores) -> Self {
        Self::with(scores, None)
    }

    /// The verdict on some scores, with the standard errors of their intervals where there are some:
    /// they know how far the rows depend on each other.
    #[must_use]
    pub fn with(scores: &Scores, intervals: Option<&Intervals>) -> Self {
        let evidence = Evidence { scores, intervals };
        let worth = evidence.worth();
        let main = evidence.coverage_near(0.9);
        let found = [evidence.size(), evidence.bias(), evidence.uneven()];
        let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
        let most_is_bias =
            |f: &Finding| matches!(f, Finding::Biased { share, .. } if *share > BIAS_IS_MOST);
        let shape_first = !findings.iter().any(most_is_bias);
        // Outliers make everything else look wrong too, unless most of every error is a bias.
        let cost = |finding: &Finding| match finding {
            Finding::WrongShape { .. } if shape_first => f64::INFINITY,
            finding => finding.cost(),
        };
        findings.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        if let Some(Finding::Biased { .. }) = findings.first() {
            // What the size of errors is without it is said with it.
            findings.retain(|finding| !finding.is_of_size());
        }
        if findings.is_empty() {
            findings.extend(evidence.shape());
        }
        let none = if worth < ENOUGH_ROWS { Finding::TooFewRows } else { Finding::Reliable };
        let finding = if findings.is_empty() { none } else { findings.remove(0) };
        let coverage = main.map(|index| scores.coverage[index]);
        Self { finding, also: findings, rows: scores.rows, worth, coverage }
    }

    /// The verdict in a word or two: reliable, overconfident, underconfident, biased, uneven, not
    /// Gaussian, too few rows.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.finding {
            Finding::Reliable => "reliable",
            Finding::Overconfident { .. } => "overconfident",
            Finding::Underconfident { .. } => "underconfident",
            Finding::Biased { .. } => "biased",
            Finding::Uneven { .. } => "uneven",
            Finding::WrongShape { .. } => "not Gaussian",
            Finding::TooFewRows => "too few rows",
        }
    }
}

impl Finding {
    /// By how much its remedy alone would lower the mean negative log predictive density of Gaussian
    /// errors: for a bias of $m$ sigmas $m^2/2$, or what one constant sigma would gain where that is
    /// more; for errors $f$ times as large as sigma says
    /// $(f^2 - 1)/2 - \ln f$, and for two thirds of the rows that differ in $f$ what one factor for
    /// both would leave. A wrong shape has no such remedy: 0.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let size = |f: f64| if f > 0.0 { 0.5 * (f * f - 1.0) - f.ln() } else { f64::INFINITY };
        match *self {
            Self::Reliable | Self::TooFewRows | Self::WrongShape { .. } => 0.0,
            Self::Overconfident { factor } | Self::Underconfident { factor } => size(factor),
            Self::Biased { mean_z, share, .. } => {
                // The mean absolute error of a Gaussian is the root of 2/pi of its deviation.
                let of_squares = std::f64::consts::FRAC_2_PI * share.min(1.0).powi(2);
                (0.5 * mean_z * mean_z).max(-0.5 * (-of_squares).ln_1p())
            }
            Self::Uneven { small, large, .. } => {
                let both = (0.5 * (small * small + large * large)).sqrt();
                (size(small) + size(large) - 2.0 * size(both)) / 3.0
            }
        }
    }

    /// Whether it is that sigma is too small or too large.
    fn is_of_size(&self) -> bool {
        matches!(self, Self::Overconfident { .. } | Self::Underconfident { .. })
    }
}

/// What a verdict rests on.
struct Evidence<'a> {
    scores: &'a Scores,
    intervals: Option<&'a Intervals>,
}

impl Evidence<'_> {
    /// The place of the coverage whose level is nearest.
    fn coverage_near(&self, level: f64) -> Option<usize> {
        let distance = |index: &usize| (self.scores.coverage[*index].level - level).abs();
        (0..self.scores.coverage.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// Independent rows that would tell as much about a coverage.
    fn rows_for(&self, index: usize) -> f64 {
        let observed = self.scores.coverage[index].observed;
        let rows = self.scores.effective_rows;
        let Some(intervals) = self.intervals else { return rows };
        let spread = observed * (1.0 - observed);
        match intervals.coverage.get(index).map(|interval| interval.standard_error) {
            Some(error) if error > 0.0 && spread > 0.0 => {
                (spread / (error * error)).min(2.0 * rows)
            }
            _ => rows / intervals.block as f64,
        }
    }

    /// Independent rows that would tell as much.
    fn worth(&self) -> f64 {
        let rows = self.scores.effective_rows;
        self.coverage_near(0.9).map_or(rows, |index| self.rows_for(index)).min(rows)
    }

    /// How far a coverage is from its level, in standard errors of a calibrated forecast.
    fn coverage_z(&self, index: usize) -> f64 {
        let Coverage { level, observed, .. } = self.scores.coverage[index];
        (observed - level) / (level * (1.0 - level) / self.rows_for(index)).sqrt()
    }

    /// Whether sigma has the wrong size, or the right one in root mean square only.
    fn size(&self) -> Option<Finding> {
        let factor = self.scores.rms_z;
        let finding = |factor: f64, too_small: bool| match too_small {
            true => Finding::Overconfident { factor },
            false => Finding::Underconfident { factor },
        };
        if factor == 0.0 {
            return (self.scores.effective_rows >= 5.0).then(|| finding(factor, false));
        }
        if !factor.is_finite() {
            return Some(finding(factor, true));
        }
        let error = match self.intervals {
            Some(intervals) if intervals.rms_z.standard_error.is_finite() => {
                intervals.rms_z.standard_error
            }
            // Of a calibrated forecast: z² has a variance of 2.
            _ => 1.0 / (2.0 * self.scores.effective_rows).sqrt(),
        };
        let size_off = (factor - 1.0).abs() > (CHANCE * error).max(SIZE_MATTERS);
        let Some(main) = self.coverage_near(0.9) else {
            return size_off.then(|| finding(factor, factor > 1.0));
        };
        let Coverage { level, observed, .. } = self.scores.coverage[main];
        let coverage_off =
            self.coverage_z(main).abs() > CHANCE && (observed - level).abs() > COVERAGE_MATTERS;
        if !size_off && !coverage_off {
            return None;
        }
        // The factor that would explain the coverage of Gaussian errors.
        let edge = 0.5 / self.scores.effective_rows.max(1.0);
        let implied = half_width(level) / half_width(observed.clamp(edge, 1.0 - edge));
        let agreement = factor.ln() / implied.ln();
        // A few outliers make the root mean square far larger than the coverage says. Coverage
        // itself ends at 0 and 1, and may say less or more than the size.
        let same_way = (factor > 1.0) == (observed < level);
        let plain = size_off && coverage_off && (factor < 1.0 || agreement <= 3.0);
        if same_way && (plain || (1.0 / 3.0..=3.0).contains(&agreement)) {
            return Some(finding(factor, factor > 1.0));
        }
        // Outliers must show in the widest interval; otherwise the two only differ by chance.
        let outliers = factor > implied;
        let widest = self.coverage_near(0.99).map(|index| self.scores.coverage[index]);
        match widest {
            Some(wide) if same_way && outliers && wide.observed >= wide.level => {
                Some(finding(factor, factor > 1.0))
            }
            _ => self.misshapen(outliers),
        }
    }

    /// Whether intervals in the middle and in the tails are off in opposite ways.
    fn shape(&self) -> Option<Finding> {
        let (narrow, wide) = (self.coverage_near(0.5)?, self.coverage_near(0.99)?);
        let off = |index: usize, matters: f64| {
            let Coverage { level, observed, .. } = self.scores.coverage[index];
            let more = observed - level;
            if self.coverage_z(index).abs() > CHANCE && more.abs() > matters { more } else { 0.0 }
        };
        // A hundredth more in the tails is twice as many.
        let (middle, tails) = (off(narrow, 0.03), off(wide, 0.005));
        if narrow == wide || middle * tails >= 0.0 {
            return None;
        }
        self.misshapen(middle > 0.0)
    }

    fn misshapen(&self, heavy_tails: bool) -> Option<Finding> {
        let pair = |index: usize| {
            let Coverage { level, observed, .. } = self.scores.coverage[index];
            (level, observed)
        };
        let (narrow, wide) = (self.coverage_near(0.5)?, self.coverage_near(0.99)?);
        let factor = self.scores.rms_z;
        Some(Finding::WrongShape { heavy_tails, factor, narrow: pair(narrow), wide: pair(wide) })
    }

    /// A bias that matters.
    fn bias(&self) -> Option<Finding> {
        let Scores { bias, mae, rmse, mean_z, rms_z, effective_rows, .. } = *self.scores;
        let spread = rms_z * rms_z - mean_z * mean_z;
        let error = match self.intervals {
            Some(intervals) if intervals.mean_z.standard_error.is_finite() => {
                intervals.mean_z.standard_error
            }
            _ => (spread.max(0.0) / effective_rows).sqrt(),
        };
        let spread_z = spread.max(0.0).sqrt();
        // A few rows of one sign are no bias yet, even if they agree to the last digit.
        let matters = mean_z.abs() > (CHANCE * error).max(BIAS_MATTERS);
        let share = if mae > 0.0 { bias.abs() / mae } else { 0.0 };
        let error = match self.intervals {
            Some(intervals) if intervals.bias.standard_error.is_finite() => {
                intervals.bias.standard_error
            }
            _ => rmse / effective_rows.sqrt(),
        };
        let is_most = bias.abs() > CHANCE * error && share > BIAS_IS_MOST;
        let found = effective_rows >= 5.0 && (matters || is_most);
        found.then_some(Finding::Biased { bias, mean_z, spread_z, share })
    }

    /// Whether errors over sigma differ between small and large sigma.
    fn uneven(&self) -> Option<Finding> {
        let bins = &self.scores.spread_skill;
        let third = (bins.len() / 3).max(1);
        if bins.len() < 2 {
            return None;
        }
        let (lower, upper) = (&bins[..third], &bins[bins.len() - third..]);
        let (small, large) = (ratio(lower), ratio(upper));
        let rows = |bins: &[SpreadSkillBin]| bins.iter().map(|bin| bin.rows as f64).sum::<f64>();
        // The logarithm of a root mean square of n Gaussian numbers has a variance of 1/2n; half as
        // much again for errors that are not quite Gaussian, more for rows that depend on each other.
        let alike = (self.scores.rows as f64 / self.worth()).max(1.0);
        let error = (0.75 * alike * (1.0 / rows(lower) + 1.0 / rows(upper))).sqrt();
        let off = (small / large).ln().abs();
        let matters = off > (3.0 * error).max(UNEVEN_MATTERS.ln());
        (matters && off.is_finite()).then_some(Finding::Uneven {
            small,
            small_to: lower[third - 1].sigma_to,
            large,
            large_from: upper[0].sigma_from,
        })
    }
}

/// The root mean squared error over the root mean square of sigma, of several bins.
fn ratio(bins: &[SpreadSkillBin]) -> f64 {
    let largest = bins.iter().fold(0.0, |m: f64, bin| m.max(bin.skill).max(bin.spread));
    let sum = |of: fn(&SpreadSkillBin) -> f64| -> f64 {
        bins.iter().map(|bin| bin.rows as f64 * (of(bin) / largest).powi(2)).sum()
    };
    (sum(|bin| bin.skill) / sum(|bin| bin.spread)).sqrt()
}
