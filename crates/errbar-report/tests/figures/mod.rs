//! What a figure promises: well-formed SVG whatever the labels, ink where the data are and nowhere
//! else, the same bytes each time, errors that name the layer, and no panic on any data.

mod drawing;
mod hostile;
mod pixels;

use errbar_report::{Figure, Layer, Panel};

fn one(panel: Panel) -> Figure {
    Figure::new(400.0, 300.0).with(panel)
}

fn with(layer: impl Into<Layer>) -> Figure {
    one(Panel::new("x", "y").with(layer))
}
