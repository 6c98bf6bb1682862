//! Rows of one table, or of two that a key puts beside each other.

use std::collections::HashMap;

use anyhow::bail;

use super::ask::{Asked, Form, Spec};
use crate::arguments::{DateArguments, TableArguments};
use crate::columns::{Columns, NumberId, Request, Role, TextId};
use crate::console::Console;
use crate::files::FileArguments;

/// The columns that say which rows belong together, as arguments.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct KeyArguments {
    /// The files are two tables, whose rows with the same values in these columns belong together (time,station). A column
    /// that both have is named with its file: --sigma a.csv:sigma,b.csv:sigma.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = crate::arguments::parse_column)]
    pub(crate) key: Vec<String>,
}

/// What is read beside the forecasts.
pub(crate) struct Beside<'a> {
    pub(crate) observation: Option<&'a str>,
    pub(crate) weight: Option<&'a str>,
    pub(crate) time: Option<&'a str>,
    pub(crate) dates: &'a DateArguments,
    pub(crate) by: Option<&'a str>,
    pub(crate) key: &'a [String],
}

/// Forecasts of the same rows, and the observations that followed.
pub(crate) struct Joined {
    pub(crate) forms: Vec<Form>,
    pub(crate) y: Vec<f64>,
    pub(crate) weight: Option<Vec<f64>>,
    /// The table that they are of, or the first of two.
    pub(crate) kept: Columns,
    /// What both are called.
    pub(crate) file: String,
    /// The column that rows are grouped by.
    pub(crate) by: Option<TextId>,
    pub(crate) notes: Vec<String>,
    /// Whether rows are those of the table, and in its order.
    whole: bool,
}

impl Joined {
    /// That the library refuses rows.
    pub(crate) fn refused(&self, error: errbar::Error) -> anyhow::Error {
        match self.whole {
            true => self.kept.refused(error),
            false => anyhow::anyhow!("{}, rows joined by --key: {error}", self.file),
        }
    }
}

/// One of the tables.
struct Source<'a> {
    path: String,
    request: Request,
    observation: Option<NumberId>,
    weight: Option<NumberId>,
    key: Vec<TextId>,
    by: Option<TextId>,
    asked: Vec<(usize, Asked<'a>)>,
}

/// Reads forecasts of the same rows.
pub(crate) fn read<'a>(
    files: &FileArguments,
    table: &TableArguments,
    specs: Vec<Spec<'a>>,
    beside: &Beside,
    console: Console,
) -> anyhow::Result<Joined> {
    let mut sources = Vec::new();
    if beside.key.is_empty() {
        sources.push(Source::open(files.given(), table)?);
    } else {
        let [first, second] = files.given() else {
            bail!(
                "--key joins two files, and {} were given: give two tables, or leave --key out to read them as one",
                files.given().len()
            );
        };
        for path in [first, second] {
            sources.push(Source::open(std::slice::from_ref(path), table)?);
        }
    }
    // The observation is in one of them at least.
    let mut observed = String::new();
    for (nth, source) in sources.iter_mut().enumerate() {
        let wanted = beside.observation;
        let there = match wanted {
            Some(name) => source.request.has(name),
            None => ["observation", "y"].iter().any(|name| source.request.has(name)),
        };
        let needed = beside.key.is_empty() || (nth == 1 && observed.is_empty());
        if there || needed {
            observed = source.request.name_of(Role::Observation, wanted, "")?;
            source.observation = Some(source.request.number(Role::Observation, &observed)?);
        }
        let has_weight =
            beside.weight.filter(|name| beside.key.is_empty() || source.request.has(name));
        source.weight = source.request.if_given(Role::Weight, has_weight)?;
        let key: anyhow::Result<Vec<TextId>> =
            beside.key.iter().map(|name| source.request.text(name)).collect();
        source.key = key?;
        if nth == 0 {
            source.by = beside.by.map(|name| source.request.text(name)).transpose()?;
            source.request.time(beside.time, beside.dates.date_format.as_ref())?;
        }
    }
    let count = specs.len();
    for (nth, spec) in specs.into_iter().enumerate() {
        let (place, spec) = place(spec, &sources)?;
        let mut others = vec![observed.as_str()];
        others.extend([beside.weight, beside.time, beside.by].into_iter().flatten());
        others.extend(beside.key.iter().map(String::as_str));
        let asked = spec.ask(&mut sources[place].request, &others)?;
        sources[place].asked.push((nth, asked));
    }
    if let Some(name) = beside.weight.filter(|_| sources.iter().all(|s| s.weight.is_none())) {
        return Err(sources[0].request.lacks(name, ", for --weight"));
    }
    let mut tables = Vec::new();
    for Source { path, request, observation, weight, key, by, asked } in sources {
        let mut kept = request.read(console)?;
        let mut notes = Vec::new();
        for (_, one) in &asked {
            let Some(missing) = one.is_missing(&kept) else { continue };
            let rows = missing.iter().filter(|missing| **missing).count();
            if rows == kept.rows() {
                bail!("{}: all members of \"{}\" are missing in every row", kept.file(), one.name);
            }
            if rows > 0 {
                notes.push(format!(
                    "{rows} of {} rows are left out, as no member of \"{}\" has a value",
                    kept.rows(),
                    one.name
                ));
                let keep: Vec<bool> = missing.iter().map(|missing| !missing).collect();
                kept.retain(&keep);
            }
        }
        notes.splice(0..0, asked.iter().filter_map(|(_, one)| one.note.clone()));
        notes.splice(0..0, kept.notes());
        tables.push(Table { path, kept, observation, weight, key, by, asked, notes });
    }
    join(tables, count)
}

