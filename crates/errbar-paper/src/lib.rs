//! The experiments of Camporeale (2018), "Accuracy-Reliability Cost Function for Empirical Variance
//! Estimation", run again with errbar: its data sets, its protocol and its Table 1.
//!
//! Nothing here touches files or prints; the program `errbar reproduce` does.

mod data_set;
mod protocol;
mod table;

pub use data_set::{DataSet, Draw, PaperRow};
pub use protocol::{Method, Outcome, Run, run_all};
pub use table::{Row, Table};
