//! What came of a walk, in plain words or as JSON.

mod guaranteed;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use errbar::Silent;
use errbar::cycles::Cycle;
use errbar::law::{self, ErrorLaw};
use errbar::score::{Judgement, Judging, Options, Sample};
use errbar::walk::{Walk, Walked};
use errbar::words::{and, significant};
use serde_json::{Value, json};

use self::guaranteed::Guaranteed;
use super::Arguments;
use crate::console::Console;
use crate::score::with_remedy;
use crate::text_table::{TextTable, four, wrapped};
use crate::training::Training;

/// Everything there is to say about a walk.
pub(super) struct Summary {
    file: String,
    from: String,
    fits: Vec<(String, usize)>,
    /// What of the calendar the last fit takes.
    calendar: Vec<Cycle>,
    lags: Option<String>,
    levels: Vec<f64>,
    rows: usize,
    observed: usize,
    lagged: Option<usize>,
    /// Followed, as fitted, one constant sigma.
    all: [Row; 3],
    months: Vec<(String, [Row; 2])>,
    groups: Vec<(String, [Row; 2])>,
    guaranteed: Vec<Guaranteed>,
    verdict: Option<(Judgement, bool)>,
}

/// The CRPS of a row, and the probability that its law gave to less than was observed.
type ScoreAndPit<'a> = &'a dyn Fn(&Walked) -> (f64, f64);

/// What is compared.
const NAMES: [&str; 3] = ["followed", "as fitted", "one constant sigma"];

/// Scores of some rows.
#[derive(Debug, Clone, Default)]
struct Row {
    rows: usize,
    crps: f64,
    bias: f64,
    /// The share of rows that each interval held.
    held: Vec<f64>,
}

impl Row {
    fn of<'a>(
        rows: impl Iterator<Item = (&'a Walked, f64)>,
        levels: &[f64],
        by: impl Fn(&Walked) -> (f64, f64),
    ) -> Self {
        let mut row = Self { held: vec![0.0; levels.len()], ..Self::default() };
        for (walked, error) in rows {
            let (crps, pit) = by(walked);
            row.rows += 1;
            row.crps += crps;
            row.bias += error;
            for (held, level) in row.held.iter_mut().zip(levels) {
                *held += f64::from((pit - 0.5).abs() <= 0.5 * level);
            }
        }
        let count = row.rows.max(1) as f64;
        row.crps /= count;
        row.bias /= count;
        row.held.iter_mut().for_each(|held| *held /= count);
        row
    }

    fn json(&self, levels: &[f64]) -> Value {
        let held = levels
            .iter()
            .zip(&self.held)
            .map(|(level, held)| json!({"level": level, "observed": held}));
        json!({"rows": self.rows, "crps": self.crps, "bias": self.bias, "coverage": held.collect::<Vec<_>>()})
    }
}

