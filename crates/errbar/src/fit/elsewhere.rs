//! A fit to rows that lie elsewhere: in other processes, on other machines.
//!
//! Some of the rows ([`candidates`]) come to the one who asks, and all kinds of models learn from them. What the others
//! then need to know is an [opening](Elsewhere::opening), as bytes: it goes to those who hold the parts of the rows
//! ([`Parts`]), who say [first](Parts::open) what is known without asking and then answer questions
//! ([`rounds`]), until all rows have refined the fit ([`Elsewhere::finish`]). The bits of the result
//! depend on the parts, their rows and their order, and not on who held them.
//!
//! All errors together are known by what parts say of them: mean, size and their standard errors by sums of batches of
//! consecutive rows, as elsewhere; the one sigma of all rows by fine counts. Laws are learned from a share of the rows
//! held out. Numbers for categories and the bias of the forecaster are learned from the sample.

use std::collections::BTreeMap;

use super::categories::{self, Categories};
use super::many::{Begun, Gathered, drawn_for};
use super::opening::{First, Judges, Opening, Rows};
use super::{Fit, Kind, MANY, Options, SAMPLE, check_names, fit, some_rows};
use crate::checks::{check_finite, check_length};
use crate::data::{Data, Split};
use crate::diagnose::Summary;
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::mean::bias;
use crate::monitor::{Forward, Monitor, Stage};
use crate::rounds::{self, Answers, Ask, Local, Spread, Workers, in_part};
use crate::sigma::constant::Constant;

/// The places, in a part of the rows, of those that may be in the sample: the part begins at this place of all rows, of
/// which there are so many. Of fewer than [`MANY`] all are; of others a few more are offered than a sample has, and
/// [`Elsewhere::begin`] leaves out those.
#[must_use]
pub fn candidates(
    first_row: usize,
    rows: usize,
    all_rows: usize,
    split: Split,
    seed: u64,
) -> Vec<usize> {
    if all_rows < MANY {
        return (0..rows).collect();
    }
    match split {
        Split::InOrder => {
            let options = Options { most_rows: SAMPLE, split, ..Options::default() };
            let chosen = some_rows(all_rows, &options).into_iter();
            let here = chosen.skip_while(|row| *row < first_row);
            here.take_while(|row| *row < first_row + rows).map(|row| row - first_row).collect()
        }
        Split::Random => {
            // So many that hardly ever fewer are offered than a sample has.
            let wanted = SAMPLE as f64 + 6.0 * (SAMPLE as f64).sqrt();
            let most = (wanted / all_rows as f64 * 2f64.powi(64)) as u64;
            (0..rows).filter(|row| drawn_for(first_row + row, seed) < most).collect()
        }
    }
}

impl Options {
    /// Why rows that lie elsewhere cannot be learned from, whatever they are.
    fn must_be_here(&self) -> Option<&'static str> {
        let by_law = self.by_law || matches!(self.loss, LossKind::OfLaw(..));
        if matches!(self.kind, Kind::Smooth | Kind::Ensemble) {
            Some("models are auto, stack, trees, constant, polynomial or network there")
        } else if by_law {
            Some("the cost of a law is that of all rows in one place; train by ar, crps or nlpd")
        } else if !self.transform.bounds(self.bounds).are_none() {
            Some("bounds of observations need all rows in one place")
        } else if self.transform != crate::law::Transform::None {
            Some("another scale needs all rows in one place")
        } else if self.guarantee.is_some() {
            Some("a guarantee is read off rows in one place; ask for one when the model is there")
        } else if self.validation <= 0.0 {
            Some("some rows must be held out to judge by")
        } else if self.budget != f64::MAX || self.most_rows != usize::MAX {
            Some("all of them are learned from; with a limit of rows or of work, fit to some here")
        } else {
            None
        }
    }
}

/// A fit to rows that lie elsewhere, by the one who asks.
pub struct Elsewhere {
    state: State,
    part_rows: Vec<usize>,
    opening: Vec<u8>,
}

enum State {
    /// The sample was all there is.
    Whole(Box<Fit>),
    Begun(Box<(Begun, Option<Coded>)>),
}

