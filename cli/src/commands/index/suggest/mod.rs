//! `canter index suggest`: suggests an index config for existing documents.

use std::io::{self, Write};

use anyhow::Result;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{FindOptions, IngestOptions};
use clap::Args;

use super::reading::ReadArgs;
use crate::exit::{WrongUse, note, warn};
use crate::render::numbers;

pub(crate) mod deciding;

use deciding::{NUM_SAMPLED, look_at};

const AFTER_HELP: &str = "\
Examples:
  canter index suggest --input app.log.gz > app.yaml
  canter index ingest --index ./app --index-config app.yaml --input app.log.gz --dry-run 20
  canter index suggest --input s3://bucket/logs/ > app.yaml  # samples up to 16 objects";

/// Arguments of `canter index suggest`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    reading: ReadArgs,

    /// Name of the index.
    #[arg(long, value_name = "ID", default_value = "my-index")]
    index_id: String,

    /// Number of records to sample, from the beginning, the middle and the end of the inputs.
    #[arg(long, value_name = "N", default_value_t = NUM_SAMPLED)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    records: u32,
}

/// Prints the config.
pub(crate) fn run(args: &SuggestArgs) -> Result<()> {
    let found = args.reading.find(FindOptions::default())?;
    if found.sources.is_empty() {
        return Err(WrongUse("all that was found is left out: name an input".into()).into());
    }
    if let [first, others @ ..] = &found.sources[..]
        && !others.is_empty()
    {
        note(format_args!(
            "looking at {} and {} more",
            first.name(),
            numbers::count(others.len() as u64)
        ));
    }
    let options = args.reading.apply(IngestOptions::default())?;
    let (suggestion, _) = look_at(found.sources, &options, &args.index_id, args.records)?;
    if suggestion.num_docs == 0 {
        warn("the input is empty: nothing can be said of its fields");
    }
    for format in &suggestion.formats {
        let fitting = canter_formats::presets::preset_of(*format);
        if let Some(preset) = fitting.filter(|preset| preset.name != "any") {
            note(format_args!(
                "there is a ready-made config for {format}: `canter presets {}`",
                preset.name
            ));
        }
    }
    // Warns if the printed config does not work.
    if let Err(error) = IndexConfig::from_yaml(&suggestion.yaml, |_| None) {
        warn(format_args!("the config has to be corrected: {error}"));
    }
    let mut out = io::stdout().lock();
    out.write_all(suggestion.yaml.as_bytes())?;
    Ok(out.flush()?)
}
