//! New rows, and what a fitted model says about them.

use std::borrow::Cow;

use rayon::prelude::*;

use super::guarantee::Whose;
use super::{Fitted, Shape, categories};
use crate::adapt::promise::Promise;
use crate::adapt::{Bend, Quantiles};
use crate::checks::check_length;
use crate::error::{Error, Result};
use crate::law::{Base, Bounds, ErrorLaw, Transform};
use crate::score::calibration::check_probability;
use crate::series::Side;
use crate::sigma::Model;
use crate::sigma::supported::{HeldSigma, OUTSIDE};

/// Rows to predict: inputs, and what else a model may need.
///
/// Inputs alone can be given as they are: `fitted.predict(&inputs)`.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    inputs: &'a [f64],
    forecast: Option<&'a [f64]>,
    group: Option<&'a [Option<u32>]>,
    prior: Option<&'a [f64]>,
}

impl<'a> Rows<'a> {
    /// Of row-major inputs.
    #[must_use]
    pub fn new(inputs: &'a [f64]) -> Self {
        Self { inputs, forecast: None, group: None, prior: None }
    }

    /// With the forecast of each row, which intervals are put around; NaN where there is none. A model
    /// that makes the forecast itself needs none.
    #[must_use]
    pub fn with_forecast(self, forecast: &'a [f64]) -> Self {
        Self { forecast: Some(forecast), ..self }
    }

    /// With the sigma that each row has already, which a model that [corrects it](Fitted::prior) needs: without it what such a
    /// model says is in units of that sigma. NaN where there is none.
    #[must_use]
    pub fn with_prior(self, prior: &'a [f64]) -> Self {
        Self { prior: Some(prior), ..self }
    }

    /// With the number of each row's group ([`Guarantee::group`](super::guarantee::Guarantee::group)),
    /// which a guarantee by group needs.
    #[must_use]
    pub fn with_group(self, group: &'a [Option<u32>]) -> Self {
        Self { group: Some(group), ..self }
    }
}

impl<'a> From<&'a [f64]> for Rows<'a> {
    fn from(inputs: &'a [f64]) -> Self {
        Self::new(inputs)
    }
}

impl<'a> From<&'a Vec<f64>> for Rows<'a> {
    fn from(inputs: &'a Vec<f64>) -> Self {
        Self::new(inputs)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Rows<'a> {
    fn from(inputs: &'a [f64; N]) -> Self {
        Self::new(inputs)
    }
}

/// A distribution for each of some rows.
#[derive(Debug, Clone)]
pub struct Forecasts<'a> {
    fitted: &'a Fitted,
    rows: Rows<'a>,
    /// With numbers for categories.
    inputs: Cow<'a, [f64]>,
    /// Where the distributions are, if that is known, on the scale of the errors.
    forecast: Option<Vec<f64>>,
    /// The same on the user's scale, where that is another.
    shown: Option<Vec<f64>>,
    bias: Option<Vec<f64>>,
    sigma: Vec<f64>,
    /// The variance of the mean where the model has one, and sigma without it.
    mean: Option<(Vec<f64>, Vec<f64>)>,
    support: Option<Vec<f64>>,
    outside: Vec<bool>,
    outside_input: Vec<Option<usize>>,
    /// On the scale of the errors.
    bounds: Bounds,
    /// As they were fitted.
    laws: RowLaws,
    bent: Option<Bent>,
    /// What is promised of these rows, and for each the levels that its intervals are read off.
    promised: Option<(&'a Promise, Vec<f64>)>,
}

/// The laws of rows, which often share one.
#[derive(Debug, Clone)]
struct RowLaws {
    /// Each of them once, in units of sigma.
    laws: Vec<ErrorLaw>,
    /// Which of them each row has; nothing where all have the same.
    of_row: Vec<u32>,
}

impl RowLaws {
    /// As they were fitted, at some rows of inputs.
    fn of(shape: Option<&Shape>, inputs: &[f64], columns: usize) -> Self {
        let Some(shape) = shape else {
            return Self { laws: vec![ErrorLaw::default()], of_row: Vec::new() };
        };
        let Some(turning) = shape.turning() else {
            return Self { laws: vec![shape.law().clone()], of_row: Vec::new() };
        };
        let each = inputs.par_chunks_exact(columns).with_min_len(AT_ONCE);
        let of_row = each.map(|row| turning.rung(row) as u32).collect();
        Self { laws: turning.laws().0.to_vec(), of_row }
    }

