//! Columns of text, each different value kept once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::{Error, Texts};

/// Texts of one kind (`str` or bytes) in some rows, numbered in order of appearance.
pub(crate) struct Few<'a, T: ?Sized + ToOwned> {
    places: HashMap<Cow<'a, T>, u32>,
    rows: Vec<u32>,
}

impl<'a, T: ?Sized + ToOwned + std::hash::Hash + Eq> Few<'a, T> {
    pub(crate) fn new() -> Self {
        Self { places: HashMap::new(), rows: Vec::new() }
    }

    /// The text of a further row.
    pub(crate) fn push(&mut self, value: Cow<'a, T>) {
        let next = self.places.len() as u32;
        let place = match self.places.get(value.as_ref()) {
            Some(place) => *place,
            None => {
                self.places.insert(value, next);
                next
            }
        };
        self.rows.push(place);
    }
}

impl Few<'static, str> {
    /// The text of a further row, copied where it is new.
    pub(crate) fn push_owned(&mut self, value: &str) {
        match self.places.get(value) {
            Some(place) => self.rows.push(*place),
            None => self.push(Cow::Owned(value.to_string())),
        }
    }
}

impl<'a, T: ?Sized + ToOwned> Few<'a, T> {
    /// Adds these rows to those of a whole table; `text` makes the values readable.
    pub(crate) fn append_to(
        self,
        all: &mut All,
        text: impl Fn(&T) -> Cow<'_, str>,
    ) -> crate::Result<()> {
        let mut values: Vec<_> = self.places.into_iter().collect();
        values.sort_unstable_by_key(|(_, place)| *place);
        let places: Vec<u32> =
            values.iter().map(|(value, _)| all.place(text(value))).collect::<Result<_, _>>()?;
        let place = |row: &u32| places.get(*row as usize).copied().unwrap_or_default();
        all.texts.rows.extend(self.rows.iter().map(place));
        Ok(())
    }
}

/// The texts of a whole table.
pub(crate) struct All {
    pub(crate) texts: Texts,
    /// Places by hash alone, as millions of different values would else be kept twice.
    places: HashMap<u64, u32>,
    /// Values whose hash another one had before.
    rare: HashMap<String, u32>,
    hasher: RandomState,
}

impl All {
    pub(crate) fn new() -> Self {
        Self {
            texts: Texts { values: vec![], rows: vec![] },
            places: HashMap::new(),
            rare: HashMap::new(),
            hasher: RandomState::new(),
        }
    }

    /// The place of a value, which is new or known.
    fn place(&mut self, value: Cow<'_, str>) -> crate::Result<u32> {
        let next = u32::try_from(self.texts.values.len()).map_err(|_| {
            Error::Content(format!("a text column has more than {} different values", u32::MAX))
        })?;
        let hash = self.hasher.hash_one(value.as_ref());
        let first = *self.places.entry(hash).or_insert(next);
        let place = match self.texts.values.get(first as usize) {
            None => first,
            Some(known) if *known == value => first,
            Some(_) => *self.rare.entry(value.clone().into_owned()).or_insert(next),
        };
        if place == next {
            self.texts.values.push(value.into_owned());
        }
        Ok(place)
    }
}
