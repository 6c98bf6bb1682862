//! What became of guaranteed intervals.

use std::collections::BTreeMap;

use super::told::{Laws, as_fitted};
use crate::adapt::promise::{Keeping, Promise};
use crate::fit::Fitted;
use crate::series::{Clock, Followers, Promised, Series, Told};

/// What became of the guaranteed intervals of one level, over the rows of all groups.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// The level.
    pub level: f64,
    /// Rows that were promised something and have been observed.
    pub rows: u64,
    /// How many of them the intervals held, and of how many they were unbounded.
    pub held: u64,
    /// See `held`.
    pub unbounded: u64,
    /// The least and the most share that they can have held, whatever the errors were: see
    /// [`adapt::promise`](crate::adapt::promise).
    pub proven: (f64, f64),
    /// The least and the largest share that was held of the rows of a group.
    pub range: (f64, f64),
    /// How many groups there are with such rows, one where rows have none, and in how many of them the interval of
    /// the next row is unbounded.
    pub groups: usize,
    /// See `groups`.
    pub unbounded_now: usize,
    /// The least and the largest level that the next intervals are read off, of these groups.
    pub read_off: (f64, f64),
}

impl Kept {
    /// At each level that a series is promised.
    #[must_use]
    pub fn of(fitted: &Fitted, series: &Series) -> Vec<Self> {
        let laws = as_fitted(fitted);
        let laws = Laws::of(fitted, &laws, series);
        Self::of_groups(&laws.latest_states(series), &laws, series)
    }

    /// The share of rows that intervals held; NaN of none.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.held as f64 / self.rows as f64
    }

    pub(super) fn of_groups(groups: &[Followers], laws: &Laws, series: &Series) -> Vec<Self> {
        Period::together(Period::after(groups, laws, series).as_slice())
    }
}

/// The rows that one model has said.
pub(super) struct Period {
    promise: Promise,
    /// Of each group, level by level.
    groups: BTreeMap<String, Vec<Part>>,
}

/// Those of one group at one level.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    rows: u64,
    held: u64,
    unbounded: u64,
    /// By how many rows it can hold less than its share, and more.
    short: f64,
    beyond: f64,
    read_off: f64,
    unbounded_now: bool,
}

impl Part {
    /// All that a group remembers; `now` is what the next row will know.
    fn of(at_end: &Keeping, now: &Keeping, promise: &Promise, place: usize, told: &Told) -> Self {
        let read_off = now.reads(promise, place);
        let reach = |told: Promised| (told.reach)(0, place, read_off);
        Self {
            rows: at_end.rows(place),
            held: at_end.held(place),
            unbounded: at_end.unbounded(place),
            short: promise.short(place, at_end.waited()),
            beyond: promise.beyond(place, at_end.waited()),
            read_off,
            unbounded_now: told.promise.map(reach).is_some_and(f64::is_infinite),
        }
    }
}

impl Period {
    /// All rows that groups remember.
    fn after(groups: &[Followers], laws: &Laws, series: &Series) -> Option<Self> {
        let promise = series.promise()?;
        let clock = Clock::new(series.delay, series.moments.iter().copied());
        let next = series.latest().map_or(f64::INFINITY, |latest| clock.known(latest.next_up()));
        let of_group = |(label, states): (&String, &Followers)| {
            let at_end = states.keeping.as_ref()?;
            let mut now = at_end.clone();
            now.know(next);
            let part =
                |place| laws.told(label, |told| Part::of(at_end, &now, promise, place, told));
            Some((label.clone(), (0..promise.levels().len()).map(part).collect()))
        };
        let groups = series.groups.keys().zip(groups).filter_map(of_group).collect();
        Some(Self { promise: promise.clone(), groups })
    }

    /// From what a series remembered to what it remembers now.
    pub(super) fn of(fitted: &Fitted, from: &Series, to: &Series) -> Option<Self> {
        let laws = as_fitted(fitted);
        let laws = Laws::of(fitted, &laws, to);
        let mut all = Self::after(&laws.latest_states(to), &laws, to)?;
        let before = Self::after(&laws.latest_states(from), &laws, from)?;
        for (label, parts) in before.groups {
            let Some(after) = all.groups.get_mut(&label) else { continue };
            for ((part, before), level) in after.iter_mut().zip(parts).zip(all.promise.levels()) {
                part.rows -= before.rows;
                part.held -= before.held;
                part.unbounded -= before.unbounded;
                // Rows before may have taken its level so much nearer to where it must stop.
                part.short += before.rows as f64 * (1.0 - level);
                part.beyond += before.rows as f64 * level;
            }
        }
        Some(all)
    }

    /// The rows of several models, one after the other.
    pub(super) fn together(periods: &[Self]) -> Vec<Kept> {
        let Some(last) = periods.last() else { return Vec::new() };
        let levels = last.promise.levels().iter();
        levels.enumerate().map(|(place, level)| Self::at(place, *level, periods, last)).collect()
    }

    fn at(place: usize, level: f64, periods: &[Self], last: &Self) -> Kept {
        let mut groups: BTreeMap<&str, Part> = BTreeMap::new();
        for (label, parts) in periods.iter().flat_map(|period| &period.groups) {
            let part = parts[place];
            if part.rows > 0 {
                let all = groups.entry(label).or_default();
                all.rows += part.rows;
                all.held += part.held;
                all.unbounded += part.unbounded;
                all.short += part.short;
                all.beyond += part.beyond;
            }
        }
        let sum = |of: fn(&Part) -> u64| groups.values().map(of).sum::<u64>();
        let off = |of: fn(&Part) -> f64| groups.values().map(of).sum::<f64>();
        let rows = sum(|part| part.rows);
        let least = level - off(|part| part.short) / rows.max(1) as f64;
        let most = level + off(|part| part.beyond) / rows.max(1) as f64;
        let share = |part: &Part| part.held as f64 / part.rows as f64;
        let now = || last.groups.values().map(|parts| &parts[place]).filter(|part| part.rows > 0);
        Kept {
            level,
            rows,
            held: sum(|part| part.held),
            unbounded: sum(|part| part.unbounded),
            proven: if rows > 0 { (least.max(0.0), most.min(1.0)) } else { (0.0, 1.0) },
            range: range(groups.values().map(share)),
            groups: groups.len(),
            unbounded_now: now().filter(|part| part.unbounded_now).count(),
            read_off: range(now().map(|part| part.read_off)),
        }
    }
}

/// The least and the largest of some numbers; NaN of none.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::NAN, f64::NAN), |(low, high), x| (x.min(low), x.max(high)))
}
