//! Whatever is wrong with what the program is given: one sentence that names the place and says what
//! to do, the right exit status, and no file touched.

use std::io::Write as _;
use std::path::Path;

use crate::common::{errbar_with, leftovers, model, rows, snapshot, table, table_with};
use errbar::fit::Kind;
use serde_json::Value;

/// Something wrong, and what must come of it.
pub(crate) struct Case {
    name: &'static str,
    /// Files besides good.csv, model.json and network.json, which are always there.
    files: Vec<(&'static str, Vec<u8>)>,
    arguments: Vec<String>,
    input: Vec<u8>,
    status: i32,
    /// What standard error must hold.
    says: Vec<&'static str>,
    /// What standard output must hold.
    prints: &'static str,
}

/// A case whose arguments are the words of a line.
pub(crate) fn case(name: &'static str, line: &str, status: i32, says: &[&'static str]) -> Case {
    Case {
        name,
        files: Vec::new(),
        arguments: line.split_whitespace().map(String::from).collect(),
        input: Vec::new(),
        status,
        says: says.to_vec(),
        prints: "",
    }
}

impl Case {
    pub(crate) fn with(mut self, name: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((name, bytes.into()));
        self
    }

    /// A further argument, spaces and all.
    fn and(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    fn prints(mut self, text: &'static str) -> Self {
        self.prints = text;
        self
    }

    fn fill(&self, folder: &Path, models: &Models) {
        let put = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        put("good.csv", table(60).as_bytes());
        put("model.json", models.polynomial.as_bytes());
        put("network.json", models.network.as_bytes());
        for earlier in ["out.json", "out.csv", "out.onnx", "out.parquet", "out.html"] {
            put(earlier, b"an earlier file\n");
        }
        self.files.iter().for_each(|(name, bytes)| put(name, bytes));
    }

    fn check(&self, models: &Models) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        self.fill(folder.path(), models);
        let before = snapshot(folder.path());
        let ran = errbar_with(folder.path(), &self.input, &self.arguments);
        let said = &ran.stderr;
        let fail = |why: String| Err(format!("{}: {why}\n    it said: {said}", self.name));
        if ran.status != Some(self.status) {
            return fail(format!("exit status {:?}, not {}", ran.status, self.status));
        }
        let is_error = |line: &&str| line.starts_with("errbar: ") || line.starts_with("error: ");
        let errors: Vec<&str> = said.lines().filter(is_error).collect();
        let [sentence] = errors.as_slice() else {
            return fail(format!("{} lines of error, not 1", errors.len()));
        };
        // clap begins with "error: " and adds its usage; everything else is ours.
        if (self.status == 2) != sentence.starts_with("error: ") {
            return fail("the wrong beginning".into());
        }
        if sentence.chars().count() > 500 {
            return fail(format!("{} characters are no sentence", sentence.len()));
        }
        if let Some(missing) = self.says.iter().find(|text| !said.contains(**text)) {
            return fail(format!("{missing:?} is not said"));
        }
        let lower = said.to_lowercase();
        let never = ["panicked", "todo", "unwrap", "os error", "\u{1b}"];
        if let Some(found) = never.iter().find(|text| lower.contains(**text)) {
            return fail(format!("{found:?} is said"));
        }
        if !ran.printed().contains(self.prints) {
            return fail(format!("{:?} is not printed", self.prints));
        }
        if self.prints.is_empty() && !ran.stdout.is_empty() {
            return fail(format!("{:?} is printed", ran.printed()));
        }
        if snapshot(folder.path()) != before {
            return fail("files were made, changed or removed".into());
        }
        Ok(())
    }
}

pub(crate) struct Models {
    polynomial: String,
    network: String,
}

impl Models {
    pub(crate) fn new() -> Self {
        let json = |kind| model(kind).to_json().unwrap();
        Self { polynomial: json(Kind::Polynomial), network: json(Kind::Network) }
    }

    /// The polynomial with something else at a place.
    fn with(&self, place: &str, value: Value) -> String {
        changed(&self.polynomial, place, value)
    }
}

fn changed(model: &str, place: &str, value: Value) -> String {
    let mut json: Value = serde_json::from_str(model).unwrap();
    *json.pointer_mut(place).unwrap_or_else(|| panic!("a model has no {place}")) = value;
    json.to_string()
}

