//! Any bytes as a table: however they are read, the same comes out, and nothing panics.

use std::io::Write;
use std::path::Path;
use std::sync::PoisonError;

use crate::csv::blocks::Sizes;
use crate::json;
use crate::packed::Packing;
use crate::stream::Streamed;
use crate::table::Opened;
use crate::{
    Format, NewColumn, NewKind, NewValues, NumberColumn, Numbers, Separator, Sink, Stream, Table,
    Texts,
};

/// Reads bytes as a column of times in every way there is.
///
/// # Panics
/// If the ways differ. That is a bug.
pub fn check_dates(bytes: &[u8]) {
    crate::dates::fuzzing::check(bytes);
}

/// Reads bytes as the parts of a spreadsheet: the first byte says of which kind, zeros lie between its sheet, its strings
/// and its styles. Packed and with their sums, parts would hardly ever be changed and still be read.
///
/// # Panics
/// If the ways to read it differ. That is a bug.
pub fn check_sheet(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let mut parts = rest.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let mut part = || parts.next().unwrap_or_default();
    let (sheet, strings, styles) = (part(), part(), part());
    let link = |id: &str, kind: &str, target: &str| {
        format!(
            "<Relationship Id=\"{id}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}\" \
             Target=\"{target}\"/>"
        )
    };
    let links = |links: &str| format!("<Relationships>{links}</Relationships>").into_bytes();
    let files = match kind {
        b'o' => vec![("META-INF/manifest.xml", b"<manifest/>".to_vec()), ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet".to_vec()), ("content.xml", sheet)],
        _ => vec![
            ("_rels/.rels", links(&link("r0", "officeDocument", "xl/workbook.xml"))),
            (
                "xl/workbook.xml",
                b"<workbook><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>".to_vec(),
            ),
            (
                "xl/_rels/workbook.xml.rels",
                links(
                    &(link("r1", "worksheet", "worksheets/sheet1.xml")
                        + &link("r2", "sharedStrings", "sharedStrings.xml")
                        + &link("r3", "styles", "styles.xml")),
                ),
            ),
            ("xl/worksheets/sheet1.xml", sheet),
            ("xl/sharedStrings.xml", strings),
            ("xl/styles.xml", styles),
        ],
    };
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in files {
        let written = writer.start_file(name, stored).is_ok() && writer.write_all(&bytes).is_ok();
        assert!(written, "a part of a spreadsheet is written");
    }
    if let Ok(zipped) = writer.finish() {
        check(&zipped.into_inner());
    }
}

/// Whether bytes begin as compressed files do.
#[must_use]
pub fn is_packed(bytes: &[u8]) -> bool {
    Packing::of(bytes).is_some()
}

/// Whether bytes begin as JSON does.
#[must_use]
pub fn is_json(bytes: &[u8]) -> bool {
    json::is_json(bytes)
}

/// Reads bytes as a table in every way there is.
///
/// # Panics
/// If the ways differ. That is a bug.
pub fn check(bytes: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let is_parquet = bytes.starts_with(b"PAR1");
    let copy = if is_parquet { "copy.parquet" } else { "copy.csv" };
    let (path, copy) = (folder.path().join("table"), folder.path().join(copy));
    if std::fs::write(&path, bytes).is_err() {
        return;
    }
    // All at once; the usual blocks are larger, and making room for them takes most of the time.
    let large = Sizes { block: 1 << 16, piece: 1 << 14, record: 1 << 20 };
    // Cuts anywhere, the same for the same bytes.
    let small = Sizes { block: 1 + bytes.len() % 61, piece: 1 + bytes.len() % 13, record: 1 << 20 };
    let comma = Format { separator: None, decimal_comma: true, ..Format::default() };
    let told = Format {
        separator: Some(Separator::Byte(b'|')),
        decimal_comma: false,
        ..Format::default()
    };
    let blanks =
        Format { separator: Some(Separator::Blanks), comment: Some(b'%'), ..Format::default() };
    for format in [Format::default(), comma, told, blanks] {
        let whole = read(&path, &format, large);
        let in_parts = read(&path, &format, small);
        // Where packed data or JSON ends too soon, rows before that may be wrong in their own way.
        let may_end = is_packed(bytes) || is_json(bytes);
        let cut_short = may_end && whole.is_err() && in_parts.is_err();
        assert!(
            cut_short || whole == in_parts,
            "{whole:?} read whole, {in_parts:?} in small blocks"
        );
        let Ok(whole) = whole else {
            // A Parquet file can be copied without a look at all of its values.
            let copied = stream(&path, &format, &[], large);
            assert!(copied.is_err() || is_parquet, "read whole it fails");
            continue;
        };
        let values = |(&place, numbers)| Some((place, Result::as_ref(numbers).ok()?));
        let (numbers, expected): (Vec<usize>, Vec<&Vec<u64>>) =
            whole.places.iter().zip(&whole.numbers).filter_map(values).unzip();
        for sizes in [large, small] {
            let (rows, streamed) = match stream(&path, &format, &numbers, sizes) {
                Ok(streamed) => streamed,
                // A stream keeps all columns, those that cannot be read and may be damaged, too.
                Err(_) if is_parquet => continue,
                Err(why) => panic!("read whole it does not fail: {why}"),
            };
            assert_eq!(rows, whole.rows, "rows read whole and as a stream");
            assert!(streamed.iter().eq(expected.iter().copied()), "numbers as a stream");
        }
        // Without the blank lines before it, a name may look like the mark of another kind of file.
        let first = bytes.iter().find(|byte| !b" \t".contains(byte));
        if !matches!(first, Some(b'\n' | b'\r')) {
            written(&path, &format, large, &whole, &copy);
            if !is_parquet && whole.rows > 0 {
                written(&path, &format, large, &whole, &folder.path().join("copy.jsonl"));
            }
        }
    }
}

/// A table as it was read, to be compared. Numbers are their bits, missing ones all alike.
#[derive(Debug, PartialEq)]
struct TableAsRead {
    rows: u64,
    /// Where the columns that can be read stand.
    places: Vec<usize>,
    names: Vec<String>,
    /// Or the first value that is no number, and its row.
    numbers: Vec<Result<Vec<u64>, (String, u64)>>,
    texts: Vec<Vec<String>>,
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
}

fn is_parquet(table: &Table) -> bool {
    !matches!(table.0, Opened::Csv(_))
}

fn said(error: &crate::Error) -> String {
    let text = format!("{error:#}");
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?} is no sentence");
    text
}

