//! The skew of errors as a function of the inputs.
//!
//! Where a forecast is low errors can only be on one side, where it is high on the other: the ratio of the two
//! sides of a law is then no number but a function of the inputs. Its logarithm is a polynomial of them,
//! $\ln\frac{s_2}{s_1} = r(x)$, whose coefficients are the likeliest for errors in units of their sigma; priors
//! hold them. How tight these are, and which base the law has, is what makes the rows most probable (by
//! Laplace's approximation). The mean and the standard deviation of a law do not change when it turns, so that
//! sigma stays what it is. $r(x)$ is rounded to a few rungs, so that rows share their laws.

use serde::{Deserialize, Serialize};

use super::shape::{SKEW, law_of, log_score};
use crate::data::Data;
use crate::error::Result;
use crate::law::{Base, Bounds, ErrorLaw, Law};
use crate::math::cholesky::Cholesky;
use crate::math::linear::dot;
use crate::mean::bias::Polynomial;
use crate::sigma::Scaling;
use crate::words::significant;

/// Laws there are at most: of errors on one side three times as far to three times as far on the other, a step
/// is then a tenth.
const RUNGS: usize = 25;
/// As large as the logarithm of the ratio can be.
const FARTHEST: f64 = 3.0;
/// Rows to learn from, evenly among more of them, and inputs whose products are terms too.
const MOST_ROWS: usize = 10_000;
const MOST_INPUTS_OF_PRODUCTS: usize = 12;
/// Terms that are taken at most, and how many standard errors their slope must be from 0 for that.
const MOST_TERMS: usize = 20;
const TELLING: f64 = 1.5;
/// No term's slope is so far from 0 by chance: else the skew is not looked at any further.
const WORTH_A_LOOK: f64 = 2.5;
/// Prior standard deviations that are tried, for a term that varies by one.
const SLOPES: [f64; 3] = [0.1, 0.3, 1.0];
/// Those of mean and logarithm of the standard deviation, about what they are where the skew does not turn.
const PLACE: f64 = 0.1;
/// Steps of the search, and the fall of the cost below which it ends.
const STEPS: usize = 25;
const ENOUGH: f64 = 1e-4;
/// The first coefficients: mean, logarithm of the standard deviation, and r without inputs.
const FIRST: usize = 3;

/// How the skew of errors turns with the inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turning {
    /// The logarithm of the right side over the left.
    skew: Polynomial,
    /// Of the first of the laws and of the last, with the others evenly between; beyond them it is held.
    least: f64,
    most: f64,
    /// In units of sigma.
    laws: Vec<ErrorLaw>,
}

/// What rows say of it.
pub(super) struct Learned {
    /// The law where the skew is as it is on average, with its size.
    pub(super) law: Law,
    pub(super) turning: Turning,
}

/// Errors in units of their sigma, and the terms of their inputs.
pub(super) struct Lesson {
    scaling: Scaling,
    /// Of each row, one after the other.
    terms: Vec<f64>,
    width: usize,
    columns: usize,
    z: Vec<f64>,
    /// Their sum is the number of independent rows.
    weight: Vec<f64>,
    /// The place of each among all rows.
    rows: Vec<usize>,
}

impl Lesson {
    /// Of rows of some data, their scaled errors, and how many rows they are worth.
    pub(super) fn new(data: &Data, z: &[f64], weight: Option<&[f64]>, worth: f64) -> Result<Self> {
        let (scaling, columns) = (Scaling::of_data(data)?, data.columns());
        let products = columns * (columns + 1) / 2;
        let products = if columns <= MOST_INPUTS_OF_PRODUCTS { products } else { 0 };
        let width = columns + products;
        let rows: Vec<usize> = (0..z.len()).step_by(z.len().div_ceil(MOST_ROWS).max(1)).collect();
        let mut terms = vec![0.0; rows.len() * width];
        for (out, row) in terms.chunks_exact_mut(width).zip(&rows) {
            Polynomial::terms(&scaling, data.row(*row), out);
        }
        let own: Vec<f64> = rows.iter().map(|&row| weight.map_or(1.0, |w| w[row])).collect();
        let total: f64 = own.iter().sum();
        let scale = if total > 0.0 { worth.min(rows.len() as f64) / total } else { 0.0 };
        Ok(Self {
            scaling,
            terms,
            width,
            columns,
            z: rows.iter().map(|&row| z[row]).collect(),
            weight: own.iter().map(|weight| weight * scale).collect(),
            rows,
        })
    }

    fn terms_of(&self, at: usize) -> &[f64] {
        &self.terms[at * self.width..(at + 1) * self.width]
    }

    /// Whether any input may have a say in the skew, as the slopes at a law say that has none of them.
    pub(super) fn may_turn(&self, law: &Law) -> bool {
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        self.told(&rows, law).iter().any(|(_, told)| *told > WORTH_A_LOOK)
    }

