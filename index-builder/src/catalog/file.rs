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
    pub(super) fn doom(&mut self, folder: &str, since_ms: u64) -> Result<(), BuildError> {
        if self.is_doomed(folder) {
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
        });
        Ok(())
    }

    pub(super) fn is_doomed(&self, folder: &str) -> bool {
        self.doomed.iter().any(|doomed| doomed.folder == folder)
    }

    pub(super) fn spare(&mut self, folder: &str) {
        self.doomed.retain(|doomed| doomed.folder != folder);
    }
}
