//! Figures 6 to 8: sigma as estimated over many runs, against the truth.

use errbar_report::{Axis, Band, Figure, Legend, Line, Panel, color};

use super::{PaperFigure, WIDTH};
use crate::data_set::DataSet;
use crate::protocol::{Method, Run, grid};

/// Figures 6 to 8: for G, Y and W the mean over runs of the sigma that the paper's network (above) and
/// polynomial (below) estimate, with bands of one and two standard deviations over the runs.
///
/// A sigma that is not finite is left out, and the axis does not follow a few wild runs.
#[must_use]
pub fn sigma_estimates(runs: &[Run]) -> Vec<PaperFigure> {
    let names = ["figure-06-sigma-g", "figure-07-sigma-y", "figure-08-sigma-w"];
    let one = |(i, set): (usize, DataSet)| estimates(set, runs, 6 + i, names[i]);
    DataSet::ONE_DIMENSIONAL.into_iter().enumerate().map(one).collect()
}

/// The mean and the standard deviation over runs of the sigma at each point of the grid.
struct OverRuns {
    runs: usize,
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl OverRuns {
    fn new(set: DataSet, method: Method, runs: &[Run]) -> Self {
        let of_method = |run: &'_ Run| {
            run.sigma_on_grid.iter().position(|(m, _)| *m == method).filter(|_| run.set == set)
        };
        let sigmas: Vec<&[f64]> = runs
            .iter()
            .filter_map(|run| of_method(run).map(|i| run.sigma_on_grid[i].1.as_slice()))
            .collect();
        let (mean, deviation) = (0..grid(set).len())
            .map(|i| mean_and_deviation(sigmas.iter().filter_map(|s| s.get(i)).copied()))
            .unzip();
        Self { runs: sigmas.len(), mean, deviation }
    }

    fn edge(&self, deviations: f64) -> Vec<f64> {
        self.mean.iter().zip(&self.deviation).map(|(m, d)| m + deviations * d).collect()
    }

    /// The root mean square over x of the mean estimate minus the truth.
    fn off(&self, truth: &[f64]) -> f64 {
        let squares = self.mean.iter().zip(truth).map(|(m, t)| (m - t).powi(2));
        (squares.sum::<f64>() / truth.len() as f64).sqrt()
    }
}

/// The mean and standard deviation of the finite values: NaN for none of them, and no deviation of
/// one alone.
pub(crate) fn mean_and_deviation(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

fn estimates(set: DataSet, runs: &[Run], number: usize, name: &'static str) -> PaperFigure {
    let x = grid(set);
    let truth: Vec<f64> = x.iter().map(|&x| set.sigma(&[x])).collect();
    let network = OverRuns::new(set, Method::ArNetwork, runs);
    let polynomial = OverRuns::new(set, Method::ArPolynomial, runs);

    // As high as the bands ask for, within reason; the same for both, so that one can compare them.
    let largest = truth.iter().copied().fold(0.0, f64::max);
    let asked = [&network, &polynomial]
        .into_iter()
        .flat_map(|over| over.edge(2.0))
        .filter(|high| high.is_finite())
        .fold(0.0, f64::max);
    let high = (1.05 * asked).clamp(1.15 * largest, 1.8 * largest);

    let panel = |title: &str, over: &OverRuns, legend: Legend| {
        Panel::new(Axis::new("x").range(0.0, set.range()), Axis::new("σ(x)").range(0.0, high))
            .title(title)
            .legend(legend)
            .with(
                Band::new(x.clone(), over.edge(-2.0), over.edge(2.0))
                    .color(color::TWO_SD)
                    .label("±2 standard deviations"),
            )
            .with(
                Band::new(x.clone(), over.edge(-1.0), over.edge(1.0))
                    .color(color::ONE_SD)
                    .label("±1 standard deviation"),
            )
            .with(
                Line::new(x.clone(), over.mean.clone())
                    .color(color::ESTIMATE)
                    .width(2.0)
                    .label("mean estimate"),
            )
            .with(Line::new(x.clone(), truth.clone()).color(color::TRUTH).width(2.0).label("truth"))
    };
    let bound = match largest > 1.0 {
        true => format!(" The true σ reaches {largest:.2}, where the network's cannot exceed 1."),
        false => String::new(),
    };
    PaperFigure {
        number,
        name,
        caption: format!(
            "Data set {}: the true σ (red) and the mean of what was estimated in {} independent runs \
             (within the bands), with bands of one and two standard deviations over the runs (grey). Network above, \
             polynomial below; their mean estimates are {:.3} and {:.3} away from the truth in the root \
             mean square over x.{bound}",
            set.name(),
            network.runs.max(polynomial.runs),
            network.off(&truth),
            polynomial.off(&truth)
        ),
        figure: Figure::new(WIDTH, 640.0)
            .share_x()
            .with(panel("Network", &network, Legend::Above))
            .with(panel("Polynomial", &polynomial, Legend::Hidden)),
    }
}
