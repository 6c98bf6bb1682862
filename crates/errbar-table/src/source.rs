//! Where a table comes from, and what kind of file it is by its first bytes.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::words::plain;
use crate::{Error, Result};

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
    /// Text, decompressed where need be: what was read of it, and the rest.
    Text(Vec<u8>, Box<dyn Read + Send>),
    /// A Parquet file, which is read out of order. A copy of a pipe has no name and is gone when it
    /// is closed.
    Parquet(File),
}

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> Result<Source> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { "standard input".to_string() } else { path.display().to_string() };
    let failed = |error: io::Error| Error::Read { file: name.clone(), error };

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

    let (head, rest) = look(raw).map_err(failed)?;
    if head.starts_with(b"PAR1") {
        let file = match &reopen {
            Some(path) => File::open(path).map_err(failed)?,
            None => spool(Cursor::new(head).chain(rest))?,
        };
        return Ok(Source { name, path: reopen, progress, kind: Kind::Parquet(file) });
    }
    let (head, rest) = if head.starts_with(&[0x1f, 0x8b]) {
        let (head, rest) = look(Box::new(MultiGzDecoder::new(Cursor::new(head).chain(rest))))
            .map_err(|error| not_unpacked(&name, &error))?;
        if head.starts_with(b"PAR1") {
            let what = "a gzipped Parquet file; unpack it with gunzip first";
            return Err(Error::Content(format!("{name} is {what}")));
        }
        (head, rest)
    } else {
        (head, rest)
    };
    if let Some(what) = other_kind(&head) {
        return Err(Error::Content(format!("{name} is {what}")));
    }
    Ok(Source { name, path: reopen, progress, kind: Kind::Text(head, rest) })
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
    match error.kind() {
        // Only the decompressor says these.
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            not_unpacked(name, &error)
        }
        _ => Error::Read { file: name.to_string(), error },
    }
}

fn not_unpacked(name: &str, error: &io::Error) -> Error {
    let why = plain(error);
    Error::Content(format!("cannot unpack {name}: the gzip data is damaged or cut short ({why})"))
}

/// The first bytes and the rest.
fn look(mut reader: Box<dyn Read + Send>) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    reader.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head, reader))
}

/// What a file is that is no text, and what to do about it.
fn other_kind(head: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 15] = [
        (b"PK\x03\x04", "a zip archive or an Excel workbook; unpack it or save it as CSV"),
        (b"PK\x05\x06", "an empty zip archive; give a CSV or Parquet file"),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook; save it as CSV"),
        (b"\xfd7zXZ\x00", "compressed with xz; unpack it with xz -d, or compress it with gzip"),
        (
            b"\x28\xb5\x2f\xfd",
            "compressed with zstd; unpack it with zstd -d, or compress it with gzip",
        ),
        (
            b"\x04\x22\x4d\x18",
            "compressed with lz4; unpack it with lz4 -d, or compress it with gzip",
        ),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
        (b"ARROW1", "an Arrow file; save it as Parquet or CSV"),
        (b"FEA1", "a Feather file; save it as Parquet or CSV"),
        (b"\x89HDF", "an HDF5 or NetCDF file; save the table as Parquet or CSV"),
        (b"CDF\x01", "a NetCDF file; save the table as Parquet or CSV"),
        (b"CDF\x02", "a NetCDF file; save the table as Parquet or CSV"),
        (b"SQLite format 3", "an SQLite database; save the table as CSV"),
        (b"%PDF-", "a PDF file; give a CSV or Parquet file"),
        (b"PARE", "an encrypted Parquet file; save it without encryption"),
    ];
    if let Some((_, what)) = KINDS.iter().find(|(mark, _)| head.starts_with(mark)) {
        return Some(what);
    }
    if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
        return Some("compressed with bzip2; unpack it with bunzip2, or compress it with gzip");
    }
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|&&b| b == 0).count();
    let half = head.len() / 2;
    if head.starts_with(&[0xff, 0xfe])
        || head.starts_with(&[0xfe, 0xff])
        || (half > 1 && (zeros(0) > half * 2 / 3) != (zeros(1) > half * 2 / 3))
    {
        return Some("text in UTF-16; save it as UTF-8 (in Excel: \"CSV UTF-8\")");
    }
    head.contains(&0)
        .then_some("neither text nor Parquet; give a CSV file, also gzipped, or a Parquet file")
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
