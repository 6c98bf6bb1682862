//! Parquet files: one written by pyarrow with a column of each type, and our own.

use std::fs::File;

use ::parquet::file::reader::{FileReader, SerializedFileReader};

use super::*;

const NAN: f64 = f64::NAN;

/// Six rows in two row groups with five compressions, written by pyarrow; make_pyarrow.py has the values.
fn pyarrow() -> Fixture {
    let bytes = include_bytes!("pyarrow.parquet");
    file(bytes)
}

fn column(table: &Table, name: &str, required: bool) -> NumberColumn {
    NumberColumn { column: table.column(name).unwrap(), required }
}

fn numbers_of(file: &Path, name: &str) -> Vec<f64> {
    let table = Table::open(file, &Format::default()).unwrap();
    let wanted = column(&table, name, true);
    values(table.read(&[wanted], &[], &mut |_| false).unwrap().numbers.remove(0)).unwrap()
}

fn texts_of(file: &Path, name: &str) -> Vec<String> {
    let table = Table::open(file, &Format::default()).unwrap();
    let place = table.column(name).unwrap();
    spelled(&table.read(&[], &[place], &mut |_| false).unwrap().texts[0])
}

fn check_numbers(path: &Path) {
    let expected: [(&str, [f64; 6]); 9] = [
        ("int", [1.0, -2.0, NAN, 4.0, 5.0, 6.0]),
        ("big", [9007199254740992.0, 1.0, 2.0, NAN, 4.0, 5.0]),
        ("byte", [1.0, 255.0, 3.0, 4.0, 5.0, 6.0]),
        ("single", [0.5, NAN, 0.25, 1.0, 2.0, 3.0]),
        ("short", [1.5, -2.0, NAN, 0.0999755859375, 0.0, 65504.0]),
        ("double", [0.1, NAN, NAN, 1e300, -0.0, 5.0]),
        ("decimal", [12.5, -0.01, NAN, 99999999999999999.99, 0.0, 1.0]),
        ("flag", [1.0, 0.0, NAN, 1.0, 1.0, 0.0]),
        ("null", [NAN; 6]),
    ];
    for (name, expected) in expected {
        assert_same(&numbers_of(path, name), &expected);
    }
}

fn check_texts(path: &Path) {
    let moment = "2024-01-31T18:00:00.25";
    for (name, expected) in [
        ("int", ["1", "-2", "", "4", "5", "6"]),
        ("single", ["0.5", "", "0.25", "1.0", "2.0", "3.0"]),
        ("decimal", ["12.50", "-0.01", "", "99999999999999999.99", "0.00", "1.00"]),
        ("flag", ["true", "false", "", "true", "true", "false"]),
        ("text", ["a", "b, \"c\"", "", "", "é\n", "a"]),
        ("category", ["x", "y", "", "x", "x", "y"]),
        ("date", ["2024-01-31", "", "1969-12-31", "1969-12-31", "1969-12-31", "1969-12-31"]),
        ("ms", [moment, moment, moment, moment, moment, ""]),
        ("utc", ["2024-01-31T18:00:00Z"; 6]),
        (
            "ns",
            [
                "1970-01-01T00:00:00",
                "1970-01-01T00:00:00.000000001",
                "1969-12-31T23:59:59.999999999",
                "",
                "1970-01-01T00:00:00.000000005",
                "2001-09-09T01:46:40",
            ],
        ),
    ] {
        assert_eq!(texts_of(path, name), expected, "{name}");
    }
}

#[test]
fn every_type_as_numbers_and_texts() {
    let file = pyarrow();
    check_numbers(&file.path);
    check_texts(&file.path);
}

#[test]
fn columns_that_are_no_numbers() {
    let file = pyarrow();
    for (name, first) in [
        ("text", "a"),
        ("date", "2024-01-31"),
        ("utc", "2024-01-31T18:00:00Z"),
        ("list", "a list or structure"),
        ("struct", "a list or structure"),
    ] {
        let table = file.open().unwrap();
        let wanted = [column(&table, name, false), column(&table, "byte", true)];
        let mut read = table.read(&wanted, &[], &mut |_| false).unwrap();
        assert_eq!(read.rows, 6);
        assert!(
            matches!(&read.numbers[0], Numbers::NotNumbers { value, row: 1 } if value == first),
            "{name}"
        );
        assert_eq!(values(read.numbers.remove(1)).unwrap()[1], 255.0);
    }
    let refused = |name: &str| {
        let table = file.open().unwrap();
        let wanted = [column(&table, name, true)];
        table.read(&wanted, &[], &mut |_| false).err().unwrap()
    };
    let date = refused("date");
    let said = "table.csv, row 1, column \"date\": \"2024-01-31\" is not a number";
    assert_eq!(file.shorten(&date), said);
    assert!(matches!(date, Error::NotNumber(wrong) if wrong.cause == Some(Cause::Date)));
    assert_eq!(
        file.shorten(&refused("list")),
        "table.csv: column \"list\" holds lists or structures; only plain columns can be used"
    );
    let table = file.open().unwrap();
    let place = table.column("struct").unwrap();
    assert!(table.read(&[], &[place], &mut |_| false).is_err());
}