#[track_caller]
pub(crate) fn check_all(cases: &[Case], models: &Models) {
    let wrong: Vec<String> = cases.iter().filter_map(|case| case.check(models).err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str, mark: bool) -> Vec<u8> {
    let mark = mark.then_some(0xfeff);
    mark.into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// A table with a fourth column of the same value, but for one row.
fn weighted(weight: &str, but: Option<(usize, &str)>) -> String {
    let mut text = String::from("x,mu,y,w\n");
    for (row, [x, mu, y]) in (1..).zip(rows(60)) {
        let weight = but.filter(|(other, _)| *other == row).map_or(weight, |(_, weight)| weight);
        text += &format!("{x},{mu},{y},{weight}\n");
    }
    text
}

#[test]
fn files_that_are_no_tables() {
    let all = table(60);
    let packed = gzipped(all.as_bytes());
    let binary: Vec<u8> = (0..8000_u32).map(|i| (i * i % 251) as u8).collect();
    let fit = |name, says: &[&'static str], bytes: Vec<u8>| {
        case(name, "fit t.csv -o out.json", 1, says).with("t.csv", bytes)
    };
    let cases = [
        case("missing", "fit no.csv -o out.json", 1, &["cannot read no.csv: No such file"]),
        case("missing, to predict", "predict no.csv -m model.json", 1, &["cannot read no.csv"]),
        case(
            "a folder",
            "fit none -o out.json",
            1,
            &["there is no table in the folder none: ", "it has a.doc"],
        )
        .with("none/a.doc", b"1".to_vec()),
        fit("empty", &["t.csv is empty; a header with the names"], vec![]),
        fit("blank lines only", &["t.csv is empty; a header"], b"\n\n  \n".to_vec()),
        fit("a mark and nothing else", &["t.csv is empty; a header"], b"\xef\xbb\xbf".to_vec()),
        fit("header only", &["t.csv has a header but no rows"], b"x,mu,y\n".to_vec()),
        case(
            "empty standard input",
            "fit - -o out.json",
            1,
            &["standard input is empty; a header"],
        ),
        fit("UTF-16", &["t.csv is text in UTF-16; save it as UTF-8"], utf16(&all, true)),
        fit("UTF-16, no mark", &["t.csv is text in UTF-16; save it as UTF-8"], utf16(&all, false)),
        fit("binary", &["t.csv is neither text nor Parquet; give a CSV file"], binary),
        fit(
            "zip",
            &["t.csv is a zip archive or a spreadsheet, and damaged"],
            b"PK\x03\x04 and so on".to_vec(),
        ),
        fit(
            "xz",
            &["cannot unpack t.csv: the xz data is damaged"],
            b"\xfd7zXZ\x00\x00\x04".to_vec(),
        ),
        fit("zstd", &["cannot unpack t.csv: the zstd data"], b"\x28\xb5\x2f\xfd\x04".to_vec()),
        fit("HDF5", &["t.csv is an HDF5", "Parquet or CSV"], b"\x89HDF\r\n\x1a\n\x00".to_vec()),
        fit("SQLite", &["t.csv is an SQLite database"], b"SQLite format 3\x00\x10\x00".to_vec()),
        fit(
            "gzip cut short",
            &["cannot unpack t.csv: the gzip data is damaged or cut short"],
            packed[..packed.len() / 2].to_vec(),
        ),
        fit(
            "gzip of nothing sensible",
            &["cannot unpack t.csv: the gzip data is damaged"],
            b"\x1f\x8b\x08 but no more of a gzip file than that".to_vec(),
        ),
        fit("gzip of gzip", &["t.csv is compressed once more"], gzipped(&gzipped(&[0; 5000]))),
        fit("gzip of zip", &["t.csv is a zip archive"], gzipped(b"PK\x03\x04 and so on")),
    ];
    check_all(&cases, &Models::new());
}

#[test]
fn tables_with_broken_lines() {
    let fit = |name, says: &[&'static str], text: String| {
        case(name, "fit t.csv -o out.json", 1, says).with("t.csv", text)
    };
    let predict = |name, says: &[&'static str], text: String| {
        case(name, "predict t.csv -m model.json -o out.csv", 1, says).with("t.csv", text)
    };
    let no_header = table(60).lines().skip(1).collect::<Vec<_>>().join("\n");
    let twice = table(60).replacen("x,mu,y", "mu,mu,y", 1);
    let first_half = (1..=30).map(|i| format!("{i},2,3\n")).collect::<String>();
    let open_header = format!("\"x,mu,y\n{first_half}");
    let cases = [
        fit(
            "ragged",
            &["t.csv, row 5 has 2 fields, the header has 3", "','", "in quotes"],
            table_with(60, 5, "1,2"),
        ),
        fit("ragged, too many", &["t.csv, row 60 has 5 fields"], table_with(59, 60, "1,2,3,4,5")),
        predict("ragged, to predict", &["t.csv, row 7 has 1 field,"], table_with(60, 7, "1")),
        fit("an open quote", &["t.csv, row 5: a quote is opened"], table_with(60, 5, "\"1,2,3")),
        predict(
            "an open quote",
            &["t.csv, row 9: a quote is opened"],
            table_with(60, 9, "1,\"2,3"),
        ),
        fit("an open quote in the header", &["t.csv, header: a quote is opened"], open_header),
        fit("no header", &["t.csv: the first line holds numbers; a header"], no_header),
        fit("a name twice", &["t.csv has two columns named \"mu\"; rename one"], twice),
        case(
            "the wrong separator",
            "fit t.csv --separator , -o out.json",
            1,
            &[
                "t.csv has no column named observation or y",
                "Its only column is \"x;mu;y\"",
                "--separator",
            ],
        )
        .with("t.csv", table(60).replace(',', ";")),
        case(
            "the wrong separator, to predict",
            "predict t.csv -m model.json --separator | -o out.csv",
            1,
            &["t.csv has no column \"x\", an input of model.json. Its only column is \"x,mu,y\""],
        )
        .with("t.csv", table(60)),
    ];
    check_all(&cases, &Models::new());
}

#[test]
fn values_that_cannot_be_used() {
    let fit = |name, line: &str, says: &[&'static str], text: String| {
        case(name, &format!("fit t.csv -o out.json {line}"), 1, says).with("t.csv", text)
    };
    let predict = |name, line: &str, says: &[&'static str], text: String| {
        case(name, &format!("predict t.csv -m model.json -o out.csv {line}"), 1, says)
            .with("t.csv", text)
    };
    let dates = |from: &str| {
        let row = |i| format!("{from}-{:02},{i},{}\n", i % 28 + 1, i + 3 + i % 5);
        format!("day,mu,y\n{}", (0..60).map(row).collect::<String>())
    };
    let commas = table(60).replace(',', ";").replace('.', ",");
    let with = |line: &str| table_with(60, 5, line);
    let cases = [
        fit(
            "text",
            "",
            &["t.csv, row 5, column \"y\": \"abc\" is not a number", "empty"],
            with("1,2,abc"),
        ),
        predict(
            "text",
            "",
            &["t.csv, row 5, column \"x\": \"abc\" is not a number"],
            with("abc,2,3"),
        ),
        predict(
            "text as forecast",
            "--forecast mu",
            &["t.csv, row 5, column \"mu\": \"two\" is not a number"],
            with("1,two,3"),
        ),
        fit(
            "dates",
            "--inputs day",
            &["t.csv, row 1, column \"day\": \"2024-01-01\"", "a date", "a number", "--time"],
            dates("2024-01"),
        ),
        fit(
            "a time that is none",
            "--time day",
            &["t.csv, row 1, column \"day\": \"2024-13-01\" is no time", "2024-01-31"],
            dates("2024-13"),
        ),
        fit(
            "a word for infinity",
            "",
            &["t.csv, row 5, column \"x\" is infinite"],
            with("-inf,2,3"),
        ),
        fit(
            "too large",
            "",
            &["t.csv, row 5, column \"mu\" is infinite or too large"],
            with("1,1e400,3"),
        ),
        fit(
            "the difference overflows",
            "",
            &["t.csv, row 5: observation 1e308 minus forecast -1e308 overflows; rescale"],
            with("1,-1e308,1e308"),
        ),
        fit(
            "all missing",
            "",
            &["t.csv: no row is complete; of 60 rows 60 have no observation"],
            format!("x,mu,y\n{}", "1,2,\n".repeat(60)),
        ),
        fit(
            "no row complete",
            "",
            &["t.csv: no row is complete", "30 have no observation, 30 no forecast"],
            format!("x,mu,y\n{}", "1,2,\n1,,3\n".repeat(30)),
        ),
        fit(
            "missing, refused",
            "--missing error",
            &["t.csv, row 5, column \"mu\": the forecast is missing; fill it in", "--missing drop"],
            with("1,NaN,3"),
        ),
        fit(
            "an input missing, refused",
            "--missing error",
            &["t.csv, row 5, column \"x\": the input is missing", "--missing drop"],
            with(",2,3"),
        ),
        fit(
            "no errors",
            "",
            &["t.csv: all 60 errors are 0: there is no error to put a bar on"],
            format!("x,mu,y\n{}", (0..60).map(|i| format!("{i},2,2\n")).collect::<String>()),
        ),
        fit(
            "a negative weight",
            "--weight w",
            &["t.csv, row 4, column \"w\" is -1, but weight must be 0 or more"],
            weighted("1", Some((4, "-1"))),
        ),
        fit(
            "times with and without an offset",
            "--time t",
            &["t.csv, row 3, column \"t\": \"2024-01-01T02:00Z\" has an offset from UTC"],
            "t,x,mu,y\n,1,2,3\n2024-01-01T01:00,1,2,3\n2024-01-01T02:00Z,1,2,3\n".into(),
        ),
        fit(
            "an infinite weight",
            "--weight w",
            &["t.csv, row 4, column \"w\" is infinite"],
            weighted("1", Some((4, "inf"))),
        ),
        fit(
            "no weight",
            "--weight w",
            &["t.csv: all 60 weights are 0: at least one"],
            weighted("0", None),
        ),
        fit(
            "decimal commas, not said",
            "",
            &[
                "t.csv, row 1, column",
                "is not a number; if that is a decimal comma, use --decimal-comma",
            ],
            commas,
        ),
        fit(
            "decimal commas, said in error",
            "--decimal-comma",
            &["t.csv, row 1, column", "with --decimal-comma, numbers are written as 3,14"],
            table(60).replace(',', ";"),
        ),
    ];
    check_all(&cases, &Models::new());
}

#[test]
fn columns_that_do_not_fit() {
    let long = "x".repeat(10_000);
    let long_header = table(60).replacen("x,mu,y", &format!("{long},mu,y"), 1);
    let many: Vec<String> = (0..500).map(|i| format!("c{i}")).collect();
    let many = format!("{}\n{}\n", many.join(","), vec!["1"; 500].join(","));
    let odd = table(60).replacen("x,mu,y", "\"wind, \"\"10 m\"\"\",mü u,y", 1);
    let cases = [
        case(
            "a name mistyped",
            "fit good.csv --forecast nu -o out.json",
            1,
            &["good.csv has no column \"nu\"; did you mean \"mu\"? It has: x, mu, y"],
        ),
        case(
            "a name unlike all",
            "fit good.csv --observation temperature -o out.json",
            1,
            &["good.csv has no column \"temperature\". It has: x, mu, y"],
        ),
        case("a letter for another", "fit good.csv --inputs z", 1, &["no column \"z\". It has: x"]),
        case(
            "one of many",
            "fit t.csv --inputs d7 -o out.json --observation c1 --forecast c2",
            1,
            &["t.csv has no column \"d7\"; did you mean \"c7\"?", "c19 and 480 more"],
        )
        .with("t.csv", many),
        case("a time unknown", "fit good.csv --time t", 1, &["good.csv has no column \"t\". It has"]),
        case("a weight unknown", "fit good.csv --weight w", 1, &["good.csv has no column \"w\". It"]),
        case("an error unknown", "fit good.csv --error er", 1, &["good.csv has no column \"er\". It"]),
        case(
            "no forecast among them",
            "fit t.csv -o out.json",
            1,
            &["t.csv has no column named forecast or mu", "--forecast", "--error", "--fit-mean gp", "mü u"],
        )
        .with("t.csv", odd),
        case(
            "no observation for a Gaussian process",
            "fit t.csv --fit-mean gp -o out.json",
            1,
            &["t.csv has no column named observation or y", "--observation. It has: a, b"],
        )
        .with("t.csv", "a,b\n1,2\n"),
        case(
            "nothing to depend on",
            "fit t.csv --error e -o out.json",
            1,
            &["t.csv has no column of numbers or categories for sigma to depend on", "--inputs"],
        )
        .with("t.csv", format!("e\n{}", "1\n2\n".repeat(30))),
        case(
            "the same column twice",
            "fit good.csv --forecast y --observation y -o out.json",
            1,
            &["the forecast and the observation are the same column \"y\"", "--forecast and --observation"],
        ),
        case(
            "the observation as input",
            "fit good.csv --inputs x,y --observation y --forecast mu -o out.json",
            1,
            &["--inputs names the observation \"y\": it is not known", "leave it out"],
        ),
        case(
            "the usual observation as input",
            "fit good.csv --inputs x,y -o out.json",
            1,
            &["--inputs names the observation \"y\""],
        ),
        case("the same with a space", "fit good.csv -o out.json --inputs", 1, &["the observation \"y\""])
            .and("x, y"),
        case("the error as input", "fit good.csv --error y --inputs y", 1, &["names the error \"y\""]),
        case("an input twice", "fit good.csv --inputs x,mu,x", 1, &["--inputs names the column \"x\" twice"]),
        case("an input without a name", "fit good.csv --inputs x,", 2, &["--inputs", "the name of a column"]),
        case(
            "a name of 10,000 characters",
            "fit t.csv -o out.json --inputs",
            1,
            &["t.csv has no column \"xxxxxx", "xxxx…\". It has: xxxxxx", "xx…, mu, y"],
        )
        .and("x".repeat(9_999))
        .with("t.csv", long_header),
        case(
            "an input the table has not",
            "predict t.csv -m model.json -o out.csv",
            1,
            &["t.csv has no column \"x\", an input of model.json; did you mean \"x1\"? It has: x1, mu"],
        )
        .with("t.csv", "x1,mu\n1,2\n"),
        case(
            "a new name that is there already",
            "predict t.csv -m model.json -o out.csv",
            1,
            &["t.csv has a column \"sigma\" already", "--prefix"],
        )
        .with("t.csv", "x,sigma\n1,2\n"),
        case(
            "a new name with its prefix that is there already",
            "predict t.csv -m model.json --prefix a_ -o out.csv",
            1,
            &["t.csv has a column \"a_outside\" already", "--prefix"],
        )
        .with("t.csv", "x,a_outside\n1,2\n"),
        case(
            "a level twice",
            "predict good.csv -m model.json --forecast mu --interval 0.9,90% -o out.csv",
            1,
            &["\"lower_90\" is asked for twice", "once"],
        ),
        case(
            "no forecast for an interval",
            "predict good.csv -m model.json --interval 0.9 -o out.csv",
            1,
            &["intervals, quantiles and thresholds need the forecast: name its column with --forecast"],
        ),
        case(
            "no such forecast",
            "predict good.csv -m model.json --exceed 1 --forecast nu -o out.csv",
            1,
            &["good.csv has no column \"nu\"; did you mean \"mu\"?"],
        ),
    ];
    check_all(&cases, &Models::new());
}

#[test]
fn options_that_make_no_sense() {
    let probability = "a probability strictly between 0 and 1";
    let cases = [
        case(
            "validation",
            "fit good.csv --validation 2",
            2,
            &["'2'", "--validation", "0 (hold out nothing) to 0.9"],
        ),
        case("negative validation", "fit good.csv --validation -0.1", 2, &["'-0.1'", "to 0.9"]),
        case("validation in words", "fit good.csv --validation half", 2, &["'half'", "to 0.9"]),
        case("beta", "fit good.csv --beta 7", 2, &["'7'", "--beta", "0 (reliability only) to 1"]),
        case(
            "negative beta",
            "fit good.csv --beta -1",
            2,
            &["'-1'", "--beta", "0 (reliability only)"],
        ),
        case("seed", "fit good.csv --seed -1", 2, &["'-1'", "--seed", "a whole number from 0"]),
        case("seed with a point", "fit good.csv --seed 1.5", 2, &["'1.5'", "a whole number"]),
        case("threads", "fit good.csv --threads 0", 2, &["'0'", "--threads", "1..=1024"]),
        case(
            "threads, to predict",
            "predict good.csv -m model.json --threads 99999",
            2,
            &["--threads", "1..=1024"],
        ),
        case(
            "model",
            "fit good.csv --model tree",
            2,
            &["'tree'", "--model", "constant, polynomial, smooth, network"],
        ),
        case("loss", "fit good.csv --loss mse", 2, &["'mse'", "--loss", "ar, crps, nlpd"]),
        case("missing", "fit good.csv --missing fill", 2, &["'fill'", "--missing", "drop, error"]),
        case(
            "separator",
            "fit good.csv --separator ab",
            2,
            &["'ab'", "--separator", "one character"],
        ),
        case("a digit as separator", "fit good.csv --separator 5", 2, &["'5'", "cannot separate"]),
        case(
            "error and forecast",
            "fit good.csv --error y --forecast mu",
            2,
            &["--error", "--forecast", "cannot be used with"],
        ),
        case(
            "a mean and a forecast",
            "fit good.csv --fit-mean gp --forecast mu",
            2,
            &["--fit-mean", "--forecast"],
        ),
        case(
            "no choice without rows",
            "fit good.csv --validation 0 -o out.json",
            1,
            &["good.csv: no rows can be held out", "name the model"],
        ),
        case(
            "interval",
            "predict good.csv -m model.json --interval 1.5",
            2,
            &["'1.5'", "--interval", probability],
        ),
        case(
            "negative interval",
            "predict good.csv -m model.json --interval -1",
            2,
            &["'-1'", "--interval", probability],
        ),
        case(
            "one of several",
            "predict good.csv -m model.json --interval 0.5,100%",
            2,
            &["'100%'", probability],
        ),
        case(
            "quantiles",
            "predict good.csv -m model.json --quantiles 0",
            2,
            &["'0'", "--quantiles", probability],
        ),
        case(
            "exceed",
            "predict good.csv -m model.json --exceed abc",
            2,
            &["'abc'", "--exceed", "give a number"],
        ),
        case(
            "exceed infinity",
            "predict good.csv -m model.json --exceed inf",
            2,
            &["'inf'", "--exceed"],
        ),
        case(
            "bounds",
            "predict good.csv -m model.json --lower 5 --upper 1",
            1,
            &["--lower 5 is not below --upper 1"],
        ),
        case("no model", "predict good.csv", 2, &["--model <FILE>", "required"]),
        case(
            "a model without its option",
            "predict good.csv model.json",
            2,
            &["--model <FILE>", "Usage"],
        ),
        case("unknown command", "frobnicate", 2, &["'frobnicate'", "Usage", "--help"]),
        case("nearly a command", "predic good.csv", 2, &["'predic'", "'predict'"]),
        case("no file", "fit", 2, &["<FILE>"]),
        case("unknown option", "fit good.csv --sigmas s", 2, &["'--sigmas'"]),
        case(
            "both from a pipe",
            "predict - -m -",
            1,
            &["the table and the model cannot both come from standard input"],
        )
        .input("x\n1\n"),
        case(
            "export to text",
            "export model.json -o out.txt",
            1,
            &["cannot export to out.txt", ".onnx"],
        )
        .with("out.txt", "an earlier file"),
        case("export to nowhere", "export model.json", 2, &["--output <FILE>"]),
        case("an unknown shell", "completions cmd", 2, &["'cmd'", "bash"]),
    ];
    check_all(&cases, &Models::new());
}

#[test]
fn models_that_cannot_be_used() {
    let models = Models::new();
    let good = &models.polynomial;
    let predict = |name, says: &[&'static str], bytes: Vec<u8>| {
        case(name, "predict good.csv -m m.json -o out.csv", 1, says).with("m.json", bytes)
    };
    let text = |name, says: &[&'static str], text: String| predict(name, says, text.into_bytes());
    let cut = good[..good.len() / 2].to_string();
    let infinite = {
        let mark = "123456789.25";
        let marked = models.with("/fitted/model/coefficients/0", 123_456_789.25.into());
        assert_eq!(marked.matches(mark).count(), 1);
        marked.replace(mark, "1e999")
    };
    let network = |place, value| changed(&models.network, place, value);
    let cases = [
        case(
            "missing",
            "predict good.csv -m no.json",
            1,
            &["cannot read the model no.json: No such file"],
        ),
        case(
            "a folder",
            "predict good.csv -m .",
            1,
            &["cannot read the model .: it is a folder; name"],
        ),
        text(
            "empty",
            &["the model m.json is empty; give the file that errbar fit wrote"],
            String::new(),
        ),
        text("not JSON", &["cannot use the model m.json: it is no model file of errbar"], table(5)),
        text(
            "something else",
            &["m.json: it is no model file of errbar", "errbar_model"],
            "{\"a\": 1}".into(),
        ),
        text("a list", &["m.json: it is no model file of errbar"], "[1, 2]".into()),
        text(
            "cut short",
            &["m.json: it is no model file of errbar (EOF while parsing", "line"],
            cut,
        ),
        text(
            "deeply nested",
            &["m.json: it is no model file of errbar", "line 1"],
            format!("{{\"fitted\":{}", "[".repeat(100_000)),
        ),
        text("binary", &["m.json is no model file of errbar: it is not text"], String::new())
            .with("m.json", vec![0x00, 0xff, 0xfe, 0x80, 0x81]),
        text(
            "a newer form",
            &["m.json: it has form 2, and this version of errbar reads up to 1; use a newer one"],
            models.with("/errbar_model", 2.into()),
        ),
        text(
            "a form below all",
            &["m.json: it is no model file of errbar", "`-1`"],
            models.with("/errbar_model", (-1).into()),
        ),
        text(
            "a number beyond doubles",
            &["m.json: ", "number out of range at line 1 column"],
            infinite,
        ),
        text(
            "another number of inputs",
            &["m.json: its names, ranges and model are of different numbers of inputs"],
            models.with("/fitted/names", serde_json::json!(["x", "mu"])),
        ),
        text(
            "no inputs",
            &["m.json: ", "different numbers of inputs"],
            models.with("/fitted/names", serde_json::json!([])),
        ),
        text(
            "too few coefficients",
            &["m.json: ", "coefficients"],
            models.with("/fitted/model/coefficients", serde_json::json!([1.0])),
        ),
        text(
            "a range the wrong way round",
            &["m.json: the ranges of its inputs are not in order"],
            models.with("/fitted/ranges", serde_json::json!({"low": [2.0], "high": [1.0]})),
        ),
        text(
            "a kind unknown",
            &["m.json: ", "tree"],
            models.with("/fitted/model/kind", "tree".into()),
        ),
        text(
            "a network with too few weights",
            &["m.json: its weights do not fit its layers"],
            network("/fitted/model/members/0", serde_json::json!([0.5, 0.5])),
        ),
        text(
            "a network of nothing",
            &["m.json: its weights do not fit"],
            network("/fitted/model/members", serde_json::json!([])),
        ),
        text(
            "a network far too wide",
            &["m.json: its weights do not fit its layers"],
            network("/fitted/model/shape/hidden/0/units", 4_000_000_000_000_000_000_u64.into()),
        ),
        text(
            "a unit of zero",
            &["m.json: ", "its unit not positive"],
            network("/fitted/model/unit", 0.into()),
        ),
        case(
            "from a pipe",
            "predict good.csv -m - -o out.csv",
            1,
            &["the model standard input is empty; give"],
        ),
        case(
            "to export",
            "export m.json -o out.onnx",
            1,
            &["m.json: it is no model file of errbar"],
        )
        .with("m.json", "{}"),
        case("none to export", "export no.json -o out.onnx", 1, &["cannot read the model no.json"]),
    ];
    check_all(&cases, &models);
}

/// A table with sigmas, one of which is the same in all rows but for one.
pub(crate) fn judged(sigma: &str, but: Option<(usize, &str)>) -> String {
    weighted(sigma, but).replacen("x,mu,y,w", "x,mu,y,sigma", 1)
}

#[test]
fn scores_that_cannot_be_had() {
    let score = |name, line: &str, status, says: &[&'static str]| {
        case(name, &format!("score t.csv {line}"), status, says).with("t.csv", judged("1", None))
    };
    let sigma = |name, value, says: &[&'static str]| {
        case(name, "score t.csv", 1, says).with("t.csv", judged("1", Some((7, value))))
    };
    let compare = |name, line: &str, status, says: &[&'static str]| {
        case(name, &format!("compare t.csv {line}"), status, says).with("t.csv", judged("1", None))
    };
    let probability = "a probability strictly between 0 and 1";
    let cases = [
        case(
            "no sigma",
            "score good.csv",
            1,
            &["good.csv has no column named sigma", "--sigma", "It has: x, mu, y"],
        ),
        case("no table", "score no.csv", 1, &["cannot read no.csv: No such file"]),
        case("nothing on standard input", "score -", 1, &["standard input is empty; a header"]),
        case("no rows", "score t.csv", 1, &["t.csv has a header but no rows"])
            .with("t.csv", "mu,y,sigma\n"),
        case(
            "no complete row",
            "score t.csv",
            1,
            &["t.csv: no row is complete; of 2 rows 2 have no sigma"],
        )
        .with("t.csv", "mu,y,sigma\n1,2,\n1,2,NA\n"),
        score(
            "sigma unknown",
            "--sigma sigmas",
            1,
            &["t.csv has no column \"sigmas\"; did you mean \"sigma\"?"],
        ),
        sigma(
            "sigma 0",
            "0",
            &["t.csv, row 7, column \"sigma\" is 0, but sigma must be greater than 0"],
        ),
        sigma(
            "sigma negative",
            "-2",
            &["t.csv, row 7, column \"sigma\" is -2, but sigma must be greater than 0"],
        ),
        sigma("sigma infinite", "inf", &["t.csv, row 7, column \"sigma\" is infinite"]),
        sigma(
            "sigma in words",
            "wide",
            &["t.csv, row 7, column \"sigma\": \"wide\" is not a number"],
        ),
        score(
            "a group unknown",
            "--by station",
            1,
            &["t.csv has no column \"station\". It has: x, mu, y, sigma"],
        ),
        score("a block of nothing", "--block 0", 2, &["'0'", "--block", "1..="]),
        score("a negative block", "--block -5", 2, &["'-5'", "--block", "1..="]),
        score("too few draws", "--replicates 1", 2, &["'1'", "--replicates", "20..="]),
        score("no confidence", "--confidence 1", 2, &["'1'", "--confidence", probability]),
        score("a level", "--levels 0.5,2", 2, &["'2'", "--levels", probability]),
        score("a negative level", "--levels -0.5", 2, &["'-0.5'", "--levels", probability]),
        score("beta", "--beta -1", 2, &["'-1'", "--beta", "0 (reliability only)"]),
        score("seed", "--seed x", 2, &["'x'", "--seed", "a whole number"]),
        score(
            "forecast and observation alike",
            "--forecast y --observation y",
            1,
            &["the same column \"y\""],
        ),
        score("error and forecast", "--error y --forecast mu", 2, &["--error", "--forecast"]),
        score("no model", "--model no.json", 1, &["cannot read the model no.json"]),
        score(
            "a model that is none",
            "--model t.csv",
            1,
            &["cannot use the model t.csv: it is no model file"],
        ),
        compare(
            "nothing to compare with",
            "--sigma sigma",
            1,
            &["only one sigma was named: give two or more"],
        ),
        compare("no sigma", "", 2, &["--sigma"]),
        compare("the same twice", "--sigma sigma,sigma", 1, &["\"sigma\" is named twice"]),
        compare(
            "one unknown",
            "--sigma sigma,nu",
            1,
            &["t.csv has no column \"nu\"; did you mean \"mu\"?"],
        ),
        compare("one without a name", "--sigma sigma,", 2, &["--sigma", "the name of a column"]),
        compare(
            "forecasts and sigmas",
            "--sigma sigma,x,mu --forecast mu,x",
            1,
            &["2 forecasts were named for 3 sigmas"],
        ),
        compare(
            "against none of them",
            "--sigma sigma,x --against nu",
            1,
            &["--against nu", "sigma, x"],
        ),
        compare(
            "one with zeros",
            "--sigma sigma,z",
            1,
            &["t.csv, row 1, column \"z\" is 0, but sigma must be greater"],
        )
        .with("t.csv", judged("1,0", None).replacen("sigma", "sigma,z", 1)),
    ];
    check_all(&cases, &Models::new());
}

#[test]
fn reports_that_cannot_be_made() {
    let report = |name, line: &str, says: &[&'static str]| {
        case(name, &format!("report t.csv {line}"), 1, says).with("t.csv", judged("1", None))
    };
    let cases = [
        case(
            "no sigma",
            "report good.csv -o out.html",
            1,
            &["good.csv has no column named sigma", "--sigma", "--model"],
        ),
        case("no table", "report no.csv -o out.html", 1, &["cannot read no.csv"]),
        report("no folder", "-o no/r.html", &["cannot write no/r.html: there is no folder no"]),
        report("a folder", "-o .", &["cannot write .: it is a folder"]),
        report("no model", "-m no.json -o out.html", &["cannot read the model no.json"]),
        report(
            "an input unknown",
            "--inputs nu -o out.html",
            &["t.csv has no column \"nu\"; did you mean \"mu\"?"],
        ),
        report(
            "figures in a file",
            "--figures good.csv -o out.html",
            &["cannot make the folder good.csv: File exists"],
        ),
        case(
            "manual pages in a file",
            "man good.csv",
            1,
            &["cannot make the folder good.csv: File exists"],
        ),
    ];
    check_all(&cases, &Models::new());
}

/// A column of each type, written by pyarrow: see make_pyarrow.py beside it.
const PARQUET: &[u8] = include_bytes!("../../errbar-table/src/tests/pyarrow.parquet");

#[test]
fn parquet_files_that_cannot_be_used() {
    let fit = |name, line: &str, says: &[&'static str], bytes: &[u8]| {
        case(name, &format!("fit t.parquet -o out.json {line}"), 1, says).with("t.parquet", bytes)
    };
    let columns = "--forecast int --observation double";
    let damaged = &["cannot read t.parquet: the Parquet file is damaged or cut short ("];
    let length = PARQUET.len();
    let changed = |from: usize, bytes: &[u8]| {
        let mut copy = PARQUET.to_vec();
        copy[from..from + bytes.len()].copy_from_slice(bytes);
        copy
    };
    let cases = [
        fit("cut short", columns, damaged, &PARQUET[..length / 2]),
        fit("all but the last byte", columns, damaged, &PARQUET[..length - 1]),
        fit("the mark alone", columns, damaged, b"PAR1"),
        fit("two marks", columns, damaged, b"PAR1\0\0\0\0PAR1"),
        fit("text after the mark", columns, damaged, format!("PAR1{}", table(60)).as_bytes()),
        fit("a footer longer than the file", columns, damaged, &changed(length - 8, &[0xff; 4])),
        fit("a footer of nothing sensible", columns, damaged, &changed(length - 900, &[0xff; 800])),
        fit(
            "another mark",
            columns,
            &["t.parquet is neither text nor Parquet"],
            &changed(0, b"PARX"),
        ),
        fit(
            "gzipped",
            columns,
            &["t.parquet is a Parquet file compressed with gzip; unpack it with gunzip"],
            &gzipped(PARQUET),
        ),
        fit(
            "lists as input",
            &format!("{columns} --inputs list"),
            &["t.parquet: column \"list\" holds lists or structures; only plain"],
            PARQUET,
        ),
        fit(
            "structures as input",
            &format!("{columns} --inputs struct"),
            &["t.parquet: column \"struct\" holds lists"],
            PARQUET,
        ),
        fit(
            "text as weight",
            &format!("{columns} --inputs int --weight text"),
            &["t.parquet, row 1, column \"text\": \"a\" is not a number"],
            PARQUET,
        ),
        fit(
            "dates as input",
            &format!("{columns} --inputs date"),
            &["column \"date\": \"2024-01-31\"", "a date", "--time"],
            PARQUET,
        ),
        fit(
            "a column unknown",
            "--forecast int --observation doubles",
            &["t.parquet has no column \"doubles\"; did you mean \"double\"? It has: int, big"],
            PARQUET,
        ),
        fit(
            "nothing but gaps",
            "--forecast int --observation null",
            &["t.parquet: no row is complete"],
            PARQUET,
        ),
        case(
            "lists to score",
            "score t.parquet --error int --sigma list",
            1,
            &["column \"list\" holds lists"],
        )
        .with("t.parquet", PARQUET),
        case(
            "an input the table has not",
            "predict t.parquet -m model.json -o out.parquet",
            1,
            &["t.parquet has no column \"x\", an input of model.json"],
        )
        .with("t.parquet", PARQUET),
        case(
            "damaged, from a pipe",
            "score - --error int --sigma double",
            1,
            &["cannot read standard input: the Parquet file is damaged"],
        )
        .input(&PARQUET[..length / 2]),
        case(
            "no folder",
            "predict good.csv -m model.json -o no/o.parquet",
            1,
            &["cannot write no/o.parquet: there is no folder no"],
        ),
        case(
            "a broken table to Parquet",
            "predict t.csv -m model.json -o out.parquet",
            1,
            &["t.csv, row 3 has 1 field"],
        )
        .with("t.csv", "x,mu\n1,2\n3,4\n5\n"),
    ];
    check_all(&cases, &Models::new());
}

/// Any few bytes of a Parquet file may be wrong: a table or one sentence comes of it.
#[test]
fn damage_anywhere_in_a_parquet_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = crate::common::Numbers::new(11);
    let mut below = |limit: usize| (numbers.next() * limit as f64) as usize;
    let mut refused = 0;
    for _ in 0..200 {
        let mut bytes = PARQUET.to_vec();
        for _ in 0..=below(4) {
            // The last third is what describes the rest.
            let from = [4, bytes.len() * 2 / 3][below(2)];
            let place = from + below(bytes.len() - 4 - from);
            bytes[place] = [0, 0xff, bytes[place] ^ 1 << below(8), below(256) as u8][below(4)];
        }
        std::fs::write(folder.path().join("t.parquet"), &bytes).unwrap();
        let line = "score t.parquet --forecast int --observation single --sigma byte --by text --no-intervals";
        let ran = errbar_with(folder.path(), b"", line.split(' '));
        assert!(matches!(ran.status, Some(0 | 1)), "{:?}: {}", ran.status, ran.stderr);
        if ran.status == Some(1) {
            refused += 1;
            let errors = ran.stderr.lines().filter(|line| line.starts_with("errbar: ")).count();
            assert_eq!(errors, 1, "{}", ran.stderr);
        }
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
    assert!(refused > 20, "{refused} damaged files were noticed");
}

#[test]
fn places_that_cannot_be_written() {
    let models = Models::new();
    let mut cases = vec![
        case(
            "no folder, fit",
            "fit good.csv -o no/m.json",
            1,
            &["cannot write no/m.json: there is no folder no"],
        ),
        case(
            "no folder, predict",
            "predict good.csv -m model.json -o no/o.csv",
            1,
            &["cannot write no/o.csv: there is no folder no"],
        ),
        case(
            "no folder, export",
            "export model.json -o no/m.onnx",
            1,
            &["cannot write no/m.onnx: there is no folder no"],
        ),
        case(
            "a folder, fit",
            "fit good.csv -o .",
            1,
            &[". is a folder: name a file to write with --output"],
        ),
        case(
            "a folder, predict",
            "predict good.csv -m model.json -o .",
            1,
            &["./good.csv would take the place of the file that is read: write to another folder"],
        ),
        case(
            "a file as folder",
            "predict good.csv -m model.json -o good.csv/o.csv",
            1,
            &["cannot write good.csv/o.csv: ", "ot a directory"],
        ),
        case(
            "a model as output of text",
            "fit good.csv -o -",
            1,
            &["a model is not written to standard output", "--output"],
        ),
        case(
            "a bad table, but rows before it",
            "predict t.csv -m model.json",
            1,
            &["t.csv, row 3 has 1 field"],
        )
        .with("t.csv", "x,mu\n1,2\n3,4\n5\n")
        .prints("x,mu,sigma,support,outside,outside_input"),
    ];
    // Said before the work is done: a table that is not there is not even looked for.
    cases.push(case(
        "no folder, no table",
        "fit no.csv -o no/m.json",
        1,
        &["there is no folder no"],
    ));
    check_all(&cases, &models);
}

/// A name that promises a form that is not written.
#[test]
fn endings_that_are_not_written() {
    let models = Models::new();
    let mut cases: Vec<Case> =
        ["xlsx", "json", "feather", "XLS", "parquet.gz", "csv.xz", "pq", "zip"]
            .into_iter()
            .map(|ending| {
                let line = format!("predict good.csv -m model.json -o out.{ending}");
                let written = ".csv, .tsv, .jsonl (also with .gz or .zst) or .parquet";
                case("predict", &line, 1, &["cannot write out.", written])
            })
            .collect();
    // Before any work: neither the model nor the table is there.
    let nothing = "predict no.csv -m no.json -o out.xlsx";
    cases.push(case("predict nothing", nothing, 1, &[".xlsx is not written; tables are written"]));
    let page = "report no.csv --sigma s -o page.pdf";
    cases.push(case("a page", page, 1, &[".pdf is not written", "ends in .html"]));
    let onnx = "fit no.csv -o m.onnx";
    cases.push(case("a model", onnx, 1, &["m.onnx", "ends in .json", "errbar export"]));
    check_all(&cases, &models);

    // Endings that are plain text, or none, are as good as .csv; .tsv has tabs.
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("good.csv", &table(5));
    put("good.tsv", &table(5).replace(',', "\t"));
    put("model.json", &models.polynomial);
    for (from, to) in [
        ("good.csv", "out"),
        ("good.csv", "out.txt"),
        ("good.csv", "out.2024"),
        ("good.csv", "out.CSV.GZ"),
        ("good.csv", "v1.parquet"),
        ("good.tsv", "out.tsv"),
        ("good.csv", "other.tsv"),
        ("v1.parquet", "again.tsv"),
    ] {
        let prefix = if from == "v1.parquet" { "again_" } else { "" };
        let line = ["predict", from, "-m", "model.json", "--prefix", prefix, "-o", to];
        errbar_with(folder.path(), b"", line).well();
        let bytes = std::fs::read(folder.path().join(to)).unwrap();
        if to.ends_with(".tsv") {
            assert!(bytes.starts_with(b"x\tmu\ty\tsigma\t"), "{to}");
        }
    }
}

/// Odd, but no reason to refuse.
#[test]
fn odd_tables_are_used_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let run = |arguments: &[&str]| errbar_with(folder.path(), b"", arguments);
    let plain = table(60);
    let huge = plain.lines().map(|line| line.replace(',', "e290,") + "e290\n");
    let huge = huge.collect::<String>().replacen("xe290,mue290,ye290", "x,mu,y", 1);
    put("huge.csv", huge);
    let fitted = run(&["fit", "huge.csv", "--model", "polynomial", "-o", "huge.json"]).well();
    assert!(fitted.printed().contains("60 errors"), "{}", fitted.printed());
    let predicted = run(&["predict", "huge.csv", "-m", "huge.json", "-q"]).well();
    for line in predicted.printed().lines().skip(1) {
        let sigma: f64 = line.split(',').nth(3).unwrap().parse().unwrap();
        // The errors are some 1e290.
        assert!(sigma > 1e288 && sigma < 1e292, "{line}");
    }

    let long = "n".repeat(10_000);
    for name in ["wind speed (10 m)", "say \"when\"", "Größe_日本", &long] {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        put("named.csv", table(60).replacen('x', &quoted, 1));
        let inputs = ["--model", "constant", "--inputs", name];
        run(&[&["fit", "named.csv", "-q", "-o", "named.json"], &inputs[..]].concat()).well();
        let predicted = run(&["predict", "named.csv", "-m", "named.json"]).well().printed();
        assert_eq!(
            predicted.lines().next(),
            Some(&*format!("{quoted},mu,y,sigma,support,outside,outside_input"))
        );
        assert_eq!(predicted.lines().count(), 61);
    }

    put("one.csv", table(1));
    let one = run(&["fit", "one.csv", "-o", "one.json"]).well();
    assert!(one.stderr.contains("warning: 1 row") && one.stderr.contains("few"), "{}", one.stderr);
    // Any model is then one constant sigma, and that is said.
    put("few.csv", table(8));
    for model in ["auto", "polynomial", "smooth", "network", "ensemble", "trees", "stack"] {
        let few = run(&["fit", "few.csv", "-o", "few.json", "--model", model]).well();
        assert!(
            few.stderr.contains("fewer than 20 rows (8 here) every model is"),
            "{}",
            few.stderr
        );
        assert!(few.printed().contains("one sigma for all rows"), "{}", few.printed());
    }
    let asked = run(&["fit", "few.csv", "-o", "few.json", "--model", "constant"]).well();
    assert!(!asked.stderr.contains("fewer than 20"), "{}", asked.stderr);
    assert!(leftovers(folder.path()).is_empty());
}

/// What only somebody else than root cannot do.
#[cfg(unix)]
#[test]
fn places_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    if crate::common::is_root(folder.path()) {
        println!("skipped: root may write and read everywhere");
        return;
    }
    std::fs::write(folder.path().join("good.csv"), table(60)).unwrap();
    std::fs::write(folder.path().join("secret.csv"), table(60)).unwrap();
    std::fs::write(folder.path().join("model.json"), Models::new().polynomial).unwrap();
    let mode = |name: &str, mode| {
        let path = folder.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir(folder.path().join("closed")).unwrap();
    mode("closed", 0o500);
    mode("secret.csv", 0o000);
    for (line, says) in [
        ("fit good.csv -o closed/m.json", "cannot write closed/m.json: no permission for closed"),
        (
            "predict good.csv -m model.json -o closed/o.csv",
            "cannot write closed/o.csv: no permission",
        ),
        ("fit secret.csv", "cannot read secret.csv: Permission denied"),
    ] {
        let ran = errbar_with(folder.path(), b"", line.split(' '));
        assert_eq!(ran.status, Some(1), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{line}: {}", ran.stderr);
    }
    mode("closed", 0o700);
}
