//! Rows that pass twice: the fit is that of rows that are held, to the last bit.

use errbar::fit::{self, Kind, MANY, Options, Sampling};
use errbar::{Data, Error, Group, Silent, Split};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

const ROWS: usize = MANY + 5_000;

fn names() -> [String; 2] {
    ["jump".into(), "bend".into()]
}

/// Two inputs; sigma jumps with the first, and the forecaster is wrong by the second.
fn draw(seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let x: Vec<f64> = (0..2 * ROWS).map(|_| rng.random_range(0.0..1.0)).collect();
    let sigma = |x: &[f64]| if x[0] < 0.313 { 0.5 } else { 2.0 };
    let each = |x: &[f64]| x[1] + sigma(x) * rng.sample::<f64, _>(StandardNormal);
    let error = x.chunks_exact(2).map(each).collect();
    (x, error)
}

/// The rows of a table, in parts of so many.
struct Table<'a> {
    inputs: &'a [f64],
    error: &'a [f64],
    weight: Option<&'a [f64]>,
    group: Option<&'a Group>,
}

impl Table<'_> {
    fn part(&self, from: usize, to: usize) -> Data<'_> {
        let data = Data::with_missing(&self.inputs[2 * from..2 * to], 2, &self.error[from..to]);
        let data = data.unwrap().maybe_weighted(self.weight.map(|w| &w[from..to])).unwrap();
        match self.group {
            Some(group) => data
                .grouped(Group { rows: group.rows[from..to].to_vec(), ..group.clone() })
                .unwrap(),
            None => data,
        }
    }

    fn parts(&self, rows: usize) -> impl Iterator<Item = Data<'_>> {
        let all = self.error.len();
        (0..all).step_by(rows).map(move |from| self.part(from, (from + rows).min(all)))
    }

    fn pass(&self, rows: usize, options: &Options, auto: bool) -> (String, Option<fit::Worth>) {
        let mut sampling = Sampling::new(2, options).unwrap();
        self.parts(rows).for_each(|part| sampling.add(&part).unwrap());
        let (mut passing, worth) = sampling.learn(&names(), auto, &Silent).unwrap();
        // Other parts than before.
        self.parts(rows / 2 + 1).for_each(|part| passing.add(&part).unwrap());
        (passing.finish(&Silent).unwrap().fitted.to_json().unwrap(), worth)
    }

    fn hold(&self, options: &Options) -> (String, Option<fit::Worth>) {
        let data = self.part(0, self.error.len());
        let (fit, worth) =
            fit::fit_debiased_where_it_pays(&data, &names(), options, &Silent).unwrap();
        (fit.fitted.to_json().unwrap(), worth)
    }
}

#[test]
fn as_if_they_were_held() {
    let (x, error) = draw(1);
    let table = Table { inputs: &x, error: &error, weight: None, group: None };
    let options = Options::default().kind(Kind::Trees);
    let (held, worth) = table.hold(&options);
    // The bias pays, and is learned.
    assert!(worth.is_some_and(|worth| worth.pays()) && held.contains("\"bias\""));
    assert_eq!(table.pass(30_000, &options, true), (held, worth));
    let plain = fit::fit(&table.part(0, ROWS), &names(), &options.seed(3), &Silent).unwrap();
    let (passed, none) = table.pass(ROWS, &options.seed(3), false);
    assert_eq!((passed, none), (plain.fitted.to_json().unwrap(), None));
}

#[test]
fn with_weights_groups_gaps_and_neighbours() {
    let (mut x, mut error) = draw(2);
    x.iter_mut().step_by(17).for_each(|x| *x = f64::NAN);
    let weight: Vec<f64> = (0..ROWS).map(|row| f64::from(row as u32 % 25)).collect();
    let group = Group {
        name: "station".into(),
        labels: (0..40).map(|g| g.to_string()).collect(),
        rows: (0..ROWS as u32).map(|row| row / 7 % 40).collect(),
    };
    let options = Options::default().kind(Kind::Trees);
    let (weight, group) = (Some(&weight[..]), Some(&group));
    for table in [
        Table { inputs: &x, error: &error, weight, group: None },
        Table { inputs: &x, error: &error, weight: None, group },
    ] {
        assert_eq!(table.pass(7_000, &options, true), table.hold(&options));
    }
    // Neighbours that resemble each other.
    let mut last = 0.0;
    for error in &mut error {
        last = 0.9 * last + *error;
        *error = last;
    }
    let table = Table { inputs: &x, error: &error, weight: None, group: None };
    let (held, worth) = table.hold(&options);
    assert!(held.contains("\"autocorrelation\""));
    assert_eq!(table.pass(50_000, &options, true), (held, worth));
}

#[test]
fn what_cannot_pass_is_refused() {
    let (x, mut error) = draw(3);
    let options = Options::default().kind(Kind::Trees);
    for other in [
        options.split(Split::InOrder),
        options.kind(Kind::Network),
        options.most_rows(1_000_000),
        options.budget(1e9),
        options.validation(0.0),
        options.guarantee(Some(fit::guarantee::Method::Split)),
    ] {
        assert!(matches!(Sampling::new(2, &other), Err(Error::CannotPass { .. })), "{other:?}");
    }
    assert!(matches!(Sampling::new(2, &options.validation(2.0)), Err(Error::BadValidation { .. })));
    let table = Table { inputs: &x, error: &error, weight: None, group: None };
    let sampled = |rows: usize| {
        let mut sampling = Sampling::new(2, &options).unwrap();
        sampling.add(&table.part(0, rows)).unwrap();
        sampling
    };
    let few = sampled(MANY - 1).learn(&names(), false, &Silent);
    assert!(matches!(few, Err(Error::TooFewToPass { rows, .. }) if rows == MANY - 1));
    let one = [String::from("one")];
    let named = sampled(MANY).learn(&one, false, &Silent);
    assert!(matches!(named, Err(Error::WrongNames { names: 1, columns: 2 })));
    let part = table.part(0, 10);
    let timed = part.clone().in_time(&(0..10).map(f64::from).collect::<Vec<f64>>()).unwrap();
    assert!(matches!(sampled(10).add(&timed), Err(Error::CannotPass { .. })));
    let weighted = part.maybe_weighted(Some(&[1.0; 10])).unwrap();
    assert!(matches!(sampled(10).add(&weighted), Err(Error::LengthMismatch { .. })));
    // Rows that are others the second time, more, or fewer.
    let learned = || sampled(MANY).learn(&names(), false, &Silent).unwrap().0;
    let mut fewer = learned();
    fewer.add(&table.part(0, MANY - 3)).unwrap();
    let fewer = fewer.finish(&Silent).map(|_| ());
    assert_eq!(fewer, Err(Error::Changed { row: MANY - 3 }));
    let more = learned().add(&table.part(0, MANY + 1));
    assert_eq!(more, Err(Error::Changed { row: MANY }));
    let mut passing = learned();
    error[12_345] += 1.0;
    let table = Table { inputs: &x, error: &error, weight: None, group: None };
    assert_eq!(passing.add(&table.part(0, MANY)), Err(Error::Changed { row: 12_345 }));
}
