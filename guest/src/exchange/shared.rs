//! Bytes of a host in the same process.

use std::ops::Deref;

use bytes::Bytes;
use tantivy_common::{OwnedBytes, StableDeref};

/// Returns the same bytes in tantivy's form, not copied.
pub(crate) fn shared(bytes: Bytes) -> OwnedBytes {
    OwnedBytes::new(Shared(bytes))
}

struct Shared(Bytes);

impl Deref for Shared {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

// SAFETY: only a pointer moves. The bytes stay where they are, and nothing writes to them while they are shared.
#[allow(
    unsafe_code,
    reason = "tantivy's bytes want this promise of their owner"
)]
unsafe impl StableDeref for Shared {}
