//! The randomness that tantivy's dependencies request, made deterministic.
//!
//! The guest draws no randomness of its own: hash maps are seeded and temporary names are made by
//! crates that must link but whose output no answer depends on. A fixed sequence (SplitMix64 from a
//! constant) keeps the component free of imports and gives the same steps on every host. It is not
//! fit for secrets, and nothing in the guest makes any.

use std::sync::atomic::{AtomicU64, Ordering};

const SPLITMIX64_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

static STATE: AtomicU64 = AtomicU64::new(0);

fn next_word() -> u64 {
    let state = STATE
        .fetch_add(SPLITMIX64_GAMMA, Ordering::Relaxed)
        .wrapping_add(SPLITMIX64_GAMMA);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The custom backend of getrandom 0.3 and 0.4, which share this symbol.
///
/// # Safety
/// getrandom passes a buffer of `len` writable bytes at `dest`.
#[allow(
    unsafe_code,
    reason = "getrandom's custom backend is an unmangled symbol that takes a raw buffer"
)]
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    dest: *mut u8,
    len: usize,
) -> Result<(), getrandom::Error> {
    // SAFETY: the caller (getrandom) owns `len` bytes at `dest`; zeroing first makes them
    // initialised before they are seen as a slice.
    let buffer = unsafe {
        dest.write_bytes(0, len);
        std::slice::from_raw_parts_mut(dest, len)
    };
    for chunk in buffer.chunks_mut(8) {
        chunk.copy_from_slice(&next_word().to_le_bytes()[..chunk.len()]);
    }
    Ok(())
}
