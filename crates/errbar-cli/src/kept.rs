//! What became of guaranteed intervals as rows were observed, in words, as JSON and for Prometheus.

use std::fmt::Write as _;

use errbar::walk::Kept;
use serde_json::{Value, json};

use crate::output::percent;
use crate::text_table::{TextTable, wrapped};

/// What became of them since a fit; nothing where nothing is promised, or nothing was observed.
pub(crate) fn words(kept: &[Kept]) -> String {
    let rows = kept.iter().map(|one| one.rows).max().unwrap_or(0);
    if rows == 0 {
        return String::new();
    }
    let groups = kept.iter().map(|one| one.groups).max().unwrap_or(0);
    let mut heads = vec!["", "held", "at least", "unbounded", "next is read off"];
    if groups > 1 {
        heads.insert(2, "held by group");
    }
    let mut table = TextTable::new(&heads);
    for one in kept.iter().filter(|one| one.rows > 0) {
        let mut cells = vec![
            format!("  {}%", percent(one.level)),
            share(one.share()),
            share(one.proven.0),
            one.unbounded.to_string(),
            next(one),
        ];
        if groups > 1 {
            cells.insert(2, format!("{} to {}", share(one.range.0), share(one.range.1)));
        }
        table.row(cells);
    }
    let of_groups = match groups {
        0 | 1 => String::new(),
        groups => format!(" of {groups} groups"),
    };
    let mut text =
        format!("\nGuaranteed intervals of {rows} rows{of_groups} since the fit:\n{table}");
    text += &wrapped(
        "At least: what they hold of as many rows whatever the errors do; a new fit begins anew.",
        96,
    );
    let now: Vec<String> = (kept.iter().filter(|one| one.unbounded_now > 0))
        .map(|one| format!("{}%", percent(one.level)))
        .collect();
    if !now.is_empty() {
        text += &wrapped(
            &format!(
                "Unbounded now at {}: errors have been larger of late than those it is read off can tell.",
                now.join(", ")
            ),
            96,
        );
    }
    text
}

fn share(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// The level that the next interval is read off.
fn next(one: &Kept) -> String {
    let level = |level: f64| format!("{:.2}%", 100.0 * level.max(0.0));
    let (least, largest) = one.read_off;
    match one.unbounded_now {
        0 if one.groups == 1 => level(least),
        0 => format!("{} to {}", level(least), level(largest)),
        _ if one.groups == 1 => "unbounded".into(),
        now => format!("unbounded in {now} of {} groups", one.groups),
    }
}

/// The same for programs.
pub(crate) fn json(kept: &[Kept]) -> Value {
    let one = |one: &Kept| {
        json!({
            "level": one.level,
            "rows": one.rows,
            "held": one.share(),
            "proven_least": one.proven.0,
            "proven_most": one.proven.1,
            "unbounded_rows": one.unbounded,
            "groups": one.groups,
            "least_held_by_group": one.range.0,
            "most_held_by_group": one.range.1,
            "groups_unbounded_now": one.unbounded_now,
            "least_level_read_off": one.read_off.0,
            "largest_level_read_off": one.read_off.1,
        })
    };
    match kept {
        [] => Value::Null,
        kept => kept.iter().map(one).collect(),
    }
}

/// The same as gauges, one for each level.
pub(crate) fn prometheus(kept: &[Kept]) -> String {
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, value: &dyn Fn(&Kept) -> f64| {
        let seen = || kept.iter().filter(|one| one.rows > 0);
        if seen().next().is_some() {
            let _ = write!(text, "# HELP errbar_{name} {help}\n# TYPE errbar_{name} gauge\n");
        }
        for one in seen() {
            let _ = writeln!(text, "errbar_{name}{{level=\"{}\"}} {}", one.level, value(one));
        }
    };
    gauge("guarantee_rows", "Observed rows with a guaranteed interval.", &|one| one.rows as f64);
    gauge("guarantee_held", "The share of them that it held.", &Kept::share);
    gauge("guarantee_held_at_least", "The share that is proven.", &|one| one.proven.0);
    gauge("guarantee_unbounded", "The share that was unbounded.", &|one| {
        one.unbounded as f64 / one.rows as f64
    });
    gauge("guarantee_unbounded_now", "Groups whose next interval is unbounded.", &|one| {
        one.unbounded_now as f64
    });
    text
}
