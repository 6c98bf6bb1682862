//! BFGS against another implementation, that of the crate `basin`: the functions and starts of
//! `optimize.rs`, the same stopping rule, and evaluations counted by the objective on both sides.
//!
//! `cargo test -p errbar --test optimize_basin -- --nocapture` prints the evaluations of both.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;

use basin::{
    ApplicationStop, Bfgs, CostFunction, Executor, FirstOrderState, Gradient, MoreThuente,
};
use errbar::optimize::{Options, bfgs};

type Objective = fn(&[f64], &mut [f64]) -> Option<f64>;

/// Both stop when no component of the gradient is larger.
const GRADIENT: f64 = 1e-8;

fn rosenbrock(x: &[f64], g: &mut [f64]) -> Option<f64> {
    g.fill(0.0);
    let mut value = 0.0;
    for i in 0..x.len() - 1 {
        let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
        value += a * a + 100.0 * b * b;
        g[i] += -2.0 * a - 400.0 * x[i] * b;
        g[i + 1] += 200.0 * b;
    }
    Some(value)
}

/// Powell's singular function: the Hessian at the minimum has rank two.
fn powell(x: &[f64], g: &mut [f64]) -> Option<f64> {
    let (a, b) = (x[0] + 10.0 * x[1], x[2] - x[3]);
    let (c, d) = (x[1] - 2.0 * x[2], x[0] - x[3]);
    g[0] = 2.0 * a + 40.0 * d.powi(3);
    g[1] = 20.0 * a + 4.0 * c.powi(3);
    g[2] = 10.0 * b - 8.0 * c.powi(3);
    g[3] = -10.0 * b - 40.0 * d.powi(3);
    Some(a * a + 5.0 * b * b + c.powi(4) + 10.0 * d.powi(4))
}

fn wood(x: &[f64], g: &mut [f64]) -> Option<f64> {
    let (a, b) = (x[1] - x[0] * x[0], 1.0 - x[0]);
    let (c, d) = (x[3] - x[2] * x[2], 1.0 - x[2]);
    let (e, f) = (x[1] + x[3] - 2.0, x[1] - x[3]);
    g[0] = -400.0 * x[0] * a - 2.0 * b;
    g[1] = 200.0 * a + 20.0 * e + 0.2 * f;
    g[2] = -360.0 * x[2] * c - 2.0 * d;
    g[3] = 180.0 * c + 20.0 * e - 0.2 * f;
    Some(100.0 * a * a + b * b + 90.0 * c * c + d * d + 10.0 * e * e + 0.1 * f * f)
}

fn beale(x: &[f64], g: &mut [f64]) -> Option<f64> {
    g.fill(0.0);
    let mut value = 0.0;
    for (i, y) in [(1, 1.5), (2, 2.25), (3, 2.625)] {
        let r = y - x[0] * (1.0 - x[1].powi(i));
        value += r * r;
        g[0] -= 2.0 * r * (1.0 - x[1].powi(i));
        g[1] += 2.0 * r * x[0] * f64::from(i) * x[1].powi(i - 1);
    }
    Some(value)
}

/// Curvatures from 1 to 10^8.
fn ill_conditioned(x: &[f64], g: &mut [f64]) -> Option<f64> {
    let mut value = 0.0;
    for (i, (x, g)) in x.iter().zip(g).enumerate() {
        let curvature = 10f64.powf(8.0 * i as f64 / 19.0);
        let gap = x - i as f64;
        value += 0.5 * curvature * gap * gap;
        *g = curvature * gap;
    }
    Some(value)
}

/// Functions with start and minimiser (Moré, Garbow and Hillstrom 1981).
fn problems() -> Vec<(&'static str, Objective, Vec<f64>, Vec<f64>)> {
    let valley = |n: usize| -> Vec<f64> { (0..n).map(|i| [-1.2, 1.0][i % 2]).collect() };
    vec![
        ("Rosenbrock, 2", rosenbrock, valley(2), vec![1.0; 2]),
        ("Rosenbrock, 100", rosenbrock, valley(100), vec![1.0; 100]),
        ("Powell", powell, vec![3.0, -1.0, 0.0, 1.0], vec![0.0; 4]),
        ("Wood", wood, vec![-3.0, -1.0, -3.0, -1.0], vec![1.0; 4]),
        ("Beale", beale, vec![1.0, 1.0], vec![3.0, 0.5]),
        ("ill-conditioned", ill_conditioned, vec![1.0; 20], (0..20).map(f64::from).collect()),
    ]
}

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
