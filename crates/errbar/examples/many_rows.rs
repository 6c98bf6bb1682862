//! How long a mean and its sigma(x) take to learn from many rows, and how close they come.
//!
//! ```sh
//! cargo run --release -p errbar --example many_rows -- 20000 5
//! ```
//!
//! The two numbers are rows and inputs. The truth is a wave in each of the first two inputs, with a
//! sigma that grows tenfold along the first.

use std::time::Instant;

use errbar::Silent;
use errbar::fit;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

fn mean(x: &[f64]) -> f64 {
    (6.0 * x[0]).sin() + x.get(1).map_or(0.0, |x| (4.0 * x).cos())
}

fn sigma(x: &[f64]) -> f64 {
    0.03 * (10f64.ln() * x[0]).exp()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [rows, columns] = asked[..] else { return Err("give the rows and the inputs".into()) };
    let mut rng = Pcg64::seed_from_u64(1);
    let mut draw = |rows: usize| -> (Vec<f64>, Vec<f64>) {
        let x: Vec<f64> = (0..rows * columns).map(|_| rng.random()).collect();
        let y = x.chunks_exact(columns);
        let y = y.map(|x| mean(x) + sigma(x) * rng.sample::<f64, _>(StandardNormal)).collect();
        (x, y)
    };
    let (x, y) = draw(rows);
    let (new, _) = draw(2000);

    let start = Instant::now();
    let options = fit::Options::default();
    let names: Vec<String> = (0..columns).map(|c| format!("x{c}")).collect();
    let fitted = fit::fit_with_mean(&x, columns, &y, &names, &options, &Silent)?.fitted;
    println!("{}", fitted.mean().map(errbar::mean::Mean::explain).unwrap_or_default());
    println!("with sigma: {:.1} s in all", start.elapsed().as_secs_f64());

    let at = fitted.predict(&new)?;
    let root = |of: &dyn Fn(usize, &[f64]) -> f64| {
        let squares = new.chunks_exact(columns).enumerate().map(|(i, x)| of(i, x).powi(2));
        (squares.sum::<f64>() / 2000.0).sqrt()
    };
    let forecast = at.forecast().unwrap_or_default();
    println!(
        "at 2,000 new rows: the mean is off by {:.4} sigma, log sigma by {:.4} (root mean square)",
        root(&|i, x| (forecast[i] - mean(x)) / sigma(x)),
        root(&|i, x| (at.sigma()[i] / sigma(x)).ln())
    );
    Ok(())
}
