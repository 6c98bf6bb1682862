//! What boosting is made of, for trees of sigma and of a bias: bins of the inputs, a tree, and how one is
//! grown.

mod bins;
mod grow;
mod tree;

pub(crate) use self::bins::{Bins, Codes};
pub(crate) use self::grow::{Grower, Limits, Slope};
pub use self::tree::NodeView;
pub(crate) use self::tree::Tree;
