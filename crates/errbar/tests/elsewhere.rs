//! Rows that lie elsewhere: what goes there and comes back is bytes, and the fit is that of rows that are here.

use errbar::fit::{self, Elsewhere, Fitted, Kind, LawKind, MANY, Options, PartRows, Parts, SAMPLE};
use errbar::loss::LossKind;
use errbar::rounds::{Answers, Ask, Workers};
use errbar::{Category, Data, Error, Group, Silent, Split};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

const COLUMNS: usize = 2;

/// All rows, in parts.
#[derive(Default, Clone)]
struct Table {
    inputs: Vec<f64>,
    error: Vec<f64>,
    weight: Option<Vec<f64>>,
    group: Option<Vec<u32>>,
    categories: Vec<Category>,
    /// Where each part ends.
    ends: Vec<usize>,
}

fn names() -> [String; COLUMNS] {
    ["jump".into(), "bend".into()]
}

/// Sigma jumps with the first input and bends with the second; the forecaster is wrong by the second.
fn draw(seed: u64, rows: usize, parts: usize) -> Table {
    let mut rng = Pcg64::seed_from_u64(seed);
    let inputs: Vec<f64> = (0..COLUMNS * rows).map(|_| rng.random_range(0.0..1.0)).collect();
    let sigma =
        |x: &[f64]| (if x[0] < 0.313 { 0.5 } else { 2.0 }) * (1.0 + (6.0 * x[1]).sin() / 2.0);
    let each = |x: &[f64]| 0.3 * x[1] + sigma(x) * rng.sample::<f64, _>(StandardNormal);
    let error = inputs.chunks_exact(COLUMNS).map(each).collect();
    // Parts of different lengths.
    let end = |part: usize| rows * part * (part + 9) / (parts * (parts + 9));
    let ends = (1..=parts).map(end).collect();
    Table { inputs, error, ends, ..Table::default() }
}

impl Table {
    fn rows(&self) -> usize {
        self.error.len()
    }

    fn part(&self, part: usize) -> (usize, PartRows<'_>) {
        let from = if part == 0 { 0 } else { self.ends[part - 1] };
        let rows = from..self.ends[part];
        let of_part = PartRows {
            inputs: &self.inputs[COLUMNS * rows.start..COLUMNS * rows.end],
            error: &self.error[rows.clone()],
            weight: self.weight.as_ref().map(|weight| &weight[rows.clone()]),
            group: self.group.as_ref().map(|group| &group[rows.clone()]),
        };
        (from, of_part)
    }

    fn part_rows(&self) -> Vec<usize> {
        (0..self.ends.len()).map(|part| self.part(part).1.error.len()).collect()
    }

    fn whole(&self) -> Data<'_> {
        let data = Data::with_missing(&self.inputs, COLUMNS, &self.error).unwrap();
        let data = data.maybe_weighted(self.weight.as_deref()).unwrap();
        let data = data.with_categories(self.categories.clone()).unwrap();
        match &self.group {
            Some(rows) => data.grouped(self.named(rows.clone())).unwrap(),
            None => data,
        }
    }

    fn named(&self, rows: Vec<u32>) -> Group {
        let labels = (0..40).map(|label| label.to_string()).collect();
        Group { name: "station".into(), labels, rows }
    }

    /// Every so-and-so-many-th row, or those that are offered.
    fn sampled(&self, every: usize, options: &Options) -> errbar::Result<Elsewhere> {
        let offered = |part: usize| {
            let (from, rows) = self.part(part);
            let all = self.rows();
            let own = fit::candidates(from, rows.error.len(), all, options.split, options.seed);
            own.into_iter().map(move |row| from + row)
        };
        let places: Vec<usize> = match every {
            0 => (0..self.ends.len()).flat_map(offered).collect(),
            _ => (0..self.rows()).step_by(every).collect(),
        };
        let of = |values: &[f64]| places.iter().map(|row| values[*row]).collect::<Vec<f64>>();
        let inputs = places.iter().flat_map(|row| &self.inputs[COLUMNS * row..COLUMNS * (row + 1)]);
        let inputs: Vec<f64> = inputs.copied().collect();
        let (error, weight) = (of(&self.error), self.weight.as_ref().map(|weight| of(weight)));
        let data =
            Data::with_missing(&inputs, COLUMNS, &error)?.maybe_weighted(weight.as_deref())?;
        let mut data = data.with_categories(self.categories.clone())?;
        if let Some(rows) = &self.group {
            data = data.grouped(self.named(places.iter().map(|row| rows[*row]).collect()))?;
        }
        Elsewhere::begin(&data, &places, &self.part_rows(), &names(), options, &Silent)
    }

    /// Fits with the parts shared out to so many workers; the last of them is lost on the way, if it can be.
    fn fit_by(&self, workers: usize, every: usize, options: &Options, lost: usize) -> Fitted {
        let fit = self.sampled(every, options).unwrap();
        let (mut asked, first) = Asked::of(self, fit.opening(), workers);
        asked.lost_after = lost;
        fit.finish(&first, &mut asked, &Silent).unwrap().fitted
    }
}

