//! Creating, finding and deleting indexes under a root.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use canter_doc_mapper::IndexConfig;

use super::file::{CatalogEntry, CatalogFile, Vacancy};
use super::swap::{Verdict, change, read};
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::storage::{IndexFolder, IndexStore};

/// So many folders in a row that cannot be removed say that the store is at fault, and not they.
const MAX_FAILED_IN_A_ROW: u64 = 3;

/// The indexes under a root.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(super) store: IndexStore,
    root: String,
}

/// An index that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewIndex<'a> {
    /// Its name, as [`crate::check_index_name`] allows it.
    pub name: &'a str,
    /// The name of its folder: one that no index ever had, of 32 lower-case hexadecimal digits.
    pub id: &'a str,
    /// Its config.
    pub config: &'a IndexConfig,
    /// Whether it is asked for as a data stream.
    pub is_data_stream: bool,
    /// Whether one of that name may be there, and is deleted in the same moment.
    pub replaces: bool,
    /// Most indexes that there may be then.
    pub max_indexes: usize,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Creation {
    /// It was made.
    Created {
        /// Where it is.
        entry: CatalogEntry,
        /// Where the one was that had its name. Its objects are still there: see [`Catalog::remove_objects`].
        replaced: Option<CatalogEntry>,
    },
    /// There is one of that name.
    Exists,
    /// There are as many as may be.
    Full,
}

impl Catalog {
    /// The indexes under `root`, a URI as [`IndexStore::open`] takes it; a folder is made if it is not there. Reads nothing yet.
    ///
    /// # Errors
    /// `Invalid` for a URI that names nothing that can be written.
    pub fn open(root: &str) -> Result<Catalog, BuildError> {
        Ok(Self {
            // Messages are for those who use the indexes, and these need not know where the root is.
            store: IndexStore::open_or_make(root)?.called(""),
            root: root.trim_end_matches('/').to_owned(),
        })
    }

    /// The same over a store of a test's making.
    #[cfg(test)]
    pub(super) fn over(store: IndexStore) -> Catalog {
        let root = store.uri().to_owned();
        Self { store, root }
    }

    /// The indexes that there are, by name.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; `Data` if the file that lists them is damaged.
    pub fn indexes(&self) -> Result<BTreeMap<String, CatalogEntry>, BuildError> {
        let (file, _) = blocking::run(read::<CatalogFile>(&self.store))?;
        Ok(file.indexes)
    }

