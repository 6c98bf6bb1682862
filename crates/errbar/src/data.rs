//! What a model of sigma is fitted to.

use std::borrow::Cow;
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::categories::{self, Category};
use crate::checks::{check_finite, check_length, check_rows, errors_of};
use crate::cycles::Cycle;
use crate::error::{Error, Result};
use crate::math::quantile;

/// Fewer rows than this tell nothing but one sigma: every kind of model is then that.
pub const LEAST_ROWS: usize = 20;

/// Inputs, errors and optional weights, checked once.
///
/// Holding a `Data` means: at least one row and one input column, equal lengths, every value finite
/// (or, among the inputs of [`Data::with_missing`], missing), every weight at least 0 and not all of
/// them zero.
///
/// ```
/// use errbar::Data;
///
/// // Two inputs, three rows.
/// let data = Data::new(&[0.0, 7.0, 0.5, 3.0, 1.0, 9.0], 2, &[0.1, -0.3, 0.2])?;
/// assert_eq!(data.rows(), 3);
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Data<'a> {
    inputs: Cow<'a, [f64]>,
    columns: usize,
    error: Cow<'a, [f64]>,
    /// Forecast plus error, where that is known.
    observation: Option<Cow<'a, [f64]>>,
    weight: Option<Cow<'a, [f64]>>,
    unit: Option<Vec<f64>>,
    group: Option<Group>,
    /// Sigmas that are there already, in units of which the errors and observations are.
    prior: Option<Prior>,
    /// Rows that are only held out together have the same number here.
    together: Option<Vec<u32>>,
    /// Whether rows are in the order of time.
    in_time: bool,
    /// What stands for a missing value of each input.
    missing: Vec<f64>,
    /// Cycles of the calendar among the inputs, each with the first of its two columns.
    cycles: Vec<(usize, Cycle)>,
    /// The inputs that are categories.
    categories: Arc<[Category]>,
    /// Their codes, row after row, where numbers stand for them among the inputs.
    codes: Option<Codes>,
}

/// What the numbers were that stand for categories now.
#[derive(Debug, Clone)]
struct Codes {
    of_rows: Vec<f64>,
    /// Whether numbers may be found anew for some of the rows.
    again: bool,
}

/// Sigmas that are there already.
#[derive(Debug, Clone, PartialEq)]
struct Prior {
    name: String,
    sigma: Vec<f64>,
}

/// Which group each row belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What rows are grouped by.
    pub name: String,
    /// The groups.
    pub labels: Vec<String>,
    /// For each row its place in `labels`.
    pub rows: Vec<u32>,
}

impl<'a> Data<'a> {
    /// From row-major inputs and the error (observation minus forecast) of each row.
    ///
    /// # Errors
    /// No rows, no columns, lengths that do not fit, or a value that is not finite.
    pub fn new(inputs: &'a [f64], columns: usize, error: &'a [f64]) -> Result<Self> {
        rows_of(inputs, columns)?;
        Self::with_missing(inputs, columns, error)
    }

    /// As [`Data::new`], but an input may be missing: NaN.
    ///
    /// # Errors
    /// As [`Data::new`], but for inputs that are NaN.
    pub fn with_missing(inputs: &'a [f64], columns: usize, error: &'a [f64]) -> Result<Self> {
        Self::of(inputs, columns, error.into())
    }

    fn of(inputs: &'a [f64], columns: usize, error: Cow<'a, [f64]>) -> Result<Self> {
        let rows = rows_with_missing(inputs, columns)?;
        check_rows(rows)?;
        check_length("inputs", rows, "error", error.len())?;
        check_finite("error", &error)?;
        Ok(Self {
            inputs: inputs.into(),
            columns,
            error,
            observation: None,
            weight: None,
            unit: None,
            group: None,
            prior: None,
            together: None,
            in_time: false,
            missing: (0..columns).map(|column| median(inputs, columns, column)).collect(),
            cycles: Vec::new(),
            categories: Arc::new([]),
            codes: None,
        })
    }

