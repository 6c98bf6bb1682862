//! The columns to add.

use std::sync::Arc;

use errbar::fit::{Fitted, Forecasts};
use errbar::law::Bounds;
use errbar_table::{NewColumn, NewKind, NewValues};

use super::Arguments;
use super::error_bars::ErrorBars;
use super::numbers::{Asked, Numbers};
use super::promise::Promise;

/// Which columns are added, and how their values are made.
pub(super) struct Columns {
    /// The names of the model's inputs.
    inputs: Arc<[String]>,
    numbers: Numbers,
    /// Who guarantees are made to.
    made_to: Arc<[String]>,
    pub(super) bounds: Bounds,
}

impl Columns {
    pub(super) fn of_arguments(
        arguments: &Arguments,
        fitted: &Fitted,
        promise: &Promise,
        bounds: Bounds,
    ) -> Self {
        let asked = Asked {
            has_forecast: arguments.forecast.is_some(),
            sigma_band: arguments.sigma_band,
            guarantee: arguments.guarantee.clone(),
            interval: arguments.interval.clone(),
            quantiles: arguments.quantiles.clone(),
            exceed: arguments.exceed.clone(),
        };
        Self {
            inputs: fitted.called().into(),
            numbers: Numbers::of_model(&asked, fitted, promise.group.is_some()),
            made_to: promise.names.clone(),
            bounds,
        }
    }

    /// How many of them are numbers.
    pub(super) fn numbers(&self) -> usize {
        self.numbers.len()
    }

    /// The numbers of some rows, column by column.
    pub(super) fn of(&self, said: &Forecasts) -> errbar::Result<Vec<Vec<f64>>> {
        self.numbers.of(said)
    }

    /// For each guaranteed level how many of some rows have an unbounded interval.
    pub(super) fn unbounded(&self, numbers: &[Vec<f64>]) -> Vec<u64> {
        self.numbers.unbounded(numbers)
    }

    /// Their names and kinds, as they are written.
    pub(super) fn new_columns(&self, prefix: &str) -> Vec<NewColumn> {
        let column = |name: &str, kind| NewColumn { name: format!("{prefix}{name}"), kind };
        let numbers = self.numbers.names().map(|name| column(name, NewKind::Number)).collect();
        let by = self.numbers.by().map(|name| column(name, NewKind::Text)).collect();
        let last = [column("outside", NewKind::Flag), column("outside_input", NewKind::Text)];
        self.numbers.in_order(numbers, by).into_iter().chain(last).collect()
    }

    /// Their values, as they are written.
    pub(super) fn values(&self, rows: ErrorBars) -> Vec<NewValues> {
        let numbers = rows.numbers.into_iter().map(NewValues::Numbers).collect();
        let nobody = vec![None; rows.sigma.len()];
        let levels = 0..self.numbers.by().count();
        let by = levels.map(|level| rows.by.get(level).unwrap_or(&nobody).clone());
        let by = by.map(|by| NewValues::Texts(self.made_to.clone(), by)).collect();
        let last = [
            NewValues::Flags(rows.outside),
            NewValues::Texts(self.inputs.clone(), rows.outside_input),
        ];
        self.numbers.in_order(numbers, by).into_iter().chain(last).collect()
    }
}
