//! Warnings of a successful ingest.

use crate::index::publisher::{ADVICE, NewSplit, PublishOutcome};
use crate::index::storage::IndexStore;
use crate::pipeline::ReadInput;
use canter_split_format::{MAX_MANIFEST_BYTES, is_near_limit};
use serde::Serialize;

/// A condition that is harmless now, but should be examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IngestWarning {
    /// Its stable name, for programs.
    pub name: &'static str,
    /// The observation, and advice.
    pub message: String,
}

pub(super) fn warnings_of<'n>(
    store: &IndexStore,
    published: &PublishOutcome,
    splits: &[NewSplit],
    inputs: &[ReadInput],
    gone: &[String],
    left_out: impl Iterator<Item = &'n String>,
    num_rejected_before: u64,
) -> Vec<IngestWarning> {
    let found = [
        near_max_manifest_bytes(published),
        columns_outside_head(splits),
        unsafe_store(store),
        probe_left_behind(store),
        unconfirmed(published),
        rejected_before(num_rejected_before),
    ];
    found
        .into_iter()
        .flatten()
        .chain(warnings_of_inputs(inputs, gone, left_out))
        .collect()
}

/// Returns the warnings that concern single inputs.
pub(super) fn warnings_of_inputs<'n>(
    inputs: &[ReadInput],
    gone: &[String],
    left_out: impl Iterator<Item = &'n String>,
) -> impl Iterator<Item = IngestWarning> {
    let broken = inputs.iter().filter_map(broken_off);
    let late = inputs.iter().filter_map(late_lines);
    let gone = gone.iter().filter_map(|name| gone_input(name));
    broken
        .chain(late)
        .chain(gone)
        .chain(left_out.filter_map(|note| warning("left_out", note.clone())))
}

fn gone_input(name: &str) -> Option<IngestWarning> {
    warning(
        "gone",
        format!(
            "`{name}` was listed, and was gone when it was to be read: nothing of it is in the index by this ingest"
        ),
    )
}

fn warning(name: &'static str, message: String) -> Option<IngestWarning> {
    Some(IngestWarning { name, message })
}

fn broken_off(input: &ReadInput) -> Option<IngestWarning> {
    warning("broken_off", input.broken_off.clone()?)
}

fn late_lines(input: &ReadInput) -> Option<IngestWarning> {
    if input.num_late_lines == 0 {
        return None;
    }
    warning(
        "late_lines",
        format!(
            "`{}`: {} lines belong to a record that was ingested before they were written, and are in no document",
            input.name, input.num_late_lines
        ),
    )
}

fn rejected_before(num_lines: u64) -> Option<IngestWarning> {
    if num_lines == 0 {
        return None;
    }
    warning(
        "rejected_before",
        format!(
            "{num_lines} lines were rejected when their source was ingested before, and would be documents now: a source \
             that is known is not looked at again; to have them, ingest these lines from another file"
        ),
    )
}

fn near_max_manifest_bytes(published: &PublishOutcome) -> Option<IngestWarning> {
    let num_bytes = published.num_manifest_bytes;
    if !is_near_limit(num_bytes, MAX_MANIFEST_BYTES) {
        return None;
    }
    warning(
        "near_max_manifest_bytes",
        format!(
            "the manifest has {num_bytes} of at most {MAX_MANIFEST_BYTES} bytes; beyond that, \
             nothing is published: {ADVICE}"
        ),
    )
}

fn columns_outside_head(splits: &[NewSplit]) -> Option<IngestWarning> {
    let split = splits
        .iter()
        .max_by_key(|split| split.num_columns_outside_head)?;
    if split.num_columns_outside_head == 0 {
        return None;
    }
    warning(
        "columns_outside_head",
        format!(
            "split {} has more columns than its head lists, by {}: sorting, aggregating or a range \
             over one of those reads once more; do documents use values as keys? map such an object \
             with `fast: false`, or as an array of objects with a key and a value",
            split.entry.id, split.num_columns_outside_head
        ),
    )
}

fn unsafe_store(store: &IndexStore) -> Option<IngestWarning> {
    let found = store.write_probe().filter(|found| !found.is_fit())?;
    warning(
        "unsafe_single_writer",
        format!(
            "the store {}: this index has no protection from a second writer",
            found.faults()
        ),
    )
}

fn probe_left_behind(store: &IndexStore) -> Option<IngestWarning> {
    let why = store.write_probe()?.left_behind.as_ref()?;
    warning(
        "probe_left_behind",
        format!("the object of the probe of conditional writes is still there: {why}"),
    )
}

fn unconfirmed(published: &PublishOutcome) -> Option<IngestWarning> {
    if !published.is_unconfirmed {
        return None;
    }
    warning(
        "unconfirmed",
        "the manifest was written, and could not be read again to see that it is there: look with \
         `canter index describe`"
            .to_string(),
    )
}
