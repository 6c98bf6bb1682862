//! Laws that errors are drawn from, known exactly: what no fitted law can beat but by luck.

use errbar::law::{Base, Law, LogNormal};

/// The law of errors in units of their sigma: of mean 0 and standard deviation 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Truth {
    /// One of the library's: halves of one base with a scale each.
    Law(Law),
    /// A log-normal law, moved by `shift` and then stretched by `scale`.
    LogNormal {
        /// As it is.
        law: LogNormal,
        /// Added to it.
        shift: f64,
        /// What it is then multiplied by.
        scale: f64,
    },
    /// Two Gaussians, of these shares of the errors.
    Mixture([(f64, Law); 2]),
}

impl Truth {
    /// Halves of a base, the upper one `ratio` times as long as the lower.
    pub(crate) fn two_piece(base: Base, ratio: f64) -> Self {
        Self::halves(base, 1.0, ratio)
    }

    /// The exponential law: an asymmetric Laplace law without a lower side.
    pub(crate) fn exponential() -> Self {
        Self::halves(Base::Laplace, 0.0, 1.0)
    }

    fn halves(base: Base, left: f64, right: f64) -> Self {
        let unit = Law::new(base, 0.0, left, right).standard_deviation();
        Self::Law(Law::new(base, 0.0, left / unit, right / unit).with_mean(0.0))
    }

    /// A log-normal law whose logarithm has this standard deviation.
    pub(crate) fn log_normal(sigma: f64) -> Self {
        let law = LogNormal { mu: 0.0, sigma };
        // The standard deviation over the mean is the root of exp(sigma²) - 1.
        let deviation = law.mean() * (sigma * sigma).exp_m1().sqrt();
        Self::LogNormal { law, shift: -law.mean(), scale: 1.0 / deviation }
    }

    /// Nine in ten of N(0, 1), the others of N(4, 3²); less the mean of 0.4, over the standard
    /// deviation of 1.8.
    pub(crate) fn mixture() -> Self {
        let part = |mean: f64, scale: f64| Law::normal((mean - 0.4) / 1.8, scale / 1.8);
        Self::Mixture([(0.9, part(0.0, 1.0)), (0.1, part(4.0, 3.0))])
    }

    /// The error that belongs to a number drawn evenly from (0, 1).
    pub(crate) fn draw(&self, uniform: f64) -> f64 {
        match self {
            Self::Law(law) => law.sample(uniform),
            Self::LogNormal { law, shift, scale } => scale * (law.quantile(uniform) + shift),
            Self::Mixture([(share, first), (rest, second)]) => match uniform < *share {
                true => first.sample(uniform / share),
                false => second.sample((uniform - share) / rest),
            },
        }
    }

    /// The density.
    pub(crate) fn density(&self, z: f64) -> f64 {
        match self {
            Self::Law(law) => law.density(z),
            Self::LogNormal { law, shift, scale } => law.density(z / scale - shift) / scale,
            Self::Mixture(parts) => parts.iter().map(|(share, law)| share * law.density(z)).sum(),
        }
    }

    /// Minus the logarithm of the density.
    pub(crate) fn log_score(&self, z: f64) -> f64 {
        match self {
            Self::Law(law) => law.log_score(z),
            Self::LogNormal { law, shift, scale } => law.log_score(z / scale - shift) + scale.ln(),
            Self::Mixture(_) => -self.density(z).ln(),
        }
    }

    /// The CRPS. That of a mixture is $\sum w_i E|z - X_i| - \frac12 \sum w_i w_j E|X_i - X_j|$, where a
    /// Gaussian of mean $m$ and standard deviation $s$ has the mean distance
    /// $E|X| = m (2 \Phi(m/s) - 1) + 2 s \varphi(m/s)$ (Grimit et al., 2006).
    pub(crate) fn crps(&self, z: f64) -> f64 {
        match self {
            Self::Law(law) => law.crps(z),
            Self::LogNormal { law, shift, scale } => scale * law.crps(z / scale - shift),
            Self::Mixture(parts) => {
                let distance = |mean: f64, deviation: f64| {
                    let at = mean / deviation;
                    mean * (2.0 * Base::Normal.cdf(at) - 1.0)
                        + 2.0 * deviation * Base::Normal.density(at)
                };
                let to = |(share, law): &(f64, Law)| share * distance(z - law.location, law.left);
                let between = |(w, a): &(f64, Law), (v, b): &(f64, Law)| {
                    w * v * distance(a.location - b.location, a.left.hypot(b.left))
                };
                let pairs = parts.iter().flat_map(|a| parts.iter().map(move |b| between(a, b)));
                parts.iter().map(to).sum::<f64>() - 0.5 * pairs.sum::<f64>()
            }
        }
    }
}
