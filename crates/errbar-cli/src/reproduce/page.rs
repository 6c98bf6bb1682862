//! One page that shows everything, with nothing to load from elsewhere.

use errbar_paper::{Claim, PaperFigure, Row, Table};
use errbar_report::page::{self, FigureBlock, Plot};
use maud::{Markup, html};

/// What the page shows.
pub(super) struct Page<'a> {
    pub(super) table: Option<&'a Table>,
    pub(super) figures: &'a [(PaperFigure, String)],
    pub(super) five_d: Option<&'a super::PlainTable>,
    pub(super) beyond: Option<&'a super::PlainTable>,
    pub(super) skewed: &'a [(Claim, Option<String>)],
    pub(super) claims: &'a [(Claim, Option<String>)],
    pub(super) command: &'a str,
}

pub(super) fn render(page: &Page) -> String {
    let content = html! {
        h1 { "The Accuracy-Reliability cost: the paper, made again" }
        p {
            "The experiments of Camporeale (2018), "
            a href="https://arxiv.org/abs/1803.04475" {
                "Accuracy-Reliability Cost Function for Empirical Variance Estimation"
            }
            ", run from nothing by errbar."
        }
        @if let Some(table) = page.table { (table_section(table)) }
        @if !page.figures.is_empty() {
            h2 { "Figures" }
            @for (figure, svg) in page.figures {
                (figure_block(figure.name, &format!("Figure {}", figure.number), &figure.caption, svg))
            }
        }
        @if let Some(five_d) = page.five_d { (section("Five inputs", five_d)) }
        @if let Some(beyond) = page.beyond { (section("Beyond the paper", beyond)) }
        @if !page.skewed.is_empty() {
            h2 { "Skewed errors" }
            @for (claim, svg) in page.skewed { (claim_block(claim, svg.as_deref())) }
        }
        @if !page.claims.is_empty() {
            h2 { "The paper's claims, tried" }
            @for (claim, svg) in page.claims { (claim_block(claim, svg.as_deref())) }
        }
        h2 { "How this page was made" }
        pre { code { (page.command) } }
        p.soft { "errbar " (env!("CARGO_PKG_VERSION")) ". The same seed gives the same page." }
    };
    page::page("The paper, made again", &content)
}

fn table_section(table: &Table) -> Markup {
    let heads = ["q1", "median", "q3", "oracle", "regret", "CRPS", "RS", "error of σ"];
    html! {
        h2 { "Table 1" }
        p {
            "Negative log predictive density on 900 test points after training on 100: quartiles of "
            (table.runs) " runs, seed " (table.seed) ". Smaller is better. Regret is the median of "
            "NLPD minus that of the true mean and sigma on the same points."
        }
        div.scroll tabindex="0" role="region" aria-label="Numbers" {
            table {
                thead { tr {
                    th.words { "data" } th.words { "method" } th { "paper's quartiles" }
                    @for head in heads { th { (head) } }
                } }
                tbody { @for (i, row) in table.rows.iter().enumerate() {
                    (table_row(row, i == 0 || table.rows[i - 1].set != row.set))
                } }
            }
        }
        p {
            "The paper's GP column lies near the second line of each data set, where the predictive "
            "variance stands in the place of the standard deviation; the first line has the standard "
            "deviation itself. AR-NN and AR-Poly are the paper's settings, on in-sample errors; the "
            "general models are errbar's, on leave-one-out errors."
        }
    }
}

fn table_row(row: &Row, first: bool) -> Markup {
    let paper = row.paper.map_or(String::new(), |p| p.map(|v| format!("{v:.2}")).join(" "));
    html! {
        tr class=[first.then_some("first")] {
            td.words { (if first { row.set.name() } else { "" }) }
            td.words { (row.method.name()) }
            td.soft { (paper) }
            td { (format!("{:.3}", row.nlpd[0])) }
            td { b { (format!("{:.3}", row.nlpd[1])) } }
            td { (format!("{:.3}", row.nlpd[2])) }
            td { (format!("{:.3}", row.oracle)) }
            td { (format!("{:.3}", row.regret)) }
            td { (format!("{:.4}", row.crps)) }
            td { (format!("{:.5}", row.rs)) }
            td { (format!("{:.3}", row.sigma_rmse)) }
        }
    }
}

fn plain_table(heads: &[String], rows: &[Vec<String>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Numbers" { table {
            thead { tr { @for (i, head) in heads.iter().enumerate() {
                th class=[(i == 0).then_some("words")] { (head) }
            } } }
            tbody { @for row in rows { tr { @for (i, cell) in row.iter().enumerate() {
                td class=[(i == 0).then_some("words")] { (bold(cell)) }
            } } } }
        } }
    }
}

/// What stands between pairs of `**`, as in Markdown, in bold.
fn bold(text: &str) -> Markup {
    html! {
        @for (i, part) in text.split("**").enumerate() {
            @if i % 2 == 1 { b { (part) } } @else { (part) }
        }
    }
}

fn section(title: &str, table: &super::PlainTable) -> Markup {
    html! {
        h2 { (title) }
        p { (table.caption) }
        (plain_table(&table.heads, &table.rows))
    }
}

fn claim_block(claim: &Claim, svg: Option<&str>) -> Markup {
    html! {
        h3 { (claim.title) }
        @for paragraph in claim.text.split("\n\n") { p { (paragraph) } }
        @if let Some((heads, rows)) = &claim.table { (plain_table(heads, rows)) }
        @if let Some(svg) = svg { (figure_block(claim.name, "", "", svg)) }
    }
}

fn figure_block(id: &str, name: &str, caption: &str, svg: &str) -> Markup {
    page::figure(&FigureBlock {
        id,
        title: "",
        caption: html! { @if !name.is_empty() { p { b { (name) ". " } (caption) } } },
        plot: Plot { svg, spots: &[] },
        narrow: None,
        table: None,
        open: false,
        class: "alone",
    })
}
