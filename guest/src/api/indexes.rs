//! Descriptions of indexes in the API: their config, and their totals.

use canter_names::matches_pattern;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use canter_split_format::{ManifestFile, PageRef, SplitEntry};

use super::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::limits::SECOND_NS;
use crate::plan::read_manifest;
use crate::root::to_json;
use crate::{ErrorKind, SearchError};

/// Selection of indexes.
#[derive(Debug)]
pub(crate) struct IndexFilter {
    /// Name patterns in which `*` matches anything. One of them must match.
    pub(super) patterns: Vec<String>,
    pub(super) is_pretty: bool,
}

impl IndexFilter {
    fn matches(&self, name: &str) -> bool {
        self.patterns
            .iter()
            .any(|pattern| matches_pattern(pattern, name))
    }
}

/// Checks that every index can be read.
pub(super) async fn ready(
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    for (name, manifest) in manifests(&settings.indexes, settings, exchange).await {
        if let Err(error) = manifest {
            let message = format!("the index {name} cannot be read: {}", error.message);
            return Err(SearchError::new(ErrorKind::Unavailable, message));
        }
    }
    Ok("true".to_owned())
}

/// Lists the existing indexes. An allowed index that has not been created yet is omitted.
pub(super) async fn list(
    filter: &IndexFilter,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    let names = settings.indexes.iter().filter(|name| filter.matches(name));
    let names: Vec<String> = names.cloned().collect();
    let mut indexes = Vec::new();
    for (name, manifest) in manifests(&names, settings, exchange).await {
        match manifest {
            Ok(manifest) => indexes.push(metadata(name, &manifest, settings)),
            Err(error) if error.kind == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    to_json(&Value::from(indexes), filter.is_pretty)
}

/// The description of one index.
#[derive(Clone, Copy, Debug)]
pub(crate) enum About {
    /// Its config, and its totals.
    Metadata,
    /// Its totals.
    Totals,
}

/// Describes one index.
pub(super) async fn describe(
    index: &str,
    about: About,
    is_pretty: bool,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    let exchange = exchange.of_index(index);
    let file = read_manifest(&exchange, &settings.limits).await?;
    let answer = match about {
        About::Metadata => metadata(index, &file, settings),
        About::Totals => description(index, &file, settings),
    };
    to_json(&answer, is_pretty)
}

/// Reads the manifests of these indexes, all at once.
pub(super) async fn manifests<'a>(
    names: &'a [String],
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Vec<(&'a str, Result<ManifestFile, SearchError>)> {
    let reads = names.iter().map(|name| async move {
        let exchange = exchange.of_index(name);
        (
            name.as_str(),
            read_manifest(&exchange, &settings.limits).await,
        )
    });
    join_all(reads).await
}

/// Returns an index in the form of Quickwit's API. Its id is the name under which it is searched here,
/// which may differ from the one in its config.
fn metadata(name: &str, file: &ManifestFile, settings: &ApiSettings) -> Value {
    let mut config = file.manifest.index_config.clone();
    if let Value::Object(config) = &mut config {
        config.insert("index_id".to_owned(), name.into());
    }
    let mut index = Map::new();
    let version = config.get("version").cloned();
    index.insert("version".to_owned(), version.unwrap_or(Value::Null));
    index.insert("index_uid".to_owned(), name.into());
    index.insert("index_config".to_owned(), config);
    add_totals(&mut index, file, settings);
    index.into()
}

/// Returns a short description of an index. Only the host knows its location: the URI is the one in its config, or else
/// its name.
fn description(name: &str, file: &ManifestFile, settings: &ApiSettings) -> Value {
    let uri = file.manifest.index_config.get("index_uri").cloned();
    let uri = uri.filter(Value::is_string);
    let mut index = Map::new();
    index.insert("index_id".to_owned(), name.into());
    index.insert("index_uri".to_owned(), uri.unwrap_or_else(|| name.into()));
    add_totals(&mut index, file, settings);
    index.into()
}

/// Sums a figure over all splits of an index, including those in pages of its manifest.
fn sum(file: &ManifestFile, of: fn(&SplitEntry) -> u64, of_page: fn(&PageRef) -> u64) -> u64 {
    let splits = file.manifest.splits.iter().map(of);
    let all = splits.chain(file.pages.iter().map(of_page));
    all.fold(0, u64::saturating_add)
}

/// Returns the number of documents of an index that are not deleted, of those that are, and of the bytes of its splits.
pub(super) fn amounts(file: &ManifestFile) -> (u64, u64, u64) {
    let num_live = sum(file, SplitEntry::num_live_docs, |page| {
        page.num_docs.saturating_sub(page.num_deleted)
    });
    let num_docs = sum(file, |split| split.num_docs, |page| page.num_docs);
    let num_bytes = sum(file, |split| split.len, |page| page.num_split_bytes);
    (num_live, num_docs.saturating_sub(num_live), num_bytes)
}

/// Adds the size and time range of an index. A caller with a forced filter gets neither.
fn add_totals(index: &mut Map<String, Value>, file: &ManifestFile, settings: &ApiSettings) {
    if settings.forced_filter.is_some() {
        return;
    }
    let ManifestFile {
        manifest, pages, ..
    } = file;
    let (num_live, _, num_bytes) = amounts(file);
    let ranges = || {
        let splits = manifest.splits.iter().map(|split| split.time_range);
        splits
            .chain(pages.iter().map(|page| page.time_range))
            .flatten()
    };
    let start_ns = ranges().map(|range| range.start_ns).min();
    let end_ns = ranges().map(|range| range.end_ns).max();
    let timestamp_field = manifest
        .index_config
        .pointer("/doc_mapping/timestamp_field");
    let totals = json!({
        "num_published_docs": num_live,
        "num_published_splits": file.num_splits(),
        "size_published_splits": num_bytes,
        "size_published_docs_uncompressed": sum(file, |split| split.raw_num_bytes, |page| page.raw_num_bytes),
        "timestamp_field_name": timestamp_field.cloned().unwrap_or(Value::Null),
        "min_timestamp": start_ns.map(|ns| ns.div_euclid(SECOND_NS)),
        "max_timestamp": end_ns.map(|ns| ns.div_euclid(SECOND_NS)),
    });
    if let Value::Object(totals) = totals {
        index.extend(totals);
    }
}
