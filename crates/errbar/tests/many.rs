//! Many rows: kinds of models learn from some, trees from all.

use errbar::fit::{self, Kind, MANY, SAMPLE};
use errbar::rounds::{self, Answers, Ask, Local, Part, Workers};
use errbar::sigma::trees;
use errbar::{Data, Error, Group, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

const ROWS: usize = MANY + 10_000;

/// Two inputs; sigma jumps with the first and bends with the second.
fn truth(x: &[f64]) -> f64 {
    (if x[0] < 0.313 { 0.5 } else { 2.0 }) * (1.0 + (6.0 * x[1]).sin() / 2.0)
}

fn draw(seed: u64, rows: usize) -> (Vec<f64>, Vec<f64>) {
    draw_of(truth, seed, rows)
}

fn draw_of(truth: fn(&[f64]) -> f64, seed: u64, rows: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let x: Vec<f64> = (0..2 * rows).map(|_| rng.random_range(0.0..1.0)).collect();
    let error = x.chunks_exact(2).map(|x| truth(x) * rng.sample::<f64, _>(StandardNormal));
    let error = error.collect();
    (x, error)
}

fn names() -> [String; 2] {
    ["jump".into(), "bend".into()]
}

/// What sigmas lose to the true ones, in nats.
fn regret(sigma: &[f64], x: &[f64]) -> f64 {
    regret_of(truth, sigma, x)
}

fn regret_of(truth: fn(&[f64]) -> f64, sigma: &[f64], x: &[f64]) -> f64 {
    let each = sigma.iter().zip(x.chunks_exact(2)).map(|(sigma, x)| {
        let log = (truth(x) / sigma).ln();
        (2.0 * log).exp_m1() / 2.0 - log
    });
    each.sum::<f64>() / sigma.len() as f64
}

/// Sigma that jumps so often that some rows do not tell where.
fn rough(x: &[f64]) -> f64 {
    let jumps = [(40.0 * x[0]).sin() > 0.0, (33.0 * x[1]).sin() > 0.3];
    (0.6 * jumps.map(|jump| f64::from(u8::from(jump))).iter().sum::<f64>()).exp()
}

#[test]
fn all_rows_are_better_than_some() {
    let ((x, error), (new, _)) = (draw_of(rough, 1, ROWS), draw(2, 20_000));
    let data = Data::new(&x, 2, &error).unwrap();
    let options = fit::Options::default();
    let all = fit::fit(&data, &names(), &options, &Silent).unwrap();
    assert_eq!(all.fitted.rows(), (ROWS, ROWS));
    let some = fit::fit(&data, &names(), &options.most_rows(SAMPLE), &Silent).unwrap().fitted;
    assert_eq!(some.rows(), (ROWS, SAMPLE));
    let regret =
        |fitted: &fit::Fitted| regret_of(rough, fitted.predict(&new[..]).unwrap().sigma(), &new);
    let (all_rows, some_rows) = (regret(&all.fitted), regret(&some));
    assert!(all_rows < 0.8 * some_rows, "all {all_rows}, some {some_rows}");
    // Rows that none of its parts has learned from judge it, and it keeps what it claims.
    let (held_out, validation) = (all.held_out.unwrap(), all.fitted.validation().unwrap());
    assert_eq!(held_out.rows.len(), validation.rows);
    assert!(held_out.rows.is_sorted() && held_out.rows.iter().all(|row| *row < ROWS));
    assert!(held_out.rows.iter().zip(&held_out.error).all(|(row, e)| *e == error[*row]));
    assert!((validation.coverage_90 - 0.9).abs() < 0.01, "{}", validation.coverage_90);
    // Saved, it is the same.
    let json = all.fitted.to_json().unwrap();
    assert!(json.contains("\"trees that refine a mean\""));
    let read = fit::Fitted::from_json(&json).unwrap();
    let [own, again] = [&all.fitted, &read].map(|f| f.predict(&new[..]).unwrap().sigma().to_vec());
    assert_eq!(own, again);
}

#[test]
fn bits_depend_on_rows_alone() {
    let (x, error) = draw(3, ROWS);
    let data = Data::new(&x, 2, &error).unwrap();
    let options = fit::Options::default().kind(Kind::Trees);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fit = pool.install(|| fit::fit(&data, &names(), &options, &Silent).unwrap());
        fit.fitted.to_json().unwrap()
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn rows_in_time_groups_weights_and_gaps() {
    let (mut x, error) = draw(4, ROWS);
    let options = fit::Options::default().kind(Kind::Trees);
    let regret_of = |data: &Data| {
        let fitted = fit::fit(data, &names(), &options, &Silent).unwrap().fitted;
        assert_eq!(fitted.rows().0, fitted.rows().1);
        let (new, _) = draw(5, 20_000);
        regret(fitted.predict(&new[..]).unwrap().sigma(), &new)
    };
    let plain = Data::new(&x, 2, &error).unwrap();
    let time: Vec<f64> = (0..ROWS).map(|row| (row / 2) as f64).collect();
    let group = Group {
        name: "station".into(),
        labels: (0..40).map(|g| g.to_string()).collect(),
        rows: (0..ROWS as u32).map(|row| row / 7 % 40).collect(),
    };
    // Rows of weight zero say what is not so.
    let wrong: Vec<f64> =
        error.iter().enumerate().map(|(i, e)| if i % 20 == 0 { 30.0 * e } else { *e }).collect();
    let weight: Vec<f64> = (0..ROWS).map(|i| f64::from(u8::from(i % 20 != 0))).collect();
    let weighted = Data::new(&x, 2, &wrong).unwrap().maybe_weighted(Some(&weight)).unwrap();
    for (what, data) in [
        ("time", plain.clone().in_time(&time).unwrap()),
        ("groups", plain.clone().grouped(group).unwrap()),
    ] {
        let regret = regret_of(&data);
        assert!(regret < 0.006, "{what}: {regret}");
    }
    let fitted = fit::fit(&weighted, &names(), &options, &Silent).unwrap().fitted;
    let (new, _) = draw(5, 20_000);
    let of_weighted = regret(fitted.predict(&new[..]).unwrap().sigma(), &new);
    assert!(of_weighted < 0.006, "weights: {of_weighted}");
    drop(plain);
    drop(weighted);
    x.iter_mut().step_by(19).for_each(|x| *x = f64::NAN);
    let gaps = Data::with_missing(&x, 2, &error).unwrap();
    let regret = regret_of(&gaps);
    assert!(regret < 0.01, "gaps: {regret}");
}

/// So many parts of some rows.
fn parts(x: &[f64], error: &[f64], count: usize) -> Vec<Part> {
    let rows = error.len() / count;
    let part = |nth: usize| {
        let (x, error) =
            (&x[2 * nth * rows..2 * (nth + 1) * rows], &error[nth * rows..(nth + 1) * rows]);
        Part::new(nth as u64, x.to_vec(), 2, error, &vec![1.0; rows]).unwrap()
    };
    (0..count).map(part).collect()
}

/// Those who send bytes, and may send them wrong.
struct Elsewhere<F>(Vec<Part>, F);

impl<F: FnMut(&mut Vec<u8>)> Workers for Elsewhere<F> {
    fn ask(&mut self, ask: &Ask) -> errbar::Result<Vec<Answers>> {
        let mut bytes = ask.to_bytes()?;
        (self.1)(&mut bytes);
        let answer = |part: &mut Part| part.answer(&Ask::from_bytes(&bytes)?);
        let own = |part: &mut Part| Answers::of(part.number(), answer(part)?).to_bytes();
        self.0.iter_mut().map(|part| Answers::from_bytes(&own(part)?)).collect()
    }
}

#[test]
fn workers_elsewhere_say_the_same() {
    let ((x, error), (new, _)) = (draw(6, 8_000), draw(7, 5_000));
    let (some, options) = (&x[..2_000], trees::Options::default());
    let here = rounds::trees(&mut Local::new(parts(&x, &error, 8)), (some, 2), &options, &Silent);
    let mut elsewhere = Elsewhere(parts(&x, &error, 8), |_: &mut Vec<u8>| {});
    let there = rounds::trees(&mut elsewhere, (some, 2), &options, &Silent);
    let here = here.unwrap();
    assert_eq!(here, there.unwrap());
    assert_eq!(here.rows + here.held_out, 8_000);
    assert!(here.cost.1 < here.cost.0);
    // As good as trees that have all rows at once, but for chance.
    let at_once = trees::fit(&x, 2, &error, &trees::Options { bags: Some(5), ..options }).unwrap();
    let at_once = regret(&at_once.predict(&new).unwrap(), &new);
    let in_rounds = regret(&here.model.predict(&new).unwrap(), &new);
    assert!(in_rounds < 2.0 * at_once + 0.005, "in rounds {in_rounds}, at once {at_once}");
}

#[test]
fn what_is_no_message_is_refused() {
    let (x, error) = draw(8, 800);
    let (some, options) = (&x[..200], trees::Options { rounds: 3, ..Default::default() });
    let mut rng = Pcg64::seed_from_u64(9);
    for change in 0..200 {
        let mut turn = 0;
        let spoil = |bytes: &mut Vec<u8>| {
            turn += 1;
            match (change % 4, turn == 1 + change / 20) {
                (0, true) => bytes.truncate(rng.random_range(0..bytes.len())),
                (1, true) => bytes.push(0),
                (2, true) => {
                    let place = rng.random_range(0..bytes.len());
                    bytes[place] = bytes[place].wrapping_add(rng.random_range(1..255));
                }
                // Another version of errbar.
                (3, true) => bytes[16] = b'9',
                _ => {}
            }
        };
        let mut workers = Elsewhere(parts(&x, &error, 2), spoil);
        let said = rounds::trees(&mut workers, (some, 2), &options, &Silent);
        match (change % 4, said) {
            (0 | 1, Err(Error::BadMessage { .. })) | (3, Err(Error::OtherVersion { .. })) => {}
            // A changed byte may still make a question.
            (2, _) => {}
            // Fewer questions were asked than that.
            (_, Ok(_)) if turn < 1 + change / 20 => {}
            (_, said) => panic!("{change}: {said:?}"),
        }
    }
}

#[test]
fn a_part_that_cannot_answer_is_named() {
    let (x, error) = draw(10, 800);
    // The second part has another number of inputs.
    let mut odd = parts(&x, &error, 2);
    odd[1] = Part::new(1, x[..300].to_vec(), 3, &error[..100], &[1.0; 100]).unwrap();
    let said =
        rounds::trees(&mut Local::new(odd), (&x[..200], 2), &trees::Options::default(), &Silent);
    assert!(matches!(said, Err(Error::InPart { number: 1, .. })), "{said:?}");
    for (error, sigma) in [([f64::NAN], [1.0]), ([1.0], [0.0]), ([1.0], [f64::INFINITY])] {
        assert!(Part::new(0, vec![1.0], 1, &error, &sigma).is_err());
    }
    assert!(matches!(Part::new(0, vec![], 1, &[], &[]), Err(Error::Empty | Error::NoInputs)));
}
