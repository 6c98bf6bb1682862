//! Chooses, once per process, the widest instructions the processor has, and runs a loop with them.
//!
//! A loop is written once, as a [`Kernel`] generic over its [`Arithmetic`]. [`dispatch`] compiles
//! it three times and calls the best one: the compiler does the vectorising, since all that the
//! loop inlines is free of branches.
//!
//! The two fused levels execute the same operations on each element, so that they give the same
//! bits; the portable level differs from them in the last place.

use std::sync::atomic::{AtomicU8, Ordering};

/// What the levels do differently: whether `a*b + c` is rounded once or twice.
pub(crate) trait Arithmetic: Copy {
    /// `a*b + c`, rounded once if the level can.
    fn mul_add(a: f64, b: f64, c: f64) -> f64;

    /// `x*x - h` without rounding, for `h` the rounded square of `x` (barring overflow and
    /// underflow).
    fn square_residual(x: f64, h: f64) -> f64;
}

/// Fused multiply-add. Only for functions compiled with it: elsewhere it is a slow library call.
#[derive(Clone, Copy)]
pub(crate) struct Fused;

/// No fused multiply-add.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Arithmetic for Fused {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn square_residual(x: f64, h: f64) -> f64 {
        x.mul_add(x, -h)
    }
}

impl Arithmetic for Plain {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }

    /// Dekker's product, with Veltkamp's splitting of `x` into two halves of 26 bits.
    #[inline(always)]
    fn square_residual(x: f64, h: f64) -> f64 {
        let c = 134_217_729.0 * x; // 2^27 + 1
        let high = c - (c - x);
        let low = x - high;
        ((high * high - h) + 2.0 * high * low) + low * low
    }
}

/// A loop to be compiled for every level. Implementations mark `run` with `#[inline(always)]`,
/// since only what is inlined is compiled with the instructions of the level.
pub(crate) trait Kernel {
    /// What the loop returns.
    type Output;

    /// The loop.
    fn run<A: Arithmetic>(self) -> Self::Output;
}

/// A set of instructions, public for the tests only.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What every processor of the target has.
    Portable,
    /// x86-64 with AVX2 and FMA: four numbers at a time.
    Avx2,
    /// x86-64 with AVX-512 F, DQ and VL: eight numbers at a time.
    Avx512,
}

/// The arithmetic of the portable level. aarch64 always has fused multiply-add.
#[cfg(any(target_arch = "aarch64", target_feature = "fma"))]
type Baseline = Fused;
#[cfg(not(any(target_arch = "aarch64", target_feature = "fma")))]
type Baseline = Plain;

impl Level {
    /// The levels this processor supports, the best one last.
    pub fn available() -> Vec<Level> {
        [Level::Portable, Level::Avx2, Level::Avx512]
            .into_iter()
            .filter(|level| level.is_supported())
            .collect()
    }

    /// Whether the level rounds `a*b + c` once.
    pub fn is_fused(self) -> bool {
        self != Level::Portable || cfg!(any(target_arch = "aarch64", target_feature = "fma"))
    }

    #[cfg(target_arch = "x86_64")]
    fn is_supported(self) -> bool {
        let avx2 = || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match self {
            Level::Portable => true,
            Level::Avx2 => avx2(),
            Level::Avx512 => {
                avx2()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_supported(self) -> bool {
        self == Level::Portable
    }

    /// The level in use: the best one of this processor, looked up once.
    fn in_use() -> Level {
        match IN_USE.load(Ordering::Relaxed) {
            0 => Level::Portable,
            1 => Level::Avx2,
            2 => Level::Avx512,
            _ => {
                let best = Level::available().last().copied().unwrap_or(Level::Portable);
                IN_USE.store(best as u8, Ordering::Relaxed);
                best
            }
        }
    }

    /// Makes the whole process use this level from now on, if the processor has it: for tests that
    /// hold every level to the same references.
    pub fn put_in_use(self) {
        if self.is_supported() {
            IN_USE.store(self as u8, Ordering::Relaxed);
        }
    }
}

/// The level in use, once it is known.
static IN_USE: AtomicU8 = AtomicU8::new(u8::MAX);

/// Runs the loop with the best instructions of this processor.
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    match Level::in_use() {
        // SAFETY: `in_use` names only levels that the processor supports.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { run_avx512(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { run_avx2(kernel) },
        _ => kernel.run::<Baseline>(),
    }
}

/// Runs the loop at a given level, or at the portable one where the processor lacks it.
pub(crate) fn dispatch_at<K: Kernel>(level: Level, kernel: K) -> K::Output {
    match level {
        // SAFETY: the guard asks the processor.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if level.is_supported() => unsafe { run_avx512(kernel) },
        // SAFETY: the guard asks the processor.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_supported() => unsafe { run_avx2(kernel) },
        _ => kernel.run::<Baseline>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Fused>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Both are exact, so they are equal.
        #[test]
        fn residuals_need_no_fused_arithmetic(large in -1e100..1e100_f64, x in -30.0..30.0_f64) {
            for x in [large, x] {
                let h = x * x;
                prop_assert_eq!(Plain::square_residual(x, h), Fused::square_residual(x, h));
            }
        }
    }
}
