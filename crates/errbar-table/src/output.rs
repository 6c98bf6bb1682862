//! Files that are written whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use crate::words::plain;
use crate::{Error, Result};

/// Writes a file: first one that nobody sees, which then takes the place. On any failure an earlier
/// file of that name is as it was.
///
/// # Errors
/// A place that cannot be written to: a sentence that names it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Pending::beside(path)?;
    file.write_all(bytes).map_err(|error| file.failed(error))?;
    file.finish()
}

/// Whether a file can be written there, as far as can be told without writing it.
///
/// # Errors
/// As [`write()`].
pub fn check_place(path: &Path) -> Result<()> {
    // Opening a named pipe would wait for its reader.
    match std::fs::metadata(path) {
        Ok(earlier) if !earlier.is_file() && !earlier.is_dir() => Ok(()),
        _ => Pending::beside(path).map(drop),
    }
}

/// How the names of compressed files end.
pub(crate) const PACKED: [&str; 4] = ["gz", "zst", "xz", "bz2"];

/// The ending of a file's name in small letters, two of them if it is compressed: csv.gz. Digits alone, as in
/// forecast.2024, are none.
#[must_use]
pub fn ending(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let last = |name: &str| {
        let end = Path::new(name).extension()?.to_str()?.to_string();
        (!end.is_empty() && !end.bytes().all(|byte| byte.is_ascii_digit())).then_some(end)
    };
    let packed =
        PACKED.iter().find_map(|end| Some((name.strip_suffix(end)?.strip_suffix('.')?, end)));
    match packed {
        Some((rest, packed)) => {
            Some(last(rest).map_or(packed.to_string(), |end| format!("{end}.{packed}")))
        }
        None => last(&name),
    }
}

/// The temporary files there are, for a program that ends without finishing its work.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn pending_files() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files; the program must end then.
pub fn forget_pending() {
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

/// A file that is being written and takes its place in the end. Dropped before, it leaves no trace;
/// nor does a program that is killed, where the system knows files without a name.
pub struct Pending {
    name: String,
    target: Target,
}

enum Target {
    /// A file without a name, in the folder of the place it will take: it goes when the program does.
    #[cfg(target_os = "linux")]
    Unnamed(File, PathBuf),
    /// A temporary file beside the place it will take.
    Beside(NamedTempFile, Listed, PathBuf),
    /// Something that cannot be replaced, such as a named pipe or /dev/null.
    Straight(File),
    Stdout(io::Stdout),
}

impl Pending {
    /// Begins a file; `-` is standard output.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn create(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            let name = "standard output".to_string();
            return Ok(Self { name, target: Target::Stdout(io::stdout()) });
        }
        Self::beside(path)
    }

    fn beside(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let failed = |error: io::Error| Error::Write { file: name.clone(), error };
        // Before its links are followed: where /dev/stdout leads may be no path.
        let is_special = |earlier: &std::fs::Metadata| !earlier.is_file() && !earlier.is_dir();
        if std::fs::metadata(path).is_ok_and(|earlier| is_special(&earlier)) {
            let file = File::options().write(true).open(path).map_err(failed)?;
            return Ok(Self { name, target: Target::Straight(file) });
        }
        let path = behind_links(path);
        let earlier = std::fs::metadata(&path).ok();
        if earlier.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")));
        }
        let folder = folder_of(&path);
        remove_stale(folder);
        let mode = earlier.map(|earlier| earlier.permissions());
        // Some file systems have none without a name; what else may be wrong the other way will tell.
        #[cfg(target_os = "linux")]
        if let Ok(file) = unnamed_file(folder) {
            make_ordinary(&file, mode).map_err(failed)?;
            return Ok(Self { name, target: Target::Unnamed(file, path) });
        }
        let file = temporary().tempfile_in(folder);
        let file = file.map_err(|error| failed(without_path(error, folder)))?;
        let listed = Listed::new(file.path());
        make_ordinary(file.as_file(), mode).map_err(failed)?;
        Ok(Self { name, target: Target::Beside(file, listed, path) })
    }

    /// A failure to write, with the name of the file.
    #[must_use]
    pub fn failed(&self, error: io::Error) -> Error {
        Error::Write { file: self.name.clone(), error }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn finish(mut self) -> Result<()> {
        self.flush().map_err(|error| self.failed(error))?;
        let Self { name, target } = self;
        let failed = |error: io::Error| Error::Write { file: name.clone(), error };
        match target {
            #[cfg(target_os = "linux")]
            Target::Unnamed(file, path) => {
                file.sync_all().map_err(failed)?;
                let pending = pending_files();
                give_name(file, &path).map_err(failed)?;
                drop(pending);
            }
            Target::Beside(file, listed, path) => {
                file.as_file().sync_all().map_err(failed)?;
                let pending = pending_files();
                file.persist(path).map_err(|error| failed(error.error))?;
                drop(pending);
                drop(listed);
            }
            Target::Straight(_) | Target::Stdout(_) => {}
        }
        Ok(())
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            #[cfg(target_os = "linux")]
            Target::Unnamed(file, _) => file.write(bytes),
            Target::Beside(file, ..) => file.as_file_mut().write(bytes),
            Target::Straight(file) => file.write(bytes),
            Target::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            #[cfg(target_os = "linux")]
            Target::Unnamed(file, _) => file.flush(),
            Target::Beside(file, ..) => file.as_file_mut().flush(),
            Target::Straight(file) => file.flush(),
            Target::Stdout(stdout) => stdout.flush(),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

const PREFIX: &str = ".errbar-";

fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    builder
}

/// A temporary file is private; the result is an ordinary one, or like the one before. It is locked
/// until it is closed, which tells others that it is in use ([`remove_stale`]).
fn make_ordinary(file: &File, mode: Option<std::fs::Permissions>) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Not every file system has locks.
        let _ = file.try_lock();
        file.set_permissions(mode.unwrap_or(std::fs::Permissions::from_mode(0o644)))?;
    }
    #[cfg(not(unix))]
    let _ = (file, mode);
    Ok(())
}

