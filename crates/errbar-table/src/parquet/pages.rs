//! What lies between a Parquet file and the crate that decodes it: reading at any place from several
//! threads, and pages that are checked for what the decoder takes for granted.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length, SerializedPageReader};

/// A file that several threads read at places of their own.
#[derive(Clone)]
pub(crate) struct Shared {
    file: Arc<File>,
    length: u64,
}

impl Shared {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }
}

impl Length for Shared {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Shared {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        // Only headers of pages are read this way.
        Ok(BufReader::with_capacity(1024, At { shared: self.clone(), place: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A length beyond the file must not become an allocation.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF("a page lies outside of the file".to_string()));
        }
        let mut bytes = vec![0; length];
        At { shared: self.clone(), place: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// A place in a shared file.
pub(crate) struct At {
    shared: Shared,
    place: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.shared.file, buffer, self.place)?;
        #[cfg(windows)]
        let read =
            std::os::windows::fs::FileExt::seek_read(&*self.shared.file, buffer, self.place)?;
        self.place += read as u64;
        Ok(read)
    }
}

/// The pages of a column in a row group. Values that refer to a dictionary come after it.
pub(crate) struct Pages {
    inner: SerializedPageReader<Shared>,
    has_dictionary: bool,
}

impl Pages {
    pub(crate) fn new(file: &Shared, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        let inner = SerializedPageReader::new(Arc::new(file.clone()), chunk, rows, None)?;
        Ok(Self { inner, has_dictionary: false })
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        if let Some(page) = &page {
            let refers =
                matches!(page.encoding(), Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
            if page.is_dictionary_page() {
                self.has_dictionary = true;
            } else if refers && !self.has_dictionary {
                return Err(ParquetError::General("a dictionary is not there".to_string()));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.inner.at_record_boundary()
    }
}