/// Categories, and the sample by their codes.
struct Coded {
    categories: Categories,
    sample: Data<'static>,
}

impl Elsewhere {
    /// Fits to a sample, of which the place of each row among all rows is given, and for each part its rows.
    ///
    /// # Errors
    /// What cannot be learned from rows elsewhere, or what [`fit`](super::fit()) refuses.
    pub fn begin(
        sample: &Data,
        places: &[usize],
        part_rows: &[usize],
        names: &[String],
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let monitor = &Forward::new(monitor);
        check_names(names, sample.columns())?;
        options.check()?;
        let refused = match sample.prior() {
            Some(_) => Some("a sigma that is there already is corrected in one place"),
            None => options.must_be_here(),
        };
        if let Some(what) = refused {
            return Err(Error::NotElsewhere { what });
        }
        if sample.is_in_time() {
            let what = "times are in order in one place; put rows in order before they are parted";
            return Err(Error::NotElsewhere { what });
        }
        let all = part_rows.iter().sum::<usize>();
        let chosen = chosen(places, (sample.rows(), all), options)?;
        let part_rows = part_rows.to_vec();
        if chosen.len() == all {
            let order: Vec<usize> = chosen.into_iter().map(|(_, at)| at).collect();
            let whole = fit(&sample.pick(&order).alone(), names, options, monitor)?;
            let (state, opening) = (State::Whole(Box::new(whole)), Opening::nothing()?);
            return Ok(Self { state, part_rows, opening });
        }
        // Rows that do not count must not be seen.
        let counts = |at: usize| sample.weight().is_none_or(|weight| weight[at] > 0.0);
        let (rows, order): (Vec<usize>, Vec<usize>) =
            chosen.into_iter().filter(|(_, at)| counts(*at)).unzip();
        let sample = sample.pick(&order).alone();
        if sample.error().iter().all(|e| *e == 0.0) {
            return Err(Error::NoErrors { rows: sample.rows() });
        }
        let (data, coded) = match sample.is_coded() {
            true => {
                let encoded = categories::encode(&sample, options, options.debias);
                let (data, categories) = encoded.parted(options.debias);
                (data.encoded_for_good(), Some(Coded { categories, sample }))
            }
            false => (sample, None),
        };
        let begun = Begun::new(&data, rows, all, names, options, monitor)?;
        let categories = coded.as_ref().map(|coded| &coded.categories);
        let opening = begun.opening.to_bytes(categories)?;
        Ok(Self { state: State::Begun(Box::new((begun, coded))), part_rows, opening })
    }

    /// What parts need to know ([`Parts::new`]).
    #[must_use]
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// The fit that all rows have refined, from what each part said first (in any order) and what they answer.
    ///
    /// # Errors
    /// A part that is missing or has other rows than was said, errors that are all zero, what workers say, or a monitor that
    /// asked to stop.
    pub fn finish(
        self,
        first: &[impl AsRef<[u8]>],
        workers: &mut dyn Workers,
        monitor: &dyn Monitor,
    ) -> Result<Fit> {
        let monitor = &Forward::new(monitor);
        let first = in_order(first, &self.part_rows)?;
        let (begun, coded) = match self.state {
            State::Whole(fit) => return Ok(*fit),
            State::Begun(begun) => *begun,
        };
        let (scale, all) = (begun.opening.scale, begun.opening.rows);
        let Fit { fitted, .. } = &begun.fit;
        let (mut ranges, columns) = (fitted.ranges.clone(), fitted.names.len());
        first.iter().for_each(|first| ranges.stretch(&first.ranges));
        let summary =
            |nth: usize| Summary::of_batches(first.iter().map(|f| &f.errors[nth]), scale, all);
        let (training, left) = (summary(0), summary(1));
        let parts = first.iter().filter(|first| first.counted > 0).map(|first| first.number);
        let mut workers = Checked { workers, parts: parts.collect() };
        let rows = first.iter().map(|first| first.counted).sum();
        let sigma = rounds::constant(&mut workers, (rows, scale), begun.opening.options.loss)?;
        let mut judges = Judges::default();
        first.into_iter().filter(|f| f.counted > 0).for_each(|f| judges.extend(f.judges));
        let constant = Constant { sigma, columns };
        let all = Gathered { rows, ranges, training, left, constant, judges };
        let part = Stage { whole: monitor, from: 0.4, to: 1.0 };
        let fit = begun.finish(&mut workers, all, &part)?;
        Ok(match coded {
            None => fit,
            Some(Coded { categories, sample }) => {
                let mut fitted = fit.fitted.of_categories(categories, &sample, None);
                // Of all rows, and not of the sample.
                fitted.training = training;
                Fit { fitted, ..fit }
            }
        })
    }
}

