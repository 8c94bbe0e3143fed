//! Opening of a fetcher for an index's URI, with settings from the environment.

use std::path::{Path as FsPath, PathBuf};
use std::sync::Arc;

use canter_stores::Settings;
#[cfg(feature = "remote")]
use canter_stores::{BucketOptions, WRONG_CLOCK, checked_unix_time};
#[cfg(feature = "remote")]
use object_store::RetryConfig;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use url::Url;

#[cfg(feature = "remote")]
use super::HttpFetcher;
use super::object_store::with_causes;
use super::{HttpOptions, ObjectStoreFetcher, RangeFetcher, Retry, RetryOptions};
use crate::observe::redact_urls;
use crate::{ErrorKind, SearchError};

/// Settings of [`open_uri`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenOptions {
    /// Settings of web servers.
    pub http: HttpOptions,
    /// Settings of retries.
    pub retry: RetryOptions,
    /// Settings of buckets, keyed by environment variable, which override the environment.
    pub settings: Settings,
}

/// Opens a fetcher on the objects below `uri`, with retries:
///
/// | URI | store | settings |
/// |---|---|---|
/// | `folder`, `file:///folder` | local files | |
/// | `s3://bucket/prefix` | S3 and what speaks it | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL[_S3]`, `AWS_ALLOW_HTTP`, `AWS_VIRTUAL_HOSTED_STYLE_REQUEST`, `AWS_SKIP_SIGNATURE`, … |
/// | `gs://bucket/prefix` | Google Cloud Storage | `GOOGLE_SERVICE_ACCOUNT`, … |
/// | `az://container/prefix` | Azure Blob Storage | `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT_KEY`, … |
/// | `https://host/path` | any web server that honours `Range` | |
///
/// Nothing is read yet: a wrong bucket shows on the first fetch.
pub fn open_uri(uri: &str, options: &OpenOptions) -> Result<Arc<dyn RangeFetcher>, SearchError> {
    let fetcher = open_store(uri, options)?;
    Ok(Arc::new(Retry::new(fetcher, options.retry)))
}

/// Works like [`open_uri`] without retries: a searcher has its own, which its budget counts.
pub(crate) fn open_store(
    uri: &str,
    options: &OpenOptions,
) -> Result<Arc<dyn RangeFetcher>, SearchError> {
    Ok(match uri.split_once("://") {
        None => Arc::new(open_folder(FsPath::new(uri))?),
        Some(("file", _)) => Arc::new(open_folder(&file_path(uri)?)?),
        Some((scheme @ ("http" | "https"), _)) => open_remote(scheme, uri, options)?,
        Some((scheme @ ("s3" | "s3a" | "gs" | "az" | "azure" | "abfs" | "abfss"), _)) => {
            open_remote(scheme, uri, options)?
        }
        Some((scheme, _)) => {
            let uri = redact_urls(uri);
            return Err(SearchError::invalid(format!(
                "cannot open {uri:?}: no store is known for {scheme:?}; use a folder, s3://, gs://, az://, http:// or https://"
            )));
        }
    })
}

fn parse(uri: &str) -> Result<Url, SearchError> {
    Url::parse(uri).map_err(|error| {
        let shown = redact_urls(uri);
        SearchError::invalid(format!("cannot open {shown:?}: {error}"))
    })
}

fn file_path(uri: &str) -> Result<PathBuf, SearchError> {
    parse(uri)?.to_file_path().map_err(|()| {
        SearchError::invalid(format!(
            "cannot open {uri:?}: not an absolute path on this machine"
        ))
    })
}

fn open_folder(folder: &FsPath) -> Result<ObjectStoreFetcher, SearchError> {
    if !folder.is_dir() {
        let shown = folder.display();
        let message = match folder.exists() {
            true => format!("`{shown}` is not a folder: name the folder of an index"),
            false => format!("there is no folder `{shown}`: check its name"),
        };
        return Err(SearchError::new(ErrorKind::NotFound, message));
    }
    let store = LocalFileSystem::new_with_prefix(folder).map_err(|error| {
        SearchError::invalid(format!(
            "cannot open folder {}: {}",
            folder.display(),
            with_causes(&error)
        ))
    })?;
    Ok(ObjectStoreFetcher::new(Arc::new(store), Path::default()))
}

