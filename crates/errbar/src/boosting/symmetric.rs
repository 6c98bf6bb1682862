//! A symmetric tree: the same few questions for every row, and a step for each set of answers.
//!
//! All leaves of one level are split by the same input at the same place. That is less than a free tree can
//! say, so that there is less for chance to choose from; and asking six questions of many rows at once is what
//! processors do best.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bins::Bins;
use super::tree::NodeView;

/// The most questions of a tree.
pub(crate) const MOST_SPLITS: usize = 8;

/// A question: does a row lie beyond a bin of a column?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Split {
    pub(super) column: u32,
    /// The last bin that does not.
    pub(super) bin: u8,
    /// Whether a missing value does not.
    pub(super) missing_left: bool,
}

impl Split {
    /// The column it asks for.
    pub(crate) fn column(self) -> usize {
        self.column as usize
    }

    /// Whether it can be asked of rows in these bins.
    pub(crate) fn fits(self, bins: &Bins) -> bool {
        let column = self.column();
        column < bins.columns() && usize::from(self.bin) < bins.count(column)
    }

    /// The codes that lie beyond: the first, and how many.
    #[inline]
    pub(crate) fn beyond(self, bins: &Bins) -> (u8, u8) {
        let first = self.bin + 1;
        // The code of missing values is the one after the last bin; no code is above 255.
        let end = if self.missing_left { bins.count(self.column as usize) as u8 } else { 0 };
        (first, end.wrapping_sub(first))
    }
}

/// A tree of questions that do not depend on the answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Symmetric {
    splits: Vec<Split>,
    /// The answer to question k is bit k of the place.
    steps: Vec<f32>,
}

impl Symmetric {
    pub(super) fn new(splits: Vec<Split>, steps: Vec<f32>) -> Self {
        debug_assert_eq!(steps.len(), 1 << splits.len());
        Self { splits, steps }
    }

    /// The place of each of some rows among the steps, from the codes of columns: `column` gives those of
    /// the rows.
    #[inline(always)]
    pub(super) fn places<'a>(
        &self,
        bins: &Bins,
        column: impl Fn(usize) -> &'a [u8],
        places: &mut [u8],
    ) {
        places.fill(0);
        for (nth, split) in self.splits.iter().enumerate() {
            let (first, count) = split.beyond(bins);
            let codes = column(split.column as usize);
            for (place, code) in places.iter_mut().zip(codes) {
                *place |= u8::from(code.wrapping_sub(first) < count) << nth;
            }
        }
    }

    /// Adds the step of each row, times a factor.
    #[inline(always)]
    pub(super) fn add_steps(&self, places: &[u8], factor: f64, sums: &mut [f64]) {
        for (sum, place) in sums.iter_mut().zip(places) {
            *sum += factor * f64::from(self.steps[usize::from(*place)]);
        }
    }

    /// Every step multiplied.
    pub(crate) fn times(mut self, factor: f64) -> Self {
        self.steps.iter_mut().for_each(|step| *step = (f64::from(*step) * factor) as f32);
        self
    }

    /// The columns it asks for.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.splits.iter().map(|split| split.column as usize)
    }

    /// Adds up how much the answers to its questions tell: for each column and cut, the mean square of half the
    /// difference that they make.
    pub(crate) fn add_told(&self, told: &mut [Vec<f64>]) {
        for (nth, split) in self.splits.iter().enumerate() {
            let pairs = (0..self.steps.len()).filter(|place| place & (1 << nth) == 0);
            let square = |place: usize| {
                let half = 0.5 * f64::from(self.steps[place | (1 << nth)] - self.steps[place]);
                half * half
            };
            let mean = pairs.map(square).sum::<f64>() / (self.steps.len() / 2) as f64;
            if let Some(told) = told[split.column()].get_mut(usize::from(split.bin)) {
                *told += mean;
            }
        }
    }

    /// The largest step, whatever its sign.
    pub(crate) fn largest(&self) -> f64 {
        self.steps.iter().fold(0.0, |largest, step| f64::from(step.abs()).max(largest))
    }

    /// Whether a tree that was read can be used with these bins.
    pub(crate) fn fits(&self, bins: &Bins) -> bool {
        self.splits.iter().all(|split| split.fits(bins))
            && self.steps.iter().all(|step| step.is_finite())
    }

    /// Its nodes as those of a free tree, the root first; after each split its left side, then its right.
    pub(crate) fn parts(&self, bins: &Bins) -> Vec<NodeView> {
        let mut nodes = Vec::with_capacity(2 * self.steps.len());
        self.lay_out(0, 0, bins, &mut nodes);
        nodes
    }

    fn lay_out(&self, asked: usize, place: usize, bins: &Bins, nodes: &mut Vec<NodeView>) {
        let Some(&Split { column, bin, missing_left }) = self.splits.get(asked) else {
            nodes.push(NodeView::Leaf(f64::from(self.steps[place])));
            return;
        };
        let (here, column) = (nodes.len(), column as usize);
        nodes.push(NodeView::Leaf(0.0)); // until the size of the left side is known
        self.lay_out(asked + 1, place, bins, nodes);
        let (right, threshold) = (nodes.len(), bins.end(column, bin).unwrap_or(f64::MAX));
        nodes[here] = NodeView::Split { column, threshold, missing_left, right };
        self.lay_out(asked + 1, place | 1 << asked, bins, nodes);
    }
}

/// A tree is saved as one line: `3:17` asks whether column 3 is beyond bin 17 (`3:17?` when missing values are
/// not), then come the steps.
impl Serialize for Symmetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        for Split { column, bin, missing_left } in &self.splits {
            text += &format!("{column}:{bin}{} ", if *missing_left { "?" } else { "" });
        }
        for (nth, step) in self.steps.iter().enumerate() {
            text += &format!("{}{step:?}", if nth > 0 { " " } else { "" });
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Symmetric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| D::Error::custom(format!("'{text}' is not a tree")))
    }
}

impl Symmetric {
    fn read(text: &str) -> Option<Self> {
        let (mut splits, mut steps) = (Vec::new(), Vec::new());
        for word in text.split(' ') {
            match word.split_once(':') {
                Some(_) if !steps.is_empty() => return None,
                Some((column, rest)) => {
                    let bin = rest.strip_suffix('?');
                    splits.push(Split {
                        column: column.parse().ok()?,
                        bin: bin.unwrap_or(rest).parse().ok()?,
                        missing_left: bin.is_some(),
                    });
                }
                None => steps.push(word.parse().ok()?),
            }
        }
        let whole = splits.len() <= MOST_SPLITS && steps.len() == 1 << splits.len();
        whole.then_some(Self { splits, steps })
    }
}
