//! Compressed files, unpacked while they are read: gzip, Zstandard, xz and bzip2, known by their first bytes.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use bzip2::read::MultiBzDecoder;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lzma_rust2::XzReader;

use crate::words::{Told, plain};

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

/// The most memory that unpacking may ask for, in KiB: xz -9 asks for 65 MB, and a damaged file for anything.
const XZ_MEMORY: u32 = 1 << 20;

/// Windows of zstd --long=27 and below.
const ZSTD_WINDOW: u32 = 27;

/// How hard a gzipped file is squeezed: 3% larger than at the usual 6, in a third of the time.
const GZIP_LEVEL: u32 = 4;

/// The usual one of zstd.
const ZSTD_LEVEL: i32 = 3;

impl Packing {
    /// What the first bytes say.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        // A frame that readers skip may come first.
        let skippable = |head: &[u8]| matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
                if rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17\x72\x45\x38\x50\x90") =>
            {
                Some(Self::Bzip2)
            }
            head if skippable(head) => Some(Self::Zstd),
            _ => None,
        }
    }

    /// How a file of this name is to be packed, as far as that is written.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let ends_in =
            |ending: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
        match () {
            () if ends_in("gz") => Some(Self::Gzip),
            () if ends_in("zst") => Some(Self::Zstd),
            () => None,
        }
    }

    /// Packs bytes; those packed one behind the other unpack to all of them.
    pub(crate) fn pack(self, bytes: &[u8]) -> Vec<u8> {
        // Writing to memory does not fail.
        match self {
            Self::Zstd => zstd::bulk::compress(bytes, ZSTD_LEVEL).unwrap_or_default(),
            _ => {
                let room = Vec::with_capacity(bytes.len() / 2);
                let mut encoder = GzEncoder::new(room, Compression::new(GZIP_LEVEL));
                let _ = encoder.write_all(bytes);
                encoder.finish().unwrap_or_default()
            }
        }
    }

    /// What messages call it, and the command that unpacks it.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Gzip => ("gzip", "gunzip"),
            Self::Zstd => ("zstd", "zstd -d"),
            Self::Xz => ("xz", "xz -d"),
            Self::Bzip2 => ("bzip2", "bunzip2"),
        }
    }

    /// What is inside, in as many members as there are. A failure is a [`Told`] with the name of the file.
    pub(crate) fn unpack(
        self,
        name: &str,
        packed: impl Read + Send + 'static,
    ) -> io::Result<Box<dyn Read + Send>> {
        let buffered = BufReader::with_capacity(128 << 10, packed);
        let inner: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(buffered)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(buffered)?;
                decoder.window_log_max(ZSTD_WINDOW)?;
                Box::new(decoder)
            }
            Self::Xz => Box::new(XzReader::new_mem_limit(buffered, true, XZ_MEMORY)),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(buffered)),
        };
        Ok(Box::new(Unpacking { inner, packing: self, name: name.to_string() }))
    }
}

/// A decoder whose failures say what is wrong with the file.
struct Unpacking {
    inner: Box<dyn Read + Send>,
    packing: Packing,
    name: String,
}

impl Read for Unpacking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            // What the system says is about the disk and not about what is on it.
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let (what, _) = self.packing.words();
            let (name, why) = (&self.name, plain(&error));
            Told::error(format!(
                "cannot unpack {name}: the {what} data is damaged or cut short ({why})"
            ))
        })
    }
}
