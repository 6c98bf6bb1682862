//! What parts of many rows need to know of the fit to some of them, and what they say first.

use serde::{Deserialize, Serialize};

use super::Options;
use super::categories::Categories;
use super::lesson::FLOOR;
use super::many::{JUDGES, left_by};
use crate::boosting::Bins;
use crate::data::{Data, Split};
use crate::diagnose::Batches;
use crate::error::Result;
use crate::folds::LEAST_GROUPS;
use crate::loss::LossKind;
use crate::mean::bias::Bias;
use crate::rounds::{HELD, Message, Part, held_together, is_held};
use crate::sigma::Supported;
use crate::sigma::refined::refined;

/// What parts need to know.
#[derive(Serialize, Deserialize)]
pub(super) struct Opening {
    pub(super) options: Options,
    /// All rows, of all parts.
    pub(super) rows: usize,
    /// Those that the fit is to, rising.
    #[serde(skip)]
    pub(super) sample: Vec<usize>,
    pub(super) bias: Option<Bias>,
    /// The fit to some rows.
    pub(super) of_some: Supported,
    pub(super) way: Way,
    /// Inputs that are used.
    pub(super) used: Vec<bool>,
    /// About how large errors and weights are.
    pub(super) scale: f64,
    pub(super) weight: Option<f64>,
    /// Whether rows are held out by the groups that they belong to.
    pub(super) by_group: bool,
}

/// How all rows refine a fit to some.
#[derive(Serialize, Deserialize)]
pub(super) enum Way {
    /// Trees of what is left of the sigma they start from.
    Trees { start: Box<Supported>, bins: Bins },
    /// The same model with better parameters.
    Parameters,
    /// One sigma, of all rows.
    Level,
}

/// Some rows of many, in their order.
pub(super) struct Rows<'a> {
    pub(super) data: &'a Data<'a>,
    /// The place of each among all rows.
    pub(super) places: &'a [usize],
    /// The errors before means of categories were taken off.
    pub(super) whole_error: &'a [f64],
    /// Those of the same number are held out together.
    pub(super) together: Option<Vec<u32>>,
}

/// What a part says first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct First {
    pub(super) number: u64,
    /// Rows as they came, and those that count.
    pub(super) rows: usize,
    pub(super) counted: usize,
    /// The least and the most of each input, or nothing without rows.
    pub(super) ranges: Vec<f64>,
    /// Of errors as they came, and of what their bias leaves.
    pub(super) errors: [Batches; 2],
    pub(super) judges: Judges,
}

/// Rows that are held out, to judge by.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Judges {
    /// Whether they are as good as independent.
    pub(super) independent: bool,
    pub(super) rows: Vec<usize>,
    pub(super) inputs: Vec<f64>,
    pub(super) error: Vec<f64>,
    /// Of the fit to some rows, and of what the others start from.
    pub(super) sigma: [Vec<f64>; 2],
    pub(super) weight: Vec<f64>,
}

impl Judges {
    pub(super) fn extend(&mut self, other: Self) {
        self.independent = other.independent;
        self.rows.extend(other.rows);
        self.inputs.extend(other.inputs);
        self.error.extend(other.error);
        let [of_some, start] = other.sigma;
        self.sigma[0].extend(of_some);
        self.sigma[1].extend(start);
        self.weight.extend(other.weight);
    }
}

