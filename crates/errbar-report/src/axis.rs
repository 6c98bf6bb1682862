//! Axes: what is written beside them, which values they show, and how values become pixels.

use crate::calendar;
use crate::scene::{Point, Rect};
use crate::ticks::{self, Ticks};

/// Values beyond this count as infinite, so that no sum or difference of two overflows.
const LARGEST: f64 = 1e300;

/// An axis of a panel: a label, a scale, and a range where the data should not decide it.
///
/// `"x"` alone makes a linear axis whose range fits the data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) log: bool,
    pub(crate) written: Written,
}

/// How the values beside an axis are written.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Written {
    #[default]
    Numbers,
    /// 0.9 as 90%.
    Percent,
    /// 1000000 as 1,000,000.
    Counts,
    /// Seconds since 1970 as dates.
    Dates,
    /// 0, 1, 2 … as these names.
    Names(Vec<String>),
    /// −10 as 10°S.
    Latitude,
    /// −10 or 350 as 10°W.
    Longitude,
}

impl Axis {
    /// A linear axis. In the label, as in every other, `_{…}` makes a subscript and `^{…}` a
    /// superscript; put units in brackets: `"σ_{min} (m s^{-1})"`.
    pub fn new(label: impl Into<String>) -> Self {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// Makes the axis logarithmic. Values that are not positive are not shown.
    pub fn log(self) -> Self {
        Axis { log: true, ..self }
    }

    /// Writes shares as percentages: 0.9 as 90%.
    pub fn percent(self) -> Self {
        Axis { written: Written::Percent, ..self }
    }

    /// Writes every digit of whole numbers: 1,000,000 rather than 1×10^{6}.
    pub fn counts(self) -> Self {
        Axis { written: Written::Counts, ..self }
    }

    /// Writes seconds since 1970 as dates and times of day (UTC).
    pub fn dates(self) -> Self {
        Axis { written: Written::Dates, ..self }
    }

    /// Writes these names at 0, 1, 2 … and fixes the range to show them all.
    pub fn names(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let range = Some((-0.5, names.len().max(1) as f64 - 0.5));
        Axis { range, written: Written::Names(names), ..self }
    }

    /// Writes degrees as latitudes: −10 as 10°S.
    pub fn latitude(self) -> Self {
        Axis { written: Written::Latitude, ..self }
    }

    /// Writes degrees as longitudes: −10, and 350, as 10°W. An axis may go on beyond the date line.
    pub fn longitude(self) -> Self {
        Axis { written: Written::Longitude, ..self }
    }

    /// Fixes the range, in either order. A range that the axis cannot show (empty, not finite, not
    /// positive on a logarithmic axis) is passed over in favour of the data's.
    pub fn range(self, from: f64, to: f64) -> Self {
        Axis { range: Some((from.min(to), from.max(to))), ..self }
    }

    pub(crate) fn shows(&self, value: f64) -> bool {
        value.is_finite() && value.abs() <= LARGEST && (!self.log || value > 0.0)
    }

    /// The range to draw: the one given, or that of the data with a little room around it.
    pub(crate) fn resolve(&self, extent: &Extent) -> (f64, f64) {
        if let Some((low, high)) = self.range
            && self.shows(low)
            && self.shows(high)
            && high - low > 1e-10 * low.abs().max(high.abs())
            && (self.log || high - low > 1e-290)
        {
            return (low, high);
        }
        if extent.is_empty() {
            return if self.log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if self.log {
            let (low, high) = (extent.low.log10(), extent.high.log10());
            let (low, high) =
                if high - low < 1e-9 { (low - 0.5, high + 0.5) } else { pad(low, high, extent) };
            let bounded = |exponent: f64| 10f64.powf(exponent.clamp(-305.0, 305.0));
            return (bounded(low), bounded(high));
        }
        let (low, high) = (extent.low, extent.high);
        let size = low.abs().max(high.abs());
        if size < 1e-290 {
            return (-1.0, 1.0);
        }
        // What differs in the eleventh digit only is shown as constant.
        if high - low <= 1e-10 * size {
            return (low - 0.1 * size, high + 0.1 * size);
        }
        pad(low, high, extent)
    }

    pub(crate) fn ticks(&self, (low, high): (f64, f64), most: usize) -> Ticks {
        let mut ticks = match &self.written {
            Written::Names(names) => {
                let named = names.iter().enumerate().map(|(i, name)| (i as f64, name.clone()));
                Ticks { major: named.collect(), minor: Vec::new() }
            }
            Written::Dates if !self.log => calendar::ticks(low, high, most),
            Written::Counts if !self.log => ticks::counts(low, high, most),
            Written::Percent if !self.log => ticks::percent(low, high, most),
            Written::Latitude if !self.log => ticks::degrees(low, high, most, ["N", "S"]),
            Written::Longitude if !self.log => ticks::degrees(low, high, most, ["E", "W"]),
            _ if self.log => ticks::logarithmic(low, high, most),
            _ => ticks::linear(low, high, most),
        };
        ticks.major.retain(|(value, _)| value.is_finite());
        ticks
    }
}

impl From<&str> for Axis {
    fn from(label: &str) -> Self {
        Axis::new(label)
    }
}

impl From<String> for Axis {
    fn from(label: String) -> Self {
        Axis::new(label)
    }
}

fn pad(low: f64, high: f64, extent: &Extent) -> (f64, f64) {
    let part = |room: Room| if room == Room::Wanted { 0.05 * (high - low) } else { 0.0 };
    (low - part(extent.below), high + part(extent.above))
}

/// Whether an axis leaves room beyond a value. Where layers disagree about the same value, the one
/// further down this list wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Room {
    /// It need not: the end of a line.
    Any,
    /// It does: a point, the top of a curve.
    Wanted,
    /// It does not: the border of a grid, the floor of a histogram.
    Never,
}

/// The smallest and largest value of the data, and the room beyond them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extent {
    low: f64,
    high: f64,
    below: Room,
    above: Room,
}

