//! Fuzz target: arbitrary bytes as a manifest.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_split_format_fuzz::manifest(bytes));
