//! What fitted trees are made of, for those who write them in another form.

use super::tree::Node;
use super::{Bins, Tree, Trees};

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

impl Trees {
    /// The nodes of each tree, its root first.
    pub fn trees(&self) -> impl ExactSizeIterator<Item = Vec<NodeView>> {
        self.trees.iter().map(|tree| tree.parts(&self.bins))
    }

    /// log sigma is this plus the steps of all trees.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Sigma is the exponential times this.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }
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
}
