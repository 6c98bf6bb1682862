//! BFGS against another implementation: the crate `basin`, on the same functions from the same
//! starts, stopped by the same rule.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;

use basin::{Bfgs, CostFunction, Executor, FirstOrderState, Gradient};
use errbar::optimize::{Options, bfgs};

type Objective = fn(&[f64], &mut [f64]) -> Option<f64>;

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

/// What was asked of an objective.
#[derive(Default)]
struct Work {
    values: Cell<usize>,
    gradients: Cell<usize>,
    points: Cell<usize>,
    last: RefCell<Vec<f64>>,
}

impl Work {
    fn add(&self, x: &[f64], values: usize, gradients: usize) {
        self.values.set(self.values.get() + values);
        self.gradients.set(self.gradients.get() + gradients);
        if *self.last.borrow() != x {
            self.points.set(self.points.get() + 1);
            *self.last.borrow_mut() = x.to_vec();
        }
    }
}

/// An objective as `basin` wants it.
struct Problem<'a> {
    objective: Objective,
    work: &'a Work,
}

impl Problem<'_> {
    fn both(&self, x: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; x.len()];
        let value = (self.objective)(x, &mut gradient).unwrap_or(f64::INFINITY);
        (value, gradient)
    }
}

impl CostFunction for Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Infallible> {
        self.work.add(x, 1, 0);
        Ok(self.both(x).0)
    }
}

impl Gradient for Problem<'_> {
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        self.work.add(x, 0, 1);
        Ok(self.both(x).1)
    }

    fn cost_and_gradient(&self, x: &Vec<f64>) -> Result<(f64, Vec<f64>), Infallible> {
        self.work.add(x, 1, 1);
        Ok(self.both(x))
    }
}

fn largest(g: &[f64]) -> f64 { g.iter().fold(0.0, |m: f64, v| m.max(v.abs())) }

#[test]
fn explore() {
    for eps in [1e-6, 1e-8, 1e-10] {
    for (name, objective, start, _) in problems() {
        let ours = Work::default();
        let mut x = start.clone();
        let found = bfgs(&mut x, &Options { gradient: eps, ..Options::default() }, |x, g| { ours.add(x, 1, 1); objective(x, g) });
        let theirs = Work::default();
        let r = Executor::new(Problem { objective, work: &theirs }, Bfgs::new(), FirstOrderState::new(start.clone()))
            .max_iter(1000)
            .stop_when(|s: &FirstOrderState<Vec<f64>, f64>| s.current().is_some_and(|(_, _, g)| largest(g) <= eps))
            .run().unwrap();
        let (y, fy, gy) = r.state.current().unwrap();
        let d = x.iter().zip(y).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        println!("{eps:e} {name}: ours {:?} v{} g{} p{} f={:e} |g|={:e} ; basin {:?} it{} v{} g{} p{} f={:e} |g|={:e}; dx {d:e} {:?}", found.stop, ours.values.get(), ours.gradients.get(), ours.points.get(), found.value, found.gradient,
            r.report.code(), r.iter(), theirs.values.get(), theirs.gradients.get(), theirs.points.get(), fy, largest(gy), r.counts);
    }
    }
}
