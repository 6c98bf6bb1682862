//! Inputs that are categories: texts, for which the numbers stand that models know.

use errbar::fit::Levels;

use super::graph::{Builder, TREES, Value, int, ints, strings};
use super::messages::BOOL;

/// The categories of a model in its graph.
pub(super) struct Texts {
    /// For each its input, the number that stands for each row, as a column, and the place of its level.
    each: Vec<(usize, Value, Value)>,
    levels: Vec<Levels>,
}

impl Texts {
    /// With an input of texts, a column for each category; nothing without any.
    pub(super) fn new(graph: &mut Builder, levels: &[Levels], names: &[&str]) -> Option<Self> {
        if levels.is_empty() {
            return None;
        }
        let called: Vec<&str> = levels.iter().map(|own| names[own.column()]).collect();
        let doc = format!(
            "One row for each forecast; the columns are {}. A missing value is an empty text.",
            called.join(", ")
        );
        let texts = graph.input_texts("categories", levels.len(), &doc);
        let one = |(nth, own): (usize, &Levels)| {
            graph.part(&format!("category{nth}_"), |graph| {
                let place = graph.integers("place", &[nth]);
                let axis = || vec![int("axis", 1)];
                let text = graph.node_with("text", "Gather", &[&texts, &place], axis());
                // Known levels, none, one that was not seen.
                let keys: Vec<&str> = own.names().iter().map(String::as_str).chain([""]).collect();
                let places: Vec<i64> = (0..keys.len() as i64).collect();
                let encoder = vec![
                    strings("keys_strings", &keys),
                    ints("values_int64s", &places),
                    int("default_int64", keys.len() as i64),
                ];
                let level = graph.node_of(TREES, "level", "LabelEncoder", &[&text], encoder);
                let numbers = [own.sizes(), &[own.missing(), own.unseen()]].concat();
                let numbers = graph.doubles("numbers", &[numbers.len()], &numbers);
                let number = graph.node("number", "Gather", &[&numbers, &level]);
                (own.column(), number, level)
            })
        };
        Some(Self { each: levels.iter().enumerate().map(one).collect(), levels: levels.to_vec() })
    }

    /// Numbers beside which those of categories are, all in the order of the model's inputs.
    pub(super) fn beside(
        &self,
        graph: &mut Builder,
        numbers: Option<&Value>,
        columns: usize,
    ) -> Value {
        let own = |column: usize| self.each.iter().position(|(place, ..)| *place == column);
        let plain = columns - self.each.len();
        let mut next = 0;
        let places: Vec<usize> = (0..columns)
            .map(|column| match own(column) {
                Some(nth) => plain + nth,
                None => {
                    next += 1;
                    next - 1
                }
            })
            .collect();
        let parts: Vec<&Value> =
            numbers.into_iter().chain(self.each.iter().map(|(_, x, _)| x)).collect();
        let all = graph.node_with("all_inputs", "Concat", &parts, vec![int("axis", 1)]);
        let places = graph.integers("places_of_inputs", &places);
        graph.node_with("values", "Gather", &[&all, &places], vec![int("axis", 1)])
    }

    /// Whether a row has a level that the fit had not seen.
    pub(super) fn unlike(&self, graph: &mut Builder, across: &Value) -> Value {
        let mut any: Option<Value> = None;
        for (nth, ((_, _, level), own)) in self.each.iter().zip(&self.levels).enumerate() {
            any = Some(graph.part(&format!("category{nth}_"), |graph| {
                let unlike = |seen: bool| f64::from(u8::from(!seen));
                let rows = own.rows().iter().map(|rows| unlike(*rows > 0));
                let table: Vec<f64> = rows.chain([unlike(own.has_missing()), 1.0]).collect();
                let table = graph.doubles("is_unlike", &[table.len()], &table);
                let here = graph.node("unlike", "Gather", &[&table, level]);
                match &any {
                    Some(before) => graph.node("unlike_so_far", "Max", &[before, &here]),
                    None => here,
                }
            }));
        }
        let any = any.unwrap_or_else(|| graph.doubles("never", &[1, 1], &[0.0]));
        let any = graph.node_with("unlike_truth", "Cast", &[&any], vec![int("to", BOOL.into())]);
        graph.node("unlike", "Squeeze", &[&any, across])
    }

    /// What levels add to the forecast, as a column, where they add something.
    pub(super) fn means(&self, graph: &mut Builder) -> Option<Value> {
        let mut sum: Option<Value> = None;
        for (nth, ((_, _, level), own)) in self.each.iter().zip(&self.levels).enumerate() {
            if own.means().is_empty() {
                continue;
            }
            sum = Some(graph.part(&format!("category{nth}_"), |graph| {
                let means = [own.means(), &[own.mean_of_missing(), 0.0]].concat();
                let means = graph.doubles("means", &[means.len()], &means);
                let mean = graph.node("mean", "Gather", &[&means, level]);
                match &sum {
                    Some(before) => graph.node("mean_so_far", "Add", &[before, &mean]),
                    None => mean,
                }
            }));
        }
        sum
    }
}
