//! Rows judged as they come, against the same rows judged all together.

use errbar::diagnose::{Context, Finding, Summary, diagnose, drifts};
use errbar::law::judge::{ErrorLaws, judge};
use errbar::law::{Base, Bounds, ErrorLaw, Judged, Law, OnePass};
use errbar::score::bootstrap::Interval;
use errbar::score::{Judgement, Judging, Sample, Scores, judge_with};
use errbar::{Error, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::{Cauchy, StandardNormal};
use rand_pcg::Pcg64;

/// Errors, sigmas and, where there are some, weights.
#[derive(Clone)]
struct Rows {
    error: Vec<f64>,
    sigma: Vec<f64>,
    weight: Option<Vec<f64>>,
}

impl Rows {
    /// Sigmas between 0.3 and 3, errors `factor` times as large.
    fn draw(seed: u64, rows: usize, factor: f64) -> Self {
        let mut random = Pcg64::seed_from_u64(seed);
        let sigma: Vec<f64> = (0..rows).map(|_| random.random_range(0.3..3.0)).collect();
        let normal = |s: &f64| factor * s * random.sample::<f64, _>(StandardNormal);
        let error = sigma.iter().map(normal).collect();
        Self { error, sigma, weight: None }
    }

    fn weighted(self, seed: u64) -> Self {
        let mut random = Pcg64::seed_from_u64(seed);
        let weight = self.error.iter().map(|_| random.random_range(0.0..4.0f64).floor()).collect();
        Self { weight: Some(weight), ..self }
    }

    fn sample(&self) -> Sample<'_> {
        let sample = Sample::new(&self.error, &self.sigma).unwrap();
        sample.maybe_weighted(self.weight.as_deref()).unwrap()
    }

    fn together(&self) -> Judgement {
        judge_with(&self.sample(), &Judging::default(), &Silent).unwrap()
    }

    /// The rows in portions of this many.
    fn pass(&self, rows: OnePass, portion: usize) -> Judged {
        let mut rows = rows;
        for from in (0..self.error.len()).step_by(portion) {
            let of = from..self.error.len().min(from + portion);
            let weight = self.weight.as_ref().map(|weight| &weight[of.clone()]);
            rows.add(&self.error[of.clone()], &self.sigma[of], weight, None).unwrap();
        }
        rows.finish(&Silent).unwrap()
    }

    fn in_group(&self) -> Judged {
        self.pass(OnePass::new(&Judging::default()).of_group(), 20_000)
    }

    fn in_table(&self) -> Judged {
        self.pass(OnePass::new(&Judging::default()), 100_000)
    }
}

/// More rows than are held of a group.
const SOME: usize = 150_000;
/// More rows than are held of a table.
const MANY: usize = 1_200_000;

#[track_caller]
fn near(what: &str, got: f64, want: f64, tolerance: f64) {
    let equal = got == want || (got.is_nan() && want.is_nan());
    assert!(equal || (got - want).abs() <= tolerance, "{what}: {got:e}, not {want:e}");
}

