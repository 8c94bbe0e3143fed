//! Data model of `indexes.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::aliases::Aliases;
use super::swap::Swapped;
use crate::error::BuildError;
use crate::index::storage::IndexFolder;

/// Maximum number of folders without an index, which is far beyond the number of indexes that are
/// deleted in an hour.
const MAX_VACANT: usize = 10_000;

/// Location of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogEntry {
    /// Folder relative to the root.
    pub folder: IndexFolder,
    /// Creation time in milliseconds since 1970.
    pub created_at_ms: u64,
    /// True if the index was requested as a data stream.
    #[serde(default)]
    pub is_data_stream: bool,
    /// Settings that servers heed and show, by full name. They are no part of the index's config.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: IndexSettings,
}

/// Settings by name.
pub type IndexSettings = BTreeMap<String, Value>;

/// Folder without an index that may have objects. It will be removed, unless it becomes an index
/// before that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vacant {
    pub(super) folder: IndexFolder,
    /// Time since which it has no index, in milliseconds since 1970.
    pub(super) since_ms: u64,
    #[serde(default, skip_serializing_if = "Vacancy::is_deleted")]
    pub(super) vacancy: Vacancy,
}

/// Reason why a folder has no index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Vacancy {
    /// Its index was deleted. It never gets another one.
    #[default]
    Deleted,
    /// An index is being created in it. Only folders in this state can become indexes.
    Reserved,
    /// Its objects are being removed. It can no longer become an index, even if its creator
    /// continues after a long delay.
    Condemned,
}

impl Vacancy {
    fn is_deleted(&self) -> bool {
        *self == Self::Deleted
    }
}

/// Content of the file. Each index has a folder that starts with its name, and no folder is both an
/// index and vacant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Record")]
pub(crate) struct CatalogFile {
    version: u32,
    pub(super) indexes: BTreeMap<String, CatalogEntry>,
    pub(super) vacant: Vec<Vacant>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) aliases: Aliases,
}

/// Serialized form of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    version: u32,
    indexes: BTreeMap<String, CatalogEntry>,
    vacant: Vec<Vacant>,
    #[serde(default)]
    aliases: Aliases,
}

impl TryFrom<Record> for CatalogFile {
    type Error = String;

    fn try_from(record: Record) -> Result<Self, String> {
        let Record {
            version,
            indexes,
            vacant,
            aliases,
        } = record;
        for (name, entry) in &indexes {
            if entry.folder.name() != name {
                let folder = &entry.folder;
                return Err(format!(
                    "the index {name:?} cannot have the folder `{folder}`, which has another's name"
                ));
            }
        }
        // A sweep would delete such a folder while it has an index.
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
            aliases,
        })
    }
}

impl Default for CatalogFile {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            indexes: BTreeMap::new(),
            vacant: Vec::new(),
            aliases: Aliases::new(),
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
    /// Returns the folders of all indexes, followed by those without an index.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &IndexFolder> {
        let of_indexes = self.indexes.values().map(|entry| &entry.folder);
        of_indexes.chain(self.vacant.iter().map(|vacant| &vacant.folder))
    }

    /// Adds a folder without an index.
    ///
    /// # Errors
    /// `Limit` for too many such folders.
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

    /// Takes an index out of all aliases.
    pub(super) fn leave_aliases(&mut self, index: &str) {
        for indexes in self.aliases.values_mut() {
            indexes.remove(index);
        }
        self.aliases.retain(|_, indexes| !indexes.is_empty());
    }

    /// Returns the reason why a folder has no index, or `None` if it is not listed as vacant.
    pub(super) fn vacancy_of(&self, folder: &IndexFolder) -> Option<Vacancy> {
        let mut vacant = self.vacant.iter();
        let vacant = vacant.find(|vacant| vacant.folder == *folder);
        vacant.map(|vacant| vacant.vacancy)
    }

    /// Condemns folders that have had no index since `before_ms` or earlier. Returns all condemned
    /// folders, and whether any of them is newly condemned.
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

    /// Removes a folder from the vacant ones: it has an index now, or is empty.
    pub(super) fn forget(&mut self, folder: &IndexFolder) {
        self.vacant.retain(|vacant| vacant.folder != *folder);
    }
}
