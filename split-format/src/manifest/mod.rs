//! The manifest: the live splits, and references to other objects.

mod condemned;
mod deletes;
mod entry;
mod file;
mod ledger;
mod limits;
mod sources;
mod table;

pub use condemned::{Condemned, ObjectKind, ObjectName, Sentence};
pub use deletes::{DeletedDocs, DeletesRef};
pub use entry::{ListedSplit, SplitEntry, Tags};
pub use file::{Manifest, ManifestFile};
pub use ledger::{Ledger, LedgerRef, SplitNumber, WrittenLedger, split_number};
pub use limits::{MAX_MANIFEST_BYTES, MAX_SPLITS, is_near_limit};
pub use sources::{
    LinesHash, SourceEntries, SourceProgress, Sources, SourcesRef, WrittenSources, add_sources,
};
