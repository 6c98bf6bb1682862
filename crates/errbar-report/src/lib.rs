//! Figures and pages for errbar: tables in memory in, SVG, PNG and HTML out. No files, no printing.
//!
//! [`report`] shows whether error bars can be trusted, on one page; [`page`] is the look that all
//! pages of errbar share. Everything else draws figures.
//!
//! A [`Figure`] has one or more [`Panel`]s, a panel has two axes and layers: a [`Line`], a
//! [`Scatter`], a [`Band`] and so on. The paper's figures of sigma, network above and polynomial
//! below, are made like this:
//!
//! ```
//! use errbar_report::{Band, Figure, Line, Panel, color};
//!
//! let x = [0.0, 0.25, 0.5, 0.75, 1.0];
//! let truth = [0.5, 0.7, 0.9, 1.0, 1.1];
//! let estimate = [0.52, 0.66, 0.91, 1.03, 1.05];
//! let [low, high] = [-0.1, 0.1].map(|sd| estimate.map(|sigma| sigma + sd));
//! let [lower, higher] = [-0.2, 0.2].map(|sd| estimate.map(|sigma| sigma + sd));
//!
//! let panel = Panel::new("x", "σ(x)")
//!     .title("Network")
//!     .with(Band::new(x, lower, higher).color(color::TWO_SD).label("2 standard deviations"))
//!     .with(Band::new(x, low, high).color(color::ONE_SD).label("1 standard deviation"))
//!     .with(Line::new(x, truth).color(color::TRUTH).label("truth"))
//!     .with(Line::new(x, estimate).color(color::ESTIMATE).label("mean estimate"));
//! let figure = Figure::new(560.0, 640.0).share_x().with(panel.clone()).with(panel.title("Polynomial"));
//!
//! let svg: String = figure.svg()?;
//! let png: Vec<u8> = figure.png(2.0)?;
//! assert!(svg.starts_with("<svg") && png.starts_with(b"\x89PNG"));
//! # Ok::<(), errbar_report::Error>(())
//! ```
//!
//! # What one can rely on
//!
//! - The same figure gives the same bytes.
//! - Nothing panics. Columns that do not fit each other are an [`Error`] that names the layer; values
//!   that cannot be shown (NaN, infinite, beyond ±1e300, not positive on a logarithmic axis) are
//!   skipped and interrupt lines. An empty panel has its axes.
//! - What lies beyond the axes is cut off, and more than 20,000 points are thinned without changing
//!   the picture much: see [`Line`] and [`Scatter`].
//! - A legend keeps clear of the data: it goes to a free corner, or above the panel.
//! - Labels are text, whatever is in them. `_{…}` and `^{…}` make sub- and superscripts; Greek letters
//!   are written as such: `"σ_{min} (m s^{−1})"`.
//! - PNGs need no fonts on the machine: one is inside the crate.

// The library neither prints nor panics.
#![warn(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod axis;
mod calendar;
pub mod color;
mod contour;
mod error;
mod figure;
mod font;
mod geometry;
mod layer;
mod layout;
mod legend;
mod names;
mod occupancy;
pub mod page;
mod panel;
mod raster;
pub mod report;
mod scene;
mod svg;
mod table;
mod text;
mod ticks;

pub use axis::Axis;
pub use color::Color;
pub use error::{Error, Result};
pub use figure::{Drawing, Figure};
pub use layer::{
    Band, Density, Edge, ErrorBars, Histogram, Isolines, Layer, Line, Rule, Scatter, Text,
};
pub use legend::Legend;
pub use panel::Panel;
pub use scene::{Anchor, Dash};
pub use table::{Cell, Table};
pub use text::literal;
