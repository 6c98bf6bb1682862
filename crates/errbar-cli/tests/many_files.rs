//! Several files as one table: against the same rows in one file, and what is said where they do not go together.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Numbers, Ran, constant_model, errbar, errbar_with, model, snapshot};

/// A row of the test table: day, station, x, mu, y, sigma, weight, with gaps, marks and groups.
fn cells(row: usize, numbers: &mut Numbers) -> [String; 7] {
    let (x, mu) = (59.0 * numbers.next(), 10.0 * numbers.next());
    let y = mu + (1.0 + x) * numbers.normal();
    let y = match row % 50 {
        7 => String::new(),
        8 => "--".into(),
        9 => "-999".into(),
        _ => format!("{y:.5}"),
    };
    let day = format!("2024-{:02}-{:02} {:02}:00", row / 672 + 1, row / 24 % 28 + 1, row % 24);
    let station = ["north", "south", "\"a, b\""][row % 3].to_string();
    let (x, mu, sigma) = (format!("{x:.4}"), format!("{mu:.4}"), format!("{:.4}", 1.0 + x));
    [day, station, x, mu, y, sigma, format!("{}", 1 + row % 4)]
}

const HEADER: [&str; 7] = ["day", "station", "x", "mu", "y", "sigma", "weight"];

/// Lines of these rows with the columns in an order, between which a separator stands.
fn lines(rows: &[[String; 7]], order: [usize; 7], separator: &str) -> String {
    let line = |cells: [&str; 7]| order.map(|at| cells[at]).join(separator) + "\n";
    let quoted = |cells: &[String; 7]| {
        let mut cells = cells.clone();
        if !cells[1].starts_with('"') {
            cells[1] = cells[1].clone();
        }
        line([0, 1, 2, 3, 4, 5, 6].map(|at| cells[at].as_str()))
    };
    line(HEADER) + &rows.iter().map(quoted).collect::<String>()
}

const PLAIN: [usize; 7] = [0, 1, 2, 3, 4, 5, 6];
const TURNED: [usize; 7] = [6, 4, 0, 5, 1, 3, 2];

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    if !name.ends_with(".gz") {
        return std::fs::write(path, text).unwrap();
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    std::fs::write(path, packed.finish().unwrap()).unwrap();
}

/// A folder with one.csv and the same rows in the folder parts: one file with columns in another order, one packed, one with
/// other separators, one with nothing but a header.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut numbers = Numbers::new(3);
    let rows: Vec<[String; 7]> = (0..1800).map(|row| cells(row, &mut numbers)).collect();
    put(at, "one.csv", &lines(&rows, PLAIN, ","));
    put(at, "parts/2024-1.csv", &lines(&rows[..500], PLAIN, ","));
    put(at, "parts/2024-2.csv", &lines(&[], PLAIN, ","));
    put(at, "parts/2024-3.csv.gz", &lines(&rows[500..900], TURNED, ","));
    put(at, "parts/2024-4.csv", &lines(&rows[900..1300], PLAIN, ";"));
    put(at, "parts/2024-5.tsv", &lines(&rows[1300..], TURNED, "\t"));
    put(at, "model.json", &constant_model(20.0));
    folder
}

fn run(folder: &Path, line: &str) -> Ran {
    errbar(folder, line.split(' '))
}

fn fails(folder: &Path, line: &str) -> String {
    let before = snapshot(folder);
    let ran = run(folder, line);
    assert_eq!(ran.status, Some(1), "{line}: {}", ran.stderr);
    let errors = ran.stderr.lines().filter(|line| line.starts_with("errbar: ")).count();
    assert_eq!(errors, 1, "{line}: {}", ran.stderr);
    assert_eq!(snapshot(folder), before, "{line}");
    ran.stderr
}

