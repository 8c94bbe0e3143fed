//! Any bytes as a request of OTLP, in both of its encodings.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_intake_fuzz::logs(bytes));
