//! `canter index gc`: removes unreferenced objects from the store.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use canter_index_builder::{
    DeleteReport, GcOptions, GcReport, IndexStore, WRONG_CLOCK, WriteOptions, checked_unix_time,
    collect_garbage, delete_documents, forget_sources,
};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::delete::{Lister, num_docs};
use crate::args::{EngineArgs, Format, parse_duration};

use crate::render::numbers;

const AFTER_HELP: &str = "\
If the index config has a `retention`, splits whose documents are all older than its period leave
the index first. With --exact, older documents are deleted from the other splits, too, as by
`canter index delete`.

Unreferenced objects (left by merges and failed ingests) are listed in the manifest when they are
found, and removed by a later run after the grace period. So a search that began before still
finds its objects, and an ingest that needs an object again takes it off the list. Ingests, merges
and searches can continue meanwhile. Foreign files below the index are reported and left alone.

Examples:
  canter index gc --index s3://bucket/logs --dry-run
  canter index gc --index s3://bucket/logs                   # every hour, by cron
  canter index gc --index ./logs --grace 0s                  # at once, if no search is running";

/// Arguments of `canter index gc`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct GcArgs {
    /// Index: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    index: String,

    /// How long an object is kept after it is found to be unreferenced; must be longer than any search takes.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    grace: Duration,

    /// Do not apply the `retention` of the index config.
    #[arg(long)]
    no_retention: bool,

    /// Apply the `retention` to the second: also delete older documents from splits that contain younger ones.
    #[arg(long, conflicts_with = "no_retention")]
    exact: bool,

    /// Time limit of the search that --exact makes, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 600_000, requires = "exact")]
    deadline_ms: u64,

    #[command(flatten)]
    engine: EngineArgs,

    /// Forget the sources that were ingested before this day, such as 2026-01-31 (in UTC), so that they can be
    /// ingested again. Merges, deletions and retention keep them.
    #[arg(long, value_name = "DATE", value_parser = parse_day)]
    forget_sources_before: Option<u64>,

    /// Show what would be removed, and change nothing.
    #[arg(long)]
    dry_run: bool,

    /// Write even if the store ignores conditional writes; no other process may write at the same time.
    #[arg(long)]
    unsafe_single_writer: bool,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// Parses a day; returns its beginning in milliseconds since 1970.
fn parse_day(text: &str) -> Result<u64, String> {
    let day = text.parse::<jiff::civil::Date>().ok();
    let start = day.and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC).ok());
    let start = start.and_then(|start| u64::try_from(start.timestamp().as_millisecond()).ok());
    start.ok_or_else(|| "not a day such as 2026-01-31".to_owned())
}

/// The report of a collection, and the preceding deletions and forgotten sources.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    report: &'a GcReport,
    /// Number of documents that --exact deleted because they were older than the retention, without those of expired
    /// splits.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_exactly_expired_docs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_forgotten_sources: Option<u64>,
}

/// Collects garbage, and reports what was removed.
pub(crate) fn run(args: &GcArgs) -> Result<()> {
    let store = IndexStore::open(&args.index)?.with_write_options(WriteOptions {
        unsafe_single_writer: args.unsafe_single_writer,
    });
    let now = checked_unix_time().context(WRONG_CLOCK)?;
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let options = GcOptions {
        now_ms: millis(now),
        grace_ms: millis(args.grace),
        dry_run: args.dry_run,
        applies_retention: !args.no_retention,
    };
    // First, so that the collection finds the objects that it leaves behind.
    let forget = |before_ms| forget_sources(&store, before_ms, args.dry_run);
    let num_forgotten = args.forget_sources_before.map(forget).transpose()?;
    // Whole splits go first, so that they need not be searched.
    let report = collect_garbage(&store, &options)?;
    let num_expired = match args.exact {
        // A dry run lists those of expired splits, too.
        true if args.dry_run => {
            let num = expire_documents(args, &store, now)?;
            Some(num.saturating_sub(report.num_expired_docs))
        }
        true => Some(expire_documents(args, &store, now)?),
        false => None,
    };
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => {
            let told = Told {
                report: &report,
                num_exactly_expired_docs: num_expired,
                num_forgotten_sources: num_forgotten,
            };
            writeln!(out, "{}", serde_json::to_string(&told)?)?;
        }
        Format::Table => {
            if let Some(num) = num_forgotten {
                let verb = match args.dry_run {
                    true => "would be forgotten",
                    false => "forgotten",
                };
                writeln!(out, "{verb}: {}", numbers::counted(num, "source"))?;
            }
            out.write_all(text_of(args, &report).as_bytes())?;
            if let Some(num) = num_expired {
                let verb = match args.dry_run {
                    true => "would be deleted",
                    false => "deleted",
                };
                let docs = numbers::counted(num, "document");
                writeln!(out, "{verb} from splits with younger ones: {docs}")?;
            }
        }
    }
    Ok(out.flush()?)
}

/// Deletes the documents of live splits that are older than the retention, and returns their number.
fn expire_documents(args: &GcArgs, store: &IndexStore, now: Duration) -> Result<u64> {
    let config = store.load_config()?;
    let Some(retention) = config.retention else {
        return Ok(0);
    };
    let period = retention.period();
    // The collection refuses an invalid retention; the age of documents without a time is unknown.
    let oldest = now.saturating_sub(period).as_secs();
    if period.is_zero() || config.doc_mapping.timestamp_field.is_none() {
        return Ok(0);
    }
    let request = json!({
        "query": "*",
        "end_timestamp": oldest,
        "max_hits": 0,
        "list_documents": true,
    });
    let lister = Lister::start(&args.index, request, args.deadline_ms, &args.engine)?;
    if args.dry_run {
        return Ok(num_docs(&lister.list()?));
    }
    let report: DeleteReport = delete_documents(store, || lister.list())?;
    Ok(report.num_deleted_docs)
}

fn text_of(args: &GcArgs, report: &GcReport) -> String {
    let objects = |names: &[String], num_bytes: u64| {
        let num = numbers::counted(names.len() as u64, "object");
        format!("{num}, {}", numbers::bytes(num_bytes))
    };
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    let removed = match args.dry_run {
        true => "would be removed",
        false => "removed",
    };
    if !report.expired_splits.is_empty() {
        line(format!(
            "{}: {} of {}, older than the retention of the index",
            match args.dry_run {
                true => "would expire",
                false => "expired",
            },
            numbers::counted(report.expired_splits.len() as u64, "split"),
            numbers::counted(report.num_expired_docs, "document"),
        ));
    }
    line(format!(
        "{removed}: {}",
        objects(&report.deleted, report.num_deleted_bytes)
    ));
    line(format!(
        "in their grace period of {}: {}",
        numbers::duration(args.grace),
        objects(&report.condemned, report.num_condemned_bytes)
    ));
    line(format!(
        "in use: {}",
        numbers::counted(report.num_referenced, "object")
    ));
    if report.num_checkpoints > 0 {
        line(
            "an ingest is running, or was interrupted in the last week: its uploads are kept"
                .to_owned(),
        );
    }
    for name in &report.unknown {
        line(format!("not part of the index, left alone: {name}"));
    }
    if args.dry_run {
        for name in &report.deleted {
            line(format!("  {name}"));
        }
    }
    text
}
