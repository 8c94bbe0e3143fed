//! Fuzz target: a modified split with valid checksums.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::hostile_split(bytes));
