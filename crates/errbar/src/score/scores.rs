//! Everything at once.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::accuracy_reliability::{Ar, Beta, accuracy_reliability};
use super::calibration::{self, Coverage, PitCounts, PitHistogram};
use super::calibration::{ReliabilityDiagram, SpreadSkillBin};
use super::constant::{self, Constant};
use super::decomposition::{Decomposition, decompose_crps};
use super::deterministic as point;
use super::nlpd;
use super::reliability::{rs_expected, rs_min};
use super::sample::Sample;
use crate::error::Result;

/// What [`Scores`] should look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// How accuracy is weighed in the Accuracy-Reliability cost.
    pub beta: Beta,
    /// Bins of the PIT histogram (a divisor of 18,000).
    pub pit_bins: usize,
    /// Levels of the reliability diagram (a divisor of 18,000).
    pub diagram_levels: usize,
    /// Levels of the central intervals.
    pub coverage_levels: Vec<f64>,
    /// Bins of spread against skill.
    pub spread_skill_bins: usize,
    /// The probability of the ranges that chance leaves to a calibrated forecast.
    pub confidence: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            beta: Beta::Heuristic,
            pit_bins: 20,
            diagram_levels: 20,
            coverage_levels: vec![0.5, 0.8, 0.9, 0.95, 0.99],
            spread_skill_bins: 10,
            confidence: 0.95,
        }
    }
}

/// All scores of a sample. Prints as a table; serialises to JSON (where a score that is infinite,
/// as NLPD can be, becomes null).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// The number of rows.
    pub rows: usize,
    /// The number of equally weighted rows that would be as informative.
    pub effective_rows: f64,
    /// The mean error, observation minus forecast.
    pub bias: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The root mean squared error.
    pub rmse: f64,
    /// The mean sigma.
    pub mean_sigma: f64,
    /// The root mean square of $z = \varepsilon/\sigma$: 1 when sigma has the right size.
    pub rms_z: f64,
    /// The mean CRPS.
    pub crps: f64,
    /// The best single sigma and its CRPS.
    pub constant: Constant,
    /// $1 - \mathrm{CRPS}/\mathrm{CRPS}_{\text{constant}}$.
    pub crps_skill: f64,
    /// The mean negative log predictive density.
    pub nlpd: f64,
    /// The Reliability Score: 0 is perfect.
    pub rs: f64,
    /// What RS is on average for a calibrated forecast of as many rows.
    pub rs_by_chance: f64,
    /// The least RS that as many rows can have.
    pub rs_min: f64,
    /// The Accuracy-Reliability cost.
    pub ar: Ar,
    /// How much of the CRPS is lost to miscalibration.
    pub decomposition: Decomposition,
    /// Coverage and width of central intervals.
    pub coverage: Vec<Coverage>,
    /// The histogram of probability integral transforms.
    pub pit: PitHistogram,
    /// The reliability diagram.
    pub diagram: ReliabilityDiagram,
    /// Errors against sigma, bin by bin.
    pub spread_skill: Vec<SpreadSkillBin>,
}

impl Scores {
    /// All scores with the usual options.
    ///
    /// # Errors
    /// None for a valid sample; the type is that of [`Scores::with`].
    pub fn of(sample: &Sample) -> Result<Self> {
        Self::with(sample, &Options::default())
    }

    /// All scores.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn with(sample: &Sample, options: &Options) -> Result<Self> {
        let rows = sample.effective_rows();
        let confidence = options.confidence;
        let ar = accuracy_reliability(sample, options.beta)?;
        let constant = constant::best_constant(sample);

        let pit = calibration::each_pit(sample);
        let counts = PitCounts::of(&pit, sample.weight());
        let deviation = calibration::largest_deviation(&pit, sample.weight());
        let (bins, levels) = (options.pit_bins, options.diagram_levels);
        Ok(Self {
            rows: sample.len(),
            effective_rows: rows,
            bias: point::bias(sample),
            mae: point::mean_absolute_error(sample),
            rmse: point::root_mean_squared_error(sample),
            mean_sigma: point::mean_sigma(sample),
            rms_z: point::root_mean_square_z(sample),
            crps: ar.crps,
            constant,
            crps_skill: constant::skill(ar.crps, constant),
            nlpd: nlpd::mean(sample),
            rs: ar.rs,
            rs_by_chance: rs_expected(rows),
            rs_min: rs_min(sample.counted()),
            ar,
            decomposition: decompose_crps(sample, ar.crps),
            coverage: calibration::coverage(sample, &options.coverage_levels, confidence)?,
            pit: PitHistogram::of_counts(&counts, bins, rows, confidence)?,
            diagram: ReliabilityDiagram::of_counts(&counts, levels, rows, confidence, deviation)?,
            spread_skill: calibration::spread_skill(sample, options.spread_skill_bins)?,
        })
    }
}

impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: f64, note: &str| {
            let text = format!("{name:<26}{:>11}   {note}", significant(value));
            writeln!(f, "{}", text.trim_end())
        };
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        line("rows", self.rows as f64, "")?;
        if (self.effective_rows - self.rows as f64).abs() > 0.5 {
            line("effective rows", self.effective_rows, "after weighting")?;
        }
        line("bias", self.bias, "mean of observation minus forecast")?;
        line("mean absolute error", self.mae, "")?;
        line("root mean squared error", self.rmse, "")?;
        line("mean sigma", self.mean_sigma, "")?;
        line("errors over sigma (rms)", self.rms_z, "1 is right, above 1 sigma is too small")?;
        let skill = if self.crps_skill >= 0.0 { "better" } else { "worse" };
        let skill = format!("{} {skill} than one constant sigma", percent(self.crps_skill.abs()));
        line("CRPS", self.crps, &skill)?;
        let at = format!("with sigma = {} on every row", significant(self.constant.sigma));
        line("CRPS of one sigma", self.constant.crps, &at)?;
        let chance = if self.decomposition.crps > 0.0 {
            let share = |part: f64| percent(part / self.decomposition.crps);
            let d = &self.decomposition;
            format!(
                "{} of CRPS; {} by chance",
                share(d.reliability),
                share(d.reliability_by_chance)
            )
        } else {
            String::new()
        };
        line("lost to miscalibration", self.decomposition.reliability, &chance)?;
        line("NLPD", self.nlpd, "")?;
        let chance = format!("0 is perfect; {} by chance", significant(self.rs_by_chance));
        line("reliability score RS", self.rs, &chance)?;
        line("accuracy-reliability AR", self.ar.value, &format!("beta = {:.4}", self.ar.beta))?;
        let p = format!("from the diagonal; p = {:.3}", self.diagram.p_value);
        line("largest deviation", self.diagram.largest_deviation, &p)?;
        writeln!(f)?;
        writeln!(f, "{:>9}{:>12}{:>18}{:>14}", "interval", "observed", "by chance", "mean width")?;
        for c in &self.coverage {
            let range = format!("{} to {}", percent(c.low), percent(c.high));
            let (level, observed) =
                (format!("{}%", significant(100.0 * c.level)), percent(c.observed));
            writeln!(f, "{level:>9}{observed:>12}{range:>18}{:>14}", significant(c.mean_width))?;
        }
        Ok(())
    }
}

/// Five significant digits, without a tail of zeros.
fn significant(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = (4 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}
