//! The places of separators and line ends, 64 bytes at a time.
//!
//! Fields are short, so a search that starts anew at each of them costs more than the parsing. A
//! mask with one bit per byte is made once, and fields that nobody asked for are counted away.

/// Up to so many separators are passed one by one: that is faster than counting bits where the
/// processor at hand cannot be relied upon to have an instruction for it.
const FEW: usize = 6;

/// Walks over the separators and line ends of some bytes.
pub(crate) struct Marks<'a> {
    bytes: &'a [u8],
    separator: u8,
    terminator: u8,
    /// The first byte of the current word.
    start: usize,
    /// One bit for each separator in the word that was not yet passed, the lowest first.
    separators: u64,
    /// The same for line ends.
    ends: u64,
}

impl<'a> Marks<'a> {
    pub(crate) fn new(bytes: &'a [u8], separator: u8, terminator: u8) -> Self {
        let mut marks = Self { bytes, separator, terminator, start: 0, separators: 0, ends: 0 };
        marks.load();
        marks
    }

    /// Makes the masks of the current word.
    #[inline]
    fn load(&mut self) {
        let rest = self.bytes.get(self.start..).unwrap_or_default();
        if let Some(word) = rest.first_chunk::<64>() {
            (self.separators, self.ends) = masks(word, self.separator, self.terminator);
        } else {
            let mut word = [0; 64];
            for (to, from) in word.iter_mut().zip(rest) {
                *to = *from;
            }
            (self.separators, self.ends) = masks(&word, self.separator, self.terminator);
        }
    }

    /// Goes to the next word; false at the end of the bytes.
    #[inline]
    fn advance(&mut self) -> bool {
        if self.start + 64 >= self.bytes.len() {
            self.separators = 0;
            self.ends = 0;
            return false;
        }
        self.start += 64;
        self.load();
        true
    }

    /// Passes the next mark: its place and whether it ends the record. The end of the bytes ends a
    /// record too.
    #[inline]
    pub(crate) fn next(&mut self) -> (usize, bool) {
        loop {
            let both = self.separators | self.ends;
            if both != 0 {
                let lowest = both & both.wrapping_neg();
                let is_end = self.ends & lowest != 0;
                self.separators &= !lowest;
                self.ends &= !lowest;
                return (self.start + both.trailing_zeros() as usize, is_end);
            }
            if !self.advance() {
                return (self.bytes.len(), true);
            }
        }
    }

    /// Passes `count` separators of the same record. The place of the last of them, or, where the
    /// record ends before, the number that was passed and the place of the end.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) -> Result<usize, (usize, usize)> {
        let mut left = count;
        loop {
            if left > FEW && self.ends == 0 {
                let here = self.separators.count_ones() as usize;
                if here < left {
                    left -= here;
                    if !self.advance() {
                        return Err((count - left, self.bytes.len()));
                    }
                    continue;
                }
            }
            match self.next() {
                (end, true) => return Err((count - left, end)),
                (place, false) if left == 1 => return Ok(place),
                _ => left -= 1,
            }
        }
    }

    /// Passes the rest of the record, which should have `expected` separators: how many there were,
    /// and where it ends.
    #[inline]
    pub(crate) fn finish(&mut self, expected: usize) -> (usize, usize) {
        let mut count = 0;
        while count <= expected.min(FEW) {
            match self.next() {
                (end, true) => return (count, end),
                _ => count += 1,
            }
        }
        loop {
            if self.ends != 0 {
                let lowest = self.ends & self.ends.wrapping_neg();
                let end = self.start + self.ends.trailing_zeros() as usize;
                let before = lowest - 1;
                count += (self.separators & before).count_ones() as usize;
                self.separators &= !before;
                self.ends &= !lowest;
                return (count, end);
            }
            count += self.separators.count_ones() as usize;
            if !self.advance() {
                return (count, self.bytes.len());
            }
        }
    }

    /// Forgets the marks before a place that is further on.
    #[inline]
    pub(crate) fn seek(&mut self, place: usize) {
        if place >= self.start + 64 {
            self.start = place & !63;
            self.load();
        }
        let keep = u64::MAX << (place & 63);
        self.separators &= keep;
        self.ends &= keep;
    }
}

/// For each of two bytes, one bit for every place where it stands.
#[inline(always)]
fn masks(word: &[u8; 64], separator: u8, terminator: u8) -> (u64, u64) {
    (mask(word, separator), mask(word, terminator))
}

#[inline(always)]
fn mask(word: &[u8; 64], wanted: u8) -> u64 {
    // The compiler makes vector instructions of this loop.
    let is_wanted = word.map(|byte| u8::from(byte == wanted));
    let eights = is_wanted.as_chunks::<8>().0.iter().enumerate();
    eights.fold(0, |mask, (i, eight)| {
        // Gathers the lowest bits of eight bytes into one byte.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask | bits << (8 * i)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_agree_with_their_definition() {
        let mut word = [0u8; 64];
        for round in 0..500u32 {
            for (i, byte) in word.iter_mut().enumerate() {
                let random = (i as u32 + 64 * round).wrapping_mul(2_654_435_761).rotate_left(13);
                *byte = [b',', b'\n', b'-', 0xac, 0x8a, b'+', 0, 255][random as usize % 8];
            }
            let expected = |wanted| {
                word.iter().enumerate().fold(0, |m, (i, b)| m | (u64::from(*b == wanted) << i))
            };
            let expected = (expected(b','), expected(b'\n'));
            assert_eq!(masks(&word, b',', b'\n'), expected);
        }
    }

    #[test]
    fn skipping_counts_across_words_and_stops_at_the_end_of_a_record() {
        let bytes = [vec![b','; 100], b"ab\n".to_vec(), vec![b','; 3]].concat();
        let mut marks = Marks::new(&bytes, b',', b'\n');
        assert_eq!(marks.skip(70), Ok(69));
        assert_eq!(marks.next(), (70, false));
        assert_eq!(marks.finish(29), (29, 102));
        assert_eq!(marks.skip(4), Err((3, 106)));
        let mut marks = Marks::new(&bytes, b',', b'\n');
        assert_eq!(marks.skip(101), Err((100, 102)));
        assert_eq!(marks.skip(3), Ok(105));
        assert_eq!(marks.next(), (106, true));
        for expected in [0, 5, 100, 1000] {
            let mut marks = Marks::new(&bytes, b',', b'\n');
            assert_eq!(marks.finish(expected), (100, 102));
            assert_eq!(marks.finish(expected), (3, 106));
        }
        let mut marks = Marks::new(&bytes, b',', b'\n');
        marks.seek(101);
        assert_eq!(marks.next(), (102, true));
    }
}
