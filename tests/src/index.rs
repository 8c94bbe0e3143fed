//! Index that the real builder writes to a folder, held in memory so that tests can serve, damage
//! and reorder it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, IngestReport, Source, create_index, ingest};
use canter_runtime::engine::{Engine, NativeEngine};
use canter_runtime::fetch::MemoryFetcher;
use canter_runtime::{Limits, SearchError, SearchResponse, Searcher};
use canter_samples::{CorpusReader, HdfsLogs};
use canter_split_format::{MANIFEST_OBJECT, ManifestFile};
use serde_json::Value;

/// Objects of an index.
#[derive(Clone)]
pub struct TestIndex {
    /// Bytes by object name.
    pub objects: BTreeMap<String, Bytes>,
    /// Report of the ingest.
    pub report: IngestReport,
}

impl TestIndex {
    /// Builds an index of `lines`, with splits of `split_num_docs` documents.
    pub fn build(config_yaml: &str, lines: &[String], split_num_docs: u64) -> Result<Self> {
        Self::build_of(config_yaml, &[&[("lines", lines)]], split_num_docs)
    }

    /// Builds an index by several ingests, each of several sources with an id and lines. The report
    /// is that of the last ingest.
    pub fn build_of(
        config_yaml: &str,
        ingests: &[&[(&str, &[String])]],
        split_num_docs: u64,
    ) -> Result<Self> {
        let config = IndexConfig::from_yaml(config_yaml, |_| None)?;
        let folder = tempfile::tempdir()?;
        let uri = folder
            .path()
            .to_str()
            .context("a temporary folder has a UTF-8 name")?;
        let store = create_index(uri, &config)?;
        let options = IngestOptions {
            split_num_docs_target: Some(split_num_docs),
            ..IngestOptions::default()
        };
        let mut report = None;
        for sources in ingests {
            let sources = sources.iter().map(|(id, lines)| {
                let text = lines.join("\n").into_bytes();
                Source::reader(*id, std::io::Cursor::new(text)).with_id(*id)
            });
            report = Some(ingest(&store, &options, sources.collect(), &())?);
        }
        let report = report.context("an index takes an ingest")?;
        let mut objects = BTreeMap::new();
        read_folder(folder.path(), "", &mut objects)?;
        Ok(Self { objects, report })
    }

    /// Builds an index by one ingest.
    pub fn of_sources(
        config_yaml: &str,
        sources: Vec<Source>,
        options: &IngestOptions,
    ) -> Result<Self> {
        let config = IndexConfig::from_yaml(config_yaml, |_| None)?;
        let folder = tempfile::tempdir()?;
        let uri = folder.path().to_str().context("a UTF-8 name")?;
        let store = create_index(uri, &config)?;
        let report = ingest(&store, options, sources, &())?;
        let mut objects = BTreeMap::new();
        read_folder(folder.path(), "", &mut objects)?;
        Ok(Self { objects, report })
    }

    /// Returns the decoded manifest.
    pub fn manifest(&self) -> Result<ManifestFile> {
        let bytes = self
            .objects
            .get(MANIFEST_OBJECT)
            .context("an index has a manifest")?;
        Ok(ManifestFile::from_bytes(bytes)?)
    }

    /// Returns a fetcher of the index.
    pub fn fetcher(&self) -> MemoryFetcher {
        self.objects
            .iter()
            .map(|(name, bytes)| (name.clone(), bytes.clone()))
            .collect()
    }

    /// Creates a host of the index. Supplies arrive in an order drawn from `seed`; with more than
    /// one leaf, a search that can be divided is (see [`run_divided`]).
    pub fn searcher(
        &self,
        engine: Arc<dyn Engine>,
        seed: u64,
        max_leaves: u32,
    ) -> Result<Searcher> {
        Ok(Searcher::builder()
            .engine(engine)
            .fetcher(Arc::new(self.fetcher()))
            .shuffle_supplies(seed)
            .max_parallel_leaves(max_leaves)
            .build()?)
    }

    /// Searches with the native engine and the default limits.
    pub fn search(&self, request: &Value) -> Result<SearchResponse> {
        let searcher = self.searcher(Arc::new(NativeEngine::new()), 0, 1)?;
        Ok(run(&searcher, request)?)
    }
}

/// Runs one search to its end.
pub fn run(searcher: &Searcher, request: &Value) -> Result<SearchResponse, SearchError> {
    run_with(searcher, request, &Limits::default())
}

/// Runs one search to its end, in as many leaves as the searcher allows, however small.
pub fn run_divided(searcher: &Searcher, request: &Value) -> Result<SearchResponse, SearchError> {
    let mut limits = Limits::default();
    limits
        .guest
        .insert("min_docs_per_leaf".to_owned(), 1.into());
    run_with(searcher, request, &limits)
}

/// Runs one search to its end, within these limits.
pub fn run_with(
    searcher: &Searcher,
    request: &Value,
    limits: &Limits,
) -> Result<SearchResponse, SearchError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| SearchError::internal(error.to_string()))?;
    runtime.block_on(searcher.search(request, limits))
}

pub(crate) fn read_folder(
    folder: &Path,
    prefix: &str,
    objects: &mut BTreeMap<String, Bytes>,
) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), &format!("{prefix}{name}/"), objects)?;
        } else {
            objects.insert(
                format!("{prefix}{name}"),
                std::fs::read(entry.path())?.into(),
            );
        }
    }
    Ok(())
}

/// Returns lines of the HDFS-like corpus.
pub fn hdfs_lines(num_docs: u64, seed: u64) -> Result<Vec<String>> {
    let mut text = String::new();
    CorpusReader::new(HdfsLogs::new(num_docs, seed)).read_to_string(&mut text)?;
    Ok(text.lines().map(str::to_owned).collect())
}
