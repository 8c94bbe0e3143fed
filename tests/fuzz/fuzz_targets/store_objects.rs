//! Any bytes as each of the objects that a store holds beside splits, manifests and pages.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::store_objects(bytes));
