//! Creation, lookup and deletion of indexes under a root.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use canter_doc_mapper::IndexConfig;

use super::file::{CatalogEntry, CatalogFile, IndexSettings, Vacancy};
use super::swap::{Verdict, change, read};
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::storage::{IndexFolder, IndexStore};

/// Number of successive folders with failed removals that indicates a problem of the store rather
/// than of these folders.
const MAX_FAILED_IN_A_ROW: u64 = 3;

/// Indexes under a root.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(super) store: IndexStore,
    root: String,
}

/// Description of an index to create.
#[derive(Clone, Copy, Debug)]
pub struct NewIndex<'a> {
    /// Name, valid according to [`crate::check_index_name`].
    pub name: &'a str,
    /// Name of its folder: 32 lower-case hexadecimal digits that no index has used before.
    pub id: &'a str,
    /// Config of the index.
    pub config: &'a IndexConfig,
    /// True if the index is requested as a data stream.
    pub is_data_stream: bool,
    /// Settings that its entry keeps, if there are any.
    pub settings: Option<&'a IndexSettings>,
    /// True if it may replace an index of this name, which is deleted in the same step.
    pub replaces: bool,
    /// Maximum number of indexes, including the new one.
    pub max_indexes: usize,
    /// Current time in milliseconds since 1970.
    pub now_ms: u64,
}

/// Outcome of a creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Creation {
    /// The index was created.
    Created {
        /// Location of the new index.
        entry: CatalogEntry,
        /// Location of the replaced index. Its objects still exist: see
        /// [`Catalog::remove_objects`].
        replaced: Option<CatalogEntry>,
    },
    /// An index of this name already exists.
    Exists,
    /// The maximum number of indexes exists.
    Full,
}

impl Catalog {
    /// Returns the catalog under `root`, a URI in the form of [`IndexStore::open`], and creates a
    /// missing local folder. Does not read anything yet.
    ///
    /// # Errors
    /// `Invalid` for a URI that does not name a writable store.
    pub fn open(root: &str) -> Result<Catalog, BuildError> {
        Ok(Self {
            // Messages are shown to users of the indexes, who need not know the location of the
            // root.
            store: IndexStore::open_or_make(root)?.called(""),
            root: root.trim_end_matches('/').to_owned(),
        })
    }

    /// Returns a catalog over a store that a test provides.
    #[cfg(test)]
    pub(super) fn over(store: IndexStore) -> Catalog {
        let root = store.uri().to_owned();
        Self { store, root }
    }

    /// Returns all indexes, keyed by name.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer, `Data` if the list of indexes is damaged.
    pub fn indexes(&self) -> Result<BTreeMap<String, CatalogEntry>, BuildError> {
        let (file, _) = blocking::run(read::<CatalogFile>(&self.store))?;
        Ok(file.indexes)
    }

