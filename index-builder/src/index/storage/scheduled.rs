//! Object store on which several writers take turns as determined by a seed, for tests of
//! interleaved operations.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::sync::oneshot;

/// Lets one operation through at a time.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    waiting: Mutex<Vec<(usize, oneshot::Sender<()>)>>,
}

impl Turns {
    /// Waits for the writer's turn.
    async fn wait(&self, writer: usize) {
        let (turn, come) = oneshot::channel();
        self.waiting.lock().unwrap().push((writer, turn));
        // Without a driver, the writer continues.
        let _ = come.await;
    }

    /// Returns the number of waiting writers.
    pub(crate) fn num_waiting(&self) -> usize {
        self.waiting.lock().unwrap().len()
    }

    /// Lets the `nth` of the waiting writers continue.
    pub(crate) fn let_go(&self, nth: usize) {
        let mut waiting = self.waiting.lock().unwrap();
        waiting.sort_by_key(|(writer, _)| *writer);
        let nth = nth % waiting.len();
        let _ = waiting.remove(nth).1.send(());
    }
}

/// Store as seen by one of the writers.
#[derive(Clone, Debug)]
pub(crate) struct ScheduledStore {
    pub(crate) inner: Arc<dyn ObjectStore>,
    pub(crate) turns: Arc<Turns>,
    pub(crate) writer: usize,
}

impl fmt::Display for ScheduledStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheduled({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for ScheduledStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.turns.wait(self.writer).await;
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.turns.wait(self.writer).await;
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.turns.wait(self.writer).await;
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let (turns, writer) = (Arc::clone(&self.turns), self.writer);
        let inner = Arc::clone(&self.inner);
        let turn = async move {
            turns.wait(writer).await;
            inner.delete_stream(locations)
        };
        stream::once(turn).flatten().boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (turns, writer) = (Arc::clone(&self.turns), self.writer);
        let (inner, prefix) = (Arc::clone(&self.inner), prefix.cloned());
        let turn = async move {
            turns.wait(writer).await;
            inner.list(prefix.as_ref())
        };
        stream::once(turn).flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.turns.wait(self.writer).await;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.turns.wait(self.writer).await;
        self.inner.copy_opts(from, to, options).await
    }
}
