//! What goes to parts and comes back from them, as bytes too.

use serde::{Deserialize, Serialize};

use super::ranks::Cost;
use crate::boosting::{Bins, Scale, Split, Symmetric};
use crate::error::{Error, Result};

/// A question to every part of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    pub(crate) question: Question,
    /// What is too long to be written out: counts.
    pub(crate) numbers: Vec<f64>,
}

/// What a part answers: whole numbers and doubles, to be added to those of the other parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub(crate) whole: Vec<i64>,
    pub(crate) sums: Vec<f64>,
}

/// Which rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Which {
    /// Those that models learn from.
    Learned,
    /// Those that say when to stop.
    Held,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Question {
    /// Puts inputs into bins, which is all that is kept of them. Answered by how many rows have each code of each
    /// column.
    Bin { bins: Bins },
    /// Chooses the rows that are held out, that share of those that may be. Answered by rows that learn and rows
    /// that are held out; then, for both, weights, and the absolute errors times weight.
    Hold { share: f64, seed: u64 },
    /// Takes the steps of a tree, and counts scaled errors: of rows that learn, then of those held out.
    Count { tree: Option<Symmetric>, rate: f64 },
    /// With these counts: the cost of rows held out, the size of slopes, and the histogram of them in this
    /// scale. The rows held out are remembered as they are where asked to.
    Slopes { learned: Cost, held: Cost, scale: Scale },
    /// Keeps the sigmas of rows held out as they are now.
    Keep,
    /// Parts every leaf, and gives the histogram of one side of each.
    Part { split: Split, left: Vec<bool> },
    /// Counts scaled errors with all sigmas multiplied; of rows held out with those that were kept.
    CountTimes { rows: Which, log: f64 },
    /// The slope of the cost in the logarithm of that factor.
    SlopeTimes { rows: Which, log: f64, cost: Cost },
}

impl Ask {
    pub(crate) fn of(question: Question) -> Self {
        Self { question, numbers: Vec::new() }
    }

    /// As bytes, which only the same version of errbar reads.
    ///
    /// # Errors
    /// A question that cannot be written down, which none is.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let text = serde_json::to_string(&self.question)
            .map_err(|error| Error::BadMessage { reason: error.to_string() })?;
        Ok(write(b'?', &text, &[], &self.numbers))
    }

    /// From bytes.
    ///
    /// # Errors
    /// Bytes that are no question, or one of another version of errbar.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (text, _, numbers) = read(b'?', bytes)?;
        let question = serde_json::from_str(text)
            .map_err(|error| Error::BadMessage { reason: error.to_string() })?;
        Ok(Self { question, numbers })
    }
}

impl Answer {
    /// As bytes, which only the same version of errbar reads.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        write(b'!', "", &self.whole, &self.sums)
    }

    /// From bytes.
    ///
    /// # Errors
    /// Bytes that are no answer, or one of another version of errbar.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (_, whole, sums) = read(b'!', bytes)?;
        Ok(Self { whole, sums })
    }

    /// The answers of several parts as that of one.
    pub(crate) fn sum(answers: Vec<Self>) -> Result<Self> {
        let mut answers = answers.into_iter();
        let mut all = answers.next().unwrap_or_default();
        for other in answers {
            let fits = all.whole.len() == other.whole.len() && all.sums.len() == other.sums.len();
            if !fits {
                return Err(Error::BadMessage { reason: "parts answer differently".into() });
            }
            all.whole.iter_mut().zip(&other.whole).for_each(|(all, other)| *all += other);
            all.sums.iter_mut().zip(&other.sums).for_each(|(all, other)| *all += other);
        }
        Ok(all)
    }
}

const MARK: &[u8; 7] = b"errbar\n";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A mark, what it is, the version, a text, and numbers; each with its length before it.
fn write(kind: u8, text: &str, whole: &[i64], sums: &[f64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 + text.len() + 8 * (whole.len() + sums.len()));
    bytes.extend_from_slice(MARK);
    bytes.push(kind);
    for text in [VERSION, text] {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes.extend_from_slice(&(whole.len() as u64).to_le_bytes());
    whole.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    bytes.extend_from_slice(&(sums.len() as u64).to_le_bytes());
    sums.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    bytes
}

fn read(kind: u8, bytes: &[u8]) -> Result<(&str, Vec<i64>, Vec<f64>)> {
    let bad = || Error::BadMessage { reason: "it is not whole, or no message of errbar".into() };
    let mut rest =
        bytes.strip_prefix(MARK).and_then(|rest| rest.strip_prefix(&[kind])).ok_or_else(bad)?;
    let version = take_text(&mut rest).ok_or_else(bad)?;
    if version != VERSION {
        return Err(Error::OtherVersion { theirs: version.into(), ours: VERSION.into() });
    }
    let text = take_text(&mut rest).ok_or_else(bad)?;
    let whole = take_words(&mut rest).ok_or_else(bad)?.into_iter().map(i64::from_le_bytes);
    let sums = take_words(&mut rest).ok_or_else(bad)?.into_iter().map(f64::from_le_bytes);
    if rest.is_empty() { Ok((text, whole.collect(), sums.collect())) } else { Err(bad()) }
}

fn take<'b>(bytes: &mut &'b [u8], count: u64) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(count).ok()?)?;
    *bytes = rest;
    Some(taken)
}

fn take_length(bytes: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?))
}

fn take_text<'b>(bytes: &mut &'b [u8]) -> Option<&'b str> {
    let length = take_length(bytes)?;
    std::str::from_utf8(take(bytes, length)?).ok()
}

fn take_words(bytes: &mut &[u8]) -> Option<Vec<[u8; 8]>> {
    let length = take_length(bytes)?.checked_mul(8)?;
    Some(take(bytes, length)?.as_chunks::<8>().0.to_vec())
}
