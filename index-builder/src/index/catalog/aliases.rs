//! Aliases: further names of indexes, in the catalog's file, so that all servers over a root know
//! them. Callers define what an alias does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file::{CatalogEntry, CatalogFile};
use super::indexes::Catalog;
use super::swap::{Verdict, change, read};
use crate::blocking;
use crate::error::BuildError;

/// Aliases by name, each with its indexes.
pub type Aliases = BTreeMap<String, BTreeMap<String, Alias>>;

/// Indexes by name.
pub type Indexes = BTreeMap<String, CatalogEntry>;

/// Options of an alias for one of its indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// Query that the alias's documents match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Value>,
    /// Routing of new documents, which has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_routing: Option<String>,
    /// Routing of searches, which has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_routing: Option<String>,
    /// Whether documents for the alias go into this index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_write_index: Option<bool>,
    /// Whether patterns leave it out, which is kept only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_hidden: Option<bool>,
}

impl Catalog {
    /// Returns all indexes and all aliases.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer, `Data` if the list of indexes is damaged.
    pub fn listed(&self) -> Result<(Indexes, Aliases), BuildError> {
        let (file, _) = blocking::run(read::<CatalogFile>(&self.store))?;
        Ok((file.indexes, file.aliases))
    }

    /// Edits the aliases in one swap. If `edit` returns an error, they stay unchanged, and its error
    /// is the inner result. `edit` can be called several times, each time with the current indexes
    /// and aliases.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; the change may or may not have happened. `Limit`
    /// if the file becomes too long.
    pub fn change_aliases<E: Send>(
        &self,
        edit: impl Fn(&Indexes, &mut Aliases) -> Result<(), E> + Send + Sync,
    ) -> Result<Result<(), E>, BuildError> {
        blocking::run(change(&self.store, |file: &mut CatalogFile| {
            let before = file.aliases.clone();
            let edited = edit(&file.indexes, &mut file.aliases);
            // An alias is there for as long as it has an index.
            file.aliases.retain(|_, indexes| !indexes.is_empty());
            Ok(match edited {
                Ok(()) if file.aliases == before => Verdict::Leave(Ok(())),
                Ok(()) => Verdict::Write(Ok(())),
                Err(refusal) => Verdict::Leave(Err(refusal)),
            })
        }))
    }
}