/// The rows of a sample, rising, each with its place in it; no more of many than are needed.
fn chosen(
    places: &[usize],
    (rows, all): (usize, usize),
    options: &Options,
) -> Result<Vec<(usize, usize)>> {
    check_length("places of the sample", places.len(), "the sample", rows)?;
    let mut chosen: Vec<(usize, usize)> =
        places.iter().enumerate().map(|(at, row)| (*row, at)).collect();
    if all >= MANY && rows > SAMPLE && options.split == Split::Random {
        chosen.sort_unstable_by_key(|(row, _)| (drawn_for(*row, options.seed), *row));
        chosen.truncate(SAMPLE);
    }
    chosen.sort_unstable();
    let reason = match chosen.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => format!("row {} of the sample comes twice", pair[0].0),
        None => match chosen.last() {
            Some((row, _)) if *row >= all => {
                format!("row {row} of the sample is beyond the {all} rows of all parts")
            }
            _ => return Ok(chosen),
        },
    };
    Err(Error::BadMessage { reason })
}

/// What parts said first, in their order, each once and of as many rows as it has.
fn in_order(first: &[impl AsRef<[u8]>], part_rows: &[usize]) -> Result<Vec<First>> {
    let mut all: BTreeMap<u64, First> = BTreeMap::new();
    for bytes in first {
        let first = First::from_bytes(bytes.as_ref())?;
        let number = first.number;
        if all.insert(number, first).is_some() {
            let reason = format!("part {number} of the rows answers twice");
            return Err(Error::BadMessage { reason });
        }
    }
    let mut out = Vec::with_capacity(part_rows.len());
    for (number, &rows) in part_rows.iter().enumerate() {
        let first = all.remove(&(number as u64)).ok_or(Error::PartMissing { number })?;
        if first.rows != rows {
            return Err(Error::PartChanged { number, rows: first.rows, before: rows });
        }
        out.push(first);
    }
    match all.keys().next() {
        Some(number) => {
            let reason = format!("there is no part {number}: parts are {}", part_rows.len());
            Err(Error::BadMessage { reason })
        }
        None => Ok(out),
    }
}

/// Workers of whom each part must answer.
struct Checked<'a> {
    workers: &'a mut dyn Workers,
    /// The parts that have rows, rising.
    parts: Vec<u64>,
}

impl Workers for Checked<'_> {
    fn ask(&mut self, ask: &Ask) -> Result<Vec<Answers>> {
        let answers = self.workers.ask(ask)?;
        let mut there: Vec<u64> = answers.iter().flat_map(Answers::parts).collect();
        there.sort_unstable();
        let missing = self.parts.iter().find(|part| there.binary_search(part).is_err());
        match missing {
            Some(part) => Err(Error::PartMissing { number: *part as usize }),
            None => Ok(answers),
        }
    }
}

/// Some parts of the rows, where they lie.
pub struct Parts {
    opening: Option<(Opening, Option<Categories>)>,
    local: Local,
    asked: usize,
}

/// The rows of a part as they are: row-major inputs (NaN where missing; categories by their codes, those of levels that
/// the sample did not have by [`UNSEEN`](crate::categories::UNSEEN)), errors, and what else the sample had.
#[derive(Debug, Clone, Copy)]
pub struct PartRows<'a> {
    /// Row-major inputs.
    pub inputs: &'a [f64],
    /// The error of each row.
    pub error: &'a [f64],
    /// The weight of each row, if rows of the sample had some.
    pub weight: Option<&'a [f64]>,
    /// A number for the group of each row, the same in all parts, if rows of the sample belonged to some.
    pub group: Option<&'a [u32]>,
}

