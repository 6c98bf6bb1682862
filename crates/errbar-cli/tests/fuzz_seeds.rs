//! Every file under fuzz/seeds through what the fuzzers call: what once crashed does not crash again.

use std::path::{Path, PathBuf};

fn seeds(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|why| panic!("{folder:?}: {why}"));
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Calls a target with each seed, and with each seed cut short at some places.
fn run(target: &str, call: fn(&[u8])) {
    let all = seeds(target);
    assert!(all.len() >= 10, "{} seeds of {target}", all.len());
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
    run("csv", errbar_cli::fuzzing::csv);
}

#[test]
fn models() {
    run("model", errbar_cli::fuzzing::model);
    // The seeds are of use: whole, those without a word for it in their names are models.
    for path in seeds("model") {
        let is_good = !path.to_string_lossy().contains("broken");
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let read = errbar::fit::Fitted::from_json(&text);
        assert_eq!(read.is_ok(), is_good, "{}: {:?}", path.display(), read.err());
    }
}
