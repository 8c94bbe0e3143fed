//! `indexes.json` as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::swap::Swapped;
use crate::error::BuildError;

/// Folders that wait for their removal: far more than anybody deletes in an hour.
const MAX_DOOMED: usize = 10_000;

/// Where an index is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogEntry {
    /// Below the root.
    pub folder: String,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// Whether it was asked for as a data stream.
    #[serde(default)]
    pub is_data_stream: bool,
}

/// A folder that is to be removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Doomed {
    pub(super) folder: String,
    /// Since when, in milliseconds since 1970.
    pub(super) since_ms: u64,
    #[serde(default, skip_serializing_if = "Doom::is_deleted")]
    pub(super) doom: Doom,
}

/// Why a folder is to be removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Doom {
    /// The index in it was deleted, and no index is in it again.
    #[default]
    Deleted,
    /// An index is being made in it. Only from here it can become one.
    Reserved,
    /// Its objects are being removed: what is in it becomes no index any more, however late somebody is.
    Condemned,
}

impl Doom {
    fn is_deleted(&self) -> bool {
        *self == Self::Deleted
    }
}

/// The whole file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CatalogFile {
    version: u32,
    pub(super) indexes: BTreeMap<String, CatalogEntry>,
    pub(super) doomed: Vec<Doomed>,
}

impl Default for CatalogFile {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            indexes: BTreeMap::new(),
            doomed: Vec::new(),
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
    /// Notes a folder as one to be removed.
    ///
    /// # Errors
    /// `Limit` if too many are.
    pub(super) fn doom(
        &mut self,
        folder: &str,
        since_ms: u64,
        doom: Doom,
    ) -> Result<(), BuildError> {
        if self.doom_of(folder).is_some() {
            return Ok(());
        }
        if self.doomed.len() >= MAX_DOOMED {
            return Err(BuildError::limit(format!(
                "the objects of {MAX_DOOMED} deleted indexes are still to be removed: leave a writable server running, which \
                 removes them, and try again later"
            )));
        }
        self.doomed.push(Doomed {
            folder: folder.to_owned(),
            since_ms,
            doom,
        });
        Ok(())
    }

    /// Why a folder is to be removed, if it is.
    pub(super) fn doom_of(&self, folder: &str) -> Option<Doom> {
        let mut doomed = self.doomed.iter();
        let doomed = doomed.find(|doomed| doomed.folder == folder);
        doomed.map(|doomed| doomed.doom)
    }

    /// Condemns what is to be removed since then or before, and says which folders are condemned now, and whether that is news.
    pub(super) fn condemn(&mut self, before_ms: u64) -> (Vec<String>, bool) {
        let mut condemned = Vec::new();
        let mut is_news = false;
        for doomed in &mut self.doomed {
            if doomed.doom != Doom::Condemned && doomed.since_ms <= before_ms {
                doomed.doom = Doom::Condemned;
                is_news = true;
            }
            if doomed.doom == Doom::Condemned {
                condemned.push(doomed.folder.clone());
            }
        }
        (condemned, is_news)
    }

    pub(super) fn spare(&mut self, folder: &str) {
        self.doomed.retain(|doomed| doomed.folder != folder);
    }
}
