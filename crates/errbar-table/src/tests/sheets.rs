//! Spreadsheets that other programs wrote (make_files.py), and some that none would.

use std::io::Write;

use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

const XLSX: &[u8] = include_bytes!("files/forecasts.xlsx");
const MAC: &[u8] = include_bytes!("files/mac.xlsx");
const ODS: &[u8] = include_bytes!("files/forecasts.ods");

fn columns(file: &Fixture, format: &Format) -> (Vec<String>, Vec<Vec<String>>) {
    let table = Table::open(&file.path, format).unwrap();
    let header = table.header().to_vec();
    let all: Vec<usize> = (0..header.len()).collect();
    let columns = table.read(&[], &all, &mut |_| false).unwrap();
    (header, columns.texts.iter().map(spelled).collect())
}

fn sheet(name: &str) -> Format {
    Format { sheet: Some(name.into()), ..Format::default() }
}

#[test]
fn sheets_of_every_kind_say_the_same() {
    let times = [
        "2024-01-31T21:00:00",
        "2024-01-31T22:00:00",
        "2024-01-31T23:00:00",
        "2024-02-01",
        "2024-02-01T01:00:00",
        "2024-02-01T02:00:00",
    ];
    for bytes in [XLSX, MAC, ODS] {
        let (header, columns) = columns(&file(bytes), &Format::default());
        assert_eq!(header, ["time", "day", "station", "mu", "y", "wet"]);
        let midnight = |time: &String| time.strip_suffix("T00:00:00").unwrap_or(time).to_string();
        assert_eq!(columns[0].iter().map(midnight).collect::<Vec<_>>(), times);
        assert_eq!(
            columns[1],
            ["2024-01-31", "2024-01-31", "2024-01-31", "2024-02-01", "2024-02-01", "2024-02-01"]
        );
        assert_eq!(columns[2], ["Berlin", "Zürich", "Berlin", "tab here", "say \"hi\"", "Zürich"]);
        assert_eq!(columns[5], ["true", "false", "true", "false", "true", "false"]);
        let is_new = bytes == XLSX || bytes == MAC;
        let (mu, y) = match is_new {
            // Cells that hold errors, a text of digits, and nothing.
            true => (
                ["1.5", "#N/A", "3.5", "4.5", "7.25", "6.5"],
                ["0", "10", "#DIV/0!", "", "40", "50"],
            ),
            false => {
                (["1.5", "2.5", "3.5", "4.5", "5.5", "6.5"], ["0", "10", "20", "30", "40", "50"])
            }
        };
        assert_eq!(columns[3], mu);
        assert_eq!(columns[4], y);
    }
    let table = file(XLSX).open().unwrap();
    let wanted = [3, 4].map(|column| NumberColumn { column, required: true });
    let read = table.read(&wanted, &[], &mut |_| false).unwrap();
    let [mu, y] =
        <[Numbers; 2]>::try_from(read.numbers).ok().unwrap().map(|column| values(column).unwrap());
    assert_same(&mu, &[1.5, f64::NAN, 3.5, 4.5, 7.25, 6.5]);
    assert_same(&y, &[0.0, 10.0, f64::NAN, f64::NAN, 40.0, 50.0]);
}

#[test]
fn a_sheet_is_chosen_and_said() {
    let workbook = file(XLSX);
    let notes: Vec<String> =
        workbook.open().unwrap().notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].ends_with("the sheet \"Data\" is read, the first that holds a table; it also has \"Old\", \"Info\", \"More\""), "{notes:?}");
    assert!(
        notes[1].ends_with("a line above the header is left out: \"Forecasts of January\""),
        "{notes:?}"
    );
    for name in ["More", "more", "4"] {
        let (header, columns) = columns(&workbook, &sheet(name));
        assert_eq!(header, ["x", "mu", "y"]);
        assert_eq!(columns, [["1"], ["0.1"], ["1e+300"]]);
    }
    let said =
        |name: &str| workbook.shorten(&Table::open(&workbook.path, &sheet(name)).err().unwrap());
    assert_eq!(
        said("Mroe"),
        "table.csv has no sheet \"Mroe\"; it has \"Old\", \"Info\", \"Data\", \"More\""
    );
    assert_eq!(
        said("5"),
        "table.csv has no sheet \"5\"; it has \"Old\", \"Info\", \"Data\", \"More\""
    );
    assert!(file(ODS).open().unwrap().notes().is_empty());
}

