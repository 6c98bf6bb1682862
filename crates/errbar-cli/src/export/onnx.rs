//! A model of sigma as an ONNX graph that computes what the library computes, in doubles.
//!
//! ```text
//! inputs [rows, columns] -> scaled -> polynomial, network, ... -> sigma   [rows]
//!                        -> beyond the training ranges?        -> outside [rows]
//!                        -> bias, where it was learned          -> bias, debiased [rows]
//! ```
//!
//! All rows, terms, averaged networks and trees go through the same few nodes as tensors, so that the
//! size of the graph grows only with the order of a polynomial, the layers of a network and the
//! members of a stack.

use anyhow::{Context, ensure};
use errbar::fit::{Levels, Shape, Turning};
use errbar::law::{ErrorLaw, Law};
use errbar::mean::bias::Bias;
use errbar::sigma::network::{Activation, Network, Output};
use errbar::sigma::polynomial::{Link, Polynomial};
use errbar::sigma::smooth::Formula;
use errbar::sigma::stack::{Member, Stack};
use errbar::sigma::{Model, Scaling, Supported};
use prost::Message;

use super::categories::Texts;
use super::graph::{Builder, Value, int, ints};
use super::messages::{self, BOOL, DOUBLE, Entry, INT64};
use super::support::Near;
use super::trees::{bias, slopes, trees};

/// The form of file that goes with the operators.
const FORM: i64 = 8;

/// An input column: its name, and its range in the data that the model was fitted to.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) range: (f64, f64),
}

/// The inputs in the graph, and what every model makes of them first.
pub(super) struct Inputs {
    pub(super) values: Value,
    /// Which of them are missing, where some may be.
    pub(super) absent: Option<Value>,
    /// The axis of the columns.
    pub(super) across: Value,
    /// 0 for a row that the model can answer, NaN for any other, as a column: added to sigma, it keeps
    /// a number that is none from passing for one that the model knows. (The library refuses such
    /// rows.)
    pub(super) gap: Value,
}

/// What is known of the inputs of a model.
#[derive(Clone, Copy)]
pub(super) struct Described<'a> {
    pub(super) columns: &'a [Column],
    /// Those that are texts.
    pub(super) categories: &'a [Levels],
    /// Whether numbers may be missing.
    pub(super) missing: bool,
}

impl Inputs {
    fn new(graph: &mut Builder, described: &Described, missing_doc: &str) -> (Self, Option<Texts>) {
        let Described { columns, categories, missing } = *described;
        let all: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let is_number = |column: &usize| categories.iter().all(|own| own.column() != *column);
        let numbers: Vec<&str> = (0..all.len()).filter(is_number).map(|c| all[c]).collect();
        let doc = format!(
            "One row for each forecast; the columns are {}.{missing_doc}",
            numbers.join(", ")
        );
        let plain = (!numbers.is_empty()).then(|| graph.input("inputs", numbers.len(), &doc));
        let texts = Texts::new(graph, categories, &all);
        let values = match (&texts, plain) {
            (None, Some(plain)) => plain,
            (None, None) => graph.input("inputs", 0, &doc),
            (Some(texts), plain) => texts.beside(graph, plain.as_ref(), all.len()),
        };
        let across = graph.integers("across", &[1]);
        let absent = missing.then(|| graph.node("absent", "IsNaN", &[&values]));
        let known = match &absent {
            None => values.clone(),
            Some(absent) => {
                let harmless = graph.doubles("harmless", &[], &[0.0]);
                graph.node("known", "Where", &[absent, &harmless, &values])
            }
        };
        let gaps = graph.node("gaps", "Sub", &[&known, &known]);
        let gap = graph.node("gap", "ReduceSum", &[&gaps, &across]);
        (Self { values, absent, across, gap }, texts)
    }
}

/// What a forecaster gets wrong on average, and which of the inputs its forecast is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved<'a> {
    pub(super) bias: &'a Bias,
    pub(super) forecast: Option<usize>,
}

