//! Object store that performs each operation within a hook.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// Operation of a store, with the object where a hook asks for it.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Put(Path),
    PutMultipart,
    Get,
    Delete(Path),
    List,
    Copy,
}

/// Performs, delays, prevents or observes operations.
pub(crate) trait Hook: Debug + Send + Sync + 'static {
    /// Performs an operation.
    fn around<T: Send>(
        &self,
        op: Op,
        operation: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send;

    /// Is told the number of bytes of a read.
    fn has_read(&self, num_bytes: u64) {
        let _ = num_bytes;
    }
}

/// Store whose operations are performed within a hook.
#[derive(Debug)]
pub(crate) struct HookedStore<H> {
    inner: Arc<dyn ObjectStore>,
    pub(super) hook: Arc<H>,
}

impl<H: Hook> HookedStore<H> {
    pub(crate) fn with(inner: Arc<dyn ObjectStore>, hook: H) -> Self {
        Self {
            inner,
            hook: Arc::new(hook),
        }
    }
}

impl<H: Hook> fmt::Display for HookedStore<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} around {}", self.hook, self.inner)
    }
}

#[async_trait]
impl<H: Hook> ObjectStore for HookedStore<H> {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let put = self.inner.put_opts(location, payload, options);
        self.hook.around(Op::Put(location.clone()), put).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let put = self.inner.put_multipart_opts(location, options);
        self.hook.around(Op::PutMultipart, put).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let get = self.inner.get_opts(location, options);
        let found = self.hook.around(Op::Get, get).await?;
        self.hook.has_read(found.range.end - found.range.start);
        Ok(found)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let (inner, hook) = (Arc::clone(&self.inner), Arc::clone(&self.hook));
        let delete = move |location: Path| {
            let (inner, hook) = (Arc::clone(&inner), Arc::clone(&hook));
            async move {
                let delete = inner.delete(&location);
                hook.around(Op::Delete(location.clone()), delete).await?;
                Ok(location)
            }
        };
        locations.and_then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (inner, hook) = (Arc::clone(&self.inner), Arc::clone(&self.hook));
        let prefix = prefix.cloned();
        let list = async move {
            let list = async { Ok(inner.list(prefix.as_ref())) };
            hook.around(Op::List, list).await
        };
        stream::once(list).try_flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let list = self.inner.list_with_delimiter(prefix);
        self.hook.around(Op::List, list).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let copy = self.inner.copy_opts(from, to, options);
        self.hook.around(Op::Copy, copy).await
    }
}
