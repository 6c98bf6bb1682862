//! Scores by lead time, by hour of the day and by month of the year.

use errbar::calendar::date;
use errbar::means::Mean;
use errbar::words::{numbers, significant};

use super::frame::frame;
use super::{BROAD, CHANCE, FigureData, ReportFigure, Section, Spot, WIDTH, of_all, short};
use crate::axis::Axis;
use crate::color::{FORECAST, GREY, TRUTH};
use crate::figure::Figure;
use crate::layer::{Edge, ErrorBars, Layer, Line, Rule, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::bins::{self, BinSummary};
use crate::report::{CONFIDENCE, Groups, LEVEL, Order};
use crate::scene::Dash;
use crate::table::{Cell, Table};

/// Of fewer rows a mean says nothing.
const FEWEST: usize = 5;
/// More leads share bins.
const MOST: usize = 31;
const BINS: usize = 12;

const DAY: f64 = 86_400.0;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What rows are told apart by.
struct Condition {
    /// A short name for files and links.
    id: &'static str,
    title: String,
    /// On the axis and at the head of the column.
    axis: String,
    /// "hours", of which some leave the range of chance.
    many: &'static str,
    /// What comes before one of them: "at lead".
    at: String,
    /// A sentence about what they are.
    how: &'static str,
    /// Written on the axis instead of numbers.
    names: Option<&'static [&'static str]>,
    parts: Vec<Part>,
}

/// Rows of the same lead, hour or month.
struct Part {
    label: String,
    x: f64,
    rows: Vec<u32>,
}

/// What is said of one of them.
struct Told {
    label: String,
    x: f64,
    part: BinSummary,
    crps: Mean,
    /// With the one constant sigma that is best for all rows.
    constant: f64,
    /// The interval of the root mean squared error.
    error_range: (f64, f64),
}

pub(super) fn figures(seen: &FigureData<'_>) -> Vec<ReportFigure> {
    let mut out = Vec::new();
    out.extend(seen.subject.lead.and_then(|lead| figure(seen, by_lead(lead))));
    if let Order::Time { values, dates: true, .. } = seen.subject.order {
        out.extend(figure(seen, by_hour(values)));
        // Months that do not come back are shown one by one already.
        let years = |of: &f64| date((of / DAY).floor() as i64);
        let ends = values.first().map(years).zip(values.last().map(years));
        if ends.is_some_and(|((y0, m0, _), (y1, m1, _))| 12 * y1 + m1 - 12 * y0 - m0 >= 12) {
            out.extend(figure(seen, by_month(values)));
        }
    }
    out
}

fn by_lead(lead: Groups<'_>) -> Condition {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); lead.labels.len()];
    for (row, &label) in (0u32..).zip(lead.rows) {
        rows[label as usize].push(row);
    }
    let name = names::shown(lead.name, names::ON_FIGURES);
    let known = lead.labels.iter().zip(rows).filter(|(label, rows)| {
        // A row without a lead belongs to none.
        !rows.is_empty() && !label.trim().is_empty()
    });
    let (labels, rows): (Vec<&String>, Vec<Vec<u32>>) = known.unzip();
    let values = numbers(&labels);
    let x = values.unwrap_or_else(|| (0..labels.len()).map(|i| i as f64).collect());
    let mut parts: Vec<Part> = (labels.iter().zip(rows).zip(&x))
        .filter(|(_, x)| x.is_finite())
        .map(|((label, rows), &x)| Part { label: names::shown(label, names::ON_FIGURES), x, rows })
        .collect();
    parts.sort_by(|a, b| a.x.total_cmp(&b.x));
    if parts.len() > MOST {
        parts = binned(parts);
    }
    Condition {
        id: "leads",
        title: format!("By lead ({name})"),
        axis: name,
        many: "leads",
        at: String::from("at lead"),
        how: "Errors usually grow with lead, and sigma should grow with them.",
        names: None,
        parts,
    }
}

/// Neighbours together, with about as many rows in each bin.
fn binned(parts: Vec<Part>) -> Vec<Part> {
    let all: usize = parts.iter().map(|part| part.rows.len()).sum();
    let mut before = 0;
    let numbered: Vec<(usize, Part)> = (parts.into_iter())
        .map(|part| {
            let bin = before * BINS / all.max(1);
            before += part.rows.len();
            (bin, part)
        })
        .collect();
    numbered.chunk_by(|a, b| a.0 == b.0).filter_map(joined).collect()
}