impl Opening {
    /// Some rows as a part, what it says first, and the errors that their bias leaves.
    pub(super) fn open(&self, number: u64, rows: Rows) -> Result<(First, Part, Vec<f64>)> {
        let Rows { data, places, whole_error, together } = rows;
        let left = left_by(self.bias.as_ref(), data)?;
        let unit = self.units(data)?;
        let in_time = self.options.split == Split::InOrder;
        // In time the last of all rows say when to stop, and none before them.
        let first_judge = if in_time { (self.rows as f64 * (1.0 - HELD)) as usize } else { 0 };
        let mut sample = &self.sample[..];
        if let Some(first) = places.first() {
            sample = &sample[sample.partition_point(|row| row < first)..];
        }
        let mut sample = sample.iter().peekable();
        let seen: Vec<bool> = (places.iter())
            .map(|row| sample.next_if_eq(&row).is_some() || *row < first_judge)
            .collect();
        let seed = self.options.seed;
        let is_held = |row: &usize| {
            let alone = || is_held(HELD, seed, number, *row as u64);
            let by = |of: &Vec<u32>| held_together(HELD, seed, of[*row]);
            !seen[*row] && (in_time || together.as_ref().map_or_else(alone, by))
        };
        let held: Vec<usize> = (0..data.rows()).filter(is_held).collect();
        // Evenly among all that are held out: about so many were before.
        let every = (self.rows as f64 * HELD / JUDGES as f64).ceil().max(1.0) as usize;
        let start = places.first().copied().unwrap_or(0);
        let before = match in_time {
            true => start.saturating_sub(first_judge),
            false => (start as f64 * HELD) as usize,
        };
        let skip = before.next_multiple_of(every) - before;
        let held: Vec<usize> = held.into_iter().skip(skip).step_by(every).collect();
        let of = |values: &[f64]| held.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let inputs = data.pick(&held).inputs().to_vec();
        let judges = Judges {
            independent: !in_time && together.is_none(),
            rows: held.iter().map(|&row| places[row]).collect(),
            error: of(&left),
            sigma: [
                if held.is_empty() { Vec::new() } else { self.of_some.predict(&inputs)? },
                of(&unit),
            ],
            weight: data.weight().map_or(Vec::new(), of),
            inputs,
        };
        let weights = data.weight();
        let batches = |error: &[f64]| Batches::of(error, weights, self.scale, places, self.rows);
        let first = First {
            number,
            rows: data.rows(),
            counted: data.rows(),
            ranges: ranges(data),
            errors: [batches(whole_error), batches(&left)],
            judges,
        };
        let part = self.part(number, data, (&left, &unit))?;
        let part = match together {
            Some(together) => part.held_together(together)?,
            None => part,
        };
        Ok((first, part.that_has_seen(seen)?, left))
    }

    /// The unit that errors of rows are counted in.
    fn units(&self, data: &Data) -> Result<Vec<f64>> {
        let local = self.options.local_units && self.options.loss != LossKind::Nlpd;
        match &self.way {
            Way::Trees { start, .. } => start.predict(data.inputs()),
            Way::Parameters if local => {
                let (_, most) = self.of_some.limits();
                let least = (FLOOR * self.scale).min(most);
                let sigma = self.of_some.model().predict(data.inputs())?;
                Ok(sigma.into_iter().map(|sigma| sigma.clamp(least, most)).collect())
            }
            Way::Parameters | Way::Level => Ok(vec![self.scale; data.rows()]),
        }
    }

    fn part(&self, number: u64, data: &Data, (left, unit): (&[f64], &[f64])) -> Result<Part> {
        let part = match &self.way {
            Way::Trees { bins, .. } => {
                let fewer = self.used.contains(&false).then(|| data.with_inputs(&self.used));
                let inputs = fewer.as_ref().unwrap_or(data).inputs().to_vec();
                Part::new(number, inputs, data.columns(), left, unit)?.in_bins(bins)?
            }
            Way::Parameters => {
                let inputs = data.inputs().to_vec();
                let part = Part::new(number, inputs, data.columns(), left, unit)?;
                match refined(self.of_some.model()) {
                    Some(model) => part.of_model(model, unit.iter().map(|u| u.ln()).collect())?,
                    None => part,
                }
            }
            // Inputs do not matter.
            Way::Level => Part::new(number, vec![0.0; left.len()], 1, left, unit)?,
        };
        match data.weight() {
            Some(weight) => part.weighted(weight.to_vec()),
            None => Ok(part),
        }
    }

    /// As bytes, which only the same version of errbar reads.
    pub(super) fn to_bytes(&self, categories: Option<&Categories>) -> Result<Vec<u8>> {
        let whole = self.sample.iter().map(|row| *row as i64).collect();
        Message { head: Some((self, categories)), whole, sums: Vec::new() }.to_bytes(b'o')
    }

