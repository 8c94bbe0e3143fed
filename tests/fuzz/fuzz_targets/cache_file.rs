//! Fuzz target: a file of the cache folder, and a cached manifest.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::cache_file(bytes));
