//! Fuzz target: the filter of a split, and those of a page.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::filters(bytes));
