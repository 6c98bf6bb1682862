//! A panel: two axes and the layers between them.

use crate::axis::{Axis, Extent, Extents, Frame};
use crate::layer::{Key, Layer};
use crate::legend::{Entries, Legend};
use crate::occupancy::Occupancy;
use crate::scene::Mark;

/// Two axes with layers drawn between them, the first at the bottom (heat maps lie below all else).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) layers: Vec<Layer>,
    pub(crate) legend: Legend,
    pub(crate) grid: bool,
    pub(crate) aspect: Option<f64>,
}

impl Panel {
    /// An empty panel. Text makes a linear axis with that label.
    pub fn new(x: impl Into<Axis>, y: impl Into<Axis>) -> Self {
        Panel { x: x.into(), y: y.into(), ..Panel::default() }
    }

    /// A few words above the panel, on the left.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a layer above those already there.
    pub fn with(mut self, layer: impl Into<Layer>) -> Self {
        self.layers.push(layer.into());
        self
    }

    /// Where the legend goes; to a free place if not set.
    pub fn legend(mut self, legend: Legend) -> Self {
        self.legend = legend;
        self
    }

    /// Thin lines at the ticks of both axes, below all layers.
    pub fn grid(mut self) -> Self {
        self.grid = true;
        self
    }

    /// One of y is so many times as long as one of x: the range of one of them is widened where it must
    /// be. 1 for a plan, more on a map away from the equator.
    pub fn aspect(mut self, aspect: f64) -> Self {
        self.aspect = Some(aspect).filter(|aspect| aspect.is_finite() && *aspect > 0.0);
        self
    }

    fn ordered(&self) -> Vec<&Layer> {
        let mut layers: Vec<&Layer> = self.layers.iter().collect();
        layers.sort_by_key(|layer| layer.depth());
        layers
    }

    fn extents(&self, within: Option<(f64, f64)>) -> Extents<'_> {
        let (x, y) = (Extent::empty(), Extent::empty());
        let mut extents = Extents { x_axis: &self.x, y_axis: &self.y, within, x, y };
        for layer in &self.layers {
            layer.as_draw().extend(&mut extents);
        }
        extents
    }

    /// The range of x that fits the data.
    pub(crate) fn x_extent(&self) -> Extent {
        self.extents(None).x
    }

    /// The range of y to draw, given that of x.
    pub(crate) fn y_range(&self, x_range: (f64, f64)) -> (f64, f64) {
        self.y.resolve(&self.extents(Some(x_range)).y)
    }

    pub(crate) fn entries(&self) -> Entries<'_> {
        Entries::new(self.layers.iter().map(Layer::as_draw))
    }

    /// The first heat map that asks for one has the colour key.
    pub(crate) fn key(&self) -> Option<Key<'_>> {
        self.layers.iter().find_map(|layer| match layer {
            Layer::Density(density) => density.color_key(),
            _ => None,
        })
    }

    /// The marks of all layers.
    pub(crate) fn draw(&self, frame: &Frame) -> Vec<Mark> {
        // Labels on isolines keep clear of the lines and points of the other layers.
        let mut taken = Occupancy::new(frame.rect);
        for layer in &self.layers {
            if !matches!(layer, Layer::Isolines(_) | Layer::Density(_) | Layer::Band(_)) {
                let mut marks = Vec::new();
                layer.as_draw().draw(frame, &taken.clone(), &mut marks);
                marks.iter().for_each(|mark| taken.add(mark));
            }
        }
        let mut marks = Vec::new();
        for layer in self.ordered() {
            layer.as_draw().draw(frame, &taken, &mut marks);
        }
        marks
    }
}
