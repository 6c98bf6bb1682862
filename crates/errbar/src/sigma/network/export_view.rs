//! What a fitted network is made of, for those who write it in another form.

use super::{Activation, Network, Output};
use crate::sigma::Scaling;

/// One layer of all the networks that are averaged; they differ only in their weights.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerView<'a> {
    /// The number of inputs of each unit.
    pub inputs: usize,
    /// The number of units.
    pub units: usize,
    /// What the units do; `None` for the last layer, whose one unit goes to the [`Output`].
    pub activation: Option<Activation>,
    /// For each network, for each unit its weights, then its bias.
    pub weights: Vec<&'a [f64]>,
}

impl Network {
    /// The ranges of the inputs in the training rows.
    #[must_use]
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// The layers, from the inputs on.
    pub fn layers(&self) -> impl Iterator<Item = LayerView<'_>> {
        let mut from = 0;
        self.shape.layers().enumerate().map(move |(number, (inputs, units))| {
            let own = from..from + units * (inputs + 1);
            from = own.end;
            LayerView {
                inputs,
                units,
                activation: self.shape.hidden.get(number).map(|layer| layer.activation),
                weights: self.members.iter().map(|member| &member[own.clone()]).collect(),
            }
        })
    }

    /// What the last unit does.
    #[must_use]
    pub fn output(&self) -> Output {
        self.shape.output
    }

    /// The least sigma it gives: the least on the rows it was trained on.
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// Sigma is the geometric mean of the networks' outputs times this.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }
}
