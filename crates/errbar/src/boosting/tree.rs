//! One tree: a step for each box of inputs.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bins::Bins;

/// A node of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Node {
    /// Rows end here and take this step.
    Leaf(f32),
    /// Rows up to a bin of a column go to the node after this one, the others to `right`.
    Split {
        column: u32,
        /// The last bin that goes left.
        bin: u8,
        /// Whether a missing value goes left.
        missing_left: bool,
        right: u32,
    },
}

/// A node of a tree, in numbers of the inputs' own scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NodeView {
    /// Rows that end here add this to the sum: of log sigma, or of a bias.
    Leaf(f64),
    /// Rows go to the node after this one (left) or to another.
    Split {
        /// The input that decides.
        column: usize,
        /// Values up to this one go left; the largest double where all values do.
        threshold: f64,
        /// Whether a missing value goes left.
        missing_left: bool,
        /// The place of the node that the others go to.
        right: usize,
    },
}

/// A tree. Its root is the first node; after each split comes its left side, then its right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree {
    pub(super) nodes: Vec<Node>,
}

impl Tree {
    /// Its nodes, the root first.
    pub(crate) fn parts(&self, bins: &Bins) -> Vec<NodeView> {
        let part = |node: &Node| match *node {
            Node::Leaf(step) => NodeView::Leaf(f64::from(step)),
            Node::Split { column, bin, missing_left, right } => {
                let (column, right) = (column as usize, right as usize);
                let threshold = bins.end(column, bin).unwrap_or(f64::MAX);
                NodeView::Split { column, threshold, missing_left, right }
            }
        };
        self.nodes.iter().map(part).collect()
    }

    /// The step of a row of codes.
    pub(crate) fn step(&self, bins: &Bins, codes: &[u8]) -> f64 {
        let mut at = 0;
        loop {
            match self.nodes[at] {
                Node::Leaf(step) => return f64::from(step),
                Node::Split { column, bin, missing_left, right } => {
                    let column = column as usize;
                    let left = bins.goes_left(column, codes[column], bin, missing_left);
                    at = if left { at + 1 } else { right as usize };
                }
            }
        }
    }

    /// The columns it splits.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Leaf(_) => None,
            Node::Split { column, .. } => Some(*column as usize),
        })
    }

    /// The largest step of any leaf, whatever its sign.
    pub(crate) fn largest(&self) -> f64 {
        self.nodes.iter().fold(0.0, |largest, node| match *node {
            Node::Leaf(step) => f64::from(step.abs()).max(largest),
            Node::Split { .. } => largest,
        })
    }

    /// Whether a tree that was read can be used with these bins. (Its shape has been checked.)
    pub(crate) fn fits(&self, bins: &Bins) -> bool {
        self.nodes.iter().all(|node| match *node {
            Node::Leaf(step) => step.is_finite(),
            Node::Split { column, bin, .. } => {
                let column = column as usize;
                column < bins.columns() && usize::from(bin) < bins.count(column)
            }
        })
    }
}

/// A tree is saved as one line, node after node: `3:17` splits column 3 after bin 17 (`3:17?` when
/// missing values go left), a number is the step of a leaf.
impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = self.nodes.iter().map(|node| match *node {
            Node::Leaf(step) => format!("{step:?}"),
            Node::Split { column, bin, missing_left, .. } => {
                format!("{column}:{bin}{}", if missing_left { "?" } else { "" })
            }
        });
        serializer.serialize_str(&words.collect::<Vec<String>>().join(" "))
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| D::Error::custom(format!("'{text}' is not a tree")))
    }
}

impl Tree {
    fn read(text: &str) -> Option<Self> {
        let mut nodes = Vec::new();
        let mut waiting = Vec::new(); // splits whose right side is still to come
        let mut whole = false;
        for word in text.split(' ') {
            if whole {
                return None;
            }
            match word.split_once(':') {
                Some((column, rest)) => {
                    let bin = rest.strip_suffix('?');
                    waiting.push(nodes.len());
                    nodes.push(Node::Split {
                        column: column.parse().ok()?,
                        bin: bin.unwrap_or(rest).parse().ok()?,
                        missing_left: bin.is_some(),
                        right: 0,
                    });
                }
                None => {
                    nodes.push(Node::Leaf(word.parse().ok()?));
                    // This leaf ends the left side of the last split that waits.
                    let next = u32::try_from(nodes.len()).ok()?;
                    match waiting.pop().map(|split: usize| &mut nodes[split]) {
                        Some(Node::Split { right, .. }) => *right = next,
                        _ => whole = true,
                    }
                }
            }
        }
        whole.then_some(Self { nodes })
    }
}
