//! Inputs of a batch that are categories: read as text, and put beside the numbers as places among levels.

use errbar::categories::Codes;
use errbar::fit::Fitted;
use errbar_table::{Batch, Na, Odd, Tables};

/// The inputs of a model that are categories.
pub(super) struct Categories<'a> {
    /// The places of inputs among all, with what their values stand for.
    inputs: Vec<(usize, Codes<'a>)>,
    /// Their columns in the table.
    columns: Vec<usize>,
    na: Na,
}

impl<'a> Categories<'a> {
    /// Of a model and a table; `why` says what its columns are wanted for.
    pub(super) fn of(
        fitted: &'a Fitted,
        tables: &Tables,
        na: Na,
        why: &str,
    ) -> anyhow::Result<Self> {
        let (mut inputs, mut columns) = (Vec::new(), Vec::new());
        for (column, name) in fitted.table_names().iter().enumerate() {
            let Some(levels) = fitted.category(column) else { continue };
            inputs.push((column, Codes::of(levels.names())));
            columns.push(tables.column_for(name, why)?);
        }
        Ok(Self { inputs, columns, na })
    }

    /// The columns of the table that hold text.
    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Puts places among levels beside the numbers of a batch; its last texts are theirs.
    pub(super) fn put_into(&self, batch: &mut Batch) {
        let first = batch.texts.len().saturating_sub(self.inputs.len());
        let texts = batch.texts.split_off(first);
        for ((column, codes), texts) in self.inputs.iter().zip(texts) {
            let code = |value: &String| match self.na.is_mark(value) {
                true => f64::NAN,
                false => codes.code(value),
            };
            let each: Vec<f64> = texts.values.iter().map(code).collect();
            let numbers = texts.rows.iter().map(|&row| each[row as usize]).collect();
            batch.numbers.insert(*column, numbers);
            batch.odd.insert(*column, Odd::default());
        }
    }
}
