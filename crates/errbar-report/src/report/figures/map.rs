//! Maps: skill, coverage and bias place by place.

use std::collections::HashMap;

use errbar::means::Mean;
use errbar::words::significant;

use super::frame::{frame, spaced};
use super::{BROAD, FigureData, ReportFigure, Section, Spot, WIDTH, short};
use crate::axis::Axis;
use crate::color::Color;
use crate::figure::Figure;
use crate::layer::Scatter;
use crate::legend::Legend;
use crate::panel::Panel;
use crate::report::bins::{self, BinSummary};
use crate::report::headline::grouped;
use crate::report::{CONFIDENCE, LEVEL, Places};
use crate::table::{Cell, Table, percent};

/// More places share cells.
const MOST: usize = 500;
/// Cells from west to east, or from south to north, whichever is longer.
const CELLS: f64 = 28.0;
/// Places in the table.
const LISTED: usize = 200;

/// From the worst to the best, or from too low to too high.
const COLORS: [Color; 5] = [
    Color::hex(0xD55E00),
    Color::hex(0xEBA96F),
    Color::hex(0xA9A9A6),
    Color::hex(0x7FB5DA),
    Color::hex(0x0072B2),
];

/// Rows at one place, or in one cell.
struct Place {
    latitude: f64,
    longitude: f64,
    part: BinSummary,
    skill: f64,
    /// How far the intervals of skill and bias reach either way; NaN of one row.
    skill_reach: f64,
    bias_reach: f64,
}

/// What one of the maps shows of a place.
struct Shown<'a> {
    title: &'a str,
    /// Between the colours.
    limits: [f64; 4],
    written: &'a dyn Fn(f64) -> String,
    value: &'a dyn Fn(&Place) -> f64,
    /// Whether it is more than chance.
    is_sure: &'a dyn Fn(&Place) -> bool,
}

pub(super) fn figure(seen: &FigureData<'_>) -> Option<ReportFigure> {
    let Places { latitude, longitude } = seen.subject.places?;
    let rows: Vec<u32> = (0..seen.sample.len() as u32)
        .filter(|&row| is_on_earth(latitude.values[row as usize], longitude.values[row as usize]))
        .collect();
    let nowhere = seen.sample.len() - rows.len();
    let (sites, cell) = sites(&rows, latitude.values, longitude.values);
    let mut places: Vec<Place> = sites.iter().filter_map(|site| place(seen, site)).collect();
    if places.len() < 2 {
        return None;
    }
    // The worst first, and drawn last, above the others.
    places.sort_by(|a, b| a.skill.total_cmp(&b.skill));
    let level = format!("{}%", significant(100.0 * LEVEL, 3));
    let inside = format!("inside {level}");
    let mut table = Table::new(&[
        "latitude",
        "longitude",
        "rows",
        "skill",
        "±",
        &inside,
        "by chance from",
        "by chance to",
        "bias",
        "±",
    ]);
    let mut spots = Vec::new();
    for (row, place) in places.iter().take(LISTED).enumerate() {
        let Place { latitude, longitude, part, skill, skill_reach, bias_reach } = place;
        table.rows.push(vec![
            Cell::Number(*latitude),
            Cell::Number(west_and_east(*longitude)),
            Cell::Count(part.rows),
            Cell::Share(*skill),
            Cell::Share(*skill_reach),
            Cell::Share(part.inside),
            Cell::Share(part.inside_range.0),
            Cell::Share(part.inside_range.1),
            Cell::Number(part.bias),
            Cell::Number(*bias_reach),
        ]);
        let spot = |panel| Spot { row, panel, x: *longitude, y: *latitude };
        spots.extend([spot(0), spot(1), spot(2)]);
    }
    spots.sort_by_key(|spot| spot.panel);
    Some(ReportFigure {
        name: "map".into(),
        title: "On the map".into(),
        message: message(&places, cell.is_some(), &level),
        reading: reading(&places, cell, nowhere, &level),
        figure: draw(&places, &level, true),
        narrow: Some(draw(&places, &level, false)),
        table,
        spots,
        section: Section::Groups,
        open: false,
    })
}

fn is_on_earth(latitude: f64, longitude: f64) -> bool {
    latitude.abs() <= 90.0 && longitude.abs() <= 360.0
}

