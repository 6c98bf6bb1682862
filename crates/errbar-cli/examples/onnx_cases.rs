//! Writes models of every kind, with inputs and the library's own predictions, for
//! `tests/onnx_check.py` to compare ONNX files with.
//!
//! ```sh
//! cargo run --release -p errbar-cli --example onnx_cases -- FOLDER
//! ```

use std::f64::consts::TAU;
use std::path::Path;

use anyhow::{Context, ensure};
use errbar::fit::{self, Fitted, Kind, LawKind};
use errbar::law::{Base, Law};
use errbar::sigma::network::{self, Activation, Layer, Output};
use errbar::sigma::polynomial::{self, Link, Order};
use errbar::sigma::trees::{self, NodeView};
use errbar::sigma::{Model, constant, smooth};
use errbar::{Category, Data, Silent};
use serde::Deserialize;
use serde_json::{Value, json};

/// Enough to train on, and to ask for.
const ROWS: usize = 150;
const ASKED: usize = 1000;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).context("which folder should the cases go to?")?;
    let folder = Path::new(&folder);
    for (name, data, model) in cases()? {
        write(&folder.join(name), &data, &model)?;
    }
    // What holds sigma where there were hardly any rows, besides.
    let three = || Rows::new(&[-20.0, 3e5, 0.0], &[5.0, 1e5, 1e-6], 40.0);
    for kind in [Kind::Auto, Kind::Polynomial, Kind::Smooth, Kind::Trees, Kind::Network] {
        write_supported(&folder.join(format!("supported-{}", kind.name())), &three(), kind)?;
    }
    let missing = three().with_gaps();
    write_supported(&folder.join("supported-missing"), &missing, Kind::Stack)?;
    // A skew that turns, with a law for each row.
    write_supported(&folder.join("skew-by-inputs"), &Rows::turning(), Kind::Polynomial)?;
    // Texts among the inputs, or nothing else.
    write_categories(&folder.join("categories"), 2, Kind::Auto, false)?;
    write_categories(&folder.join("categories-trees"), 1, Kind::Trees, false)?;
    write_categories(&folder.join("categories-alone"), 0, Kind::Polynomial, false)?;
    write_categories(&folder.join("categories-bias"), 1, Kind::Polynomial, true)?;
    // A bias besides, and a forecast that it moves, which may be among the inputs.
    let three = || Rows::new(&[-20.0, 3e5, 0.0], &[5.0, 1e5, 1e-6], 40.0).biased();
    write_biased(&folder.join("bias"), &three(), None)?;
    write_biased(&folder.join("bias-forecast"), &three(), Some(1))?;
    write_biased(&folder.join("bias-missing"), &three().with_gaps(), Some(0))?;
    write_biased(&folder.join("bias-smooth"), &three().wavy(), Some(1))
}

/// Rows of inputs and their errors.
struct Rows {
    columns: usize,
    inputs: Vec<f64>,
    error: Vec<f64>,
}

impl Rows {
    /// Errors that grow and shrink with all the inputs, of which column c spans `width[c]` about
    /// `middle[c]`.
    fn new(middle: &[f64], width: &[f64], unit: f64) -> Self {
        let columns = middle.len();
        let spread = spread(columns, ROWS);
        let place = |(i, u): (usize, &f64)| middle[i % columns] + width[i % columns] * (u - 0.5);
        let inputs = spread.iter().enumerate().map(place).collect();
        let error = |(i, row): (usize, &[f64])| {
            let size: f64 = row.iter().zip(1..).map(|(u, c)| (TAU * u / f64::from(c)).cos()).sum();
            unit * (0.4 * size).exp() * 0.3 * (2.4 * i as f64).sin()
        };
        let error = spread.chunks_exact(columns).enumerate().map(error).collect();
        Self { columns, inputs, error }
    }

    /// More rows of three inputs, whose errors reach farther below where the first is small and farther above where
    /// it is large.
    fn turning() -> Self {
        let inputs = spread(3, 60 * ROWS);
        let error = |(i, row): (usize, &[f64])| {
            let law = Law::new(Base::Normal, 0.0, 1.0, (4.0 * row[0] - 2.0).exp());
            // As if at random: what is spread evenly makes neighbours depend on each other.
            let bits = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let share = ((bits ^ (bits >> 27)) >> 11) as f64 + 0.5;
            let share = share / (1u64 << 53) as f64;
            let unit = law.with_mean(0.0).around(0.0, 1.0 / law.standard_deviation());
            (1.0 + row[1]) * unit.quantile(share)
        };
        let error = inputs.chunks_exact(3).enumerate().map(error).collect();
        Self { columns: 3, inputs, error }
    }

