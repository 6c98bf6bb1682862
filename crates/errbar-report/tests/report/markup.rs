//! Pages taken apart without a browser. (One with a browser is in errbar-cli/tests/browser.)

use roxmltree::Document;

/// Elements that have no end.
const VOID: [&str; 4] = ["meta", "link", "br", "img"];

/// An element's name and its attributes as they are written.
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

impl Tag {
    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|(name, _)| name == attribute)
    }
}

/// Names and values; a name alone has no value.
fn attributes(mut text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    loop {
        text = text.trim_start().trim_end_matches('/');
        let Some(end) = text.find([' ', '\n', '=']).or((!text.is_empty()).then_some(text.len()))
        else {
            return out;
        };
        let (name, rest) = text.split_at(end);
        let value = rest.strip_prefix("=\"").and_then(|rest| rest.split_once('"'));
        let (value, rest) = value.unwrap_or(("", rest));
        assert!(!rest.starts_with('='), "a value without quotes: {name}");
        out.push((name.to_string(), value.to_string()));
        text = rest;
    }
}

/// Every start tag of a page, after checking that each is closed where it should be.
pub(crate) fn tags(page: &str) -> Vec<Tag> {
    let mut out = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if rest.starts_with("!DOCTYPE") {
            continue;
        }
        let end = end_of_tag(rest);
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "</{name}> closes nothing");
            continue;
        }
        let (name, given) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
        let name = name.trim_end_matches('/').to_string();
        if !tag.ends_with('/') && !VOID.contains(&&name[..]) {
            open.push(name.clone());
        }
        // What is inside is no markup.
        if name == "script" || name == "style" {
            rest = &rest[rest.find(&format!("</{name}>")).expect("it ends")..];
        }
        out.push(Tag { name, attributes: attributes(given) });
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    out
}

/// The `>` that ends a tag, and not one within quotes.
fn end_of_tag(text: &str) -> usize {
    let mut quoted = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return i,
            '<' => panic!("a tag within a tag: {}", &text[..i.min(80)]),
            _ => {}
        }
    }
    panic!("a tag that does not end")
}

/// The drawings of a page, each parsed as XML.
pub(crate) fn drawings(page: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find("<svg xmlns") {
        rest = &rest[at..];
        // A drawing has inner ones: its end is where all are closed.
        let (mut depth, mut to) = (0, 0);
        loop {
            let (open, close) = (rest[to..].find("<svg"), rest[to..].find("</svg>"));
            match (open, close) {
                (Some(o), Some(c)) if o < c => (depth, to) = (depth + 1, to + o + 4),
                (_, Some(c)) => (depth, to) = (depth - 1, to + c + 6),
                _ => panic!("a drawing does not end"),
            }
            if depth == 0 {
                break;
            }
        }
        Document::parse(&rest[..to]).expect("well-formed XML");
        out.push(rest[..to].to_string());
        rest = &rest[to..];
    }
    out
}

#[test]
fn the_checks_check() {
    let found = tags("<!DOCTYPE html><p a=\"&gt;> b\" c d=\"\"><br/>x</p>");
    assert_eq!(found.len(), 2);
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    assert_eq!(found[0].attributes, [pair("a", "&gt;> b"), pair("c", ""), pair("d", "")]);
    for wrong in ["<p><b></p>", "<p", "<p a=\"><b>", "</p>", "<p <b>>"] {
        assert!(std::panic::catch_unwind(|| tags(wrong)).is_err(), "{wrong}");
    }
}
