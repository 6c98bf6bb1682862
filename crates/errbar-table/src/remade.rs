//! Text that is made while it is read, from what another reader gives.

use std::io::{self, Read};

/// What makes text.
pub(crate) trait Maker {
    /// Adds further text; none is the end.
    fn make(&mut self, text: &mut Vec<u8>) -> io::Result<()>;
}

/// A reader of what is made.
pub(crate) struct Remade<M> {
    maker: M,
    ready: Vec<u8>,
    taken: usize,
}

impl<M: Maker> Remade<M> {
    /// Begins with some text.
    pub(crate) fn new(maker: M, ready: Vec<u8>) -> Self {
        Self { maker, ready, taken: 0 }
    }
}

impl<M: Maker> Read for Remade<M> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() {
            self.ready.clear();
            self.taken = 0;
            self.maker.make(&mut self.ready)?;
        }
        let mut rest = self.ready.get(self.taken..).unwrap_or_default();
        let length = rest.read(buffer)?;
        self.taken += length;
        Ok(length)
    }
}