    fn which(&self, row: usize) -> u32 {
        self.of_row.get(row).copied().unwrap_or(0)
    }

    fn law(&self, row: usize) -> &ErrorLaw {
        &self.laws[self.which(row) as usize]
    }
}

/// Rows that one thread takes at a time, at least.
const AT_ONCE: usize = 2048;

/// Laws that follow what has been observed.
#[derive(Debug, Clone)]
struct Bent {
    laws: RowLaws,
    /// Sigma as it was.
    before: Vec<f64>,
}

/// What is said of the rows is the same.
impl PartialEq for Forecasts<'_> {
    fn eq(&self, other: &Self) -> bool {
        let trust = |f: &Self| (f.support.clone(), f.outside.clone(), f.outside_input.clone());
        (&self.forecast, &self.bias, &self.sigma, &self.bounds, &self.laws.of_row)
            == (&other.forecast, &other.bias, &other.sigma, &other.bounds, &other.laws.of_row)
            && trust(self) == trust(other)
    }
}

impl<'a> Forecasts<'a> {
    pub(super) fn of(fitted: &'a Fitted, rows: Rows<'a>) -> Result<Self> {
        let Rows { inputs: given, forecast, prior, .. } = rows;
        let prior = prior.filter(|_| fitted.prior.is_some());
        fitted.ranges.rows_of(given)?;
        let columns = fitted.names.len();
        let own = fitted.categories.as_ref();
        let encoded = categories::encoded(own, given, columns);
        let inputs = encoded.as_ref();
        let HeldSigma { mut sigma, mut support, input } = fitted.model.give(inputs)?;
        if let Some(shape) = &fitted.shape {
            let (least, most) = fitted.model.limits();
            sigma.iter_mut().for_each(|sigma| {
                *sigma = (*sigma * shape.factor()).clamp(least, most);
            });
        }
        if let Some(prior) = prior {
            check_length("prior sigma", prior.len(), "inputs", sigma.len())?;
            if let Some(index) = prior.iter().position(|&prior| prior <= 0.0) {
                return Err(Error::SigmaNotPositive { index, value: prior[index] });
            }
            sigma.iter_mut().zip(prior).for_each(|(sigma, prior)| {
                *sigma = (*sigma * prior).clamp(f64::MIN_POSITIVE, f64::MAX);
            });
        }
        if let Some(forecast) = forecast {
            check_length("forecast", forecast.len(), "inputs", sigma.len())?;
        }
        let each = inputs.chunks_exact(fitted.names.len());
        let mut outside_input: Vec<Option<usize>> = match &support {
            Some(_) => {
                each.zip(input).map(|(row, input)| input.or(fitted.ranges.unlike(row))).collect()
            }
            None => each.map(|row| fitted.ranges.beyond(row)).collect(),
        };
        // A level that was never seen is far from all that were.
        for (row, codes) in own.iter().flat_map(|_| given.chunks_exact(columns).enumerate()) {
            let Some(column) = own.and_then(|own| own.unlike(codes)) else { continue };
            outside_input[row] = Some(column);
            support.iter_mut().for_each(|support| support[row] = 0.0);
        }
        let little = |row: usize| support.as_ref().is_some_and(|support| support[row] < OUTSIDE);
        let outside: Vec<bool> =
            (0..sigma.len()).map(|row| outside_input[row].is_some() || little(row)).collect();
        let transform = fitted.options.transform;
        // One that has no place on the scale is as good as none.
        let mut forecast: Option<Vec<f64>> =
            forecast.map(|at| at.iter().map(|x| transform.forward(*x)).collect());
        let mut known = None;
        if let Some(mean) = &fitted.mean {
            // What the mean does not know counts as well: among the rows leave-one-out errors hold
            // most of it already, away from them they do not.
            let at = mean.predict(inputs)?;
            let alone = sigma.clone();
            for (sigma, variance) in sigma.iter_mut().zip(&at.latent_variance) {
                *sigma = sigma.hypot(variance.sqrt()).min(f64::MAX);
            }
            forecast.get_or_insert(at.mean);
            known = Some((at.latent_variance, alone));
        }
        let mut bias = fitted.bias.as_ref().map(|bias| bias.predict(inputs)).transpose()?;
        if let (Some(bias), Some(means)) =
            (&mut bias, own.and_then(|own| own.means(given, columns)))
        {
            bias.iter_mut().zip(means).for_each(|(bias, mean)| *bias += mean);
        }
        if let (Some(bias), Some(prior)) = (&mut bias, prior) {
            bias.iter_mut().zip(prior).for_each(|(bias, prior)| *bias *= prior);
        }
        for (forecast, bias) in forecast.iter_mut().flatten().zip(bias.iter().flatten()) {
            *forecast += bias;
        }
        let bounds = transform.bounds(fitted.options.bounds);
        let shown = (transform != Transform::None)
            .then(|| forecast.as_deref().map(|at| at.iter().map(|x| transform.back(*x)).collect()));
        Ok(Self {
            fitted,
            rows,
            shown: shown.flatten(),
            forecast,
            bias,
            sigma,
            mean: known,
            support,
            outside,
            outside_input,
            bounds,
            laws: RowLaws::of(fitted.shape.as_ref(), inputs, columns),
            inputs: encoded,
            bent: None,
            promised: None,
        })
    }

