//! The columns of forecasts of any form, asked for and then made candidates.

use anyhow::bail;
use errbar::fit::{Fitted, Shape};
use errbar::law::judge::ErrorLaws;
use errbar::law::{Bounds, Candidate, ErrorLaw};
use errbar::score::ensemble::Ensemble;
use errbar::score::quantiles::Quantiles;
use errbar::score::winkler::CentralIntervals;
use errbar::score::{Sample, Several, errors_of};

use super::arguments::{Kind, What};
use super::levels;
use crate::columns::{Columns, NumberId, Request, Role};

/// A forecast that is asked for.
pub(crate) enum Spec<'a> {
    Sigma(SigmaColumns<'a>),
    Kind(Kind),
}

/// A forecast with its sigma, as columns.
#[derive(Clone)]
pub(crate) struct SigmaColumns<'a> {
    /// None to take the usual name.
    pub(crate) forecast: Option<&'a str>,
    pub(crate) sigma: &'a str,
    pub(crate) model: Option<&'a Fitted>,
    /// What it is called.
    pub(crate) name: String,
}

/// The columns of a forecast that were asked for.
pub(crate) struct Asked<'a> {
    pub(crate) name: String,
    /// What a pattern stands for.
    pub(crate) note: Option<String>,
    columns: AskedColumns<'a>,
}

enum AskedColumns<'a> {
    Sigma { forecast: NumberId, sigma: NumberId, skew: Option<NumberId>, model: Option<&'a Fitted> },
    Members(Vec<NumberId>),
    Quantiles(Vec<NumberId>, Vec<f64>),
    Interval([NumberId; 2], f64),
}

impl<'a> Spec<'a> {
    /// The names and patterns of its columns.
    pub(crate) fn patterns(&self) -> Vec<String> {
        match self {
            Self::Sigma(of) => of
                .forecast
                .iter()
                .map(|name| name.to_string())
                .chain([of.sigma.to_string()])
                .collect(),
            Self::Kind(kind) => kind.patterns.clone(),
        }
    }

    /// Asks for its columns; `others` are those that are something else, which no pattern means. The observation is the
    /// first of them.
    pub(crate) fn ask(self, request: &mut Request, others: &[&str]) -> anyhow::Result<Asked<'a>> {
        let observed = others.first().copied().unwrap_or_default();
        match self {
            Self::Sigma(SigmaColumns { forecast, sigma, model, name }) => {
                let forecast = request.name_of(Role::Forecast, forecast, "")?;
                if forecast == observed {
                    bail!("the forecast and the observation are the same column \"{observed}\"");
                }
                let turning = model.and_then(Fitted::shape).and_then(Shape::turning);
                let skew = match turning {
                    None => None,
                    Some(_) => {
                        let beside = sigma.strip_suffix("sigma").unwrap_or_default();
                        Some(request.number(Role::Skew, &format!("{beside}skew"))?)
                    }
                };
                let forecast = request.number(Role::Forecast, &forecast)?;
                let sigma = request.number(Role::Sigma, sigma)?;
                Ok(Asked {
                    name,
                    note: None,
                    columns: AskedColumns::Sigma { forecast, sigma, skew, model },
                })
            }
            Self::Kind(Kind { given, name, patterns, what }) => {
                let (role, why) = match what {
                    What::Members => (Role::Member, ", for --members"),
                    What::Quantiles(_) => (Role::Quantile, ", for --quantile-columns"),
                    What::Interval(_) => (Role::End, ", for --interval-columns"),
                };
                // In the order in which they are named, as their levels are and the ends of an interval.
                let mut names: Vec<String> = Vec::new();
                for pattern in &patterns {
                    for name in request.matching(std::slice::from_ref(pattern), why)? {
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                }
                let named =
                    |name: &String| patterns.contains(name) || !others.contains(&name.as_str());
                let names: Vec<String> = names.into_iter().filter(named).collect();
                if names.is_empty() {
                    bail!(
                        "{given} stands for no column but {}{why}: name others",
                        others.join(", ")
                    );
                }
                if let Some(name) = names.iter().find(|name| *name == observed) {
                    bail!("\"{name}\" is the observation, and cannot be part of the forecast{why}");
                }
                let shown: Vec<&str> = names.iter().take(16).map(String::as_str).collect();
                let more = match names.len() - shown.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let note = patterns.iter().any(|pattern| pattern.contains('*')).then(|| {
                    let columns = if names.len() == 1 { "column" } else { "columns" };
                    format!(
                        "{given} stands for {} {columns}: {}{more}",
                        names.len(),
                        shown.join(", ")
                    )
                });
                let ids: anyhow::Result<Vec<NumberId>> =
                    names.iter().map(|name| request.number(role, name)).collect();
                let ids = ids?;
                let columns = match what {
                    What::Members => {
                        ids.iter().for_each(|id| request.keep_gaps(*id));
                        AskedColumns::Members(ids)
                    }
                    What::Quantiles(Some(levels)) => {
                        if levels.len() != ids.len() {
                            bail!(
                                "{} levels were given for {} columns of quantiles, which are {}: give one for each",
                                levels.len(),
                                ids.len(),
                                names.join(", ")
                            );
                        }
                        AskedColumns::Quantiles(ids, levels)
                    }
                    What::Quantiles(None) => {
                        let levels = levels::of_names(&names, &request.name())?;
                        AskedColumns::Quantiles(ids, levels)
                    }
                    What::Interval(level) => match ids[..] {
                        [low, high] => AskedColumns::Interval([low, high], level),
                        _ => bail!(
                            "{given} stands for {}, and an interval has two ends: name two columns",
                            names.join(", ")
                        ),
                    },
                };
                Ok(Asked { name, note, columns })
            }
        }
    }
}

