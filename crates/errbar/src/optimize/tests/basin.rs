//! BFGS against another implementation, that of the crate `basin`: the functions and starts of
//! `mod.rs`, the same stopping rule, and evaluations counted by the objective on both sides.
//!
//! `cargo test --release -p errbar --lib basin -- --nocapture` prints the evaluations of both.

#![allow(clippy::print_stdout, reason = "evaluations, for those who look")]

use std::cell::{Cell, RefCell};
use std::convert::Infallible;

use super::hard_functions::{Objective, problems};
use crate::optimize::{Options, bfgs};
use basin::{
    ApplicationStop, Bfgs, CostFunction, Executor, FirstOrderState, Gradient, MoreThuente,
};

/// Both stop when no component of the gradient is larger.
const GRADIENT: f64 = 1e-8;

/// An objective as `basin` wants it.
struct Problem<'a> {
    objective: Objective,
    evaluations: &'a Cell<usize>,
    last: RefCell<Vec<f64>>,
}

impl Problem<'_> {
    /// Value and gradient. Asking again for the point asked for last is free: `basin` evaluates the
    /// end of each line search a second time, which is not to its method's account.
    fn evaluate(&self, x: &[f64]) -> (f64, Vec<f64>) {
        if *self.last.borrow() != x {
            self.evaluations.update(|n| n + 1);
            *self.last.borrow_mut() = x.to_vec();
        }
        let mut gradient = vec![0.0; x.len()];
        let value = (self.objective)(x, &mut gradient).expect("defined everywhere");
        (value, gradient)
    }
}

impl CostFunction for Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Infallible> {
        Ok(self.evaluate(x).0)
    }
}

impl Gradient for Problem<'_> {
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok(self.evaluate(x).1)
    }

    fn cost_and_gradient(&self, x: &Vec<f64>) -> Result<(f64, Vec<f64>), Infallible> {
        Ok(self.evaluate(x))
    }
}

struct Found {
    x: Vec<f64>,
    value: f64,
    evaluations: usize,
}

fn with_errbar(name: &str, objective: Objective, start: &[f64]) -> Found {
    let mut x = start.to_vec();
    let mut evaluations = 0;
    let options = Options { gradient: GRADIENT, ..Options::default() };
    let found = bfgs(&mut x, &options, |x, gradient| {
        evaluations += 1;
        objective(x, gradient)
    });
    assert!(found.gradient <= GRADIENT, "errbar on {name}: {found:?}");
    assert_eq!(found.evaluations, evaluations, "errbar on {name}");
    Found { x, value: found.value, evaluations }
}

/// The line search is that of Moré and Thuente: the default one gives up on the ill-conditioned
/// function, whose first step is shorter than its 25 bisections reach.
fn with_basin(name: &str, objective: Objective, start: &[f64]) -> Found {
    let evaluations = Cell::new(0);
    let problem = Problem { objective, evaluations: &evaluations, last: RefCell::default() };
    let small = |g: &[f64]| g.iter().all(|g| g.abs() <= GRADIENT);
    let solver = Bfgs::with_line_search(MoreThuente::new());
    let result = Executor::new(problem, solver, FirstOrderState::new(start.to_vec()))
        .max_iter(1000)
        .stop_when(move |state: &FirstOrderState<Vec<f64>>| {
            let (_, _, gradient) = state.current()?;
            small(gradient).then(|| ApplicationStop::new("small gradient"))
        })
        .run()
        .expect("infallible");
    let (x, value, gradient) = result.state.current().expect("evaluated");
    assert!(small(gradient), "basin on {name}: {:?}", result.report.code());
    Found { x: x.clone(), value, evaluations: evaluations.get() }
}

/// A lower bound of the Hessian's eigenvalues at a minimum: a power of two, at most one.
fn least_curvature(objective: Objective, x: &[f64]) -> f64 {
    let n = x.len();
    let gradient = |column: usize, by: f64| {
        let (mut x, mut gradient) = (x.to_vec(), vec![0.0; n]);
        x[column] += by;
        objective(&x, &mut gradient).expect("defined everywhere");
        gradient
    };
    // 2^-13: as good as exact for these, whose gradients are polynomials of low degree.
    let h = 2f64.powi(-13);
    let hessian: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let (ahead, behind) = (gradient(i, h), gradient(i, -h));
            ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).collect()
        })
        .collect();
    let halves = std::iter::successors(Some(1.0), |bound| Some(bound / 2.0));
    let found = halves.take(30).find(|bound| {
        let mut shifted = hessian.clone();
        (0..n).for_each(|i| shifted[i][i] -= bound);
        positive_definite(shifted)
    });
    found.expect("a Hessian that is not singular")
}

/// Whether every pivot of Gaussian elimination is positive.
fn positive_definite(mut matrix: Vec<Vec<f64>>) -> bool {
    let n = matrix.len();
    for k in 0..n {
        let pivot = matrix[k].clone();
        if pivot[k] <= 0.0 {
            return false;
        }
        for row in &mut matrix[k + 1..] {
            let factor = row[k] / pivot[k];
            row[k..].iter_mut().zip(&pivot[k..]).for_each(|(r, p)| *r -= factor * p);
        }
    }
    true
}

#[test]
fn it_ends_where_basin_does_with_no_more_than_twice_the_work() {
    for (name, objective, start, minimiser) in problems() {
        let (ours, theirs) =
            (with_errbar(name, objective, &start), with_basin(name, objective, &start));
        println!("{name}: {} evaluations, basin {}", ours.evaluations, theirs.evaluations);
        assert!(
            ours.value <= theirs.value + 1e-10,
            "{name}: {:e}, basin {:e}",
            ours.value,
            theirs.value
        );
        assert!(
            ours.evaluations <= 2 * theirs.evaluations,
            "{name}: {} evaluations, basin {}",
            ours.evaluations,
            theirs.evaluations
        );
        // Powell's Hessian is singular at the minimum: in the two flat directions the gradient
        // goes with the cube of the distance, so a small one leaves the place open.
        if name == "Powell" {
            continue;
        }
        // Near a minimum the gradient is the Hessian times the distance, so a gradient of length
        // at most sqrt(n) GRADIENT is within that over the least curvature. Twice for the two
        // ends, and twice for a Hessian that is not quite constant up to there.
        let curvature = least_curvature(objective, &minimiser);
        let tolerance = 4.0 * (start.len() as f64).sqrt() * GRADIENT / curvature;
        let gap = ours.x.iter().zip(&theirs.x).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(gap <= tolerance, "{name}: {gap:e} apart, more than {tolerance:e}");
    }
}