    /// Terms that vary, and by how many standard errors the slope of the likelihood in each is not 0.
    fn told(&self, rows: &[usize], law: &Law) -> Vec<(usize, f64)> {
        let x = coefficients_of(law);
        let (law, by_skew) = law_of(law.base, &x);
        let slope = |at: usize| Slopes::of(&law, by_skew, self.z[at]).skew;
        let slopes: Vec<f64> = rows.iter().map(|&at| slope(at)).collect();
        let total: f64 = rows.iter().map(|&at| self.weight[at]).sum();
        let mean_of = |of: &dyn Fn(usize, usize) -> f64| -> f64 {
            rows.iter().enumerate().map(|(k, &at)| self.weight[at] * of(k, at)).sum::<f64>() / total
        };
        let level = mean_of(&|k, _| slopes[k]);
        let one = |term: usize| {
            let mean = mean_of(&|_, at| self.terms_of(at)[term]);
            let product =
                |k: usize, at: usize| (slopes[k] - level) * (self.terms_of(at)[term] - mean);
            let square = mean_of(&|k, at| product(k, at).powi(2));
            let told = total.sqrt() * mean_of(&product).abs() / square.sqrt();
            (self.variance(rows, term, total) > 1e-12 && told.is_finite()).then_some((term, told))
        };
        (0..self.width).filter_map(one).collect()
    }

    fn variance(&self, rows: &[usize], term: usize, total: f64) -> f64 {
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            rows.iter().map(|&at| self.weight[at] * of(self.terms_of(at)[term])).sum::<f64>()
        };
        let mean = sum(&|x| x) / total;
        sum(&|x| (x - mean).powi(2)) / total
    }

    /// How the skew turns, as the rows that count say: from the law that is chosen where it does not, and with one
    /// of these bases. `None` where no input has a say in it.
    pub(super) fn learn(
        &self,
        law: &Law,
        bases: &[Base],
        counts: &dyn Fn(usize) -> bool,
    ) -> Option<Learned> {
        let rows: Vec<usize> = (0..self.rows.len()).filter(|at| counts(self.rows[*at])).collect();
        let mut told = self.told(&rows, law);
        told.retain(|(_, told)| *told > TELLING);
        told.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        told.truncate(MOST_TERMS);
        if told.is_empty() {
            return None;
        }
        let total: f64 = rows.iter().map(|&at| self.weight[at]).sum();
        let chosen: Vec<(usize, f64, f64)> = (told.iter())
            .map(|(term, _)| {
                let own = rows.iter().map(|&at| self.weight[at] * self.terms_of(at)[*term]);
                (*term, own.sum::<f64>() / total, self.variance(&rows, *term, total).sqrt())
            })
            .collect();
        // In units of their deviations, in which priors are the same for all.
        let values = |&at: &usize| {
            let terms = self.terms_of(at);
            chosen.iter().map(|(term, mean, deviation)| (terms[*term] - mean) / deviation)
        };
        let problem = Problem {
            values: rows.iter().flat_map(values).collect(),
            z: rows.iter().map(|&at| self.z[at]).collect(),
            weight: rows.iter().map(|&at| self.weight[at]).collect(),
        };
        let mut start = coefficients_of(law).to_vec();
        start.resize(FIRST + chosen.len(), 0.0);
        let best = |tried: &mut dyn Iterator<Item = (Base, f64, &[f64])>| {
            let found = tried.filter_map(|(base, prior, start)| {
                let (cost, x) = problem.likeliest(base, prior, start)?;
                Some((cost, base, x))
            });
            found.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let (_, base, near) = best(&mut bases.iter().map(|base| (*base, SLOPES[1], &start[..])))?;
        let (_, _, x) = best(&mut SLOPES.iter().map(|prior| (base, *prior, &near[..])))?;
        // Back to the terms as they are.
        let order_two = chosen.iter().any(|(term, ..)| *term >= self.columns);
        let mut slopes = vec![0.0; if order_two { self.width } else { self.columns }];
        let mut level = x[2];
        for ((term, mean, deviation), slope) in chosen.iter().zip(&x[FIRST..]) {
            slopes[*term] = slope / deviation;
            level -= slope / deviation * mean;
        }
        let skews = rows.iter().map(|&at| level + dot(&slopes, &self.terms_of(at)[..slopes.len()]));
        let (least, most) = skews
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), skew| {
                (least.min(skew), most.max(skew))
            });
        let [least, most] = [least, most].map(|end| end.clamp(-FARTHEST, FARTHEST));
        if most - least < 1e-6 {
            return None;
        }
        let skew = Polynomial::new(self.scaling.clone(), level, slopes);
        let deviation = x[1].exp();
        let turning = Turning::new(skew, least, most, base, x[0] / deviation);
        Some(Learned { law: law_of(base, &x[..FIRST]).0, turning })
    }
}

