//! `canter index ingest`: builds and publishes splits of logs and other records.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};
use canter_doc_mapper::DocMapper;
use canter_index_builder::{
    FindOptions, IndexStore, IngestOptions, IngestReport, LeftOut, MergeIndexOptions, MergeReport,
    Source, WriteOptions, ingest, may_be_several, merge_index, open_or_create_index_with,
    open_or_start_index_with, preview, spool_archives, unix_time_ms,
};
use clap::Args;
use serde::Serialize;

use super::reading::{ConfigArgs, ReadArgs};
use super::suggest::deciding::{decide, index_id_of};
use crate::args::{Format, parse_some_bytes};
use crate::exit::{WrongUse, note, warn};
use crate::render::{IngestProgress, Screen, clean_text, numbers};

mod dry_run;
mod over_time;
mod report;

use over_time::over_time;
use report::text_of;

/// Maximum number of inputs per pattern that `--dry-run` shows.
const SHOWN_INPUTS: usize = 5;

const AFTER_HELP: &str = "\
Nothing is published before the input has been read to its end. After a failure the index is
unchanged, and the same command resumes where a large ingest was interrupted. Each record becomes
a document or a reject. Rejects go to the rejects file with their line, place and reason. With
`on_error: keep` in the index config, a rejected record is stored as a document with its text in
`_raw`.

Ingesting the same list of inputs again, after a failure or by mistake, changes nothing: documents
that were published before are reported and skipped, whatever the options are. A file is
identified by its content: a file that begins with everything that was ingested of another one is
the same file, renamed or compressed, unless both are inputs; so logs may be rotated. Equal lines of
two files are all kept. If a file has grown, only the new lines are added; a half-written last line
waits (--final ingests it). Standard input is identified by --ingest-id alone; without it, every
ingest adds all lines.

An input may be a glob (in quotes), a folder, or in a bucket: s3://bucket/key, s3://bucket/prefix/
(all objects below it), s3://bucket/prefix/**/*.gz, also gs:// and az://. Credentials come from
the environment, as for the index. An object that was ingested completely is read again only if it
changes, so repeating the same command reads only new data.

A missing index is created with the given config, or with one derived from a sample of the inputs,
as `canter index suggest` prints it. A run that fails leaves no index behind.

Examples:
  canter index ingest --index ./logs --input a.ndjson --input b.ndjson.gz
  zstd -dc logs.zst | canter index ingest --index s3://bucket/logs --ingest-id logs-2026-11-22
  canter index ingest --index ./logs --index-config logs.yaml --input a.ndjson  # creates it first
  canter index ingest --index ./web --preset access-log --input access.log      # the same
  canter index ingest --index ./web --input access.log --dry-run 20             # shows, writes nothing
  canter index ingest --index ./logs --input ./logs.d --input '/var/log/app/**/*.log.gz'
  canter index ingest --index s3://bucket/index --input s3://bucket/logs/
  canter index ingest --index ./trail --preset cloudtrail --since 2026-11-01 \\
    --input 's3://bucket/AWSLogs/*/CloudTrail/**'
  canter index ingest --index ./web --transform access.vrl --input access.log --dry-run 5";

