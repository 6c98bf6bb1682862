//! Files that are written: the rows of a stream with further columns.

use std::path::Path;
use std::sync::Arc;

use crate::csv::CsvStream;
use crate::csv::kinds::{self, Kind};
use crate::csv::layout::Layout;
use crate::csv::write::{CsvSink, Style};
use crate::json::write::JsonSink;
use crate::output::{self, Pending};
use crate::packed::Packing;
use crate::parquet::leaf::Leaf;
use crate::parquet::read::ParquetStream;
use crate::parquet::values::Meaning;
use crate::parquet::write::{self, ParquetSink};
use crate::stream::{Arranged, RawRows, Streamed};
use crate::{Batch, Error, Result, Separator, Stream};

/// A column that is added to a table.
pub struct NewColumn {
    /// What it is called.
    pub name: String,
    /// What it holds.
    pub kind: NewKind,
}

/// What an added column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewKind {
    /// Numbers.
    Number,
    /// True or false.
    Flag,
    /// Text.
    Text,
}

/// The values of an added column for one batch.
pub enum NewValues {
    /// NaN is written as missing.
    Numbers(Vec<f64>),
    /// None is written as missing.
    Flags(Vec<Option<bool>>),
    /// The different texts, and for each row its place among them; None is written as missing.
    Texts(Arc<[String]>, Vec<Option<u32>>),
}

/// A file that is being written: the rows of a stream with further columns.
pub struct Sink {
    /// What each further column holds.
    kinds: Vec<NewKind>,
    file: Written,
}

enum Written {
    Csv(CsvSink),
    Json {
        sink: JsonSink,
        /// What the columns of a CSV table hold.
        kinds: Option<Vec<Kind>>,
    },
    Parquet {
        sink: Box<ParquetSink>,
        /// What the columns of a CSV table hold.
        kinds: Option<Vec<Kind>>,
    },
}

