//! Hour of day from fit to update, predict, score, report, backtest and export.

use std::fmt::Write as _;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Numbers, errbar_with};
use crate::series::{columns, run};

const HEAD: &str = "time,x,mu,y\n";

/// Hours from 2022-01-01 on, some of them; errors are three times as large at noon as at midnight, or alike.
fn hours(rows: std::ops::Range<i64>, by_hour: bool, offset: &str) -> String {
    let mut numbers = Numbers::new(3);
    let mut text = HEAD.to_string();
    for row in 0..rows.end {
        let (year, month, day) = errbar::calendar::date(18_993 + row / 24);
        let hour = row % 24;
        let size = 2.0 - (std::f64::consts::TAU * hour as f64 / 24.0).cos();
        let size = if by_hour { size } else { 2.0 };
        let (x, mu) = (numbers.next(), 10.0 * numbers.next());
        let y = mu + (0.5 + x) * size * numbers.normal();
        if row >= rows.start {
            let _ = writeln!(
                text,
                "{year}-{month:02}-{day:02}T{hour:02}:00{offset},{x:.4},{mu:.3},{y:.3}"
            );
        }
    }
    text
}

fn put(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

const FIT: &str = "--inputs x --forecast mu --observation y --time time --model polynomial";

/// A folder with a model of the hour, and later rows.
fn fitted() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "known.csv", &hours(0..1500, true, ""));
    put(&folder, "later.csv", &hours(1500..1700, true, ""));
    run(&folder, &format!("fit known.csv {FIT} -o m.json")).well();
    folder
}

#[test]
fn a_fit_says_what_it_took_and_how_to_leave_it_out() {
    let folder = fitted();
    let said = run(&folder, &format!("fit known.csv {FIT} -o m.json")).well().printed();
    for words in [
        "  inputs   x, hour of day\n",
        "  calendar hour of day, taken from the times, lowers the CRPS of later rows by about ",
        "--calendar",
        "  hour of day  CRPS ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let json = run(&folder, &format!("fit known.csv {FIT} -o m.json --json")).well().printed();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["calendar"], serde_json::json!(["hour_of_day"]));
    assert!(json["calendar_saves"].as_f64().unwrap() > 0.01, "{json}");
    let none = run(&folder, &format!("fit known.csv {FIT} --calendar no -o no.json")).well();
    assert!(none.printed().contains("  inputs   x\n") && !none.printed().contains("calendar"));
    put(&folder, "alike.csv", &hours(0..1500, false, ""));
    let none = run(&folder, &format!("fit alike.csv {FIT} -o alike.json")).well();
    assert!(!none.printed().contains("hour of day"), "{}", none.printed());
    let wrong = run(&folder, &format!("fit known.csv {FIT} --calendar yes"));
    assert!(wrong.stderr.contains("[possible values: auto, no]"), "{}", wrong.stderr);
}

/// Predicted, updated and predicted again: noon has wider error bars than midnight.
#[test]
fn rows_get_the_error_bars_of_their_hour() {
    let folder = fitted();
    let sigma = |ask: &str| -> Vec<f64> {
        run(&folder, &format!("predict later.csv --model m.json -o out.csv{ask}")).well();
        let said = columns(&folder.path().join("out.csv"));
        said["sigma"].iter().map(|sigma| sigma.parse().unwrap()).collect()
    };
    let times = columns(&folder.path().join("later.csv"))["time"].clone();
    let mean = |sigma: &[f64], hour: &str| {
        let at = sigma.iter().zip(&times).filter(|(_, time)| time.contains(hour));
        let at: Vec<f64> = at.map(|(sigma, _)| *sigma).collect();
        at.iter().sum::<f64>() / at.len() as f64
    };
    let before = sigma("");
    assert!(mean(&before, "T12:") > 2.0 * mean(&before, "T00:"), "{before:?}");
    assert_eq!(before, sigma(" --as-fitted"));
    run(&folder, "score out.csv --model m.json --forecast mu --observation y").well();
    let told = run(&folder, "update m.json later.csv --json").well().printed();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["rows_taken"], 200);
    put(&folder, "later.csv", &hours(1700..1760, true, "").replace(",y", ",other"));
    run(&folder, "predict later.csv --model m.json -o out.csv").well();
    run(&folder, "update m.json --undo").well();
}

