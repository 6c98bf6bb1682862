//! CSV as people have it: the same numbers in any dress give the same model and the same sigma, and
//! predict gives every record back as it was.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use crate::common::{constant_model, errbar, errbar_with, finish, leftovers, program, rows, table};
use tempfile::TempDir;

const BOM: &[u8] = b"\xef\xbb\xbf";

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

/// How the same table may be written.
struct Dress {
    name: &'static str,
    options: &'static [&'static str],
    separator: char,
    line_end: &'static str,
    mark: bool,
    quoted: bool,
    decimal_comma: bool,
    gzip: bool,
    /// Spaces around fields.
    padded: bool,
    /// Blank lines between records, and none at the end of the last one.
    blank_lines: bool,
}

const PLAIN: Dress = Dress {
    name: "plain",
    options: &[],
    separator: ',',
    line_end: "\n",
    mark: false,
    quoted: false,
    decimal_comma: false,
    gzip: false,
    padded: false,
    blank_lines: false,
};

fn dresses() -> Vec<Dress> {
    vec![
        PLAIN,
        Dress { name: "quoted", quoted: true, ..PLAIN },
        Dress { name: "with a byte order mark", mark: true, ..PLAIN },
        Dress { name: "with a mark and quotes", mark: true, quoted: true, ..PLAIN },
        Dress { name: "of Windows", line_end: "\r\n", ..PLAIN },
        Dress { name: "of Windows, quoted", line_end: "\r\n", quoted: true, ..PLAIN },
        Dress { name: "of the old Macintosh", line_end: "\r", ..PLAIN },
        Dress { name: "with semicolons", separator: ';', ..PLAIN },
        Dress {
            name: "with semicolons, told",
            separator: ';',
            options: &["--separator", ";"],
            ..PLAIN
        },
        Dress { name: "with tabs", separator: '\t', ..PLAIN },
        Dress { name: "with bars", separator: '|', ..PLAIN },
        Dress { name: "with spaces", separator: ' ', options: &["--separator", "space"], ..PLAIN },
        Dress {
            name: "of a German Excel",
            separator: ';',
            decimal_comma: true,
            mark: true,
            line_end: "\r\n",
            options: &["--decimal-comma"],
            ..PLAIN
        },
        Dress {
            name: "with quoted decimal commas",
            decimal_comma: true,
            quoted: true,
            options: &["--decimal-comma"],
            ..PLAIN
        },
        Dress { name: "gzipped", gzip: true, ..PLAIN },
        Dress { name: "padded", padded: true, ..PLAIN },
        Dress { name: "padded and quoted", padded: true, quoted: true, ..PLAIN },
        Dress { name: "with blank lines", blank_lines: true, ..PLAIN },
        Dress {
            name: "of everything",
            gzip: true,
            padded: true,
            quoted: true,
            mark: true,
            line_end: "\r\n",
            blank_lines: true,
            separator: ';',
            ..PLAIN
        },
    ]
}

impl Dress {
    /// A record without its line end.
    fn record(&self, fields: &[String]) -> String {
        let field = |field: &String| {
            let text = match self.decimal_comma {
                true => field.replace('.', ","),
                false => field.clone(),
            };
            let text = if self.quoted { format!("\"{text}\"") } else { text };
            if self.padded { format!("  {text} ") } else { text }
        };
        let fields: Vec<String> = fields.iter().map(field).collect();
        fields.join(&self.separator.to_string())
    }

    /// The records of the table, the header first.
    fn records(&self, count: usize) -> Vec<String> {
        let header = ["x", "mu", "y"].map(String::from);
        std::iter::once(header).chain(rows(count)).map(|row| self.record(&row)).collect()
    }

    fn file(&self, count: usize) -> Vec<u8> {
        let mut text = if self.mark { BOM.to_vec() } else { Vec::new() };
        let between = if self.blank_lines { self.line_end.repeat(2) } else { self.line_end.into() };
        text.extend_from_slice(self.records(count).join(&between).as_bytes());
        if !self.blank_lines {
            text.extend_from_slice(self.line_end.as_bytes());
        }
        if self.gzip { gzipped(&text) } else { text }
    }
}

