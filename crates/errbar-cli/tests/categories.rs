//! Inputs that are texts: read, learned, predicted, known again.

use std::fmt::Write as _;

use errbar::fit::Fitted;
use tempfile::TempDir;

use crate::common::{Numbers, Ran, errbar, errbar_with};

const CARRIERS: [(&str, f64); 4] = [("AA", 1.0), ("HA", 5.0), ("UA", 2.0), ("B6", 0.5)];

/// A table of flights: errors have the sigma of their carrier, twice as large when wet.
fn table(rows: usize) -> String {
    let mut draws = Numbers::new(7);
    let mut text = String::from("flight,day,carrier,wet,gate,mu,y\n");
    for row in 0..rows {
        let (carrier, sigma) = CARRIERS[(draws.next() * 4.0) as usize];
        let wet = draws.next() < 0.3;
        let mu = 10.0 * draws.next();
        let y = mu + sigma * if wet { 2.0 } else { 1.0 } * draws.normal();
        let day = row % 28 + 1;
        let gate = [3, 7, 11][(draws.next() * 3.0) as usize];
        let _ = writeln!(text, "N{row},2024-02-{day:02},{carrier},{wet},{gate},{mu:.3},{y:.4}");
    }
    text
}

fn folder(rows: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table(rows)).unwrap();
    folder
}

#[track_caller]
fn run(folder: &TempDir, line: &str) -> Ran {
    errbar(folder.path(), line.split(' '))
}

#[track_caller]
fn says(ran: &Ran, what: &str) {
    let all = format!("{}{}", ran.stderr, String::from_utf8_lossy(&ran.stdout));
    let words: Vec<&str> = all.split_whitespace().collect();
    assert!(words.join(" ").contains(what), "{what}\n{all}");
}

fn model(folder: &TempDir) -> Fitted {
    Fitted::from_json(&std::fs::read_to_string(folder.path().join("m.json")).unwrap()).unwrap()
}

/// The numbers of a column of a CSV.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let place = lines.next().unwrap().iter().position(|own| own == name).unwrap();
    lines.map(|cells| cells[place].clone()).collect()
}

const FIT: &str = "fit t.csv --forecast mu --observation y -o m.json --law normal --debias no";

#[test]
fn texts_are_taken_by_default_and_names_of_rows_are_left_out() {
    let folder = folder(1500);
    let ran = run(&folder, FIT).well();
    says(
        &ran,
        "inputs: every other column of numbers (gate), and every other column of categories (flight: 1500 values, carrier: 4 values, wet: 2 values)",
    );
    says(
        &ran,
        "the input \"flight\" is left out: 1500 values in 1500 rows look like names of the rows",
    );
    says(&ran, "not used: \"day\" (2024-02-01 is no number)");
    says(&ran, "sigma is largest for HA");
    says(&ran, "smallest for B6");
    assert_eq!(model(&folder).names(), ["carrier", "wet", "gate"]);

    let new =
        "carrier,wet,gate,mu\nHA,false,3,1\nB6,false,3,1\nHA,TRUE,3,1\nZZ,false,3,1\n,false,3,1\n";
    let ran = errbar_with(folder.path(), new.as_bytes(), "predict - -m m.json".split(' ')).well();
    let said = ran.printed();
    let sigma: Vec<f64> = column(&said, "sigma").iter().map(|x| x.parse().unwrap()).collect();
    for (sigma, known) in sigma.iter().zip([5.0, 0.5, 10.0]) {
        assert!((sigma / known).ln().abs() < 0.3, "{sigma} for {known}");
    }
    // A carrier that was not seen, and none, have a sigma between those that were, and a flag.
    for row in 3..5 {
        assert!((0.5..6.0).contains(&sigma[row]), "{sigma:?}");
    }
    assert_eq!(column(&said, "outside"), ["false", "false", "false", "true", "true"]);
    assert_eq!(column(&said, "outside_input")[3..], ["carrier", "carrier"]);
    says(&ran, "2 by \"carrier\"");
}

