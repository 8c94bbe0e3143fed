//! Creation of objects in a bucket.

use anyhow::{Context, Result};
use canter_stores::{BucketOptions, Settings, open_bucket};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStoreExt, RetryConfig};
use url::Url;

/// Uploads objects, given with their keys, to the bucket at a URI, with the settings of the
/// environment.
pub fn put_objects(uri: &str, objects: Vec<(String, Vec<u8>)>) -> Result<()> {
    let options = BucketOptions {
        retry: RetryConfig::default(),
        max_whole_object_bytes: 1 << 20,
        settings: Settings::default(),
    };
    let (store, _) = open_bucket(&Url::parse(uri)?, &options)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        stream::iter(objects)
            .map(|(key, bytes)| {
                let store = &store;
                async move {
                    let path = Path::parse(&key)?;
                    let put = store.put(&path, bytes.into());
                    put.await.with_context(|| format!("put {key}"))?;
                    Ok::<_, anyhow::Error>(())
                }
            })
            .buffer_unordered(8)
            .try_collect::<Vec<()>>()
            .await
    })?;
    Ok(())
}
