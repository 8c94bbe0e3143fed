//! A file of the cache folder, and a kept manifest.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::cache_file(bytes));
