//! What guaranteed intervals are grouped by, and who is promised what.

use std::sync::Arc;

use anyhow::bail;
use errbar::fit::Fitted;
use errbar::fit::guarantee::Category;
use errbar_table::{Batch, Tables};

use super::Arguments;
use crate::promise;

/// What guaranteed intervals are grouped by, and who is promised what.
pub(super) struct Promise {
    pub(super) group: Option<usize>,
    /// Who a promise can be made to: each group, then the small ones together.
    pub(super) names: Arc<[String]>,
    /// For each level what each group is promised.
    pub(super) levels: Vec<Vec<Category>>,
}

impl Promise {
    pub(super) fn of(
        arguments: &Arguments,
        fitted: &Fitted,
        table: &Tables,
    ) -> anyhow::Result<Self> {
        if arguments.guarantee.is_empty() {
            return Ok(Self { group: None, names: Arc::new([]), levels: vec![] });
        }
        let Some(guarantee) = fitted.guarantee() else {
            bail!(
                "{} has no guarantee (--guarantee): fit the model with errbar fit --guarantee split",
                arguments.model.display()
            );
        };
        for &level in &arguments.guarantee {
            // Now, not after half the rows.
            if let Err(errbar::Error::TooFewForLevel { rows, needed, .. }) =
                guarantee.check_level(level)
            {
                let of_all = match guarantee.grouped_by() {
                    Some(_) => " in all groups together",
                    None => "",
                };
                bail!(
                    "--guarantee {level} needs {needed} errors that the model has not seen, and {} \
                     has {rows}{of_all}: ask for a lower level, or fit with more rows",
                    arguments.model.display()
                );
            }
        }
        let group = match guarantee.grouped_by() {
            Some(name) => Some(table.column_for(
                name,
                &format!(", which the guarantee of {} is grouped by", arguments.model.display()),
            )?),
            None => None,
        };
        let named = |(label, _): (&str, usize)| match label {
            "" => String::from("(empty)"),
            label => label.to_string(),
        };
        let names =
            guarantee.groups().into_iter().map(named).chain([promise::TOGETHER.to_string()]);
        let levels = arguments.guarantee.iter().map(|&level| guarantee.categories(level));
        Ok(Self { group, names: names.collect(), levels: levels.collect() })
    }

    /// Who the promise for a row of this group is made to, by its place among the names.
    pub(super) fn made_to(&self, categories: &[Category], group: u32) -> Option<u32> {
        match categories.get(group as usize)? {
            Category::Own => Some(group),
            Category::Together => Some(self.together()),
            Category::Nothing => None,
        }
    }

    /// The place of the small groups together, the last of all.
    pub(super) fn together(&self) -> u32 {
        self.names.len() as u32 - 1
    }

    pub(super) fn column(&self) -> Vec<usize> {
        self.group.into_iter().collect()
    }

    /// The number of each row's group by the guarantee of a model; `None` within for one that it does not know.
    pub(super) fn groups(&self, fitted: &Fitted, batch: &Batch) -> Option<Vec<Option<u32>>> {
        let (guarantee, texts) = (fitted.guarantee()?, batch.texts.first()?);
        let numbers: Vec<Option<u32>> =
            texts.values.iter().map(|value| guarantee.group(value)).collect();
        Some(texts.rows.iter().map(|&row| numbers[row as usize]).collect())
    }
}