/// Workers who are asked by bytes.
struct Asked<'a> {
    table: &'a Table,
    opening: Vec<u8>,
    workers: Vec<Parts>,
    of_last: Vec<usize>,
    history: Vec<Vec<u8>>,
    /// The last worker is lost after so many questions.
    lost_after: usize,
}

impl<'a> Asked<'a> {
    fn of(table: &'a Table, opening: &[u8], workers: usize) -> (Self, Vec<Vec<u8>>) {
        let new = |_| Parts::new(opening).unwrap();
        let mut all: Vec<Parts> = (0..workers).map(new).collect();
        // The last parts first, to whoever is next.
        let parts: Vec<usize> = (0..table.ends.len()).rev().collect();
        let open = |part: &usize| {
            let (from, rows) = table.part(*part);
            all[part % workers].open(*part as u64, from, &rows).unwrap()
        };
        let first = parts.iter().map(open).collect();
        let of_last = parts.into_iter().filter(|part| part % workers == workers - 1).collect();
        let (opening, history) = (opening.to_vec(), Vec::new());
        (Self { table, opening, workers: all, of_last, history, lost_after: usize::MAX }, first)
    }
}

impl Workers for Asked<'_> {
    fn ask(&mut self, ask: &Ask) -> errbar::Result<Vec<Answers>> {
        if self.history.len() == self.lost_after {
            let mut again = Parts::new(&self.opening)?;
            for part in &self.of_last {
                let (from, rows) = self.table.part(*part);
                again.open(*part as u64, from, &rows)?;
            }
            for bytes in &self.history {
                again.answer(&Ask::from_bytes(bytes)?)?;
            }
            assert_eq!(again.asked(), self.workers.pop().unwrap().asked());
            self.workers.push(again);
        }
        let bytes = ask.to_bytes()?;
        self.history.push(bytes.clone());
        let answer = |worker: &mut Parts| worker.answer(&Ask::from_bytes(&bytes)?)?.to_bytes();
        self.workers.iter_mut().rev().map(|worker| Answers::from_bytes(&answer(worker)?)).collect()
    }
}

fn near(a: &Fitted, b: &Fitted, tolerance: f64) {
    let new = draw(99, 3_000, 1);
    let [a, b] = [a, b].map(|fitted| fitted.predict(&new.inputs[..]).unwrap().sigma().to_vec());
    for (a, b) in a.iter().zip(&b) {
        assert!((a / b - 1.0).abs() <= tolerance, "{a} {b}");
    }
}

#[test]
fn bits_depend_on_parts_and_not_on_who_holds_them() {
    let table = draw(1, 9_000, 9);
    for kind in [Kind::Trees, Kind::Constant, Kind::Polynomial, Kind::Network] {
        let options = Options::default().kind(kind);
        let [one, two, four] = [(1, usize::MAX), (2, 17), (4, 3)]
            .map(|(workers, lost)| table.fit_by(workers, 4, &options, lost).to_json().unwrap());
        assert_eq!(one, two, "{kind:?}");
        assert_eq!(one, four, "{kind:?}");
    }
}

#[test]
fn as_if_rows_were_here() {
    let mut table = draw(2, MANY + 5_000, 2);
    // Parts as a fit to rows that are here makes them.
    table.ends[0] = 1 << 16;
    let options = Options::default().kind(Kind::Trees).debias(true);
    let here = fit::fit(&table.whole(), &names(), &options, &Silent).unwrap().fitted;
    let there = table.fit_by(2, 0, &options, usize::MAX);
    near(&here, &there, 1e-9);
    assert_eq!((here.rows(), here.kind()), (there.rows(), there.kind()));
    assert_eq!(here.bias(), there.bias());
    let (a, b) = (here.validation().unwrap(), there.validation().unwrap());
    assert_eq!((a.rows, a.sample, a.sample), (b.rows, b.sample, Some(SAMPLE)));
    assert!((a.crps / b.crps - 1.0).abs() < 1e-9);
    // Sums of batches in another order.
    for (a, b) in
        [(here.training(), there.training()), (here.debiased().unwrap(), there.debiased().unwrap())]
    {
        for (a, b) in [
            (a.bias, b.bias),
            (a.bias_standard_error, b.bias_standard_error),
            (a.mean_absolute_error, b.mean_absolute_error),
            (a.mean_absolute_standard_error, b.mean_absolute_standard_error),
            (a.root_mean_squared_error, b.root_mean_squared_error),
        ] {
            assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        }
    }
}

