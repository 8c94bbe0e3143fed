//! `canter search --input`: an index of the inputs, built at the first search and kept in the user's cache folder.
//!
//! ```text
//!   inputs ──▶ what they are (paths, lengths, times; content of pipes) ──▶ id ──▶ kept? ── yes ──▶ search
//!                                                                            └── no ──▶ ingest ──▶ search
//! ```

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use canter_index_builder::{
    CachedIndexes, FindOptions, IngestOptions, IngestReport, Source, Spooled, WriteOptions, ingest,
    open_or_start_index_with, unix_time_ms,
};
use canter_split_format::SourceId;
use clap::Args;

use crate::args::parse_some_bytes;
use crate::commands::index::reading::ReadArgs;
use crate::commands::index::suggest::deciding::decide;
use crate::exit::{WrongUse, note, warn};
use crate::render::{IngestProgress, numbers};

/// Maximum size of inputs in bytes: larger ones deserve an index of their own.
const MAX_INPUT_BYTES: u64 = 2 << 30;
/// Version of these indexes: changing it rebuilds all of them.
const VERSION: &str = concat!("1 ", env!("CARGO_PKG_VERSION"));

/// Arguments about inputs that are searched without an index of their own.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search inputs")]
pub(crate) struct InputArgs {
    #[command(flatten)]
    reading: ReadArgs,

    /// Folder that keeps the indexes of inputs for later searches; only you should have access to it [default:
    /// canter-inputs in your cache folder].
    #[arg(
        long,
        value_name = "DIR",
        env = "CANTER_INPUT_CACHE",
        hide_env_values = true
    )]
    input_cache: Option<PathBuf>,

    /// Maximum size of all kept indexes of inputs; those that were not used for longest are deleted first.
    #[arg(long, value_name = "BYTES", default_value = "4GiB", value_parser = parse_some_bytes)]
    input_cache_bytes: u64,
}

impl InputArgs {
    /// Returns the URI of an index of the inputs, which is built if it is not kept already.
    pub(super) fn index(&self) -> Result<String> {
        let found = self.reading.find(FindOptions::default())?;
        if found.sources.is_empty() {
            return Err(WrongUse("all that was found is left out: name an input".into()).into());
        }
        let cache = CachedIndexes::open(&self.folder()?)?;
        let options = IngestOptions {
            ingested_at_ms: unix_time_ms(),
            // Of an input that changes, another index is made.
            is_final: true,
            ..IngestOptions::default()
        };
        let options = self.reading.apply(options)?;
        let inputs = self.known(found.sources, &cache)?;
        let id = inputs.id(&options);
        let uri = cache.uri(id)?;
        if !cache.has(id) {
            self.make(&uri, &options, inputs)?;
        }
        cache.touch(id);
        let room = cache.make_room(self.input_cache_bytes)?;
        if room.num_foreign > 0 {
            warn(format_args!(
                "{} in the folder of kept indexes could not be deleted: there are files of others in them",
                numbers::counted(room.num_foreign, "index")
            ));
        }
        Ok(uri)
    }

    /// Builds an index of the inputs at `uri`.
    fn make(&self, uri: &str, options: &IngestOptions, inputs: Known) -> Result<()> {
        let started = Instant::now();
        let decision = decide(inputs.sources, options, "inputs")?;
        let write_options = WriteOptions::default();
        let (store, _) = open_or_start_index_with(uri, &decision.config, write_options)?;
        let timestamp_field = decision.timestamp_field().map(str::to_owned);
        let report = match io::stderr().is_terminal() {
            true => {
                let progress = IngestProgress::on_stderr(None);
                let report = ingest(&store, options, decision.sources, &progress);
                progress.finish();
                report
            }
            false => ingest(&store, options, decision.sources, &()),
        };
        tell(&report?, timestamp_field.as_deref(), started);
        drop(inputs.spooled);
        Ok(())
    }

