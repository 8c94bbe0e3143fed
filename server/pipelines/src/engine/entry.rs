//! Pipelines that are compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_painless::Script;

use super::process::Process;

/// A compiled pipeline.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) entries: Vec<Entry>,
    pub(crate) on_failure: Vec<Entry>,
}

/// Pipelines by name.
#[derive(Clone, Debug, Default)]
pub struct Pipelines {
    pub(crate) by_name: BTreeMap<String, Arc<Pipeline>>,
}

/// A processor, and when it runs.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: String,
    pub(crate) tag: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) condition: Option<Script>,
    pub(crate) ignores_failure: bool,
    pub(crate) on_failure: Vec<Entry>,
    pub(crate) process: Box<dyn Process>,
}

impl Pipelines {
    /// Adds a pipeline.
    pub fn insert(&mut self, name: &str, pipeline: Pipeline) {
        self.by_name.insert(name.to_owned(), Arc::new(pipeline));
    }

    /// Adds the pipeline of this name of others, if there is one.
    pub fn take(&mut self, name: &str, others: &Self) {
        if let Some(pipeline) = others.by_name.get(name) {
            self.by_name.insert(name.to_owned(), Arc::clone(pipeline));
        }
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns whether there is a pipeline of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }
}