/// Mean, logarithm of the standard deviation, and that of the ratio of the sides.
fn coefficients_of(law: &Law) -> [f64; FIRST] {
    [law.mean(), law.standard_deviation().ln(), (law.right / law.left).ln()]
}

/// The slopes of the log score in mean, logarithm of the standard deviation and skew.
struct Slopes {
    mean: f64,
    size: f64,
    skew: f64,
}

impl Slopes {
    fn of(law: &Law, by_skew: [f64; 2], z: f64) -> Self {
        Self::and_score(law, by_skew, z).0
    }

    fn and_score(law: &Law, by_skew: [f64; 2], z: f64) -> (Self, f64) {
        let (score, slope) = log_score(law, z, Bounds::default());
        // With the mean held, the mode moves by this when a side grows.
        let by_mean = 2.0 * law.base.half_mean_distance();
        let left = law.left * (slope.left + by_mean * slope.location);
        let right = law.right * (slope.right - by_mean * slope.location);
        let skew = left * by_skew[0] + right * by_skew[1];
        (Self { mean: slope.location, size: left + right, skew }, score)
    }
}

/// Errors, and the values of terms, centred and of a variance of one.
struct Problem {
    /// Row after row.
    values: Vec<f64>,
    z: Vec<f64>,
    weight: Vec<f64>,
}

impl Problem {
    /// The likeliest coefficients with a base and a prior deviation of slopes, and minus the logarithm of how
    /// probable they make the rows.
    fn likeliest(&self, base: Base, prior: f64, start: &[f64]) -> Option<(f64, Vec<f64>)> {
        let size = start.len();
        let mut priors = vec![prior; size];
        priors[..FIRST].copy_from_slice(&[PLACE, PLACE, SKEW]);
        let mut centre = vec![0.0; size];
        centre[..2].copy_from_slice(&start[..2]);
        let prior_of = |x: &[f64]| -> f64 {
            let off = x.iter().zip(&centre).zip(&priors);
            off.map(|((x, centre), prior)| 0.5 * ((x - centre) / prior).powi(2)).sum()
        };
        let skew = |x: &[f64], row: usize| {
            let count = size - FIRST;
            x[2] + dot(&x[FIRST..], &self.values[row * count..(row + 1) * count])
        };
        let rows = 0..self.z.len();
        let cost = |x: &[f64]| -> Option<f64> {
            let mut sum = prior_of(x);
            for row in rows.clone() {
                let skew = skew(x, row);
                if skew.is_nan() || skew.abs() > 2.0 * FARTHEST {
                    return None;
                }
                let (law, _) = law_of(base, &[x[0], x[1], skew]);
                sum += self.weight[row] * log_score(&law, self.z[row], Bounds::default()).0;
            }
            sum.is_finite().then_some(sum)
        };
        let mut x = start.to_vec();
        let mut here = cost(&x)?;
        let mut row_slopes = vec![0.0; size];
        let mut curved = None;
        for _ in 0..STEPS {
            // In units of the priors; the curvature by the squares of the slopes of rows.
            let mut gradient: Vec<f64> =
                (0..size).map(|k| (x[k] - centre[k]) / priors[k]).collect();
            let mut squares = vec![0.0; size * size];
            for row in rows.clone() {
                let (law, by_skew) = law_of(base, &[x[0], x[1], skew(&x, row)]);
                let slopes = Slopes::of(&law, by_skew, self.z[row]);
                row_slopes[..2].copy_from_slice(&[slopes.mean, slopes.size]);
                row_slopes[2] = slopes.skew;
                let count = size - FIRST;
                let values = &self.values[row * count..(row + 1) * count];
                let by_terms = row_slopes[FIRST..].iter_mut().zip(values);
                by_terms.for_each(|(slope, value)| *slope = slopes.skew * value);
                row_slopes.iter_mut().zip(&priors).for_each(|(slope, prior)| *slope *= prior);
                let weight = self.weight[row];
                for (k, slope) in row_slopes.iter().enumerate() {
                    gradient[k] += weight * slope;
                    let line = &mut squares[k * size..k * size + k + 1];
                    let both = line.iter_mut().zip(&row_slopes);
                    both.for_each(|(square, other)| *square += weight * slope * other);
                }
            }
            let curvature = Cholesky::one_plus(size, squares);
            let mut step = gradient.clone();
            curvature.solve(&mut step);
            let fall = dot(&step, &gradient);
            curved = Some(curvature);
            if fall.is_nan() || fall < ENOUGH {
                break;
            }
            let mut length = 1.0;
            let next = loop {
                let next: Vec<f64> =
                    (0..size).map(|k| x[k] - length * step[k] * priors[k]).collect();
                match cost(&next) {
                    Some(there) if there <= here - 1e-4 * length * fall => {
                        here = there;
                        break Some(next);
                    }
                    _ if length < 1e-3 => break None,
                    _ => length *= 0.5,
                }
            };
            match next {
                Some(next) => x = next,
                None => break,
            }
        }
        // As probable as the law says, whose top may have been rounded off for the search.
        let exact: f64 = rows
            .map(|row| {
                let (law, _) = law_of(base, &[x[0], x[1], skew(&x, row)]);
                -self.weight[row] * law.log_density(self.z[row])
            })
            .sum();
        let evidence = exact + prior_of(&x) + curved?.half_log_determinant();
        evidence.is_finite().then_some((evidence, x))
    }
}

