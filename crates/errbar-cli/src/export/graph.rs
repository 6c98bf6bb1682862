//! An ONNX graph, built node by node.

use super::messages::{
    Attribute, Dimension, Graph, INT, INT64, INTS, Node, OperatorSet, STRINGS, Shape, Size, TENSOR,
    Tensor, TensorType, Type, ValueInfo,
};
use super::messages::{BOOL, DOUBLE, STRING};

/// Operators that every runtime since 2022 knows: ONNX's own, and those for trees.
const OWN: Operators = Operators { domain: "", version: 17 };
pub(super) const TREES: Operators = Operators { domain: "ai.onnx.ml", version: 3 };

/// A set of operators.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operators {
    domain: &'static str,
    version: i64,
}

/// A value in the graph, by its name.
#[derive(Debug, Clone)]
pub(super) struct Value(String);

/// A graph in the making. Every node has one output, whose name is the node's.
#[derive(Default)]
pub(super) struct Builder {
    graph: Graph,
    /// What names of constants and nodes begin with.
    prefix: String,
}

impl Builder {
    pub(super) fn new(name: &str) -> Self {
        Self { graph: Graph { name: name.into(), ..Graph::default() }, prefix: String::new() }
    }

    /// Adds a part whose names begin with a prefix, so that they are its own.
    pub(super) fn part<T>(&mut self, prefix: &str, add: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.prefix.len();
        self.prefix.push_str(prefix);
        let added = add(self);
        self.prefix.truncate(outer);
        added
    }

    /// Doubles of any number of rows.
    pub(super) fn input(&mut self, name: &str, columns: usize, doc: &str) -> Value {
        let shape = vec![rows(), Size::Fixed(columns as i64)];
        self.graph.input.push(described(name, DOUBLE, shape, doc));
        Value(name.into())
    }

    /// Texts of any number of rows.
    pub(super) fn input_texts(&mut self, name: &str, columns: usize, doc: &str) -> Value {
        let shape = vec![rows(), Size::Fixed(columns as i64)];
        self.graph.input.push(described(name, STRING, shape, doc));
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
        self.constant(name, dims, DOUBLE, bytes_of(values))
    }

    /// A constant list of integers.
    pub(super) fn integers(&mut self, name: &str, values: &[usize]) -> Value {
        let bytes = values.iter().flat_map(|&v| (v as i64).to_le_bytes()).collect();
        self.constant(name, &[values.len()], INT64, bytes)
    }

    fn constant(&mut self, name: &str, dims: &[usize], data_type: i32, raw_data: Vec<u8>) -> Value {
        let name = self.prefix.clone() + name;
        let dims = dims.iter().map(|&d| d as i64).collect();
        self.graph.initializer.push(Tensor { dims, data_type, name: name.clone(), raw_data });
        Value(name)
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
        self.node_of(OWN, name, op, inputs, attribute)
    }

    /// Adds a node whose operator comes from some set.
    pub(super) fn node_of(
        &mut self,
        operators: Operators,
        name: &str,
        op: &str,
        inputs: &[&Value],
        attribute: Vec<Attribute>,
    ) -> Value {
        let name = self.prefix.clone() + name;
        self.graph.node.push(Node {
            input: inputs.iter().map(|value| value.0.clone()).collect(),
            output: vec![name.clone()],
            name: name.clone(),
            op_type: op.into(),
            domain: operators.domain.into(),
            attribute,
        });
        Value(name)
    }

    /// The smallest values of each row, so many.
    pub(super) fn smallest(&mut self, name: &str, values: &Value, count: usize) -> Value {
        let count = self.integers(&format!("{name}_count"), &[count]);
        let attributes = vec![int("axis", 1), int("largest", 0), int("sorted", 0)];
        let smallest = self.node_with(name, "TopK", &[values, &count], attributes);
        // The operator tells where they are, too.
        if let Some(node) = self.graph.node.last_mut() {
            node.output.push(format!("{}_places", smallest.0));
        }
        smallest
    }

    /// The graph, and the sets of operators it needs.
    pub(super) fn finish(self) -> (Graph, Vec<OperatorSet>) {
        let needed = |set: &Operators| {
            let needed = |node: &Node| node.domain == set.domain;
            set.domain == OWN.domain || self.graph.node.iter().any(needed)
        };
        let set = |Operators { domain, version }: Operators| OperatorSet {
            domain: Some(domain.into()),
            version,
        };
        let sets = [OWN, TREES].into_iter().filter(needed).map(set).collect();
        (self.graph, sets)
    }
}

pub(super) fn int(name: &str, value: i64) -> Attribute {
    Attribute { name: name.into(), i: Some(value), kind: INT, ..Attribute::default() }
}

pub(super) fn ints(name: &str, values: &[i64]) -> Attribute {
    Attribute { name: name.into(), ints: values.to_vec(), kind: INTS, ..Attribute::default() }
}

pub(super) fn strings(name: &str, values: &[&str]) -> Attribute {
    let strings = values.iter().map(|&value| value.into()).collect();
    Attribute { name: name.into(), strings, kind: STRINGS, ..Attribute::default() }
}

/// A list of doubles, which an attribute can only hold as a tensor.
pub(super) fn doubles(name: &str, values: &[f64]) -> Attribute {
    let dims = vec![values.len() as i64];
    let (data_type, raw_data) = (DOUBLE, bytes_of(values));
    let tensor = Tensor { dims, data_type, name: name.into(), raw_data };
    Attribute { name: name.into(), t: Some(tensor), kind: TENSOR, ..Attribute::default() }
}

fn bytes_of(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
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