#[test]
fn the_same_numbers_in_any_dress() {
    const COUNT: usize = 80;
    let folder = tempfile::tempdir().unwrap();
    let mut of_plain: Option<(Vec<u8>, Vec<String>)> = None;
    for dress in dresses() {
        let name = dress.name;
        std::fs::write(folder.path().join("t"), dress.file(COUNT)).unwrap();
        let fit = ["fit", "t", "-q", "--model", "polynomial", "-o", "model.json"];
        errbar(folder.path(), fit.iter().chain(dress.options)).well();
        let model = std::fs::read(folder.path().join("model.json")).unwrap();
        let predict = ["predict", "t", "-q", "-m", "model.json"];
        let result = errbar(folder.path(), predict.iter().chain(dress.options)).well().stdout;

        // Every record as it was, and four fields more.
        let text = match dress.mark {
            true => result.strip_prefix(BOM).unwrap_or_else(|| panic!("{name}: no mark")),
            false => &result,
        };
        let text = std::str::from_utf8(text).unwrap();
        let text = text.strip_suffix(dress.line_end).unwrap_or_else(|| panic!("{name}: no end"));
        let lines: Vec<&str> = text.split(dress.line_end).collect();
        let records = dress.records(COUNT);
        assert_eq!(lines.len(), records.len(), "{name}");
        let mut sigma = Vec::new();
        for (line, record) in lines.iter().zip(&records) {
            let added = line.strip_prefix(record.as_str());
            let added = added.and_then(|rest| rest.strip_prefix(dress.separator));
            let added = added.unwrap_or_else(|| panic!("{name}: {record:?} became {line:?}"));
            // Sigma, which may be quoted, then support, outside and outside_input.
            let (value, rest) = match added.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap(),
                None => added.split_once(dress.separator).unwrap(),
            };
            let ends = ["outside outside_input", "false "];
            let ends = ends.map(|end| end.replace(' ', &dress.separator.to_string()));
            assert!(ends.iter().any(|end| rest.ends_with(end)), "{name}: {line:?}");
            assert_eq!(value.contains(','), dress.decimal_comma && value != "sigma", "{name}");
            sigma.push(value.replace(',', "."));
        }

        match &of_plain {
            None => {
                assert_eq!(sigma[0], "sigma");
                let numbers: Vec<f64> = sigma[1..].iter().map(|s| s.parse().unwrap()).collect();
                assert!(numbers.iter().all(|s| *s > 0.0 && s.is_finite()));
                assert!(numbers.iter().any(|s| *s != numbers[0]), "one sigma would prove little");
                of_plain = Some((model, sigma));
            }
            Some((plain_model, plain_sigma)) => {
                assert!(model == *plain_model, "{name}: another model");
                assert_eq!(&sigma, plain_sigma, "{name}");
            }
        }
    }
}

/// A folder with a model that says sigma is 2.
fn with_model() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.json"), constant_model(2.0)).unwrap();
    folder
}

fn predict(folder: &Path, table: &str, options: &[&str]) -> String {
    let arguments = ["predict", "-", "-m", "model.json"];
    errbar_with(folder, table.as_bytes(), arguments.iter().chain(options)).well().printed()
}

#[test]
fn rows_with_gaps_are_kept_in_their_order() {
    let folder = with_model();
    let table = "id,x,mu\na,1,10\nb,,20\nc,NA,30\nd,4,\ne,inf,50\nf,6,60\n";
    let ran = errbar_with(
        folder.path(),
        table.as_bytes(),
        ["predict", "-", "-m", "model.json", "--quantiles", "0.5"],
    );
    let ran = ran.well();
    // The model is one sigma, whatever x is, as long as it is no infinity; without mu no quantile.
    assert_eq!(
        ran.printed(),
        "id,x,mu,sigma,quantile_0.5,support,outside,outside_input\n\
         a,1,10,2.0,10.0,,false,\n\
         b,,20,2.0,20.0,,false,\n\
         c,NA,30,2.0,30.0,,false,\n\
         d,4,,2.0,,,false,\n\
         e,inf,50,,,,,\n\
         f,6,60,2.0,60.0,,false,\n"
    );
    assert!(ran.stderr.contains("warning: 1 row of 6 without sigma"), "{}", ran.stderr);
}

