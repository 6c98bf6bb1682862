//! Accumulators: parts merged in any order against the whole sample, and how far RS can be off.

use errbar::Error;
use errbar::score::accumulate::{Accumulator, Merged};
use errbar::score::reliability::reliability;
use errbar::score::{Options, Sample, Scores};
use rand::{RngExt, SeedableRng};
use rand_distr::{Cauchy, StandardNormal};
use rand_pcg::Pcg64;
use std::f64::consts::SQRT_2;

/// The width of the bins of eta below 4.
const WIDTH: f64 = 1.0 / 1024.0;

/// Errors, sigmas and weights.
#[derive(Clone)]
struct Rows(Vec<f64>, Vec<f64>, Vec<f64>);

impl Rows {
    fn sample(&self) -> Sample<'_> {
        Sample::new(&self.0, &self.1).unwrap().weighted(&self.2).unwrap()
    }

    fn part(&self, from: usize, to: usize) -> Accumulator {
        let sample = Sample::new(&self.0[from..to], &self.1[from..to]).unwrap();
        let mut part = Accumulator::default();
        part.add(&sample.weighted(&self.2[from..to]).unwrap()).unwrap();
        part
    }

    fn merged(&self) -> Merged {
        let mut all = Accumulator::default();
        all.merge(&self.part(0, self.0.len()));
        all.scores().unwrap()
    }

    /// Rows of weight 1 and sigma 1 with the given eta.
    fn of_eta(eta: impl IntoIterator<Item = f64>) -> Self {
        let error: Vec<f64> = eta.into_iter().map(|eta| SQRT_2 * eta).collect();
        let ones = vec![1.0; error.len()];
        Self(error, ones.clone(), ones)
    }
}

/// Sigmas between 0.3 and 3, errors `factor` times as large, weights of 1/4, 1/2, 3/4, 1 or 5/4.
fn draw(seed: u64, n: usize, factor: f64) -> Rows {
    let mut rng = Pcg64::seed_from_u64(seed);
    let sigma: Vec<f64> = (0..n).map(|_| rng.random_range(0.3..3.0)).collect();
    let error: Vec<f64> =
        sigma.iter().map(|s| factor * s * rng.sample::<f64, _>(StandardNormal)).collect();
    Rows(error, sigma, (0..n).map(|_| 0.25 * f64::from(rng.random_range(1..6))).collect())
}

fn near(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "{got:e}, not {want:e}");
}

/// The largest distance of merged RS from exact RS as a share of the bound, which it must not pass.
fn share_of_bound(rows: &Rows) -> f64 {
    let merged = rows.merged();
    let off = (merged.rs - reliability(&rows.sample())).abs();
    assert!(off <= merged.rs_bound, "off by {off:e}, bound {:e}", merged.rs_bound);
    off / merged.rs_bound
}

