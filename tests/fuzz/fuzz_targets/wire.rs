//! Fuzz target: modified messages between plan, leaves and root.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::wire(bytes));
