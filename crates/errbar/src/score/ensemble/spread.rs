//! Are the members as far apart as their mean is from the observations?

use serde::Serialize;

/// The spread of the members against the error of their mean.
///
/// With members like the observation the expected square of the error is $(M+1)/M$ times the variance of the members, so
/// that
///
/// $$\text{ratio} = \frac{\sqrt{\overline{\tfrac{M+1}{M} s^2}}}{\sqrt{\overline{(y - \bar x)^2}}}$$
///
/// is 1 for a reliable ensemble (Fortin et al., [2014](https://doi.org/10.1175/JHM-D-14-0008.1)), below 1 where members are
/// too close together; $s^2$ is the variance by $M - 1$.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SpreadSkill {
    /// The root of the mean variance of the members.
    pub spread: f64,
    /// The root mean squared error of their mean.
    pub rmse: f64,
    /// The ratio. NaN where there are no errors.
    pub ratio: f64,
}
