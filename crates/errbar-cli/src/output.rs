//! What the program leaves behind: files, folders, and text on standard output.

use std::io::Write;
use std::path::Path;

use anyhow::anyhow;

pub(crate) use errbar_table::output::{Pending, check_place, ending, forget_pending, write};
pub(crate) use errbar_table::words::plain;

/// Makes a folder and those around it, where they are not there.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(path)
        .map_err(|error| anyhow!("cannot make the folder {}: {}", path.display(), plain(&error)))
}

/// Refuses a name whose ending promises another form than will be written. `written` are the endings
/// that are true, besides none at all, and `in_words` says so. What is no plain file, such as a pipe,
/// may have any name.
pub(crate) fn check_ending(path: &Path, written: &[&str], in_words: &str) -> anyhow::Result<()> {
    let special = std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
    match ending(path) {
        Some(end) if !special && !written.contains(&end.as_str()) => {
            Err(anyhow!("cannot write {}: .{end} is not written; {in_words}", path.display()))
        }
        _ => Ok(()),
    }
}

/// A probability in percent, as it is written: 90, not 90.00000000000001, for what was typed as 0.9 or 90%.
pub(crate) fn percent(level: f64) -> f64 {
    (100.0 * level * 1e9).round() / 1e9
}

/// Prints to standard output; a reader that has seen enough is no failure.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => {
            result.map_err(|error| anyhow!("cannot write to standard output: {}", plain(&error)))
        }
    }
}

/// Makes a limit on the size of files (`ulimit -f`) a failure to write, as a full disk is, instead of
/// the end of the program without a word.
pub(crate) fn survive_size_limits() {
    #[cfg(unix)]
    {
        // Whether it came is told by the failure to write.
        let _ = signal_hook::flag::register(
            signal_hook::consts::SIGXFSZ,
            std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)),
        );
    }
}