    /// From row-major inputs, of which some may be missing (NaN), and what was forecast and then observed
    /// in each row.
    ///
    /// # Errors
    /// As [`Data::with_missing`], or a forecast or observation that is not finite.
    pub fn of_forecasts(
        inputs: &'a [f64],
        columns: usize,
        forecast: &[f64],
        observation: &'a [f64],
    ) -> Result<Self> {
        let error = errors_of(observation, forecast)?;
        let data = Self::of(inputs, columns, error.into())?;
        Ok(Self { observation: Some(observation.into()), ..data })
    }

    /// The same data with the observation of each row, if it is known, which bounds are about.
    ///
    /// # Errors
    /// A different length, or an observation that is not finite.
    pub fn maybe_observed(self, observation: Option<&'a [f64]>) -> Result<Self> {
        let Some(observation) = observation else { return Ok(self) };
        check_length("observation", observation.len(), "error", self.error.len())?;
        check_finite("observation", observation)?;
        let observation = match &self.prior {
            Some(prior) => over(observation, &prior.sigma).into(),
            None => observation.into(),
        };
        Ok(Self { observation: Some(observation), ..self })
    }

    /// The same data with the sigma that each row has already, of this name, which models then correct: errors and
    /// observations are in units of it from now on. To be said before [`Data::in_time`], which puts rows in order.
    ///
    /// ```
    /// use errbar::Data;
    ///
    /// let data = Data::new(&[1.0, 2.0], 1, &[0.5, -3.0])?.with_prior("spread", &[0.25, 2.0])?;
    /// assert_eq!(data.error(), [2.0, -1.5]);
    /// # Ok::<(), errbar::Error>(())
    /// ```
    ///
    /// # Errors
    /// A different length, or a sigma that is not finite and greater than 0.
    pub fn with_prior(self, name: &str, sigma: &[f64]) -> Result<Self> {
        check_length("prior sigma", sigma.len(), "error", self.error.len())?;
        check_finite("prior sigma", sigma)?;
        if let Some(index) = sigma.iter().position(|&sigma| sigma <= 0.0) {
            return Err(Error::SigmaNotPositive { index, value: sigma[index] });
        }
        let error = over(&self.error, sigma);
        // Of a sigma that is nothing beside its error.
        check_finite("error over prior sigma", &error)?;
        let observation = self.observation.as_deref().map(|of| over(of, sigma).into());
        let prior = Some(Prior { name: name.into(), sigma: sigma.to_vec() });
        Ok(Self { error: error.into(), observation, prior, ..self })
    }

    /// The sigmas that rows have already, in units of which the errors are.
    pub(crate) fn prior(&self) -> Option<&[f64]> {
        self.prior.as_ref().map(|prior| prior.sigma.as_slice())
    }

    /// What they are called.
    pub(crate) fn prior_name(&self) -> Option<&str> {
        self.prior.as_ref().map(|prior| prior.name.as_str())
    }

