//! Capacity of an index: builders only write manifests that searches can read by default.

use super::create::{LoadedManifest, config_of, load, load_held};
use super::sources::SourcesReader;
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::storage::IndexStore;
use canter_doc_mapper::IndexConfig;
use canter_split_format::{MAX_MANIFEST_BYTES, SourceEntries, SourceId, SourceProgress, Sources};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Advice for an index that is full.
pub(crate) const ADVICE: &str =
    "list fewer tag_fields, or divide the documents among several indexes";

/// Maximum length of a manifest that is held in memory while documents are indexed.
const MAX_HELD_BYTES: u64 = 4 << 20;
/// Maximum age of a manifest that is assumed to be the newest. An older one is read again before it
/// is replaced, which is cheaper than a failed swap.
const MAX_AGE: Duration = Duration::from_secs(10);

/// Checks before an ingest reads any input that the store can be written to safely and that the
/// index has room for another split.
///
/// # Errors
/// `Invalid` for a store or an index that cannot be written to, `Limit` for an index that is full,
/// and the errors of [`IndexStore::load_config`].
pub(crate) fn prepare(store: &IndexStore) -> Result<Prepared, BuildError> {
    blocking::run(async {
        let loaded = match (load_held(store).await, store.new_config()) {
            (Ok(loaded), _) => loaded,
            (Err(error), Some(config)) if error.kind() == ErrorKind::Invalid => {
                store.ensure_conditional_writes().await?;
                return Ok(Prepared {
                    config: config.clone(),
                    sources: Sources::default(),
                    reader: Mutex::default(),
                    read_at: Instant::now(),
                    manifest: None,
                });
            }
            (Err(error), _) => return Err(error),
        };
        let config = config_of(store, &loaded.file)?;
        check_capacity(store, loaded.len)?;
        store.ensure_conditional_writes_of(&loaded.version).await?;
        Ok(Prepared {
            config,
            sources: loaded.file.sources.clone(),
            reader: Mutex::default(),
            read_at: Instant::now(),
            manifest: Some(loaded).filter(|loaded| loaded.len <= MAX_HELD_BYTES),
        })
    })
}

/// State of the index at the start of an ingest.
pub(crate) struct Prepared {
    pub(crate) config: IndexConfig,
    sources: Sources,
    reader: Mutex<SourcesReader>,
    read_at: Instant,
    manifest: Option<LoadedManifest>,
}

impl Prepared {
    /// Returns the manifest if it was read a moment ago. Publishing from an old manifest is safe:
    /// if another writer was faster, the swap fails and the manifest is read again.
    pub(crate) fn take_manifest(&mut self) -> Option<LoadedManifest> {
        let manifest = self.manifest.take();
        manifest.filter(|_| self.read_at.elapsed() < MAX_AGE)
    }

    /// Returns the progress of a source at the start of the ingest.
    ///
    /// # Errors
    /// `Data` for a missing or damaged part of the ledger, `Unavailable` if storage does not
    /// answer.
    pub(crate) fn find_source(
        &self,
        store: &IndexStore,
        source: SourceId,
    ) -> Result<Option<SourceProgress>, BuildError> {
        if self.sources.is_empty() {
            return Ok(None);
        }
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = &mut *reader;
        blocking::run(async {
            match reader.find(store, &self.sources, source).await {
                // The ledger may have been rewritten since, and its old parts deleted.
                Err(error) if error.kind() == ErrorKind::Data => {
                    let now = load(store).await?.file.sources;
                    reader.find(store, &now, source).await
                }
                found => found,
            }
        })
    }

    /// Returns the sources whose numbers are in a range, and how far they were ingested then.
    ///
    /// # Errors
    /// As [`Prepared::find_source`].
    pub(crate) fn sources_within(
        &self,
        store: &IndexStore,
        range: &RangeInclusive<u128>,
    ) -> Result<SourceEntries, BuildError> {
        if self.sources.is_empty() {
            return Ok(SourceEntries::new());
        }
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = &mut *reader;
        blocking::run(async {
            match reader.within(store, &self.sources, range).await {
                // A ledger that was rewritten since, and whose old parts are gone.
                Err(error) if error.kind() == ErrorKind::Data => {
                    let now = load(store).await?.file.sources;
                    reader.within(store, &now, range).await
                }
                found => found,
            }
        })
    }

    /// Returns the sources that had an entry at the start of the ingest.
    ///
    /// # Errors
    /// Same as for [`Prepared::find_source`].
    pub(crate) fn known_sources(
        &self,
        store: &IndexStore,
        ids: &BTreeSet<u128>,
    ) -> Result<BTreeSet<u128>, BuildError> {
        if self.sources.is_empty() || ids.is_empty() {
            return Ok(BTreeSet::new());
        }
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = &mut *reader;
        blocking::run(async {
            match reader.known(store, &self.sources, ids).await {
                Err(error) if error.kind() == ErrorKind::Data => {
                    let now = load(store).await?.file.sources;
                    reader.known(store, &now, ids).await
                }
                known => known,
            }
        })
    }
}

/// Refuses a manifest that searches would refuse.
pub(super) fn check_capacity(
    store: &IndexStore,
    num_manifest_bytes: u64,
) -> Result<(), BuildError> {
    if num_manifest_bytes <= MAX_MANIFEST_BYTES {
        return Ok(());
    }
    Err(BuildError::limit(format!(
        "the index at `{}` would have a manifest of {num_manifest_bytes} bytes, more than the \
         {MAX_MANIFEST_BYTES} that a search reads: nothing was published; {ADVICE}",
        store.name()
    )))
}

#[cfg(test)]
mod tests;
