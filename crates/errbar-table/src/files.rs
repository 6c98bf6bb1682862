//! What paths stand for: a file, the tables in a folder, or the files that a pattern matches.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use crate::words::shown;
use crate::{Error, Result, output};

/// How the names of tables end.
const ENDINGS: [&str; 12] = [
    "csv", "tsv", "tab", "txt", "dat", "jsonl", "ndjson", "parquet", "xlsx", "xlsm", "xlsb", "ods",
];

/// The files that paths stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// In the order in which they were given; those of a folder or a pattern by their names.
    pub paths: Vec<PathBuf>,
    /// What lies in folders that were given and is not taken, in words, folder by folder.
    pub left_out: Vec<String>,
}

impl Files {
    /// The files that some paths stand for. A folder stands for the tables in it, by the endings of their names; what
    /// lies in folders of it is left out, and so are hidden files. A path that leads nowhere and holds `*`, `?` or `[` is
    /// a pattern: `*` is any text without a separator of folders, `?` one letter, `[a-c]` one of some, `**` any
    /// folders. Everything else stands for itself, `-` for standard input.
    ///
    /// # Errors
    /// A folder without tables, a pattern that matches nothing, a file that is there twice.
    pub fn of(given: &[PathBuf]) -> Result<Self> {
        let mut files = Self::default();
        for path in given {
            if path.as_os_str() == "-" {
                files.paths.push(path.clone());
            } else if path.is_dir() {
                files.add_folder(path)?;
            } else if is_pattern(path) && path.symlink_metadata().is_err() {
                let found = matching(path);
                if found.is_empty() {
                    return Err(Error::Usage(format!("no file matches {}", path.display())));
                }
                files.paths.extend(found);
            } else {
                files.paths.push(path.clone());
            }
        }
        files.check_distinct()?;
        Ok(files)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<()> {
        let failed = |error| Error::Read { file: folder.display().to_string(), error };
        let (mut tables, mut others, mut folders) = (vec![], vec![], 0);
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            match () {
                () if path.is_dir() => folders += 1,
                () if is_table(&path) => tables.push(path),
                () => others.push(path),
            }
        }
        tables.sort();
        others.sort();
        let name = folder.display();
        if tables.is_empty() {
            let has = match listed(&others, folders) {
                Some(listed) => format!("it has {listed}"),
                None => String::from("it is empty"),
            };
            return Err(Error::Usage(format!(
                "there is no table in the folder {name}: tables end in .csv, .tsv, .tab, .txt, .dat, .jsonl (also \
                 with .gz, .zst, .xz, .bz2), .parquet, .xlsx or .ods; {has}"
            )));
        }
        self.left_out.extend(listed(&others, folders).map(|listed| format!("{listed} in {name}")));
        self.paths.extend(tables);
        Ok(())
    }

    /// A row must not count twice.
    fn check_distinct(&self) -> Result<()> {
        let mut seen: HashMap<PathBuf, &PathBuf> = HashMap::new();
        for path in &self.paths {
            let itself = match path.as_os_str() == "-" {
                true => path.clone(),
                false => path.canonicalize().unwrap_or_else(|_| path.clone()),
            };
            let Some(before) = seen.insert(itself, path) else { continue };
            let what = match path.as_os_str() == "-" {
                true => String::from("standard input"),
                false => path.display().to_string(),
            };
            let also = match before == path {
                true => String::new(),
                false => format!(" (also as {})", before.display()),
            };
            let why = format!("{what} is named twice{also}: name each file once");
            return Err(Error::Usage(why));
        }
        Ok(())
    }
}

/// Whether a file in a folder is a table, by its name.
fn is_table(path: &Path) -> bool {
    let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    let Some(ending) = output::ending(path) else { return false };
    let (end, packed) = ending.split_once('.').unwrap_or((&ending, ""));
    let is_table = ENDINGS.contains(&end) || output::PACKED.contains(&end);
    !is_hidden && is_table && (packed.is_empty() || output::PACKED.contains(&packed))
}

