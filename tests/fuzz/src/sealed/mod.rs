//! A damaged and resealed split, with all checksums valid: it is searched, merged, read and
//! verified natively.
//!
//! ```text
//!   input ─▶ damage of one component or file ─▶ checksums made right ─▶ searches, merge, documents, verify
//! ```
//!
//! The outcome must be an answer or an error. A panic is a finding even if it is caught, and so are
//! an internal error and a session that does not end. The caller bounds the memory:
//! `tests/tests/fuzz_seeds` runs this in processes with little memory, and libFuzzer has a limit of
//! its own.

mod damage;
mod exercise;
mod origin;
mod panics;
mod parts;

pub use exercise::{answer_sound_index, examine};

/// Checks changes to a split under valid checksums.
///
/// # Panics
/// The split neither fails nor is answered.
pub fn sealed_split(bytes: &[u8]) {
    let found = examine(bytes);
    assert!(found.is_sound(), "{found}");
}
