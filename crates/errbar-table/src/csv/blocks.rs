//! A CSV file in blocks of whole records.
//!
//! Only here is the file read in order. A block is cut into pieces of whole records, which are then
//! parsed side by side; a cut at a line feed inside quotes would tear a record, so blocks that hold
//! quotes are cut with care.

use std::io::{Cursor, Read};
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError};

use super::layout::{Layout, closing_quote};

/// How much is read and parsed at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Bytes of a block.
    pub(crate) block: usize,
    /// Bytes of a piece of a block, about; the same whatever the number of threads.
    pub(crate) piece: usize,
    /// The longest record. A quote that is never closed would else take all memory.
    pub(crate) record: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { block: 8 << 20, piece: 256 << 10, record: 256 << 20 }
    }
}

/// Bytes whose memory is used again for a later block, as fresh memory is slow.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    pool: Pool,
}

type Pool = Arc<Mutex<Vec<Vec<u8>>>>;

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.push(std::mem::take(&mut self.bytes));
    }
}

/// Whole records.
pub(crate) struct Block {
    /// What lies behind the last piece is no whole record.
    pub(crate) bytes: Buffer,
    /// Where the bytes can be cut between records; the pieces lie one behind the other.
    pub(crate) pieces: Vec<Range<usize>>,
}

/// Why there is no further block. What is said of a record is said of the first one not delivered.
#[derive(Debug)]
pub(crate) enum Broken {
    Io(std::io::Error),
    /// A quote is open at the end of the file.
    OpenQuote,
    TooLong,
}

/// Reads block by block.
pub(crate) struct Blocks {
    reader: Box<dyn Read + Send>,
    layout: Layout,
    sizes: Sizes,
    /// The beginning of a record whose end was not in the last block.
    carry: Vec<u8>,
    ended: bool,
    pool: Pool,
}

impl Blocks {
    /// Begins with bytes that were read before; they begin with a record.
    pub(crate) fn new(
        begin: Vec<u8>,
        reader: Box<dyn Read + Send>,
        layout: Layout,
        sizes: Sizes,
    ) -> Self {
        let reader = Box::new(Cursor::new(begin).chain(reader));
        Self { reader, layout, sizes, carry: vec![], ended: false, pool: Pool::default() }
    }

    /// Other sizes from now on.
    pub(crate) fn set_sizes(&mut self, sizes: Sizes) {
        self.sizes = sizes;
    }

    /// All bytes that are left, as they are.
    pub(crate) fn into_rest(self) -> impl Read {
        Cursor::new(self.carry).chain(self.reader)
    }

    /// The next records; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Block>, Broken> {
        let spare = self.pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffer = Buffer { bytes: spare.unwrap_or_default(), pool: self.pool.clone() };
        let bytes = &mut buffer.bytes;
        bytes.clear();
        bytes.append(&mut self.carry);
        let mut size = self.sizes.block.max(1);
        loop {
            if !self.ended && bytes.len() < size {
                // Memory that nothing is read into is never touched: small files are read in no time.
                let room = size - bytes.len();
                bytes.reserve_exact(room);
                let rest = self.reader.by_ref().take(room as u64);
                self.ended = { rest }.read_to_end(bytes).map_err(Broken::Io)? < room;
            }
            if bytes.is_empty() {
                return Ok(None);
            }
            let pieces = cut(bytes, self.ended, &self.layout, self.sizes.piece);
            if let Some(last) = pieces.last() {
                self.carry.extend_from_slice(bytes.get(last.end..).unwrap_or_default());
                return Ok(Some(Block { bytes: buffer, pieces }));
            }
            if self.ended {
                return Err(Broken::OpenQuote);
            }
            if bytes.len() >= self.sizes.record {
                return Err(Broken::TooLong);
            }
            size = size.max(bytes.len()).saturating_mul(2);
        }
    }
}

/// Pieces of whole records; nothing when no record is whole. The last line of a file needs no line
/// end.
fn cut(bytes: &[u8], ended: bool, layout: &Layout, piece: usize) -> Vec<Range<usize>> {
    let mut cuts = Cuts { bytes, terminator: layout.terminator, piece, pieces: vec![], last: 0 };
    let mut from = 0;
    loop {
        let rest = bytes.get(from..).unwrap_or_default();
        let Some(quote) = memchr::memchr(b'"', rest).map(|quote| from + quote) else {
            cuts.unquoted(from..bytes.len());
            break;
        };
        cuts.unquoted(from..quote);
        from = if layout.opens(bytes, quote) {
            match closing_quote(bytes, quote + 1, ended) {
                Some(close) => close + 1,
                None => return cuts.until_last(),
            }
        } else {
            quote + 1
        };
    }
    if ended {
        cuts.last = bytes.len();
    }
    cuts.until_last()
}

/// Where to cut, from what was seen so far.
struct Cuts<'a> {
    bytes: &'a [u8],
    terminator: u8,
    piece: usize,
    pieces: Vec<Range<usize>>,
    /// The end of the last whole record.
    last: usize,
}

impl Cuts<'_> {
    fn begin(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end)
    }

    /// Takes note of the line ends in a place without quotes.
    fn unquoted(&mut self, place: Range<usize>) {
        loop {
            let from = place.start.max(self.begin() + self.piece);
            let Some(rest) = self.bytes.get(from..place.end) else { break };
            let Some(end) = memchr::memchr(self.terminator, rest) else { break };
            self.pieces.push(self.begin()..from + end + 1);
        }
        let bytes = self.bytes.get(place.clone()).unwrap_or_default();
        if let Some(end) = memchr::memrchr(self.terminator, bytes) {
            self.last = place.start + end + 1;
        }
    }

    /// The pieces, with what is left up to the end of the last whole record.
    fn until_last(mut self) -> Vec<Range<usize>> {
        if self.last > self.begin() {
            self.pieces.push(self.begin()..self.last);
        }
        self.pieces
    }
}
