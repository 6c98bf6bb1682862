//! Reading CSV files.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

const NAN: f64 = f64::NAN;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn separators_are_guessed_from_the_header() {
    for separator in [",", ";", "\t", "|"] {
        let table = "first name,second\n1,2.5\n-3,4e2\n".replace(',', separator);
        assert_eq!(numbers(table), [[1.0, -3.0], [2.5, 400.0]]);
    }
    // Quoted separators do not count; the more frequent wins.
    let file = file("\"a;b;c;d\",e\n1,2\n");
    assert_eq!(file.open().unwrap().header(), ["a;b;c;d", "e"]);
    assert_eq!(numbers("x\n1\n2\n"), [[1.0, 2.0]]);
    let given = Format { separator: Some(Separator::Byte(b':')), ..Format::default() };
    assert_eq!(numbers_with("a:b,c\n1:2\n", &given), [[1.0], [2.0]]);
    let wrong = Format { separator: Some(Separator::Byte(b'"')), ..Format::default() };
    assert_eq!(complaint_with("a\n", &wrong), "'\"' cannot separate fields; use , ; | or a tab");
}

#[test]
fn line_ends_of_every_kind_and_blank_lines() {
    let expected = [[1.0, 3.0], [2.0, 4.0]];
    for end in ["\n", "\r\n", "\r", "\r\r\n"] {
        for table in [
            "a,b\n1,2\n3,4\n",
            "a,b\n1,2\n3,4",
            "\n\na,b\n\n1,2\n  \n\n3,4\n\n\n",
            "a,b\n1,2\n3,4\n \t ",
        ] {
            assert_eq!(numbers(table.replace('\n', end)), expected, "{table:?} {end:?}");
        }
    }
    // With tabs between fields, a line of tabs is a record of missing values.
    let columns = numbers("a\tb\n1\t2\n\t\n");
    assert_same(&columns[0], &[1.0, NAN]);
    assert_same(&columns[1], &[2.0, NAN]);
}

#[test]
fn quotes_spaces_and_the_byte_order_mark() {
    let table = "\u{feff} \"a\" , b ,\"c \"\"d\"\"\n(e)\",\r\n 1 ,\"2\", \"3\" ,x\r\n\"4\",5,\"\",\"y, \"\"z\"\"\n!\"\r\n";
    let file = file(table);
    assert_eq!(file.open().unwrap().header(), ["a", "b", "c \"d\"\n(e)", "column 4"]);
    let required = |column| NumberColumn { column, required: true };
    let columns =
        file.open().unwrap().read(&[2, 0, 1].map(required), &[3], &mut |_| false).unwrap();
    let mut read = columns.numbers.into_iter().map(|numbers| values(numbers).unwrap());
    assert_same(&read.next().unwrap(), &[3.0, NAN]);
    assert_eq!(read.next().unwrap(), [1.0, 4.0]);
    assert_eq!(read.next().unwrap(), [2.0, 5.0]);
    assert_eq!(spelled(&columns.texts[0]), ["x", "y, \"z\"\n!"]);
    // A quote inside a text is a quote.
    let inches = super::file("a,b\n5\" pipe,1\n\"6\"\"\"x,2\n");
    assert_eq!(texts(&inches, 0), ["5\" pipe", "6\"x"]);
}

#[test]
fn numbers_and_missing_values() {
    let table = "x\n+1.5\n1e5\n-1E-5\n.5\n5.\ninf\n-Infinity\nNA\nn/a\nNaN\nnan\nnull\nNULL\nNone\n-\n.\n?\n\"\"\n\"NA\"\n1e400\n9007199254740993\n0.1\n";
    let infinity = f64::INFINITY;
    let mut expected = vec![1.5, 1e5, -1e-5, 0.5, 5.0, infinity, -infinity];
    expected.extend([NAN; 12]);
    expected.extend([infinity, 9007199254740992.0, 0.1]);
    assert_same(&numbers(table)[0], &expected);

    let comma = Format { decimal_comma: true, ..Format::default() };
    assert_eq!(
        numbers_with("a;b\n3,25;-1,5e3\n2;\"7,5\"\n", &comma),
        [[3.25, 2.0], [-1500.0, 7.5]]
    );
    assert_eq!(numbers_with("a\n3,25\n", &comma), [[3.25]]);
    assert_eq!(numbers_with("a,b\n\"3,5\",4\n", &comma), [[3.5], [4.0]]);
    assert_eq!(
        complaint_with("a;b\n1;2\n1.234;1\n", &comma),
        "table.csv, row 2, column \"a\": \"1.234\" is not a number"
    );
}

