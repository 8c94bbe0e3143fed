//! `templates.json`: templates of indexes, as they were given. What they mean is their reader's matter.

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
    /// Those that say which indexes they are for.
    pub index: BTreeMap<String, Value>,
    /// Those that others are composed of.
    pub component: BTreeMap<String, Value>,
    /// Those of the form that was there before.
    pub legacy: BTreeMap<String, Value>,
}

impl Default for Templates {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            index: BTreeMap::new(),
            component: BTreeMap::new(),
            legacy: BTreeMap::new(),
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
    /// The templates that there are.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer; `Data` if the file is damaged.
    pub fn templates(&self) -> Result<Templates, BuildError> {
        let (file, _) = blocking::run(read::<Templates>(&self.store))?;
        Ok(file)
    }

    /// Changes the templates, unless `edit` refuses; then they stay as they were, and its refusal is what comes back. It may be
    /// called several times, each time with what is there then.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer: whether they were changed is not known then. `Limit` if all of them together
    /// become too long.
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
