//! Other files than CSV and Parquet: compressed, aligned by blanks, JSON lines; and what stands above and under a header.

use std::io::Write;

use super::*;

/// The names, the notes, and all columns as text.
fn seen(name: &str, bytes: &[u8], format: &Format) -> (Vec<String>, Vec<String>, Vec<Vec<String>>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let table = Table::open(&path, format).unwrap();
    let short = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    let notes = table.notes().iter().map(|note| short(note.to_string())).collect();
    let header = table.header().to_vec();
    let all: Vec<usize> = (0..header.len()).collect();
    let columns = table.read(&[], &all, &mut |_| false).unwrap();
    (header, notes, columns.texts.iter().map(spelled).collect())
}

fn plain(text: &str) -> (Vec<String>, Vec<String>, Vec<Vec<String>>) {
    seen("t.csv", text.as_bytes(), &Format::default())
}

#[test]
fn compressed_files_of_several_members() {
    for bytes in [
        include_bytes!("files/table.csv.xz").as_slice(),
        include_bytes!("files/table.csv.bz2"),
        include_bytes!("files/table.csv.zst"),
    ] {
        assert_eq!(numbers(bytes), [[1.0, 4.0], [2.5, 5.0], [3.0, -600.0]]);
        for length in [bytes.len() - 1, bytes.len() - 9, bytes.len() / 4] {
            let said = complaint(&bytes[..length]);
            assert!(said.starts_with("cannot unpack table.csv: the "), "{said}");
            assert!(said.contains("data is damaged or cut short ("), "{said}");
        }
        // A byte that is wrong in the middle of a member.
        let mut wrong = bytes.to_vec();
        wrong[bytes.len() / 4] ^= 0x55;
        let said = complaint(&wrong);
        assert!(said.starts_with("cannot unpack table.csv: "), "{said}");
    }
    // More than any buffer holds.
    let rows: String =
        (0..300_000).map(|row| format!("{row},{}\n", f64::from(row) / 7.0)).collect();
    let mut packed = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::fast());
    packed.write_all(format!("a,b\n{rows}").as_bytes()).unwrap();
    let read = numbers(packed.finish().unwrap());
    assert!(read[0].iter().zip(0..300_000).all(|(value, row)| *value == f64::from(row)));
    assert!(read[1].iter().zip(0..300_000).all(|(value, row)| *value == f64::from(row) / 7.0));
}

#[test]
fn a_table_aligned_by_blanks() {
    let text = "   x     mu  y\n   1   2.50  3\r\n\n  4  \t 5 \t-6e2  \n";
    assert_eq!(numbers(text), [[1.0, 4.0], [2.5, 5.0], [3.0, -600.0]]);
    let (names, notes, columns) = plain("name  mu\n\"New York\" 1\nBerlin    2\n");
    assert_eq!((names.join("|"), notes.len()), ("name|mu".into(), 0));
    assert_eq!(columns, [["New York", "Berlin"], ["1", "2"]]);
    // What no table aligned by blanks looks like stays one column.
    assert_eq!(plain("wind speed\n1\n2\n").0, ["wind speed"]);
    assert_eq!(plain("wind speed\n").0, ["wind speed"]);
    let told = Format { separator: Some(Separator::Blanks), ..Format::default() };
    assert_eq!(
        complaint_with("x mu\n1 2\n3\n", &told),
        "table.csv, row 2 has 1 field, the header has 2; \
        fields lie between blanks: a text that holds blanks must be in quotes, and what is missing needs a mark such as NA"
    );
    let comma = Format { decimal_comma: true, ..Format::default() };
    assert_eq!(numbers_with("x  mu\n1,5  2\n-3  ,5\n", &comma), [[1.5, -3.0], [2.0, 0.5]]);
    // Whatever is read at once.
    let rows: String = (0..100_000).map(|row| format!("{row:>9} {:>9}   \n", row * 2)).collect();
    let read = numbers(format!("        a         b\n{rows}"));
    assert!(
        read[0]
            .iter()
            .zip(&read[1])
            .enumerate()
            .all(|(row, (a, b))| *a == row as f64 && *b == 2.0 * a)
    );
    assert_eq!(read[0].len(), 100_000);
}

