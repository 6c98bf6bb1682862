//! PIT, diagrams, coverage, spread and skill, and the best constant sigma, against scipy 1.17, exact
//! sums and the definitions written out; and whether chance does what it is said to do.

use errbar::Error;
use errbar::score::calibration::{
    binomial_interval, coverage, each_pit, kolmogorov_p_value, pit, pit_histogram,
    reliability_diagram, spread_skill,
};
use errbar::score::constant::{Constant, best_constant, mean_crps_with, skill};
use errbar::score::{Sample, crps};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// A small sample, and how often each row is written when it is weighted.
const ERROR: [f64; 12] = [-2.3, -1.1, -0.9, -0.4, -0.1, 0.2, 0.5, 0.6, 1.3, 1.7, 2.6, 0.3];
const SIGMA: [f64; 12] = [1.0, 0.5, 2.0, 1.5, 0.7, 0.9, 1.2, 0.4, 1.1, 2.5, 1.0, 0.6];
const TIMES: [f64; 12] = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0];

/// The small sample with rows written out instead of weighted.
fn written_out() -> (Vec<f64>, Vec<f64>) {
    let rows = |i: usize| std::iter::repeat_n((ERROR[i], SIGMA[i]), TIMES[i] as usize);
    (0..ERROR.len()).flat_map(rows).unzip()
}

/// Errors drawn with the given multiple of their sigmas, which lie between 0.3 and 3.
fn draw(rng: &mut Pcg64, n: usize, factor: f64) -> (Vec<f64>, Vec<f64>) {
    let mut row = |_| {
        let sigma = rng.random_range(0.3..3.0);
        (factor * sigma * rng.sample::<f64, _>(StandardNormal), sigma)
    };
    (0..n).map(&mut row).unzip()
}

fn near(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs(), "{got:e}, not {want:e}");
}

/// The normal distribution function from its power series, in decimals of 900 digits.
#[allow(clippy::excessive_precision)] // all the digits that are known
const CDF: [(f64, f64); 12] = [
    (-38.0, 2.885_428_360_068_784_3e-316), // below the smallest normal double
    (-30.0, 4.906_713_927_148_187e-198),
    (-20.0, 2.753_624_118_606_233_7e-89),
    (-8.0, 6.220_960_574_271_784e-16),
    (-3.0, 1.349_898_031_630_094_5e-3),
    (-1.5, 6.680_720_126_885_807e-2),
    (-0.25, 0.401_293_674_317_076_3),
    (0.0, 0.5),
    (0.25, 0.598_706_325_682_923_7),
    (1.5, 0.933_192_798_731_141_9),
    (3.0, 0.998_650_101_968_369_9),
    (8.0, 0.999_999_999_999_999_4),
];

#[test]
fn the_transform_is_the_normal_distribution_far_into_its_tails() {
    for (z, want) in CDF {
        // An argument off by a part in 2^53 changes a far tail by z² such parts.
        let tolerance = f64::EPSILON * (1.0 + z * z) * want + 5e-324;
        for sigma in [1.0, 4.0, 0.125] {
            let got = pit(z * sigma, sigma);
            assert!((got - want).abs() <= tolerance, "z = {z}: {got:e}, not {want:e}");
        }
    }
    assert_eq!((pit(-1e300, 1e-300), pit(1e300, 1e-300)), (0.0, 1.0));
    let (error, sigma) = draw(&mut Pcg64::seed_from_u64(1), 1000, 4.0);
    let all = each_pit(&Sample::new(&error, &sigma).unwrap());
    for i in 0..1000 {
        near(all[i], pit(error[i], sigma[i]), 1e-15);
    }
}

