//! Fuzz target: arbitrary bytes as the body of `_bulk`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_intake_fuzz::bulk(bytes));
