//! The standard hard functions (Moré, Garbow and Hillstrom 1981), with their gradients.

/// Value and gradient, or `None` where not defined.
pub type Objective = fn(&[f64], &mut [f64]) -> Option<f64>;

/// A name, the function, a start and the minimiser.
pub type Problem = (&'static str, Objective, Vec<f64>, Vec<f64>);

/// Rosenbrock's valley, in any number of dimensions.
pub fn rosenbrock(x: &[f64], g: &mut [f64]) -> Option<f64> {
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
pub fn powell(x: &[f64], g: &mut [f64]) -> Option<f64> {
    let (a, b) = (x[0] + 10.0 * x[1], x[2] - x[3]);
    let (c, d) = (x[1] - 2.0 * x[2], x[0] - x[3]);
    g[0] = 2.0 * a + 40.0 * d.powi(3);
    g[1] = 20.0 * a + 4.0 * c.powi(3);
    g[2] = 10.0 * b - 8.0 * c.powi(3);
    g[3] = -10.0 * b - 40.0 * d.powi(3);
    Some(a * a + 5.0 * b * b + c.powi(4) + 10.0 * d.powi(4))
}

/// Wood's function.
pub fn wood(x: &[f64], g: &mut [f64]) -> Option<f64> {
    let (a, b) = (x[1] - x[0] * x[0], 1.0 - x[0]);
    let (c, d) = (x[3] - x[2] * x[2], 1.0 - x[2]);
    let (e, f) = (x[1] + x[3] - 2.0, x[1] - x[3]);
    g[0] = -400.0 * x[0] * a - 2.0 * b;
    g[1] = 200.0 * a + 20.0 * e + 0.2 * f;
    g[2] = -360.0 * x[2] * c - 2.0 * d;
    g[3] = 180.0 * c + 20.0 * e - 0.2 * f;
    Some(100.0 * a * a + b * b + 90.0 * c * c + d * d + 10.0 * e * e + 0.1 * f * f)
}

/// Beale's function.
pub fn beale(x: &[f64], g: &mut [f64]) -> Option<f64> {
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
pub fn ill_conditioned(x: &[f64], g: &mut [f64]) -> Option<f64> {
    let mut value = 0.0;
    for (i, (x, g)) in x.iter().zip(g).enumerate() {
        let curvature = 10f64.powf(8.0 * i as f64 / 19.0);
        let gap = x - i as f64;
        value += 0.5 * curvature * gap * gap;
        *g = curvature * gap;
    }
    Some(value)
}

/// All of them.
pub fn problems() -> Vec<Problem> {
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
