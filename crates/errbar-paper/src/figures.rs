//! The nine figures of the paper.
//!
//! Truth is red, what is estimated black, what a forecaster said blue (the paper's text and captions
//! swap red and blue).

mod density;
mod estimates;

use errbar::mean::gaussian_process::{self, GaussianProcess};
use errbar::score::crps;
use errbar_report::{Axis, Color, Dash, Figure, Histogram, Isolines, Line, Panel, Scatter, color};
use rand::RngExt;
use rand_pcg::Pcg64;
use rayon::prelude::*;

pub use self::density::{SigmaDensity, sigma_density};
pub(crate) use self::estimates::mean_and_deviation;
pub use self::estimates::sigma_estimates;
use crate::data_set::DataSet;

/// A figure of the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperFigure {
    /// Its number in the paper.
    pub number: usize,
    /// The stem of its file: `figure-01-crps-isolines`.
    pub name: &'static str,
    /// What one sees and how it was made.
    pub caption: String,
    /// The figure.
    pub figure: Figure,
}

/// The width of every figure, in pixels.
pub(crate) const WIDTH: f64 = 600.0;

/// Points of a regression example, as in a run of the protocol.
const POINTS: usize = 100;

/// Random streams from here on belong to the figures, so that none repeats the rows of a run.
const FIRST_STREAM: u64 = 1 << 40;

/// Rows drawn from one random stream.
const BLOCK: u64 = 100_000;

/// Figure 1: lines of equal CRPS, and the sigma that minimises it.
#[must_use]
pub fn crps_isolines() -> PaperFigure {
    let (sigma, error) = (between(0.0, 3.0, 301), between(-2.0, 2.0, 401));
    let at = |sigma: f64, error: f64| {
        // The limit of a vanishing sigma.
        if sigma == 0.0 { error.abs() } else { crps::crps(error, sigma) }
    };
    let values: Vec<f64> =
        error.iter().flat_map(|&e| sigma.iter().map(move |&s| at(s, e))).collect();
    let levels: Vec<f64> = (1..=9).map(|i| 0.2 * f64::from(i)).collect();
    let least: Vec<f64> = error.iter().map(|&e| crps::sigma_min(e)).collect();
    let panel = Panel::new(Axis::new("σ").range(0.0, 3.0), Axis::new("ε").range(-2.0, 2.0))
        .with(Isolines::new(sigma, error.clone(), values).levels(levels).label("CRPS"))
        .with(Line::new(least, error).dash(Dash::Dashed).width(1.8).label("σ_{min}"));
    PaperFigure {
        number: 1,
        name: "figure-01-crps-isolines",
        caption: format!(
            "Lines of equal CRPS in (σ, ε), with its value on each. The dashed line is σ_min = |ε|/√(ln 2) \
             = {:.3} |ε|, the σ of least CRPS for a given error.",
            crps::sigma_min(1.0)
        ),
        figure: Figure::new(WIDTH, 460.0).with(panel),
    }
}

/// Figures 2 to 4: the training points of run 0 of G, Y and W, with the true mean and the one that a
/// Gaussian process makes of them.
///
/// # Errors
/// What the Gaussian process refuses.
pub fn regressions(seed: u64) -> errbar::Result<Vec<PaperFigure>> {
    let names = ["figure-02-regression-g", "figure-03-regression-y", "figure-04-regression-w"];
    let one = |(i, set): (usize, DataSet)| regression(set, seed, 2 + i, names[i]);
    DataSet::ONE_DIMENSIONAL.into_iter().enumerate().map(one).collect()
}

