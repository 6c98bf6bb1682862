//! A sigma that is there already, corrected.

use errbar::fit::{Fitted, Kind, Options, Rows, fit};
use errbar::law::Bounds;
use errbar::{Data, Error, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// Rows whose sigma is (0.5 + 2 x) times one that is there already.
struct Table {
    x: Vec<f64>,
    prior: Vec<f64>,
    forecast: Vec<f64>,
    observation: Vec<f64>,
}

fn table(rows: usize, seed: u64) -> Table {
    let mut rng = Pcg64::seed_from_u64(seed);
    let [mut x, mut prior, mut forecast, mut observation] = [const { Vec::new() }; 4];
    for _ in 0..rows {
        let noise: [f64; 3] = std::array::from_fn(|_| rng.sample(StandardNormal));
        let (at, s, mu) = (rng.random_range(0.0..1.0), (0.7 * noise[0]).exp(), 3.0 + noise[1]);
        x.push(at);
        prior.push(s);
        forecast.push(mu);
        observation.push(mu + s * (0.5 + 2.0 * at) * noise[2]);
    }
    Table { x, prior, forecast, observation }
}

#[test]
fn a_prior_sigma_is_corrected_and_scales_what_it_gives() {
    let table = table(2000, 1);
    let data = Data::of_forecasts(&table.x, 1, &table.forecast, &table.observation).unwrap();
    let data = data.with_prior("s", &table.prior).unwrap();
    for kind in [Kind::Polynomial, Kind::Auto] {
        let fitted = fit(&data, &["x".into()], &Options::default().kind(kind), &Silent).unwrap();
        let text = fitted.fitted.to_json().unwrap();
        assert!(text.contains("\"a sigma that is there already\""));
        let fitted = Fitted::from_json(&text).unwrap();
        assert_eq!(fitted.prior(), Some("s"));
        // Far beyond any that was seen, too.
        for prior in [1e-3, 1.0, 1e4] {
            let at = [0.1, 0.5, 0.9];
            let prior_of_all = [prior; 3];
            let said = fitted.predict(Rows::new(&at).with_prior(&prior_of_all)).unwrap();
            for (x, sigma) in at.iter().zip(said.sigma()) {
                let ratio = sigma / (prior * (0.5 + 2.0 * x));
                assert!((0.85..1.18).contains(&ratio), "{kind:?}, {x}, {prior}: {ratio}");
            }
        }
    }
}

/// Twos scale doubles exactly: what is given in units of 2 is what is given in units of 1.
#[test]
fn one_prior_sigma_for_all_rows_changes_nothing() {
    let mut table = table(600, 2);
    table.observation.iter_mut().for_each(|y| *y = y.max(0.0));
    let data = Data::of_forecasts(&table.x, 1, &table.forecast, &table.observation).unwrap();
    let with = data.clone().with_prior("s", &[2.0; 600]).unwrap();
    let at = [0.2, 0.8];
    for options in [
        Options::default().kind(Kind::Polynomial).debias(true),
        Options::default().kind(Kind::Trees),
        Options::default().kind(Kind::Polynomial).bounds(Bounds::new(Some(0.0), None).unwrap()),
        Options::default()
            .kind(Kind::Polynomial)
            .guarantee(Some(errbar::fit::guarantee::Method::Split)),
    ] {
        let one = fit(&data, &["x".into()], &options, &Silent).unwrap();
        let two = fit(&with, &["x".into()], &options, &Silent).unwrap();
        let rows = Rows::new(&at).with_forecast(&[3.0; 2]);
        let said = one.fitted.predict(rows).unwrap();
        let of_two = two.fitted.predict(rows.with_prior(&[2.0; 2])).unwrap();
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-6, "{a} and {b}");
        said.sigma().iter().zip(of_two.sigma()).for_each(|(a, b)| near(*a, *b));
        let [a, b] = [&said, &of_two].map(|said| said.interval(0.9).unwrap().1);
        near(a[0], b[0]);
        let [a, b] = [&said, &of_two].map(|said| said.forecast().unwrap()[1]);
        near(a, b);
        let [a, b] = [&one, &two].map(|fit| fit.fitted.validation().unwrap());
        near(a.crps, b.crps);
        near(a.constant_crps, b.constant_crps);
        near(a.candidates[0].crps, b.candidates[0].crps);
        near(one.fitted.training().mean_absolute_error, two.fitted.training().mean_absolute_error);
        if let Ok((low, _)) = said.guaranteed(0.8) {
            near(low[0], of_two.guaranteed(0.8).unwrap().0[0]);
        }
    }
}

#[test]
fn what_is_no_prior_sigma_is_refused() {
    let data = Data::new(&[1.0, 2.0, 3.0], 1, &[0.1, 0.2, 0.3]).unwrap();
    let refused = |prior: &[f64]| data.clone().with_prior("s", prior).unwrap_err();
    assert_eq!(refused(&[1.0, 0.0, 2.0]), Error::SigmaNotPositive { index: 1, value: 0.0 });
    assert!(matches!(refused(&[1.0, f64::NAN, 2.0]), Error::NotFinite { index: 1, .. }));
    assert!(matches!(refused(&[1.0]), Error::LengthMismatch { .. }));
    assert!(matches!(refused(&[1.0, 1e-320, 2.0]), Error::NotFinite { index: 1, .. }));
}
