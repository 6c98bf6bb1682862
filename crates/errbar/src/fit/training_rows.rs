//! The rows of a fit, known again: a page on them must not judge by sigmas that have seen them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Fitted, HeldOut};
use crate::data::Data;
use crate::diagnose::Summary;
use crate::law::ErrorLaw;

/// Of fits to more rows than this, none are kept: most of the model's file would be that.
const MOST_ROWS: usize = 10_000;

/// What a model knows of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// Nothing, as far as one can tell.
    New,
    /// It was fitted to this row. Meanwhile a model of other rows, for which this one was held out,
    /// gave it a sigma.
    HeldOut {
        /// The error, less the bias that other rows tell where that was learned.
        error: f64,
        /// Sigma.
        sigma: f64,
        /// The law around the forecast, in units of sigma.
        law: ErrorLaw,
    },
    /// It was fitted to this row, and no sigma is known that has not seen it.
    Trained,
}

/// The rows that a model was fitted to, without their values, and what was found when they were held
/// out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TrainingRows {
    /// A number for each row, made of its inputs and its error.
    keys: Vec<u64>,
    /// The places of the rows that were held out.
    held_out: Vec<usize>,
    /// The sigma of each.
    sigma: Vec<f64>,
    /// The error of each, where the bias was taken off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Vec<f64>>,
    /// The law of each, in units of sigma, and how many neighbours have the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    laws: Vec<(usize, ErrorLaw)>,
    /// Where neighbours have others, which of those laws each has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    law_of: Vec<u32>,
}

impl TrainingRows {
    /// Of the rows of a fit, with their errors before any bias was taken off; `None` of too many.
    pub(super) fn of(data: &Data, held_out: Option<&HeldOut>, debiased: bool) -> Option<Self> {
        (data.rows() <= MOST_ROWS).then(|| {
            let laws = held_out.map_or(Vec::new(), |held_out| runs(&held_out.laws));
            let (laws, law_of) = once(laws);
            Self {
                keys: keys(data),
                held_out: held_out.map_or(Vec::new(), |held_out| held_out.rows.clone()),
                sigma: held_out.map_or(Vec::new(), |held_out| held_out.sigma.clone()),
                error: held_out.filter(|_| debiased).map(|held_out| held_out.error.clone()),
                laws,
                law_of,
            }
        })
    }

    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let rows = self.held_out.len();
        let fits = self.sigma.len() == rows
            && self.error.as_ref().is_none_or(|error| error.len() == rows)
            && self.held_out.iter().all(|&row| row < self.keys.len())
            && self.laws.iter().map(|(count, _)| count).sum::<usize>() <= rows
            && self.laws.iter().all(|(_, law)| law.is_unit())
            && self.law_of.len() <= rows
            && self.law_of.iter().all(|&law| (law as usize) < self.laws.len());
        let right = self.sigma.iter().all(|s| *s > 0.0 && s.is_finite())
            && self.error.iter().flatten().all(|e| e.is_finite());
        match fits && right {
            true => Ok(()),
            false => Err("its held-out rows do not fit together, or hold what is no number".into()),
        }
    }

    /// For each row of some data its place among the rows of the fit, each of which is taken once.
    fn places(&self, data: &Data) -> Vec<Option<usize>> {
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        // Backwards, since the last of a list is taken first.
        for (place, key) in self.keys.iter().enumerate().rev() {
            places.entry(*key).or_default().push(place);
        }
        keys(data).iter().map(|key| places.get_mut(key)?.pop()).collect()
    }

    /// Whether rows that look like others are so few that likeness is no accident.
    fn are_different(&self) -> bool {
        let mut keys = self.keys.clone();
        keys.sort_unstable();
        keys.dedup();
        2 * keys.len() > self.keys.len()
    }
}

/// Neighbours that are the same, once; nothing where all are Gaussian.
fn runs(laws: &[ErrorLaw]) -> Vec<(usize, ErrorLaw)> {
    if laws.iter().all(|law| law.is_gaussian()) {
        return Vec::new();
    }
    laws.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0].clone())).collect()
}

