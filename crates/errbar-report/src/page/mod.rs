//! Pages: one look for everything that errbar shows in a browser.
//!
//! A page is one file. It loads nothing, and its policy forbids it to: only the one style sheet and
//! the one script inside, named by their hashes, may act. It is light or dark as the reader's machine
//! is, fits a phone, and prints.

mod blocks;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

pub use blocks::{FigureBlock, Plot, figure, name, table};

use crate::svg::base64;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A whole page with this title (that of the window) and content.
#[must_use]
pub fn page(title: &str, content: &Markup) -> String {
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "errbar " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                // Without it a browser would ask a server for one.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                main #content { (content) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_end_where_they_should() {
        // What an HTML parser would take for their end must not be in them.
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
        assert!(STYLE.is_ascii() && SCRIPT.is_ascii());
    }

    /// WCAG 2: at least 4.5 to 1 between text and what it stands on, light and dark.
    #[test]
    fn text_has_contrast() {
        let luminance = |hex: &str| {
            let part = |at: usize| {
                let c = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let mut schemes = 0;
        for block in STYLE.split(":root {").skip(1).take(2) {
            let block = &block[..block.find('}').unwrap()];
            let color = |name: &str| {
                let at = block.find(&format!("--{name}: #")).unwrap() + name.len() + 4;
                luminance(&block[at..at + 7])
            };
            for paper in ["paper", "raised"].map(color) {
                for name in ["ink", "soft", "good", "bad", "link"] {
                    let (a, b) = (color(name).max(paper), color(name).min(paper));
                    let contrast = (a + 0.05) / (b + 0.05);
                    assert!(contrast >= 4.5, "{name}: {contrast}");
                }
            }
            schemes += 1;
        }
        assert_eq!(schemes, 2);
    }

    #[test]
    fn titles_are_text() {
        let page = page("</title><script>alert(1)</script>", &html! { p { "<b>" } });
        assert!(!page.contains("<script>alert") && !page.contains("<b>"));
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"));
    }
}
