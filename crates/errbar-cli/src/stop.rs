//! Ctrl-C: the work is told to stop, and nothing is left half-written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a table says too when it was stopped.
pub(crate) use errbar_table::Error::Stopped;

use crate::{console, output};

static ASKED: AtomicBool = AtomicBool::new(false);

/// How long the work has to stop by itself. A pipe on which nothing comes, or a step that cannot be
/// cut short, would else keep the user waiting.
const GRACE: Duration = Duration::from_secs(1);

/// Whether an error says that the work was stopped.
pub(crate) fn is_stopped(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Stopped))
}

/// Says, once, that the work was stopped.
pub(crate) fn say() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::SeqCst) {
        console::say("errbar: stopped; no file was left half-written");
    }
}

/// Listens for Ctrl-C from now on, and for what else asks a program to end. A second one ends it at
/// once.
///
/// Where that cannot be done, Ctrl-C ends the program as it always does; files are still written
/// whole or not at all.
pub(crate) fn listen() {
    #[cfg(unix)]
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted()) {
        std::thread::spawn(move || signals.forever().for_each(|_| heard()));
    }
    #[cfg(not(unix))]
    let _ = ctrlc::set_handler(heard);
}

/// The signals to listen for: not those that are to be ignored, as nohup has it for a closed terminal
/// and a shell for Ctrl-C in the background.
#[cfg(unix)]
fn wanted() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // Only Linux says so without ado; elsewhere all are listened for.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_wanted = |signal: &i32| (mask >> (signal - 1)) & 1 == 0;
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_wanted).collect()
}

fn heard() {
    if ASKED.swap(true, Ordering::SeqCst) {
        end();
    }
    // The next Ctrl-C is heard only when this one is done with.
    std::thread::spawn(|| {
        std::thread::sleep(GRACE);
        end();
    });
}

/// Ends the program from outside of its work.
fn end() {
    output::forget_pending();
    say();
    std::process::exit(130);
}

/// Whether the work should stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// An error when the work should stop.
pub(crate) fn check() -> anyhow::Result<()> {
    if asked() { Err(Stopped.into()) } else { Ok(()) }
}
