//! What an ONNX file must be, whatever runs it; `tests/onnx_check.py` has its numbers checked.

use std::collections::HashSet;

use errbar::mean::bias;
use errbar::sigma::Model;
use errbar::sigma::constant::Constant;
use errbar::sigma::network::{self, Activation, Layer};
use errbar::sigma::polynomial::{self, Order};
use errbar::sigma::smooth;
use errbar::sigma::trees;
use errbar::{Data, Silent, Split};
use prost::Message;
use serde::Deserialize;
use serde_json::Value;

use super::messages::{self, BOOL, DOUBLE, Graph, INT64, Size, ValueInfo};
use super::onnx::{Column, Described, Moved, export};

/// Errors that depend on all the inputs.
fn data(columns: usize) -> (Vec<f64>, Vec<f64>) {
    let inputs: Vec<f64> = (0..60 * columns)
        .map(|i| (i as f64 * 2f64.sqrt()).fract() * (i % columns + 1) as f64)
        .collect();
    let size = |row: &[f64]| 0.1 + row.iter().sum::<f64>();
    let error = inputs.chunks(columns).zip(0..).map(|(row, i)| size(row) * f64::from(i).sin());
    let error = error.collect();
    (inputs, error)
}

fn polynomial(columns: usize, largest_order: usize) -> Model {
    let (inputs, error) = data(columns);
    let general = polynomial::Options::general();
    let options = polynomial::Options { largest_order, order: Order::Fixed, ..general };
    polynomial::fit(&inputs, columns, &error, &options).unwrap().into()
}

fn network(columns: usize, starts: usize) -> Model {
    let (inputs, error) = data(columns);
    let hidden = [(4, Activation::Tanh), (3, Activation::Clamp)];
    let hidden = hidden.map(|(units, activation)| Layer { units, activation }).to_vec();
    let general = network::Options::general();
    let options = network::Options { shapes: vec![hidden], starts, iterations: 5, ..general };
    network::fit(&inputs, columns, &error, &options).unwrap().into()
}

fn smooth(columns: usize) -> Model {
    let (inputs, error) = data(columns);
    let data = Data::new(&inputs, columns, &error).unwrap();
    smooth::fit_to(&data, &smooth::Options::default(), &Silent).unwrap().into()
}

fn trees(columns: usize, rounds: usize) -> Model {
    let (inputs, error) = data(columns);
    let options = trees::Options {
        bags: Some(1), // which makes all its rounds
        rounds,
        ..trees::Options::default()
    };
    trees::fit(&inputs, columns, &error, &options).unwrap().into()
}

/// All of them in equal shares; a stack itself is made by a fit or a file only.
fn stack(members: &[Model]) -> Model {
    let share = 1.0 / members.len() as f64;
    let member = |model: &Model| serde_json::json!({"share": share, "model": model});
    let members: Vec<Value> = members.iter().map(member).collect();
    Model::deserialize(serde_json::json!({"kind": "stack", "members": members})).unwrap()
}

fn columns(number: usize) -> Vec<Column> {
    (0..number).map(|c| Column { name: format!("x{c}"), range: (0.0, 1.0) }).collect()
}

fn described(columns: &[Column], missing: bool) -> Described<'_> {
    Described { columns, categories: &[], missing }
}

fn decoded(model: &Model, missing: bool) -> messages::Model {
    let bytes = export(
        &model.clone().into(),
        None,
        None,
        &described(&columns(model.columns()), missing),
        Vec::new(),
    )
    .unwrap();
    messages::Model::decode(bytes.as_slice()).unwrap()
}

/// Name, type and shape; 0 for any number of rows.
fn shape(value: &ValueInfo) -> (&str, i32, Vec<i64>) {
    let tensor = value.kind.as_ref().unwrap().tensor.as_ref().unwrap();
    let size = |dimension: &messages::Dimension| match dimension.size.as_ref().unwrap() {
        Size::Fixed(size) => *size,
        Size::Any(name) => {
            assert_eq!(name, "rows");
            0
        }
    };
    let sizes = tensor.shape.as_ref().unwrap().dim.iter().map(size).collect();
    (&value.name, tensor.elem_type, sizes)
}

