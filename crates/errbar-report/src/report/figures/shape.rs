//! Are the errors of the shape that is claimed, and how sharp are the error bars? Q-Q plot, sharpness.

use errbar::law::Law;
use errbar::math::quantile;

use super::frame::{frame_of_factors, is_beyond};
use super::{CHANCE, FigureData, HEIGHT, ReportFigure, Section, Spot, WIDTH, of_all, short};
use crate::axis::Axis;
use crate::color::TRUTH;
use crate::figure::Figure;
use crate::layer::{Band, Edge, Histogram, Line, Rule, Scatter};
use crate::legend::Legend;
use crate::panel::Panel;
use crate::report::headline::grouped;
use crate::scene::Dash;
use crate::table::{Cell, Table};

/// As many places of the sorted errors are shown at most.
const PLACES: usize = 60;
/// In standard deviations: what lies beyond is told, not shown.
const FARTHEST: f64 = 6.0;

/// Standardised errors, sorted, against those of a standard Gaussian.
pub(super) fn quantiles(seen: &FigureData<'_>) -> ReportFigure {
    let sample = seen.equal;
    let weight = |row: usize| sample.weight().map_or(1.0, |weight| weight[row]);
    let z = |row: usize| sample.error()[row] / sample.sigma()[row];
    let mut order: Vec<usize> = (0..sample.len()).filter(|&row| weight(row) > 0.0).collect();
    order.sort_by(|a, b| z(*a).total_cmp(&z(*b)));
    let total: f64 = order.iter().map(|&row| weight(row)).sum();
    let mut below = 0.0;
    let places: Vec<(f64, f64)> = (order.iter())
        .map(|&row| {
            below += weight(row);
            ((below - 0.5 * weight(row)) / total, z(row))
        })
        .collect();
    let gaussian = Law::normal(0.0, 1.0);
    // Even steps on the axis, so that the tails are seen.
    let reach = places.first().map_or(0.0, |(p, _)| -gaussian.quantile(*p));
    let mut at: Vec<usize> = (0..PLACES)
        .map(|i| reach * (2.0 * i as f64 / (PLACES - 1) as f64 - 1.0))
        .map(|q| places.partition_point(|(p, _)| *p < gaussian.cdf(q)).min(places.len() - 1))
        .collect();
    at.dedup();
    let rows = sample.effective_rows();
    let mut table = Table::new(&["claimed", "observed", "by chance from", "by chance to"]);
    let (mut spots, mut out, mut far) = (Vec::new(), 0, 0);
    let (mut claimed, mut observed) = (Vec::new(), Vec::new());
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for (i, &(p, z)) in at.iter().map(|&place| &places[place]).enumerate() {
        let (least, most) = by_chance(p, rows);
        let row = [gaussian.quantile(p), z, gaussian.quantile(least), gaussian.quantile(most)];
        out += usize::from(z < row[2] || z > row[3]);
        far += usize::from(z.abs() > FARTHEST);
        table.rows.push(row.map(Cell::Number).to_vec());
        spots.push(Spot { row: i, panel: 0, x: row[0], y: z });
        [&mut claimed, &mut observed, &mut low, &mut high]
            .into_iter()
            .zip(row)
            .for_each(|(column, value)| column.push(value));
    }
    let most = observed.iter().chain(&claimed).fold(3.0f64, |most, z| most.max(z.abs()));
    let end = (1.05 * most).min(FARTHEST);
    let axis = |label: &str| Axis::new(label).range(-end, end);
    let panel =
        Panel::new(axis("standardised error as claimed"), axis("standardised error as observed"))
            .with(
                Band::new(claimed.clone(), low, high).color(CHANCE).label("range of chance (95%)"),
            )
            .with(Rule::diagonal())
            .with(Line::new(claimed.clone(), observed.clone()).color(TRUTH))
            .with(
                Scatter::new(claimed, observed).color(TRUTH).filled().radius(2.5).label("observed"),
            );
    let beyond = match far {
        0 => String::new(),
        _ => format!(" Errors beyond {FARTHEST} standard deviations are in the table alone."),
    };
    let law = match seen.subject.laws {
        Some(_) => " Errors of a law that is not Gaussian are put where they would be if it were.",
        None => "",
    };
    ReportFigure {
        name: "quantiles".into(),
        title: "Shape of the errors (Q-Q plot)".into(),
        message: format!(
            "The errors leave the range of chance at {}.",
            of_all(out, at.len(), "places")
        ),
        reading: format!(
            "The errors in units of their sigma, from the smallest to the largest, against what they would \
             be if the claimed distribution were true. On the diagonal its shape is right; steeper at \
             the ends, extremes are more frequent than claimed; a bend to one side, errors are \
             skewed.{law}{beyond}"
        ),
        figure: Figure::new(WIDTH, HEIGHT).with(panel),
        narrow: None,
        table,
        spots,
        section: Section::Size,
        open: false,
    }
}