/// Of fewer than many rows all are the sample.
#[test]
fn few_rows_are_fitted_here() {
    let table = draw(3, 600, 3);
    let options = Options::default().kind(Kind::Polynomial);
    let here = fit::fit(&table.whole(), &names(), &options, &Silent).unwrap().fitted;
    let there = table.fit_by(2, 0, &options, usize::MAX);
    assert_eq!(here.to_json().unwrap(), there.to_json().unwrap());
}

/// In bins of 1/1024 of their size errors are taken as their mean, which is wrong by the square of that, $10^{-6}$.
#[test]
fn one_sigma_by_counts_is_that_of_all_errors() {
    let mut table = draw(4, 20_000, 5);
    for weighted in [false, true] {
        table.weight =
            weighted.then(|| (0..table.rows()).map(|row| [0.0, 0.5, 3.0][row % 3]).collect());
        for loss in [LossKind::default(), LossKind::Crps, LossKind::Nlpd] {
            let plain = Options::default().law(LawKind::Normal).recalibrate(false);
            let options = plain.kind(Kind::Constant).loss(loss);
            let here = fit::fit(&table.whole(), &names(), &options, &Silent).unwrap().fitted;
            let there = table.fit_by(2, 10, &options, usize::MAX);
            assert_eq!(there.kind(), Kind::Constant);
            near(&here, &there, 2e-6);
            assert_eq!(here.rows(), there.rows());
        }
    }
}

#[test]
fn more_rows_are_better_and_parts_do_not_matter() {
    for kind in [Kind::Polynomial, Kind::Network] {
        let options = Options::default().kind(kind);
        let [many, one] = [16, 1].map(|parts| draw(5, 20_000, parts));
        let [all, together] = [&many, &one].map(|table| {
            // Rows held out are drawn by part; in time they are the last.
            table.fit_by(1, 20, &options.split(Split::InOrder).keep_inputs(true), usize::MAX)
        });
        near(&all, &together, 1e-6);
        let sample: Vec<usize> = (0..many.rows()).step_by(20).collect();
        let inputs: Vec<f64> =
            sample.iter().flat_map(|row| &many.inputs[2 * row..2 * row + 2]).copied().collect();
        let error: Vec<f64> = sample.iter().map(|row| many.error[*row]).collect();
        let some = Data::new(&inputs, COLUMNS, &error).unwrap();
        let some = fit::fit(&some, &names(), &options, &Silent).unwrap().fitted;
        let random = many.fit_by(2, 20, &options, usize::MAX);
        let new = draw(6, 20_000, 1);
        let crps = |fitted: &Fitted| {
            let sigma = fitted.predict(&new.inputs[..]).unwrap().sigma().to_vec();
            let sample = errbar::score::Sample::new(&new.error, &sigma).unwrap();
            errbar::score::crps::mean(&sample)
        };
        let (of_some, of_all) = (crps(&some), crps(&random));
        assert!(of_all < of_some, "{kind:?}: all {of_all}, some {of_some}");
        assert_eq!(random.kind(), kind);
        assert_eq!(random.rows(), (20_000, 20_000));
    }
}

