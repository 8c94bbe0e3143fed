//! Pages of a manifest, and what a manifest says of them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::manifest_pages(bytes));