/// Every score is that of all rows together, to within what it is found from.
#[track_caller]
fn check_scores(found: &Judged, exact: &Scores) {
    let (got, bound) = (&found.scores, found.rs_bound.unwrap());
    let relative =
        |what, got: f64, want: f64, share: f64| near(what, got, want, share * want.abs());
    assert_eq!(got.rows, exact.rows);
    for (what, got, want, scale) in [
        ("effective rows", got.effective_rows, exact.effective_rows, exact.effective_rows),
        ("bias", got.bias, exact.bias, exact.mae),
        ("mae", got.mae, exact.mae, exact.mae),
        ("rmse", got.rmse, exact.rmse, exact.rmse),
        ("mean sigma", got.mean_sigma, exact.mean_sigma, exact.mean_sigma),
        ("mean z", got.mean_z, exact.mean_z, exact.rms_z),
        ("rms z", got.rms_z, exact.rms_z, exact.rms_z),
        ("CRPS", got.crps, exact.crps, exact.crps),
        ("NLPD", got.nlpd, exact.nlpd, exact.nlpd.abs().max(1.0)),
        ("RS by chance", got.rs_by_chance, exact.rs_by_chance, exact.rs_by_chance),
        ("least RS", got.rs_min, exact.rs_min, exact.rs_min),
        ("beta", got.ar.beta, exact.ar.beta, exact.ar.beta),
    ] {
        near(what, got, want, 1e-12 * scale);
    }
    near("RS", got.rs, exact.rs, bound);
    near("AR", got.ar.value, exact.ar.value, bound + 1e-12 * exact.ar.value);
    assert_eq!(got.pit, exact.pit);
    assert_eq!(got.diagram.observed, exact.diagram.observed);
    for (got, want) in got.coverage.iter().zip(&exact.coverage) {
        near("coverage", got.observed, want.observed, 1e-12);
        relative("width", got.mean_width, want.mean_width, 1e-12);
    }
    // A fine bin, or one of 65,536 levels.
    let off = exact.diagram.largest_deviation - got.diagram.largest_deviation;
    assert!((-2e-6..=1.0 / 18_000.0 + 1e-12).contains(&off), "largest deviation off by {off:e}");

    // Errors in 256 bins to a doubling, with mean and variance: the third moment of a bin is left out.
    relative("constant sigma", got.constant.sigma, exact.constant.sigma, 1e-6);
    relative("constant CRPS", got.constant.crps, exact.constant.crps, 1e-8);
    near("skill", got.crps_skill, exact.crps_skill, 1e-8);
    let (parts, whole) = (&got.decomposition, &exact.decomposition);
    let unit = std::f64::consts::SQRT_2 * exact.mean_sigma;
    near("loss", parts.reliability, whole.reliability, 1e-7 * unit);
    relative("loss by chance", parts.reliability_by_chance, whole.reliability_by_chance, 1e-12);
    // A bin is 1/256 wide: pairs in it are off by less than that square.
    relative("uncertainty", parts.uncertainty, whole.uncertainty, 2e-5);
    near(
        "resolution",
        parts.resolution,
        whole.resolution,
        2e-5 * whole.uncertainty + 4.0 * bound * unit,
    );

    assert_eq!(got.spread_skill.len(), exact.spread_skill.len());
    // The density of ln sigma is about 1 here, so that a bin holds that share of the rows.
    let bin = std::f64::consts::LN_2 / if exact.rows >= MANY { 1024.0 } else { 256.0 };
    for (got, want) in got.spread_skill.iter().zip(&exact.spread_skill) {
        near("rows of a bin", got.rows as f64, want.rows as f64, 1.5 * bin * exact.rows as f64);
        relative("from", got.sigma_from, want.sigma_from, 2.0 * bin);
        relative("to", got.sigma_to, want.sigma_to, 2.0 * bin);
        relative("spread", got.spread, want.spread, 2.0 * bin);
        // Errors of like sigma, of which some are others.
        relative("skill of a bin", got.skill, want.skill, 0.01);
    }
}

#[track_caller]
fn check_interval(what: &str, got: Interval, want: Interval, tolerance: f64) {
    let unit = tolerance * want.standard_error;
    near(&format!("{what}, low"), got.low, want.low, unit);
    near(&format!("{what}, high"), got.high, want.high, unit);
    near(&format!("{what}, error"), got.standard_error, want.standard_error, unit);
}

/// Rows are dealt to the very units that those of a sample are dealt to: what is a sum has the same interval, and RS that
/// of a distribution looked at in other places.
#[track_caller]
fn check_intervals(found: &Judged, exact: &Judgement) {
    let (got, want) = (found.intervals.as_ref().unwrap(), &exact.intervals);
    assert_eq!((got.block, got.dependence), (want.block, want.dependence));
    for (what, got, want) in [
        ("bias", got.bias, want.bias),
        ("mae", got.mae, want.mae),
        ("rmse", got.rmse, want.rmse),
        ("mean sigma", got.mean_sigma, want.mean_sigma),
        ("mean z", got.mean_z, want.mean_z),
        ("rms z", got.rms_z, want.rms_z),
        ("CRPS", got.crps, want.crps),
        ("NLPD", got.nlpd, want.nlpd),
    ] {
        check_interval(what, got, want, 1e-9);
    }
    for (got, want) in got.coverage.iter().zip(&want.coverage) {
        check_interval("coverage", *got, *want, 1e-9);
    }
    check_interval("skill", got.crps_skill, want.crps_skill, 0.05);
    check_interval("RS", got.rs, want.rs, 0.05);
    check_interval("AR", got.ar, want.ar, 0.05);
    assert_eq!(found.verdict.word(), exact.verdict.word());
}

