//! The members of an ensemble, from fit to update, predict, backtest and report.

use std::fmt::Write as _;

use tempfile::TempDir;

use crate::common::Numbers;
use crate::series::run;

/// Days with four members, some of them missing, and what was then observed. The same with their
/// mean (or median), standard deviation and share of zeros instead, reckoned here.
fn days(rows: usize, median: bool) -> [String; 2] {
    let mut numbers = Numbers::new(7);
    let mut plain = String::from("time,m.1,m.2,m.3,m.4,y\n");
    let mut made = String::from("time,members_mean,members_spread,members_zeros,y\n");
    if median {
        made = made.replace("members_mean", "members_median");
    }
    for day in 0..rows {
        let (level, apart) = (4.0 * numbers.next(), 0.2 + 2.0 * numbers.next());
        let members: Vec<Option<f64>> = (0..4)
            .map(|member| {
                let value = (level + apart * numbers.normal()).max(0.0);
                let value = (100.0 * value).round() / 100.0;
                (numbers.next() > 0.1 || member == 0).then_some(value)
            })
            .collect();
        let y = (level + (0.3 + apart) * numbers.normal()).max(0.0);
        let shown = |value: &Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let fields: Vec<String> = members.iter().map(shown).collect();
        let _ = writeln!(plain, "{day},{},{y:.2}", fields.join(","));
        let mut there: Vec<f64> = members.iter().flatten().copied().collect();
        there.sort_by(f64::total_cmp);
        let count = there.len() as f64;
        let mean = there.iter().sum::<f64>() / count;
        let squares = there.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        let spread = match there.len() {
            1 => String::new(),
            _ => (squares / (count - 1.0)).sqrt().to_string(),
        };
        let zeros = there.iter().filter(|x| **x == 0.0).count() as f64 / count;
        let half = there.len() / 2;
        let middle = match there.len() % 2 {
            0 => 0.5 * (there[half - 1] + there[half]),
            _ => there[half],
        };
        let center = if median { middle } else { mean };
        let _ = writeln!(made, "{day},{center},{spread},{zeros},{y:.2}");
    }
    [plain, made]
}

fn put(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

/// A column of a table, by its name.
fn column(table: &str, name: &str) -> Vec<f64> {
    let mut lines = table.lines();
    let place = lines.next().unwrap().split(',').position(|field| field == name).unwrap();
    let value = |line: &str| line.split(',').nth(place).unwrap().parse().unwrap_or(f64::NAN);
    lines.map(value).collect()
}

fn near(one: &[f64], other: &[f64], within: f64) {
    assert_eq!(one.len(), other.len());
    for (row, (a, b)) in one.iter().zip(other).enumerate() {
        assert!((a - b).abs() <= within * b.abs(), "row {row}: {a} and {b}");
    }
}

#[test]
fn members_are_what_is_made_of_them() {
    for (center, forecast) in [("mean", "members_mean"), ("median", "members_median")] {
        let folder = tempfile::tempdir().unwrap();
        let [plain, made] = days(600, center == "median");
        put(&folder, "plain.csv", &plain);
        put(&folder, "made.csv", &made);
        let how = "--observation y --time time --lower 0 --model polynomial --debias yes";
        let given =
            format!("--forecast {forecast} --inputs {forecast},members_spread,members_zeros");
        run(&folder, &format!("fit plain.csv --members m.* --center {center} {how} -o a.json"))
            .well();
        run(&folder, &format!("fit made.csv {given} {how} -o b.json")).well();
        run(&folder, "predict plain.csv --model a.json --interval 0.9 -o a.csv").well();
        run(&folder, "predict made.csv --model b.json --interval 0.9 -o b.csv").well();
        let [a, b] = ["a.csv", "b.csv"]
            .map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap());
        // The sums above are in another order.
        near(&column(&a, "forecast"), &column(&b, forecast), 1e-12);
        for name in ["debiased", "sigma", "lower_90", "upper_90"] {
            near(&column(&a, name), &column(&b, name), 1e-6);
        }
    }
}

