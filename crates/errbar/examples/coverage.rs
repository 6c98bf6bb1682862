//! What share of new observations the intervals of a default fit hold, whatever the law of the errors.
//!
//! ```sh
//! cargo run --release -p errbar --example coverage -- 50 100,500,5000
//! ```
//!
//! The numbers are repetitions and rows. Sigma depends on two inputs; errors around it are normal,
//! Laplace's, Student's t with three degrees of freedom, or exponential (all on one side of their mode),
//! of mean zero. Each fit is judged by 10,000 new rows. Prints a table in Markdown.

use errbar::fit::{Options, Rows, fit};
use errbar::law::{Base, Law};
use errbar::{Data, Silent};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const LEVELS: [f64; 3] = [0.5, 0.9, 0.99];
const NEW: usize = 10_000;

fn sigma(x: &[f64]) -> f64 {
    (0.2 + x[0]) * (1.0 + x[1])
}

/// Errors of mean zero and standard deviation one, of a number drawn evenly from (0, 1).
fn error(law: &str, uniform: f64) -> f64 {
    match law {
        "exponential" => -(1.0 - uniform).ln() - 1.0,
        "Laplace" => Law::symmetric(Base::Laplace, 0.0, 0.5f64.sqrt()).quantile(uniform),
        "t3" => {
            Law::symmetric(Base::StudentT { nu: 3.0 }, 0.0, 3f64.sqrt().recip()).quantile(uniform)
        }
        _ => Law::normal(0.0, 1.0).quantile(uniform),
    }
}

fn draw(law: &str, rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let x: Vec<f64> = (0..2 * rows).map(|_| rng.random::<f64>()).collect();
    let errors = x.chunks(2).map(|x| sigma(x) * error(law, rng.random::<f64>())).collect();
    (x, errors)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let [repetitions, rows] = &asked[..] else { return Err("give repetitions and rows".into()) };
    let repetitions: u64 = repetitions.parse()?;
    let names = ["a".to_string(), "b".to_string()];
    println!("| errors | rows | 50% | 90% | 99% | spread of the 90% |\n|---|--:|--:|--:|--:|--:|");
    for law in ["normal", "Laplace", "t3", "exponential"] {
        for rows in rows.split(',') {
            let rows: usize = rows.parse()?;
            let mut held: Vec<[f64; 3]> = Vec::new();
            for seed in 0..repetitions {
                let (x, error) = draw(law, rows, seed);
                let options = Options::default().seed(seed);
                let fitted = fit(&Data::new(&x, 2, &error)?, &names, &options, &Silent)?.fitted;
                let (new, observed) = draw(law, NEW, 1_000_000 + seed);
                let zero = vec![0.0; NEW];
                let said = fitted.predict(Rows::new(&new).with_forecast(&zero))?;
                let mut share = [0.0; 3];
                for (share, level) in share.iter_mut().zip(LEVELS) {
                    let (low, high) = said.interval(level)?;
                    let inside =
                        |row: &usize| low[*row] <= observed[*row] && observed[*row] <= high[*row];
                    *share = (0..NEW).filter(inside).count() as f64 / NEW as f64;
                }
                held.push(share);
            }
            let n = repetitions as f64;
            let mean = |level: usize| held.iter().map(|share| share[level]).sum::<f64>() / n;
            let middle = mean(1);
            let squares = held.iter().map(|share| (share[1] - middle).powi(2)).sum::<f64>();
            println!(
                "| {law} | {rows} | {:.1}% | {:.1}% | {:.1}% | {:.1}% |",
                100.0 * mean(0),
                100.0 * middle,
                100.0 * mean(2),
                100.0 * (squares / n).sqrt()
            );
        }
    }
    Ok(())
}
