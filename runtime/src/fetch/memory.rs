//! Objects in RAM, for tests and benchmarks.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};

use super::{
    ByteRange, FetchError, FetchErrorKind, FetchedRange, MAX_WHOLE_OBJECT_BYTES, RangeFetcher,
};

/// Set of named objects in memory. Ranges are slices without copies.
#[derive(Clone, Debug, Default)]
pub struct MemoryFetcher {
    objects: BTreeMap<String, Bytes>,
}

impl MemoryFetcher {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces an object.
    pub fn insert(&mut self, object: impl Into<String>, bytes: impl Into<Bytes>) {
        self.objects.insert(object.into(), bytes.into());
    }

    /// Returns an object's bytes.
    pub fn get(&self, object: &str) -> Option<&Bytes> {
        self.objects.get(object)
    }

    fn read(&self, object: &str, range: ByteRange) -> Result<FetchedRange, FetchError> {
        let bytes = self.objects.get(object).ok_or_else(|| {
            FetchError::new(FetchErrorKind::NotFound, object, range, "no such object")
        })?;
        let size = bytes.len() as u64;
        let end = match range.len {
            Some(len) => range.offset.saturating_add(len),
            None => size.max(range.offset),
        };
        if end > size {
            return Err(FetchError::short(
                object,
                range,
                size.saturating_sub(range.offset),
            ));
        }
        if range.len.is_none() && end - range.offset > MAX_WHOLE_OBJECT_BYTES {
            return Err(FetchError::too_large(object, range, MAX_WHOLE_OBJECT_BYTES));
        }
        // Both fit, because they do not exceed the length of `bytes`.
        let slice = bytes.slice(range.offset as usize..end as usize);
        Ok(FetchedRange::new(slice))
    }
}

impl<K: Into<String>, V: Into<Bytes>> FromIterator<(K, V)> for MemoryFetcher {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(objects: I) -> Self {
        let objects = objects
            .into_iter()
            .map(|(object, bytes)| (object.into(), bytes.into()))
            .collect();
        Self { objects }
    }
}

impl RangeFetcher for MemoryFetcher {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        std::future::ready(self.read(object, range)).boxed()
    }
}
