//! All documents that a query matches, in parts that any process can read.

use std::sync::{Mutex, PoisonError};

use canter_index_builder::{Documents, DocumentsPart, IndexStore, locate_documents};
use canter_runtime::SearchError;
use canter_split_format::ListedSplit;
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::{DataError, UnavailableError, of_build, of_search};
use crate::searcher::Searcher;

/// Maximum number of times that documents are listed because others merged their splits.
const MAX_LISTS: usize = 5;

/// Maximum number of splits in an error.
const MAX_NAMED: usize = 3;

/// Lists the documents that a search request matches, in parts of at most `max_docs`. Returns each
/// part as JSON, with its number of documents.
#[pyfunction]
pub(crate) fn list_documents(
    py: Python<'_>,
    uri: &str,
    request: &str,
    max_docs: u64,
    deadline_ms: u64,
) -> PyResult<Vec<(u64, String)>> {
    let mut request = canter_names::read_json(request.as_bytes())
        .map_err(|error| of_search(SearchError::invalid(error.of("the search request"))))?;
    request["max_hits"] = 0.into();
    request["list_documents"] = true.into();
    for _ in 0..MAX_LISTS {
        // The index is opened again each time to read the current manifest.
        let searcher = Searcher::new(py, uri, "native", None, 64 << 20, None, Some(deadline_ms))?;
        let mut answer = searcher.answer(py, &request)?;
        check_whole(&answer)?;
        let listed: Vec<ListedSplit> = serde_json::from_value(answer["listed_splits"].take())
            .map_err(|error| DataError::new_err(format!("the list of documents: {error}")))?;
        let located = py.detach(|| locate_documents(&IndexStore::open(uri)?, listed));
        let Some(parts) = located.map_err(|error| of_build(&error))? else {
            continue;
        };
        let parts = parts.into_iter().flat_map(|part| part.divide(max_docs));
        let parts = parts.map(|part| Ok((part.num_docs(), part.to_json()?)));
        let parts: Result<_, canter_index_builder::BuildError> = parts.collect();
        return parts.map_err(|error| of_build(&error));
    }
    Err(UnavailableError::new_err(format!(
        "others merged splits of `{uri}` while their documents were listed, {MAX_LISTS} times: try again"
    )))
}

/// Refuses a list in which a split is missing.
fn check_whole(answer: &Value) -> PyResult<()> {
    let mut missing: Vec<String> = Vec::new();
    for key in ["failed_splits", "skipped_splits"] {
        for split in answer[key].as_array().into_iter().flatten() {
            let text = |key: &str| split[key].as_str().unwrap_or("?");
            missing.push(format!("{} ({})", text("split_id"), text("message")));
        }
    }
    if missing.is_empty() {
        let is_cut_short = answer["timed_out"] == true || !answer["budget_exhausted"].is_null();
        return match is_cut_short {
            true => Err(UnavailableError::new_err(
                "listing documents took too long: raise deadline_ms, or ask for less",
            )),
            false => Ok(()),
        };
    }
    let num_missing = missing.len();
    missing.truncate(MAX_NAMED);
    Err(DataError::new_err(format!(
        "{num_missing} of the index's splits or pages could not be searched: {}",
        missing.join("; ")
    )))
}

/// Reader of the documents of a part.
#[pyclass(frozen)]
pub(crate) struct DocumentReader(Mutex<Documents>);

#[pymethods]
impl DocumentReader {
    /// Opens a part of `list_documents`.
    #[new]
    fn new(py: Python<'_>, uri: &str, part: &str) -> PyResult<Self> {
        let opened = py.detach(|| {
            let part = DocumentsPart::from_json(part)?;
            Documents::open(&IndexStore::open(uri)?, &part)
        });
        let opened = opened.map_err(|error| of_build(&error))?;
        Ok(Self(Mutex::new(opened)))
    }

    /// Reads further documents, one per line. Returns no bytes at the end.
    fn read(&self, py: Python<'_>, max_bytes: usize) -> PyResult<Vec<u8>> {
        let read = py.detach(|| {
            let mut documents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut lines = Vec::new();
            documents.read_lines(max_bytes, &mut lines)?;
            Ok(lines)
        });
        read.map_err(|error: canter_index_builder::BuildError| of_build(&error))
    }
}

/// Returns the index's config as JSON.
#[pyfunction]
pub(crate) fn index_config(py: Python<'_>, uri: &str) -> PyResult<String> {
    let config = py.detach(|| {
        let file = IndexStore::open(uri)?.load_manifest()?;
        Ok(file.manifest.index_config.to_string())
    });
    config.map_err(|error: canter_index_builder::BuildError| of_build(&error))
}
