//! Intervals: against formulas, and whether they hold the truth as often as they say.

use std::f64::consts::{PI, SQRT_2};

use errbar::score::bootstrap::{Interval, Intervals, Options, compare};
use errbar::score::{Judging, Sample, Scores, crps, nlpd, reliability};
use errbar::{Error, Monitor, Silent, math};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

fn normal(rows: usize, seed: u64) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(seed);
    (0..rows).map(|_| StandardNormal.sample(&mut random)).collect()
}

/// An autoregressive series of variance 1 and correlation `memory` between neighbours.
fn series(rows: usize, memory: f64, seed: u64) -> Vec<f64> {
    let noise = normal(rows, seed);
    let fresh = (1.0 - memory * memory).sqrt();
    let mut last = noise[0];
    let step = |noise: &f64| {
        let now = last;
        last = memory * last + fresh * noise;
        now
    };
    noise.iter().map(step).collect()
}

fn intervals(sample: &Sample, options: &Options) -> (Scores, Intervals) {
    let scores = Scores::of(sample).unwrap();
    let intervals = Intervals::with(sample, &scores, options, &Silent).unwrap();
    (scores, intervals)
}

/// The standard error of a mean is $\sqrt{\sum w^2 (t - \bar t)^2} / \sum w$, times
/// $\sqrt{n/(n-1)}$; that of 2000 resamples is uncertain by $1/\sqrt{4000}$, 1.6%, and that of 2048
/// units in place of all rows by as much again. Five of these, together, are 11%.
#[test]
fn standard_errors_of_means_are_those_of_the_formula() {
    for (rows, weighted) in [(50, false), (500, true), (40_000, false), (40_000, true)] {
        let error = normal(rows, 1);
        let sigma: Vec<f64> = normal(rows, 2).iter().map(|x| (0.3 * x).exp()).collect();
        let weight: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
        let weight = weighted.then_some(&weight[..]);
        let sample = Sample::new(&error, &sigma).unwrap().maybe_weighted(weight).unwrap();
        let options = Options::default().replicates(2000);
        let (scores, found) = intervals(&sample, &options);
        let of = |terms: Vec<f64>, mean: f64| {
            let w = |i: usize| weight.map_or(1.0, |w| w[i]);
            let total: f64 = (0..rows).map(w).sum();
            let squares: f64 = (0..rows).map(|i| (w(i) * (terms[i] - mean)).powi(2)).sum();
            squares.sqrt() / total * (rows as f64 / (rows as f64 - 1.0)).sqrt()
        };
        let inside =
            |q: f64| error.iter().zip(&sigma).map(move |(e, s)| f64::from(e.abs() <= q * s));
        let coverage = &scores.coverage[2];
        let q = SQRT_2 * math::erfinv(coverage.level);
        for (name, interval, expected) in [
            ("bias", found.bias, of(error.clone(), scores.bias)),
            ("crps", found.crps, of(crps::each(&sample), scores.crps)),
            ("nlpd", found.nlpd, of(nlpd::each(&sample), scores.nlpd)),
            ("sigma", found.mean_sigma, of(sigma.clone(), scores.mean_sigma)),
            ("coverage", found.coverage[2], of(inside(q).collect(), coverage.observed)),
        ] {
            let ratio = interval.standard_error / expected;
            assert!((ratio - 1.0).abs() < 0.11, "{name} of {rows} rows: off by {ratio}");
        }
    }
}

