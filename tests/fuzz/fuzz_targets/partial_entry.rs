//! Fuzz target: an entry of the partial-result cache with a valid checksum.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::partial_entry(bytes));