/// One clear sentence each.
#[test]
fn times_that_say_no_hour_are_named() {
    let folder = fitted();
    let known = hours(1500..1520, true, "");
    let refused = |text: &str, words: &str| {
        put(&folder, "new.csv", text);
        let said = run(&folder, "predict new.csv --model m.json -o out.csv");
        assert_eq!(said.status, Some(1));
        assert!(said.stderr.contains(words), "{}", said.stderr);
        assert_eq!(said.stderr.trim().lines().count(), 1, "{}", said.stderr);
    };
    refused(&known.replacen("time", "when", 1), "no column \"time\", the time of the model");
    refused(
        &hours(1500..1520, true, "+02:00"),
        "have an offset from UTC, and those that the model learned hour of day of have no offset: write both alike",
    );
    refused(
        "time,x,mu\n17,0.5,1\n18,0.5,1\n",
        "are numbers, and those that the model knows are dates",
    );
    let asked = ["predict", "-", "--model", "m.json"];
    let piped = errbar_with(folder.path(), known.as_bytes(), asked);
    assert!(piped.stderr.contains("takes hour of day from the times"), "{}", piped.stderr);
    // A row without a time is kept.
    let gone: Vec<&str> = known.lines().collect();
    let gone = known.replacen(&gone[3][..16], "", 1);
    put(&folder, "new.csv", &gone);
    let said = run(&folder, "predict new.csv --model m.json -o out.csv").well();
    assert!(
        said.stderr.contains(
            "1 row has no time, so that the hour of day of it is not known: it counts as outside"
        ),
        "{}",
        said.stderr
    );
    let out = columns(&folder.path().join("out.csv"));
    assert_eq!((&out["outside"][2][..], &out["outside"][3][..]), ("true", "false"));
    assert_eq!(out["outside_input"][2], "hour of day");
    assert!(out["sigma"][2].parse::<f64>().is_ok());
}

/// Times with an offset are counted in UTC, whatever it is.
#[test]
fn offsets_may_differ_from_row_to_row() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "known.csv", &hours(0..1500, true, "Z"));
    run(&folder, &format!("fit known.csv {FIT} -o m.json")).well();
    put(
        &folder,
        "new.csv",
        "time,x,mu\n2022-04-01T12:00Z,0.5,1\n2022-04-01T14:00+02:00,0.5,1\n2022-04-01T07:00-05:00,0.5,1\n",
    );
    run(&folder, "predict new.csv --model m.json -o out.csv").well();
    let sigma = &columns(&folder.path().join("out.csv"))["sigma"];
    assert!(sigma.iter().all(|one| *one == sigma[0]), "{sigma:?}");
}

#[test]
fn pages_walks_and_onnx_know_the_hour() {
    let folder = fitted();
    let page = run(&folder, "report later.csv --model m.json --forecast mu --observation y").well();
    assert!(!page.stderr.contains("cannot"), "{}", page.stderr);
    let html = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(html.contains("x, hour of day") && html.contains("hour of day"));
    // Shown rows are those of the model's times.
    put(&folder, "other.csv", &hours(1500..1600, true, "").replacen("time", "when", 1));
    let refused = run(&folder, "report other.csv --model m.json --forecast mu --observation y");
    assert!(refused.stderr.contains("\"time\""), "{}", refused.stderr);

    put(&folder, "all.csv", &hours(0..1700, true, ""));
    let walk = format!("backtest all.csv {FIT} --start 2022-03-04T12:00 --refit never");
    let walked = run(&folder, &walk).well().printed();
    assert!(walked.contains("the fit takes hour of day from the times"), "{walked}");
    let score = |more: &str| -> f64 {
        let said = run(&folder, &format!("{walk} --json{more}")).well().printed();
        serde_json::from_str::<Value>(&said).unwrap()["followed"]["crps"].as_f64().unwrap()
    };
    assert!(score("") < 0.98 * score(" --calendar no"));

    let said = run(&folder, "export m.json -o m.onnx").well();
    assert!(
        said.stderr.contains("the inputs of hour of day are for you to compute"),
        "{}",
        said.stderr
    );
    let bytes = std::fs::read(folder.path().join("m.onnx")).unwrap();
    let formula =
        b"\"hour_of_day_sin\":\"sin(2 pi u / 24), u: hours since midnight, with fractions\"";
    assert!(bytes.windows(formula.len()).any(|part| part == formula));
}
