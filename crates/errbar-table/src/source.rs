//! Where a table comes from, and what kind of file it is by its first bytes.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::packed::Packing;
use crate::refused::other_kind;
use crate::words::Told;
use crate::{Error, Format, Note, Result, json, sheets};

/// Bytes looked at to tell what a file is.
const HEAD: u64 = 4096;

/// How much of a file was read, in bytes of the file itself.
#[derive(Clone)]
pub(crate) struct Progress {
    read: Arc<AtomicU64>,
    /// Unknown for pipes.
    length: Option<u64>,
}

impl Progress {
    pub(crate) fn share(&self) -> Option<f64> {
        let read = self.read.load(Ordering::Relaxed) as f64;
        let length = self.length?;
        Some(if length == 0 { 1.0 } else { (read / length as f64).min(1.0) })
    }
}

/// An opened file of which nothing but its kind is known.
pub(crate) struct Source {
    /// What messages call it.
    pub(crate) name: String,
    /// The path, where the file can be opened again and gives the same bytes.
    pub(crate) path: Option<PathBuf>,
    pub(crate) progress: Progress,
    pub(crate) kind: Kind,
}

/// What a file is.
pub(crate) enum Kind {
    /// Text, or what has been made text.
    Text(Text),
    /// A Parquet file, which is read out of order. A copy of a pipe has no name and is gone when it
    /// is closed.
    Parquet(File),
}

/// A table as text: what was read of it, and the rest.
pub(crate) struct Text {
    pub(crate) head: Vec<u8>,
    pub(crate) rest: Box<dyn Read + Send>,
    pub(crate) form: Form,
    /// What there is to say of how it became text.
    pub(crate) notes: Vec<Note>,
}

/// What a table was before it was text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text.
    Plain,
    /// A sheet, made a CSV with tabs.
    Sheet,
    /// JSON, made a CSV with tabs: its first line is the header, whatever it looks like.
    Json,
}

const PARQUET: &[u8] = b"PAR1";
const ZIP: &[u8] = b"PK\x03\x04";

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path, format: &Format) -> Result<Source> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { "standard input".to_string() } else { path.display().to_string() };
    let failed = |error: io::Error| not_read(&name, error);

    let read = Arc::new(AtomicU64::new(0));
    let count = read.clone();
    let (raw, length): (Box<dyn Read + Send>, _) = if is_stdin {
        (Box::new(Counted { inner: io::stdin(), count }), None)
    } else {
        // A folder opens without complaint on some systems, and fails with an odd word when read.
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            let why = "it is a folder; name a file in it";
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, why)));
        }
        let length = metadata.is_file().then_some(metadata.len());
        (Box::new(Counted { inner: File::open(path).map_err(failed)?, count }), length)
    };
    let progress = Progress { read, length };
    let reopen = length.is_some().then(|| path.to_path_buf());
    // The whole file, to be read out of order.
    let whole = |head: Vec<u8>, rest: Box<dyn Read + Send>| match &reopen {
        Some(path) => File::open(path).map_err(|error| not_read(&name, error)),
        None => spool(Cursor::new(head).chain(rest)),
    };

    let (mut head, mut rest) = look(raw).map_err(failed)?;
    if head.starts_with(PARQUET) {
        let kind = Kind::Parquet(whole(head, rest)?);
        return Ok(Source { name, path: reopen, progress, kind });
    }
    if let Some(packing) = Packing::of(&head) {
        let unpacked = packing.unpack(&name, Cursor::new(head).chain(rest)).map_err(failed)?;
        (head, rest) = look(unpacked).map_err(failed)?;
        let (what, command) = packing.words();
        let inside = match () {
            () if head.starts_with(PARQUET) => "a Parquet file",
            () if head.starts_with(ZIP) => "a zip archive or a spreadsheet",
            () if Packing::of(&head).is_some() => "compressed once more and",
            () => "",
        };
        if !inside.is_empty() {
            return Err(Error::Content(format!(
                "{name} is {inside} compressed with {what}; unpack it with {command} first"
            )));
        }
    } else if head.starts_with(ZIP) {
        let text = sheets::read(&name, whole(head, rest)?, format)?;
        return Ok(Source { name, path: reopen, progress, kind: Kind::Text(text) });
    }
    if let Some(what) = other_kind(&head) {
        return Err(Error::Content(format!("{name} is {what}")));
    }
    let text = match json::is_json(&head) {
        true => json::read(&name, head, rest, format)?,
        false => Text { head, rest, form: Form::Plain, notes: vec![] },
    };
    Ok(Source { name, path: reopen, progress, kind: Kind::Text(text) })
}

/// A copy of a stream that can be read out of order or twice.
pub(crate) fn spool(mut reader: impl Read) -> Result<File> {
    let failed = |error: io::Error| Error::Copy { folder: std::env::temp_dir(), error };
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut reader, &mut file).map_err(failed)?;
    io::Seek::rewind(&mut file).map_err(failed)?;
    Ok(file)
}

/// A failure while reading.
pub(crate) fn not_read(name: &str, error: io::Error) -> Error {
    match Told::of(&error) {
        Some(sentence) => Error::Content(sentence),
        None => Error::Read { file: name.to_string(), error },
    }
}

/// The first bytes and the rest.
fn look(mut reader: Box<dyn Read + Send>) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    reader.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head, reader))
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
