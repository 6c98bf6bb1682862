//! Skill and reliability group by group.

use errbar::words::{and, numbers, significant};

use super::frame::{frame, roomy};
use super::{BROAD, CHANCE, FigureData, ReportFigure, Section, Spot, WIDTH};
use crate::axis::Axis;
use crate::color::TRUTH;
use crate::figure::Figure;
use crate::layer::{Edge, ErrorBars, Rule, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::bins::{self, BinSummary, Skill};
use crate::report::headline::grouped;
use crate::report::{CONFIDENCE, LEVEL};
use crate::table::{Cell, Table, percent};

/// So many groups are drawn,
const DRAWN: usize = 20;
/// and so many are in the table.
const LISTED: usize = 200;
/// As many are named in a sentence.
const NAMED: usize = 4;

/// One group.
struct Group<'a> {
    name: &'a str,
    part: BinSummary,
    crps: f64,
    skill: Skill,
}

impl Group<'_> {
    /// Whether the skills of two groups differ by more than the error of their difference.
    fn is_apart(&self, other: &Group<'_>) -> bool {
        (self.skill.value - other.skill.value).abs() > self.skill.reach.hypot(other.skill.reach)
    }
}

pub(super) fn figure(seen: &FigureData<'_>) -> Option<ReportFigure> {
    let groups = seen.subject.groups?;
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); groups.labels.len()];
    for (row, &group) in (0u32..).zip(groups.rows) {
        rows[group as usize].push(row);
    }
    let all = (0..rows.len()).filter(|&g| !rows[g].is_empty());
    let mut found: Vec<Group<'_>> =
        all.filter_map(|at| group(seen, &groups.labels[at], &rows[at])).collect();
    if found.is_empty() {
        return None;
    }
    let all = found.len();
    let in_order = arrange(&mut found);
    found.truncate(LISTED);
    let drawn = &found[..found.len().min(DRAWN)];
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
        let Group { part, crps, skill: Skill { value: skill, reach, .. }, .. } = *group;
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
        if i < drawn.len() {
            spots.push(Spot { row: i, panel: 0, x: skill, y: (drawn.len() - 1 - i) as f64 });
        }
    }
    let second: Vec<Spot> =
        spots.iter().map(|s| Spot { panel: 1, x: found[s.row].part.inside, ..*s }).collect();
    spots.extend(second);
    let by_skill = |a: &&Group<'_>, b: &&Group<'_>| a.skill.value.total_cmp(&b.skill.value);
    let (worst, best) = (found.iter().min_by(by_skill)?, found.iter().rev().max_by(by_skill)?);
    let mut reading = format!(
        "Skill is how much lower the CRPS is than with one constant sigma for all rows (that of all \
         groups together), with its {} interval; above 0 is better. On the right, the share of \
         observations inside the {level} intervals, with the range of chance.",
        percent_of(CONFIDENCE)
    );
    if !in_order && drawn.len() > 1 {
        reading += " The worst come first.";
    }
    if all > drawn.len() {
        reading += &format!(
            " The {} worst of {} groups are drawn, by the better end of their interval, so that none is there \
             for having few rows.",
            drawn.len(),
            grouped(all)
        );
    }
    Some(ReportFigure {
        name: "groups".into(),
        title: format!("By {name}"),
        message: message(&found, worst, best, all),
        reading,
        figure: draw(drawn, &level, BROAD),
        narrow: Some(draw(drawn, &level, WIDTH)),
        table,
        spots,
        section: Section::Groups,
        open: false,
    })
}

