//! Change of an index's config: compare, swap, and repeat after a conflict.
//!
//! No split is changed. Splits that are being ingested or merged in the meantime are published
//! unchanged, and count as existing ones.

use canter_doc_mapper::IndexConfig;
use canter_doc_mapper::evolution::{Evolution, Refusal, evolve};
use canter_split_format::{MANIFEST_OBJECT, ManifestFile};
use serde::Serialize;
use serde_json::Value;

use super::create::{MAX_ATTEMPTS, config_of, config_value, load, manifest_bytes, pause};
use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::{IndexStore, Swap};

/// Change of a config.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigChange {
    /// Path in the config, such as `search_settings.default_search_fields`.
    pub place: String,
    /// Old value; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<Value>,
    /// New value; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<Value>,
    /// Both values in one line.
    #[serde(skip)]
    pub shown: String,
}

/// Effect of an update, actual or planned.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UpdateReport {
    /// Changes; empty if the index had this config already.
    pub changes: Vec<ConfigChange>,
    /// Paths of the new fields.
    pub added_fields: Vec<String>,
    /// Consequences for existing documents.
    pub notes: Vec<String>,
    /// True if the update was only planned.
    pub is_dry_run: bool,
}

impl UpdateReport {
    fn of(evolution: &Evolution, is_dry_run: bool, has_documents: bool) -> Self {
        let changes = evolution.differences.iter().map(|difference| ConfigChange {
            place: difference.place.clone(),
            was: difference.was.clone(),
            is: difference.asked.clone(),
            shown: difference.to_string(),
        });
        Self {
            changes: changes.collect(),
            added_fields: evolution.added_fields.clone(),
            notes: match has_documents {
                true => evolution.notes(),
                false => Vec::new(),
            },
            is_dry_run,
        }
    }
}

/// Changes the config of the index at `store` to `asked`, if its splits can be kept: see
/// [`evolve`](canter_doc_mapper::evolution::evolve). With `is_dry_run`, only reports the changes.
///
/// # Errors
/// `Invalid` with a list of all unsupported changes and advice for each; errors of
/// [`IndexStore::load_config`]; `Unavailable` if storage does not answer or conflicts persist. In
/// each case, the old config stays.
pub fn update_index(
    store: &IndexStore,
    asked: &IndexConfig,
    is_dry_run: bool,
) -> Result<UpdateReport, BuildError> {
    blocking::run(update(store, asked, is_dry_run))
}

pub(crate) async fn update(
    store: &IndexStore,
    asked: &IndexConfig,
    is_dry_run: bool,
) -> Result<UpdateReport, BuildError> {
    // After a lost answer, a successful swap looks like a conflict, and the index has the config
    // already.
    let mut attempted = None;
    for num_attempts in 1..=MAX_ATTEMPTS {
        let loaded = load(store).await?;
        if !is_dry_run {
            store.ensure_conditional_writes_of(&loaded.version).await?;
        }
        let mut file = loaded.file;
        let was = config_of(store, &file)?;
        let evolution = evolve(&was, asked).map_err(|refusals| refused(store, &refusals))?;
        let report = UpdateReport::of(&evolution, is_dry_run, has_documents(&file));
        if is_dry_run {
            return Ok(report);
        }
        if evolution.differences.is_empty() {
            return Ok(attempted.unwrap_or(report));
        }
        file.manifest.index_config = config_value(&evolution.config)?;
        let bytes = manifest_bytes(&file)?;
        let swap = store.replace(MANIFEST_OBJECT, bytes, &loaded.version);
        if swap.await? == Swap::Done {
            return Ok(report);
        }
        attempted = Some(report);
        tokio::time::sleep(pause(num_attempts)).await;
    }
    Err(BuildError::unavailable(format!(
        "others changed the manifest of `{}` during each of {MAX_ATTEMPTS} attempts: run the same again",
        store.name()
    )))
}

fn has_documents(file: &ManifestFile) -> bool {
    file.num_splits() > 0
}

fn refused(store: &IndexStore, refusals: &[Refusal]) -> BuildError {
    let lines: Vec<String> = refusals
        .iter()
        .map(|refusal| format!("\n  {refusal}"))
        .collect();
    BuildError::invalid(format!(
        "the config of the index at `{}` cannot become this one, and nothing was changed:{}",
        store.name(),
        lines.concat()
    ))
}

/// Returns whether a config equals that of an index, apart from the parts that only an index has.
pub(super) fn is_config_of(known: &IndexConfig, config: &IndexConfig) -> bool {
    evolve(known, config).is_ok_and(|evolution| evolution.differences.is_empty())
}

/// Returns whether splits that were built with one config can be part of an index with the other.
pub(super) fn may_become(built_with: &IndexConfig, now: &IndexConfig) -> bool {
    let (before, after) = (&built_with.doc_mapping, &now.doc_mapping);
    after.added_fields.starts_with(&before.added_fields) && evolve(built_with, now).is_ok()
}

#[cfg(test)]
mod tests;
