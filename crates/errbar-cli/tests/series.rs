//! A series from fit to update: `fit --lag`, `update`, `predict` and `backtest` tell one story.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Ran, errbar, program};
use tempfile::TempDir;

/// Days from 2020-01-01 on, of two stations or of none, whose errors resemble those of the day before.
pub fn days(count: usize, stations: &[&str], size: impl Fn(usize) -> f64) -> Vec<String> {
    let mut state = 12345u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut last = [0.0f64; 2];
    let mut lines = Vec::new();
    for day in 0..count {
        let (year, month, date) = errbar::calendar::date(18262 + day as i64);
        for (nth, station) in stations.iter().enumerate() {
            let noise: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            last[nth] = 0.6 * last[nth] + size(day) * noise;
            let (x, forecast) = (uniform(), 10.0 * uniform());
            lines.push(format!(
                "{year}-{month:02}-{date:02},{station},{x:.4},{forecast:.3},{:.3}",
                forecast + last[nth]
            ));
        }
    }
    lines
}

/// The same row before it is observed.
pub fn unseen(line: &str) -> String {
    line[..=line.rfind(',').unwrap()].to_string()
}

const HEAD: &str = "date,station,x,mu,y\n";

pub fn put(folder: &TempDir, name: &str, lines: &[String]) {
    std::fs::write(folder.path().join(name), HEAD.to_string() + &lines.join("\n") + "\n").unwrap();
}

/// The columns of a CSV file.
pub fn columns(path: &Path) -> HashMap<String, Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut columns: HashMap<String, Vec<String>> = HashMap::new();
    for line in lines {
        for (name, value) in names.iter().zip(line.split(',')) {
            columns.entry(name.to_string()).or_default().push(value.to_string());
        }
    }
    columns
}

pub fn run(folder: &TempDir, arguments: &str) -> Ran {
    errbar(folder.path(), arguments.split_whitespace())
}

pub const FIT: &str = "--inputs x --forecast mu --observation y --time date --model polynomial";

/// Fitted, updated day by day and asked for the next, a model says what the walk says it would have said.
#[test]
fn days_one_by_one_are_the_walk() {
    for (stations, group) in [(vec![""], ""), (vec!["Bern", "Oslo"], " --group station")] {
        for lag in ["", " --lag 1,2"] {
            let folder = tempfile::tempdir().unwrap();
            let lines = days(260, &stations, |day| if day < 200 { 1.0 } else { 2.0 });
            let per_day = stations.len();
            let start = 230 * per_day;
            put(&folder, "all.csv", &lines);
            put(&folder, "known.csv", &lines[..start]);
            run(&folder, &format!("fit known.csv {FIT}{group}{lag} --guarantee -o m.json")).well();
            let walk = format!(
                "backtest all.csv {FIT}{group}{lag} --start 2020-08-18 --refit never --guarantee 0.5,0.8 \
                 -o walk.csv"
            );
            run(&folder, &walk).well();
            let walked = columns(&folder.path().join("walk.csv"));
            assert_eq!(
                walked["sigma"].iter().filter(|s| !s.is_empty()).count(),
                lines.len() - start
            );
            for day in (start..lines.len()).step_by(per_day) {
                let next: Vec<String> =
                    lines[day..day + per_day].iter().map(|line| unseen(line)).collect();
                put(&folder, "next.csv", &next);
                let ask = "predict next.csv --model m.json --interval 0.5,0.9,0.99 --guarantee 0.5,0.8 \
                           -o out.csv";
                run(&folder, ask).well();
                let said = columns(&folder.path().join("out.csv"));
                let guaranteed = ["guaranteed_lower_50", "guaranteed_upper_80"];
                for name in
                    ["sigma", "lower_50", "upper_90", "lower_99"].into_iter().chain(guaranteed)
                {
                    assert_eq!(said[name][..], walked[name][day..day + per_day], "{name} {day}");
                }
                put(&folder, "seen.csv", &lines[day..day + per_day]);
                // Errors have grown: a fit may be due.
                let updated = run(&folder, "update m.json seen.csv");
                assert!(matches!(updated.status, Some(0 | 3)), "{}", updated.stderr);
            }
        }
    }
}

