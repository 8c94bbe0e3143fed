//! Several indexes behind one fetcher: the first part of an object's name selects the index.
//! Indexes can be added and removed while searches run: a running search of a removed index keeps
//! its data, and its next reads fail.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use futures_util::future::{BoxFuture, FutureExt};

use super::{ByteRange, FetchError, FetchErrorKind, FetchedRange, RangeFetcher};

/// Open indexes by name.
#[derive(Default)]
pub(crate) struct OpenIndexes(RwLock<BTreeMap<String, OpenIndex>>);

/// Open index.
pub(crate) struct OpenIndex {
    pub(crate) fetcher: Arc<dyn RangeFetcher>,
    /// Prefix of its keys in a cache.
    pub(crate) namespace: String,
}

impl OpenIndexes {
    /// Adds an index. Returns false and changes nothing if the name is taken.
    pub(crate) fn add(&self, name: &str, index: OpenIndex) -> bool {
        let mut open = self.write();
        if open.contains_key(name) {
            return false;
        }
        open.insert(name.to_owned(), index);
        true
    }

    /// Removes an index. Returns false if there is none of this name.
    pub(crate) fn remove(&self, name: &str) -> bool {
        self.write().remove(name).is_some()
    }

    /// Returns the names of the indexes in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// Returns the prefix of an index's keys.
    pub(crate) fn namespace_of(&self, name: &str) -> Option<String> {
        self.read().get(name).map(|index| index.namespace.clone())
    }

    fn fetcher_of(&self, name: &str) -> Option<Arc<dyn RangeFetcher>> {
        self.read()
            .get(name)
            .map(|index| Arc::clone(&index.fetcher))
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, OpenIndex>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, OpenIndex>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OpenIndexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Sends `logs/splits/a.split` to the fetcher of the index `logs`, as `splits/a.split`.
pub(crate) struct ByIndex {
    pub(crate) indexes: Arc<OpenIndexes>,
}

impl ByIndex {
    fn of<'a>(
        &self,
        object: &'a str,
        range: ByteRange,
    ) -> Result<(Arc<dyn RangeFetcher>, &'a str), FetchError> {
        object
            .split_once('/')
            .and_then(|(name, object)| Some((self.indexes.fetcher_of(name)?, object)))
            .ok_or_else(|| {
                let what = "no index of this name is open";
                FetchError::new(FetchErrorKind::NotFound, object, range, what)
            })
    }
}

impl RangeFetcher for ByIndex {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        async move {
            let (fetcher, object) = self.of(object, range)?;
            fetcher.fetch(object, range).await
        }
        .boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        async move {
            let (fetcher, object) = self.of(object, range)?;
            fetcher.fetch_if_changed(object, range, etag).await
        }
        .boxed()
    }
}