#[test]
fn parquet_to_parquet_keeps_every_column() {
    let file = pyarrow();
    let to = file.other("out.parquet");
    copy(&file.path, &Format::default(), &to).unwrap();
    check_numbers(&to);
    check_texts(&to);
    assert_eq!(texts_of(&to, "even"), ["false", "true", "", "true", "false", "true"]);

    // Record by record with the other reader of the crate, which knows about nesting.
    let open = |path: &Path| SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let (old, new) = (open(&file.path), open(&to));
    let old_fields = old.metadata().file_metadata().schema().get_fields().to_vec();
    let new_fields = new.metadata().file_metadata().schema().get_fields().to_vec();
    assert_eq!(new_fields[..old_fields.len()], old_fields);
    let rows = |reader: &SerializedFileReader<File>| -> Vec<Vec<String>> {
        let field = |(name, value): (&String, &::parquet::record::Field)| format!("{name}={value}");
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().get_column_iter().map(field).collect()).collect()
    };
    let (old_rows, new_rows) = (rows(&old), rows(&new));
    assert_eq!((old_rows.len(), new_rows.len()), (6, 6));
    for (old, new) in old_rows.iter().zip(&new_rows) {
        assert_eq!(new[..old.len()], old[..]);
    }
    let pairs = new.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(
        pairs.iter().any(|pair| pair.key == "made by" && pair.value.as_deref() == Some("hand"))
    );
    let packing = |reader: &SerializedFileReader<File>, column| {
        reader.metadata().row_group(0).column(column).compression()
    };
    assert!((0..5).all(|column| packing(&old, column) == packing(&new, column)));
}

