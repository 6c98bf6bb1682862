//! How many cells an open document stands for: a row and a cell may say how often they are repeated, and a small file so
//! fill any memory before a reader has seen that it makes no sense.

use memchr::memmem;
use quick_xml::events::Event;

/// A sheet has no more rows and columns.
const ROWS: u64 = 1 << 20;
const COLUMNS: u64 = 1 << 14;

/// Whether each element ends that begins: where one does not, the reader looks for its end for ever.
pub(super) fn is_whole(content: &[u8]) -> bool {
    let mut reader = quick_xml::Reader::from_reader(content);
    let (mut buffer, mut depth) = (vec![], 0u64);
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(_)) => depth += 1,
            Ok(Event::End(_)) => depth = depth.saturating_sub(1),
            Ok(Event::Eof) => return depth == 0,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// The cells up to the last one that is not empty, in all rows and their repetitions.
pub(super) fn cells(content: &[u8]) -> u64 {
    let row = memmem::Finder::new(b"<table:table-row");
    let cell = memmem::Finder::new(b"table-cell");
    let mut starts = row.find_iter(content).peekable();
    let mut total = 0u64;
    while let Some(start) = starts.next() {
        let end = starts.peek().copied().unwrap_or(content.len());
        let line = content.get(start..end).unwrap_or_default();
        let (mut columns, mut filled) = (0u64, 0);
        for at in cell.find_iter(line) {
            // The end of a cell is none.
            let before = line.get(..at).unwrap_or_default();
            if before.ends_with(b"</table:") || before.ends_with(b"</table:covered-") {
                continue;
            }
            let tag = tag(line.get(at..).unwrap_or_default());
            columns = (columns + repeats(tag, b"number-columns-repeated")).min(COLUMNS);
            // What is empty has no value and nothing within.
            if !tag.ends_with(b"/") || memmem::find(tag, b"office:").is_some() {
                filled = columns;
            }
        }
        let rows = repeats(tag(line), b"number-rows-repeated").min(ROWS);
        total = total.saturating_add(rows * filled);
    }
    total
}

/// What comes before the end of a tag.
fn tag(text: &[u8]) -> &[u8] {
    text.get(..memchr::memchr(b'>', text).unwrap_or(text.len())).unwrap_or_default()
}

/// The number that a tag gives a name; 1 where it gives none.
fn repeats(tag: &[u8], name: &[u8]) -> u64 {
    let Some(at) = memmem::find(tag, name) else { return 1 };
    let value = tag.get(at + name.len()..).unwrap_or_default().trim_ascii_start();
    let value = value.strip_prefix(b"=").unwrap_or(value).trim_ascii_start();
    let digits = value.iter().skip(1).take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |sum: u64, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_whole() {
        assert!(is_whole(b"<a><b/><c>x</c></a>"));
        for broken in ["<a><b></a>", "<a><b/>", "<a", "<a></b>", "<a>&x</a"] {
            assert!(!is_whole(broken.as_bytes()), "{broken}");
        }
    }

    #[test]
    fn repeated_cells_and_rows_are_counted() {
        let cell = "<table:table-cell office:value=\"1\"/>";
        let row =
            |how: &str, cells: &str| format!("<table:table-row{how}>{cells}</table:table-row>");
        let many = "<table:table-cell table:number-columns-repeated = '1000' office:value-type=\"float\"></table:table-cell>";
        let empty = "<table:table-cell table:number-columns-repeated=\"16000\"/>";
        for (content, expected) in [
            (row("", &cell.repeat(3)), 3),
            (row(" table:number-rows-repeated=\"1000\"", &cell.repeat(3)), 3000),
            (row(" table:number-rows-repeated=\"1000\"", many), 1_000_000),
            (row(" table:number-rows-repeated=\"1048000\"", empty) + &row("", cell), 1),
            (row("", &format!("{cell}{empty}")), 1),
            (row("", &format!("{empty}{cell}")), 16_001),
        ] {
            assert_eq!(cells(content.as_bytes()), expected, "{content}");
        }
    }
}
