//! A split that somebody changed, with checksums that are right.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::hostile_split(bytes));