    /// The same rows, with errors that are not zero on average.
    fn biased(mut self) -> Self {
        for (row, error) in self.inputs.chunks_exact(self.columns).zip(&mut self.error) {
            *error += if row[0] < -20.0 { 35.0 } else { 1e-4 * (row[1] - 3e5) };
        }
        self
    }

    /// The same rows, with a bias that no polynomial of order two has.
    fn wavy(mut self) -> Self {
        for (row, error) in self.inputs.chunks_exact(self.columns).zip(&mut self.error) {
            *error += 60.0 * (0.8 * row[0]).sin();
        }
        self
    }

    /// The same rows, some of whose inputs are missing.
    fn with_gaps(mut self) -> Self {
        self.inputs.iter_mut().skip(3).step_by(7).for_each(|x| *x = f64::NAN);
        self
    }

    fn data(&self) -> anyhow::Result<Data<'_>> {
        Ok(Data::with_missing(&self.inputs, self.columns, &self.error)?)
    }

    /// Whether a model of these rows knows what a missing input is.
    fn missing(&self) -> bool {
        self.inputs.iter().any(|x| x.is_nan())
    }

    /// Rows over the training range and half as far again on both sides, the ends among them.
    fn asked(&self) -> Vec<f64> {
        let column = |c: usize| self.inputs.iter().skip(c).step_by(self.columns).copied();
        let low: Vec<f64> = (0..self.columns).map(|c| column(c).fold(f64::MAX, f64::min)).collect();
        let high: Vec<f64> =
            (0..self.columns).map(|c| column(c).fold(f64::MIN, f64::max)).collect();
        let some = &self.inputs[..self.inputs.len().min(ROWS * self.columns)];
        let mut asked = [&low, &high, some].concat();
        for (i, u) in spread(self.columns, ASKED).iter().enumerate() {
            let (low, high) = (low[i % self.columns], high[i % self.columns]);
            // A column that never varied leaves its range too.
            let reach = if high > low { 0.5 * high - 0.5 * low } else { 1e-3 };
            let x = (0.5 * low + 0.5 * high) + 4.0 * (2.0 * u - 1.0) * reach;
            // Half of all values stay inside.
            let x = if i % 4 < 2 { x.clamp(low, high) } else { x };
            let gap = self.missing() && i % 11 == 5;
            asked.push(if gap { f64::NAN } else { x.clamp(f64::MIN, f64::MAX) });
        }
        asked.truncate(ASKED * self.columns);
        asked
    }
}

/// Points spread evenly over the unit cube (additive recurrence with square roots of primes).
fn spread(columns: usize, rows: usize) -> Vec<f64> {
    const PRIMES: [f64; 6] = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0];
    let at = |i: usize| ((1 + i / columns) as f64 * PRIMES[i % columns].sqrt()).fract();
    (0..rows * columns).map(at).collect()
}

