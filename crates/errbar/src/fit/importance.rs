//! Which inputs matter, and how.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::Kind;
use super::validation::Judged;
use crate::data::Data;
use crate::error::Result;
use crate::score::{Sample, crps};

/// What one input is worth to sigma, on rows the model has not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// The input.
    pub name: String,
    /// The share by which the mean CRPS grows when the values of this input are shuffled among the
    /// rows. Near 0, or below: the input tells nothing.
    #[serde(with = "crate::score::json::number")]
    pub crps_share: f64,
    /// The value at which sigma, averaged over the other inputs, is smallest, and that sigma.
    pub smallest: (f64, f64),
    /// Where it is largest.
    pub largest: (f64, f64),
}

/// The most numbers that may go through a model for all inputs together.
const BUDGET: usize = 40_000_000;

/// The importance of every input, the most telling first.
pub(super) fn importance(
    data: &Data,
    names: &[String],
    judged: &Judged,
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
    let mean_crps = |inputs: &[f64]| -> Result<f64> {
        let sigma = sigma(inputs)?;
        Ok(crps::mean(&Sample::new(test.error(), &sigma)?.maybe_weighted(test.weight())?))
    };
    let usual = mean_crps(test.inputs())?;
    let mut random = Pcg64::seed_from_u64(seed);
    let mut out = Vec::new();
    for (column, name) in names.iter().enumerate() {
        let values: Vec<f64> = test.inputs().chunks(columns).map(|row| row[column]).collect();
        let with = |value: &dyn Fn(usize) -> f64| {
            let mut inputs = test.inputs().to_vec();
            for (i, row) in inputs.chunks_mut(columns).enumerate() {
                row[column] = value(i);
            }
            inputs
        };
        const SHUFFLES: usize = 4;
        let mut order: Vec<usize> = (0..values.len()).collect();
        let mut shuffled = 0.0;
        for _ in 0..SHUFFLES {
            order.shuffle(&mut random);
            shuffled += mean_crps(&with(&|i| values[order[i]]))? / SHUFFLES as f64;
        }
        // Sigma at some values of this input, whatever the others are.
        let mut sorted: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        if sorted.is_empty() {
            continue;
        }
        let mut at: Vec<(f64, f64)> = Vec::new();
        for share in [0.05, 0.25, 0.5, 0.75, 0.95] {
            let value = sorted[((sorted.len() as f64 * share) as usize).min(sorted.len() - 1)];
            let sigma = sigma(&with(&|_| value))?;
            at.push((value, sigma.iter().sum::<f64>() / sigma.len() as f64));
        }
        at.sort_by(|a, b| a.1.total_cmp(&b.1));
        out.push(Importance {
            name: name.clone(),
            crps_share: if usual > 0.0 { shuffled / usual - 1.0 } else { 0.0 },
            smallest: at[0],
            largest: at[at.len() - 1],
        });
    }
    out.sort_by(|a, b| b.crps_share.total_cmp(&a.crps_share));
    Ok(out)
}