/// The model as the bytes of an ONNX file.
///
/// # Errors
/// Columns that are not one for each input of the model.
pub(super) fn export(
    supported: &Supported,
    moved: Option<Moved>,
    shape: Option<&Shape>,
    described: &Described,
    told: Vec<(&str, String)>,
) -> anyhow::Result<Vec<u8>> {
    let (model, columns) = (supported.model(), described.columns);
    ensure!(
        columns.len() == model.columns(),
        "the model has {} inputs, and {} columns are named",
        model.columns(),
        columns.len()
    );
    let is_number = |column: &usize| described.categories.iter().all(|own| own.column() != *column);
    let names: Vec<&str> =
        (0..columns.len()).filter(is_number).map(|column| columns[column].name.as_str()).collect();
    let (missing_doc, refused) = match described.missing {
        true => (" A missing value is NaN.", "infinite"),
        false => ("", "not finite"),
    };
    let mut graph = Builder::new("sigma");
    let (inputs, texts) = Inputs::new(&mut graph, described, missing_doc);
    let near = supported
        .backing()
        .map(|backing| graph.part("near_", |graph| Near::new(graph, backing, &inputs)));
    let sigma = match model {
        Model::Stack(model) => stack(&mut graph, model, near.as_ref(), &inputs),
        model => {
            let sigma = sigma(&mut graph, model, &inputs);
            match &near {
                Some(near) => {
                    graph.part("held_", |graph| near.hold(graph, 0, model, &sigma, &inputs))
                }
                None => sigma,
            }
        }
    };
    let sigma = match shape {
        Some(shape) => graph.part("recalibrated_", |graph| {
            let factor = graph.doubles("factor", &[], &[shape.factor()]);
            let sigma = graph.node("product", "Mul", &[&sigma, &factor]);
            let (least, most) = supported.limits();
            let least = graph.doubles("least", &[], &[least]);
            let most = graph.doubles("most", &[], &[most]);
            graph.node("held", "Clip", &[&sigma, &least, &most])
        }),
        None => sigma,
    };
    let sigma = graph.node("sigma_column", "Add", &[&sigma, &inputs.gap]);
    let sigma = graph.node("sigma", "Squeeze", &[&sigma, &inputs.across]);
    graph.output_double(
        &sigma,
        &format!(
            "The standard deviation of the forecast's error; NaN for inputs that are {refused}."
        ),
    );
    // A curve is in units of sigma, which is there.
    let law = shape.map(Shape::law).filter(|law| law.curve().is_none());
    if let Some(law) = law.map(ErrorLaw::law) {
        let turning = shape.and_then(Shape::turning);
        let rung = turning.map(|turning| graph.part("skew_", |g| rung(g, turning, &inputs)));
        let mut times = |name: &str, of: fn(&Law) -> f64, doc: &str| {
            let name_of_factor = format!("{name}_in_sigmas");
            let factor = match turning.zip(rung.as_ref()) {
                Some((turning, rung)) => {
                    let each: Vec<f64> = turning.laws().0.iter().map(|law| of(law.law())).collect();
                    let each = graph.doubles(&format!("{name}_of_rungs"), &[each.len()], &each);
                    graph.node(&name_of_factor, "Gather", &[&each, rung])
                }
                None => graph.doubles(&name_of_factor, &[], &[of(law)]),
            };
            let value = graph.node(name, "Mul", &[&sigma, &factor]);
            graph.output_double(&value, doc);
        };
        let mode = "What to add to the forecast for the mode of its law.";
        times("law_location", |law| law.location, mode);
        times("law_left", |law| law.left, "The scale of the law below its mode.");
        let above = "The scale of the law above its mode; its base is in \"law\".";
        times("law_right", |law| law.right, above);
    }
    let outside = match &near {
        // An input that never varied has no support to lose.
        Some(near) => {
            let little = near.outside(&mut graph, &inputs);
            let beyond = outside(&mut graph, "beyond", &still(columns), &inputs);
            let name = if texts.is_some() { "outside_by_numbers" } else { "outside" };
            graph.node(name, "Or", &[&little, &beyond])
        }
        None => {
            let name = if texts.is_some() { "outside_by_numbers" } else { "outside" };
            outside(&mut graph, name, columns, &inputs)
        }
    };
    let outside = match &texts {
        Some(texts) => {
            let unlike = texts.unlike(&mut graph, &inputs.across);
            graph.node("outside", "Or", &[&outside, &unlike])
        }
        None => outside,
    };
    graph.output_bool(
        &outside,
        "Whether the row lies where there were hardly any in the data that the model was fitted to; \
         sigma deserves less trust there.",
    );
    if let Some(moved) = moved {
        let means = texts.as_ref().and_then(|texts| texts.means(&mut graph));
        outputs_of(&mut graph, moved, means.as_ref(), &inputs);
    }
    let (graph, opset_import) = graph.finish();
    let entry = |key: &str, value: String| Entry { key: key.into(), value };
    let file = messages::Model {
        ir_version: FORM,
        producer_name: "errbar".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        doc_string: "The size of a forecast's error, as a function of the inputs.".into(),
        graph: Some(graph),
        opset_import,
        metadata_props: vec![
            entry("inputs", serde_json::to_string(&names).context("cannot write the names")?),
            entry("model", model.explain()),
            entry("law", law_entry(shape)?),
        ]
        .into_iter()
        .chain(told.into_iter().map(|(key, value)| entry(key, value)))
        .collect(),
    };
    Ok(file.encode_to_vec())
}

