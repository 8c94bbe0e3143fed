//! What may be said about the inputs of an ingest: arguments that several commands share.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use canter_doc_mapper::IndexConfig;
use canter_formats::Format;
use canter_index_builder::{FindOptions, FoundInputs, IngestOptions, Transform, find_inputs};
use clap::Args;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::amounts::parse_some_bytes;
use crate::commands::presets;
use crate::exit::{WrongUse, note, warn};
use crate::open::read_index_config;

/// How inputs are read.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// A file, a folder (all files below it), a glob in quotes ('logs/**/*.gz'), an object
    /// (s3://bucket/key), all objects below a prefix (s3://bucket/prefix/), or a glob of them; gs:// and az://
    /// likewise. Plain, gzip or zstd. May be given several times, each file once. Without it, or for `-`,
    /// standard input.
    #[arg(long, value_name = "INPUT")]
    pub(crate) input: Vec<PathBuf>,

    /// Leave out inputs of before this day (2026-11-01) or time (2026-11-01T12:00:00Z), in UTC: by the date in
    /// their path (year=2026/month=11/day=05, date=2026-11-05, 2026/11/05/07), or else by when they were last
    /// changed.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<i64>,

    /// Leave out inputs of this day or time and later, likewise.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<i64>,

    /// Make the keys of paths (region=eu-west-1/) fields of their documents: those that the index maps, in
    /// dynamic mode all. A field that a document has stays as it is.
    #[arg(long)]
    path_fields: bool,

    /// Follow links in folders out of the folder that was named. Without it what they lead to is left out, and
    /// the report says how many: whoever may write into the folder could have any file ingested.
    #[arg(long)]
    follow_links: bool,

    /// Give up if there are more inputs than this.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    max_inputs: u32,

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

    /// Most bytes of pages of a Parquet file, inflated, in memory at once: for each column its dictionary and a page; a page
    /// may have a quarter of it. A file that needs more breaks off there [default: 512MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_some_bytes)]
    max_parquet_bytes: Option<u64>,

    /// A program in VRL, Vector's language, that every document goes through before the index takes it: it may
    /// change, drop or refuse it, or make several of it. See docs/transforms.md.
    #[arg(long, value_name = "FILE")]
    transform: Option<PathBuf>,
}

impl ReadArgs {
    /// The inputs as options of an ingest; the others are `defaults`.
    pub(crate) fn apply(&self, defaults: IngestOptions) -> Result<IngestOptions> {
        Ok(IngestOptions {
            format: self.input_format,
            columns: self.columns.clone(),
            max_parquet_num_bytes: self
                .max_parquet_bytes
                .unwrap_or(defaults.max_parquet_num_bytes),
            multiline_start: self.multiline_start.clone(),
            transform: self.transform.as_deref().map(read_transform).transpose()?,
            year: self.year.or_else(|| {
                let is_stdin =
                    self.input.is_empty() || self.input.iter().any(|path| is_stdin(path));
                let today = Timestamp::now().to_zoned(TimeZone::UTC);
                is_stdin.then(|| today.year().try_into().ok())?
            }),
            ..defaults
        })
    }

    /// The inputs; without any, standard input.
    pub(crate) fn find(&self, options: FindOptions) -> Result<FoundInputs> {
        let stdin = [PathBuf::from("-")];
        match self.input.is_empty() {
            true => self.find_these(&stdin, options),
            false => self.find_these(&self.input, options),
        }
    }

    /// The same with other inputs than those that are named here.
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

/// A day, which begins at midnight, or a time; in seconds since 1970.
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

/// Compiles a program, and passes on what the compiler says of it.
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