#[test]
fn comments_above_the_header_and_everywhere() {
    let (names, notes, columns) = plain("# made by hand\n#x, y, z, and more\n\nx,mu\n1,2\n#3,4\n");
    assert_eq!((names.join(","), notes.len()), ("x,mu".into(), 0));
    assert_eq!(columns, [["1", "#3"], ["2", "4"]]);
    let percent = Format { comment: Some(b'%'), ..Format::default() };
    let (_, _, columns) = seen("t", b"% a\nx,mu\n1,2\n% b, c\n  %\n3,4\n", &percent);
    assert_eq!(columns, [["1", "3"], ["2", "4"]]);
    // As NumPy writes names, with blanks and with commas.
    for text in ["# by hand\n# x mu y\n1.0 2.0 3.0\n4 5 6\n", "#x,mu,y\n1,2,3\n"] {
        let (names, notes, _) = plain(text);
        assert_eq!(names, ["x", "mu", "y"]);
        assert_eq!(
            notes,
            [
                "t.csv: the names of the columns are those of the comment above them, which begins with \"x\""
            ]
        );
    }
    // A name may be a hash.
    assert_eq!(plain("#,mu\n1,2\n").0, ["#", "mu"]);
    assert_eq!(plain("#1,#2\na,b\n").0, ["a", "b"]);
}

#[test]
fn lines_above_the_header() {
    for (text, note) in [
        (
            "Station Berlin\nx,mu,y\n1,2,3\n",
            "a line above the header is left out: \"Station Berlin\"",
        ),
        (
            "Station Berlin,,\n,,\nx,mu,y\n1,2,3\n4,5,6\n",
            "2 lines above the header are left out, the first of them \"Station Berlin\"",
        ),
        ("Station;Berlin\nHeight;34\n\nx;mu;y;z\n1;2;3;4\n", "2 lines above"),
        (
            "Data of January, by hand\nx mu  y\n1 2 3\n4 5 6\n",
            "a line above the header is left out: \"Data of January, by hand\"",
        ),
    ] {
        let (names, notes, columns) = plain(text);
        assert_eq!(names[..3], ["x", "mu", "y"], "{text}");
        assert!(notes.len() == 1 && notes[0].contains(note), "{notes:?}");
        assert_eq!(columns[0][0], "1");
    }
    // Lines that do not fit are no titles.
    let ragged = "table.csv, row 1 has 2 fields, the header has 3";
    assert!(complaint("x,mu,y\n1,2\n3,4,5\n").starts_with(ragged));
    assert!(complaint("x,mu\nx,mu,y\n1,2,3\n").contains("row 1 has 3 fields, the header has 2"));
    assert_eq!(plain("x,mu\n1,2\nx,mu\n1,2\n").1.len(), 0);
}

#[test]
fn units_under_the_header() {
    let (names, notes, columns) =
        plain("time,t2m,wind,flag\nUTC,°C,m/s,-\n2024-01-01,1.5,3,0\n2024-01-02,NA,4,1\n");
    assert_eq!(names, ["time", "t2m", "wind", "flag"]);
    assert_eq!(notes, ["t.csv: the line under the header holds units (°C, m/s) and is left out"]);
    assert_eq!(columns[1], ["1.5", "NA"]);
    assert_eq!(plain("x  mu\nm  degC\n1  2\n").2, [["1"], ["2"]]);
    // Marks are no units, and neither are names.
    for text in ["x,mu\nM,M\n1,2\n", "x,mu\nlow,high\n1,2\n", "x,mu\nm,2\n1,2\n", "name,mu\nm,K\n"]
    {
        assert!(plain(text).1.is_empty(), "{text}");
    }
}

#[test]
fn json_lines_and_lists() {
    let lines = "{\"x\": 1, \"mu\": 2.5, \"n\": \"a \\\"b\\\"\\u00e9\"}\n\
                 {\"mu\": null, \"n\": \"tab\\there\", \"x\": -3e2}\n\n{\"x\":NaN,\"late\":true}\n";
    let list = format!("[{}]", lines.trim().replace("\n\n", "\n").replace('\n', ",\n"));
    for text in [lines, &list, &format!("\u{feff}{lines}")] {
        let (names, _, columns) = plain(text);
        assert_eq!(names, ["x", "mu", "n", "late"]);
        assert_eq!(columns[0], ["1", "-3e2", "NaN"]);
        assert_eq!(columns[1], ["2.5", "", ""]);
        assert_eq!(columns[2], ["a \"b\"é", "tab\there", ""]);
        assert_eq!(columns[3], ["", "", "true"]);
    }
    // A row of one gap is a row.
    assert_eq!(plain("{\"x\":1}\n{\"x\":null}\n{\"x\":3}\n").2, [["1", "", "3"]]);
    let comma = Format { decimal_comma: true, ..Format::default() };
    assert_eq!(numbers_with("{\"x\":1.5,\"y\":\"2,5\"}", &comma), [[1.5], [2.5]]);
    // Values known for many rows, whatever is read at once.
    let many: String =
        (0..50_000).map(|row| format!("{{\"y\":{},\"x\":{row}}}\n", row as f64 / 7.0)).collect();
    let read = numbers(&many);
    assert!((0..50_000).all(|row| read[0][row] == row as f64 / 7.0 && read[1][row] == row as f64));

    for (text, why) in [
        (
            "{\"x\":1}\n{\"x\":[1,2]}\n",
            "table.csv, row 2, column \"x\" holds a list: write one flat object",
        ),
        ("{\"x\":{\"a\":1}}\n", "table.csv, row 1, column \"x\" holds an object: "),
        ("{\"x\":1}\n{\"x\":2", "table.csv, row 2: the JSON ends within an object"),
        (
            "{\"x\":1}\n{\"x\":two}\n",
            "table.csv, row 2 is no object of JSON: a value must stand where \"two}\" stands",
        ),
        (
            "{\"x\":1}\nx,y\n",
            "table.csv, row 2 is no object of JSON: an object in braces must stand where \"x,y\" stands",
        ),
        ("{\"x\":1,\"x\":2}\n", "table.csv, row 1 has the field \"x\" twice"),
        ("[]", "table.csv holds no fields"),
        ("[[1,2],[3,4]]", "table.csv, row 1 is no object of JSON"),
    ] {
        assert!(complaint(text).starts_with(why), "{}", complaint(text));
    }
    let far = format!("{}{{\"x\":1,\"new\":2}}\n", "{\"x\":1234567890}\n".repeat(600_000));
    assert!(
        complaint(far)
            .contains("row 600001 has a field \"new\" that no row near the beginning has")
    );
}

