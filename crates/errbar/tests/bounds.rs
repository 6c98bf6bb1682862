//! Observations that keep to bounds, and scales other than the user's.

use errbar::fit::{Kind, Options, Rows, fit};
use errbar::law::{Bounds, Law, Transform};
use errbar::{Data, Error, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// Rain of known law: inputs, forecasts, observations, and the law before it is cut off at zero.
struct Rain {
    x: Vec<f64>,
    forecast: Vec<f64>,
    observation: Vec<f64>,
    sigma: Vec<f64>,
}

fn rain(rows: usize, seed: u64) -> Rain {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut rain =
        Rain { x: Vec::new(), forecast: Vec::new(), observation: Vec::new(), sigma: Vec::new() };
    for _ in 0..rows {
        let x: f64 = rng.random_range(0.0..1.0);
        let (forecast, sigma) = (2.0 * rng.random_range(0.0f64..1.0), 0.5 + 1.5 * x);
        let noise: f64 = rng.sample(StandardNormal);
        rain.x.push(x);
        rain.forecast.push(forecast);
        rain.sigma.push(sigma);
        rain.observation.push((forecast + sigma * noise).max(0.0));
    }
    rain
}

#[test]
fn a_censored_law_is_learned() {
    let zero = Bounds::new(Some(0.0), None).unwrap();
    let (train, test) = (rain(1500, 1), rain(4000, 2));
    let at_zero = train.observation.iter().filter(|y| **y == 0.0).count();
    assert!(at_zero > 300, "{at_zero}");
    let data = Data::of_forecasts(&train.x, 1, &train.forecast, &train.observation).unwrap();
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let truth = mean(
        (0..test.x.len())
            .map(|row| {
                let law = Law::normal(test.forecast[row], test.sigma[row]).within(zero);
                law.crps(test.observation[row])
            })
            .collect(),
    );
    let told = |options: &Options| {
        let fitted = fit(&data, &["x".into()], options, &Silent).unwrap().fitted;
        let fitted = errbar::fit::Fitted::from_json(&fitted.to_json().unwrap()).unwrap();
        let said =
            fitted.predict(Rows::new(&test.x).with_forecast(&test.forecast)).unwrap().within(zero);
        let crps = mean(said.crps(&test.observation).unwrap());
        let ratio = mean(said.sigma().iter().zip(&test.sigma).map(|(a, b)| (a / b).ln()).collect());
        let (low, high) = said.interval(0.9).unwrap();
        let above = (0..test.x.len()).filter(|&i| test.observation[i] > high[i]).count();
        (crps / truth - 1.0, ratio.exp(), above as f64 / test.x.len() as f64, low)
    };
    for kind in [Kind::Polynomial, Kind::Auto] {
        let plain = told(&Options::default().kind(kind));
        let bound = told(&Options::default().kind(kind).bounds(zero));
        println!(
            "{kind:?}: regret {:.4} (without bounds {:.4}), sigma over true {:.3} ({:.3}), above {:.3} \
             ({:.3})",
            bound.0, plain.0, bound.1, plain.1, bound.2, plain.2
        );
        assert!(bound.0 < 0.005 && plain.0 > 2.0 * bound.0);
        assert!((0.95..1.08).contains(&bound.1), "sigma before censoring is {}", bound.1);
        assert!((0.04..0.065).contains(&bound.2) && bound.3.iter().all(|low| *low >= 0.0));
    }
}

#[test]
fn bounds_are_those_of_observations() {
    let rain = rain(200, 3);
    let names = ["x".to_string()];
    let options =
        Options::default().kind(Kind::Polynomial).bounds(Bounds::new(Some(0.5), None).unwrap());
    let data = Data::of_forecasts(&rain.x, 1, &rain.forecast, &rain.observation).unwrap();
    let first = rain.observation.iter().position(|y| *y < 0.5).unwrap();
    let refused = fit(&data, &names, &options, &Silent).unwrap_err();
    let value = rain.observation[first];
    assert_eq!(refused, Error::BeyondBound { index: first, value, bound: 0.5 });
    let error: Vec<f64> = rain.observation.iter().zip(&rain.forecast).map(|(y, f)| y - f).collect();
    let data = Data::new(&rain.x, 1, &error).unwrap();
    let refused = fit(&data, &names, &options, &Silent).unwrap_err();
    assert_eq!(refused, Error::BoundsWithoutObservations);
    // The forecast is not needed where errors are.
    let zero = options.bounds(Bounds::new(Some(0.0), None).unwrap());
    fit(&data.maybe_observed(Some(&rain.observation)).unwrap(), &names, &zero, &Silent).unwrap();
}

/// Forecasts that are off by a factor: even errors on the scale of logarithms.
#[test]
fn a_scale_is_learned_on_and_left_again() {
    let mut rng = Pcg64::seed_from_u64(5);
    let rows = 2000;
    let x: Vec<f64> = (0..rows).map(|_| rng.random_range(0.0..1.0)).collect();
    let forecast: Vec<f64> = (0..rows).map(|_| 10.0 * rng.random_range(0.1f64..5.0)).collect();
    let factor = |x: f64, noise: f64| ((0.1 + 0.6 * x) * noise).exp();
    let observation: Vec<f64> =
        (0..rows).map(|i| forecast[i] * factor(x[i], rng.sample(StandardNormal))).collect();
    let (half, log) = (rows / 2, Transform::Log);
    let at = log.all("forecast", &forecast).unwrap();
    let seen = log.all("observation", &observation).unwrap();
    let data = Data::of_forecasts(&x[..half], 1, &at[..half], &seen[..half]).unwrap();
    let options = Options::default().kind(Kind::Polynomial).transform(log);
    let fitted = fit(&data, &["x".into()], &options, &Silent).unwrap().fitted;
    let text = fitted.to_json().unwrap();
    assert!(text.contains("\"needs\":[\"law\",\"transform\"]"));
    let fitted = errbar::fit::Fitted::from_json(&text).unwrap();
    let new = Rows::new(&x[half..]).with_forecast(&forecast[half..]);
    let said = fitted.predict(new).unwrap();
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
    assert!(said.forecast().unwrap().iter().zip(&forecast[half..]).all(|(a, b)| close(*a, *b)));
    let (low, high) = said.interval(0.9).unwrap();
    let inside = (0..half).filter(|&i| (low[i]..high[i]).contains(&observation[half + i])).count();
    let share = inside as f64 / half as f64;
    println!("90% intervals on the user's scale hold {share}");
    assert!((0.87..0.93).contains(&share) && low.iter().all(|low| *low > 0.0));
    let sigma = said.sigma();
    let off = (0..half).map(|i| (sigma[i] / (0.1 + 0.6 * x[half + i])).ln().abs()).sum::<f64>();
    assert!(off / half as f64 <= 0.1, "{}", off / half as f64);
    // The probability of exceeding a quantile is what is left, and nothing is below zero.
    let ninth = said.quantile(0.9).unwrap()[0];
    assert!((said.exceed(ninth).unwrap()[0] - 0.1).abs() < 1e-9);
    assert_eq!(said.exceed(-1.0).unwrap()[0], 1.0);
    let none = fitted.predict(Rows::new(&[0.5]).with_forecast(&[-3.0])).unwrap();
    assert!(none.quantile(0.5).unwrap()[0].is_nan());
    let wrong = log.all("forecast", &[-3.0]).unwrap_err();
    assert_eq!(
        wrong,
        Error::NoPlaceOnScale { what: "forecast", index: 0, value: -3.0, scale: "log" }
    );
}

/// Forecasts that know nothing of what changes: the bias is that of the law before it is cut off, which lies below zero
/// where most observations are zero.
#[test]
fn a_bias_is_that_before_observations_are_cut_off() {
    let mut rng = Pcg64::seed_from_u64(11);
    let rows = 3000;
    let x: Vec<f64> = (0..rows).map(|_| rng.random_range(0.0..1.0)).collect();
    let middle = |x: f64| 4.0 * x - 2.0;
    let noise = |rng: &mut Pcg64| -> f64 { rng.sample(StandardNormal) };
    let observation: Vec<f64> = x.iter().map(|x| (middle(*x) + noise(&mut rng)).max(0.0)).collect();
    let forecast = vec![1.0; rows];
    let zero = Bounds::new(Some(0.0), None).unwrap();
    let data = Data::of_forecasts(&x, 1, &forecast, &observation).unwrap();
    let options = Options::default().kind(Kind::Polynomial).debias(true).bounds(zero);
    let fitted = fit(&data, &["x".into()], &options, &Silent).unwrap().fitted;
    let at = [0.1, 0.3, 0.5, 0.7, 0.9];
    let said = fitted.predict(Rows::new(&at).with_forecast(&[1.0; 5])).unwrap();
    let (moved, above) = (said.forecast().unwrap(), said.exceed(0.0).unwrap());
    // The mean of what is observed is 0.12 there, 1 / sqrt(2 pi) in the middle.
    assert!((moved[1] - middle(0.3)).abs() < 0.2, "{}", moved[1]);
    assert!((moved[2] - middle(0.5)).abs() < 0.2, "{}", moved[2]);
    // The probability of more than nothing, which the law before it is cut off decides: Phi from tables.
    for (place, true_above) in [(1, 0.211_855), (2, 0.5), (3, 0.788_145), (4, 0.945_201)] {
        assert!((above[place] - true_above).abs() < 0.08, "{}: {}", at[place], above[place]);
    }
}
