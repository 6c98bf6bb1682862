//! Scaled errors in fine bins, which can be merged: their order, as far as bins tell it.

use serde::{Deserialize, Serialize};

use super::block::Sum;
use super::json::{self, Number};

/// Bins of width $2^{-10}$ up to 4.
const FINE: usize = 4096;
const FINE_TO: f64 = 4.0;
/// Then 64 bins to each doubling, up to $2^{20}$; what lies beyond shares the last bin.
const PER_DOUBLING: usize = 64;
const DOUBLINGS: usize = 18;
const SIDE: usize = FINE + DOUBLINGS * PER_DOUBLING + 1;

/// For each bin of $\eta$: the weight, the weighted sum of $\eta$ and the sum of squared weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EtaCounts {
    #[serde(deserialize_with = "json::exactly::<_, _, { 2 * SIDE }>")]
    weight: Vec<Sum>,
    #[serde(deserialize_with = "json::exactly::<_, _, { 2 * SIDE }>")]
    eta: Vec<Sum>,
    #[serde(deserialize_with = "json::exactly::<_, _, { 2 * SIDE }>")]
    weight_squared: Vec<f64>,
    /// The largest $|\eta|$ counted: how wide the last bins are.
    largest: Number,
}

impl Default for EtaCounts {
    fn default() -> Self {
        let bins = || vec![Sum::default(); 2 * SIDE];
        let weight_squared = vec![0.0; 2 * SIDE];
        Self { weight: bins(), eta: bins(), weight_squared, largest: 0.0.into() }
    }
}

impl EtaCounts {
    pub(crate) fn add(&mut self, eta: f64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        let bin = bin_of(eta);
        self.weight[bin].add(weight);
        self.eta[bin].add(weight * eta);
        self.weight_squared[bin] += weight * weight;
        self.largest = eta.abs().max(self.largest.into()).into();
    }

    /// The largest that was counted, and of each bin the weight, the weighted sum and the sum of squared weights.
    pub(crate) fn parts(&self) -> (f64, impl Iterator<Item = (Sum, Sum, f64)>) {
        let sums = self.weight.iter().zip(&self.eta).zip(&self.weight_squared);
        (self.largest.into(), sums.map(|((weight, eta), squares)| (*weight, *eta, *squares)))
    }

    /// Puts a bin there; `None` where there is no such bin.
    pub(crate) fn set(&mut self, bin: usize, weight: Sum, eta: Sum, squares: f64) -> Option<()> {
        *self.weight.get_mut(bin)? = weight;
        *self.eta.get_mut(bin)? = eta;
        *self.weight_squared.get_mut(bin)? = squares;
        Some(())
    }

    pub(crate) fn set_largest(&mut self, largest: f64) {
        self.largest = largest.into();
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let merge = |into: &mut [Sum], from: &[Sum]| {
            into.iter_mut().zip(from).for_each(|(into, from)| into.merge(*from));
        };
        merge(&mut self.weight, &other.weight);
        merge(&mut self.eta, &other.eta);
        for (into, from) in self.weight_squared.iter_mut().zip(&other.weight_squared) {
            *into += from;
        }
        self.largest = f64::from(self.largest).max(other.largest.into()).into();
    }

    /// $\sum\_{i<j} w\_i w\_j |\eta\_i - \eta\_j| / W^2$, and how far it can be from the exact value.
    ///
    /// Pairs in different bins are exact. The pairs of one bin of width h, weight c and squared
    /// weights q add up to something between 0 and $h\min(c^2/4, (c^2-q)/2)$; for values spread
    /// evenly over the bin it is $h(c^2 - q)/6$, which is what is put there.
    pub(crate) fn half_mean_difference(&self, total: f64) -> (f64, f64) {
        let (mut weight_below, mut eta_below) = (Sum::default(), Sum::default());
        let (mut pairs, mut slack) = (Sum::default(), 0.0);
        for bin in 0..2 * SIDE {
            let (c, s) = (self.weight[bin].value(), self.eta[bin].value());
            let q = self.weight_squared[bin];
            if c == 0.0 {
                continue;
            }
            let share = c / total;
            pairs.add(s / total * (weight_below.value() / total));
            pairs.add(-share * (eta_below.value() / total));
            weight_below.merge(self.weight[bin]);
            eta_below.merge(self.eta[bin]);
            let own = (share * share - q / total / total).max(0.0);
            if own > 0.0 {
                let width = self.width(bin);
                let (even, most) = (own / 6.0, (share * share / 4.0).min(own / 2.0));
                pairs.add(width * even);
                slack += width * even.max(most - even);
            }
        }
        (pairs.value(), slack)
    }