/// What is printed as JSON, but for the names of the files.
fn json(folder: &Path, line: &str) -> (Value, Value) {
    let ran = run(folder, line).well();
    let mut json: Value = serde_json::from_str(&ran.printed()).unwrap();
    let files = json.as_object_mut().unwrap().remove("files").unwrap_or(Value::Null);
    json["file"] = "?".into();
    (json, files)
}

#[test]
fn several_files_are_judged_as_one() {
    let folder = folder();
    let at = folder.path();
    put(at, "more.csv", "a\n1\n");
    for line in [
        "score ? --json -q --na -999",
        "score ? --json -q --na -999 --by station --time day --weight weight",
        "score ? --json -q --na -999 --model model.json --no-intervals",
        "compare ? --sigma sigma,x --json -q --na -999",
        "fit ? --inputs x --json -q --na -999 --model polynomial --time day -o fitted.json",
        "fit ? --inputs x --json -q --na -999 --model constant --group station -o fitted.json",
        "backtest ? --inputs x --json -q --na -999 --model constant --time day --refit never",
    ] {
        let (one, none) = json(at, &line.replace('?', "one.csv"));
        let made = std::fs::read(at.join("fitted.json")).ok();
        assert_eq!(none, Value::Null, "{line}");
        for many in ["parts", "parts/2024-*", "parts/2024-1.csv parts/2024-[2-5]*"] {
            let (all, files) = json(at, &line.replace('?', many));
            assert_eq!(all, one, "{line}, {many}");
            assert_eq!(std::fs::read(at.join("fitted.json")).ok(), made, "{line}, {many}");
            if !line.starts_with("backtest") {
                assert_eq!(files[2]["file"], "parts/2024-3.csv.gz");
                let rows =
                    files.as_array().unwrap().iter().map(|file| file["rows"].as_u64().unwrap());
                assert_eq!(rows.collect::<Vec<u64>>(), [500, 0, 400, 400, 500]);
            }
        }
    }
    let told = run(at, "score parts --na -999").well();
    assert!(
        told.printed().contains("\nparts/2024-1.csv and 4 more files, 1692 rows\n"),
        "{}",
        told.printed()
    );
}

#[test]
fn several_files_make_one_page() {
    let folder = folder();
    let line =
        "report ? --na -999 --by station --time day --inputs x -q --figures ?-figures -o ?.html";
    run(folder.path(), &line.replace('?', "one.csv")).well();
    let parts = line.replacen('?', "parts", 1).replace('?', "all");
    run(folder.path(), &parts).well();
    let figures = |name: &str| {
        let figures = snapshot(&folder.path().join(name));
        let figures =
            figures.into_iter().map(|(path, bytes)| (path.file_name().unwrap().to_owned(), bytes));
        figures.collect::<Vec<_>>()
    };
    let one = figures("one.csv-figures");
    assert!(one.len() > 10 && one == figures("all-figures"));
    let page = std::fs::read_to_string(folder.path().join("all.html")).unwrap();
    assert!(page.contains("errbar report parts --"), "the command is that which was typed");
    assert!(page.contains("parts/2024-1.csv and 4 more files, 1692 of 1800 rows"));
}

