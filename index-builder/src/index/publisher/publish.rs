//! Addition of splits to the manifest: read, add, swap, and repeat after a conflict.

use super::capacity::check_capacity;
use super::create::{
    LoadedManifest, MAX_ATTEMPTS, config_of, has_id_field, is_outdated, load, manifest_bytes, pause,
};
use super::delete::{IdChanges, NewKeys, replace_documents, write_digests};
use super::pages::{LedgerReader, move_overflow};
use super::sources::{Advance, SourceStep, SourcesReader, advance};
use super::spare::spare_what_is_referenced;
use super::update::may_become;
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::storage::{IndexStore, Swap};
use canter_doc_mapper::IndexConfig;
use canter_split_format::{
    MANIFEST_OBJECT, ManifestFile, SourceId, SplitEntry, SplitNumber, split_number, split_object,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Uploaded split that is not in a manifest yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSplit {
    /// Manifest entry of the split.
    pub entry: SplitEntry,
    /// Bytes of its head, to be included in the manifest.
    #[serde(with = "in_base64")]
    pub head: Vec<u8>,
    /// Number of columns whose locations are not in the head.
    pub num_columns_outside_head: u64,
}

/// Serialization of bytes as base64 text.
mod in_base64 {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map_err(de::Error::custom)
    }
}

/// Result of a publication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishOutcome {
    /// Number of splits that this call made live.
    pub num_published_splits: u64,
    /// Number of splits that were already live, because the same sources had been ingested with the
    /// same config before.
    pub num_known_splits: u64,
    /// Number of documents in the splits that this call made live.
    pub num_published_docs: u64,
    /// Number of documents in the splits that were already live.
    pub num_known_docs: u64,
    /// Number of attempted swaps, more than one if others published at the same time.
    pub num_attempts: u32,
    /// Number of live splits.
    pub num_live_splits: u64,
    /// Length of the new manifest's object in bytes.
    pub num_manifest_bytes: u64,
    /// True if the new manifest could not be read again, so that it is only confirmed by the
    /// store's answer to the write.
    pub is_unconfirmed: bool,
}

impl IndexStore {
    /// Makes uploaded `splits` live, all at once.
    ///
    /// # Errors
    /// `Internal` if an object is missing or has another length; `Unavailable` if storage does not
    /// answer or conflicts persist. In each case, the old manifest stays.
    pub fn publish(&self, splits: &[NewSplit]) -> Result<PublishOutcome, BuildError> {
        let new = NewDocuments {
            splits,
            ..NewDocuments::default()
        };
        blocking::run(publish_from(None, self, None, &new))
    }
}

/// Publishes splits of these sources; see [`publish_from`].
#[cfg(test)]
pub(crate) async fn publish(
    store: &IndexStore,
    index_config: Option<&IndexConfig>,
    splits: &[NewSplit],
    sources: &[SourceStep],
) -> Result<PublishOutcome, BuildError> {
    let new = NewDocuments {
        splits,
        sources,
        changes: None,
    };
    publish_from(None, store, index_config, &new).await
}

/// What is published together.
#[derive(Clone, Copy, Default)]
pub(crate) struct NewDocuments<'a> {
    /// Uploaded splits.
    pub(crate) splits: &'a [NewSplit],
    /// Progress of the splits' sources, in the order of their arrival.
    pub(crate) sources: &'a [SourceStep],
    /// Changes of other documents.
    pub(crate) changes: Option<&'a IdChanges>,
}

