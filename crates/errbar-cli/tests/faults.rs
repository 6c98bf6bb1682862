//! When the world fails: full disks, killed programs, closed pipes, Ctrl-C. An earlier file is whole
//! and as it was, the exit status tells, and there is one sentence at most.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    LONGEST, Numbers, constant_model, errbar, file_with, finish, finish_child, leftovers, program,
    snapshot, table,
};
use tempfile::TempDir;

const EARLIER: &str = "an earlier file\n";

/// A folder with a table, a model that says sigma is 2 everywhere, and an earlier result.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("t.csv", &table(1000));
    put("model.json", &constant_model(2.0));
    put("out.csv", EARLIER);
    folder
}

fn earlier_is_as_it_was(folder: &TempDir) -> bool {
    std::fs::read_to_string(folder.path().join("out.csv")).unwrap() == EARLIER
}

/// The program, run by a shell that changes its surroundings first.
fn by_shell(folder: &Path, before: &str, arguments: &str) -> Command {
    let mut shell = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_errbar");
    shell.args(["-c", &format!("{before}exec \"$0\" {arguments}"), program]);
    shell.current_dir(folder).stdin(Stdio::null());
    shell
}

/// Asserts that there is one line of error, and that it says this.
#[track_caller]
fn one_sentence(stderr: &str, says: &str) {
    let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("errbar: ")).collect();
    assert_eq!(errors.len(), 1, "{stderr}");
    assert!(errors[0].contains(says), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("os error"), "{stderr}");
}

#[test]
fn a_limit_on_the_size_of_files_is_a_failure_to_write() {
    let folder = folder();
    let before = snapshot(folder.path());
    // In units of 512 bytes or more; the result has some 40,000.
    let limited = |arguments| {
        let mut command = by_shell(folder.path(), "ulimit -f 8; ", arguments);
        // What is said is not limited: a pipe is no file.
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.wait_with_output().unwrap()
    };
    let said = limited("predict t.csv -m model.json -o out.csv");
    assert_eq!(said.status.code(), Some(1));
    one_sentence(&String::from_utf8_lossy(&said.stderr), "cannot write out.csv: File too large");
    assert_eq!(snapshot(folder.path()), before);
    let said = limited("predict t.csv -m model.json -o out.parquet");
    assert_eq!(said.status.code(), Some(1));
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    one_sentence(&said, "cannot write out.parquet: File too large");
    assert_eq!(snapshot(folder.path()), before);

    // A model of 100 inputs is larger, too.
    let wide: Vec<String> = (0..100).map(|i| format!("a_column_with_a_long_name_{i}")).collect();
    let mut numbers = Numbers::new(3);
    let mut text = format!("mu,y,{}\n", wide.join(","));
    for _ in 0..30 {
        let row: Vec<String> = (0..102).map(|_| numbers.next().to_string()).collect();
        text += &(row.join(",") + "\n");
    }
    std::fs::write(folder.path().join("wide.csv"), text).unwrap();
    let before = snapshot(folder.path());
    let said = limited("fit wide.csv --model constant -o out.csv");
    assert_eq!(said.status.code(), Some(1));
    one_sentence(&String::from_utf8_lossy(&said.stderr), "cannot write out.csv: File too large");
    assert_eq!(snapshot(folder.path()), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_wherever_it_is_met() {
    let folder = folder();
    let before = snapshot(folder.path());
    let full = "> /dev/full";
    for (arguments, place) in [
        (format!("predict t.csv -m model.json {full}"), "standard output"),
        (String::from("predict t.csv -m model.json -o /dev/full"), "/dev/full"),
        (format!("fit t.csv --model constant -o /dev/null {full}"), "to standard output"),
        (format!("fit t.csv --model constant --json -o /dev/null {full}"), "to standard output"),
        (String::from("fit t.csv --model constant -o /dev/full"), "/dev/full"),
        (format!("completions bash {full}"), "to standard output"),
    ] {
        let ran = finish(by_shell(folder.path(), "", &arguments));
        assert_eq!(ran.status, Some(1), "{arguments}: {}", ran.stderr);
        let says = format!("cannot write {place}: No space left on device");
        one_sentence(&ran.stderr, &says);
        assert_eq!(snapshot(folder.path()), before, "{arguments}");
    }
    // When nothing can be said, the exit status still is.
    for (arguments, status) in
        [("fit no.csv", 1), ("predict t.csv -m model.json", 0), ("fit t.csv -o /dev/null", 0)]
    {
        let ran = finish(by_shell(folder.path(), "exec 2>/dev/full; ", arguments));
        assert_eq!(ran.status, Some(status), "{arguments}");
    }
}

/// A disk of 64 kB, where the kernel lets us have one.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_keeps_the_earlier_file() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("disk")).unwrap();
    std::fs::write(folder.path().join("large.csv"), table(20_000)).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=64k none disk || exit 77
         printf '{}' > disk/out.csv
         '{}' predict large.csv -m model.json -o disk/out.csv
         echo \"status $?\"
         cat disk/out.csv
         ls -A disk",
        EARLIER.trim_end(),
        env!("CARGO_BIN_EXE_errbar")
    );
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script]).current_dir(folder.path());
    let Ok(output) = command.output() else {
        println!("skipped: there is no unshare");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if matches!(output.status.code(), Some(77 | 1)) && !said.contains("errbar: ") {
        println!("skipped: no disk can be made here: {said}");
        return;
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, format!("status 1\n{}out.csv\n", EARLIER.trim_end()), "{said}");
    one_sentence(&said, "cannot write disk/out.csv: No space left on device");
}

