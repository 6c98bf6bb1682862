//! What each input is worth to sigma, said of inputs that can be told apart only.

use std::sync::LazyLock;

use errbar::fit::{Fitted, Kind, Options, fit};
use errbar::{Data, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// Two forecasts of the same that nearly agree, an hour that tells something of its own, and noise. The
/// size of errors grows with what is forecast and with the hour.
fn two_forecasts(rows: usize) -> (Vec<[f64; 4]>, Vec<f64>) {
    let mut random = Pcg64::seed_from_u64(7);
    let mut normal = |size: f64| size * random.sample::<f64, _>(StandardNormal);
    let row = |i: usize| {
        let (level, hour) = (normal(10.0), f64::from(i as u32 * 7 % 24));
        let sigma = (0.08 * level + 0.03 * hour).exp();
        ([level + normal(0.5), hour, level + normal(0.5), normal(1.0)], normal(sigma))
    };
    (0..rows).map(row).unzip()
}

const ROWS: usize = 1500;
const NAMES: [&str; 4] = ["first", "hour", "second", "noise"];

fn fitted(columns: &[usize]) -> Fitted {
    let (inputs, error) = two_forecasts(ROWS);
    let inputs: Vec<f64> =
        inputs.iter().flat_map(|row| columns.iter().map(|&column| row[column])).collect();
    let names: Vec<String> = columns.iter().map(|&column| NAMES[column].into()).collect();
    let data = Data::new(&inputs, columns.len(), &error).unwrap();
    let options = Options::default().kind(Kind::Polynomial);
    fit(&data, &names, &options, &Silent).unwrap().fitted
}

/// Fitted to all inputs, for every test.
static ALL: LazyLock<Fitted> = LazyLock::new(|| fitted(&[0, 1, 2, 3]));

#[test]
fn inputs_that_stand_in_for_one_another_are_shuffled_together() {
    let validation = ALL.validation().unwrap();
    let importance = &validation.importance;
    let named: Vec<Vec<&str>> = importance.iter().map(|one| one.names().collect()).collect();
    assert_eq!(named, [vec!["first", "second"], vec!["hour"], vec!["noise"]]);
    // What a fit without them costs, for comparison: without one of the twins next to nothing, without
    // both about what shuffling both does.
    let cost =
        |columns: &[usize]| fitted(columns).validation().unwrap().crps / validation.crps - 1.0;
    assert!(cost(&[1, 2, 3]).abs() < 0.01, "{}", cost(&[1, 2, 3]));
    let both = cost(&[1, 3]);
    assert!(both > 0.05 && importance[0].crps_share > 0.7 * both, "{both} {importance:?}");
    assert!(importance[1].crps_share > 0.005 && importance[2].crps_share < 0.005);
}

#[test]
fn sigma_along_an_input_is_that_of_rows_as_they_are() {
    let (inputs, _) = two_forecasts(ROWS);
    let twins = &ALL.validation().unwrap().importance[0];
    // The mean of the true sigma over the lowest and the highest fifth of the rows.
    let mut rows: Vec<&[f64; 4]> = inputs.iter().collect();
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let sigma = |row: &&[f64; 4]| (0.04 * (row[0] + row[2]) + 0.03 * row[1]).exp();
    for (rows, (at, found)) in
        [(&rows[..ROWS / 5], twins.smallest), (&rows[4 * ROWS / 5..], twins.largest)]
    {
        let mean = rows.iter().map(sigma).sum::<f64>() / rows.len() as f64;
        assert!((found / mean - 1.0).abs() < 0.25, "{found}, not {mean}");
        assert!(
            (at - rows[rows.len() / 2][0]).abs() < 2.0,
            "{at}, not {}",
            rows[rows.len() / 2][0]
        );
    }
}

#[test]
fn model_files_from_before_there_were_twins_are_read() {
    let text = ALL.to_json().unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let first = &mut json["fitted"]["validation"]["importance"][0];
    assert!(first.as_object_mut().unwrap().remove("twins").is_some());
    let old = Fitted::from_json(&json.to_string()).unwrap();
    assert!(old.validation().unwrap().importance[0].twins.is_empty());
}
