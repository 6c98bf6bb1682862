//! Skill and reliability group by group.

use errbar::words::{numbers, significant};

use super::{BROAD, CHANCE, FigureData, ReportFigure, Section, Spot, WIDTH};
use crate::axis::Axis;
use crate::color::TRUTH;
use crate::figure::Figure;
use crate::layer::{ErrorBars, Rule, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::bins::{self, BinSummary, normal_reach};
use crate::report::headline::grouped;
use crate::report::{CONFIDENCE, LEVEL};
use crate::table::{Cell, Table, percent};

/// The largest groups are drawn.
const DRAWN: usize = 20;
/// The largest groups are in the table.
const LISTED: usize = 200;

/// One group.
struct Group<'a> {
    name: &'a str,
    part: BinSummary,
    crps: f64,
    skill: f64,
    /// The reach of the interval of the skill; NaN for one row.
    reach: f64,
}

pub(super) fn figure(seen: &FigureData<'_>) -> Option<ReportFigure> {
    let groups = seen.subject.groups?;
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); groups.labels.len()];
    for (row, &group) in (0u32..).zip(groups.rows) {
        rows[group as usize].push(row);
    }
    let mut order: Vec<usize> = (0..rows.len()).filter(|&g| !rows[g].is_empty()).collect();
    let all = order.len();
    order.sort_by_key(|&group| std::cmp::Reverse(rows[group].len()));
    order.truncate(LISTED);
    let mut found: Vec<Group<'_>> =
        order.iter().filter_map(|&at| group(seen, &groups.labels[at], &rows[at])).collect();
    if found.is_empty() {
        return None;
    }
    let (drawn, which) = arrange(&mut found);
    let name = names::shown(groups.name, names::IN_TEXT);
    let level = format!("{}%", significant(100.0 * LEVEL, 3));
    let inside = format!("inside {level}");
    let mut table = Table::new(&[
        &name,
        "rows",
        "CRPS",
        "skill",
        "skill from",
        "skill to",
        "error",
        "sigma",
        &inside,
        "by chance from",
        "by chance to",
    ]);
    let mut spots = Vec::new();
    for (i, group) in found.iter().enumerate() {
        let Group { part, crps, skill, reach, .. } = *group;
        table.rows.push(vec![
            Cell::Text(group.name.to_string()),
            Cell::Count(part.rows),
            Cell::Number(crps),
            Cell::Share(skill),
            Cell::Share(skill - reach),
            Cell::Share(skill + reach),
            Cell::Number(part.error),
            Cell::Number(part.sigma),
            Cell::Share(part.inside),
            Cell::Share(part.inside_range.0),
            Cell::Share(part.inside_range.1),
        ]);
        if let Some(place) = drawn.iter().position(|&at| at == i) {
            let y = (drawn.len() - 1 - place) as f64;
            spots.push(Spot { row: i, panel: 0, x: skill, y });
        }
    }
    let second: Vec<Spot> =
        spots.iter().map(|s| Spot { panel: 1, x: found[s.row].part.inside, ..*s }).collect();
    spots.extend(second);
    let drawn: Vec<&Group<'_>> = drawn.iter().map(|&at| &found[at]).collect();
    let by_skill = |a: &&&Group<'_>, b: &&&Group<'_>| a.skill.total_cmp(&b.skill);
    let (worst, best) = (drawn.iter().min_by(by_skill)?, drawn.iter().rev().max_by(by_skill)?);
    let said = |group: &Group<'_>| {
        let skill = percent(group.skill).replace('-', "−");
        format!("{skill} for {}", names::shown(group.name, names::ON_FIGURES))
    };
    let mut reading = format!(
        "Skill is how much lower the CRPS is than with one constant sigma for all rows (that of all \
         groups together), with its {} interval; above 0 is better. On the right, the share of \
         observations inside the {level} intervals, with the range of chance.",
        percent_of(CONFIDENCE)
    );
    if all > drawn.len() {
        reading += &format!(" {which} {} groups are drawn.", grouped(all));
    }
    Some(ReportFigure {
        name: "groups".into(),
        title: format!("By {name}"),
        message: match drawn.len() {
            1 => format!("Skill is {}.", said(best)),
            _ => format!("Skill goes from {} to {}.", said(worst), said(best)),
        },
        reading,
        figure: draw(&drawn, &level, BROAD),
        narrow: Some(draw(&drawn, &level, WIDTH)),
        table,
        spots,
        section: Section::Groups,
        open: false,
    })
}

