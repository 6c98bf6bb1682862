//! Tables as text: columns of even width.

use std::fmt;

use errbar::score::bootstrap::Interval;
use errbar::words::significant;

/// A table to be printed. Cells of the first column, and of those that are told to, stand on the
/// left, all others on the right.
pub(crate) struct TextTable {
    left: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these heads; a head that begins with `<` makes its column stand on the left.
    pub(crate) fn new(heads: &[&str]) -> Self {
        let left = heads.iter().enumerate().map(|(nth, head)| nth == 0 || head.starts_with('<'));
        let heads_row = heads.iter().map(|head| head.trim_start_matches('<').to_string());
        Self { left: left.collect(), rows: vec![heads_row.collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.left.len()).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, &width), &left) in row.iter().zip(&widths).zip(&self.left) {
                if !line.is_empty() {
                    line.push_str("  ");
                }
                let gap = " ".repeat(width - cell.chars().count());
                let (before, after) = if left { ("", gap.as_str()) } else { (gap.as_str(), "") };
                line.extend([before, cell, after]);
            }
            // An empty first cell must not eat its column.
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Text broken into lines of at most `width` characters, between words.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let wide = word.chars().count();
        if length > 0 && length + 1 + wide > width {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += wide;
    }
    lines.push('\n');
    lines
}

/// A number with four significant digits.
pub(crate) fn four(value: f64) -> String {
    significant(value, 4)
}

/// An interval of numbers.
pub(crate) fn range(interval: Interval) -> String {
    match interval.is_known() {
        true => {
            let digits = digits_for(Some(interval));
            let (low, high) =
                (significant(interval.low, digits), significant(interval.high, digits));
            format!("{low} to {high}")
        }
        false => String::from("not known"),
    }
}

/// A number with digits enough for its interval.
pub(crate) fn within(value: f64, interval: Option<Interval>) -> String {
    significant(value, digits_for(interval))
}

/// At least four significant digits, and two of the interval's width.
fn digits_for(interval: Option<Interval>) -> usize {
    let Some(Interval { low, high, .. }) = interval else { return 4 };
    let ratio = low.abs().max(high.abs()) / (high - low);
    // An endless ratio is one value, not a range.
    if ratio > 100.0 && ratio < 1e12 { 2 + ratio.log10() as usize } else { 4 }
}

/// A range of shares in percent, with decimals enough to tell its ends apart.
pub(crate) fn share_range(low: f64, high: f64) -> String {
    if low.is_nan() || high.is_nan() {
        return String::from("not known");
    }
    let decimals = match high - low {
        width if width < 1e-6 => 1, // one value, not a range
        width if width < 0.0003 => 3,
        width if width < 0.003 => 2,
        _ => 1,
    };
    let end = |share: f64| format!("{:.decimals$}%", 100.0 * share);
    format!("{} to {}", end(low), end(high))
}

/// A histogram in one line.
pub(crate) fn bars(frequency: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = frequency.iter().copied().fold(0.0, f64::max);
    let bar = |share: &f64| BARS[((share / highest * 7.0).round() as usize).min(7)];
    if highest > 0.0 { frequency.iter().map(bar).collect() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_even() {
        let mut table = TextTable::new(&["", "value", "<note"]);
        table.row(vec!["bias".into(), "1".into(), "a".into()]);
        table.row(vec!["mean sigma".into(), "12.5".into(), String::new()]);
        let expected = "            value  note\nbias            1  a\nmean sigma   12.5\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree\n");
        assert_eq!(wrapped("a-very-long-word b", 5), "a-very-long-word\nb\n");
    }
}
