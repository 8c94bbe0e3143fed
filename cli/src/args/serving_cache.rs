//! The cache of a process that runs many searches: in memory, over a folder if one is given.

use std::sync::Arc;

use anyhow::Result;
use canter_runtime::cache::{CacheOptions, MemoryCache, TieredCache};
use canter_runtime::session::ByteClass;
use canter_runtime::{ManifestOptions, RangeCache};
use clap::Args;

use super::amounts::parse_bytes;
use super::cache::CacheArgs;
use crate::exit::WrongUse;

/// Arguments about the cache of a process that searches again and again.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cache")]
pub(crate) struct ServingCacheArgs {
    #[command(flatten)]
    folder: CacheArgs,

    /// Maximum memory for fetched and computed data, in front of the folder if --cache names one; 0 uses the folder
    /// alone. Without a folder, points in time are kept here too.
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = parse_bytes)]
    #[arg(conflicts_with = "no_cache")]
    memory_cache_bytes: u64,
}

impl ServingCacheArgs {
    /// Opens the cache: memory, over the folder if there is one. `None` with `--no-cache`.
    pub(crate) fn open(&self) -> Result<Option<Arc<dyn RangeCache>>> {
        if self.folder.no_cache {
            return Ok(None);
        }
        let num_bytes = self.memory_cache_bytes;
        Ok(match (self.folder.open_folder()?, num_bytes) {
            (None, 0) => {
                return Err(WrongUse(
                    "--memory-cache-bytes 0 without --cache keeps nothing: name a folder with --cache, or say \
                     --no-cache"
                        .to_owned(),
                )
                .into());
            }
            (Some(disk), 0) => Some(Arc::new(disk)),
            (Some(disk), _) => {
                let memory = memory_of(&CacheOptions::with_max_bytes(num_bytes))?;
                Some(Arc::new(TieredCache::new(Arc::new(memory), Arc::new(disk))))
            }
            (None, _) => Some(Arc::new(memory_of(&memory_alone(num_bytes))?)),
        })
    }

    /// Returns how long a cached manifest is used.
    pub(crate) fn manifest(&self) -> ManifestOptions {
        self.folder.manifest()
    }
}

fn memory_of(options: &CacheOptions) -> Result<MemoryCache, WrongUse> {
    MemoryCache::with_options(options)
        .map_err(|error| WrongUse(format!("--memory-cache-bytes is too small: {error}")))
}

/// Divides memory without a folder below it. Adds a quarter to the share of entries that guests must keep, because a
/// point in time, which may be as long as a manifest, is stored nowhere else.
fn memory_alone(max_bytes: u64) -> CacheOptions {
    let for_entries = max_bytes / 4;
    let options = CacheOptions::with_max_bytes(max_bytes - for_entries);
    let mut entries = options.class(ByteClass::PartialResult);
    entries.max_bytes += for_entries;
    options.with_class(ByteClass::PartialResult, entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_without_a_folder_holds_a_long_point_in_time_and_no_more_than_was_given() {
        for max_bytes in [8 << 20, 256 << 20, 7_654_321] {
            let options = memory_alone(max_bytes);
            options.validate().unwrap();
            assert!(options.max_bytes() <= max_bytes);
            let entries = options.class(ByteClass::PartialResult).max_bytes;
            assert!(entries >= max_bytes / 4);
        }
    }
}
