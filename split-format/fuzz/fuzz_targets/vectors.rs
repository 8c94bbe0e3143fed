//! Fuzz target: arbitrary bytes as the index and clusters of vectors.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_split_format_fuzz::vectors(bytes));