#[test]
fn columns_are_known_by_name_and_must_be_there() {
    let folder = folder(400);
    run(&folder, &format!("{FIT} --inputs carrier,wet,mu --model trees")).well();
    let rows = |text: &str| {
        let ran =
            errbar_with(folder.path(), text.as_bytes(), "predict - -m m.json".split(' ')).well();
        column(&ran.printed(), "sigma")
    };
    let first = rows("carrier,wet,mu\nHA,true,1\nAA,false,2\n");
    // In another order, with other columns, other texts around them.
    assert_eq!(rows("mu,more,wet,carrier\n1,a,True,HA\n2,b,FALSE,\"AA\"\n"), first);
    let ran = errbar_with(folder.path(), b"wet,mu\ntrue,1\n", "predict - -m m.json".split(' '));
    assert_eq!(ran.status, Some(1));
    says(&ran, "no column \"carrier\", an input of m.json");
}

#[test]
fn numbers_that_name_something_are_told_to_be_categories() {
    let folder = folder(400);
    run(&folder, &format!("{FIT} --inputs gate,mu --categories gate")).well();
    let fitted = model(&folder);
    let mut levels = fitted.categories()[0].names().to_vec();
    levels.sort();
    assert_eq!(
        (fitted.categories()[0].column(), levels),
        (0, vec!["11".into(), "3".into(), "7".into()])
    );
    // 7.0 is the same gate, 5 is not between two others.
    let new = "gate,mu\n7,1\n7.0,1\n5,1\n";
    let ran = errbar_with(folder.path(), new.as_bytes(), "predict - -m m.json".split(' ')).well();
    let said = ran.printed();
    assert_eq!(column(&said, "outside"), ["false", "false", "true"]);
    assert_eq!(column(&said, "sigma")[0], column(&said, "sigma")[1]);
    let ran = run(&folder, &format!("{FIT} --inputs mu --categories gate"));
    says(
        &ran,
        "--categories names the column \"gate\", which is no input: name it with --inputs too",
    );
    let ran = run(&folder, &format!("{FIT} --categories gates"));
    says(&ran, "no column \"gates\"");
}

#[test]
fn dates_and_numbers_written_otherwise_are_no_categories() {
    let folder = folder(300);
    let ran = run(&folder, &format!("{FIT} --inputs day,mu"));
    assert_eq!(ran.status, Some(1));
    says(&ran, "column \"day\": \"2024-02-01\"");
    let text = std::fs::read_to_string(folder.path().join("t.csv")).unwrap();
    std::fs::write(folder.path().join("t.csv"), text.replace(",3,", ",\"3,5\",")).unwrap();
    let ran = run(&folder, &format!("{FIT} --inputs gate,mu"));
    says(&ran, "column \"gate\": \"3,5\" is not a number");
    // An id alone leaves nothing to learn from.
    let ran = run(&folder, &format!("{FIT} --inputs flight"));
    assert_eq!(ran.status, Some(1));
    says(
        &ran,
        "no input is left to learn from (\"flight\": 300 values in 300 rows look like names of the rows)",
    );
}

#[test]
fn other_commands_read_texts_too() {
    let folder = folder(600);
    run(&folder, &format!("{FIT} --inputs carrier,wet --model polynomial")).well();
    run(
        &folder,
        "report t.csv --model m.json --forecast mu --observation y --by carrier -o page.html",
    )
    .well();
    assert!(folder.path().join("page.html").exists());
    // In time: a fit, an update, a walk.
    let mut text = String::from("hour,carrier,mu,y\n");
    for (row, line) in table(600).lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let _ = writeln!(text, "{row},{},{},{}", cells[2], cells[5], cells[6]);
    }
    let (before, after) = text.split_at(text.match_indices('\n').nth(500).unwrap().0 + 1);
    std::fs::write(folder.path().join("before.csv"), before).unwrap();
    let header = "hour,carrier,mu,y\n";
    std::fs::write(folder.path().join("after.csv"), format!("{header}{after}999,ZZ,1,2\n"))
        .unwrap();
    std::fs::write(folder.path().join("all.csv"), &text).unwrap();
    let columns = "--forecast mu --observation y --time hour --inputs carrier";
    run(&folder, &format!("fit before.csv {columns} --model trees -o s.json --law normal")).well();
    run(&folder, "predict after.csv -m s.json -o said.csv").well();
    let said = std::fs::read_to_string(folder.path().join("said.csv")).unwrap();
    assert_eq!(column(&said, "outside").last().unwrap(), "true");
    let ran = run(&folder, "update s.json after.csv");
    assert!([Some(0), Some(3)].contains(&ran.status), "{}", ran.stderr);
    run(&folder, &format!("backtest all.csv {columns} --model polynomial --law normal")).well();
}
