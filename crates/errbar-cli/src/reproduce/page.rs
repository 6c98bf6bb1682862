//! One page that shows everything, with nothing to load from elsewhere.

use errbar_paper::{Claim, PaperFigure, Row, Table};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What the page shows.
pub(super) struct Page<'a> {
    pub(super) table: Option<&'a Table>,
    pub(super) figures: &'a [(PaperFigure, String)],
    pub(super) five_d: Option<&'a super::FiveDTable>,
    pub(super) claims: &'a [(Claim, Option<String>)],
    pub(super) command: &'a str,
}

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fdfdfc; --line: #cccccc; --soft: #666666; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e6; --paper: #161616; --line: #444444; --soft: #a5a5a5; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.15rem 0.6rem; text-align: right; border-bottom: 1px solid var(--line); }
th.words, td.words { text-align: left; } tr.first td { border-top: 2px solid var(--soft); }
.wide { overflow-x: auto; } .whole { white-space: nowrap; } .soft { color: var(--soft); }
figure { margin: 1.5rem 0; } figcaption { max-width: 46rem; }
figure svg { background: #ffffff; max-width: 100%; height: auto; border-radius: 4px; }
code { overflow-wrap: anywhere; }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
";

pub(super) fn render(page: &Page) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "The paper, made again" }
                style { (PreEscaped(STYLE)) }
            }
            body {
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
                    @for (figure, svg) in page.figures { (figure_block(&format!("Figure {}", figure.number), &figure.caption, svg)) }
                }
                @if let Some(five_d) = page.five_d { (five_d_section(five_d)) }
                @if !page.claims.is_empty() {
                    h2 { "The paper's claims, tried" }
                    @for (claim, svg) in page.claims { (claim_block(claim, svg.as_deref())) }
                }
                h2 { "How this page was made" }
                p { code { (page.command) } }
                p.soft { "errbar " (env!("CARGO_PKG_VERSION")) ". The same seed gives the same page." }
            }
        }
    }
    .into_string()
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
        div.wide {
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
            td.soft.whole { (paper) }
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
        div.wide { table {
            thead { tr { @for (i, head) in heads.iter().enumerate() {
                th class=[(i == 0).then_some("words")] { (head) }
            } } }
            tbody { @for row in rows { tr { @for (i, cell) in row.iter().enumerate() {
                td class=[(i == 0).then_some("words")] { (cell) }
            } } } }
        } }
    }
}

fn five_d_section(table: &super::FiveDTable) -> Markup {
    html! {
        h2 { "Five inputs" }
        p { (table.caption) }
        (plain_table(&table.heads, &table.rows))
    }
}

fn claim_block(claim: &Claim, svg: Option<&str>) -> Markup {
    html! {
        h3 { (claim.title) }
        @for paragraph in claim.text.split("\n\n") { p { (paragraph) } }
        @if let Some((heads, rows)) = &claim.table { (plain_table(heads, rows)) }
        @if let Some(svg) = svg { figure { (PreEscaped(svg)) } }
    }
}

fn figure_block(name: &str, caption: &str, svg: &str) -> Markup {
    html! {
        figure {
            // Made by errbar-report, which escapes every text in it.
            (PreEscaped(svg))
            figcaption { b { (name) ". " } (caption) }
        }
    }
}