/// A run of the program that is fed by hand and holds still when the feeding stops.
struct Fed {
    child: Child,
    begin: Instant,
    stdout: File,
    stderr: File,
    feed: std::process::ChildStdin,
}

impl Fed {
    fn start(folder: &Path, arguments: &str) -> Self {
        let (stdout, stderr) = (file_with(b""), file_with(b""));
        let mut command = program(folder);
        command.args(arguments.split(' ')).stdin(Stdio::piped());
        command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
        let mut child = command.spawn().unwrap();
        let feed = child.stdin.take().unwrap();
        Self { child, begin: Instant::now(), stdout, stderr, feed }
    }

    /// Enough rows for some batches to be read and written.
    fn feed_rows(&mut self) {
        self.feed.write_all(b"x,mu\n").unwrap();
        let rows = "0.25,1.5\n".repeat(10_000);
        for _ in 0..150 {
            self.feed.write_all(rows.as_bytes()).unwrap();
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Waits for the end, which must come soon; the pipe stays open until then.
    fn end(self) -> (crate::common::Ran, Duration) {
        let Self { child, begin, stdout, stderr, feed } = self;
        let asked = Instant::now();
        let ran = finish_child(child, begin, stdout, stderr);
        drop(feed);
        (ran, asked.elapsed())
    }
}

/// Waits until something is so.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONGEST, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The temporary file of a run, once something is in it. It may have no name, and is then found by
/// way of the program.
#[track_caller]
fn temporary_file(folder: &Path, child: &Child) -> PathBuf {
    let mut found = None;
    until("a temporary file is written", || {
        let named = leftovers(folder).into_iter().map(|name| folder.join(name));
        let opened = std::fs::read_dir(format!("/proc/{}/fd", child.id()));
        let opened = opened.into_iter().flatten().flatten().map(|entry| entry.path());
        let unnamed = opened.filter(|path| {
            std::fs::read_link(path).is_ok_and(|to| {
                to.starts_with(folder) && to.to_string_lossy().ends_with(" (deleted)")
            })
        });
        found = named.chain(unnamed).next();
        found.as_ref().is_some_and(|path| path.metadata().is_ok_and(|m| m.len() > 1_000_000))
    });
    found.unwrap()
}

/// Waits until a program has its own answer to Ctrl-C.
fn until_listening(child: &Child) {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    if !status.exists() {
        std::thread::sleep(Duration::from_secs(1));
        return;
    }
    until("the program listens to Ctrl-C", || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // SIGINT is 2, and the first bit is that of signal 1.
        caught.is_some_and(|mask| mask & 0b10 != 0)
    });
}

#[test]
fn a_program_that_is_killed_leaves_the_earlier_file() {
    let folder = folder();
    let mut run = Fed::start(folder.path(), "predict - -m model.json -o out.csv");
    run.feed_rows();
    temporary_file(folder.path(), &run.child);
    run.signal("KILL");
    let status = run.child.wait().unwrap();
    assert_eq!(status.signal(), Some(9));
    assert!(earlier_is_as_it_was(&folder));
    // Elsewhere a temporary file may stay, and is in nobody's way.
    #[cfg(target_os = "linux")]
    assert!(leftovers(folder.path()).is_empty());
    let again = errbar(folder.path(), ["predict", "t.csv", "-m", "model.json", "-o", "out.csv"]);
    again.well();
    let written = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert_eq!(written.lines().count(), 1001);
}

/// Whenever it is killed, there is the whole file or nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_killed_at_any_time_leaves_nothing() {
    let folder = folder();
    std::fs::write(folder.path().join("large.csv"), table(30_000)).unwrap();
    let arguments = ["predict", "large.csv", "-m", "model.json", "-o", "new.csv"];
    let whole = errbar(folder.path(), arguments).well();
    let expected = std::fs::read(folder.path().join("new.csv")).unwrap();
    std::fs::remove_file(folder.path().join("new.csv")).unwrap();
    let before = snapshot(folder.path());
    let (mut killed, kills) = (0, 40);
    for kill in 0..kills {
        let mut command = program(folder.path());
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(whole.took * kill / kills);
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().signal() == Some(9));
        if let Ok(written) = std::fs::read(folder.path().join("new.csv")) {
            assert!(written == expected, "half a file after kill {kill}");
            std::fs::remove_file(folder.path().join("new.csv")).unwrap();
        }
        assert!(snapshot(folder.path()) == before, "kill {kill}: {:?}", leftovers(folder.path()));
    }
    assert!(killed > kills / 4, "{killed} of {kills} were killed in time");
}

