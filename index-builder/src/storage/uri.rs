//! From an index URI and the environment to an object store.

use crate::error::BuildError;
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

/// What an index URI names.
#[derive(Debug)]
pub(super) enum Location {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket or container, and a prefix in it.
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
    let store: Arc<dyn ObjectStore> = match url.scheme() {
        "file" => {
            return url.to_file_path().map(Location::Folder).map_err(|()| {
                BuildError::invalid(format!(
                    "`{uri}` names no folder: write file:///absolute/path, or the path alone"
                ))
            });
        }
        "s3" | "s3a" => Arc::new(
            s3_builder(uri)
                .build()
                .map_err(|error| no_store(uri, error))?,
        ),
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(uri);
            Arc::new(builder.build().map_err(|error| no_store(uri, error))?)
        }
        "az" | "azure" | "abfs" | "abfss" => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(uri);
            Arc::new(builder.build().map_err(|error| no_store(uri, error))?)
        }
        "http" | "https" => {
            return Err(BuildError::invalid(format!(
                "`{uri}` can be searched but not written: give the bucket as s3://, gs:// or az://"
            )));
        }
        other => {
            return Err(BuildError::invalid(format!(
                "unknown scheme `{other}` in `{uri}`: known are a plain path, file, s3, gs and az"
            )));
        }
    };
    let prefix = Path::from_url_path(url.path()).map_err(|error| {
        BuildError::invalid(format!("`{uri}` has a bad prefix")).caused_by(error)
    })?;
    Ok(Location::Bucket(store, prefix))
}

/// A custom endpoint (MinIO, R2, a test server) is addressed by path, and an `http://` one needs no
/// second variable to be allowed: whoever wrote it meant it.
fn s3_builder(uri: &str) -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::from_env().with_url(uri);
    let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    if let Some(endpoint) = endpoint {
        builder = builder.with_allow_http(endpoint.starts_with("http://"));
        if env::var_os("AWS_VIRTUAL_HOSTED_STYLE_REQUEST").is_none() {
            builder = builder.with_virtual_hosted_style_request(false);
        }
    }
    builder
}

fn no_store(uri: &str, error: object_store::Error) -> BuildError {
    BuildError::invalid(format!(
        "cannot use `{uri}`: check the bucket's name and the credentials in the environment \
         (AWS_…, GOOGLE_… or AZURE_…)"
    ))
    .caused_by(error)
}
