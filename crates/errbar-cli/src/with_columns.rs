//! A table written again with further columns, whose values are known for every row of the file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::bail;
use errbar_table::files::Files;
use errbar_table::{Format, NewColumn, NewValues, Sink, Tables};

use crate::{output, stop};

/// How the names of tables may end: besides Parquet, what is plain text to whoever opens it.
const TABLES: [&str; 12] = [
    "csv", "csv.gz", "parquet", "tsv", "tsv.gz", "tab", "tab.gz", "txt", "txt.gz", "dat", "dat.gz",
    "gz",
];

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
    output::check_ending(
        output,
        &TABLES,
        "tables are written to files that end in .csv, .csv.gz or .parquet (or .tsv, where fields are \
         separated by tabs)",
    )
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