/// From −180 to 180.
fn west_and_east(longitude: f64) -> f64 {
    (longitude + 180.0).rem_euclid(360.0) - 180.0
}

/// The rows of one place, and where it is.
struct Site {
    latitude: f64,
    longitude: f64,
    rows: Vec<u32>,
}

/// The places of rows and, where they were too many, the size in degrees of the cells that they share.
/// Longitudes begin east of the widest gap, so that what lies on both sides of the date line is together.
fn sites(rows: &[u32], latitude: &[f64], longitude: &[f64]) -> (Vec<Site>, Option<f64>) {
    let at = |row: u32| (latitude[row as usize], west_and_east(longitude[row as usize]));
    let mut all: Vec<f64> = rows.iter().map(|&row| at(row).1).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let first = east_of_the_widest_gap(&all);
    let at = |row: u32| {
        let (latitude, longitude) = at(row);
        (latitude, if longitude < first { longitude + 360.0 } else { longitude })
    };
    let together = |key: &dyn Fn((f64, f64)) -> (u64, u64)| {
        let mut places: Vec<Site> = Vec::new();
        let mut known: HashMap<(u64, u64), usize> = HashMap::new();
        for &row in rows {
            let (latitude, longitude) = at(row);
            let next = places.len();
            let place = *known.entry(key((latitude, longitude))).or_insert(next);
            if place == next {
                places.push(Site { latitude: 0.0, longitude: 0.0, rows: Vec::new() });
            }
            let site = &mut places[place];
            site.rows.push(row);
            // The mean of its rows.
            let share = 1.0 / site.rows.len() as f64;
            site.latitude += share * (latitude - site.latitude);
            site.longitude += share * (longitude - site.longitude);
        }
        places
    };
    // -0 is 0.
    let exact = together(&|(a, b)| ((a + 0.0).to_bits(), (b + 0.0).to_bits()));
    if exact.len() <= MOST {
        return (exact, None);
    }
    let span = |of: &dyn Fn(u32) -> f64| {
        let ends = rows.iter().map(|&row| of(row));
        ends.clone().fold(f64::NEG_INFINITY, f64::max) - ends.fold(f64::INFINITY, f64::min)
    };
    let size = nice(span(&|row| at(row).0).max(span(&|row| at(row).1)) / CELLS);
    let cell = |value: f64| (value / size).floor().to_bits();
    (together(&|(a, b)| (cell(a), cell(b))), Some(size))
}

/// Where longitudes, in order, begin when they go once round the Earth.
fn east_of_the_widest_gap(sorted: &[f64]) -> f64 {
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else { return -180.0 };
    let around = (first + 360.0 - last, first);
    let gaps = sorted.windows(2).map(|pair| (pair[1] - pair[0], pair[1]));
    gaps.fold(around, |widest, gap| if gap.0 > widest.0 { gap } else { widest }).1
}

/// 1, 2 or 5 times a power of ten, at least so much.
fn nice(value: f64) -> f64 {
    let value = value.max(1e-9);
    let decade = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps.map(|step| step * decade).into_iter().find(|step| *step >= value).unwrap_or(value)
}

fn place(seen: &FigureData<'_>, site: &Site) -> Option<Place> {
    let Site { latitude, longitude, rows } = site;
    // Intervals are those of the law.
    let BinSummary { inside, inside_range, .. } = bins::part(seen.equal, rows)?;
    let part = BinSummary { inside, inside_range, ..bins::part(seen.sample, rows)? };
    let of_rows = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        rows.iter().map(|&row| of(row as usize)).collect()
    };
    let weight = seen.sample.weight().map(|weight| of_rows(&|row| weight[row]));
    let skill = bins::skill(seen.each, seen.sample, rows)?;
    let error = seen.sample.error();
    let bias = Mean::of(&of_rows(&|row| error[row]), weight.as_deref())?;
    let bias_reach = bias.reach(CONFIDENCE);
    Some(Place {
        latitude: *latitude,
        longitude: *longitude,
        part,
        skill: skill.value,
        skill_reach: skill.reach,
        bias_reach,
    })
}

