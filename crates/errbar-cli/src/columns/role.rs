//! What a column is used as: how messages call it, what it is named by, and what it may hold.

use anyhow::bail;

use super::{NumberId, Request};

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Observation,
    Forecast,
    /// One of an ensemble.
    Member,
    /// Observation minus forecast.
    Error,
    Sigma,
    /// A sigma that a model corrects.
    PriorSigma,
    /// The logarithm of the right side of a law over its left one.
    Skew,
    Weight,
    Time,
    Input,
    Quantile,
    /// Where an interval begins or ends.
    End,
}

impl Role {
    /// How messages call it; the option that names the column is called so too.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::Forecast => "forecast",
            Self::Member => "member",
            Self::Error => "error",
            Self::Sigma => "sigma",
            Self::PriorSigma => "prior sigma",
            Self::Skew => "skew",
            Self::Weight => "weight",
            Self::Time => "time",
            Self::Input => "input",
            Self::Quantile => "quantile",
            Self::End => "end of the interval",
        }
    }

    /// The names by which the column is known when none was given.
    fn usual(self) -> &'static [&'static str] {
        match self {
            Self::Observation => &["observation", "y"],
            Self::Forecast => &["forecast", "mu"],
            Self::Sigma => &["sigma"],
            _ => &[],
        }
    }

    /// What a finite number must be beyond that, if this one is not.
    pub(super) fn refuses(self, value: f64) -> Option<&'static str> {
        match self {
            Self::Sigma | Self::PriorSigma if value <= 0.0 => Some("greater than 0"),
            Self::Weight if value < 0.0 => Some("0 or more"),
            _ => None,
        }
    }
}

impl Request {
    /// The name of the column of a role: the one that was given, or the first of the usual ones that
    /// is there, of which a note is made. Where there is none, `advice` follows the option that names
    /// it.
    pub(crate) fn name_of(
        &mut self,
        role: Role,
        given: Option<&str>,
        advice: &str,
    ) -> anyhow::Result<String> {
        if let Some(name) = given {
            return Ok(name.to_string());
        }
        let called = role.name();
        let somewhere = self.tables.not_in_all();
        let has = |usual: &&&str| somewhere.iter().any(|(name, ..)| name == *usual);
        if !role.usual().iter().any(|name| self.has(name))
            && let Some(name) = role.usual().iter().find(has)
        {
            return Err(self.lacks(name, ""));
        }
        let Some(name) = role.usual().iter().find(|name| self.has(name)) else {
            bail!(
                "{} no column named {}: name the one with the {called} with --{called}{advice}",
                self.have(),
                role.usual().join(" or ")
            );
        };
        let the = if role == Role::Sigma { "" } else { "the " };
        self.notes.push(format!("the column \"{name}\" is taken as {the}{called}"));
        Ok(name.to_string())
    }

    /// The column of a role that need not be there.
    pub(crate) fn if_given(
        &mut self,
        role: Role,
        name: Option<&str>,
    ) -> anyhow::Result<Option<NumberId>> {
        name.map(|name| self.number(role, name)).transpose()
    }
}
