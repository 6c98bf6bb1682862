//! Accumulators as bytes, to be sent from one process to another: only what was counted is in them.
//!
//! Whole numbers take as many bytes as they need, and other doubles nine; a bin in which nothing lies takes none. So
//! a few rows are a few hundred bytes, and any number of them some hundred thousand.

use super::{Accumulator, SUMS, Waiting};
use crate::error::{Error, Result};
use crate::score::block::{BLOCK, Sum};

/// What the bytes begin with.
const MAGIC: &[u8] = b"errbar sums\0";
/// The version of the form; older programs refuse newer forms.
const FORM: u64 = 1;

impl Accumulator {
    /// Everything that was counted, to be read by [`Accumulator::from_bytes`] bit by bit.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.whole(FORM);
        out.text(env!("CARGO_PKG_VERSION"));
        out.whole(self.rows);
        out.whole(self.counted);
        self.sums.iter().for_each(|sum| out.sum(*sum));
        let Waiting { error, sigma, weight } = &self.waiting;
        out.whole(error.len() as u64);
        [error, sigma, weight].into_iter().flatten().for_each(|value| out.number(*value));
        out.bins(self.pit.bins().iter().map(|count| [*count]));
        let (largest, bins) = self.eta.parts();
        out.number(largest);
        out.bins(bins.map(|(weight, eta, squares)| {
            let ((a, b), (c, d)) = (weight.parts(), eta.parts());
            [a, b, c, d, squares]
        }));
        out.0
    }

    /// Reads what [`Accumulator::to_bytes`] wrote.
    ///
    /// # Errors
    /// Bytes that are something else, that are cut off, or of a form that this version does not know.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bad = |why: &str| Error::BadSums { why: why.into() };
        let rest = bytes.strip_prefix(MAGIC);
        let mut from = Reader(rest.ok_or_else(|| bad("these bytes are something else"))?);
        let cut = || bad("the bytes end too early");
        let (form, version) = (from.whole().ok_or_else(cut)?, from.text().ok_or_else(cut)?);
        if form != FORM {
            return Err(Error::BadSums {
                why: format!(
                    "errbar {version} wrote them in form {form}, and this is errbar {}, which knows form {FORM}: have \
                     one version everywhere",
                    env!("CARGO_PKG_VERSION")
                ),
            });
        }
        from.accumulator().ok_or_else(|| bad("the bytes end too early or do not fit together"))
    }
}

struct Writer(Vec<u8>);

impl Writer {
    /// Seven bits to a byte, the lowest first.
    fn whole(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn text(&mut self, text: &str) {
        self.whole(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// One more than a whole number, or zero and the bits.
    fn number(&mut self, value: f64) {
        let whole = value as u64;
        if (whole as f64).to_bits() == value.to_bits() && whole < 1 << 53 {
            return self.whole(whole + 1);
        }
        self.0.push(0);
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    fn sum(&mut self, sum: Sum) {
        let (high, low) = sum.parts();
        self.number(high);
        self.number(low);
    }

    /// The bins with something in them, each after how many bins are skipped before it.
    fn bins<const K: usize>(&mut self, bins: impl Iterator<Item = [f64; K]>) {
        let filled: Vec<(usize, [f64; K])> =
            bins.enumerate().filter(|(_, bin)| bin.iter().any(|v| v.to_bits() != 0)).collect();
        self.whole(filled.len() as u64);
        let mut next = 0;
        for (place, bin) in filled {
            self.whole((place - next) as u64);
            bin.iter().for_each(|value| self.number(*value));
            next = place + 1;
        }
    }
}

/// Reads what [`Writer`] wrote; `None` where the bytes end or do not fit.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn whole(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.whole()?).ok()?;
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    fn number(&mut self) -> Option<f64> {
        Some(match self.whole()? {
            0 => f64::from_le_bytes(self.take(8)?.try_into().ok()?),
            whole => (whole - 1) as f64,
        })
    }

    fn sum(&mut self) -> Option<Sum> {
        Some(Sum::of_parts(self.number()?, self.number()?))
    }

    /// Calls for each filled bin.
    fn bins<const K: usize>(
        &mut self,
        mut put: impl FnMut(usize, [f64; K]) -> Option<()>,
    ) -> Option<()> {
        let mut next = 0usize;
        for _ in 0..self.whole()? {
            let place = next.checked_add(usize::try_from(self.whole()?).ok()?)?;
            let mut bin = [0.0; K];
            for value in &mut bin {
                *value = self.number()?;
            }
            put(place, bin)?;
            next = place.checked_add(1)?;
        }
        Some(())
    }

    fn accumulator(&mut self) -> Option<Accumulator> {
        let mut out =
            Accumulator { rows: self.whole()?, counted: self.whole()?, ..Accumulator::default() };
        for place in 0..SUMS {
            *out.sums.get_mut(place)? = self.sum()?;
        }
        let waiting = usize::try_from(self.whole()?).ok().filter(|&rows| rows < BLOCK)?;
        let Waiting { error, sigma, weight } = &mut out.waiting;
        for column in [error, sigma, weight] {
            for _ in 0..waiting {
                column.push(self.number()?);
            }
        }
        self.bins(|place, [count]| {
            *out.pit.bins_mut().get_mut(place)? = count;
            Some(())
        })?;
        out.eta.set_largest(self.number()?);
        self.bins(|place, [a, b, c, d, squares]| {
            out.eta.set(place, Sum::of_parts(a, b), Sum::of_parts(c, d), squares)
        })?;
        self.0.is_empty().then_some(out)
    }
}
