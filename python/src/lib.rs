//! The Python package `errbar`, as far as it is Rust: numbers in, numbers out. Its front, where
//! containers become arrays and arrays get names, is in `errbar/`.

mod arrays;
mod batches;
mod ensemble;
mod fitted;
mod forms;
mod gaussian;
mod law;
mod program;
mod report;
mod rounds;
mod scores;
mod series;
mod sums;
mod threads;

/// What the front calls; `errbar/_errbar.pyi` has its types.
#[pyo3::pymodule]
mod _errbar {
    #[pymodule_export]
    use crate::batches::Columns;
    #[pymodule_export]
    use crate::ensemble::of_members;
    #[pymodule_export]
    use crate::fitted::{Fitted, coded, fit_sigma, on_scale};
    #[pymodule_export]
    use crate::forms::{crps_ensemble, scores_of_form};
    #[pymodule_export]
    use crate::gaussian::{crps, crps_gradient, erf, erfc, erfcinv, erfinv, nlpd, pit};
    #[pymodule_export]
    use crate::law::law;
    #[pymodule_export]
    use crate::program::program;
    #[pymodule_export]
    use crate::report::{report, write_file};
    #[pymodule_export]
    use crate::rounds::{Elsewhere, Parts};
    #[pymodule_export]
    use crate::scores::{
        accuracy_reliability, accuracy_reliability_gradient, coverage, errors_of,
        reliability_score, reliability_score_min, scores,
    };
    #[pymodule_export]
    use crate::series::{backtest, fit_series, followed, guaranteed_in_time, update};
    #[pymodule_export]
    use crate::sums::Sums;

    /// The version of errbar.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
