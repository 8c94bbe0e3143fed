//! Recording of reads, for tests and benchmarks.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;

use super::{ByteRange, FetchError, FetchedRange, RangeFetcher};

/// Fetcher that records every read before it passes it on.
pub struct RecordingFetcher {
    inner: Arc<dyn RangeFetcher>,
    reads: Mutex<Vec<(String, ByteRange)>>,
}

impl RecordingFetcher {
    /// Records the reads that go to `inner`.
    pub fn new(inner: Arc<dyn RangeFetcher>) -> Self {
        Self {
            inner,
            reads: Mutex::new(Vec::new()),
        }
    }

    /// Returns the reads since the last call, in the order they were issued.
    pub fn take(&self) -> Vec<(String, ByteRange)> {
        std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RangeFetcher for RecordingFetcher {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.reads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((object.to_owned(), range));
        self.inner.fetch(object, range)
    }
}
