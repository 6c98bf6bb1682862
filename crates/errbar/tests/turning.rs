//! A skew that turns with the inputs.

use errbar::fit::guarantee::Method;
use errbar::fit::{Fitted, Kind, LawKind, Options, Rows, fit};
use errbar::law::{Base, Law};
use errbar::{Data, Silent};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Two inputs, of which the second is the size of errors, and the first their skew: from a sixth to six.
struct Drawn {
    x: Vec<f64>,
    error: Vec<f64>,
}

fn draw(seed: u64, rows: usize, skew: impl Fn(f64) -> f64) -> Drawn {
    let mut rng = Pcg64::seed_from_u64(seed);
    let x: Vec<f64> = (0..2 * rows).map(|_| rng.random::<f64>()).collect();
    let error = x.chunks(2).map(|row| sigma(row) * law(skew(row[0])).sample(rng.random::<f64>()));
    Drawn { error: error.collect(), x }
}

fn sigma(row: &[f64]) -> f64 {
    1.0 + row[1]
}

/// In units of its standard deviation, around a mean of zero.
fn law(skew: f64) -> Law {
    let law = Law::new(Base::Normal, 0.0, (-0.5 * skew).exp(), (0.5 * skew).exp()).with_mean(0.0);
    law.around(0.0, 1.0 / law.standard_deviation())
}

fn turns(x: f64) -> f64 {
    1.8 * (2.0 * x - 1.0)
}

fn options() -> Options {
    Options::default().kind(Kind::Polynomial)
}

fn fitted(options: &Options, drawn: &Drawn, weight: Option<&[f64]>) -> Fitted {
    let data = Data::new(&drawn.x, 2, &drawn.error).unwrap().maybe_weighted(weight).unwrap();
    fit(&data, &["a".into(), "b".into()], options, &Silent).unwrap().fitted
}

/// The share of some rows that lies below a quantile which is said of each.
fn share_below(fitted: &Fitted, new: &Drawn, p: f64, of: impl Fn(f64) -> bool) -> f64 {
    let zero = vec![0.0; new.error.len()];
    let said = fitted.predict(Rows::new(&new.x).with_forecast(&zero)).unwrap();
    let quantile = said.quantile(p).unwrap();
    let chosen: Vec<usize> = (0..new.error.len()).filter(|&row| of(new.x[2 * row])).collect();
    let below = chosen.iter().filter(|&&row| new.error[row] < quantile[row]).count();
    below as f64 / chosen.len() as f64
}

/// Each tail holds what it says, where errors lean to the left and where they lean to the right. Of 20,000 new rows
/// the share in a third is known to about half a point, and what 2000 held-out rows tell of a law to a point.
#[test]
fn a_skew_that_turns_is_found() {
    let (drawn, new) = (draw(1, 10_000, turns), draw(2, 20_000, turns));
    let fit = fitted(&options(), &drawn, None);
    let shape = fit.shape().unwrap();
    let turning = shape.turning().expect("a skew that turns");
    let words = shape.explain_with(fit.names());
    assert!(words.contains("whose skew turns with the inputs: from errors that reach"), "{words}");
    assert!(words.ends_with("more to the upper side where a is large"), "{words}");
    let (laws, least, most) = turning.laws();
    assert!(least < -1.2 && most > 1.2, "{least} {most}");
    for law in laws {
        assert!((law.standard_deviation() - 1.0).abs() < 1e-12);
        assert!((law.mean() - shape.law().mean()).abs() < 1e-12);
    }
    let asked = [0.1, 0.5, 0.9, 0.5];
    let [low, high] = [0, 1].map(|row| *fit.predict(&asked).unwrap().law_of(row).law());
    assert!(low.left > 2.0 * low.right && high.right > 2.0 * high.left, "{low:?} {high:?}");
    // One skew for all has the tails of neither.
    let one = fitted(&options().law(LawKind::Normal), &drawn, None);
    for (side, of) in [("left", 0.0..0.3), ("middle", 0.35..0.65), ("right", 0.7..1.0)] {
        for p in [0.025, 0.1, 0.5, 0.9, 0.975] {
            let share = share_below(&fit, &new, p, |x| of.contains(&x));
            println!("{side}: {share:.3} below the quantile of {p}");
            assert!((share - p).abs() < 0.025, "{side}: {share} of {p}");
        }
    }
    assert!(share_below(&one, &new, 0.025, |x| x < 0.3) > 0.04);
    assert!(share_below(&one, &new, 0.025, |x| x > 0.7) < 0.01);
}