impl Extent {
    pub(crate) fn empty() -> Self {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Extent { low, high, below: Room::Any, above: Room::Any }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.low > self.high
    }

    pub(crate) fn add(&mut self, value: f64, room: Room) {
        if value < self.low {
            (self.low, self.below) = (value, room);
        } else if value == self.low {
            self.below = self.below.max(room);
        }
        if value > self.high {
            (self.high, self.above) = (value, room);
        } else if value == self.high {
            self.above = self.above.max(room);
        }
    }
}

/// Collects the extents of the layers of a panel.
pub(crate) struct Extents<'a> {
    pub(crate) x_axis: &'a Axis,
    pub(crate) y_axis: &'a Axis,
    /// Where x has been settled, only what lies within counts for y.
    pub(crate) within: Option<(f64, f64)>,
    pub(crate) x: Extent,
    pub(crate) y: Extent,
}

impl Extents<'_> {
    /// A point, with the room around it in x and in y.
    pub(crate) fn add(&mut self, (x, y): Point, room_x: Room, room_y: Room) {
        let seen = |(low, high): (f64, f64)| x >= low && x <= high;
        if self.x_axis.shows(x) && self.y_axis.shows(y) && self.within.is_none_or(seen) {
            self.x.add(x, room_x);
            self.y.add(y, room_y);
        }
    }
}

/// From the values of one axis to pixels.
#[derive(Debug, Clone)]
pub(crate) struct Map {
    axis: Axis,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Map {
    /// `range.0` comes at pixel `from`, `range.1` at pixel `to`.
    pub(crate) fn new(axis: &Axis, range: (f64, f64), from: f64, to: f64) -> Self {
        let scaled = |v: f64| if axis.log { v.log10() } else { v };
        Map { axis: axis.clone(), low: scaled(range.0), high: scaled(range.1), from, to }
    }

    pub(crate) fn pixel(&self, value: f64) -> Option<f64> {
        if !self.axis.shows(value) {
            return None;
        }
        let value = if self.axis.log { value.log10() } else { value };
        let pixel = self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from);
        // So far off that differences would overflow is nowhere.
        (pixel.abs() < 1e306).then_some(pixel)
    }

