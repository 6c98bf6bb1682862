//! Model files: read with a sentence for everything that can be wrong, written whole or not at all.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use errbar::fit::Fitted;

use crate::output;

/// A model file is at most this large: a Gaussian process of 20,000 rows with hundreds of inputs.
const LARGEST: u64 = 1 << 30;

/// Reads a model; `-` is standard input.
pub(crate) fn read(path: &Path) -> anyhow::Result<Fitted> {
    let name = path.display();
    let mut text = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text))
    };
    read.with_context(|| format!("cannot read the model {name}"))?;
    if text.len() as u64 > LARGEST {
        bail!("{name} is too large to be a model file of errbar");
    }
    let Ok(text) = std::str::from_utf8(&text) else {
        bail!("{name} is no model file of errbar: it is not text");
    };
    Fitted::from_json(text).with_context(|| format!("cannot use {name}"))
}

/// Writes a model.
pub(crate) fn write(path: &Path, fitted: &Fitted) -> anyhow::Result<()> {
    output::write(path, fitted.to_json()?.as_bytes())
}
