//! Output of `canter index describe`.

use super::super::pages::read_paged_entries;
use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::IndexStore;
use canter_split_format::{ManifestFile, SplitEntry, TimeRange};
use serde::Serialize;

/// Statistics of an index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexDescription {
    /// Name of the index, from its config.
    pub index_id: String,
    /// URI of the index.
    pub index_uri: String,
    /// Number of documents in live splits.
    pub num_docs: u64,
    /// Number of deleted documents that are still in live splits, until these are merged.
    pub num_deleted_docs: u64,
    /// Number of live splits.
    pub num_splits: u64,
    /// Number of bytes of the documents' input.
    pub num_raw_bytes: u64,
    /// Total length of the live splits' objects.
    pub num_split_bytes: u64,
    /// Total length of the live splits' heads, which are part of the objects.
    pub num_head_bytes: u64,
    /// Number of splits whose heads are in the manifest.
    pub num_inlined_heads: u64,
    /// Number of pages, which list the splits that the manifest does not.
    pub num_pages: u64,
    /// Total length of these pages' objects.
    pub num_page_bytes: u64,
    /// Earliest and latest timestamp, if the index has a timestamp field and a document.
    pub time_range: Option<TimeRange>,
    /// Name of the timestamp field.
    pub timestamp_field: Option<String>,
    /// Live splits, oldest first.
    pub splits: Vec<SplitEntry>,
}

impl IndexDescription {
    /// Creates the description from a manifest and the entries of its pages.
    #[must_use]
    pub fn of_manifest(
        index_uri: &str,
        file: &ManifestFile,
        paged: Vec<SplitEntry>,
    ) -> IndexDescription {
        let mut manifest = file.manifest.clone();
        manifest.splits.extend(paged);
        manifest.sort_splits();
        let text = |pointer: &str| {
            manifest
                .index_config
                .pointer(pointer)
                .and_then(|value| value.as_str())
                .map(String::from)
        };
        let sum = |of: fn(&SplitEntry) -> u64| manifest.splits.iter().map(of).sum();
        let ranges = || manifest.splits.iter().filter_map(|split| split.time_range);
        let time_range = ranges().reduce(|left, right| TimeRange {
            start_ns: left.start_ns.min(right.start_ns),
            end_ns: left.end_ns.max(right.end_ns),
        });
        IndexDescription {
            index_id: text("/index_id").unwrap_or_default(),
            index_uri: index_uri.to_string(),
            num_docs: manifest.num_docs(),
            num_deleted_docs: sum(|split| split.num_docs.saturating_sub(split.num_live_docs())),
            num_splits: manifest.splits.len() as u64,
            num_raw_bytes: sum(|split| split.raw_num_bytes),
            num_split_bytes: sum(|split| split.len),
            num_head_bytes: sum(|split| split.head_len),
            num_inlined_heads: manifest
                .splits
                .iter()
                .filter(|split| file.head(&split.id).is_some())
                .count() as u64,
            num_pages: file.pages.len() as u64,
            num_page_bytes: file.pages.iter().map(|page| page.object_len()).sum(),
            time_range,
            timestamp_field: text("/doc_mapping/timestamp_field"),
            splits: manifest.splits,
        }
    }
}

impl IndexStore {
    /// Returns the description of the index.
    ///
    /// # Errors
    /// Errors of [`IndexStore::load_manifest`], or `Data` if a page is missing or damaged.
    pub fn describe(&self) -> Result<IndexDescription, BuildError> {
        let file = self.load_manifest()?;
        let paged = blocking::run(read_paged_entries(self, &file))?;
        Ok(IndexDescription::of_manifest(self.uri(), &file, paged))
    }
}