/// Observed rows of the table itself are known to those after them, and rows whose earlier errors nobody knows
/// have wider error bars.
#[test]
fn lags_come_from_the_table_or_are_done_without() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = days(400, &[""], |_| 1.0);
    put(&folder, "known.csv", &lines[..350]);
    run(&folder, &format!("fit known.csv {FIT} --lag 1 -o m.json")).well();
    // The last ten are still to come.
    for line in &mut lines[390..] {
        *line = unseen(line);
    }
    put(&folder, "next.csv", &lines[350..]);
    run(&folder, "predict next.csv --model m.json -o out.csv").well();
    let said = columns(&folder.path().join("out.csv"));
    let sigma: Vec<f64> = said["sigma"].iter().map(|s| s.parse().unwrap()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // Up to the first day that is not observed yet all know the day before.
    assert!(mean(&sigma[41..]) > 1.15 * mean(&sigma[..41]), "{sigma:?}");
    // Without its times it cannot be asked.
    let text = std::fs::read_to_string(folder.path().join("next.csv")).unwrap();
    std::fs::write(folder.path().join("other.csv"), text.replacen("date", "day", 1)).unwrap();
    let refused = run(&folder, "predict other.csv --model m.json");
    assert!(
        refused.stderr.contains("no column \"date\", the time of the model"),
        "{}",
        refused.stderr
    );
    let refused = run(&folder, "report next.csv --model m.json");
    assert!(refused.stderr.contains("errbar backtest --report"), "{}", refused.stderr);
}

/// A table with observations is asked nothing of them, unless it is told to: whoever scores it afterwards wants to
/// know what was said before they came in.
#[test]
fn observations_of_a_table_are_followed_where_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(400, &[""], |day| if day < 320 { 1.0 } else { 4.0 });
    put(&folder, "known.csv", &lines[..300]);
    run(&folder, &format!("fit known.csv {FIT} -o m.json")).well();
    put(&folder, "later.csv", &lines[300..]);
    put(&folder, "unseen.csv", &lines[300..].iter().map(|line| unseen(line)).collect::<Vec<_>>());
    let sigma = |arguments: &str| {
        run(&folder, &format!("predict {arguments} --model m.json -o out.csv")).well();
        columns(&folder.path().join("out.csv"))["sigma"].clone()
    };
    assert_eq!(sigma("later.csv"), sigma("unseen.csv"));
    let followed = sigma("later.csv --observation y");
    let last = |sigma: &[String]| sigma.last().unwrap().parse::<f64>().unwrap();
    assert!(last(&followed) > 1.5 * last(&sigma("unseen.csv")));
}

/// Fine, rescaled, refit: in words, as JSON and for Prometheus, with the exit status.
#[test]
fn updates_say_how_things_are() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(500, &[""], |day| if day < 330 { 1.0 } else { 6.0 });
    put(&folder, "known.csv", &lines[..300]);
    run(&folder, &format!("fit known.csv {FIT} -o m.json")).well();
    put(&folder, "fine.csv", &lines[300..330]);
    let fine = run(&folder, "update m.json fine.csv --json").well();
    let said: serde_json::Value = serde_json::from_slice(&fine.stdout).unwrap();
    assert_eq!((&said["rows_taken"], &said["latest"]), (&30.into(), &"2020-11-25".into()));
    assert!(["fine", "rescaled"].contains(&said["state"].as_str().unwrap()), "{said}");
    put(&folder, "wild.csv", &lines[330..480]);
    let wild = run(&folder, "update m.json wild.csv");
    assert_eq!(wild.status, Some(3), "{}", wild.stderr);
    assert!(wild.printed().contains("Refit: error bars are now"), "{}", wild.printed());
    let mut more = lines[480..].to_vec();
    more[19] = unseen(&more[19]);
    put(&folder, "more.csv", &more);
    let text = run(&folder, "update m.json more.csv --prometheus").printed();
    let gauge = |name: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(&format!("errbar_{name} ")));
        line.unwrap_or_else(|| panic!("{name}: {text}")).split(' ').nth(1).unwrap().parse().unwrap()
    };
    assert_eq!((gauge("refit"), gauge("rows_taken"), gauge("rows_followed")), (1.0, 19.0, 199.0));
    assert!(gauge("width_factor") > 2.0 && gauge("ahead_absolute_error") > 1.0);
}