    /// The same with laws, and sigmas, that follow what has been observed.
    ///
    /// # Errors
    /// Not one bend for each row.
    pub fn bent(mut self, bends: &[Bend]) -> Result<Self> {
        check_length("bends", bends.len(), "inputs", self.len())?;
        if bends.iter().all(Bend::is_none) {
            return Ok(self);
        }
        let as_fitted: Vec<Quantiles> = self.laws.laws.iter().map(Quantiles::of).collect();
        let mut laws = RowLaws { laws: vec![], of_row: vec![] };
        let before = self.sigma.clone();
        let mut last: Option<(&Bend, u32, f64)> = None;
        for (row, (bend, sigma)) in bends.iter().zip(&mut self.sigma).enumerate() {
            let which = self.laws.which(row);
            // Neighbours often know the same.
            let factor = match last {
                Some((same, of, factor)) if same == bend && of == which => factor,
                _ => {
                    let law = bend.of(&as_fitted[which as usize]);
                    let factor = if bend.is_none() { 1.0 } else { law.standard_deviation() };
                    laws.laws.push(if bend.is_none() { law } else { law.times(1.0 / factor) });
                    factor
                }
            };
            last = Some((bend, which, factor));
            laws.of_row.push(laws.laws.len() as u32 - 1);
            *sigma = (*sigma * factor).clamp(f64::MIN_POSITIVE, f64::MAX);
        }
        self.bent = Some(Bent { laws, before });
        Ok(self)
    }

    /// The same with guaranteed intervals that are read off these levels, as many for each row as are promised.
    ///
    /// # Errors
    /// Not as many.
    pub fn promised(self, promise: &'a Promise, levels: Vec<f64>) -> Result<Self> {
        check_length("levels", levels.len(), "rows", self.len() * promise.levels().len())?;
        Ok(Self { promised: Some((promise, levels)), ..self })
    }

    /// The forecasts that it was asked about, where they were given.
    #[must_use]
    pub fn given(&self) -> Option<&[f64]> {
        self.rows.forecast
    }

    /// Which law of the model as fitted is that of a row: 0 where the skew is the same for all, else the place of
    /// its rung counted from 1.
    pub(crate) fn rung(&self, row: usize) -> u32 {
        self.laws.of_row.get(row).map_or(0, |rung| rung + 1)
    }

    /// The laws of rows, in units of their sigma.
    fn laws(&self) -> &RowLaws {
        self.bent.as_ref().map_or(&self.laws, |bent| &bent.laws)
    }

    /// A function of the law of each row: rows often share one, and it is found for each law once.
    pub fn of_laws<T: Copy>(&self, of: impl Fn(&ErrorLaw) -> T) -> impl Fn(usize) -> T {
        let laws = self.laws();
        let each: Vec<T> = laws.laws.iter().map(of).collect();
        move |row: usize| each[laws.which(row) as usize]
    }