/// A table that was read.
struct Table<'a> {
    path: String,
    kept: Columns,
    observation: Option<NumberId>,
    weight: Option<NumberId>,
    key: Vec<TextId>,
    by: Option<TextId>,
    asked: Vec<(usize, Asked<'a>)>,
    notes: Vec<String>,
}

fn join(mut tables: Vec<Table>, count: usize) -> anyhow::Result<Joined> {
    let mut notes: Vec<String> = Vec::new();
    for table in &tables {
        for note in &table.notes {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
    }
    let rows: Option<Vec<Vec<usize>>> = match &tables[..] {
        [first, second] => {
            let (rows, said) = pairs(first, second)?;
            notes.extend(said);
            Some(rows)
        }
        _ => None,
    };
    let of = |nth: usize| rows.as_ref().map(|rows| rows[nth].as_slice());
    let take = |nth: usize, id: NumberId| -> Vec<f64> {
        let column = tables[nth].kept.numbers(id);
        match of(nth) {
            Some(rows) => rows.iter().map(|&row| column[row]).collect(),
            None => column.to_vec(),
        }
    };
    let observed: Vec<Vec<f64>> = (tables.iter().enumerate())
        .filter_map(|(nth, table)| Some(take(nth, table.observation?)))
        .collect();
    if let [a, b] = &observed[..] {
        let other = a.iter().zip(b).filter(|(a, b)| a != b).count();
        if other > 0 {
            notes.push(format!(
                "the observation differs in {other} of {} joined rows: that of {} is taken",
                a.len(),
                tables[0].path
            ));
        }
    }
    let Some(y) = observed.into_iter().next() else {
        bail!("no table has the observation: name its column with --observation")
    };
    let weight = (tables.iter().enumerate()).find_map(|(nth, t)| Some(take(nth, t.weight?)));
    if weight.as_ref().is_some_and(|weight| weight.iter().all(|w| *w <= 0.0)) {
        bail!("{}: all weights are 0, and at least one row must count", tables[0].kept.file());
    }
    let mut forms: Vec<Option<Form>> = (0..count).map(|_| None).collect();
    for (nth, table) in tables.iter().enumerate() {
        for (place, asked) in &table.asked {
            let form = asked.form(&table.kept, of(nth), &y);
            forms[*place] = Some(form.map_err(|error| match rows {
                None => table.kept.refused(error),
                Some(_) => anyhow::anyhow!("{}: {error}", table.path),
            })?);
        }
    }
    let names: Vec<&str> = tables.iter().map(|table| table.kept.file()).collect();
    let file = names.join(" and ");
    let whole = rows.is_none();
    let Table { mut kept, by, .. } = tables.swap_remove(0);
    if let Some(rows) = rows {
        let mut keep = vec![false; kept.rows()];
        rows[0].iter().for_each(|&row| keep[row] = true);
        kept.retain(&keep);
    }
    Ok(Joined {
        forms: forms.into_iter().flatten().collect(),
        y,
        weight,
        kept,
        file,
        by,
        notes,
        whole,
    })
}

/// The rows of both tables that have the same key, in the order of the first, and what is to be said of the others.
fn pairs(first: &Table, second: &Table) -> anyhow::Result<(Vec<Vec<usize>>, Option<String>)> {
    let keys = [first.keys()?, second.keys()?];
    let place: HashMap<&[String], usize> =
        keys[1].iter().enumerate().map(|(row, key)| (key.as_slice(), row)).collect();
    let mut rows = vec![Vec::new(), Vec::new()];
    for (row, key) in keys[0].iter().enumerate() {
        if let Some(&other) = place.get(key.as_slice()) {
            rows[0].push(row);
            rows[1].push(other);
        }
    }
    let both = rows[0].len();
    if both == 0 {
        let example =
            |keys: &[Vec<String>]| keys.first().map_or(String::new(), |key| key.join(", "));
        bail!(
            "no row of {} has the key of a row of {}: \"{}\" stands in the first row of one, \"{}\" in that of the other; \
             write them alike",
            first.path,
            second.path,
            example(&keys[0]),
            example(&keys[1])
        );
    }
    let alone = |table: &Table, keys: usize| match keys - both {
        0 => None,
        1 => Some(format!("1 row of {}", table.path)),
        rows => Some(format!("{rows} rows of {}", table.path)),
    };
    let said: Vec<String> =
        [alone(first, keys[0].len()), alone(second, keys[1].len())].into_iter().flatten().collect();
    let said = (!said.is_empty()).then(|| {
        format!(
            "{both} rows are in both files; {} {} left out, as the other file has no such key",
            said.join(" and "),
            if said.len() == 1 && said[0].starts_with("1 row ") { "is" } else { "are" }
        )
    });
    Ok((rows, said))
}

impl Table<'_> {
    /// The key of each row; refused where one is there twice.
    fn keys(&self) -> anyhow::Result<Vec<Vec<String>>> {
        let key = |row: usize| -> Vec<String> {
            let text = |id: &TextId| {
                let texts = self.kept.texts(*id);
                alike(&texts.values[texts.rows[row] as usize])
            };
            self.key.iter().map(text).collect()
        };
        let keys: Vec<Vec<String>> = (0..self.kept.rows()).map(key).collect();
        let mut seen: HashMap<&[String], usize> = HashMap::new();
        for (row, key) in keys.iter().enumerate() {
            if let Some(other) = seen.insert(key, row) {
                bail!(
                    "{} and {} have the same key, {}: --key must name columns that tell rows apart",
                    self.kept.place(other),
                    self.kept.place(row),
                    key.join(", ")
                );
            }
        }
        Ok(keys)
    }
}

