//! Fuzz target: arbitrary bytes as an OTLP request, in both encodings.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| canter_intake_fuzz::logs(bytes));