    /// The errors in units of the observations.
    pub(crate) fn whole_error(&self) -> Cow<'_, [f64]> {
        match &self.prior {
            Some(prior) => self.error.iter().zip(&prior.sigma).map(|(e, s)| e * s).collect(),
            None => Cow::Borrowed(&self.error),
        }
    }

    /// What was observed, where that is known.
    #[must_use]
    pub fn observation(&self) -> Option<&[f64]> {
        self.observation.as_deref()
    }

    /// The same data in the order of time, in any unit: models are then judged by rows later than those
    /// they learn from, and rows of one moment are held out together.
    ///
    /// ```
    /// use errbar::Data;
    ///
    /// let data = Data::new(&[1.0, 2.0, 3.0], 1, &[0.1, -0.3, 0.2])?.in_time(&[2024.5, 2023.0, 2024.5])?;
    /// assert_eq!(data.error(), [-0.3, 0.1, 0.2]);
    /// # Ok::<(), errbar::Error>(())
    /// ```
    ///
    /// # Errors
    /// A different length, or a time that is not finite.
    pub fn in_time(self, time: &[f64]) -> Result<Self> {
        check_length("time", time.len(), "error", self.error.len())?;
        check_finite("time", time)?;
        let mut order: Vec<usize> = (0..time.len()).collect();
        order.sort_by(|a, b| time[*a].total_cmp(&time[*b]));
        let later = |moment: &mut u32, place: usize| {
            *moment += u32::from(place > 0 && time[order[place]] != time[order[place - 1]]);
            Some(*moment)
        };
        let moments: Vec<u32> = (0..time.len()).scan(0, later).collect();
        let data = if order.is_sorted() { self } else { self.pick(&order) };
        Ok(Self { together: Some(moments), in_time: true, ..data })
    }

    /// Whether rows are in the order of time.
    pub(crate) fn is_in_time(&self) -> bool {
        self.in_time
    }

    /// The same data with a weight for each row, if there is one; only ratios of weights matter.
    ///
    /// # Errors
    /// A different length, a weight that is negative or not finite, or all weights zero.
    pub fn maybe_weighted(self, weight: Option<&'a [f64]>) -> Result<Self> {
        let Some(weight) = weight else { return Ok(self) };
        check_length("weight", weight.len(), "error", self.error.len())?;
        check_finite("weight", weight)?;
        if let Some(index) = weight.iter().position(|&w| w < 0.0) {
            return Err(Error::NegativeWeight { index, value: weight[index] });
        }
        if weight.iter().all(|&w| w == 0.0) {
            return Err(Error::AllWeightsZero { rows: weight.len() });
        }
        Ok(Self { weight: Some(weight.into()), ..self })
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.error.len()
    }

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The inputs, row after row.
    #[must_use]
    pub fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// The inputs of a row.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.inputs[row * self.columns..(row + 1) * self.columns]
    }

    /// The errors.
    #[must_use]
    pub fn error(&self) -> &[f64] {
        &self.error
    }

    /// The weights, if there are any.
    #[must_use]
    pub fn weight(&self) -> Option<&[f64]> {
        self.weight.as_deref()
    }

    /// The median of each input, which stands for its missing values.
    pub(crate) fn missing(&self) -> &[f64] {
        &self.missing
    }

    /// The same data of which some inputs say nothing: they are zero in every row.
    pub(crate) fn with_inputs(&self, counts: &[bool]) -> Data<'static> {
        let mut data = self.pick(&(0..self.rows()).collect::<Vec<usize>>());
        for row in data.inputs.to_mut().chunks_exact_mut(self.columns) {
            row.iter_mut().zip(counts).filter(|(_, counts)| !**counts).for_each(|(x, _)| *x = 0.0);
        }
        data.missing.iter_mut().zip(counts).filter(|(_, c)| !**c).for_each(|(x, _)| *x = 0.0);
        if let Some(codes) = &mut data.codes {
            for row in codes.of_rows.chunks_exact_mut(data.categories.len()) {
                let each = row.iter_mut().zip(data.categories.iter());
                each.filter(|(_, own)| !counts[own.column]).for_each(|(code, _)| *code = f64::NAN);
            }
        }
        data
    }

    /// The same data whose rows are held out together where they have the same number: neighbours
    /// that resemble each other, or rows of one moment.
    ///
    /// # Errors
    /// A different length.
    pub(crate) fn held_together(self, together: Vec<u32>) -> Result<Self> {
        check_length("moment", together.len(), "error", self.error.len())?;
        Ok(Self { together: Some(together), ..self })
    }

    /// Which rows are held out together, if some are.
    pub(crate) fn together(&self) -> Option<&[u32]> {
        self.together.as_deref()
    }

    /// The same data with other errors, as many and as finite.
    pub(crate) fn with_error(self, error: Vec<f64>) -> Self {
        debug_assert_eq!(error.len(), self.rows());
        Self { error: error.into(), ..self }
    }

    /// The same data, each row belonging to a group.
    ///
    /// # Errors
    /// A different length, or a row whose group has no label.
    pub fn grouped(self, group: Group) -> Result<Self> {
        check_length("group", group.rows.len(), "error", self.error.len())?;
        if let Some(row) = group.rows.iter().position(|&g| g as usize >= group.labels.len()) {
            return Err(Error::NoSuchGroup { row, groups: group.labels.len() });
        }
        Ok(Self { group: Some(group), ..self })
    }

    /// The groups, if rows belong to some.
    #[must_use]
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// The same data whose inputs from a column on are cycles of the calendar, two columns each.
    pub(crate) fn with_cycles(self, first: usize, cycles: &[Cycle]) -> Self {
        let cycles = cycles.iter().enumerate().map(|(nth, cycle)| (first + 2 * nth, *cycle));
        Self { cycles: cycles.collect(), ..self }
    }

    /// Cycles of the calendar among the inputs, each with the first of its two columns.
    pub(crate) fn cycles(&self) -> &[(usize, Cycle)] {
        &self.cycles
    }

    /// The same data of which some inputs are categories: the place of each value among the levels, or NaN.
    ///
    /// ```
    /// use errbar::{Category, Data};
    ///
    /// let carrier = Category { column: 1, levels: vec!["AA".into(), "UA".into()] };
    /// // Hour and carrier of three flights.
    /// let inputs = [7.0, 0.0, 9.0, 1.0, 12.0, 1.0];
    /// let data = Data::new(&inputs, 2, &[3.0, -12.0, 40.0])?.with_categories(vec![carrier])?;
    /// assert_eq!(data.categories()[0].levels.len(), 2);
    /// # Ok::<(), errbar::Error>(())
    /// ```
    ///
    /// # Errors
    /// A column that is not there, two categories in one, or a value that is no such place.
    pub fn with_categories(self, categories: Vec<Category>) -> Result<Self> {
        categories::check(&categories, &self.inputs, self.columns)?;
        Ok(Self { categories: categories.into(), ..self })
    }

    /// The inputs that are categories.
    #[must_use]
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Whether categories stand among the inputs by their codes.
    pub(crate) fn is_coded(&self) -> bool {
        !self.categories.is_empty() && self.codes.is_none()
    }

    /// Whether the numbers that stand for categories may be found anew for some of the rows.
    pub(crate) fn can_be_encoded_again(&self) -> bool {
        self.codes.as_ref().is_some_and(|codes| codes.again)
    }

    /// The same data for which the numbers that stand for categories stay as they are.
    pub(crate) fn encoded_for_good(mut self) -> Self {
        self.codes.iter_mut().for_each(|codes| codes.again = false);
        self
    }

    /// The codes of a category, by its place among the categories.
    pub(crate) fn codes(&self, nth: usize) -> Vec<f64> {
        match &self.codes {
            Some(codes) => {
                codes.of_rows.iter().skip(nth).step_by(self.categories.len()).copied().collect()
            }
            None => {
                let column = self.categories[nth].column;
                self.inputs.iter().skip(column).step_by(self.columns).copied().collect()
            }
        }
    }

    /// The codes of the category that an input is, if it is one.
    pub(crate) fn codes_of_input(&self, column: usize) -> Option<Vec<f64>> {
        let nth = self.categories.iter().position(|category| category.column == column)?;
        Some(self.codes(nth))
    }

    /// The same data with numbers for its categories, one for each category and row.
    pub(crate) fn encoded(&self, numbers: &[Vec<f64>]) -> Data<'static> {
        let width = self.categories.len();
        let each: Vec<Vec<f64>> = (0..width).map(|nth| self.codes(nth)).collect();
        let mut data = self.pick(&(0..self.rows()).collect::<Vec<usize>>());
        let rows = 0..data.rows();
        let of_rows = rows.flat_map(|row| each.iter().map(move |codes| codes[row])).collect();
        let inputs = data.inputs.to_mut();
        for (category, numbers) in self.categories.iter().zip(numbers) {
            let column = inputs.iter_mut().skip(category.column).step_by(self.columns);
            column.zip(numbers).for_each(|(input, number)| *input = *number);
        }
        let again = self.codes.as_ref().is_none_or(|codes| codes.again);
        data.codes = Some(Codes { of_rows, again });
        data.alone()
    }

    /// The same data with other inputs in some rows.
    pub(crate) fn with_rows<'b>(
        &self,
        rows: impl Iterator<Item = (usize, &'b [f64])>,
    ) -> Data<'static> {
        let mut data = self.pick(&(0..self.rows()).collect::<Vec<usize>>());
        let inputs = data.inputs.to_mut();
        for (row, other) in rows {
            inputs[row * self.columns..][..self.columns].copy_from_slice(other);
        }
        data
    }

    /// The same data, each row's error to be counted in a unit of its own.
    pub(crate) fn in_units(self, unit: Vec<f64>) -> Self {
        debug_assert_eq!(unit.len(), self.rows());
        Self { unit: Some(unit), ..self }
    }

    /// The unit of each row, if rows have their own.
    pub(crate) fn unit(&self) -> Option<&[f64]> {
        self.unit.as_deref()
    }

    /// The same data as if there were no other rows: missing inputs stand for the medians of these.
    pub(crate) fn alone(self) -> Self {
        let median = |column| median(&self.inputs, self.columns, column);
        let missing = (0..self.columns).map(median).collect();
        Self { missing, ..self }
    }

    /// Some of the rows, in the order given.
    pub(crate) fn pick(&self, rows: &[usize]) -> Data<'static> {
        let of = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let row = |&row: &usize| &self.inputs[row * self.columns..(row + 1) * self.columns];
        Data {
            inputs: rows.iter().flat_map(row).copied().collect::<Vec<f64>>().into(),
            columns: self.columns,
            error: of(&self.error).into(),
            observation: self.observation().map(|observation| of(observation).into()),
            in_time: self.in_time,
            weight: self.weight().map(|weight| of(weight).into()),
            unit: self.unit().map(of),
            missing: self.missing.clone(),
            cycles: self.cycles.clone(),
            prior: self
                .prior
                .as_ref()
                .map(|prior| Prior { sigma: of(&prior.sigma), ..prior.clone() }),
            categories: self.categories.clone(),
            codes: self.codes.as_ref().map(|codes| {
                let width = self.categories.len();
                let own = |&row: &usize| &codes.of_rows[row * width..(row + 1) * width];
                Codes { of_rows: rows.iter().flat_map(own).copied().collect(), ..*codes }
            }),
            together: self.together().map(|ids| rows.iter().map(|&row| ids[row]).collect()),
            group: self.group.as_ref().map(|group| Group {
                rows: rows.iter().map(|&row| group.rows[row]).collect(),
                ..group.clone()
            }),
        }
    }
}

