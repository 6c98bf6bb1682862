//! Model files: read with a sentence for everything that can be wrong, written whole or not at all.

use std::io::Read;
use std::path::Path;

use anyhow::{anyhow, bail};
use errbar::fit::Fitted;
use errbar::series::Series;

use crate::output;

/// A model file is at most this large: a Gaussian process through 20,000 rows with hundreds of inputs.
const LARGEST: u64 = 1 << 30;

/// Reads a model; `-` is standard input.
///
/// # Errors
/// A file that cannot be read, or is no model: a sentence that names it.
pub fn read(path: &Path) -> anyhow::Result<Fitted> {
    Ok(read_with_text(path)?.0)
}

/// The same, with the text that it was read from.
pub(crate) fn read_with_text(path: &Path) -> anyhow::Result<(Fitted, String)> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { "standard input".into() } else { path.display().to_string() };
    let mut text = Vec::new();
    if !is_stdin && path.is_dir() {
        bail!("cannot read the model {name}: it is a folder; name a file in it");
    }
    let read = if is_stdin {
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text))
    };
    read.map_err(|error| anyhow!("cannot read the model {name}: {}", output::plain(&error)))?;
    if text.iter().all(u8::is_ascii_whitespace) {
        bail!("the model {name} is empty; give the file that errbar fit wrote");
    }
    if text.len() as u64 > LARGEST {
        bail!("{name} is too large to be a model file of errbar");
    }
    let Ok(text) = String::from_utf8(text) else {
        bail!("{name} is no model file of errbar: it is not text");
    };
    let fitted = Fitted::from_json(&text).map_err(|error| match error {
        errbar::Error::BadModel { why } => anyhow!("cannot use the model {name}: {why}"),
        error => anyhow!("cannot use the model {name}: {error}"),
    })?;
    Ok((fitted, text))
}

/// Writes a model. On any failure an earlier file of that name is as it was.
///
/// # Errors
/// A place that cannot be written to.
pub fn write(path: &Path, fitted: &Fitted) -> anyhow::Result<()> {
    Ok(output::write(path, fitted.to_json()?.as_bytes())?)
}

/// Writes a model that was read from a text and remembers something else since.
pub(crate) fn write_after(
    path: &Path,
    (fitted, text): (Fitted, &str),
    series: Series,
) -> anyhow::Result<()> {
    let Some(before) = fitted.series().cloned() else {
        return write(path, &fitted.with_series(series));
    };
    let text = fitted.with_series(series).to_json_after(text, &before)?;
    Ok(output::write(path, text.as_bytes())?)
}