#[test]
fn any_parts_merged_in_any_order_have_the_scores_of_the_whole() {
    let rows = draw(1, 3000, 1.2);
    let whole = Scores::of(&rows.sample()).unwrap();
    let total: f64 = rows.2.iter().sum();
    let effective_rows = total * total / rows.2.iter().map(|w| w * w).sum::<f64>();
    let mut rng = Pcg64::seed_from_u64(2);
    for parts in [1, 2, 7, 100, 3000] {
        let mut cuts: Vec<usize> = (0..parts - 1).map(|_| rng.random_range(1..3000)).collect();
        cuts.extend([0, 3000]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut heap: Vec<_> = cuts.windows(2).map(|cut| rows.part(cut[0], cut[1])).collect();
        while heap.len() > 1 {
            let one = heap.swap_remove(rng.random_range(0..heap.len()));
            let other = rng.random_range(0..heap.len());
            heap[other].merge(&one);
        }
        let merged = heap[0].scores().unwrap();
        assert_eq!(merged.rows, 3000);
        for (got, want, scale) in [
            (merged.effective_rows, effective_rows, effective_rows),
            (merged.bias, whole.bias, whole.mae),
            (merged.mae, whole.mae, whole.mae),
            (merged.rmse, whole.rmse, whole.rmse),
            (merged.mean_sigma, whole.mean_sigma, whole.mean_sigma),
            (merged.crps, whole.crps, whole.crps),
            (merged.nlpd, whole.nlpd, whole.nlpd.abs()),
            (merged.ar.beta, whole.ar.beta, whole.ar.beta),
        ] {
            near(got, want, 1e-14 * scale);
        }
        // Weights are multiples of 1/4, so that counts are exact in any order.
        assert_eq!(merged.pit, whole.pit);
        assert_eq!(merged.diagram.observed, whole.diagram.observed);
        assert_eq!(merged.coverage.len(), 5);
        for (got, want) in merged.coverage.iter().zip(&whole.coverage) {
            assert_eq!((got.observed, got.low, got.high), (want.observed, want.low, want.high));
            near(got.mean_width, want.mean_width, 1e-14 * want.mean_width);
        }
        near(merged.rs, whole.rs, merged.rs_bound);
        near(merged.ar.value, whole.ar.value, merged.rs_bound);
        near(merged.ar.rs, merged.rs, 0.0);
    }
}

#[test]
fn what_one_part_rounds_away_is_not_lost_in_another() {
    let of = |error: f64| Rows(vec![error], vec![1e16], vec![1.0]).part(0, 1);
    let (mut here, mut there) = (of(-1e16), of(1e16));
    there.merge(&of(1.0)); // 1e16 + 1 is no double
    here.merge(&there);
    assert_eq!(here.scores().unwrap().bias, 1.0 / 3.0);
}

#[test]
fn the_reliability_score_is_within_its_bound_for_every_kind_of_sample() {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut cauchy = draw(4, 3000, 1.0);
    for (error, sigma) in cauchy.0.iter_mut().zip(&cauchy.1) {
        *error = sigma * rng.sample(Cauchy::new(0.0, 1.0).unwrap());
    }
    let mut far = draw(5, 100, 1.0); // beyond the last bin but one, which begins at 2^20
    far.0.iter_mut().zip(0..).for_each(|(e, k)| *e *= 10f64.powi(k % 12));
    let mut tied = draw(6, 1000, 1.0);
    tied.0.iter_mut().for_each(|e| *e = e.round());
    tied.1.fill(1.0);
    let mut uneven = draw(7, 1000, 1.0);
    uneven.2.iter_mut().for_each(|w| *w = rng.random_range(-9f64..9.0).exp());
    let clump = |_| 2.0 + 1e-3 * rng.sample::<f64, _>(StandardNormal);
    let clumped = Rows::of_eta((0..1000).map(clump));
    for rows in [draw(8, 10_000, 1.0), draw(9, 3000, 3.0), draw(10, 3000, 0.1), cauchy, far] {
        share_of_bound(&rows);
    }
    for rows in [tied, uneven, clumped, draw(11, 2, 1.0), Rows::of_eta([0.0, -0.0, 4.0, -4.0])] {
        share_of_bound(&rows);
    }
    // One row has no pairs: nothing is left but rounding.
    let one = draw(12, 1, 1.0);
    share_of_bound(&one);
    assert!(one.merged().rs_bound < 4e-15);
}

#[test]
fn the_bound_is_as_small_as_promised_for_a_calibrated_forecast() {
    // sum (c/W)² h/6 is about h² ∫f²/6 = h²/(6 sqrt(2 pi)), 6.3e-8, when there are many rows to a
    // bin, and at most twice that when there are few.
    let many = h_squared_over(6.0 * (2.0 * std::f64::consts::PI).sqrt());
    assert!(draw(13, 10_000, 1.0).merged().rs_bound < 2.0 * many);
    let quantile = |i: u32| errbar::math::erfinv((2.0 * f64::from(i) + 1.0) / 3e5 - 1.0);
    let bound = Rows::of_eta((0..300_000).map(quantile)).merged().rs_bound;
    near(bound, many, 0.02 * many);
}

fn h_squared_over(x: f64) -> f64 {
    WIDTH * WIDTH / x
}

#[test]
fn clumps_reach_the_bound_but_do_not_pass_it() {
    let (low, high) = (300.0 * WIDTH + 1e-12, 301.0 * WIDTH - 1e-12);
    // All in one place: h/6 is put where nothing is. Two rows at the ends: h/12 where h/4 is.
    assert!(share_of_bound(&Rows::of_eta(vec![low; 1000])) > 0.999_999);
    assert!(share_of_bound(&Rows::of_eta([low, high])) > 0.999_999);
    assert!(share_of_bound(&Rows::of_eta([-low, -high])) > 0.999_999);
    // Many rows, half of them at either end: h/6 where h/4 is, which is half of the bound.
    let ends = Rows::of_eta((0..1000).map(|i| if i % 2 == 0 { low } else { high }));
    let (share, merged) = (share_of_bound(&ends), ends.merged());
    near(share, 0.5, 0.002);
    let own = 1.0 - 1.0 / 1000.0; // pairs of different rows
    near(merged.rs - reliability(&ends.sample()), WIDTH * (0.25 - own / 6.0), 1e-11);
    near(merged.rs_bound, WIDTH * own / 6.0, 1e-14);
}

#[test]
fn the_bound_includes_the_rounding_of_many_equal_rows() {
    // Each addition of the same number to a growing sum rounds the same way for a long while.
    for (a, b) in [(0.1, 1.3), (-3.3, 0.7), (2.2, -2.7), (1.9, 1.8), (-2.7, -2.55), (0.9, 0.9)] {
        let rows = Rows::of_eta((0..300_000).map(|i| if i % 2 == 0 { a } else { b }));
        assert!(share_of_bound(&rows) > 0.999_999);
    }
}

#[test]
fn equal_weights_change_no_mean_whatever_their_value_and_number() {
    let Rows(error, sigma, _) = draw(24, 300_000, 1.0);
    let plain = Scores::of(&Sample::new(&error, &sigma).unwrap()).unwrap();
    let rows = Rows(error, sigma, vec![0.1; 300_000]);
    let (whole, merged) = (Scores::of(&rows.sample()).unwrap(), rows.merged());
    for crps in [whole.crps, merged.crps] {
        near(crps, plain.crps, 1e-14 * plain.crps);
    }
    for mae in [whole.mae, merged.mae] {
        near(mae, plain.mae, 1e-14 * plain.mae);
    }
    near(whole.rs, plain.rs, 1e-14);
    near(merged.rs, plain.rs, merged.rs_bound);
}

#[test]
fn the_largest_deviation_is_at_most_one_fine_bin_below_the_exact_one() {
    for rows in [draw(14, 10, 1.0), draw(15, 1000, 1.0), draw(16, 1000, 2.0), draw(17, 1, 1.0)] {
        let exact = Scores::of(&rows.sample()).unwrap().diagram.largest_deviation;
        let below = exact - rows.merged().diagram.largest_deviation;
        assert!((-1e-15..=1.0 / 18_000.0 + 1e-15).contains(&below), "below by {below:e}");
    }
}

#[test]
fn an_accumulator_written_as_json_is_read_back_whole_and_merges_as_before() {
    let rows = draw(18, 2000, 1.1);
    let (mut here, there) = (rows.part(0, 900), rows.part(900, 2000));
    let text = serde_json::to_string(&there).unwrap();
    let read: Accumulator = serde_json::from_str(&text).unwrap();
    assert_eq!(read, there);
    let mut from_text = here.clone();
    from_text.merge(&read);
    here.merge(&there);
    assert_eq!(from_text.scores().unwrap(), here.scores().unwrap());
    // Merged scores are data too.
    let merged = here.scores().unwrap();
    let text = serde_json::to_string(&merged).unwrap();
    assert_eq!(serde_json::from_str::<Merged>(&text).unwrap(), merged);
}

#[test]
fn json_with_another_number_of_bins_is_refused() {
    let json = serde_json::to_value(draw(19, 10, 1.0).part(0, 10)).unwrap();
    for place in ["/pit/counts", "/eta/weight", "/eta/eta", "/eta/weight_squared", "/sums"] {
        for longer in [false, true] {
            let mut json = json.clone();
            let bins = json.pointer_mut(place).unwrap().as_array_mut().unwrap();
            let last = bins.pop().unwrap();
            if longer {
                bins.extend([last.clone(), last]);
            }
            assert!(serde_json::from_value::<Accumulator>(json).is_err(), "{place}");
        }
    }
    assert!(serde_json::from_value::<Accumulator>(json).is_ok());
}

#[test]
fn nothing_counted_and_bad_options_are_refused() {
    let mut empty = Accumulator::default();
    assert_eq!(empty.scores(), Err(Error::Empty));
    empty.merge(&Accumulator::default());
    assert_eq!(empty.scores(), Err(Error::Empty));
    let full = draw(20, 10, 1.0).part(0, 10);
    let pit_bins = Options::default().pit_bins(7);
    assert!(matches!(full.scores_with(&pit_bins), Err(Error::BadBins { bins: 7, .. })));
    let levels = Options::default().diagram_levels(0);
    assert!(matches!(full.scores_with(&levels), Err(Error::BadBins { bins: 0, .. })));
    let confidence = Options::default().confidence(1.0);
    assert!(matches!(full.scores_with(&confidence), Err(Error::NotAProbability { .. })));
    // Merging nothing changes nothing.
    let mut same = full.clone();
    same.merge(&empty);
    assert_eq!(same.scores().unwrap(), full.scores().unwrap());
}

#[test]
fn weights_too_large_or_too_small_are_refused_or_counted_right() {
    let Rows(error, sigma, weight) = draw(21, 50, 1.0);
    let want = Rows(error.clone(), sigma.clone(), weight.clone()).merged();
    for unit in [1e-320, 1e-200, 1e-100, 1e-50, 1e50, 1e100, 1e200, 1e308] {
        let weight: Vec<f64> = weight.iter().map(|w| w * unit).collect();
        let mut all = Accumulator::default();
        let added = all.add(&Sample::new(&error, &sigma).unwrap().weighted(&weight).unwrap());
        if !(1e-305..1e305).contains(&unit) {
            assert_eq!((added, &all), (Err(Error::WeightsOutOfRange), &Accumulator::default()));
        } else if added.is_ok() {
            let got = all.scores().unwrap();
            near(got.effective_rows, want.effective_rows, 1e-12 * want.effective_rows);
            near(got.rs, want.rs, 1e-14);
            near(got.rs_bound, want.rs_bound, 1e-14);
        } else {
            assert!(!(1e-55..1e55).contains(&unit), "weights of {unit:e} need no refusal");
        }
    }
}

#[test]
fn a_row_of_weight_zero_counts_for_nothing_however_extreme() {
    let rows = draw(22, 20, 1.0);
    let mut with = rows.clone();
    (with.0[7], with.1[7], with.2[7]) = (1e300, 1e-300, 0.0);
    let mut without = rows;
    for column in [&mut without.0, &mut without.1, &mut without.2] {
        column.remove(7);
    }
    let (got, want) = (with.merged(), without.merged());
    assert_eq!((got.rows, got.pit), (20, want.pit));
    near(got.rs, want.rs, 1e-15);
    near(got.rs_bound, want.rs_bound, 1e-17);
    near(got.nlpd, want.nlpd, 1e-14);
}

#[test]
fn errors_far_beyond_their_sigmas_leave_the_other_scores_right() {
    // eta is infinite, and so is RS; what is finite must stay so, and nothing may become NaN.
    for error in [vec![1e300], vec![1e300, 0.5], vec![-1e300, 1e300, 2e300]] {
        let n = error.len() as f64;
        let sigma: Vec<f64> = error.iter().map(|e| if *e == 0.5 { 1.0 } else { 1e-300 }).collect();
        let got = Rows(error.clone(), sigma, vec![1.0; error.len()]).merged();
        let mae = error.iter().map(|e| e.abs() / n).sum::<f64>();
        near(got.mae, mae, 1e-15 * mae);
        near(got.crps, mae, 1e-15 * mae);
        assert_eq!((got.nlpd, got.rs), (f64::INFINITY, f64::INFINITY));
        assert!(!got.rs_bound.is_nan() && !got.ar.value.is_nan());
    }
}

#[test]
fn large_and_small_errors_keep_their_root_mean_square_and_survive_json() {
    for unit in [1e200, 1e-200] {
        let Rows(error, sigma, weight) = draw(23, 100, 1.0);
        let scale = |column: Vec<f64>| column.into_iter().map(|v| v * unit).collect();
        let rows = Rows(scale(error), scale(sigma), weight);
        let whole = Scores::of(&rows.sample()).unwrap();
        let all = rows.part(0, 100);
        let got = all.scores().unwrap();
        near(got.crps, whole.crps, 1e-14 * whole.crps);
        near(got.rmse, whole.rmse, 1e-14 * whole.rmse);
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Accumulator>(&text).unwrap(), all);
    }
}