#[test]
fn predictions_of_several_files_are_those_of_one() {
    let folder = folder();
    let at = folder.path();
    let fitted = model(errbar::fit::Kind::Polynomial).to_json().unwrap();
    std::fs::write(at.join("p.json"), fitted).unwrap();
    for (model, more, to) in [
        ("p.json", " --na -999", "csv"),
        ("p.json", "", "parquet"),
        ("model.json", " --interval 0.9 --forecast mu", "csv.gz"),
    ] {
        let line = format!("predict ? -m {model}{more} --prefix p_ -q -o");
        let one = format!("{} one-out.{to}", line.replace('?', "one.csv"));
        let all = format!("{} all-out.{to}", line.replace('?', "parts"));
        run(at, &one).well();
        run(at, &all).well();
        let read = |name: &str| {
            let bytes = std::fs::read(at.join(format!("{name}-out.{to}"))).unwrap();
            let mut text = Vec::new();
            // A packed file is packed anew with each file that is read.
            match MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text) {
                Ok(_) => text,
                Err(_) => bytes,
            }
        };
        assert!(read("one") == read("all"), "{all}");
    }
    // To standard output, with the file of each row.
    let printed =
        run(at, "predict parts -m p.json -q --prefix p_ --source-column from").well().printed();
    let mut lines = printed.lines();
    assert!(lines.next().unwrap().ends_with(",p_outside_input,from"));
    let from: Vec<&str> = lines.map(|line| line.rsplit(',').next().unwrap()).collect();
    let count = |name: &str| from.iter().filter(|from| **from == name).count();
    assert_eq!(from.len(), 1800);
    assert_eq!((count("parts/2024-3.csv.gz"), count("parts/2024-5.tsv")), (400, 500));
    let taken = fails(at, "predict parts -m p.json --prefix p_ --source-column x");
    assert!(taken.contains("parts/2024-1.csv has a column \"x\" already"), "{taken}");
}

#[test]
fn a_folder_takes_a_file_for_each() {
    let folder = folder();
    let at = folder.path();
    put(at, "odd.csv", "x,only here\n1,2\n");
    let ran =
        run(at, "predict parts odd.csv -m model.json --prefix p_ -o out/ --source-column from")
            .well();
    assert!(ran.stderr.contains("wrote them to files in out/"), "{}", ran.stderr);
    let out = snapshot(&at.join("out"));
    let names: Vec<String> =
        out.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap().into()).collect();
    assert_eq!(
        names,
        ["2024-1.csv", "2024-2.csv", "2024-3.csv.gz", "2024-4.csv", "2024-5.tsv", "odd.csv"]
    );
    for (name, from) in [("2024-4.csv", "parts/2024-4.csv"), ("odd.csv", "odd.csv")] {
        let text = std::fs::read_to_string(at.join("out").join(name)).unwrap();
        let before = std::fs::read_to_string(at.join(from)).unwrap();
        assert_eq!(text.lines().count(), before.lines().count());
        let ends = if name == "odd.csv" { format!(",{from}") } else { format!(";{from}") };
        for (line, before) in text.lines().zip(before.lines()).skip(1) {
            assert!(line.starts_with(before) && line.ends_with(&ends), "{line}");
        }
    }
    // Alone it is what it is by itself.
    run(at, "predict parts/2024-1.csv -m model.json --prefix p_ -q -o alone.csv").well();
    run(at, "predict parts -m model.json --prefix p_ -q -o again/").well();
    let read = |name: &str| std::fs::read(at.join(name)).unwrap();
    assert!(read("alone.csv") == read("again/2024-1.csv"));

    put(at, "other/2024-1.csv", "x\n1\n");
    let said = fails(at, "predict parts other -m model.json -o out2/");
    assert!(
        said.contains(
            "parts/2024-1.csv and other/2024-1.csv would both be written to out2/2024-1.csv"
        ),
        "{said}"
    );
    assert!(!at.join("out2").exists());
    let said = fails(at, "predict parts -m model.json -o parts");
    assert!(
        said.contains("parts/2024-1.csv would take the place of the file that is read"),
        "{said}"
    );
    let ran = errbar_with(at, b"x\n1\n", ["predict", "-", "-m", "model.json", "-o", "out/"]);
    assert!(ran.stderr.contains("standard input has no name for a file in out/"), "{}", ran.stderr);
}

