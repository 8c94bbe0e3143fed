//! Options for the inputs of an ingest, which several commands share.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use canter_doc_mapper::IndexConfig;
use canter_formats::{Format, Zone};
use canter_index_builder::{FindOptions, FoundInputs, IngestOptions, Transform, find_inputs};
use clap::Args;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::args::parse_some_bytes;
use crate::commands::presets;
use crate::exit::{WrongUse, note, warn};
use crate::open::read_index_config;

/// Options for reading inputs.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Input: a file, a folder (all files below it), a glob in quotes ('logs/**/*.gz'), an object (s3://bucket/key),
    /// all objects below a prefix (s3://bucket/prefix/), or a glob of objects; gs:// and az:// likewise. Plain, gzip
    /// or zstd. May be given several times, each file once. Without it, or for `-`, standard input.
    #[arg(long, value_name = "INPUT")]
    pub(crate) input: Vec<PathBuf>,

    /// Skip inputs from before this day (2026-11-01) or time (2026-11-01T12:00:00Z), in UTC. An input's time is the
    /// date in its path (year=2026/month=11/day=05, date=2026-11-05, 2026/11/05/07), or else its last modification.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<i64>,

    /// Skip inputs from this day or time and later, likewise.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<i64>,

    /// Add the keys in paths (region=eu-west-1/) to the documents as fields: those that the index maps, or all in
    /// dynamic mode. Fields that a document already has stay unchanged.
    #[arg(long)]
    path_fields: bool,

    /// Follow links that lead out of the folder given. By default such links are skipped and the report counts them,
    /// because anyone with write access to the folder could have any file ingested.
    #[arg(long)]
    follow_links: bool,

    /// Maximum number of inputs; with more, the command fails.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    max_inputs: u32,

    /// Format of every input: ndjson, json, json-array, cloudtrail, otlp-json, csv, tsv, access-log, alb, w3c,
    /// cloudfront-json, zeek, postgres-csv, vpc-flow, syslog, logfmt, log, container or plain [default: detected from
    /// the beginning of each input].
    #[arg(long, value_name = "NAME")]
    input_format: Option<Format>,

    /// Separator of the values in a table, such as `:`, or `tab`. Without --input-format, it implies CSV
    /// [default: detected among tab , ; | ^ ~ and U+0001].
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    delimiter: Option<u8>,

    /// Maximum ratio of decompressed to stored size of an input; a longer input is read up to that point.
    /// Not applied up to 1GiB [default: 2000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_expansion: Option<u64>,

    /// Column names of CSV, TSV or flow logs whose first line does not have them.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    columns: Option<Vec<String>>,

    /// Regular expression for the first line of a record of several lines, such as `^\d{4}-` [default: as in the
    /// index config, else each line is a record].
    #[arg(long, value_name = "REGEX")]
    multiline_start: Option<String>,

    /// Year of times without one (syslog, glog, logcat) [default: the latest year in which they are at most a day
    /// after the file's last modification, or after now for standard input].
    #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(u16).range(1970..=2261))]
    year: Option<u16>,

    /// Maximum memory for the decompressed pages of a Parquet file: for each column its dictionary and a page. One
    /// page may take a quarter of it. A file that needs more is read up to that point [default: 512MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_some_bytes)]
    max_parquet_bytes: Option<u64>,

    /// Time zone of log times without one: a name (Europe/Berlin) or an offset (+02:00, -0730) [default: as in the index
    /// config, else UTC].
    #[arg(long, value_name = "ZONE", value_parser = parse_zone, allow_hyphen_values = true)]
    time_zone: Option<Zone>,

    /// Program in VRL, Vector's language, that is run on every document before indexing. It can change, drop or
    /// reject a document, or turn it into several. See docs/transforms.md.
    #[arg(long, value_name = "FILE")]
    transform: Option<PathBuf>,
}

impl ReadArgs {
    /// Converts the options to those of an ingest; the others are `defaults`.
    pub(crate) fn apply(&self, defaults: IngestOptions) -> Result<IngestOptions> {
        Ok(IngestOptions {
            format: self.input_format,
            columns: self.columns.clone(),
            delimiter: self.delimiter,
            max_expansion: self.max_expansion.unwrap_or(defaults.max_expansion),
            max_parquet_num_bytes: self
                .max_parquet_bytes
                .unwrap_or(defaults.max_parquet_num_bytes),
            multiline_start: self.multiline_start.clone(),
            transform: self.transform.as_deref().map(read_transform).transpose()?,
            year: self.year,
            zone: self.time_zone.clone(),
            ingested_at_ms: match defaults.ingested_at_ms {
                0 => Timestamp::now().as_millisecond().try_into().unwrap_or(0),
                said => said,
            },
            ..defaults
        })
    }

    /// Finds the inputs; without any, standard input.
    pub(crate) fn find(&self, options: FindOptions) -> Result<FoundInputs> {
        let stdin = [PathBuf::from("-")];
        match self.input.is_empty() {
            true => self.find_these(&stdin, options),
            false => self.find_these(&self.input, options),
        }
    }

    /// Finds other inputs, with the same options.
    pub(crate) fn find_these(
        &self,
        inputs: &[PathBuf],
        options: FindOptions,
    ) -> Result<FoundInputs> {
        if inputs.iter().any(|path| is_stdin(path)) && io::stdin().is_terminal() {
            note("reading from this terminal; end with Ctrl-D");
        }
        let options = FindOptions {
            max_inputs: self.max_inputs as usize,
            since_s: self.since,
            until_s: self.until,
            path_fields: self.path_fields,
            follow_links: self.follow_links,
            ..options
        };
        Ok(find_inputs(inputs, &options)?)
    }
}

/// Parses a byte between values.
fn parse_delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, [byte]) if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => Err("write one character of ASCII that is no quote, or tab".to_owned()),
    }
}

fn parse_zone(text: &str) -> Result<Zone, String> {
    Zone::parse(text)
        .ok_or_else(|| "write a name such as Europe/Berlin, or an offset such as +02:00".to_owned())
}

/// Parses a day, which begins at midnight, or a time; returns seconds since 1970.
fn parse_time(text: &str) -> Result<i64, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_second());
    }
    let day = text
        .parse::<Date>()
        .and_then(|day| day.to_zoned(TimeZone::UTC));
    day.map(|day| day.timestamp().as_second())
        .map_err(|_| "write a day as 2026-11-01 or a time as 2026-11-01T12:00:00Z".to_owned())
}

/// Compiles a program, and prints the compiler's messages.
fn read_transform(path: &Path) -> Result<Transform> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| WrongUse(format!("cannot read the transform `{shown}`: {error}")))?;
    let transform = Transform::compile(&shown.to_string(), &text)?;
    if let Some(warnings) = transform.warnings() {
        warn(format_args!("the transform `{shown}`:\n{warnings}"));
    }
    Ok(transform)
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Source of a new index's config.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ConfigArgs {
    /// Index config in Quickwit's format, in YAML (or JSON, if the name ends in .json); `-` for stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) index_config: Option<PathBuf>,

    /// Name of a ready-made index config; `canter presets` lists them.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
}

impl ConfigArgs {
    /// Reads the given config, if there is one.
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
