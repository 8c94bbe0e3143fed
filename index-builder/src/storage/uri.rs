//! From an index URI and the environment to an object store.

use crate::error::BuildError;
#[cfg(feature = "buckets")]
use canter_stores::{BucketOptions, Settings, open_bucket};
use object_store::ObjectStore;
#[cfg(feature = "buckets")]
use object_store::RetryConfig;
use object_store::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

/// The manifest is the only object that is read whole.
#[cfg(feature = "buckets")]
const MAX_WHOLE_OBJECT_BYTES: u64 = 256 << 20;

/// What an index URI names.
#[derive(Debug)]
pub(super) enum Location {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket or container, and a prefix in it.
    #[cfg_attr(
        not(feature = "buckets"),
        expect(dead_code, reason = "what opens one is not there")
    )]
    Bucket(Arc<dyn ObjectStore>, Path),
}

/// Reads a plain path, `file://`, `s3://`, `gs://` or `az://`; credentials and endpoints come from
/// the environment variables that the vendors' own tools use.
pub(super) fn parse_uri(uri: &str) -> Result<Location, BuildError> {
    if uri.is_empty() {
        return Err(BuildError::invalid(
            "the index URI is empty: give a folder, s3://bucket/prefix, gs://… or az://…",
        ));
    }
    if !uri.contains("://") {
        return Ok(Location::Folder(PathBuf::from(uri)));
    }
    let url = Url::parse(uri)
        .map_err(|error| BuildError::invalid(format!("`{uri}` is no URI")).caused_by(error))?;
    match url.scheme() {
        "file" => url.to_file_path().map(Location::Folder).map_err(|()| {
            BuildError::invalid(format!(
                "`{uri}` names no folder: write file:///absolute/path, or the path alone"
            ))
        }),
        "s3" | "s3a" | "gs" | "az" | "azure" | "abfs" | "abfss" => open(uri, &url),
        "http" | "https" => Err(BuildError::invalid(format!(
            "`{uri}` can be searched but not written: give the bucket as s3://, gs:// or az://"
        ))),
        other => Err(BuildError::invalid(format!(
            "unknown scheme `{other}` in `{uri}`: known are a plain path, file, s3, gs and az"
        ))),
    }
}

/// The bucket of inputs that `uri` names, opened as one of an index is.
pub(crate) fn open_bucket_of_inputs(uri: &str) -> Result<Arc<dyn ObjectStore>, BuildError> {
    match parse_uri(uri)? {
        Location::Bucket(store, _) => Ok(store),
        Location::Folder(_) => Err(BuildError::invalid(format!("`{uri}` is no bucket"))),
    }
}

#[cfg(feature = "buckets")]
fn open(uri: &str, url: &Url) -> Result<Location, BuildError> {
    let (store, prefix) = open_bucket(url, &options()).map_err(|error| no_store(uri, error))?;
    Ok(Location::Bucket(store, prefix))
}

#[cfg(not(feature = "buckets"))]
fn open(_uri: &str, url: &Url) -> Result<Location, BuildError> {
    Err(BuildError::invalid(format!(
        "cannot use {}://: this program was built for folders only, without the feature \"buckets\"; \
         the one that `cargo xtask dist` builds can",
        url.scheme()
    )))
}

/// Here `object_store` repeats what failed: nobody counts a builder's requests.
#[cfg(feature = "buckets")]
fn options() -> BucketOptions {
    BucketOptions {
        retry: RetryConfig::default(),
        max_whole_object_bytes: MAX_WHOLE_OBJECT_BYTES,
        settings: Settings::default(),
    }
}

#[cfg(feature = "buckets")]
fn no_store(uri: &str, error: object_store::Error) -> BuildError {
    BuildError::invalid(format!(
        "cannot use `{uri}`: check the bucket's name and the credentials in the environment \
         (AWS_…, GOOGLE_… or AZURE_…)"
    ))
    .caused_by(error)
}
