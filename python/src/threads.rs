//! The threads of this process, and long work that Ctrl-C can stop.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use errbar::Monitor;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool and what is known of it: the process that made it, and how many threads were asked for.
type Known = Option<(u32, usize, Arc<ThreadPool>)>;

/// Threads for work that takes as long as it takes.
static LONG: Mutex<Known> = Mutex::new(None);

/// Threads for everything else, which should not wait until some fit in another thread is done.
static SHORT: Mutex<Known> = Mutex::new(None);

/// Threads for answers: whoever asks may be in this process, and waits in one of the others.
static ANSWERS: Mutex<Known> = Mutex::new(None);

fn locked(pool: &Mutex<Known>) -> MutexGuard<'_, Known> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pool of so many threads; 0 leaves the number to the environment.
///
/// All work runs in pools of this module's own, never in the one that Rayon makes by itself, since a
/// pool does not survive a fork: its threads stay in the parent, and the child would wait for them
/// forever. (The lock does: like a fork, it is taken by whoever has the interpreter.)
fn pool(place: &Mutex<Known>, threads: usize) -> PyResult<Arc<ThreadPool>> {
    let mut known = locked(place);
    let process = std::process::id();
    if let Some((owner, size, pool)) = known.as_ref()
        && (*owner, *size) == (process, threads)
    {
        return Ok(pool.clone());
    }
    let built = ThreadPoolBuilder::new().num_threads(if threads == 0 { usual() } else { threads });
    let built = built.build().map_err(|error| {
        PyRuntimeError::new_err(format!("errbar cannot start {threads} threads: {error}"))
    })?;
    let pool = Arc::new(built);
    let earlier = known.replace((process, threads, pool.clone()));
    // To end the pool of a parent would be to wait for threads that are not here.
    if let Some((owner, _, pool)) = earlier
        && owner != process
    {
        std::mem::forget(pool);
    }
    Ok(pool)
}

/// As many threads as the environment allows; `OMP_NUM_THREADS` is what job runners of Python set so
/// that several processes share the cores. 0 is one for each core.
fn usual() -> usize {
    let number = |name: &str| std::env::var(name).ok()?.trim().parse::<usize>().ok();
    number("RAYON_NUM_THREADS").or_else(|| number("OMP_NUM_THREADS")).unwrap_or(0)
}

/// Work without the interpreter that takes no longer than one would wait.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool(&SHORT, 0)?;
    Ok(py.detach(|| pool.install(work)))
}

thread_local! {
    /// A thread for each thread of an engine, since those are as many as there are cores; and who made it.
    static ALONE: RefCell<Option<(u32, ThreadPool)>> = const { RefCell::new(None) };
}

/// Work without the interpreter in a task of an engine, on one thread that it shares with no other task; on more, or on as many as the
/// environment allows (0), as in [`detached`].
pub(crate) fn in_task<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if threads != 1 {
        let pool = pool(&SHORT, threads)?;
        return Ok(py.detach(|| pool.install(work)));
    }
    let process = std::process::id();
    // Taken out meanwhile: what is in a cell must not be lent across a call.
    let mut known = ALONE.take();
    if let Some((_, pool)) = known.take_if(|(owner, _)| *owner != process) {
        // To end the pool of a parent would be to wait for threads that are not here.
        std::mem::forget(pool);
    }
    let (_, pool) = match known {
        Some(known) => known,
        None => {
            let built = ThreadPoolBuilder::new().num_threads(1).build();
            (
                process,
                built.map_err(|error| {
                    PyRuntimeError::new_err(format!("errbar cannot start a thread: {error}"))
                })?,
            )
        }
    };
    let done = py.detach(|| pool.install(work));
    ALONE.set(Some((process, pool)));
    Ok(done)
}

/// How far some work is, and whether it should go on. Only the thread that called from Python may
/// ask Python for signals, so it stands between the two.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    /// The bits of a share from 0 to 1.
    share: AtomicU64,
}

