//! `canter split publish`: publishes the splits of all parts of a shared build at once.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use canter_index_builder::{IndexStore, Receipt, WriteOptions, publish_receipts};
use clap::Args;
use serde_json::json;

use super::build::uri_of;
use crate::args::{Format, FormatArg};
use crate::exit::WrongUse;
use crate::render::{Screen, clean_text, numbers};

/// Arguments of `canter split publish`.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// Index: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    index: String,

    /// Receipts of all parts, written by `canter split build`: files, objects of a bucket, or s3://bucket/folder/ for
    /// all objects below it that end in .json; `-` is standard input, with one receipt per line.
    #[arg(value_name = "RECEIPT", required = true)]
    receipts: Vec<PathBuf>,

    /// Required number of receipts; with any other number, nothing is published.
    #[arg(long, value_name = "N")]
    num_receipts: Option<usize>,

    /// Write even if the store ignores conditional writes; if another process writes at the same time, documents are
    /// lost.
    #[arg(long)]
    unsafe_single_writer: bool,

    #[command(flatten)]
    format: FormatArg,
}

/// Publishes, and reports the result.
pub(crate) fn run(args: &PublishArgs, screen: &Screen) -> Result<()> {
    let mut receipts = Vec::new();
    for path in &args.receipts {
        read_receipts(path, &mut receipts)?;
    }
    if let Some(expected) = args.num_receipts
        && receipts.len() != expected
    {
        bail!(WrongUse(format!(
            "{} instead of {expected}: nothing was published; run the parts that are missing, or remove the receipts of \
             another build",
            numbers::counted(receipts.len() as u64, "receipt"),
        )));
    }
    let store = IndexStore::open(&args.index)?.with_write_options(WriteOptions {
        unsafe_single_writer: args.unsafe_single_writer,
    });
    let published = publish_receipts(&store, &receipts)?;
    let sum = |of: fn(&Receipt) -> u64| receipts.iter().map(of).sum::<u64>();
    let num_lines = sum(|receipt| receipt.num_lines);
    let num_rejected = sum(|receipt| receipt.num_rejected_docs);
    let num_dropped = sum(|receipt| receipt.num_dropped_docs);
    let num_blank = sum(|receipt| receipt.num_blank_lines);
    let warnings: Vec<&String> = receipts.iter().flat_map(|part| &part.warnings).collect();
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => writeln!(
            out,
            "{}",
            json!({
                "num_receipts": receipts.len(),
                "num_lines": num_lines,
                "num_ingested_docs": published.num_published_docs,
                "num_known_docs": published.num_known_docs,
                "num_rejected_docs": num_rejected,
                "num_dropped_docs": num_dropped,
                "num_blank_lines": num_blank,
                "warnings": warnings,
                "num_published_splits": published.num_published_splits,
                "num_known_splits": published.num_known_splits,
                "num_live_splits": published.num_live_splits,
            })
        )?,
        Format::Table => {
            writeln!(
                out,
                "published {} in {}, of {}; {} rejected{}{}",
                numbers::counted(published.num_published_docs, "document"),
                numbers::counted(published.num_published_splits, "split"),
                numbers::counted(receipts.len() as u64, "receipt"),
                numbers::counted(num_rejected, "line"),
                text_of_dropped(num_dropped),
                text_of_blank(num_blank),
            )?;
            for warning in warnings {
                writeln!(out, "warning: {}", clean_text(warning))?;
            }
            if published.num_known_splits > 0 {
                writeln!(
                    out,
                    "{} had been published before, or stood in two receipts",
                    numbers::counted(published.num_known_splits, "split"),
                )?;
            }
        }
    }
    Ok(out.flush()?)
}

/// Returns a note on the documents that a transform dropped, if any.
pub(super) fn text_of_dropped(num_dropped: u64) -> String {
    match num_dropped {
        0 => String::new(),
        num => format!(", {} dropped", numbers::count(num)),
    }
}

/// Returns a note on blank lines, if any.
pub(super) fn text_of_blank(num_blank: u64) -> String {
    match num_blank {
        0 => String::new(),
        num => format!(", {} skipped", numbers::counted(num, "blank line")),
    }
}

fn read_receipts(path: &Path, receipts: &mut Vec<Receipt>) -> Result<()> {
    if let Some(uri) = uri_of(path) {
        receipts.extend(canter_index_builder::read_receipts(uri)?);
        return Ok(());
    }
    let shown = path.display();
    let text = match path.to_str() {
        Some("-") => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map(|_| text)
        }
        _ => std::fs::read_to_string(path),
    };
    let text =
        text.map_err(|error| WrongUse(format!("cannot read the receipt `{shown}`: {error}")))?;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let receipt = Receipt::from_json(line);
        receipts.push(receipt.with_context(|| format!("receipt `{shown}`"))?);
    }
    Ok(())
}
