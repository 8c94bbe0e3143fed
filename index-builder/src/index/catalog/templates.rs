//! `templates.json`: templates of indexes, stored unchanged. Callers define their meaning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::indexes::Catalog;
use super::swap::{Swapped, Verdict, change, read};
use crate::blocking;
use crate::error::BuildError;

/// All templates under a root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Templates {
    version: u32,
    /// Index templates, which say to which indexes they apply.
    pub index: BTreeMap<String, Value>,
    /// Component templates, from which others are composed.
    pub component: BTreeMap<String, Value>,
    /// Templates in the legacy form.
    pub legacy: BTreeMap<String, Value>,
    /// Templates of searches.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub searches: BTreeMap<String, Value>,
    /// Policies: how long documents are kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub policies: BTreeMap<String, Value>,
    /// Pipelines, through which documents pass before they are added.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pipelines: BTreeMap<String, Value>,
}

impl Default for Templates {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            index: BTreeMap::new(),
            component: BTreeMap::new(),
            legacy: BTreeMap::new(),
            searches: BTreeMap::new(),
            policies: BTreeMap::new(),
            pipelines: BTreeMap::new(),
        }
    }
}

impl Swapped for Templates {
    const OBJECT: &'static str = "templates.json";

    fn version(&self) -> u32 {
        self.version
    }
}

impl Catalog {
    /// Returns all templates.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer, `Data` if the file is damaged.
    pub fn templates(&self) -> Result<Templates, BuildError> {
        let (file, _) = blocking::run(read::<Templates>(&self.store))?;
        Ok(file)
    }

    /// Edits the templates. If `edit` returns an error, they stay unchanged, and its error is the
    /// inner result. `edit` can be called several times, each time with the current templates.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; the change may or may not have happened. `Limit`
    /// if all templates together become too long.
    pub fn change_templates<E: Send>(
        &self,
        edit: impl Fn(&mut Templates) -> Result<(), E> + Send + Sync,
    ) -> Result<Result<(), E>, BuildError> {
        blocking::run(change(&self.store, |file: &mut Templates| {
            Ok(match edit(file) {
                Ok(()) => Verdict::Write(Ok(())),
                Err(refusal) => Verdict::Leave(Err(refusal)),
            })
        }))
    }
}
