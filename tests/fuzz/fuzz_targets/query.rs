//! Fuzz target: arbitrary text as a query, over a small index.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::query(bytes));
