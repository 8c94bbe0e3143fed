//! `canter cache`: contents of a cache folder, and emptying it.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use canter_runtime::cache::{CacheOptions, DiskCache, HeldFiles};
use canter_runtime::session::ByteClass;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::args::{Format, FormatArg};
use crate::exit::WrongUse;
use crate::render::{Align, Cell, Column, Screen, Table, numbers};

/// The folder of a cache.
#[derive(Debug, Args)]
pub(crate) struct FolderArg {
    /// Cache folder, as given to searches with --cache.
    #[arg(value_name = "DIR", env = "CANTER_CACHE", hide_env_values = true)]
    folder: PathBuf,
}

/// Arguments of `canter cache stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    folder: FolderArg,

    #[command(flatten)]
    format: FormatArg,
}

/// Arguments of `canter cache clear`.
#[derive(Debug, Args)]
pub(crate) struct ClearArgs {
    #[command(flatten)]
    folder: FolderArg,
}

impl FolderArg {
    /// Opens an existing cache. A missing one is not created, because a wrong name is more likely.
    fn open(&self) -> Result<DiskCache> {
        if !DiskCache::is_in(&self.folder) {
            let shown = self.folder.display();
            return Err(WrongUse(format!(
                "no cache is in `{shown}`; name the folder that `canter search --cache` was given"
            ))
            .into());
        }
        Ok(DiskCache::open(&self.folder, &CacheOptions::disk())?)
    }
}

/// Shows the contents of the folder, class by class.
pub(crate) fn stats(args: &StatsArgs, screen: &Screen) -> Result<()> {
    let cache = args.folder.open()?;
    let held = ByteClass::ALL.map(|class| (class, cache.measure(class)));
    let mut out = io::stdout().lock();
    match args.format.on(screen) {
        Format::Json => writeln!(out, "{}", stats_json(&held))?,
        Format::Table => out.write_all(stats_table(&held, screen).as_bytes())?,
    }
    Ok(out.flush()?)
}

/// Removes the contents of the folder.
pub(crate) fn clear(args: &ClearArgs) -> Result<()> {
    let removed = args.folder.open()?.clear();
    writeln!(
        io::stdout(),
        "removed {}, {}",
        numbers::counted(removed.num_files, "file"),
        numbers::bytes(removed.num_bytes)
    )?;
    Ok(())
}

fn sum(held: &[(ByteClass, HeldFiles)]) -> HeldFiles {
    HeldFiles {
        num_files: held.iter().map(|(_, held)| held.num_files).sum(),
        num_bytes: held.iter().map(|(_, held)| held.num_bytes).sum(),
    }
}

fn stats_json(held: &[(ByteClass, HeldFiles)]) -> Value {
    let json_of = |held: &HeldFiles| -> Value {
        json!({"num_files": held.num_files, "num_bytes": held.num_bytes})
    };
    let classes = held
        .iter()
        .map(|(class, held)| (class.as_str().to_owned(), json_of(held)));
    let mut stats = json_of(&sum(held));
    stats["classes"] = classes.collect::<Map<_, _>>().into();
    stats
}

fn stats_table(held: &[(ByteClass, HeldFiles)], screen: &Screen) -> String {
    let mut table = Table::new(vec![
        Column::new("holds", Align::Left),
        Column::new("files", Align::Right),
        Column::new("bytes", Align::Right),
    ]);
    let mut push = |name: &str, held: &HeldFiles| {
        table.push(vec![
            Cell::new(name.replace('_', " ")),
            Cell::new(numbers::count(held.num_files)),
            Cell::new(numbers::bytes(held.num_bytes)),
        ]);
    };
    for (class, held) in held.iter().filter(|(_, held)| held.num_files > 0) {
        push(class.as_str(), held);
    }
    push("together", &sum(held));
    table.text(screen, "")
}
