//! Object store that fails on purpose, for tests of crash safety.

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The operation and all later ones do not happen: the process crashed before.
    CrashBefore,
    /// The operation happens, but its answer is lost, and all later operations fail: the process
    /// crashed after it.
    CrashAfter,
    /// The operation happens and its answer is lost, but later operations succeed: a network error.
    LostAnswer,
}

/// Passes operations on, up to the one with the given index, from 0. Deletions and lists are not
/// counted.
#[derive(Debug)]
pub(crate) struct FailingStore {
    inner: Arc<dyn ObjectStore>,
    fail_at: u64,
    failure: Failure,
    num_ops: AtomicU64,
    /// Bytes that were read.
    num_bytes: AtomicU64,
    /// Objects with this in their names are never deleted.
    kept: Option<&'static str>,
}

impl FailingStore {
    pub(crate) fn new(inner: Arc<dyn ObjectStore>, fail_at: u64, failure: Failure) -> FailingStore {
        FailingStore {
            inner,
            fail_at,
            failure,
            num_ops: AtomicU64::new(0),
            num_bytes: AtomicU64::new(0),
            kept: None,
        }
    }

    /// Passes everything on except for deletions of objects with `kept` in their names.
    pub(crate) fn that_keeps(inner: Arc<dyn ObjectStore>, kept: &'static str) -> FailingStore {
        FailingStore {
            kept: Some(kept),
            ..FailingStore::new(inner, u64::MAX, Failure::CrashBefore)
        }
    }

    pub(crate) fn num_ops(&self) -> u64 {
        self.num_ops.load(Ordering::SeqCst)
    }

    pub(crate) fn num_bytes(&self) -> u64 {
        self.num_bytes.load(Ordering::SeqCst)
    }

    async fn pass<T>(&self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        let op_ord = self.num_ops.fetch_add(1, Ordering::SeqCst);
        let lost = || object_store::Error::Generic {
            store: "failing",
            source: format!("operation {op_ord} failed on purpose").into(),
        };
        match self.failure {
            Failure::CrashBefore if op_ord >= self.fail_at => Err(lost()),
            Failure::CrashAfter if op_ord > self.fail_at => Err(lost()),
            Failure::CrashAfter | Failure::LostAnswer if op_ord == self.fail_at => {
                operation.await?;
                Err(lost())
            }
            _ => operation.await,
        }
    }
}

impl fmt::Display for FailingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failing({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FailingStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.pass(self.inner.put_opts(location, payload, options))
            .await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.pass(self.inner.put_multipart_opts(location, options))
            .await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let found = self.pass(self.inner.get_opts(location, options)).await?;
        let len = found.range.end - found.range.start;
        self.num_bytes.fetch_add(len, Ordering::SeqCst);
        Ok(found)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let Some(kept) = self.kept else {
            return self.inner.delete_stream(locations);
        };
        let inner = Arc::clone(&self.inner);
        let delete = move |location: Result<Path>| {
            let inner = Arc::clone(&inner);
            async move {
                let location = location?;
                if location.as_ref().contains(kept) {
                    return Err(object_store::Error::Generic {
                        store: "failing",
                        source: "it is kept on purpose".into(),
                    });
                }
                inner.delete(&location).await?;
                Ok(location)
            }
        };
        locations.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.pass(self.inner.copy_opts(from, to, options)).await
    }
}
