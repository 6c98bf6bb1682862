//! What a mean and a smooth sigma share: the Gaussian process, and inducing points for many rows.

pub(crate) mod inducing_points;
pub mod process;
