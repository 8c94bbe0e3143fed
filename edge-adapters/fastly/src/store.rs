//! The cache: Fastly's core cache, in blocks under keys of their own.

use std::io::{Read, Write};
use std::time::Duration;

use canter_edge_io::BlobStore;
use fastly::cache::core::{CacheKey, insert, lookup};

/// What is in the cache never changes, but for manifests, which are asked about whenever they are used.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
/// Lets everything be purged at once.
const SURROGATE_KEY: &str = "canter";
/// Longest value that is read: more than any block or manifest has.
const MAX_VALUE_LEN: u64 = 80 << 20;

/// Fastly's core cache.
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
        // What cannot be kept is read again.
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