#[test]
fn what_is_no_number_is_refused_or_given_up() {
    let table = "time,b\n2024-01-31,1\n2024-02-01,2\n";
    let file = file(table);
    let columns =
        [false, true].map(|required| NumberColumn { column: 1 - required as usize, required });
    let optional =
        [NumberColumn { column: 0, required: false }, NumberColumn { column: 1, required: true }];
    let read = file.open().unwrap().read(&optional, &[0], &mut |_| false).unwrap();
    assert!(
        matches!(&read.numbers[0], Numbers::NotNumbers { value, row: 1 } if value == "2024-01-31")
    );
    assert!(matches!(&read.numbers[1], Numbers::Values(values) if values == &[1.0, 2.0]));
    assert_eq!(
        (read.rows, spelled(&read.texts[0])),
        (2, vec!["2024-01-31".to_string(), "2024-02-01".to_string()])
    );
    let error = file.open().unwrap().read(&columns, &[], &mut |_| false).err().unwrap();
    assert_eq!(
        file.shorten(&error),
        "table.csv, row 1, column \"time\": \"2024-01-31\" is not a number"
    );
    assert_eq!(
        complaint("a;b\n1;2\n\n1;3,14\n"),
        "table.csv, row 2, column \"b\": \"3,14\" is not a number"
    );
    let long = "é".repeat(1000);
    let said = complaint(format!("a\n{long}\n"));
    assert!(said.contains(&format!("\"{}…\" is not a number", "é".repeat(40))), "{said}");
}

#[test]
fn records_that_do_not_fit_the_header() {
    let said = "the separator is ',', and a text that holds it must be in quotes";
    for (table, row, found) in [
        ("a,b\n1,2\n\n3\n", 2, "1 field"),
        ("a,b\n1,2,3\n", 1, "3 fields"),
        ("a,b\n1,2\n3,4,\n", 2, "3 fields"),
        ("a,b\n\"1\",2\n3,4,\"5\"", 2, "3 fields"),
        ("a,b\n\"1\",2\n\"3\"", 2, "1 field"),
    ] {
        assert_eq!(
            complaint(table),
            format!("table.csv, row {row} has {found}, the header has 2; {said}")
        );
    }
    // Also when no column is asked for, or only early ones.
    for wanted in [&[][..], &[NumberColumn { column: 0, required: true }]] {
        for line in ["1,2", "1,2,3,4"] {
            let file = file(format!("a,b,c\n{line}\n"));
            let error = file.open().unwrap().read(wanted, &[], &mut |_| false).err().unwrap();
            assert!(file.shorten(&error).contains("row 1 has"), "{error}");
        }
    }
}

#[test]
fn headers_that_are_none() {
    assert_eq!(
        complaint(""),
        "table.csv is empty; a header with the names of the columns is needed"
    );
    assert_eq!(complaint("\n \n"), complaint(""));
    assert_eq!(complaint("\u{feff}"), complaint(""));
    assert_eq!(
        complaint("1.5,2,-3e5\n4,5,6\n"),
        "table.csv: the first line holds numbers; a header with names is needed"
    );
    assert_eq!(complaint("a,b, a\n"), "table.csv has two columns named \"a\"; rename one of them");
    assert_eq!(complaint("a,\"b\n1,2\n"), "table.csv, header: a quote is opened and never closed");
    assert_eq!(
        complaint("a,b\n1,2\n\n3,\"4\n5,6\n"),
        "table.csv, row 2: a quote is opened and never closed"
    );
    for header_only in ["a,b", "a,b\n", "a,b\r\n\r\n"] {
        assert_eq!(numbers(header_only), [[0.0; 0]; 2]);
    }
}