#[test]
fn the_histogram_counts_weights_in_bins_closed_on_the_right() {
    let (mut error, sigma) = draw(&mut Pcg64::seed_from_u64(2), 3000, 1.3);
    error[..5].copy_from_slice(&[0.0, 0.0, -1e3, 1e3, -0.0]); // u = 1/2, 0 and 1
    let weight: Vec<f64> = (0..3000).map(|i| f64::from(i % 4)).collect();
    let ones = vec![1.0; 3000];
    let u: Vec<f64> =
        (0..3000).map(|i| 0.5 * libm::erfc(-error[i] / sigma[i] / 2f64.sqrt())).collect();
    for (weight, bins) in [(&weight, 10), (&ones, 10), (&weight, 2), (&ones, 1), (&weight, 125)] {
        let sample = Sample::new(&error, &sigma).unwrap().weighted(weight).unwrap();
        let got = pit_histogram(&sample, bins, 0.9).unwrap();
        let total: f64 = weight.iter().sum();
        for k in 0..bins {
            let (from, to) = (k as f64 / bins as f64, (k + 1) as f64 / bins as f64);
            let inside = |u: f64| (u > from || k == 0) && u <= to;
            let want: f64 = (0..3000).filter(|&i| inside(u[i])).map(|i| weight[i]).sum();
            assert_eq!(got.frequency[k], want / total, "bin {k} of {bins}");
        }
        near(got.frequency.iter().sum(), 1.0, 1e-14);
    }
    let zero = Sample::new(&[0.0], &[1.0]).unwrap();
    assert_eq!(pit_histogram(&zero, 2, 0.9).unwrap().frequency, [1.0, 0.0]);
    let band = pit_histogram(&Sample::new(&error, &sigma).unwrap(), 3, 0.9).unwrap();
    // scipy.stats.binom.ppf([0.05, 0.95], 3000, 1/3)
    assert_eq!((band.low, band.high), (958.0 / 3000.0, 1043.0 / 3000.0));
}

#[test]
fn bad_bins_levels_and_confidences_are_refused() {
    let sample = Sample::new(&ERROR, &SIGMA).unwrap();
    for bins in [0, 7, 11, 13, 32, 18_001, 36_000] {
        let refused = |error: Error| matches!(error, Error::BadBins { bins: b, .. } if b == bins);
        assert!(refused(pit_histogram(&sample, bins, 0.9).unwrap_err()));
        assert!(refused(reliability_diagram(&sample, bins, 0.9).unwrap_err()));
    }
    assert!(matches!(spread_skill(&sample, 0), Err(Error::BadBins { bins: 0, .. })));
    for value in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
        let refused = |error: Error| matches!(error, Error::NotAProbability { value: v, .. } if v.to_bits() == value.to_bits());
        assert!(refused(pit_histogram(&sample, 10, value).unwrap_err()));
        assert!(refused(reliability_diagram(&sample, 10, value).unwrap_err()));
        assert!(refused(coverage(&sample, &[0.5], value).unwrap_err()));
        assert!(refused(coverage(&sample, &[0.5, value], 0.9).unwrap_err()));
    }
}

/// Lower and upper end at four confidences.
type Intervals = [(u64, u64); 4];

/// n, p and scipy.stats.binom.ppf((1 - c)/2) and ((1 + c)/2) for c = 0.5, 0.9, 0.95, 0.99.
#[rustfmt::skip]
const BINOMIAL: [(u64, f64, Intervals); 24] = [
    (2, 0.001, [(0, 0), (0, 0), (0, 0), (0, 0)]),
    (2, 0.05, [(0, 0), (0, 1), (0, 1), (0, 1)]),
    (2, 0.5, [(0, 1), (0, 2), (0, 2), (0, 2)]),
    (2, 0.95, [(2, 2), (1, 2), (1, 2), (1, 2)]),
    (10, 0.001, [(0, 0), (0, 0), (0, 0), (0, 1)]),
    (10, 0.05, [(0, 1), (0, 2), (0, 2), (0, 3)]),
    (10, 0.5, [(4, 6), (2, 8), (2, 8), (1, 9)]),
    (10, 0.95, [(9, 10), (8, 10), (8, 10), (7, 10)]),
    (133, 0.001, [(0, 0), (0, 1), (0, 1), (0, 2)]),
    (133, 0.05, [(5, 8), (3, 11), (2, 12), (1, 14)]),
    (133, 0.5, [(63, 70), (57, 76), (55, 78), (52, 81)]),
    (133, 0.95, [(125, 128), (122, 130), (121, 131), (119, 132)]),
    (1000, 0.001, [(0, 2), (0, 3), (0, 3), (0, 4)]),
    (1000, 0.05, [(45, 55), (39, 62), (37, 64), (33, 69)]),
    (1000, 0.5, [(489, 511), (474, 526), (469, 531), (459, 541)]),
    (1000, 0.95, [(945, 955), (938, 961), (936, 963), (931, 967)]),
    (100_000, 0.001, [(93, 107), (84, 117), (81, 120), (75, 127)]),
    (100_000, 0.05, [(4953, 5046), (4887, 5114), (4865, 5136), (4823, 5178)]),
    (100_000, 0.5, [(49893, 50107), (49740, 50260), (49690, 50310), (49593, 50407)]),
    (100_000, 0.95, [(94954, 95047), (94886, 95113), (94864, 95135), (94822, 95177)]),
    (1_000_000_000, 0.001, [(999_326, 1_000_674), (998_356, 1_001_644), (998_041, 1_001_959), (997_426, 1_002_575)]),
    (1_000_000_000, 0.05, [(49_995_351, 50_004_649), (49_988_664, 50_011_337), (49_986_492, 50_013_509), (49_982_248, 50_017_754)]),
    (1_000_000_000, 0.5, [(499_989_335, 500_010_665), (499_973_993, 500_026_007), (499_969_010, 500_030_990), (499_959_273, 500_040_727)]),
    (1_000_000_000, 0.95, [(949_995_351, 950_004_649), (949_988_663, 950_011_336), (949_986_491, 950_013_508), (949_982_246, 950_017_752)]),
];

