//! A table written again with further columns, whose values are known for every row of the file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::bail;
use errbar_table::files::Files;
use errbar_table::{Format, NewColumn, NewValues, Sink, Tables};

use crate::{output, stop};

/// How the names of tables may end: besides Parquet and JSON lines, what is plain text to whoever opens it.
const TABLES: [&str; 7] = ["csv", "tsv", "tab", "txt", "dat", "jsonl", "ndjson"];

/// What may follow these.
const PACKED: [&str; 2] = ["gz", "zst"];

/// Refuses a place that a table is not written to.
pub(crate) fn check(output: &Path) -> anyhow::Result<()> {
    check_name(output)?;
    if output.as_os_str() != "-" {
        output::check_place(output)?;
    }
    Ok(())
}

/// Refuses a name that promises another kind of file.
pub(crate) fn check_name(output: &Path) -> anyhow::Result<()> {
    let packed = PACKED.iter().flat_map(|packed| TABLES.map(|table| format!("{table}.{packed}")));
    let packed: Vec<String> = packed.collect();
    let packed = packed.iter().map(String::as_str);
    let all: Vec<&str> =
        TABLES.into_iter().chain(PACKED).chain(["parquet"]).chain(packed).collect();
    output::check_ending(
        output,
        &all,
        "tables are written to files that end in .csv, .tsv, .jsonl (also with .gz or .zst) or .parquet",
    )
}

/// The name of a file that is written with the rows of another one, of the same kind where that is written: a spreadsheet
/// becomes a CSV, and what is packed otherwise is not.
pub(crate) fn as_written(read: &Path) -> PathBuf {
    let ending = output::ending(read).unwrap_or_default();
    match ending.rsplit('.').next() {
        Some("xlsx" | "xlsm" | "xlsb" | "ods") => read.with_extension("csv"),
        Some("xz" | "bz2") => read.with_extension(""),
        _ => read.to_path_buf(),
    }
}

/// Copies the table that files make; `values` gives those of some of its rows, counted from 0.
pub(crate) fn write(
    files: &[PathBuf],
    format: &Format,
    output: &Path,
    columns: Vec<NewColumn>,
    values: &dyn Fn(Range<usize>) -> Vec<NewValues>,
) -> anyhow::Result<()> {
    let tables = Tables::open(&Files::of(files)?.paths, format)?;
    for NewColumn { name, .. } in &columns {
        if tables.header().contains(name) {
            bail!("{} has a column \"{name}\" already; rename it", tables.name());
        }
    }
    let mut stream = tables.stream(&[], &[])?;
    let mut sink = Sink::create(output, &stream, columns, &stop::asked)?;
    while let Some(batch) = stream.next_batch()? {
        stop::check()?;
        let from = batch.first_row as usize - 1;
        sink.write(&batch, &values(from..from + batch.rows))?;
    }
    Ok(sink.finish()?)
}