impl Sink {
    /// Begins a file beside `path`, which takes its place in the end; `-` is standard output. A name
    /// that ends in .parquet makes a Parquet file, .jsonl or .ndjson JSON lines, .tsv a table with tabs, any other a CSV
    /// with the separator of the table that was read, or commas where it has none of its own; with .gz or .zst behind
    /// that it is compressed. Of several files the first says how.
    ///
    /// A sink comes before the first batch of its stream. For a Parquet file or JSON lines of a CSV table it looks at
    /// all rows; `stop` says whether to give that up.
    ///
    /// # Errors
    /// A name that is taken, a place that cannot be written to, a table that cannot be read, files that do not go
    /// together, or [`Error::Stopped`].
    pub fn create(
        path: &Path,
        stream: &Stream,
        columns: Vec<NewColumn>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self> {
        if let Some(more) = &stream.more {
            more.tables.check_same_columns()?;
        }
        let mut names = stream.header();
        for column in &columns {
            if names.contains(&column.name) {
                return Err(Error::Usage(format!(
                    "the table has a column {:?} already; give the new one another name",
                    column.name
                )));
            }
            names.push(column.name.clone());
        }
        let ending = output::ending(path).unwrap_or_default();
        let packing = Packing::of_name(path);
        let form = ending.split('.').next().unwrap_or_default();
        let tabs = matches!(form, "tsv" | "tab");
        let kinds = columns.iter().map(|column| column.kind).collect();
        let file = match (&stream.now, Form::of(form)) {
            (Streamed::Csv(csv), Form::Text) => {
                let layout = csv.header.layout;
                let separator = match (tabs, csv.header.remade, layout.decimal_comma) {
                    (true, ..) => b'\t',
                    (_, false, _) => layout.separator,
                    (_, true, false) => b',',
                    (_, true, true) => b';',
                };
                let style = Style {
                    separator,
                    line_end: csv.header.line_end,
                    decimal_comma: layout.decimal_comma,
                    packing,
                    at_once: path.as_os_str() == "-",
                };
                let header = match separator == layout.separator && !csv.header.remade {
                    true => csv.header.raw.clone(),
                    false => style.header(&csv.header.names),
                };
                let file = Pending::create(path)?;
                Written::Csv(CsvSink::new(file, style, &header, &columns)?)
            }
            (Streamed::Parquet(parquet), Form::Text) => {
                let table = &parquet.table;
                let told = match table.format.separator {
                    Some(Separator::Byte(byte)) => byte,
                    _ => b',',
                };
                let style = Style {
                    separator: if tabs { b'\t' } else { told },
                    line_end: "\n",
                    decimal_comma: table.format.decimal_comma,
                    packing,
                    at_once: path.as_os_str() == "-",
                };
                check_flat(parquet)?;
                let file = Pending::create(path)?;
                Written::Csv(CsvSink::new(file, style, &style.header(&table.names), &columns)?)
            }
            (Streamed::Parquet(parquet), Form::Json) => {
                check_flat(parquet)?;
                let sink = JsonSink::new(Pending::create(path)?, packing, &names);
                Written::Json { sink, kinds: None }
            }
            (Streamed::Csv(csv), Form::Json) => {
                let kinds = kinds_of_all(csv, stream, stop)?;
                let sink = JsonSink::new(Pending::create(path)?, packing, &names);
                Written::Json { sink, kinds: Some(kinds) }
            }
            (Streamed::Parquet(parquet), Form::Parquet) => {
                if let Some(more) = &stream.more {
                    more.tables.check_same_types()?;
                }
                let name = path.display().to_string();
                let file = Pending::create(path)?;
                let sink = ParquetSink::like(name, file, &parquet.table, &columns)?;
                Written::Parquet { sink: Box::new(sink), kinds: None }
            }
            (Streamed::Csv(csv), Form::Parquet) => {
                if let Some(more) = &stream.more {
                    more.tables.check_same_types()?;
                }
                let kinds = kinds_of_all(csv, stream, stop)?;
                let name = path.display().to_string();
                let file = Pending::create(path)?;
                let sink = ParquetSink::typed(name, file, &csv.header.names, &kinds, &columns)?;
                Written::Parquet { sink: Box::new(sink), kinds: Some(kinds) }
            }
        };
        Ok(Self { kinds, file })
    }

    /// Adds the rows of a batch with their new values, one entry per new column.
    ///
    /// # Errors
    /// Values that do not fit the batch, or a failure to write.
    pub fn write(&mut self, batch: &Batch, values: &[NewValues]) -> Result<()> {
        let fits = |(kind, values): (&NewKind, &NewValues)| match (kind, values) {
            (NewKind::Number, NewValues::Numbers(values)) => values.len() == batch.rows,
            (NewKind::Flag, NewValues::Flags(values)) => values.len() == batch.rows,
            (NewKind::Text, NewValues::Texts(_, rows)) => rows.len() == batch.rows,
            _ => false,
        };
        if values.len() != self.kinds.len() || !self.kinds.iter().zip(values).all(fits) {
            let why = "the new values do not fit the rows and columns of the table";
            return Err(Error::Usage(why.into()));
        }
        let other = || Error::Usage("a batch of one table cannot be written with another".into());
        match (&mut self.file, &batch.kept, &*batch.arranged) {
            (
                Written::Csv(sink),
                RawRows::Csv { bytes, records },
                Arranged::Csv { layout, order },
            ) => match order {
                None if sink.has_separator(layout.separator) => {
                    sink.write_records(bytes, records, values)
                }
                order => sink.write_fields(bytes, records, layout, order.as_deref(), values),
            },
            (Written::Csv(sink), RawRows::Parquet(leaves), Arranged::Parquet { places, .. }) => {
                let leaf = |place: &Option<(usize, Meaning)>| {
                    let (leaf, meaning) = (*place)?;
                    Some((leaves.get(leaf)?, meaning))
                };
                let leaves: Vec<_> = places.iter().filter_map(leaf).collect();
                sink.write_leaves(batch.rows, &leaves, values)
            }
            (
                Written::Parquet { sink, .. },
                RawRows::Parquet(leaves),
                Arranged::Parquet { order, .. },
            ) => {
                let new: Vec<Leaf> = values.iter().map(write::leaf_of).collect();
                let old: Vec<&Leaf> = match order {
                    Some(order) => order.iter().filter_map(|at| leaves.get(*at)).collect(),
                    None => leaves.iter().collect(),
                };
                let parts: Vec<_> = old.into_iter().chain(&new).map(|leaf| vec![leaf]).collect();
                sink.write(batch.rows, &parts)
            }
            (
                Written::Parquet { sink, kinds: Some(kinds) },
                RawRows::Csv { bytes, records },
                Arranged::Csv { layout, order },
            ) => {
                let new: Vec<Leaf> = values.iter().map(write::leaf_of).collect();
                let old = typed(kinds, bytes, records, layout, order.as_deref())?;
                let old = old.iter().map(|parts| parts.iter().collect());
                let parts: Vec<Vec<&Leaf>> = old.chain(new.iter().map(|leaf| vec![leaf])).collect();
                sink.write(batch.rows, &parts)
            }
            (
                Written::Json { sink, kinds: None },
                RawRows::Parquet(leaves),
                Arranged::Parquet { places, .. },
            ) => {
                let new: Vec<Leaf> = values.iter().map(write::leaf_of).collect();
                let old = places.iter().filter_map(|place| {
                    let (leaf, meaning) = (*place)?;
                    Some((vec![leaves.get(leaf)?], meaning))
                });
                let new =
                    new.iter().zip(&self.kinds).map(|(leaf, kind)| (vec![leaf], kind.meaning()));
                sink.write(batch.rows, &old.chain(new).collect::<Vec<_>>())
            }
            (
                Written::Json { sink, kinds: Some(kinds) },
                RawRows::Csv { bytes, records },
                Arranged::Csv { layout, order },
            ) => {
                let new: Vec<Leaf> = values.iter().map(write::leaf_of).collect();
                let old = typed(kinds, bytes, records, layout, order.as_deref())?;
                let old = old.iter().zip(kinds.iter());
                let old = old.map(|(parts, kind)| (parts.iter().collect(), kind.meaning()));
                let new =
                    new.iter().zip(&self.kinds).map(|(leaf, kind)| (vec![leaf], kind.meaning()));
                sink.write(batch.rows, &old.chain(new).collect::<Vec<_>>())
            }
            _ => Err(other()),
        }
    }

    /// Completes the file and puts it in its place.
    ///
    /// # Errors
    /// A failure to write.
    pub fn finish(self) -> Result<()> {
        match self.file {
            Written::Csv(sink) => sink.finish(),
            Written::Json { sink, .. } => sink.finish(),
            Written::Parquet { sink, .. } => sink.finish(),
        }
    }
}

/// What a file is written as, by the ending of its name.
enum Form {
    Text,
    Json,
    Parquet,
}

impl Form {
    fn of(ending: &str) -> Self {
        match ending {
            "parquet" => Self::Parquet,
            "jsonl" | "ndjson" => Self::Json,
            _ => Self::Text,
        }
    }
}

impl NewKind {
    fn meaning(self) -> Meaning {
        match self {
            Self::Number => Meaning::Float,
            Self::Flag => Meaning::Flag,
            Self::Text => Meaning::Text,
        }
    }
}

/// Refuses what only a Parquet file can hold.
fn check_flat(parquet: &ParquetStream) -> Result<()> {
    match parquet.table.places.iter().position(Option::is_none) {
        Some(nested) => Err(parquet.table.nested(nested)),
        None => Ok(()),
    }
}

/// Records of a CSV table as columns of these kinds: the columns of the first file, whose places here `order` gives.
fn typed(
    kinds: &[Kind],
    bytes: &[u8],
    records: &[std::ops::Range<u32>],
    layout: &Layout,
    order: Option<&[usize]>,
) -> Result<Vec<Vec<Leaf>>> {
    let order = order.map_or_else(|| (0..kinds.len()).collect(), <[usize]>::to_vec);
    let changed = || Error::Content("the table has changed while it was read".into());
    let mut here = kinds.to_vec();
    for (kind, at) in kinds.iter().zip(&order) {
        *here.get_mut(*at).ok_or_else(changed)? = *kind;
    }
    let columns = kinds::convert(bytes, records, layout, &here).ok_or_else(changed)?;
    let mut columns: Vec<Option<Vec<Leaf>>> = columns.into_iter().map(Some).collect();
    order.iter().map(|at| columns.get_mut(*at).and_then(Option::take).ok_or_else(changed)).collect()
}

/// What the columns of the first file hold in all files.
fn kinds_of_all(first: &CsvStream, stream: &Stream, stop: &dyn Fn() -> bool) -> Result<Vec<Kind>> {
    let mut kinds = first.kinds(stop)?;
    let Some(more) = &stream.more else { return Ok(kinds) };
    for file in 1..more.tables.len() {
        let (Streamed::Csv(csv), _) = Streamed::new(more.tables.again(file)?, &[], &[])? else {
            continue;
        };
        let here = csv.kinds(stop)?;
        for (kind, at) in kinds.iter_mut().zip(more.tables.beside_first(file)) {
            *kind = here.get(at).map_or(*kind, |here| (*here).max(*kind));
        }
    }
    Ok(kinds)
}
