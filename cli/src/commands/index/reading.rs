//! What may be said about the inputs of an ingest: arguments that several commands share.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use canter_doc_mapper::IndexConfig;
use canter_formats::Format;
use canter_index_builder::{IngestOptions, Source};
use clap::Args;

use crate::commands::presets;
use crate::exit::note;
use crate::open::read_index_config;

/// How inputs are read.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// A file, plain, .gz or .zst; may be given several times, each file once. Without it, or for `-`,
    /// standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Vec<PathBuf>,

    /// The format of every input: ndjson, json, json-array, cloudtrail, otlp-json, csv, tsv, access-log,
    /// alb, w3c, cloudfront-json, vpc-flow, syslog, logfmt or plain [default: each is recognised by how
    /// it begins].
    #[arg(long, value_name = "NAME")]
    input_format: Option<Format>,

    /// The names of the values of CSV, TSV or flow logs whose first line does not have them.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    columns: Option<Vec<String>>,

    /// A record of several lines begins with a line that matches this regular expression, such as
    /// `^\d{4}-` [default: what the index config says, else each line is a record].
    #[arg(long, value_name = "REGEX")]
    multiline_start: Option<String>,

    /// The year of times that have none (syslog, RFC 3164) [default: that in which the file was last
    /// changed; this one for standard input].
    #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(u16).range(1970..=2261))]
    year: Option<u16>,
}

impl ReadArgs {
    /// The inputs as options of an ingest; the others are `defaults`.
    pub(crate) fn apply(&self, defaults: IngestOptions) -> IngestOptions {
        IngestOptions {
            format: self.input_format,
            columns: self.columns.clone(),
            multiline_start: self.multiline_start.clone(),
            year: self.year.or_else(|| {
                let is_stdin =
                    self.input.is_empty() || self.input.iter().any(|path| is_stdin(path));
                let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
                is_stdin.then(|| today.year().try_into().ok())?
            }),
            ..defaults
        }
    }

    /// The inputs.
    pub(crate) fn sources(&self) -> Vec<Source> {
        sources_of(&self.input)
    }
}

/// Inputs by their names; without any, standard input.
pub(crate) fn sources_of(inputs: &[PathBuf]) -> Vec<Source> {
    let reads_stdin = inputs.is_empty() || inputs.iter().any(|path| is_stdin(path));
    if reads_stdin && io::stdin().is_terminal() {
        note("reading from this terminal; end with Ctrl-D");
    }
    if inputs.is_empty() {
        return vec![Source::stdin()];
    }
    let source = |path: &PathBuf| match is_stdin(path) {
        true => Source::stdin(),
        false => Source::file(path),
    };
    inputs.iter().map(source).collect()
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Where the config of a new index comes from.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ConfigArgs {
    /// Quickwit's index config in YAML (or JSON, if the name ends in .json); `-` for stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) index_config: Option<PathBuf>,

    /// A ready-made config; `canter presets` lists them.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
}

impl ConfigArgs {
    /// The config that is named, if one is.
    pub(crate) fn read(&self) -> Result<Option<IndexConfig>> {
        match (&self.index_config, &self.preset) {
            (Some(path), _) => read_index_config(path).map(Some),
            (None, Some(name)) => {
                let yaml = presets::named(name)?.yaml;
                let config = IndexConfig::from_yaml(yaml, |_| None);
                config.with_context(|| format!("preset `{name}`")).map(Some)
            }
            (None, None) => Ok(None),
        }
    }
}
