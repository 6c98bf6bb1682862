//! Rows that share a value of one column.

use anyhow::bail;
use errbar_table::Texts;

/// More groups than this are no longer a table that anybody reads.
const MOST: usize = 1000;

/// The different values of a column and the rows that have each, counted from 0: in the order of the
/// numbers where all are numbers, else in the order of appearance. Rows without a value come last.
pub(super) fn split(
    texts: &Texts,
    column: &str,
    file: &str,
) -> anyhow::Result<Vec<(String, Vec<usize>)>> {
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); texts.values.len()];
    for (row, &value) in texts.rows.iter().enumerate() {
        rows_of[value as usize].push(row);
    }
    let mut groups: Vec<(String, Vec<usize>)> =
        texts.values.iter().cloned().zip(rows_of).filter(|(_, rows)| !rows.is_empty()).collect();
    if groups.len() > MOST {
        bail!(
            "{file}: the column \"{column}\" has {} different values, and at most {MOST} groups can be \
             scored by themselves; give --by a column with fewer",
            groups.len()
        );
    }
    let number = |value: &str| value.trim().parse::<f64>().ok().filter(|number| !number.is_nan());
    let numbers = groups.iter().all(|(value, _)| value.is_empty() || number(value).is_some());
    // Empty text is above every number; a stable sort keeps the order of appearance.
    groups.sort_by(|(a, _), (b, _)| match numbers {
        true => {
            let key = |value: &str| number(value).unwrap_or(f64::NAN);
            key(a).total_cmp(&key(b))
        }
        false => a.is_empty().cmp(&b.is_empty()),
    });
    Ok(groups)
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