#[test]
fn the_binomial_interval_is_scipys() {
    for (n, p, intervals) in BINOMIAL {
        // Beyond a variance of a million the normal distribution stands in, which is off by its
        // lack of skewness, at most (z² - 1)/6 of a count: below 0.94 at 99%.
        let slack = u64::from(n as f64 * p * (1.0 - p) > 1e6);
        for (want, c) in intervals.into_iter().zip([0.5, 0.9, 0.95, 0.99]) {
            let got = binomial_interval(n, p, c);
            let off = got.0.abs_diff(want.0).max(got.1.abs_diff(want.1));
            assert!(off <= slack, "n = {n}, p = {p}, {c}: {got:?}, not {want:?}");
        }
    }
    // One draw: 0 with probability 1 - p.
    for (p, c, want) in [(0.001, 0.99, (0, 0)), (0.05, 0.89, (0, 0)), (0.05, 0.91, (0, 1))] {
        assert_eq!(binomial_interval(1, p, c), want);
        assert_eq!(binomial_interval(1, 1.0 - p, c), (1 - want.1, 1 - want.0));
    }
    for (n, c) in [(1, 0.5), (10, 0.9), (u64::MAX, 0.99)] {
        assert_eq!(binomial_interval(n, 0.0, c), (0, 0));
        assert_eq!(binomial_interval(n, 1.0, c), (n, n));
        assert_eq!(binomial_interval(0, 0.3, c), (0, 0));
    }
}

#[test]
fn the_binomial_interval_takes_any_number_of_draws() {
    // On a thread of its own: what overflows may also never end.
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(binomial_interval(u64::MAX, 1e-15, 0.95)));
    let got = receiver.recv_timeout(std::time::Duration::from_secs(10));
    assert_eq!(got, Ok((18_181, 18_713))); // scipy.stats.poisson.ppf, the same at this p
}

/// Rows, and distances with scipy.stats.kstwo.sf.
#[rustfmt::skip]
const KOLMOGOROV: [(f64, [(f64, f64); 4]); 5] = [
    (5.0, [(0.2303, 0.900_051_7), (0.3419, 0.500_044_9), (0.5633, 0.049_983_3), (0.6685, 0.010_005_6)]),
    (10.0, [(0.1674, 0.899_954_2), (0.2469, 0.499_812_8), (0.4092, 0.050_041_8), (0.4889, 0.010_007_1)]),
    (50.0, [(0.07775, 0.900_019_0), (0.1139, 0.499_584_7), (0.1884, 0.050_012_6), (0.226, 0.010_017_3)]),
    (1e3, [(0.0179, 0.899_962_2), (0.02601, 0.499_766_3), (0.04278, 0.049_969_9), (0.05129, 0.010_008_6)]),
    (1e5, [(0.001805, 0.899_834_7), (0.002615, 0.500_175_3), (0.004293, 0.050_001_3), (0.005145, 0.010_006_6)]),
];

