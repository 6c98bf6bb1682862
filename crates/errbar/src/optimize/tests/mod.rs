//! The minimisers on the standard hard functions, against their known minima.

mod basin;
mod hard_functions;

use super::{Options, Stop, bfgs, bfgs_with, lbfgs, lbfgs_with};
use hard_functions::{Objective, beale, problems, rosenbrock, wood};

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
        let monitor = |step: &super::Step| {
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
