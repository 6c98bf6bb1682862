//! What is learned, from which columns, and how: arguments of the commands that fit models.

use clap::ValueEnum;
use errbar::ensemble::Center;
use errbar::fit::{self, Kind, LawKind};
use errbar::law::Transform;
use errbar::score::Beta;
use errbar::series::Span;

use crate::arguments::{
    DateArguments, LossName, bounds, parse_beta, parse_column, parse_finite, parse_seed,
};

/// The columns of the table.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ColumnArguments {
    /// The columns that sigma may depend on, the forecast itself among them if you like: numbers, and texts as
    /// categories (a station, a carrier, true and false) [default: every other column of numbers or categories].
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column)]
    pub(crate) inputs: Vec<String>,

    /// Inputs of numbers that only name something (the number of a station, a code): each value is a category, and
    /// neighbouring ones have nothing in common.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column)]
    pub(crate) categories: Vec<String>,

    /// The column with the forecast.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    pub(crate) forecast: Option<String>,

    /// The columns with the members of an ensemble, names or patterns as in 'm*': their mean (--center) is the
    /// forecast, and it, their standard deviation and the share of them that are zero are inputs, beside those of
    /// --inputs (members_mean, members_spread, members_zeros). Members may be missing.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column, conflicts_with_all = ["forecast", "error"])]
    pub(crate) members: Vec<String>,

    /// What the forecast is of the members.
    #[arg(long, value_enum, value_name = "CENTER", default_value_t, requires = "members", conflicts_with_all = ["forecast", "error"])]
    pub(crate) center: CenterName,

    /// The column with what was then observed.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    pub(crate) observation: Option<String>,

    /// The column with the error, observation minus forecast, instead of both.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column, conflicts_with_all = ["forecast", "observation"])]
    pub(crate) error: Option<String>,

    /// The column with a sigma that is there already (the spread of an ensemble, of a Gaussian process, of another library): it
    /// is corrected, sigma = that times a function of the inputs, which are every other column of numbers and it itself, where
    /// none are named. Rows in which it is 0 or missing are left out. (One that tells little is better as an input.)
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    pub(crate) prior_sigma: Option<String>,

    /// The column with the weight of each row; only ratios of weights matter.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    pub(crate) weight: Option<String>,

    /// The column with the time of each row, numbers or dates as people write them: models are judged by rows later than those they learn
    /// from, since rows held out at random would be known from their neighbours.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    pub(crate) time: Option<String>,

    #[command(flatten)]
    pub(crate) dates: DateArguments,

    /// The column with the group of each row (a station, a patient, a storm): with ten groups or more,
    /// whole groups are held out to judge models by (with --time rows are held out in time instead).
    /// The promise of --guarantee holds in each group, for those with too few rows over all of them
    /// together.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    pub(crate) group: Option<String>,

    /// When an observation becomes known: after so many distinct moments of --time, or after a time, as in
    /// 48h (units: s, min, h, d, w).
    #[arg(long, value_name = "SPAN", default_value = "1", requires = "time", value_parser = parse_span)]
    pub(crate) delay: Span,

    /// Errors of earlier rows as inputs, of the bias and of sigma: so many moments of --time (of the row's
    /// own --group) before, or a time before, as in --lag 1,24 or --lag 48h. They are used where rows held out
    /// gain by them; rows of which they are not known get the error bars of a model without them.
    #[arg(long, value_name = "SPANS", value_delimiter = ',', requires = "time", value_parser = parse_span)]
    pub(crate) lag: Vec<Span>,
}

