//! Guaranteed intervals of a walk, beside those that nothing was kept right of and those of the followed law.

use errbar::walk::{Kept, Walked};
use serde_json::{Value, json};

use crate::output::percent;
use crate::text_table::{TextTable, four, wrapped};

/// Those of one level.
pub(super) struct Guaranteed {
    kept: Kept,
    /// Moved as rows were observed, as they were calibrated, and those of the followed law.
    each: [Intervals; 3],
}

/// What the intervals of some rows held.
#[derive(Debug, Clone, Copy, Default)]
struct Intervals {
    rows: usize,
    held: usize,
    /// Those that have both ends, and how wide these are in all.
    bounded: usize,
    width: f64,
}

const NAMES: [&str; 3] = ["kept right", "as calibrated", "followed law"];

impl Intervals {
    fn of(
        rows: &[Walked],
        seen: &dyn Fn(&Walked) -> f64,
        ends: impl Fn(&Walked) -> (f64, f64),
    ) -> Self {
        let mut all = Self::default();
        for walked in rows {
            let (y, (low, high)) = (seen(walked), ends(walked));
            // Of groups that nothing is promised there is no interval.
            if y.is_nan() || low.is_nan() || high.is_nan() {
                continue;
            }
            all.rows += 1;
            all.held += usize::from(low <= y && y <= high);
            if low.is_finite() && high.is_finite() {
                all.bounded += 1;
                all.width += high - low;
            }
        }
        all
    }

    fn share(&self) -> f64 {
        self.held as f64 / self.rows as f64
    }

    fn unbounded(&self) -> f64 {
        1.0 - self.bounded as f64 / self.rows as f64
    }

    fn mean_width(&self) -> f64 {
        self.width / self.bounded as f64
    }

    fn json(&self) -> Value {
        json!({
            "rows": self.rows,
            "held": self.share(),
            "unbounded": self.unbounded(),
            "mean_width": self.mean_width(),
        })
    }
}

impl Guaranteed {
    /// The level at a place; intervals of the followed law come after so many others.
    pub(super) fn of(
        kept: &Kept,
        place: usize,
        others: usize,
        rows: &[Walked],
        seen: &dyn Fn(&Walked) -> f64,
    ) -> Self {
        let each = [
            Intervals::of(rows, seen, |walked| walked.guaranteed[place]),
            Intervals::of(rows, seen, |walked| walked.still_guaranteed[place]),
            Intervals::of(rows, seen, |walked| walked.intervals[others + place]),
        ];
        Self { kept: kept.clone(), each }
    }

    /// In a line.
    pub(super) fn in_words(&self) -> String {
        let [kept, still, _] = &self.each;
        format!(
            "{}% intervals hold {:.1}%, proven at least {:.1}%; {:.1}% of them are unbounded; as calibrated they \
             hold {:.1}%",
            percent(self.kept.level),
            100.0 * kept.share(),
            100.0 * self.kept.proven.0,
            100.0 * kept.unbounded(),
            100.0 * still.share()
        )
    }

    pub(super) fn json(&self) -> Value {
        let [kept, still, followed] = &self.each;
        json!({
            "level": self.kept.level,
            "proven_least": self.kept.proven.0,
            "proven_most": self.kept.proven.1,
            "groups": self.kept.groups,
            "least_held_by_group": self.kept.range.0,
            "most_held_by_group": self.kept.range.1,
            "kept": kept.json(),
            "as_calibrated": still.json(),
            "followed": followed.json(),
        })
    }
}

/// A table of all levels.
pub(super) fn words(all: &[Guaranteed], fits: usize) -> String {
    if all.is_empty() {
        return String::new();
    }
    let heads = ["guarantee", "<", "held", "at least", "unbounded", "mean width"];
    let mut table = TextTable::new(&heads);
    for one in all {
        for (nth, (name, of)) in NAMES.iter().zip(&one.each).enumerate() {
            let percents = |share: f64| format!("{:.1}%", 100.0 * share);
            table.row(vec![
                if nth == 0 { format!("{}%", percent(one.kept.level)) } else { String::new() },
                name.to_string(),
                percents(of.share()),
                if nth == 0 { percents(one.kept.proven.0) } else { String::new() },
                percents(of.unbounded()),
                four(of.mean_width()),
            ]);
        }
    }
    let anew = match fits {
        1 => "",
        _ => " Each fit begins anew, which makes that less.",
    };
    let about = format!(
        "At least: what intervals that are kept right hold of as many rows whatever the errors do.{anew} Mean width: \
         of those that are bounded."
    );
    format!("\n{table}{}", wrapped(&about, 100))
}
