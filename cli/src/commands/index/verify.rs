//! `canter index verify`: checks that every object of an index is present and intact.

use std::io::{self, Write};

use anyhow::{Result, bail};
use canter_index_builder::{IndexStore, VerifyOptions, VerifyReport, verify_index};
use clap::Args;

use crate::args::Format;
use crate::render::numbers;

/// Arguments of `canter index verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Index: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    index: String,

    /// Check only lengths and heads instead of every byte.
    #[arg(long)]
    quick: bool,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// Verifies; fails if anything is wrong.
pub(crate) fn run(args: &VerifyArgs) -> Result<()> {
    let store = IndexStore::open(&args.index)?;
    let report = verify_index(&store, &VerifyOptions { quick: args.quick })?;
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => writeln!(out, "{}", serde_json::to_string(&report)?)?,
        Format::Table => out.write_all(text_of(&report).as_bytes())?,
    }
    out.flush()?;
    match report.problems.len() as u64 {
        0 => Ok(()),
        num => bail!(
            "{} of the index at `{}`: restore these objects from a copy, or ingest again what they held",
            numbers::counted(num, "problem"),
            args.index
        ),
    }
}

fn text_of(report: &VerifyReport) -> String {
    let mut text = format!(
        "{} in {}, {}: {} read\n",
        numbers::counted(report.num_docs, "document"),
        numbers::counted(report.num_splits, "split"),
        numbers::counted(report.num_objects, "object"),
        numbers::bytes(report.num_bytes)
    );
    for problem in &report.problems {
        text.push_str(&format!("{}: {}\n", problem.object, problem.problem));
    }
    if report.problems.is_empty() {
        text.push_str("nothing is wrong\n");
    }
    text
}
