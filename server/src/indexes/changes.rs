//! Indexes that a request describes or changes.

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{Aliases, update_index};
use canter_intake::{IndexParts, MappingError, config_with};

use super::aliases::{aliases_for, apply};
use super::kept::kept_settings;
use super::root::{Root, set_of};
use crate::requests::Problem;

impl Root {
    /// Creates an index from a request's settings, and from the templates that match its name. Blocks.
    pub(crate) fn make_of(&self, name: &str, own: IndexParts) -> Result<(), Problem> {
        self.check_new(name)?;
        let templated = self.templated(name)?;
        let aliases = aliases_for(name, templated.as_ref(), Some(&own))?;
        let settings = kept_settings(templated.as_ref(), Some(&own))?;
        // Before the index is there.
        let mut names: Vec<String> = self.entries().into_keys().collect();
        names.push(name.to_owned());
        apply(&aliases, &names, &mut Aliases::clone(&self.aliases()))?;
        let (config, is_data_stream) = match templated {
            Some(templated) => {
                let is_data_stream = templated.is_data_stream;
                (templated.index_config(name, Some(own))?, is_data_stream)
            }
            None => {
                let ages = set_of(&self.catalog.templates()?).ages();
                (config_with(name, &[own], false, &ages)?, false)
            }
        };
        self.make(name, &config, (is_data_stream, &settings), false)?;
        self.change_aliases(&aliases, None)
    }

    /// Changes the config of an index, and serves it so. Blocks.
    pub(crate) fn change_config(
        &self,
        name: &str,
        to: &dyn Fn(&IndexConfig) -> Result<IndexConfig, MappingError>,
    ) -> Result<(), Problem> {
        if self.is_fixed(name) {
            return Err(Problem::illegal(format!(
                "the index [{name}] was named with --index: only those under --indexes-in can be changed here"
            )));
        }
        let entry = self.entry(name).ok_or_else(|| Problem::no_index(name))?;
        let store = self.catalog.store_of(&entry)?;
        let config = to(&store.load_config()?)?;
        if update_index(&store, &config, false)?.changes.is_empty() {
            return Ok(());
        }
        tracing::info!(target: "canter::serve", index = name, "config changed");
        // What waits is published with the fields that there were; what comes is checked by the new ones.
        self.searcher.remove_index(name);
        if let Some(writers) = &self.writers {
            writers.remove(name);
        }
        self.open_index(name, &entry)
            .map_err(|error| Problem::internal(error.with_causes()))
    }
}
