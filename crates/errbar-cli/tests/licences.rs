//! `errbar licences` against the files in the tree and against Cargo.lock. That the list is complete
//! is for `tools/licences.py --check`, which asks Cargo.

use std::path::{Path, PathBuf};

use crate::common::*;

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    std::fs::read_to_string(tree().join(file)).unwrap()
}

/// The words of a text, so that line ends do not matter.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_line_is_of_a_crate_in_the_lock_file() {
    let folder = tempfile::tempdir().unwrap();
    let said = errbar(folder.path(), ["licences"]).well().printed();
    let lock = read("Cargo.lock").replace('\r', "");
    let table = said.lines().skip_while(|line| !line.starts_with("name "));
    let rows: Vec<_> = table.skip(1).take_while(|line| !line.is_empty()).collect();
    for row in &rows {
        let mut cells = row.split_whitespace();
        let (name, version) = (cells.next().unwrap(), cells.next().unwrap());
        assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n")), "{row}");
        assert!(cells.next().is_some(), "{row}");
    }
    // What nobody doubts is linked, and what surely is not: a macro and a tool of tests.
    let has = |name: &str| rows.iter().any(|row| row.starts_with(&format!("{name} ")));
    for name in ["clap", "rayon", "parquet", "zstd-sys", "pyo3", "windows-sys"] {
        assert!(has(name), "{name}");
    }
    for name in ["serde_derive", "proptest", "criterion"] {
        assert!(!has(name), "{name}");
    }
    assert!(rows.iter().all(|row| !row.starts_with("pyo3 ") || row.ends_with("Python")));
}

#[test]
fn texts_are_those_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let said = words(&errbar(folder.path(), ["licences", "--texts"]).well().printed());
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "crates/errbar-report/fonts/OFL.txt"] {
        assert!(said.contains(&words(&read(file))), "{file}");
    }
    // Known by heart: a sentence of licences that crates have and errbar does not.
    for sentence in ["This is free and unencumbered software", "Neither the name of"] {
        assert!(said.contains(sentence), "{sentence}");
    }
    for line in ["Arimo, the font of figures", "Without a text of their own come"] {
        assert!(said.contains(line), "{line}");
    }
}