#[test]
fn bytes_hold_every_bit() {
    let rows = draw(17, 5_000, 1.3);
    let empty = Accumulator::default();
    for part in [rows.part(0, 5_000), rows.part(0, 1), rows.part(3, 515), empty] {
        let read = Accumulator::from_bytes(&part.to_bytes()).unwrap();
        assert!(read == part);
        // What is counted afterwards is counted alike.
        let mut here = part.clone();
        let mut there = read;
        let more = rows.sample();
        here.add(&more).unwrap();
        there.add(&more).unwrap();
        assert!(here == there);
    }
    // Beyond the range of doubles, too.
    let mut far = Accumulator::default();
    far.add(&Sample::new(&[1e300, -0.0], &[1e-300, 1.0]).unwrap()).unwrap();
    let read = Accumulator::from_bytes(&far.to_bytes()).unwrap();
    assert_eq!(read.scores().unwrap().rs, f64::INFINITY);
    assert!(read == far);
}

#[test]
fn bytes_of_few_rows_are_few() {
    // A row: 3 doubles that wait, a bin of transforms, a bin of eta, 24 sums of nothing yet.
    let rows = Rows::of_eta([0.3]);
    let bytes = rows.part(0, 1).to_bytes().len();
    assert!(bytes < 150, "{bytes}");
    // Any number of rows: every bin once, 8 doubles each at the most.
    let bytes = draw(3, 100_000, 1.0).part(0, 100_000).to_bytes().len();
    assert!(bytes < 300_000, "{bytes}");
}