    fn width(&self, bin: usize) -> f64 {
        let place = if bin < SIDE { SIDE - 1 - bin } else { bin - SIDE };
        if place < FINE {
            return FINE_TO / FINE as f64;
        }
        let lower = |place: usize| {
            let (doubling, part) = ((place - FINE) / PER_DOUBLING, (place - FINE) % PER_DOUBLING);
            FINE_TO * 2f64.powi(doubling as i32) * (1.0 + part as f64 / PER_DOUBLING as f64)
        };
        if place == SIDE - 1 {
            f64::from(self.largest) - lower(place)
        } else {
            lower(place + 1) - lower(place)
        }
    }
}

/// How many bins there are.
pub(crate) const BINS: usize = 2 * SIDE;

/// Where a bin begins: what lies below is in bins before it. The first begins nowhere.
pub(crate) fn begin_of(bin: usize) -> f64 {
    let edge = |place: usize| match place {
        _ if place <= FINE => place as f64 * (FINE_TO / FINE as f64),
        _ => {
            let (doubling, part) = ((place - FINE) / PER_DOUBLING, (place - FINE) % PER_DOUBLING);
            FINE_TO * 2f64.powi(doubling as i32) * (1.0 + part as f64 / PER_DOUBLING as f64)
        }
    };
    match bin {
        0 => f64::NEG_INFINITY,
        _ if bin < SIDE => -edge(SIDE - bin),
        _ => edge(bin - SIDE),
    }
}

/// The bin of a scaled error: integer arithmetic on the bits, so that bins are in strict order.
#[inline]
pub(crate) fn bin_of(eta: f64) -> usize {
    let size = eta.abs();
    let place = if size < FINE_TO {
        (size * (FINE as f64 / FINE_TO)) as usize
    } else {
        // Exponent and the leading 6 bits of the fraction, counted from those of 4.
        let steps = (size.to_bits() >> 46) - (FINE_TO.to_bits() >> 46);
        FINE + (steps as usize).min(DOUBLINGS * PER_DOUBLING)
    };
    if eta < 0.0 { SIDE - 1 - place } else { SIDE + place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_in_order_and_as_wide_as_they_say() {
        let counts = EtaCounts { largest: 1e9.into(), ..EtaCounts::default() };
        let mut last = (bin_of(0.0), 0.0);
        let mut value = 1e-5;
        while value < 5e8 {
            let bin = bin_of(value);
            assert!(bin >= last.0, "{value} is in bin {bin}, {} in bin {}", last.1, last.0);
            if bin == last.0 {
                assert!(value - last.1 <= counts.width(bin) * (1.0 + 1e-12), "bin {bin}");
            } else {
                last = (bin, value);
            }
            assert_eq!(bin_of(-value), 2 * SIDE - 1 - bin);
            value *= 1.0001;
        }
        for bin in 1..BINS {
            assert!(begin_of(bin - 1) < begin_of(bin));
            assert_eq!(bin_of(begin_of(bin).next_up()), bin);
            assert_eq!(bin_of(begin_of(bin).next_down()), bin - 1, "{bin}");
        }
        assert_eq!(bin_of(f64::INFINITY), 2 * SIDE - 1);
        assert_eq!(bin_of(f64::NEG_INFINITY), 0);
    }
}
