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

mod block_checksums;
mod co_occurrence;
mod codec;
mod condemned;
mod deletes;
mod documents;
mod error;
mod file_table;
mod filter;
mod head;
mod hotcache;
mod identities;
mod ledger;
mod limits;
mod manifest;
mod page;
mod rollup;
mod sources;
mod split;
mod time_index;
mod version;

pub use block_checksums::BlockChecksums;
pub use co_occurrence::{CoOccurrence, TermPlace};
pub use condemned::{Condemned, ObjectKind, ObjectName, Sentence};
pub use deletes::{DeletedDocs, DeletesRef, ListedSplit};
pub use documents::{
    BlockDecoder, BlockWriter, DocBlock, DocumentIndex, DocumentsBlock, DocumentsWriter, Part,
    Templates, reserve_for_frame, shape_of, template_of,
};
pub use error::FormatError;
pub use file_table::{FileEntry, FileTable};
pub use filter::{
    BlockPlace, FilterBlock, FilterGroup, FilterPlace, FilterScope, FiltersRef, Needle,
    PageFilters, SplitFilter,
};
pub use head::{Head, SplitMetadata, TimeRange, head_len_of};
pub use hotcache::{HotRange, Hotcache};
pub use identities::{DocIdentity, Identities, IdentityDirectory, IdentityRange, SourceId};
pub use ledger::{Ledger, LedgerRef, SplitNumber, WrittenLedger, split_number};
pub use limits::{MAX_MANIFEST_BYTES, MAX_SPLITS, is_near_limit};
pub use manifest::{Manifest, ManifestFile, SplitEntry, Tags};
pub use page::{
    PackedHead, PagePart, PageRef, PageSplit, PagedSplit, Totals, WrittenPage, write_page,
};
pub use rollup::{FieldRollup, Rollup};
pub use sources::{
    LinesHash, SourceEntries, SourceProgress, Sources, SourcesRef, WrittenSources, add_sources,
};
pub use split::{Summaries, WrittenSplit, write_split};
pub use time_index::TimeIndex;
pub use version::{
    DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, FILTER_FILE, HEAD_PREFIX_LEN, IDENTITIES_FILE, LISTS_FILE,
    MANIFEST_OBJECT, SPECULATIVE_HEAD_LEN, TOO_OLD, checksum64, object_id, page_object,
    split_object,
};
