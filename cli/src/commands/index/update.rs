//! `canter index update`: changes the config of an index with documents.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use canter_index_builder::{IndexStore, UpdateReport, WriteOptions, update_index};
use clap::Args;

use crate::args::Format;
use crate::open::read_index_config;

const AFTER_HELP: &str = "\
Fields can be added, also within objects. Search settings, retention, merge policy and other
settings, tag fields, and a field's description, needle and coerce can be changed. Settings that
the splits were built with are fixed: a config that changes one is refused as a whole. Splits do
not change, and searches and ingests can continue meanwhile.

Documents that are already in the index are not indexed again. In dynamic mode, a query on a new
field finds them as dynamic_mapping indexed their values; in other modes, they have no value for it.

Examples:
  canter index update --index s3://bucket/logs --index-config logs.yaml --dry-run   # shows changes
  canter index update --index s3://bucket/logs --index-config logs.yaml";

/// Arguments of `canter index update`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct UpdateArgs {
    /// Index: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    index: String,

    /// New config of the index, in YAML (or JSON, if the name ends in .json); `-` for stdin.
    #[arg(long, value_name = "FILE")]
    index_config: PathBuf,

    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,

    /// Write even if the store ignores conditional writes; no other process may write at the same time.
    #[arg(long)]
    unsafe_single_writer: bool,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// Updates the config, and reports the changes.
pub(crate) fn run(args: &UpdateArgs) -> Result<()> {
    let config = read_index_config(&args.index_config)?;
    let store = IndexStore::open(&args.index)?.with_write_options(WriteOptions {
        unsafe_single_writer: args.unsafe_single_writer,
    });
    let report = update_index(&store, &config, args.dry_run)?;
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => writeln!(out, "{}", serde_json::to_string(&report)?)?,
        Format::Table => out.write_all(text_of(&report, store.uri()).as_bytes())?,
    }
    Ok(out.flush()?)
}

fn text_of(report: &UpdateReport, uri: &str) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if report.changes.is_empty() {
        line(format!("nothing to change: {uri} has this config"));
        return text;
    }
    line(match report.is_dry_run {
        true => format!("would change at {uri}:"),
        false => format!("changed at {uri}:"),
    });
    for change in &report.changes {
        line(format!("  {}", change.shown));
    }
    for note in &report.notes {
        line(format!("note: {note}"));
    }
    text
}
