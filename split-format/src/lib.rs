//! Formats that the index builder writes and the guest reads: splits and manifests.
//!
//! This crate contains the writer and the reader of each structure side by side. It performs no I/O
//! and knows no queries. `README.md` beside it is the specification.
//!
//! Every reader accepts untrusted bytes: it returns a value or a [`FormatError`], and never panics.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

mod codec;
mod error;
mod version;

mod documents;
mod summaries;
mod vectors;

mod split;

mod manifest;
mod page;

pub use documents::{
    BlockCheck, BlockDecoder, BlockLayout, BlockWriter, DocBlock, DocumentIndex, DocumentsBlock,
    DocumentsWriter, Part, RowTraining, RowWriter, Templates, reserve_for_frame, shape_of,
    template_of,
};
pub use error::FormatError;
pub use manifest::{
    Condemned, DeletedDocs, DeletesRef, Ledger, LedgerRef, LinesHash, ListedSplit,
    MAX_MANIFEST_BYTES, MAX_SPLITS, Manifest, ManifestFile, ObjectKind, ObjectName, Sentence,
    SourceEntries, SourceProgress, Sources, SourcesRef, SplitEntry, SplitNumber, Tags,
    WrittenLedger, WrittenSources, add_sources, is_near_limit, split_number,
};
pub use page::{
    PackedHead, PageFilters, PagePart, PageRef, PageSplit, PagedSplit, Totals, WrittenPage,
    write_page,
};
pub use split::{
    BlockChecksums, BodyFile, DocIdentity, FileEntry, FilePart, FileTable, Form, Head, HotRange,
    Hotcache, Identities, IdentityDirectory, IdentityRange, Key, KeyDigestRef, KeyFilter, KeyHash,
    Packable, PackedFile, Piece, SourceId, SplitKeys, SplitMetadata, Summaries, TimeRange, Words,
    WrittenSplit, head_len_of, pack, read_key_digest, write_key_digest, write_keys, write_split,
};
pub use summaries::{
    BlockPlace, ByteClasses, CoOccurrence, FieldRollup, FilterBlock, FilterGroup, FilterPlace,
    FilterScope, FiltersRef, Needle, RareBlock, RareStubs, RareWord, RareWords, RareWordsIndex,
    RareWordsWriter, Rollup, SplitFilter, TermPlace, TimeIndex, WrittenRareWords, may_be_rare,
};
pub use vectors::{
    VectorCluster, VectorClusterParts, VectorField, VectorFieldParts, VectorIndex, VectorShape,
    WrittenVectors, write_vectors,
};
pub use version::{
    DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, FILTER_FILE, HEAD_PREFIX_LEN, IDENTITIES_FILE, KEYS_FILE,
    LISTS_FILE, MANIFEST_OBJECT, RARE_WORDS_FILE, RARE_WORDS_INDEX_FILE, SPECULATIVE_HEAD_LEN,
    TOO_OLD, VECTOR_INDEX_FILE, VECTORS_FILE, checksum64, object_id, page_object, split_object,
};