#[test]
fn outside_of_what_the_model_has_seen() {
    let folder = with_model();
    let result = predict(folder.path(), "x\n-0.001\n0\n59\n59.001\n", &[]);
    let flags: Vec<&str> =
        result.lines().filter_map(|line| line.split_once(",,")).map(|x| x.1).collect();
    assert_eq!(flags, ["true,x", "false,", "false,", "true,x"]);
}

#[test]
fn texts_with_separators_quotes_and_line_ends_come_back_as_they_were() {
    let folder = with_model();
    let records = [
        "\"a, b\",1,\"he said \"\"no\"\"\"",
        "\"two\nlines\",2,",
        "\"\",3,\"\"",
        "plain,\"4\",  spaces  ",
        "Größe 日本,5,\"é\"",
        "a\"b,6,5\" pipe",
    ];
    let table = format!("\"the, name\",x,\"n \"\"o\"\"\"\n{}\n", records.join("\n"));
    let result = predict(folder.path(), &table, &["--prefix", "new, "]);
    let expected: String = records.iter().map(|record| format!("{record},2.0,,false,\n")).collect();
    // A new name that needs quotes has them.
    let header = "\"the, name\",x,\"n \"\"o\"\"\",\"new, sigma\",\"new, support\",\"new, outside\",\"new, outside_input\"\n";
    assert_eq!(result, format!("{header}{expected}"));
    // Bytes that are no UTF-8 come back, too.
    let latin = b"x,caf\xe9\n1,\xfc\n";
    let result = errbar_with(folder.path(), latin, ["predict", "-", "-m", "model.json"]).well();
    assert_eq!(
        result.stdout,
        b"x,caf\xe9,sigma,support,outside,outside_input\n1,\xfc,2.0,,false,\n"
    );
}

#[test]
fn no_rows_and_no_last_line_end() {
    let folder = with_model();
    assert_eq!(predict(folder.path(), "x,mu\n", &[]), "x,mu,sigma,support,outside,outside_input\n");
    assert_eq!(predict(folder.path(), "x,mu", &[]), "x,mu,sigma,support,outside,outside_input\n");
    assert_eq!(
        predict(folder.path(), "x,mu\n1,2", &[]),
        "x,mu,sigma,support,outside,outside_input\n1,2,2.0,,false,\n"
    );
}

#[test]
fn many_rows_keep_their_order() {
    let folder = with_model();
    // Some 6 MB: several blocks, each of many pieces, and more than one thread.
    let lines = || (0..400_000_u64).map(|i| format!("{},{i}", i * 7919 % 60));
    let table: String = lines().map(|line| line + "\n").collect();
    let table = format!("x,n\n{table}");
    let one = predict(folder.path(), &table, &["--threads", "1"]);
    let two = predict(folder.path(), &table, &["--threads", "3"]);
    assert!(one == two);
    let mut result = one.lines();
    assert_eq!(result.next(), Some("x,n,sigma,support,outside,outside_input"));
    for (line, given) in result.by_ref().zip(lines()) {
        assert_eq!(line, format!("{given},2.0,,false,"));
    }
    assert_eq!(one.lines().count(), 400_001);
}