#[test]
fn the_kolmogorov_p_value_is_near_the_exact_one_and_tends_to_the_limit() {
    for (rows, values) in KOLMOGOROV {
        for (deviation, want) in values {
            let got = kolmogorov_p_value(deviation, rows);
            // Stephens' correction is made for small p: it is off by 2% of p at 0.05 (14% at 0.01
            // with 5 rows), and in the body by 0.023 at most, falling like 0.13/sqrt(rows).
            let tolerance = match want {
                p if p > 0.2 => 0.023f64.min(0.14 / rows.sqrt()),
                p if p > 0.02 => 0.018 * p,
                p => p * if rows < 10.0 { 0.14 } else { 0.04 },
            };
            assert!((got - want).abs() < tolerance, "{rows} rows: {got}, not {want}");
        }
    }
    // scipy.stats.kstwobign.sf, on both sides of the change of series at 1.18.
    for (x, want) in [
        (0.3, 0.999_990_694_198_665_5),
        (0.5, 0.963_945_243_664_875_1),
        (0.8, 0.544_142_411_574_198_1),
        (1.17, 0.129_390_042_185_618_84),
        (1.19, 0.117_742_292_879_771_66),
        (1.36, 0.049_485_876_755_377_876),
        (2.0, 0.000_670_925_255_779_695_3),
        (4.0, 2.532_833_109_818_835e-14),
    ] {
        let got = kolmogorov_p_value(x * 1e-15, 1e30);
        // The first series gives 1 - p, so it has an absolute error.
        let tolerance = if x < 1.18 { 4e-16 } else { f64::EPSILON * (1.0 + 4.0 * x * x) * want };
        assert!((got - want).abs() <= tolerance, "{x}: {got:e}, not {want:e}");
    }
    assert_eq!(kolmogorov_p_value(0.0, 10.0), 1.0);
}

#[test]
fn the_diagram_has_scipys_largest_deviation_and_counts_weights_as_rows() {
    let plain = reliability_diagram(&Sample::new(&ERROR, &SIGMA).unwrap(), 20, 0.9).unwrap();
    // scipy.stats.kstest(norm.cdf(error / sigma), "uniform")
    near(plain.largest_deviation, 0.171_262_885_462_390_7, 1e-14);
    assert!((plain.p_value - 0.816_676).abs() < 0.023);
    let sample = Sample::new(&ERROR, &SIGMA).unwrap().weighted(&TIMES).unwrap();
    let weighted = reliability_diagram(&sample, 20, 0.9).unwrap();
    near(weighted.largest_deviation, 0.162_567_140_721_795_54, 1e-14);
    let (error, sigma) = written_out();
    let repeated = reliability_diagram(&Sample::new(&error, &sigma).unwrap(), 20, 0.9).unwrap();
    near(repeated.largest_deviation, weighted.largest_deviation, 1e-14);
    assert_eq!(weighted.observed, repeated.observed);
    for (k, &p) in plain.nominal.iter().enumerate() {
        near(p, 0.05 * (k + 1) as f64, 1e-15);
        let below = (0..12).filter(|&i| pit(ERROR[i], SIGMA[i]) <= p).count();
        near(plain.observed[k], below as f64 / 12.0, 1e-15);
        let (low, high) = binomial_interval(12, p, 0.9);
        assert_eq!((plain.low[k], plain.high[k]), (low as f64 / 12.0, high as f64 / 12.0));
        // Weighted rows are worth 17²/29 = 9.97 rows, in round numbers 10.
        let (low, high) = binomial_interval(10, p, 0.9);
        assert_eq!((weighted.low[k], weighted.high[k]), (low as f64 / 10.0, high as f64 / 10.0));
    }
    assert_eq!(plain.nominal.len(), 19);
}