#[test]
fn files_that_do_not_go_together_are_named() {
    let folder = folder();
    let at = folder.path();
    put(at, "c.csv", "x,mu,y,sigma\n1,2,3,1\n4,5,soon,1\n");
    put(at, "d.csv", "x,mu,y\n1,2,3\n");
    put(at, "e.csv", "");
    put(at, "f.csv", "x,mu,y,sigma\n1,2,3,1\n1,2,3,0\n");
    put(at, "g.csv", "x,mu,yy,sigma\n1,2,3,1\n");
    put(at, "docs/read.me", "no table");
    std::fs::create_dir(at.join("empty")).unwrap();
    for (line, says) in [
        ("score one.csv d.csv", "d.csv has no column \"sigma\", which one.csv has"),
        ("score one.csv g.csv", "g.csv has no column \"y\", which one.csv has. It has: x, mu, yy"),
        ("score d.csv one.csv --sigma sigma", "d.csv has no column \"sigma\", which one.csv has"),
        ("score one.csv c.csv", "c.csv, row 2, column \"y\": \"soon\" is not a number"),
        ("score one.csv f.csv", "f.csv, row 2, column \"sigma\" is 0, but sigma must be greater"),
        (
            "score parts f.csv --missing error",
            "parts/2024-1.csv, row 8, column \"y\": the observation is missing",
        ),
        ("score one.csv e.csv", "e.csv is empty; a header with the names"),
        ("score one.csv nowhere.csv", "cannot read nowhere.csv: No such file"),
        (
            "score one.csv ./one.csv",
            "./one.csv is named twice (also as one.csv): name each file once",
        ),
        ("score parts parts/2024-1.csv", "parts/2024-1.csv is named twice: name each file once"),
        ("score 2025-*.csv", "no file matches 2025-*.csv"),
        ("score parts/2024-[6-9]*", "no file matches parts/2024-[6-9]*"),
        ("score empty", "there is no table in the folder empty: tables end in .csv"),
        ("score docs", ".parquet, .xlsx or .ods; it has read.me"),
        ("score parts/2024-2.csv", "parts/2024-2.csv has a header but no rows below it"),
        ("fit one.csv g.csv -o out.json", "g.csv has no column \"y\", which one.csv has"),
        (
            "compare one.csv d.csv --sigma sigma,x",
            "d.csv has no column \"sigma\", which one.csv has",
        ),
        ("report one.csv d.csv -o out.html", "d.csv has no column \"sigma\", which one.csv has"),
        (
            "predict one.csv c.csv -m model.json -o out.csv",
            "c.csv has no column \"day\", which one.csv has",
        ),
        ("predict c.csv d.csv -m model.json", "write a file for each of them, with -o FOLDER/"),
        (
            "predict c.csv docs/read.me -m model.json",
            "docs/read.me has no column \"x\", an input of model.json, which c.csv has",
        ),
    ] {
        let said = fails(at, line);
        assert!(said.contains(says), "{line}: {said}");
    }
    let both = errbar_with(at, b"x,mu,y,sigma\n1,2,3,1\n", ["score", "-", "-"]);
    assert!(both.stderr.contains("standard input is named twice"), "{}", both.stderr);
    // Nothing of the matter where the column is not needed, and standard input is a file like others.
    run(at, "score c.csv d.csv --sigma x --observation mu --forecast y --na soon -q").well();
    let piped = errbar_with(
        at,
        b"sigma,y,mu\n1,2,3\n",
        ["score", "f.csv", "-", "--sigma", "mu", "--json", "-q"],
    )
    .well();
    let json: Value = serde_json::from_str(&piped.printed()).unwrap();
    assert_eq!((&json["rows"], &json["file"]), (&3.into(), &"f.csv and standard input".into()));
    let noted = run(at, "score docs/../parts docs2 --na -999");
    assert!(noted.stderr.contains("docs2"), "{}", noted.stderr);
    put(at, "parts/.hidden.csv", "x\n");
    put(at, "parts/notes.md", "x\n");
    let noted = run(at, "score parts --na -999").well();
    assert!(
        noted.stderr.contains("not read: .hidden.csv and notes.md in parts"),
        "{}",
        noted.stderr
    );
    // Columns that only some files have are no inputs, and that is said.
    let ran = run(at, "fit one.csv c.csv --na soon,-999 --model constant -o m.json").well();
    assert!(
        ran.stderr
            .contains("not in all files, and not used: \"day\" (one.csv has it, c.csv has not)"),
        "{}",
        ran.stderr
    );
}