    /// The value at a pixel.
    pub(crate) fn value(&self, pixel: f64) -> f64 {
        let part = (pixel - self.from) / (self.to - self.from);
        let value = self.low + part * (self.high - self.low);
        if self.axis.log { 10f64.powf(value) } else { value }
    }
}

/// The area of a panel in which the data are drawn.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) rect: Rect,
    pub(crate) x: Map,
    pub(crate) y: Map,
}

impl Frame {
    pub(crate) fn pixel(&self, (x, y): Point) -> Option<Point> {
        Some((self.x.pixel(x)?, self.y.pixel(y)?))
    }

    /// Somewhat more than what is seen: what lies beyond need not be drawn.
    pub(crate) fn reach(&self) -> Rect {
        self.rect.grown(20.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(values: &[f64], room: Room) -> Extent {
        let mut extent = Extent::empty();
        values.iter().for_each(|&v| extent.add(v, room));
        extent
    }

    #[test]
    fn ranges_fit_the_data() {
        let linear = Axis::new("x");
        assert_eq!(linear.resolve(&extent(&[], Room::Wanted)), (0.0, 1.0));
        assert_eq!(linear.resolve(&extent(&[0.0, 10.0], Room::Wanted)), (-0.5, 10.5));
        assert_eq!(linear.resolve(&extent(&[0.0, 10.0], Room::Any)), (0.0, 10.0));
        assert_eq!(linear.resolve(&extent(&[5.0], Room::Wanted)), (4.5, 5.5));
        assert_eq!(linear.resolve(&extent(&[0.0], Room::Wanted)), (-1.0, 1.0));
        assert_eq!(linear.resolve(&extent(&[5e-324, 0.0], Room::Wanted)), (-1.0, 1.0));
        let (low, high) = linear.resolve(&extent(&[-1e300, 1e300], Room::Wanted));
        assert!(low < -1e300 && high > 1e300 && (high - low).is_finite());
        // One decade around a constant on a logarithmic axis.
        let (low, high) = Axis::new("x").log().resolve(&extent(&[10.0], Room::Wanted));
        assert!((high / low - 10.0).abs() < 1e-9);
    }

    #[test]
    fn layers_agree_on_room() {
        let mut both = extent(&[0.0, 10.0], Room::Any);
        both.add(10.0, Room::Wanted);
        assert_eq!(Axis::new("x").resolve(&both), (0.0, 10.5));
        both.add(10.0, Room::Never);
        assert_eq!(Axis::new("x").resolve(&both), (0.0, 10.0));
    }

    #[test]
    fn given_ranges_win_where_they_can_be_shown() {
        let data = extent(&[1.0, 2.0], Room::Any);
        assert_eq!(Axis::new("").range(3.0, 0.0).resolve(&data), (0.0, 3.0));
        for range in [(1.0, 1.0), (f64::NAN, 2.0), (0.0, f64::INFINITY)] {
            assert_eq!(Axis::new("").range(range.0, range.1).resolve(&data), (1.0, 2.0));
        }
        assert_ne!(Axis::new("").log().range(0.0, 3.0).resolve(&data), (0.0, 3.0));
    }

    #[test]
    fn values_and_pixels_are_inverse() {
        let linear = Map::new(&Axis::new(""), (-1.0, 3.0), 100.0, 0.0);
        assert_eq!(linear.pixel(0.0), Some(75.0));
        assert_eq!(linear.value(75.0), 0.0);
        assert_eq!(linear.pixel(f64::NAN), None);
        let log = Map::new(&Axis::new("").log(), (0.1, 10.0), 0.0, 50.0);
        assert_eq!(log.pixel(1.0), Some(25.0));
        assert_eq!(log.pixel(0.0), None);
        assert!((log.value(25.0) - 1.0).abs() < 1e-12);
    }
}
