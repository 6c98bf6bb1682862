//! Any bytes as a spreadsheet or as its parts: read whole and as a stream, copied and read again.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errbar_cli::fuzzing::sheets(bytes));
