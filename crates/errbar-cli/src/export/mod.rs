//! `errbar export`: a model of sigma for programs that do not know errbar.

mod categories;
mod graph;
mod messages;
mod onnx;
mod support;
#[cfg(test)]
mod tests;
mod trees;

use std::path::{Path, PathBuf};

use anyhow::bail;
use errbar::cycles::Cycle;
use errbar::fit::{Fitted, Levels};
use errbar::law::Transform;

use self::onnx::{Column, Described, Moved};
use crate::console::Console;
use crate::series::words_of;
use crate::{model_file, output};

/// Write a fitted model in a form that other programs run: ONNX.
///
/// The file takes inputs and gives the sigma that errbar predict gives, in whatever runs ONNX, such as
/// onnxruntime for Python, C++, C#, Java and JavaScript. It computes in doubles and agrees to 12 digits.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  errbar export model.json -o model.onnx

Then, in Python (pip install numpy onnxruntime):
  import numpy as np, onnxruntime
  session = onnxruntime.InferenceSession(\"model.onnx\")
  inputs = np.array([[0.3, 17.0], [0.9, 12.5]])     # a row for each forecast
  sigma, outside = session.run([\"sigma\", \"outside\"], {\"inputs\": inputs})

The columns of inputs are those that the model was fitted to, in their order:
  session.get_modelmeta().custom_metadata_map[\"inputs\"]
A row outside the range of the inputs that the model has seen gets the sigma of the nearest edge;
with a smooth model, sigma returns to the overall level there; a stack lies in between.
A model of errbar fit --debias has an output \"bias\", what to add to the forecast, and \"debiased\",
the forecast so moved, where that is an input; sigma belongs to the moved forecast.
The entries \"law\", and where they were given \"bounds\" and \"scale\", of the same map hold the law of
errors in units of sigma, the bounds of observations, and the scale of errbar fit --transform. A law
of a shape of its own has a \"curve\" there: the quantile that is q in a standard Gaussian is the
forecast plus sigma times z, with straight lines between. Where the skew turns with the inputs the
outputs law_location, law_left and law_right are those of each row, and the entry has the average.
Hour of day, day of week and season of the times, where errbar fit --time took them, are inputs too, after those
of the table; the entry \"calendar\" says how each is computed: hour_of_day_sin is sin(2 pi u / 24), u the hours since
midnight, with fractions; day_of_week_sin is sin(2 pi u / 7), u the whole days since Monday; season_sin is sin(2 pi u
/ 365.25), u the whole days since 1 January; _cos the cosine of each. Times with an offset are in UTC, others as written.
Inputs that are categories are texts, the columns of another input \"categories\", named in the entry of that name; \"inputs\"
has the others, and is not there where there are none. Texts are those of the training table, true and false in small
letters; an empty one is missing. One that was not there has a sigma, and counts as outside.
A row in which a number is missing or infinite gets NaN, and counts as outside. A model that was
fitted to rows with missing inputs takes NaN for a missing one.")]
pub(crate) struct Arguments {
    /// The model file that errbar fit wrote; - is standard input.
    model: PathBuf,

    /// Where to write; the name ends in .onnx.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    console: Console,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { model, output: path, console } = arguments;
    check_form(path)?;
    let fitted = model_file::read(model)?;
    let bytes = exported(&fitted)?;
    output::write(path, &bytes)?;
    let (explained, size) = (fitted.model().explain(), bytes.len());
    console.note(&format!("{explained}; wrote {} ({size} bytes)", path.display()));
    if let Some(Moved { forecast: None, .. }) = moved(&fitted) {
        console.note(
            "add its output \"bias\" to the forecast, which is no input of this model: sigma belongs to \
             the forecast so moved",
        );
    }
    let scale = fitted.options().transform;
    if scale != Transform::None {
        console.note(&format!(
            "sigma, bias and law are on the scale of --transform {}, as its entry \"scale\" says",
            scale.name()
        ));
    }
    if !fitted.calendar().is_empty() {
        console.note(&format!(
            "the inputs of {} are for you to compute from the times: its entry \"calendar\" says how",
            words_of(&fitted)
        ));
    }
    if fitted.mean().is_some() {
        console.note(
            "only sigma is in it: the Gaussian process that makes this model's forecast cannot be \
             exported, and errbar predict gives both",
        );
    }
    Ok(())
}

/// Exports a model, and forgets it.
pub(crate) fn check(fitted: &Fitted) {
    // A model may be refused.
    let _ = exported(fitted);
}

fn exported(fitted: &Fitted) -> anyhow::Result<Vec<u8>> {
    // A file may hold a model that knows less than its data.
    let missing = fitted.takes_missing() && fitted.model().takes_missing();
    let options = fitted.options();
    let mut told = Vec::new();
    if !options.bounds.are_none() {
        told.push(("bounds", serde_json::to_string(&options.bounds)?));
    }
    if options.transform != Transform::None {
        told.push(("scale", options.transform.name().to_string()));
    }
    if !fitted.calendar().is_empty() {
        told.push(("calendar", serde_json::to_string(&formulas(fitted))?));
    }
    let columns = columns(fitted);
    if !fitted.categories().is_empty() {
        let name = |own: &Levels| fitted.names()[own.column()].as_str();
        let names: Vec<&str> = fitted.categories().iter().map(name).collect();
        told.push(("categories", serde_json::to_string(&names)?));
    }
    let inputs = Described { columns: &columns, categories: fitted.categories(), missing };
    onnx::export(fitted.supported(), moved(fitted), fitted.shape(), &inputs, told)
}

/// How inputs of the calendar are made of the time of a row, by their names.
fn formulas(fitted: &Fitted) -> serde_json::Map<String, serde_json::Value> {
    let of = |cycle: &Cycle| {
        let (unit, period) = cycle.unit();
        let written = move |part: &str| format!("{part}(2 pi u / {period}), u: {unit}");
        let [sin, cos] = cycle.inputs();
        [(sin, written("sin").into()), (cos, written("cos").into())]
    };
    fitted.calendar().iter().flat_map(of).collect()
}

/// What was learned about the bias of the forecaster.
fn moved(fitted: &Fitted) -> Option<Moved<'_>> {
    // A bias on another scale is not added to the forecast as it is.
    let plain = fitted.options().transform == Transform::None;
    let place = |name: &str| fitted.names().iter().position(|input| input == name);
    let forecast = |name: &str| place(name).filter(|_| plain);
    fitted.bias().map(|bias| Moved { bias, forecast: fitted.forecast().and_then(forecast) })
}

/// The form is told by the name.
fn check_form(path: &Path) -> anyhow::Result<()> {
    match path.extension() {
        Some(end) if end.eq_ignore_ascii_case("onnx") => Ok(()),
        _ => bail!(
            "cannot export to {}: ONNX is the form there is, and its files end in .onnx",
            path.display()
        ),
    }
}

/// The inputs of a model; one without a range would be outside nowhere.
fn columns(fitted: &Fitted) -> Vec<Column> {
    let range = |c: usize| fitted.range(c).unwrap_or((f64::MIN, f64::MAX));
    let column = |(c, name): (usize, &String)| Column { name: name.clone(), range: range(c) };
    fitted.names().iter().enumerate().map(column).collect()
}
