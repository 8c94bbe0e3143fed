//! Fuzz target: arbitrary bytes as stored documents (their index, templates and a block).

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_split_format_fuzz::documents(bytes));
