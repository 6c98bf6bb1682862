//! Guaranteed intervals in time: `fit --guarantee --time`, `update`, `predict` and `backtest` count alike.

use serde_json::Value;

use crate::series::{FIT, columns, days, put, run, unseen};

/// What is held as rows are observed: in words, as JSON and for Prometheus, taken back with the rest.
#[test]
fn updates_say_what_was_held() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(700, &[""], |day| if day < 400 { 1.0 } else { 2.0 });
    put(&folder, "known.csv", &lines[..400]);
    let fit = run(&folder, &format!("fit known.csv {FIT} --guarantee -o m.json")).well();
    let said = fit.printed().split_whitespace().collect::<Vec<_>>().join(" ");
    // 0.9 - (20 + 0.9) / 1000.
    for words in [
        "read off 200 errors that the model has not seen, the latest.",
        "kept at 50%, 80%, 90%, 95%, 99%): of 1000 rows at least 87.91% at 90%.",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let fitted = std::fs::read(folder.path().join("m.json")).unwrap();
    put(&folder, "first.csv", &lines[400..500]);
    put(&folder, "later.csv", &lines[500..]);
    run(&folder, "update m.json first.csv --quiet");
    run(&folder, "update m.json --undo").well();
    assert_eq!(std::fs::read(folder.path().join("m.json")).unwrap(), fitted);
    run(&folder, "update m.json first.csv --quiet");
    let told = run(&folder, "update m.json later.csv --json");
    let said: Value = serde_json::from_slice(&told.stdout).unwrap();
    let levels = said["guarantee"].as_array().unwrap();
    assert_eq!(levels.len(), 5);
    for one in levels {
        let number = |name: &str| one[name].as_f64().unwrap();
        let level = number("level");
        assert_eq!(number("rows"), 300.0);
        let least = (level - (20.0 + level) / 300.0).max(0.0);
        assert!((number("proven_least") - least).abs() < 1e-12, "{one}");
        assert!((number("held") - level).abs() < 0.05, "{one}");
    }
    // All of it at once says the same, to people and to machines.
    std::fs::write(folder.path().join("m.json"), fitted).unwrap();
    put(&folder, "all.csv", &lines[400..]);
    let words = run(&folder, "update m.json all.csv -o other.json");
    assert!(words.printed().contains("Guaranteed intervals of 300 rows since the fit:"));
    let text = run(&folder, "update m.json all.csv --prometheus").printed().to_string();
    for one in levels {
        let gauge =
            format!("errbar_guarantee_held{{level=\"{}\"}} {}\n", one["level"], one["held"]);
        assert!(text.contains(&gauge), "{gauge}: {text}");
        let percent = format!("{:.1}%", 100.0 * one["held"].as_f64().unwrap());
        assert!(words.printed().contains(&percent), "{percent}: {}", words.printed());
    }
    // What a walk over the same rows says, and what its columns hold.
    put(&folder, "whole.csv", &lines);
    let walk = format!(
        "backtest whole.csv {FIT} --start 2021-02-04 --refit never --guarantee 0.5,0.9 --json -o walk.csv"
    );
    let walked: Value = serde_json::from_slice(&run(&folder, &walk).well().stdout).unwrap();
    let table = columns(&folder.path().join("walk.csv"));
    for (nth, name, of) in [(0, "50", 0), (1, "90", 2)] {
        let one = &walked["guarantee"][nth];
        assert_eq!(one["kept"]["held"], levels[of]["held"]);
        assert_eq!(one["proven_least"], levels[of]["proven_least"]);
        let number = |column: &str, row: usize| table[column][row].parse::<f64>().unwrap();
        let inside = (400..700).filter(|&row| {
            let ends = [format!("guaranteed_lower_{name}"), format!("guaranteed_upper_{name}")];
            let [low, high] = ends.map(|column| number(&column, row));
            (low..=high).contains(&number("y", row))
        });
        let share = inside.count() as f64 / 300.0;
        assert!((one["kept"]["held"].as_f64().unwrap() - share).abs() < 1e-12, "{one}");
        // Errors have doubled.
        assert!(one["as_calibrated"]["held"].as_f64().unwrap() < share - 0.1, "{one}");
    }
}