/// Where the share below the value of a rank lies in 95 of 100 samples of so many rows (Wilson).
fn by_chance(p: f64, rows: f64) -> (f64, f64) {
    let z = 1.96;
    let square = z * z / rows;
    let middle = (p + 0.5 * square) / (1.0 + square);
    let half = z * (p * (1.0 - p) / rows + 0.25 * square / rows).sqrt() / (1.0 + square);
    ((middle - half).max(1e-12), (middle + half).min(1.0 - 1e-12))
}

/// How large the sigmas are, beside the one that all rows would have.
pub(super) fn sharpness(seen: &FigureData<'_>) -> ReportFigure {
    const BINS: usize = 20;
    let sample = seen.sample;
    let (sigma, one) = (sample.sigma(), seen.scores.rmse);
    let mut sorted = sigma.to_vec();
    let [low, middle, high] = [0.05, 0.5, 0.95].map(|share| quantile(&mut sorted, share));
    let (least, most) = frame_of_factors(sigma.iter().copied());
    let far = sigma.iter().filter(|s| is_beyond(**s, (least, most))).count();
    let log = most > 20.0 * least;
    // One sigma for all rows is a bar of some width.
    let (from, to) = match most > (1.0 + 1e-9) * least {
        true => (least, most),
        false => (0.9 * least, (1.1 * most).min(f64::MAX)),
    };
    let (first, last) = (from.ln(), to.ln());
    let edge = |i: usize| match (i, i as f64 / BINS as f64) {
        (0, _) => from,
        (BINS, _) => to,
        (_, share) if log => (first + (last - first) * share).exp(),
        (_, share) => from + (to - from) * share,
    };
    let mut edges: Vec<f64> = (0..=BINS).map(edge).collect();
    // Numbers at the end of all numbers may leave no room between them.
    edges.dedup_by(|later, earlier| *later <= *earlier);
    if edges.len() < 2 {
        edges = vec![0.0, f64::MIN_POSITIVE.max(2.0 * to.min(1e300))];
    }
    let bins = edges.len() - 1;
    let mut shares = vec![0.0; bins];
    let total = sample.total_weight();
    for (row, sigma) in sigma.iter().enumerate() {
        let bin = edges.partition_point(|edge| edge <= sigma).clamp(1, bins) - 1;
        shares[bin] += sample.weight().map_or(1.0, |weight| weight[row]) / total;
    }
    let top = 1.12 * shares.iter().copied().fold(0.0, f64::max);
    let (low_end, high_end) = (edges[0], edges[bins]);
    // The one sigma belongs on the axis, unless it is so far off that nothing else would be seen.
    let near = match log {
        true => one > low_end / 30.0 && one < 30.0 * high_end,
        false => one < high_end + 3.0 * (high_end - low_end),
    };
    let (left, right) = match near {
        true => (low_end.min(one), high_end.max(one)),
        false => (low_end, high_end),
    };
    let across = match log {
        true => Axis::new("sigma").log().range(left / 1.05, 1.05 * right),
        false => {
            let room = 0.03 * (right - left);
            Axis::new("sigma").range(left - room, right + room)
        }
    };
    let panel = Panel::new(across, Axis::new("share of the rows").percent().range(0.0, top))
        .legend(Legend::Above)
        .with(Histogram::new(edges.clone(), shares.clone()).label("rows"))
        .with(Edge::new([one], [0.5 * top]))
        .with(Rule::vertical(one).dash(Dash::Dashed).label("root mean square of the errors"));
    let mut table = Table::new(&["sigma from", "sigma to", "rows"]);
    let mut spots = Vec::new();
    for (i, share) in shares.iter().enumerate() {
        table.rows.push(vec![
            Cell::Number(edges[i]),
            Cell::Number(edges[i + 1]),
            Cell::Share(*share),
        ]);
        let x =
            if log { (edges[i] * edges[i + 1]).sqrt() } else { 0.5 * (edges[i] + edges[i + 1]) };
        spots.push(Spot { row: i, panel: 0, x, y: *share });
    }
    let message = match low < high {
        true => format!(
            "Sigma is {} in the middle and from {} to {} in nine of ten rows; the errors' root mean \
             square is {}.",
            short(middle),
            short(low),
            short(high),
            short(one)
        ),
        false => format!(
            "Sigma is {} in nearly all rows; the errors' root mean square is {}.",
            short(middle),
            short(one)
        ),
    };
    ReportFigure {
        name: "sharpness".into(),
        title: "Sharpness".into(),
        message,
        reading: format!(
            "How many rows have which sigma. Of error bars that are equally reliable the sharper are \
             better: many rows far left of the dashed line, which is what one sigma for all rows would \
             be, and some to the right, where errors are large.{}",
            match far {
                0 => String::new(),
                1 =>
                    String::from(" One sigma far from all others is counted in the bar at the end."),
                n => format!(
                    " {} sigmas far from all others are counted in the bars at the ends.",
                    grouped(n)
                ),
            }
        ),
        figure: Figure::new(WIDTH, HEIGHT).with(panel),
        narrow: None,
        table,
        spots,
        section: Section::Size,
        open: false,
    }
}