    /// The law of a row in units of its sigma.
    #[must_use]
    pub fn law_of(&self, row: usize) -> &ErrorLaw {
        self.laws().law(row)
    }

    /// The law of each row in units of its sigma.
    #[must_use]
    pub fn error_laws(&self) -> Vec<ErrorLaw> {
        (0..self.len()).map(|row| self.law_of(row).clone()).collect()
    }

    /// The logarithm of the right side over the left one of each row's law as it was fitted: see
    /// [`Shape::turning`].
    #[must_use]
    pub fn skew(&self) -> Vec<f64> {
        let skew = |law: &ErrorLaw| (law.law().right / law.law().left).ln();
        let each: Vec<f64> = self.laws.laws.iter().map(skew).collect();
        (0..self.len()).map(|row| each[self.laws.which(row) as usize]).collect()
    }

    /// The probability that each law gives to less than was then observed; at a bound, which has a probability
    /// of its own, to the middle of that. NaN where nothing was.
    ///
    /// # Errors
    /// No forecast, or another number of observations.
    pub fn pit(&self, observation: &[f64]) -> Result<Vec<f64>> {
        let q = self.gaussian_values(observation, &vec![0.5; self.len()])?;
        Ok(q.into_iter().map(|q| Base::Normal.cdf(q)).collect())
    }

    /// The values of a standard Gaussian that are as improbable as what was then observed, NaN where that is
    /// missing. At a bound, which has a probability of its own, they are spread over that, by the numbers in
    /// (0, 1) that are given.
    ///
    /// # Errors
    /// No forecast, or another number of observations.
    pub fn gaussian_values(&self, observation: &[f64], spread: &[f64]) -> Result<Vec<f64>> {
        check_length("observation", observation.len(), "rows", self.len())?;
        check_length("spread", spread.len(), "rows", self.len())?;
        let gaussian = ErrorLaw::default();
        let value = |(row, (at, sigma)): (usize, (f64, f64))| {
            let law = self.law_of(row);
            let y = self.transform().forward(observation[row]);
            let bounds = self.bounds.around(at).over(sigma);
            match (y - at) / sigma {
                z if z.is_nan() => z,
                z if z <= bounds.lower() => {
                    gaussian.quantile(spread[row] * law.cdf(bounds.lower()))
                }
                z if z >= bounds.upper() => {
                    gaussian.upper_quantile(spread[row] * law.exceed(bounds.upper()))
                }
                z => law.gaussian_quantile_of(z),
            }
        };
        Ok(self.places()?.enumerate().map(value).collect())
    }

    /// The errors in units of sigma of what was then observed, NaN where that is missing, and at which bound it
    /// lies.
    pub(crate) fn standing(&self, observation: &[f64]) -> Result<Vec<(f64, Side)>> {
        let one = |((at, sigma), y): ((f64, f64), &f64)| {
            let y = self.transform().forward(*y);
            let bounds = self.bounds.around(at).over(sigma);
            let z = (y - at) / sigma;
            let side = match z {
                z if z <= bounds.lower() => Side::Lower,
                z if z >= bounds.upper() => Side::Upper,
                _ => Side::Between,
            };
            // Whatever is said of it, it is a number.
            (if z.is_nan() { z } else { z.clamp(-f64::MAX, f64::MAX) }, side)
        };
        Ok(self.places()?.zip(observation).map(one).collect())
    }

    /// The same, knowing that no observation lies beyond these bounds, whatever the model was told.
    #[must_use]
    pub fn within(self, bounds: Bounds) -> Self {
        Self { bounds: self.transform().bounds(bounds), ..self }
    }

    fn transform(&self) -> Transform {
        self.fitted.options.transform
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sigma.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sigma.is_empty()
    }

    /// Sigma of each row: of a model on [another scale](Transform), on that.
    #[must_use]
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// Sigma of each row, alone.
    #[must_use]
    pub fn into_sigma(self) -> Vec<f64> {
        self.sigma
    }

