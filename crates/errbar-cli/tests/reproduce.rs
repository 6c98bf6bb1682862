//! `errbar reproduce` as a person runs it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn errbar(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_errbar"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    errbar(arguments).output().unwrap()
}

/// Every file of a folder by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
    };
    std::fs::read_dir(folder).unwrap().map(entry).collect()
}

#[test]
fn table_and_claims_are_the_same_bytes_with_one_and_two_threads() {
    let folder = tempfile::tempdir().unwrap();
    let make = |threads: &str| {
        let out = folder.path().join(threads);
        for part in ["table", "claims", "beyond"] {
            let place = out.join(part);
            let output = run(&[
                "reproduce",
                "--runs",
                "4",
                "--only",
                part,
                "--threads",
                threads,
                "--out",
                place.to_str().unwrap(),
            ]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let mut all = files(&out.join("table"));
        all.extend(files(&out.join("claims")));
        all.extend(files(&out.join("beyond")).into_iter().filter(|(name, _)| name == "beyond.md"));
        all.remove("timings.csv");
        all
    };
    let one = make("1");
    assert!(one == make("2"));
    for name in ["table1.csv", "table1.md", "index.html", "claim-1-trade-off.svg", "beyond.md"] {
        assert!(one.contains_key(name), "{name} is missing");
    }
    let csv = String::from_utf8(one["table1.csv"].clone()).unwrap();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "dataset,method,q1,median,q3,paper_q1,paper_median,paper_q3,oracle,regret_median,\
         crps_median,rs_median,sigma_rmse_median"
    );
    assert_eq!(lines.count(), 18, "six methods on three data sets");
    assert!(csv.contains("G,AR-Poly,") && csv.contains(",1.15,1.17,1.21,"), "the paper's numbers");
    let page = String::from_utf8(one["index.html"].clone()).unwrap();
    assert!(page.contains("<svg") && !page.contains("src=\"http"), "nothing to load");
}

#[test]
fn skewed_errors_have_three_tables_with_figures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let output = run(&[
        "reproduce",
        "--only",
        "skewed",
        "--runs-skewed",
        "1",
        "--rows-skewed",
        "100",
        "--out",
        out,
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = files(folder.path());
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains(&text("skewed.md")), "what is printed is what is written");
    let table = |title: &str| {
        let from = printed.split(title).nth(1).unwrap().split("\n## ").next().unwrap();
        let rows = from.lines().filter(|line| line.starts_with("| ")).map(String::from);
        rows.skip(1).collect::<Vec<String>>()
    };
    for title in ["skewed errors, by CRPS\n", "skewed errors, by NLPD\n"] {
        let rows = table(title);
        assert_eq!(rows.len(), 10, "a line for each set");
        for row in &rows {
            // The goal is what the numbers beside it say.
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let number = |cell: &str| {
                cell.replace("**", "").split(' ').next().unwrap().parse::<f64>().unwrap()
            };
            let least = cells[1..8].iter().map(|cell| number(cell)).fold(f64::INFINITY, f64::min);
            let (auto, limit) = (number(cells[8]), number(cells[9]));
            assert!((limit - (1.2 * least).max(least + 0.003)).abs() < 2e-4, "{row}");
            if (auto - limit).abs() > 1e-4 {
                assert_eq!(cells[10], if auto < limit { "met" } else { "missed" }, "{row}");
            }
        }
    }
    assert_eq!(
        table("Which cost should I use?").len(),
        18,
        "two models, three shares, three costs"
    );
    assert!(printed.contains("Over all shares of outliers"));
    for name in ["skewed-regret", "skewed-laws", "skewed-costs"] {
        assert!(files.contains_key(&format!("{name}.svg")), "{name}");
        assert!(files.contains_key(&format!("{name}.png")), "{name}");
    }
    let page = text("index.html");
    assert!(page.contains("Which cost should I use?") && page.contains("--only skewed"));
    assert!(page.contains("--rows-skewed 100") && page.contains("<td><b>0."), "bold is bold");
}

#[test]
fn wrong_arguments_are_explained_with_status_2() {
    for (arguments, word) in [
        (vec!["reproduce", "--runs", "0"], "--runs"),
        (vec!["reproduce", "--runs", "many"], "--runs"),
        (vec!["reproduce", "--only", "poem"], "figures"),
        (vec!["reproduce", "--only", "skew"], "skewed"),
        (vec!["reproduce", "--rows-skewed", "3"], "--rows-skewed"),
        (vec!["reproduce", "--seed", "-1"], "--seed"),
        (vec!["reproduce", "--threads", "0"], "--threads"),
        (vec!["predictt"], "predictt"),
        (vec![], "Usage"),
    ] {
        let output = run(&arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?}: {text}");
    }
    let output = run(&["--help"]);
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("reproduce")
    );
}

#[test]
fn a_place_that_cannot_be_written_is_named_with_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("taken");
    std::fs::write(&file, "mine").unwrap();
    let output =
        run(&["reproduce", "--runs", "1", "--only", "table", "--out", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("taken"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_closed_pipe_is_no_failure_and_quiet_is_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a");
    let arguments = ["reproduce", "--runs", "1", "--only", "table", "--out", out.to_str().unwrap()];
    let mut child = errbar(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    let output = run(&[&arguments[..], &["--quiet"]].concat());
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}

/// Ctrl-C: status 130, and the folder as it was.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("table1.csv");
    std::fs::write(&before, "from an earlier run").unwrap();
    let out = folder.path().to_str().unwrap();
    for part in ["table", "skewed"] {
        interrupted(&["reproduce", "--runs", "100000", "--only", part, "--out", out]);
        assert_eq!(files(folder.path()).len(), 1);
        assert_eq!(std::fs::read_to_string(&before).unwrap(), "from an earlier run");
    }
}

/// Runs the program, interrupts it, and waits for it to say so.
#[cfg(unix)]
fn interrupted(arguments: &[&str]) {
    let mut child = errbar(arguments).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    // A stuck program must not hang the tests: a second signal ends it at once.
    let start = std::time::Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed().as_secs() > 60 => {
                child.kill().unwrap();
                panic!("still running a minute after an interrupt");
            }
            None => std::thread::sleep(std::time::Duration::from_millis(20)),
        }
    };
    assert_eq!(status.code(), Some(130));
}
