//! `canter index suggest`: an index config for documents that are there.

use std::io::{self, Write};

use anyhow::Result;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{FindOptions, IngestOptions, may_be_several, preview, suggest};
use clap::Args;

use super::reading::ReadArgs;
use crate::exit::{WrongUse, note, warn};

/// A config that takes anything, to look at what there is.
const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";

const AFTER_HELP: &str = "\
Examples:
  canter index suggest --input app.log.gz > app.yaml
  canter index ingest --index ./app --index-config app.yaml --input app.log.gz --dry-run 20
  canter index suggest --input s3://bucket/logs/ > app.yaml  # samples the first object";

/// Arguments of `canter index suggest`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    reading: ReadArgs,

    /// Name of the index.
    #[arg(long, value_name = "ID", default_value = "my-index")]
    index_id: String,

    /// Number of records to sample.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    records: u32,
}

/// Prints the config.
pub(crate) fn run(args: &SuggestArgs) -> Result<()> {
    if args.reading.input.len() > 1 {
        return Err(WrongUse("one input is enough: name the most typical".into()).into());
    }
    let found = args.reading.find(FindOptions {
        first: Some(1),
        ..FindOptions::default()
    })?;
    let Some(source) = found.sources.into_iter().next() else {
        return Err(WrongUse("all that was found is left out: name an input".into()).into());
    };
    if args
        .reading
        .input
        .iter()
        .map(|input| may_be_several(input))
        .any(|several| matches!(several, Ok(true)))
    {
        note(format_args!("looking at {}", source.name()));
    }
    let options = args.reading.apply(IngestOptions::default())?;
    let any = IndexConfig::from_yaml(ANY, |_| None)?;
    let first = preview(&any, &options, source, args.records as usize)?;
    let yaml = suggest(&first, &args.index_id);
    if first.records.is_empty() {
        warn("the input is empty: nothing can be said of its fields");
    }
    let fitting = canter_formats::presets::preset_of(first.format);
    if let Some(preset) = fitting.filter(|preset| preset.name != "any") {
        note(format_args!(
            "there is a ready-made config for {}: `canter presets {}`",
            first.format, preset.name
        ));
    }
    // What is printed works, or says why not.
    if let Err(error) = IndexConfig::from_yaml(&yaml, |_| None) {
        warn(format_args!("the config has to be corrected: {error}"));
    }
    let mut out = io::stdout().lock();
    out.write_all(yaml.as_bytes())?;
    Ok(out.flush()?)
}
