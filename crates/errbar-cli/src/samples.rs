//! Errors and the sigmas given to them, from the columns of a table: what `score` and `compare` read.

use anyhow::bail;
use errbar::fit::{Fitted, Shape};
use errbar::law::{ErrorLaw, Transform};
use errbar::score::{Sample, errors_of};

use crate::columns::{Columns, NumberId, Request, Role};

/// The columns that make one or more samples of the same rows, as the arguments name them.
pub(crate) struct Names<'a> {
    /// One for all, or one for each sigma; none to take the usual name.
    pub(crate) forecast: &'a [String],
    pub(crate) observation: Option<&'a str>,
    /// In place of forecasts and the observation.
    pub(crate) error: &'a [String],
    /// None to take the usual name.
    pub(crate) sigma: &'a [String],
    pub(crate) weight: Option<&'a str>,
}

/// The columns that were asked for.
#[derive(Clone)]
pub(crate) struct ScoreColumns {
    errors: Vec<(String, ErrorFrom)>,
    sigma: Vec<(String, NumberId)>,
    /// The skew of each row's law, for each sigma of a model whose skew turns with its inputs.
    skew: Vec<Option<NumberId>>,
    weight: Option<NumberId>,
}

#[derive(Clone, Copy)]
enum ErrorFrom {
    Column(NumberId),
    Difference { observation: NumberId, forecast: NumberId },
}

/// Samples of the same rows.
pub(crate) struct ScoreRows {
    /// One for all, or one for each sigma: the name of its column, and the errors.
    errors: Vec<(String, Vec<f64>)>,
    sigma: Vec<(String, Vec<f64>)>,
    skew: Vec<Option<Vec<f64>>>,
    weight: Option<Vec<f64>>,
    /// On the scale of the errors; none for given errors.
    observation: Option<Vec<f64>>,
}

impl Names<'_> {
    /// Asks for the columns; those left out are looked for under their usual names.
    pub(crate) fn ask(&self, request: &mut Request) -> anyhow::Result<ScoreColumns> {
        let listing = request.listing();
        let or_error = format!(", or give --error instead. {listing}");
        let mut errors = Vec::new();
        for name in self.error {
            let id = request.number(Role::Error, name)?;
            errors.push((name.clone(), ErrorFrom::Column(id)));
        }
        if self.error.is_empty() {
            let observed = request.name_of(Role::Observation, self.observation, &or_error)?;
            let observation = request.number(Role::Observation, &observed)?;
            let forecasts = match self.forecast {
                [] => vec![request.name_of(Role::Forecast, None, &or_error)?],
                given => given.to_vec(),
            };
            for name in forecasts {
                if name == observed {
                    bail!("the forecast and the observation are the same column \"{name}\"");
                }
                let forecast = request.number(Role::Forecast, &name)?;
                errors.push((name, ErrorFrom::Difference { observation, forecast }));
            }
        }
        let sigmas = match self.sigma {
            [] => vec![request.name_of(Role::Sigma, None, &format!(". {listing}"))?],
            given => given.to_vec(),
        };
        if errors.len() != 1 && errors.len() != sigmas.len() {
            bail!(
                "{} {} were named for {} sigmas: name one for all, or one for each",
                errors.len(),
                if self.error.is_empty() { "forecasts" } else { "errors" },
                sigmas.len()
            );
        }
        let mut sigma = Vec::new();
        for name in sigmas {
            let id = request.number(Role::Sigma, &name)?;
            sigma.push((name, id));
        }
        let weight = request.if_given(Role::Weight, self.weight)?;
        let skew = vec![None; sigma.len()];
        Ok(ScoreColumns { errors, sigma, skew, weight })
    }
}

impl ScoreColumns {
    /// With the column that tells the law of each row, where the skew of the model that a sigma is of turns with its
    /// inputs: the one that is named, or that which `errbar predict` adds beside its sigma.
    pub(crate) fn with_skew(
        &mut self,
        nth: usize,
        model: &Fitted,
        given: Option<&str>,
        request: &mut Request,
    ) -> anyhow::Result<()> {
        if model.shape().and_then(Shape::turning).is_none() {
            return Ok(());
        }
        let sigma = &self.sigma[nth].0;
        let beside = format!("{}skew", sigma.strip_suffix("sigma").unwrap_or_default());
        let name = given.unwrap_or(&beside);
        if !request.has(name) {
            let why = format!(
                ", which errbar predict adds beside \"{sigma}\": the law of a row is of that skew"
            );
            return Err(request.lacks(name, &why));
        }
        self.skew[nth] = Some(request.number(Role::Skew, name)?);
        Ok(())
    }

    /// The column with the forecast, the first where there are several; none for given errors.
    pub(crate) fn forecast(&self) -> Option<&str> {
        match self.errors.first() {
            Some((name, ErrorFrom::Difference { .. })) => Some(name),
            _ => None,
        }
    }

