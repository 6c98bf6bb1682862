//! Minimisation of smooth functions of many variables.
//!
//! One closure gives value and gradient together, and may say "infeasible" instead: the line search
//! then backs off. `bfgs` keeps a dense approximation of the inverse Hessian, for up to about a
//! thousand parameters; `lbfgs` remembers the last few steps only, for more. Both search along a
//! line by cubic interpolation until the strong Wolfe conditions hold.
//!
//! ```
//! use errbar::optimize::{bfgs, Options};
//!
//! // Rosenbrock's valley.
//! let mut x = vec![-1.2, 1.0];
//! let minimum = bfgs(&mut x, &Options::default(), |x, gradient| {
//!     let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
//!     gradient[0] = -2.0 * a - 400.0 * x[0] * b;
//!     gradient[1] = 200.0 * b;
//!     Some(a * a + 100.0 * b * b)
//! });
//! assert!(minimum.converged());
//! assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6);
//! ```

mod bfgs;
mod cubic_line_search;
mod descent;
mod lbfgs;
mod minimum;
#[cfg(test)]
mod tests;

pub use self::bfgs::{bfgs, bfgs_with};
pub use self::lbfgs::{lbfgs, lbfgs_with};
pub use minimum::{Minimum, Options, Step, Stop};
