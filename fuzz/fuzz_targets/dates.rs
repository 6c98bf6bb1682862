//! Any lines as a column of times, the first as its format: found, told and as numbers they are the same.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errbar_cli::fuzzing::dates(bytes));