impl Asked<'_> {
    /// Rows in which it says nothing at all: members of which each is missing.
    pub(crate) fn is_missing(&self, kept: &Columns) -> Option<Vec<bool>> {
        let AskedColumns::Members(ids) = &self.columns else { return None };
        let columns: Vec<&[f64]> = ids.iter().map(|id| kept.numbers(*id)).collect();
        let missing = |row: usize| columns.iter().all(|column| column[row].is_nan());
        Some((0..kept.rows()).map(missing).collect())
    }

    /// Makes it a forecast of some rows, or of all, whose observations are known.
    pub(crate) fn form(
        &self,
        kept: &Columns,
        rows: Option<&[usize]>,
        y: &[f64],
    ) -> errbar::Result<Form> {
        let take = |id: &NumberId| -> Vec<f64> {
            let column = kept.numbers(*id);
            match rows {
                Some(rows) => rows.iter().map(|&row| column[row]).collect(),
                None => column.to_vec(),
            }
        };
        let data = match &self.columns {
            AskedColumns::Members(ids) => Data::Several {
                values: ids.iter().flat_map(take).collect(),
                columns: ids.len(),
                levels: None,
            },
            AskedColumns::Quantiles(ids, levels) => Data::Several {
                values: ids.iter().flat_map(take).collect(),
                columns: ids.len(),
                levels: Some(levels.clone()),
            },
            AskedColumns::Interval([low, high], level) => {
                Data::Interval { low: take(low), high: take(high), level: *level }
            }
            AskedColumns::Sigma { forecast, sigma, skew, model } => {
                let error = errors_of(y, &take(forecast))?;
                let sigma = take(sigma);
                let shape = model.and_then(Fitted::shape);
                let skew = skew.as_ref().map(take);
                let laws = model.map(|_| laws(shape, skew.as_deref(), sigma.len()));
                let bounds = model.and_then(|model| model.bounds_of(&error, y));
                Data::Sigma { error, sigma, laws, bounds }
            }
        };
        Ok(Form { name: self.name.clone(), data })
    }
}

/// The law of each row by a model.
fn laws(shape: Option<&Shape>, skew: Option<&[f64]>, rows: usize) -> Vec<ErrorLaw> {
    match (shape.and_then(Shape::turning), skew) {
        (Some(turning), Some(skew)) => {
            skew.iter().map(|skew| turning.laws().0[turning.nearest(*skew)].clone()).collect()
        }
        _ => vec![shape.map_or(ErrorLaw::default(), |shape| shape.law().clone()); rows],
    }
}

/// A forecast of any form.
pub(crate) struct Form {
    pub(crate) name: String,
    data: Data,
}

enum Data {
    Sigma {
        error: Vec<f64>,
        sigma: Vec<f64>,
        laws: Option<Vec<ErrorLaw>>,
        bounds: Option<Vec<Bounds>>,
    },
    /// Members, or quantiles where there are levels; column by column.
    Several {
        values: Vec<f64>,
        columns: usize,
        levels: Option<Vec<f64>>,
    },
    Interval {
        low: Vec<f64>,
        high: Vec<f64>,
        level: f64,
    },
}

impl Form {
    /// What it is, in the plural.
    pub(crate) fn what(&self) -> &'static str {
        match &self.data {
            Data::Sigma { .. } => "sigma",
            Data::Several { levels: None, .. } => "members",
            Data::Several { .. } => "quantiles",
            Data::Interval { .. } => "intervals",
        }
    }

    /// For the library.
    pub(crate) fn candidate<'a>(
        &'a self,
        y: &'a [f64],
        weight: Option<&'a [f64]>,
    ) -> errbar::Result<Candidate<'a>> {
        Ok(match &self.data {
            Data::Sigma { error, sigma, laws, bounds } => {
                let sample = Sample::new(error, sigma)?.maybe_weighted(weight)?;
                let laws = laws.as_ref();
                let laws = laws.map(|laws| ErrorLaws::new(laws).within(bounds.as_deref()));
                Candidate::Sigma(sample, laws)
            }
            Data::Several { values, columns, levels } => {
                let several = Several::by_column(values, *columns)?;
                match levels {
                    None => Candidate::Members(Ensemble::new(several, y)?),
                    Some(levels) => Candidate::Quantiles(Quantiles::new(several, levels, y)?),
                }
            }
            Data::Interval { low, high, level } => {
                Candidate::Interval(CentralIntervals::new(low, high, *level, y)?)
            }
        })
    }

    /// Only some of the rows.
    pub(crate) fn part(&self, rows: &[usize]) -> Self {
        let choose = |values: &[f64]| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
        let data = match &self.data {
            Data::Sigma { error, sigma, laws, bounds } => Data::Sigma {
                error: choose(error),
                sigma: choose(sigma),
                laws: laws.as_ref().map(|laws| rows.iter().map(|&row| laws[row].clone()).collect()),
                bounds: bounds.as_ref().map(|bounds| rows.iter().map(|&row| bounds[row]).collect()),
            },
            Data::Several { values, columns, levels } => {
                let all = values.len() / columns;
                let chosen = values.chunks(all.max(1)).flat_map(choose).collect();
                Data::Several { values: chosen, columns: *columns, levels: levels.clone() }
            }
            Data::Interval { low, high, level } => {
                Data::Interval { low: choose(low), high: choose(high), level: *level }
            }
        };
        Self { name: self.name.clone(), data }
    }
}