/// Times of files may be written in ways of their own, and one file may tell how another's are.
#[test]
fn each_file_has_its_way_to_write_times() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut numbers = Numbers::new(5);
    let error: Vec<f64> = (0..40).map(|_| numbers.normal()).collect();
    let days = |from: usize, to: usize, day: &dyn Fn(usize) -> String| {
        let row = |row: usize| format!("\"{}\",{},0,1\n", day(row), error[row]);
        format!("t,y,mu,sigma\n{}", (from..to).map(row).collect::<String>())
    };
    let iso = |row: usize| format!("2024-{:02}-{:02}", row / 20 + 1, row % 20 + 1);
    put(at, "one.csv", &days(0, 40, &iso));
    let told = |row: usize| format!("{}.{}.2024", row % 20 + 1, row / 20 + 1);
    put(at, "a.csv", &days(25, 40, &iso));
    put(at, "b.csv", &days(10, 25, &told));
    put(at, "c.csv", &days(0, 10, &|row| format!("{:02}/{:02}/2024", row % 20 + 1, row / 20 + 1)));
    put(at, "d.csv", &days(12, 20, &|row| format!("{:02}/{:02}/2024", row % 20 + 1, row / 20 + 1)));
    let score = |files: &str| run(at, &format!("score {files} --time t --block 3 --json -q"));
    let json = |ran: Ran| serde_json::from_str::<Value>(&ran.well().printed()).unwrap();
    let one = json(score("one.csv"));
    let said = score("a.csv b.csv c.csv").stderr;
    assert!(
        said.contains("c.csv, row 1, column \"t\": \"01/01/2024\"")
            || said.contains("--date-format"),
        "{said}"
    );
    let given = "--date-format day/month/year";
    assert_eq!(run(at, &format!("score c.csv --time t {given} -q")).status, Some(0));
    // The days after the 12th in d.csv tell how those of c.csv are written.
    put(at, "b.csv", &days(20, 25, &told));
    put(at, "e.csv", &days(10, 12, &iso));
    let all = json(score("c.csv d.csv e.csv b.csv a.csv"));
    assert_eq!(all["intervals"], one["intervals"]);

    put(at, "n.csv", "t,y,mu,sigma\n1,1,0,1\n2,1,0,1\n");
    let said = score("one.csv n.csv").stderr;
    assert!(
        said.contains("the times of one.csv are dates, and those of n.csv are numbers"),
        "{said}"
    );
    put(at, "z.csv", "t,y,mu,sigma\n2024-03-01T00:00Z,1,0,1\n");
    let said = score("one.csv z.csv").stderr;
    assert!(
        said.contains("the times of z.csv have an offset from UTC, and those of one.csv have none"),
        "{said}"
    );
    put(at, "w.csv", "t,y,mu,sigma\n2024-03-01,1,0,1\nsoon,1,0,1\n");
    let said = score("one.csv w.csv").stderr;
    assert!(said.contains("w.csv, row 2, column \"t\": \"soon\" is no time"), "{said}");
}

/// Rows of forecast, observation, sigma, hour and group, so many that they are judged as they pass.
fn many(path: &Path, from: usize, to: usize, change: &dyn Fn(usize, String) -> String) {
    let mut numbers = Numbers::new(from as u64 + 1);
    let mut text = String::from("hour,mu,y,sigma,lead\n");
    let mut file = std::fs::File::create(path).unwrap();
    for row in from..to {
        let (mu, sigma) = (20.0 * numbers.next(), 0.5 + numbers.next());
        // A sum of twelve takes its time.
        let noise = 3.46 * (numbers.next() + numbers.next() + numbers.next() - 1.5) / 1.73;
        let line = format!("{row},{mu:.3},{:.3},{sigma:.3},{}", mu + sigma * noise, row % 3 * 6);
        text += &change(row, line);
        text.push('\n');
        if text.len() > 1 << 20 {
            file.write_all(text.as_bytes()).unwrap();
            text.clear();
        }
    }
    file.write_all(text.as_bytes()).unwrap();
}