/// Every value is made once, before it is used, and is used; every constant has its numbers.
fn check(graph: &Graph) {
    let mut known: HashSet<&str> = graph.input.iter().map(|input| input.name.as_str()).collect();
    for constant in &graph.initializer {
        assert!([DOUBLE, INT64].contains(&constant.data_type));
        let numbers: i64 = constant.dims.iter().product();
        assert_eq!(constant.raw_data.len() as i64, 8 * numbers, "{}", constant.name);
        assert!(known.insert(&constant.name), "{} twice", constant.name);
    }
    let mut used: HashSet<&str> = graph.output.iter().map(|output| output.name.as_str()).collect();
    for node in &graph.node {
        for input in &node.input {
            assert!(known.contains(input.as_str()), "{input} before it is made");
            used.insert(input);
        }
        assert!(node.output.iter().all(|output| known.insert(output)), "{} twice", node.name);
    }
    assert_eq!(used, known);
}

#[test]
fn every_model_has_the_same_inputs_and_outputs() {
    let constant = Model::from(Constant { sigma: 2.5, columns: 3 });
    let polynomials = [polynomial(3, 0), polynomial(3, 1), polynomial(3, 4)];
    let others = [constant, network(3, 1), network(3, 6), smooth(3), trees(3, 2)];
    let mut models: Vec<Model> = polynomials.into_iter().chain(others).collect();
    models.push(stack(&models));
    // Missing inputs change nodes, not what goes in and out.
    for (model, missing) in models.iter().flat_map(|model| [(model, false), (model, true)]) {
        let file = decoded(model, missing);
        assert_eq!(file.ir_version, 8);
        let sets = file.opset_import.iter().map(|set| (set.domain(), set.version));
        let for_trees = matches!(model.name(), "trees" | "stack").then_some(("ai.onnx.ml", 3));
        assert!(sets.eq([("", 17)].into_iter().chain(for_trees)), "{:?}", file.opset_import);
        assert_eq!(file.producer_name, "errbar");
        assert_eq!(file.producer_version, env!("CARGO_PKG_VERSION"));
        let meta: Vec<(&str, &str)> =
            file.metadata_props.iter().map(|e| (e.key.as_str(), e.value.as_str())).collect();
        let law = r#"{"base":"normal","location":0.0,"left":1.0,"right":1.0}"#;
        let expected =
            [("inputs", r#"["x0","x1","x2"]"#), ("model", &model.explain()), ("law", law)];
        assert_eq!(meta, expected);
        let graph = file.graph.unwrap();
        assert_eq!(
            graph.input.iter().map(shape).collect::<Vec<_>>(),
            [("inputs", DOUBLE, vec![0, 3])]
        );
        assert_eq!(
            graph.output.iter().map(shape).collect::<Vec<_>>(),
            [("sigma", DOUBLE, vec![0]), ("outside", BOOL, vec![0])]
        );
        check(&graph);
    }
}

/// A bias that was learned is in the graph, with or without steps, and so is the forecast that it moves.
#[test]
fn a_bias_is_exported() {
    let (inputs, mut error) = data(3);
    for row in 0..error.len() {
        error[row] = 0.1 * error[row] + 5.0 * inputs[3 * row];
    }
    let data = Data::new(&inputs, 3, &error).unwrap();
    let bias = bias::fit(&data, Split::default(), 0, &Silent).unwrap().bias;
    assert!(!bias.trees().is_empty());
    let model = Model::from(Constant { sigma: 2.5, columns: 3 });
    for forecast in [None, Some(1)] {
        let moved = Some(Moved { bias: &bias, forecast });
        let bytes =
            export(&model.clone().into(), moved, None, &described(&columns(3), false), Vec::new())
                .unwrap();
        let graph = messages::Model::decode(bytes.as_slice()).unwrap().graph.unwrap();
        let outputs: Vec<_> = graph.output.iter().map(|output| output.name.as_str()).collect();
        let expected = ["sigma", "outside", "bias", "debiased"];
        assert_eq!(outputs, expected[..if forecast.is_some() { 4 } else { 3 }]);
        check(&graph);
    }
}

#[test]
fn the_graph_does_not_grow_with_terms_or_networks() {
    let nodes = |model: &Model| decoded(model, false).graph.unwrap().node.len();
    // 35 and 5 terms: two more nodes for each of up to three further factors of a term.
    assert!(nodes(&polynomial(3, 4)) <= nodes(&polynomial(1, 4)) + 4);
    assert_eq!(nodes(&network(2, 8)), nodes(&network(2, 1)));
    assert_eq!(nodes(&smooth(3)), nodes(&smooth(1)));
    assert_eq!(nodes(&trees(2, 8)), nodes(&trees(2, 2)));
}

#[test]
fn columns_must_be_those_of_the_model() {
    let why =
        export(&polynomial(2, 1).into(), None, None, &described(&columns(3), false), Vec::new())
            .unwrap_err()
            .to_string();
    assert_eq!(why, "the model has 2 inputs, and 3 columns are named");
}