fn cases() -> anyhow::Result<Vec<(String, Rows, Model)>> {
    let one = || Rows::new(&[0.5], &[1.0], 1.0);
    let three = || Rows::new(&[-20.0, 3e5, 0.0], &[5.0, 1e5, 1e-6], 40.0);
    let five = || Rows::new(&[0.5; 5], &[1.0; 5], 1.0);
    let still = || Rows::new(&[0.5, 7.1], &[1.0, 0.0], 1.0);
    let mut cases: Vec<(String, Rows, Model)> = Vec::new();

    let rows = three();
    let sigma = constant::fit(3, &rows.error, None, Default::default())?;
    cases.push(("constant".into(), rows, sigma.into()));

    let mut polynomials = vec![
        (String::from("polynomial-paper"), one(), polynomial::Options::paper()),
        (String::from("polynomial-general"), one(), polynomial::Options::general()),
        (String::from("polynomial-general-3"), three(), polynomial::Options::general()),
        (String::from("polynomial-still-column"), still(), polynomial::Options::general()),
        (
            // The width of this range is no double.
            String::from("polynomial-widest-range"),
            Rows::new(&[0.0], &[f64::MAX], 1e-200),
            polynomial::Options::general(),
        ),
    ];
    for link in [Link::Sigma, Link::LogSigma] {
        let fixed = |order| polynomial::Options {
            link,
            largest_order: order,
            order: Order::Fixed,
            ..polynomial::Options::general()
        };
        let name = |what: &str| format!("polynomial-{link:?}-{what}").to_lowercase();
        for order in 0..=10 {
            polynomials.push((name(&format!("order-{order}")), one(), fixed(order)));
        }
        polynomials.push((name("3-inputs"), three(), fixed(4)));
    }
    for (name, rows, options) in polynomials {
        let model = polynomial::fit(&rows.inputs, rows.columns, &rows.error, &options)?;
        cases.push((name, rows, model.into()));
    }

    let quick = network::Options { iterations: 60, ..network::Options::general() };
    let layer = |units, activation| Layer { units, activation };
    let networks = [
        ("network-paper", one(), network::Options::paper()),
        ("network-paper-3", three(), network::Options::paper()),
        ("network-general", one(), network::Options::general()),
        ("network-general-5", five(), quick.clone()),
        ("network-still-column", still(), quick.clone()),
        (
            "network-clamp-only",
            five(),
            network::Options { shapes: vec![vec![layer(3, Activation::Clamp)]], ..quick.clone() },
        ),
        ("network-no-layer", three(), network::Options { shapes: vec![vec![]], ..quick.clone() }),
        (
            "network-square-averaged",
            five(),
            network::Options {
                output: Output::ExpMinusSquare,
                shapes: vec![vec![layer(7, Activation::Tanh), layer(2, Activation::Clamp)]],
                ..quick
            },
        ),
    ];
    for (name, rows, options) in networks {
        let model = network::fit(&rows.inputs, rows.columns, &rows.error, &options)?;
        cases.push((name.into(), rows, model.into()));
    }

    // Of few rows, trees would rather not split; one bag holds nothing out, and so these must.
    let splitting = trees::Options {
        bags: Some(1),
        rounds: 40,
        depth: Some(3),
        prior_rows: 0.1,
        ..trees::Options::default()
    };
    let forests = [
        ("trees", one(), splitting),
        ("trees-3", three(), splitting),
        ("trees-still-column", still(), splitting),
        ("trees-stumps", five(), trees::Options { depth: Some(1), ..splitting }),
        ("trees-general-5", five(), trees::Options::default()),
        ("trees-widest-range", Rows::new(&[0.0], &[f64::MAX], 1e-200), splitting),
        ("trees-missing", three().with_gaps(), splitting),
    ];
    for (name, rows, options) in forests {
        let model = Model::from(trees::fit_to(&rows.data()?, &options, &Silent)?);
        ensure!(!thresholds(&model).is_empty(), "{name}: no tree splits");
        cases.push((name.into(), rows, model));
    }

    let smooths = [
        ("smooth", one()),
        ("smooth-3", three()),
        ("smooth-5", five()),
        ("smooth-still-column", still()),
        ("smooth-widest-range", Rows::new(&[0.0], &[f64::MAX], 1e-200)),
    ];
    for (name, rows) in smooths {
        let model = smooth::fit_to(&rows.data()?, &smooth::Options::default(), &Silent)?;
        cases.push((name.into(), rows, model.into()));
    }

    let rows = || three().with_gaps();
    let quick = network::Options { iterations: 60, ..network::Options::general() };
    let general = polynomial::Options::general();
    let polynomial = polynomial::fit_to(&rows().data()?, &general, &Silent)?;
    let network = network::fit_to(&rows().data()?, &quick, &Silent)?;
    let smooth = smooth::fit_to(&rows().data()?, &smooth::Options::default(), &Silent)?;
    cases.push(("constant-missing".into(), rows(), sigma.into()));
    cases.push(("polynomial-missing".into(), rows(), polynomial.into()));
    cases.push(("network-missing".into(), rows(), network.into()));
    cases.push(("smooth-missing".into(), rows(), smooth.into()));

    // A stack of every kind, and the model that is fitted when none is asked for.
    let kinds = ["constant", "polynomial-general-3", "network-paper-3", "smooth-3", "trees-3"];
    let stacked = stack(&cases, &kinds)?;
    cases.push(("stack".into(), three(), stacked));
    let kinds = ["constant", "polynomial", "network", "smooth", "trees"];
    let stacked = stack(&cases, &kinds.map(|kind| format!("{kind}-missing")))?;
    cases.push(("stack-missing".into(), rows(), stacked));
    for (name, rows) in [("auto", three()), ("auto-missing", rows())] {
        let names: Vec<String> = (0..rows.columns).map(|c| c.to_string()).collect();
        let fit = fit::fit(&rows.data()?, &names, &fit::Options::default(), &Silent)?;
        cases.push((name.into(), rows, fit.fitted.model().clone()));
    }

    // What no fit makes: first, sigmas beyond what a double holds.
    let changed = |name: &str, change: &dyn Fn(&mut Value)| -> anyhow::Result<_> {
        let mut saved = saved(&cases, name)?;
        change(&mut saved);
        Ok(Model::deserialize(saved)?)
    };
    let polynomial = changed("polynomial-logsigma-order-1", &|model| {
        model["coefficients"] = json!([-5.0, 900.0]);
    })?;
    let network = changed("network-no-layer", &|model| {
        model["members"] = json!([[900.0, 0.0, 0.0, -3.0], [400.0, 200.0, 0.0, 1.0]]);
    })?;
    let smooth = changed("smooth", &|model| {
        // Of the level and the slope.
        model["coefficients"][0] = json!(-0.5);
        model["coefficients"][1] = json!(900.0);
    })?;
    let trees = changed("trees-3", &|model| {
        model["level"] = json!(700.0);
        model["symmetric"] = json!([]);
        model["trees"] = json!(["0:10 1:3 -1500.0 2.5 1500.0"]);
    })?;
    // Trees of one leaf, and splits after the last bin, which only missing values fail.
    let leaves = changed("trees-3", &|model| {
        model["symmetric"] = json!(["0.125"]);
        model["trees"] = json!(["0.5", "-0.25"]);
    })?;
    let last_bins = changed("trees-missing", &|model| {
        model["bins"]["cuts"] = json!([[-21.0, -19.0], [3e5], []]);
        model["symmetric"] = json!(["0:2 1:0? 0.15 0.25 0.45 0.85", "2:0? 0.35 -0.65"]);
        model["trees"] =
            json!(["0:2 0:1 0.1 0.2 0.4", "1:1? 0.8 1.6", "2:0 1:0? 3.2 0.3 6.4", "0.7"]);
    })?;
    // A mean that trees of many more rows refine.
    let refined = |name: &str, trees: &str| {
        let trees = saved(&cases, trees)?;
        changed(name, &|model| model["refinement"] = trees.clone())
    };
    let refined = [refined("stack", "trees-3")?, refined("stack-missing", "trees-missing")?];
    cases.push(("smooth-steep".into(), one(), smooth));
    cases.push(("polynomial-steep".into(), one(), polynomial));
    cases.push(("network-steep".into(), three(), network));
    let [complete, missing] = refined;
    cases.push(("stack-refined".into(), three(), complete));
    cases.push(("stack-refined-missing".into(), rows(), missing));
    cases.push(("trees-steep".into(), three(), trees));
    cases.push(("trees-leaves".into(), three(), leaves));
    cases.push(("trees-last-bins".into(), rows(), last_bins));
    Ok(cases)
}