    /// The forecast of each row, the one given or the model's own, moved by its bias where that was
    /// learned. `None` where there is none.
    #[must_use]
    pub fn forecast(&self) -> Option<&[f64]> {
        self.shown.as_deref().or(self.forecast.as_deref())
    }

    /// What was added to the forecast, when the model was asked to learn that. Sigma belongs to the
    /// forecast so moved.
    #[must_use]
    pub fn bias(&self) -> Option<&[f64]> {
        self.bias.as_deref()
    }

    /// How near the training rows are to each row, in all inputs together: 1 where they are as near
    /// as they are to each other, 0.5 at twice that distance, down to 0. `None` for a model that does
    /// not know: one constant sigma, or one of an older version.
    #[must_use]
    pub fn support(&self) -> Option<&[f64]> {
        self.support.as_deref()
    }

    /// Whether a row lies where there were hardly any training rows: its support is below
    /// [`OUTSIDE`], or an input that never varied is another than it was. Without support, whether it
    /// lies outside the range of an input.
    #[must_use]
    pub fn outside(&self) -> &[bool] {
        &self.outside
    }

    /// For a row outside, which input takes it there, given the others.
    #[must_use]
    pub fn outside_input(&self) -> &[Option<usize>] {
        &self.outside_input
    }

    /// Where the distributions are, and their sigmas; of a model on [another scale](Transform), on that.
    fn places(&self) -> Result<impl ExactSizeIterator<Item = (f64, f64)>> {
        let forecast = self.forecast.as_deref().ok_or(Error::NoForecast)?;
        Ok(forecast.iter().copied().zip(self.sigma.iter().copied()))
    }

    /// The value of each row that is not exceeded with probability `p`; NaN where there is no forecast.
    ///
    /// # Errors
    /// No forecast, or a probability that is not strictly between 0 and 1.
    pub fn quantile(&self, p: f64) -> Result<Vec<f64>> {
        check_probability("the probability of a quantile", p)?;
        let forecast = self.forecast.as_deref().ok_or(Error::NoForecast)?;
        // The same for many rows, and slow.
        let z = self.of_laws(|law| law.quantile(p));
        let value = |(row, (forecast, sigma)): (usize, (&f64, &f64))| {
            self.user_value(forecast + z(row) * sigma)
        };
        Ok(forecast.iter().zip(&self.sigma).enumerate().map(value).collect())
    }

    /// A value on the scale of the errors, held within bounds, on the user's.
    fn user_value(&self, value: f64) -> f64 {
        self.transform().back(self.bounds.clamp(value))
    }

    /// The lower and the upper ends of the intervals in the middle that hold the observation with this
    /// probability.
    ///
    /// # Errors
    /// As [`Forecasts::quantile`].
    pub fn interval(&self, level: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        check_probability("the level of an interval", level)?;
        Ok((self.quantile(0.5 - 0.5 * level)?, self.quantile(0.5 + 0.5 * level)?))
    }

    /// The probability of each row that the observation exceeds a threshold.
    ///
    /// # Errors
    /// No forecast.
    pub fn exceed(&self, threshold: f64) -> Result<Vec<f64>> {
        let threshold = match self.transform().forward(threshold) {
            // Below all that the scale has.
            x if x.is_nan() && !threshold.is_nan() => f64::NEG_INFINITY,
            x => x,
        };
        let probability = |(row, (at, sigma)): (usize, (f64, f64))| match self
            .law_of(row)
            .exceed((threshold - at) / sigma)
        {
            p if p.is_nan() => p,
            _ if threshold < self.bounds.lower() => 1.0,
            _ if threshold >= self.bounds.upper() => 0.0,
            p => p,
        };
        Ok(self.places()?.enumerate().map(probability).collect())
    }

    /// The continuous ranked probability score of each row, after what was then observed; of a model on
    /// [another scale](Transform), on that.
    ///
    /// # Errors
    /// No forecast, another number of observations, or one that has no place on the scale.
    pub fn crps(&self, observation: &[f64]) -> Result<Vec<f64>> {
        check_length("observation", observation.len(), "rows", self.len())?;
        let observation = self.transform().all("observation", observation)?;
        let score = |(row, ((at, sigma), y)): (usize, ((f64, f64), &f64))| {
            let law = self.law_of(row);
            let error = self.bounds.clamp(*y) - at;
            sigma * law.crps_within(error / sigma, self.bounds.around(at).over(sigma))
        };
        Ok(self.places()?.zip(&observation).enumerate().map(score).collect())
    }

