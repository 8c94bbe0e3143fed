//! Creating, finding and deleting indexes under a root.

use std::collections::BTreeMap;

use canter_doc_mapper::IndexConfig;
use canter_split_format::MANIFEST_OBJECT;

use super::file::{CatalogEntry, CatalogFile};
use super::swap::{Verdict, change, read};
use crate::blocking;
use crate::error::BuildError;
use crate::storage::IndexStore;

/// The indexes under a root.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(super) store: IndexStore,
    root: String,
}

/// An index that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewIndex<'a> {
    /// Its name, which the caller has checked: letters, digits and `-_.` only.
    pub name: &'a str,
    /// The name of its folder: one that no index ever had, of letters and digits.
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
            store: IndexStore::open_or_make(root)?,
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
    /// indexes are still to be removed; `Invalid` for a store that does not keep to conditions on writes.
    pub fn create(&self, new: &NewIndex<'_>) -> Result<Creation, BuildError> {
        let folder = format!("{}/{}", new.name, new.id);
        if let Some(refusal) = blocking::run(self.reserve(new, &folder))? {
            return Ok(refusal);
        }
        self.store.below(&folder)?.create_manifest(new.config)?;
        let creation = blocking::run(self.settle(new, &folder))?;
        if !matches!(creation, Creation::Created { .. }) {
            // Nobody else knows of it, and whatever stays now is removed later.
            let _ = blocking::run(self.store.remove_folder(&folder, MANIFEST_OBJECT));
        }
        Ok(creation)
    }

    /// Lists the folder as one to be removed, unless the index cannot be made anyway.
    async fn reserve(
        &self,
        new: &NewIndex<'_>,
        folder: &str,
    ) -> Result<Option<Creation>, BuildError> {
        change(&self.store, |file: &mut CatalogFile| {
            if let Some(refusal) = refusal(file, new) {
                return Ok(Verdict::Leave(Some(refusal)));
            }
            file.doom(folder, new.now_ms)?;
            Ok(Verdict::Write(None))
        })
        .await
    }

    /// Makes what is in the folder an index.
    async fn settle(&self, new: &NewIndex<'_>, folder: &str) -> Result<Creation, BuildError> {
        let entry = CatalogEntry {
            folder: folder.to_owned(),
            created_at_ms: new.now_ms,
            is_data_stream: new.is_data_stream,
        };
        let mut attempted: Option<CatalogEntry> = None;
        change(&self.store, |file: &mut CatalogFile| {
            if file.indexes.get(new.name) == Some(&entry) {
                // A swap whose answer was lost looks like a conflict.
                let (entry, replaced) = (entry.clone(), attempted.clone());
                return Ok(Verdict::Leave(Creation::Created { entry, replaced }));
            }
            if let Some(refusal) = refusal(file, new) {
                return Ok(Verdict::Leave(refusal));
            }
            if !file.is_doomed(folder) {
                return Err(BuildError::unavailable(format!(
                    "making the index {:?} took so long that it was given up: try again",
                    new.name
                )));
            }
            file.spare(folder);
            let replaced = file.indexes.insert(new.name.to_owned(), entry.clone());
            if let Some(replaced) = &replaced {
                file.doom(&replaced.folder, new.now_ms)?;
            }
            attempted.clone_from(&replaced);
            let entry = entry.clone();
            Ok(Verdict::Write(Creation::Created { entry, replaced }))
        })
        .await
    }

    /// Deletes an index: from now on nobody finds it. Its objects are still there: see [`Catalog::remove_objects`]. `None` if
    /// there is none of that name.
    ///
    /// # Errors
    /// As [`Catalog::create`].
    pub fn remove(&self, name: &str, now_ms: u64) -> Result<Option<CatalogEntry>, BuildError> {
        let mut attempted: Option<CatalogEntry> = None;
        blocking::run(change(&self.store, |file: &mut CatalogFile| {
            let Some(entry) = file.indexes.remove(name) else {
                // A swap whose answer was lost looks like a conflict.
                let done = attempted.take();
                let done = done.filter(|entry| file.is_doomed(&entry.folder));
                return Ok(Verdict::Leave(done));
            };
            file.doom(&entry.folder, now_ms)?;
            attempted = Some(entry.clone());
            Ok(Verdict::Write(Some(entry)))
        }))
    }

    /// Removes the objects of an index that is deleted, the manifest first; says which there were, with their lengths. What
    /// others are still writing there is removed by a [`Catalog::sweep`] later.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; a sweep goes on with it.
    pub fn remove_objects(&self, entry: &CatalogEntry) -> Result<Vec<(String, u64)>, BuildError> {
        blocking::run(self.store.remove_folder(&entry.folder, MANIFEST_OBJECT))
    }

    /// Removes what is left of indexes that were deleted at least `grace_ms` ago, or never completed, and forgets them. Says how
    /// many these were.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; what was not removed is still known.
    pub fn sweep(&self, now_ms: u64, grace_ms: u64) -> Result<u64, BuildError> {
        blocking::run(async {
            let (file, _) = read::<CatalogFile>(&self.store).await?;
            let before_ms = now_ms.saturating_sub(grace_ms);
            let due = file
                .doomed
                .into_iter()
                .filter(|doomed| doomed.since_ms <= before_ms);
            let mut removed = Vec::new();
            for doomed in due {
                let folder = doomed.folder;
                self.store.remove_folder(&folder, MANIFEST_OBJECT).await?;
                removed.push(folder);
            }
            if removed.is_empty() {
                return Ok(0);
            }
            change(&self.store, |file: &mut CatalogFile| {
                removed.iter().for_each(|folder| file.spare(folder));
                Ok(Verdict::Write(removed.len() as u64))
            })
            .await
        })
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