#[test]
fn thousands_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..5000).map(|i| format!("column {i}")).collect();
    let mut text = format!("{},mu,y\n", names.join(","));
    for (row, [x, mu, y]) in rows(60).iter().enumerate() {
        let values: Vec<String> =
            (0..5000).map(|i| if i == 4321 { x.clone() } else { (i + row).to_string() }).collect();
        text += &format!("{},{mu},{y}\n", values.join(","));
    }
    std::fs::write(folder.path().join("wide.csv"), &text).unwrap();
    let fit = ["fit", "wide.csv", "--model", "polynomial", "-q", "-o", "model.json", "--inputs"];
    let fitted = errbar(folder.path(), fit.iter().chain(&["column 4321"])).well();
    let predicted = errbar(folder.path(), ["predict", "wide.csv", "-m", "model.json"]).well();
    let took = fitted.took + predicted.took;
    assert!(took < Duration::from_secs(20), "{took:?}");
    for (line, given) in predicted.printed().lines().zip(text.lines()) {
        assert!(line.starts_with(given) && line.split(',').count() == 5006);
    }

    // The one column that counts, in a table of its own, gives the same sigma.
    let narrow = table(60).replacen('x', "column 4321", 1);
    std::fs::write(folder.path().join("narrow.csv"), narrow).unwrap();
    errbar(folder.path(), ["fit", "narrow.csv", "--model", "polynomial", "-q", "-o", "n.json"])
        .well();
    let model = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(model("model.json") == model("n.json"));

    // All of them as inputs.
    let all = ["fit", "wide.csv", "--model", "constant", "-o", "all.json"];
    let all = errbar(folder.path(), all).well();
    assert!(all.stderr.contains("column 11 and 4988 more"), "{}", all.stderr);
    assert!(all.took < Duration::from_secs(20), "{:?}", all.took);
}

#[test]
fn through_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let text = table(60);
    std::fs::write(folder.path().join("t.csv"), &text).unwrap();
    let fit = |file: &str, output: &str, input: &[u8]| {
        let arguments = ["fit", file, "--model", "polynomial", "-q", "-o", output];
        errbar_with(folder.path(), input, arguments).well();
        std::fs::read(folder.path().join(output)).unwrap()
    };
    let model = fit("t.csv", "a.json", b"");
    assert!(model == fit("-", "b.json", text.as_bytes()));
    assert!(model == fit("-", "c.json", &gzipped(text.as_bytes())));

    let from_file = errbar(folder.path(), ["predict", "t.csv", "-m", "a.json", "-q"]).well();
    let piped = ["predict", "-", "-m", "a.json", "-q"];
    let table_piped = errbar_with(folder.path(), text.as_bytes(), piped).well();
    assert!(from_file.stdout == table_piped.stdout);
    let piped = ["predict", "t.csv", "-m", "-", "-q", "-o", "-"];
    let model_piped = errbar_with(folder.path(), &model, piped).well();
    assert!(from_file.stdout == model_piped.stdout);
    // Dates on standard input, which cannot be read twice.
    let dated: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("day,{line}\n"),
            i => format!("2024-{:02}-{:02},{line}\n", i / 28 + 1, i % 28 + 1),
        })
        .collect();
    std::fs::write(folder.path().join("dated.csv"), &dated).unwrap();
    let fit = |file: &str, output: &str, input: &[u8]| {
        let arguments = ["fit", file, "--time", "day", "--model", "polynomial", "-q", "-o", output];
        errbar_with(folder.path(), input, arguments).well();
        std::fs::read(folder.path().join(output)).unwrap()
    };
    assert!(fit("dated.csv", "d.json", b"") == fit("-", "e.json", dated.as_bytes()));
}