    /// Returns the URI of the root without credentials.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.store.uri()
    }

    /// Returns the URI of an index.
    #[must_use]
    pub fn uri_of(&self, entry: &CatalogEntry) -> String {
        format!("{}/{}", self.root, entry.folder)
    }

    /// Returns the store of an index, which shares its client with all others of this root.
    ///
    /// # Errors
    /// `Unavailable` if its folder cannot be created.
    pub fn store_of(&self, entry: &CatalogEntry) -> Result<IndexStore, BuildError> {
        self.store.below(&entry.folder)
    }

    /// Creates an index. If several callers do so at once, one of them succeeds, and the others get
    /// [`Creation::Exists`].
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; the index may or may not have been created.
    /// `Limit` if too many deleted indexes wait for removal. `Invalid` for a store that ignores
    /// conditions on writes, and for a name or id that is not valid in a folder name.
    pub fn create(&self, new: &NewIndex<'_>) -> Result<Creation, BuildError> {
        let folder = IndexFolder::new(new.name, new.id)?;
        if let Some(refusal) = blocking::run(self.reserve(new, &folder))? {
            return Ok(refusal);
        }
        self.store.below(&folder)?.create_manifest(new.config)?;
        let creation = blocking::run(self.settle(new, &folder))?;
        if !matches!(creation, Creation::Created { .. }) {
            // No other writer uses this folder, and a sweep removes what cannot be removed now.
            let _ = blocking::run(self.store.remove_index(&folder));
        }
        Ok(creation)
    }

    /// Lists the folder as reserved, or returns the reason why the index cannot be created.
    pub(super) async fn reserve(
        &self,
        new: &NewIndex<'_>,
        folder: &IndexFolder,
    ) -> Result<Option<Creation>, BuildError> {
        change(&self.store, |file: &mut CatalogFile| {
            if let Some(refusal) = refusal(file, new) {
                return Ok(Verdict::Leave(Some(refusal)));
            }
            file.vacate(folder, new.now_ms, Vacancy::Reserved)?;
            Ok(Verdict::Write(None))
        })
        .await
    }

    /// Turns a reserved folder with a manifest into an index, unless that has already happened.
    pub(super) async fn settle(
        &self,
        new: &NewIndex<'_>,
        folder: &IndexFolder,
    ) -> Result<Creation, BuildError> {
        let entry = CatalogEntry {
            folder: folder.clone(),
            created_at_ms: new.now_ms,
            is_data_stream: new.is_data_stream,
            settings: new.settings.cloned().unwrap_or_default(),
        };
        // Index that the last attempted swap replaces. After a lost answer, a successful swap looks
        // like a conflict.
        let mut attempted: Option<Option<CatalogEntry>> = None;
        change(&self.store, |file: &mut CatalogFile| {
            let is_there = is_in(file.indexes.get(new.name), folder);
            let vacancy = file.vacancy_of(folder);
            // If another caller has deleted the index since, it was created nevertheless and is not
            // created again.
            let is_done = is_there || vacancy == Some(Vacancy::Deleted);
            if let Some(replaced) = attempted.clone().filter(|_| is_done) {
                let entry = entry.clone();
                return Ok(Verdict::Leave(Creation::Created { entry, replaced }));
            }
            if let Some(refusal) = refusal(file, new) {
                return Ok(Verdict::Leave(refusal));
            }
            if vacancy != Some(Vacancy::Reserved) {
                return Err(BuildError::unavailable(format!(
                    "making the index {:?} took so long that it was given up: try again",
                    new.name
                )));
            }
            file.forget(folder);
            let replaced = file.indexes.insert(new.name.to_owned(), entry.clone());
            if let Some(replaced) = &replaced {
                file.vacate(&replaced.folder, new.now_ms, Vacancy::Deleted)?;
            }
            attempted = Some(replaced.clone());
            let entry = entry.clone();
            Ok(Verdict::Write(Creation::Created { entry, replaced }))
        })
        .await
    }

    /// Edits the settings of an index in one swap. If `edit` returns an error, they stay unchanged, and its error is the
    /// inner result. Returns `false` if the index in this folder is gone.
    ///
    /// # Errors
    /// Same as for [`Catalog::create`].
    pub fn change_settings<E: Send>(
        &self,
        of: &CatalogEntry,
        edit: impl Fn(&mut IndexSettings) -> Result<(), E> + Send + Sync,
    ) -> Result<Result<bool, E>, BuildError> {
        blocking::run(change(&self.store, |file: &mut CatalogFile| {
            let entry = file.indexes.get_mut(of.folder.name());
            let Some(entry) = entry.filter(|entry| entry.folder == of.folder) else {
                return Ok(Verdict::Leave(Ok(false)));
            };
            let before = entry.settings.clone();
            Ok(match edit(&mut entry.settings) {
                Ok(()) if entry.settings == before => Verdict::Leave(Ok(true)),
                Ok(()) => Verdict::Write(Ok(true)),
                Err(refusal) => Verdict::Leave(Err(refusal)),
            })
        }))
    }

    /// Deletes an index from the list, so that it can no longer be found. Its objects still exist:
    /// see [`Catalog::remove_objects`]. Returns `None` if there is no index of this name. An index
    /// that has taken the name in the meantime stays.
    ///
    /// # Errors
    /// Same as for [`Catalog::create`].
    pub fn remove(&self, name: &str, now_ms: u64) -> Result<Option<CatalogEntry>, BuildError> {
        let mut attempted: Option<CatalogEntry> = None;
        blocking::run(change(&self.store, |file: &mut CatalogFile| {
            let there = file.indexes.get(name).cloned();
            let entry = match (&attempted, there) {
                (Some(attempted), there) if !is_in(there.as_ref(), &attempted.folder) => {
                    // After a lost answer, a successful swap looks like a conflict. If another
                    // caller has deleted the index, the result is the same.
                    let is_deleted = file.vacancy_of(&attempted.folder).is_some();
                    let done = is_deleted.then(|| attempted.clone());
                    return Ok(Verdict::Leave(done));
                }
                (_, None) => return Ok(Verdict::Leave(None)),
                (_, Some(entry)) => entry,
            };
            file.indexes.remove(name);
            file.leave_aliases(name);
            file.vacate(&entry.folder, now_ms, Vacancy::Deleted)?;
            attempted = Some(entry.clone());
            Ok(Verdict::Write(Some(entry)))
        }))
    }

    /// Removes the objects of a deleted index, its manifest first, and returns their names and
    /// lengths. A later [`Catalog::sweep`] removes objects that other writers are still adding.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; a sweep continues the removal. `Data` if the
    /// folder has objects that do not belong to an index: then only the manifest is removed.
    pub fn remove_objects(&self, entry: &CatalogEntry) -> Result<Vec<(String, u64)>, BuildError> {
        blocking::run(self.store.remove_index(&entry.folder))
    }

    /// Removes the rest of indexes that were deleted or left incomplete at least `grace_ms` ago,
    /// and their entries in the list. Returns their number. If one folder cannot be removed, the
    /// others are removed nevertheless.
    ///
    /// # Errors
    /// Same as for [`Catalog::remove_objects`]: the error of the first folder that could not be
    /// removed, which stays in the list.
    pub fn sweep(&self, now_ms: u64, grace_ms: u64) -> Result<u64, BuildError> {
        let before_ms = now_ms.saturating_sub(grace_ms);
        blocking::run(async {
            let mut condemned = self.condemn(before_ms).await?;
            // The order is random, so that folders that can never be removed do not always come
            // first.
            let random = RandomState::new();
            condemned.sort_by_cached_key(|folder| random.hash_one(folder));
            let (mut removed, mut first_failure, mut num_failed) = (Vec::new(), None, 0);
            for folder in condemned {
                match self.store.remove_index(&folder).await {
                    Ok(_) => {
                        removed.push(folder);
                        num_failed = 0;
                    }
                    Err(error) => {
                        // A folder with foreign objects does not indicate a problem of the store.
                        num_failed += u64::from(error.kind() != ErrorKind::Data);
                        first_failure.get_or_insert(error);
                    }
                }
                if num_failed == MAX_FAILED_IN_A_ROW {
                    break;
                }
            }
            let num_removed = self.forget(&removed).await?;
            first_failure.map_or(Ok(num_removed), Err)
        })
    }

    /// Condemns folders and returns all condemned ones. The objects of a folder are only removed
    /// when it can no longer become an index.
    pub(super) async fn condemn(&self, before_ms: u64) -> Result<Vec<IndexFolder>, BuildError> {
        // There is usually nothing to do, and this takes one read.
        let (mut file, _) = read::<CatalogFile>(&self.store).await?;
        if file.condemn(before_ms).0.is_empty() {
            return Ok(Vec::new());
        }
        change(&self.store, |file: &mut CatalogFile| {
            let (condemned, is_news) = file.condemn(before_ms);
            Ok(match is_news {
                true => Verdict::Write(condemned),
                false => Verdict::Leave(condemned),
            })
        })
        .await
    }

    /// Removes folders from the list, and returns their number. Another sweep may have done so
    /// already.
    async fn forget(&self, removed: &[IndexFolder]) -> Result<u64, BuildError> {
        if removed.is_empty() {
            return Ok(0);
        }
        change(&self.store, |file: &mut CatalogFile| {
            let num_before = file.vacant.len();
            removed.iter().for_each(|folder| file.forget(folder));
            let num_removed = removed.len() as u64;
            Ok(match file.vacant.len() < num_before {
                true => Verdict::Write(num_removed),
                false => Verdict::Leave(num_removed),
            })
        })
        .await
    }
}

/// Returns whether an index is the one in this folder. Its settings may have changed.
fn is_in(entry: Option<&CatalogEntry>, folder: &IndexFolder) -> bool {
    entry.is_some_and(|entry| entry.folder == *folder)
}

/// Returns the reason why an index cannot be created, if there is one.
fn refusal(file: &CatalogFile, new: &NewIndex<'_>) -> Option<Creation> {
    match file.indexes.contains_key(new.name) || file.aliases.contains_key(new.name) {
        true if new.replaces && !file.aliases.contains_key(new.name) => None,
        true => Some(Creation::Exists),
        false => (file.indexes.len() >= new.max_indexes).then_some(Creation::Full),
    }
}
