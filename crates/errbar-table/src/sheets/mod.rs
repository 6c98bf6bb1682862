//! Spreadsheets: .xlsx, .xlsb and .ods, held whole. A sheet becomes a CSV with tabs, whose dates are ISO 8601.

mod cells;
mod grid;
mod repeated;

use std::any::Any;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use zip::ZipArchive;

use crate::source::{Form, Text};
use crate::words::{plain, shown};
use crate::{Error, Format, Note, Result};
use cells::Workbook;
use grid::Grid;

/// What all parts of a spreadsheet may unpack to, in bytes: more is not meant to be read.
const LARGEST: u64 = 4 << 30;

/// What the cells of an open document may be, with all repetitions: they take some 100 bytes each.
const MOST_REPEATED: u64 = 1 << 24;

/// What a file is that is packed as spreadsheets are.
enum Content {
    Xlsx,
    Xlsb,
    Ods,
}

/// Reads a sheet of a spreadsheet, which a zip archive may be.
pub(crate) fn read(name: &str, mut file: File, format: &Format) -> Result<Text> {
    let content = content(name, &file)?;
    file.rewind().map_err(|error| Error::Read { file: name.to_string(), error })?;
    let read = || -> std::result::Result<_, String> {
        let mut workbook = Workbook::open(&content, file)?;
        choose(&mut workbook, format)
    };
    let chosen = guard(read).map_err(|why| {
        Error::Content(match why.to_lowercase().contains("password") {
            true => format!("{name} is a spreadsheet with a password; save it without one"),
            false => format!("cannot read {name}: the spreadsheet is damaged or of a kind that is not known ({why})"),
        })
    })?;
    let Chosen { sheet, grid, others } = match chosen {
        Ok(chosen) => chosen,
        Err(why) => return Err(Error::Content(format!("{name} {why}"))),
    };
    let text =
        grid.text().map_err(|why| Error::Content(format!("{name}, sheet {sheet:?}: {why}")))?;
    let mut notes = vec![];
    if format.sheet.is_none() && !others.is_empty() {
        notes.push(Note::Sheet { file: name.to_string(), taken: sheet, others });
    }
    Ok(Text { head: vec![], rest: Box::new(Cursor::new(text)), form: Form::Sheet, notes })
}

/// What a zip archive is, by what lies in it.
fn content(name: &str, file: &File) -> Result<Content> {
    let refused = |what: String| Error::Content(format!("{name} is {what}"));
    let archive = guard(|| ZipArchive::new(file).map_err(|error| error.to_string()));
    let mut archive = archive.map_err(|why| {
        refused(format!("a zip archive or a spreadsheet, and damaged or cut short ({why})"))
    })?;
    let size = archive.decompressed_size().unwrap_or(0);
    if size > u128::from(LARGEST) {
        let gigabytes = size >> 30;
        return Err(refused(format!(
            "a zip archive that unpacks to {gigabytes} GB; save the table as CSV or Parquet"
        )));
    }
    let names: Vec<String> =
        archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    let has = |wanted: &str| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
    let begins = |wanted: &str| names.iter().any(|name| name.starts_with(wanted));
    match () {
        () if has("xl/workbook.xml") => Ok(Content::Xlsx),
        () if has("xl/workbook.bin") => Ok(Content::Xlsb),
        () if has("content.xml") && has("META-INF/manifest.xml") => {
            let mut content = vec![];
            // What cannot be read is told by the reader.
            if let Ok(part) = archive.by_name("content.xml") {
                let _ = part.take(LARGEST).read_to_end(&mut content);
            }
            if !repeated::is_whole(&content) {
                let why =
                    "the spreadsheet is damaged: its content ends too soon, or makes no sense";
                return Err(Error::Content(format!("cannot read {name}: {why}")));
            }
            let cells = repeated::cells(&content);
            match cells > MOST_REPEATED {
                true => Err(refused(format!(
                    "a spreadsheet of {cells} cells, with those that repeat others; save it as CSV"
                ))),
                false => Ok(Content::Ods),
            }
        }
        () if begins("Index/") || names.iter().any(|name| name.ends_with(".iwa")) => {
            Err(refused("a spreadsheet of Numbers; export it as Excel or CSV".into()))
        }
        () if begins("word/") || begins("ppt/") => Err(refused(
            "a document of Office and no spreadsheet; save its table as CSV or .xlsx".into(),
        )),
        () if begins("xl/") => {
            Err(refused("a spreadsheet without a workbook; save it as .xlsx or CSV".into()))
        }
        () if !names.is_empty() && names.iter().all(|name| name.ends_with(".npy")) => Err(refused(
            "an archive of NumPy; save its arrays as the columns of a CSV or Parquet file".into(),
        )),
        () => {
            let shown: Vec<String> =
                names.iter().take(3).map(|name| shown(name.as_bytes())).collect();
            let (count, files) = (names.len(), if names.len() == 1 { "file" } else { "files" });
            let more = if names.len() > 3 { ", …" } else { "" };
            Err(refused(format!(
                "a zip archive of {count} {files} ({}{more}); unpack it first, with unzip",
                shown.join(", ")
            )))
        }
    }
}