/// How models are learned.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LearningArguments {
    /// The model of sigma.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) model: ModelName,

    /// What the model is trained by.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) loss: LossName,

    /// How much accuracy counts beside reliability: heuristic, printed (as in the paper) or a number
    /// from 0 to 1.
    #[arg(long, value_name = "BETA", default_value = "heuristic", allow_negative_numbers = true, value_parser = parse_beta)]
    pub(crate) beta: Beta,

    /// Whether each row counts in the units of its own sigma (after a first fit); otherwise rows
    /// with small errors hardly count.
    #[arg(long, value_name = "true|false", default_value_t = true, num_args = 0..=1, default_missing_value = "true", action = clap::ArgAction::Set, hide_possible_values = true)]
    pub(crate) local_units: bool,

    /// The share of rows that is held out at a time to judge models by: in small tables in turn,
    /// until each row has been held out once.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, allow_negative_numbers = true, value_parser = parse_share)]
    pub(crate) validation: f64,

    /// The most rows a model is trained on: of more, this many are chosen. All are used to judge.
    /// [default: all; a smooth function and a network learn from 10,000 at most]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, value_parser = parse_rows)]
    pub(crate) most_rows: Option<usize>,

    /// How much work may be done, in evaluations of the cost of one row: the same on every machine.
    /// It decides how often rows are held out, then which models are tried; more rows never mean that
    /// fewer are trained on. [default: as much as it takes]
    #[arg(long, value_name = "EVALUATIONS", allow_negative_numbers = true, value_parser = parse_budget)]
    pub(crate) budget: Option<f64>,

    /// Use every input, even where rows held out in time say that what it tells about sigma does not
    /// carry over to later rows.
    #[arg(long)]
    pub(crate) keep_inputs: bool,

    /// Whether hour of day, day of week and season of --time are inputs, too, where the times are dates: auto, where later
    /// rows gain by them: at least 1% of CRPS, and two standard errors; or no.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) calendar: Calendar,

    /// Learn the bias of the forecaster as a function of the inputs too, and move forecasts by it (the
    /// column "debiased" of errbar predict): yes, no, or auto, where rows held out gain by it: at least
    /// 1% of CRPS, and two standard errors.
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_value = "auto", default_missing_value = "yes")]
    pub(crate) debias: Debias,

    /// The law of the errors: auto chooses by rows held out, and may bend it to a shape of their own; normal is
    /// the Gaussian. Two-piece laws have a scale for each side, whose ratio may vary with the inputs, by auto too.
    #[arg(long, value_name = "LAW", default_value = "auto", value_parser = parse_law)]
    pub(crate) law: LawKind,

    /// The least that an observation can be (rain: 0): the law of the errors ends there, and what it would
    /// have below counts as this value.
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = parse_finite, conflicts_with = "error")]
    pub(crate) lower: Option<f64>,

    /// The most that an observation can be, likewise.
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = parse_finite, conflicts_with = "error")]
    pub(crate) upper: Option<f64>,

    /// Learn on the scale of square roots (sqrt: counts, amounts) or logarithms (log: what is positive and
    /// off by factors); intervals, quantiles and exceedances are on yours, sigma on that scale.
    #[arg(long, value_name = "SCALE", default_value = "none", value_parser = parse_transform, conflicts_with = "error")]
    pub(crate) transform: Transform,

    /// Let size and location of the error bars follow the errors of rows held out: yes or no. With
    /// --law normal --recalibrate no they are the paper's.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "yes")]
    pub(crate) recalibrate: YesNo,

    /// The seed of everything random.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = parse_seed)]
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Calendar {
    Auto,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Debias {
    Auto,
    Yes,
    No,
}

/// What the forecast is of the members of an ensemble.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CenterName {
    /// Their mean.
    #[default]
    Mean,
    /// Their median, which a member far out does not move.
    Median,
}

impl CenterName {
    pub(crate) fn center(self) -> Center {
        match self {
            Self::Mean => Center::Mean,
            Self::Median => Center::Median,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelName {
    /// A mean of all that do well on held-out rows, or one sigma where none does; with --fit-mean,
    /// smooth.
    #[default]
    Auto,
    /// One sigma for all rows.
    Constant,
    /// The exponential of a polynomial of the inputs.
    Polynomial,
    /// A smooth function of any shape, with a band on sigma itself.
    Smooth,
    /// An average of small neural networks.
    Network,
    /// An average of more neural networks, of a size chosen on held-out rows: slower.
    Ensemble,
    /// A sum of small trees, for jumps and for many inputs.
    Trees,
    /// As auto, whether or not it does better than one sigma.
    Stack,
}

impl LearningArguments {
    /// How models are fitted.
    pub(crate) fn options(&self) -> anyhow::Result<fit::Options> {
        Ok(fit::Options::default()
            .kind(match self.model {
                ModelName::Auto => Kind::Auto,
                ModelName::Constant => Kind::Constant,
                ModelName::Polynomial => Kind::Polynomial,
                ModelName::Smooth => Kind::Smooth,
                ModelName::Network => Kind::Network,
                ModelName::Ensemble => Kind::Ensemble,
                ModelName::Trees => Kind::Trees,
                ModelName::Stack => Kind::Stack,
            })
            .loss(self.loss.with(self.beta))
            .by_law(self.loss == LossName::Law)
            .validation(self.validation)
            .seed(self.seed)
            .local_units(self.local_units)
            .most_rows(self.most_rows.unwrap_or(usize::MAX))
            .budget(self.budget.unwrap_or(f64::MAX))
            .keep_inputs(self.keep_inputs)
            .debias(self.debias == Debias::Yes)
            .law(self.law)
            .recalibrate(self.recalibrate == YesNo::Yes)
            .bounds(bounds(self.lower, self.upper)?)
            .transform(self.transform)
            .calendar(self.calendar == Calendar::Auto))
    }
}

fn parse_span(text: &str) -> Result<Span, String> {
    text.parse().map_err(|error: errbar::Error| error.to_string())
}

fn parse_law(text: &str) -> Result<LawKind, String> {
    text.parse().map_err(|error: errbar::Error| error.to_string())
}

fn parse_transform(text: &str) -> Result<Transform, String> {
    text.parse().map_err(|error: errbar::Error| error.to_string())
}

fn parse_rows(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(rows) if rows >= fit::LEAST_ROWS => Ok(rows),
        _ => Err(format!("give a number of rows, at least {}", fit::LEAST_ROWS)),
    }
}

fn parse_budget(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(budget) if budget > 0.0 => Ok(budget),
        _ => Err(String::from("give a number of evaluations, such as 1e8")),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=0.9).contains(&share) => Ok(share),
        _ => Err(String::from("give a share from 0 (hold out nothing) to 0.9")),
    }
}
