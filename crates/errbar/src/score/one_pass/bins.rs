//! Numbers of any size in bins that are narrow beside what they hold: so many to each doubling.

use crate::math::{Arithmetic, Kernel, dispatch, exp_kernel};
use crate::score::block::Sum;
use crate::score::calibration::SpreadSkillBin;
use crate::score::crps::{SQRT_2_OVER_PI, crps};

/// Bins for numbers from zero on, $2^b$ to each doubling; those of a doubling are made when something falls there.
#[derive(Debug, Clone)]
pub(crate) struct LogBins<const K: usize> {
    bits: u32,
    doublings: Vec<Option<Box<[[f64; K]]>>>,
}

impl<const K: usize> LogBins<K> {
    pub(crate) fn new(bits: u32) -> Self {
        Self { bits, doublings: vec![None; 1 << 11] }
    }

    /// The bin of a number that is finite and not negative.
    #[inline]
    fn bin(&mut self, value: f64) -> &mut [f64; K] {
        let bits = value.to_bits();
        let (doubling, place) = ((bits >> 52) as usize & 0x7ff, bits >> (52 - self.bits));
        let place = place as usize & ((1 << self.bits) - 1);
        let made = || vec![[0.0; K]; 1 << self.bits].into_boxed_slice();
        &mut self.doublings[doubling].get_or_insert_with(made)[place]
    }

    /// What the numbers of a doubling are measured in: its beginning.
    #[inline]
    fn unit(value: f64) -> f64 {
        f64::from_bits((value.to_bits() & (0x7ff << 52)).max(1 << 52))
    }

    /// A number in this unit.
    #[inline]
    fn scaled(value: f64) -> f64 {
        match value.to_bits() >> 52 {
            0 => value / f64::MIN_POSITIVE,
            _ => f64::from_bits(value.to_bits() & ((1 << 52) - 1) | 1023 << 52),
        }
    }

    /// All bins of doublings that were made, from small to large, each with its unit.
    fn bins(&self) -> impl DoubleEndedIterator<Item = (f64, &[f64; K])> {
        self.doublings
            .iter()
            .enumerate()
            .filter_map(|(doubling, bins)| {
                let unit = f64::from_bits((doubling as u64).max(1) << 52);
                bins.as_ref().map(move |bins| bins.iter().map(move |bin| (unit, bin)))
            })
            .flatten()
    }

    fn merge(&mut self, other: &Self, join: impl Fn(&mut [f64; K], &[f64; K])) {
        for (mine, theirs) in self.doublings.iter_mut().zip(&other.doublings) {
            let Some(theirs) = theirs else { continue };
            match mine {
                None => *mine = Some(theirs.clone()),
                Some(mine) => mine.iter_mut().zip(theirs).for_each(|(a, b)| join(a, b)),
            }
        }
    }
}

/// Bins to a doubling of errors, as a power of two.
const ERROR_BITS: u32 = 8;

/// Errors in bins by size and sign: in each the weight, and the weighted sums of the size and its square.
#[derive(Debug, Clone)]
pub(crate) struct ErrorBins {
    below: LogBins<3>,
    above: LogBins<3>,
    /// The weight of errors that are zero.
    zero: Sum,
    /// The least size that is not zero, and the largest.
    least: f64,
    largest: f64,
}

impl Default for ErrorBins {
    fn default() -> Self {
        let new = || LogBins::new(ERROR_BITS);
        let (least, largest) = (f64::INFINITY, 0.0);
        Self { below: new(), above: new(), zero: Sum::default(), least, largest }
    }
}

/// The weight of a bin, and the mean and standard deviation of the sizes in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    pub(crate) weight: f64,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Moments {
    fn of(unit: f64, [weight, sum, squares]: [f64; 3]) -> Self {
        let mean = sum / weight;
        let variance = (squares / weight - mean * mean).max(0.0);
        Self { weight, mean: unit * mean, deviation: unit * variance.sqrt() }
    }

    /// The mean CRPS of the errors with one sigma for all, to the second order in their spread.
    pub(crate) fn crps(&self, sigma: f64) -> f64 {
        let z = self.mean / sigma;
        let density = 0.5 * SQRT_2_OVER_PI * (-0.5 * z * z).exp();
        crps(self.mean, sigma) + density * (self.deviation * (self.deviation / sigma))
    }
}