/// Arguments of `canter index ingest`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct IngestArgs {
    /// Index: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    pub(crate) index: String,

    #[command(flatten)]
    pub(crate) reading: ReadArgs,

    /// Identifies the input, so that ingesting it again is recognised: for standard input, and for files whose path
    /// may differ the next time. Never give two inputs the same ID.
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) ingest_id: Option<String>,

    /// Config with which the index is created if it does not exist. Without it, the config is derived from the input.
    #[command(flatten)]
    config: ConfigArgs,

    /// Only show the documents of the first N records of each input, field by field, and write nothing.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) dry_run: Option<u32>,

    /// Ingest the last record of each file even if it may be half-written. By default, such a record, for example a last
    /// line without a line feed, waits for a later ingest.
    #[arg(long = "final")]
    is_final: bool,

    /// File to which rejected lines are appended; created when the first line is rejected.
    #[arg(long, value_name = "FILE", default_value = "canter.rejects.ndjson")]
    rejects: PathBuf,

    /// Maximum size of the rejects file, such as 1GiB. Further rejects are only counted, and the last line of the
    /// file says so [default: 256MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_some_bytes)]
    max_rejects_bytes: Option<u64>,

    /// Maximum number of rejected lines; with more, the command fails and publishes nothing.
    #[arg(long, value_name = "N")]
    max_rejects: Option<u64>,

    /// Documents per split [default: as in the index config].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    split_num_docs: Option<u64>,

    /// Maximum bytes of input per split, such as 64MiB; bounds memory [default: 128MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_some_bytes)]
    max_split_bytes: Option<u64>,

    /// Maximum length of a line, up to 1GiB; longer lines are rejected [default: 1MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_line_bytes)]
    max_line_bytes: Option<u32>,

    /// Bytes of input between checkpoints. A checkpoint records uploaded splits in the index, so that the same
    /// command resumes there after an interruption [default: 256MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_some_bytes)]
    checkpoint_bytes: Option<u64>,

    /// Number of threads that parse documents [default: half of the cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    num_parsers: Option<u16>,

    /// Number of threads that build splits, each with one split in memory [default: one; two from four cores on].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    num_indexers: Option<u16>,

    /// Merge splits that are due after the ingest, a few at a time, as `canter index merge` does; for indexes that
    /// are filled repeatedly. The ingest succeeds even if a merge fails.
    #[arg(long)]
    pub(crate) merge: bool,

    /// Maximum number of merges.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "merge", value_parser = clap::value_parser!(u64).range(1..))]
    max_merges: u64,

    /// Maximum total size of the splits to merge, such as 256MiB; larger merges are left to `canter index merge` [default:
    /// 1GiB].
    #[arg(long, value_name = "BYTES", requires = "merge", value_parser = parse_some_bytes)]
    max_merge_bytes: Option<u64>,

    /// Write even if the store ignores conditional writes; if another process writes at the same time, documents are
    /// lost.
    #[arg(long)]
    unsafe_single_writer: bool,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

fn parse_line_bytes(text: &str) -> Result<u32, String> {
    let num_bytes = u32::try_from(parse_some_bytes(text)?).ok();
    num_bytes
        .filter(|num_bytes| *num_bytes <= 1 << 30)
        .ok_or_else(|| "more than the 1GiB that a line may have".to_owned())
}

/// Ingests, showing progress on stderr and a report on stdout: of an index that is new with its documents over time.
pub(crate) fn run(args: &IngestArgs, screen: &Screen) -> Result<()> {
    if let Some(num_records) = args.dry_run {
        return show(args, num_records);
    }
    let options = options_of(args)?;
    // Before an index is created without any data.
    let found = args.reading.find(FindOptions {
        index_uri: Some(args.index.clone()),
        ..FindOptions::default()
    })?;
    let (left_out, special) = (found.left_out, found.special);
    if !special.is_empty() {
        note(format_args!(
            "left out, because they are pipes, sockets or devices: {}",
            clean_text(&special.join(", "))
        ));
    }
    // Files of archives that come through a pipe stay until their members are read.
    let spooled = spool_archives(found.sources, options.max_expansion)?;
    let sources = with_ids(spooled.sources, args)?;
    let Opened {
        store,
        sources,
        new_id,
    } = open_for(args, &options, sources)?;
    let progress = IngestProgress::on_stderr(None);
    let started = Instant::now();
    let result = ingest(&store, &options, sources, &progress);
    progress.finish();
    if new_id.is_some() && result.is_err() {
        remove_empty_folder(&args.index);
    }
    let report = result?;
    let is_new = new_id.is_some();
    if let Some(id) = new_id {
        note(format_args!("created index `{id}` at {}", args.index));
    }
    let elapsed = started.elapsed();
    let merged = args.merge.then(|| merge_some(args, &store));
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => {
            let told = Told {
                report: &report,
                left_out_inputs: &left_out,
                merge: merged.as_ref(),
            };
            writeln!(out, "{}", serde_json::to_string(&told)?)?;
        }
        Format::Table => {
            let merged = merged.map_or(String::new(), |merged| text_of_merge(&merged));
            let text = text_of(&report, &left_out, &store, elapsed) + &merged;
            out.write_all(text.as_bytes())?;
            if is_new && report.num_published_splits > 0 {
                out.write_all(over_time(&store, screen)?.as_bytes())?;
            }
        }
    }
    out.flush()?;
    if report.num_lines > 0 && report.num_rejected_docs == report.num_lines {
        warn(
            "every line was rejected: does the index config (doc_mapping) fit this input? \
             The rejects file says what is wrong with each line",
        );
    }
    Ok(())
}

