//! Conversion of an index URI and the environment to an object store.

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

/// Maximum length of the manifest, which is the only object that is read as a whole.
#[cfg(feature = "buckets")]
const MAX_WHOLE_OBJECT_BYTES: u64 = 256 << 20;

/// Target of an index URI.
#[derive(Debug)]
pub(super) enum Location {
    /// Local folder.
    Folder(PathBuf),
    /// Bucket or container, with a prefix in it.
    #[cfg_attr(
        not(feature = "buckets"),
        expect(dead_code, reason = "what opens one is not there")
    )]
    Bucket(Arc<dyn ObjectStore>, Path),
}

/// Parses a plain path, `file://`, `s3://`, `gs://` or `az://`. Credentials and endpoints come from
/// the environment variables of the vendors' own tools.
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

/// Opens the bucket of inputs at `uri`, with the same options as that of an index.
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

/// Returns the options of buckets. `object_store` repeats failed requests here, because the
/// requests of a builder are not counted.
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