const FIRST: usize = 1_200_000;
const ALL: usize = 2_100_000;

/// Whether two trees of numbers agree, each number to within a share.
#[track_caller]
fn agree(what: &str, a: &Value, b: &Value, share: f64) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{what}");
            a.iter()
                .for_each(|(key, value)| agree(&format!("{what}.{key}"), value, &b[key], share));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            a.iter().zip(b).for_each(|(a, b)| agree(what, a, b, share));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= share * a.abs().max(b.abs()).max(1e-4), "{what}: {a} and {b}");
        }
        _ => assert_eq!(a, b, "{what}"),
    }
}

#[test]
fn many_rows_are_judged_as_they_pass() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let gaps = |row: usize, line: String| match row % 100_000 {
        5 => line.replacen(',', ",,", 1).rsplit_once(',').unwrap().0.to_string(),
        _ => line,
    };
    many(&at.join("a.csv"), 0, FIRST, &gaps);
    many(&at.join("b.csv"), FIRST, ALL, &gaps);
    let score = |more: &str| {
        let ran = run(at, &format!("score a.csv b.csv --json {more}")).well();
        (serde_json::from_str::<Value>(&ran.printed()).unwrap(), ran.stderr)
    };
    let (passed, said) = score("--by lead --time hour");
    let (held, _) = score("--by lead --time hour --exact");
    assert!(
        said.contains(
            "more than 2,000,000 rows are judged as they pass: RS is that of all in order to within"
        ),
        "{said}"
    );
    assert!(said.contains("21 of 2100000 rows were left out: 21 have no forecast"), "{said}");
    for what in
        ["file", "files", "rows", "rows_in_file", "left_out", "dependence", "warnings", "by"]
    {
        assert_eq!(passed[what], held[what], "{what}");
    }
    let bound = passed["rs_bound"].as_f64().unwrap();
    assert!(bound > 0.0 && bound < 2e-7 && held.get("rs_bound").is_none(), "{bound}");
    let rs = |json: &Value| json["scores"]["rs"].as_f64().unwrap();
    assert!((rs(&passed) - rs(&held)).abs() <= bound);
    assert_eq!(passed["verdict"]["text"], held["verdict"]["text"]);
    // Everything else agrees to more digits than are printed; edges of sigma are those of fine bins.
    let mut pairs = [passed.clone(), held.clone()];
    for json in &mut pairs {
        let scores = json["scores"].as_object_mut().unwrap();
        scores.remove("spread_skill");
    }
    agree("scores", &pairs[0]["scores"], &pairs[1]["scores"], 1e-3);
    agree("intervals", &passed["intervals"], &held["intervals"], 0.01);
    let groups = |json: &Value| json["groups"].as_array().unwrap().clone();
    for (passed, held) in groups(&passed).iter().zip(&groups(&held)) {
        assert_eq!((&passed["value"], &passed["rows"]), (&held["value"], &held["rows"]));
        let of = |json: &Value, what: &str| json["scores"][what].as_f64().unwrap();
        for what in ["crps", "bias", "rms_z", "nlpd", "crps_skill"] {
            let (a, b) = (of(passed, what), of(held, what));
            assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{what}: {a} and {b}");
        }
        assert!((of(passed, "rs") - of(held, "rs")).abs() <= passed["rs_bound"].as_f64().unwrap());
    }

    // In words; the same rows as Parquet; with any number of threads.
    let words = run(at, "score a.csv b.csv -q --threads 1").well().printed();
    assert!(words.contains("which the interval leaves out; to within "), "{words}");
    assert_eq!(words, run(at, "score a.csv b.csv -q --threads 3").well().printed());
    run(at, "predict a.csv b.csv -m x.json -o t.parquet");
    std::fs::write(at.join("x.json"), constant_model(1.0).replace("\"x\"", "\"hour\"")).unwrap();
    run(at, "predict a.csv b.csv -m x.json -q --prefix p_ -o t.parquet").well();
    let parquet = run(at, "score t.parquet -q").well().printed();
    let body = |text: &str| text.split_once(" rows\n\n").unwrap().1.to_string();
    assert_eq!(body(&parquet), body(&words));

    // What is wrong is told with its place, however far down; what cannot be taken as it comes is held.
    let (late, early) = (at.join("late.csv"), at.join("early.csv"));
    many(&late, FIRST, ALL, &|row, line| match row {
        2_050_000 => {
            line.rsplit_once(',').unwrap().0.rsplit_once(',').unwrap().0.to_string() + ",0,6"
        }
        _ => line,
    });
    let said = run(at, "score a.csv late.csv -q").stderr;
    assert!(
        said.contains("late.csv, row 850001, column \"sigma\" is 0, but sigma must be greater"),
        "{said}"
    );
    many(&late, FIRST, ALL, &|row, line| match row {
        2_050_000 => line.replacen(',', ",M", 1),
        _ => line,
    });
    let said = run(at, "score a.csv late.csv -q").stderr;
    assert!(
        said.contains("late.csv, row 850001, column \"mu\": \"M")
            && said.contains("is not a number"),
        "{said}"
    );
    drop(early);
    let said = run(at, "score b.csv a.csv --time hour").well().stderr;
    assert!(
        said.contains("the rows are not in the order of time: all of them are held in memory"),
        "{said}"
    );
    let both = [
        std::fs::read(at.join("b.csv")).unwrap(),
        std::fs::read(at.join("a.csv")).unwrap()[21..].to_vec(),
    ]
    .concat();
    let said = errbar_with(at, &both, ["score", "-", "--time", "hour"]);
    assert_eq!(said.status, Some(1));
    assert!(said.stderr.contains("standard input: the rows are not in the order of time, and so many cannot be read again: sort them, name a file, or say --exact"), "{}", said.stderr);
    errbar_with(at, &both, ["score", "-", "-q"]).well();
}