/// The saved form of a case's model.
fn saved(cases: &[(String, Rows, Model)], name: &str) -> anyhow::Result<Value> {
    let (.., model) = cases.iter().find(|(other, ..)| other == name).context("no such case")?;
    Ok(serde_json::to_value(model)?)
}

/// A stack of the models of other cases.
fn stack(cases: &[(String, Rows, Model)], names: &[impl AsRef<str>]) -> anyhow::Result<Model> {
    let mut members = Vec::new();
    for (name, share) in names.iter().zip([0.1, 0.2, 0.15, 0.25, 0.3]) {
        members.push(json!({"share": share, "model": saved(cases, name.as_ref())?}));
    }
    Ok(Model::deserialize(json!({"kind": "stack", "members": members}))?)
}

/// Columns and thresholds of every split of trees, wherever they are.
fn thresholds(model: &Model) -> Vec<(usize, f64)> {
    let split = |node| match node {
        NodeView::Leaf(_) => None,
        NodeView::Split { column, threshold, .. } => Some((column, threshold)),
    };
    match model {
        Model::Trees(trees) => trees.trees().into_iter().flatten().filter_map(split).collect(),
        Model::Stack(stack) => {
            stack.members().iter().flat_map(|member| thresholds(&member.model)).collect()
        }
        _ => Vec::new(),
    }
}

