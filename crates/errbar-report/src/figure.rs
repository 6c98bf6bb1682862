//! A figure: panels on white paper.

use crate::axis::Frame;
use crate::error::{Error, Result};
use crate::layout;
use crate::panel::Panel;
use crate::scene::Scene;
use crate::{raster, svg};

/// One or more panels, drawn as SVG or PNG. See the [crate's example](crate).
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) columns: usize,
    pub(crate) share_x: bool,
    pub(crate) panels: Vec<Panel>,
}

/// A figure that has been drawn, and where its values are.
#[derive(Debug, Clone)]
pub struct Drawing {
    svg: String,
    frames: Vec<Frame>,
}

impl Drawing {
    /// The SVG document.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The pixel of the SVG at which values of a panel (counted from 0) lie; none when they are not
    /// on it.
    pub fn place(&self, panel: usize, x: f64, y: f64) -> Option<(f64, f64)> {
        let frame = self.frames.get(panel)?;
        frame.pixel((x, y)).filter(|&pixel| frame.rect.grown(0.5).contains(pixel))
    }
}

impl Figure {
    /// White paper of so many pixels, 96 to the inch. Letters are 11 to 15 pixels high: 560 pixels
    /// suit the width of a page.
    pub fn new(width: f64, height: f64) -> Self {
        Figure {
            title: String::new(),
            description: String::new(),
            width,
            height,
            columns: 1,
            share_x: false,
            panels: Vec::new(),
        }
    }

    /// The title, above all panels; also read aloud to those who cannot see the figure.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// What the figure shows, in words, for those who cannot see it. It is not drawn.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a panel: below the last one, or beside it where there are several columns.
    pub fn with(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Panels in so many columns, row by row; one column if not set.
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }

    /// Panels above each other show the same range of x, and only the lowest says which.
    pub fn share_x(mut self) -> Self {
        self.share_x = true;
        self
    }

    /// The figure as an SVG document.
    ///
    /// Text stays text. It carries no identifiers, style sheets or scripts, so many can stand inside
    /// one HTML page.
    ///
    /// # Errors
    ///
    /// Columns of a layer do not fit each other, or the size cannot be drawn.
    pub fn svg(&self) -> Result<String> {
        svg::write(&self.scene()?)
    }

    /// The figure as an SVG document that can tell where on it a value is.
    ///
    /// # Errors
    ///
    /// As [`svg`](Self::svg).
    pub fn drawing(&self) -> Result<Drawing> {
        let scene = self.scene()?;
        Ok(Drawing { svg: svg::write(&scene)?, frames: scene.frames })
    }

    /// The figure as a PNG file, with `scale` pixels for each pixel of the SVG: 1 for a small
    /// picture on screen, 2 for a sharp one, 3 for print. Text is drawn in the font of this crate, so
    /// it looks the same on every machine; letters other than Latin, Greek and Cyrillic are boxes.
    ///
    /// # Errors
    ///
    /// As [`svg`](Self::svg), or the scale makes too large a picture.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>> {
        raster::write(&self.scene()?, scale)
    }

    fn scene(&self) -> Result<Scene> {
        let fits = |length: f64| (50.0..=raster::LONGEST).contains(&length);
        if !(fits(self.width) && fits(self.height)) {
            return Err(Error::Size { width: self.width, height: self.height });
        }
        for (i, panel) in self.panels.iter().enumerate() {
            for (j, layer) in panel.layers.iter().enumerate() {
                let layer = layer.as_draw();
                let name = || match layer.label() {
                    "" => format!("panel {}, layer {}", i + 1, j + 1),
                    label => format!("panel {}, layer {} ({label})", i + 1, j + 1),
                };
                layer.check(&name)?;
            }
        }
        Ok(layout::scene(self))
    }
}
