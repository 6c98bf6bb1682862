//! Mean and sigma of 20,000 rows of the paper's data sets, on inducing points.

use errbar::fit::{self, Kind, fit};
use errbar::loss::LossKind;
use errbar::mean::{Mean, gaussian_process, heteroscedastic};
use errbar::{Data, Silent};
use errbar_paper::DataSet;

/// With some 15 functions for each of mean and log sigma, 20,000 rows leave both uncertain by about
/// sqrt(15 / 20,000) = 0.03 sigma, and log sigma, which learns from 10,000, by sqrt(15 / 2 / 10,000) =
/// 0.03; twice that and a little more are allowed.
#[test]
fn mean_and_sigma_are_recovered() {
    for set in DataSet::ONE_DIMENSIONAL {
        let mut rng = set.stream(1, 1);
        let (train, new) = (set.draw(20_000, &mut rng), set.draw(2_000, &mut rng));
        let columns = set.columns();
        let own = gaussian_process::Options::default();
        let loss = LossKind::default();
        let mean = heteroscedastic::fit(&train.x, columns, &train.y, loss, &own, &Silent).unwrap();
        assert!(matches!(mean, Mean::Sparse(_)));
        let left = mean.leave_one_out(&train.x, &train.y).unwrap().unwrap();
        let data = Data::new(&train.x, columns, &left.error).unwrap();
        let names: Vec<String> = (0..columns).map(|c| format!("x{c}")).collect();
        let options = fit::Options::default().kind(Kind::Smooth);
        let fitted = fit(&data, &names, &options, &Silent).unwrap().fitted.with_mean(mean);
        let at = fitted.predict(&new.x).unwrap();
        let forecast = at.forecast().unwrap();
        let root = |of: &dyn Fn(usize, &[f64]) -> f64| {
            let squares = new.x.chunks(columns).enumerate().map(|(i, x)| of(i, x).powi(2));
            (squares.sum::<f64>() / 2_000.0).sqrt()
        };
        let off = root(&|i, x| (forecast[i] - set.mean(x)) / set.sigma(x));
        let log = root(&|i, x| (at.sigma()[i] / set.sigma(x)).ln());
        assert!(off < 0.06, "{}: the mean is off by {off:.4} sigma", set.name());
        assert!(log < 0.08, "{}: log sigma is off by {log:.4}", set.name());
    }
}
