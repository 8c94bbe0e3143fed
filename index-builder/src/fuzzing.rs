//! Parsers of objects in a store besides splits and manifests, and of log files, for the fuzz targets. Not part of the
//! API.

use std::path::Path;
use std::sync::Arc;

use canter_doc_mapper::IndexConfig;
use serde::Serialize;

use crate::arrivals::unpacked;
use crate::index::catalog::{self, CatalogFile, Templates};
use crate::ingest::{IngestOptions, Receipt, read_checkpoint};
use crate::input::source::{ReadSettings, RecordReader, Source, take_apart};

/// Result of parsing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Names of folders and objects that are accessed because of it.
    pub names: Vec<String>,
    /// The serialized result.
    pub written: Vec<u8>,
}

impl Read {
    fn new(names: Vec<String>, value: &impl Serialize) -> Self {
        let written = serde_json::to_vec(value).unwrap_or_default();
        Self { names, written }
    }
}

/// Parses `indexes.json`.
#[must_use]
pub fn catalog(bytes: &[u8]) -> Option<Read> {
    let file = catalog::parse::<CatalogFile>(bytes, "fuzz").ok()?;
    let names = file.folders().map(|folder| folder.as_str().to_owned());
    Some(Read::new(names.collect(), &file))
}

/// Parses `templates.json`.
#[must_use]
pub fn templates(bytes: &[u8]) -> Option<Read> {
    let file = catalog::parse::<Templates>(bytes, "fuzz").ok()?;
    Some(Read::new(Vec::new(), &file))
}

/// Parses a checkpoint of an ingest.
#[must_use]
pub fn checkpoint(bytes: &[u8]) -> Option<Read> {
    let checkpoint = read_checkpoint(bytes)?;
    Some(Read::new(checkpoint.objects(), &checkpoint))
}

/// Parses the receipt of a part of a shared build.
#[must_use]
pub fn receipt(bytes: &[u8]) -> Option<Read> {
    let receipt = Receipt::from_json(std::str::from_utf8(bytes).ok()?).ok()?;
    Some(Read::new(receipt.objects(), &receipt))
}

/// Returns the lines of an object in the spool, if they have at most `max_num_bytes`.
#[must_use]
pub fn spooled(bytes: &[u8], max_num_bytes: usize) -> Option<Vec<u8>> {
    unpacked(bytes, max_num_bytes).ok()
}

/// Reads all records of a file, or of each member of an archive, and counts them.
#[must_use]
pub fn stored_logs(path: &Path) -> u64 {
    let options = IngestOptions::default();
    let config = serde_json::json!({
        "version": "0.8", "index_id": "fuzz", "doc_mapping": {"mode": "dynamic"},
    });
    let config = IndexConfig::from_json(config.to_string().as_bytes());
    let Some(settings) = config
        .ok()
        .and_then(|config| ReadSettings::new(&options, &config).ok())
    else {
        return 0;
    };
    let taken = take_apart(vec![Source::file(path)], options.max_expansion);
    let sources = taken.map_or_else(|_| Vec::new(), |taken| taken.sources);
    sources
        .into_iter()
        .map(|source| count(source, &settings))
        .sum()
}

fn count(source: Source, settings: &ReadSettings) -> u64 {
    let Ok(input) = source.open(Arc::default(), settings) else {
        return 0;
    };
    let Ok(mut reader) = RecordReader::new(input, 0, settings) else {
        return 0;
    };
    let mut num_records = 0;
    while let Ok(Some(batch)) = reader.next_batch() {
        num_records += batch.len() as u64;
    }
    num_records
}
