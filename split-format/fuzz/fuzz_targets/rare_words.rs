//! Fuzz target: arbitrary bytes as the index and blocks of rare words.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_split_format_fuzz::rare_words(bytes));
