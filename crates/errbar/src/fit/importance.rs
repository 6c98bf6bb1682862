//! Which inputs matter, and how.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::validation::Outcome;
use super::{Kind, twins};
use crate::data::Data;
use crate::error::Result;
use crate::score::{Sample, crps};

/// What an input, or some that stand in for one another, is worth to sigma, on rows the model has not
/// seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Importance {
    /// The input.
    pub name: String,
    /// Inputs that nearly follow from it, or it from them: what each is worth cannot be told apart, so
    /// they are shuffled with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twins: Vec<String>,
    /// The share by which the mean CRPS grows when the values of this input (with those of its twins)
    /// are shuffled among the rows. Near 0, or below: it tells nothing. A model fitted without the
    /// input may do better than that, as other inputs may tell a part of what it told.
    #[serde(with = "crate::score::json::number")]
    pub crps_share: f64,
    /// The rows in fifths by the value of this input, as they are: its median where the mean sigma is
    /// smallest, and that sigma; of a category the code of its level.
    pub smallest: (f64, f64),
    /// Where it is largest.
    pub largest: (f64, f64),
}

impl Importance {
    /// All inputs that it speaks of.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.twins).map(String::as_str)
    }
}

/// The most numbers that may go through a model for all inputs together.
const BUDGET: usize = 40_000_000;

/// The importance of every input, the most telling first.
pub(super) fn importance(
    data: &Data,
    names: &[String],
    judged: &Outcome,
    seed: u64,
) -> Result<Vec<Importance>> {
    if judged.kind == Kind::Constant {
        return Ok(Vec::new());
    }
    // Some of the held-out rows, so that thousands of inputs do not take forever.
    let columns = names.len();
    let most = (BUDGET / (10 * columns * columns)).clamp(20, 1000);
    let held: usize = judged.turns.iter().map(|(rows, _)| rows.len()).sum();
    let step = held.div_ceil(most).max(1);
    // Each by the model that has not seen it.
    let mut rows = Vec::new();
    let mut models = Vec::new();
    for (held, model) in &judged.turns {
        let before = rows.len();
        rows.extend(held.iter().copied().step_by(step));
        models.push((model, (rows.len() - before) * columns));
    }
    let test = data.pick(&rows);
    let sigma = |inputs: &[f64]| -> Result<Vec<f64>> {
        let mut rest = inputs;
        let mut sigma = Vec::new();
        for (model, length) in &models {
            let (own, others) = rest.split_at(*length);
            sigma.extend(model.predict(own)?);
            rest = others;
        }
        Ok(sigma)
    };
    let mean_crps = |sigma: &[f64]| -> Result<f64> {
        Ok(crps::mean(&Sample::new(test.error(), sigma)?.maybe_weighted(test.weight())?))
    };
    let as_they_are = sigma(test.inputs())?;
    let usual = mean_crps(&as_they_are)?;
    let mut random = Pcg64::seed_from_u64(seed);
    let mut out = Vec::new();
    for together in twins::of_data(data, seed) {
        // Twins keep their values together: apart, they would be rows that cannot be.
        const SHUFFLES: usize = 4;
        let mut order: Vec<usize> = (0..test.rows()).collect();
        let mut shuffled = 0.0;
        for _ in 0..SHUFFLES {
            order.shuffle(&mut random);
            let mut inputs = test.inputs().to_vec();
            for (row, &from) in inputs.chunks_mut(columns).zip(&order) {
                for &column in &together {
                    row[column] = test.inputs()[from * columns + column];
                }
            }
            shuffled += mean_crps(&sigma(&inputs)?)? / SHUFFLES as f64;
        }
        let (called, values) = shown(&test, names, &together);
        let found = match test.codes_of_input(together[0]) {
            Some(codes) => by_level(&codes, &as_they_are),
            None => along(&values, &as_they_are),
        };
        let Some((smallest, largest)) = found else { continue };
        let mut called = called.into_iter();
        out.push(Importance {
            name: called.next().unwrap_or_default(),
            twins: called.collect(),
            crps_share: if usual > 0.0 { shuffled / usual - 1.0 } else { 0.0 },
            smallest,
            largest,
        });
    }
    out.sort_by(|a, b| b.crps_share.total_cmp(&a.crps_share));
    Ok(out)
}

/// What inputs that stand in for one another are called, and the values of the first: both parts of a cycle of the
/// calendar are one, whose value is the place in it.
fn shown(test: &Data, names: &[String], together: &[usize]) -> (Vec<String>, Vec<f64>) {
    let columns = names.len();
    let cycle = |column: usize| {
        test.cycles().iter().find(|(first, _)| column == *first || column == first + 1)
    };
    let mut called: Vec<String> = Vec::new();
    for &column in together {
        let name = cycle(column).map_or(&names[column][..], |(_, cycle)| cycle.name());
        if !called.iter().any(|other| other == name) {
            called.push(name.to_string());
        }
    }
    let rows = test.inputs().chunks_exact(columns);
    let values = match cycle(together[0]) {
        Some(&(first, cycle)) => {
            rows.map(|row| cycle.place_of([row[first], row[first + 1]])).collect()
        }
        None => rows.map(|row| row[together[0]]).collect(),
    };
    (called, values)
}

/// Of the levels of a category that enough of some rows have, by their codes, that of the smallest mean sigma, and that of
/// the largest; missing values are no level.
fn by_level(codes: &[f64], sigma: &[f64]) -> Option<((f64, f64), (f64, f64))> {
    let mut order: Vec<usize> = (0..codes.len()).filter(|&i| !codes[i].is_nan()).collect();
    order.sort_by(|&a, &b| codes[a].total_cmp(&codes[b]));
    let levels: Vec<&[usize]> = order.chunk_by(|&a, &b| codes[a] == codes[b]).collect();
    let most = levels.iter().map(|rows| rows.len()).max()?;
    let enough = ENOUGH_OF_A_LEVEL.min(most);
    let mut at: Vec<(f64, f64)> = (levels.iter().filter(|rows| rows.len() >= enough))
        .map(|rows| {
            let mean = rows.iter().map(|&row| sigma[row] / rows.len() as f64).sum();
            (codes[rows[0]], mean)
        })
        .collect();
    at.sort_by(|a, b| a.1.total_cmp(&b.1));
    Some((*at.first()?, *at.last()?))
}

/// A level that fewer of the rows have is not named.
const ENOUGH_OF_A_LEVEL: usize = 5;

/// Of rows in fifths by an input, its median and the mean sigma where that is smallest, and where it is
/// largest. Rows are taken as they are: other values of one input alone may not go with the others.
fn along(values: &[f64], sigma: &[f64]) -> Option<((f64, f64), (f64, f64))> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| !values[i].is_nan()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut fifths: Vec<Vec<usize>> = vec![Vec::new(); 5];
    let mut first = 0;
    for (place, &row) in order.iter().enumerate() {
        // Equal values stay together.
        if values[row] != values[order[first]] {
            first = place;
        }
        fifths[first * 5 / order.len()].push(row);
    }
    let mut at: Vec<(f64, f64)> = (fifths.iter().filter(|rows| !rows.is_empty()))
        .map(|rows| {
            let mean = rows.iter().map(|&row| sigma[row] / rows.len() as f64).sum();
            (values[rows[rows.len() / 2]], mean)
        })
        .collect();
    at.sort_by(|a, b| a.1.total_cmp(&b.1));
    Some((*at.first()?, *at.last()?))
}
