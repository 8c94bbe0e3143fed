//! `canter index create`: an empty index from an index config, or from a preset.

use std::io::{self, Write};

use anyhow::Result;
use canter_index_builder::{WriteOptions, create_index_with};
use clap::Args;

use super::reading::ConfigArgs;
use crate::exit::WrongUse;

/// Arguments of `canter index create`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which").args(["index_config", "preset"]).required(true)))]
pub(crate) struct CreateArgs {
    /// Index to create: a folder, s3://…, gs://… or az://….
    #[arg(long, value_name = "URI")]
    index: String,

    #[command(flatten)]
    config: ConfigArgs,

    /// Write even if the store ignores conditional writes; no other process may write at the same time.
    #[arg(long)]
    unsafe_single_writer: bool,
}

/// Creates the index.
pub(crate) fn run(args: &CreateArgs) -> Result<()> {
    let Some(config) = args.config.read()? else {
        return Err(WrongUse("name a config (--index-config) or a preset".into()).into());
    };
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