/// Which of the laws each row has, where their skew turns: [`Turning::rung`].
fn rung(graph: &mut Builder, turning: &Turning, inputs: &Inputs) -> Value {
    let (laws, least, most) = turning.laws();
    let skew = graph.part("polynomial_", |graph| slopes(graph, turning.skew(), inputs));
    let [least_held, most_held] =
        [("least", least), ("most", most)].map(|(name, end)| graph.doubles(name, &[], &[end]));
    // A row that cannot be answered has some law; its sigma is NaN.
    let gap = graph.node("unknown", "IsNaN", &[&skew]);
    let skew = graph.node("known", "Where", &[&gap, &least_held, &skew]);
    let skew = graph.node("held", "Clip", &[&skew, &least_held, &most_held]);
    let from_least = graph.node("from_least", "Sub", &[&skew, &least_held]);
    let range = graph.doubles("range", &[], &[most - least]);
    let place = graph.node("place", "Div", &[&from_least, &range]);
    let last = graph.doubles("last", &[], &[(laws.len() - 1) as f64]);
    let place = graph.node("rungs", "Mul", &[&place, &last]);
    let half = graph.doubles("half", &[], &[0.5]);
    let place = graph.node("rounded_up", "Add", &[&place, &half]);
    let place = graph.node("floor", "Floor", &[&place]);
    let place = graph.node_with("number", "Cast", &[&place], vec![int("to", INT64.into())]);
    graph.node("rung", "Squeeze", &[&place, &inputs.across])
}

/// The law of errors in units of sigma, as JSON: {"base": .., "location": .., "left": .., "right": ..}, and
/// where a curve takes its place "curve": {"q": .., "z": ..}. Where the skew turns with the inputs it is that of the
/// average skew; outputs have that of each row.
fn law_entry(shape: Option<&Shape>) -> anyhow::Result<String> {
    let law = shape.map_or(ErrorLaw::default(), |shape| shape.law().clone());
    serde_json::to_string(&law).context("cannot write the law")
}

/// The bias, and the forecast that it moves where that is an input.
fn outputs_of(graph: &mut Builder, moved: Moved, means: Option<&Value>, inputs: &Inputs) {
    let column = graph.part("bias_", |graph| {
        let bias = bias(graph, moved.bias, inputs);
        let bias = match means {
            Some(means) => graph.node("with_levels", "Add", &[&bias, means]),
            None => bias,
        };
        graph.node("column", "Add", &[&bias, &inputs.gap])
    });
    let value = graph.node("bias", "Squeeze", &[&column, &inputs.across]);
    graph.output_double(
        &value,
        "What to add to the forecast, which is wrong by that much on average; sigma belongs to the \
         forecast so moved.",
    );
    if let Some(place) = moved.forecast {
        let place = graph.integers("forecast_place", &[place]);
        let axis = vec![int("axis", 1)];
        let forecast = graph.node_with("forecast", "Gather", &[&inputs.values, &place], axis);
        let debiased = graph.node("debiased_column", "Add", &[&forecast, &column]);
        let debiased = graph.node("debiased", "Squeeze", &[&debiased, &inputs.across]);
        graph.output_double(&debiased, "The forecast, moved by its bias.");
    }
}

