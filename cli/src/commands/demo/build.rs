//! The first half of the demo: generated logs, streamed into an index.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IndexStore, IngestOptions, IngestReport, Source, create_index, ingest};
use canter_samples::{CorpusReader, HDFS_LOGS_YAML, HdfsLogs};
use canter_split_format::MANIFEST_OBJECT;

use super::run::{DemoArgs, say};
use crate::exit::WrongUse;
use crate::render::{IngestProgress, numbers};

/// A generated line is shorter than this, so the size limit never ends a split early.
const MAX_LINE_LEN: u64 = 1024;

/// Returns the folder of the index: the given one, or a new one.
pub(super) fn folder(args: &DemoArgs) -> Result<PathBuf> {
    let Some(folder) = &args.dir else {
        return fresh_folder();
    };
    let shown = folder.display();
    match (folder.join(MANIFEST_OBJECT).exists(), args.keep) {
        (true, false) => bail!(WrongUse(format!(
            "there is an index in `{shown}` already: give --keep to query it, or another folder"
        ))),
        (false, true) => bail!(WrongUse(format!(
            "no index in `{shown}` to keep: omit --keep to build one"
        ))),
        _ => Ok(folder.clone()),
    }
}

/// Creates a folder, and fails if it exists: names in a shared folder can be guessed.
fn fresh_folder() -> Result<PathBuf> {
    let parent = std::env::temp_dir();
    let id = std::process::id();
    for attempt in 0..1000 {
        let folder = parent.join(match attempt {
            0 => format!("canter-demo-{id}"),
            _ => format!("canter-demo-{id}-{attempt}"),
        });
        match create_private(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => {
                result.with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
                return Ok(folder);
            }
        }
    }
    bail!(
        "no free name for a folder in `{}`; give one with --dir",
        parent.display()
    )
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Generates and indexes logs, and reports the result.
pub(super) fn build(args: &DemoArgs, uri: &str) -> Result<()> {
    say(&format!(
        "{} like those of a Hadoop file system (seed {}) go into {uri}",
        numbers::counted(args.docs, "log line"),
        args.seed
    ))?;
    let config = IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None)?;
    let store = create_index(uri, &config)?;
    let split_num_docs = args.docs.div_ceil(args.splits);
    let defaults = IngestOptions::default();
    let options = IngestOptions {
        split_num_docs_target: Some(split_num_docs),
        max_split_raw_num_bytes: defaults
            .max_split_raw_num_bytes
            .max(split_num_docs.saturating_mul(MAX_LINE_LEN)),
        ..defaults
    };
    let lines = CorpusReader::new(HdfsLogs::new(args.docs, args.seed));
    // The lines do not depend on the machine: two demos are byte-identical.
    let id = format!("demo, seed {}", args.seed);
    let progress = IngestProgress::on_stderr(Some(args.docs));
    let started = Instant::now();
    let result = ingest(
        &store,
        &options,
        vec![Source::reader("generated logs", lines).with_id(id)],
        &progress,
    );
    progress.finish();
    let report = result?;
    let elapsed = started.elapsed();
    say(&format!(
        "{} indexed in {}: {}.",
        numbers::counted(report.num_ingested_docs, "document"),
        numbers::duration(elapsed),
        numbers::rate(report.num_ingested_docs, elapsed, "documents"),
    ))?;
    say(&size_line(
        report.num_raw_bytes,
        report.num_split_bytes,
        report.splits.len() as u64,
    ))?;
    check_rejects(&report)
}

/// Fails if a line was rejected: every generated line fits the generator's own config.
fn check_rejects(report: &IngestReport) -> Result<()> {
    match report.num_rejected_docs {
        0 => Ok(()),
        num => bail!("{num} generated lines were rejected, a defect: please report it"),
    }
}

/// Describes the index of an earlier demo.
pub(super) fn describe_kept(uri: &str) -> Result<()> {
    let index = IndexStore::open(uri)?.describe()?;
    say(&format!(
        "Keeping the index that is in {uri}: {}.",
        numbers::counted(index.num_docs, "document")
    ))?;
    say(&size_line(
        index.num_raw_bytes,
        index.num_split_bytes,
        index.num_splits,
    ))
}

fn size_line(num_raw_bytes: u64, num_split_bytes: u64, num_splits: u64) -> String {
    let share = numbers::share(num_split_bytes, num_raw_bytes);
    format!(
        "{} of logs are {} on disk in {}: {} of their size, documents included.",
        numbers::bytes(num_raw_bytes),
        numbers::bytes(num_split_bytes),
        numbers::counted(num_splits, "split"),
        share.unwrap_or_default(),
    )
}
