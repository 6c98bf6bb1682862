//! Work that takes time tells how far it is, and asks whether to go on.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

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

    /// A task begins, on this thread. Tasks may go on side by side, and one within another.
    fn begin(&self, _task: Task) {}

    /// The last task that began on this thread is done.
    fn end(&self, _task: Task) {}
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Task {
    /// In a word or two, as in "held out".
    pub name: &'static str,
    /// The kind of model that it is about, if it is about one.
    pub model: Option<&'static str>,
}

/// A task, from here to the end of its life.
pub(crate) struct Within<'a>(&'a dyn Monitor, Task);

impl Drop for Within<'_> {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

/// Says what is being done until what it returns goes out of scope.
pub(crate) fn task<'a>(
    monitor: &'a dyn Monitor,
    name: &'static str,
    model: Option<&'static str>,
) -> Within<'a> {
    let task = Task { name, model };
    monitor.begin(task);
    Within(monitor, task)
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
pub(crate) struct Stage<'a> {
    pub(crate) whole: &'a dyn Monitor,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Monitor for Stage<'_> {
    fn progress(&self, share: f64) {
        self.whole.progress(self.from + share * (self.to - self.from));
    }

    fn should_stop(&self) -> bool {
        self.whole.should_stop()
    }

    fn begin(&self, task: Task) {
        self.whole.begin(task);
    }

    fn end(&self, task: Task) {
        self.whole.end(task);
    }
}

/// Work whose parts go on side by side: what is told of it never goes back.
pub(crate) struct Forward<'a> {
    whole: &'a dyn Monitor,
    told: Mutex<f64>,
}

impl<'a> Forward<'a> {
    pub(crate) fn new(whole: &'a dyn Monitor) -> Self {
        Self { whole, told: Mutex::new(0.0) }
    }
}

impl Monitor for Forward<'_> {
    fn progress(&self, share: f64) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if share > *told {
            *told = share;
            self.whole.progress(share);
        }
    }

    fn should_stop(&self) -> bool {
        self.whole.should_stop()
    }

    fn begin(&self, task: Task) {
        self.whole.begin(task);
    }

    fn end(&self, task: Task) {
        self.whole.end(task);
    }
}

/// Counts equal steps that may end in any order.
pub(crate) struct Steps<'a> {
    monitor: &'a dyn Monitor,
    done: AtomicUsize,
    all: usize,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(monitor: &'a dyn Monitor, all: usize) -> Self {
        Self { monitor, done: 0.into(), all }
    }

    pub(crate) fn done(&self) {
        let done = 1 + self.done.fetch_add(1, Relaxed);
        self.monitor.progress(done as f64 / self.all.max(1) as f64);
    }
}

/// Parts of some work that go on side by side, each so large.
pub(crate) struct SideBySide<'a> {
    whole: &'a dyn Monitor,
    /// The size of each part, and how much of it is done (the bits of a number).
    parts: Vec<(f64, AtomicU64)>,
}

impl<'a> SideBySide<'a> {
    pub(crate) fn new(whole: &'a dyn Monitor, sizes: impl Iterator<Item = f64>) -> Self {
        Self { whole, parts: sizes.map(|size| (size, 0f64.to_bits().into())).collect() }
    }

    pub(crate) fn part(&self, number: usize) -> OneOf<'_> {
        OneOf { all: self, number }
    }
}

/// One of several parts that go on side by side.
pub(crate) struct OneOf<'a> {
    all: &'a SideBySide<'a>,
    number: usize,
}

impl Monitor for OneOf<'_> {
    fn progress(&self, share: f64) {
        self.all.parts[self.number].1.store(share.to_bits(), Relaxed);
        let (mut done, mut total) = (0.0, 0.0);
        for (size, share) in &self.all.parts {
            total += size;
            done += size * f64::from_bits(share.load(Relaxed));
        }
        self.all.whole.progress(done / total);
    }

    fn should_stop(&self) -> bool {
        self.all.whole.should_stop()
    }

    fn begin(&self, task: Task) {
        self.all.whole.begin(task);
    }

    fn end(&self, task: Task) {
        self.all.whole.end(task);
    }
}
