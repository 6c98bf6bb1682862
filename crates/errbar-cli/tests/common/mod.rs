//! What the tests of the program share: running it as a person does, and small tables and models.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use errbar::fit::{self, Fitted, Kind};
use errbar::{Data, Silent};

/// A run that takes longer hangs.
pub const LONGEST: Duration = Duration::from_secs(60);

/// What the program did.
pub struct Ran {
    /// The exit status; none when a signal ended it.
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub took: Duration,
}

impl Ran {
    /// Standard output as text.
    pub fn printed(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// Panics with what was said unless all went well.
    #[track_caller]
    pub fn well(self) -> Self {
        assert_eq!(self.status, Some(0), "{}", self.stderr);
        self
    }
}

/// The program, to be run in a folder.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_errbar"));
    command.current_dir(folder).stdin(Stdio::null());
    // Colours and backtraces that the surroundings ask for have no part in what is tested.
    for variable in ["CLICOLOR_FORCE", "NO_COLOR", "RUST_BACKTRACE", "RUST_LIB_BACKTRACE"] {
        command.env_remove(variable);
    }
    command
}

/// Runs the program in a folder.
pub fn errbar<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Ran {
    let mut command = program(folder);
    command.args(arguments);
    finish(command)
}

/// Runs the program with something on standard input.
pub fn errbar_with<A: AsRef<OsStr>>(
    folder: &Path,
    input: &[u8],
    arguments: impl IntoIterator<Item = A>,
) -> Ran {
    let mut command = program(folder);
    command.args(arguments).stdin(file_with(input));
    finish(command)
}

/// A file without a name that holds these bytes, at its beginning.
pub fn file_with(bytes: &[u8]) -> std::fs::File {
    use std::io::{Seek, Write};
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

/// Runs a command to its end.
pub fn finish(mut command: Command) -> Ran {
    // Into files rather than pipes, which must be emptied while the program runs.
    let (stdout, stderr) = (file_with(b""), file_with(b""));
    command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
    let begin = Instant::now();
    let child = command.spawn().unwrap();
    finish_child(child, begin, stdout, stderr)
}

/// Waits for a program that writes to these files.
pub fn finish_child(
    mut child: Child,
    begin: Instant,
    stdout: std::fs::File,
    stderr: std::fs::File,
) -> Ran {
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > LONGEST {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still running after {LONGEST:?}: {}", text(&contents(stderr)));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let (stdout, stderr) = (contents(stdout), contents(stderr));
    Ran { status: status.code(), stdout, stderr: text(&stderr), took: begin.elapsed() }
}

fn contents(mut file: std::fs::File) -> Vec<u8> {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All files in a folder with their bytes, and folders without, by name. What cannot be read, such as
/// a pipe, is left out.
pub fn snapshot(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let bytes = path.is_file().then(|| std::fs::read(&path).unwrap_or_default());
            (path, bytes)
        })
        .collect();
    all.sort();
    all
}

/// The names of temporary files in a folder.
pub fn leftovers(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".errbar-")).collect()
}

/// The numbers from 0 to 1 of a simple generator, the same on every machine.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> f64 {
        // Knuth's MMIX constants.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal: a sum of twelve.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Rows of x, mu and y, five decimals each, whose error grows with x.
pub fn rows(count: usize) -> Vec<[String; 3]> {
    let mut numbers = Numbers::new(1);
    let row = |_| {
        let x = numbers.next();
        let mu = 3.0 * x;
        let y = mu + (0.2 + x) * numbers.normal();
        [x, mu, y].map(|value| format!("{value:.5}"))
    };
    (0..count).map(row).collect()
}

/// A table of these rows with the header x,mu,y.
pub fn table(count: usize) -> String {
    let mut text = String::from("x,mu,y\n");
    for row in rows(count) {
        let _ = writeln!(text, "{}", row.join(","));
    }
    text
}

/// A table in which a line is put before the row of this number, counted from 1.
pub fn table_with(count: usize, number: usize, line: &str) -> String {
    let text = table(count);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(number, line);
    lines.join("\n") + "\n"
}

/// A model of sigma, about 1 + x, for x from 0 to 59; knows no forecast.
pub fn model(kind: Kind) -> Fitted {
    let x: Vec<f64> = (0..60).map(f64::from).collect();
    let error: Vec<f64> = x.iter().map(|x| (1.0 + x) * (2.4 * x).sin()).collect();
    let data = Data::new(&x, 1, &error).unwrap();
    // Sigma as the model says it.
    let options = fit::Options::default().kind(kind).law(fit::LawKind::Normal).recalibrate(false);
    fit::fit(&data, &["x".into()], &options, &Silent).unwrap().fitted
}

/// A model that says one sigma for every row, with x as its input and mu as its forecast.
pub fn constant_model(sigma: f64) -> String {
    let fitted = model(Kind::Constant).with_errors(fit::ErrorSource::HeldOut, Some("mu".into()));
    let mut json: serde_json::Value = serde_json::from_str(&fitted.to_json().unwrap()).unwrap();
    let place = json.pointer_mut("/fitted/model/sigma").expect("a constant model has its sigma");
    *place = sigma.into();
    json.to_string()
}

/// Whether this account may write where nobody may, as root does.
pub fn is_root(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let closed = folder.join("closed-to-all");
        std::fs::create_dir(&closed).unwrap();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
        let is_root = std::fs::write(closed.join("file"), "").is_ok();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::remove_dir_all(&closed).unwrap();
        is_root
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        true
    }
}
