//! Indexer function: an ingest for each object, and one report.

use std::io::{BufRead, BufReader};
use std::path::Path;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    BuildError, IndexStore, IngestOptions, IngestReport, Source, ingest, merge_index,
    open_or_create_index, unix_time_ms,
};
use lambda_runtime::{Diagnostic, LambdaEvent};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tracing::{info, warn};

use super::config::{ConfigSource, IndexerConfig};
use super::event::{Arrived, arrived};
use super::object::{self, ObjectError, ObjectReader};
use crate::Served;
use crate::env::{ConfigError, Environment};

/// Maximum length of an index config.
const MAX_CONFIG_BYTES: u64 = 4 << 20;
/// Maximum number of rejects of an object in the report. All of them are counted.
const NUM_SHOWN_REJECTS: usize = 10;

/// Indexes objects that arrive. Created once when an instance of the function starts.
pub struct IndexerFunction {
    config: IndexerConfig,
    env: Environment,
    /// Config that was read at the start, if it is in the environment.
    index_config: Option<IndexConfig>,
    store: OnceCell<IndexStore>,
}

/// An ingest is finished when its answer is sent.
impl Served for IndexerFunction {}

impl IndexerFunction {
    /// Creates the function from the environment, without access to storage yet.
    ///
    /// # Errors
    /// A setting is missing or invalid.
    pub fn new(env: &Environment) -> Result<Self, ConfigError> {
        let config = IndexerConfig::from_env(env)?;
        let index_config = match &config.index_config {
            Some(ConfigSource::Text(text)) => Some(read_config(text, env).map_err(ConfigError)?),
            _ => None,
        };
        Ok(Self {
            config,
            env: env.clone(),
            index_config,
            store: OnceCell::new(),
        })
    }

    /// Indexes the objects of one event, one by one.
    ///
    /// # Errors
    /// An object could not be indexed, so that the event is repeated. The other objects are indexed
    /// by then and recognized as known.
    pub async fn handle(&self, event: LambdaEvent<Value>) -> Result<Value, Diagnostic> {
        let failed = |kind: &str, message| Diagnostic {
            error_type: format!("Canter.{kind}"),
            error_message: message,
        };
        let objects = arrived(event.payload).map_err(|message| failed("UnknownEvent", message))?;
        let mut reports = Vec::new();
        let mut failures = Vec::new();
        for object in objects {
            match self.index(&object).await {
                Ok(report) => {
                    info!(target: "canter::lambda", %report, "indexed");
                    reports.push(report);
                }
                Err(message) => {
                    warn!(target: "canter::lambda", object = object.uri(), message, "not indexed");
                    failures.push(message);
                }
            }
        }
        let merged = self.merge().await;
        match failures.is_empty() {
            true => Ok(json!({"objects": reports, "merge": merged})),
            false => Err(failed("NotIndexed", failures.join("; "))),
        }
    }

    /// Indexes one object. Returns its report, or the reason why it was not indexed.
    async fn index(&self, object: &Arrived) -> Result<Value, String> {
        let uri = object.uri();
        let skipped = |why: &str| json!({"object": uri, "status": "skipped", "reason": why});
        let own = format!("{}/", self.config.index.trim_end_matches('/'));
        if uri.starts_with(&own) {
            // Otherwise the function would index its own output, endlessly.
            return Ok(skipped("it is a part of the index itself"));
        }
        if object.is_folder() {
            return Ok(skipped("it marks a folder, and is empty"));
        }
        let store = self.store.get_or_try_init(|| self.open()).await?.clone();
        let reader = match object::open(object, self.config.max_object_bytes).await {
            Ok(reader) => reader,
            Err(ObjectError::Superseded(why)) => return Ok(skipped(&why)),
            Err(ObjectError::Failed(message)) => return Err(message),
        };
        let options = self.config.options.clone();
        let name = uri.clone();
        let done =
            tokio::task::spawn_blocking(move || ingest_object(&store, options, &name, reader));
        let (report, rejects) = done.await.map_err(|error| format!("{uri}: {error}"))??;
        Ok(json!({
            "object": uri,
            "status": "indexed",
            "num_lines": report.num_lines,
            "num_ingested_docs": report.num_ingested_docs,
            "num_known_docs": report.num_known_docs,
            "num_rejected_docs": report.num_rejected_docs,
            "num_dropped_docs": report.num_dropped_docs,
            "num_blank_lines": report.num_blank_lines,
            "num_published_splits": report.num_published_splits,
            "num_known_splits": report.num_known_splits,
            "rejects_by_reason": report.rejects_by_reason,
            "first_rejects": rejects,
            "warnings": report.warnings,
        }))
    }

