//! Nothing: `scores.rs` and `fits.rs` are the benchmarks, run by `cargo bench`.
