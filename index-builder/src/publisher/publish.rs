//! Adding splits to the manifest: read, add, swap; again if somebody else was faster.

use super::create::{load, manifest_bytes};
use crate::blocking;
use crate::error::BuildError;
use crate::storage::{IndexStore, Swap};
use canter_split_format::{MANIFEST_OBJECT, SplitEntry, split_object};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// So many other writers in a row that something else is wrong.
const MAX_ATTEMPTS: u32 = 20;
const FIRST_PAUSE_MS: u64 = 10;
const MAX_PAUSE_MS: u64 = 2_000;

/// A split whose object is uploaded and that no manifest names yet.
#[derive(Clone, Debug)]
pub struct NewSplit {
    /// What the manifest will say of it.
    pub entry: SplitEntry,
    /// The bytes of its head, for the manifest to carry.
    pub head: Vec<u8>,
}

/// What publishing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishOutcome {
    /// Splits that this call made live.
    pub num_published_splits: u64,
    /// Splits that were live already: the same documents with the same config, ingested before.
    pub num_known_splits: u64,
    /// How often the manifest was read: more than once if others published at the same time.
    pub num_attempts: u32,
}

impl IndexStore {
    /// Makes `splits`, whose objects are uploaded, live all at once.
    ///
    /// # Errors
    /// `Internal` if an object is not there or has another length; `Unavailable` if storage does not
    /// answer, or others kept changing the manifest. Either way the old manifest stands.
    pub fn publish(&self, splits: &[NewSplit]) -> Result<PublishOutcome, BuildError> {
        blocking::run(publish(self, None, splits))
    }
}

/// See [`IndexStore::publish`]. `index_config` is the config that the splits were built with, if it
/// is to be compared with the manifest's.
pub(crate) async fn publish(
    store: &IndexStore,
    index_config: Option<&serde_json::Value>,
    splits: &[NewSplit],
) -> Result<PublishOutcome, BuildError> {
    for split in splits {
        check_uploaded(store, &split.entry).await?;
    }
    let mut published_before = None;
    for num_attempts in 1..=MAX_ATTEMPTS {
        let (mut manifest, version) = load(store).await?;
        if index_config.is_some_and(|config| *config != manifest.manifest.index_config) {
            return Err(BuildError::invalid(format!(
                "the index at `{}` was made anew with another config in the meantime: ingest again",
                store.uri()
            )));
        }
        let live: HashSet<String> = manifest
            .manifest
            .splits
            .iter()
            .map(|split| split.id.clone())
            .collect();
        let mut seen = HashSet::new();
        let num_known = splits
            .iter()
            .filter(|split| live.contains(&split.entry.id) || !seen.insert(&split.entry.id))
            .count() as u64;
        // A swap whose answer was lost looks like a conflict: what the first attempt found live is
        // what was known before.
        let num_known_before = *published_before.get_or_insert(num_known);
        let outcome = PublishOutcome {
            num_published_splits: splits.len() as u64 - num_known_before,
            num_known_splits: num_known_before,
            num_attempts,
        };
        if num_known == splits.len() as u64 {
            return Ok(outcome);
        }
        for split in splits {
            manifest.add_split(split.entry.clone(), split.head.clone());
        }
        let bytes = manifest_bytes(&manifest)?;
        if store.replace(MANIFEST_OBJECT, bytes, &version).await? == Swap::Done {
            return Ok(outcome);
        }
        tokio::time::sleep(pause(num_attempts)).await;
    }
    Err(BuildError::unavailable(format!(
        "others changed the manifest of `{}` during each of {MAX_ATTEMPTS} attempts: run the same \
         ingest again (its splits are uploaded and will be found)",
        store.uri()
    )))
}

async fn check_uploaded(store: &IndexStore, entry: &SplitEntry) -> Result<(), BuildError> {
    let name = split_object(&entry.id);
    match store.len_of(&name).await? {
        Some(len) if len == entry.len => Ok(()),
        found => Err(BuildError::internal(format!(
            "`{}/{name}` should be {} bytes long before it is published, but {}",
            store.uri(),
            entry.len,
            found.map_or("is not there".to_string(), |len| format!("has {len}")),
        ))),
    }
}

/// Twice as long each time, give or take half, so that writers that collided do not again.
fn pause(num_attempts: u32) -> Duration {
    let longest = (FIRST_PAUSE_MS << num_attempts.min(16)).min(MAX_PAUSE_MS);
    // Each `RandomState` has keys of its own, which is all the randomness that jitter needs.
    let random = RandomState::new().hash_one(num_attempts);
    Duration::from_millis(longest / 2 + random % (longest / 2).max(1))
}
