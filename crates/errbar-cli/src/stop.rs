//! Ctrl-C: the work is told to stop, and nothing is left half-written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{output, voice};

static ASKED: AtomicBool = AtomicBool::new(false);

/// The work was stopped from outside.
#[derive(Debug)]
pub(crate) struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped")
    }
}

impl std::error::Error for Stopped {}

/// How long the work has to stop by itself. A pipe on which nothing comes, or a step that cannot be
/// cut short, would else keep the user waiting.
const GRACE: Duration = Duration::from_secs(1);

/// Says, once, that the work was stopped.
pub(crate) fn say() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::SeqCst) {
        voice::say("errbar: stopped; no file was left half-written");
    }
}

/// Listens for Ctrl-C from now on. A second one ends the program at once.
pub(crate) fn listen() {
    // Where a handler cannot be set, Ctrl-C ends the program as it always does; files are still
    // written whole or not at all.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            end();
        }
        // The next Ctrl-C is heard only when this handler is done.
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            end();
        });
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
