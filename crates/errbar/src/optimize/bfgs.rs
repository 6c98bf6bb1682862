//! BFGS with a dense inverse Hessian, updated in place.

use super::descent::{Curvature, descend};
use super::minimum::{Minimum, Options, Step};
use crate::math::linear::{dot, symmetric_rank_two, symmetric_times};

/// Minimises `objective` from `x`, which ends at the minimum. See [`bfgs_with`].
pub fn bfgs(
    x: &mut [f64],
    options: &Options,
    objective: impl FnMut(&[f64], &mut [f64]) -> Option<f64>,
) -> Minimum {
    bfgs_with(x, options, objective, |_| false)
}

/// Minimises `objective` from `x`, which ends at the best point found.
///
/// `objective` writes the gradient and returns the value, or `None` where it is not defined.
/// `monitor` is shown every iteration, and stops the search by returning true.
///
/// Broyden-Fletcher-Goldfarb-Shanno with the inverse Hessian H as a full symmetric matrix
/// (Nocedal and Wright 2006, Algorithm 6.1); each iteration is $O(n^2)$:
///
/// $$H \leftarrow H + \frac{(s^Ty + y^THy) ss^T}{(s^Ty)^2} - \frac{Hy s^T + s y^TH}{s^Ty}.$$
///
/// Steps without positive curvature $s^Ty$ leave H as it is. Before its first update H is scaled by
/// $s^Ty/y^Ty$.
pub fn bfgs_with(
    x: &mut [f64],
    options: &Options,
    mut objective: impl FnMut(&[f64], &mut [f64]) -> Option<f64>,
    monitor: impl FnMut(&Step) -> bool,
) -> Minimum {
    let n = x.len();
    let mut inverse = Inverse { matrix: vec![0.0; n * n], product: vec![0.0; n], fresh: true };
    inverse.scale_identity(1.0);
    descend(x, options, &mut objective, &mut inverse, monitor)
}

/// The approximate inverse Hessian.
struct Inverse {
    matrix: Vec<f64>,
    /// The matrix times the change of the gradient.
    product: Vec<f64>,
    fresh: bool,
}

impl Inverse {
    fn scale_identity(&mut self, scale: f64) {
        self.matrix.fill(0.0);
        self.matrix.iter_mut().step_by(self.product.len() + 1).for_each(|d| *d = scale);
    }
}

impl Curvature for Inverse {
    fn direction(&mut self, gradient: &[f64], direction: &mut [f64]) {
        symmetric_times(&self.matrix, gradient, direction);
        direction.iter_mut().for_each(|d| *d = -*d);
    }

    fn learn(&mut self, step: &[f64], change: &[f64]) {
        let curvature = dot(step, change);
        if self.fresh {
            self.scale_identity(curvature / dot(change, change));
            self.fresh = false;
        }
        symmetric_times(&self.matrix, change, &mut self.product);
        let scale = (curvature + dot(change, &self.product)) / (curvature * curvature);
        symmetric_rank_two(&mut self.matrix, scale, step, -1.0 / curvature, &self.product);
    }

    fn fresh(&self) -> bool {
        self.fresh
    }

    fn forget(&mut self) {
        self.scale_identity(1.0);
        self.fresh = true;
    }
}