fn read(path: &Path, format: &Format, sizes: Sizes) -> Result<TableAsRead, String> {
    let read = || -> crate::Result<TableAsRead> {
        let mut table = Table::open(path, format)?;
        set_sizes(&mut table, sizes);
        let names = table.header().to_vec();
        // Lists and structures can be copied, not read.
        let is_plain = |column: &usize| {
            let table = Table::open(path, format);
            table.is_ok_and(|table| table.read(&[], &[*column], &mut |_| false).is_ok())
        };
        let mut places: Vec<usize> = (0..names.len()).collect();
        if is_parquet(&table) {
            places.retain(is_plain);
        }
        let names: Vec<String> = places.iter().map(|&column| names[column].clone()).collect();
        let tried: Vec<NumberColumn> =
            places.iter().map(|&column| NumberColumn { column, required: false }).collect();
        let columns = table.read(&tried, &places, &mut |_| false)?;
        let number = |numbers: &Numbers| match numbers {
            Numbers::Values(values) => Ok(bits(values)),
            Numbers::NotNumbers { value, row } => Err((value.clone(), *row)),
        };
        let text = |texts: &Texts| -> Vec<String> {
            texts.rows.iter().map(|&row| texts.values[row as usize].clone()).collect()
        };
        let rows = columns.rows as u64;
        let seen = TableAsRead {
            rows,
            places,
            names,
            numbers: columns.numbers.iter().map(number).collect(),
            texts: columns.texts.iter().map(text).collect(),
        };
        assert!(seen.texts.iter().all(|texts| texts.len() as u64 == rows), "a text for each row");
        let numbers = seen.numbers.iter().flatten();
        assert!(numbers.into_iter().all(|values| values.len() as u64 == rows), "or a number");
        Ok(seen)
    };
    read().map_err(|error| said(&error))
}

fn set_sizes(table: &mut Table, sizes: Sizes) {
    if let Opened::Csv(csv) = &mut table.0 {
        csv.blocks.set_sizes(sizes);
    }
}

fn opened(path: &Path, format: &Format, numbers: &[usize], sizes: Sizes) -> crate::Result<Stream> {
    let mut stream = Table::open(path, format)?.stream(numbers, &[])?;
    if let Streamed::Csv(csv) = &mut stream.now {
        csv.blocks.get_mut().unwrap_or_else(PoisonError::into_inner).set_sizes(sizes);
    }
    Ok(stream)
}

