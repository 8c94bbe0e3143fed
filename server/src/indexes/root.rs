//! The indexes under `--indexes-in`: which of them are served, and how that changes.
//!
//! ```text
//!   catalog (in the store) ──read every few seconds, and after each change──▶ served ──▶ searcher, writers
//! ```
//!
//! Several servers may share one root. Each change is a swap of the catalog; the server then reads the catalog, and
//! opens and closes indexes until they match.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use canter_access::matches_any;
use canter_doc_mapper::IndexConfig;
use canter_formats::presets::preset;
use canter_index_builder::{
    Aliases, Catalog, CatalogEntry, Creation, IndexSettings, Indexes, NewIndex, Templates,
};
use canter_intake::{TemplateSet, Templated, config_with, index_id_of};
use canter_runtime::Searcher;
use canter_runtime::fetch::OpenOptions;
use tokio::sync::Mutex as TurnMutex;
use uuid::Uuid;

use super::aliases::aliases_for;
use super::kept::{LastKept, kept_settings};
use super::names::check_index_name;
use super::writers::Writers;
use crate::error::ServerError;
use crate::requests::Problem;

/// Interval at which changes of other servers are noticed.
const INTERVAL: Duration = Duration::from_secs(5);

/// Interval at which remains of deleted indexes are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(600);

/// Time for which servers that have not noticed an index's deletion may write into its folder.
const SWEEP_GRACE: Duration = Duration::from_secs(3600);

/// Settings of the indexes that are created and deleted while the server runs.
#[derive(Clone, Debug)]
pub struct RootSettings {
    /// Folder or bucket of the indexes.
    pub uri: String,
    /// Patterns of names for which documents create an index without a template.
    pub auto_create: Vec<String>,
    /// Maximum number of indexes.
    pub max_indexes: usize,
}

/// The indexes under a root, and their searcher and writers.
pub(crate) struct Root {
    pub(crate) catalog: Catalog,
    pub(super) searcher: Arc<Searcher>,
    pub(super) writers: Option<Arc<Writers>>,
    /// Names of indexes that are always served, and never change.
    fixed: BTreeSet<String>,
    /// Patterns of names for which documents create an index without a template.
    auto_create: Vec<String>,
    max_indexes: usize,
    served: Mutex<Served>,
    /// Pipelines and scripts, as they were read last.
    pub(super) kept: Mutex<LastKept>,
    /// One change at a time: each waits for the store, on a thread.
    turn: Arc<TurnMutex<()>>,
}

#[derive(Default)]
struct Served {
    indexes: BTreeMap<String, CatalogEntry>,
    aliases: Arc<Aliases>,
    /// Indexes that could not be opened, which was logged.
    failed: BTreeSet<String>,
}

impl Root {
    /// Opens the root and its indexes.
    ///
    /// # Errors
    /// If the root cannot be read.
    pub(crate) fn open(
        settings: &RootSettings,
        searcher: &Arc<Searcher>,
        writers: Option<&Arc<Writers>>,
        fixed: BTreeSet<String>,
    ) -> Result<Arc<Self>, ServerError> {
        let root = Self {
            catalog: Catalog::open(&settings.uri)?,
            searcher: Arc::clone(searcher),
            writers: writers.cloned(),
            fixed,
            auto_create: settings.auto_create.clone(),
            max_indexes: settings.max_indexes,
            served: Mutex::default(),
            kept: Mutex::default(),
            turn: Arc::default(),
        };
        let listed = root.catalog.listed().map_err(|error| {
            let uri = root.catalog.uri();
            ServerError::Root(format!("cannot open the indexes in `{uri}`"), error)
        })?;
        root.adopt(listed);
        Ok(Arc::new(root))
    }

    /// Follows the changes of other servers, and removes remains of deleted indexes, for as long as it is polled.
    pub(crate) async fn follow(self: Arc<Self>) {
        tokio::join!(self.follow_others(), self.sweep_now_and_then());
    }

