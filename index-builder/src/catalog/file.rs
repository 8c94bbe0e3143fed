//! `indexes.json` as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::swap::Swapped;
use crate::error::BuildError;
use crate::storage::IndexFolder;

/// Folders without an index: far more than anybody deletes in an hour.
const MAX_VACANT: usize = 10_000;

/// Where an index is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogEntry {
    /// Below the root.
    pub folder: IndexFolder,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// Whether it was asked for as a data stream.
    #[serde(default)]
    pub is_data_stream: bool,
}

/// A folder in which there is no index, but objects may be. It is removed one day, unless it becomes an index before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vacant {
    pub(super) folder: IndexFolder,
    /// Since when, in milliseconds since 1970.
    pub(super) since_ms: u64,
    #[serde(default, skip_serializing_if = "Vacancy::is_deleted")]
    pub(super) vacancy: Vacancy,
}

/// Why there is no index in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Vacancy {
    /// The index in it was deleted, and no index is in it again.
    #[default]
    Deleted,
    /// An index is being made in it. Only from here it can become one.
    Reserved,
    /// Its objects are being removed: what is in it becomes no index any more, however late somebody is.
    Condemned,
}

impl Vacancy {
    fn is_deleted(&self) -> bool {
        *self == Self::Deleted
    }
}

/// The whole file. Each index has the folder of its own name, and no folder is one of an index and without an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Record")]
pub(crate) struct CatalogFile {
    version: u32,
    pub(super) indexes: BTreeMap<String, CatalogEntry>,
    pub(super) vacant: Vec<Vacant>,
}

/// The file as it stands in the store.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    version: u32,
    indexes: BTreeMap<String, CatalogEntry>,
    vacant: Vec<Vacant>,
}

impl TryFrom<Record> for CatalogFile {
    type Error = String;

    fn try_from(record: Record) -> Result<Self, String> {
        let Record {
            version,
            indexes,
            vacant,
        } = record;
        for (name, entry) in &indexes {
            if entry.folder.name() != name {
                let folder = &entry.folder;
                return Err(format!(
                    "the index {name:?} cannot have the folder `{folder}`, which has another's name"
                ));
            }
        }
        // Such a folder would be deleted under the index.
        let is_taken = |vacant: &&Vacant| {
            let entry = indexes.get(vacant.folder.name());
            entry.is_some_and(|entry| entry.folder == vacant.folder)
        };
        if let Some(Vacant { folder, .. }) = vacant.iter().find(is_taken) {
            return Err(format!(
                "the folder `{folder}` cannot have an index and be vacant"
            ));
        }
        Ok(Self {
            version,
            indexes,
            vacant,
        })
    }
}

impl Default for CatalogFile {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            indexes: BTreeMap::new(),
            vacant: Vec::new(),
        }
    }
}

impl Swapped for CatalogFile {
    const OBJECT: &'static str = "indexes.json";

    fn version(&self) -> u32 {
        self.version
    }
}

impl CatalogFile {
    /// The folders of all indexes, and those that have none.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &IndexFolder> {
        let of_indexes = self.indexes.values().map(|entry| &entry.folder);
        of_indexes.chain(self.vacant.iter().map(|vacant| &vacant.folder))
    }

    /// Notes a folder as one without an index.
    ///
    /// # Errors
    /// `Limit` if too many are.
    pub(super) fn vacate(
        &mut self,
        folder: &IndexFolder,
        since_ms: u64,
        vacancy: Vacancy,
    ) -> Result<(), BuildError> {
        if self.vacancy_of(folder).is_some() {
            return Ok(());
        }
        if self.vacant.len() >= MAX_VACANT {
            return Err(BuildError::limit(format!(
                "the objects of {MAX_VACANT} deleted indexes are still to be removed: leave a writable server running, which \
                 removes them, and try again later"
            )));
        }
        self.vacant.push(Vacant {
            folder: folder.clone(),
            since_ms,
            vacancy,
        });
        Ok(())
    }

    /// Why there is no index in a folder, if it is noted as such.
    pub(super) fn vacancy_of(&self, folder: &IndexFolder) -> Option<Vacancy> {
        let mut vacant = self.vacant.iter();
        let vacant = vacant.find(|vacant| vacant.folder == *folder);
        vacant.map(|vacant| vacant.vacancy)
    }

    /// Condemns what has had no index since then or before, and says which folders are condemned now, and whether that is news.
    pub(super) fn condemn(&mut self, before_ms: u64) -> (Vec<IndexFolder>, bool) {
        let mut condemned = Vec::new();
        let mut is_news = false;
        for vacant in &mut self.vacant {
            if vacant.vacancy != Vacancy::Condemned && vacant.since_ms <= before_ms {
                vacant.vacancy = Vacancy::Condemned;
                is_news = true;
            }
            if vacant.vacancy == Vacancy::Condemned {
                condemned.push(vacant.folder.clone());
            }
        }
        (condemned, is_news)
    }

    /// Forgets a folder: there is an index in it now, or nothing.
    pub(super) fn forget(&mut self, folder: &IndexFolder) {
        self.vacant.retain(|vacant| vacant.folder != *folder);
    }
}
