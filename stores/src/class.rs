//! What byte ranges of an index hold: all that a host knows of them.

use serde::{Deserialize, Serialize};

/// What a range holds: lets a host give each class its own cache budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByteClass {
    /// The index's manifest: the only mutable object. Cached as an entry with its ETag, never as ranges
    /// of an object.
    Manifest,
    /// A split's head.
    Head,
    /// Blocks of a term dictionary.
    Dictionary,
    /// Posting lists and positions.
    Postings,
    /// Fast field columns and field norms.
    FastField,
    /// Blocks of stored documents.
    DocStore,
    /// What the guest computed: a whole answer, or what one split adds to one.
    PartialResult,
}

impl ByteClass {
    /// Every class, in the order of [`ByteClass::ord`].
    pub const ALL: [ByteClass; 7] = [
        ByteClass::Manifest,
        ByteClass::Head,
        ByteClass::Dictionary,
        ByteClass::Postings,
        ByteClass::FastField,
        ByteClass::DocStore,
        ByteClass::PartialResult,
    ];

    /// The class's place in [`ByteClass::ALL`].
    pub fn ord(self) -> usize {
        self as usize
    }

    /// The class's name in profiles.
    pub fn as_str(self) -> &'static str {
        match self {
            ByteClass::Manifest => "manifest",
            ByteClass::Head => "head",
            ByteClass::Dictionary => "dictionary",
            ByteClass::Postings => "postings",
            ByteClass::FastField => "fast_field",
            ByteClass::DocStore => "doc_store",
            ByteClass::PartialResult => "partial_result",
        }
    }
}
