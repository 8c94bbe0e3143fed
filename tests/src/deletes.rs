//! Deletion of documents in a test index, as the command line does it.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, ensure};
use canter_index_builder::{DeleteReport, delete_documents};
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_split_format::ListedSplit;
use serde_json::Value;

use crate::TestIndex;
use crate::index::{read_folder, run_divided};

/// Returns the documents that a request matches, by split.
pub fn list(searcher: &Searcher, request: &Value) -> Result<Vec<ListedSplit>> {
    let mut request = request.clone();
    request["max_hits"] = 0.into();
    request["list_documents"] = true.into();
    let mut answer = run_divided(searcher, &request)?.json;
    ensure!(
        answer["failed_splits"] == Value::Array(Vec::new()),
        "{answer}"
    );
    let listed: Vec<ListedSplit> = serde_json::from_value(answer["listed_splits"].take())?;
    let num_listed: u64 = listed.iter().map(|split| split.num_listed).sum();
    ensure!(
        answer["num_hits"] == num_listed,
        "{num_listed} listed: {answer}"
    );
    Ok(listed)
}

impl TestIndex {
    /// Returns the index without the documents that a request matches.
    pub fn delete(&self, request: &Value) -> Result<(Self, DeleteReport)> {
        let stored = self.to_folder()?;
        let searcher = self.searcher(Arc::new(NativeEngine::new()), 3, 3)?;
        let report = delete_documents(&stored.store, || list(&searcher, request))?;
        let mut objects = BTreeMap::new();
        read_folder(stored.folder.path(), "", &mut objects)?;
        let left = Self {
            objects,
            report: self.report.clone(),
        };
        Ok((left, report))
    }
}