/// Late and corrected rows are named; what was taken can be taken back.
#[test]
fn late_rows_are_named_and_updates_undone() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(300, &["Bern", "Oslo"], |_| 1.0);
    put(&folder, "known.csv", &lines[..500]);
    run(&folder, &format!("fit known.csv {FIT} --group station -o m.json")).well();
    let fitted = std::fs::read(folder.path().join("m.json")).unwrap();
    put(&folder, "new.csv", &lines[500..520]);
    run(&folder, "update m.json new.csv").well();
    let updated = std::fs::read(folder.path().join("m.json")).unwrap();
    // All of it again: nothing to take, nothing lost.
    let again = run(&folder, "update m.json new.csv").well();
    assert!(again.stderr.contains("20 of the rows were known already"), "{}", again.stderr);
    assert_eq!(std::fs::read(folder.path().join("m.json")).unwrap(), updated);
    let mut other = lines[500..520].to_vec();
    let wrong = other[5].rfind(',').unwrap();
    other[5].truncate(wrong);
    let _ = write!(other[5], ",99");
    put(&folder, "other.csv", &other);
    let named = run(&folder, "update m.json other.csv").well();
    assert!(
        named.stderr.contains("known with another error and not taken, the first in row 6 (2020-09-09, Oslo); --replace"),
        "{}",
        named.stderr
    );
    let replaced = run(&folder, "update m.json other.csv --replace").well();
    assert!(replaced.printed().contains("Took 1 row"), "{}", replaced.printed());
    assert_ne!(std::fs::read(folder.path().join("m.json")).unwrap(), updated);
    run(&folder, "update m.json new.csv --replace").well();
    run(&folder, "update m.json --undo -o back.json").well();
    std::fs::write(folder.path().join("first.json"), updated).unwrap();
    run(&folder, "update first.json --undo").well();
    assert_eq!(std::fs::read(folder.path().join("first.json")).unwrap(), fitted);
    let none = run(&folder, "update first.json --undo");
    assert!(none.stderr.contains("no update that could be undone"), "{}", none.stderr);
}

/// Killed at any moment, an update leaves the old model or the new one.
#[test]
fn a_killed_update_leaves_a_whole_model() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(300, &[""], |_| 1.0);
    put(&folder, "known.csv", &lines[..250]);
    run(&folder, &format!("fit known.csv {FIT} -o m.json")).well();
    put(&folder, "new.csv", &lines[250..]);
    let path = folder.path().join("m.json");
    let old = std::fs::read(&path).unwrap();
    run(&folder, "update m.json new.csv").well();
    let new = std::fs::read(&path).unwrap();
    let mut left = [0, 0];
    for nth in 0..60 {
        std::fs::write(&path, &old).unwrap();
        let mut command = program(folder.path());
        command.args(["update", "m.json", "new.csv"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_micros(300 * nth));
        let _ = child.kill();
        child.wait().unwrap();
        let now = std::fs::read(&path).unwrap();
        assert!(now == old || now == new, "neither the old model nor the new one, {nth}");
        left[usize::from(now == new)] += 1;
    }
    println!("killed in time {} of 60 times", left[0]);
    assert!(left[0] > 0);
}