/// In the last rows, values exactly at the thresholds of trees, just beside them and far beyond.
fn at_thresholds(asked: &mut [f64], columns: usize, model: &Model) {
    let thresholds = thresholds(model);
    let rows = asked.chunks_exact_mut(columns).rev().take(ASKED / 2);
    for (i, (row, (column, threshold))) in rows.zip(thresholds.iter().cycle()).enumerate() {
        let beside = [*threshold, threshold.next_down(), threshold.next_up(), f64::MIN, f64::MAX];
        row[*column] = beside[i % 5].clamp(f64::MIN, f64::MAX);
    }
}

/// One case of a model as it is fitted.
fn write_supported(folder: &Path, rows: &Rows, kind: Kind) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let names: Vec<String> = (1..=rows.columns).map(|c| format!("input {c}")).collect();
    let options = fit::Options::default().kind(kind);
    let fitted = fit::fit(&rows.data()?, &names, &options, &Silent)?.fitted;
    let mut inputs = rows.asked();
    at_thresholds(&mut inputs, rows.columns, fitted.model());
    let predicted = fitted.predict(&inputs)?;
    let turns = fitted.shape().is_some_and(|shape| shape.turning().is_some());
    ensure!(
        turns == folder.ends_with("skew-by-inputs"),
        "the skew of {} is another than it was made",
        folder.display()
    );
    let laws = predicted.error_laws();
    let column = |of: fn(&Law) -> f64| -> Vec<f64> { laws.iter().map(|l| of(l.law())).collect() };
    let expected = json!({
        "names": names,
        "inputs": inputs, // null where one is missing
        "missing": rows.missing(),
        "sigma": predicted.sigma(),
        "outside": predicted.outside(),
        "law": turns.then(|| json!({
            "location": column(|law| law.location),
            "left": column(|law| law.left),
            "right": column(|law| law.right),
        })),
    });
    std::fs::write(folder.join("model.json"), fitted.to_json()?)?;
    std::fs::write(folder.join("expected.json"), expected.to_string())?;
    Ok(())
}

/// A case with two categories, some of whose values are missing, before and after so many numbers.
fn write_categories(folder: &Path, numbers: usize, kind: Kind, debias: bool) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    const LEVELS: [&[&str]; 2] = [&["AA", "HA", "é, \"B6\"", "never"], &["true", "false"]];
    let columns = numbers + 2;
    let rows = 4 * ROWS;
    let spread = spread(columns, rows.max(ASKED));
    // The code of a level, or of none.
    let code = |column: usize, u: f64| match column {
        0 if u < 0.9 => (u / 0.3).floor(),
        0 => f64::NAN,
        _ => f64::from(u8::from(u < 0.4)),
    };
    let is_text = |column: usize| column == 0 || column == columns - 1;
    let value = |(i, u): (usize, &f64)| match i % columns {
        column if is_text(column) => code(column, *u),
        _ => *u,
    };
    let inputs: Vec<f64> = spread[..rows * columns].iter().enumerate().map(value).collect();
    let error = |(i, row): (usize, &[f64])| {
        let (carrier, truth) = (row[0], row[columns - 1]);
        let size = (1.0 + if carrier.is_nan() { 4.0 } else { carrier }) * (1.0 + 2.0 * truth);
        let mean = if debias { 3.0 * truth } else { 0.0 };
        mean + size * 2.4 * ((i * i) as f64 * 1.7).sin()
    };
    let error: Vec<f64> = inputs.chunks_exact(columns).enumerate().map(error).collect();
    let category = |nth: usize, column: usize| Category {
        column,
        levels: LEVELS[nth].iter().map(|level| (*level).to_string()).collect(),
    };
    let data = Data::with_missing(&inputs, columns, &error)?
        .with_categories(vec![category(0, 0), category(1, columns - 1)])?;
    let names: Vec<String> = (0..columns).map(|c| format!("input {c}")).collect();
    let options =
        fit::Options::default().kind(kind).debias(debias).independent(true).law(LawKind::Normal);
    let fitted = fit::fit(&data, &names, &options, &Silent)?.fitted;
    ensure!(fitted.moves_by_level() == debias, "levels move forecasts where they should not");
    // Levels that were not seen among them, by code and by name, and numbers out of their range.
    let asked: Vec<f64> = (spread[..ASKED * columns].iter().enumerate())
        .map(|(i, u)| match i % columns {
            column if is_text(column) && i / columns % 7 == 3 => [3.0, -1.0][i / columns % 2],
            column if is_text(column) => code(column, *u),
            _ => 1.5 * u,
        })
        .collect();
    let text = |nth: usize, code: f64| match code {
        code if code.is_nan() => "",
        code => LEVELS[nth].get(code as usize).filter(|_| code >= 0.0).copied().unwrap_or("ZZ"),
    };
    let texts: Vec<[&str; 2]> = (asked.chunks_exact(columns))
        .map(|row| [text(0, row[0]), text(1, row[columns - 1])])
        .collect();
    let predicted = fitted.predict(&asked)?;
    let expected = json!({
        "names": names[1..columns - 1],
        "inputs": asked.chunks_exact(columns).flat_map(|row| &row[1..columns - 1]).collect::<Vec<_>>(),
        "categories": [&names[0], &names[columns - 1]],
        "texts": texts,
        "missing": false,
        "sigma": predicted.sigma(),
        "outside": predicted.outside(),
        "bias": predicted.bias(),
    });
    std::fs::write(folder.join("model.json"), fitted.to_json()?)?;
    std::fs::write(folder.join("expected.json"), expected.to_string())?;
    Ok(())
}

