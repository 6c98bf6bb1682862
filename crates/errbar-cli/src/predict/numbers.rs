//! The numbers to add to rows: which, what they are called, and how they come out of forecasts.

use errbar::fit::{Fitted, Forecasts};

use crate::output::percent;

/// What is asked for beside sigma.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Whether the forecast is a column that was named.
    pub has_forecast: bool,
    /// The probability of a band on sigma.
    pub sigma_band: Option<f64>,
    /// Levels of guaranteed intervals,
    pub guarantee: Vec<f64>,
    /// of central ones,
    pub interval: Vec<f64>,
    /// of quantiles,
    pub quantiles: Vec<f64>,
    /// and thresholds that observations may exceed.
    pub exceed: Vec<f64>,
}

/// Numbers by name and in their order.
#[derive(Debug, Clone)]
pub struct Numbers {
    numbers: Vec<(String, Number)>,
    /// After how many of them the names come of those that each guarantee is made to.
    by: Vec<(usize, String)>,
}

/// A number that is added to each row.
#[derive(Debug, Clone, Copy)]
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

impl Numbers {
    /// Those that a model can say of what is asked; `grouped` is whether guarantees are made to groups.
    #[must_use]
    pub fn of_model(asked: &Asked, fitted: &Fitted, grouped: bool) -> Self {
        let mut numbers = Vec::new();
        let mut by = Vec::new();
        if fitted.ensemble().is_some() && !asked.has_forecast {
            numbers.push((String::from("forecast"), Number::Given));
        }
        if fitted.bias().is_some() {
            numbers.push((String::from("debiased"), Number::Forecast));
        } else if fitted.mean().is_some() && !asked.has_forecast {
            numbers.push((String::from("forecast"), Number::Forecast));
        }
        numbers.push((String::from("sigma"), Number::Sigma));
        let ends = |numbers: &mut Vec<(String, Number)>, name: &str, level, lower| {
            numbers.push((format!("{name}_lower_{}", percent(level)), lower));
            numbers.push((format!("{name}_upper_{}", percent(level)), Number::UpperEnd));
        };
        if let Some(level) = asked.sigma_band {
            ends(&mut numbers, "sigma", level, Number::SigmaBand(level));
        }
        for &level in &asked.guarantee {
            ends(&mut numbers, "guaranteed", level, Number::Guaranteed(level));
            if grouped {
                by.push((numbers.len(), format!("guaranteed_by_{}", percent(level))));
            }
        }
        for &level in &asked.interval {
            for (name, p) in [("lower", 0.5 - 0.5 * level), ("upper", 0.5 + 0.5 * level)] {
                numbers.push((format!("{name}_{}", percent(level)), Number::Quantile(p)));
            }
        }
        for &level in &asked.quantiles {
            numbers.push((format!("quantile_{level}"), Number::Quantile(level)));
        }
        for &threshold in &asked.exceed {
            numbers.push((format!("exceed_{threshold}"), Number::Exceed(threshold)));
        }
        let turns = |model: &Fitted| model.shape().is_some_and(|shape| shape.turning().is_some());
        if turns(fitted) || fitted.without_lags().is_some_and(turns) {
            numbers.push((String::from("skew"), Number::Skew));
        }
        numbers.push((String::from("support"), Number::Support));
        Self { numbers, by }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// What they are called.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.numbers.iter().map(|(name, _)| name.as_str())
    }

    /// What the columns are called of those that each guarantee is made to.
    pub fn by(&self) -> impl Iterator<Item = &str> {
        self.by.iter().map(|(_, name)| name.as_str())
    }

    /// The numbers of some rows, column by column.
    ///
    /// # Errors
    /// What the model cannot say: no forecast to put an interval around, a level that it cannot promise.
    pub fn of(&self, said: &Forecasts) -> errbar::Result<Vec<Vec<f64>>> {
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

    /// Numbers, with the names of those that guarantees are made to among them.
    pub fn in_order<T>(&self, numbers: Vec<T>, by: Vec<T>) -> Vec<T> {
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
