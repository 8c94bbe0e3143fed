//! Misbehaving stores, and the names of their faults in answers.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use bytes::Bytes;
use canter_split_format::ManifestFile;
use serde_json::Value;

use super::Answer;
use crate::Quirk;

/// Names of faults that every host must use. `checksum` is the guest's own.
const NAMES: [&str; 9] = [
    "range_ignored",
    "etag_changed",
    "short_body",
    "long_body",
    "wrong_content_range",
    "content_encoded",
    "redirected_to_other_host",
    "past_the_end",
    "checksum",
];

/// Index whose objects are served wrongly.
pub(super) struct BrokenStore {
    /// Name of the index.
    pub(super) index: &'static str,
    /// Prefix of the affected objects' names.
    pub(super) objects: &'static str,
    /// Kind of the misbehaviour.
    pub(super) fault: Fault,
}

pub(super) enum Fault {
    /// The server misbehaves.
    Served(Quirk),
    /// Bits were flipped before the object was stored.
    Flipped,
    /// An attacker has written the manifest: a split's id leads into another index.
    Hostile,
    /// The object is missing.
    Absent,
}

/// Returns one index for each fault. Separate names keep every cache cold.
pub(super) fn broken_stores() -> Vec<BrokenStore> {
    let store = |index, objects, fault| BrokenStore {
        index,
        objects,
        fault,
    };
    use Fault::{Absent, Flipped, Hostile, Served};
    vec![
        store("truncated", "splits/", Served(Quirk::ShortChunks)),
        store("truncated-manifest", "manifest", Served(Quirk::CutBody)),
        store("cut", "splits/", Served(Quirk::CutBody)),
        store("corrupted", "splits/", Flipped),
        store("corrupted-manifest", "manifest", Flipped),
        store("unranged", "splits/", Served(Quirk::RangeIgnored)),
        store("shifted", "splits/", Served(Quirk::ShiftedRange)),
        store("hostile", "manifest", Hostile),
        store("absent", "manifest", Absent),
    ]
}

/// Flips one bit in every 256 bytes of an object, so that every block is damaged.
pub(super) fn flipped(object: &Bytes) -> Bytes {
    let mut bytes = object.to_vec();
    for byte in bytes.iter_mut().skip(128).step_by(256) {
        *byte ^= 0x10;
    }
    bytes.into()
}

/// Returns the manifest with another id for its newest split: a path to the same split of the index
/// `hdfs-logs`, which a host that follows it would serve.
pub(super) fn hostile(manifest: &Bytes) -> Result<Bytes> {
    let mut file = ManifestFile::from_bytes(manifest)?;
    let newest = file
        .manifest
        .splits
        .last_mut()
        .context("there are no splits")?;
    newest.id = format!("../../hdfs-logs/splits/{}", newest.id);
    Ok(file.to_bytes()?.into())
}

/// Returns what an answer reports about the store, independent of the fetcher: the names of faults,
/// by split or for the whole answer.
pub(super) fn told_faults(answer: &Answer) -> BTreeSet<String> {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let mut told = BTreeSet::new();
    for list in ["failed_splits", "skipped_splits"] {
        for entry in body[list].as_array().into_iter().flatten() {
            let split = entry["split_id"].as_str().unwrap_or("?");
            told.insert(format!("{list} {split}: {}", name_in(&entry.to_string())));
        }
    }
    if let Some(message) = body["message"].as_str() {
        told.insert(format!("message: {}", name_in(message)));
    }
    told
}

/// Returns the first fault named in a text.
pub(super) fn name_in(text: &str) -> &'static str {
    let found = NAMES
        .iter()
        .filter_map(|name| Some((text.find(name)?, *name)))
        .min();
    found.map_or("no name", |(_, name)| name)
}