    fn folder(&self) -> Result<PathBuf> {
        let of_user = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let parent = || {
            let cache = of_user("XDG_CACHE_HOME").map(PathBuf::from);
            cache.or_else(|| Some(PathBuf::from(of_user("HOME")?).join(".cache")))
        };
        let named = self
            .input_cache
            .clone()
            .filter(|path| !path.as_os_str().is_empty());
        named
            .or_else(|| Some(parent()?.join("canter-inputs")))
            .context(
                "there is no cache folder for the index of the inputs: name one with --input-cache",
            )
    }

    /// Identifies the inputs. An input that can be read only once is written to a file first.
    fn known(&self, sources: Vec<Source>, cache: &CachedIndexes) -> Result<Known> {
        let mut known = Known::default();
        let mut num_bytes = 0;
        for source in sources {
            let name = source.name().to_string();
            if let Some(version) = source.stored_version() {
                num_bytes += source.stored_num_bytes().unwrap_or(0);
                known.versions.push(version);
                known.sources.push(source);
            } else {
                let spooled = cache.spool(source, MAX_INPUT_BYTES);
                let spooled = spooled.map_err(|error| match error.kind() {
                    canter_index_builder::ErrorKind::Limit => self.too_large(),
                    _ => error.into(),
                })?;
                let version = format!("content {}", spooled.content);
                let source = spooled.source(&name).with_id(version.clone());
                num_bytes += source.stored_num_bytes().unwrap_or(0);
                known.versions.push(version.into_bytes());
                known.sources.push(source);
                known.spooled.push(spooled);
            }
            if num_bytes > MAX_INPUT_BYTES {
                return Err(self.too_large());
            }
        }
        Ok(known)
    }

    fn too_large(&self) -> anyhow::Error {
        let inputs = self.reading.input.iter();
        let inputs: Vec<String> = inputs
            .map(|path| format!("--input {}", path.display()))
            .collect();
        WrongUse(format!(
            "the inputs have more than {}: make an index of them with `canter index ingest --index DIR {}` and search \
             that with `canter search --index DIR`, or leave some out (--since, --until)",
            numbers::bytes(MAX_INPUT_BYTES),
            inputs.join(" ")
        ))
        .into()
    }
}

/// Inputs, and their identification.
#[derive(Default)]
struct Known {
    sources: Vec<Source>,
    versions: Vec<Vec<u8>>,
    spooled: Vec<Spooled>,
}

impl Known {
    /// Returns the id of an index of these inputs, read with `options`.
    fn id(&self, options: &IngestOptions) -> SourceId {
        let how = IngestOptions {
            ingested_at_ms: 0,
            num_parsers: 1,
            num_indexers: 1,
            ..options.clone()
        };
        let mut all = format!("{VERSION} {how:?}").into_bytes();
        for version in &self.versions {
            all.extend((version.len() as u64).to_le_bytes());
            all.extend(version);
        }
        SourceId::of(b"inputs of a search", &all)
    }
}

/// Prints what was indexed, and the findings of the ingest.
fn tell(report: &IngestReport, timestamp_field: Option<&str>, started: Instant) {
    let mut formats: Vec<&str> = report.inputs.iter().map(|input| input.format).collect();
    formats.sort_unstable();
    formats.dedup();
    note(format_args!(
        "indexed {} ({}) in {}; {}; later searches of the same input use this index",
        numbers::counted(report.num_ingested_docs, "document"),
        formats.join(", "),
        numbers::duration(started.elapsed()),
        match timestamp_field {
            Some(field) => format!("times are in `{field}`"),
            None => "no field has a time".to_owned(),
        }
    ));
    if report.num_kept_docs > 0 {
        warn(format_args!(
            "{} could not be parsed; they are found by their words, and by `_parse_error:*`",
            numbers::counted(report.num_kept_docs, "record")
        ));
    }
    for warning in &report.warnings {
        warn(&warning.message);
    }
}