/// What another reader of JSON makes of what is written, and this one.
#[test]
fn json_lines_are_written() {
    let table =
        "x,n,code,half way\n1,a,007,0.1\n,\"b \"\"c\"\"\n\",1,-1e300\nNA,é\\,,inf\n4,d,3,5\n";
    let from = file(table);
    for name in ["out.jsonl", "out.ndjson.gz", "out.jsonl.zst"] {
        let to = from.other(name);
        copy(&from.path, &Format::default(), &to).unwrap();
        let table = Table::open(&to, &Format::default()).unwrap();
        assert_eq!(table.header(), ["x", "n", "code", "half way", "half", "even"]);
        let all: Vec<usize> = (0..6).collect();
        let columns = table.read(&[], &all, &mut |_| false).unwrap();
        let columns: Vec<Vec<String>> = columns.texts.iter().map(spelled).collect();
        assert_eq!(columns[0], ["1", "", "", "4"]);
        assert_eq!(columns[1], ["a", "b \"c\"", "é\\", "d"]);
        assert_eq!(columns[2], ["007", "1", "", "3"]);
        assert_eq!(columns[3], ["0.1", "-1e+300", "1e999", "5.0"]);
        assert_eq!(columns[5], ["false", "true", "", "true"]);
    }
    let text = std::fs::read_to_string(from.other("out.jsonl")).unwrap();
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        "{\"x\":1,\"n\":\"a\",\"code\":\"007\",\"half way\":0.1,\"half\":0.5,\"even\":false}"
    );
    assert!(text.lines().nth(2).unwrap().ends_with("\"half\":null,\"even\":null}"));
}

/// Tables without separators of their own are written with commas, or with tabs where the name says so.
#[test]
fn tables_of_other_forms_as_text() {
    let expected = "x,mu,half,even\n1,2.5,0.5,false\n3,4,1.0,true\n";
    for text in ["x  mu\n1 2.5\n 3 4\n", "{\"x\":1,\"mu\":2.5}\n{\"x\":3,\"mu\":4}\n"] {
        let from = file(text);
        let written = |name: &str| {
            copy(&from.path, &Format::default(), &from.other(name)).unwrap();
            std::fs::read_to_string(from.other(name)).unwrap()
        };
        assert_eq!(written("out.csv"), expected);
        assert_eq!(written("out.tsv"), expected.replace(',', "\t"));
        // Packed, and read again.
        copy(&from.path, &Format::default(), &from.other("out.csv.zst")).unwrap();
        let again = Table::open(&from.other("out.csv.zst"), &Format::default()).unwrap();
        assert_eq!(again.read(&[], &[0], &mut |_| false).unwrap().rows, 2);
    }
    let semicolons = file("x;mu\n1;\"a;b\"\n");
    copy(&semicolons.path, &Format::default(), &semicolons.other("out.tsv")).unwrap();
    let written = std::fs::read_to_string(semicolons.other("out.tsv")).unwrap();
    assert_eq!(written, "x\tmu\thalf\teven\n1\ta;b\t0.5\tfalse\n");
    let comma = Format { decimal_comma: true, ..Format::default() };
    let blanks = file("x  mu\n1,5  2\n");
    copy(&blanks.path, &comma, &blanks.other("out.csv")).unwrap();
    let written = std::fs::read_to_string(blanks.other("out.csv")).unwrap();
    assert_eq!(written, "x;mu;half;even\n1,5;2;0,5;false\n");
}
