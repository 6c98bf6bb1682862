//! Several files as one table: columns are matched by their names.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::names;
use crate::stream::Stream;
use crate::{Error, Format, Note, Result, Table};

/// Tables of one or several files whose headers have been read, to be used as one: the rows of the first, then those of
/// the second, and so on. A column is one that all files have, wherever it stands in them.
pub struct Tables {
    pub(crate) format: Format,
    pub(crate) files: Vec<TableFile>,
    /// The columns of the first file that all others have.
    header: Vec<String>,
}

/// One of the files.
pub(crate) struct TableFile {
    path: PathBuf,
    pub(crate) name: String,
    pub(crate) header: Vec<String>,
    notes: Vec<Note>,
    /// What its columns hold, where they have a type.
    pub(crate) types: Option<Vec<String>>,
    /// For each common column its place here.
    places: Vec<usize>,
    /// The table itself, as long as it was not read: the only one, or one that cannot be opened again.
    opened: Option<Table>,
}

impl Tables {
    /// Opens files and reads their headers; see [`Table::open`].
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn open(paths: &[PathBuf], format: &Format) -> Result<Self> {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let table = Table::open(path, format)?;
            let (name, header) = (table.name().to_string(), table.header().to_vec());
            let (notes, types) = (table.notes().to_vec(), table.types());
            // There may be more files than a program may hold open.
            let opened = (paths.len() == 1 || is_stdin(path)).then_some(table);
            let (path, places) = (path.clone(), vec![]);
            files.push(TableFile { path, name, header, notes, types, places, opened });
        }
        let Some(first) = files.first() else {
            return Err(Error::Usage("no file was named".into()));
        };
        let mut header = first.header.clone();
        for file in files.iter().skip(1) {
            let here: HashSet<&String> = file.header.iter().collect();
            header.retain(|name| here.contains(name));
        }
        for file in &mut files {
            file.places = places_of(&header, &file.header);
        }
        Ok(Self { format: format.clone(), files, header })
    }

    /// How many files there are.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never none
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// What messages call all of them: the path as given, "standard input", "a.csv and b.csv", "a.csv and 11 more files".
    #[must_use]
    pub fn name(&self) -> String {
        match self.files.as_slice() {
            [] => String::new(),
            [only] => only.name.clone(),
            [first, second] => format!("{} and {}", first.name, second.name),
            [first, others @ ..] => format!("{} and {} more files", first.name, others.len()),
        }
    }

    /// What messages call one of them.
    #[must_use]
    pub fn file(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |file| &file.name)
    }

    /// The path of one of them, as it was given.
    #[must_use]
    pub fn path(&self, file: usize) -> &Path {
        self.files.get(file).map_or(Path::new(""), |file| &file.path)
    }

    /// Whether one of them can be read only once.
    #[must_use]
    pub fn has_stdin(&self) -> bool {
        self.files.iter().any(|file| is_stdin(&file.path))
    }

    /// The names of the columns that all have, in the order of the first file.
    #[must_use]
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Columns that some files have and others not, each with one that has it and one that has not.
    pub fn not_in_all(&self) -> Vec<(&str, &str, &str)> {
        let common: HashSet<&String> = self.header.iter().collect();
        let mut found: Vec<(&str, &str, &str)> = vec![];
        let mut seen = HashSet::new();
        for file in &self.files {
            for name in file.header.iter().filter(|name| !common.contains(name)) {
                let without = self.files.iter().find(|other| !other.header.contains(name));
                if let Some(without) = without
                    && seen.insert(name)
                {
                    found.push((name, &file.name, &without.name));
                }
            }
        }
        found
    }

    /// The first file that has a column of this name, whether or not others have it.
    #[must_use]
    pub fn with_column(&self, name: &str) -> Option<&str> {
        let has = |file: &&TableFile| file.header.iter().any(|column| column == name);
        self.files.iter().find(has).map(|file| file.name.as_str())
    }

    /// What is worth knowing of how they are read, file by file.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.files.iter().flat_map(|file| &file.notes)
    }

    /// The columns that patterns stand for among those that all have, by name: see [`Table::matching`].
    ///
    /// # Errors
    /// As [`Self::column_for`].
    pub fn matching(&self, patterns: &[String], why: &str) -> Result<Vec<String>> {
        let places = names::matching(&self.name(), &self.header, patterns, why)?;
        Ok(places.into_iter().map(|place| self.header[place].clone()).collect())
    }

    /// The place of a column among those that all have.
    ///
    /// # Errors
    /// [`crate::NoColumn`]: a sentence that names a file without it.
    pub fn column(&self, name: &str) -> Result<usize> {
        self.column_for(name, "")
    }

    /// As [`Self::column`]; `why` follows the name in the sentence and says what it is wanted for.
    ///
    /// # Errors
    /// As [`Self::column`].
    pub fn column_for(&self, name: &str, why: &str) -> Result<usize> {
        let wanted = name.trim();
        if let Some(place) = self.header.iter().position(|name| name == wanted) {
            return Ok(place);
        }
        let has = |file: &&TableFile| file.header.iter().any(|name| name == wanted);
        let with = self.files.iter().find(has);
        let without = self.files.iter().find(|file| !has(file));
        let also = with.map_or(String::new(), |with| format!(", which {} has", with.name));
        let (file, header) = match without {
            Some(file) => (file.name.as_str(), &file.header),
            None => ("the table", &self.header),
        };
        Ok(names::find(file, header, wanted, &format!("{why}{also}"))?)
    }

    /// "It has: x, mu, y", or, of several files, "They share: x, mu, y".
    #[must_use]
    pub fn listing(&self) -> String {
        match self.files.len() {
            1 => names::listing(&self.header),
            _ if self.header.is_empty() => String::from("They share no column"),
            _ => match names::listing(&self.header).split_once(": ") {
                Some((_, names)) => format!("They share: {names}"),
                None => names::listing(&self.header),
            },
        }
    }

    /// See [`Table::is_uncut`]; of any file.
    #[must_use]
    pub fn is_uncut(&self) -> bool {
        self.files.iter().any(|file| names::is_uncut(&file.header))
    }

    /// One of the files as a table of its own.
    ///
    /// # Errors
    /// As [`Table::open`]; a file that has changed since its header was read, or standard input a second time.
    pub fn table(&mut self, file: usize) -> Result<Table> {
        let format = &self.format;
        let Some(file) = self.files.get_mut(file) else {
            return Err(Error::Usage(format!("there is no file {}", file + 1)));
        };
        match file.opened.take() {
            Some(table) => Ok(table),
            None => file.open(format),
        }
    }

    /// One of the files, opened anew.
    ///
    /// # Errors
    /// As [`Self::table`].
    pub fn again(&self, file: usize) -> Result<Table> {
        match self.files.get(file) {
            Some(file) => file.open(&self.format),
            None => Err(Error::Usage(format!("there is no file {}", file + 1))),
        }
    }

    /// Where a common column stands in one of the files.
    #[must_use]
    pub fn place(&self, file: usize, column: usize) -> Option<usize> {
        self.files.get(file)?.places.get(column).copied()
    }

    /// Where each column of the first file stands in another one that has the same columns.
    pub(crate) fn beside_first(&self, file: usize) -> Vec<usize> {
        match (self.files.first(), self.files.get(file)) {
            (Some(first), Some(file)) => places_of(&first.header, &file.header),
            _ => vec![],
        }
    }

    /// Refuses files that do not have the same columns, so that they cannot be written as one; the order does not matter.
    ///
    /// # Errors
    /// A sentence that names two files and a column.
    pub fn check_same_columns(&self) -> Result<()> {
        match self.not_in_all().first() {
            None => Ok(()),
            Some((column, with, without)) => Err(Error::Content(format!(
                "{without} has no column {column:?}, which {with} has: they cannot be written as one table"
            ))),
        }
    }

    /// Refuses files whose columns of the same name have not the same type, which a Parquet file asks for.
    pub(crate) fn check_same_types(&self) -> Result<()> {
        let Some((first, others)) = self.files.split_first() else { return Ok(()) };
        let csv = "as a CSV they can be one table";
        for (file, other) in others.iter().enumerate() {
            let (here, there) = match (&first.types, &other.types) {
                (None, None) => continue,
                (Some(here), Some(there)) => (here, there),
                (here, _) => {
                    let (parquet, text) =
                        if here.is_some() { (first, other) } else { (other, first) };
                    return Err(Error::Content(format!(
                        "{} is a Parquet file and {} is not: {csv}",
                        parquet.name, text.name
                    )));
                }
            };
            let beside = self.beside_first(file + 1);
            let differs = |(column, at): &(usize, &usize)| here.get(*column) != there.get(**at);
            if let Some((column, _)) = beside.iter().enumerate().find(differs) {
                let column = first.header.get(column).map_or("", String::as_str);
                return Err(Error::Content(format!(
                    "column {column:?} has one type in {} and another in {}: {csv}",
                    first.name, other.name
                )));
            }
        }
        Ok(())
    }

    /// Reads batch by batch, file by file, keeping every column for a [`crate::Sink`].
    ///
    /// # Errors
    /// A column that cannot be read as it is asked for.
    pub fn stream(self, numbers: &[usize], texts: &[usize]) -> Result<Stream> {
        Stream::of_all(self, numbers, texts)
    }

    /// Reads one of the files batch by batch, after so many rows of those before.
    ///
    /// # Errors
    /// As [`Self::stream`].
    pub fn stream_of(
        &mut self,
        file: usize,
        numbers: &[usize],
        texts: &[usize],
        before: u64,
    ) -> Result<Stream> {
        Stream::of_file(self, file, numbers, texts, before)
    }
}

/// For each name its place in a header, where it has one.
fn places_of(names: &[String], header: &[String]) -> Vec<usize> {
    let places: HashMap<&String, usize> = header.iter().zip(0..).collect();
    names.iter().filter_map(|name| places.get(name).copied()).collect()
}

impl TableFile {
    fn open(&self, format: &Format) -> Result<Table> {
        if is_stdin(&self.path) {
            return Err(Error::Usage("standard input cannot be read twice: name a file".into()));
        }
        let table = Table::open(&self.path, format)?;
        match table.header() == self.header {
            true => Ok(table),
            false => Err(Error::Content(format!("{} has changed while it was read", self.name))),
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}
