//! Fuzz target: pages of a manifest, and references to them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::manifest_pages(bytes));