#[test]
fn coverage_counts_what_lies_inside_intervals_of_scipys_width() {
    // scipy.stats.norm.ppf((1 + level) / 2)
    let levels = [0.5, 0.9, 0.95, 0.99];
    let reach = [
        0.674_489_750_196_081_7,
        1.644_853_626_951_472_2,
        1.959_963_984_540_054,
        2.575_829_303_548_900_4,
    ];
    let (error, sigma) = draw(&mut Pcg64::seed_from_u64(3), 2000, 1.4);
    let weight: Vec<f64> = (0..2000).map(|i| f64::from(i % 3)).collect();
    let ones = vec![1.0; 2000];
    for weight in [&ones, &weight] {
        let plain = Sample::new(&error, &sigma).unwrap();
        let got = coverage(&plain.weighted(weight).unwrap(), &levels, 0.95).unwrap();
        let total: f64 = weight.iter().sum();
        let mean_sigma = sigma.iter().zip(weight).map(|(s, w)| s * w).sum::<f64>() / total;
        for (got, (level, q)) in got.iter().zip(levels.into_iter().zip(reach)) {
            let inside = (0..2000).filter(|&i| error[i].abs() <= q * sigma[i]).map(|i| weight[i]);
            assert_eq!((got.level, got.observed), (level, inside.sum::<f64>() / total));
            near(got.mean_width, 2.0 * q * mean_sigma, 2e-15);
        }
    }
    // The interval is closed: an error of 0 is inside even where q sigma is too small for a double.
    let narrow = Sample::new(&[0.0, 0.5], &[5e-324, 1.0]).unwrap();
    assert_eq!(coverage(&narrow, &[1e-9], 0.9).unwrap()[0].observed, 0.5);
}

/// Root mean square of values with weights, relative to the largest.
fn root_mean_square(values: &[f64], weight: &[f64]) -> f64 {
    let largest = values.iter().fold(0f64, |m, v| m.max(v.abs()));
    let sum: f64 = values.iter().zip(weight).map(|(v, w)| w * (v / largest).powi(2)).sum();
    largest * (sum / weight.iter().sum::<f64>()).sqrt()
}

#[test]
fn spread_and_skill_are_root_mean_squares_over_rows_of_like_sigma() {
    // Ten rows in shuffled order, sigma = 1..10, of total weight 10: five bins of two rows.
    let order = [3, 7, 1, 10, 2, 9, 4, 8, 5, 6];
    let sigma: Vec<f64> = order.iter().map(|&k| f64::from(k)).collect();
    let error: Vec<f64> = order.iter().map(|&k| f64::from(k * k % 7) - 3.0).collect();
    let of = |k: u32| error[order.iter().position(|&j| j == k as i32).unwrap()];
    let bins = spread_skill(&Sample::new(&error, &sigma).unwrap(), 5).unwrap();
    assert_eq!(bins.len(), 5);
    for (bin, k) in bins.iter().zip((1..).step_by(2)) {
        let (a, b) = (f64::from(k), f64::from(k + 1));
        assert_eq!((bin.rows, bin.sigma_from, bin.sigma_to), (2, a, b));
        near(bin.spread, ((a * a + b * b) / 2.0).sqrt(), 4e-16);
        near(bin.skill, ((of(k).powi(2) + of(k + 1).powi(2)) / 2.0).sqrt(), 4e-16);
    }
    // Each distinct sigma has at most one bin; equal sigmas share theirs; weight 0 has none.
    assert_eq!(spread_skill(&Sample::new(&error, &sigma).unwrap(), 1000).unwrap().len(), 10);
    let constant = spread_skill(&Sample::new(&error, &[2.5; 10]).unwrap(), 5).unwrap();
    assert_eq!(constant.len(), 1);
    assert_eq!((constant[0].rows, constant[0].spread), (10, 2.5));
    near(constant[0].skill, root_mean_square(&error, &[1.0; 10]), 4e-16);
    // A run of equal sigmas goes where its middle is: here 2 to 8 of 10, into the upper half.
    let (e, w) = ([1.0, 2.0, 3.0, 9.0, 9.0], [2.0, 6.0, 2.0, 0.0, 0.0]);
    let s = [1.0, 2.0, 4.0, 0.5, 7.0];
    let bins = spread_skill(&Sample::new(&e, &s).unwrap().weighted(&w).unwrap(), 2).unwrap();
    assert_eq!(bins.len(), 2);
    assert_eq!((bins[0].rows, bins[0].sigma_from, bins[0].sigma_to), (1, 1.0, 1.0));
    assert_eq!((bins[1].rows, bins[1].sigma_from, bins[1].sigma_to), (2, 2.0, 4.0));
    assert_eq!((bins[0].spread, bins[0].skill), (1.0, 1.0));
    near(bins[1].spread, 7f64.sqrt(), 4e-16); // (6·4 + 2·16) / 8
    near(bins[1].skill, 5.25f64.sqrt(), 4e-16); // (6·4 + 2·9) / 8
}

