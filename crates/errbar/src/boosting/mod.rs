//! What boosting is made of, for trees of sigma and of a bias: bins of the inputs, slopes in fixed point, a
//! tree, and how one is grown.

mod bins;
mod forest;
mod grow;
mod slopes;
mod symmetric;
mod tree;

pub(crate) use self::bins::{Bins, Codes};
pub(crate) use self::forest::{add, sums};
pub(crate) use self::grow::{Grower, Limits};
pub(crate) use self::slopes::Slopes;
pub(crate) use self::symmetric::Symmetric;
pub use self::tree::NodeView;
pub(crate) use self::tree::Tree;