/// The report of an ingest, with the result of the merges after it.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    report: &'a IngestReport,
    left_out_inputs: &'a LeftOut,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge: Option<&'a Merged>,
}

/// Result of the merges after an ingest.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Merged {
    Done(MergeReport),
    /// Reason for the failure. Earlier merges are published.
    Failed(String),
}

fn merge_some(args: &IngestArgs, store: &IndexStore) -> Merged {
    const MAX_MERGE_BYTES: u64 = 1 << 30;
    let options = MergeIndexOptions {
        max_merges: Some(args.max_merges),
        max_bytes: Some(args.max_merge_bytes.unwrap_or(MAX_MERGE_BYTES)),
        ..MergeIndexOptions::default()
    };
    match merge_index(store, &options, &|_| {}) {
        Ok(report) => Merged::Done(report),
        Err(error) => Merged::Failed(format!("{:#}", anyhow::Error::from(error))),
    }
}

fn text_of_merge(merged: &Merged) -> String {
    match merged {
        Merged::Done(report) if report.merges.is_empty() => "no merge is due\n".to_owned(),
        Merged::Done(report) => format!(
            "{}: {} instead of {}\n",
            numbers::counted(report.merges.len() as u64, "merge"),
            numbers::counted(report.num_splits, "split"),
            numbers::count(report.num_splits_before)
        ),
        Merged::Failed(message) => {
            warn(format_args!(
                "the documents are published, but splits could not be merged: {message}"
            ));
            String::new()
        }
    }
}

/// Target and inputs of an ingest.
struct Opened {
    store: IndexStore,
    /// The complete inputs.
    sources: Vec<Source>,
    /// The name of the index, if the ingest creates it when it publishes.
    new_id: Option<String>,
}

/// Opens the index. A missing index begins with the given config, or else with one that suits the inputs.
fn open_for(args: &IngestArgs, options: &IngestOptions, sources: Vec<Source>) -> Result<Opened> {
    let write_options = WriteOptions {
        unsafe_single_writer: args.unsafe_single_writer,
    };
    let (config, sources) = match args.config.read()? {
        Some(config) => (config, sources),
        None => {
            if let Some(store) = existing(&args.index)? {
                return Ok(Opened {
                    store: store.with_write_options(write_options),
                    sources,
                    new_id: None,
                });
            }
            let decision = decide(sources, options, &index_id_of(&args.index))?;
            decision.tell(&args.index);
            (decision.config, decision.sources)
        }
    };
    let (store, is_new) = open_or_start_index_with(&args.index, &config, write_options)?;
    Ok(Opened {
        store,
        sources,
        new_id: is_new.then_some(config.index_id),
    })
}

/// Opens the index at a URI, if it exists.
fn existing(uri: &str) -> Result<Option<IndexStore>> {
    let is_folder = !uri.contains("://");
    if is_folder && !Path::new(uri).exists() {
        return Ok(None);
    }
    let store = IndexStore::open(uri)?;
    Ok(store.has_index()?.then_some(store))
}

