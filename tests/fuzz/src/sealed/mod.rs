//! A split that somebody damaged and sealed again, so that every checksum is right: it is searched, merged, read and
//! verified natively.
//!
//! ```text
//!   input ─▶ damage of one component or file ─▶ checksums made right ─▶ searches, merge, documents, verify
//! ```
//!
//! What may come of it is an answer or an error. A panic is a finding even if something catches it, and so are an
//! internal error and a session that does not end. Memory is for the caller to bound: `tests/tests/fuzz_seeds` runs
//! this in processes that have little of it, and libFuzzer has a limit of its own.

mod damage;
mod exercise;
mod origin;
mod panics;
mod parts;

pub use exercise::{answer_sound_index, examine};

/// Changes to a split behind right checksums.
///
/// # Panics
/// If the split does anything but fail or be answered.
pub fn sealed_split(bytes: &[u8]) {
    let found = examine(bytes);
    assert!(found.is_sound(), "{found}");
}
