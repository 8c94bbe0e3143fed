//! Merging of several splits into one.
//!
//! ```text
//!   split ─ fetch, verify ─┐
//!   split ─ fetch, verify ─┼─ order of documents ─ segment ─ packager ─▶ one split
//!   split ─ fetch, verify ─┘
//! ```
//!
//! [`merge_splits`] reads splits and returns one with all of their documents; [`plan_merges`]
//! selects the splits to merge. Neither writes to storage or accesses the manifest.

mod directory;
mod documents;
mod door;
mod fields;
mod former;
mod input;
mod local_copy;
mod order;
mod policy;
mod run;
mod segment;

pub(crate) use directory::SplitFiles;
pub(crate) use documents::StoredReader;
pub(crate) use former::num_fields_it_may_get;
pub use input::MergeInput;
pub use policy::{MergeCandidate, MergeLimits, MergeOperation, plan_merges};
pub use run::{MergeOptions, merge_splits};

use canter_split_format::SplitEntry;

use crate::BuildError;
use crate::index::storage::IndexStore;

/// Opens the files of a split in its store. Each read fetches `window_num_bytes` bytes.
///
/// # Errors
/// `Data` if the split does not exist or does not match the manifest, `Unavailable` if storage does
/// not answer.
pub(crate) fn open_split(
    store: &IndexStore,
    entry: &SplitEntry,
    window_num_bytes: usize,
) -> Result<SplitFiles, BuildError> {
    let (head, body) = local_copy::open_stored(store, entry)?;
    Ok(SplitFiles::new(body, head.files).with_window(window_num_bytes))
}
