//! Tables of real forecasts: inputs x…, observation y, forecast mu.

use std::path::Path;

use anyhow::{Context, ensure};

/// The inputs of a table, the forecast last among them, and the errors.
pub struct Table {
    pub names: Vec<String>,
    pub inputs: Vec<f64>,
    pub error: Vec<f64>,
}

impl Table {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", path.display());
        let mut reader = csv::Reader::from_path(path).with_context(cannot)?;
        let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        let place = |name: &str| {
            let place = header.iter().position(|column| column == name);
            place.with_context(|| format!("{} has no column {name}", path.display()))
        };
        let (y, mu) = (place("y")?, place("mu")?);
        let (mut inputs, mut error) = (Vec::new(), Vec::new());
        for (row, record) in reader.records().enumerate() {
            let number = |text: &str| {
                let place = || format!("'{text}' in row {} of {}", row + 1, path.display());
                text.parse::<f64>().with_context(place)
            };
            let values: Vec<f64> =
                record.with_context(cannot)?.iter().map(number).collect::<Result<_, _>>()?;
            inputs.extend((0..values.len()).filter(|column| *column != y).map(|c| values[c]));
            error.push(values[y] - values[mu]);
        }
        let names = header.into_iter().filter(|name| name != "y").collect();
        Ok(Self { names, inputs, error })
    }
}

/// The names of the tables of a folder, each of which has a train and a test file.
pub fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let file = entry?.file_name().to_string_lossy().into_owned();
        names.extend(file.strip_suffix("_train.csv").map(str::to_owned));
    }
    names.sort();
    ensure!(!names.is_empty(), "there is no train file in {}", folder.display());
    Ok(names)
}
