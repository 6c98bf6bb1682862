//! Which columns hold forecasts that are no sigma, as arguments.

use anyhow::bail;
use errbar::score::events::Event;

use crate::arguments::parse_probability;

/// Which columns hold forecasts that are no sigma, and which events are judged.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Forecasts of other forms")]
pub(crate) struct FormArguments {
    /// The columns with quantiles: names or patterns in quotes, with commas between them. Their levels are read off their
    /// names (q05, q0.05, p95, 5%, quantile_0.9; q025 is 2.5%).
    #[arg(long, value_name = "COLUMNS")]
    quantile_columns: Vec<String>,

    /// The levels of the quantiles, in the order of their columns, where names do not tell.
    #[arg(long, value_name = "LEVELS", requires = "quantile_columns")]
    quantile_levels: Vec<String>,

    /// The columns with the members of an ensemble: names or patterns in quotes ('m*'). A member may be missing.
    #[arg(long, value_name = "COLUMNS")]
    members: Vec<String>,

    /// The columns where an interval begins and ends.
    #[arg(long, value_name = "LOW,HIGH")]
    interval_columns: Vec<String>,

    /// The share of observations that the interval is to hold [default: 0.9].
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, value_parser = parse_probability, requires = "interval_columns")]
    interval_level: Vec<f64>,

    /// Judge the probabilities of an event too: '> 50', '>= 50', '< 0' or '<= 0' of the observation. May be given for several
    /// thresholds.
    #[arg(long, value_name = "EVENT", allow_hyphen_values = true, value_parser = parse_event)]
    pub(crate) event: Vec<Event>,
}

fn parse_event(text: &str) -> Result<Event, String> {
    text.parse()
        .map_err(|_| String::from("write >, >=, < or <= and a number, in quotes: --event '> 50'"))
}

/// One forecast that is no sigma.
#[derive(Debug, Clone)]
pub(crate) struct Kind {
    /// As it was named,
    pub(crate) given: String,
    /// and what it is called: that, or the first and the last of many columns.
    pub(crate) name: String,
    pub(crate) patterns: Vec<String>,
    pub(crate) what: What,
}

/// What the columns hold.
#[derive(Debug, Clone)]
pub(crate) enum What {
    Members,
    /// Levels, where they were given.
    Quantiles(Option<Vec<f64>>),
    Interval(f64),
}

impl FormArguments {
    /// Whether there is any forecast that is no sigma.
    pub(crate) fn any(&self) -> bool {
        !(self.quantile_columns.is_empty()
            && self.members.is_empty()
            && self.interval_columns.is_empty())
    }

    /// All of them: members, quantiles, intervals.
    pub(crate) fn kinds(&self) -> anyhow::Result<Vec<Kind>> {
        let mut kinds = Vec::new();
        let mut add = |given: &str, what: What| {
            let (given, patterns) = (given.trim().to_string(), split(given));
            let name = match &patterns[..] {
                [first, _, _, .., last] => format!("{first},...,{last}"),
                _ => given.clone(),
            };
            kinds.push(Kind { given, name, patterns, what });
        };
        for given in &self.members {
            add(given, What::Members);
        }
        let levels: anyhow::Result<Vec<Vec<f64>>> =
            self.quantile_levels.iter().map(|levels| parse_levels(levels)).collect();
        let levels = levels?;
        let (count, columns) = (levels.len(), self.quantile_columns.len());
        if count > 1 && count != columns {
            bail!(
                "--quantile-levels was given {count} times for {columns} --quantile-columns: give it once, or for each"
            );
        }
        for (nth, given) in self.quantile_columns.iter().enumerate() {
            add(given, What::Quantiles(levels.get(nth).or(levels.first()).cloned()));
        }
        let (count, columns) = (self.interval_level.len(), self.interval_columns.len());
        if count > 1 && count != columns {
            bail!(
                "--interval-level was given {count} times for {columns} --interval-columns: give it once, or for each"
            );
        }
        for (nth, given) in self.interval_columns.iter().enumerate() {
            let level = self.interval_level.get(nth).or(self.interval_level.first());
            if split(given).len() != 2 {
                bail!(
                    "--interval-columns {given}: name two columns, where the interval begins and where it ends, as in \
                     --interval-columns low,high"
                );
            }
            add(given, What::Interval(level.copied().unwrap_or(0.9)));
        }
        Ok(kinds)
    }

    /// Refuses to compare intervals of several levels.
    pub(crate) fn check_levels(&self) -> anyhow::Result<()> {
        if self.interval_level.windows(2).any(|pair| pair[0] != pair[1]) {
            bail!("intervals of several levels cannot be compared: give --interval-level once");
        }
        Ok(())
    }

    /// The level at which intervals are compared, where one was given or intervals are.
    pub(crate) fn level(&self) -> Option<f64> {
        let first = self.interval_level.first().copied();
        first.or((!self.interval_columns.is_empty()).then_some(0.9))
    }
}

fn split(given: &str) -> Vec<String> {
    given.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect()
}

fn parse_levels(given: &str) -> anyhow::Result<Vec<f64>> {
    let one = |level: &str| {
        parse_probability(level).map_err(|why| anyhow::anyhow!("--quantile-levels {level}: {why}"))
    };
    split(given).iter().map(|level| one(level)).collect()
}