    /// Where there is nothing left to be learned from parts.
    pub(super) fn nothing() -> Result<Vec<u8>> {
        Message { head: None::<Self>, whole: Vec::new(), sums: Vec::new() }.to_bytes(b'o')
    }

    /// With the categories among the inputs, if there are some.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Option<(Self, Option<Categories>)>> {
        type Head = Option<(Opening, Option<Categories>)>;
        let Message { head, whole, .. } = Message::<Head>::from_bytes(b'o', bytes)?;
        let sample = whole.into_iter().map(|row| row as usize).collect();
        Ok(head.map(|(head, categories)| (Self { sample, ..head }, categories)))
    }

    /// Whether rows are held out by group.
    pub(super) fn holds_groups(data: &Data, split: Split) -> bool {
        let many = data.group().is_some_and(|group| group.labels.len() >= LEAST_GROUPS);
        split == Split::Random && many
    }
}

/// The least of each input, then the most; NaN of one that is always missing.
fn ranges(data: &Data) -> Vec<f64> {
    let columns = data.columns();
    let mut ranges = vec![f64::NAN; 2 * columns];
    let (low, high) = ranges.split_at_mut(columns);
    for row in data.inputs().chunks_exact(columns) {
        for ((low, high), x) in low.iter_mut().zip(&mut *high).zip(row) {
            *low = low.min(*x);
            *high = high.max(*x);
        }
    }
    ranges
}

/// The numbers of a message that says first what there is.
#[derive(Serialize, Deserialize)]
struct Head {
    number: u64,
    rows: usize,
    counted: usize,
    independent: bool,
    /// How many ranges there are, the first batch and how many there are, for both errors; inputs of judges.
    ranges: usize,
    batches: [(usize, usize); 2],
    inputs: usize,
    weights: usize,
}

impl First {
    /// As bytes, which only the same version of errbar reads.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        let Self { judges, errors, .. } = self;
        let head = Head {
            number: self.number,
            rows: self.rows,
            counted: self.counted,
            independent: judges.independent,
            ranges: self.ranges.len(),
            batches: [0, 1].map(|nth| (errors[nth].first, errors[nth].sums.len())),
            inputs: judges.inputs.len(),
            weights: judges.weight.len(),
        };
        let batches = errors.iter().flat_map(|errors| errors.sums.as_flattened());
        let of_judges = [&judges.inputs, &judges.error, &judges.sigma[0], &judges.sigma[1]];
        let of_judges = of_judges.into_iter().chain([&judges.weight]).flatten();
        let sums = self.ranges.iter().chain(batches).chain(of_judges).copied().collect();
        let whole = judges.rows.iter().map(|row| *row as i64).collect();
        Message { head, whole, sums }.to_bytes(b'1')
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let Message { head, whole, sums } = Message::<Head>::from_bytes(b'1', bytes)?;
        let mut rest = &sums[..];
        let mut take = |length: usize| -> Result<Vec<f64>> {
            let (own, others) = rest.split_at_checked(length).ok_or_else(not_whole)?;
            rest = others;
            Ok(own.to_vec())
        };
        let rows = whole.len();
        let ranges = take(head.ranges)?;
        let mut batch = |(first, length): (usize, usize)| -> Result<Batches> {
            let length = length.checked_mul(4).ok_or_else(not_whole)?;
            Ok(Batches { first, sums: take(length)?.as_chunks().0.to_vec() })
        };
        let errors = [batch(head.batches[0])?, batch(head.batches[1])?];
        let judges = Judges {
            independent: head.independent,
            rows: whole.into_iter().map(|row| row as usize).collect(),
            inputs: take(head.inputs)?,
            error: take(rows)?,
            sigma: [take(rows)?, take(rows)?],
            weight: take(head.weights)?,
        };
        let Head { number, rows, counted, .. } = head;
        match rest.is_empty() {
            true => Ok(Self { number, rows, counted, ranges, errors, judges }),
            false => Err(not_whole()),
        }
    }
}

fn not_whole() -> crate::error::Error {
    crate::error::Error::BadMessage { reason: "what a part says first is not whole".into() }
}