impl ErrorBins {
    #[inline]
    pub(crate) fn add(&mut self, error: f64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        let size = error.abs();
        if size == 0.0 {
            self.zero.add(weight);
            return;
        }
        self.least = self.least.min(size);
        self.largest = self.largest.max(size);
        let side = if error < 0.0 { &mut self.below } else { &mut self.above };
        let scaled = LogBins::<3>::scaled(size);
        let [weights, sum, squares] = side.bin(size);
        *weights += weight;
        *sum += weight * scaled;
        *squares += weight * (scaled * scaled);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let join = |a: &mut [f64; 3], b: &[f64; 3]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        self.below.merge(&other.below, join);
        self.above.merge(&other.above, join);
        self.zero.merge(other.zero);
        self.least = self.least.min(other.least);
        self.largest = self.largest.max(other.largest);
    }

    /// The bins with something in them, from the lowest to the highest error; those of zero in between.
    fn moments(&self) -> impl Iterator<Item = (f64, Moments)> {
        let of = |sign: f64| {
            move |(unit, bin): (f64, &[f64; 3])| {
                (bin[0] > 0.0).then(|| (sign, Moments::of(unit, *bin)))
            }
        };
        let zero = Moments { weight: self.zero.value(), mean: 0.0, deviation: 0.0 };
        let zero = (zero.weight > 0.0).then_some((1.0, zero));
        let below = self.below.bins().rev().filter_map(of(-1.0));
        below.chain(zero).chain(self.above.bins().filter_map(of(1.0)))
    }

    /// $\tfrac12 E|\varepsilon - \varepsilon^\prime|$. Pairs in different bins are exact; those of one bin of standard deviation
    /// s differ by $2s/\sqrt3$ on average, as they would if they lay evenly.
    pub(crate) fn half_mean_difference(&self, total: f64) -> f64 {
        let (mut below, mut sum_below, mut pairs) =
            (Sum::default(), Sum::default(), Sum::default());
        for (sign, Moments { weight, mean, deviation }) in self.moments() {
            let (share, sum) = (weight / total, sign * mean * (weight / total));
            pairs.add(sum * below.value());
            pairs.add(-share * sum_below.value());
            pairs.add(share * share * (deviation / 3f64.sqrt()));
            below.add(share);
            sum_below.add(sum);
        }
        pairs.value().max(0.0)
    }

    /// The share of the weight without any error, and the least and largest size of others.
    pub(crate) fn extremes(&self, total: f64) -> (f64, f64, f64) {
        (self.zero.value() / total, self.least, self.largest)
    }

    /// The mean of $e^{-z^2/2}$ with one sigma for all, and its derivative in $\ln\sigma$.
    pub(crate) fn mean_exponential(&self, sigma: f64, total: f64) -> (f64, f64) {
        let (mut value, mut slope) = (Sum::default(), Sum::default());
        for (_, Moments { weight, mean, deviation }) in self.moments() {
            let z = (mean / sigma).min(40.0);
            let at = dispatch(Exp(-0.5 * z * z));
            let spread = 0.5 * (z * z - 1.0) * (deviation / sigma).powi(2);
            value.add(weight / total * (at * (1.0 + spread)));
            slope.add(weight / total * (z * z * at));
        }
        (value.value(), slope.value())
    }

    /// The mean CRPS with one sigma for all.
    pub(crate) fn mean_crps(&self, sigma: f64, total: f64) -> f64 {
        let mut sum = Sum::default();
        self.moments().for_each(|(_, bin)| sum.add(bin.weight / total * bin.crps(sigma)));
        sum.value()
    }
}

struct Exp(f64);

impl Kernel for Exp {
    type Output = f64;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        exp_kernel::<A>(self.0)
    }
}

/// Squares beyond $2^{\pm 1000}$ are kept in units of this.
const FAR: f64 = 4.149_515_568_880_993e180;
/// $2^{500}$
const LARGE: f64 = 3.273_390_607_896_142e150;

/// Rows in bins by sigma, with what spread and skill are made of: the weight, the rows, the squares of sigma (in units of the
/// bin's doubling), those of errors (near, far too large and far too small ones), and the least and the largest sigma.
#[derive(Debug, Clone)]
pub(crate) struct SigmaBins(LogBins<8>);

impl SigmaBins {
    /// With so many bins to a doubling, as a power of two: the edges of a tenth of the rows are off by a share of that.
    pub(crate) fn new(bits: u32) -> Self {
        Self(LogBins::new(bits))
    }

