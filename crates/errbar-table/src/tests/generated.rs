//! Generated tables against the `csv` crate, and block boundaries anywhere.

use ::csv::{QuoteStyle, ReaderBuilder, Terminator, Trim, WriterBuilder};
use proptest::prelude::*;

use super::*;
use crate::csv::write::Style;

const PIECES: [&str; 14] =
    ["1", "2.5", "-3e2", "a", "é", " ", "\"", ",", ";", "\n", "\r\n", "\t", "x y", "0"];

fn field() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..4).prop_map(|parts| parts.concat())
}

fn table() -> impl Strategy<Value = Vec<Vec<String>>> {
    (2usize..6).prop_flat_map(|columns| {
        prop::collection::vec(prop::collection::vec(field(), columns), 0..20)
    })
}

/// All columns as text, read in blocks and pieces of these sizes.
fn read(bytes: &[u8], separator: u8, sizes: Sizes) -> crate::Result<Vec<Vec<String>>> {
    let file = file(bytes);
    let format = Format {
        separator: Some(Separator::Byte(separator)),
        decimal_comma: false,
        ..Format::default()
    };
    let mut table = Table::open(&file.path, &format)?;
    set_sizes(&mut table, sizes);
    let wanted: Vec<usize> = (0..table.header().len()).collect();
    let columns = table.read(&[], &wanted, &mut |_| false)?;
    Ok(columns.texts.iter().map(spelled).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_quoted_table_is_read_as_the_csv_crate_does(
        rows in table(),
        separator in prop::sample::select(&b",;\t|"[..]),
        crlf: bool,
        always: bool,
        block in 1usize..200,
        piece in 1usize..50,
    ) {
        let terminator = if crlf { Terminator::CRLF } else { Terminator::Any(b'\n') };
        let quotes = if always { QuoteStyle::Always } else { QuoteStyle::Necessary };
        let mut writer = WriterBuilder::new()
            .delimiter(separator).terminator(terminator).quote_style(quotes).from_writer(vec![]);
        let columns = rows.first().map_or(2, Vec::len);
        writer.write_record((0..columns).map(|i| format!("name {i}"))).unwrap();
        for row in &rows {
            writer.write_record(row).unwrap();
        }
        let bytes = writer.into_inner().unwrap();

        let mut peer = ReaderBuilder::new()
            .delimiter(separator).trim(Trim::All).from_reader(bytes.as_slice());
        let mut expected = vec![vec![]; columns];
        for record in peer.records() {
            for (column, field) in expected.iter_mut().zip(&record.unwrap()) {
                column.push(field.to_string());
            }
        }
        let sizes = Sizes { block, piece, record: 1 << 20 };
        prop_assert_eq!(&read(&bytes, separator, sizes).unwrap(), &expected);
        prop_assert_eq!(&read(&bytes, separator, Sizes::default()).unwrap(), &expected);
    }

    /// Torn and odd files too: whatever is said, it is the same for all blocks, and nothing panics.
    #[test]
    fn block_boundaries_do_not_matter(
        body in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..80),
        block in 1usize..100,
        piece in 1usize..50,
    ) {
        let table = format!("a,b\n{}", body.concat());
        let said = |result: crate::Result<Vec<Vec<String>>>| {
            // Each has a folder of its own.
            result.map_err(|e| format!("{e:#}").rsplit('/').next().unwrap().to_string())
        };
        let small = Sizes { block, piece, record: 1 << 20 };
        let whole = said(read(table.as_bytes(), b',', Sizes::default()));
        prop_assert_eq!(said(read(table.as_bytes(), b',', small)), whole);
    }

    #[test]
    fn any_number_comes_back(numbers in prop::collection::vec(any::<f64>(), 1..50)) {
        let text: String = numbers.iter().map(|number| format!("{number:e}\n")).collect();
        assert_same(&super::numbers(format!("x\n{text}"))[0], &numbers);
        let mut out = vec![];
        let style = Style { separator: b',', line_end: "\n", decimal_comma: false, packing: None, at_once: false };
        for number in &numbers {
            style.push_number(&mut out, *number);
            out.push(b',');
        }
        let written = String::from_utf8(out).unwrap();
        let back: Vec<f64> = written.split_terminator(',').map(|t| t.parse().unwrap_or(f64::NAN)).collect();
        assert_same(&back, &numbers);
    }

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let file = file(&bytes);
        if let Ok(table) = file.open() {
            let all: Vec<usize> = (0..table.header().len()).collect();
            let numbers: Vec<_> = all.iter().map(|&column| NumberColumn { column, required: false }).collect();
            let _ = table.read(&numbers, &all, &mut |_| false);
        }
    }
}

