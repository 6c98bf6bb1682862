//! Files that are written whole or not at all.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes a file: first a temporary one beside it, then a rename. On any failure an earlier file of
/// that name is as it was.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().prefix(".errbar-").tempfile_in(folder).with_context(failed)?;
    file.write_all(bytes).with_context(failed)?;
    file.as_file().sync_all().with_context(failed)?;
    // A temporary file is private; the result is an ordinary one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o644);
        file.as_file().set_permissions(mode).with_context(failed)?;
    }
    file.persist(path).map_err(|error| error.error).with_context(failed)?;
    Ok(())
}

/// Prints to standard output; a reader that has seen enough is no failure.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}
