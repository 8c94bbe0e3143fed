//! Fuzz target: arbitrary bytes as a file of logs, compressed, an archive or text.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::stored_logs(bytes));
