//! Opening of buckets by URI, with settings from the environment.

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{ObjectStore, RetryConfig};
use url::Url;

use super::MannersConnector;
use crate::Settings;
use crate::clock::{WRONG_CLOCK, checked_unix_time};

/// Options of [`open_bucket`].
#[derive(Clone, Debug)]
pub struct BucketOptions {
    /// Policy for repeating failed requests.
    pub retry: RetryConfig,
    /// Maximum length of an object that is read whole when the store does not state its length.
    pub max_whole_object_bytes: u64,
    /// Settings that override the environment.
    pub settings: Settings,
}

/// Opens the bucket of `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`, and
/// returns it with the prefix. Sends no request.
///
/// # Errors
/// A setting is missing or cannot be parsed, or the scheme is unknown.
pub fn open_bucket(
    url: &Url,
    options: &BucketOptions,
) -> object_store::Result<(Arc<dyn ObjectStore>, Path)> {
    // Requests are signed with the date, and the signing libraries panic without a valid one.
    if checked_unix_time().is_none() {
        return Err(object_store::Error::Generic {
            store: "bucket",
            source: WRONG_CLOCK.into(),
        });
    }
    let connector = MannersConnector {
        max_whole_object_bytes: options.max_whole_object_bytes,
    };
    let store: Arc<dyn ObjectStore> = match url.scheme() {
        "s3" | "s3a" => Arc::new(
            s3(&options.settings)
                .with_url(url.as_str())
                .with_retry(options.retry.clone())
                .with_http_connector(connector)
                .build()?,
        ),
        "gs" => {
            let mut builder = GoogleCloudStorageBuilder::from_env();
            for (key, value) in options.settings.of("GOOGLE_") {
                builder = builder.with_config(key, value);
            }
            Arc::new(
                builder
                    .with_url(url.as_str())
                    .with_retry(options.retry.clone())
                    .with_http_connector(connector)
                    .build()?,
            )
        }
        _ => {
            let mut builder = MicrosoftAzureBuilder::from_env();
            for (key, value) in options.settings.of("AZURE_") {
                builder = builder.with_config(key, value);
            }
            Arc::new(
                builder
                    .with_url(url.as_str())
                    .with_retry(options.retry.clone())
                    .with_http_connector(connector)
                    .build()?,
            )
        }
    };
    Ok((store, Path::from_url_path(url.path())?))
}

/// As in the AWS CLI, the variable for S3 takes precedence over the general one. An explicit
/// `http://` endpoint enables plain HTTP.
fn s3(settings: &Settings) -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::from_env();
    for (key, value) in settings.of("AWS_") {
        builder = builder.with_config(key, value);
    }
    let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
        .iter()
        .find_map(|name| settings.get(name));
    if let Some(endpoint) = endpoint {
        if endpoint.starts_with("http://") {
            builder = builder.with_allow_http(true);
        }
        builder = builder.with_endpoint(endpoint);
    }
    builder
}
