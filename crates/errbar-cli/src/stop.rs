//! Ctrl-C: the work is told to stop, and nothing is left half-written.

use std::sync::atomic::{AtomicBool, Ordering};

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

/// Listens for Ctrl-C from now on. A second one ends the program at once.
pub(crate) fn listen() {
    // Where a handler cannot be set, Ctrl-C ends the program as it always does; files are still
    // written whole or not at all.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Whether the work should stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// An error when the work should stop.
pub(crate) fn check() -> anyhow::Result<()> {
    if asked() { Err(Stopped.into()) } else { Ok(()) }
}