impl Monitor for Watch {
    fn progress(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Long work on so many threads, while this one looks for Ctrl-C and tells `progress` how far it is.
/// What Python raises meanwhile stops the work and is raised.
///
/// The work owns its data, so that it can be left to itself where it does not stop at once: some of its
/// steps take seconds, and nobody should wait for them.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Monitor) -> T + Send + 'static,
) -> PyResult<T> {
    let nobody = |_: &[u8]| Ok(Vec::new());
    asking(py, threads, (progress, &nobody), move |monitor, _| work(monitor))
}

/// What somebody answers to a question, in the thread that called.
type Answering<'a> = &'a dyn Fn(&[u8]) -> PyResult<Vec<PyBackedBytes>>;

/// Where work asks; `None` when it should be given up.
pub(crate) type Asking<'a> = &'a mut dyn FnMut(Vec<u8>) -> Option<Vec<PyBackedBytes>>;

/// What comes from the work.
enum Word<T> {
    Asks(Vec<u8>),
    Done(T),
}

/// [`watched`] work that also asks this thread questions, which it answers in Python.
pub(crate) fn asking<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    (progress, answer): (Option<&Bound<'_, PyAny>>, Answering<'_>),
    work: impl FnOnce(&dyn Monitor, Asking<'_>) -> T + Send + 'static,
) -> PyResult<T> {
    /// How often to look: unnoticed by people, and by the work.
    const EVERY: Duration = Duration::from_millis(50);
    /// How long the work has to stop by itself.
    const GRACE: Duration = Duration::from_millis(500);
    let pool = pool(&LONG, threads)?;
    let watch = Arc::new(Watch::default());
    let watcher = watch.clone();
    let (sender, mut words) = sync_channel::<Word<T>>(1);
    let (replies, replied) = channel::<Vec<PyBackedBytes>>();
    std::thread::spawn(move || {
        let asks = sender.clone();
        let outcome = pool.install(move || {
            let mut ask = |question| {
                asks.send(Word::Asks(question)).ok()?;
                replied.recv().ok()
            };
            work(&*watcher, &mut ask)
        });
        // Nobody may be there any more.
        sender.send(Word::Done(outcome)).ok()
    });
    let mut wait = |time| {
        let words = &mut words;
        py.detach(move || words.recv_timeout(time))
    };
    let mut told = f64::NAN;
    let raised = loop {
        let raised = match wait(EVERY) {
            Ok(Word::Done(outcome)) => {
                if let Some(callback) = progress {
                    callback.call1((1.0,))?;
                }
                return Ok(outcome);
            }
            // Work that is gone is heard of at the next look.
            Ok(Word::Asks(question)) => answer(&question).map(|reply| drop(replies.send(reply))),
            // The work panicked, which is a bug of errbar's.
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("errbar failed inside; please report this"));
            }
            Err(RecvTimeoutError::Timeout) => Ok(()),
        };
        let share = f64::from_bits(watch.share.load(Ordering::Relaxed));
        let raised = raised.and_then(|()| py.check_signals()).and_then(|()| match progress {
            Some(callback) if share != told => {
                told = share;
                callback.call1((share,)).map(drop)
            }
            _ => Ok(()),
        });
        if let Err(raised) = raised {
            break raised;
        }
    };
    watch.stop.store(true, Ordering::Relaxed);
    // Work that waits for an answer gets none.
    drop(replies);
    let stopped = (0..2).any(|_| matches!(wait(GRACE), Ok(Word::Done(_))));
    if !stopped {
        // The pool is left to the work that is still on it; who comes next gets another.
        locked(&LONG).take();
    }
    Err(raised)
}

/// An answer of so many threads without the interpreter; `None` is as many as the environment allows.
pub(crate) fn of_threads<T: Send>(
    py: Python<'_>,
    n_jobs: Option<isize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let threads = threads_of(n_jobs)?;
    let pool = pool(&ANSWERS, threads)?;
    Ok(py.detach(|| pool.install(work)))
}

/// The number of threads that `n_jobs` of scikit-learn means: all but so many when negative.
pub(crate) fn threads_of(n_jobs: Option<isize>) -> PyResult<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match n_jobs {
        None => Ok(0),
        Some(0) => {
            Err(PyValueError::new_err("n_jobs is 0: give a number of threads, -1 for all, or None"))
        }
        Some(jobs) if jobs > 0 => Ok(jobs.unsigned_abs().min(1024)),
        Some(jobs) => Ok((cores + 1).saturating_sub(jobs.unsigned_abs()).max(1)),
    }
}