#[test]
fn spread_and_skill_do_not_overflow_at_any_magnitude() {
    let (error, sigma) = ([3.0, -4.0, 0.5, 2.0], [1.0, 2.0, 5.0, 3.0]);
    for (unit_of_error, unit_of_sigma) in
        [(1e200, 1e200), (1e-200, 1e-200), (1e200, 1e-200), (1e-200, 1e200)]
    {
        let error = error.map(|e| e * unit_of_error);
        let sigma = sigma.map(|s| s * unit_of_sigma);
        let bins = spread_skill(&Sample::new(&error, &sigma).unwrap(), 1).unwrap();
        near(bins[0].spread, root_mean_square(&sigma, &[1.0; 4]), 1e-15);
        near(bins[0].skill, root_mean_square(&error, &[1.0; 4]), 1e-15);
    }
    let sigma = [1e-200, 1e200];
    let bins = spread_skill(&Sample::new(&[1.0, 2.0], &sigma).unwrap(), 1).unwrap();
    near(bins[0].spread, 1e200 / 2f64.sqrt(), 1e-15);
    near(bins[0].skill, 2.5f64.sqrt(), 1e-15);
}

#[test]
fn the_best_constant_is_scipys_and_has_the_units_of_the_errors() {
    // scipy.optimize.brentq on the derivative of the mean CRPS, which minimize_scalar confirms.
    let plain = (1.261_692_785_400_32, 0.721_308_953_703_468_8);
    let weighted = (1.179_321_064_888_204_9, 0.673_700_155_329_303);
    let ones = [1.0; 12];
    for (weight, (sigma, crps)) in [(ones, plain), (TIMES, weighted)] {
        for unit in [1.0, 1e-150, 1e150, 1e-6] {
            let error = ERROR.map(|e| e * unit);
            let sample = Sample::new(&error, &SIGMA).unwrap().weighted(&weight).unwrap();
            let got = best_constant(&sample);
            near(got.sigma, sigma * unit, 1e-12);
            near(got.crps, crps * unit, 1e-15);
            near(mean_crps_with(&sample, sigma * unit), crps * unit, 1e-15);
        }
    }
}

#[test]
fn no_constant_does_better_than_the_best() {
    let mut rng = Pcg64::seed_from_u64(8);
    for _ in 0..1000 {
        let n = rng.random_range(1..200);
        let (error, sigma) = draw(&mut rng, n, 1.0);
        let best = best_constant(&Sample::new(&error, &sigma).unwrap());
        let with = |sigma: f64| error.iter().map(|&e| crps::crps(e, sigma)).sum::<f64>() / n as f64;
        near(best.crps, with(best.sigma), 1e-14);
        for factor in [0.01, 0.1, 0.5, 0.999, 1.001, 2.0, 10.0, 100.0] {
            assert!(with(factor * best.sigma) > best.crps, "{best:?} of {n} rows, times {factor}");
        }
    }
}

#[test]
fn the_best_constant_is_zero_when_enough_errors_are() {
    let of = |error: &[f64]| best_constant(&Sample::new(error, &vec![1.0; error.len()]).unwrap());
    assert_eq!(of(&[0.0; 7]), Constant { sigma: 0.0, crps: 0.0 });
    // 71 of 100 are more than 1/sqrt(2); at 70 the root is exp(-1/2s²) = (1/sqrt(2) - 0.7)/0.3.
    let with_zeros = |zeros: usize, small: f64| -> Vec<f64> {
        (0..100).map(|i| if i < zeros { small } else { -1.0 }).collect()
    };
    assert_eq!(of(&with_zeros(71, 0.0)), Constant { sigma: 0.0, crps: 0.29 });
    let root = (-0.5 / ((0.5f64.sqrt() - 0.7) / 0.3).ln()).sqrt();
    near(of(&with_zeros(70, 0.0)).sigma, root, 1e-12);
    // Nearly zero instead: 3/4 exp(-e²/2s²) = 1/sqrt(2), since nothing is left of the others.
    let ratio = (-0.5 / (0.5f64.sqrt() / 0.75).ln()).sqrt();
    for small in [1e-3, 1e-30, 1e-100] {
        near(of(&with_zeros(75, small)).sigma, ratio * small, 1e-12);
    }
}

