//! Any bytes as a model file: what is accepted predicts, and is the same when saved and read again.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errbar_cli::fuzzing::model(bytes));
