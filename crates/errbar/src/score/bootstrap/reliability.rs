//! The Reliability Score of a resample, without sorting it.

use std::f64::consts::FRAC_1_SQRT_2;

use rand::Rng;

use super::resample::Plan;
use super::sums::{FIXED, ORDERLESS, UnitSums, WEIGHT};
use crate::math::erf;
use crate::score::ranking::Ranking;
use crate::score::reliability::CONSTANT;
use crate::score::sample::Sample;

/// How RS is found again and again.
pub(super) enum Reliability {
    /// From the sorted rows.
    Sorted(Sorted),
    /// From the distribution at some nodes.
    Nodes(Nodes),
}

/// The rows in order of $\eta$, sorted once:
///
/// $$\mathrm{RS} = \frac1W\sum\_i w\_i\Big[\eta\_i\operatorname{erf}\eta\_i +
/// \frac{e^{-\eta\_i^2}}{\sqrt\pi}\Big] - \sum\_i (\eta\_{i+1} - \eta\_i) C\_i (1 - C\_i) -
/// \frac1{\sqrt{2\pi}},$$
///
/// with $C\_i$ the share of the weight up to the i-th. Only $w$ changes from one resample to the
/// next, to the row's weight times how often it was drawn.
pub(super) struct Sorted {
    /// For each row in order: its unit, its weight, and the distance to the next.
    rows: Vec<(u32, f64, f64)>,
}

/// The distribution C of $\eta$ where it, or the one it should have, changes most:
///
/// $$\mathrm{RS} \approx \sum\_m \frac{h\_m}3\big[D\_m^2 + D\_m D\_{m+1} + D\_{m+1}^2\big], \qquad
/// D = \Phi - C,$$
///
/// exact where D is linear between nodes. What this leaves out is nearly the same in the sample and its
/// resamples. So the *difference* between the two is used, which is right to about 2% of its own
/// standard deviation, and added to the exact RS of the sample.
pub(super) struct Nodes {
    pub(super) eta: Vec<f64>,
    phi: Vec<f64>,
    /// The same sum for the sample.
    of_sample: f64,
    /// The exact RS of the sample.
    rs: f64,
}

impl Sorted {
    pub(super) fn new(sample: &Sample, plan: &Plan) -> Self {
        let eta: Vec<f64> = scaled(sample).collect();
        let weight = |row: usize| sample.weight().map_or(1.0, |w| w[row]);
        let mut ranking = Ranking::default();
        ranking.sort(&eta);
        // Rows without weight must not count even where they are infinite.
        let order = (0..eta.len()).map(|place| ranking.row(place));
        let order: Vec<usize> = order.filter(|&row| weight(row) > 0.0).collect();
        let next = order.iter().skip(1).chain(order.last());
        let row = |(&row, &next): (&usize, &usize)| {
            (plan.unit_of(row) as u32, weight(row), eta[next] - eta[row])
        };
        Self { rows: order.iter().zip(next).map(row).collect() }
    }

    fn of_resample(&self, sums: &[f64], counts: &[u32]) -> f64 {
        let total = sums[WEIGHT];
        let per_total = 1.0 / total;
        let (mut below, mut pairs) = (0.0, 0.0);
        for &(unit, weight, gap) in &self.rows {
            below += f64::from(counts[unit as usize]) * weight;
            let share = below * per_total;
            pairs += gap * (share * (1.0 - share));
        }
        sums[ORDERLESS] * per_total - pairs - CONSTANT.0
    }
}

impl Nodes {
    /// Chooses where to look: evenly over the distribution that $\eta$ should have, evenly over the
    /// one it has, and closer together in its tails. The latter come from rows drawn at random.
    pub(super) fn new(sample: &Sample, plan: &Plan) -> Self {
        const DRAWN: usize = 1 << 15;
        const EVEN: usize = 128;
        const EXPECTED: usize = 48;
        const REACH: f64 = 3.0;
        let mut random = plan.random(usize::MAX);
        let mut drawn: Vec<f64> = (0..DRAWN)
            .map(|_| ((u128::from(random.next_u64()) * plan.rows as u128) >> 64) as usize)
            .filter(|&row| sample.weight().is_none_or(|w| w[row] > 0.0))
            .map(|row| sample.error()[row] / sample.sigma()[row] * FRAC_1_SQRT_2)
            .filter(|eta| eta.is_finite())
            .collect();
        drawn.sort_unstable_by(f64::total_cmp);
        let mut eta: Vec<f64> =
            (0..=EXPECTED).map(|m| REACH * (2.0 * m as f64 / EXPECTED as f64 - 1.0)).collect();
        if let Some(last) = drawn.len().checked_sub(1) {
            eta.extend((0..=EVEN).map(|m| drawn[last * m / EVEN]));
            let mut place = 1;
            while place < last / EVEN {
                eta.extend([drawn[place], drawn[last - place]]);
                place = (place * 3).div_ceil(2);
            }
        }
        // Between the ends and the nodes beyond them nothing happens: the weight must not seem to
        // rise all the way.
        let finite = || scaled(sample).filter(|eta| eta.is_finite());
        let least = finite().fold(f64::INFINITY, f64::min);
        let largest = finite().fold(f64::NEG_INFINITY, f64::max);
        if least <= largest {
            eta.extend([least.next_down(), least, largest.next_down(), largest]);
        }
        eta.sort_unstable_by(f64::total_cmp);
        eta.dedup();
        Self::at(eta)
    }

