//! `canter index merge`: merges many small splits into few large ones.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use canter_index_builder::{
    IndexStore, MergeDone, MergeIndexOptions, MergeReport, WriteOptions, merge_index,
};
use clap::Args;

use crate::args::{Format, parse_some_duration};
use crate::exit::{note, warn};
use crate::render::numbers;

const AFTER_HELP: &str = "\
Splits are merged according to `indexing_settings.merge_policy` of the index config: neighbours in
time of about the same size, up to `split_num_docs_target` documents. Answers stay the same.
Searches and ingests can continue meanwhile; a merge whose splits another process changes is
abandoned and planned again.

Merged splits stay in the store until `canter index gc` removes them.

Examples:
  canter index merge --index s3://bucket/logs --dry-run      # what is due
  canter index merge --index s3://bucket/logs --watch 1m     # checks every minute until stopped";

/// Arguments of `canter index merge`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct MergeArgs {
    /// Index: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    index: String,

    /// Maximum number of merges [default: all that are due].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_merges: Option<u64>,

    /// Show the merges that are due, and merge nothing.
    #[arg(long)]
    dry_run: bool,

    /// Rewrite every split with deleted documents, even if the merge policy leaves it alone, so that `canter index
    /// gc` can remove their bytes.
    #[arg(long)]
    rewrite_deleted: bool,

    /// When nothing is due, check again after this time; runs until it is stopped.
    #[arg(long, value_name = "TIME", value_parser = parse_some_duration, conflicts_with = "dry_run")]
    watch: Option<Duration>,

    /// Folder for copies of the splits while they are merged [default: the system's folder for temporary files].
    #[arg(long, value_name = "DIR")]
    temp_folder: Option<PathBuf>,

    /// Write even if the store ignores conditional writes; no other process may write at the same time.
    #[arg(long)]
    unsafe_single_writer: bool,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// Merges, and reports the merges.
pub(crate) fn run(args: &MergeArgs) -> Result<()> {
    let store = IndexStore::open(&args.index)?.with_write_options(WriteOptions {
        unsafe_single_writer: args.unsafe_single_writer,
    });
    let options = MergeIndexOptions {
        max_merges: args.max_merges,
        max_bytes: None,
        dry_run: args.dry_run,
        rewrite_deleted: args.rewrite_deleted,
        temp_folder: args.temp_folder.clone(),
    };
    loop {
        let started = Instant::now();
        let merged = merge_index(&store, &options, &|done| note(line_of(done, "merged")));
        let Some(pause) = args.watch else {
            return show(args, &merged?, started.elapsed());
        };
        match merged {
            Ok(report) if report.merges.is_empty() => {}
            Ok(report) => show(args, &report, started.elapsed())?,
            // A temporarily unavailable store is not a reason to end.
            Err(error) if error.kind() == canter_index_builder::ErrorKind::Unavailable => {
                warn(error)
            }
            Err(error) => return Err(error.into()),
        }
        std::thread::sleep(pause);
    }
}

/// Returns `merged 10 splits of 5,000 documents, 1.2 MB, into 1a2b3c4d of 0.9 MB`.
fn line_of(done: &MergeDone, verb: &str) -> String {
    let what = format!(
        "{verb} {} of {}, {}",
        numbers::counted(done.from.len() as u64, "split"),
        numbers::counted(done.num_docs, "document"),
        numbers::bytes(done.num_bytes)
    );
    match &done.into {
        Some(id) => {
            let id: String = id.chars().take(8).collect();
            format!(
                "{what}, into {id} of {}",
                numbers::bytes(done.num_merged_bytes)
            )
        }
        None => what,
    }
}

fn show(args: &MergeArgs, report: &MergeReport, elapsed: Duration) -> Result<()> {
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => writeln!(out, "{}", serde_json::to_string(report)?)?,
        Format::Table => out.write_all(text_of(args, report, elapsed).as_bytes())?,
    }
    Ok(out.flush()?)
}

fn text_of(args: &MergeArgs, report: &MergeReport, elapsed: Duration) -> String {
    if args.dry_run {
        let mut text = String::new();
        for due in &report.merges {
            text.push_str(&line_of(due, "due:"));
            text.push('\n');
        }
        let splits = numbers::counted(report.num_splits, "split");
        return match report.merges.is_empty() {
            true => format!("nothing is due: the index has {splits}\n"),
            false => text,
        };
    }
    let mut text = format!(
        "{} in {}: {} instead of {}\n",
        numbers::counted(report.merges.len() as u64, "merge"),
        numbers::duration(elapsed),
        numbers::counted(report.num_splits, "split"),
        numbers::count(report.num_splits_before)
    );
    if report.num_dropped > 0 {
        text.push_str(&format!(
            "{} given up, because another process changed their splits\n",
            numbers::counted(report.num_dropped, "merge")
        ));
    }
    if !report.merges.is_empty() {
        text.push_str(&format!(
            "the merged splits are still in the store: canter index gc --index {}\n",
            args.index
        ));
    }
    text
}