/// "README.md, notes.doc and 2 folders"; nothing for nothing.
fn listed(files: &[PathBuf], folders: usize) -> Option<String> {
    const NAMED: usize = 3;
    let name = |path: &PathBuf| path.file_name().map(|name| shown(name.as_encoded_bytes()));
    let mut parts: Vec<String> = files.iter().take(NAMED).filter_map(name).collect();
    let count = |n: usize, one: &str, many: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    parts.extend(count(files.len().saturating_sub(NAMED), "other file", "other files"));
    parts.extend(count(folders, "folder", "folders"));
    let last = parts.pop()?;
    Some(if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) })
}

fn is_pattern(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// The files that match a pattern, by their names, folder by folder.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy();
        found = match part {
            Component::Normal(_) if text == "**" => found.iter().flat_map(|at| below(at)).collect(),
            Component::Normal(name) if is_pattern(Path::new(name)) => {
                let pattern: Vec<char> = text.chars().collect();
                let in_folder = |at: &PathBuf| {
                    let names = names_in(at).into_iter().filter(|name| {
                        let is_hidden = name.starts_with('.') && !text.starts_with('.');
                        !is_hidden && matches(&pattern, &name.chars().collect::<Vec<char>>())
                    });
                    names.map(|name| at.join(name)).collect::<Vec<_>>()
                };
                found.iter().flat_map(in_folder).collect()
            }
            part => found.iter().map(|at| at.join(part)).collect(),
        };
    }
    let mut seen = HashSet::new();
    found.retain(|path| path.is_file() && seen.insert(path.clone()));
    found
}

/// The names in a folder, in order; none where it cannot be read.
fn names_in(folder: &Path) -> Vec<String> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(here).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A folder and all below it that are not hidden. Links are not followed: they may lead in circles.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_path_buf()];
    for name in names_in(folder) {
        let path = folder.join(&name);
        let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        if is_folder && !name.starts_with('.') {
            all.extend(below(&path));
        }
    }
    all
}

/// Whether a name matches a pattern of `*`, `?` and `[…]`.
fn matches(mut pattern: &[char], mut name: &[char]) -> bool {
    // Where the last star stands, and what of the name it has not taken yet: it takes more where the rest does not fit.
    let mut star: Option<(&[char], &[char])> = None;
    loop {
        let next = match (pattern, name) {
            ([], []) => return true,
            (['*', rest @ ..], _) => {
                star = Some((rest, name));
                Some((rest, name))
            }
            (_, []) => return false,
            (_, [letter, left @ ..]) => one(pattern, *letter).map(|rest| (rest, left)),
        };
        (pattern, name) = match (next, star) {
            (Some(next), _) => next,
            (None, Some((rest, [_, left @ ..]))) => {
                star = Some((rest, left));
                (rest, left)
            }
            _ => return false,
        };
    }
}

/// What is left of a pattern after a letter that fits its beginning.
fn one(pattern: &[char], letter: char) -> Option<&[char]> {
    match pattern {
        ['?', rest @ ..] => Some(rest),
        ['[', inside @ ..] => match class(inside) {
            Some((is_in, rest)) => is_in(letter).then_some(rest),
            None => (letter == '[').then_some(inside),
        },
        [wanted, rest @ ..] => (*wanted == letter).then_some(rest),
        [] => None,
    }
}

