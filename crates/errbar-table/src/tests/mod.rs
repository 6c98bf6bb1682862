//! Tables with values known by hand, and generated ones against other readers.

mod csv_read;
mod csv_write;
mod files;
mod generated;
mod parquet;
mod sheets;
mod tables;

use std::path::{Path, PathBuf};

use crate::csv::blocks::Sizes;
use crate::stream::{RawRows, Streamed};
use crate::table::Opened;
use crate::*;

/// A folder with one file.
struct Fixture {
    folder: tempfile::TempDir,
    path: PathBuf,
}

fn file(bytes: impl AsRef<[u8]>) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, bytes).unwrap();
    Fixture { folder, path }
}

impl Fixture {
    fn open(&self) -> crate::Result<Table> {
        Table::open(&self.path, &Format::default())
    }

    /// A sentence that names the file, with the folder left out.
    fn shorten(&self, error: &crate::Error) -> String {
        format!("{error:#}").replace(&format!("{}/", self.folder.path().display()), "")
    }

    fn other(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Opens a text and reads all of its columns as numbers.
fn numbers(bytes: impl AsRef<[u8]>) -> Vec<Vec<f64>> {
    numbers_with(bytes, &Format::default())
}

fn numbers_with(bytes: impl AsRef<[u8]>, format: &Format) -> Vec<Vec<f64>> {
    let file = file(bytes);
    let table = Table::open(&file.path, format).unwrap();
    let columns = table.header().len();
    let wanted: Vec<_> =
        (0..columns).map(|column| NumberColumn { column, required: true }).collect();
    let columns = table.read(&wanted, &[], &mut |_| false).unwrap();
    columns.numbers.into_iter().map(|numbers| values(numbers).unwrap()).collect()
}

fn values(numbers: Numbers) -> Option<Vec<f64>> {
    match numbers {
        Numbers::Values(values) => Some(values),
        Numbers::NotNumbers { .. } => None,
    }
}

/// What is said about a text that cannot be read as numbers.
fn complaint(bytes: impl AsRef<[u8]>) -> String {
    complaint_with(bytes, &Format::default())
}

fn complaint_with(bytes: impl AsRef<[u8]>, format: &Format) -> String {
    let file = file(bytes);
    let read = |table: Table| {
        let required = |column| NumberColumn { column, required: true };
        let wanted: Vec<_> = (0..table.header().len()).map(required).collect();
        table.read(&wanted, &[], &mut |_| false)
    };
    match Table::open(&file.path, format).and_then(read) {
        Ok(_) => panic!("this should fail"),
        Err(error) => file.shorten(&error),
    }
}

fn texts(file: &Fixture, column: usize) -> Vec<String> {
    spelled(&file.open().unwrap().read(&[], &[column], &mut |_| false).unwrap().texts[0])
}

fn spelled(texts: &Texts) -> Vec<String> {
    texts.rows.iter().map(|row| texts.values[*row as usize].clone()).collect()
}

fn set_sizes(table: &mut Table, sizes: Sizes) {
    if let Opened::Csv(csv) = &mut table.0 {
        csv.blocks.set_sizes(sizes);
    }
}

/// Equal, with missing values equal to each other.
#[track_caller]
fn assert_same(a: &[f64], b: &[f64]) {
    let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
    assert!(a.len() == b.len() && a.iter().zip(b).all(same), "{a:?} is not {b:?}");
}

/// Writes a table with two further columns: the row number over two, and whether it is even.
fn copy(from: &Path, format: &Format, to: &Path) -> crate::Result<()> {
    let mut stream = Table::open(from, format)?.stream(&[], &[])?;
    let column = |name: &str, kind| NewColumn { name: name.to_string(), kind };
    let columns = vec![column("half", NewKind::Number), column("even", NewKind::Flag)];
    let mut sink = Sink::create(to, &stream, columns, &|| false)?;
    while let Some(batch) = stream.next_batch()? {
        let rows = batch.first_row..batch.first_row + batch.rows as u64;
        let half = rows.clone().map(|row| if row == 3 { f64::NAN } else { row as f64 / 2.0 });
        let even = rows.map(|row| (row != 3).then_some(row % 2 == 0));
        let values = [NewValues::Numbers(half.collect()), NewValues::Flags(even.collect())];
        sink.write(&batch, &values)?;
    }
    sink.finish()
}
