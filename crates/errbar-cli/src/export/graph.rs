//! An ONNX graph, built node by node.

use super::messages::{
    Attribute, Dimension, Graph, INT, INT64, INTS, Node, Shape, Size, Tensor, TensorType, Type,
    ValueInfo,
};
use super::messages::{BOOL, DOUBLE};

/// A value in the graph, by its name.
#[derive(Debug, Clone)]
pub(super) struct Value(String);

/// A graph in the making. Every node has one output, whose name is the node's.
#[derive(Default)]
pub(super) struct Builder {
    graph: Graph,
}

impl Builder {
    pub(super) fn new(name: &str) -> Self {
        Self { graph: Graph { name: name.into(), ..Graph::default() } }
    }

    /// Doubles of any number of rows.
    pub(super) fn input(&mut self, name: &str, columns: usize, doc: &str) -> Value {
        let shape = vec![rows(), Size::Fixed(columns as i64)];
        self.graph.input.push(described(name, DOUBLE, shape, doc));
        Value(name.into())
    }

    /// One double for each row.
    pub(super) fn output_double(&mut self, value: &Value, doc: &str) {
        self.graph.output.push(described(&value.0, DOUBLE, vec![rows()], doc));
    }

    /// One truth for each row.
    pub(super) fn output_bool(&mut self, value: &Value, doc: &str) {
        self.graph.output.push(described(&value.0, BOOL, vec![rows()], doc));
    }

    /// A constant; no dimensions make a scalar.
    pub(super) fn doubles(&mut self, name: &str, dims: &[usize], values: &[f64]) -> Value {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(name, dims, DOUBLE, bytes)
    }

    /// A constant list of integers.
    pub(super) fn integers(&mut self, name: &str, values: &[usize]) -> Value {
        let bytes = values.iter().flat_map(|&v| (v as i64).to_le_bytes()).collect();
        self.constant(name, &[values.len()], INT64, bytes)
    }

    fn constant(&mut self, name: &str, dims: &[usize], data_type: i32, raw_data: Vec<u8>) -> Value {
        let dims = dims.iter().map(|&d| d as i64).collect();
        self.graph.initializer.push(Tensor { dims, data_type, name: name.into(), raw_data });
        Value(name.into())
    }

    /// Adds a node without attributes.
    pub(super) fn node(&mut self, name: &str, op: &str, inputs: &[&Value]) -> Value {
        self.node_with(name, op, inputs, vec![])
    }

    pub(super) fn node_with(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&Value],
        attribute: Vec<Attribute>,
    ) -> Value {
        self.graph.node.push(Node {
            input: inputs.iter().map(|value| value.0.clone()).collect(),
            output: vec![name.into()],
            name: name.into(),
            op_type: op.into(),
            attribute,
        });
        Value(name.into())
    }

    pub(super) fn finish(self) -> Graph {
        self.graph
    }
}

pub(super) fn int(name: &str, value: i64) -> Attribute {
    Attribute { name: name.into(), i: Some(value), kind: INT, ..Attribute::default() }
}

pub(super) fn ints(name: &str, values: &[i64]) -> Attribute {
    Attribute { name: name.into(), ints: values.to_vec(), kind: INTS, ..Attribute::default() }
}

fn rows() -> Size {
    Size::Any("rows".into())
}

fn described(name: &str, elem_type: i32, shape: Vec<Size>, doc: &str) -> ValueInfo {
    let dim = shape.into_iter().map(|size| Dimension { size: Some(size) }).collect();
    let tensor = TensorType { elem_type, shape: Some(Shape { dim }) };
    ValueInfo {
        name: name.into(),
        kind: Some(Type { tensor: Some(tensor) }),
        doc_string: doc.into(),
    }
}