/// Publishes splits; see [`IndexStore::publish`]. `read` is the manifest if it was read a moment
/// ago, `index_config` is the config with which the splits were built, if it must be compared with
/// the manifest's. In an index with an `id_field`, new documents replace those with the same ids.
///
/// ```text
///   GET  manifest          unless `read`; its version will be replaced
///   PUT  write-probe/…     unless the store was probed before: does it respect conditions?
///   GET  each split        its first byte and its length: does it exist completely?
///   PUT  manifest          if it still has the version that was read
///   GET  manifest          is the result there?
/// ```
///
/// The splits are checked after the manifest was read, even if that was long before: a garbage
/// collection that removes one of them changes the manifest first, and then the swap fails.
pub(crate) async fn publish_from(
    mut read: Option<LoadedManifest>,
    store: &IndexStore,
    index_config: Option<&IndexConfig>,
    documents: &NewDocuments<'_>,
) -> Result<PublishOutcome, BuildError> {
    let NewDocuments {
        splits,
        sources,
        changes,
    } = *documents;
    let ids: BTreeSet<SplitNumber> = splits.iter().filter_map(number_of).collect();
    let mut ledger = LedgerReader::default();
    let mut sources_reader = SourcesReader::default();
    let mut published_before = None;
    for num_attempts in 1..=MAX_ATTEMPTS {
        let mut loaded = match read.take() {
            Some(loaded) => loaded,
            None => load(store).await?,
        };
        let version = loaded.version.clone();
        store.ensure_conditional_writes_of(&version).await?;
        check_config(store, index_config, &loaded.file)?;
        let outcome = async {
            let mut known = ledger.known(store, &loaded.file, &ids).await?;
            let reader = &mut sources_reader;
            let found = advance(store, &mut loaded.file, sources, reader).await?;
            if found == Advance::Done {
                known.clone_from(&ids);
            }
            // Lines without documents alone are not worth a write.
            let is_worth_it = !splits.is_empty()
                || sources.iter().any(|step| step.marks_whole)
                || changes.is_some_and(|changes| !changes.removed.is_empty());
            let is_new = found == Advance::Advanced && !sources.is_empty() && is_worth_it;
            let before = &mut published_before;
            publish_once(
                store,
                documents,
                loaded,
                (known, is_new),
                num_attempts,
                before,
            )
            .await
        };
        let outcome = outcome.await;
        match outcome {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {}
            Err(error) if is_outdated(store, &error, &version).await? => {}
            Err(error) => return Err(error),
        }
        tokio::time::sleep(pause(num_attempts)).await;
    }
    Err(BuildError::unavailable(format!(
        "others changed the manifest of `{}` during each of {MAX_ATTEMPTS} attempts: run the same \
         ingest again (its splits are uploaded and will be found)",
        store.name()
    )))
}

/// Makes one attempt. Returns `None` if another writer was faster.
async fn publish_once(
    store: &IndexStore,
    documents: &NewDocuments<'_>,
    loaded: LoadedManifest,
    (mut known, has_new_sources): (BTreeSet<SplitNumber>, bool),
    num_attempts: u32,
    published_before: &mut Option<(u64, u64)>,
) -> Result<Option<PublishOutcome>, BuildError> {
    let (splits, mut manifest) = (documents.splits, loaded.file);
    let (new, known): (Vec<&NewSplit>, Vec<&NewSplit>) = splits
        .iter()
        .partition(|split| number_of(split).is_none_or(|id| known.insert(id)));
    // After a lost answer, a successful swap looks like a conflict, so the known splits are those
    // that the first attempt found.
    let known_docs = known.iter().map(|split| split.entry.num_docs);
    let (num_known_before, num_known_docs) =
        *published_before.get_or_insert((known.len() as u64, known_docs.sum::<u64>()));
    let num_docs: u64 = splits.iter().map(|split| split.entry.num_docs).sum();
    let outcome = PublishOutcome {
        num_published_splits: splits.len() as u64 - num_known_before,
        num_known_splits: num_known_before,
        num_published_docs: num_docs - num_known_docs,
        num_known_docs,
        num_attempts,
        num_live_splits: manifest.num_splits(),
        num_manifest_bytes: loaded.len,
        is_unconfirmed: false,
    };
    if new.is_empty() && !has_new_sources {
        return Ok(Some(outcome));
    }
    // This comes after the manifest was read: a garbage collection that has removed any of these
    // objects since would have changed the manifest.
    for split in &new {
        check_uploaded(store, &split.entry).await?;
    }
    let new_ids: Vec<&str> = new.iter().map(|split| split.entry.id.as_str()).collect();
    let order = documents.sources.iter().map(|step| step.source);
    let order: Vec<SourceId> = order.collect();
    let new = new
        .iter()
        .map(|split| (split.entry.clone(), split.head.as_slice()));
    let mut new: Vec<NewKeys<'_>> = new.collect();
    if has_id_field(&manifest) {
        let changes = documents.changes;
        replace_documents(store, &mut manifest, &mut new, &order, changes).await?;
    }
    for (entry, head) in new {
        match entry.num_live_docs() {
            // A later split has newer documents with all of its ids.
            0 => manifest.ledger.recent.extend(split_number(&entry.id)),
            _ => manifest.add_split(entry, head.to_vec()),
        }
    }
    write_digests(store, &mut manifest).await?;
    move_overflow(store, &mut manifest).await?;
    spare_what_is_referenced(store, &mut manifest, new_ids)?;
    let bytes = manifest_bytes(&manifest)?;
    let outcome = PublishOutcome {
        num_live_splits: manifest.num_splits(),
        num_manifest_bytes: bytes.len() as u64,
        ..outcome
    };
    check_capacity(store, outcome.num_manifest_bytes)?;
    let swap = store.replace(MANIFEST_OBJECT, bytes, &loaded.version);
    match swap.await? {
        Swap::Done => confirm(store, splits, outcome).await.map(Some),
        Swap::Conflict => Ok(None),
    }
}

