//! Object store in which something else happens before one of its operations, for tests of interleaved writers.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

type Deed = Box<dyn FnOnce() -> Vec<bool> + Send>;

/// Store with a deed before the operation with the given number.
pub(super) struct Between {
    inner: Arc<dyn ObjectStore>,
    at: u64,
    num_ops: AtomicU64,
    deed: Mutex<Option<Deed>>,
    done: Mutex<Option<Vec<bool>>>,
}

impl Between {
    pub(super) fn new(
        inner: Arc<dyn ObjectStore>,
        at: u64,
        deed: impl FnOnce() -> Vec<bool> + Send + 'static,
    ) -> Self {
        Self {
            inner,
            at,
            num_ops: AtomicU64::new(0),
            deed: Mutex::new(Some(Box::new(deed))),
            done: Mutex::new(None),
        }
    }

    /// Returns what the deed did, if its operation came.
    pub(super) fn done(&self) -> Option<Vec<bool>> {
        self.done.lock().unwrap().clone()
    }

    fn pass(&self) {
        if self.num_ops.fetch_add(1, Ordering::SeqCst) != self.at {
            return;
        }
        if let Some(deed) = self.deed.lock().unwrap().take() {
            // Not on a thread of the runtime that is about to perform the operation.
            let done = thread::spawn(deed).join().unwrap();
            *self.done.lock().unwrap() = Some(done);
        }
    }
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Between({:?})", self.inner)
    }
}

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Between({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for Between {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.pass();
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.pass();
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