#[test]
fn gzip_out_is_gzip() {
    let folder = with_model();
    std::fs::write(folder.path().join("t.csv"), table(5000)).unwrap();
    let plain = errbar(folder.path(), ["predict", "t.csv", "-m", "model.json", "-q"]).well();
    let to = |name| ["predict", "t.csv", "-m", "model.json", "-q", "-o", name];
    errbar(folder.path(), to("out.csv.gz")).well();
    let packed = std::fs::read(folder.path().join("out.csv.gz")).unwrap();
    assert!(packed.len() < plain.stdout.len() && unzipped(&packed) == plain.stdout);
    // What gzip itself makes of it, where there is one.
    let mut gzip = std::process::Command::new("gzip");
    if let Ok(output) = gzip.args(["-dc", "out.csv.gz"]).current_dir(folder.path()).output() {
        assert!(output.status.success() && output.stdout == plain.stdout);
    }
    // And it can be read again, under any name.
    std::fs::rename(folder.path().join("out.csv.gz"), folder.path().join("other")).unwrap();
    let again = ["predict", "other", "-m", "model.json", "-q", "--prefix", "again_"];
    let again = errbar(folder.path(), again).well().printed();
    assert_eq!(
        again.lines().next(),
        Some(
            "x,mu,y,sigma,support,outside,outside_input,again_sigma,again_support,again_outside,again_outside_input"
        )
    );
    assert_eq!(again.lines().count(), 5001);
    assert!(leftovers(folder.path()).is_empty());
}