#[test]
fn ctrl_c_while_predicting() {
    for (signal, times) in [("INT", 1), ("TERM", 1), ("INT", 2)] {
        let folder = folder();
        let mut run = Fed::start(folder.path(), "predict - -m model.json -o out.csv");
        run.feed_rows();
        temporary_file(folder.path(), &run.child);
        for _ in 0..times {
            run.signal(signal);
            std::thread::sleep(Duration::from_millis(100));
        }
        let (ran, took) = run.end();
        assert_eq!(ran.status, Some(130), "{signal}: {}", ran.stderr);
        assert_eq!(ran.stderr, "errbar: stopped; no file was left half-written\n", "{signal}");
        assert!(took < Duration::from_secs(2), "{signal}: {took:?}");
        assert!(earlier_is_as_it_was(&folder) && leftovers(folder.path()).is_empty());
    }
}

/// Rows that are judged as they pass, and others that wait behind them.
#[test]
fn ctrl_c_while_rows_pass() {
    let folder = folder();
    std::fs::write(folder.path().join("s.csv"), "x,y,mu,sigma\n1,2,3,1\n").unwrap();
    let mut run =
        Fed::start(folder.path(), "score - s.csv --observation x --forecast mu --sigma mu");
    run.feed_rows();
    let rows = "0.25,1.5\n".repeat(10_000);
    for _ in 0..150 {
        run.feed.write_all(rows.as_bytes()).unwrap();
    }
    run.signal("INT");
    let (ran, took) = run.end();
    assert_eq!(ran.status, Some(130), "{}", ran.stderr);
    one_sentence(&ran.stderr, "stopped");
    assert!(ran.stdout.is_empty() && took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn ctrl_c_while_writing_several_files() {
    let folder = folder();
    std::fs::write(folder.path().join("t.csv"), "x,mu\n1,2\n").unwrap();
    let line = "predict t.csv - -m model.json -o out.csv --source-column f";
    let mut run = Fed::start(folder.path(), line);
    run.feed_rows();
    temporary_file(folder.path(), &run.child);
    run.signal("INT");
    let (ran, _) = run.end();
    assert_eq!(ran.status, Some(130), "{}", ran.stderr);
    assert!(earlier_is_as_it_was(&folder) && leftovers(folder.path()).is_empty());
}

#[test]
fn ctrl_c_while_waiting_for_a_table() {
    let folder = folder();
    let run = Fed::start(folder.path(), "fit - -o new.json");
    until_listening(&run.child);
    run.signal("INT");
    let (ran, took) = run.end();
    assert_eq!(ran.status, Some(130), "{}", ran.stderr);
    one_sentence(&ran.stderr, "stopped");
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(!folder.path().join("new.json").exists() && leftovers(folder.path()).is_empty());
}

#[test]
fn ctrl_c_while_fitting() {
    let folder = folder();
    // Work for far longer than it takes to stop: networks of six inputs, a Gaussian process of many
    // rows.
    let mut numbers = Numbers::new(5);
    let mut text = String::from("a,b,c,d,e,f,mu,y\n");
    for _ in 0..4000 {
        let row: Vec<String> = (0..8).map(|_| format!("{:.4}", numbers.normal())).collect();
        text += &(row.join(",") + "\n");
    }
    std::fs::write(folder.path().join("large.csv"), text).unwrap();
    let mut text = String::from("mu,y,s,t\n");
    for _ in 0..4000 {
        let row: Vec<String> = (0..4).map(|_| format!("{:.4}", 0.1 + numbers.next())).collect();
        text += &(row.join(",") + "\n");
    }
    std::fs::write(folder.path().join("positive.csv"), text).unwrap();
    for arguments in [
        "fit large.csv --model network -o out.csv",
        "fit large.csv --fit-mean gp --inputs a,b,c,d,e,f -o out.csv",
        "score positive.csv --sigma s --replicates 1000000",
        "compare positive.csv --sigma s,t --replicates 1000000",
    ] {
        let before = snapshot(folder.path());
        let run = Fed::start(folder.path(), arguments);
        until_listening(&run.child);
        std::thread::sleep(Duration::from_millis(300));
        run.signal("INT");
        let (ran, took) = run.end();
        assert_eq!(ran.status, Some(130), "{arguments}: {}", ran.stderr);
        one_sentence(&ran.stderr, "stopped; no file was left half-written");
        assert!(ran.stdout.is_empty());
        assert!(took < Duration::from_secs(2), "{arguments}: {took:?}");
        assert_eq!(snapshot(folder.path()), before, "{arguments}");
    }
}

/// `nohup errbar … &`: who asks for it is not bothered.
#[cfg(target_os = "linux")]
#[test]
fn signals_that_are_ignored_stay_ignored() {
    let folder = folder();
    for signal in ["HUP", "INT"] {
        let (stdout, stderr) = (file_with(b""), file_with(b""));
        let before = format!("trap '' {signal}; ");
        let mut command = by_shell(folder.path(), &before, "predict - -m model.json -o new.csv");
        command.stdin(Stdio::piped());
        command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
        let mut child = command.spawn().unwrap();
        let feed = child.stdin.take().unwrap();
        let mut run = Fed { child, begin: Instant::now(), stdout, stderr, feed };
        run.feed_rows();
        let temporary = temporary_file(folder.path(), &run.child);
        run.signal(signal);
        std::thread::sleep(Duration::from_millis(1500));
        assert!(temporary.exists(), "{signal} ended it");
        run.feed.write_all(b"0.25,1.5\n").unwrap();
        let Fed { child, begin, stdout, stderr, feed } = run;
        drop(feed);
        let ran = finish_child(child, begin, stdout, stderr).well();
        assert!(ran.stderr.contains("1500001 rows"), "{}", ran.stderr);
    }
}

/// `errbar predict … | head -1`: the reader goes away, and so does the program, without a word.
#[test]
fn a_reader_that_has_seen_enough() {
    let folder = folder();
    let begin = Instant::now();
    // Rows without end: the program ends only because nobody reads.
    let endless = "{ echo x,mu; yes 0.25,1.5; }";
    let mut shell = Command::new("sh");
    let line = format!("{endless} | \"$0\" predict - -m model.json");
    shell.args(["-c", &line, env!("CARGO_BIN_EXE_errbar")]).current_dir(folder.path());
    let mut shell = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut reader = BufReader::new(shell.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    assert_eq!(first, "x,mu,sigma,support,outside,outside_input\n");
    drop(reader);
    let mut said = String::new();
    shell.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    // The status of a pipe is that of its last program.
    assert_eq!(shell.wait().unwrap().code(), Some(0), "{said}");
    assert_eq!(said, "");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());

    // The same of several files, of which the last is never reached.
    std::fs::write(folder.path().join("a.csv"), "x,mu\n1,2\n").unwrap();
    let line = format!("{endless} | \"$0\" predict a.csv - b.csv -m model.json");
    std::fs::write(folder.path().join("b.csv"), "x,mu\n1,2\n").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &line, env!("CARGO_BIN_EXE_errbar")]).current_dir(folder.path());
    let mut shell = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(shell.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    drop(reader);
    let mut said = String::new();
    shell.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((shell.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn results_that_nobody_reads() {
    let folder = folder();
    let with_sigmas: String = table(1000)
        .lines()
        .enumerate()
        .map(|(i, line)| format!("{line},{}\n", if i == 0 { "c" } else { "1" }))
        .collect();
    std::fs::write(folder.path().join("t.csv"), with_sigmas).unwrap();
    for arguments in [
        "fit t.csv --model constant -q -o new.json",
        "fit t.csv --model constant --json -q -o new.json",
        "score t.csv --sigma x -q",
        "score t.csv --sigma x -q --json",
        "compare t.csv --sigma x,c -q",
        "report t.csv --sigma x -q -o -",
        "completions zsh",
        "licences --texts",
        "--help",
    ] {
        let mut command = program(folder.path());
        command.args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments}");
    }
    // What was asked for is there even so.
    assert!(folder.path().join("new.json").exists());
}

#[test]
fn closed_from_the_start() {
    let folder = folder();
    let no_input = finish(by_shell(folder.path(), "", "fit - <&-"));
    assert_eq!(no_input.status, Some(1));
    one_sentence(&no_input.stderr, "standard input is empty");
    let no_model = finish(by_shell(folder.path(), "", "predict t.csv -m - -o out.csv <&-"));
    assert_eq!(no_model.status, Some(1));
    one_sentence(&no_model.stderr, "the model standard input is empty");
    assert!(earlier_is_as_it_was(&folder));
    let no_output = finish(by_shell(folder.path(), "", "fit t.csv --model constant -o a.json >&-"));
    assert_eq!(no_output.status, Some(0), "{}", no_output.stderr);
    let no_errors = finish(by_shell(folder.path(), "", "fit no.csv 2>&-"));
    assert_eq!(no_errors.status, Some(1));
    let nothing = "predict t.csv -m a.json -o b.csv <&- >&- 2>&-";
    assert_eq!(finish(by_shell(folder.path(), "", nothing)).status, Some(0));
    let written = std::fs::read_to_string(folder.path().join("b.csv")).unwrap();
    assert_eq!(written.lines().count(), 1001);
}

#[test]
fn a_folder_that_cannot_be_written_keeps_its_file() {
    let folder = folder();
    if crate::common::is_root(folder.path()) {
        println!("skipped: root may write everywhere");
        return;
    }
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::write(closed.join("out.csv"), EARLIER).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    let arguments = ["predict", "t.csv", "-m", "model.json", "-o", "closed/out.csv"];
    let ran = errbar(folder.path(), arguments);
    let kept = std::fs::read_to_string(closed.join("out.csv")).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(ran.status, Some(1));
    one_sentence(&ran.stderr, "cannot write closed/out.csv: no permission for closed");
    assert_eq!(kept, EARLIER);
}

#[test]
fn the_same_file_in_and_out() {
    let folder = folder();
    // Several batches, so that reading goes on while writing has begun.
    let large = table(300_000);
    for name in ["a.csv", "b.csv"] {
        std::fs::write(folder.path().join(name), &large).unwrap();
    }
    let predict = |from: &str, to: &str| {
        errbar(folder.path(), ["predict", from, "-m", "model.json", "-o", to]).well();
        std::fs::read(folder.path().join(to)).unwrap()
    };
    let apart = predict("a.csv", "c.csv");
    let in_place = predict("b.csv", "b.csv");
    assert!(apart == in_place);
    assert_eq!(memchr::memchr_iter(b'\n', &apart).count(), 300_001);
    assert!(leftovers(folder.path()).is_empty());
}

#[test]
fn a_link_stays_a_link() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("elsewhere")).unwrap();
    std::fs::write(path("elsewhere/real.csv"), EARLIER).unwrap();
    symlink("elsewhere/real.csv", path("link.csv")).unwrap();
    symlink("elsewhere/new.csv", path("dangling.csv")).unwrap();
    let plain = errbar(folder.path(), ["predict", "t.csv", "-m", "model.json", "-q"]).well();
    for (link, real) in [("link.csv", "elsewhere/real.csv"), ("dangling.csv", "elsewhere/new.csv")]
    {
        errbar(folder.path(), ["predict", "t.csv", "-m", "model.json", "-o", link]).well();
        assert!(path(link).symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(path(real)).unwrap(), plain.stdout);
    }
    // A failure leaves what the link leads to.
    std::fs::write(path("elsewhere/real.csv"), EARLIER).unwrap();
    let failed = errbar(folder.path(), ["predict", "no.csv", "-m", "model.json", "-o", "link.csv"]);
    assert_eq!(failed.status, Some(1));
    assert_eq!(std::fs::read_to_string(path("elsewhere/real.csv")).unwrap(), EARLIER);
    assert!(leftovers(folder.path()).is_empty());
}

/// Names for what is open already, whether it is a file or a pipe.
#[test]
fn the_names_of_standard_output() {
    let folder = folder();
    if !Path::new("/dev/stdout").exists() {
        println!("skipped: there is no /dev/stdout");
        return;
    }
    let plain = errbar(folder.path(), ["predict", "t.csv", "-m", "model.json"]).well();
    let mut command = program(folder.path());
    command.args(["predict", "t.csv", "-m", "model.json", "-o", "/dev/stdout"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout, plain.stdout);
}