impl Summary {
    pub(super) fn of(
        arguments: &Arguments,
        training: &Training,
        walk: &Walk,
    ) -> anyhow::Result<Self> {
        let levels = arguments.interval.clone();
        let time = training.kept.time().unwrap_or(&[]);
        let when = |time: f64| match training.kept.time_is_dates() {
            true => date(time),
            false => significant(time, 6),
        };
        let error = |walked: &Walked| {
            let observation =
                training.raw.as_ref().map_or(f64::NAN, |raw| raw.observation[walked.row]);
            let transform = arguments.learning.transform;
            transform.forward(observation) - transform.forward(walked.forecast)
        };
        let seen: Vec<(&Walked, f64)> = walk
            .rows
            .iter()
            .map(|walked| (walked, error(walked)))
            .filter(|(walked, error)| error.is_finite() && walked.crps[0].is_finite())
            .collect();
        let gaussian = ErrorLaw::default();
        let by: [ScoreAndPit; 3] = [
            &|walked| (walked.crps[0], walked.pit[0]),
            &|walked| (walked.crps[1], walked.pit[1]),
            &|walked| {
                let transform = arguments.learning.transform;
                let raw = training.raw.as_ref();
                let y = raw.map_or(f64::NAN, |raw| raw.observation[walked.row]);
                let at = raw.and_then(|raw| raw.forecast.as_ref()).map_or(0.0, |at| at[walked.row]);
                let error = transform.forward(y) - transform.forward(at);
                (walked.crps[2], gaussian.cdf(error / walked.constant_sigma))
            },
        ];
        let rows_of = |chosen: &[usize], which: usize| {
            Row::of(chosen.iter().map(|&k| seen[k]), &levels, by[which])
        };
        let every: Vec<usize> = (0..seen.len()).collect();
        let mut months: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        if training.kept.time_is_dates() {
            for (k, (walked, _)) in seen.iter().enumerate() {
                let day = date(time[walked.row]);
                months.entry(day[..day.len().min(7)].to_string()).or_default().push(k);
            }
        }
        // Many months are told by years.
        if months.len() > 36 {
            let mut years: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (month, rows) in months {
                years.entry(month[..month.len().min(4)].to_string()).or_default().extend(rows);
            }
            months = years;
        }
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        if let Some(group) = &training.group {
            for (k, (walked, _)) in seen.iter().enumerate() {
                let label = &group.labels[group.rows[walked.row] as usize];
                groups.entry(label).or_default().push(k);
            }
        }
        let both = |rows: &[usize]| [rows_of(rows, 0), rows_of(rows, 1)];
        let verdict = match seen.len() {
            0 | 1 => None,
            _ => {
                let errors: Vec<f64> = seen.iter().map(|(_, error)| *error).collect();
                let sigma: Vec<f64> = seen.iter().map(|(walked, _)| walked.sigma).collect();
                let laws: Vec<ErrorLaw> =
                    seen.iter().map(|(walked, _)| walked.law.clone()).collect();
                let sample = Sample::new(&errors, &sigma)?;
                let own = Options::default().coverage_levels(levels.clone());
                let judging = Judging::default().scores(own);
                let judged = law::judge::judge(&sample, &laws, &judging, &Silent)?;
                Some((judged, walk.fitted.bias().is_some()))
            }
        };
        let observed = |walked: &Walked| {
            training.raw.as_ref().map_or(f64::NAN, |raw| raw.observation[walked.row])
        };
        let guaranteed = (walk.kept.iter().enumerate())
            .map(|(nth, kept)| Guaranteed::of(kept, nth, levels.len(), &walk.rows, &observed));
        let guaranteed = guaranteed.collect();
        let lags = walk.fits.iter().filter(|(_, _, lags)| lags.is_some()).count();
        let helped = walk.fits.iter().filter(|(.., lags)| *lags == Some(true)).count();
        Ok(Self {
            file: training.kept.file().to_string(),
            from: walk.rows.first().map_or(String::new(), |first| when(time[first.row])),
            fits: walk.fits.iter().map(|(time, rows, _)| (when(*time), *rows)).collect(),
            lags: (lags > 0).then(|| match helped {
                0 => "errors of earlier rows do not help here: no fit uses them".to_string(),
                n if n == lags => "errors of earlier rows help: every fit uses them".to_string(),
                n => format!(
                    "errors of earlier rows are used by {n} of {lags} fits, where they help"
                ),
            }),
            rows: walk.rows.len(),
            observed: seen.len(),
            calendar: walk.fitted.calendar().to_vec(),
            lagged: (helped > 0).then(|| walk.rows.iter().filter(|row| !row.lagged).count()),
            all: [0, 1, 2].map(|which| rows_of(&every, which)),
            months: months.into_iter().map(|(name, rows)| (name, both(&rows))).collect(),
            groups: groups
                .into_iter()
                .map(|(name, rows)| (name.to_string(), both(&rows)))
                .collect(),
            guaranteed,
            verdict,
            levels,
        })
    }

    pub(super) fn say(&self, console: Console, json: bool) -> anyhow::Result<()> {
        if json {
            return console.result(&format!("{}\n", serde_json::to_string_pretty(&self.json())?));
        }
        if console.quiet {
            return Ok(());
        }
        console.result(&self.words())
    }

