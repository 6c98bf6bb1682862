//! How close fits come to a sigma that is known, and what they cost: ten inputs, of which nine matter.
//!
//! `cargo run --release -p errbar --example known -- ROWS[,ROWS...] [KIND[,KIND...]] [SEEDS]`
//!
//! Regret is the mean NLPD on 100,000 other rows less that of the true sigma (for a Gaussian of the sigma that is said,
//! in closed form). Seconds are those of the clock; set RAYON_NUM_THREADS for fewer threads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::thread::ThreadId;
use std::time::Instant;

use errbar::fit::{Kind, LawKind, Options, fit};
use errbar::{Data, Monitor, Task};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

const COLUMNS: usize = 10;

/// Adds up what tasks take, by the clock: with one thread that is the whole truth.
#[derive(Default)]
struct Tasks {
    open: Mutex<HashMap<ThreadId, Vec<Instant>>>,
    seconds: Mutex<BTreeMap<Task, f64>>,
}

impl Monitor for Tasks {
    fn begin(&self, _: Task) {
        let mut open = self.open.lock().expect("no panic");
        open.entry(std::thread::current().id()).or_default().push(Instant::now());
    }

    fn end(&self, task: Task) {
        let mut open = self.open.lock().expect("no panic");
        let began = open.entry(std::thread::current().id()).or_default().pop().expect("it began");
        *self.seconds.lock().expect("no panic").entry(task).or_default() +=
            began.elapsed().as_secs_f64();
    }
}

/// Inputs, errors and their sigmas.
fn make(rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut random = Pcg64::seed_from_u64(seed);
    let (mut inputs, mut errors, mut sigmas) = (Vec::new(), Vec::new(), Vec::new());
    let flag = |on: bool| f64::from(u8::from(on));
    for _ in 0..rows {
        let x: [f64; COLUMNS] = std::array::from_fn(|_| random.random_range(-1.0..1.0));
        let log = 0.6 * (3.0 * x[0]).sin() + 0.7 * flag(x[1] > 0.3) - 0.5 * flag(x[2] < -0.4)
            + 0.8 * x[3] * x[4]
            + 0.5 * x[5].abs()
            + 0.3 * (6.0 * x[6]).sin() * flag(x[7] > 0.0)
            - 0.5;
        let sigma = log.exp();
        inputs.extend(x);
        errors.push(sigma * random.sample::<f64, _>(StandardNormal));
        sigmas.push(sigma);
    }
    (inputs, errors, sigmas)
}

fn main() -> errbar::Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let list = |nth: usize, usual: &str| -> Vec<String> {
        asked.get(nth).map_or(usual, String::as_str).split(',').map(String::from).collect()
    };
    let seeds: u64 = asked.get(2).map_or(1, |seeds| seeds.parse().expect("a number of seeds"));
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let (test, _, truth) = make(100_000, 99);
    println!(
        "| rows | model | regret | seconds | to predict 100,000 rows |\n|--:|---|--:|--:|--:|"
    );
    for rows in list(0, "1000,10000") {
        let rows: usize = rows.parse().expect("a number of rows");
        for kind in list(1, "auto") {
            let (mut regret, mut seconds, mut to_predict) = (0.0, 0.0, 0.0);
            for seed in 0..seeds {
                let (inputs, errors, _) = make(rows, seed);
                let data = Data::new(&inputs, COLUMNS, &errors)?;
                let options = Options::default()
                    .kind(kind.parse::<Kind>()?)
                    .law(LawKind::Auto)
                    .most_rows(10_000_000);
                let begin = Instant::now();
                let tasks = Tasks::default();
                let fitted = fit(&data, &names, &options, &tasks)?.fitted;
                seconds += begin.elapsed().as_secs_f64();
                let begin = Instant::now();
                let said = fitted.predict(&test)?;
                to_predict += begin.elapsed().as_secs_f64();
                let log = |(sigma, truth): (&f64, &f64)| (truth / sigma).ln();
                let each =
                    said.sigma().iter().zip(&truth).map(log).map(|q| (2.0 * q).exp_m1() / 2.0 - q);
                regret += each.sum::<f64>() / truth.len() as f64;
                if std::env::var_os("EXPLAIN").is_some() {
                    eprintln!("{}", fitted.model().explain());
                    for (Task { name, model, .. }, seconds) in
                        &*tasks.seconds.lock().expect("no panic")
                    {
                        eprintln!("  {seconds:7.3} s  {name} {}", model.unwrap_or(""));
                    }
                }
            }
            let n = seeds as f64;
            let (regret, seconds, to_predict) = (regret / n, seconds / n, to_predict / n);
            println!("| {rows} | {kind} | {regret:.5} | {seconds:.2} | {to_predict:.3} |");
        }
    }
    Ok(())
}