/// Rows beyond all that the model has seen: intervals are unbounded, which is written and said.
#[test]
fn unbounded_intervals_are_written_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(300, &[""], |day| if day < 200 { 1.0 } else { 2f64.powi(day as i32 - 199) });
    put(&folder, "known.csv", &lines[..200]);
    run(&folder, &format!("fit known.csv {FIT} --guarantee --guarantee-levels 0.9 -o m.json"))
        .well();
    put(&folder, "next.csv", &[unseen(&lines[260])]);
    let static_ends = "predict next.csv --model m.json --guarantee 0.5,0.8 -o out.csv";
    run(&folder, static_ends).well();
    put(&folder, "wild.csv", &lines[200..255]);
    let told = run(&folder, "update m.json wild.csv");
    assert!(told.printed().contains("Unbounded now at 90%"), "{}", told.printed());
    let refused = run(&folder, static_ends);
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("keeps its guarantee, as rows are observed, at 0.9"));
    run(&folder, "predict next.csv --model m.json --guarantee 0.5 --as-fitted -o out.csv").well();
    for (bounds, lower) in [("", "-inf"), (" --lower 0", "0.0")] {
        let ask = format!("predict next.csv --model m.json --guarantee 0.9{bounds} -o out.csv");
        let said = run(&folder, &ask).well();
        assert!(said.stderr.contains("1 row of 1: the guaranteed interval at 0.9 is unbounded"));
        let table = columns(&folder.path().join("out.csv"));
        assert_eq!(table["guaranteed_lower_90"], [lower]);
        assert_eq!(table["guaranteed_upper_90"], ["inf"]);
    }
    // What was written can be read, Parquet too.
    run(&folder, "predict next.csv --model m.json --guarantee 0.9 -o out.parquet").well();
    let ask = "predict out.parquet --model m.json --guarantee 0.9 --prefix b_ -o again.csv";
    run(&folder, ask).well();
    let table = columns(&folder.path().join("again.csv"));
    assert_eq!(table["guaranteed_lower_90"], ["-inf"]);
    assert_eq!(table["b_guaranteed_upper_90"], ["inf"]);
}

/// Each group is kept right on its own; others are promised nothing.
#[test]
fn groups_are_kept_on_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(400, &["Bern", "Oslo"], |_| 1.0);
    put(&folder, "known.csv", &lines[..400]);
    run(&folder, &format!("fit known.csv {FIT} --group station --guarantee -o m.json")).well();
    let grown: Vec<String> = (lines[400..].iter())
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let (mu, y): (f64, f64) = (cells[3].parse().unwrap(), cells[4].parse().unwrap());
            let error = if cells[1] == "Oslo" { 3.0 * (y - mu) } else { y - mu };
            format!("{},{},{},{mu},{}", cells[0], cells[1], cells[2], mu + error)
        })
        .collect();
    put(&folder, "new.csv", &grown);
    let told = run(&folder, "update m.json new.csv --json");
    let said: Value = serde_json::from_slice(&told.stdout).unwrap();
    let at_90 = &said["guarantee"][2];
    assert_eq!(
        (&at_90["level"], &at_90["rows"], &at_90["groups"]),
        (&0.9.into(), &400.into(), &2.into())
    );
    // 200 rows each: no less than 20.9 of them short of 90%.
    assert!(at_90["least_held_by_group"].as_f64().unwrap() >= 0.9 - 20.9 / 200.0, "{at_90}");
    assert!((at_90["proven_least"].as_f64().unwrap() - (0.9 - 2.0 * 20.9 / 400.0)).abs() < 1e-12);
    let next: Vec<String> =
        [&lines[798], &lines[799]].map(|line| unseen(line).replacen("2021", "2022", 1)).into();
    let mut with_a_stranger = next.clone();
    with_a_stranger.push(next[0].replace("Bern", "Rom"));
    put(&folder, "next.csv", &with_a_stranger);
    run(&folder, "predict next.csv --model m.json --guarantee 0.9 -o out.csv").well();
    let table = columns(&folder.path().join("out.csv"));
    let number = |name: &str, row: usize| table[name][row].parse::<f64>();
    let width = |row: usize| {
        number("guaranteed_upper_90", row).unwrap() - number("guaranteed_lower_90", row).unwrap()
    };
    assert!(width(1) > 2.0 * width(0), "{table:?}");
    assert!(number("guaranteed_lower_90", 2).is_err(), "{table:?}");
}

/// Each wrong way to ask gets a sentence.
#[test]
fn what_cannot_be_kept_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(120, &[""], |_| 1.0);
    put(&folder, "t.csv", &lines);
    for (arguments, says, status) in [
        (
            format!("fit t.csv {FIT} --guarantee --guarantee-levels 0.99"),
            "60 errors cannot promise",
            1,
        ),
        (format!("fit t.csv {FIT} --guarantee --guarantee-levels 0.5,0.5"), "given twice", 1),
        (
            format!("fit t.csv {FIT} --guarantee cross --guarantee-levels 0.5"),
            "--guarantee split",
            1,
        ),
        (format!("fit t.csv {FIT} --guarantee-levels 0.5"), "--guarantee", 2),
        (format!("fit t.csv {FIT} --guarantee --guarantee-levels 1.5"), "1.5", 2),
        (format!("backtest t.csv {FIT} --guarantee 0.999"), "(--guarantee)", 1),
        (format!("backtest t.csv {FIT} --guarantee 0.5,0.5"), "(--guarantee)", 1),
    ] {
        let refused = run(&folder, &arguments);
        assert_eq!(refused.status, Some(status), "{arguments}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{arguments}: {}", refused.stderr);
    }
}