/// The same bytes whatever the threads, a page, and words.
#[test]
fn walks_are_the_same_on_any_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = days(240, &["Bern", "Oslo"], |_| 1.0);
    lines[470] = unseen(&lines[470]);
    put(&folder, "all.csv", &lines);
    let walk = format!("backtest all.csv {FIT} --group station --refit 60d --delay 2 --lag 2,48h");
    let one = run(&folder, &format!("{walk} --threads 1 -o one.csv --report one.html")).well();
    let two = run(&folder, &format!("{walk} --threads 2 -o two.csv")).well();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("one.csv"), read("two.csv"));
    assert_eq!(one.printed(), two.printed());
    for words in [
        "Walked through 144 rows of all.csv from 2020-06-17 on (2 fits",
        "143 of the rows were observed",
        "one constant sigma",
        "2020-08",
        "Oslo",
    ] {
        assert!(one.printed().contains(words), "{words}: {}", one.printed());
    }
    let page = String::from_utf8(read("one.html")).unwrap();
    assert!(page.contains("A walk through all.csv") && page.contains("--lag 2,2d"));
}

/// One sentence for whatever is asked wrongly.
#[test]
fn what_cannot_be_walked_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let lines = days(120, &[""], |_| 1.0);
    put(&folder, "all.csv", &lines);
    put(&folder, "none.csv", &[]);
    let numbers: Vec<String> =
        lines.iter().enumerate().map(|(n, line)| format!("{n}{}", &line[10..])).collect();
    put(&folder, "numbers.csv", &numbers);
    run(
        &folder,
        "fit all.csv --inputs x --forecast mu --observation y --model constant -o still.json",
    )
    .well();
    run(&folder, &format!("fit numbers.csv {FIT} -o numbers.json")).well();
    let columns = "--inputs x --forecast mu --observation y";
    for (arguments, says) in [
        (format!("backtest all.csv {columns}"), "name its column with --time"),
        (
            format!("backtest all.csv {FIT} --delay 3 --lag 1"),
            "the lag 1 is shorter than the delay 3",
        ),
        (format!("backtest all.csv {FIT} --start never"), "--start \"never\" is neither"),
        (format!("backtest all.csv {FIT} --start 2030-01-01"), "--start"),
        (format!("backtest all.csv {FIT} --start 0.05"), "--start"),
        (format!("backtest numbers.csv {FIT} --refit 30d"), "--refit by time needs dates"),
        (format!("backtest none.csv {FIT}"), "no rows"),
        (format!("backtest all.csv {FIT} -o out.pdf"), ".pdf is not written"),
        (format!("backtest all.csv {FIT} --report out.pdf"), ".html"),
        ("update still.json all.csv".into(), "knows no time: fit it with --time"),
        (
            "update numbers.json all.csv".into(),
            "are dates, and those that the model knows are numbers",
        ),
        ("update numbers.json none.csv".into(), "no rows"),
        ("update nowhere.json all.csv".into(), "cannot read the model nowhere.json"),
        ("predict all.csv --model still.json --observation y".into(), "knows no time"),
    ] {
        let refused = run(&folder, &arguments);
        assert_eq!(refused.status, Some(1), "{arguments}: {}", refused.stderr);
        let errors: Vec<&str> =
            refused.stderr.lines().filter(|line| line.starts_with("errbar: ")).collect();
        assert!(errors.len() == 1 && errors[0].contains(says), "{arguments}: {}", refused.stderr);
    }
    for wrong in ["--refit soon", "--delay 0", "--lag 1x", "--refit -5%"] {
        let refused = run(&folder, &format!("backtest all.csv {FIT} {wrong}"));
        assert_eq!(refused.status, Some(2), "{wrong}: {}", refused.stderr);
    }
}

/// A promise that rows in no time at all cannot keep is warned of.
#[test]
fn guarantees_of_rows_that_resemble_each_other_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "t.csv", &days(600, &[""], |_| 1.0));
    let columns = "--inputs x --forecast mu --observation y --model constant --guarantee";
    let warned = run(&folder, &format!("fit t.csv {columns} -o m.json")).well();
    assert!(warned.stderr.contains("it may not hold"), "{}", warned.stderr);
    let told = run(&folder, &format!("fit t.csv {columns} --independent -o m.json")).well();
    assert!(!told.stderr.contains("it may not hold"), "{}", told.stderr);
}