impl Turning {
    /// With laws of a base and a mean, in units of sigma.
    fn new(skew: Polynomial, least: f64, most: f64, base: Base, mean: f64) -> Self {
        let rung = |k: usize| least + (most - least) * k as f64 / (RUNGS - 1) as f64;
        let laws = (0..RUNGS).map(|k| law_of(base, &[mean, 0.0, rung(k)]).0.into()).collect();
        Self { skew, least, most, laws }
    }

    /// The logarithm of the right side of the law over its left one, before it is held and rounded.
    #[must_use]
    pub fn skew(&self) -> &Polynomial {
        &self.skew
    }

    /// The laws, in units of sigma, and the skews of the first and of the last; those of the others lie evenly
    /// between.
    #[must_use]
    pub fn laws(&self) -> (&[ErrorLaw], f64, f64) {
        (&self.laws, self.least, self.most)
    }

    /// Which of the laws a row of inputs has.
    #[must_use]
    pub fn rung(&self, row: &[f64]) -> usize {
        self.nearest(self.skew.at(row))
    }

    /// Which of the laws has about this skew.
    #[must_use]
    pub fn nearest(&self, skew: f64) -> usize {
        let last = (self.laws.len() - 1) as f64;
        let place = (skew.clamp(self.least, self.most) - self.least) / (self.most - self.least);
        ((last * place + 0.5).floor() as usize).min(self.laws.len() - 1)
    }

    /// How far the skew goes, and with which inputs.
    #[must_use]
    pub fn explain(&self, names: &[String]) -> String {
        let reach = |skew: f64| {
            let ratio = significant(skew.abs().exp(), 2);
            match skew {
                skew if skew < -0.05 => format!("{ratio} times as far below as above"),
                skew if skew > 0.05 => format!("{ratio} times as far above as below"),
                _ => "as far above as below".into(),
            }
        };
        let mut effects = self.effects();
        effects.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let largest = effects.first().map_or(0.0, |(_, effect, _)| effect.abs());
        effects.retain(|(_, effect, _)| effect.abs() >= 0.3 * largest && largest > 0.0);
        effects.truncate(3);
        let told = |(column, effect, bends): &(usize, f64, bool)| {
            let name = names.get(*column).map_or("an input", String::as_str);
            let place = match (bends, *effect > 0.0) {
                (false, true) => "large",
                (false, false) => "small",
                (true, true) => "far from its middle",
                (true, false) => "near its middle",
            };
            format!("{name} is {place}")
        };
        let places: Vec<String> = effects.iter().map(told).collect();
        let most = match places.is_empty() {
            true => String::new(),
            false => format!(", more to the upper side where {}", places.join(" and ")),
        };
        format!(
            "from errors that reach {} to such that reach {}{most}",
            reach(self.least),
            reach(self.most)
        )
    }

    /// For each input by how much the skew rises across its range, the others in the middle of theirs; or, where
    /// that is more, by how much from the middle to its ends.
    fn effects(&self) -> Vec<(usize, f64, bool)> {
        let (linear, quadratic) = (self.skew.linear(), self.skew.quadratic());
        let one = |(column, slope): (usize, &f64)| {
            // The square of an input comes last among its products with those before it.
            let square = quadratic.get(column * (column + 3) / 2).copied().unwrap_or(0.0);
            match (2.0 * slope, square) {
                (rise, square) if square.abs() > rise.abs() => (column, square, true),
                (rise, _) => (column, rise, false),
            }
        };
        linear.iter().enumerate().map(one).collect()
    }

    /// Whether one that was read can be used beside so many inputs.
    pub(super) fn check(&self, columns: usize) -> std::result::Result<(), &'static str> {
        let reach = if self.skew.columns() == columns { self.skew.check()? } else { f64::NAN };
        let held = self.least.abs() <= FARTHEST && self.most.abs() <= FARTHEST;
        let whole = self.laws.len() >= 2 && self.laws.len() <= 1000 && self.least < self.most;
        match reach.is_finite() && held && whole && self.laws.iter().all(ErrorLaw::is_unit) {
            true => Ok(()),
            false => Err("the skew of its errors does not fit its inputs"),
        }
    }
}
