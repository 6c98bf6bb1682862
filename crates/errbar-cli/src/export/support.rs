//! What holds sigma where there were hardly any rows: the formula of `errbar::sigma::support`.

use errbar::sigma::Model;
use errbar::sigma::support::{FARTHEST, NEAREST, SLACK, TIED};
use errbar::sigma::supported::{Backing, OUTSIDE};

use super::graph::{Builder, Value, int, ints};
use super::messages::DOUBLE;
use super::onnx::Inputs;

/// The surroundings of each row, as far as every model of a stack has them in common.
pub(super) struct Near<'a> {
    backing: &'a Backing,
    /// Which landmarks are the nearest.
    nearest: Value,
    /// How many they are, as a column.
    count: Value,
    /// From 0 to 1, as a column.
    support: Value,
}

impl<'a> Near<'a> {
    pub(super) fn new(graph: &mut Builder, backing: &'a Backing, inputs: &Inputs) -> Self {
        let support = backing.support();
        let (columns, landmarks) = (support.columns(), support.len());
        let row = |graph: &mut Builder, name: &str, values: &[f64]| {
            graph.doubles(name, &[columns], values)
        };
        let middle = row(graph, "middle", support.middle());
        let per_deviation = row(graph, "per_deviation", support.per_deviation());
        let known = match &inputs.absent {
            Some(absent) => graph.node("filled_in", "Where", &[absent, &middle, &inputs.values]),
            None => inputs.values.clone(),
        };
        let centred = graph.node("centred", "Sub", &[&known, &middle]);
        let scaled = graph.node("ratio", "Mul", &[&centred, &per_deviation]);
        let (least, most) = (
            graph.doubles("nearest_end", &[], &[-FARTHEST]),
            graph.doubles("farthest_end", &[], &[FARTHEST]),
        );
        let scaled = graph.node("scaled", "Clip", &[&scaled, &least, &most]);
        let at = match support.triangle().is_empty() {
            true => scaled,
            false => {
                let inverse = inverse_transposed(support.triangle());
                let inverse = graph.doubles("decorrelate", &[columns, columns], &inverse);
                graph.node("decorrelated", "MatMul", &[&scaled, &inverse])
            }
        };
        // |z - l|² = |z|² - 2 z·l + |l|²
        let points = support.landmarks();
        let transposed: Vec<f64> = (0..columns)
            .flat_map(|c| points.iter().skip(c).step_by(columns).map(|x| -2.0 * x))
            .collect();
        let lengths: Vec<f64> =
            points.chunks_exact(columns).map(|p| p.iter().map(|x| x * x).sum()).collect();
        let transposed = graph.doubles("landmarks", &[columns, landmarks], &transposed);
        let lengths = graph.doubles("landmark_squares", &[1, landmarks], &lengths);
        let own = graph.node("squares", "Mul", &[&at, &at]);
        let own = graph.node("square", "ReduceSum", &[&own, &inputs.across]);
        let products = graph.node("products", "MatMul", &[&at, &transposed]);
        let apart = graph.node("apart", "Add", &[&products, &lengths]);
        let apart = graph.node("distance_squares", "Add", &[&apart, &own]);

        let least = graph.doubles("no_distance", &[], &[0.0]);
        let apart = graph.node("no_less", "Max", &[&apart, &least]);
        let last = graph.smallest("smallest", &apart, NEAREST.min(landmarks));
        let across = || vec![ints("axes", &[1])];
        let last = graph.node_with("last", "ReduceMax", &[&last], across());
        let tied = graph.doubles("tied", &[], &[1.0 + TIED]);
        let up_to = graph.node("up_to", "Mul", &[&last, &tied]);
        let nearest = graph.node("nearest", "LessOrEqual", &[&apart, &up_to]);
        let number = vec![int("to", DOUBLE.into())];
        let count = graph.node_with("nearest_number", "Cast", &[&nearest], number);
        let count = graph.node("count", "ReduceSum", &[&count, &inputs.across]);

        let distance = graph.node("distance", "Sqrt", &[&last]);
        let reach = graph.doubles("reach", &[], &[support.reach()]);
        let farther = graph.node("farther", "Max", &[&distance, &reach]);
        let mut value = graph.node("support_by_distance", "Div", &[&reach, &farther]);
        if let Some(absent) = &inputs.absent {
            // An input that was never missing leaves a row without support when it is.
            let unknown: Vec<f64> =
                support.missing().iter().map(|m| f64::from(u8::from(!m))).collect();
            let unknown = row(graph, "never_missing", &unknown);
            let absent =
                graph.node_with("absent_number", "Cast", &[absent], vec![int("to", DOUBLE.into())]);
            let absent = graph.node("unknown_each", "Mul", &[&absent, &unknown]);
            let absent = graph.node_with("unknown", "ReduceMax", &[&absent], across());
            let one = graph.doubles("whole", &[], &[1.0]);
            let known = graph.node("not_unknown", "Sub", &[&one, &absent]);
            value = graph.node("support_column", "Mul", &[&value, &known]);
        }
        Self { backing, nearest, count, support: value }
    }