#[cfg(feature = "remote")]
fn open_remote(
    scheme: &str,
    uri: &str,
    options: &OpenOptions,
) -> Result<Arc<dyn RangeFetcher>, SearchError> {
    let url = parse(uri)?;
    Ok(match scheme {
        // TLS compares the date with those of certificates, and its library panics without a valid
        // date.
        "https" if checked_unix_time().is_none() => {
            return Err(SearchError::unavailable(WRONG_CLOCK.to_owned()));
        }
        "http" | "https" => Arc::new(HttpFetcher::new(url, options.http.clone())?),
        _ => Arc::new(open_bucket(&url, options)?),
    })
}

#[cfg(not(feature = "remote"))]
fn open_remote(
    scheme: &str,
    _uri: &str,
    _options: &OpenOptions,
) -> Result<Arc<dyn RangeFetcher>, SearchError> {
    Err(SearchError::invalid(format!(
        "cannot open {scheme}://: this program was built for folders only, without the feature \
         \"remote\"; the one that `cargo xtask dist` builds can"
    )))
}

/// Retries are implemented in [`Retry`], so that they are counted, limited and equal for every
/// store.
#[cfg(feature = "remote")]
fn no_retries() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}

#[cfg(feature = "remote")]
fn open_bucket(url: &Url, options: &OpenOptions) -> Result<ObjectStoreFetcher, SearchError> {
    let max_bytes = options.http.max_whole_object_bytes;
    let options = BucketOptions {
        retry: no_retries(),
        max_whole_object_bytes: max_bytes,
        settings: options.settings.clone(),
    };
    let (store, prefix) = canter_stores::open_bucket(url, &options).map_err(|error| {
        let shown = redact_urls(url.as_str());
        SearchError::invalid(format!("cannot open {shown}: {}", with_causes(&error)))
    })?;
    Ok(ObjectStoreFetcher::new(store, prefix).with_max_whole_object_bytes(max_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::ByteRange;

    #[tokio::test]
    async fn a_folder_opens_by_path_and_by_file_uri() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("manifest.json"), b"{}").unwrap();
        let path = folder.path().to_str().unwrap();
        for uri in [
            path.to_owned(),
            format!("{path}/"),
            format!("file://{path}"),
        ] {
            let fetcher = open_uri(&uri, &OpenOptions::default()).unwrap();
            let fetched = fetcher
                .fetch("manifest.json", ByteRange::from(0))
                .await
                .unwrap();
            assert_eq!(&fetched.bytes[..], b"{}", "{uri}");
        }
    }

    #[test]
    fn an_unknown_scheme_names_what_is_known() {
        let error = open_uri("ftp://host/x", &OpenOptions::default())
            .err()
            .unwrap();
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(error.message.contains("s3://"), "{error}");
    }

    #[test]
    fn credentials_of_a_uri_are_in_no_message() {
        for uri in [
            "ftp://me:secret@host/x?sig=secret",
            "https://me:secret@host:secret/x?sig=secret",
            "s3://me:secret@/x?sig=secret",
        ] {
            let error = open_uri(uri, &OpenOptions::default()).err();
            let message = error.map(|error| error.message).unwrap_or_default();
            assert!(!message.contains("sig=secret"), "{message}");
            assert!(!message.contains("me:secret"), "{message}");
        }
    }

    #[test]
    fn an_absent_folder_is_named() {
        let error = open_uri("/no/such/folder", &OpenOptions::default())
            .err()
            .unwrap();
        assert_eq!(error.kind, ErrorKind::NotFound);
        assert_eq!(
            error.message,
            "there is no folder `/no/such/folder`: check its name"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        let uri = file.path().to_str().unwrap();
        let error = open_uri(uri, &OpenOptions::default()).err().unwrap();
        assert!(error.message.contains("is not a folder"), "{error}");
    }
}
