//! What can be wrong with an input: one variant per cause, each naming the place and the value.

/// The result of everything in this crate that looks at numbers from outside.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an input was refused. Rows are counted from 0, as in the slices passed in.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// There is nothing to score.
    #[error("there are no rows: at least one is needed")]
    Empty,

    /// Two slices that describe the same rows have different lengths.
    #[error("{what} has {length} values but {other} has {expected}: give one value per row")]
    LengthMismatch {
        /// The slice that does not fit.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The slice it was compared with.
        other: &'static str,
        /// The length of that one.
        expected: usize,
    },

    /// A value is NaN or infinite.
    #[error(
        "{what} at row {index} is {value}: every value must be finite; leave the row out or fill it in"
    )]
    NotFinite {
        /// The slice it stands in.
        what: &'static str,
        /// The row, counted from 0.
        index: usize,
        /// NaN or an infinity.
        value: f64,
    },

    /// Observation minus forecast is beyond the largest double.
    #[error(
        "observation {observation:e} minus forecast {forecast:e} at row {index} overflows: rescale the data"
    )]
    ErrorOverflow {
        /// The row, counted from 0.
        index: usize,
        /// The observation there.
        observation: f64,
        /// The forecast there.
        forecast: f64,
    },

    /// Something is wrong with one of the parts that rows are in.
    #[error("part {number} of the rows: {error}")]
    InPart {
        /// The part, counted from 0.
        number: usize,
        /// What is wrong with it.
        error: Box<Error>,
    },

    /// A part of the rows has not answered.
    #[error("part {number} of the rows has not answered: open every part on some worker")]
    PartMissing {
        /// The part, counted from 0.
        number: usize,
    },

    /// A part of the rows has other rows than it was said to have.
    #[error(
        "part {number} of the rows has {rows} rows and had {before}: they must not change while a fit goes on"
    )]
    PartChanged {
        /// The part, counted from 0.
        number: usize,
        /// The rows it has.
        rows: usize,
        /// The rows it had.
        before: usize,
    },

    /// What is asked for needs all rows in one place.
    #[error("rows that lie elsewhere cannot be learned from so: {what}")]
    NotElsewhere {
        /// Why, and what can be done.
        what: &'static str,
    },

    /// Bytes between a fit and the parts of its rows cannot be understood.
    #[error("a message between a fit and its workers cannot be used: {reason}")]
    BadMessage {
        /// Why.
        reason: String,
    },

    /// Bytes between a fit and the parts of its rows were written by another version.
    #[error(
        "a message between a fit and its workers was written by errbar {theirs}, and this is errbar {ours}: \
         install the same version everywhere"
    )]
    OtherVersion {
        /// The version that wrote it.
        theirs: String,
        /// The version that reads it.
        ours: String,
    },

    /// A part has more rows than can be counted.
    #[error(
        "a part of the rows has {rows} rows, and at most 4294967295 can be one part: make more parts"
    )]
    PartTooLarge {
        /// Its rows.
        rows: usize,
    },

    /// Rounds over parts know the Gaussian cost alone.
    #[error(
        "models are not fitted to parts of the rows by the cost of a law: fit by ar, crps or nlpd"
    )]
    NoRoundsByLaw,

    /// A value has no place on the scale that errors are to be learned on.
    #[error(
        "{what} at row {index} is {value}: it has no place on the scale {scale}; leave the row out, or \
         learn on another scale"
    )]
    NoPlaceOnScale {
        /// The slice it stands in.
        what: &'static str,
        /// The row, counted from 0.
        index: usize,
        /// The value there.
        value: f64,
        /// What the scale is called.
        scale: &'static str,
    },

    /// An observation lies beyond a bound that observations are said to keep to.
    #[error(
        "the observation at row {index} is {value}, beyond the bound {bound}: give another bound, or leave the row out"
    )]
    BeyondBound {
        /// The row, counted from 0.
        index: usize,
        /// The observation there.
        value: f64,
        /// The bound that it does not keep to.
        bound: f64,
    },

    /// Bounds are about observations, and only errors were given.
    #[error("bounds are those of observations: give these, and not errors alone")]
    BoundsWithoutObservations,

    /// A standard deviation is zero or negative.
    #[error("sigma at row {index} is {value}: a standard deviation must be greater than 0")]
    SigmaNotPositive {
        /// The row, counted from 0.
        index: usize,
        /// Its sigma.
        value: f64,
    },

    /// A sample weight is negative.
    #[error("weight at row {index} is {value}: weights must be 0 or more")]
    NegativeWeight {
        /// The row, counted from 0.
        index: usize,
        /// Its weight.
        value: f64,
    },

    /// A row of an ensemble without any member.
    #[error("no member at row {index} has a value: leave the row out")]
    NoMembers {
        /// The row, counted from 0.
        index: usize,
    },

    /// Levels of quantiles that are none, or in no order.
    #[error("{levels} levels were given for {columns} columns of quantiles: give one for each")]
    WrongLevels {
        /// How many levels.
        levels: usize,
        /// How many columns.
        columns: usize,
    },

    /// The ends of an interval in the wrong order.
    #[error(
        "the interval at row {index} ends at {high}, below where it begins, {low}: swap its ends"
    )]
    IntervalTurned {
        /// The row, counted from 0.
        index: usize,
        /// Where it begins.
        low: f64,
        /// Where it ends.
        high: f64,
    },

    /// A probability is none.
    #[error("the probability at row {index} is {value}: it must lie between 0 and 1")]
    NoProbability {
        /// The row, counted from 0.
        index: usize,
        /// The value there.
        value: f64,
    },

    /// What an event is said to be cannot be understood.
    #[error(
        "the event \"{text}\" is not understood: write >, >=, < or <= and a number, as \"> 50\""
    )]
    BadEvent {
        /// As it was written.
        text: String,
    },

    /// Every sample weight is zero.
    #[error("all {rows} weights are 0: at least one row must count")]
    AllWeightsZero {
        /// How many rows there are.
        rows: usize,
    },

    /// Weights too large or too small to be added up in the units they were given in.
    #[error(
        "the sum of the weights is beyond the range of doubles: rescale them, the same way in every part"
    )]
    WeightsOutOfRange,

    /// There are no input columns.
    #[error("there are no input columns: at least one is needed")]
    NoInputs,

    /// Every error is zero, so that there is no size to learn.
    #[error("all {rows} errors are 0: there is no error to put a bar on")]
    NoErrors {
        /// How many rows there are.
        rows: usize,
    },

    /// A monitor asked to give the work up.
    #[error("stopped")]
    Stopped,

    /// Fewer rows than a fit needs.
    #[error("{rows} rows are too few: at least {needed} are needed to learn from and judge by")]
    TooFewRows {
        /// The rows there are.
        rows: usize,
        /// The rows needed.
        needed: usize,
    },

    /// A row whose group has no label.
    #[error("row {row} belongs to a group that has no label: there are {groups}")]
    NoSuchGroup {
        /// The row, counted from 0.
        row: usize,
        /// The groups there are.
        groups: usize,
    },

    /// A guarantee for rows of different weights.
    #[error("a guarantee counts every row alike: leave the weights out")]
    WeightedGuarantee,

    /// A guarantee for each group by the cross method.
    #[error("a guarantee for each group needs the split method")]
    CrossGroups,

    /// A guarantee by the cross method around forecasts that are moved.
    #[error("a guarantee with debiasing needs the split method")]
    CrossDebias,

    /// A model without a guarantee.
    #[error("the model was fitted without a guarantee")]
    NoGuarantee,

    /// Something that needs a forecast was asked of rows that have none.
    #[error("intervals, quantiles and probabilities need the forecast: give it with the rows")]
    NoForecast,

    /// More than the errors can promise.
    #[error("{rows} errors cannot promise an interval of {level}: at least {needed} are needed")]
    TooFewForLevel {
        /// The level.
        level: f64,
        /// The errors there are.
        rows: usize,
        /// The errors needed.
        needed: usize,
    },

    /// A level of a guarantee that is given twice.
    #[error("the level {level} is given twice: give it once")]
    LevelTwice {
        /// The level.
        level: f64,
    },

    /// A level that is not among those that a series is kept at.
    #[error("the model does not keep the guarantee at {level}: ask for one of {}", listed(kept))]
    LevelNotKept {
        /// The level.
        level: f64,
        /// Those that it keeps.
        kept: Vec<f64>,
    },

    /// A guarantee of intervals in time that nothing was kept from the model for.
    #[error("a guarantee in time needs the split method")]
    GuaranteeWithoutSplit,

    /// A delay or a lag that is none.
    #[error(
        "{text:?} is no span of time: give a number of moments, as in 24, or a time with its unit, as in \
         48h (units: s, min, h, d, w)"
    )]
    BadSpan {
        /// What was given.
        text: String,
    },

    /// A lag asks for errors that are not known yet.
    #[error(
        "the lag {lag} is shorter than the delay {delay}: that error is not known yet when it is needed"
    )]
    LagWithinDelay {
        /// The lag.
        lag: String,
        /// The delay.
        delay: String,
    },

    /// No row has errors before it that its lags ask for.
    #[error(
        "{known} of {rows} rows have the earlier errors that lags ask for, too few to learn from: give other \
         lags, or none"
    )]
    NoLags {
        /// Rows that have them.
        known: usize,
        /// All rows.
        rows: usize,
    },

    /// A model that knows no time cannot follow what is observed.
    #[error("the model knows no time: fit it with a column of times")]
    NoSeries,

    /// Nothing comes after the start.
    #[error(
        "the walk begins with {before} rows to learn from and {after} to forecast, and needs at least {least} and 1: \
         start it elsewhere"
    )]
    NothingToWalk {
        /// Rows known at the start.
        before: usize,
        /// Rows after it.
        after: usize,
        /// Rows needed.
        least: usize,
    },

    /// A share of rows to hold out that is no such share.
    #[error("the share of rows to hold out is {value}: it must lie between 0 and 0.9")]
    BadValidation {
        /// The share asked for.
        value: f64,
    },

    /// A budget that is none.
    #[error("the budget is {value}: it must be greater than 0")]
    BadBudget {
        /// The budget asked for.
        value: f64,
    },

    /// Fewer rows to train on than a model needs.
    #[error("the most rows to train a model on are {value}: give at least {least}")]
    BadMostRows {
        /// The rows asked for.
        value: usize,
        /// The least there may be.
        least: usize,
    },

    /// Several models to choose from, but no rows to choose by.
    #[error(
        "no rows can be held out to choose a model by: hold out a larger share, or name the model"
    )]
    NothingHeldOut,

    /// A fit that cannot take rows as they pass.
    #[error("rows cannot be taken as they pass: {what}; hold them all")]
    CannotPass {
        /// What needs all of them at once.
        what: &'static str,
    },

    /// So few rows that all can be held.
    #[error(
        "{rows} rows are too few to be taken as they pass: hold them all, or give at least {least}"
    )]
    TooFewToPass {
        /// The rows that there are.
        rows: usize,
        /// The least there may be.
        least: usize,
    },

    /// Rows that pass a second time are not those of the first.
    #[error("row {row} is another than when it passed first: the rows have changed in between")]
    Changed {
        /// The row, counted from 0.
        row: usize,
    },

    /// Another number of names than of input columns.
    #[error("{names} names were given for {columns} input columns: give one for each")]
    WrongNames {
        /// The names given.
        names: usize,
        /// The columns there are.
        columns: usize,
    },

    /// A saved model that cannot be read.
    #[error("the model cannot be used: {why}")]
    BadModel {
        /// What is wrong with it.
        why: String,
    },

    /// Bytes that cannot be read as sums of scores.
    #[error("these are no sums of scores: {why}")]
    BadSums {
        /// What is wrong with them.
        why: String,
    },

    /// Options of a network that leave nothing to train.
    #[error("a network needs at least one shape and one share of the penalty to choose from")]
    NothingToChooseFrom,

    /// A choice by a name that there is not.
    #[error("{what} is \"{name}\": give one of {known}")]
    UnknownName {
        /// What was to be chosen.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },

    /// A fixed beta outside [0, 1].
    #[error("beta is {value}: it must lie between 0 (reliability only) and 1 (accuracy only)")]
    BetaOutOfRange {
        /// The beta asked for.
        value: f64,
    },

    /// A probability that must lie strictly between 0 and 1.
    #[error("{what} is {value}: it must lie strictly between 0 and 1")]
    NotAProbability {
        /// What it was meant for.
        what: &'static str,
        /// The value given.
        value: f64,
    },

    /// A number that cannot be used.
    #[error("{what} is {value}: {allowed}")]
    BadNumber {
        /// What it was meant for.
        what: &'static str,
        /// The number given.
        value: usize,
        /// Which numbers work.
        allowed: &'static str,
    },

    /// Samples to be compared whose weights differ.
    #[error("sample {index} has other weights than sample 0: compare on the same rows and weights")]
    OtherWeights {
        /// The sample, counted from 0.
        index: usize,
    },

    /// A number of bins that cannot be used.
    #[error("{what}: {bins} bins were asked for, but {allowed}")]
    BadBins {
        /// What was to be binned.
        what: &'static str,
        /// The number asked for.
        bins: usize,
        /// Which numbers work.
        allowed: &'static str,
    },

    /// A rank outside 1..=n.
    #[error("rank {rank} does not exist among {n} errors: ranks go from 1 to {n}")]
    RankOutOfRange {
        /// The rank asked for.
        rank: usize,
        /// The number of errors.
        n: usize,
    },

    /// More rows than a ranking can number.
    #[error(
        "{rows} rows are more than the {limit} that can be ranked at once: merge accumulators over parts instead"
    )]
    TooManyRows {
        /// The rows given.
        rows: usize,
        /// The largest number.
        limit: usize,
    },

    /// A Gaussian process was given more rows than its matrices can have.
    #[error(
        "{rows} rows are more than the {limit} of which a Gaussian process can hold the covariances: fit a part of them"
    )]
    TooManyRowsForMatrix {
        /// The rows given.
        rows: usize,
        /// The largest number.
        limit: usize,
    },

    /// Inputs that do not fill their last row.
    #[error("inputs has {length} values, which is not a whole number of rows of {columns} columns")]
    NotWholeRows {
        /// How many values there are.
        length: usize,
        /// How many belong to a row.
        columns: usize,
    },

    /// A category of a column that is not there, or that is one already.
    #[error(
        "column {column} cannot be a category: there are {columns} columns, and each is one category at most"
    )]
    NoSuchCategory {
        /// The column, counted from 0.
        column: usize,
        /// How many there are.
        columns: usize,
    },

    /// A category holds what is no place among its levels.
    #[error(
        "row {row}, column {column} is {code}: a category holds places among its {levels} levels, counted from 0, or NaN"
    )]
    NoSuchLevel {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// What it holds.
        code: f64,
        /// How many levels it has.
        levels: usize,
    },

    /// Something that takes no categories.
    #[error("{what} takes numbers alone, and some inputs are categories: leave them out")]
    NoCategories {
        /// What it is.
        what: &'static str,
    },

    /// An input is NaN or infinite.
    #[error(
        "input column {column} at row {row} is {value}: every value must be finite; leave the row out or fill it in"
    )]
    InputNotFinite {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// NaN or an infinity.
        value: f64,
    },

    /// Values so far apart, or so close together, that their variance is not a double.
    #[error(
        "{what} has a spread of {spread:e}, whose square is beyond the range of doubles: rescale it"
    )]
    SpreadOutOfRange {
        /// Which values.
        what: &'static str,
        /// Their range or standard deviation.
        spread: f64,
    },

    /// The variance of the noise of one row is negative.
    #[error("the noise variance at row {index} is {value}: it must be 0 or more")]
    NegativeNoise {
        /// The row, counted from 0.
        index: usize,
        /// Its noise variance.
        value: f64,
    },

    /// A hyperparameter that no covariance can have.
    #[error(
        "{what} {index} is {value}: means and variances must be finite, variances 0 or more, length scales more than 0"
    )]
    BadHyperparameter {
        /// Which one.
        what: &'static str,
        /// Its input column, counted from 0; 0 where there is only one.
        index: usize,
        /// The value given.
        value: f64,
    },

    /// Signal and noise variance are 0, but the observations are not all equal to the mean.
    #[error("signal and noise variance are 0, but y at row {index} is {value}, not the mean")]
    NoVariance {
        /// The row, counted from 0.
        index: usize,
        /// The observation there.
        value: f64,
    },

    /// The covariance matrix has no Cholesky factor.
    #[error(
        "the covariance matrix of the {rows} rows is not positive definite: some inputs are too close together for so little noise"
    )]
    NotPositiveDefinite {
        /// How many rows it has.
        rows: usize,
    },
}

/// Numbers in a row.
fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ")
}
