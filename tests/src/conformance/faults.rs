//! The stores that do something wrong, and the names that answers give to it.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use bytes::Bytes;
use canter_split_format::ManifestFile;
use serde_json::Value;

use super::Answer;
use crate::Quirk;

/// Faults by the name that every host must give them. `checksum` is the guest's own word.
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

/// An index name whose objects are served wrongly.
pub(super) struct BrokenStore {
    /// The name of the index.
    pub(super) index: &'static str,
    /// Which of its objects, by the beginning of their name.
    pub(super) objects: &'static str,
    /// What is done wrong.
    pub(super) fault: Fault,
}

pub(super) enum Fault {
    /// The server does it.
    Served(Quirk),
    /// Bytes were flipped before they were stored.
    Flipped,
    /// Somebody else has written it: a split's id leads into another index.
    Hostile,
    /// There is no such object.
    Absent,
}

/// One index name for each. A name of its own keeps every cache cold.
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

/// The object with one bit of every 256 bytes flipped: no block of it is as it was.
pub(super) fn flipped(object: &Bytes) -> Bytes {
    let mut bytes = object.to_vec();
    for byte in bytes.iter_mut().skip(128).step_by(256) {
        *byte ^= 0x10;
    }
    bytes.into()
}

/// The manifest with another id for its newest split: a path to the same split of the index `hdfs-logs`, which
/// a host that follows it answers from.
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

/// What an answer says about the store, in a form that does not depend on who fetched: the status, and
/// the names of the faults by split, or of the whole answer.
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

/// The first fault that a text names.
pub(super) fn name_in(text: &str) -> &'static str {
    let found = NAMES
        .iter()
        .filter_map(|name| Some((text.find(name)?, *name)))
        .min();
    found.map_or("no name", |(_, name)| name)
}
