//! Chosen columns of a CSV file, read whole or some rows at a time. Only those columns are parsed.

use super::blocks::{Block, Broken};
use super::pieces::{Found, Plan};
use super::{Csv, explain, refuse, refuse_text};
use crate::{Columns, Error, Na, NumberColumn, Numbers};

impl Csv {
    pub(crate) fn reading(self, numbers: &[NumberColumn], texts: &[usize], na: &Na) -> CsvReading {
        let plan = self.plan(numbers, texts, false, na);
        let found = plan.nothing_yet(0);
        CsvReading { csv: self, plan, found, ahead: None, rows: 0, taken: 0, na: na.clone() }
    }
}

/// A CSV file of which chosen columns are read, some rows at a time or all at once.
pub(crate) struct CsvReading {
    csv: Csv,
    plan: Plan,
    /// What was read and not taken yet.
    found: Vec<Found>,
    /// The next block, read while the one before was parsed.
    ahead: Option<Result<Option<Block>, Broken>>,
    /// Rows read, and those of them that were taken.
    rows: u64,
    taken: u64,
    na: Na,
}

impl CsvReading {
    /// See [`crate::Reading::fill`].
    pub(crate) fn fill(
        &mut self,
        wanted: u64,
        done: &mut dyn FnMut(f64) -> bool,
    ) -> crate::Result<bool> {
        let Self { csv, plan, found, rows, .. } = self;
        while *rows - self.taken < wanted {
            let block = self.ahead.take().unwrap_or_else(|| csv.blocks.next());
            let Some(block) = block.map_err(|broken| explain(&csv.name, broken, *rows))? else {
                self.ahead = Some(Ok(None));
                return match plan.refused(found, true) {
                    Some(refused) => Err(refuse_text(&csv.name, &csv.header, plan, &refused)),
                    None => Ok(true),
                };
            };
            let blocks = &mut csv.blocks;
            let (next, pieces) = rayon::join(|| blocks.next(), || plan.parse(&block));
            self.ahead = Some(next);
            let before = *rows;
            for piece in &pieces {
                *rows += piece.rows;
                if let Some(failure) = &piece.failure {
                    return Err(refuse(&csv.name, &csv.header, plan, *rows + 1, failure));
                }
            }
            plan.append(pieces, before, found)?;
            if let Some(refused) = plan.refused(found, false) {
                return Err(refuse_text(&csv.name, &csv.header, plan, &refused));
            }
            if done(csv.progress.share().unwrap_or(0.0)) {
                return Err(Error::Stopped);
            }
        }
        Ok(false)
    }

    /// See [`crate::Reading::take`].
    pub(crate) fn take(&mut self) -> Columns {
        for found in &mut self.found {
            if let Found::Numbers(Numbers::Values(values), odd) = found
                && odd.unknown().next().is_none()
            {
                self.na.take_out(values, self.taken, odd);
            }
        }
        let room = (self.rows - self.taken) as usize;
        let next = self.plan.nothing_yet(0).into_iter().zip(&self.found).map(|(nothing, found)| {
            match found {
                // What is no number is counted to the end of the table.
                Found::Numbers(Numbers::Values(_), odd) => {
                    Found::Numbers(Numbers::Values(vec![]), odd.clone())
                }
                Found::Numbers(Numbers::NotNumbers { value, row }, odd) => {
                    let (value, row) = (value.clone(), *row);
                    Found::Numbers(Numbers::NotNumbers { value, row }, odd.clone())
                }
                Found::Texts(_) => nothing,
            }
        });
        let next = next.collect();
        let found = std::mem::replace(&mut self.found, next);
        self.taken = self.rows;
        let (numbers, texts) = self.plan.in_order(found);
        let (numbers, odd) = numbers.into_iter().unzip();
        Columns { rows: room, numbers, odd, texts }
    }
}
