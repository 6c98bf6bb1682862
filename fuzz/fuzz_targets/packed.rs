//! Any bytes as a compressed table: read whole, in small blocks and as a stream, copied and read again.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errbar_cli::fuzzing::packed(bytes));
