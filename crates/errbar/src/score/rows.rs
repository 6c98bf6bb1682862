//! Scores that are a function of one row: their mean, their values and slopes row by row.

use super::block::{BLOCK, mean_blocks, rows_of, weighted_sum};
use super::sample::Sample;
use crate::math::{Arithmetic, Kernel, dispatch};

/// A score of one error with one sigma.
pub(crate) trait RowScore {
    /// The score with its derivatives with respect to sigma and to the forecast.
    fn at<A: Arithmetic>(error: f64, sigma: f64) -> At;
}

/// A score at one point.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) value: f64,
    pub(crate) dsigma: f64,
    pub(crate) dforecast: f64,
}

/// The score of one row.
pub(crate) fn one<S: RowScore>(error: f64, sigma: f64) -> At {
    dispatch(One::<S> { error, sigma, score: std::marker::PhantomData })
}

/// The weighted mean over a sample.
pub(crate) fn mean<S: RowScore>(sample: &Sample) -> f64 {
    mean_blocks(sample.len(), sample.total_weight(), |rows, part| {
        let mut buffer = [0.0; BLOCK];
        let values = &mut buffer[..rows.len()];
        let (error, sigma) = (&sample.error()[rows.clone()], &sample.sigma()[rows.clone()]);
        dispatch(Map { error, sigma, out: values, of: Value::<S>::default() });
        if part != 1.0 {
            values.iter_mut().for_each(|value| *value *= part);
        }
        weighted_sum(values, sample.weight().map(|w| &w[rows]))
    })
}

/// One number for every row, in order.
pub(crate) fn each<P: Pick>(sample: &Sample, of: P) -> Vec<f64> {
    let mut out = vec![0.0; sample.len()];
    for (block, out) in out.chunks_mut(BLOCK).enumerate() {
        let rows = rows_of(block, sample.len());
        let (error, sigma) = (&sample.error()[rows.clone()], &sample.sigma()[rows]);
        dispatch(Map { error, sigma, out, of });
    }
    out
}

/// Which number of a row is wanted.
pub(crate) trait Pick: Copy {
    fn pick<A: Arithmetic>(self, error: f64, sigma: f64) -> f64;
}

macro_rules! picks {
    ($($name:ident: $field:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub(crate) struct $name<S>(std::marker::PhantomData<S>);
        impl<S> Default for $name<S> {
            fn default() -> Self {
                Self(std::marker::PhantomData)
            }
        }
        impl<S> Clone for $name<S> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<S> Copy for $name<S> {}
        impl<S: RowScore> Pick for $name<S> {
            #[inline(always)]
            fn pick<A: Arithmetic>(self, error: f64, sigma: f64) -> f64 {
                S::at::<A>(error, sigma).$field
            }
        }
    )*};
}

picks! {
    Value: value, "The score.";
    Dsigma: dsigma, "Its derivative with respect to sigma.";
    Dforecast: dforecast, "Its derivative with respect to the forecast.";
}

struct One<S> {
    error: f64,
    sigma: f64,
    score: std::marker::PhantomData<S>,
}

impl<S: RowScore> Kernel for One<S> {
    type Output = At;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> At {
        S::at::<A>(self.error, self.sigma)
    }
}

struct Map<'a, P> {
    error: &'a [f64],
    sigma: &'a [f64],
    out: &'a mut [f64],
    of: P,
}

impl<P: Pick> Kernel for Map<'_, P> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for ((out, &error), &sigma) in self.out.iter_mut().zip(self.error).zip(self.sigma) {
            *out = self.of.pick::<A>(error, sigma);
        }
    }
}
