//! The cache of a search.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use canter_runtime::cache::{CacheOptions, DiskCache, MemoryCache, TieredCache};
use canter_runtime::{ManifestOptions, RangeCache};
use clap::Args;
use clap::builder::OsStringValueParser;

use super::amounts::{parse_bytes, parse_duration};
use crate::exit::WrongUse;

/// Arguments about the cache.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cache")]
pub(crate) struct CacheArgs {
    /// Folder that keeps fetched data for later searches; any number of processes may share it. An empty name means
    /// no folder.
    #[arg(long, value_name = "DIR", env = "CANTER_CACHE", hide_env_values = true)]
    #[arg(value_parser = OsStringValueParser::new())]
    cache: Option<OsString>,

    /// Search without a cache, even if CANTER_CACHE names a folder.
    #[arg(long, conflicts_with_all = ["cache_bytes", "manifest_ttl", "stale_while_revalidate"])]
    pub(super) no_cache: bool,

    /// Maximum size of the cache on disk, such as 500MB or 4GiB.
    #[arg(long, value_name = "BYTES", default_value = "4GiB", value_parser = parse_bytes)]
    cache_bytes: u64,

    /// How long a cached manifest is used without revalidating it, such as 30s. Documents published meanwhile are
    /// found afterwards.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    manifest_ttl: Duration,

    /// How long after --manifest-ttl searches still use the cached manifest while it is revalidated for the next
    /// search.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    stale_while_revalidate: Duration,
}

impl CacheArgs {
    /// Opens the cache of one search: a folder, if one is given.
    pub(crate) fn open_once(&self) -> Result<Option<Arc<dyn RangeCache>>> {
        let Some(disk) = self.open_folder()? else {
            return Ok(None);
        };
        let memory = MemoryCache::with_options(&CacheOptions::memory())?;
        let cache = TieredCache::new(Arc::new(memory), Arc::new(disk)).for_one_search();
        Ok(Some(Arc::new(cache)))
    }

    /// Opens the folder, if one is given.
    pub(super) fn open_folder(&self) -> Result<Option<DiskCache>> {
        let folder = self.cache.as_deref().filter(|folder| !folder.is_empty());
        let Some(folder) = folder.filter(|_| !self.no_cache) else {
            return Ok(None);
        };
        let options = CacheOptions::with_max_bytes(self.cache_bytes);
        options
            .validate()
            .map_err(|error| WrongUse(format!("--cache-bytes is too small: {error}")))?;
        Ok(Some(DiskCache::open(Path::new(folder), &options)?))
    }

    /// Returns how long a cached manifest is used.
    pub(crate) fn manifest(&self) -> ManifestOptions {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        ManifestOptions {
            ttl_ms: millis(self.manifest_ttl),
            stale_while_revalidate_ms: millis(self.stale_while_revalidate),
        }
    }
}