    /// The least and the most error that the guaranteed interval of each row holds: see
    /// [`guarantee`](super::guarantee). NaN where nothing can be promised: for rows of no known group,
    /// or of groups too small for the level even together; without groups all rows are taken together.
    ///
    /// Of rows that follow what was observed ([`Followed`](crate::walk::Followed)), the intervals of their own
    /// laws that keep the share right in the long run; infinite where they are unbounded: see
    /// [`adapt::promise`](crate::adapt::promise).
    ///
    /// # Errors
    /// No guarantee, or more than it can promise to any row; a level that is not kept.
    pub fn guaranteed_errors(&self, level: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        let guarantee = self.fitted.guarantee.as_ref().ok_or(Error::NoGuarantee)?;
        let Some((promise, levels)) = &self.promised else {
            // A promise is about sigma as it was fitted.
            let sigma = self.bent.as_ref().map_or(&self.sigma, |bent| &bent.before);
            let law = |row: usize| (self.laws.which(row), self.laws.law(row));
            return guarantee.reach(self.rows.inputs, (sigma, &law), level, self.rows.group);
        };
        check_length("group", self.rows.group.map_or(self.len(), <[_]>::len), "rows", self.len())?;
        let (place, count) = (promise.place(level)?, promise.levels().len());
        let ladders = guarantee.ladders(&[promise.levels()[place]]);
        // The same for many rows, and slow.
        let mut last = (u32::MAX, f64::NAN, [f64::NAN; 2]);
        let mut ends = |row: usize| {
            let whose = self.rows.group.map_or(Whose::All, |group| Whose::Group(group[row]));
            let size = ladders.reach(0, whose, levels[row * count + place]);
            let of = self.laws().which(row);
            if (last.0, last.1.to_bits()) != (of, size.to_bits()) {
                let law = self.law_of(row);
                let end = |size: f64| match size.is_finite() {
                    true => law.quantile_of_gaussian(size),
                    false => size,
                };
                last = (of, size, [-size, size].map(end));
            }
            let [low, high] = last.2.map(|z| z * self.sigma[row]);
            (low, high)
        };
        Ok((0..self.len()).map(&mut ends).unzip())
    }

    /// The lower and the upper ends of intervals that hold the observation with this probability
    /// whatever the distribution of errors: [`Forecasts::guaranteed_errors`] around the forecast.
    ///
    /// # Errors
    /// No forecast, no guarantee, or more than it can promise to any row.
    pub fn guaranteed(&self, level: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        let (low, high) = self.guaranteed_errors(level)?;
        let forecast = self.forecast.as_deref().ok_or(Error::NoForecast)?;
        let end = |error: Vec<f64>| {
            let ends = forecast.iter().zip(error);
            ends.map(|(mu, error)| self.user_value(mu + error)).collect()
        };
        Ok((end(low), end(high)))
    }

    /// The band that holds sigma itself with a given probability, row by row, where the model has
    /// one: a smooth function does.
    ///
    /// # Errors
    /// A level outside (0, 1).
    pub fn sigma_band(&self, level: f64) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
        let Model::Smooth(smooth) = self.fitted.model() else { return Ok(None) };
        let (mut low, mut high) = smooth.band(&self.inputs, level)?;
        // Where sigma is held, so is the band.
        let free = smooth.predict(&self.inputs)?;
        let held = self.mean.as_ref().map_or(&self.sigma, |(_, alone)| alone);
        for (i, (free, held)) in free.iter().zip(held).enumerate() {
            for end in [&mut low[i], &mut high[i]] {
                *end = (*end * (held / free)).clamp(f64::MIN_POSITIVE, f64::MAX);
            }
        }
        for (i, variance) in self.mean.iter().flat_map(|(variance, _)| variance).enumerate() {
            for end in [&mut low[i], &mut high[i]] {
                *end = end.hypot(variance.sqrt()).min(f64::MAX);
            }
        }
        Ok(Some((low, high)))
    }
}
