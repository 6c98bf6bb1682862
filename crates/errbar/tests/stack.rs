//! Stacks: a mean of log sigmas, with weights that held-out rows choose.

use errbar::fit::{self, Kind, LawKind, fit};
use errbar::loss::LossKind;
use errbar::score::{Sample, crps};
use errbar::sigma::Model;
use errbar::{Data, Error, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;
use serde::Deserialize;

/// A wave along one input and a jump along another; each suits other models.
fn truth(x: &[f64]) -> f64 {
    (6.0 * x[0]).sin().exp() * if x[1] < 0.3 { 0.5 } else { 1.5 }
}

fn draw(seed: u64, rows: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let x: Vec<f64> = (0..3 * rows).map(|_| rng.random_range(0.0..1.0)).collect();
    let error =
        x.chunks_exact(3).map(|row| truth(row) * rng.sample::<f64, _>(StandardNormal)).collect();
    (x, error)
}

fn names() -> Vec<String> {
    ["a", "b", "c"].map(String::from).to_vec()
}

fn fit_kind(kind: Kind, x: &[f64], error: &[f64]) -> fit::Fit {
    // Sigma as the models say it.
    let options = fit::Options::default().kind(kind).law(LawKind::Normal).recalibrate(false);
    fit(&Data::new(x, 3, error).unwrap(), &names(), &options, &Silent).unwrap()
}

#[test]
fn a_stack_is_the_mean_of_its_members_logarithms() {
    let (x, error) = draw(1, 400);
    let stacked = fit_kind(Kind::Stack, &x, &error);
    let Model::Stack(stack) = stacked.fitted.model() else { panic!("no stack") };
    assert!(stack.members().len() > 1);
    let shares: f64 = stack.members().iter().map(|member| member.share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    let at = [0.2, 0.7, 0.1];
    let product: f64 = stack
        .members()
        .iter()
        .map(|member| member.model.predict(&at).unwrap()[0].powf(member.share))
        .product();
    let sigma = stacked.fitted.predict(&at).unwrap().sigma()[0];
    assert!((sigma / product - 1.0).abs() < 1e-12, "{sigma} {product}");
}

#[test]
fn it_is_about_as_good_as_the_best_or_better() {
    let (x, error) = draw(2, 600);
    let (new, new_error) = draw(3, 10_000);
    let score = |kind: Kind| {
        let sigma = fit_kind(kind, &x, &error).fitted.predict(&new).unwrap().into_sigma();
        crps::mean(&Sample::new(&new_error, &sigma).unwrap())
    };
    let kinds = [Kind::Polynomial, Kind::Smooth, Kind::Network, Kind::Trees];
    let best = kinds.into_iter().map(score).fold(f64::INFINITY, f64::min);
    let (auto, constant) = (score(Kind::Auto), score(Kind::Constant));
    // The weights come from 180 rows: a hundredth of what there is to gain may be lost by them.
    assert!(auto < best + 0.02 * (constant - best), "{auto} {best} {constant}");
}

#[test]
fn every_model_that_was_tried_is_told() {
    let (x, error) = draw(4, 300);
    let fitted = fit_kind(Kind::Auto, &x, &error).fitted;
    let validation = fitted.validation().unwrap();
    let kinds: Vec<Kind> = validation.candidates.iter().map(|candidate| candidate.kind).collect();
    let single = [Kind::Constant, Kind::Polynomial, Kind::Smooth, Kind::Network, Kind::Trees];
    assert_eq!(kinds[..5], single);
    if let Model::Stack(_) = fitted.model() {
        assert_eq!(kinds[5..], [Kind::Stack]);
        assert_eq!(fitted.kind(), Kind::Stack);
        // Summed in another order.
        assert!((validation.crps / validation.candidates[5].crps - 1.0).abs() < 1e-12);
    }
}

#[test]
fn what_is_saved_is_read_to_the_bit_and_checked() {
    let (x, error) = draw(5, 300);
    let model = fit_kind(Kind::Stack, &x, &error).fitted.model().clone();
    let saved = serde_json::to_string(&model).unwrap();
    assert_eq!(serde_json::from_str::<Model>(&saved).unwrap(), model);

    let json: serde_json::Value = serde_json::from_str(&saved).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut other = json.clone();
        change(&mut other);
        let read = Model::deserialize(&other);
        assert!(read.is_err(), "{read:?}");
    };
    refused(&|json| json["members"] = serde_json::json!([]));
    refused(&|json| json["members"][0]["share"] = 0.0.into());
    refused(&|json| json["members"][0]["share"] = 1.5.into());
    refused(&|json| {
        let own = json.clone();
        json["members"][0]["model"] = own;
    });
    refused(&|json| {
        let other = serde_json::json!({"kind": "constant", "sigma": 1.0, "columns": 2});
        json["members"][0]["model"] = other;
    });
}

#[test]
fn threads_change_nothing() {
    let (x, error) = draw(6, 200);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit_kind(Kind::Stack, &x, &error)).fitted.to_json().unwrap()
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn weights_of_rows_count_in_the_choice() {
    // Rows of weight next to nothing with wild errors: the stack must not follow them.
    let (mut x, mut error) = draw(7, 400);
    let mut weight = vec![1.0; 400];
    for i in 0..200 {
        x.extend([0.5, 0.5, f64::from(i) / 200.0]);
        error.push(100.0 * f64::from(i % 7));
        weight.push(1e-9);
    }
    let data = Data::new(&x, 3, &error).unwrap().maybe_weighted(Some(&weight)).unwrap();
    let options = fit::Options::default().kind(Kind::Stack);
    let fitted = fit(&data, &names(), &options, &Silent).unwrap().fitted;
    let at = [0.25, 0.8, 0.5];
    let sigma = fitted.predict(&at).unwrap().sigma()[0];
    assert!((0.5..2.0).contains(&(sigma / truth(&at))), "{sigma}");
}

#[test]
fn without_rows_to_judge_by_there_is_no_stack() {
    let (x, error) = draw(8, 100);
    let options = fit::Options::default().kind(Kind::Stack).validation(0.0);
    let data = Data::new(&x, 3, &error).unwrap();
    let refused = fit(&data, &names(), &options, &Silent);
    assert!(matches!(refused, Err(Error::NothingHeldOut)));
}

#[test]
fn every_loss_can_choose() {
    let (x, error) = draw(9, 200);
    for loss in [LossKind::Crps, LossKind::Nlpd] {
        let options = fit::Options::default().kind(Kind::Auto).loss(loss);
        let data = Data::new(&x, 3, &error).unwrap();
        let fitted = fit(&data, &names(), &options, &Silent).unwrap().fitted;
        assert!(fitted.validation().unwrap().crps_skill > 0.0, "{loss:?}");
    }
}
