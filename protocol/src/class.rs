//! Classes of byte ranges: all that a host knows of their contents.

use serde::{Deserialize, Serialize};

/// Kind of content of a range, which lets a host give each class its own cache budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByteClass {
    /// Manifest of the index, the only mutable object. It is cached as an entry with its ETag,
    /// never as ranges of an object.
    Manifest,
    /// Head of a split.
    Head,
    /// Blocks of a term dictionary.
    Dictionary,
    /// Posting lists and positions.
    Postings,
    /// Fast field columns and field norms.
    FastField,
    /// Blocks of stored documents.
    DocStore,
    /// Results that the guest computed: a whole answer, or one split's part of an answer.
    PartialResult,
}

impl ByteClass {
    /// All classes, in the order of [`ByteClass::ord`].
    pub const ALL: [ByteClass; 7] = [
        ByteClass::Manifest,
        ByteClass::Head,
        ByteClass::Dictionary,
        ByteClass::Postings,
        ByteClass::FastField,
        ByteClass::DocStore,
        ByteClass::PartialResult,
    ];

    /// Returns the position in [`ByteClass::ALL`].
    pub fn ord(self) -> usize {
        self as usize
    }

    /// Returns the name in profiles.
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
