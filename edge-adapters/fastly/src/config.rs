//! Settings from the config store `canter`, with the limits of the platform as defaults.

use canter_edge_io::{BlobCache, Host, Options, parse_indexes};
use canter_protocol::Budget;
use fastly::ConfigStore;
use serde_json::Value;

use crate::calls::Fastly;
use crate::store::CoreCache;

/// Name of the config store.
const STORE: &str = "canter";

/// Maximum number of requests to backends that the platform allows for one request.
const MAX_REQUESTS: u64 = 32;
/// Maximum number of bytes of one search, from the store or the cache. They share the heap of 128
/// MB with the engine and its results.
const MAX_BYTES: u64 = 48 << 20;
/// Maximum processor time in milliseconds that the platform allows.
const MAX_CPU_MS: u64 = 50;
/// Maximum time of one search in milliseconds.
const DEADLINE_MS: u64 = 10_000;
/// Maximum length of a manifest, because of the same heap.
const MAX_MANIFEST_BYTES: (&str, u64) = ("max_manifest_bytes", 16 << 20);
/// Limits of the guest's memory, because of the same heap.
const GUEST_LIMITS: [(&str, u64); 3] = [
    ("max_aggregation_bytes", 24 << 20),
    ("max_resident_bytes", 40 << 20),
    MAX_MANIFEST_BYTES,
];

pub(crate) type FastlyHost = Host<Fastly, Option<BlobCache<CoreCache>>>;

/// Content of the config store.
pub(crate) struct Config(Option<ConfigStore>);

impl Config {
    pub(crate) fn open() -> Self {
        Self(ConfigStore::try_open(STORE).ok())
    }

    /// Returns a setting, or `None` if it is missing or blank.
    ///
    /// # Errors
    /// The config store cannot be read.
    pub(crate) fn get(&self, name: &str) -> Result<Option<String>, String> {
        let Some(store) = &self.0 else {
            return Ok(None);
        };
        let value = store.try_get(name);
        let value =
            value.map_err(|error| format!("{name} in the config store {STORE:?}: {error}"))?;
        Ok(value.filter(|value| !value.trim().is_empty()))
    }

    /// Returns a host with these settings.
    pub(crate) fn host(&self) -> Result<FastlyHost, String> {
        let indexes = self.get("CANTER_INDEXES")?.unwrap_or_default();
        let indexes = parse_indexes(&indexes)
            .map_err(|error| format!("CANTER_INDEXES in the config store {STORE:?}: {error}"))?;
        let mut options = defaults().with_settings(|name| self.get(name))?;
        // The host does not read longer manifests than the guest accepts.
        let (name, max_bytes) = MAX_MANIFEST_BYTES;
        let max_set = options.guest_limits.get(name).and_then(Value::as_u64);
        options.max_whole_object_bytes = max_set.unwrap_or(max_bytes);
        let is_cached = self.get("CANTER_CACHE")?.is_none_or(|value| value != "off");
        let cache = is_cached.then(|| BlobCache::new(CoreCache));
        let platform = Fastly::new(self.get("CANTER_BACKEND")?);
        Ok(Host::new(platform, cache, options, indexes))
    }
}

fn defaults() -> Options {
    let limits = GUEST_LIMITS.map(|(name, limit)| (name.to_owned(), limit.into()));
    Options {
        budget: Budget {
            max_requests: Some(MAX_REQUESTS),
            max_bytes: Some(MAX_BYTES),
            max_waves: None,
            deadline_ms: Some(DEADLINE_MS),
        },
        max_cpu_ms: Some(MAX_CPU_MS),
        counts_cached_bytes: true,
        max_concurrent_requests: 32,
        guest_limits: limits.into_iter().collect(),
        ..Options::default()
    }
}