fn regression(
    set: DataSet,
    seed: u64,
    number: usize,
    name: &'static str,
) -> errbar::Result<PaperFigure> {
    let draw = set.draw(POINTS, &mut set.stream(seed, 0));
    let gp = GaussianProcess::fit(&draw.x, 1, &draw.y, &gaussian_process::Options::default())?;
    let x = between(0.0, set.range(), 401);
    let truth: Vec<f64> = x.iter().map(|&x| set.mean(&[x])).collect();
    let forecast = gp.predict(&x)?.mean;
    let squares = truth.iter().zip(&forecast).map(|(t, f)| (t - f).powi(2));
    let off = (squares.sum::<f64>() / x.len() as f64).sqrt();
    let panel = Panel::new(Axis::new("x").range(0.0, set.range()), "y")
        .with(Scatter::new(draw.x, draw.y).color(POINT).label("observations"))
        .with(Line::new(x.clone(), truth).color(color::TRUTH).width(2.0).label("true mean"))
        .with(
            Line::new(x, forecast)
                .color(color::FORECAST)
                .width(2.0)
                .dash(Dash::Dashed)
                .label("mean predicted by the Gaussian process"),
        );
    let set = set.name();
    Ok(PaperFigure {
        number,
        name,
        caption: format!(
            "{POINTS} points of the data set {set} (circles), the true mean (red) and the mean that a Gaussian \
             process with one noise level predicts from them (blue, dashed), which is {off:.2} away \
             in the root mean square."
        ),
        figure: Figure::new(WIDTH, 400.0).with(panel),
    })
}

/// Circles that stay behind the lines.
const POINT: Color = Color::hex(0x6B6B6B);

/// Figure 5: the distribution of the true sigma of 5D over so many draws.
#[must_use]
pub fn sigma_distribution(draws: u64, seed: u64) -> PaperFigure {
    const CELLS: usize = 100;
    let blocks: Vec<(Vec<u64>, f64, f64)> = (0..draws.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let rows = BLOCK.min(draws - block * BLOCK) as usize;
            let mut rng = DataSet::FiveD.stream(seed, 2 * FIRST_STREAM + block);
            let (mut counts, mut low, mut high) = (vec![0; CELLS], f64::INFINITY, 0f64);
            for x in inputs(rows, &mut rng).chunks_exact(DataSet::FiveD.columns()) {
                let sigma = DataSet::FiveD.sigma(x);
                counts[((sigma * CELLS as f64) as usize).min(CELLS - 1)] += 1;
                (low, high) = (low.min(sigma), high.max(sigma));
            }
            (counts, low, high)
        })
        .collect();
    let per_draw = CELLS as f64 / draws.max(1) as f64;
    let count = |cell: usize| blocks.iter().map(|block| block.0[cell]).sum::<u64>();
    let densities: Vec<f64> = (0..CELLS).map(|cell| count(cell) as f64 * per_draw).collect();
    let low = blocks.iter().map(|block| block.1).fold(f64::INFINITY, f64::min);
    let high = blocks.iter().map(|block| block.2).fold(0.0, f64::max);
    // Sigma lies between 0.09 and 0.99.
    let near_ends = 1.0 - densities[19..89].iter().sum::<f64>() / CELLS as f64;
    let x = Axis::new("true σ").range(0.0, 1.05);
    PaperFigure {
        number: 5,
        name: "figure-05-sigma-5d",
        caption: format!(
            "Distribution of the true σ of the data set 5D over {} draws of its five inputs: σ goes from \
             {low:.2} to {high:.2}, and {:.0}% of the values lie within 0.1 of these ends.",
            thousands(draws),
            100.0 * near_ends
        ),
        figure: Figure::new(WIDTH, 360.0).with(
            Panel::new(x, "probability density")
                .with(Histogram::new(between(0.0, 1.0, CELLS + 1), densities)),
        ),
    }
}

/// Rows of inputs of 5D.
fn inputs(rows: usize, rng: &mut Pcg64) -> Vec<f64> {
    let range = 0.0..DataSet::FiveD.range();
    (0..rows * DataSet::FiveD.columns()).map(|_| rng.random_range(range.clone())).collect()
}

/// So many values from one end to the other.
pub(crate) fn between(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| low + (high - low) * i as f64 / (count - 1) as f64).collect()
}

/// A whole number as people write it: 10,000,000.
fn thousands(number: u64) -> String {
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
mod tests;
