//! The experiments of Camporeale (2018), "Accuracy-Reliability Cost Function for Empirical Variance
//! Estimation", run again with errbar: its data sets, its protocol and its Table 1.
//!
//! Beside them stands the paper's next step, errors that are skewed.
//!
//! Nothing here touches files or prints; the program `errbar reproduce` does.

mod beyond;
mod claims;
mod data_set;
mod figures;
mod five_d;
pub mod protocol;
mod skewed;
mod table;

pub use beyond::{BeyondMethod, BeyondRow, run_beyond};
pub use claims::{Claim, claim_steps, claims};
pub use data_set::{DataSet, Draw, PaperRow};
pub use figures::{
    PaperFigure, SigmaDensity, crps_isolines, regressions, sigma_density, sigma_distribution,
    sigma_estimates,
};
pub use five_d::{FiveDMethod, FiveDOutcome, general_network, run_five_d};
pub use protocol::{Method, Outcome, Run, run_all};
pub use skewed::{CostRow, Goal, LawRow, OUTLIERS, Skewed, SkewedSet, run_skewed, skewed_steps};
pub use table::{Row, Table, quantile};