    async fn follow_others(self: &Arc<Self>) {
        let mut last_error = None;
        loop {
            tokio::time::sleep(INTERVAL).await;
            let looked = self.work(Self::look).await;
            let error = looked.err().map(|problem| problem.reason);
            if let Some(error) = &error
                && last_error.as_ref() != Some(error)
            {
                tracing::error!(target: "canter::serve", root = self.catalog.uri(), %error, "the indexes stay as they were");
            }
            last_error = error;
        }
    }

    /// Runs in the background: the remains do not block any change.
    async fn sweep_now_and_then(&self) {
        if self.writers.is_none() {
            return;
        }
        let grace_ms = u64::try_from(SWEEP_GRACE.as_millis()).unwrap_or(u64::MAX);
        tokio::time::sleep(INTERVAL).await;
        loop {
            let catalog = self.catalog.clone();
            let sweeping = tokio::task::spawn_blocking(move || catalog.sweep(now_ms(), grace_ms));
            match sweeping.await {
                Ok(Ok(0)) => {}
                Ok(Ok(num)) => {
                    tracing::info!(target: "canter::serve", num, "what was left of deleted indexes is removed");
                }
                Ok(Err(error)) => {
                    let (root, error) = (self.catalog.uri(), error.with_causes());
                    tracing::error!(target: "canter::serve", root, error, "not all that is left of deleted indexes could be removed");
                }
                Err(error) => {
                    tracing::error!(target: "canter::serve", %error, "a sweep of deleted indexes broke off");
                }
            }
            tokio::time::sleep(SWEEP_INTERVAL).await;
        }
    }

    /// Updates the served indexes.
    ///
    /// # Errors
    /// If the root cannot be read.
    pub(crate) async fn refresh(self: &Arc<Self>) -> Result<(), Problem> {
        self.work(Self::look).await
    }

    /// Creates the index for documents if it is missing: from the template that matches its name, or empty, if the
    /// server allows that.
    ///
    /// # Errors
    /// If it may not be created, or creation fails.
    pub(crate) async fn make_for_documents(self: &Arc<Self>, name: &str) -> Result<(), Problem> {
        let is_allowed = matches_any(&self.auto_create, name);
        self.make_for(name, is_allowed, untold).await
    }

    /// Creates a missing index for copies of documents, whatever the server allows for others: a request names it on purpose.
    ///
    /// # Errors
    /// If creation fails.
    pub(crate) async fn make_for_copies(self: &Arc<Self>, name: &str) -> Result<(), Problem> {
        self.make_for(name, true, untold).await
    }

    /// Creates the index for OpenTelemetry's logs if it is missing; its fields are known even without a template.
    ///
    /// # Errors
    /// As [`Root::make_for_documents`].
    pub(crate) async fn make_for_logs(self: &Arc<Self>, name: &str) -> Result<(), Problem> {
        let is_allowed = matches_any(&self.auto_create, name);
        self.make_for(name, is_allowed, logs_config).await
    }

    /// Creates a missing index; `untold` is its config if no template matches and that is allowed.
    async fn make_for(
        self: &Arc<Self>,
        name: &str,
        is_allowed: bool,
        untold: impl FnOnce(&str) -> Result<IndexConfig, Problem> + Send + 'static,
    ) -> Result<(), Problem> {
        let name = name.to_owned();
        self.work(move |root| {
            root.look()?;
            if root.has(&name) {
                return Ok(());
            }
            let templates = root.catalog.templates()?;
            let templated = set_of(&templates).of_index(&name)?;
            let aliases = aliases_for(&name, templated.as_ref(), None)?;
            let settings = kept_settings(templated.as_ref(), None)?;
            let (config, is_data_stream) = match templated {
                Some(templated) if templated.may_be_made_for_documents => {
                    let config = templated.index_config(&name, None)?;
                    (config, templated.is_data_stream)
                }
                None if is_allowed => (untold(&name)?, false),
                _ => return Err(Problem::no_index(&name)),
            };
            match root.make(&name, &config, (is_data_stream, &settings), false) {
                // Another server was faster.
                Err(problem) if problem.kind == EXISTS => root.look(),
                made => made.and_then(|()| root.change_aliases(&aliases, None)),
            }
        })
        .await
    }

