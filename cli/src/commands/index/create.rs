//! `canter index create`: an empty index from an index config.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use canter_index_builder::{WriteOptions, create_index_with};
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

    /// Go on although the store ignores conditions on writes: nothing else may write at the same time.
    #[arg(long)]
    unsafe_single_writer: bool,
}

/// Creates the index.
pub(crate) fn run(args: &CreateArgs) -> Result<()> {
    let config = read_index_config(&args.index_config)?;
    let options = WriteOptions {
        unsafe_single_writer: args.unsafe_single_writer,
    };
    let store = create_index_with(&args.index, &config, options)?;
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