/// How often each interval holds the truth.
struct Tally(Vec<(&'static str, usize)>, usize);

impl Tally {
    fn count(&mut self, found: &[(&'static str, Interval, f64)]) {
        self.1 += 1;
        for &(name, interval, truth) in found {
            let place = self.0.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                self.0.push((name, 0));
                self.0.len() - 1
            });
            self.0[place].1 += usize::from(interval.contains(truth));
        }
    }

    fn shares(&self) -> Vec<(&'static str, f64)> {
        self.0.iter().map(|&(name, held)| (name, held as f64 / self.1 as f64)).collect()
    }
}

/// The standard deviation of the share of 500 intervals that hold the truth is
/// $\sqrt{0.95 \cdot 0.05/500}$, 1%. Allowed are four of these, and 1.5% that the method itself may
/// be off at this size.
const RUNS: u64 = 500;
const LOW: f64 = 0.95 - 0.04 - 0.015;

/// Errors `size` times as large as sigma says and moved by `shift`, where everything is known.
fn truths(size: f64, shift: f64) -> [f64; 4] {
    // CRPS = E|X - Y| - E|X - X'|/2, with the forecast X and the observation Y.
    let folded = |mean: f64, sd: f64| {
        sd * (2.0 / PI).sqrt() * (-0.5 * (mean / sd).powi(2)).exp()
            + mean * math::erf(mean / (sd * SQRT_2))
    };
    let crps = folded(shift, (1.0 + size * size).sqrt()) - 1.0 / PI.sqrt();
    let q = SQRT_2 * math::erfinv(0.9);
    let below = |z: f64| 0.5 * (1.0 + math::erf((z - shift) / (size * SQRT_2)));
    // RS = E|X - Y| - E|X - X'|/2 - E|Y - Y'|/2, of variables divided by sqrt 2.
    let rs = folded(shift, (1.0 + size * size).sqrt()) / SQRT_2 - (1.0 + size) / (2.0 * PI).sqrt();
    [shift, crps, below(q) - below(-q), rs]
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    for (rows, size, shift) in [(30, 1.3, 0.3), (200, 1.0, 0.0), (200, 1.5, 0.0), (200, 0.7, 0.2)] {
        let truth = truths(size, shift);
        let mut tally = Tally(Vec::new(), 0);
        for run in 0..RUNS {
            let error: Vec<f64> =
                normal(rows, 1000 + run).iter().map(|z| size * z + shift).collect();
            let sigma = vec![1.0; rows];
            let sample = Sample::new(&error, &sigma).unwrap();
            let options = Options::default().replicates(400).seed(run);
            let (_, found) = intervals(&sample, &options);
            tally.count(&[
                ("bias", found.bias, truth[0]),
                ("crps", found.crps, truth[1]),
                ("coverage", found.coverage[2], truth[2]),
                ("rs", found.rs, truth[3]),
            ]);
        }
        for (name, share) in tally.shares() {
            println!("{rows} rows, size {size}, shift {shift}: {name} held in {share}");
            assert!(share >= LOW, "{name} of {rows} rows held in {share}");
            // Not by being endlessly wide; RS of a calibrated forecast is always held.
            assert!(name == "rs" || share <= 0.995, "{name} of {rows} rows held in {share}");
        }
    }
}

/// The same from units in place of rows, beyond 16,384 of them.
#[test]
fn intervals_of_many_rows_hold_the_truth_too() {
    let (rows, runs) = (20_000, 100);
    for block in [1, 20] {
        let truth = truths(1.1, 0.0);
        let mut tally = Tally(Vec::new(), 0);
        for run in 0..runs {
            let error: Vec<f64> = normal(rows, 5000 + run).iter().map(|z| 1.1 * z).collect();
            let sigma = vec![1.0; rows];
            let sample = Sample::new(&error, &sigma).unwrap();
            let options = Options::default().replicates(200).seed(run).block(Some(block));
            let (_, found) = intervals(&sample, &options);
            tally.count(&[
                ("bias", found.bias, truth[0]),
                ("crps", found.crps, truth[1]),
                ("coverage", found.coverage[2], truth[2]),
                ("rs", found.rs, truth[3]),
            ]);
        }
        // 100 runs: four standard deviations are 8.7%.
        for (name, share) in tally.shares() {
            println!("{rows} rows, block {block}: {name} held in {share}");
            assert!(share >= 0.95 - 0.087 - 0.015, "{name}, block {block}: held in {share}");
        }
    }
}

/// Neighbours that have 0.8 in common leave $(1 - 0.8)/(1 + 0.8)$, a ninth, of the rows: intervals that take
/// them as independent are three times too narrow and hold the truth in half of the cases.
#[test]
fn blocks_make_up_for_rows_that_depend_on_each_other() {
    let (rows, runs) = (1500, 300);
    let truth = truths(1.0, 0.0);
    let mut found = [Tally(Vec::new(), 0), Tally(Vec::new(), 0)];
    for run in 0..runs {
        let error = series(rows, 0.8, 9000 + run);
        let sigma = vec![1.0; rows];
        let sample = Sample::new(&error, &sigma).unwrap();
        for (tally, block) in found.iter_mut().zip([1, 40]) {
            let options = Options::default().replicates(300).seed(run).block(Some(block));
            let (_, found) = intervals(&sample, &options);
            tally.count(&[
                ("bias", found.bias, truth[0]),
                ("crps", found.crps, truth[1]),
                ("coverage", found.coverage[2], truth[2]),
            ]);
        }
    }
    let [single, blocks] = found.map(|tally| tally.shares());
    println!("single rows {single:?}, blocks {blocks:?}");
    assert!(single[0].1 < 0.65, "bias by single rows held in {}", single[0].1);
    // 300 runs: four standard deviations are 5%; blocks of finite length cost some 2%.
    for (name, share) in blocks {
        assert!(share >= 0.95 - 0.05 - 0.02, "{name} by blocks held in {share}");
    }
}

/// An order that means something must not make the intervals of independent rows wider.
#[test]
fn the_order_of_independent_rows_does_not_matter() {
    let rows = 60_000;
    let mut error = normal(rows, 3);
    let sigma = vec![1.0; rows];
    let width = |error: &[f64]| {
        let sample = Sample::new(error, &sigma).unwrap();
        let single = Options::default().block(Some(1));
        intervals(&sample, &single).1.crps.standard_error
    };
    let before = width(&error);
    error.sort_by(f64::total_cmp);
    let ratio = width(&error) / before;
    // Two standard errors of 1000 resamples of 2048 units: 2.7% each.
    assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
}

#[test]
fn threads_do_not_change_the_bits_and_seeds_do() {
    for rows in [700, 30_000] {
        let error = normal(rows, 1);
        let sigma: Vec<f64> = normal(rows, 2).iter().map(|x| (0.3 * x).exp()).collect();
        let sample = Sample::new(&error, &sigma).unwrap();
        let with = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let options = Options::default().replicates(101).seed(seed).block(Some(5));
            pool.install(|| intervals(&sample, &options).1)
        };
        let one = with(1, 7);
        assert_eq!(one, with(2, 7));
        assert_eq!(one, with(5, 7));
        assert_ne!(one.crps, with(1, 8).crps);
    }
}

/// Only ratios of weights matter, and a row without weight does not count, whatever stands in it.
#[test]
fn weights_count_as_they_do_in_scores() {
    let error = normal(300, 1);
    let sigma = vec![1.0; 300];
    let weight: Vec<f64> = (0..300).map(|i| f64::from(i % 3)).collect();
    let sample = Sample::new(&error, &sigma).unwrap();
    let light = intervals(&sample.clone().weighted(&weight).unwrap(), &Options::default()).1;
    let heavy: Vec<f64> = weight.iter().map(|w| 8.0 * w).collect();
    let heavy = intervals(&sample.clone().weighted(&heavy).unwrap(), &Options::default()).1;
    assert_eq!(light.crps, heavy.crps);
    let mut wild = error.clone();
    (0..300).step_by(3).for_each(|row| wild[row] = 1e300);
    let wild = Sample::new(&wild, &sigma).unwrap().weighted(&weight).unwrap();
    let wild = intervals(&wild, &Options::default()).1;
    assert_eq!((light.crps, light.nlpd), (wild.crps, wild.nlpd));
    assert!(
        (light.rs.low - wild.rs.low).abs() < 1e-12 && (light.rs.high - wild.rs.high).abs() < 1e-12
    );
}

#[test]
fn units_of_measurement_do_not_matter() {
    let error = normal(200, 1);
    let sigma = vec![1.2; 200];
    let of = |unit: f64| {
        let (error, sigma): (Vec<f64>, Vec<f64>) =
            error.iter().zip(&sigma).map(|(e, s)| (e * unit, s * unit)).unzip();
        intervals(&Sample::new(&error, &sigma).unwrap(), &Options::default()).1
    };
    let one = of(1.0);
    for unit in [2f64.powi(-600), 2f64.powi(600)] {
        let other = of(unit);
        assert_eq!(one.crps.low * unit, other.crps.low);
        assert_eq!(one.coverage, other.coverage);
        assert!((one.rmse.high * unit / other.rmse.high - 1.0).abs() < 1e-12);
    }
}

/// Two sigmas on the same rows: the difference of CRPS is a mean over rows, and so has the standard error
/// of one; rows that are hard for both do not count.
#[test]
fn differences_are_those_of_the_same_rows() {
    let rows = 400;
    let error = normal(rows, 1);
    let (right, wide) = (vec![1.0; rows], vec![1.8; rows]);
    let samples = [Sample::new(&error, &wide).unwrap(), Sample::new(&error, &right).unwrap()];
    let options = Options::default().replicates(2000);
    let judging = Judging::default().drawing(options.clone());
    let found = compare(&samples, 0, &judging, &Silent).unwrap();
    assert!(found.candidates[0].difference.is_none());
    let difference = found.candidates[1].difference.unwrap();
    let each: Vec<f64> =
        crps::each(&samples[1]).iter().zip(crps::each(&samples[0])).map(|(a, b)| a - b).collect();
    let mean = each.iter().sum::<f64>() / rows as f64;
    let variance = each.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (rows as f64 - 1.0);
    let error_of_mean = (variance / rows as f64).sqrt();
    assert!((difference.crps.value - mean).abs() < 1e-14);
    assert!((difference.crps.interval.standard_error / error_of_mean - 1.0).abs() < 0.1);
    assert!(difference.crps.is_significant() && difference.crps.better > 0.99);
    assert!(difference.crps.p_value < 0.01 && difference.crps.p_value > 0.0);
    let apart = found.candidates[1].judgement.intervals.crps.standard_error;
    assert!(error_of_mean < 0.5 * apart, "paired {error_of_mean}, alone {apart}");
    let relative = difference.crps_relative.value;
    assert!((relative - mean / found.candidates[0].judgement.scores.crps).abs() < 1e-14);
    let rs = reliability::reliability(&samples[1]) - reliability::reliability(&samples[0]);
    assert!((difference.rs.value - rs).abs() < 1e-15 && difference.rs.is_significant());

    // What a candidate has by itself does not depend on the company.
    let alone = intervals(&samples[1], &options).1;
    assert_eq!(alone, found.candidates[1].judgement.intervals);
    // And nobody differs from himself.
    let twice = [samples[1].clone(), samples[1].clone()];
    let same = compare(&twice, 0, &judging, &Silent).unwrap().candidates[1].difference;
    let same = same.unwrap().crps;
    assert!(!same.is_significant() && same.p_value == 1.0 && same.better == 0.5, "{same:?}");
}

/// Sigmas that differ by noise alone are told apart in one of twenty cases.
#[test]
fn no_difference_is_rarely_seen_where_there_is_none() {
    let rows = 150;
    let runs = 400;
    let mut seen = 0;
    for run in 0..runs {
        let (error, noise) = (normal(rows, 100 + run), normal(rows, 70_000 + run));
        // Equally wrong in opposite ways at every row, and so equally good on average.
        let one: Vec<f64> = noise.iter().map(|x| (0.3 * x).exp()).collect();
        let two: Vec<f64> = noise.iter().map(|x| (-0.3 * x).exp()).collect();
        let samples = [Sample::new(&error, &one).unwrap(), Sample::new(&error, &two).unwrap()];
        let drawing = Options::default().replicates(300).seed(run);
        let judging = Judging::default().drawing(drawing);
        let found = compare(&samples, 0, &judging, &Silent).unwrap();
        seen += u64::from(found.candidates[1].difference.unwrap().crps.is_significant());
    }
    let share = seen as f64 / runs as f64;
    // 5%, four standard deviations of 1.1%, and 1.5% of the method.
    println!("a difference seen in {share}");
    assert!(share < 0.05 + 0.044 + 0.015 && share > 0.005, "{share}");
}

#[test]
fn what_cannot_be_had_is_not_made_up() {
    let sample = Sample::new(&[1.0], &[1.0]).unwrap();
    let (_, one) = intervals(&sample, &Options::default());
    assert!(!one.crps.is_known() && !one.coverage[0].is_known() && !one.rs.contains(0.0));
    let error = normal(20, 1);
    let sample = Sample::new(&error, &[1.0; 20]).unwrap();
    let (_, whole) = intervals(&sample, &Options::default().block(Some(50)));
    assert!(!whole.crps.is_known(), "a single block");
    // A row beyond the range of doubles: infinite scores, no panic.
    let sample = Sample::new(&[1e200, 1.0, 2.0], &[1e-200, 1.0, 1.0]).unwrap();
    intervals(&sample, &Options::default());
    let sample = Sample::new(&[0.0; 40], &[1.0; 40]).unwrap();
    let (_, still) = intervals(&sample, &Options::default());
    assert_eq!((still.bias.low, still.bias.high), (0.0, 0.0));
    assert_eq!((still.crps_skill.low, still.crps_skill.high), (0.0, 0.0));
}

#[test]
fn bad_options_are_named() {
    let error = normal(20, 1);
    let sample = Sample::new(&error, &[1.0; 20]).unwrap();
    let scores = Scores::of(&sample).unwrap();
    let refused = |options: Options| {
        Intervals::with(&sample, &scores, &options, &Silent).unwrap_err().to_string()
    };
    let usual = Options::default;
    assert!(refused(usual().replicates(0)).contains("replicates"));
    assert!(refused(usual().block(Some(0))).contains("block"));
    assert!(refused(usual().confidence(1.0)).contains("confidence"));
    let other = Sample::new(&error[..10], &[1.0; 10]).unwrap();
    assert!(Intervals::of(&other, &scores).is_err());
    let weighted = sample.clone().weighted(&[2.0; 20]).unwrap();
    let judging = Judging::default();
    let failed = |samples: &[Sample], against: usize| {
        compare(samples, against, &judging, &Silent).unwrap_err()
    };
    assert!(matches!(failed(&[sample.clone(), weighted], 0), Error::OtherWeights { index: 1 }));
    assert!(matches!(failed(&[sample.clone(), other], 0), Error::LengthMismatch { .. }));
    assert!(matches!(failed(std::slice::from_ref(&sample), 1), Error::BadNumber { .. }));
    assert!(matches!(failed(&[], 0), Error::Empty));
}

#[test]
fn a_monitor_can_stop_it() {
    struct Stop;
    impl Monitor for Stop {
        fn should_stop(&self) -> bool {
            true
        }
    }
    let error = normal(50, 1);
    let sample = Sample::new(&error, &[1.0; 50]).unwrap();
    let scores = Scores::of(&sample).unwrap();
    let stopped = Intervals::with(&sample, &scores, &Options::default(), &Stop);
    assert_eq!(stopped, Err(Error::Stopped));
}