    /// Runs work that waits for the store, on a thread that may block, one at a time.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let root = Arc::clone(self);
        let working = tokio::task::spawn_blocking(move || {
            // Held to the end, even if the caller is gone.
            let _turn = turn;
            work(&root)
        });
        working
            .await
            .unwrap_or_else(|error| Err(Problem::internal(error.to_string())))
    }

    /// Returns whether an index with that name is served.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fixed.contains(name) || self.entry(name).is_some()
    }

    /// Returns whether it is one that never changes.
    pub(crate) fn is_fixed(&self, name: &str) -> bool {
        self.fixed.contains(name)
    }

    /// Returns the catalog's entry of an index.
    pub(crate) fn entry(&self, name: &str) -> Option<CatalogEntry> {
        self.served().indexes.get(name).cloned()
    }

    /// Returns whether a condition holds for the entry of any index.
    pub(super) fn any_entry(&self, holds: impl Fn(&CatalogEntry) -> bool) -> bool {
        self.served().indexes.values().any(holds)
    }

    /// Returns the indexes of the root.
    pub(crate) fn entries(&self) -> BTreeMap<String, CatalogEntry> {
        self.served().indexes.clone()
    }

    /// Returns the aliases of the root's indexes.
    pub(crate) fn aliases(&self) -> Arc<Aliases> {
        Arc::clone(&self.served().aliases)
    }

    /// Returns the result of the templates for an index of this name, if one matches. Blocks.
    pub(crate) fn templated(&self, name: &str) -> Result<Option<Templated>, Problem> {
        let templates = self.catalog.templates()?;
        let templated = set_of(&templates).of_index(name);
        templated.map_err(Problem::from)
    }

    /// Returns an error if no new index can have that name. Blocks.
    pub(crate) fn check_new(&self, name: &str) -> Result<(), Problem> {
        check_index_name(name)?;
        self.look()?;
        if self.aliases().contains_key(name) {
            let reason = format!("Invalid index name [{name}], already exists as alias");
            return Err(Problem::invalid("invalid_index_name_exception", reason));
        }
        match self.has(name) {
            true => Err(exists(name)),
            false => Ok(()),
        }
    }

    /// Creates an index, and serves it. With `replaces` an existing one is deleted atomically. Blocks.
    pub(crate) fn make(
        &self,
        name: &str,
        config: &IndexConfig,
        (is_data_stream, settings): (bool, &IndexSettings),
        replaces: bool,
    ) -> Result<(), Problem> {
        check_index_name(name)?;
        if self.is_fixed(name) {
            return Err(exists(name));
        }
        let id = Uuid::new_v4().simple().to_string();
        let creation = self.catalog.create(&NewIndex {
            name,
            id: &id,
            config,
            is_data_stream,
            settings: Some(settings),
            replaces,
            max_indexes: self.max_indexes,
            now_ms: now_ms(),
        })?;
        match creation {
            Creation::Exists => Err(exists(name)),
            Creation::Full => Err(Problem::illegal(format!(
                "there are {} indexes under --indexes-in already: delete one, or raise --max-indexes",
                self.max_indexes
            ))),
            Creation::Created { entry, replaced } => {
                tracing::info!(target: "canter::serve", index = name, folder = entry.folder.as_str(), "index made");
                // First, so that documents waiting for the replaced one are still published instead of failing.
                let looked = self.look();
                if let Some(replaced) = replaced {
                    self.remove_objects(name, &replaced);
                }
                looked
            }
        }
    }

    /// Deletes an index; returns the removed objects, or `None` if it did not exist. Blocks.
    pub(crate) fn delete(&self, name: &str) -> Result<Option<Vec<(String, u64)>>, Problem> {
        let Some(entry) = self.catalog.remove(name, now_ms())? else {
            return Ok(None);
        };
        tracing::info!(target: "canter::serve", index = name, folder = entry.folder.as_str(), "index deleted");
        // It is deleted, whatever fails now: a sweep continues.
        if let Err(problem) = self.look() {
            tracing::warn!(target: "canter::serve", index = name, error = problem.reason.as_str(), "a deleted index is served for a while");
        }
        Ok(Some(self.remove_objects(name, &entry)))
    }

    fn remove_objects(&self, name: &str, entry: &CatalogEntry) -> Vec<(String, u64)> {
        let removed = self.catalog.remove_objects(entry);
        removed.unwrap_or_else(|error| {
            let (root, error) = (self.catalog.uri(), error.with_causes());
            tracing::warn!(target: "canter::serve", index = name, root, error, "objects of a deleted index are removed later");
            Vec::new()
        })
    }

    /// Reads the catalog, and serves its indexes. Blocks.
    pub(crate) fn look(&self) -> Result<(), Problem> {
        self.adopt(self.catalog.listed()?);
        Ok(())
    }

    /// Serves these indexes, and no others of the root. Blocks: documents waiting for a removed index are published, or
    /// fail.
    fn adopt(&self, (there, aliases): (Indexes, Aliases)) {
        let mut served = self.served();
        if *served.aliases != aliases {
            served.aliases = Arc::new(aliases);
        }
        let is_gone = |(name, entry): &(&String, &CatalogEntry)| {
            let there = there.get(*name);
            there.is_none_or(|there| there.folder != entry.folder)
        };
        let gone = served.indexes.iter().filter(is_gone);
        let gone: Vec<String> = gone.map(|(name, _)| name.clone()).collect();
        served.indexes.retain(|name, _| !gone.contains(name));
        served.failed.retain(|name| there.contains_key(name));
        drop(served);
        for name in gone {
            self.searcher.remove_index(&name);
            if let Some(writers) = &self.writers {
                writers.remove(&name);
            }
        }
        for (name, entry) in there {
            if let Some(own) = self.served().indexes.get_mut(&name) {
                own.settings = entry.settings;
                continue;
            }
            let opened = self.open_index(&name, &entry);
            let mut served = self.served();
            match opened {
                Ok(()) => {
                    served.failed.remove(&name);
                    served.indexes.insert(name, entry);
                }
                Err(error) => {
                    let shown = error.with_causes();
                    if served.failed.insert(name.clone()) {
                        tracing::error!(target: "canter::serve", index = name.as_str(), error = %shown, "an index cannot be opened");
                    }
                }
            }
        }
    }

    fn served(&self) -> MutexGuard<'_, Served> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open_index(&self, name: &str, entry: &CatalogEntry) -> Result<(), ServerError> {
        if self.fixed.contains(name) {
            let message = "--index names another of that name";
            return Err(ServerError::Invalid(message.to_owned()));
        }
        let uri = self.catalog.uri_of(entry);
        let options = OpenOptions::default();
        self.searcher.add_index(name, &uri, &options)?;
        let Some(writers) = &self.writers else {
            return Ok(());
        };
        let store = self.catalog.store_of(entry);
        let added = store
            .map_err(ServerError::from)
            .and_then(|store| writers.add(name, &uri, store));
        if added.is_err() {
            self.searcher.remove_index(name);
        }
        added
    }
}

/// Elasticsearch's name for the error that an index exists.
const EXISTS: &str = "resource_already_exists_exception";

/// Returns the config of an index that nothing describes.
fn untold(name: &str) -> Result<IndexConfig, Problem> {
    config_with(name, &[], false, &BTreeMap::new()).map_err(Problem::from)
}

fn exists(name: &str) -> Problem {
    Problem::invalid(EXISTS, format!("index [{name}] already exists"))
}

/// Returns the preset for OpenTelemetry's logs, for an index of this name.
fn logs_config(name: &str) -> Result<IndexConfig, Problem> {
    let preset = preset("otel-logs").map_err(Problem::internal)?;
    let mut config = IndexConfig::from_yaml(preset.yaml, |_| None)
        .map_err(|error| Problem::internal(error.to_string()))?;
    config.index_id = index_id_of(name);
    Ok(config)
}

/// Converts the templates for `canter-intake`.
pub(crate) fn set_of(templates: &Templates) -> TemplateSet<'_> {
    TemplateSet {
        index: &templates.index,
        component: &templates.component,
        legacy: &templates.legacy,
        policies: &templates.policies,
    }
}

fn now_ms() -> u64 {
    canter_index_builder::unix_time_ms()
}
