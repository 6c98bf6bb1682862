//! The parts of a page: figures with their numbers, tables, names.

use maud::{Markup, PreEscaped, html};

use crate::names;
use crate::table::{Cell, Table};

/// A drawing on a page.
#[derive(Debug, Clone)]
pub struct Plot<'a> {
    /// The SVG document, made by this crate, which escapes every text in it.
    pub svg: &'a str,
    /// Where the rows of the figure's table are on the drawing: row, then pixels from the left and
    /// the top. They are read out on hover and with the arrow keys, in this order.
    pub spots: &'a [(usize, f64, f64)],
}

/// A figure with everything around it.
#[derive(Debug, Clone)]
pub struct FigureBlock<'a> {
    /// Names the figure in links and downloaded files.
    pub id: &'a str,
    /// A few words above it; none when empty.
    pub title: &'a str,
    /// Below it.
    pub caption: Markup,
    /// The drawing.
    pub plot: Plot<'a>,
    /// Another drawing of the same for narrow screens; `plot` then spans the page.
    pub narrow: Option<Plot<'a>>,
    /// The numbers behind it.
    pub table: Option<&'a Table>,
    /// Whether the table is there to be seen at once.
    pub open: bool,
    /// Further classes: `alone` for a figure in the run of the text.
    pub class: &'a str,
}

/// A figure: drawing, caption, buttons to keep it, and its numbers.
#[must_use]
pub fn figure(block: &FigureBlock<'_>) -> Markup {
    let FigureBlock { id, title, caption, plot, narrow, table, open, class } = block;
    let across = if narrow.is_some() { "across " } else { "" };
    let class = format!("{across}{class}");
    let class = Some(class.trim()).filter(|class| !class.is_empty());
    html! {
        figure id=(id) class=[class] {
            @if !title.is_empty() { h3 { (title) } }
            (drawing(plot, title, narrow.as_ref().map(|_| "broad")))
            @if let Some(narrow) = narrow { (drawing(narrow, title, Some("narrow"))) }
            @if !plot.spots.is_empty() { p.says role="status" {} }
            figcaption { (caption) }
            @if let (Some(numbers), true) = (table, open) { (self::table(numbers, title)) }
            div.tools {
                button type="button" data-do="svg" hidden title="Download the figure as SVG" { "SVG" }
                button type="button" data-do="png" hidden title="Download the figure as PNG" { "PNG" }
                @if table.is_some() {
                    button type="button" data-do="copy" hidden { "Copy the numbers" }
                }
            }
            @if let (Some(numbers), false) = (table, open) {
                details {
                    summary { "The numbers" }
                    (self::table(numbers, title))
                }
            }
        }
    }
}

fn drawing(plot: &Plot<'_>, title: &str, class: Option<&str>) -> Markup {
    let class = class.map_or(String::from("plot"), |class| format!("plot {class}"));
    if plot.spots.is_empty() {
        return html! { div class=(class) { (PreEscaped(plot.svg)) } };
    }
    let tenths = |pixels: f64| (10.0 * pixels).round() / 10.0;
    let spots: Vec<String> = plot
        .spots
        .iter()
        .map(|(row, x, y)| format!("[{row},{},{}]", tenths(*x), tenths(*y)))
        .collect();
    html! {
        div class=(class) tabindex="0" role="application" aria-roledescription="figure"
            aria-label={ (title) ". The arrow keys read its values." }
            data-spots={ "[" (spots.join(",")) "]" } {
            (PreEscaped(plot.svg))
        }
    }
}

/// A table that scrolls within the page where it is too large.
#[must_use]
pub fn table(table: &Table, label: &str) -> Markup {
    let words = |column: usize| table.is_words(column).then_some("words");
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (label) ", numbers" } {
            table {
                thead { tr { @for (i, head) in table.heads.iter().enumerate() {
                    th scope="col" class=[words(i)] { (head) }
                } } }
                tbody { @for row in &table.rows { tr { @for (i, cell) in row.iter().enumerate() {
                    td class=[words(i)] {
                        @match cell {
                            Cell::Text(text) => (name(text)),
                            cell => (cell.shown()),
                        }
                    }
                } } } }
            }
        }
    }
}

/// A name that somebody gave: shortened where it is very long, and kept from turning the direction of
/// the text around it.
#[must_use]
pub fn name(given: &str) -> Markup {
    let shown = names::shown(given, names::IN_TEXT);
    if names::is_plain(&shown) {
        html! { (shown) }
    } else {
        html! { bdi { (shown) } }
    }
}
