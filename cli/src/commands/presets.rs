//! `canter presets`: the ready-made index configs, listed or shown.

use std::io::{self, Write};

use anyhow::Result;
use canter_formats::presets::{PRESETS, Preset, preset};
use clap::Args;

use crate::exit::WrongUse;

const AFTER_HELP: &str = "\
Examples:
  canter presets
  canter presets alb > alb.yaml      # edit it, then pass it with --index-config
  canter index ingest --index ./lb --preset alb --input lb.log.gz";

/// Arguments of `canter presets`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PresetsArgs {
    /// Preset to print, as an index config in YAML [default: list all presets].
    name: Option<String>,
}

/// Lists the presets, or prints one.
pub(crate) fn run(args: &PresetsArgs) -> Result<()> {
    let mut out = io::stdout().lock();
    match &args.name {
        Some(name) => out.write_all(named(name)?.yaml.as_bytes())?,
        None => {
            let width = PRESETS.iter().map(|preset| preset.name.len()).max();
            let width = width.unwrap_or_default();
            for preset in &PRESETS {
                let formats: Vec<&str> =
                    preset.formats.iter().map(|format| format.name()).collect();
                writeln!(
                    out,
                    "{:width$}  {} ({})",
                    preset.name,
                    preset.about,
                    formats.join(", ")
                )?;
            }
        }
    }
    Ok(out.flush()?)
}

/// Returns the preset with a name.
pub(crate) fn named(name: &str) -> Result<&'static Preset> {
    preset(name).map_err(|message| WrongUse(message).into())
}