    /// Merges some of the splits that are due, if enabled. Returns a report or an error, which does
    /// not affect the published documents.
    async fn merge(&self) -> Value {
        let (Some(store), Some(options)) = (self.store.get(), &self.config.merge) else {
            return Value::Null;
        };
        let (store, options) = (store.clone(), options.clone());
        let done = tokio::task::spawn_blocking(move || {
            let merged = merge_index(&store, &options, &|_| {});
            merged.map_err(|error| told(&error))
        });
        let merged = done.await.unwrap_or_else(|error| Err(error.to_string()));
        match merged {
            Ok(report) => json!({
                "num_merges": report.merges.len(),
                "num_splits_before": report.num_splits_before,
                "num_splits": report.num_splits,
            }),
            Err(message) => {
                warn!(target: "canter::lambda", message, "not merged");
                json!({"error": message})
            }
        }
    }

    /// Opens the index, and creates it if necessary.
    async fn open(&self) -> Result<IndexStore, String> {
        let config = match (&self.index_config, &self.config.index_config) {
            (Some(config), _) => Some(config.clone()),
            (None, Some(ConfigSource::Uri(uri))) => {
                let text = object::read_whole(uri, MAX_CONFIG_BYTES).await?;
                let text = std::str::from_utf8(&text);
                let text = text.map_err(|error| format!("{uri} is not UTF-8: {error}"))?;
                let config = read_config(text, &self.env);
                Some(config.map_err(|error| format!("{uri}: {error}"))?)
            }
            (None, _) => None,
        };
        let index = self.config.index.clone();
        let opened = tokio::task::spawn_blocking(move || match config {
            Some(config) => open_or_create_index(&index, &config).map(|(store, is_new)| {
                info!(target: "canter::lambda", index, is_new, "opened");
                store
            }),
            None => IndexStore::open(&index),
        });
        opened
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| told(&error))
    }
}

/// Builds and publishes splits. Returns the report and the first rejects. Blocks the thread.
fn ingest_object(
    store: &IndexStore,
    mut options: IngestOptions,
    name: &str,
    reader: ObjectReader,
) -> Result<(IngestReport, Vec<Value>), String> {
    let rejects = tempfile::NamedTempFile::new()
        .map_err(|error| format!("no file for rejects can be made: {error}"))?;
    options.rejects_path = Some(rejects.path().to_owned());
    options.ingested_at_ms = unix_time_ms();
    let id = reader.source_id(name);
    let source = Source::reader(name, reader).with_id(id);
    let report = ingest(store, &options, vec![source], &());
    let first = first_rejects(rejects.path());
    match report {
        Ok(report) => Ok((report, first)),
        Err(error) => {
            let first = first
                .first()
                .map(|reject| format!("; the first reject is {reject}"));
            Err(format!(
                "{name}: {}{}",
                told(&error),
                first.unwrap_or_default()
            ))
        }
    }
}

/// Returns the first lines of a rejects file for the report. Lines that cannot be read are left
/// out.
fn first_rejects(path: &Path) -> Vec<Value> {
    let Ok(file) = std::fs::File::open(path) else {
        return Vec::new();
    };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    let first = lines.take(NUM_SHOWN_REJECTS);
    first
        .filter_map(|line| serde_json::from_str(&line).ok())
        .collect()
}

fn read_config(text: &str, env: &Environment) -> Result<IndexConfig, String> {
    let config = match text.trim_start().starts_with('{') {
        true => IndexConfig::from_json(text.as_bytes()),
        false => IndexConfig::from_yaml(text, |name| env.get(name).map(str::to_owned)),
    };
    config.map_err(|error| format!("CANTER_INDEX_CONFIG cannot be used: {error}"))
}

/// Returns the error with its causes.
fn told(error: &BuildError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
