//! What guaranteed intervals promise, in words, and whether they kept it.

use errbar::fit::guarantee::{Guarantee, Method, rows_needed};
use errbar::words::significant;

/// The level that is spoken of.
pub(crate) const LEVEL: f64 = 0.9;

/// What guaranteed intervals promise, and what for.
pub(crate) fn promised(guarantee: &Guarantee, in_order: bool) -> String {
    let percent = |p: f64| format!("{}%", significant(100.0 * p, 5));
    let needed = rows_needed(LEVEL);
    let each = match guarantee.grouped_by() {
        Some(name) => format!(" of each \"{name}\""),
        None => String::new(),
    };
    let groups = guarantee.groups();
    let (rows, few): (usize, Vec<String>) = match groups.is_empty() {
        true => (guarantee.rows(None), vec![]),
        false => (
            groups.iter().map(|(_, rows)| *rows).min().unwrap_or(0),
            groups
                .iter()
                .filter(|(_, rows)| *rows < needed)
                .map(|(label, rows)| format!("\"{label}\" ({rows})"))
                .collect(),
        ),
    };
    if rows < needed {
        let who = match few.is_empty() {
            true => format!("{rows} errors are"),
            false => format!("the errors of {} are", few.join(", ")),
        };
        return format!("{who} too few to promise 90%: {needed} are needed, or a lower level.");
    }
    let (low, high) = guarantee.bounds(LEVEL, rows);
    let mut text = match guarantee.method() {
        Method::Split => format!(
            "Intervals of errbar predict --guarantee 0.9 hold a new observation{each} with a \
             probability of at least {} (and at most {}, when no errors tie), whatever the distribution \
             of errors. It is read off {} errors that the model has not seen.",
            percent(low),
            percent(high),
            guarantee.rows(None)
        ),
        Method::Cross => format!(
            "Intervals of errbar predict --guarantee 0.9 hold a new observation with a probability of \
             at least {} (that much is proven; usually it is about 90%), whatever the distribution of \
             errors.",
            percent(low)
        ),
    };
    text += " New rows must be exchangeable with these: drawn from the same source, in no special order.";
    if in_order {
        text += " Rows in time seldom are: take this as what would hold if nothing changed.";
    }
    text
}

/// How often guaranteed intervals that reach so far held the observation: of all rows, then of each
/// group.
pub(crate) fn kept(
    error: &[f64],
    reach: &[f64],
    group: Option<(&str, &[String], &[u32])>,
) -> String {
    let share = |rows: &dyn Fn(usize) -> bool| {
        let of: Vec<usize> = (0..error.len()).filter(|&row| rows(row)).collect();
        let held = of.iter().filter(|&&row| error[row].abs() <= reach[row]).count();
        let percent = 100.0 * held as f64 / of.len().max(1) as f64;
        (format!("{percent:.1}% of {} rows", of.len()), !of.is_empty())
    };
    let mut text = share(&|_| true).0;
    if let Some((name, labels, rows)) = group {
        const SHOWN: usize = 20;
        let each: Vec<String> = (0..labels.len())
            .map(|g| (g, share(&|row| rows[row] as usize == g)))
            .filter(|(_, (_, any))| *any)
            .take(SHOWN)
            .map(|(g, (words, _))| format!("\"{}\" {words}", labels[g]))
            .collect();
        text += &format!("; by {name}: {}", each.join(", "));
        if labels.len() > SHOWN {
            text += ", …";
        }
    }
    text
}
