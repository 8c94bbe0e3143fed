//! Demands of a session: reads, look-ups, and entries to store.

use bytes::Bytes;

use crate::ByteClass;

/// One byte range of one object, to be fetched together with all others of its demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// Identifies this request in the [`crate::Supply`] that answers it; unique within a session.
    pub id: u64,
    /// Object name relative to the index's URI, for example `splits/<id>.split`.
    pub object: String,
    /// First byte, from the start of the object.
    pub offset: u64,
    /// Number of bytes; `None` requests everything from `offset` to the end of the object.
    pub len: Option<u64>,
    /// Class of the range.
    pub class: ByteClass,
}

/// A request to the host's cache, under a key that only the guest interprets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheLookup {
    /// Identifies this lookup in the [`crate::Supply`] that answers it.
    pub id: u64,
    /// The key, opaque to the host.
    pub key: String,
    /// Class of the entry.
    pub class: ByteClass,
}

/// An entry for the host's cache. The host may drop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheStore {
    /// The key, opaque to the host.
    pub key: String,
    /// The entry.
    pub bytes: Bytes,
    /// Class of the entry.
    pub class: ByteClass,
}

/// Everything that one step needs. Every read and every lookup is answered by one [`crate::Supply`]. A demand may be
/// empty: the session then only wants the next report of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Ranges to fetch, all at once.
    pub reads: Vec<ReadRequest>,
    /// Cache entries to look up.
    pub lookups: Vec<CacheLookup>,
    /// Cache entries to store; they need no answer.
    pub stores: Vec<CacheStore>,
}

impl Demand {
    /// Returns whether the demand is empty.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.lookups.is_empty() && self.stores.is_empty()
    }

    /// Adds the contents of `other`.
    pub fn extend(&mut self, other: Demand) {
        self.reads.extend(other.reads);
        self.lookups.extend(other.lookups);
        self.stores.extend(other.stores);
    }
}