/// Puts groups in order and says which are drawn: those that are numbers as numbers go, lead times for
/// example; else the largest from the best to the worst, then the others by size. Comes with the words
/// for a part of them: "The 20 largest of".
fn arrange(found: &mut Vec<Group<'_>>) -> (Vec<usize>, String) {
    let all = found.len();
    let drawn = all.min(DRAWN);
    let largest = format!("The {drawn} largest of");
    let labels: Vec<&str> = found.iter().map(|group| group.name).collect();
    let Some(order) = numbers(&labels) else {
        found[..drawn].sort_by(|a, b| b.skill.total_cmp(&a.skill));
        return ((0..drawn).collect(), largest);
    };
    // They come with the largest first.
    let alike = found[0].part.rows <= 2 * found[all - 1].part.rows;
    let mut sorted: Vec<(usize, f64, Group<'_>)> =
        found.drain(..).zip(order).enumerate().map(|(at, (group, x))| (at, x, group)).collect();
    // Missing labels come last.
    sorted.sort_by(|a, b| a.1.is_nan().cmp(&b.1.is_nan()).then(a.1.total_cmp(&b.1)));
    let (drawn, which) = match alike && all > drawn {
        true => {
            let evenly = (0..drawn).map(|i| i * (all - 1) / (drawn - 1)).collect();
            (evenly, format!("{drawn}, evenly chosen, of"))
        }
        false => ((0..all).filter(|&at| sorted[at].0 < drawn).collect(), largest),
    };
    found.extend(sorted.into_iter().map(|(_, _, group)| group));
    (drawn, which)
}

fn group<'a>(seen: &FigureData<'_>, name: &'a str, rows: &[u32]) -> Option<Group<'a>> {
    let each = seen.each;
    // Intervals are those of the law.
    let BinSummary { inside, inside_range, .. } = bins::part(seen.equal, rows)?;
    let part = BinSummary { inside, inside_range, ..bins::part(seen.sample, rows)? };
    let weight = |row: u32| seen.sample.weight().map_or(1.0, |w| w[row as usize]);
    let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
        rows.iter().map(|&row| weight(row) * of(row as usize)).sum()
    };
    let (total, crps, constant) =
        (sum(&|_| 1.0), sum(&|row| each.crps[row]), sum(&|row| each.constant[row]));
    let skill = if constant > 0.0 { 1.0 - crps / constant } else { 0.0 };
    // The skill is a ratio of sums: its variance to first order.
    let squares: f64 = rows
        .iter()
        .map(|&row| {
            let at = row as usize;
            (weight(row) * ((1.0 - skill) * each.constant[at] - each.crps[at])).powi(2)
        })
        .sum();
    let n = rows.len() as f64;
    let reach = match rows.len() > 1 && constant > 0.0 {
        true => normal_reach() * (squares * n / (n - 1.0)).sqrt() / constant,
        false => f64::NAN,
    };
    Some(Group { name, part, crps: crps / total, skill, reach })
}

fn draw(groups: &[&Group<'_>], level: &str, width: f64) -> Figure {
    let n = groups.len();
    let y: Vec<f64> = (0..n).rev().map(|i| i as f64).collect();
    let column = |of: &dyn Fn(&Group<'_>) -> f64| -> Vec<f64> {
        groups.iter().map(|group| of(group)).collect()
    };
    let names: Vec<String> = groups.iter().rev().map(|group| names::label(group.name)).collect();
    let skill = Panel::new(Axis::new("CRPS skill").percent(), Axis::new("").names(names))
        .legend(Legend::Hidden)
        .with(
            ErrorBars::new(
                y.clone(),
                column(&|g| g.skill - g.reach),
                column(&|g| g.skill + g.reach),
            )
            .level()
            .color(TRUTH)
            .width(1.6),
        )
        .with(Rule::vertical(0.0))
        .with(Scatter::new(column(&|g| g.skill), y.clone()).color(TRUTH).filled().radius(3.5));
    let inside = Panel::new(
        Axis::new(format!("inside the {level} interval")).percent(),
        Axis::new("").names(vec![String::new(); n]),
    )
    .legend(Legend::Hidden)
    .with(
        ErrorBars::new(
            y.clone(),
            column(&|g| g.part.inside_range.0),
            column(&|g| g.part.inside_range.1),
        )
        .level()
        .color(CHANCE)
        .width(9.0),
    )
    .with(Rule::vertical(LEVEL))
    .with(Scatter::new(column(&|g| g.part.inside), y).color(TRUTH).filled().radius(3.5));
    Figure::new(width, 90.0 + 26.0 * n.max(2) as f64).columns(2).with(skill).with(inside)
}

fn percent_of(share: f64) -> String {
    format!("{}%", significant(100.0 * share, 3))
}
