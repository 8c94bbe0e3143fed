//! Building: converts documents from Python to splits, and publishes them.

use std::io::{self, Read};
use std::path::PathBuf;

use canter_doc_mapper::IndexConfig;
use canter_formats::Format;
use canter_index_builder::{
    ArrowTables, IndexStore, IngestOptions, Receipt, Source, build_part, open_or_create_index,
    publish_receipts,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::{InternalError, InvalidRequestError, of_build};

/// Lines that Python produces on demand.
struct PythonLines {
    /// Function that returns further documents: a flag for a table of Arrow, and lines or a table
    /// as bytes; no bytes at the end.
    next: Py<PyAny>,
    /// Loaded with the first table.
    tables: Option<ArrowTables>,
    store: IndexStore,
    bytes: Vec<u8>,
    read: usize,
}

impl PythonLines {
    fn fill(&mut self) -> io::Result<()> {
        (self.read, self.bytes) = (0, Vec::new());
        while self.bytes.is_empty() {
            let called = Python::attach(|py| self.next.call0(py)?.extract::<(bool, Vec<u8>)>(py));
            let (is_table, given) = called.map_err(io::Error::other)?;
            if given.is_empty() {
                break;
            }
            if !is_table {
                self.bytes = given;
                break;
            }
            let tables = match &self.tables {
                Some(tables) => tables,
                None => self
                    .tables
                    .insert(ArrowTables::of_index(&self.store).map_err(io::Error::other)?),
            };
            // A table without rows has no lines.
            let written = tables.write_lines(&given, &mut self.bytes);
            written.map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl Read for PythonLines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.read == self.bytes.len() {
            self.fill()?;
        }
        let mut rest = self.bytes.get(self.read..).unwrap_or_default();
        let len = rest.read(out)?;
        self.read += len;
        Ok(len)
    }
}

/// Creates the index of a config (YAML or JSON), unless it exists with the same config. Returns
/// whether it was created.
#[pyfunction]
pub(crate) fn create(py: Python<'_>, uri: &str, config: &str) -> PyResult<bool> {
    let config = IndexConfig::from_yaml(config, |name| std::env::var(name).ok())
        .map_err(|error| InvalidRequestError::new_err(error.to_string()))?;
    let made = py.detach(|| open_or_create_index(uri, &config));
    made.map(|(_, is_new)| is_new)
        .map_err(|error| of_build(&error))
}

/// Builds and uploads splits of the lines that `next` returns, and returns the receipt. `source` is
/// the identity of the lines.
#[pyfunction]
#[pyo3(signature = (uri, next, source, split_num_docs, rejects, max_rejects))]
pub(crate) fn build_split(
    py: Python<'_>,
    uri: &str,
    next: Py<PyAny>,
    source: &str,
    split_num_docs: Option<u64>,
    rejects: Option<PathBuf>,
    max_rejects: Option<u64>,
) -> PyResult<String> {
    let options = IngestOptions {
        split_num_docs_target: split_num_docs,
        rejects_path: rejects,
        max_rejects,
        // The format is not guessed from the first documents.
        format: Some(Format::Ndjson),
        ..IngestOptions::default()
    };
    let built = py.detach(|| {
        let store = IndexStore::open(uri)?;
        let lines = PythonLines {
            next,
            tables: None,
            store: store.clone(),
            bytes: Vec::new(),
            read: 0,
        };
        let source = Source::reader(source, lines).with_id(source);
        build_part(&store, &options, vec![source], &())?.to_json()
    });
    built.map_err(|error| of_build(&error))
}

/// Publishes the uploads in receipts, all at once. Returns the result as a JSON object.
#[pyfunction]
pub(crate) fn publish(py: Python<'_>, uri: &str, receipts: Vec<String>) -> PyResult<String> {
    let published = py.detach(|| {
        let receipts = receipts.iter().map(|json| Receipt::from_json(json));
        let receipts = receipts.collect::<Result<Vec<_>, _>>()?;
        publish_receipts(&IndexStore::open(uri)?, &receipts)
    });
    let published = published.map_err(|error| of_build(&error))?;
    let report = json!({
        "num_published_docs": published.num_published_docs,
        "num_known_docs": published.num_known_docs,
        "num_published_splits": published.num_published_splits,
        "num_known_splits": published.num_known_splits,
        "num_live_splits": published.num_live_splits,
    });
    serde_json::to_string(&report).map_err(|error| InternalError::new_err(error.to_string()))
}
