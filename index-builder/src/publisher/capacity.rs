//! How much more an index takes: what searches read by default is what builders write.

use super::create::{LoadedManifest, config_of, load};
use super::sources::SourcesReader;
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::storage::IndexStore;
use canter_doc_mapper::IndexConfig;
use canter_split_format::{MAX_MANIFEST_BYTES, SourceId, SourceProgress, Sources};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What to do about an index that is full.
pub(crate) const ADVICE: &str =
    "list fewer tag_fields, or divide the documents among several indexes";

/// A longer manifest is not held in memory while documents are indexed.
const MAX_HELD_BYTES: u64 = 4 << 20;
/// How long a manifest is taken to be the newest. What is older is read again before it is replaced, which is cheaper
/// than a swap that comes to nothing.
const MAX_AGE: Duration = Duration::from_secs(10);

/// What an ingest looks at before it reads any input: whether the store can be written to safely and
/// the index takes another split.
///
/// # Errors
/// `Invalid` for a store or an index that cannot be written to, `Limit` for one that is full, and as
/// [`IndexStore::load_config`].
pub(crate) fn prepare(store: &IndexStore) -> Result<Prepared, BuildError> {
    blocking::run(async {
        let loaded = load(store).await?;
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

/// What an ingest knows of the index that it began with.
pub(crate) struct Prepared {
    pub(crate) config: IndexConfig,
    sources: Sources,
    reader: Mutex<SourcesReader>,
    read_at: Instant,
    manifest: Option<LoadedManifest>,
}

impl Prepared {
    /// The manifest that was read, if that was a moment ago. To publish from it is safe however old it is: the swap
    /// fails if another writer was faster, and then the manifest is read again.
    pub(crate) fn take_manifest(&mut self) -> Option<LoadedManifest> {
        let manifest = self.manifest.take();
        manifest.filter(|_| self.read_at.elapsed() < MAX_AGE)
    }

    /// How far a source was ingested then.
    ///
    /// # Errors
    /// `Data` for a part of the ledger that is missing or damaged; `Unavailable` if storage does not answer.
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
                // A ledger that was rewritten since, and whose old parts are gone.
                Err(error) if error.kind() == ErrorKind::Data => {
                    let now = load(store).await?.file.sources;
                    reader.find(store, &now, source).await
                }
                found => found,
            }
        })
    }

    /// Which of these sources had an entry then.
    ///
    /// # Errors
    /// As [`Prepared::find_source`].
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
