//! `errbar licences`: what is linked into the program, and under which licences.
//!
//! The list and the texts are made by `tools/licences.py`; `./test` fails when they are not of the
//! crates in Cargo.lock.

use std::fmt::Write;
use std::io::Read;

use anyhow::Context;

use crate::output;
use crate::text_table::{TextTable, wrapped};

/// Name, version, licence, where it is linked and the numbers of its texts, by tabulators.
const LIST: &str = include_str!("licences/list.tsv");
/// The texts, as a list in JSON; packed, since they are many times the size.
const TEXTS: &[u8] = include_bytes!("licences/texts.json.gz");
/// Ours, of the program and of the font; they come first among the texts.
const OWN: [&str; 3] = ["errbar", "errbar", "Arimo, the font of figures"];

/// Print the licences of errbar and of everything in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar licences
  errbar licences --texts > LICENCES.txt")]
pub(crate) struct Arguments {
    /// With the texts of the licences and the notices that the crates come with.
    #[arg(long)]
    texts: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut said = wrapped(
        &format!(
            "errbar {} is under MIT or Apache-2.0, as you like. Its figures have the font Arimo, \
             under OFL-1.1. These are linked into it on one system or another, beside the \
             standard library of Rust (MIT OR Apache-2.0); those with \"Python\" only into the \
             Python package:",
            env!("CARGO_PKG_VERSION")
        ),
        100,
    );
    let mut table = TextTable::new(&["name", "<version", "<licence", "<where"]);
    for one in listed() {
        table.row([one.name, one.version, one.licence, one.place].map(String::from).to_vec());
    }
    write!(said, "\n{table}")?;
    match arguments.texts {
        true => write!(said, "\n{}", with_names(&texts()?)?)?,
        false => said.push_str("\nThe texts: errbar licences --texts\n"),
    }
    output::print(&said)
}

/// A line of the list.
struct Linked {
    name: &'static str,
    version: &'static str,
    licence: &'static str,
    /// Nothing, or the one package of ours that has it.
    place: &'static str,
    texts: Vec<usize>,
}

fn listed() -> impl Iterator<Item = Linked> {
    LIST.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default();
        let (name, version, licence, place) = (cell(), cell(), cell(), cell());
        let texts = cell().split(',').filter_map(|number| number.parse().ok()).collect();
        Linked { name, version, licence, place, texts }
    })
}

fn texts() -> anyhow::Result<Vec<String>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(TEXTS)
        .read_to_string(&mut text)
        .context("the licences in this program cannot be unpacked; it is not whole")?;
    serde_json::from_str(&text).context("the licences in this program are not whole")
}

/// Each text once, below the names of those that come with it.
fn with_names(texts: &[String]) -> Result<String, std::fmt::Error> {
    let mut names: Vec<Vec<String>> = vec![Vec::new(); texts.len()];
    for (names, own) in names.iter_mut().zip(OWN) {
        names.push(own.to_string());
    }
    let mut bare = Vec::new();
    for one in listed() {
        let name = format!("{} {}", one.name, one.version);
        for &number in &one.texts {
            if let Some(names) = names.get_mut(number) {
                names.push(name.clone());
            }
        }
        if one.texts.is_empty() {
            bare.push(name);
        }
    }
    let line = "=".repeat(100);
    let mut said = String::new();
    for (text, names) in texts.iter().zip(&names) {
        writeln!(said, "{line}\n{}{line}\n\n{text}", wrapped(&names.join(", "), 100))?;
    }
    let bare = format!("Without a text of their own come {}.", bare.join(", "));
    write!(said, "{line}\n{}", wrapped(&bare, 100))?;
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_belongs_to_someone_who_is_listed() {
        let texts = texts().unwrap();
        let mut used = vec![false; texts.len()];
        used[..OWN.len()].fill(true);
        for one in listed() {
            assert!(!one.version.is_empty() && !one.licence.is_empty(), "{}", one.name);
            one.texts.iter().for_each(|&number| used[number] = true);
        }
        assert!(used.iter().all(|&used| used));
    }
}
