//! Fuzz target: arbitrary bytes as each kind of object besides splits, manifests and pages.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::store_objects(bytes));
