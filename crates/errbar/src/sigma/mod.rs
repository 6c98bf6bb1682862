//! Models of sigma(x): the size of the error as a function of the inputs.
//!
//! | model | sigma(x) |
//! |---|---|
//! | [`constant`] | one number |
//! | [`polynomial`] | a polynomial of the inputs, or its exponential |
//! | [`smooth`] | a smooth function of any shape, with a band on sigma itself |
//! | [`network`] | a small neural network |
//! | [`trees`] | the exponential of a sum of small trees |
//! | [`stack`] | several of them, averaged |
//!
//! Each has the paper's settings and general ones. The general ones are the better choice for data
//! of one's own: sigma is never bounded or negative, the order or the regularisation is chosen on
//! held-out data, and the units of the observation do not matter.

pub(crate) mod combination;
pub mod constant;
mod model;
pub mod network;
pub mod polynomial;
pub(crate) mod refined;
mod saved;
mod scaling;
pub mod smooth;
pub mod stack;
pub mod support;
pub mod supported;
mod train;
pub mod trees;

pub use model::Model;
pub use scaling::Scaling;
pub(crate) use scaling::in_own_scale;
pub use supported::Supported;