/// A file without a name.
#[cfg(target_os = "linux")]
fn unnamed_file(folder: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(open(folder, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Gives a file without a name this one, whether or not it is taken.
#[cfg(target_os = "linux")]
fn give_name(mut file: File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::io::Seek;
    use std::os::fd::AsRawFd;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = |to: &Path| -> io::Result<()> {
        Ok(linkat(CWD, own.as_str(), CWD, to, AtFlags::SYMLINK_FOLLOW)?)
    };
    match link(path) {
        Ok(()) => return Ok(()),
        // A link replaces nothing, but a rename does: a name for no longer than that takes.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if let Ok(named) = temporary().make_in(folder_of(path), link) {
                return named.persist(path).map_err(|error| error.error);
            }
        }
        Err(_) => {}
    }
    // A system that lets such files have no name, as one without /proc: what is in it is copied.
    let mut named = temporary().tempfile_in(folder_of(path))?;
    file.rewind()?;
    io::copy(&mut file, named.as_file_mut())?;
    named.as_file().set_permissions(file.metadata()?.permissions())?;
    named.as_file().sync_all()?;
    named.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Removes temporary files that a killed program has left behind: those nobody has open any more (its
/// lock ends with the program) and that were not written to for an hour, since earlier versions of
/// errbar did not lock theirs.
fn remove_stale(folder: &Path) {
    const AGE: std::time::Duration = std::time::Duration::from_secs(3600);
    if !cfg!(unix) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(|rest| {
                rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
            });
        let is_old = || {
            let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            metadata.modified().ok()?.elapsed().ok().filter(|age| *age > AGE)
        };
        if is_ours
            && is_old().is_some()
            && let Ok(file) = File::options().read(true).write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        for (name, expected) in [
            ("out.csv", Some("csv")),
            ("a/out.CSV.gz", Some("csv.gz")),
            ("out.gz", Some("gz")),
            ("out.2.gz", Some("gz")),
            ("out", None),
            ("forecast.2024", None),
            ("v1.2/out", None),
            ("out.tar.xlsx", Some("xlsx")),
            ("-", None),
            (".csv", None),
        ] {
            assert_eq!(ending(Path::new(name)).as_deref(), expected, "{name}");
        }
    }

    /// Both ways to write a file, of which a file system may allow one only.
    #[cfg(unix)]
    #[test]
    fn files_take_their_place_with_the_mode_of_the_one_before() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let beside = |mode| {
            let file = temporary().tempfile_in(folder.path()).unwrap();
            make_ordinary(file.as_file(), mode).unwrap();
            let listed = Listed::new(file.path());
            Pending { name: "out".into(), target: Target::Beside(file, listed, path.clone()) }
        };
        write(&path, b"one").unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), mode()), (b"one".to_vec(), 0o644));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), mode()), (b"two".to_vec(), 0o640));
        let mut file = beside(Some(std::fs::Permissions::from_mode(0o604)));
        file.write_all(b"three").unwrap();
        file.finish().unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), mode()), (b"three".to_vec(), 0o604));
        drop(beside(None));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn stale_files_go_and_those_in_use_stay() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
        let put = |name: &str, time| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(time).unwrap();
            file
        };
        drop(put(".errbar-stale1", old));
        drop(put(".errbar-young1", std::time::SystemTime::now()));
        drop(put(".errbar-notes.txt", old));
        let used = put(".errbar-inuse1", old);
        used.try_lock().unwrap();
        write(&folder.path().join("out"), b"").unwrap();
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".errbar-inuse1", ".errbar-notes.txt", ".errbar-young1", "out"]);
    }
}
