//! Fuzz target: arbitrary bytes as the head of a split.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_split_format_fuzz::head(bytes));
