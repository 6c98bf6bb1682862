//! The minimisers on the standard hard functions, against their known minima.

use errbar::optimize::{Options, Stop, bfgs, bfgs_with, lbfgs, lbfgs_with};

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

#[test]
fn known_minima_are_found() {
    let options = Options { gradient: 1e-10, ..Options::default() };
    for (name, objective, start, want) in problems() {
        for (method, dense) in [("BFGS", true), ("L-BFGS", false)] {
            if name == "ill-conditioned" && !dense {
                continue; // twelve steps cannot describe eight decades of curvature
            }
            let mut x = start.clone();
            let found = if dense {
                bfgs(&mut x, &options, objective)
            } else {
                lbfgs(
                    &mut x,
                    &Options { iterations: 20_000, evaluations: 100_000, ..options },
                    objective,
                )
            };
            // Powell's is flat to the fourth order: a gradient of 1e-10 is 1e-3 or so from zero.
            let tolerance = if name == "Powell" { 2e-3 } else { 1e-7 };
            assert!(found.converged(), "{method} on {name}: {found:?}");
            for (got, want) in x.iter().zip(&want) {
                assert!((got - want).abs() < tolerance, "{method} on {name}: {x:?} {found:?}");
            }
            assert!(found.value < 1e-9, "{method} on {name}: {found:?}");
        }
    }
}

#[test]
fn the_work_is_what_good_codes_need() {
    // Evaluations at most, from the literature's figures for BFGS with a good line search, doubled.
    for (name, objective, start, limit) in [
        ("Rosenbrock, 2", rosenbrock as Objective, vec![-1.2, 1.0], 90),
        ("Wood", wood, vec![-3.0, -1.0, -3.0, -1.0], 240),
        ("Beale", beale, vec![1.0, 1.0], 50),
    ] {
        let mut x = start;
        let found = bfgs(&mut x, &Options { gradient: 1e-6, ..Options::default() }, objective);
        assert!(found.converged() && found.evaluations <= limit, "{name}: {found:?}");
    }
}

#[test]
fn what_is_infeasible_is_backed_off_from() {
    // ln x + 1/x with x > 0: minimum 1 at 1; the first steps from 1e-3 jump below zero.
    let objective = |x: &[f64], g: &mut [f64]| {
        (x[0] > 0.0).then(|| {
            g[0] = 1.0 / x[0] - 1.0 / (x[0] * x[0]);
            x[0].ln() + 1.0 / x[0]
        })
    };
    for start in [1e-3, 0.5, 3.0] {
        let mut x = [start];
        let found = bfgs(&mut x, &Options::default(), objective);
        assert!(found.converged() && (x[0] - 1.0).abs() < 1e-6, "from {start}: {x:?} {found:?}");
    }
    let mut x = [-1.0];
    let found = bfgs(&mut x, &Options::default(), objective);
    assert_eq!((found.stop, x[0]), (Stop::Infeasible, -1.0));
    let mut x = [1.0];
    let found = lbfgs(&mut x, &Options::default(), |_, g| {
        g[0] = f64::NAN;
        Some(1.0)
    });
    assert_eq!(found.stop, Stop::Infeasible);
}

#[test]
fn the_monitor_sees_every_iteration_and_can_stop() {
    for dense in [true, false] {
        let mut seen = Vec::new();
        let mut x = [-1.2, 1.0];
        let options = Options::default();
        let monitor = |step: &errbar::optimize::Step| {
            seen.push((step.iteration, step.value, step.x.to_vec()));
            step.iteration == 5
        };
        let found = if dense {
            bfgs_with(&mut x, &options, rosenbrock, monitor)
        } else {
            lbfgs_with(&mut x, &options, rosenbrock, monitor)
        };
        assert_eq!((found.stop, found.iterations), (Stop::Monitor, 5));
        assert_eq!(seen.len(), 5);
        assert!(seen.windows(2).all(|pair| pair[1].1 < pair[0].1), "every step lowers the value");
        assert_eq!(seen[4].2, x);
    }
}

#[test]
fn budgets_hold() {
    let options = Options { iterations: 3, ..Options::default() };
    let mut x = [-1.2, 1.0];
    let found = bfgs(&mut x, &options, rosenbrock);
    assert_eq!((found.stop, found.iterations), (Stop::Budget, 3));
    let options = Options { decrease: 0.5, ..Options::default() };
    let mut x = [-1.2, 1.0];
    assert_eq!(bfgs(&mut x, &options, rosenbrock).stop, Stop::Decrease);
    // At the minimum already, and with nothing to vary.
    let found = bfgs(&mut [1.0, 1.0], &Options::default(), rosenbrock);
    assert_eq!((found.stop, found.iterations), (Stop::Gradient, 0));
    let found = bfgs(&mut [], &Options::default(), |_, _| Some(3.0));
    assert_eq!((found.stop, found.value), (Stop::Gradient, 3.0));
}