/// "40.6°N 73.8°W"
fn said(place: &Place) -> String {
    let degrees = |value: f64, [more, less]: [&str; 2]| {
        let digits = format!("{:.2}", value.abs());
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        format!("{digits}°{}", if value < 0.0 { less } else { more })
    };
    let east = west_and_east(place.longitude);
    format!("{} {}", degrees(place.latitude, ["N", "S"]), degrees(east, ["E", "W"]))
}

fn message(places: &[Place], cells: bool, level: &str) -> String {
    let what = if cells { "cells" } else { "places" };
    let skill = |place: &Place| percent(place.skill).replace('-', "−");
    let off = |place: &&Place| is_off(place);
    let (few, many): (Vec<&Place>, Vec<&Place>) =
        places.iter().filter(off).partition(|place| place.part.inside < LEVEL);
    let ends = match (places.first(), places.last()) {
        (Some(worst), Some(best)) => format!(
            "Skill goes from {} near {} to {} near {}",
            skill(worst),
            said(worst),
            skill(best),
            said(best)
        ),
        _ => String::new(),
    };
    format!(
        "{ends}; the share inside the {level} intervals is lower than chance allows at {} of {} {what}, higher at \
         {}.",
        grouped(few.len()),
        grouped(places.len()),
        grouped(many.len())
    )
}

/// Whether the share inside is out of the range of chance.
fn is_off(place: &Place) -> bool {
    let BinSummary { inside, inside_range, .. } = place.part;
    inside < inside_range.0 || inside > inside_range.1
}

fn reading(places: &[Place], cell: Option<f64>, nowhere: usize, level: &str) -> String {
    let mut words = format!(
        "Skill is how much lower the CRPS is than with one constant sigma for all rows; the share inside the \
         {level} intervals should be {level}; bias is the mean of observation minus forecast. Filled points \
         differ from none (from {level}) by more than chance (95%), open ones do not."
    );
    if let Some(size) = cell {
        words += &format!(
            " Rows lie at more than {MOST} places: they are put together in cells of {}°, each drawn at the \
             mean of its rows.",
            significant(size, 3)
        );
    }
    if places.len() > LISTED {
        words += &format!(" The {LISTED} with the lowest skill are in the table.");
    }
    let rows = match nowhere {
        0 => String::new(),
        1 => String::from("One row has no place on Earth, and is not on the map."),
        n => format!("{} rows have no place on Earth, and are not on the map.", grouped(n)),
    };
    words + &spaced(&rows)
}

fn draw(places: &[Place], level: &str, broad: bool) -> Figure {
    let range = |of: &dyn Fn(&Place) -> f64| {
        let ends = places.iter().map(of);
        (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(f64::NEG_INFINITY, f64::max))
    };
    let (south, north) = range(&|place| place.latitude);
    let (west, east) = range(&|place| place.longitude);
    let middle = 0.5 * (south + north);
    // A degree of longitude is shorter away from the equator, by the cosine of the latitude.
    let aspect = 1.0 / middle.to_radians().cos().max(0.05);
    let room = (0.06 * (north - south).max((east - west) / aspect)).max(0.05);
    let (south, north) = ((south - room).max(-90.0), (north + room).min(90.0));
    let (west, east) = (west - aspect * room, east + aspect * room);

    // The shape of the ground decides the height of the figure, within reason.
    let wide = if broad { 270.0 } else { 390.0 };
    let tall = (wide * aspect * (north - south) / (east - west)).clamp(110.0, 1.5 * wide);
    let (low, high) = frame(places.iter().map(|place| place.part.bias.abs()));
    let step = nice(0.3 * high.max(low).max(1e-300));
    let share = |value: f64| format!("{}%", significant(100.0 * value, 3)).replace('-', "−");
    let skills = [-0.1, 0.0, 0.1, 0.3];
    let covered = [LEVEL - 0.1, LEVEL - 0.03, LEVEL + 0.03, LEVEL + 0.06];
    let inside = format!("inside the {level} interval");
    let maps = [
        Shown {
            title: "CRPS skill",
            limits: skills,
            written: &share,
            value: &|place| place.skill,
            is_sure: &|place| place.skill.abs() > place.skill_reach,
        },
        Shown {
            title: &inside,
            limits: covered,
            written: &share,
            value: &|place| place.part.inside,
            is_sure: &is_off,
        },
        Shown {
            title: "bias",
            limits: [-2.0 * step, -step, step, 2.0 * step],
            written: &short,
            value: &|place| place.part.bias,
            is_sure: &|place| place.part.bias.abs() > place.bias_reach,
        },
    ];
    let radius = if places.len() > 150 { 2.8 } else { 4.0 };
    let panel = |shown: &Shown<'_>| {
        let mut panel = Panel::new(
            Axis::new("").longitude().range(west, east),
            Axis::new("").latitude().range(south, north),
        )
        .title(shown.title)
        .legend(Legend::Above)
        .aspect(aspect)
        .grid();
        for (class, color) in COLORS.into_iter().enumerate() {
            for sure in [false, true] {
                let here = |place: &&Place| {
                    let value = (shown.value)(place);
                    let own = shown.limits.iter().filter(|limit| value >= **limit).count();
                    own == class && (shown.is_sure)(place) == sure
                };
                let (x, y): (Vec<f64>, Vec<f64>) = (places.iter().rev().filter(here))
                    .map(|place| (place.longitude, place.latitude))
                    .unzip();
                let mut points = Scatter::new(x, y).color(color).radius(radius);
                if sure {
                    points = points.filled().label(class_in_words(shown, class));
                }
                panel = panel.with(points);
            }
        }
        panel
    };
    let [skill, held, bias] = maps.each_ref().map(panel);
    let figure = match broad {
        true => Figure::new(BROAD, tall + 130.0).columns(3),
        false => Figure::new(WIDTH, 3.0 * tall + 330.0),
    };
    figure.with(skill).with(held).with(bias)
}