    #[inline]
    pub(crate) fn add(&mut self, error: f64, sigma: f64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        let scaled = LogBins::<8>::scaled(sigma);
        let size = error.abs();
        let bin = self.0.bin(sigma);
        bin[0] += weight;
        bin[1] += 1.0;
        bin[2] += weight * (scaled * scaled);
        match size {
            _ if (1.0 / LARGE..=LARGE).contains(&size) || size == 0.0 => {
                bin[3] += weight * (size * size)
            }
            _ if size > LARGE => bin[4] += weight * (size / FAR).powi(2),
            _ => bin[5] += weight * (size * FAR).powi(2),
        }
        // Zero where there is none yet: no sigma is.
        bin[6] = if bin[6] == 0.0 { sigma } else { bin[6].min(sigma) };
        bin[7] = bin[7].max(sigma);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0, |a, b| {
            a[..6].iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a[6] = if a[6] == 0.0 || b[6] == 0.0 { a[6].max(b[6]) } else { a[6].min(b[6]) };
            a[7] = a[7].max(b[7]);
        });
    }

    /// [`spread_skill`](crate::score::calibration::spread_skill), with the rows of a bin together as if their sigmas were one.
    pub(crate) fn spread_skill(&self, bins: usize, total: f64) -> Vec<SpreadSkillBin> {
        let mut parts: Vec<(usize, Part)> = Vec::new();
        let mut before = 0.0;
        for (unit, bin) in self.0.bins().filter(|(_, bin)| bin[0] > 0.0) {
            let middle = (before + 0.5 * bin[0]) / total;
            let number = ((middle * bins as f64) as usize).min(bins - 1);
            before += bin[0];
            match parts.last_mut() {
                Some((last, part)) if *last == number => part.add(unit, bin),
                _ => parts.push((number, Part::of(unit, bin))),
            }
        }
        parts.into_iter().map(|(_, part)| part.finish()).collect()
    }
}

/// Bins of sigma put together.
struct Part {
    weight: f64,
    rows: f64,
    /// The squares of sigma, in units of the largest.
    spread: f64,
    unit: f64,
    skill: [f64; 3],
    from: f64,
    to: f64,
}

impl Part {
    fn of(unit: f64, bin: &[f64; 8]) -> Self {
        let (skill, from, to) = ([bin[3], bin[4], bin[5]], bin[6], bin[7]);
        Self { weight: bin[0], rows: bin[1], spread: bin[2], unit, skill, from, to }
    }

    fn add(&mut self, unit: f64, bin: &[f64; 8]) {
        // Units rise.
        self.spread = self.spread * (self.unit / unit).powi(2) + bin[2];
        self.unit = unit;
        self.weight += bin[0];
        self.rows += bin[1];
        self.skill.iter_mut().zip(&bin[3..6]).for_each(|(a, b)| *a += b);
        self.to = bin[7];
    }

    fn finish(self) -> SpreadSkillBin {
        let root = |sum: f64| (sum / self.weight).sqrt();
        let [near, large, small] = self.skill.map(root);
        SpreadSkillBin {
            rows: self.rows as usize,
            sigma_from: self.from,
            sigma_to: self.to,
            spread: self.unit * root(self.spread),
            skill: (large * FAR).hypot(near).hypot(small / FAR),
        }
    }
}

/// Sizes of errors in a few bins, one to a doubling, for each of many parts of the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coarse {
    /// Where the first doubling begins.
    first: f64,
}

impl Coarse {
    /// Doublings; smaller errors share the first bin, larger ones the last.
    pub(crate) const BINS: usize = 16;

    /// Around errors of this size.
    pub(crate) fn around(size: f64) -> Self {
        let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        Self { first: LogBins::<1>::unit(size) / 64.0 }
    }

    /// The bin of a size, and its unit.
    #[inline]
    pub(crate) fn bin(&self, size: f64) -> usize {
        let steps = (size.to_bits() >> 52) as i64 - (self.first.to_bits() >> 52) as i64;
        steps.clamp(0, Self::BINS as i64 - 1) as usize
    }

    /// What sizes are measured in.
    #[inline]
    pub(crate) fn scaled(&self, size: f64) -> f64 {
        size / self.first
    }

    /// The summed CRPS with one sigma for all, given the sums in each bin.
    pub(crate) fn crps(&self, sums: &[f64], sigma: f64) -> f64 {
        let bins = sums.chunks_exact(3).filter(|bin| bin[0] > 0.0);
        bins.map(|bin| bin[0] * Moments::of(self.first, [bin[0], bin[1], bin[2]]).crps(sigma)).sum()
    }
}