#[test]
fn a_table_has_the_scores_and_intervals_of_all_rows_together() {
    for rows in [Rows::draw(1, MANY, 1.15), Rows::draw(2, MANY, 1.0).weighted(3)] {
        let (found, exact) = (rows.in_table(), rows.together());
        assert!(found.rs_bound.unwrap() < 1.3e-7, "{:?}", found.rs_bound);
        check_scores(&found, &exact.scores);
        check_intervals(&found, &exact);
    }
}

/// The first rows decide where to look, and may be unlike all others: a table in the order of lead times, say.
#[test]
fn first_rows_may_be_unlike_all_others() {
    let mut rows = Rows::draw(4, 2 * MANY, 1.0);
    for row in MANY..2 * MANY {
        rows.error[row] *= 30.0;
        rows.sigma[row] *= 20.0;
    }
    let (found, exact) = (rows.in_table(), rows.together());
    check_scores(&found, &exact.scores);
    check_intervals(&found, &exact);
}

#[test]
fn groups_have_the_scores_of_all_rows_together() {
    let mut random = Pcg64::seed_from_u64(5);
    let mut cauchy = Rows::draw(6, SOME, 1.0);
    for (error, sigma) in cauchy.error.iter_mut().zip(&cauchy.sigma) {
        *error = sigma * random.sample(Cauchy::new(0.0, 1.0).unwrap());
    }
    let mut tied = Rows::draw(7, SOME, 1.3);
    tied.error.iter_mut().for_each(|error| *error = error.round());
    tied.sigma.iter_mut().for_each(|sigma| *sigma = (4.0 * *sigma).ceil() / 4.0);
    let mut constant = Rows::draw(8, SOME, 1.0);
    constant.sigma.fill(0.7);
    let unit = |rows: &Rows, unit: f64| {
        let scale = |values: &Vec<f64>| values.iter().map(|value| value * unit).collect();
        Rows { error: scale(&rows.error), sigma: scale(&rows.sigma), ..rows.clone() }
    };
    let plain = Rows::draw(9, SOME, 1.0);
    for rows in [
        plain.clone(),
        Rows::draw(10, SOME, 3.0),
        Rows::draw(11, SOME, 0.05).weighted(12),
        unit(&plain, 1e200),
        unit(&plain, 1e-200),
        cauchy,
        tied,
        constant,
    ] {
        check_scores(&rows.in_group(), &rows.together().scores);
    }
    // Beside one that is far beyond all others, squares of the others do not count, but nothing is lost.
    let mut far = plain;
    far.error[140_000] = 1e300;
    let (found, exact) = (far.in_group().scores, far.together().scores);
    near("rmse", found.rmse, exact.rmse, 1e-12 * exact.rmse);
    near("CRPS", found.crps, exact.crps, 1e-12 * exact.crps);
    assert_eq!(found.pit, exact.pit);
}

/// 512 units in the place of 2048: the standard errors of both are uncertain, by 1/sqrt(2 units), 3.1% and 1.6%.
#[test]
fn groups_have_intervals_that_differ_by_chance() {
    let rows = Rows::draw(13, SOME, 1.1);
    let (found, exact) = (rows.in_group(), rows.together());
    let (got, want) = (found.intervals.unwrap(), &exact.intervals);
    for (what, got, want) in [
        ("bias", got.bias, want.bias),
        ("CRPS", got.crps, want.crps),
        ("skill", got.crps_skill, want.crps_skill),
        ("NLPD", got.nlpd, want.nlpd),
        ("RS", got.rs, want.rs),
        ("coverage", got.coverage[2], want.coverage[2]),
    ] {
        // Three standard deviations of both together; the ends by chance of 1000 resamples as well.
        near(what, got.standard_error / want.standard_error, 1.0, 0.15);
        near(what, got.low, want.low, 0.4 * want.standard_error);
        near(what, got.high, want.high, 0.4 * want.standard_error);
    }
}

