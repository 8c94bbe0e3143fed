//! From a config to the schema and the tree that documents are parsed with.

pub(super) mod concatenate;
pub(super) mod doc_mapper;
pub(super) mod field_aliases;
pub(super) mod field_options;
pub(super) mod numbering;
pub(super) mod own_leaves;

use crate::config::IndexingSettings;

/// Settings of the doc store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocstoreSettings {
    /// Number of bytes of documents that are compressed together.
    pub block_num_bytes: usize,
    /// Compression level of zstd.
    pub compression_level: i32,
    /// True if words that few documents have are found in these instead of dictionaries.
    pub has_rare_words: bool,
}

impl DocstoreSettings {
    pub(super) fn of(settings: &IndexingSettings) -> Self {
        Self {
            block_num_bytes: settings.docstore_blocksize,
            compression_level: settings.docstore_compression_level,
            has_rare_words: settings.rare_words,
        }
    }
}
