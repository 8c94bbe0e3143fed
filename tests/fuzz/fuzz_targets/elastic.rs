//! Fuzz target: arbitrary text as requests to Elasticsearch's API, over a small index.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::elastic(bytes));