#[test]
fn skill_is_the_share_of_the_constants_crps_that_is_saved() {
    let constant = Constant { sigma: 1.0, crps: 0.5 };
    assert_eq!([0.5, 0.25, 0.0, 1.0].map(|crps| skill(crps, constant)), [0.0, 0.5, 1.0, -1.0]);
    assert_eq!(skill(0.3, Constant { sigma: 0.0, crps: 0.0 }), 0.0);
    // With the true sigmas, CRPS is mean(sigma)/sqrt(pi); no constant reaches it.
    let (error, sigma) = draw(&mut Pcg64::seed_from_u64(4), 20_000, 1.0);
    let sample = Sample::new(&error, &sigma).unwrap();
    assert!(skill(crps::mean(&sample), best_constant(&sample)) > 0.03);
}

/// Four standard errors of a frequency around `want` in `runs` runs.
fn within_chance(hits: usize, runs: usize, want: f64) {
    let (share, n) = (hits as f64 / runs as f64, runs as f64);
    assert!((share - want).abs() < 4.0 * (want * (1.0 - want) / n).sqrt(), "{share}, not {want}");
}

#[test]
fn bands_and_p_values_hold_as_often_as_they_say() {
    let (runs, n) = (2000, 200);
    let mut rng = Pcg64::seed_from_u64(5);
    let (mut covered, mut on_diagram, mut in_bin) = ([0; 3], 0, 0);
    let (mut below_005, mut below_05) = (0, 0);
    for _ in 0..runs {
        let (error, sigma) = draw(&mut rng, n, 1.0);
        let sample = Sample::new(&error, &sigma).unwrap();
        let levels = coverage(&sample, &[0.5, 0.9, 0.95], 0.95).unwrap();
        for (hits, c) in covered.iter_mut().zip(levels) {
            *hits += usize::from(c.low <= c.observed && c.observed <= c.high);
        }
        let diagram = reliability_diagram(&sample, 10, 0.95).unwrap();
        let inside = |k: usize| {
            diagram.low[k] <= diagram.observed[k] && diagram.observed[k] <= diagram.high[k]
        };
        on_diagram += usize::from(inside(4)); // at 1/2
        below_005 += usize::from(diagram.p_value < 0.05);
        below_05 += usize::from(diagram.p_value < 0.5);
        let pit = pit_histogram(&sample, 10, 0.95).unwrap();
        in_bin += usize::from(pit.low <= pit.frequency[3] && pit.frequency[3] <= pit.high);
    }
    // The exact binomial probabilities of those bands, from scipy: 95% and what whole counts add.
    for (hits, want) in covered.into_iter().zip([0.959_963, 0.966_884, 0.967_152]) {
        within_chance(hits, runs, want);
    }
    within_chance(on_diagram, runs, 0.959_963);
    within_chance(in_bin, runs, 0.966_884); // probability 0.1 mirrors 0.9
    within_chance(below_005, runs, 0.05);
    within_chance(below_05, runs, 0.5);
}

#[test]
fn a_sigma_too_small_by_half_is_found_out_and_bends_the_histogram_up_at_its_ends() {
    let n = 20_000;
    let (error, sigma) = draw(&mut Pcg64::seed_from_u64(6), n, 2.0);
    let sample = Sample::new(&error[..500], &sigma[..500]).unwrap();
    assert!(reliability_diagram(&sample, 10, 0.95).unwrap().p_value < 1e-6);
    let pit = pit_histogram(&Sample::new(&error, &sigma).unwrap(), 10, 0.95).unwrap();
    // The probability of each bin, Phi(q(b)/2) - Phi(q(a)/2), from scipy; the rest mirrors it.
    for (k, want) in [0.260_834, 0.076_113, 0.059_637, 0.053_016, 0.050_401].into_iter().enumerate()
    {
        for k in [k, 9 - k] {
            within_chance((pit.frequency[k] * n as f64).round() as usize, n, want);
        }
    }
    assert!(pit.frequency[0] > pit.high && pit.frequency[5] < pit.low);
}
