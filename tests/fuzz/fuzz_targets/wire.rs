//! What plan, leaves and root say to each other, changed on its way.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_fuzz::wire(bytes));
