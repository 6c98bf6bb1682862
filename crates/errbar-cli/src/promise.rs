//! What guaranteed intervals promise, in words, and whether they kept it.

use errbar::adapt::promise::Promise;
use errbar::fit::guarantee::{Category, Guarantee, Method};
use errbar::words::significant;

/// The level that is spoken of.
pub(crate) const LEVEL: f64 = 0.9;

/// What groups are called that are too small to be promised something on their own.
pub(crate) const TOGETHER: &str = "small groups together";

/// What guaranteed intervals promise, and what for.
pub(crate) fn promised(guarantee: &Guarantee, in_order: bool, promise: Option<&Promise>) -> String {
    let percent = |p: f64| format!("{}%", significant(100.0 * p, 5));
    if let Err(errbar::Error::TooFewForLevel { rows, needed, .. }) = guarantee.check_level(LEVEL) {
        return format!(
            "{rows} errors are too few to promise 90%: {needed} are needed, or a lower level."
        );
    }
    let rows = guarantee.rows(None);
    let mut text = match (guarantee.grouped_by(), guarantee.method()) {
        (Some(name), _) => promised_to_groups(guarantee, name),
        (None, Method::Split) => {
            let (low, high) = guarantee.bounds(LEVEL, rows);
            format!(
                "Intervals of errbar predict --guarantee 0.9 hold a new observation with a \
                 probability of at least {} (and at most {}, when no errors tie), whatever the \
                 distribution of errors. It is read off {rows} errors that the model has not seen{}.",
                percent(low),
                percent(high),
                if in_order { ", the latest" } else { "" },
            )
        }
        (None, Method::Cross) => format!(
            "Intervals of errbar predict --guarantee 0.9 hold a new observation with a probability of \
             at least {} (that much is proven; usually it is about 90%), whatever the distribution of \
             errors.",
            percent(guarantee.bounds(LEVEL, rows).0)
        ),
    };
    text += " New rows must be exchangeable with these: drawn from the same source, in no special order.";
    if in_order {
        text += " Rows in time seldom are: take this as what would hold if nothing changed.";
    }
    if let Some(promise) = promise {
        let place = promise.place(LEVEL).unwrap_or(promise.levels().len() - 1);
        let levels: Vec<String> = promise.levels().iter().copied().map(percent).collect();
        let waiting = promise.usual_wait();
        text += &format!(
            " As rows are observed errbar update moves these intervals, so that in the long run they hold their share \
             whatever the errors do (kept at {}): of 1000 rows{} at least {} at {}{}.",
            levels.join(", "),
            if guarantee.grouped_by().is_some() { " of a group" } else { "" },
            percent(promise.at_least(place, 1000, waiting)),
            percent(promise.levels()[place]),
            match waiting {
                0 => String::new(),
                waiting => format!(", when {waiting} wait to be known"),
            }
        );
    }
    text
}

/// The same for groups: how many of them, however many there are, not which.
fn promised_to_groups(guarantee: &Guarantee, name: &str) -> String {
    let (groups, categories) = (guarantee.groups(), guarantee.categories(LEVEL));
    let of = |category: Category| -> Vec<usize> {
        let like = groups.iter().zip(&categories).filter(|(_, own)| **own == category);
        like.map(|((_, rows), _)| *rows).collect()
    };
    let (own, together, nothing) =
        (of(Category::Own), of(Category::Together), of(Category::Nothing));
    let mut text = String::from(
        "Intervals of errbar predict --guarantee 0.9 hold a new observation with a probability of at \
         least 90%, whatever the distribution of errors.",
    );
    if let (Some(least), Some(most)) = (own.iter().min(), own.iter().max()) {
        let errors = match least == most {
            true => format!("{least}"),
            false => format!("{least} to {most}"),
        };
        let each = match own.len() {
            1 => String::from("in one group"),
            many => format!("in each of {many} groups"),
        };
        text += &format!(
            " It does {each} of \"{name}\" (read off {errors} errors of its own that the model has not \
             seen)."
        );
    }
    if !together.is_empty() {
        text += &format!(
            " It does over the rows of {} groups with fewer errors together, not in one of them alone \
             (read off {} errors).",
            together.len(),
            together.iter().sum::<usize>()
        );
    }
    if !nothing.is_empty() {
        text += &format!(
            " Nothing is promised to {} with {} errors in all, too few even together.",
            match nothing.len() {
                1 => String::from("one group"),
                many => format!("{many} groups"),
            },
            nothing.iter().sum::<usize>(),
        );
    }
    text + " Rows of other groups get no such interval."
}

/// Rows of a table by their groups.
pub(crate) struct Grouped<'a> {
    /// The groups of the table.
    pub(crate) labels: &'a [String],
    /// For each row its place among them.
    pub(crate) rows: &'a [u32],
}

/// How often guaranteed intervals of these errors (NaN where nothing is promised) held the
/// observation: of all rows, then of each group that was promised it, or of how many of them it holds
/// where there are many.
pub(crate) fn kept(
    guarantee: &Guarantee,
    error: &[f64],
    (low, high): (&[f64], &[f64]),
    group: Option<Grouped<'_>>,
) -> String {
    // For each group, and for those together, the rows inside and all.
    let groups = group.as_ref().map_or(0, |group| group.labels.len());
    let mut counts = vec![(0, 0); groups + 1];
    let (mut all, mut without) = ((0, 0), 0);
    let categories = guarantee.categories(LEVEL);
    let is_own: Vec<bool> = group
        .iter()
        .flat_map(|group| group.labels)
        .map(|label| {
            let own = guarantee.group(label).and_then(|own| categories.get(own as usize));
            own == Some(&Category::Own)
        })
        .collect();
    for (row, (error, (low, high))) in error.iter().zip(low.iter().zip(high)).enumerate() {
        if low.is_nan() {
            without += 1;
            continue;
        }
        let own = group.as_ref().map_or(groups, |group| group.rows[row] as usize);
        let place = if own < groups && is_own[own] { own } else { groups };
        for count in [&mut all, &mut counts[place]] {
            count.0 += usize::from(low <= error && error <= high);
            count.1 += 1;
        }
    }
    let share = |count: &(usize, usize)| 100.0 * count.0 as f64 / count.1.max(1) as f64;
    let words = |count: &(usize, usize)| format!("{:.1}% of {} rows", share(count), count.1);
    let mut text = words(&all);
    if let (Some(name), Some(group)) = (guarantee.grouped_by(), &group) {
        const SHOWN: usize = 12;
        let there: Vec<usize> = (0..groups).filter(|&g| counts[g].1 > 0).collect();
        let mut each: Vec<String> = Vec::new();
        if there.len() <= SHOWN {
            each.extend(
                there.iter().map(|&g| format!("\"{}\" {}", group.labels[g], words(&counts[g]))),
            );
        } else {
            let mut shares: Vec<f64> = there.iter().map(|&g| share(&counts[g])).collect();
            shares.sort_by(f64::total_cmp);
            let at = |part: f64| shares[((shares.len() - 1) as f64 * part).round() as usize];
            each.push(format!(
                "{} groups, {:.1}% in the middle one, {:.1}% to {:.1}% in nine of ten, {:.1}% in the lowest",
                shares.len(),
                at(0.5),
                at(0.05),
                at(0.95),
                shares[0]
            ));
        }
        if counts[groups].1 > 0 {
            each.push(format!("{TOGETHER} {}", words(&counts[groups])));
        }
        if !each.is_empty() {
            text += &format!("; by {name}: {}", each.join(", "));
        }
    }
    if without > 0 {
        text += &format!("; {without} rows of groups that are promised nothing are left out");
    }
    text
}