/// Sigma as a column, or one for all rows.
fn sigma(graph: &mut Builder, model: &Model, inputs: &Inputs) -> Value {
    match model {
        Model::Constant(model) => graph.doubles("value", &[], &[model.sigma]),
        Model::Polynomial(model) => polynomial(graph, model, inputs),
        Model::Network(model) => network(graph, model, inputs),
        Model::Smooth(model) => smooth(graph, &model.formula(), inputs),
        Model::Trees(model) => trees(graph, model, inputs),
        Model::Stack(model) => stack(graph, model, None, inputs),
    }
}

/// Whether a row leaves the ranges of its columns, as NaN does too unless it stands for a missing
/// value.
fn outside(graph: &mut Builder, name: &str, columns: &[Column], inputs: &Inputs) -> Value {
    let (low, high): (Vec<f64>, Vec<f64>) = columns.iter().map(|column| column.range).unzip();
    let low = graph.doubles("low", &[columns.len()], &low);
    let high = graph.doubles("high", &[columns.len()], &high);
    let above = graph.node("from_low", "GreaterOrEqual", &[&inputs.values, &low]);
    let below = graph.node("up_to_high", "LessOrEqual", &[&inputs.values, &high]);
    let mut inside = graph.node("inside", "And", &[&above, &below]);
    if let Some(absent) = &inputs.absent {
        inside = graph.node("inside_or_absent", "Or", &[&inside, absent]);
    }
    // Truths cannot be reduced before operator set 20; as numbers they can.
    let to = |data_type: i32| vec![int("to", data_type.into())];
    let inside = graph.node_with("inside_number", "Cast", &[&inside], to(DOUBLE));
    let all = vec![ints("axes", &[1]), int("keepdims", 0)];
    let inside = graph.node_with("all_inside_number", "ReduceMin", &[&inside], all);
    let inside = graph.node_with("all_inside", "Cast", &[&inside], to(BOOL));
    graph.node(name, "Not", &[&inside])
}

/// Columns of which only those that never varied have ends.
fn still(columns: &[Column]) -> Vec<Column> {
    let still = |column: &Column| match column.range.0 == column.range.1 {
        true => column.clone(),
        false => Column { range: (f64::MIN, f64::MAX), ..column.clone() },
    };
    columns.iter().map(still).collect()
}

/// [`Scaling::scaled`] for all columns.
pub(super) fn scaled(graph: &mut Builder, scaling: &Scaling, inputs: &Inputs) -> Value {
    scaled_within(graph, scaling, 1.0, inputs)
}

/// All columns scaled, missing values filled in, and held within a distance of the middle of their
/// range.
fn scaled_within(graph: &mut Builder, scaling: &Scaling, far: f64, inputs: &Inputs) -> Value {
    let columns = scaling.columns();
    let halves = (0..columns).map(|c| scaling.middle_and_half(c));
    let (middle, half): (Vec<f64>, Vec<f64>) = halves.unzip();
    // A column that never varied is held between 0 and 0; it may be divided by anything.
    let reach: Vec<f64> = half.iter().map(|&h| if h > 0.0 { far } else { 0.0 }).collect();
    let half: Vec<f64> = half.iter().map(|&h| if h > 0.0 { h } else { 1.0 }).collect();
    let least: Vec<f64> = reach.iter().map(|r| -r).collect();
    let middle = graph.doubles("middle", &[columns], &middle);
    let half = graph.doubles("half", &[columns], &half);
    let least = graph.doubles("least", &[columns], &least);
    let most = graph.doubles("most", &[columns], &reach);
    let known = match (&inputs.absent, scaling.missing()) {
        (Some(absent), Some(missing)) => {
            let missing = graph.doubles("missing", &[columns], missing);
            graph.node("filled_in", "Where", &[absent, &missing, &inputs.values])
        }
        _ => inputs.values.clone(),
    };
    let centred = graph.node("centred", "Sub", &[&known, &middle]);
    let ratio = graph.node("ratio", "Div", &[&centred, &half]);
    let held = graph.node("at_least", "Max", &[&ratio, &least]);
    graph.node("scaled", "Min", &[&held, &most])
}