    /// At these places, which rise.
    pub(super) fn at(eta: Vec<f64>) -> Self {
        let phi = eta.iter().map(|&eta| 0.5 * (1.0 + erf(eta))).collect();
        Self { eta, phi, of_sample: 0.0, rs: 0.0 }
    }

    /// Notes what the sample itself has, once its sums are known.
    pub(super) fn compare_with(&mut self, sums: &UnitSums, rs: f64) {
        self.of_sample = self.integral(&sums.of_all(), sums.levels);
        self.rs = rs;
    }

    fn integral(&self, sums: &[f64], levels: usize) -> f64 {
        let per_total = 1.0 / sums[WEIGHT];
        let weight = &sums[FIXED + levels..];
        let deviation = |m: usize| self.phi[m] - weight[m] * per_total;
        let (mut total, mut last) = (0.0, deviation(0));
        for m in 1..self.eta.len() {
            let next = deviation(m);
            let width = self.eta[m] - self.eta[m - 1];
            total += width * (last * last + last * next + next * next);
            last = next;
        }
        total / 3.0
    }
}

impl Reliability {
    /// RS of a resample, given its sums and how often it holds each unit.
    pub(super) fn of_resample(&self, sums: &[f64], levels: usize, counts: &[u32]) -> f64 {
        match self {
            Self::Sorted(sorted) => sorted.of_resample(sums, counts),
            Self::Nodes(nodes) => nodes.rs + (nodes.integral(sums, levels) - nodes.of_sample),
        }
    }
}

fn scaled(sample: &Sample) -> impl Iterator<Item = f64> {
    sample.error().iter().zip(sample.sigma()).map(|(error, sigma)| error / sigma * FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    use super::super::sums::{TOGETHER, Terms};
    use super::*;
    use crate::monitor::Silent;
    use crate::score::reliability::reliability;

    /// RS by its definition on the resample written out, and by both ways here.
    fn three_ways(error: &[f64], sigma: &[f64], weight: Option<&[f64]>) -> Vec<[f64; 3]> {
        let sample = Sample::new(error, sigma).unwrap().maybe_weighted(weight).unwrap();
        let plan = Plan::new(sample.len(), 1, 4);
        let sorted = Sorted::new(&sample, &plan);
        let mut nodes = Nodes::new(&sample, &plan);
        let terms =
            Terms { levels: &[0.5], constant: 1.0, scale: 1.0, nodes: &nodes.eta, own: None };
        let sums = UnitSums::new(&sample, &plan, &terms, &Silent).unwrap();
        nodes.compare_with(&sums, reliability(&sample));
        let (sorted, nodes) = (Reliability::Sorted(sorted), Reliability::Nodes(nodes));
        let mut counts = vec![0; plan.units];
        let resample = |replicate| {
            plan.draw(&mut plan.random(replicate), &mut counts);
            let by_unit: Vec<_> = counts.iter().map(|&c| [f64::from(c); TOGETHER]).collect();
            let [sums, ..] = sums.of_resamples(&by_unit);
            let drawn: Vec<f64> = counts
                .iter()
                .enumerate()
                .map(|(row, &c)| f64::from(c) * weight.map_or(1.0, |w| w[row]))
                .collect();
            let drawn = Sample::new(error, sigma).unwrap().weighted(&drawn).unwrap();
            [
                reliability(&drawn),
                sorted.of_resample(&sums, 1, &counts),
                nodes.of_resample(&sums, 1, &counts),
            ]
        };
        (0..100).map(resample).collect()
    }

    fn normal(rows: usize, seed: u64) -> Vec<f64> {
        let mut random = Pcg64::seed_from_u64(seed);
        (0..rows).map(|_| StandardNormal.sample(&mut random)).collect()
    }

    /// The sorted way is exact. The nodes' differences from the sample are right to a few percent of
    /// their own spread.
    #[test]
    fn resamples_have_the_score_of_their_definition() {
        let rows = 3000;
        let weight: Vec<f64> = (0..rows).map(|i| f64::from(i % 4)).collect();
        for (size, shift, weighted) in [
            (1.0, 0.0, false),
            (1.5, 0.0, true),
            (0.01, 0.0, false),
            (300.0, 0.2, false),
            (1.0, 0.3, true),
        ] {
            let error: Vec<f64> =
                normal(rows as usize, 7).iter().map(|z| size * z + shift).collect();
            let sigma = vec![1.0; rows as usize];
            let weight = weighted.then_some(&weight[..]);
            let found = three_ways(&error, &sigma, weight);
            let mean = found.iter().map(|f| f[0]).sum::<f64>() / 100.0;
            let spread = (found.iter().map(|f| (f[0] - mean).powi(2)).sum::<f64>() / 99.0).sqrt();
            let mut squares = 0.0;
            for [exact, sorted, nodes] in found {
                assert!((sorted - exact).abs() < 1e-12 * (1.0 + exact), "{sorted} for {exact}");
                squares += (nodes - exact).powi(2);
            }
            let off = (squares / 100.0).sqrt() / spread;
            assert!(off < 0.05, "size {size}, shift {shift}: off by {off} of the spread");
        }
    }
}
