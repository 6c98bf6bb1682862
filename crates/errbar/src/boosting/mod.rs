//! What boosting is made of, for trees of sigma and of a bias: bins of the inputs, slopes in fixed point, a
//! tree, and how one is grown.

mod bins;
mod choose;
mod forest;
mod grow;
mod slopes;
mod symmetric;
mod tree;

pub(crate) use self::bins::{Bins, Codes, Tally};
pub(crate) use self::choose::{Chooser, Histogram, LeafSums, Limits, Next, Sketch};
pub(crate) use self::forest::{add, sums};
pub(crate) use self::grow::{Grower, add as add_slopes, partition, width};
pub(crate) use self::slopes::{Scale, Size, Slopes};
pub(crate) use self::symmetric::{Split, Symmetric};
pub use self::tree::NodeView;
pub(crate) use self::tree::Tree;