#[test]
fn bytes_that_are_no_sums_are_refused() {
    let bytes = draw(5, 300, 1.0).part(0, 300).to_bytes();
    let refused = |bytes: &[u8]| match Accumulator::from_bytes(bytes) {
        Err(error @ Error::BadSums { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(b"{}"), "these are no sums of scores: these bytes are something else");
    for length in 0..bytes.len() {
        refused(&bytes[..length]);
    }
    refused(&[&bytes[..], &[0]].concat());
    // The form is the first byte after the magic words.
    let mut newer = bytes.clone();
    newer[12] = 2;
    assert_eq!(
        refused(&newer),
        format!(
            "these are no sums of scores: errbar {0} wrote them in form 2, and this is errbar {0}, which knows form \
             1: have one version everywhere",
            env!("CARGO_PKG_VERSION")
        )
    );
    // More rows in waiting than ever wait, bins beyond the last: no panic, whatever the bytes.
    for place in 12..bytes.len() {
        for value in [0, 0x7f, 0x80, 0xff] {
            let mut other = bytes.clone();
            other[place] = value;
            if let Ok(sums) = Accumulator::from_bytes(&other) {
                let _ = sums.scores();
            }
        }
    }
}

#[test]
fn rows_without_weight_change_nothing_but_their_number() {
    let rows = draw(23, 900, 1.1);
    let mut weight = rows.2.clone();
    weight[300..600].fill(0.0);
    let whole = Rows(rows.0.clone(), rows.1.clone(), weight);
    let mut parts = whole.part(0, 300);
    parts.add_without_weight(&Sample::new(&rows.0[300..600], &rows.1[300..600]).unwrap());
    let last = Sample::new(&rows.0[600..], &rows.1[600..]).unwrap();
    parts.add(&last.weighted(&rows.2[600..]).unwrap()).unwrap();
    assert!(parts == whole.part(0, 900));
    assert_eq!(parts.rows(), 900);
}
