//! An index config and a document, a line each.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::document(bytes));