#[test]
fn every_command_takes_a_model_of_members() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, _] = days(400, false);
    let lines: Vec<&str> = plain.lines().collect();
    let table =
        |rows: std::ops::Range<usize>| [&lines[..1], &lines[rows]].concat().join("\n") + "\n";
    put(&folder, "known.csv", &table(1..301));
    put(&folder, "later.csv", &table(301..401));
    put(&folder, "all.csv", &table(1..401));
    let how = "--members m.* --observation y --time time --model polynomial";
    let said = run(&folder, &format!("fit known.csv {how} -o m.json")).well();
    assert!(said.printed().contains("members_spread"), "{}", said.printed());
    run(&folder, "update m.json later.csv").well();
    run(&folder, "report later.csv --model m.json --observation y -o page.html").well();
    run(&folder, "export m.json -o m.onnx").well();
    run(&folder, &format!("backtest all.csv {how} --refit never -o walk.csv")).well();
    let walk = std::fs::read_to_string(folder.path().join("walk.csv")).unwrap();
    let forecast = column(&walk, "forecast");
    let last = plain.lines().last().unwrap().split(',').skip(1).take(4);
    let last: Vec<f64> = last.filter_map(|field| field.parse().ok()).collect();
    let mean = last.iter().sum::<f64>() / last.len() as f64;
    assert!((forecast.last().unwrap() - mean).abs() < 1e-12);
    // Tables that lack a member are refused by its name.
    put(&folder, "short.csv", "time,m.1,m.2,m.4,y\n0,1,2,3,2\n");
    let refused = run(&folder, "predict short.csv --model m.json");
    assert!(
        refused.stderr.contains("no column \"m.3\", a member of the ensemble"),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_cannot_be_an_ensemble_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, _] = days(60, false);
    put(&folder, "t.csv", &plain);
    put(&folder, "text.csv", &plain.replacen("\n1,", "\n1,high", 1));
    put(&folder, "named.csv", &plain.replacen("time", "members_mean", 1));
    for (arguments, words) in [
        ("t.csv --members y,m.1", "--members y,m.1 stands for the observation \"y\" too"),
        (
            "t.csv --members m.1",
            "--members m.1 stands for one column only: name it with --forecast m.1",
        ),
        ("t.csv --members k*", "no column \"k*\", a member of the ensemble"),
        ("t.csv --members m.* --forecast m.1", "cannot be used with"),
        ("t.csv --center median --forecast m.1", "cannot be used with"),
        ("t.csv --center median", "--members"),
        ("text.csv --members m.*", "column \"m.1\""),
        (
            "named.csv --members m.*",
            "a column \"members_mean\" already, which is made of the members here",
        ),
    ] {
        let refused = run(&folder, &format!("fit {arguments} --observation y -o m.json"));
        assert_ne!(refused.status, Some(0), "{arguments}");
        assert!(refused.stderr.contains(words), "{arguments}: {}", refused.stderr);
    }
}

/// Without zeros nothing is said of them, and rows without any member are left out.
#[test]
fn zeros_are_an_input_where_there_are_some() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(1);
    let mut text = String::from("m1,m2,m3,y\n");
    for row in 0..80 {
        let at = 10.0 + numbers.next();
        match row {
            5 => text.push_str(",,,10\n"),
            _ => {
                let _ = writeln!(text, "{at},{},{},{}", at + 1.0, at - 1.0, at + numbers.normal());
            }
        }
    }
    put(&folder, "t.csv", &text);
    let ran =
        run(&folder, "fit t.csv --members m* --observation y --model polynomial -o m.json").well();
    assert!(!ran.printed().contains("members_zeros"), "{}", ran.printed());
    assert!(
        ran.stderr.contains("1 of 80 rows left out") || ran.stderr.contains("left out"),
        "{}",
        ran.stderr
    );
}