/// "6 to 12", at the mean of its rows.
fn joined(parts: &[(usize, Part)]) -> Option<Part> {
    let (first, last) = (&parts.first()?.1, &parts.last()?.1);
    let label = match parts.len() {
        1 => first.label.clone(),
        _ => format!("{} to {}", first.label, last.label),
    };
    let rows: Vec<u32> = parts.iter().flat_map(|(_, part)| part.rows.iter().copied()).collect();
    let share = |part: &Part| part.rows.len() as f64 / rows.len() as f64;
    let x = parts.iter().map(|(_, part)| share(part) * part.x).sum();
    Some(Part { label, x, rows })
}

/// Rows by a number from 0 on.
fn sorted_into(
    count: usize,
    values: &[f64],
    of: impl Fn(f64) -> usize,
    label: impl Fn(usize) -> String,
) -> Vec<Part> {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (row, &value) in (0u32..).zip(values) {
        rows[of(value).min(count - 1)].push(row);
    }
    let part = |(at, rows): (usize, Vec<u32>)| Part { label: label(at), x: at as f64, rows };
    rows.into_iter().enumerate().map(part).filter(|part| !part.rows.is_empty()).collect()
}

fn by_hour(time: &[f64]) -> Condition {
    let hour = |t: f64| (t.rem_euclid(DAY) / 3_600.0) as usize;
    Condition {
        id: "hours",
        title: String::from("By hour of the day"),
        axis: String::from("hour of the day"),
        many: "hours",
        at: String::from("at"),
        how: "Hours are those of the times in the table (UTC where they have an offset).",
        names: None,
        parts: sorted_into(24, time, hour, |at| format!("{at}:00")),
    }
}

fn by_month(time: &[f64]) -> Condition {
    let month = |t: f64| (date((t / DAY).floor() as i64).1 - 1).max(0) as usize;
    Condition {
        id: "months",
        title: String::from("By month of the year"),
        axis: String::from("month"),
        many: "months",
        at: String::from("in"),
        how: "The same months of all years together.",
        names: Some(&MONTHS),
        parts: sorted_into(12, time, month, |at| MONTHS[at].to_string()),
    }
}

fn figure(seen: &FigureData<'_>, condition: Condition) -> Option<ReportFigure> {
    let told: Vec<Told> = condition.parts.iter().filter_map(|part| tell(seen, part)).collect();
    if told.len() < 2 {
        return None;
    }
    let level = format!("{}%", significant(100.0 * LEVEL, 3));
    let inside = format!("inside {level}");
    let mut table = Table::new(&[
        &condition.axis,
        "rows",
        "CRPS",
        "±",
        "one sigma",
        &inside,
        "by chance from",
        "by chance to",
        "sigma",
        "error",
        "error from",
        "error to",
    ]);
    let (mut spots, mut off) = (Vec::new(), 0);
    for (row, Told { label, x, part, crps, constant, error_range }) in told.iter().enumerate() {
        let number = Cell::Number;
        table.rows.push(vec![
            Cell::Text(label.clone()),
            Cell::Count(part.rows),
            number(crps.value),
            number(crps.reach(CONFIDENCE)),
            number(*constant),
            Cell::Share(part.inside),
            Cell::Share(part.inside_range.0),
            Cell::Share(part.inside_range.1),
            number(part.sigma),
            number(part.error),
            number(error_range.0),
            number(error_range.1),
        ]);
        off += usize::from(part.inside < part.inside_range.0 || part.inside > part.inside_range.1);
        let spot = |panel: usize, y: f64| Spot { row, panel, x: *x, y };
        spots.extend([spot(0, crps.value), spot(1, part.inside), spot(2, part.error)]);
    }
    // Panel by panel, as the arrow keys go.
    spots.sort_by_key(|spot| spot.panel);
    Some(ReportFigure {
        name: condition.id.into(),
        title: condition.title.clone(),
        message: message(&told, &condition, off, &level),
        reading: format!(
            "On the left the mean CRPS with its 95% error, beside that of the one constant sigma that is \
             best for all rows; in the middle the share of observations inside the {level} intervals, \
             with the range of chance; on the right how large errors are, with their 95% error, and how \
             large sigma says they are: both lines belong together. {}",
            condition.how
        ),
        figure: draw(&told, &condition, &inside, true),
        narrow: Some(draw(&told, &condition, &inside, false)),
        table,
        spots,
        section: Section::Groups,
        open: false,
    })
}

