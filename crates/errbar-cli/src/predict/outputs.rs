//! Where the rows of some files go: into one file, or into one for each.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use errbar_table::Tables;

use crate::with_columns;

/// Where rows are written.
pub(super) enum Outputs {
    /// All of them to one file, or to standard output.
    One(PathBuf),
    /// Those of each file to one of the same name in a folder.
    Each { folder: PathBuf, paths: Vec<PathBuf> },
}

impl Outputs {
    /// Refuses the name of a file that promises another kind.
    pub(super) fn check_name(output: &Path) -> anyhow::Result<()> {
        if is_folder(output) { Ok(()) } else { with_columns::check_name(output) }
    }

    pub(super) fn of(output: &Path, tables: &Tables) -> anyhow::Result<Self> {
        if !is_folder(output) {
            tables.check_same_columns().map_err(|error| {
                anyhow!("{error}: write a file for each of them, with -o FOLDER/")
            })?;
            return Ok(Self::One(output.to_path_buf()));
        }
        let mut paths: Vec<PathBuf> = Vec::new();
        for file in 0..tables.len() {
            let from = tables.path(file);
            let Some(name) = from.file_name().filter(|_| from.as_os_str() != "-") else {
                bail!(
                    "standard input has no name for a file in {}: name one to write",
                    output.display()
                );
            };
            let path = with_columns::as_written(&output.join(name));
            with_columns::check_name(&path)?;
            if let Some(other) = paths.iter().position(|other| *other == path) {
                bail!(
                    "{} and {} would both be written to {}: write them to folders of their own",
                    tables.file(other),
                    tables.file(file),
                    path.display()
                );
            }
            let is_itself =
                path.canonicalize().is_ok_and(|path| from.canonicalize().ok() == Some(path));
            if is_itself {
                bail!(
                    "{} would take the place of the file that is read: write to another folder",
                    path.display()
                );
            }
            paths.push(path);
        }
        Ok(Self::Each { folder: output.to_path_buf(), paths })
    }
}

/// Whether a path is that of a folder, there or to be made.
pub(super) fn is_folder(path: &Path) -> bool {
    let ends_so = path.as_os_str().as_encoded_bytes().ends_with(b"/")
        || path.as_os_str().to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
    ends_so || path.is_dir()
}
