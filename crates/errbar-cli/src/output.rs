//! Files that are written whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::anyhow;
use tempfile::NamedTempFile;

/// Writes a file: first a temporary one beside it, then a rename. On any failure an earlier file of
/// that name is as it was.
///
/// # Errors
/// A place that cannot be written to: a sentence that names it.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut file = Pending::beside(path)?;
    file.write_all(bytes).map_err(|error| file.failed(error))?;
    file.finish()
}

/// Makes a folder and those around it, where they are not there.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(path)
        .map_err(|error| anyhow!("cannot make the folder {}: {}", path.display(), plain(&error)))
}

/// Whether a file can be written there, as far as can be told without writing it.
pub(crate) fn check_place(path: &Path) -> anyhow::Result<()> {
    // Opening a named pipe would wait for its reader.
    match std::fs::metadata(path) {
        Ok(earlier) if !earlier.is_file() && !earlier.is_dir() => Ok(()),
        _ => Pending::beside(path).map(drop),
    }
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

/// What the system says of a failure, without its number.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_string(),
        None => text,
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

/// The temporary files there are, for a program that ends without finishing its work.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn pending_files() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files; the program must end then.
pub(crate) fn forget_pending() {
    let pending = pending_files();
    for path in pending.iter() {
        let _ = std::fs::remove_file(path);
    }
    // Locked until the end, so that none takes its place or complains that it is gone.
    std::mem::forget(pending);
}

/// A temporary file in the list of those there are.
struct Listed(PathBuf);

impl Listed {
    fn new(path: &Path) -> Self {
        pending_files().push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        pending_files().retain(|path| *path != self.0);
    }
}

/// A file that is being written and takes its place in the end. Dropped before, it leaves no trace.
pub(crate) struct Pending {
    name: String,
    target: Target,
}

enum Target {
    /// A temporary file beside the place it will take.
    Beside(NamedTempFile, Listed, PathBuf),
    /// Something that cannot be replaced, such as a named pipe or /dev/null.
    Straight(File),
    Stdout(io::Stdout),
}

impl Pending {
    /// Begins a file; `-` is standard output.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            let name = "standard output".to_string();
            return Ok(Self { name, target: Target::Stdout(io::stdout()) });
        }
        Self::beside(path)
    }

    fn beside(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let failed = |error: io::Error| anyhow!("cannot write {name}: {}", plain(&error));
        // Before its links are followed: where /dev/stdout leads may be no path.
        let is_special = |earlier: &std::fs::Metadata| !earlier.is_file() && !earlier.is_dir();
        if std::fs::metadata(path).is_ok_and(|earlier| is_special(&earlier)) {
            let file = File::options().write(true).open(path).map_err(failed)?;
            return Ok(Self { name, target: Target::Straight(file) });
        }
        let path = behind_links(path);
        let earlier = std::fs::metadata(&path).ok();
        if earlier.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(anyhow!("cannot write {name}: it is a folder"));
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".errbar-").tempfile_in(folder);
        let file = file.map_err(|error| failed(without_path(error, folder)))?;
        let listed = Listed::new(file.path());
        // A temporary file is private; the result is an ordinary one, or like the one before.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = earlier.map_or(std::fs::Permissions::from_mode(0o644), |e| e.permissions());
            file.as_file().set_permissions(mode).map_err(failed)?;
        }
        Ok(Self { name, target: Target::Beside(file, listed, path) })
    }

    /// A failure to write as a sentence. A closed pipe stays the [`io::Error`] that it is, so that a
    /// reader that has seen enough can be told from trouble.
    pub(crate) fn failed(&self, error: io::Error) -> anyhow::Error {
        let sentence = format!("cannot write {}: {}", self.name, plain(&error));
        if error.kind() == io::ErrorKind::BrokenPipe {
            anyhow::Error::new(error).context(sentence)
        } else {
            anyhow!(sentence)
        }
    }

    /// Puts the file in its place.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush().map_err(|error| self.failed(error))?;
        let Self { name, target } = self;
        if let Target::Beside(file, listed, path) = target {
            let failed = |error: io::Error| anyhow!("cannot write {name}: {}", plain(&error));
            file.as_file().sync_all().map_err(failed)?;
            let pending = pending_files();
            file.persist(path).map_err(|error| failed(error.error))?;
            drop(pending);
            drop(listed);
        }
        Ok(())
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Beside(file, ..) => file.as_file_mut().write(bytes),
            Target::Straight(file) => file.write(bytes),
            Target::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Beside(file, ..) => file.as_file_mut().flush(),
            Target::Straight(file) => file.flush(),
            Target::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// What a path stands for when its links are followed; a link may lead to a file yet to be made.
fn behind_links(path: &Path) -> PathBuf {
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        let Ok(next) = std::fs::read_link(&path) else { break };
        path = match path.parent() {
            Some(folder) => folder.join(next),
            None => next,
        };
    }
    path
}

/// The failure to make a temporary file without its name, which says nothing to the user.
fn without_path(error: io::Error, folder: &Path) -> io::Error {
    let kind = error.kind();
    let words = match kind {
        io::ErrorKind::NotFound => format!("there is no folder {}", folder.display()),
        io::ErrorKind::PermissionDenied => format!("no permission for {}", folder.display()),
        _ => match plain(&error).split_once(" at path ") {
            Some((words, _)) => words.to_string(),
            None => plain(&error),
        },
    };
    io::Error::new(kind, words)
}