    /// The sigma of one model of a stack, or of the only one, held.
    pub(super) fn hold(
        &self,
        graph: &mut Builder,
        member: usize,
        model: &Model,
        sigma: &Value,
        inputs: &Inputs,
    ) -> Value {
        if matches!(model, Model::Constant(_)) {
            return sigma.clone();
        }
        let logs = &self.backing.logs()[member];
        let logs = graph.doubles("landmark_logs", &[1, logs.len()], logs);
        let number =
            |graph: &mut Builder, name: &str, value: f64| graph.doubles(name, &[], &[value]);
        let nothing = number(graph, "nothing", 0.0);
        let all = graph.node("near_logs", "Where", &[&self.nearest, &logs, &nothing]);
        let sum = graph.node("near_sum", "ReduceSum", &[&all, &inputs.across]);
        let mean = graph.node("near_mean", "Div", &[&sum, &self.count]);
        let end = |graph: &mut Builder, name: &str, other: f64, op: &str| {
            let other = graph.doubles(&format!("{name}_none"), &[], &[other]);
            let near =
                graph.node(&format!("{name}_logs"), "Where", &[&self.nearest, &logs, &other]);
            graph.node_with(&format!("{name}_log"), op, &[&near], vec![ints("axes", &[1])])
        };
        let low = end(graph, "lowest", f64::MAX, "ReduceMin");
        let high = end(graph, "highest", f64::MIN, "ReduceMax");
        let slack = number(graph, "slack", SLACK);
        let reach = |graph: &mut Builder, name: &str, from: &Value, to: &Value| {
            let part = graph.node(&format!("{name}_part"), "Sub", &[to, from]);
            let part = graph.node(&format!("{name}_wider"), "Add", &[&part, &slack]);
            graph.node(&format!("{name}_reach"), "Mul", &[&part, &self.support])
        };
        let down = reach(graph, "down", &low, &mean);
        let up = reach(graph, "up", &mean, &high);
        let low = graph.node("from_log", "Sub", &[&mean, &down]);
        let high = graph.node("to_log", "Add", &[&mean, &up]);
        let (least, most) = self.backing.limits();
        let (least, most) =
            (number(graph, "limit_least", least), number(graph, "limit_most", most));
        let limited = graph.node("limited", "Clip", &[sigma, &least, &most]);
        let log = graph.node("limited_log", "Log", &[&limited]);
        let log = graph.node("log_from", "Max", &[&log, &low]);
        let log = graph.node("log_within", "Min", &[&log, &high]);
        let sigma = graph.node("within", "Exp", &[&log]);
        graph.node("supported", "Clip", &[&sigma, &least, &most])
    }

    /// Whether a row lies where there were hardly any, as NaN does too.
    pub(super) fn outside(&self, graph: &mut Builder, inputs: &Inputs) -> Value {
        let least = graph.doubles("outside_below", &[], &[OUTSIDE]);
        let inside = graph.node("enough_column", "Add", &[&self.support, &inputs.gap]);
        let inside = graph.node("enough", "GreaterOrEqual", &[&inside, &least]);
        let inside = graph.node("enough_row", "Squeeze", &[&inside, &inputs.across]);
        graph.node("too_little", "Not", &[&inside])
    }
}

/// The transpose of the inverse of a lower triangle, in full rows.
fn inverse_transposed(triangle: &[Vec<f64>]) -> Vec<f64> {
    let size = triangle.len();
    let mut out = vec![0.0; size * size];
    for column in 0..size {
        let mut x = vec![0.0; size];
        for i in column..size {
            let known: f64 = triangle[i][..i].iter().zip(&x).map(|(l, x)| l * x).sum();
            x[i] = (f64::from(u8::from(i == column)) - known) / triangle[i][i];
        }
        out[column * size..(column + 1) * size].copy_from_slice(&x);
    }
    out
}