/// One case: the model file, and inputs with what is expected of them.
fn write(folder: &Path, rows: &Rows, model: &Model) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let names: Vec<String> = (1..=rows.columns).map(|c| format!("input {c}, \"é\"")).collect();
    let mut inputs = rows.asked();
    at_thresholds(&mut inputs, rows.columns, model);
    let fitted = Fitted::of(model.clone(), &rows.data()?, &names)?;
    let predicted = fitted.predict(&inputs)?;
    let expected = json!({
        "names": names,
        "inputs": inputs, // null where one is missing
        "missing": rows.missing(),
        "sigma": predicted.sigma(),
        "outside": predicted.outside(),
    });
    std::fs::write(folder.join("model.json"), fitted.to_json()?)?;
    std::fs::write(folder.join("expected.json"), expected.to_string())?;
    Ok(())
}

/// A case with a bias; `forecast` is the place of the forecast among the inputs.
fn write_biased(folder: &Path, rows: &Rows, forecast: Option<usize>) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let names: Vec<String> = (1..=rows.columns).map(|c| format!("input {c}")).collect();
    let options = fit::Options::default().kind(Kind::Polynomial).debias(true);
    let fitted = fit::fit(&rows.data()?, &names, &options, &Silent)?.fitted;
    let name = forecast.map_or(String::from("elsewhere"), |place| names[place].clone());
    let fitted = fitted.with_errors(fit::ErrorSource::HeldOut, Some(name));
    let splits = fitted.bias().into_iter().flat_map(|bias| bias.trees()).any(|t| t.len() > 1);
    ensure!(splits, "no tree of the bias splits");
    let smooth = fitted.bias().is_some_and(|bias| bias.smooth().is_some());
    let wanted = folder.ends_with("bias-smooth");
    ensure!(smooth || !wanted, "the bias of {} is not smooth", folder.display());
    let inputs = rows.asked();
    let predicted = fitted.predict(&inputs)?;
    let bias = predicted.bias().context("a bias was asked for")?;
    let moved = forecast.map(|place| -> Vec<f64> {
        let forecasts = inputs.iter().skip(place).step_by(rows.columns);
        forecasts.zip(bias).map(|(forecast, bias)| forecast + bias).collect()
    });
    let expected = json!({
        "names": names,
        "inputs": inputs,
        "missing": rows.missing(),
        "sigma": predicted.sigma(),
        "outside": predicted.outside(),
        "bias": bias,
        "debiased": moved,
    });
    std::fs::write(folder.join("model.json"), fitted.to_json()?)?;
    std::fs::write(folder.join("expected.json"), expected.to_string())?;
    Ok(())
}
