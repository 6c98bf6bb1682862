//! Columns of times as people write them: which are read, and what is said of those that cannot be.

use std::path::Path;

use crate::common::{Ran, errbar, errbar_with, rows};
use tempfile::TempDir;

/// Rows of x, mu, y and sigma with a column of times before them.
fn table(times: &[String]) -> String {
    let mut text = String::from("t,x,mu,y,sigma\n");
    for (time, cells) in times.iter().zip(rows(times.len())) {
        text += &format!("\"{time}\",{},1\n", cells.join(","));
    }
    text
}

/// A folder with a table that has these times.
fn folder(times: &[String]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table(times)).unwrap();
    folder
}

/// Days of January and February 2024, last first so that their order matters.
fn days(written: impl Fn(u32, u32) -> String) -> Vec<String> {
    (0..56).rev().map(|day| written(day / 28 + 1, day % 28 + 1)).collect()
}

#[track_caller]
fn run(folder: &Path, line: &str) -> Ran {
    errbar(folder, line.split(' '))
}

const FIT: &str = "fit t.csv --model constant --time t -o m.json";

/// The model but for what it remembers of its times, and what was printed.
#[track_caller]
fn fitted(folder: &TempDir, more: &[&str]) -> (String, String) {
    let arguments: Vec<&str> = FIT.split(' ').chain(more.iter().copied()).collect();
    let ran = errbar(folder.path(), arguments).well();
    (model(folder).0, ran.printed())
}

/// The model, and how its times are written.
fn model(folder: &TempDir) -> (String, Option<String>) {
    let text = std::fs::read(folder.path().join("m.json")).unwrap();
    let mut model: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let series = model["fitted"].as_object_mut().unwrap().remove("series").unwrap();
    (model.to_string(), series["date_format"].as_str().map(String::from))
}

fn fails(times: &[String], more: &[&str]) -> String {
    let folder = folder(times);
    let arguments: Vec<&str> = FIT.split(' ').chain(more.iter().copied()).collect();
    let ran = errbar(folder.path(), arguments);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(!folder.path().join("m.json").exists());
    assert_eq!(ran.stderr.trim_end().lines().count(), 1, "{}", ran.stderr);
    ran.stderr
}

#[test]
fn the_same_days_written_otherwise_make_the_same_model() {
    let iso = folder(&days(|month, day| format!("2024-{month:02}-{day:02}")));
    let (expected, printed) = fitted(&iso, &[]);
    assert!(!printed.contains("  time "), "{printed}");
    type Written = fn(u32, u32) -> String;
    let ways: [(Written, &str); 8] = [
        (|m, d| format!("2024/{m:02}/{d:02}"), "2024/02/28: year/month/day"),
        (|m, d| format!("{d:02}.{m:02}.2024"), "28.02.2024: day.month.year"),
        (|m, d| format!("{m:02}/{d:02}/2024 12:00 AM"), "02/28/2024 12:00 AM: month/day/year"),
        (|m, d| format!("2024{m:02}{d:02}"), "20240228: year, month, day"),
        (|m, d| format!("2024{m:02}{d:02}00"), "2024022800: year, month, day, hour"),
        (|m, d| format!("2024-{:03}", d + 31 * (m - 1)), "2024-059: year-day of the year"),
        (
            |m, d| format!("{d:02}-{}-2024", ["JAN", "FEB"][m as usize - 1]),
            "28-FEB-2024: day month year",
        ),
        (
            |m, d| format!("{} {d}, 2024", ["Jan", "Feb"][m as usize - 1]),
            "Feb 28, 2024: month day, year",
        ),
    ];
    for (way, said) in ways {
        let times = days(way);
        let (model, printed) = fitted(&folder(&times), &[]);
        assert!(model == expected, "{said}");
        assert!(printed.contains(&format!("\n  time     {said}\n")), "{said}\n{printed}");
        // Standard input cannot be read twice.
        let elsewhere = tempfile::tempdir().unwrap();
        let arguments = FIT.replace("t.csv", "-");
        errbar_with(elsewhere.path(), table(&times).as_bytes(), arguments.split(' ')).well();
        let (model, format) = self::model(&elsewhere);
        assert!(model == expected, "{said}");
        // As the model knows them from then on.
        assert!(said.ends_with(&format!(": {}", format.unwrap())), "{said}");
    }
}