/// "below −10%", "0% to 10%", "30% and more"
fn class_in_words(shown: &Shown<'_>, class: usize) -> String {
    let limit = |at: usize| (shown.written)(shown.limits[at]);
    match class {
        0 => format!("< {}", limit(0)),
        4 => format!("≥ {}", limit(3)),
        _ => format!("{} to {}", limit(class - 1), limit(class)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_line_is_no_edge() {
        // Fiji, Samoa, and one between.
        let (latitude, longitude) = ([-18.0, -14.0, -16.0], [178.0, -172.0, 185.0]);
        let (sites, cell) = sites(&[0, 1, 2], &latitude, &longitude);
        let mut east: Vec<f64> = sites.iter().map(|site| site.longitude).collect();
        east.sort_by(f64::total_cmp);
        assert_eq!((east, cell), (vec![178.0, 185.0, 188.0], None));
        // Around the whole Earth, and in the usual place.
        assert_eq!(east_of_the_widest_gap(&[-170.0, -50.0, 60.0, 175.0]), -50.0);
        assert_eq!(east_of_the_widest_gap(&[-10.0, 0.0, 20.0]), -10.0);
        assert_eq!(west_and_east(190.0), -170.0);
    }

    #[test]
    fn many_places_share_cells() {
        let latitude: Vec<f64> =
            (0..2_000).map(|i| 40.0 + 10.0 * (f64::from(i) * 0.618_034).fract()).collect();
        let longitude: Vec<f64> =
            (0..2_000).map(|i| 20.0 * (f64::from(i) * 0.414_214).fract()).collect();
        let rows: Vec<u32> = (0..2_000).collect();
        let (sites, cell) = sites(&rows, &latitude, &longitude);
        // 20 degrees in 28 cells are 0.71 degrees each: the next of 1, 2 and 5 is 1.
        assert_eq!(cell, Some(1.0));
        assert!(sites.len() <= 200 && sites.iter().map(|s| s.rows.len()).sum::<usize>() == 2_000);
        for site in &sites {
            let (south, west) = (site.latitude.floor(), site.longitude.floor());
            assert!(site.rows.iter().all(|&row| latitude[row as usize].floor() == south
                && longitude[row as usize].floor() == west));
        }
    }

    #[test]
    fn what_is_no_place_is_left_off() {
        assert!(is_on_earth(-90.0, 359.0) && is_on_earth(0.0, -180.0));
        for (latitude, longitude) in [(91.0, 0.0), (f64::NAN, 0.0), (0.0, 1e300), (0.0, f64::NAN)] {
            assert!(!is_on_earth(latitude, longitude));
        }
    }
}
