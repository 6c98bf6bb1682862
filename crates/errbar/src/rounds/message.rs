//! What goes to parts and comes back from them, as bytes too.

use serde::de::DeserializeOwned;
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

/// What some parts answer, as one message: whole numbers added up, which is exact in any order; doubles part by part,
/// since they are to be added in the order of all parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    whole: Vec<i64>,
    sums: Vec<(u64, Vec<f64>)>,
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
    /// How large errors are, as whole numbers ([`Spread`](super::Spread)).
    Sizes,
    /// Gives sigma these parameters, and counts scaled errors of rows that learn.
    CountAt,
    /// With these counts: the cost there, and its gradient in the parameters.
    SlopesAt { cost: Cost },
    /// The least log sigma with these parameters, of all rows that count.
    LeastAt,
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
        let text = serde_json::to_string(&self.question).map_err(|error| unwritten(&error))?;
        Ok(write(b'?', &text, &[], &self.numbers))
    }

    /// From bytes.
    ///
    /// # Errors
    /// Bytes that are no question, or one of another version of errbar.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (text, _, numbers) = read(b'?', bytes)?;
        let question = serde_json::from_str(text).map_err(|error| unwritten(&error))?;
        Ok(Self { question, numbers })
    }
}

impl Answers {
    /// Of one part.
    #[must_use]
    pub fn of(part: u64, Answer { whole, sums }: Answer) -> Self {
        Self { whole, sums: vec![(part, sums)] }
    }

    /// These and others.
    ///
    /// # Errors
    /// Parts that answer differently.
    pub fn and(mut self, mut other: Self) -> Result<Self> {
        if self.sums.is_empty() || other.sums.is_empty() {
            return Ok(if self.sums.is_empty() { other } else { self });
        }
        if self.whole.len() != other.whole.len() {
            return Err(differently());
        }
        self.whole.iter_mut().zip(&other.whole).for_each(|(all, other)| *all += other);
        self.sums.append(&mut other.sums);
        Ok(self)
    }

    /// The parts that these are of, in their order; all of them once.
    ///
    /// # Errors
    /// A part that answers twice.
    pub(crate) fn in_order(mut self) -> Result<Self> {
        self.sums.sort_by_key(|(part, _)| *part);
        match self.sums.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => {
                let reason = format!("part {} of the rows answers twice", pair[0].0);
                Err(Error::BadMessage { reason })
            }
            None => Ok(self),
        }
    }

    /// The parts, as they come.
    pub(crate) fn parts(&self) -> impl Iterator<Item = u64> + '_ {
        self.sums.iter().map(|(part, _)| *part)
    }

    /// The doubles of each part.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[f64]> {
        self.sums.iter().map(|(_, sums)| &sums[..])
    }

    /// All of them as the answer of one part.
    pub(crate) fn total(self) -> Result<Answer> {
        let Self { whole, sums } = self.in_order()?;
        let mut sums = sums.into_iter().map(|(_, sums)| sums);
        let mut all = sums.next().unwrap_or_default();
        for other in sums {
            if all.len() != other.len() {
                return Err(differently());
            }
            all.iter_mut().zip(&other).for_each(|(all, other)| *all += other);
        }
        Ok(Answer { whole, sums: all })
    }

    /// As bytes, which only the same version of errbar reads.
    ///
    /// # Errors
    /// None in practice; what the writer reports is passed on.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let heads: Vec<(u64, usize)> =
            self.sums.iter().map(|(part, sums)| (*part, sums.len())).collect();
        let sums: Vec<f64> = self.each().flatten().copied().collect();
        Message { head: heads, whole: self.whole.clone(), sums }.to_bytes(b'!')
    }

    /// From bytes.
    ///
    /// # Errors
    /// Bytes that are no answers, or some of another version of errbar.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let Message { head, whole, sums } = Message::<Vec<(u64, usize)>>::from_bytes(b'!', bytes)?;
        let mut rest = &sums[..];
        let mut take = |(part, length): (u64, usize)| {
            let (own, others) = rest.split_at_checked(length).ok_or_else(not_whole)?;
            rest = others;
            Ok((part, own.to_vec()))
        };
        let each = head.into_iter().map(&mut take).collect::<Result<_>>()?;
        if rest.is_empty() { Ok(Self { whole, sums: each }) } else { Err(not_whole()) }
    }
}

impl Answer {
    /// Counts, which without weights are whole numbers.
    pub(crate) fn counts(counts: Vec<f64>, weighted: bool) -> Self {
        match weighted {
            true => Self { sums: counts, ..Self::default() },
            false => Self {
                whole: counts.into_iter().map(|count| count as i64).collect(),
                ..Self::default()
            },
        }
    }

    /// The other way round.
    pub(crate) fn into_counts(self) -> Vec<f64> {
        match self.sums.is_empty() {
            true => self.whole.into_iter().map(|count| count as f64).collect(),
            false => self.sums,
        }
    }
}

/// Parts whose answers cannot be added.
pub(crate) fn differently() -> Error {
    Error::BadMessage { reason: "parts answer differently".into() }
}

/// A head that is written out, and numbers: what every message is.
pub(crate) struct Message<H> {
    pub(crate) head: H,
    pub(crate) whole: Vec<i64>,
    pub(crate) sums: Vec<f64>,
}

impl<H: Serialize> Message<H> {
    /// As bytes of a kind, which only the same version of errbar reads.
    pub(crate) fn to_bytes(&self, kind: u8) -> Result<Vec<u8>> {
        let text = serde_json::to_string(&self.head).map_err(|error| unwritten(&error))?;
        Ok(write(kind, &text, &self.whole, &self.sums))
    }
}

impl<H: DeserializeOwned> Message<H> {
    pub(crate) fn from_bytes(kind: u8, bytes: &[u8]) -> Result<Self> {
        let (text, whole, sums) = read(kind, bytes)?;
        let head = serde_json::from_str(text).map_err(|error| unwritten(&error))?;
        Ok(Self { head, whole, sums })
    }
}

fn unwritten(error: &serde_json::Error) -> Error {
    Error::BadMessage { reason: error.to_string() }
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
    let bad = not_whole;
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

fn not_whole() -> Error {
    Error::BadMessage { reason: "it is not whole, or no message of errbar".into() }
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
