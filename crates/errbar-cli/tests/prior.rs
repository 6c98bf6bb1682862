//! A sigma that is there already, from fit to update, predict, backtest and report.

use std::fmt::Write as _;

use tempfile::TempDir;

use crate::common::Numbers;
use crate::series::run;

const FIT: &str = "--forecast mu --observation y --inputs x --prior-sigma s --model polynomial";

/// Rows whose errors are (0.5 + 2 x) times as large as the column s says; now and then it says nothing, or 0.
fn rows(count: usize) -> String {
    let mut numbers = Numbers::new(5);
    let mut text = String::from("t,x,s,mu,y\n");
    for row in 0..count {
        let (x, s) = (numbers.next(), (0.7 * numbers.normal()).exp());
        let y = 1.0 + s * (0.5 + 2.0 * x) * numbers.normal();
        let s = match row % 50 {
            10 => String::from("0"),
            20 => String::new(),
            _ => s.to_string(),
        };
        let _ = writeln!(text, "{row},{x:.4},{s},1,{y:.4}");
    }
    text
}

fn put(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

#[test]
fn a_fit_says_what_was_wrong_with_it_and_predict_corrects_it() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "t.csv", &rows(800));
    let fit = run(&folder, &format!("fit t.csv {FIT} -o m.json")).well();
    for words in
        ["the sigma \"s\" is corrected", "times as large as it says", "that sigma times one factor"]
    {
        assert!(fit.printed().contains(words), "{words}: {}", fit.printed());
    }
    let words = "32 of 800 rows were left out: 32 have no prior sigma (\"s\"; 0 counts as missing)";
    assert!(fit.stderr.contains(words), "{}", fit.stderr);
    put(&folder, "new.csv", "x,s,mu\n0.5,1,0\n0.5,10,0\n0.5,0,0\n0.5,,0\n");
    let said = run(&folder, "predict new.csv --model m.json --interval 0.9").well().printed();
    let sigma = |row: usize| said.lines().nth(row).unwrap().split(',').nth(3).unwrap().to_string();
    let [one, ten] = [1, 2].map(|row| sigma(row).parse::<f64>().unwrap());
    assert!((ten / one - 10.0).abs() < 1e-9 && (1.2..1.8).contains(&one), "{said}");
    assert_eq!([sigma(3), sigma(4)], ["", ""]);
    put(&folder, "without.csv", "x,mu\n0.5,1\n");
    let refused = run(&folder, "predict without.csv --model m.json");
    assert!(
        refused.stderr.contains("no column \"s\", the prior sigma of m.json"),
        "{}",
        refused.stderr
    );
    let refused = run(&folder, &format!("fit t.csv {FIT} --missing error -o n.json"));
    assert!(refused.stderr.contains("column \"s\""), "{}", refused.stderr);
}

#[test]
fn every_command_takes_a_model_that_corrects_one() {
    let folder = tempfile::tempdir().unwrap();
    let text = rows(600);
    let lines: Vec<&str> = text.lines().collect();
    let table =
        |rows: std::ops::Range<usize>| [&lines[..1], &lines[rows]].concat().join("\n") + "\n";
    put(&folder, "known.csv", &table(1..401));
    put(&folder, "later.csv", &table(401..601));
    put(&folder, "all.csv", &text);
    run(&folder, &format!("fit known.csv {FIT} --time t -o m.json")).well();
    run(&folder, "update m.json later.csv").well();
    run(&folder, "predict later.csv --model m.json -o p.csv").well();
    run(&folder, "report later.csv --model m.json -o page.html").well();
    let walk =
        run(&folder, &format!("backtest all.csv {FIT} --time t --refit never --json -o w.csv"));
    let walk: serde_json::Value = serde_json::from_str(&walk.well().printed()).unwrap();
    let crps = |of: &str| walk[of]["crps"].as_f64().unwrap();
    assert!(crps("followed") < 0.97 * crps("constant"), "{walk}");
}
