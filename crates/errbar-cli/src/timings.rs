//! How long each stage of some work took.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use errbar::Task;

/// Tasks that were begun and ended, on any thread.
pub(crate) struct Timings {
    began: Instant,
    /// How long each took, without those within it, and how often it was done.
    done: Mutex<BTreeMap<Task, (Duration, usize)>>,
}

thread_local! {
    /// The tasks that are open on this thread: when each began, and how long those within it took.
    static OPEN: RefCell<Vec<(Instant, Duration)>> = const { RefCell::new(Vec::new()) };
}

impl Timings {
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), done: Mutex::default() }
    }

    pub(crate) fn begin(&self) {
        OPEN.with_borrow_mut(|open| open.push((Instant::now(), Duration::ZERO)));
    }

    pub(crate) fn end(&self, task: Task) {
        let took = OPEN.with_borrow_mut(|open| {
            let (began, within) = open.pop()?;
            let took = began.elapsed();
            if let Some((_, within)) = open.last_mut() {
                *within += took;
            }
            Some(took.saturating_sub(within))
        });
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let (sum, count) = done.entry(task).or_default();
        *sum += took.unwrap_or_default();
        *count += 1;
    }

    /// All of it in words, the longest first: "Fitting took 2.1 s", and where.
    pub(crate) fn in_words(&self, what: &str) -> String {
        let mut text = format!("{what} took {:.3} s", self.began.elapsed().as_secs_f64());
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done: Vec<(&Task, &(Duration, usize))> = done.iter().collect();
        if !done.is_empty() {
            text += ", of all threads together:";
        }
        done.sort_by_key(|(_, (took, _))| std::cmp::Reverse(*took));
        for (task, (took, count)) in done {
            let times = if *count == 1 { String::new() } else { format!("  {count} times") };
            let name = in_words(*task);
            let _ = write!(text, "\n{:9.3} s  {:32}{times}", took.as_secs_f64(), name);
            text.truncate(text.trim_end().len());
        }
        text
    }
}

/// "training: trees"
pub(crate) fn in_words(task: Task) -> String {
    match task.model {
        Some(model) => format!("{}: {model}", task.name),
        None => task.name.to_string(),
    }
}