#[test]
fn weights_groups_gaps_and_categories() {
    let mut table = draw(7, 12_000, 6);
    // A row that does not count says what is not so; inputs may be missing, one is a category.
    let rows = table.rows();
    for row in (0..rows).step_by(20) {
        table.error[row] *= 30.0;
        table.inputs[2 * row + 1] = f64::NAN;
    }
    for row in 0..rows {
        table.inputs[2 * row] = f64::from(u8::from(table.inputs[2 * row] >= 0.313));
    }
    table.categories = vec![Category { column: 0, levels: vec!["low".into(), "high".into()] }];
    table.weight = Some((0..rows).map(|row| f64::from(u8::from(row % 20 != 0))).collect());
    table.group = Some((0..rows as u32).map(|row| row / 7 % 40).collect());
    for kind in [Kind::Trees, Kind::Polynomial] {
        let options = Options::default().kind(kind).debias(true);
        let fitted = table.fit_by(2, 3, &options, usize::MAX);
        assert_eq!(fitted.rows(), (rows - rows / 20, rows - rows / 20));
        let sigma = fitted.predict(&[0.0, 0.26, 1.0, 0.26, -1.0, 0.26, f64::NAN, f64::NAN][..]);
        let sigma = sigma.unwrap().sigma().to_vec();
        // Where it hardly bends.
        let bend = 1.5;
        assert!((sigma[0] / (0.5 * bend) - 1.0).abs() < 0.1, "{kind:?} {sigma:?}");
        assert!((sigma[1] / (2.0 * bend) - 1.0).abs() < 0.1, "{kind:?} {sigma:?}");
        assert!(sigma[2] > sigma[0] && sigma[3] > 0.0);
        assert_eq!(fitted.categories()[0].names(), ["low", "high"]);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let table = draw(8, 3_000, 4);
    let options = Options::default().kind(Kind::Constant);
    let fit = || table.sampled(3, &options).unwrap();
    let (mut asked, first) = Asked::of(&table, fit().opening(), 2);

    // A part that is wrong, with its place.
    let mut parts = Parts::new(fit().opening()).unwrap();
    let (from, rows) = table.part(3);
    let mut error = rows.error.to_vec();
    error[17] = f64::NAN;
    let said = parts.open(3, from, &PartRows { error: &error, ..rows }).unwrap_err().to_string();
    assert_eq!(
        said,
        "part 3 of the rows: error at row 17 is NaN: every value must be finite; leave the row out or fill it in"
    );
    let said = parts.open(3, from, &PartRows { inputs: &rows.inputs[2..], ..rows });
    assert!(matches!(said, Err(Error::InPart { number: 3, .. })), "{said:?}");

    // One that is missing, twice there, or of other rows.
    let said = fit().finish(&first[1..], &mut asked, &Silent).unwrap_err();
    assert_eq!(said, Error::PartMissing { number: 3 });
    let twice: Vec<_> = first.iter().chain(&first[..1]).cloned().collect();
    assert!(fit().finish(&twice, &mut asked, &Silent).is_err());
    let fewer = PartRows { inputs: &rows.inputs[2..], error: &rows.error[1..], ..rows };
    let other = parts.open(3, from, &fewer).unwrap();
    let changed: Vec<_> = first[1..].iter().cloned().chain([other]).collect();
    let said = fit().finish(&changed, &mut asked, &Silent).unwrap_err();
    assert!(matches!(said, Error::PartChanged { number: 3, .. }), "{said}");
    asked.workers.pop();
    let said = fit().finish(&first, &mut asked, &Silent).unwrap_err();
    assert_eq!(said, Error::PartMissing { number: 1 });

    // Bytes that are none of this version.
    let opening = fit().opening().to_vec();
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let place = opening.windows(version.len()).position(|window| window == version).unwrap();
    let mut other = opening.clone();
    other[place] = b'9';
    assert!(matches!(Parts::new(&other), Err(Error::OtherVersion { .. })));
    for bad in [&opening[..40], &first[0][..], b"", &opening[1..]] {
        assert!(matches!(Parts::new(bad), Err(Error::BadMessage { .. })));
    }

    // What cannot be done there.
    for (options, says) in [
        (options.kind(Kind::Smooth), "models are auto"),
        (options.kind(Kind::Ensemble), "models are auto"),
        (options.by_law(true), "cost of a law"),
        (options.bounds(errbar::law::Bounds::new(Some(0.0), None).unwrap()), "bounds"),
        (options.guarantee(Some(fit::guarantee::Method::Split)), "guarantee"),
        (options.validation(0.0), "held out"),
        (options.most_rows(1000), "limit"),
    ] {
        let said = table.sampled(3, &options).err().unwrap().to_string();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn samples_are_those_of_rows_that_are_here() {
    for split in [Split::Random, Split::InOrder] {
        let of = |parts: usize, all: usize| -> Vec<usize> {
            let end = |part: usize| part * all / parts;
            let own = |part| {
                let places = fit::candidates(end(part), end(part + 1) - end(part), all, split, 5);
                places.into_iter().map(move |row| end(part) + row)
            };
            (0..parts).flat_map(own).collect()
        };
        assert_eq!(of(3, MANY - 1).len(), MANY - 1);
        let (one, many) = (of(1, 10 * MANY), of(37, 10 * MANY));
        assert_eq!(one, many);
        let over = one.len() - SAMPLE;
        assert!(if split == Split::InOrder { over == 0 } else { (100..3_000).contains(&over) });
    }
}
