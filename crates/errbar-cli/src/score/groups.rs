//! Rows that share a value of one column.

use anyhow::bail;
use errbar::words::numbers;
use errbar_table::Texts;

/// More groups than this are no longer a table that anybody reads.
const MOST: usize = 1000;

/// The different values of a column and the rows that have each, counted from 0: in the order of the
/// numbers where all are numbers (6h and 12h too), else in the order of appearance. Rows without a value come last.
pub(super) fn split(
    texts: &Texts,
    column: &str,
    file: &str,
) -> anyhow::Result<Vec<(String, Vec<usize>)>> {
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); texts.values.len()];
    for (row, &value) in texts.rows.iter().enumerate() {
        rows_of[value as usize].push(row);
    }
    let groups: Vec<(String, Vec<usize>)> =
        texts.values.iter().cloned().zip(rows_of).filter(|(_, rows)| !rows.is_empty()).collect();
    check_count(groups.len(), column, file)?;
    Ok(in_order(groups))
}

/// Refuses groups that are too many.
pub(super) fn check_count(groups: usize, column: &str, file: &str) -> anyhow::Result<()> {
    if groups > MOST {
        bail!(
            "{file}: the column \"{column}\" has {groups} different values, and at most {MOST} groups can be \
             scored by themselves; give --by a column with fewer"
        );
    }
    Ok(())
}

/// Groups in the order of the numbers that they are called by, or in that of appearance; the one without a name comes last.
pub(super) fn in_order<T>(mut groups: Vec<(String, T)>) -> Vec<(String, T)> {
    let labels: Vec<&str> = groups.iter().map(|(value, _)| value.as_str()).collect();
    match numbers(&labels) {
        // Missing ones, which are NaN, are above every number; the sort keeps the order of appearance.
        Some(order) => {
            let mut sorted: Vec<_> = order.into_iter().zip(groups).collect();
            sorted.sort_by(|(a, _), (b, _)| a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b)));
            groups = sorted.into_iter().map(|(_, group)| group).collect();
        }
        None => groups.sort_by_key(|(value, _)| value.is_empty()),
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(values: &[&str]) -> Vec<String> {
        let texts = Texts {
            values: values.iter().map(|v| v.to_string()).collect(),
            rows: (0..values.len() as u32).collect(),
        };
        split(&texts, "c", "f").unwrap().into_iter().map(|(value, _)| value).collect()
    }

    #[test]
    fn numbers_are_sorted_and_names_are_not() {
        assert_eq!(names(&["10", "9", "", "-1", "1e1"]), ["-1", "9", "10", "1e1", ""]);
        assert_eq!(names(&["12h", "6h", "", "102h"]), ["6h", "12h", "102h", ""]);
        assert_eq!(names(&["12h", "1d"]), ["12h", "1d"]);
        assert_eq!(names(&["winter", "", "autumn"]), ["winter", "autumn", ""]);
    }

    #[test]
    fn too_many_groups_are_refused() {
        let texts =
            Texts { values: (0..2000).map(|i| i.to_string()).collect(), rows: (0..2000).collect() };
        let refused = split(&texts, "id", "f.csv").unwrap_err().to_string();
        assert!(refused.contains("\"id\" has 2000 different values"), "{refused}");
    }
}