fn message(told: &[Told], condition: &Condition, off: usize, level: &str) -> String {
    let by_crps = |a: &&Told, b: &&Told| a.crps.value.total_cmp(&b.crps.value);
    let ends = told.iter().min_by(by_crps).zip(told.iter().max_by(by_crps));
    let Some((best, worst)) = ends else { return String::new() };
    let said = |one: &Told| format!("{}, {} {}", short(one.crps.value), condition.at, one.label);
    // The best and the worst of several always differ: by more than their errors?
    let reach = best.crps.reach(CONFIDENCE).hypot(worst.crps.reach(CONFIDENCE));
    let apart = match worst.crps.value - best.crps.value > reach {
        true => "",
        false => " (no more than their errors apart)",
    };
    format!(
        "CRPS is lowest, {}, and highest, {}{apart}; the share inside the {level} intervals leaves the \
         range of chance in {}.",
        said(best),
        said(worst),
        of_all(off, told.len(), condition.many)
    )
}

fn tell(seen: &FigureData<'_>, Part { label, x, rows }: &Part) -> Option<Told> {
    if rows.len() < FEWEST {
        return None;
    }
    // Intervals are those of the law.
    let BinSummary { inside, inside_range, .. } = bins::part(seen.equal, rows)?;
    let part = BinSummary { inside, inside_range, ..bins::part(seen.sample, rows)? };
    let of_rows = |values: &[f64]| -> Vec<f64> {
        let mut rows = rows.clone();
        rows.sort_unstable();
        rows.iter().map(|&row| values[row as usize]).collect()
    };
    let weight = seen.sample.weight().map(of_rows);
    let crps = Mean::of(&of_rows(&seen.each.crps), weight.as_deref())?;
    // Relative to their mean, so that squares do not overflow.
    let unit = if part.error > 0.0 { part.error } else { 1.0 };
    let squares: Vec<f64> =
        of_rows(seen.sample.error()).iter().map(|e| (e / unit).powi(2)).collect();
    let square = Mean::of(&squares, weight.as_deref())?;
    let reach = square.reach(CONFIDENCE);
    let end = |square: f64| unit * square.max(0.0).sqrt();
    Some(Told {
        label: label.clone(),
        x: *x,
        part,
        crps,
        constant: bins::mean(seen.sample, rows, |row| seen.each.constant[row])?,
        error_range: (end(square.value - reach), end(square.value + reach)),
    })
}