/// What follows `[`: whether a letter is one of those meant, and what comes after `]`.
fn class(pattern: &[char]) -> Option<(impl Fn(char) -> bool + '_, &[char])> {
    let not = matches!(pattern.first(), Some('!' | '^'));
    let inside = pattern.get(usize::from(not)..)?;
    // A bracket that comes first is one of the letters.
    let end = inside.iter().skip(1).position(|letter| *letter == ']')? + 1;
    let (letters, rest) = (inside.get(..end)?, inside.get(end + 1..)?);
    let is_in = move |letter: char| {
        let (mut at, mut found) = (letters, false);
        while let [first, more @ ..] = at {
            at = match more {
                ['-', last, after @ ..] => {
                    found |= (*first..=*last).contains(&letter);
                    after
                }
                _ => {
                    found |= *first == letter;
                    more
                }
            };
        }
        found != not
    };
    Some((is_in, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        matches(&letters(pattern), &letters(name))
    }

    #[test]
    fn patterns_as_shells_have_them() {
        for (pattern, name) in [
            ("2024-*.csv", "2024-01.csv"),
            ("2024-*.csv", "2024-.csv"),
            ("*", "a.b"),
            ("a*b*c", "aXbYbZc"),
            ("?.csv", "é.csv"),
            ("[a-c]1[!0-9]", "b1x"),
            ("[]x]", "]"),
            ("[ab", "[ab"),
            ("a-[^b]", "a-c"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("2024-*.csv", "2024-01.csv.gz"),
            ("?.csv", ".csv"),
            ("[a-c]", "d"),
            ("[!a-c]", "b"),
            ("a", "ab"),
            ("", "a"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    /// Made files by their names below a folder.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x\n1\n").unwrap();
        }
        folder
    }

    fn found(
        folder: &tempfile::TempDir,
        given: &[&str],
    ) -> std::result::Result<Vec<String>, String> {
        let at = folder.path();
        let given: Vec<PathBuf> = given.iter().map(|name| at.join(name)).collect();
        let short = |path: &PathBuf| path.strip_prefix(at).unwrap().display().to_string();
        match Files::of(&given) {
            Ok(files) => Ok(files.paths.iter().map(short).collect()),
            Err(error) => Err(error.to_string().replace(&format!("{}/", at.display()), "")),
        }
    }

    #[test]
    fn folders_and_patterns_are_files_by_name() {
        let names = [
            "d/b.csv",
            "d/a.parquet",
            "d/c.tsv.gz",
            "d/.hidden.csv",
            "d/read.me",
            "d/in/x.csv",
            "d/notes.md",
            "e/2024-02.csv",
            "e/2024-01.csv",
            "e/2023-12.csv",
            "f/a[1].csv",
        ];
        let at = folder(&names);
        let of = |given: &[&str]| found(&at, given);
        assert_eq!(of(&["d"]).unwrap(), ["d/a.parquet", "d/b.csv", "d/c.tsv.gz"]);
        let files = Files::of(&[at.path().join("d")]).unwrap();
        let said = files.left_out[0].replace(&at.path().display().to_string(), "");
        assert_eq!(said, ".hidden.csv, notes.md, read.me and 1 folder in /d");
        assert_eq!(of(&["e/2024-*"]).unwrap(), ["e/2024-01.csv", "e/2024-02.csv"]);
        assert_eq!(of(&["?/*-12.csv", "d/b.csv"]).unwrap(), ["e/2023-12.csv", "d/b.csv"]);
        assert_eq!(of(&["d/**/*.csv"]).unwrap(), ["d/b.csv", "d/in/x.csv"]);
        assert_eq!(of(&["f/a[1].csv"]).unwrap(), ["f/a[1].csv"], "as it is called");
        assert_eq!(of(&["d/nowhere.csv"]).unwrap(), ["d/nowhere.csv"], "for others to complain");
        assert_eq!(of(&["e/2025-*.csv"]).unwrap_err(), "no file matches e/2025-*.csv");
        let twice = of(&["e", "e/2024-01.csv"]).unwrap_err();
        assert_eq!(twice, "e/2024-01.csv is named twice: name each file once");
        let twice = of(&["e/2024-01.csv", "d/../e/2024-01.csv"]).unwrap_err();
        assert!(twice.contains("(also as e/2024-01.csv)"), "{twice}");
    }

    #[test]
    fn folders_without_tables_are_told_with_what_they_have() {
        let at = folder(&["d/read.me", "e/in/x.csv"]);
        std::fs::create_dir(at.path().join("f")).unwrap();
        for (name, has) in [("d", "it has read.me"), ("e", "it has 1 folder"), ("f", "it is empty")]
        {
            let said = found(&at, &[name]).unwrap_err();
            assert!(said.starts_with(&format!("there is no table in the folder {name}")), "{said}");
            assert!(said.ends_with(has), "{said}");
        }
    }
}
