//! JSON: one object a line, or a list of objects. They become a CSV with tabs on the way, whose header has every field of
//! the first objects; what some of them lack is a gap.

mod objects;
mod rows;
pub(crate) mod write;

use std::io::{Cursor, Read};

use crate::source::{Form, Text, not_read};
use crate::{Error, Format};
use objects::{Broken, Seen};
use rows::Rows;

/// The fields are those of the objects in so many bytes: those that come later cannot have others, since the header of
/// what is streamed comes first.
const LOOKED_AT: usize = 8 << 20;

/// An object longer than this is none.
const LONGEST: usize = 64 << 20;

/// Whether a text begins as objects do.
pub(crate) fn is_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let Some((first, rest)) = text.split_first() else { return false };
    match (first, rest.trim_ascii_start().first()) {
        // [m] may be the name of a column.
        (b'[', Some(b'{' | b']' | b'[')) | (b'{', Some(b'"' | b'}')) => true,
        (b'[' | b'{', None) => rest.len() < 4,
        _ => false,
    }
}

/// A stream of objects as a table.
pub(crate) fn read(
    name: &str,
    mut head: Vec<u8>,
    mut rest: Box<dyn Read + Send>,
    format: &Format,
) -> crate::Result<Text> {
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    let failed = |error| not_read(name, error);
    let missing = LOOKED_AT.saturating_sub(head.len()) as u64;
    rest.by_ref().take(missing).read_to_end(&mut head).map_err(failed)?;
    let mut ended = head.len() < LOOKED_AT;
    let names = loop {
        let refused = |why: String| Error::Content(format!("{name}{why}"));
        let names = names(&head, ended).map_err(refused)?;
        // At least one object must be whole.
        if !names.is_empty() || ended {
            break names;
        }
        if head.len() > LONGEST {
            return Err(refused(format!(
                " has no object of JSON in its first {} MB",
                LONGEST >> 20
            )));
        }
        let more = head.len() as u64;
        ended = (rest.by_ref().take(more).read_to_end(&mut head).map_err(failed)? as u64) < more;
    };
    if names.is_empty() {
        let why = "holds no fields; write one flat object a line, as {\"x\": 1, \"y\": 2}";
        return Err(Error::Content(format!("{name} {why}")));
    }
    let rows =
        Rows::new(name, names, format.decimal_comma, Box::new(Cursor::new(head).chain(rest)));
    Ok(Text { head: vec![], rest: Box::new(rows), form: Form::Json, notes: vec![] })
}

/// The names of all fields, in the order in which they come; or what is wrong.
fn names(bytes: &[u8], ended: bool) -> Result<Vec<Vec<u8>>, String> {
    let mut names: Vec<Vec<u8>> = vec![];
    let mut known = std::collections::HashSet::new();
    let (mut at, mut row) = (0, 0);
    loop {
        let mut seen = Seen::default();
        match objects::next(bytes, at, ended, row + 1, &mut seen) {
            Ok(Some(next)) => at = next,
            Ok(None) => return Ok(names),
            Err(Broken::Unfinished) if !ended => return Ok(names),
            Err(broken) => return Err(broken.words(row + 1)),
        }
        row += 1;
        for (place, _) in seen.fields {
            let raw = bytes.get(place).unwrap_or_default();
            // Most objects have the fields of the first one.
            if !known.contains(raw) {
                known.insert(raw);
                let name = objects::text(raw);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
}
