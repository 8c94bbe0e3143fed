//! Fuzz target: a stream of any format, or of the one that `CANTER_FUZZ_FORMAT` names.

#![no_main]

use canter_formats::{Format, Recognised};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let chosen = std::env::var("CANTER_FUZZ_FORMAT").ok();
    match chosen.and_then(|name| name.parse::<Format>().ok()) {
        Some(format) => {
            let stream = bytes.get(1..).unwrap_or_default();
            canter_formats_fuzz::one(Recognised::forced(format, stream, true), stream);
        }
        None => canter_formats_fuzz::formats(bytes),
    }
});