/// The number of rows, and the numbers of these columns.
fn stream(
    path: &Path,
    format: &Format,
    numbers: &[usize],
    sizes: Sizes,
) -> Result<(u64, Vec<Vec<u64>>), String> {
    let read = || -> crate::Result<(u64, Vec<Vec<u64>>)> {
        let mut stream = opened(path, format, numbers, sizes)?;
        let (mut rows, mut all) = (0, vec![Vec::new(); numbers.len()]);
        while let Some(batch) = stream.next_batch()? {
            assert_eq!(batch.first_row, rows + 1, "the number of the first row of a batch");
            rows += batch.rows as u64;
            for (all, some) in all.iter_mut().zip(&batch.numbers) {
                assert_eq!(some.len(), batch.rows, "a number for each row of a batch");
                all.extend(bits(some));
            }
        }
        Ok((rows, all))
    };
    read().map_err(|error| said(&error))
}

/// Copies a table that can be read, with further columns, and reads the copy.
fn written(path: &Path, format: &Format, sizes: Sizes, whole: &TableAsRead, copy: &Path) {
    let names = ["a new \"number\", and so on", "a new flag"].map(String::from);
    let value = |row: u64| if row.is_multiple_of(3) { f64::NAN } else { row as f64 / 7.0 };
    let flag = |row: u64| (row % 3 != 1).then_some(row.is_multiple_of(2));
    // Which separator a header has is a guess, and may be another one when there are more names.
    let mut told = format.clone();
    let mut write = || -> crate::Result<()> {
        let mut stream = opened(path, format, &[], sizes)?;
        if let Streamed::Csv(csv) = &stream.now {
            let separator = match (csv.header.remade, format.decimal_comma) {
                (false, _) => csv.header.layout.separator,
                (true, false) => b',',
                (true, true) => b';',
            };
            (told.separator, told.comment) = (Some(Separator::Byte(separator)), None);
        }
        let column = |(name, kind): (&String, NewKind)| NewColumn { name: name.clone(), kind };
        let columns = names.iter().zip([NewKind::Number, NewKind::Flag]).map(column).collect();
        let mut sink = Sink::create(copy, &stream, columns, &|| false)?;
        while let Some(batch) = stream.next_batch()? {
            let rows = batch.first_row..batch.first_row + batch.rows as u64;
            let numbers = NewValues::Numbers(rows.clone().map(value).collect());
            let flags = NewValues::Flags(rows.map(flag).collect());
            sink.write(&batch, &[numbers, flags])?;
        }
        sink.finish()
    };
    if whole.names.iter().any(|name| names.contains(name)) {
        assert!(write().is_err(), "a name that is there already");
        return;
    }
    if let Err(error) = write() {
        // What is damaged may lie in columns that cannot be read.
        let is_parquet = copy.extension().is_some_and(|ending| ending == "parquet");
        assert!(is_parquet, "a table that can be read can be copied: {error:#}");
        return;
    }
    // What stands at the beginning now may look like another kind of file, or like the lines above a header.
    let Ok(bytes) = std::fs::read(copy) else { return };
    let is_text = copy.extension().is_some_and(|ending| ending == "csv");
    let looks_other = is_packed(&bytes)
        || is_json(&bytes)
        || crate::refused::other_kind(&bytes).is_some()
        || bytes.trim_ascii_start().starts_with(b"#")
        || Table::open(copy, &told).is_ok_and(|table| !table.notes().is_empty());
    if is_text && looks_other {
        return;
    }
    let again = read(copy, &told, sizes)
        .unwrap_or_else(|error| panic!("a copy that was written can be read: {error}"));
    let old = whole.names.len();
    assert_eq!((again.rows, again.names.len()), (whole.rows, old + 2), "the size of a copy");
    assert!(again.names.starts_with(&whole.names) && again.names.ends_with(&names));
    if copy.extension().is_some_and(|ending| ending == "jsonl") {
        // Numbers have other digits there.
        let both = again.numbers[..old].iter().zip(&whole.numbers);
        assert!(both.into_iter().all(|(new, old)| old.is_err() || new == old), "numbers as JSON");
    } else {
        assert_eq!(again.texts[..old], whole.texts[..], "texts of a copy");
        assert_eq!(again.numbers[..old], whole.numbers[..], "numbers of a copy");
    }
    let rows = || 1..=whole.rows;
    assert_eq!(again.numbers[old], Ok(bits(&rows().map(value).collect::<Vec<_>>())), "new numbers");
    let flags = rows().map(|row| flag(row).map_or(String::new(), |flag| flag.to_string()));
    assert!(again.texts[old + 1].iter().cloned().eq(flags), "new flags");
}
