//! Several indexes behind one fetcher: the first part of an object's name says which.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt};

use super::{ByteRange, FetchError, FetchErrorKind, FetchedRange, RangeFetcher};

/// Sends `logs/splits/a.split` to the fetcher of the index `logs`, as `splits/a.split`.
pub(crate) struct ByIndex {
    pub(crate) indexes: BTreeMap<String, Arc<dyn RangeFetcher>>,
}

impl ByIndex {
    fn of<'a>(
        &self,
        object: &'a str,
        range: ByteRange,
    ) -> Result<(&Arc<dyn RangeFetcher>, &'a str), FetchError> {
        object
            .split_once('/')
            .and_then(|(name, object)| Some((self.indexes.get(name)?, object)))
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