#[test]
fn every_command_with_times_takes_a_format() {
    // Without it they are numbers, in another order: the day comes first.
    let folder = folder(&days(|month, day| format!("{day:02}{month:02}2024")));
    let expected = self::folder(&days(|month, day| format!("2024-{month:02}-{day:02}")));
    for line in
        ["score t.csv --time t --json -q", "compare t.csv --sigma sigma,x --time t --json -q"]
    {
        let told: Vec<&str> = line.split(' ').chain(["--date-format", "%d%m%Y"]).collect();
        let told = errbar(folder.path(), told).well().printed();
        assert_eq!(told, run(expected.path(), line).well().printed());
    }
    let told = "report t.csv --time t --date-format %d%m%Y -q -o -";
    let page = run(folder.path(), told).well().printed();
    assert!(page.contains("--date-format %d%m%Y"));
    let (model, printed) = fitted(&folder, &["--date-format", "%d%m%Y"]);
    assert!(model == fitted(&expected, &[]).0);
    assert!(!printed.contains("  time "), "who has said it need not be told");
}

#[test]
fn seconds_and_milliseconds_since_1970() {
    let seconds: Vec<String> =
        (0..60).rev().map(|day| (1_704_067_200 + 86_400 * day).to_string()).collect();
    let plain = fitted(&folder(&seconds), &[]).0;
    assert!(plain == fitted(&folder(&seconds), &["--date-format", "epoch"]).0);
    let milliseconds: Vec<String> = seconds.iter().map(|time| format!("{time}000")).collect();
    assert!(plain == fitted(&folder(&milliseconds), &["--date-format", "epoch-ms"]).0);
    let mut wrong = seconds;
    wrong[4] = String::from("2024-01-31");
    let said = fails(&wrong, &["--date-format", "epoch"]);
    let place = "t.csv, row 5, column \"t\": \"2024-01-31\" does not fit the format \"epoch\" of --date-format";
    assert!(said.contains(place), "{said}");
}

#[test]
fn two_readings_are_named_with_the_way_out() {
    let both = days(|month, day| format!("{month:02}/{:02}/2024", day % 12 + 1));
    let said = fails(&both, &[]);
    for part in [
        "t.csv, row 1, column \"t\": \"02/05/2024\" is 2024-05-02 if that is day/month/year, or 2024-02-05",
        "--date-format day/month/year or --date-format month/day/year",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let one = fitted(&folder(&both), &["--date-format", "month/day/year"]);
    let iso = days(|month, day| format!("2024-{month:02}-{:02}", day % 12 + 1));
    assert!(one.0 == fitted(&folder(&iso), &[]).0);
    assert!(one.0 == fitted(&folder(&both), &["--date-format", "%m/%d/%Y"]).0);
}

#[test]
fn what_is_no_date_is_named() {
    let mut times = days(|month, day| format!("{day:02}.{month:02}.2024"));
    times[7] = String::from("32.01.2024");
    let said = fails(&times, &[]);
    let place = "t.csv, row 8, column \"t\": \"32.01.2024\" is no time written day.month.year";
    assert!(said.contains(place) && said.contains("--date-format"), "{said}");
    let said = fails(&times, &["--date-format", "%d.%m.%Y"]);
    let place = "t.csv, row 8, column \"t\": \"32.01.2024\" does not fit the format \"%d.%m.%Y\" of --date-format";
    assert!(said.contains(place), "{said}");
    times[0] = String::from("soon");
    let said = fails(&times, &[]);
    assert!(
        said.contains("t.csv, row 1, column \"t\": \"soon\" is no time: give numbers, or dates"),
        "{said}"
    );
    // Among numbers it is the text that is wrong, not the numbers.
    let mut numbers: Vec<String> = (0..60).map(|row| row.to_string()).collect();
    numbers[9] = String::from("ten");
    let said = fails(&numbers, &[]);
    assert!(said.contains("t.csv, row 10, column \"t\": \"ten\" is no time"), "{said}");
    // A mark that was named is missing, in text and in numbers.
    times[0] = String::from("-999");
    times[7] = String::from("soon");
    fitted(&folder(&times), &["--na", "-999,soon"]);
}

#[test]
fn a_format_that_is_none_is_refused() {
    let folder = folder(&days(|month, day| format!("2024-{month:02}-{day:02}")));
    for (line, part) in [
        (format!("{FIT} --date-format %H:%M"), "year, month and day"),
        (format!("{FIT} --date-format %"), "no pattern"),
        (format!("{FIT} --date-format dd.mm.yyyy"), "%d.%m.%Y"),
        (String::from("fit t.csv --date-format epoch"), "--time"),
    ] {
        let ran = run(folder.path(), &line);
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}