/// Skill from the worst to the best, and which cannot be told apart.
fn message(found: &[Group<'_>], worst: &Group<'_>, best: &Group<'_>, all: usize) -> String {
    let name = |group: &Group<'_>| names::shown(group.name, names::ON_FIGURES);
    let skill = |group: &Group<'_>| percent(group.skill.value).replace('-', "−");
    if found.len() == 1 {
        return format!("Skill is {} for {}.", skill(best), name(best));
    }
    let ends = match all > found.len() {
        true => format!("Skill is lowest, {}, for {}", skill(worst), name(worst)),
        false => format!(
            "Skill goes from {} for {} to {} for {}",
            skill(worst),
            name(worst),
            skill(best),
            name(best)
        ),
    };
    let any = found.iter().enumerate().any(|(i, a)| found[..i].iter().any(|b| a.is_apart(b)));
    if !any {
        return match all {
            2 => format!("{ends}: these two cannot be told apart."),
            n => format!("{ends}: these {} cannot be told apart.", in_words(n)),
        };
    }
    let like: Vec<&Group<'_>> = (found.iter())
        .filter(|group| !std::ptr::eq(*group, worst) && !group.is_apart(worst))
        .collect();
    let tied = std::iter::once(worst).chain(like.iter().copied().take(NAMED));
    let named: Vec<String> = tied.map(name).collect();
    match like.len() {
        0 => {
            format!("{ends}; {} is worse than each of the others by more than chance.", name(worst))
        }
        n if n <= NAMED => format!("{ends}; {} cannot be told apart.", and(&named)),
        n => format!("{ends}; {} and {} others cannot be told apart.", name(worst), in_words(n)),
    }
}

/// Small numbers as words.
fn in_words(number: usize) -> String {
    let words =
        ["three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let word = number.checked_sub(3).and_then(|at| words.get(at));
    word.map_or_else(|| grouped(number), |word| word.to_string())
}

/// Puts groups in order: a few that are numbers as numbers go, lead times for example, which is said; else
/// the worst first.
fn arrange(found: &mut Vec<Group<'_>>) -> bool {
    let labels: Vec<&str> = found.iter().map(|group| group.name).collect();
    let order = numbers(&labels).filter(|_| found.len() <= DRAWN);
    let is_ordered = order.is_some();
    // Of many groups of few rows some look bad by chance: even the better end of the interval must be bad.
    let many = found.len() > DRAWN;
    let rank = |group: &Group<'_>| group.skill.value + if many { group.skill.reach } else { 0.0 };
    let places = order.unwrap_or_else(|| found.iter().map(rank).collect());
    let mut sorted: Vec<(f64, Group<'_>)> = places.into_iter().zip(found.drain(..)).collect();
    // Missing labels, and single rows of many groups, come last.
    sorted.sort_by(|(a, _), (b, _)| a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b)));
    found.extend(sorted.into_iter().map(|(_, group)| group));
    is_ordered
}

fn group<'a>(seen: &FigureData<'_>, name: &'a str, rows: &[u32]) -> Option<Group<'a>> {
    // Intervals are those of the law.
    let BinSummary { inside, inside_range, .. } = bins::part(seen.equal, rows)?;
    let part = BinSummary { inside, inside_range, ..bins::part(seen.sample, rows)? };
    let crps = bins::mean(seen.sample, rows, |row| seen.each.crps[row])?;
    let skill = bins::skill(seen.each, seen.sample, rows)?;
    Some(Group { name, part, crps, skill })
}

fn draw(groups: &[Group<'_>], level: &str, width: f64) -> Figure {
    let n = groups.len();
    let y: Vec<f64> = (0..n).rev().map(|i| i as f64).collect();
    let column = |of: &dyn Fn(&Group<'_>) -> f64| -> Vec<f64> { groups.iter().map(of).collect() };
    let names: Vec<String> = groups.iter().rev().map(|group| names::label(group.name)).collect();
    let skills = column(&|g| g.skill.value);
    // Only what the intervals of nearly all groups reach.
    let ends = groups
        .iter()
        .flat_map(|g| [-1.0, 0.0, 1.0].map(|side| g.skill.value + side * g.skill.reach));
    let (low, high) = roomy(frame(ends));
    let skill = Panel::new(
        Axis::new("CRPS skill").percent().range(low.min(-0.01), high.max(0.01)),
        Axis::new("").names(names),
    )
    .legend(Legend::Hidden)
    .with(
        ErrorBars::new(
            y.clone(),
            column(&|g| g.skill.value - g.skill.reach),
            column(&|g| g.skill.value + g.skill.reach),
        )
        .level()
        .color(TRUTH)
        .width(1.6),
    )
    .with(Rule::vertical(0.0))
    .with(Edge::new(skills.clone(), y.clone()).color(TRUTH))
    .with(Scatter::new(skills, y.clone()).color(TRUTH).filled().radius(3.5));
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