/// An autoregressive series: blocks are drawn, of stretches that are not those of a sample.
#[test]
fn rows_that_depend_on_each_other_are_drawn_in_blocks() {
    let mut rows = Rows::draw(14, MANY, 1.0);
    let mut last = 0.0;
    for (error, sigma) in rows.error.iter_mut().zip(&rows.sigma) {
        last = 0.95 * last + (1.0f64 - 0.95 * 0.95).sqrt() * *error / sigma;
        *error = sigma * last;
    }
    let (found, exact) = (rows.in_table(), rows.together());
    check_scores(&found, &exact.scores);
    let (got, want) = (found.intervals.unwrap(), &exact.intervals);
    assert_eq!((got.block, got.dependence), (want.block, want.dependence));
    assert!(got.block > 20, "{}", got.block);
    assert_eq!(found.dependence, want.dependence);
    for (what, got, want) in [
        ("bias", got.bias, want.bias),
        ("rms z", got.rms_z, want.rms_z),
        ("CRPS", got.crps, want.crps),
        ("RS", got.rs, want.rs),
        ("coverage", got.coverage[1], want.coverage[1]),
    ] {
        near(what, got.standard_error / want.standard_error, 1.0, 0.1);
        near(what, got.low, want.low, 0.3 * want.standard_error);
        near(what, got.high, want.high, 0.3 * want.standard_error);
    }
    assert_eq!(found.verdict.word(), exact.verdict.word());

    // Without intervals the verdict is the same.
    let without = rows.pass(OnePass::new(&Judging::default()).without_intervals(), 300_000);
    assert_eq!((without.intervals, without.verdict), (None, found.verdict));
}

#[test]
fn neither_portions_nor_threads_change_a_bit() {
    let rows = Rows::draw(15, MANY, 1.1).weighted(16);
    let judged = |portion: usize, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let pass = || rows.pass(OnePass::new(&Judging::default()), portion);
        format!("{:?}", pool.install(pass))
    };
    let one = judged(MANY, 1);
    assert!(one == judged(77_777, 3) && one == judged(1_100_000, 2) && one == judged(8192, 5));
    let some = Rows::draw(17, SOME, 1.1);
    let judged =
        |portion| format!("{:?}", some.pass(OnePass::new(&Judging::default()).of_group(), portion));
    assert!(judged(17) == judged(SOME) && judged(17) == judged(12_345));
}

#[test]
fn few_rows_are_judged_all_together() {
    let rows = Rows::draw(18, 3000, 1.2).weighted(19);
    let (found, exact) = (rows.in_group(), rows.together());
    assert_eq!(found.rs_bound, None);
    assert!(found.scores == exact.scores && found.intervals.as_ref() == Some(&exact.intervals));
    let without = rows.pass(OnePass::new(&Judging::default()).of_group().without_intervals(), 100);
    assert_eq!((without.intervals, without.verdict.word()), (None, exact.verdict.word()));
}

#[test]
fn laws_and_bounds_are_those_of_all_rows_together() {
    let mut random = Pcg64::seed_from_u64(20);
    let rows = Rows::draw(21, SOME, 1.0);
    // Two-piece logistic errors; observations at 0 or above, of forecasts around 2.
    let law = ErrorLaw::from(Law::new(Base::Logistic, 0.1, 0.4, 0.7));
    let error: Vec<f64> = (rows.sigma.iter())
        .map(|sigma| sigma * law.quantile(random.random_range(1e-9..1.0 - 1e-9)))
        .collect();
    let floor: Vec<f64> = error.iter().map(|_| -random.random_range(0.0..4.0f64)).collect();
    let clamped: Vec<f64> = error.iter().zip(&floor).map(|(e, floor)| e.max(*floor)).collect();
    let bounds: Vec<Bounds> =
        floor.iter().map(|floor| Bounds::new(Some(*floor), None).unwrap()).collect();
    for (error, bounds) in [(&error, None), (&clamped, Some(&bounds[..]))] {
        let sample = Sample::new(error, &rows.sigma).unwrap();
        let laws = vec![law.clone(); SOME];
        let own = ErrorLaws::new(&laws).within(bounds);
        let exact = judge(&sample, own, &Judging::default(), &Silent).unwrap();
        let mut pass = OnePass::new(&Judging::default()).of_group().by_law(Some(law.clone()));
        for from in (0..SOME).step_by(7000) {
            let of = from..SOME.min(from + 7000);
            let bounds = bounds.map(|bounds| &bounds[of.clone()]);
            pass.add(&error[of.clone()], &rows.sigma[of], None, bounds).unwrap();
        }
        let found = pass.finish(&Silent).unwrap();
        check_scores(&found, &exact.scores);
        assert_eq!(found.verdict.word(), exact.verdict.word());
        let (got, want) = (found.intervals.unwrap().crps, exact.intervals.crps);
        near("error of CRPS", got.standard_error / want.standard_error, 1.0, 0.15);
    }
}

