//! Work that takes time tells how far it is, and asks whether to go on.

use crate::error::{Error, Result};

/// Watches work that takes time: progress bars, Ctrl-C and other interrupts are one mechanism.
pub trait Monitor: Sync {
    /// The share of the work that is done, from 0 to 1. Called from any thread, more or less in
    /// order.
    fn progress(&self, _share: f64) {}

    /// Whether the work should be given up; it then ends with [`Error::Stopped`].
    fn should_stop(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Monitor for Silent {}

/// An error when the work should be given up.
pub(crate) fn check(monitor: &dyn Monitor) -> Result<()> {
    if monitor.should_stop() { Err(Error::Stopped) } else { Ok(()) }
}

/// A part of some work, as work of its own.
pub(crate) struct Part<'a> {
    pub(crate) whole: &'a dyn Monitor,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Monitor for Part<'_> {
    fn progress(&self, share: f64) {
        self.whole.progress(self.from + share * (self.to - self.from));
    }

    fn should_stop(&self) -> bool {
        self.whole.should_stop()
    }
}

/// Counts equal steps that may end in any order.
pub(crate) struct Steps<'a> {
    monitor: &'a dyn Monitor,
    done: std::sync::atomic::AtomicUsize,
    all: usize,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(monitor: &'a dyn Monitor, all: usize) -> Self {
        Self { monitor, done: 0.into(), all }
    }

    pub(crate) fn done(&self) {
        let done = 1 + self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.monitor.progress(done as f64 / self.all.max(1) as f64);
    }
}