    /// Where the root is, without credentials.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.store.uri()
    }

    /// Where an index is.
    #[must_use]
    pub fn uri_of(&self, entry: &CatalogEntry) -> String {
        format!("{}/{}", self.root, entry.folder)
    }

    /// The store of an index, which shares its client with all others of this root.
    ///
    /// # Errors
    /// `Unavailable` if its folder cannot be made.
    pub fn store_of(&self, entry: &CatalogEntry) -> Result<IndexStore, BuildError> {
        self.store.below(&entry.folder)
    }

    /// Makes an index. Several may do so at once: one of them makes it, and the others are told that it is there.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer: whether the index was made is not known then. `Limit` if too many deleted
    /// indexes are still to be removed; `Invalid` for a store that does not keep to conditions on writes, and for a name or id
    /// that cannot be a folder.
    pub fn create(&self, new: &NewIndex<'_>) -> Result<Creation, BuildError> {
        let folder = IndexFolder::new(new.name, new.id)?;
        if let Some(refusal) = blocking::run(self.reserve(new, &folder))? {
            return Ok(refusal);
        }
        self.store.below(&folder)?.create_manifest(new.config)?;
        let creation = blocking::run(self.settle(new, &folder))?;
        if !matches!(creation, Creation::Created { .. }) {
            // Nobody else knows of it, and whatever stays now is removed later.
            let _ = blocking::run(self.store.remove_index(&folder));
        }
        Ok(creation)
    }

    /// Notes the folder as one without an index, in which one is made, unless it cannot be made anyway.
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

    /// Makes what is in the folder an index, unless it has been one already.
    pub(super) async fn settle(
        &self,
        new: &NewIndex<'_>,
        folder: &IndexFolder,
    ) -> Result<Creation, BuildError> {
        let entry = CatalogEntry {
            folder: folder.clone(),
            created_at_ms: new.now_ms,
            is_data_stream: new.is_data_stream,
        };
        // What the swap replaces that was tried last: one whose answer was lost looks like a conflict.
        let mut attempted: Option<Option<CatalogEntry>> = None;
        change(&self.store, |file: &mut CatalogFile| {
            let is_there = file.indexes.get(new.name) == Some(&entry);
            let vacancy = file.vacancy_of(folder);
            // Somebody may have deleted it since: it was made all the same, and is not made again.
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

    /// Deletes an index: from now on nobody finds it. Its objects are still there: see [`Catalog::remove_objects`]. `None` if
    /// there is none of that name. An index that has the name since is another, and stays.
    ///
    /// # Errors
    /// As [`Catalog::create`].
    pub fn remove(&self, name: &str, now_ms: u64) -> Result<Option<CatalogEntry>, BuildError> {
        let mut attempted: Option<CatalogEntry> = None;
        blocking::run(change(&self.store, |file: &mut CatalogFile| {
            let there = file.indexes.get(name).cloned();
            let entry = match (&attempted, there) {
                (Some(attempted), there) if there.as_ref() != Some(attempted) => {
                    // A swap whose answer was lost looks like a conflict. If another has deleted it, there was nothing to
                    // delete at that moment, which is as good.
                    let is_deleted = file.vacancy_of(&attempted.folder).is_some();
                    let done = is_deleted.then(|| attempted.clone());
                    return Ok(Verdict::Leave(done));
                }
                (_, None) => return Ok(Verdict::Leave(None)),
                (_, Some(entry)) => entry,
            };
            file.indexes.remove(name);
            file.vacate(&entry.folder, now_ms, Vacancy::Deleted)?;
            attempted = Some(entry.clone());
            Ok(Verdict::Write(Some(entry)))
        }))
    }

    /// Removes the objects of an index that is deleted, the manifest first; says which there were, with their lengths. What
    /// others are still writing there is removed by a [`Catalog::sweep`] later.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; a sweep goes on with it. `Data` if something is in the folder that is no index's:
    /// then only the manifest is removed.
    pub fn remove_objects(&self, entry: &CatalogEntry) -> Result<Vec<(String, u64)>, BuildError> {
        blocking::run(self.store.remove_index(&entry.folder))
    }

    /// Removes what is left of indexes that were deleted at least `grace_ms` ago, or never completed, and forgets them. Says how
    /// many these were. A folder that cannot be removed keeps no other from it.
    ///
    /// # Errors
    /// As [`Catalog::remove_objects`], of the first folder that could not be removed, which is still known then.
    pub fn sweep(&self, now_ms: u64, grace_ms: u64) -> Result<u64, BuildError> {
        let before_ms = now_ms.saturating_sub(grace_ms);
        blocking::run(async {
            let mut condemned = self.condemn(before_ms).await?;
            // In another order each time: those that can never be removed are not always the first.
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
                        // What is in a folder that is no index's says nothing of the store.
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

    /// Condemns folders, and says which are condemned: nothing is removed of one that could still become an index.
    pub(super) async fn condemn(&self, before_ms: u64) -> Result<Vec<IndexFolder>, BuildError> {
        // Nearly always there is nothing to do, and this reads once.
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

    /// Forgets folders that are removed, and says how many. Another sweep may have done so.
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

/// Why an index cannot be made, if it cannot.
fn refusal(file: &CatalogFile, new: &NewIndex<'_>) -> Option<Creation> {
    match file.indexes.contains_key(new.name) {
        true if new.replaces => None,
        true => Some(Creation::Exists),
        false => (file.indexes.len() >= new.max_indexes).then_some(Creation::Full),
    }
}
