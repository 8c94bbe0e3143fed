//! Canter's index builder: documents in, published splits out.
//!
//! *inputs → source → transform → doc mapper → sorter → indexer → packager → uploader → publisher*, one file or folder
//! each. [`ingest`] runs them all; [`create_index`] makes the index it runs on:
//!
//! ```no_run
//! use canter_index_builder::{IngestOptions, Source, create_index, ingest};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = canter_doc_mapper::IndexConfig::from_json(&std::fs::read("hdfs-logs.json")?)?;
//! let store = create_index("s3://logs/hdfs", &config)?;
//! let report = ingest(&store, &IngestOptions::default(), vec![Source::file("hdfs.json.gz")], &())?;
//! assert_eq!(report.num_ingested_docs + report.num_rejected_docs, report.num_lines);
//! # Ok(()) }
//! ```
//!
//! The API is synchronous and starts the threads it needs; it may be called from anywhere. Nothing
//! here answers queries, and nothing here reads a clock: the same input gives the same splits.

mod arrivals;
mod blocking;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod index;
mod ingest;
mod input;
mod maintenance;
mod packager;
mod pipeline;
mod transform;

pub use arrivals::{
    DocumentCheck, DocumentProblem, IdSnapshot, LineIds, LiveVersion, MAX_ID_BYTES, ROUTING_FIELD,
    check_id, first_key_in, id_in, keep_rejected, keep_unbuildable, read_spooled, remove_spooled,
    spool, spooled, spooled_source, unbuildable, withdraw_spooled,
};
pub use canter_stores::{WRONG_CLOCK, checked_unix_time, unix_time, unix_time_ms};
pub use error::{BuildError, ErrorKind};
pub use index::catalog::{
    Alias, Aliases, CachedIndexes, Catalog, CatalogEntry, Creation, IndexSettings, Indexes,
    NewIndex, RoomMade, Spooled, Templates,
};
pub use index::publisher::{
    ConfigChange, DocNumbers, IdBatch, IndexDescription, NewSplit, PublishOutcome, ReplaceOutcome,
    Replacement, TimeHistogram, UpdateReport, create_index, create_index_with, forget_sources,
    open_or_create_index, open_or_create_index_with, open_or_start_index_with, update_index,
};
pub use index::storage::{
    Condition, IndexFolder, IndexStore, WriteOptions, WriteProbe, check_index_name,
};
pub use ingest::{
    Counters, IngestOptions, IngestReport, IngestWarning, InputReport, Phase, Progress, Receipt,
    SplitReport, build_part, ingest, publish_receipts, read_receipts, write_receipt,
};
pub use input::inputs::{FindOptions, FoundInputs, LeftOut, find_inputs, may_be_several};
pub use input::preview::{
    Preview, PreviewDoc, PreviewRecord, Sampled, Suggestion, preview, sample, suggest,
};
#[cfg(feature = "parquet")]
pub use input::source::ArrowTables;
pub use input::source::{Source, SpooledArchives, spool_archives};
pub use maintenance::merge::{
    MergeCandidate, MergeInput, MergeLimits, MergeOperation, MergeOptions, merge_splits,
    plan_merges,
};
pub use maintenance::upkeep::{
    DeleteReport, Documents, DocumentsPart, GcOptions, GcReport, MergeDone, MergeIndexOptions,
    MergeReport, Problem, StoredSplits, VerifyOptions, VerifyReport, collect_garbage,
    delete_documents, locate_documents, merge_index, stored_splits, verify_index,
};
pub use packager::{PackagedSplit, SplitFacts, StoredDocuments, package_split};
pub use transform::Transform;
