//! The columns to add.

use std::sync::Arc;

use errbar::fit::{Fitted, Forecasts};
use errbar::law::Bounds;
use errbar_table::{NewColumn, NewKind, NewValues};

use super::Arguments;
use super::error_bars::ErrorBars;
use super::promise::Promise;
use crate::output::percent;

/// Which columns are added, and how their values are made.
pub(super) struct Columns {
    /// The names of the model's inputs.
    inputs: Arc<[String]>,
    /// The numbers, by name and in their order.
    numbers: Vec<(String, Number)>,
    /// After how many of them the names come of those that each guarantee is made to.
    by: Vec<(usize, String)>,
    /// Who guarantees are made to.
    made_to: Arc<[String]>,
    pub(super) bounds: Bounds,
}

/// A number that is added to each row.
#[derive(Clone, Copy)]
enum Number {
    /// As it was given.
    Given,
    /// As error bars are put around it.
    Forecast,
    Sigma,
    /// The lower end of the band on sigma.
    SigmaBand(f64),
    /// The lower end of a guaranteed interval.
    Guaranteed(f64),
    /// The upper end of what came before.
    UpperEnd,
    Quantile(f64),
    Exceed(f64),
    Skew,
    Support,
}

impl Columns {
    pub(super) fn of_arguments(
        arguments: &Arguments,
        fitted: &Fitted,
        promise: &Promise,
        bounds: Bounds,
    ) -> Self {
        let mut numbers = Vec::new();
        let mut by = Vec::new();
        if fitted.ensemble().is_some() && arguments.forecast.is_none() {
            numbers.push((String::from("forecast"), Number::Given));
        }
        if fitted.bias().is_some() {
            numbers.push((String::from("debiased"), Number::Forecast));
        } else if fitted.mean().is_some() && arguments.forecast.is_none() {
            numbers.push((String::from("forecast"), Number::Forecast));
        }
        numbers.push((String::from("sigma"), Number::Sigma));
        let ends = |numbers: &mut Vec<(String, Number)>, name: &str, level, lower| {
            numbers.push((format!("{name}_lower_{}", percent(level)), lower));
            numbers.push((format!("{name}_upper_{}", percent(level)), Number::UpperEnd));
        };
        if let Some(level) = arguments.sigma_band {
            ends(&mut numbers, "sigma", level, Number::SigmaBand(level));
        }
        for &level in &arguments.guarantee {
            ends(&mut numbers, "guaranteed", level, Number::Guaranteed(level));
            if promise.group.is_some() {
                by.push((numbers.len(), format!("guaranteed_by_{}", percent(level))));
            }
        }
        for &level in &arguments.interval {
            for (name, p) in [("lower", 0.5 - 0.5 * level), ("upper", 0.5 + 0.5 * level)] {
                numbers.push((format!("{name}_{}", percent(level)), Number::Quantile(p)));
            }
        }
        for &level in &arguments.quantiles {
            numbers.push((format!("quantile_{level}"), Number::Quantile(level)));
        }
        for &threshold in &arguments.exceed {
            numbers.push((format!("exceed_{threshold}"), Number::Exceed(threshold)));
        }
        let turns = |model: &Fitted| model.shape().is_some_and(|shape| shape.turning().is_some());
        if turns(fitted) || fitted.without_lags().is_some_and(turns) {
            numbers.push((String::from("skew"), Number::Skew));
        }
        numbers.push((String::from("support"), Number::Support));
        Self { inputs: fitted.called().into(), numbers, by, made_to: promise.names.clone(), bounds }
    }

    /// How many of them are numbers.
    pub(super) fn numbers(&self) -> usize {
        self.numbers.len()
    }

    /// The numbers of some rows, column by column.
    pub(super) fn of(&self, said: &Forecasts) -> errbar::Result<Vec<Vec<f64>>> {
        let missing = || vec![f64::NAN; said.len()];
        let mut out = Vec::with_capacity(self.numbers.len());
        // Upper ends follow the lower ones, and come from the same call.
        let mut upper = Vec::new();
        for (_, number) in &self.numbers {
            let mut ends = |ends: (Vec<f64>, Vec<f64>)| {
                upper = ends.1;
                ends.0
            };
            out.push(match *number {
                Number::Given => said.given().map_or_else(missing, <[f64]>::to_vec),
                Number::Forecast => said.forecast().map_or_else(missing, <[f64]>::to_vec),
                Number::Sigma => said.sigma().to_vec(),
                Number::SigmaBand(level) => {
                    ends(said.sigma_band(level)?.unwrap_or_else(|| (missing(), missing())))
                }
                // There is nothing to promise to no row.
                Number::Guaranteed(_) if said.is_empty() => ends((Vec::new(), Vec::new())),
                Number::Guaranteed(level) => ends(said.guaranteed(level)?),
                Number::UpperEnd => std::mem::take(&mut upper),
                Number::Quantile(p) => said.quantile(p)?,
                Number::Exceed(threshold) => said.exceed(threshold)?,
                Number::Skew => said.skew(),
                Number::Support => said.support().map_or_else(missing, <[f64]>::to_vec),
            });
        }
        Ok(out)
    }

    /// For each guaranteed level how many of some rows have an unbounded interval.
    pub(super) fn unbounded(&self, numbers: &[Vec<f64>]) -> Vec<u64> {
        let ends = self.numbers.iter().zip(numbers.windows(2));
        let guaranteed = ends.filter(|((_, number), _)| matches!(number, Number::Guaranteed(_)));
        let count = |ends: &[Vec<f64>]| {
            let both = ends[0].iter().zip(&ends[1]);
            both.filter(|(low, high)| low.is_infinite() || high.is_infinite()).count() as u64
        };
        guaranteed.map(|(_, ends)| count(ends)).collect()
    }

    /// Their names and kinds, as they are written.
    pub(super) fn new_columns(&self, prefix: &str) -> Vec<NewColumn> {
        let column = |name: &str, kind| NewColumn { name: format!("{prefix}{name}"), kind };
        let numbers: Vec<NewColumn> =
            self.numbers.iter().map(|(name, _)| column(name, NewKind::Number)).collect();
        let by = self.by.iter().map(|(_, name)| column(name, NewKind::Text)).collect();
        let last = [column("outside", NewKind::Flag), column("outside_input", NewKind::Text)];
        self.in_order(numbers, by).into_iter().chain(last).collect()
    }

    /// Their values, as they are written.
    pub(super) fn values(&self, rows: ErrorBars) -> Vec<NewValues> {
        let numbers = rows.numbers.into_iter().map(NewValues::Numbers).collect();
        let nobody = vec![None; rows.sigma.len()];
        let by = (0..self.by.len()).map(|level| rows.by.get(level).unwrap_or(&nobody).clone());
        let by = by.map(|by| NewValues::Texts(self.made_to.clone(), by)).collect();
        let last = [
            NewValues::Flags(rows.outside),
            NewValues::Texts(self.inputs.clone(), rows.outside_input),
        ];
        self.in_order(numbers, by).into_iter().chain(last).collect()
    }

    /// Numbers, with the names of those that guarantees are made to among them.
    fn in_order<T>(&self, numbers: Vec<T>, by: Vec<T>) -> Vec<T> {
        let mut out = Vec::new();
        let mut by = self.by.iter().zip(by).peekable();
        for (place, number) in numbers.into_iter().enumerate() {
            if let Some((_, name)) = by.next_if(|((before, _), _)| *before == place) {
                out.push(name);
            }
            out.push(number);
        }
        out
    }
}