/// The sheet that is read.
struct Chosen {
    sheet: String,
    grid: Grid,
    /// The names of all other sheets.
    others: Vec<String>,
}

/// The sheet that was asked for, or the first that holds a table; or why there is none, as what follows the name of the
/// file.
fn choose(
    workbook: &mut Workbook,
    format: &Format,
) -> std::result::Result<std::result::Result<Chosen, String>, String> {
    let sheets = workbook.sheets();
    let others = |taken: &str| -> Vec<String> {
        sheets.iter().map(|(name, _)| name.clone()).filter(|name| name != taken).collect()
    };
    let listed = || {
        let names: Vec<String> = sheets.iter().map(|(name, _)| format!("{name:?}")).collect();
        names.join(", ")
    };
    if sheets.is_empty() {
        return Ok(Err("has no sheet that holds cells".into()));
    }
    if let Some(wanted) = &format.sheet {
        let by_number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let by_name = |exact: bool| {
            sheets.iter().position(|(name, _)| match exact {
                true => name == wanted,
                false => name.trim().eq_ignore_ascii_case(wanted.trim()),
            })
        };
        let place = by_name(true).or_else(|| by_name(false)).or(by_number);
        let Some((name, _)) = place.and_then(|place| sheets.get(place)) else {
            return Ok(Err(format!("has no sheet {wanted:?}; it has {}", listed())));
        };
        let grid = workbook.grid(name, format.decimal_comma)?;
        return Ok(match grid.is_empty() {
            true => Err(format!("has nothing in its sheet {name:?}; it has {}", listed())),
            false => Ok(Chosen { sheet: name.clone(), grid, others: others(name) }),
        });
    }
    // Hidden sheets last: what lies there is seldom what is meant.
    let visible = sheets.iter().filter(|(_, visible)| *visible);
    let hidden = sheets.iter().filter(|(_, visible)| !*visible);
    let mut first = None;
    for (name, _) in visible.chain(hidden) {
        let grid = workbook.grid(name, format.decimal_comma)?;
        if grid.holds_table() {
            return Ok(Ok(Chosen { sheet: name.clone(), grid, others: others(name) }));
        }
        if first.is_none() && !grid.is_empty() {
            first = Some((name, grid));
        }
    }
    Ok(match first {
        Some((name, grid)) => Ok(Chosen { sheet: name.clone(), grid, others: others(name) }),
        None => Err(format!("has nothing in its sheets {}", listed())),
    })
}

/// A sentence for what would else end the program: damaged files can break assumptions of the reader.
fn guard<T>(
    read: impl FnOnce() -> std::result::Result<T, String>,
) -> std::result::Result<T, String> {
    let said = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("its structure makes no sense").to_string()
    };
    let result = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| Err(said(panic)));
    result.map_err(|why| {
        let why = shown_whole(&why);
        plain(&io::Error::other(why))
    })
}

/// On one line, and not too long.
fn shown_whole(text: &str) -> String {
    const MOST: usize = 120;
    let text = text.replace(char::is_control, " ");
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