    /// Makes the errors out of what was read, on a scale; at least one row must count.
    pub(crate) fn rows(self, kept: &mut Columns, scale: Transform) -> anyhow::Result<ScoreRows> {
        let rows = self.some_rows(kept, scale)?;
        match rows.counts() {
            true => Ok(rows),
            false => bail!("{}: all weights are 0, and at least one row must count", kept.file()),
        }
    }

    /// Makes the errors out of some rows, of which none needs to count.
    pub(crate) fn some_rows(
        self,
        kept: &mut Columns,
        scale: Transform,
    ) -> anyhow::Result<ScoreRows> {
        let (mut errors, mut observed) = (Vec::new(), None);
        for (name, from) in self.errors {
            let error = match from {
                ErrorFrom::Column(id) => kept.take(id),
                ErrorFrom::Difference { observation, forecast } => {
                    let on_scale = |what: &'static str, id: NumberId| {
                        let scaled = scale.all(what, kept.numbers(id));
                        scaled.map_err(|error| kept.refused(error))
                    };
                    let y = on_scale("observation", observation)?;
                    let error = errors_of(&y, &on_scale("forecast", forecast)?);
                    observed = Some(y);
                    error.map_err(|error| kept.refused(error))?
                }
            };
            errors.push((name, error));
        }
        let sigma = self.sigma.into_iter().map(|(name, id)| (name, kept.take(id))).collect();
        let skew = self.skew.into_iter().map(|id| id.map(|id| kept.numbers(id).to_vec())).collect();
        let weight = self.weight.map(|id| kept.take(id));
        Ok(ScoreRows { errors, sigma, skew, weight, observation: observed })
    }
}

impl ScoreRows {
    /// How many samples there are.
    pub(crate) fn samples(&self) -> usize {
        self.sigma.len()
    }

    fn error_of(&self, nth: usize) -> &(String, Vec<f64>) {
        &self.errors[if self.errors.len() == 1 { 0 } else { nth }]
    }

    /// What a sample is called: its sigma, and its forecast where there are several.
    pub(crate) fn name(&self, nth: usize) -> String {
        let (sigma, _) = &self.sigma[nth];
        match self.errors.len() {
            1 => sigma.clone(),
            _ => format!("{} with {sigma}", self.error_of(nth).0),
        }
    }

    /// Whether all samples have the same errors.
    pub(crate) fn same_errors(&self) -> bool {
        self.errors.len() == 1
    }

    /// The samples whose name, forecast or sigma is this.
    pub(crate) fn called<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        (0..self.samples()).filter(move |&nth| {
            self.sigma[nth].0 == name
                || self.name(nth) == name
                || (!self.same_errors() && self.error_of(nth).0 == name)
        })
    }

    /// One of the samples.
    pub(crate) fn sample(&self, nth: usize, kept: &Columns) -> anyhow::Result<Sample<'_>> {
        Sample::new(&self.error_of(nth).1, &self.sigma[nth].1)
            .and_then(|sample| sample.maybe_weighted(self.weight.as_deref()))
            .map_err(|error| kept.refused(error))
    }

    /// The errors, sigmas and weights of one of the samples.
    pub(crate) fn columns(&self, nth: usize) -> (&[f64], &[f64], Option<&[f64]>) {
        (&self.error_of(nth).1, &self.sigma[nth].1, self.weight.as_deref())
    }

    /// The law of each row of one of the samples, by the model that its sigma is of.
    pub(crate) fn laws(&self, nth: usize, shape: Option<&Shape>) -> Vec<ErrorLaw> {
        let rows = self.sigma[nth].1.len();
        let turning = shape.and_then(Shape::turning);
        match (turning, &self.skew[nth]) {
            (Some(turning), Some(skew)) => {
                let law = |skew: &f64| turning.laws().0[turning.nearest(*skew)].clone();
                skew.iter().map(law).collect()
            }
            _ => vec![shape.map_or(ErrorLaw::default(), |shape| shape.law().clone()); rows],
        }
    }

    /// Only some of the rows.
    pub(crate) fn part(&self, rows: &[usize]) -> Self {
        let choose = |values: &Vec<f64>| rows.iter().map(|&row| values[row]).collect();
        let all = |columns: &[(String, Vec<f64>)]| {
            columns.iter().map(|(name, values)| (name.clone(), choose(values))).collect()
        };
        Self {
            errors: all(&self.errors),
            sigma: all(&self.sigma),
            skew: self.skew.iter().map(|skew| skew.as_ref().map(choose)).collect(),
            weight: self.weight.as_ref().map(choose),
            observation: self.observation.as_ref().map(choose),
        }
    }

    /// What was observed, on the scale of the errors, where that is known.
    pub(crate) fn observation(&self) -> Option<&[f64]> {
        self.observation.as_deref()
    }

    /// Whether any row counts.
    pub(crate) fn counts(&self) -> bool {
        self.weight.as_ref().is_none_or(|weight| weight.iter().any(|&w| w > 0.0))
    }
}
