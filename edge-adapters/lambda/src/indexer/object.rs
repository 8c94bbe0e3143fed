//! Object of a bucket as the input of an ingest: streamed, in the version of the event.

use std::io::{self, Read};

use bytes::Bytes;
use canter_stores::{BucketOptions, Settings, open_bucket};
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{
    Error as StoreError, GetOptions, GetResult, ObjectStore, ObjectStoreExt, RetryConfig,
};
use tokio::sync::mpsc::{Receiver, channel};
use url::Url;

use super::event::Arrived;

/// Maximum number of parts of an object that wait to be read.
const QUEUE_LEN: usize = 8;

/// Reason why an object cannot be read.
#[derive(Debug)]
pub(crate) enum ObjectError {
    /// The version of the event does not exist any more: it was deleted, or replaced, which causes
    /// another event.
    Superseded(String),
    /// The object cannot be read.
    Failed(String),
}

/// Opens an object of at most `max_bytes`.
pub(crate) async fn open(object: &Arrived, max_bytes: u64) -> Result<ObjectReader, ObjectError> {
    let uri = object.uri();
    let failed = |what: String| ObjectError::Failed(format!("cannot read {uri}: {what}"));
    let result = get(
        &object.bucket,
        &object.key,
        object.etag.as_deref(),
        max_bytes,
    )
    .await;
    let result = result.map_err(|error| match error {
        StoreError::NotFound { .. } => ObjectError::Superseded(format!("{uri} is gone")),
        StoreError::Precondition { .. } => {
            ObjectError::Superseded(format!("{uri} has been replaced since"))
        }
        error => failed(told(&error)),
    })?;
    let len = result.meta.size;
    if len > max_bytes {
        let what = format!("it has {len} bytes, and CANTER_MAX_OBJECT_BYTES is {max_bytes}");
        return Err(failed(what));
    }
    let version = result.meta.e_tag.clone();
    let (sender, receiver) = channel(QUEUE_LEN);
    let mut parts = result.into_stream();
    tokio::spawn(async move {
        while let Some(part) = parts.next().await {
            let part = part.map_err(|error| io::Error::other(told(&error)));
            // The reader was dropped.
            if sender.send(part).await.is_err() {
                return;
            }
        }
    });
    Ok(ObjectReader {
        version,
        receiver,
        part: Bytes::new(),
        left: len,
    })
}

/// Reads a whole small object.
pub(crate) async fn read_whole(uri: &str, max_bytes: u64) -> Result<Bytes, String> {
    let failed = |what: String| format!("cannot read {uri}: {what}");
    let url = Url::parse(uri).map_err(|error| failed(error.to_string()))?;
    if url.scheme() == "file" {
        let path = url
            .to_file_path()
            .map_err(|()| failed("not a path".to_owned()))?;
        return std::fs::read(path)
            .map(Bytes::from)
            .map_err(|error| failed(error.to_string()));
    }
    let (store, path) =
        open_bucket(&url, &options(max_bytes)).map_err(|error| failed(told(&error)))?;
    let result = store
        .get(&path)
        .await
        .map_err(|error| failed(told(&error)))?;
    if result.meta.size > max_bytes {
        return Err(failed(format!("it is longer than {max_bytes} bytes")));
    }
    result.bytes().await.map_err(|error| failed(told(&error)))
}

async fn get(
    bucket: &str,
    key: &str,
    etag: Option<&str>,
    max_bytes: u64,
) -> Result<GetResult, StoreError> {
    let url = Url::parse(&format!("s3://{bucket}")).map_err(|error| StoreError::Generic {
        store: "S3",
        source: Box::new(error),
    })?;
    let (store, _) = open_bucket(&url, &options(max_bytes))?;
    let path = Path::parse(key)?;
    if path.as_ref() != key {
        // The parsed key differs, and could be that of another object.
        let what =
            "keys that begin or end with a slash cannot be read here; copy it to another key";
        return Err(StoreError::Generic {
            store: "S3",
            source: what.into(),
        });
    }
    // The ETags of events have no quotes.
    let etag = etag.map(|etag| format!("\"{}\"", etag.trim_matches('"')));
    let options = GetOptions::default().with_if_match(etag);
    store.get_opts(&path, options).await
}

fn options(max_bytes: u64) -> BucketOptions {
    BucketOptions {
        retry: RetryConfig::default(),
        max_whole_object_bytes: max_bytes,
        settings: Settings::default(),
    }
}

/// Returns the error with its causes, without the XML of the store.
fn told(error: &StoreError) -> String {
    canter_stores::without_xml(&error.to_string())
}

/// Bytes of an object, received part by part. Reading blocks the thread.
pub(crate) struct ObjectReader {
    /// ETag of the version, if the store reports it.
    version: Option<String>,
    receiver: Receiver<io::Result<Bytes>>,
    part: Bytes,
    left: u64,
}

impl ObjectReader {
    /// Returns the identity of the object in this version as a source: a repeated event refers to
    /// the same source, and a new version is another source.
    pub(crate) fn source_id(&self, uri: &str) -> String {
        format!("{uri} {}", self.version.as_deref().unwrap_or_default())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() {
            match self.receiver.blocking_recv() {
                Some(part) => {
                    self.part = part?;
                    let len = self.part.len() as u64;
                    self.left = self.left.checked_sub(len).ok_or_else(|| {
                        io::Error::other("the object has more bytes than the store said")
                    })?;
                }
                None if self.left == 0 => return Ok(0),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        let len = self.part.len().min(out.len());
        out[..len].copy_from_slice(&self.part.split_to(len));
        Ok(len)
    }
}
