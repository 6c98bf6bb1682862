//! What `errbar fit` says: sentences that follow from its numbers, and do not contradict each other.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::{Numbers, errbar, table};

/// What a fit to the table t.csv prints, as one line and as it is.
fn said(folder: &Path, arguments: &[&str]) -> (String, String) {
    let all = ["fit", "t.csv", "--inputs", "x"].iter().chain(arguments);
    let printed = errbar(folder, all).well().printed();
    (printed.split_whitespace().collect::<Vec<&str>>().join(" "), printed)
}

#[test]
fn a_constant_that_was_asked_for_beats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (rows, arguments) in [(200, &["--model", "constant"][..]), (19, &[])] {
        std::fs::write(folder.join("t.csv"), table(rows)).unwrap();
        let (text, _) = said(folder, arguments);
        assert!(text.contains("no model of the inputs was tried"), "{text}");
        assert!(!text.contains("beats"), "{text}");
    }
    // Its one number has four digits on a page too.
    let told = errbar(folder, ["report", "t.csv", "--model", "model.json", "-o", "-"]).well();
    let page = told.printed();
    let (_, after) = page.split_once("one sigma, ").unwrap();
    let number: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    assert!(number.len() <= 6 && number.parse::<f64>().is_ok(), "{number}");
}

#[test]
fn it_says_what_the_model_was_fitted_to() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("t.csv"), table(300)).unwrap();
    let (text, _) = said(folder, &["--model", "polynomial"]);
    assert!(
        text.contains(
            "On all 300 rows, held out in 5 turns (the model was then fitted to all rows):"
        ),
        "{text}"
    );
    let (text, _) = said(folder, &["--model", "polynomial", "--guarantee"]);
    assert!(!text.contains("all rows") && !text.contains("all 150"), "{text}");
    assert!(text.contains("fitted to the 150 rows that are not kept from it"), "{text}");
    assert!(text.contains("the guarantee is read off 150 others"), "{text}");
    let (text, _) = said(folder, &["--model", "polynomial", "--most-rows", "100"]);
    assert!(text.contains("fitted to up to 100 of the 300 rows):"), "{text}");
    assert!(!text.contains("fitted to all rows"), "{text}");
}

#[test]
fn the_parts_of_a_mean_are_one_list() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table(150)).unwrap();
    let (_, printed) = said(folder.path(), &["--model", "stack"]);
    let (_, list) = printed.split_once("a weighted mean of log sigma over\n").unwrap();
    let (list, _) = list.split_once("\n  inputs   ").unwrap();
    assert!(list.lines().count() > 1 && list.lines().all(|line| !line.trim().is_empty()), "{list}");
}

/// Errors that no input tells anything about: a mean of models can only do worse, and then it is not
/// said to do better.
#[test]
fn worse_than_a_constant_is_not_better() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut worse = 0;
    for seed in 1..=4 {
        let mut numbers = Numbers::new(seed);
        let mut rows = String::from("x,mu,y\n");
        for _ in 0..80 {
            let _ = writeln!(rows, "{:.4},0,{:.4}", numbers.next(), numbers.normal());
        }
        std::fs::write(folder.join("t.csv"), rows).unwrap();
        for model in ["stack", "auto", "trees"] {
            let (text, _) = said(folder, &["--model", model]);
            let higher = text.contains("higher than with one constant sigma");
            worse += usize::from(higher);
            assert!(!(higher && text.contains("does better than one constant")), "{text}");
            let lower = text.contains("lower than with one constant sigma");
            assert!(!(lower && text.contains("use --model constant")), "{text}");
        }
    }
    assert!(worse > 0, "there was nothing to be contradicted");
}