/// Sigma of a polynomial, as a column.
///
/// Chebyshev's polynomials of all columns stand side by side, after a column of ones; a term gathers
/// its factors from them.
fn polynomial(graph: &mut Builder, model: &Polynomial, inputs: &Inputs) -> Value {
    let columns = model.scaling().columns();
    let one = graph.doubles("one", &[], &[1.0]);
    let mut basis = vec![graph.node("T0", "Add", &[&inputs.gap, &one])];
    let orders = model.terms().flat_map(|(exponents, _)| exponents).copied().max().unwrap_or(0);
    if orders > 0 {
        basis.push(scaled(graph, model.scaling(), inputs));
    }
    if orders > 1 {
        let two = graph.doubles("two", &[], &[2.0]);
        let twice = graph.node("twice", "Mul", &[&basis[1], &two]);
        let mut last = one; // T0 for all columns
        for k in 2..=usize::from(orders) {
            let product = graph.node(&format!("T{k}_product"), "Mul", &[&twice, &basis[k - 1]]);
            let this = graph.node(&format!("T{k}"), "Sub", &[&product, &last]);
            last = basis[k - 1].clone();
            basis.push(this);
        }
    }
    let basis: Vec<&Value> = basis.iter().collect();
    let basis = graph.node_with("basis", "Concat", &basis, vec![int("axis", 1)]);

    let place = |(c, &order): (usize, &u8)| match order {
        0 => None,
        order => Some(1 + (usize::from(order) - 1) * columns + c),
    };
    let factors: Vec<Vec<usize>> = model
        .terms()
        .map(|(exponents, _)| exponents.iter().enumerate().filter_map(place).collect())
        .collect();
    let most = factors.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut terms: Option<Value> = None;
    for f in 0..most {
        // A term with fewer factors takes the column of ones.
        let places: Vec<usize> =
            factors.iter().map(|own| own.get(f).copied().unwrap_or(0)).collect();
        let places = graph.integers(&format!("factor{f}_places"), &places);
        let axis = vec![int("axis", 1)];
        let factor = graph.node_with(&format!("factor{f}"), "Gather", &[&basis, &places], axis);
        terms = Some(match terms {
            None => factor,
            Some(terms) => graph.node(&format!("terms{f}"), "Mul", &[&terms, &factor]),
        });
    }
    let coefficients: Vec<f64> = model.terms().map(|(_, coefficient)| coefficient).collect();
    let coefficients = graph.doubles("coefficients", &[coefficients.len(), 1], &coefficients);
    let sum = graph.node("polynomial", "MatMul", &[&terms.unwrap_or(basis), &coefficients]);
    let sigma = match model.link() {
        Link::Sigma => sum,
        Link::LogSigma => graph.node("exponential", "Exp", &[&sum]),
    };
    held(graph, &sigma, model.floor())
}

