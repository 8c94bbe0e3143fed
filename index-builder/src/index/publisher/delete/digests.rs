//! Digests of ids: which splits' filters are written together, so that a writer that has seen none of them reads few objects.
//!
//! ```text
//!   splits in no digest ──at least MIN_SPLITS──▶ a new digest, which takes in those before it
//!                                                that are not much longer
//! ```
//!
//! As with the levels of a log-structured tree, each id is written once for each level, and the number of digests grows with
//! the logarithm of the number of ids.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use canter_split_format::{
    KeyDigestRef, ManifestFile, ObjectKind, ObjectName, SplitEntry, SplitKeys, read_key_digest,
    write_key_digest,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::ids::{live_entries, read};
use crate::error::BuildError;
use crate::index::publisher::create::has_id_field;
use crate::index::publisher::pages::PageEntries;
use crate::index::publisher::spare::spare;
use crate::index::storage::{HeldKeys, HeldSplit, IndexStore};

/// Number of splits in no digest from which they are written into one.
const MIN_SPLITS: usize = 4;
/// A digest is rewritten with newer splits unless it has this many times their ids.
const MIN_GROWTH: u64 = 3;
/// Maximum number of digests.
const MAX_DIGESTS: usize = 6;
/// Number of concurrent reads.
const READS_AT_ONCE: usize = 16;

/// Reads the digests of a manifest that may have splits which are not held, and holds these.
///
/// # Errors
/// `Data` for a damaged or missing object, `Unavailable` if storage does not answer.
pub(super) async fn read_digests(
    store: &IndexStore,
    file: &ManifestFile,
    entries: &[SplitEntry],
) -> Result<(), BuildError> {
    let missing = entries
        .iter()
        .filter(|entry| store.held_split(&entry.id).is_none());
    let missing: BTreeSet<&str> = missing.map(|entry| entry.id.as_str()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let unread = file.manifest.key_digests.iter();
    let unread = unread.filter(|digest| store.held_digest(&digest.id).is_none());
    let reading = stream::iter(unread.cloned().collect::<Vec<KeyDigestRef>>())
        .map(|digest| async move {
            let bytes = read(store, &digest.object(), 0..digest.len).await?;
            Ok::<_, BuildError>((digest, bytes))
        })
        .buffered(READS_AT_ONCE);
    let read: Vec<(KeyDigestRef, Bytes)> = reading.try_collect().await?;
    for (digest, bytes) in read {
        let splits = read_key_digest(&bytes).map_err(|error| {
            let object = store.shown(&digest.object());
            BuildError::data(format!(
                "`{object}`: {error}: restore it from a copy of the index"
            ))
        })?;
        let names = splits.iter().map(|split| split.split_id.clone()).collect();
        for split in splits {
            if missing.contains(split.split_id.as_str()) {
                let keys = split.keys.map(|(filter, file)| HeldKeys { filter, file });
                let held = HeldSplit {
                    keys,
                    identities: split.identities,
                };
                store.hold_split(&split.split_id, Arc::new(held));
            }
        }
        store.hold_digest(&digest.id, names);
    }
    Ok(())
}

/// Writes the splits of a manifest that are in no digest into one, if there are enough of them and what it takes is held: a
/// publication without ids has looked nothing up, and leaves it to the next one.
///
/// # Errors
/// `Unavailable` if storage cannot be written, or if a digest is being deleted.
pub(in crate::index::publisher) async fn write_digests(
    store: &IndexStore,
    file: &mut ManifestFile,
) -> Result<(), BuildError> {
    if !has_id_field(file) {
        return Ok(());
    }
    let mut digests = Vec::new();
    for digest in &file.manifest.key_digests {
        let Some(splits) = store.held_digest(&digest.id) else {
            return Ok(());
        };
        digests.push((digest.clone(), splits));
    }
    let live = live_entries(store, file, &mut PageEntries::default()).await?;
    let live: BTreeSet<&str> = live.iter().map(|entry| entry.id.as_str()).collect();
    let num_keys_of = |id: &str| {
        let split = store.held_split(id)?;
        Some(split.keys.as_ref().map_or(0, |keys| keys.filter.num_keys()))
    };
    let num_live_keys = |splits: &BTreeSet<String>| -> u64 {
        let live = splits.iter().filter(|id| live.contains(id.as_str()));
        live.filter_map(|id| num_keys_of(id)).sum()
    };
    // Merges leave digests of splits that are gone.
    digests.retain(|(digest, splits)| {
        let is_any_live = splits.iter().any(|id| live.contains(id.as_str()));
        is_any_live && num_live_keys(splits) >= digest.num_keys / 2
    });
    let is_in_none = |id: &&&str| !digests.iter().any(|(_, splits)| splits.contains(**id));
    let mut new: Vec<&str> = live.iter().filter(is_in_none).copied().collect();
    if new.len() >= MIN_SPLITS {
        if new.iter().any(|id| num_keys_of(id).is_none()) {
            return Ok(());
        }
        let mut num_keys: u64 = new.iter().filter_map(|id| num_keys_of(id)).sum();
        while let Some((last, _)) = digests.last()
            && (last.num_keys <= num_keys.saturating_mul(MIN_GROWTH)
                || digests.len() >= MAX_DIGESTS)
            && let Some((last, splits)) = digests.pop()
        {
            num_keys = num_keys.saturating_add(last.num_keys);
            let left = live.iter().filter(|id| splits.contains(**id));
            new.extend(left.copied());
        }
        digests.push(write(store, file, &new).await?);
    }
    file.manifest.key_digests = digests.into_iter().map(|(digest, _)| digest).collect();
    Ok(())
}

/// Uploads a digest of splits that are held, and holds it.
async fn write(
    store: &IndexStore,
    file: &mut ManifestFile,
    split_ids: &[&str],
) -> Result<(KeyDigestRef, Arc<BTreeSet<String>>), BuildError> {
    let splits = split_ids.iter().filter_map(|id| {
        let split = store.held_split(id)?;
        let keys = split.keys.as_ref();
        Some(SplitKeys {
            split_id: (*id).to_owned(),
            keys: keys.map(|keys| (keys.filter.clone(), keys.file.clone())),
            identities: split.identities.clone(),
        })
    });
    let splits: Vec<SplitKeys> = splits.collect();
    let (digest, bytes) = write_key_digest(&splits)
        .map_err(|error| BuildError::internal("a digest of ids").caused_by(error))?;
    let name = ObjectName::new(ObjectKind::KeyDigest, &digest.id);
    spare(store, file, vec![name])?;
    store
        .put_immutable(&digest.object(), Bytes::from(bytes))
        .await?;
    let names: BTreeSet<String> = splits.into_iter().map(|split| split.split_id).collect();
    store.hold_digest(&digest.id, names.clone());
    Ok((digest, Arc::new(names)))
}