/// The same table as Parquet gives the same model, and the same columns back.
#[test]
fn parquet_is_one_more_dress() {
    let folder = with_model();
    std::fs::write(folder.path().join("t.csv"), table(500)).unwrap();
    let predict = |from, to, prefix| {
        let arguments = ["predict", from, "-m", "model.json", "-q", "-o", to, "--prefix", prefix];
        errbar(folder.path(), arguments).well();
    };
    predict("t.csv", "t.parquet", "a_");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("t.parquet").starts_with(b"PAR1") && read("t.parquet").ends_with(b"PAR1"));
    let fit = |from, to| {
        let fit = ["fit", from, "--inputs", "x", "--model", "polynomial", "-q", "-o", to];
        errbar(folder.path(), fit).well();
        read(to)
    };
    assert!(fit("t.csv", "csv.json") == fit("t.parquet", "parquet.json"));
    // And back to text. Five decimals are 1.50000 in one file and the number 1.5 in the other.
    predict("t.parquet", "back.csv", "b_");
    let back = String::from_utf8(read("back.csv")).unwrap();
    let given = table(500);
    assert_eq!(
        back.lines().next(),
        Some(
            "x,mu,y,a_sigma,a_support,a_outside,a_outside_input,b_sigma,b_support,b_outside,b_outside_input"
        )
    );
    assert_eq!(back.lines().count(), 501);
    for (line, row) in back.lines().zip(given.lines()).skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers =
            |fields: &[&str]| fields.iter().map(|f| f.parse::<f64>().unwrap()).collect::<Vec<_>>();
        assert_eq!(numbers(&fields[..3]), numbers(&row.split(',').collect::<Vec<_>>()));
        assert_eq!(fields[3..], ["2.0", "", "false", "", "2.0", "", "false", ""]);
    }
    // As text with decimal commas.
    let comma = ["predict", "t.parquet", "-m", "model.json", "-q", "--decimal-comma"];
    let comma = errbar(folder.path(), comma.iter().chain(&["--separator", ";", "--prefix", "b_"]));
    assert_eq!(comma.well().printed(), back.replace(',', ";").replace('.', ","));
    // Through a pipe, where it cannot be read out of order.
    let piped = ["predict", "-", "-m", "model.json", "-q", "--prefix", "b_"];
    assert!(errbar_with(folder.path(), &read("t.parquet"), piped).well().printed() == back);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = with_model();
    std::fs::write(folder.path().join("t.csv"), "x\n100\n").unwrap();
    let said = |variables: &[(&str, &str)]| {
        let mut command = program(folder.path());
        command.args(["predict", "t.csv", "-m", "model.json"]).envs(variables.iter().copied());
        finish(command).well().stderr
    };
    // There is a warning to be coloured; standard error is no terminal here.
    let plain = said(&[]);
    assert!(
        plain
            .contains("warning: 1 row of 1 where there were hardly any training rows (1 by \"x\")"),
        "{plain}"
    );
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    assert_eq!(said(&[("NO_COLOR", "1")]), plain);
    assert_eq!(said(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), plain);
    assert!(said(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'), "nothing would be coloured");
}

#[test]
fn quiet_is_quiet() {
    let folder = with_model();
    // Reasons to say something: a gap, a row outside.
    std::fs::write(folder.path().join("t.csv"), table(60) + ",1,2\n1e6,1,2\n").unwrap();
    for arguments in [
        "fit t.csv --model polynomial -o m.json",
        "fit t.csv --errors in-sample --inputs x,mu -o m.json",
        "fit t.csv --fit-mean gp --inputs x -o m.json",
        "predict t.csv -m model.json -o out.csv",
        "predict t.csv -m model.json -o out.parquet",
        "export model.json -o m.onnx",
        "report t.csv -m model.json -o report.html",
    ] {
        let loud = errbar(folder.path(), arguments.split(' ')).well();
        assert!(!loud.stderr.is_empty(), "{arguments} says nothing even when it may");
        let quiet = errbar(folder.path(), arguments.split(' ').chain(["--quiet"])).well();
        assert_eq!((quiet.printed(), quiet.stderr), (String::new(), String::new()), "{arguments}");
    }
}

#[test]
fn json_is_json() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table(60) + ",1,2\n").unwrap();
    let line = ["fit", "t.csv", "--json", "-o", "m.json", "--missing", "drop"];
    let ran = errbar(folder.path(), line).well();
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(json["file"], "t.csv");
    assert_eq!(json["model_file"], "m.json");
    assert_eq!(json["rows"], 60);
    assert_eq!(json["inputs"], serde_json::json!(["x"]));
    assert!(json["held_out"]["crps"].as_f64().is_some_and(|crps| crps > 0.0), "{json}");
    let notes = json["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("1 of 61 rows")), "{json}");
    for (line, place) in [
        ("score t.csv --sigma x --json -q", "/scores/crps"),
        ("compare t.csv --sigma x,mu --json -q", "/candidates/1/difference/crps/value"),
    ] {
        let ran = errbar(folder.path(), line.split(' ')).well();
        let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!((&json["file"], &json["rows"]), (&"t.csv".into(), &60.into()), "{line}");
        assert!(
            json.pointer(place).is_some_and(serde_json::Value::is_number),
            "{line}: no {place}"
        );
        assert_eq!(ran.stderr, "", "{line}");
    }
    // Quiet, JSON is still the result.
    let quiet = errbar(
        folder.path(),
        ["fit", "t.csv", "--json", "-q", "-o", "m.json", "--missing", "drop"],
    )
    .well();
    assert_eq!(quiet.stdout, ran.stdout);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_missing_input_is_learned_from() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table(60) + ",1,2\n3,,4\n").unwrap();
    let ran = errbar(folder.path(), ["fit", "t.csv", "--json", "--model", "trees"]).well();
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    // A row without a forecast has no error.
    assert_eq!(json["rows"], 61);
    let notes = json["notes"].to_string();
    assert!(notes.contains("1 of 62 rows was left out: 1 has no forecast"), "{notes}");
    assert!(notes.contains("\\\"x\\\" is missing in 1 of 61 rows; they are kept"), "{notes}");
    let ran = errbar(folder.path(), ["predict", "t.csv", "--model", "model.json"]).well();
    for row in ran.printed().lines().skip(61) {
        let sigma: f64 = row.split(',').nth(3).unwrap().parse().unwrap();
        assert!(sigma > 0.0, "{row}");
    }
    errbar(folder.path(), ["report", "t.csv", "--model", "model.json"]).well();
    // Whoever never saw one missing says that the row is outside; who is told to refuse does.
    errbar(folder.path(), ["fit", "t.csv", "--missing", "drop", "--model", "trees", "-q"]).well();
    let ran = errbar(folder.path(), ["predict", "t.csv", "--model", "model.json"]).well();
    assert!(ran.printed().lines().nth(61).unwrap().ends_with(",0.0,true,x"), "{}", ran.printed());
    let ran = errbar(folder.path(), ["fit", "t.csv", "--missing", "error"]);
    assert!(ran.stderr.contains("is missing; fill it in"), "{}", ran.stderr);
}
