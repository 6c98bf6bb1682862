//! Marks for missing values: those that everybody knows, those that are named with --na, and numbers
//! that look like some.

use crate::common::{Ran, errbar, rows};
use tempfile::TempDir;

/// Four hundred rows of x, mu and y with sigma, in which some cells are something else.
fn folder(changes: &[(usize, usize, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("x,mu,y,sigma\n");
    for (row, cells) in rows(400).into_iter().enumerate() {
        let mut cells: Vec<String> = cells.into_iter().collect();
        cells.push(format!("{:.3}", 0.2 + cells[0].parse::<f64>().unwrap()));
        for (at, column, cell) in changes {
            if *at == row {
                cells[*column] = (*cell).to_string();
            }
        }
        text += &(cells.join(",") + "\n");
    }
    std::fs::write(folder.path().join("t.csv"), text).unwrap();
    folder
}

#[track_caller]
fn run(folder: &TempDir, line: &str) -> Ran {
    errbar(folder.path(), line.split(' '))
}

#[track_caller]
fn says(ran: &Ran, what: &str) {
    assert!(ran.stderr.contains(what), "{what}\n{}", ran.stderr);
}

const FIT: &str = "fit t.csv --model constant -o m.json --forecast mu";

#[test]
fn a_well_known_mark_is_missing_and_costs_no_column() {
    for mark in ["--", "---", "***", "...", "n.a.", "(null)", "#N/A", "<NA>", "\\N"] {
        let folder = folder(&[(7, 0, mark), (9, 0, mark)]);
        let ran = run(&folder, FIT).well();
        says(&ran, &format!("taken as missing: \"{mark}\" (2 cells of \"x\")"));
        says(&ran, "the input \"x\" is missing in 2 of 400 rows");
        let ran = run(&folder, "predict t.csv -m m.json --prefix new_ -o out.csv").well();
        says(&ran, &format!("taken as missing: \"{mark}\" (2 cells of \"x\")"));
    }
}

#[test]
fn other_texts_among_numbers_are_named_with_the_way_out() {
    let folder = folder(&[(7, 0, "M"), (9, 0, "T"), (11, 0, "M")]);
    let few = "of 400 cells, 3 are no numbers (\"M\" 2, \"T\" 1): if they mark missing values, use --na M,T";
    let ran = run(&folder, FIT).well();
    says(&ran, &format!("warning: the column \"x\" is not used: {few}"));
    // Asked for by name it is refused.
    let ran = run(&folder, &format!("{FIT} --inputs x"));
    assert_eq!(ran.status, Some(1));
    says(&ran, &format!("t.csv, row 8, column \"x\": \"M\" is not a number; {few}"));
    let ran = run(&folder, &format!("{FIT} --inputs x --na M,T")).well();
    says(&ran, "taken as missing: \"M\" (2 cells of \"x\"), \"T\" (1 cell of \"x\")");
    says(&ran, "the input \"x\" is missing in 3 of 400 rows");
    // A stream names the first, and the option.
    let ran = run(&folder, "predict t.csv -m m.json --prefix new_ -o out.csv");
    assert_eq!(ran.status, Some(1));
    says(&ran, "t.csv, row 8, column \"x\": \"M\" is not a number");
    says(&ran, "--na");
    assert!(!folder.path().join("out.csv").exists());
    run(&folder, "predict t.csv -m m.json --prefix new_ -o out.csv --na M,t").well();
    // A column of words is no column of numbers with marks.
    let words: Vec<(usize, usize, &str)> =
        (0..400).map(|row| (row, 0, ["a", "b"][row % 2])).collect();
    let folder = self::folder(&words);
    run(&folder, &format!("{FIT} --inputs x")).well();
    let ran = run(&folder, &format!("{FIT} --inputs mu --weight x"));
    assert!(ran.stderr.contains("\"a\" is not a number; write a number"), "{}", ran.stderr);
}

#[test]
fn what_na_names_is_missing_in_every_command() {
    let marked = folder(&[(3, 2, "-999"), (90, 2, "-999.0"), (200, 2, "-9.99e2"), (5, 1, "M")]);
    let clean = folder(&[(3, 2, ""), (90, 2, ""), (200, 2, ""), (5, 1, "")]);
    let na = "--na -999,M";
    let score = "score t.csv --no-intervals --json";
    let said = run(&marked, &format!("{score} {na}")).well();
    let expected = run(&clean, score).well();
    let scores = |ran: &Ran| -> serde_json::Value {
        let json: serde_json::Value = serde_json::from_str(&ran.printed()).unwrap();
        json["scores"].clone()
    };
    assert_eq!(scores(&said), scores(&expected));
    says(&said, "\"-999\" (3 cells of \"y\"), \"M\" (1 cell of \"mu\")");
    for line in [
        "compare t.csv --sigma sigma,x",
        "report t.csv -o -",
        "fit t.csv --model constant -o m.json",
    ] {
        let said = run(&marked, &format!("{line} {na}")).well();
        let expected = run(&clean, line).well();
        says(&said, "taken as missing: ");
        if !line.starts_with("report") {
            assert_eq!(said.stdout, expected.stdout, "{line}");
        }
    }
    // The option takes what begins with hyphens, but no option.
    let two = folder(&[(3, 2, "--")]);
    run(&two, &format!("{score} --na --")).well();
    run(&two, &format!("{score} --na=--,-999")).well();
    let ran = run(&two, &format!("{score} --na --json"));
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    says(&ran, "\"--json\" is an option");
}

#[test]
fn numbers_that_look_like_marks_are_pointed_out() {
    let table = folder(&[(3, 2, "-999"), (90, 2, "-999.0"), (200, 2, "-999")]);
    let warning = "warning: the observation \"y\" is -999 in 3 rows, far from all others: if that marks a \
                   missing value, use --na -999";
    for line in [
        "score t.csv --no-intervals",
        "compare t.csv --sigma sigma,x",
        "fit t.csv --model constant -o m.json",
    ] {
        says(&run(&table, line).well(), warning);
    }
    let page = run(&table, "report t.csv -o page.html").well();
    says(&page, "-999 in 3 rows");
    let json = run(&table, "score t.csv --no-intervals --json").well().printed();
    assert!(json.contains("use --na -999"), "{json}");
    assert!(
        !run(&table, "score t.csv --no-intervals --na -999").well().stderr.contains("far from")
    );

    // Forecasts and inputs too.
    let table = folder(&[(3, 0, "1e20"), (90, 0, "1e20"), (8, 1, "9999"), (9, 1, "9999")]);
    let ran = run(&table, "fit t.csv --model constant -o m.json").well();
    says(&ran, "the input \"x\" is 1e20 in 2 rows");
    says(&ran, "the forecast \"mu\" is 9999 in 2 rows");
    // New rows are held against the range that the model knows.
    let plain = folder(&[]);
    let ran = run(&plain, "fit t.csv --model constant -o m.json").well();
    assert!(!ran.stderr.contains("--na"), "{}", ran.stderr);
    std::fs::copy(plain.path().join("m.json"), table.path().join("m.json")).unwrap();
    let ran = run(&table, "predict t.csv -m m.json --prefix n_ -o out.csv").well();
    says(&ran, "the input \"x\" is 1e20 in 2 rows, far from all others");
    let ran = run(&plain, "predict t.csv -m m.json --prefix n_ -o out.csv").well();
    assert!(!ran.stderr.contains("--na") && !ran.stderr.contains("missing"), "{}", ran.stderr);
}
