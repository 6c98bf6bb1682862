//! Every file under fuzz/seeds through what the fuzzers call: what once crashed does not crash again.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::{Value, json};

fn seeds(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|why| panic!("{folder:?}: {why}"));
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Calls a target with each seed, and with each seed cut short at some places.
fn run(target: &str, least: usize, call: fn(&[u8])) {
    let all = seeds(target);
    assert!(all.len() >= least, "{} seeds of {target}", all.len());
    for path in all {
        let bytes = std::fs::read(&path).unwrap();
        for eighths in 1..=8 {
            let part = &bytes[..bytes.len() * eighths / 8];
            let caught = std::panic::catch_unwind(|| call(part));
            assert!(caught.is_ok(), "{} bytes of {}", part.len(), path.display());
        }
    }
}

#[test]
fn tables() {
    run("csv", 26, errbar_cli::fuzzing::csv);
    run("json", 6, errbar_cli::fuzzing::json);
    run("packed", 4, errbar_cli::fuzzing::packed);
    run("sheets", 6, errbar_cli::fuzzing::sheets);
    run("parquet", 2, errbar_cli::fuzzing::parquet);
}

#[test]
fn dates() {
    run("dates", 15, errbar_cli::fuzzing::dates);
}

#[test]
fn models() {
    run("model", 10, errbar_cli::fuzzing::model);
    // The seeds are of use: whole, those without a word for it in their names are models.
    const AGAIN: &str =
        "has the saved form changed? python3 fuzz/model_seeds.py target/release/errbar";
    for path in seeds("model") {
        let is_good = !path.to_string_lossy().contains("broken");
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let read = errbar::fit::Fitted::from_json(&text);
        assert_eq!(read.is_ok(), is_good, "{}: {:?}; {AGAIN}", path.display(), read.err());
    }
}

/// Every place in a model with something else in it. Fuzzers seldom keep JSON whole; this does.
#[test]
fn models_with_another_value_somewhere() {
    let others = [
        json!(0),
        json!(-1),
        json!(0.5),
        json!(1e308),
        json!(-1e308),
        json!(5e-324),
        json!(1e17),
        json!(u64::MAX),
        json!(null),
        json!("x"),
        json!([]),
        json!([[1.0, 2.0]]),
        json!({}),
    ];
    let (mut accepted, mut wrong) = (0, Vec::new());
    for path in seeds("model") {
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(model) = serde_json::from_str::<Value>(&text) else { continue };
        let mut places = Vec::new();
        places_in(&model, String::new(), &mut places);
        let found: Vec<(usize, Vec<String>)> = places
            .par_iter()
            .map(|place| {
                let (mut accepted, mut wrong) = (0, Vec::new());
                for other in &others {
                    let mut changed = model.clone();
                    *changed.pointer_mut(place).unwrap() = other.clone();
                    let changed = changed.to_string();
                    match errbar::fit::Fitted::from_json(&changed) {
                        Ok(_) => accepted += 1,
                        Err(why) => assert!(!why.to_string().is_empty()),
                    }
                    let call = || errbar_cli::fuzzing::model(changed.as_bytes());
                    if std::panic::catch_unwind(call).is_err() {
                        wrong.push(format!("{}: {other} at {place}", path.display()));
                    }
                }
                (accepted, wrong)
            })
            .collect();
        for (count, places) in found {
            accepted += count;
            wrong.extend(places);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 100, "{accepted} models were accepted");
}

/// Files that an earlier version wrote still say what they said then.
#[test]
fn frozen_models_predict_what_they_did() {
    let text = include_str!("frozen_models.json");
    let frozen: serde_json::Map<String, Value> = serde_json::from_str(text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    assert!(frozen.len() >= 15);
    for (name, recorded) in &frozen {
        let model = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../../fuzz/seeds/model/frozen_{name}.json"));
        std::fs::write(at("new.csv"), recorded["table"].as_str().unwrap()).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_errbar"));
        command.args(["predict", &at("new.csv"), "-m"]).arg(&model).args(["--prefix", "new_"]);
        command.args(recorded["ask"].as_str().unwrap().split_whitespace());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
        let mut reader = csv::Reader::from_reader(&output.stdout[..]);
        let header = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        for (column, values) in recorded["predicted"].as_object().unwrap() {
            let wanted = format!("new_{column}");
            let place = header.iter().position(|name| name == wanted);
            let place = place.unwrap_or_else(|| panic!("{name} gives no {column}: {header:?}"));
            let values = values.as_array().unwrap();
            assert!(!values.is_empty());
            assert_eq!(rows.len(), values.len());
            for (row, value) in rows.iter().zip(values) {
                let (found, value) = (row[place].parse::<f64>().ok(), value.as_f64());
                let near = match (found, value) {
                    // Of the same arithmetic in another order.
                    (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * b.abs(),
                    (a, b) => a == b,
                };
                assert!(near, "{name}: {column} was {value:?} and is {found:?}");
            }
        }
    }
}

/// Every place in a value, long lists at their ends only.
fn places_in(value: &Value, here: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                places_in(field, format!("{here}/{name}"), places);
            }
        }
        Value::Array(entries) => {
            let last = entries.len().saturating_sub(1);
            for (i, entry) in entries.iter().enumerate().filter(|(i, _)| *i < 2 || *i == last) {
                places_in(entry, format!("{here}/{i}"), places);
            }
        }
        _ => {}
    }
    places.push(here);
}
