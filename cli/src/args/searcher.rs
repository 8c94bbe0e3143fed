//! Search arguments that `search`, `serve` and `mcp` share.

use std::sync::Arc;

use anyhow::Result;
use canter_runtime::{Engine, ManifestOptions, RangeCache, SearcherBuilder};
use clap::Args;

use super::{EngineArgs, InstanceCaps, LimitArgs};

/// Search arguments. `C` are the arguments of the cache: of one search, or of a process that runs many searches.
#[derive(Debug, Args)]
pub(crate) struct SearcherArgs<C: Args> {
    #[command(flatten)]
    engine: EngineArgs,

    /// Number of parts of a search that run at once, each in a guest of its own [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,

    #[command(flatten)]
    pub(crate) cache: C,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl<C: Args> SearcherArgs<C> {
    /// Starts the engine. `caps` limits its instances, except for their memory, which is one of the limits here.
    pub(crate) fn start_engine(&self, caps: InstanceCaps) -> Result<Arc<dyn Engine>> {
        self.engine.start(InstanceCaps {
            max_memory_bytes: self.limits.max_memory_bytes(),
            ..caps
        })
    }

    /// Applies these arguments and the cache to a builder.
    pub(crate) fn apply(
        &self,
        mut builder: SearcherBuilder,
        manifest: ManifestOptions,
        cache: Option<&Arc<dyn RangeCache>>,
    ) -> SearcherBuilder {
        builder = builder.manifest(manifest);
        if let Some(cache) = cache {
            builder = builder.cache(Arc::clone(cache));
        }
        if let Some(threads) = self.threads {
            builder = builder.max_parallel_leaves(threads);
        }
        if let Some(max) = self.limits.max_concurrent_requests {
            builder = builder.max_concurrent_requests(usize::from(max));
        }
        builder
    }
}
