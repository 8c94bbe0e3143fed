//! Fuzz target: a damaged and resealed split, searched, merged and verified natively.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::sealed_split(bytes));