/// What is said of rows does not change when a model is saved; whoever does not know of skews that turn is told so.
#[test]
fn it_is_saved() {
    let fit = fitted(&options(), &draw(1, 4000, turns), None);
    let json = fit.to_json().unwrap();
    assert!(json.contains("\"skew by inputs\""));
    let again = Fitted::from_json(&json).unwrap();
    let new = draw(3, 100, turns);
    let [before, after] = [&fit, &again].map(|fit| fit.predict(&new.x).unwrap().error_laws());
    assert_eq!((before, fit.shape()), (after, again.shape()));
    assert_eq!(again.to_json().unwrap(), json);
    // Held-out rows are known by their own laws.
    let drawn = draw(1, 4000, turns);
    let data = Data::new(&drawn.x, 2, &drawn.error).unwrap();
    assert_eq!(fit.known(&data), again.known(&data));
    // A skew that is no number, or of another number of inputs, is refused.
    for (from, to) in [
        ("\"least\":-", "\"least\":-1e3"),
        ("\"skew\":{\"scaling\":{\"low\":[", "\"skew\":{\"scaling\":{\"low\":[0,"),
    ] {
        assert!(json.contains(from), "{from}");
        assert!(Fitted::from_json(&json.replacen(from, to, 1)).is_err(), "{to}");
    }
}

/// Errors of one skew, and even ones, keep it: whatever their law, and to the last bit what it was.
#[test]
fn one_skew_stays_one() {
    for skew in [0.0, 1.2] {
        for seed in 0..5 {
            let fit = fitted(&options(), &draw(10 + seed, 1500, |_| skew), None);
            assert!(fit.shape().unwrap().turning().is_none(), "{skew}, {seed}");
        }
    }
    // Too few to tell.
    let fit = fitted(&options(), &draw(1, 250, turns), None);
    assert!(fit.shape().unwrap().turning().is_none());
    // Who asks for an even law, or for sigma as it is, gets that.
    let drawn = draw(1, 4000, turns);
    for options in [options().law(LawKind::T), options().recalibrate(false)] {
        assert!(fitted(&options, &drawn, None).shape().unwrap().turning().is_none());
    }
    let asked = fitted(&options().law(LawKind::TwoPieceNormal), &drawn, None);
    assert!(asked.shape().unwrap().turning().is_some());
}

/// A weight of two for every row changes nothing, and rows of no weight are not there.
#[test]
fn weights_count() {
    let drawn = draw(1, 4000, turns);
    let alone = fitted(&options(), &drawn, None);
    let twice = fitted(&options(), &drawn, Some(&vec![2.0; 4000]));
    let mut more = draw(1, 4000, turns);
    let other = draw(7, 1000, |x| -turns(x));
    more.x.extend(other.x);
    more.error.extend(other.error);
    let weight: Vec<f64> = (0..5000).map(|row| f64::from(u8::from(row < 4000))).collect();
    let without = fitted(&options(), &more, Some(&weight));
    let asked: Vec<f64> = (0..50).flat_map(|i| [f64::from(i) / 49.0, 0.5]).collect();
    let skew = |fit: &Fitted| fit.predict(&asked).unwrap().skew();
    for other in [twice, without] {
        for (one, other) in skew(&alone).iter().zip(skew(&other)) {
            // A rung at most.
            assert!((one - other).abs() < 0.15, "{one} {other}");
        }
    }
    // Rows that count four times as much as others turn the skew their way.
    let mut both = draw(1, 10_000, turns);
    for row in (0..10_000).filter(|row| row % 2 == 1) {
        both.error[row] = -both.error[row];
    }
    let weight: Vec<f64> = (0..10_000).map(|row| if row % 2 == 1 { 4.0 } else { 0.25 }).collect();
    let turned = skew(&fitted(&options(), &both, Some(&weight)));
    assert!(turned[49] < -0.5 && turned[0] > 0.5, "{turned:?}");
}

/// A promise holds whatever the law, and intervals that are promised have the skew of their row.
#[test]
fn guaranteed_intervals_turn_too() {
    let drawn = draw(1, 6000, turns);
    let fit = fitted(&options().guarantee(Some(Method::Split)), &drawn, None);
    assert!(fit.shape().unwrap().turning().is_some());
    let new = draw(4, 20_000, turns);
    let zero = vec![0.0; new.error.len()];
    let said = fit.predict(Rows::new(&new.x).with_forecast(&zero)).unwrap();
    let (low, high) = said.guaranteed_errors(0.9).unwrap();
    let held = (0..zero.len()).filter(|&row| (low[row]..=high[row]).contains(&new.error[row]));
    let share = held.count() as f64 / zero.len() as f64;
    assert!((share - 0.9).abs() < 0.02, "{share}");
    for row in 0..zero.len() {
        let (x, reach) = (new.x[2 * row], -high[row] / low[row]);
        assert!((0.25..=0.75).contains(&x) || (reach > 1.2) == (x > 0.5), "{x}: {reach}");
    }
}