impl Parts {
    /// None yet, of the fit that begins so ([`Elsewhere::opening`]).
    ///
    /// # Errors
    /// Bytes that are no opening, or one of another version of errbar.
    pub fn new(opening: &[u8]) -> Result<Self> {
        let opening = Opening::from_bytes(opening)?;
        Ok(Self { opening, local: Local::default(), asked: 0 })
    }

    /// One more part, whose first row is at this place of all rows: what it says first.
    ///
    /// # Errors
    /// Values that are not finite or lengths that do not fit, with the part and the row.
    pub fn open(&mut self, number: u64, first_row: usize, rows: &PartRows) -> Result<Vec<u8>> {
        let (first, part) = self.opened(number, first_row, rows).map_err(|e| in_part(number, e))?;
        if let Some(part) = part {
            self.local.add(part);
        }
        first.to_bytes()
    }

    fn opened(
        &self,
        number: u64,
        first_row: usize,
        rows: &PartRows,
    ) -> Result<(First, Option<rounds::Part>)> {
        let PartRows { inputs, error, weight, group } = *rows;
        let nothing = First { number, rows: error.len(), ..First::default() };
        let Some((opening, categories)) = &self.opening else { return Ok((nothing, None)) };
        let columns = opening.used.len();
        check_length(
            "inputs",
            inputs.len(),
            "errors times the inputs of a row",
            error.len() * columns,
        )?;
        check_finite("error", error)?;
        let weight = as_the_sample("weight", weight, opening.weight.is_some(), error.len())?;
        if let Some(weight) = weight {
            check_finite("weight", weight)?;
            if let Some(index) = weight.iter().position(|w| *w < 0.0) {
                return Err(Error::NegativeWeight { index, value: weight[index] });
            }
        }
        let group = match opening.by_group {
            true => as_the_sample("group", group, true, error.len())?,
            false => None,
        };
        if !error.is_empty() {
            crate::data::rows_with_missing(inputs, columns)?;
        }
        let counted: Vec<usize> =
            (0..error.len()).filter(|&row| weight.is_none_or(|w| w[row] > 0.0)).collect();
        if counted.is_empty() {
            return Ok((nothing, None));
        }
        let means = categories.as_ref().and_then(|own| own.means(inputs, columns));
        let left = means.map_or(error.to_vec(), |means| bias::without(error, &means));
        let encoded = categories::encoded(categories.as_ref(), inputs, columns);
        let data = Data::with_missing(&encoded, columns, &left)?.maybe_weighted(weight)?;
        let data = data.pick(&counted);
        let of = |values: &[f64]| counted.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let places: Vec<usize> = counted.iter().map(|row| first_row + row).collect();
        let rows = Rows {
            data: &data,
            places: &places,
            whole_error: &of(error),
            together: group.map(|group| counted.iter().map(|&row| group[row]).collect()),
        };
        let (first, part, left) = opening.open(number, rows)?;
        let weights = data.weight().zip(opening.weight);
        let part = part.of_sizes(Spread::of(&left, opening.scale, weights));
        Ok((First { rows: error.len(), ..first }, Some(part)))
    }

    /// What these parts say to a question.
    ///
    /// # Errors
    /// A question that does not fit what was asked before, with the part.
    pub fn answer(&mut self, ask: &Ask) -> Result<Answers> {
        let answers = self.local.answer(ask)?;
        self.asked += 1;
        Ok(answers)
    }

    /// How many questions were answered: parts that are opened anew and asked as many of the same are where these are.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked
    }
}

/// A column that is there if the sample had it, and only then.
fn as_the_sample<'a, T>(
    what: &'static str,
    column: Option<&'a [T]>,
    had: bool,
    rows: usize,
) -> Result<Option<&'a [T]>> {
    match (column, had) {
        (Some(column), true) => {
            check_length(what, column.len(), "error", rows)?;
            Ok(Some(column))
        }
        (None, true) => check_length(what, 0, "error", rows).map(|()| None),
        (_, false) => Ok(None),
    }
}
