//! Members that make one forecast: their middle is the forecast, and how far they are apart is an input.
//!
//! ```
//! use errbar::ensemble::{Center, Ensemble};
//!
//! let ensemble = Ensemble::new(["m1", "m2", "m3", "m4"].map(String::from), Center::Mean);
//! assert_eq!(ensemble.inputs(), ["members_mean", "members_spread", "members_zeros"]);
//! // One of them is missing.
//! assert_eq!(ensemble.of_row(&mut [0.0, f64::NAN, 3.0, 3.0]), [2.0, 3_f64.sqrt(), 1.0 / 3.0]);
//! ```

use serde::{Deserialize, Serialize};

use crate::choices::by_name;
use crate::error::{Error, Result};
use crate::math::at_place;

/// What the forecast is of the members.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Center {
    /// Their mean.
    #[default]
    Mean,
    /// Their median, which a member far out does not move.
    Median,
}

impl Center {
    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
        }
    }
}

impl std::str::FromStr for Center {
    type Err = Error;

    /// By its [`Center::name`].
    fn from_str(name: &str) -> Result<Self> {
        by_name("center", name)
    }
}

/// Columns whose values are members of an ensemble, and what the forecast is of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ensemble {
    members: Vec<String>,
    center: Center,
}

impl Ensemble {
    /// Of columns with these names.
    #[must_use]
    pub fn new(members: impl Into<Vec<String>>, center: Center) -> Self {
        Self { members: members.into(), center }
    }

    /// The columns of the members.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// What the forecast is of them.
    #[must_use]
    pub fn center(&self) -> Center {
        self.center
    }

    /// What the forecast is called: `members_mean`, or `members_median`.
    #[must_use]
    pub fn forecast(&self) -> String {
        format!("members_{}", self.center.name())
    }

    /// The names of what is made of the members, which models of sigma take as inputs: the forecast, the standard deviation
    /// of the members and the share of them that are zero.
    #[must_use]
    pub fn inputs(&self) -> [String; 3] {
        [self.forecast(), "members_spread".into(), "members_zeros".into()]
    }

    /// These of the members of one row, of which some may be missing (NaN). The standard deviation is that of a sample,
    /// \\(\sqrt{\sum_i (x_i - \bar x)^2 / (m - 1)}\\), and missing for a single member; without any member all is missing. The members
    /// are put in order, those that are missing last.
    #[must_use]
    pub fn of_row(&self, members: &mut [f64]) -> [f64; 3] {
        members.sort_unstable_by(|a, b| a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b)));
        let there = members.partition_point(|x| !x.is_nan());
        let members = &mut members[..there];
        let count = there as f64;
        if there == 0 {
            return [f64::NAN; 3];
        }
        let mean = match members.iter().sum::<f64>() / count {
            mean if mean.is_finite() => mean,
            // Near the largest numbers there are.
            _ => members.iter().map(|x| x / count).sum(),
        };
        let far = members.iter().map(|x| (x - mean).abs()).fold(0.0, f64::max);
        let spread = match there {
            1 => f64::NAN,
            _ if far == 0.0 || far.is_infinite() => far,
            _ => {
                let squares = members.iter().map(|x| ((x - mean) / far).powi(2)).sum::<f64>();
                far * (squares / (count - 1.0)).sqrt()
            }
        };
        let zeros = members.iter().filter(|x| **x == 0.0).count() as f64 / count;
        let center = match self.center {
            Center::Mean => mean,
            Center::Median => at_place(members, 0.5 * (count - 1.0)),
        };
        [center, spread, zeros]
    }

    /// Whether one that was read can be used.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        match self.members.len() {
            0 => Err("it is of an ensemble without members".into()),
            _ => Ok(()),
        }
    }
}