/// Sigma of a smooth function, as a column: [`Formula`] node by node.
fn smooth(graph: &mut Builder, formula: &Formula, inputs: &Inputs) -> Value {
    let columns = formula.scaling.columns();
    let (points, size) = (formula.points.len() / columns, formula.coefficients.len());
    // Matrices multiply rows from the right: they go in transposed.
    let transposed = |matrix: &[f64], size: usize| -> Vec<f64> {
        (0..size * size).map(|i| matrix[i % size * size + i / size]).collect()
    };
    let z = scaled_within(graph, formula.scaling, Scaling::FARTHEST, inputs);

    let middle = graph.integers("middle_axis", &[1]);
    let correlations = correlations(graph, &z, formula.points, formula.inverse_lengths);
    let to_bumps =
        graph.doubles("to_bumps", &[points, points], &transposed(&formula.to_bumps, points));
    let bumps = graph.node("bumps", "MatMul", &[&correlations, &to_bumps]);

    let level = graph.doubles("level", &[], &[formula.level]);
    let level = graph.node("level_column", "Add", &[&inputs.gap, &level]);
    let (least, most) =
        (graph.doubles("minus_one", &[], &[-1.0]), graph.doubles("one", &[], &[1.0]));
    let held_inputs = graph.node("inside_range", "Clip", &[&z, &least, &most]);
    let slope = graph.doubles("slope", &[], &[formula.slope]);
    let lines = graph.node("lines", "Mul", &[&held_inputs, &slope]);
    let deviation = graph.doubles("deviation", &[], &[formula.deviation]);
    let process = graph.node("process", "Mul", &[&bumps, &deviation]);
    let parts = [&level, &lines, &process];
    let functions = graph.node_with("functions", "Concat", &parts, vec![int("axis", 1)]);

    let coefficients = graph.doubles("coefficients", &[size, 1], formula.coefficients);
    let log = graph.node("log_sigma", "MatMul", &[&functions, &coefficients]);
    let to_deviations =
        graph.doubles("to_deviations", &[size, size], &transposed(&formula.to_deviations, size));
    let deviations = graph.node("deviations", "MatMul", &[&functions, &to_deviations]);
    let squares = graph.node("squared_deviations", "Mul", &[&deviations, &deviations]);
    let known = graph.node("variance", "ReduceSum", &[&squares, &middle]);
    let squares = graph.node("squared_bumps", "Mul", &[&bumps, &bumps]);
    let explained = graph.node("explained", "ReduceSum", &[&squares, &middle]);
    let left = graph.node("left", "Sub", &[&most, &explained]);
    let zero = graph.doubles("zero", &[], &[0.0]);
    let left = graph.node("left_held", "Max", &[&left, &zero]);
    let prior = graph.doubles("prior", &[], &[formula.deviation * formula.deviation]);
    let unexplained = graph.node("unexplained", "Mul", &[&left, &prior]);
    let unit = graph.doubles("log_unit", &[], &[formula.unit.ln()]);
    let log = graph.node("log_with_unit", "Add", &[&log, &unit]);
    let variance = graph.node("all_variance", "Add", &[&known, &unexplained]);
    let most = graph.doubles("most_unknown", &[], &[formula.most_unknown]);
    let variance = graph.node("variance_held", "Min", &[&variance, &most]);
    let log = graph.node("log_with_variance", "Add", &[&log, &variance]);
    let sigma = graph.node("exponential", "Exp", &[&log]);
    held(graph, &sigma, f64::MIN_POSITIVE)
}

/// How near rows of scaled inputs are to each of some points, one after the other: 1 at a point itself.
pub(super) fn correlations(
    graph: &mut Builder,
    z: &Value,
    points: &[f64],
    inverse_lengths: &[f64],
) -> Value {
    let columns = inverse_lengths.len();
    let middle = graph.integers("points_axis", &[1]);
    let last = graph.integers("last_axis", &[2]);
    let lengths = graph.doubles("inverse_lengths", &[columns], inverse_lengths);
    let places = graph.doubles("points", &[points.len() / columns, columns], points);
    let row = graph.node("row", "Unsqueeze", &[z, &middle]);
    let difference = graph.node("difference", "Sub", &[&row, &places]);
    let difference = graph.node("relative_difference", "Mul", &[&difference, &lengths]);
    let square = graph.node("square", "Mul", &[&difference, &difference]);
    let flat = vec![int("keepdims", 0)];
    let distance = graph.node_with("distance", "ReduceSum", &[&square, &last], flat);
    let minus_half = graph.doubles("minus_half", &[], &[-0.5]);
    let exponent = graph.node("exponent", "Mul", &[&distance, &minus_half]);
    graph.node("correlations", "Exp", &[&exponent])
}