/// Laws that come again and again, once each, and which of them each row has; as they are where they do not.
fn once(runs: Vec<(usize, ErrorLaw)>) -> (Vec<(usize, ErrorLaw)>, Vec<u32>) {
    /// Neighbours are alike where laws are those of the parts of the rows.
    const FEW: usize = 100;
    if runs.len() <= FEW {
        return (runs, Vec::new());
    }
    let (mut laws, mut of_row): (Vec<(usize, ErrorLaw)>, Vec<u32>) = (Vec::new(), Vec::new());
    for (count, law) in runs {
        let known = laws.iter().position(|(_, other)| *other == law);
        let place = known.unwrap_or_else(|| {
            laws.push((0, law));
            laws.len() - 1
        });
        laws[place].0 += count;
        of_row.extend(std::iter::repeat_n(place as u32, count));
    }
    (laws, of_row)
}

/// A number for each row, the same wherever the row stands and on every machine.
fn keys(data: &Data) -> Vec<u64> {
    let mix =
        |hash: u64, bits: u64| (hash.rotate_left(23) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let rows = data.inputs().chunks_exact(data.columns()).zip(data.error());
    rows.map(|(inputs, error)| {
        // Zeros of either sign, and whatever says that an input is missing, are the same.
        let bits = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { (x + 0.0).to_bits() };
        let hash = inputs.iter().fold(data.columns() as u64, |hash, x| mix(hash, bits(x)));
        // Six digits of the error: it may have been computed in another way.
        let error = (error + 0.0).to_bits().saturating_add(1 << 31) >> 32;
        // 53 bits, so that every reader of JSON keeps them.
        mix(mix(hash, error), 1) >> 11
    })
    .collect()
}

impl Fitted {
    /// What this model knows of the rows of some data, whose errors are those of the forecast before
    /// it is moved by any bias.
    ///
    /// Rows are known again one by one where the model keeps what it was fitted to, which it does of
    /// up to 10,000 rows; else, and in older files, only all of them together.
    #[must_use]
    pub fn known(&self, data: &Data) -> Vec<Known> {
        let all = self.is_fitted_to(data);
        let nothing = if all { Known::Trained } else { Known::New };
        let Some(rows) = self.known.as_ref().filter(|_| data.columns() == self.names.len()) else {
            return vec![nothing; data.rows()];
        };
        let places = rows.places(data);
        let found = places.iter().flatten().count();
        // A few rows that look like rows of the fit may be so by chance.
        let enough = 10 * found >= 9 * data.rows().min(rows.keys.len());
        if !(all || (enough && rows.are_different())) {
            return vec![Known::New; data.rows()];
        }
        let mut held: Vec<Option<usize>> = vec![None; rows.keys.len()];
        rows.held_out.iter().enumerate().for_each(|(nth, &place)| held[place] = Some(nth));
        let laws: Vec<&ErrorLaw> = match rows.law_of.is_empty() {
            true => (rows.laws.iter())
                .flat_map(|(count, law)| std::iter::repeat_n(law, *count))
                .collect(),
            false => rows.law_of.iter().map(|&law| &rows.laws[law as usize].1).collect(),
        };
        let know = |(row, place): (usize, &Option<usize>)| {
            let Some(place) = *place else { return nothing.clone() };
            let Some(nth) = held[place] else { return Known::Trained };
            let error = rows.error.as_ref().map_or(data.error()[row], |error| error[nth]);
            let law = laws.get(nth).map_or(ErrorLaw::default(), |law| (*law).clone());
            Known::HeldOut { error, sigma: rows.sigma[nth], law }
        };
        places.iter().enumerate().map(know).collect()
    }

    /// Whether these are, all together, the errors that the model was fitted to.
    fn is_fitted_to(&self, data: &Data) -> bool {
        let here = Summary::of(data.error(), data.weight());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        let counted = match data.weight() {
            Some(weight) => weight.iter().filter(|w| **w > 0.0).count(),
            None => data.rows(),
        };
        counted == self.rows
            && near(here.mean_absolute_error, self.training.mean_absolute_error)
            && near(here.root_mean_squared_error, self.training.root_mean_squared_error)
    }
}