/// A spreadsheet of one sheet, whose cells are given as XML.
fn workbook(rows: &str) -> Vec<u8> {
    let main = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
    let linked = "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
    let links = "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"";
    let of = |id, kind, target| {
        format!(
            "<Relationships {links}><Relationship Id=\"{id}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    zipped(&[
        ("_rels/.rels", &of("r0", "officeDocument", "xl/workbook.xml")),
        (
            "xl/workbook.xml",
            &format!(
                "<workbook {main} {linked}><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        ("xl/_rels/workbook.xml.rels", &of("r1", "worksheet", "worksheets/sheet1.xml")),
        (
            "xl/worksheets/sheet1.xml",
            &format!("<worksheet {main}><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ])
}

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(vec![]));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn spreadsheets_that_no_program_would_write() {
    let text = |cell: &str, text: &str| {
        format!("<c r=\"{cell}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
    };
    let header = format!("<row r=\"1\">{}{}</row>", text("A1", "x"), text("B1", "mu"));
    let good = workbook(&format!(
        "{header}<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\"><v>2.5</v></c></row>"
    ));
    assert_eq!(numbers(&good), [[1.0], [2.5]]);
    // Two cells at opposite corners, and a column of cells beside one far away.
    let corners =
        workbook(&format!("{header}<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>"));
    assert_eq!(file(&corners).open().unwrap().header().len(), 16384);
    let rows: String = (2..5000)
        .map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\"><v>1</v></c></row>"))
        .collect();
    let apart =
        workbook(&format!("{header}{rows}<row r=\"6000\"><c r=\"XFD6000\"><v>1</v></c></row>"));
    assert_eq!(
        complaint(&apart),
        "table.csv, sheet \"S\": its 5000 rows and 16384 columns hold only 5001 cells; keep the table alone on its sheet"
    );
    // Nothing, and what is no spreadsheet.
    assert_eq!(complaint(workbook("")), "table.csv has nothing in its sheets \"S\"");
    for (files, said) in [
        (
            vec![("a.csv", "x,y\n1,2\n"), ("b.csv", "x\n1\n")],
            "table.csv is a zip archive of 2 files (a.csv, b.csv); unpack it first, with unzip",
        ),
        (
            vec![("word/document.xml", "<x/>")],
            "table.csv is a document of Office and no spreadsheet; save its table as CSV or .xlsx",
        ),
        (
            vec![("arr_0.npy", "")],
            "table.csv is an archive of NumPy; save its arrays as the columns of a CSV or Parquet file",
        ),
        (
            vec![("xl/workbook.xml", "<workbook>")],
            "cannot read table.csv: the spreadsheet is damaged or of a kind that is not known (",
        ),
    ] {
        let said_now = complaint(zipped(&files));
        assert!(said_now.starts_with(said), "{said_now}");
    }
    for bytes in [XLSX, ODS] {
        let said = complaint(&bytes[..bytes.len() / 3]);
        assert!(said.contains("damaged"), "{said}");
    }
}

/// A small file can stand for more cells than any memory holds.
#[test]
fn an_open_document_that_repeats_itself() {
    let row = "<table:table-row table:number-rows-repeated=\"1000000\"><table:table-cell \
               table:number-columns-repeated=\"10000\" office:value-type=\"float\" office:value=\"1\"/></table:table-row>";
    let content = format!("<a><table:table table:name=\"S\">{row}</table:table></a>");
    let bytes = zipped(&[("META-INF/manifest.xml", "<manifest/>"), ("content.xml", &content)]);
    let said = complaint(bytes);
    assert!(said.contains("table.csv is a spreadsheet of 10000000000 cells"), "{said}");
}

/// Any few bytes of a spreadsheet may be wrong.
#[test]
fn damaged_spreadsheets_are_read_or_refused() {
    let mut state = 7u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % limit
    };
    let mut refused = 0;
    for round in 0..120 {
        let mut bytes = [XLSX, ODS][round % 2].to_vec();
        for _ in 0..=below(4) {
            let place = below(bytes.len());
            bytes[place] = below(256) as u8;
        }
        let file = file(&bytes);
        if let Err(error) = file.open().and_then(|table| table.read(&[], &[0], &mut |_| false)) {
            refused += 1;
            assert!(!file.shorten(&error).contains('\n'), "{error}");
        }
    }
    assert!(refused > 20, "{refused}");
}