/// Values in units of their own.
fn over(values: &[f64], units: &[f64]) -> Vec<f64> {
    values.iter().zip(units).map(|(value, unit)| value / unit).collect()
}

/// The number of rows of row-major inputs, when all is well.
pub(crate) fn rows_of(inputs: &[f64], columns: usize) -> Result<usize> {
    rows_where(inputs, columns, |x| x.is_finite())
}

/// [`rows_of`] inputs of which some may be missing: NaN.
pub(crate) fn rows_with_missing(inputs: &[f64], columns: usize) -> Result<usize> {
    rows_where(inputs, columns, |x| !x.is_infinite())
}

fn rows_where(inputs: &[f64], columns: usize, good: impl Fn(f64) -> bool) -> Result<usize> {
    if columns == 0 {
        return Err(Error::NoInputs);
    }
    if !inputs.len().is_multiple_of(columns) {
        return Err(Error::NotWholeRows { length: inputs.len(), columns });
    }
    if let Some(place) = inputs.iter().position(|x| !good(*x)) {
        let (row, column) = (place / columns, place % columns);
        return Err(Error::InputNotFinite { row, column, value: inputs[place] });
    }
    Ok(inputs.len() / columns)
}

/// The median of a column's values, or 0 without any.
fn median(inputs: &[f64], columns: usize, column: usize) -> f64 {
    let values = inputs.iter().skip(column).step_by(columns);
    let mut values: Vec<f64> = values.copied().filter(|x| !x.is_nan()).collect();
    if values.is_empty() { 0.0 } else { quantile(&mut values, 0.5) }
}

/// How rows are held out of training, to judge what was learned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// At random, or evenly over the range of an input.
    #[default]
    Random,
    /// The rows are in the order of time: consecutive ones are held out. Rows near one another in
    /// time resemble each other, and would otherwise be known before they are judged.
    InOrder,
}

/// All rows in a random order.
pub(crate) fn shuffled(rows: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut Pcg64::seed_from_u64(seed));
    order
}

/// So many of the rows, at random, in their order.
pub(crate) fn chosen_rows(rows: usize, wanted: usize, seed: u64) -> Vec<usize> {
    let mut chosen = shuffled(rows, seed);
    chosen.truncate(wanted);
    chosen.sort_unstable();
    chosen
}
