//! Cache entry of the manifest, the one mutable object, with its version.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

/// Maximum length of a stored version.
const MAX_ETAG_LEN: usize = 1024;

/// Manifest as last received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptManifest {
    /// Time at which the store last confirmed the manifest, since 1970.
    pub checked_at: Duration,
    /// ETag of the manifest; empty if the store sent none.
    pub etag: String,
    /// Bytes of the manifest.
    pub bytes: Bytes,
}

impl KeptManifest {
    /// Encodes the entry: `checked_at_ms (u64) | etag_len (u16) | etag | manifest`, little-endian.
    ///
    /// An ETag that is too long is stored as empty: the manifest is then read again.
    pub fn to_bytes(&self) -> Bytes {
        let etag = match self.etag.len() <= MAX_ETAG_LEN {
            true => self.etag.as_str(),
            false => "",
        };
        let mut entry = BytesMut::with_capacity(10 + etag.len() + self.bytes.len());
        entry.put_u64_le(u64::try_from(self.checked_at.as_millis()).unwrap_or(u64::MAX));
        entry.put_u16_le(u16::try_from(etag.len()).unwrap_or(0));
        entry.put_slice(etag.as_bytes());
        entry.put_slice(&self.bytes);
        entry.freeze()
    }

    /// Decodes an entry; returns `None` if it is invalid.
    pub fn from_bytes(entry: &Bytes) -> Option<Self> {
        let checked_at_ms = u64::from_le_bytes(entry.get(..8)?.try_into().ok()?);
        let etag_len = usize::from(u16::from_le_bytes(entry.get(8..10)?.try_into().ok()?));
        let etag = entry.get(10..10 + etag_len)?;
        Some(Self {
            checked_at: Duration::from_millis(checked_at_ms),
            etag: String::from_utf8(etag.to_vec()).ok()?,
            bytes: entry.slice(10 + etag_len..),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_manifest_comes_back_and_a_damaged_one_is_none() {
        let kept = KeptManifest {
            checked_at: Duration::from_millis(1_460_000_000_123),
            etag: "\"abc\"".to_owned(),
            bytes: Bytes::from_static(b"{}"),
        };
        let entry = kept.to_bytes();
        let back = KeptManifest::from_bytes(&entry).unwrap();
        assert_eq!((back.checked_at, &*back.etag), (kept.checked_at, "\"abc\""));
        assert_eq!(back.bytes, kept.bytes);
        for len in 0..15 {
            assert!(KeptManifest::from_bytes(&entry.slice(..len)).is_none());
        }
    }
}
