//! Publication of splits. The manifest is the only object of an index that changes, and it only
//! changes by compare-and-swap, so a crash at any time leaves either the old or the new manifest.
//!
//! A split's object is uploaded first, and an ingest publishes all of its splits at once, so
//! readers see all of an ingest or nothing. Uploads of a failed ingest are not in any manifest; a
//! repetition of the ingest finds them and does not upload them again.

mod capacity;
mod create;
mod delete;
mod description;
mod pages;
mod publish;
mod replace;
pub(crate) mod sources;
mod spare;
#[cfg(test)]
pub(crate) mod tests;
mod update;

pub(crate) use capacity::{ADVICE, Prepared, prepare};
pub(crate) use create::{
    LoadedManifest, MAX_ATTEMPTS, config_of, create_new, is_outdated, load, load_and_hold,
    manifest_bytes, pause,
};
pub use create::{
    create_index, create_index_with, open_or_create_index, open_or_create_index_with,
    open_or_start_index_with,
};
pub(crate) use delete::{
    Deleted, IdChanges, IdKey, Live, delete, find_ids, hold_live_only, identities_of, read_deletes,
};
pub use delete::{DocNumbers, IdBatch};
pub use description::{IndexDescription, TimeHistogram};
pub(crate) use pages::{PageEntries, read_paged_entries};
#[cfg(test)]
pub(crate) use publish::publish;
pub(crate) use publish::{NewDocuments, publish_from};
pub use publish::{NewSplit, PublishOutcome};
pub use replace::{ReplaceOutcome, Replacement};
pub(crate) use replace::{find_entries, replace};
pub use sources::forget_sources;
pub(crate) use sources::{SourceStep, SourcesReader};
#[cfg(test)]
pub(crate) use update::update;
pub use update::{ConfigChange, UpdateReport, update_index};