    /// How the walk went, for the page.
    pub(super) fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![
            (
                "walk".to_string(),
                format!("{} rows of {}, from {} on", self.rows, self.file, self.from),
            ),
            ("fits".to_string(), self.fits_in_words()),
        ];
        facts.extend(self.calendar_in_words().map(|words| ("calendar".to_string(), words)));
        facts.extend(self.lags.clone().map(|lags| ("lags".to_string(), lags)));
        for (name, row) in NAMES.iter().zip(&self.all) {
            let held = self.levels.iter().zip(&row.held);
            let held = held.map(|(level, held)| {
                format!("{}% intervals hold {:.1}%", crate::output::percent(*level), 100.0 * held)
            });
            let held: Vec<String> = held.collect();
            facts.push((name.to_string(), format!("CRPS {}; {}", four(row.crps), held.join(", "))));
        }
        facts.extend(self.guaranteed.iter().map(|one| ("guarantee".to_string(), one.in_words())));
        facts
    }

    fn fits_in_words(&self) -> String {
        match (self.fits.len(), self.fits.first(), self.fits.last()) {
            (1, Some((_, rows)), _) => format!("one fit, to {rows} rows"),
            (n, Some((_, from)), Some((_, to))) => format!("{n} fits, to {from} up to {to} rows"),
            _ => String::new(),
        }
    }

    /// What of the calendar the last fit takes.
    fn calendar_in_words(&self) -> Option<String> {
        let names: Vec<&str> = self.calendar.iter().map(|cycle| cycle.name()).collect();
        let fit = if self.fits.len() > 1 { "the last fit" } else { "the fit" };
        (!names.is_empty())
            .then(|| format!("{fit} takes {} from the times (--calendar no: none)", and(&names)))
    }

    fn words(&self) -> String {
        let fits = self.fits_in_words();
        let mut text = format!(
            "Walked through {} rows of {} from {} on ({fits}).\n",
            self.rows, self.file, self.from
        );
        for words in self.calendar_in_words().iter().chain(&self.lags) {
            let _ = writeln!(text, "  {words}");
        }
        if let Some(unknown) = self.lagged.filter(|unknown| *unknown > 0) {
            let _ = writeln!(
                text,
                "  of {unknown} rows they were not known: a model without them was asked"
            );
        }
        if self.observed < self.rows {
            let _ = writeln!(text, "  {} of the rows were observed", self.observed);
        }
        if let Some((judged, moved)) = &self.verdict {
            let _ = write!(text, "\n{}", wrapped(&with_remedy(&judged.verdict, *moved), 100));
        }
        let heads = |first: &'static str| {
            let mut heads = vec![first.to_string(), "rows".into(), "CRPS".into(), "bias".into()];
            heads.extend(
                self.levels.iter().map(|level| format!("{}%", crate::output::percent(*level))),
            );
            heads
        };
        let cells = |name: &str, row: &Row| {
            let mut cells =
                vec![name.to_string(), row.rows.to_string(), four(row.crps), four(row.bias)];
            cells.extend(row.held.iter().map(|held| format!("{:.1}%", 100.0 * held)));
            cells
        };
        let head = heads("");
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut table = TextTable::new(&head);
        for (name, row) in NAMES.iter().zip(&self.all) {
            table.row(cells(name, row));
        }
        let _ = write!(text, "\n{table}");
        text += &guaranteed::words(&self.guaranteed, self.fits.len());
        for (what, parts) in [("month", &self.months), ("group", &self.groups)] {
            if parts.len() < 2 {
                continue;
            }
            let first = if what == "month" && parts[0].0.len() == 4 { "year" } else { what };
            let mut head = heads(first);
            head.push("CRPS as fitted".into());
            let head: Vec<&str> = head.iter().map(String::as_str).collect();
            let mut table = TextTable::new(&head);
            const SHOWN: usize = 40;
            for (name, [followed, still]) in parts.iter().take(SHOWN) {
                let mut cells = cells(name, followed);
                cells.push(four(still.crps));
                table.row(cells);
            }
            let _ = write!(text, "\n{table}");
            if parts.len() > SHOWN {
                let _ = writeln!(text, "and {} more (--json has them)", parts.len() - SHOWN);
            }
        }
        text
    }

    fn json(&self) -> Value {
        let part = |(name, [followed, still]): &(String, [Row; 2])| json!({"name": name, "followed": followed.json(&self.levels), "as_fitted": still.json(&self.levels)});
        let [followed, still, constant] = &self.all;
        json!({
            "file": self.file,
            "from": self.from,
            "rows": self.rows,
            "observed": self.observed,
            "fits": self.fits.iter().map(|(from, rows)| json!({"from": from, "rows": rows})).collect::<Vec<_>>(),
            "calendar": self.calendar,
            "lags": self.lags,
            "verdict": self.verdict.as_ref().map(|(judged, moved)| with_remedy(&judged.verdict, *moved)),
            "scores": self.verdict.as_ref().map(|(judged, _)| &judged.scores),
            "followed": followed.json(&self.levels),
            "as_fitted": still.json(&self.levels),
            "constant": constant.json(&self.levels),
            "guarantee": self.guaranteed.iter().map(Guaranteed::json).collect::<Vec<_>>(),
            "months": self.months.iter().map(part).collect::<Vec<_>>(),
            "groups": self.groups.iter().map(part).collect::<Vec<_>>(),
        })
    }
}

/// The day of a time, in seconds since 1970.
fn date(seconds: f64) -> String {
    let (year, month, day) = errbar::calendar::date((seconds / 86_400.0).floor() as i64);
    format!("{year:04}-{month:02}-{day:02}")
}
