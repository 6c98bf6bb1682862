//! Columns of several files, put one behind the other.

use std::collections::HashMap;

use crate::{Columns, Error, Numbers, Odd, Result, Texts};

/// Columns of several files, put one behind the other as if they were of one.
#[derive(Default)]
pub struct Joined {
    columns: Option<Columns>,
    /// For each column of texts the place of every value; made when a second file comes.
    places: Vec<HashMap<String, u32>>,
}

impl Joined {
    /// Adds the columns of a further file, which are the same.
    ///
    /// # Errors
    /// More different texts than can be counted.
    pub fn add(&mut self, more: Columns) -> Result<()> {
        let Some(all) = &mut self.columns else {
            self.columns = Some(more);
            return Ok(());
        };
        let before = all.rows as u64;
        for ((numbers, odd), (more, more_odd)) in
            all.numbers.iter_mut().zip(&mut all.odd).zip(more.numbers.into_iter().zip(more.odd))
        {
            join_numbers(numbers, more, before);
            join_odd(odd, more_odd, before);
        }
        if self.places.is_empty() {
            let places = |texts: &Texts| texts.values.iter().cloned().zip(0..).collect();
            self.places = all.texts.iter().map(places).collect();
        }
        for ((texts, more), places) in all.texts.iter_mut().zip(more.texts).zip(&mut self.places) {
            join_texts(texts, more, places)?;
        }
        all.rows += more.rows;
        Ok(())
    }

    /// All of them; nothing where none were added.
    #[must_use]
    pub fn into_columns(self) -> Option<Columns> {
        self.columns
    }
}

fn join_numbers(all: &mut Numbers, more: Numbers, before: u64) {
    match (&mut *all, more) {
        (Numbers::Values(values), Numbers::Values(more)) => values.extend_from_slice(&more),
        (Numbers::Values(_), Numbers::NotNumbers { value, row }) => {
            *all = Numbers::NotNumbers { value, row: row + before };
        }
        (Numbers::NotNumbers { .. }, _) => {}
    }
}

fn join_odd(all: &mut Odd, mut more: Odd, before: u64) {
    // Where a column was given up nobody has counted.
    let given_up = all.is_given_up() || more.is_given_up();
    more.marks.iter_mut().for_each(|mark| mark.row += before);
    all.append(more);
    if given_up || all.too_many() {
        all.numbers = 0;
    }
}

fn join_texts(all: &mut Texts, more: Texts, known: &mut HashMap<String, u32>) -> Result<()> {
    let mut places = Vec::with_capacity(more.values.len());
    for value in more.values {
        let next = u32::try_from(all.values.len()).map_err(|_| {
            Error::Content(format!("a text column has more than {} different values", u32::MAX))
        })?;
        let place = *known.entry(value).or_insert_with_key(|value| {
            all.values.push(value.clone());
            next
        });
        places.push(place);
    }
    all.rows.extend(more.rows.iter().filter_map(|row| places.get(*row as usize)));
    Ok(())
}