#[test]
fn the_course_of_errors_tells_what_all_of_them_tell() {
    let mut rows = Rows::draw(22, MANY, 1.0);
    for (row, error) in rows.error.iter_mut().enumerate() {
        *error = *error * (1.0 + row as f64 / MANY as f64) + 0.3 * (row as f64 / MANY as f64);
    }
    let found = rows.in_table();
    let course = found.course.unwrap();
    let (got, want) = (Summary::of_course(&course, &found.scores), Summary::of(&rows.error, None));
    near("bias", got.bias, want.bias, 1e-12);
    near("rmse", got.root_mean_squared_error, want.root_mean_squared_error, 1e-12);
    // Of 200 batches whose edges differ a little.
    let (one, two) = (got.bias_standard_error, want.bias_standard_error);
    near("error of bias", one / two, 1.0, 0.02);
    let (one, two) = (got.mean_absolute_standard_error, want.mean_absolute_standard_error);
    near("error of size", one / two, 1.0, 0.02);
    let context = Context { in_time_order: true, ..Context::default() };
    let mut all = diagnose(&rows.error, &context).unwrap();
    let is_drift = |finding: &Finding| {
        matches!(finding, Finding::DriftingBias { .. } | Finding::DriftingSize { .. })
    };
    all.retain(is_drift);
    let drifts = drifts(&course);
    assert_eq!((drifts.len(), all.len()), (2, 2));
    let ends = |finding: &Finding| match *finding {
        Finding::DriftingBias { first, last, .. } | Finding::DriftingSize { first, last } => {
            [first, last]
        }
        _ => [f64::NAN; 2],
    };
    for (got, want) in drifts.iter().zip(&all) {
        ends(got).iter().zip(ends(want)).for_each(|(got, want)| near("end", *got, want, 0.001));
    }
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let mut rows = OnePass::new(&Judging::default());
    let judging = Judging::default();
    assert!(matches!(rows.add(&[f64::NAN], &[1.0], None, None), Err(Error::NotFinite { .. })));
    assert!(matches!(rows.add(&[1.0], &[0.0], None, None), Err(Error::SigmaNotPositive { .. })));
    let negative = rows.add(&[1.0], &[1.0], Some(&[-1.0]), None);
    assert!(matches!(negative, Err(Error::NegativeWeight { .. })));
    let large = rows.add(&[1.0], &[1.0], Some(&[1e100]), None);
    assert_eq!(large, Err(Error::WeightsOutOfRange));
    assert!(rows.add(&[1.0, 2.0], &[1.0], None, None).is_err());
    assert_eq!(rows.rows(), 0);
    assert!(OnePass::new(&judging).finish(&Silent).is_err());

    // Rows without weight are rows, but do not count; and there may be portions of nothing else.
    let zeros = vec![0.0; 20_000];
    let mut none = OnePass::new(&judging).of_group();
    none.add(&zeros, &vec![1.0; 20_000], Some(&zeros), None).unwrap();
    assert!(none.clone().finish(&Silent).is_err());
    let some = Rows::draw(23, SOME, 1.0);
    none.add(&some.error, &some.sigma, Some(&vec![1.0; SOME]), None).unwrap();
    let (found, exact) = (none.finish(&Silent).unwrap().scores, some.together().scores);
    assert_eq!((found.rows, found.pit), (SOME + 20_000, exact.pit));
    near("CRPS", found.crps, exact.crps, 1e-12);
}
