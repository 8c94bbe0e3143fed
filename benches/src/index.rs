//! Index of the HDFS-like corpus: built by the real builder and held in memory, or an existing one.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, create_index, ingest};
use canter_runtime::fetch::{MemoryFetcher, OpenOptions};
use canter_runtime::{Engine, Searcher};
use canter_samples::{CorpusReader, HDFS_LOGS_YAML, HdfsLogs};

use crate::{SEED, Settings};

/// Upper bound for the length of a generated line, so that no split ends before it has its
/// documents.
const MAX_LINE_LEN: u64 = 1024;

/// Index in memory. Searches share no cache.
pub struct BenchIndex {
    fetcher: Arc<MemoryFetcher>,
    max_parallel_leaves: u32,
}

impl BenchIndex {
    /// Generates and indexes `settings.num_docs` documents.
    pub fn build(settings: &Settings) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        build_index(folder.path(), settings)?;
        let mut fetcher = MemoryFetcher::new();
        read_folder(folder.path(), "", &mut fetcher)?;
        Ok(Self {
            fetcher: Arc::new(fetcher),
            max_parallel_leaves: settings.max_parallel_leaves,
        })
    }

    /// Creates a host of the index without a cache: every search starts cold.
    pub fn searcher(&self, engine: Arc<dyn Engine>) -> Result<Searcher> {
        let builder = Searcher::builder()
            .engine(engine)
            .fetcher(self.fetcher.clone())
            .max_parallel_leaves(self.max_parallel_leaves);
        Ok(builder.build()?)
    }
}

/// Creates a host of an index in a folder or a bucket, without a cache; a search is one session.
pub fn open_index(uri: &str, engine: Arc<dyn Engine>) -> Result<Searcher> {
    let builder = Searcher::builder()
        .engine(engine)
        .uri(uri, &OpenOptions::default())?
        .max_parallel_leaves(1);
    Ok(builder.build()?)
}

/// Generates `settings.num_docs` documents and indexes them into the empty folder `folder`.
pub(crate) fn build_index(folder: &Path, settings: &Settings) -> Result<()> {
    let uri = folder.to_str().context("the folder's name is not UTF-8")?;
    let config = IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None)?;
    let store = create_index(uri, &config)?;
    let split_num_docs = settings
        .num_docs
        .div_ceil(settings.num_splits.max(1))
        .max(1);
    let options = IngestOptions {
        split_num_docs_target: Some(split_num_docs),
        max_split_raw_num_bytes: split_num_docs.saturating_mul(MAX_LINE_LEN),
        ..IngestOptions::default()
    };
    let lines = CorpusReader::new(HdfsLogs::new(settings.num_docs, SEED));
    let report = ingest(
        &store,
        &options,
        vec![Source::reader("hdfs-logs", lines).with_id("hdfs-logs")],
        &(),
    )?;
    ensure!(
        report.num_ingested_docs == settings.num_docs,
        "lines were rejected"
    );
    ensure!(
        report.splits.len() as u64 == settings.num_splits,
        "{} splits instead of {}",
        report.splits.len(),
        settings.num_splits
    );
    Ok(())
}

fn read_folder(folder: &Path, prefix: &str, fetcher: &mut MemoryFetcher) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), &format!("{name}/"), fetcher)?;
        } else {
            fetcher.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}
