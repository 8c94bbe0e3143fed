//! `canter index create`: an empty index from an index config.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use canter_index_builder::create_index;
use clap::Args;

use crate::open::read_index_config;

/// Arguments of `canter index create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Where the index shall be: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    index: String,

    /// Quickwit's index config in YAML (or JSON, if the name ends in .json); `-` for stdin.
    #[arg(long, value_name = "FILE")]
    index_config: PathBuf,
}

/// Creates the index.
pub(crate) fn run(args: &CreateArgs) -> Result<()> {
    let config = read_index_config(&args.index_config)?;
    let store = create_index(&args.index, &config)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "created index `{}` at {}",
        config.index_id,
        store.uri()
    )?;
    writeln!(
        out,
        "fill it with `canter index ingest --index {} --input FILE`",
        store.uri()
    )?;
    Ok(out.flush()?)
}
