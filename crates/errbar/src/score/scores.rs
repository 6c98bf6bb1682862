//! Everything at once.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::accuracy_reliability::{Ar, Beta, accuracy_reliability};
use super::calibration::{self, Coverage, PitCounts, PitHistogram};
use super::calibration::{ReliabilityDiagram, SpreadSkillBin};
use super::constant::{self, Constant};
use super::crps;
use super::decomposition::{self, Decomposition};
use super::deterministic as point;
use super::nlpd;
use super::reliability::{rs_expected, rs_min};
use super::sample::Sample;
use crate::choices::setters;
use crate::error::Result;
use crate::words::{self, percent};

/// What [`Scores`] should look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
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

impl Options {
    setters! {
        beta: Beta,
        pit_bins: usize,
        diagram_levels: usize,
        coverage_levels: Vec<f64>,
        spread_skill_bins: usize,
        confidence: f64,
    }
}

/// All scores of a sample. Prints as a table; serialises to JSON (where a score that is infinite,
/// as NLPD can be, becomes null).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
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
    /// The mean of $z = \varepsilon/\sigma$: 0 when the forecast has no bias.
    pub mean_z: f64,
    /// The root mean square of $z = \varepsilon/\sigma$: 1 when sigma has the right size.
    pub rms_z: f64,
    /// The mean CRPS.
    pub crps: f64,
    /// The best single sigma and its CRPS.
    pub constant: Constant,
    /// $1 - \mathrm{CRPS}/\mathrm{CRPS}\_{\text{constant}}$.
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
        // Several orders of the rows are needed, which have nothing to do with each other.
        let transforms = || {
            let pit = calibration::each_pit(sample);
            let counts = PitCounts::of(&pit, sample.weight());
            (counts, calibration::largest_deviation(&pit, sample.weight()))
        };
        let spread = || calibration::spread_skill(sample, options.spread_skill_bins);
        let ((ar, spread_skill, (counts, deviation)), (parts, constant)) = in_parallel(
            sample.len(),
            || (accuracy_reliability(sample, options.beta), spread(), transforms()),
            || (decomposition::Parts::of(sample), constant::best_constant(sample)),
        );
        let mut ar = ar?;
        if ar.crps.is_infinite() {
            ar.crps = crps::mean(sample); // its sum overflows where the mean does not
        }
        let (bins, levels) = (options.pit_bins, options.diagram_levels);
        Ok(Self {
            rows: sample.len(),
            effective_rows: rows,
            bias: point::bias(sample),
            mae: point::mean_absolute_error(sample),
            rmse: point::root_mean_squared_error(sample),
            mean_sigma: point::mean_sigma(sample),
            mean_z: point::mean_z(sample),
            rms_z: point::root_mean_square_z(sample),
            crps: ar.crps,
            constant,
            crps_skill: constant::skill(ar.crps, constant),
            nlpd: nlpd::mean(sample),
            rs: ar.rs,
            rs_by_chance: rs_expected(rows),
            rs_min: rs_min(sample.counted()),
            ar,
            decomposition: parts.decompose(sample, ar.crps),
            coverage: calibration::coverage(sample, &options.coverage_levels, confidence)?,
            pit: PitHistogram::of_counts(&counts, bins, rows, confidence)?,
            diagram: ReliabilityDiagram::of_counts(&counts, levels, rows, confidence, deviation)?,
            spread_skill: spread_skill?,
        })
    }
}

/// Both on two threads where there are enough rows for it.
fn in_parallel<A: Send, B: Send>(
    rows: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if rows >= 50_000 { rayon::join(a, b) } else { (a(), b()) }
}

impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: &str, note: &str| {
            // What this form of forecast does not tell.
            if value == "NaN" {
                return Ok(());
            }
            let text = format!("{name:<26}{value:>11}   {note}");
            writeln!(f, "{}", text.trim_end())
        };
        line("rows", &self.rows.to_string(), "")?;
        if (self.effective_rows - self.rows as f64).abs() > 0.5 {
            line("effective rows", &significant(self.effective_rows), "after weighting")?;
        }
        line("bias", &significant(self.bias), "mean of observation minus forecast")?;
        line("mean absolute error", &significant(self.mae), "")?;
        line("root mean squared error", &significant(self.rmse), "")?;
        line("mean sigma", &significant(self.mean_sigma), "")?;
        let size = "1 is right; above 1 sigma is too small";
        line("errors over sigma (rms)", &significant(self.rms_z), size)?;
        line("CRPS", &significant(self.crps), &self.skill_in_words())?;
        let at = format!("with sigma = {} on every row", significant(self.constant.sigma));
        line("  of the best one sigma", &significant(self.constant.crps), &at)?;
        let d = &self.decomposition;
        let share = |part: f64| percent(if d.crps > 0.0 { part / d.crps } else { 0.0 });
        let lost = format!(
            "{} of CRPS; {} by chance",
            share(d.reliability),
            share(d.reliability_by_chance)
        );
        line("  lost to miscalibration", &significant(d.reliability), &lost)?;
        line("NLPD", &significant(self.nlpd), "")?;
        let (chance, least) = (significant(self.rs_by_chance), significant(self.rs_min));
        let chance = format!("0 is perfect; {chance} by chance, {least} at least");
        line("reliability score RS", &significant(self.rs), &chance)?;
        let beta = significant(self.ar.beta);
        let cost = format!("beta = {beta}; beta CRPS + (1 - beta)(RS + 0.39894)");
        line("accuracy-reliability AR", &significant(self.ar.value), &cost)?;
        let p = format!("of the reliability diagram; p = {:.3}", self.diagram.p_value);
        line("largest deviation", &significant(self.diagram.largest_deviation), &p)?;
        let even = format!("even when calibrated; highest {}", percent(self.highest_pit()));
        line("PIT histogram", "", &format!("{}  {even}", bars(&self.pit.frequency)))?;

        writeln!(
            f,
            "\n{:>9}{:>12}{:>20}{:>14}",
            "interval", "observed", "by chance", "mean width"
        )?;
        for c in &self.coverage {
            let range = format!("{} to {}", percent(c.low), percent(c.high));
            let level = format!("{}%", significant(100.0 * c.level));
            let (observed, width) = (percent(c.observed), significant(c.mean_width));
            writeln!(f, "{level:>9}{observed:>12}{range:>20}{width:>14}")?;
        }
        if self.spread_skill.len() > 1 {
            writeln!(f, "\n{:>21}{:>20}{:>14}", "sigma", "root mean square", "")?;
            writeln!(f, "{:>21}{:>10}{:>10}{:>14}", "from - to", "sigma", "error", "rows")?;
            for bin in &self.spread_skill {
                let range =
                    format!("{} - {}", significant(bin.sigma_from), significant(bin.sigma_to));
                let (spread, skill) = (significant(bin.spread), significant(bin.skill));
                writeln!(f, "{range:>21}{spread:>10}{skill:>10}{:>14}", bin.rows)?;
            }
        }
        Ok(())
    }
}

impl Scores {
    fn skill_in_words(&self) -> String {
        match self.crps_skill {
            skill if skill > 0.0 => format!("{} better than the best one sigma", percent(skill)),
            skill if skill < 0.0 => format!("{} worse than the best one sigma", percent(-skill)),
            _ => String::from("no better than the best one sigma"),
        }
    }

    fn highest_pit(&self) -> f64 {
        self.pit.frequency.iter().copied().fold(0.0, f64::max)
    }
}

/// A histogram in one line.
fn bars(frequency: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = frequency.iter().copied().fold(0.0, f64::max);
    let bar = |share: &f64| BARS[((share / highest * 7.0).round() as usize).min(7)];
    if highest > 0.0 { frequency.iter().map(bar).collect() } else { String::new() }
}

/// Five significant digits.
fn significant(value: f64) -> String {
    words::significant(value, 5)
}
