//! Cache of blocks in Fastly's core cache.

use std::io::{Read, Write};
use std::time::Duration;

use canter_edge_io::BlobStore;
use fastly::cache::core::{CacheKey, insert, lookup};

/// Maximum age of entries. They never change, except for manifests, which are checked whenever they
/// are used.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
/// Surrogate key by which all entries can be purged at once.
const SURROGATE_KEY: &str = "canter";
/// Maximum length of a value, which exceeds that of any block or manifest.
const MAX_VALUE_LEN: u64 = 80 << 20;

/// Core cache of Fastly.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoreCache;

impl BlobStore for CoreCache {
    fn get(&mut self, key: &str) -> Option<Vec<u8>> {
        let found = lookup(key_of(key)).execute().ok()??;
        let body = found.to_stream().ok()?;
        let mut value = Vec::with_capacity(usize::try_from(found.known_length()?).ok()?);
        body.take(MAX_VALUE_LEN).read_to_end(&mut value).ok()?;
        Some(value)
    }

    fn put(&mut self, key: &str, value: Vec<u8>) {
        let writer = insert(key_of(key), MAX_AGE)
            .known_length(value.len() as u64)
            .surrogate_keys([SURROGATE_KEY])
            .execute();
        // Data that could not be cached is read again.
        if let Ok(mut writer) = writer
            && writer.write_all(&value).is_ok()
        {
            let _ = writer.finish();
        }
    }
}

fn key_of(key: &str) -> CacheKey {
    CacheKey::from(format!("canter/{key}").into_bytes())
}