/// A number by its value, so that 1 and 1.0 are alike.
fn alike(text: &str) -> String {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => text.to_string(),
    }
}

impl<'a> Source<'a> {
    fn open(paths: &[std::path::PathBuf], table: &TableArguments) -> anyhow::Result<Self> {
        let request = Request::open(paths, table)?;
        let path = request.name().to_string();
        let (observation, weight, by) = (None, None, None);
        Ok(Self { path, request, observation, weight, key: Vec::new(), by, asked: Vec::new() })
    }

    /// Whether the name of a file means this one.
    fn is_called(&self, name: &str) -> bool {
        let file = std::path::Path::new(&self.path).file_name();
        self.path == name || file.is_some_and(|file| file.to_string_lossy() == name)
    }

    fn has_all(&self, patterns: &[String]) -> bool {
        self.request.matching(patterns, "").is_ok()
    }
}

/// Which of the tables has the columns of a forecast.
fn place<'a>(spec: Spec<'a>, sources: &[Source]) -> anyhow::Result<(usize, Spec<'a>)> {
    if sources.len() < 2 {
        return Ok((0, spec));
    }
    let patterns = spec.patterns();
    let told = |pattern: &String| {
        let named = |(nth, source): (usize, &Source)| {
            let (file, column) = pattern.rsplit_once(':')?;
            source.is_called(file).then(|| (nth, column.to_string()))
        };
        sources.iter().enumerate().find_map(named)
    };
    let files: Vec<Option<(usize, String)>> = patterns.iter().map(told).collect();
    let mut places: Vec<usize> = files.iter().flatten().map(|(nth, _)| *nth).collect();
    places.dedup();
    if places.len() > 1 {
        bail!("{}: the columns of one forecast must be of one file", patterns.join(", "));
    }
    if let Some(&nth) = places.first() {
        return Ok((nth, spec.without_file()));
    }
    let found: Vec<usize> =
        (0..sources.len()).filter(|&nth| sources[nth].has_all(&patterns)).collect();
    match found[..] {
        [nth] => Ok((nth, spec)),
        [] => Err(sources[0].request.lacks(
            patterns.last().map_or("", String::as_str),
            &format!(", and {} has none either", sources[1].path),
        )),
        _ => bail!(
            "both files have {}: say which is meant, as in {}:{}",
            patterns.join(", "),
            sources[0].path,
            patterns.last().map_or("", String::as_str)
        ),
    }
}

impl<'a> Spec<'a> {
    /// Its columns, without the file before their names.
    fn without_file(self) -> Self {
        let short = |name: &'a str| name.rsplit_once(':').map_or(name, |(_, column)| column);
        match self {
            Self::Sigma(of) => Self::Sigma(super::SigmaColumns {
                forecast: of.forecast.map(short),
                sigma: short(of.sigma),
                ..of
            }),
            Self::Kind(mut kind) => {
                for pattern in &mut kind.patterns {
                    if let Some((_, column)) = pattern.rsplit_once(':') {
                        *pattern = column.to_string();
                    }
                }
                Self::Kind(kind)
            }
        }
    }
}