#[test]
fn other_kinds_of_files_are_named() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let in_utf16 = "table.csv is text in UTF-16; save it as UTF-8 (in Excel: \"CSV UTF-8\")";
    assert_eq!(complaint(utf16("\u{feff}a,b\n1,2\n")), in_utf16);
    assert_eq!(complaint(utf16("a,b\n1,2\n")), in_utf16);
    for (bytes, word) in [
        (b"PK\x03\x04rest".as_slice(), "a zip archive or a spreadsheet, and damaged"),
        (b"\xfd7zXZ\x00rest", "the xz data is damaged or cut short"),
        (b"\x28\xb5\x2f\xfdrest", "the zstd data is damaged or cut short"),
        (b"BZh91AY&SYrest", "the bzip2 data is damaged or cut short"),
        (b"a,b\n1,\x00\x01\x02\x03\n", "neither text nor Parquet"),
    ] {
        assert!(complaint(bytes).contains(word), "{}", complaint(bytes));
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.csv");
    let said = |path: &Path| Table::open(path, &Format::default()).err().unwrap().to_string();
    assert!(said(&missing).ends_with("none.csv: No such file or directory"), "{}", said(&missing));
    assert!(said(folder.path()).ends_with("it is a folder; name a file in it"));
}

#[test]
fn gzipped_files_of_several_members() {
    let table = [gzip(b"a,b\n1,2\n3,"), gzip(b"4\n5,6\n")].concat();
    assert_eq!(numbers(&table), [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]);
    let said = complaint(&table[..table.len() - 12]);
    assert!(said.starts_with("cannot unpack table.csv: the gzip data is damaged"), "{said}");
    let said = complaint(b"\x1f\x8b nothing");
    assert!(said.starts_with("cannot unpack table.csv: the gzip data is damaged"), "{said}");
}

#[test]
fn text_that_is_not_utf8_is_latin1() {
    let file = file(b"temp\xe9rature,b\n1,\xfc\n2,\xc3\xbc\n");
    let table = file.open().unwrap();
    assert_eq!(table.column(" température ").unwrap(), 0);
    assert_eq!(texts(&file, 1), ["ü", "ü"]);
}

#[test]
fn thousands_of_columns() {
    let names: Vec<String> = (0..5000).map(|i| format!("c{i}")).collect();
    let row =
        |offset: usize| (0..5000).map(|i| (i + offset).to_string()).collect::<Vec<_>>().join(",");
    let file = file(format!("{}\n{}\n{}\n", names.join(","), row(0), row(7)));
    let wanted = [4999, 0, 2500, 2500, 2501].map(|column| NumberColumn { column, required: true });
    let read = file.open().unwrap().read(&wanted, &[63], &mut |_| false).unwrap();
    for (number, read) in wanted.iter().zip(read.numbers) {
        let first = number.column as f64;
        assert_eq!(values(read).unwrap(), [first, first + 7.0]);
    }
    assert_eq!(spelled(&read.texts[0]), ["63", "70"]);
}

#[test]
fn a_column_that_is_not_there() {
    let names: Vec<String> = (0..500).map(|i| format!("input {i}")).collect();
    let said = |header: &str, name: &str| {
        let file = file(header);
        file.shorten(&file.open().unwrap().column(name).err().unwrap())
    };
    assert_eq!(
        said("temperature,wind,b\n", "temprature"),
        "table.csv has no column \"temprature\"; did you mean \"temperature\"? It has: temperature, wind, b"
    );
    assert_eq!(
        said("a,b\n", "observation"),
        "table.csv has no column \"observation\". It has: a, b"
    );
    let many = said(&names.join(","), "x");
    assert!(many.ends_with("input 18, input 19 and 480 more"), "{many}");
}

#[test]
fn progress_rises_to_one_and_stops_on_request() {
    let file = file(format!("a\n{}", "1\n".repeat(10_000)));
    let mut table = file.open().unwrap();
    set_sizes(&mut table, Sizes { block: 1000, piece: 100, record: 1 << 20 });
    let mut shares = vec![];
    let mut done = |share| {
        shares.push(share);
        false
    };
    assert_eq!(table.read(&[], &[], &mut done).unwrap().rows, 10_000);
    assert!(shares.is_sorted() && shares.len() > 10 && shares.last() == Some(&1.0));
    let error = file.open().unwrap().read(&[], &[], &mut |_| true).err().unwrap();
    assert!(matches!(error, Error::Stopped));
}

#[test]
fn a_record_too_long_for_memory_is_refused() {
    let file = file(format!("a,b\n1,2\n3,\"{}", "4\n".repeat(10_000)));
    let mut table = file.open().unwrap();
    set_sizes(&mut table, Sizes { block: 64, piece: 64, record: 8192 });
    let error = table.read(&[], &[], &mut |_| false).err().unwrap();
    assert!(file.shorten(&error).starts_with("table.csv, row 2 is longer than"), "{error}");
}
