//! Predictive laws: the distribution that is put around a forecast.
//!
//! A law has a location, where the forecast is, and a scale, which the inputs decide. What it says of
//! an observation (how probable values beyond a threshold are, what it exceeds with a given
//! probability, how well it did) is here and nowhere else.
//!
//! There is one engine. A [`Base`] is a standard law: normal, logistic, Laplace, Student's t. A [`Law`]
//! puts its halves around a forecast, each with a scale of its own, and so may be skewed; a [`Censored`]
//! law keeps to [`Bounds`], which then have a probability of their own. Scores come with their
//! derivatives in location, scales and shape, for those who fit them. Beside it stands the
//! [`LogNormal`] law, for what is always positive, and the [`Curve`], of any shape; an [`ErrorLaw`] is one
//! of either kind for errors in units of their sigma.
//!
//! ```
//! use errbar::law::{Base, Bounds, Law};
//!
//! let wind = Law::new(Base::Logistic, 3.0, 1.0, 2.0);
//! let (score, gradient) = wind.crps_and_gradient(5.5);
//! // A step against the gradient scores better.
//! let better = Law { right: wind.right - 0.1 * gradient.right, ..wind };
//! assert!(better.crps(5.5) < score);
//!
//! let calm = wind.within(Bounds::new(Some(0.0), None).unwrap_or_default());
//! assert_eq!(calm.mass_at_lower(), wind.cdf(0.0));
//! ```
//!
//! # Accuracy
//!
//! The largest relative errors found against quadrature with 40 digits, over all bases (Student's t from
//! 1.5 to 3000 degrees of freedom), one scale and two, and values up to 180 scales from the mode:
//!
//! | | error |
//! |---|---|
//! | probabilities and their logarithms, both tails | 3e-14 |
//! | density | 1e-13 at 1e-235, of its logarithm 3e-16 |
//! | CRPS | 4e-15 |
//! | CRPS within bounds, also those much closer than the scales | 9e-15 |
//! | integrals of $F$ and $F^2$, both tails | 1e-14 |
//! | mean, variance | 2e-15 |
//! | $\Phi^{-1}(F)$ (absolute where it passes 0) | 5e-16 |
//! | derivatives in the degrees of freedom | 5e-14 |
//!
//! CRPS in closed form as collected by Jordan, Krüger and Lerch
//! ([2019](https://doi.org/10.18637/jss.v090.i12)); the two-piece form, the tails of Student's t and the
//! squares of tails are derived in their files.

mod base;
mod bounds;
mod candidates;
mod censored;
mod cost;
mod crps;
mod curve;
mod error_law;
mod event;
mod gradient;
pub mod judge;
mod laws;
mod log_normal;
mod log_score;
mod normal;
mod one_pass;
mod special;
mod student;
mod transform;
mod two_piece;

pub use base::Base;
pub use bounds::Bounds;
pub use candidates::{Candidate, compare_any, judge_any};
pub use censored::Censored;
pub use cost::AccuracyReliability;
pub use curve::Curve;
pub use error_law::ErrorLaw;
pub use gradient::Gradient;
pub use laws::Laws;
pub use log_normal::LogNormal;
pub use normal::Normal;
pub use one_pass::{Judged, OnePass};
pub use transform::Transform;
pub use two_piece::Law;