/// Removes the empty folder that was created for an index that was then not created.
fn remove_empty_folder(uri: &str) {
    if !uri.contains("://") {
        // For a folder with contents this fails, with no effect.
        let _ = fs::remove_dir(uri);
    }
}

/// Opens the index; creates a missing one if a config is given.
pub(crate) fn open_index(args: &IngestArgs) -> Result<IndexStore> {
    let uri = &args.index;
    let options = WriteOptions {
        unsafe_single_writer: args.unsafe_single_writer,
    };
    let Some(config) = args.config.read()? else {
        // A wrong URI is still reported before standard input is read: an ingest begins with the manifest.
        return Ok(IndexStore::open(uri)?.with_write_options(options));
    };
    let (store, is_new) = open_or_create_index_with(uri, &config, options)?;
    if is_new {
        note(format_args!("created index `{}` at {uri}", config.index_id));
    }
    Ok(store)
}

pub(crate) fn options_of(args: &IngestArgs) -> Result<IngestOptions> {
    let defaults = IngestOptions::default();
    let or = |given: Option<u16>, default: usize| given.map_or(default, usize::from);
    let options = IngestOptions {
        split_num_docs_target: args.split_num_docs,
        max_split_raw_num_bytes: args
            .max_split_bytes
            .unwrap_or(defaults.max_split_raw_num_bytes),
        max_line_num_bytes: args
            .max_line_bytes
            .map_or(defaults.max_line_num_bytes, |len| len as usize),
        is_final: args.is_final,
        rejects_path: Some(args.rejects.clone()),
        max_rejects_num_bytes: args
            .max_rejects_bytes
            .unwrap_or(defaults.max_rejects_num_bytes),
        max_rejects: args.max_rejects,
        checkpoint_raw_num_bytes: args
            .checkpoint_bytes
            .unwrap_or(defaults.checkpoint_raw_num_bytes),
        ingested_at_ms: unix_time_ms(),
        num_parsers: or(args.num_parsers, defaults.num_parsers),
        num_indexers: or(args.num_indexers, defaults.num_indexers),
        ..defaults
    };
    args.reading.apply(options)
}

/// Shows the documents of the first records.
fn show(args: &IngestArgs, num_records: u32) -> Result<()> {
    let options = options_of(args)?;
    let config = match args.config.read()? {
        Some(config) => config,
        None => match existing(&args.index)? {
            Some(store) => store.load_config()?,
            None => {
                let found = args.reading.find(FindOptions::default())?;
                let decision = decide(found.sources, &options, &index_id_of(&args.index))?;
                decision.tell(&args.index);
                decision.config
            }
        },
    };
    let mapper = DocMapper::new(&config)?;
    let mut out = io::stdout().lock();
    let found = args.reading.find(FindOptions {
        first: Some(SHOWN_INPUTS),
        index_uri: Some(args.index.clone()),
        ..FindOptions::default()
    })?;
    for source in found.sources {
        let first = preview(&config, &options, source, num_records as usize)?;
        out.write_all(dry_run::text_of(&first, &config, &mapper).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// Gives each source an id by its place in the list, if the ingest has an id.
pub(crate) fn with_ids(sources: Vec<Source>, args: &IngestArgs) -> Result<Vec<Source>> {
    let Some(id) = &args.ingest_id else {
        return Ok(sources);
    };
    for input in &args.reading.input {
        if may_be_several(input)? {
            bail!(WrongUse(format!(
                "--ingest-id knows inputs by their place in the list, and what `{}` finds may be others the next \
                 time: leave it out (files and objects are known by their names)",
                input.display()
            )));
        }
    }
    let sources = sources.into_iter().enumerate();
    Ok(sources
        .map(|(place, source)| source.with_id(format!("{place} {id}")))
        .collect())
}