proptest! {
    // Each case writes two files to the disk.
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// CSV to Parquet and back: what is said stays the same, whatever types were found.
    #[test]
    fn any_table_survives_parquet(
        ints in prop::collection::vec(prop::option::of(any::<i64>()), 1..60),
        numbers in prop::collection::vec(prop::option::of(any::<f64>()), 60),
        texts in prop::collection::vec(field(), 60),
        codes in prop::collection::vec("0[0-9]{1,3}", 60),
    ) {
        let mut writer = WriterBuilder::new().from_writer(vec![]);
        writer.write_record(["int", "number", "text", "code"]).unwrap();
        let spell = |value: Option<String>| value.unwrap_or_default();
        for (i, int) in ints.iter().enumerate() {
            let int = spell(int.map(|int| int.to_string()));
            let number = spell(numbers[i].map(|number| format!("{number:?}")));
            // A letter makes it text for certain.
            let text = format!("t{}", texts[i]);
            writer.write_record([&int, &number, &text, &codes[i]]).unwrap();
        }
        let file = file(writer.into_inner().unwrap());
        let parquet = file.other("table.parquet");
        let convert = |from: &Path, to: &Path| {
            let mut stream = Table::open(from, &Format::default()).unwrap().stream(&[0, 1], &[]).unwrap();
            let mut sink = Sink::create(to, &stream, vec![], &|| false).unwrap();
            while let Some(batch) = stream.next_batch().unwrap() {
                sink.write(&batch, &[]).unwrap();
            }
            sink.finish().unwrap();
        };
        convert(&file.path, &parquet);
        let back = file.other("back.csv");
        convert(&parquet, &back);
        let read = |path: &Path| {
            let numbers = [0, 1].map(|column| NumberColumn { column, required: true });
            let table = Table::open(path, &Format::default()).unwrap();
            table.read(&numbers, &[2, 3], &mut |_| false).unwrap()
        };
        let expected = read(&file.path);
        for path in [&parquet, &back] {
            let found = read(path);
            prop_assert_eq!(found.rows, ints.len());
            for (a, b) in found.numbers.into_iter().zip(&expected.numbers) {
                let Numbers::Values(b) = b else { panic!("these are numbers") };
                assert_same(&values(a).unwrap(), b);
            }
            for (a, b) in found.texts.iter().zip(&expected.texts) {
                prop_assert_eq!(spelled(a), spelled(b));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// A field among others is the number that the standard library reads, however it is written.
    #[test]
    fn numbers_are_those_of_the_standard_library(
        value in prop_oneof![
            any::<f64>(),
            -1e3..1e3f64,
            (any::<i32>(), 0..9i32).prop_map(|(i, k)| f64::from(i) / 10f64.powi(k)),
        ],
        digits in 0usize..20,
        form in 0..4,
        before in "[0-9.,x]{0,20}",
        after in "[0-9.,x]{0,20}",
    ) {
        let text = match form {
            0 => format!("{value}"),
            1 => format!("{value:.digits$}"),
            2 => format!("{value:e}"),
            _ => format!("{value:?}").replace('.', if digits == 7 { "" } else { "." }),
        };
        let expected: Option<f64> = text.parse().ok().filter(|v: &f64| !v.is_nan());
        let bytes = format!("{before}{text}{after}");
        let place = before.len()..before.len() + text.len();
        let found = crate::csv::number::parse(bytes.as_bytes(), place, false);
        let bits = |value: Option<f64>| value.filter(|v| !v.is_nan()).map(f64::to_bits);
        prop_assert_eq!(bits(found), bits(expected), "{}", text);
    }
}