fn draw(told: &[Told], condition: &Condition, inside: &str, broad: bool) -> Figure {
    let column = |of: &dyn Fn(&Told) -> f64| -> Vec<f64> { told.iter().map(of).collect() };
    let x = column(&|one| one.x);
    let (first, last) = (x[0], x[x.len() - 1]);
    let room = (0.04 * (last - first)).max(0.3);
    let across = || {
        let axis = Axis::new(names::label(&condition.axis));
        match condition.names {
            Some(names) if broad => {
                // Twelve names do not fit a third of the page.
                let every = |(i, name): (usize, &&'static str)| if i % 3 == 0 { *name } else { "" };
                axis.names(names.iter().enumerate().map(every))
            }
            Some(names) => axis.names(names.iter().copied()),
            None => axis.range(first - room, last + room),
        }
    };
    let line = |y: &[f64]| Line::new(x.clone(), y.to_vec());
    let dots = |y: &[f64]| Scatter::new(x.clone(), y.to_vec()).filled().radius(3.0);
    let bars = |low: Vec<f64>, high: Vec<f64>| ErrorBars::new(x.clone(), low, high);
    let edge = |y: &[f64]| -> Layer { Edge::new(x.clone(), y.to_vec()).color(TRUTH).into() };
    let top = |values: &[&[f64]]| {
        let all = values.iter().flat_map(|values| values.iter().copied());
        1.08 * frame(all).1.max(f64::MIN_POSITIVE)
    };

    let (crps, constant) = (column(&|one| one.crps.value), column(&|one| one.constant));
    let reach =
        |one: &Told| Some(one.crps.reach(CONFIDENCE)).filter(|r| r.is_finite()).unwrap_or(0.0);
    let (low, high) =
        (column(&|one| one.crps.value - reach(one)), column(&|one| one.crps.value + reach(one)));
    let scores = Panel::new(across(), Axis::new("CRPS").range(0.0, top(&[&high, &constant])))
        .legend(Legend::Above)
        .with(line(&constant).color(GREY).dash(Dash::Dashed).label("one sigma"))
        .with(bars(low, high).color(TRUTH).width(1.6))
        .with(line(&crps).color(TRUTH).width(1.0))
        .with(edge(&crps))
        .with(dots(&crps).color(TRUTH).label("CRPS"));

    let held = column(&|one| one.part.inside);
    let (from, to) =
        (column(&|one| one.part.inside_range.0), column(&|one| one.part.inside_range.1));
    let least = held.iter().chain(&from).copied().fold(LEVEL, f64::min);
    let most = held.iter().chain(&to).copied().fold(LEVEL, f64::max);
    // Not so close that chance looks like drama.
    let room = (0.1 * (most - least)).max(0.01);
    let share = Axis::new(inside).percent().range(least - room, most + room);
    let held = Panel::new(across(), share)
        .legend(Legend::Above)
        .with(bars(from, to).color(CHANCE).width(7.0).label("range of chance (95%)"))
        .with(Rule::horizontal(LEVEL))
        .with(line(&held).color(TRUTH).width(1.0))
        .with(dots(&held).color(TRUTH));

    let (sigma, error) = (column(&|one| one.part.sigma), column(&|one| one.part.error));
    let (low, high) = (column(&|one| one.error_range.0), column(&|one| one.error_range.1));
    let sizes = Axis::new("size").range(0.0, top(&[&high, &sigma]));
    let sizes = Panel::new(across(), sizes)
        .legend(Legend::Above)
        .with(bars(low, high).color(TRUTH).width(1.6))
        .with(line(&error).color(TRUTH).width(1.0))
        .with(edge(&error))
        .with(dots(&error).color(TRUTH).label("error (rms)"))
        .with(line(&sigma).color(FORECAST).width(2.2).label("sigma (rms)"));
    let figure = match broad {
        true => Figure::new(BROAD, 310.0).columns(3),
        false => Figure::new(WIDTH, 700.0).share_x(),
    };
    figure.with(scores).with(held).with(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_come_in_their_order_and_many_share_bins() {
        let labels = ["24h", "6h", "", "102h"].map(String::from);
        let lead = Groups { name: "lead", labels: &labels, rows: &[0, 1, 3, 1, 2, 0] };
        let parts = by_lead(lead).parts;
        let told: Vec<(&str, f64, &[u32])> =
            parts.iter().map(|p| (&p.label[..], p.x, &p.rows[..])).collect();
        assert_eq!(told, [("6h", 6.0, &[1, 3][..]), ("24h", 24.0, &[0, 5]), ("102h", 102.0, &[2])]);
        let labels: Vec<String> = (1..=120).map(|hour| hour.to_string()).collect();
        let rows: Vec<u32> = (0..1200).map(|row| row % 120).collect();
        let parts = by_lead(Groups { name: "lead", labels: &labels, rows: &rows }).parts;
        assert_eq!(parts.len(), BINS);
        assert!(parts.iter().all(|part| part.rows.len() == 100));
        assert!(parts[0].label == "1 to 10" && (parts[0].x - 5.5).abs() < 1e-9);
    }

    /// 1483228800 is 2017-01-01 00:00.
    #[test]
    fn hours_and_months_are_those_of_the_clock() {
        let time: Vec<f64> = (0..4).map(|i| 1_483_228_800.0 + 1_800.0 * f64::from(i)).collect();
        let hours = by_hour(&time).parts;
        assert_eq!((&hours[0].rows[..], &hours[1].rows[..]), (&[0, 1][..], &[2, 3][..]));
        assert_eq!(by_hour(&[-1.0]).parts[0].label, "23:00");
        let months = by_month(&[1_483_228_799.0, 1_483_228_800.0]).parts;
        assert_eq!((&months[0].label[..], &months[1].label[..]), ("Jan", "Dec"));
        assert_eq!(by_month(&[1e300, -1e300]).parts.iter().map(|p| p.rows.len()).sum::<usize>(), 2);
    }
}