#[test]
fn csv_to_parquet_and_back() {
    let table = "n,code,x,t,void,day\n1,007,1.5,a,,2024-01-31\n-2,010,NA,\"b, \"\"c\"\"\",,\n,1,3,,-,2024-02-01\n9223372036854775807,2,1e300,é,NA,x\n";
    let file = file(table);
    let parquet = file.other("out.parquet");
    copy(&file.path, &Format::default(), &parquet).unwrap();
    use ::parquet::basic::Type;
    let reader = SerializedFileReader::new(File::open(&parquet).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let types: Vec<Type> = schema.columns().iter().map(|column| column.physical_type()).collect();
    let (int, double, text) = (Type::INT64, Type::DOUBLE, Type::BYTE_ARRAY);
    assert_eq!(types, [int, text, double, text, double, text, double, Type::BOOLEAN]);
    assert_same(&numbers_of(&parquet, "n"), &[1.0, -2.0, NAN, 9223372036854775807.0]);
    assert_eq!(texts_of(&parquet, "n")[3], "9223372036854775807");
    assert_same(&numbers_of(&parquet, "x"), &[1.5, NAN, 3.0, 1e300]);
    assert_same(&numbers_of(&parquet, "void"), &[NAN; 4]);
    assert_same(&numbers_of(&parquet, "half"), &[0.5, 1.0, NAN, 2.0]);
    assert_eq!(texts_of(&parquet, "code"), ["007", "010", "1", "2"]);
    assert_eq!(texts_of(&parquet, "t"), ["a", "b, \"c\"", "", "é"]);

    let mut stream =
        Table::open(&parquet, &Format::default()).unwrap().stream(&[0, 2], &[]).unwrap();
    let back = file.other("back.csv");
    let mut sink = Sink::create(&back, &stream, vec![], &|| false).unwrap();
    let batch = stream.next_batch().unwrap().unwrap();
    assert_same(&batch.numbers[0], &[1.0, -2.0, NAN, 9223372036854775807.0]);
    sink.write(&batch, &[]).unwrap();
    assert!(stream.next_batch().unwrap().is_none());
    assert_eq!(stream.share_read(), Some(1.0));
    sink.finish().unwrap();
    assert_eq!(
        std::fs::read_to_string(back).unwrap(),
        "n,code,x,t,void,day,half,even\n1,007,1.5,a,,2024-01-31,0.5,false\n-2,010,,\"b, \"\"c\"\"\",,,1.0,true\n,1,3.0,,,2024-02-01,,\n9223372036854775807,2,1e+300,é,,x,2.0,true\n"
    );
}

#[test]
fn a_nested_column_has_no_place_in_a_csv() {
    let file = pyarrow();
    let error = copy(&file.path, &Format::default(), &file.other("out.csv")).err().unwrap();
    assert!(file.shorten(&error).contains("column \"list\" holds lists or structures"), "{error}");
    assert!(!file.other("out.csv").exists());
}

#[test]
fn many_rows_in_many_groups_and_batches() {
    let rows = 300_000;
    let lines: String =
        (0..rows).map(|i| format!("{i},{},s{}\n", i as f64 * 0.5, i % 1000)).collect();
    let file = file(format!("n,x,s\n{lines}"));
    let (first, second) = (file.other("1.parquet"), file.other("2.parquet"));
    copy(&file.path, &Format::default(), &first).unwrap();
    let mut stream = Table::open(&first, &Format::default()).unwrap().stream(&[0, 1], &[]).unwrap();
    let mut sink = Sink::create(&second, &stream, vec![], &|| false).unwrap();
    let mut row = 0;
    while let Some(batch) = stream.next_batch().unwrap() {
        assert_eq!(batch.first_row, row as u64 + 1);
        for (n, x) in batch.numbers[0].iter().zip(&batch.numbers[1]) {
            assert_eq!((*n, *x), (row as f64, row as f64 * 0.5));
            row += 1;
        }
        sink.write(&batch, &[]).unwrap();
    }
    sink.finish().unwrap();
    assert_eq!(row, rows);
    for path in [&first, &second] {
        let n = numbers_of(path, "n");
        assert!(n.len() == rows && n.iter().enumerate().all(|(i, n)| *n == i as f64));
        let s = texts_of(path, "s");
        assert!(
            s.len() == rows && s.iter().enumerate().all(|(i, s)| *s == format!("s{}", i % 1000))
        );
        let even = numbers_of(path, "even");
        assert!(even[2].is_nan() && even[3] == 1.0 && even[rows - 2] == 0.0);
    }
}

#[test]
fn an_empty_table() {
    let file = file("a,b\n");
    let to = file.other("out.parquet");
    copy(&file.path, &Format::default(), &to).unwrap();
    assert_eq!(numbers_of(&to, "a"), [0.0; 0]);
    let back = file.other("out.csv");
    let stream = Table::open(&to, &Format::default()).unwrap().stream(&[], &[]).unwrap();
    Sink::create(&back, &stream, vec![], &|| false).unwrap().finish().unwrap();
    assert_eq!(std::fs::read_to_string(back).unwrap(), "a,b,half,even\n");
}

#[test]
fn damaged_files_are_refused_and_nothing_panics() {
    let whole = include_bytes!("pyarrow.parquet");
    let read = |bytes: &[u8]| {
        let file = file(bytes);
        let read = |table: Table| {
            let all: Vec<usize> = (0..table.header().len()).collect();
            let texts: Vec<usize> = (0..10.min(all.len())).collect();
            let numbers: Vec<_> =
                all.iter().map(|&column| NumberColumn { column, required: false }).collect();
            table.read(&numbers, &texts, &mut |_| false)
        };
        let read = file.open().and_then(read).map(|_| ()).map_err(|error| file.shorten(&error));
        let copied = copy(&file.path, &Format::default(), &file.other("out.parquet"));
        read.and(copied.map_err(|error| file.shorten(&error)))
    };
    read(whole).unwrap();
    for length in (4..whole.len()).step_by(97) {
        let said = read(&whole[..length]).err().unwrap();
        assert!(said.starts_with("cannot read table.csv: the Parquet file is damaged"), "{said}");
    }
    // Any byte may be wrong; whatever comes of it, it is no panic.
    let mut random = 1u32;
    for _ in 0..200 {
        let mut bytes = whole.to_vec();
        for _ in 0..1 + random % 3 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let place = (random >> 8) as usize % bytes.len();
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bytes[place] = (random >> 16) as u8;
        }
        let _ = read(&bytes);
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let lines: String = (0..400_000).map(|i| format!("{i},{},s{}\n", i % 777, i % 1000)).collect();
    let file = file(format!("n,x,s\n{lines}"));
    for name in ["out.parquet", "out.csv", "out.csv.gz"] {
        let written = |threads: usize| {
            let to = file.other(&format!("{threads}-{name}"));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| copy(&file.path, &Format::default(), &to)).unwrap();
            std::fs::read(to).unwrap()
        };
        assert!(written(1) == written(3), "{name}");
    }
}