fn check_config(
    store: &IndexStore,
    index_config: Option<&IndexConfig>,
    manifest: &ManifestFile,
) -> Result<(), BuildError> {
    let Some(config) = index_config else {
        return Ok(());
    };
    // A config update is allowed while splits are being built.
    match may_become(config, &config_of(store, manifest)?) {
        true => Ok(()),
        false => Err(BuildError::invalid(format!(
            "the index at `{}` was made anew with another config in the meantime: ingest again",
            store.name()
        ))),
    }
}

/// Returns the split's number. Ids in tests are not numbers, and are never known.
fn number_of(split: &NewSplit) -> Option<SplitNumber> {
    split_number(&split.entry.id)
}

/// Reads the manifest again, which must have the new splits, in this version or a later one.
async fn confirm(
    store: &IndexStore,
    splits: &[NewSplit],
    outcome: PublishOutcome,
) -> Result<PublishOutcome, BuildError> {
    let found = match load(store).await {
        Ok(found) => found.file,
        // The store has confirmed the write, and the probe showed that it respects conditions.
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            return Ok(PublishOutcome {
                is_unconfirmed: true,
                ..outcome
            });
        }
        Err(error) => return Err(error),
    };
    let ids: BTreeSet<SplitNumber> = splits.iter().filter_map(number_of).collect();
    let known = LedgerReader::default().known(store, &found, &ids).await?;
    match ids.len() - known.len() {
        0 => Ok(outcome),
        num_lost => Err(BuildError::unavailable(format!(
            "{num_lost} of the {} splits that were just published to `{}` are not in its manifest: \
             another writer replaced it at the same time; let one write at a time, and run the same \
             ingest again (its splits are uploaded and will be found)",
            splits.len(),
            store.name()
        ))),
    }
}

async fn check_uploaded(store: &IndexStore, entry: &SplitEntry) -> Result<(), BuildError> {
    match is_there(store, entry).await? {
        true => Ok(()),
        false => Err(BuildError::unavailable(format!(
            "`{}/{}` is not there any more, and so it is not published: run the same again (a garbage \
             collection whose grace period is shorter than an ingest removes what it has uploaded)",
            store.name(),
            split_object(&entry.id)
        ))),
    }
}

/// Returns whether a split's object is in the store.
///
/// # Errors
/// `Internal` if it has another length, `Unavailable` if storage does not answer.
pub(super) async fn is_there(store: &IndexStore, entry: &SplitEntry) -> Result<bool, BuildError> {
    let name = split_object(&entry.id);
    match store.len_of(&name).await? {
        None => Ok(false),
        Some(len) if len == entry.len => Ok(true),
        Some(found) => Err(BuildError::internal(format!(
            "`{}/{name}` should be {} bytes long before it is published, but has {found}",
            store.name(),
            entry.len,
        ))),
    }
}
