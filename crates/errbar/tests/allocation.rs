//! The cost allocates nothing after its first use, shown by counting allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use errbar::loss::LossKind;
use errbar::score::{AccuracyReliability, Beta};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread's allocations count: those of the test's pool do, the harness's do not.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn count_one() {
    if COUNTED.get() {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
    }
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: the caller's promise about the layout is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_one();
        // SAFETY: as for `dealloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(mut run: impl FnMut()) -> usize {
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    run();
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

fn sigmas(rows: usize, step: usize) -> Vec<f64> {
    // From steps that hardly move the order to ones that shuffle it: warm, cold and plain sorts.
    let change = 10f64.powi(step as i32 - 6);
    (0..rows).map(|i| (change * (i as f64 * 0.7).sin()).exp()).collect()
}

/// One test, since the count is that of the whole process.
#[test]
fn repeated_evaluations_allocate_nothing() {
    // Above 65,536 rows there are several threads; inside their pool a call allocates nothing.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.broadcast(|_| COUNTED.set(true));
    let one = pool.install(|| allocations(|| drop(std::hint::black_box(vec![1u8; 100]))));
    assert_eq!(one, 1, "the count counts");
    for rows in [1, 100, 5_000, 200_000] {
        let error: Vec<f64> = (0..rows).map(|i| (i as f64 * 1.3).cos()).collect();
        let weight: Vec<f64> = (0..rows).map(|i| 1.0 + (i % 3) as f64).collect();
        let sigmas: Vec<Vec<f64>> = (0..8).map(|step| sigmas(rows, step)).collect();
        // Nearly all scaled errors in one place, the others far away.
        let clumped: Vec<f64> =
            error.iter().map(|e| if *e > 0.9 { 1e-9 } else { 1e3 * (1.0 + e.abs()) }).collect();
        let mut gradient = vec![0.0; rows];
        for weight in [None, Some(&weight[..])] {
            let mut cost = AccuracyReliability::new(&error, weight, Beta::Heuristic).unwrap();
            let count = pool.install(|| {
                cost.value_and_gradient(&sigmas[0], &mut gradient).unwrap(); // the first use
                allocations(|| {
                    for sigma in sigmas.iter().chain([&clumped]) {
                        cost.value_and_gradient(sigma, &mut gradient).unwrap();
                        cost.value(sigma).unwrap();
                    }
                    cost.forget_order();
                    cost.value(&clumped).unwrap();
                })
            });
            assert_eq!(count, 0, "{rows} rows, weights: {}", weight.is_some());
        }
        for kind in [LossKind::Crps, LossKind::Nlpd] {
            let mut loss = kind.on(&error, None).unwrap();
            let count = pool.install(|| {
                let mut run = || {
                    for sigma in &sigmas {
                        loss.value_and_gradient(sigma, &mut gradient).unwrap();
                    }
                };
                run();
                allocations(run)
            });
            assert_eq!(count, 0, "{kind:?}, {rows} rows");
        }
    }
    // A bad sigma is refused without allocating either: line searches meet many.
    let mut cost = AccuracyReliability::new(&[1.0, 2.0], None, Beta::Heuristic).unwrap();
    let refuse = || allocations(|| assert!(cost.value(&[1.0, -1.0]).is_err()));
    assert_eq!(pool.install(refuse), 0);
}
