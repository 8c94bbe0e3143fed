//! Fuzz target: an index config and a document, one on each line.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::document(bytes));
