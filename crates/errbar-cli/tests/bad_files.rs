//! Files as people have them: what is no table is said by its content, with the way out; odd tables are used as they were meant.

use std::io::Write as _;

use crate::bad_input::{Models, case, check_all, gzipped, judged};
use crate::common::{errbar_with, table};
use zip::write::{SimpleFileOptions, ZipWriter};

const FORECASTS: &[u8] = include_bytes!("../../errbar-table/src/tests/files/forecasts.xlsx");
const OPEN: &[u8] = include_bytes!("../../errbar-table/src/tests/files/forecasts.ods");
const XZ: &[u8] = include_bytes!("../../errbar-table/src/tests/files/table.csv.xz");
const BZ2: &[u8] = include_bytes!("../../errbar-table/src/tests/files/table.csv.bz2");
const ZSTD: &[u8] = include_bytes!("../../errbar-table/src/tests/files/table.csv.zst");

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(vec![]));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Bytes at a place, zeros before and some after.
fn at(place: usize, mark: &[u8]) -> Vec<u8> {
    [&vec![0; place][..], mark, &[0, 1, 2, 3, 0, 0]].concat()
}

#[test]
fn what_is_no_table_by_its_content() {
    let mark = |mark: &[u8]| at(0, mark);
    let files: Vec<(&str, Vec<u8>, &str)> = vec![
        ("PDF", mark(b"%PDF-1.7\n%\xe2\xe3"), "t.csv is a PDF file; give a CSV file"),
        (
            "a page",
            b"<!DOCTYPE html>\n<html><body>404".to_vec(),
            "t.csv is a page of HTML and no table",
        ),
        (
            "a table of HTML",
            b"\n <TABLE border=1><tr><td>x</td></tr>".to_vec(),
            "open it in a browser, and download the file itself",
        ),
        (
            "XML",
            b"<?xml version=\"1.0\"?><rows/>".to_vec(),
            "t.csv is an XML file; save the table as CSV",
        ),
        (
            "a spreadsheet of 2003",
            b"<?xml version=\"1.0\"?>\n<?mso-application progid=\"Excel.Sheet\"?>".to_vec(),
            "t.csv is a spreadsheet as XML of 2003; open it and save it as .xlsx",
        ),
        ("RTF", b"{\\rtf1 text}".to_vec(), "t.csv is a text document"),
        ("PNG", mark(b"\x89PNG\r\n\x1a\n"), "t.csv is an image and no table"),
        ("JPEG", mark(b"\xff\xd8\xff\xe0"), "t.csv is an image"),
        (
            "Arrow",
            mark(b"ARROW1\0\0"),
            "t.csv is an Arrow or Feather file; save it as Parquet (in Python: pyarrow.feather.read_table",
        ),
        (
            "an Arrow stream",
            mark(b"\xff\xff\xff\xff\x10\x01"),
            "t.csv is a stream of Arrow batches; save it as Parquet (in Python",
        ),
        ("Feather", mark(b"FEA1"), "t.csv is an old Feather file; save it as Parquet"),
        ("ORC", mark(b"ORC\x08"), "t.csv is an ORC file; save it as Parquet"),
        ("Avro", mark(b"Obj\x01"), "t.csv is an Avro file"),
        ("NumPy", mark(b"\x93NUMPY\x01"), "t.csv is an array of NumPy; save it as CSV with names"),
        (
            "arrays of NumPy",
            zipped(&[("arr_0.npy", "x"), ("arr_1.npy", "y")]),
            "t.csv is an archive of NumPy",
        ),
        (
            "a pickle",
            b"\x80\x05\x95\x10\x00\x00\x00\x00\x00\x00\x00}".to_vec(),
            "t.csv is a pickle of Python, which may run any code",
        ),
        (
            "NetCDF",
            mark(b"CDF\x02"),
            "t.csv is a NetCDF file; save the table as Parquet or CSV (in Python: xarray",
        ),
        (
            "GRIB",
            mark(b"GRIB\0\0\x10\x02"),
            "t.csv is a GRIB file; save the points you want as CSV",
        ),
        ("BUFR", mark(b"BUFR\0\0\x10\x04"), "t.csv is a BUFR file"),
        (
            "FITS",
            b"SIMPLE  =                    T".to_vec(),
            "t.csv is a FITS file; save the table as CSV (in Python: astropy",
        ),
        (
            "MATLAB",
            b"MATLAB 5.0 MAT-file, Platform".to_vec(),
            "t.csv is a MAT file of MATLAB; save the table there with writetable",
        ),
        (
            "Stata",
            b"<stata_dta><header>".to_vec(),
            "t.csv is a Stata file; save it as CSV or Parquet (in Python: pandas.read_stata",
        ),
        ("old Stata", mark(b"\x72\x02\x01\x00"), "t.csv is a Stata file"),
        ("SPSS", mark(b"$FL2@(#)"), "t.csv is an SPSS file"),
        ("SAS", at(12, b"\xc2\xea\x81\x60\xb3\x14\x11\xcf"), "t.csv is a SAS file; save it as CSV"),
        (
            "SAS transport",
            b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!".to_vec(),
            "t.csv is a SAS file",
        ),
        (
            "R",
            gzipped(b"X\n\x00\x00\x00\x03\x00\x04\x01\x02"),
            "t.csv is a data file of R; save it there with write.csv",
        ),
        ("7z", mark(b"7z\xbc\xaf\x27\x1c"), "t.csv is a 7z archive"),
        ("RAR", mark(b"Rar!\x1a\x07\x01"), "t.csv is a RAR archive"),
        (
            "tar",
            gzipped(&[&b"t.csv"[..], &[0; 252], b"ustar\x0000", &[0; 200]].concat()),
            "t.csv is a tar archive; unpack it first, with tar -xf",
        ),
        ("lz4", mark(b"\x04\x22\x4d\x18"), "t.csv is compressed with lz4; unpack it with lz4 -d"),
        ("compress", mark(b"\x1f\x9d\x90"), "t.csv is compressed with compress (.Z)"),
        ("lzip", mark(b"LZIP\x01\x0c"), "t.csv is compressed with lzip"),
        ("DuckDB", at(8, b"DUCK"), "t.csv is a DuckDB database; save the table with COPY"),
        ("Access", at(4, b"Standard ACE DB"), "t.csv is a database of Access"),
        (
            "Git LFS",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n".to_vec(),
            "t.csv is the place of a file that Git LFS has not fetched; fetch it with git lfs pull",
        ),
        ("a dump", b"-- MySQL dump 10.13\n".to_vec(), "t.csv is a dump of a database"),
        (
            "a zip of two files",
            zipped(&[("a.csv", "x"), ("b.csv", "y")]),
            "t.csv is a zip archive of 2 files (a.csv, b.csv); unpack it first",
        ),
        (
            "a document",
            zipped(&[("word/document.xml", "<x/>")]),
            "t.csv is a document of Office and no spreadsheet",
        ),
        ("an empty zip", zipped(&[]), "t.csv is an empty zip archive"),
        (
            "a spreadsheet cut short",
            FORECASTS[..4000].to_vec(),
            "t.csv is a zip archive or a spreadsheet, and damaged or cut short",
        ),
        (
            "an old spreadsheet",
            mark(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
            "t.csv is an old Excel workbook (.xls) or one with a password; save it as .xlsx",
        ),
        (
            "an open document cut short",
            OPEN[..1000].to_vec(),
            "t.csv is a zip archive or a spreadsheet, and damaged",
        ),
        (
            "a spreadsheet in gzip",
            gzipped(FORECASTS),
            "t.csv is a zip archive or a spreadsheet compressed with gzip; unpack it with gunzip first",
        ),
        (
            "a spreadsheet without a workbook",
            zipped(&[("xl/workbook.xml", "<workbook>")]),
            "cannot read t.csv: the spreadsheet is damaged or of a kind that is not known",
        ),
        (
            "xz cut short",
            XZ[..100].to_vec(),
            "cannot unpack t.csv: the xz data is damaged or cut short",
        ),
        (
            "bzip2 cut short",
            BZ2[..80].to_vec(),
            "cannot unpack t.csv: the bzip2 data is damaged or cut short",
        ),
        (
            "zstd cut short",
            ZSTD[..ZSTD.len() - 2].to_vec(),
            "cannot unpack t.csv: the zstd data is damaged or cut short",
        ),
    ];
    let cases: Vec<_> = files
        .into_iter()
        .map(|(name, bytes, says)| {
            case(name, "fit t.csv -o out.json", 1, &[says]).with("t.csv", bytes)
        })
        .collect();
    assert!(cases.len() > 40);
    check_all(&cases, &Models::new());
}

#[test]
fn tables_of_other_forms_that_are_broken() {
    let fit = |name, line: &str, says: &[&'static str], text: String| {
        case(name, &format!("fit t.csv -o out.json {line}"), 1, says).with("t.csv", text)
    };
    let json: String = table(60)
        .lines()
        .skip(1)
        .map(|line| {
            let [x, mu, y] = <[&str; 3]>::try_from(line.split(',').collect::<Vec<_>>()).unwrap();
            format!("{{\"x\":{x},\"mu\":{mu},\"y\":{y}}}\n")
        })
        .collect();
    let blanks = table(60).replace(',', "   ");
    let row = |text: &str, row: usize, with: &str| {
        let lines = text.lines().enumerate();
        lines
            .map(|(i, line)| if i == row { with } else { line }.to_string() + "\n")
            .collect::<String>()
    };
    let units = table(60).replacen('\n', "\nm,m/s,m/s\n", 1);
    let cases = [
        fit(
            "a list in a row",
            "",
            &["t.csv, row 5, column \"mu\" holds a list: write one flat object"],
            row(&json, 4, "{\"x\":1,\"mu\":[1,2],\"y\":3}"),
        ),
        fit(
            "GeoJSON",
            "",
            &["t.csv, row 1, column \"features\" holds a list"],
            "{\"type\": \"FeatureCollection\", \"features\": []}".into(),
        ),
        fit(
            "a broken row",
            "",
            &["t.csv, row 7 is no object of JSON: a value must stand where \"x}\" stands"],
            row(&json, 6, "{\"x\":x}"),
        ),
        fit(
            "the last object cut short",
            "",
            &["t.csv, row 60: the JSON ends within an object"],
            json[..json.len() - 4].into(),
        ),
        fit(
            "a field twice",
            "",
            &["t.csv, row 3 has the field \"x\" twice"],
            row(&json, 2, "{\"x\":1,\"x\":2}"),
        ),
        fit("a list of lists", "", &["t.csv, row 1 is no object of JSON"], "[[1,2],[3,4]]".into()),
        fit(
            "no fields",
            "",
            &["t.csv holds no fields; write one flat object a line"],
            "[{}]".into(),
        ),
        fit(
            "a text in JSON",
            "",
            &["t.csv, row 2, column \"y\": \"wet\" is not a number"],
            row(&json, 1, "{\"x\":1,\"mu\":2,\"y\":\"wet\"}"),
        ),
        fit(
            "a gap among blanks",
            "",
            &["t.csv, row 30 has 2 fields, the header has 3; fields lie between blanks"],
            row(&blanks, 30, "1    2"),
        ),
        fit(
            "times with blanks",
            "--separator whitespace",
            &[
                "t.csv, row 1 has 4 fields, the header has 3; fields lie between blanks: a text that holds blanks must be in quotes",
            ],
            "time mu y\n2024-01-01 00:00 1 2\n".into(),
        ),
        fit(
            "a text under units",
            "",
            &["t.csv, row 2, column \"mu\": \"abc\" is not a number"],
            row(&units, 3, "1,abc,3"),
        ),
        fit(
            "nothing but comments",
            "",
            &["t.csv is empty; a header with the names"],
            "# x,mu,y\n# that is all\n".into(),
        ),
        fit(
            "a comment among rows",
            "",
            &["t.csv, row 2 has 1 field, the header has 3"],
            row(&table(60), 2, "# checked by hand"),
        ),
        case(
            "a sheet that is not there",
            "fit t.xlsx -o out.json --sheet Dta",
            1,
            &["t.xlsx has no sheet \"Dta\"; it has \"Old\", \"Info\", \"Data\", \"More\""],
        )
        .with("t.xlsx", FORECASTS),
        case(
            "a sheet of text",
            "fit t.xlsx -o out.json --sheet 2",
            1,
            &["t.xlsx has no column named observation or y"],
        )
        .with("t.xlsx", FORECASTS),
        case(
            "a text in a sheet",
            "fit t.xlsx -o out.json --inputs mu --weight station",
            1,
            &["t.xlsx, row 1, column \"station\": \"Berlin\" is not a number"],
        )
        .with("t.xlsx", FORECASTS),
        case(
            "a spreadsheet from a pipe",
            "score - --sigma sd",
            1,
            &["standard input has no column \"sd\". It has: time, day, station"],
        )
        .input(FORECASTS),
        case("no sheet", "fit good.csv --sheet 0", 2, &["'0'", "--sheet", "counted from 1"]),
        case(
            "a comment of two letters",
            "fit good.csv --comment //",
            2,
            &["'//'", "--comment", "one character"],
        ),
        case(
            "a separator unknown",
            "fit good.csv --separator spaces",
            2,
            &["'spaces'", "whitespace (any number of blanks)"],
        ),
    ];
    check_all(&cases, &Models::new());
}

/// The same table in other forms is judged alike.
#[test]
fn odd_files_are_used_as_they_were_meant() {
    let folder = tempfile::tempdir().unwrap();
    let score = |name: &str, options: &[&str], bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let ran =
            errbar_with(folder.path(), b"", [&["score", name, "--json"], options].concat()).well();
        let mut json: serde_json::Value = serde_json::from_str(&ran.printed()).unwrap();
        for varies in ["file", "notes"] {
            json.as_object_mut().unwrap().remove(varies).unwrap();
        }
        (json, ran.stderr)
    };
    let csv = judged("1", None);
    let (expected, _) = score("plain.csv", &[], csv.as_bytes());
    assert_eq!(expected["rows"], 60);
    let pack = |kind: &str| -> Vec<u8> {
        match kind {
            "zst" => zstd_of(&csv),
            _ => gzipped(csv.as_bytes()),
        }
    };
    let json: String = csv
        .lines()
        .skip(1)
        .map(|line| {
            let values: Vec<&str> = line.split(',').collect();
            format!(
                "{{\"sigma\":{},\"y\":{},\"mu\":{},\"x\":{}}}\n",
                values[3], values[2], values[1], values[0]
            )
        })
        .collect();
    let list = format!("[\n{}]", json.trim().replace('\n', ",\n"));
    let aligned: String = csv
        .lines()
        .map(|line| line.split(',').map(|field| format!("{field:>25}")).collect::<String>() + "\n")
        .collect();
    for (name, options, text, says) in [
        ("lines.jsonl", vec![], json.clone(), ""),
        ("list.json", vec![], list, ""),
        ("aligned.txt", vec![], aligned.clone(), ""),
        ("told.txt", vec!["--separator", "whitespace"], aligned.clone(), ""),
        ("commented.csv", vec![], format!("# made by hand\n{csv}"), ""),
        (
            "numpy.txt",
            vec![],
            format!("# made by hand\n# {}", aligned.trim_start()),
            "the names of the columns are those of the comment",
        ),
        (
            "titled.csv",
            vec![],
            format!("Forecasts of January,,,\n\n{csv}"),
            "a line above the header is left out: \"Forecasts of January\"",
        ),
        (
            "units.csv",
            vec![],
            csv.replacen('\n', "\nm,m s-1,m/s,-\n", 1),
            "the line under the header holds units (m, m s-1, m/s)",
        ),
        ("remarks.csv", vec!["--comment", "%"], csv.replace("\n1", "\n% a remark, by hand\n1"), ""),
    ] {
        let (found, said) = score(name, &options, text.as_bytes());
        assert!(found == expected, "{name}: {said}");
        assert!(said.contains(says), "{name}: {said}");
    }
    for kind in ["zst", "gz"] {
        assert!(score(&format!("packed.{kind}"), &[], &pack(kind)).0 == expected, "{kind}");
    }
    // Written in every form, and judged again.
    std::fs::write(folder.path().join("model.json"), {
        let fit = ["fit", "plain.csv", "--inputs", "x", "-o", "fit.json", "-q"];
        errbar_with(folder.path(), b"", fit).well();
        std::fs::read(folder.path().join("fit.json")).unwrap()
    })
    .unwrap();
    let mut judged = vec![];
    for name in ["a.csv", "b.tsv", "c.jsonl", "d.ndjson.zst", "e.parquet", "f.csv.gz"] {
        let line = ["predict", "plain.csv", "-m", "model.json", "--prefix", "new_", "-o", name];
        errbar_with(folder.path(), b"", line).well();
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        judged.push(score(name, &["--sigma", "new_sigma"], &bytes).0);
    }
    assert!(judged.iter().all(|scores| *scores == judged[0]));
    // Dates of a spreadsheet are times.
    std::fs::write(folder.path().join("t.xlsx"), FORECASTS).unwrap();
    let ran = errbar_with(
        folder.path(),
        b"",
        ["score", "t.xlsx", "--sigma", "mu", "--time", "time", "--no-intervals"],
    )
    .well();
    assert!(
        ran.stderr.contains("the sheet \"Data\" is read") && ran.stderr.contains("--sheet"),
        "{}",
        ran.stderr
    );
}

/// A frame of zstd with the text as it is, by the book (RFC 8878): one raw block.
fn zstd_of(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap();
    let mut frame = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    frame.extend(length.to_le_bytes());
    // The last block, raw.
    frame.extend(&((length << 3) | 1).to_le_bytes()[..3]);
    frame.extend(text.as_bytes());
    frame
}