/// Sigma of a network, as a column. All networks to be averaged are one stack of matrices.
fn network(graph: &mut Builder, model: &Network, inputs: &Inputs) -> Value {
    let mut values = scaled(graph, model.scaling(), inputs);
    for (number, layer) in model.layers().enumerate() {
        let networks = layer.weights.len();
        let named = |what: &str| format!("layer{number}_{what}");
        let units = || layer.weights.iter().map(|own| own.chunks_exact(layer.inputs + 1));
        let biases: Vec<f64> = units().flatten().map(|unit| unit[layer.inputs]).collect();
        let weights: Vec<f64> = units()
            .flat_map(|units| (0..layer.inputs).flat_map(move |i| units.clone().map(move |u| u[i])))
            .collect();
        let sizes = [networks, layer.inputs, layer.units];
        let weights = graph.doubles(&named("weights"), &sizes, &weights);
        let biases = graph.doubles(&named("biases"), &[networks, 1, layer.units], &biases);
        let product = graph.node(&named("product"), "MatMul", &[&values, &weights]);
        values = graph.node(&named("sum"), "Add", &[&product, &biases]);
        values = match layer.activation {
            Some(Activation::Tanh) => graph.node(&named("tanh"), "Tanh", &[&values]),
            Some(Activation::Clamp) => {
                let least = graph.doubles(&named("least"), &[], &[-1.0]);
                let most = graph.doubles(&named("most"), &[], &[1.0]);
                graph.node(&named("clamp"), "Clip", &[&values, &least, &most])
            }
            None => values,
        };
    }
    let exponent = match model.output() {
        Output::LogSigma => values,
        Output::ExpMinusSquare => {
            let square = graph.node("square", "Mul", &[&values, &values]);
            graph.node("minus_square", "Neg", &[&square])
        }
    };
    // Exponential and logarithm again, as the library does: its bounds are those of sigma.
    let outputs = graph.node("outputs", "Exp", &[&exponent]);
    let tiny = graph.doubles("tiny", &[], &[1e-300]);
    // (Max, since a Clip without an upper bound would make infinity the largest double.)
    let outputs = graph.node("outputs_held", "Max", &[&outputs, &tiny]);
    let logarithms = graph.node("logarithms", "Log", &[&outputs]);
    let over = vec![ints("axes", &[0]), int("keepdims", 0)];
    let mean = graph.node_with("mean_logarithm", "ReduceMean", &[&logarithms], over);
    let mean = graph.node("geometric_mean", "Exp", &[&mean]);
    let unit = graph.doubles("unit", &[], &[model.unit()]);
    let sigma = graph.node("with_unit", "Mul", &[&mean, &unit]);
    held(graph, &sigma, model.floor())
}

/// Sigma of a stack, as a column: the weighted geometric mean of its members'.
fn stack(graph: &mut Builder, model: &Stack, near: Option<&Near>, inputs: &Inputs) -> Value {
    let part = |(number, Member { share, model }): (usize, &Member)| {
        graph.part(&format!("member{number}_"), |graph| {
            let mut sigma = sigma(graph, model, inputs);
            if let Some(near) = near {
                sigma = near.hold(graph, number, model, &sigma, inputs);
            }
            let log = graph.node("log_of_sigma", "Log", &[&sigma]);
            let share = graph.doubles("share", &[], &[*share]);
            graph.node("part", "Mul", &[&log, &share])
        })
    };
    let parts: Vec<Value> = model.members().iter().enumerate().map(part).collect();
    let log = graph.node("mean_of_logs", "Sum", &parts.iter().collect::<Vec<&Value>>());
    let mut mean = graph.node("mean_of_members", "Exp", &[&log]);
    if let Some(refinement) = model.refinement() {
        let times = graph.part("refinement_", |graph| trees(graph, refinement, inputs));
        mean = graph.node("mean_refined", "Mul", &[&mean, &times]);
    }
    held(graph, &mean, f64::MIN_POSITIVE)
}

/// Sigma is at least this, and finite.
pub(super) fn held(graph: &mut Builder, sigma: &Value, least: f64) -> Value {
    let least = graph.doubles("sigma_least", &[], &[least]);
    let most = graph.doubles("sigma_most", &[], &[f64::MAX]);
    graph.node("sigma_held", "Clip", &[sigma, &least, &most])
}
