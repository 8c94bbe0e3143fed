//! Fuzz target: arbitrary text as the aggregations of a request, over a small index.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::aggregations(bytes));