#[test]
fn many_rows_are_learned_from_as_they_pass() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let change = |row: usize, line: String| match row {
        // The last row tells that "lead" is no column of numbers.
        _ if row == ALL - 1 => line.rsplit_once(',').unwrap().0.to_string() + ",late",
        _ if row % 100_000 == 5 => line.replacen(',', ",,", 1).rsplit_once(',').unwrap().0.into(),
        _ => line,
    };
    many(&at.join("a.csv"), 0, FIRST, &change);
    many(&at.join("b.csv"), FIRST, ALL, &change);
    let fit = |more: &str| {
        let command = format!("fit a.csv b.csv --model trees --weight hour --debias no {more}");
        run(at, &command).well()
    };
    let passed = fit("--inputs sigma -o passed.json");
    for said in [
        "more than 2,000,000 rows are read twice, and learned from as they pass",
        "21 of 2100000 rows were left out: 21 have no forecast",
    ] {
        assert!(passed.stderr.contains(said), "{}", passed.stderr);
    }
    let held = fit("-o held.json");
    for said in [
        "the first rows do not tell which columns hold numbers: all of them are held in memory",
        "21 of 2100000 rows were left out: 21 have no forecast",
        "not used: \"lead\" (late is no number)",
    ] {
        assert!(held.stderr.contains(said), "{}", held.stderr);
    }
    let said = |ran: &Ran| ran.printed().replace("held.json", "passed.json");
    assert_eq!(said(&passed), said(&held));
    let model = |name: &str| std::fs::read(at.join(name)).unwrap();
    assert!(model("passed.json") == model("held.json"));
}
