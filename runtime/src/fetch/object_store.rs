//! Objects of a bucket or folder, through the `object_store` crate.

use std::error::Error;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use canter_stores::{
    Answer, Buffer, Misbehaviour, ObjectTooLong, StoreFault, check_object_name, redact,
    without_urls, without_xml,
};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use http::HeaderValue;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, GetResultPayload, ObjectStore};
use tokio::runtime::Handle;
use tracing::debug;

use super::{
    ByteRange, FetchError, FetchErrorKind, FetchedRange, MAX_WHOLE_OBJECT_BYTES, RangeFetcher,
};

/// Reads objects below a prefix of any [`ObjectStore`].
pub struct ObjectStoreFetcher {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    max_whole_object_bytes: u64,
}

impl ObjectStoreFetcher {
    /// Creates a fetcher of the objects of `store` whose names begin with `prefix` (empty for all
    /// of them).
    pub fn new(store: Arc<dyn ObjectStore>, prefix: Path) -> Self {
        Self {
            store,
            prefix,
            max_whole_object_bytes: MAX_WHOLE_OBJECT_BYTES,
        }
    }

    /// Sets the maximum length of a read to the end of an object.
    pub fn with_max_whole_object_bytes(mut self, max_bytes: u64) -> Self {
        self.max_whole_object_bytes = max_bytes;
        self
    }

    /// Requests a range; `known` is a version that need not be sent again.
    async fn read(
        &self,
        object: &str,
        range: ByteRange,
        known: Option<&str>,
    ) -> Result<FetchedRange, FetchError> {
        let location = self.location(object, range)?;
        let wanted = match range {
            ByteRange { len: Some(0), .. } => return Ok(FetchedRange::default()),
            ByteRange {
                offset,
                len: Some(len),
            } => Some(GetRange::Bounded(offset..offset.saturating_add(len))),
            ByteRange {
                offset: 0,
                len: None,
            } => None,
            ByteRange { offset, len: None } => Some(GetRange::Offset(offset)),
        };
        // A version that is not valid in a header, such as one from a damaged cache, is omitted.
        let condition = known.filter(|etag| HeaderValue::from_str(etag).is_ok());
        let options = GetOptions::default()
            .with_range(wanted)
            .with_if_none_match(condition);
        let result = match self.store.get_opts(&location, options).await {
            Err(object_store::Error::NotModified { .. }) if condition.is_some() => {
                return Ok(FetchedRange::unchanged());
            }
            result => result.map_err(|error| fetch_error(object, range, &error))?,
        };
        let etag = result.meta.e_tag.clone();
        // A store without support for the condition sends the same version again.
        if known.is_some() && etag.as_deref() == known {
            return Ok(FetchedRange::unchanged());
        }
        // Answers over HTTP show whether the length is known; a folder always knows it.
        let object_len = match result.extensions.get::<Answer>() {
            Some(answer) => answer.object_len,
            None => Some(result.meta.size),
        };
        let max_bytes = self.max_whole_object_bytes;
        let rest = object_len.map(|len| len.saturating_sub(range.offset));
        if range.len.is_none() && rest.is_some_and(|rest| rest > max_bytes) {
            return Err(FetchError::too_large(object, range, max_bytes));
        }
        let bytes = collect(object, range, max_bytes, result).await?;
        Ok(FetchedRange {
            etag,
            object_len,
            ..FetchedRange::new(bytes)
        })
    }

    fn location(&self, object: &str, range: ByteRange) -> Result<Path, FetchError> {
        check_object_name(object)
            .map_err(|what| FetchError::new(FetchErrorKind::Denied, object, range, what))?;
        let relative = Path::parse(object)
            .map_err(|error| FetchError::new(FetchErrorKind::NotFound, object, range, error))?;
        Ok(self.prefix.parts().chain(relative.parts()).collect())
    }
}

impl RangeFetcher for ObjectStoreFetcher {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.read(object, range, None).boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.read(object, range, Some(etag)).boxed()
    }
}

/// Reads the answer's body: exactly `range.len` bytes, or all of it up to the limit.
async fn collect(
    object: &str,
    range: ByteRange,
    max_whole_object_bytes: u64,
    result: GetResult,
) -> Result<Bytes, FetchError> {
    let result = match result {
        GetResult {
            payload: GetResultPayload::File(file, _),
            range: found,
            ..
        } => {
            let num_wanted = found.end.saturating_sub(found.start);
            let read = off_the_async_threads(move || read_part(file, &found)).await;
            let bytes = read.map_err(|error| fetch_error(object, range, &error))?;
            let num_bytes = bytes.len() as u64;
            return match num_bytes < range.len.unwrap_or(num_wanted) {
                true => Err(FetchError::short(object, range, num_bytes)),
                false => Ok(bytes),
            };
        }
        result => result,
    };
    let max_bytes = range.len.unwrap_or(max_whole_object_bytes);
    let mut num_bytes = 0;
    let mut parts: Vec<Bytes> = Vec::new();
    let mut body = result.into_stream();
    while let Some(part) = body.next().await {
        let part = part.map_err(|error| fetch_error(object, range, &error))?;
        num_bytes += part.len() as u64;
        if num_bytes > max_bytes {
            return Err(match range.len {
                Some(_) => {
                    let seen = "more bytes came than were asked for";
                    let what = Misbehaviour::new(StoreFault::LongBody, seen);
                    FetchError::misbehaved(object, range, &what)
                }
                None => FetchError::too_large(object, range, max_bytes),
            });
        }
        parts.push(part);
    }
    if range.len.is_some_and(|len| num_bytes < len) {
        return Err(FetchError::short(object, range, num_bytes));
    }
    Ok(Buffer::joined(&parts))
}

/// Runs `read` on a thread that may block. Without tokio, the caller waits for the disk.
async fn off_the_async_threads(
    read: impl FnOnce() -> io::Result<Bytes> + Send + 'static,
) -> object_store::Result<Bytes> {
    let read = match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(read).await.map_err(io::Error::other),
        Err(_) => Ok(read()),
    };
    read.flatten()
        .map_err(|error| object_store::Error::Generic {
            store: "LocalFileSystem",
            source: error.into(),
        })
}

/// Reads a part of a file at once, directly into the returned memory. A stream would return pieces
/// of 8 KiB, each from a separate task, and `object_store` would fill the memory with zeros before.
fn read_part(mut file: File, part: &Range<u64>) -> io::Result<Bytes> {
    let len = part.end.saturating_sub(part.start);
    let len = usize::try_from(len).map_err(io::Error::other)?;
    let mut bytes = Buffer::with_capacity(len);
    file.seek(SeekFrom::Start(part.start))?;
    bytes.read_from(file, len)?;
    Ok(bytes.into_bytes())
}

/// Converts an error of the `object_store` crate. Faults of a store over HTTP are recognized among
/// the causes by their type, other errors by their variant.
fn fetch_error(object: &str, range: ByteRange, error: &object_store::Error) -> FetchError {
    use object_store::Error as E;
    if let Some(fault) = Misbehaviour::behind(error) {
        return FetchError::misbehaved(object, range, fault);
    }
    let text = with_causes(error);
    // The location of objects must not be revealed to searchers: messages name the object, and the
    // log has the rest.
    let told = told(error, &text);
    if is_past_the_end(&text) {
        let what = Misbehaviour::new(StoreFault::PastTheEnd, told);
        return FetchError::misbehaved(object, range, &what);
    }
    debug!(target: "canter::request", object, %range, error = text, "a store refused a read");
    let kind = match error {
        E::NotFound { .. } => FetchErrorKind::NotFound,
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => FetchErrorKind::Denied,
        E::InvalidPath { .. } | E::NotSupported { .. } | E::UnknownConfigurationKey { .. } => {
            FetchErrorKind::Protocol
        }
        _ if is_too_long(error) => FetchErrorKind::Budget,
        // GCS and Azure must send an ETag and a date with every object.
        _ if text.contains("Header missing from response") => FetchErrorKind::Protocol,
        _ => FetchErrorKind::Unavailable,
    };
    let told = match kind {
        FetchErrorKind::Denied => format!(
            "not allowed to read it: check the credentials in the environment and what they may do \
             ({told})"
        ),
        _ if has_no_connection(error) => {
            format!("no connection to the store: check its address and the network ({told})")
        }
        _ => told,
    };
    FetchError::new(kind, object, range, told)
}

/// Returns an error without the path or address of its object: for a file the message of the
/// operating system, otherwise `text` without URLs.
fn told(error: &object_store::Error, text: &str) -> String {
    match of_system(error) {
        Some(said) if !is_of_network(error) => said,
        _ => without_urls(text),
    }
}

fn of_system(error: &(dyn Error + 'static)) -> Option<String> {
    match error.downcast_ref::<io::Error>() {
        Some(error) => Some(error.to_string()),
        None => of_system(error.source()?),
    }
}

/// Returns whether an error comes from the client of a bucket.
fn is_of_network(error: &(dyn Error + 'static)) -> bool {
    #[cfg(feature = "remote")]
    if error.is::<object_store::client::HttpError>() {
        return true;
    }
    error.source().is_some_and(is_of_network)
}

/// Recognizes the errors of folders and memory by their texts, because their types are private to
/// the crate.
fn is_past_the_end(text: &str) -> bool {
    [
        "but object was only",
        "Requested range was invalid",
        "Out of range",
    ]
    .iter()
    .any(|part| text.contains(part))
}

/// Returns whether the store could not be reached at all.
fn has_no_connection(error: &(dyn Error + 'static)) -> bool {
    #[cfg(feature = "remote")]
    if let Some(error) = error.downcast_ref::<object_store::client::HttpError>() {
        return error.kind() == object_store::client::HttpErrorKind::Connect;
    }
    error.source().is_some_and(has_no_connection)
}

/// Returns whether a whole object of unknown length was too long.
fn is_too_long(error: &(dyn Error + 'static)) -> bool {
    error.is::<ObjectTooLong>() || error.source().is_some_and(is_too_long)
}

/// Returns the error and all of its causes, without repeated texts and without credentials.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    // Some stores use signed URLs, which the client's errors contain.
    redact(&without_xml(&text))
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt as _;
    use object_store::local::LocalFileSystem;
    use object_store::memory::InMemory;

    use super::*;

    async fn stores(folder: &std::path::Path) -> Vec<ObjectStoreFetcher> {
        let stores: [Arc<dyn ObjectStore>; 2] = [
            Arc::new(InMemory::new()),
            Arc::new(LocalFileSystem::new_with_prefix(folder).unwrap()),
        ];
        let mut fetchers = Vec::new();
        for store in stores {
            let path = Path::from("index/splits/a.split");
            store
                .put(&path, Bytes::from_static(b"0123456789").into())
                .await
                .unwrap();
            fetchers.push(ObjectStoreFetcher::new(store, Path::from("index")));
        }
        fetchers
    }

    async fn check(range: ByteRange, expect: Result<&'static [u8], FetchErrorKind>) {
        let folder = tempfile::tempdir().unwrap();
        for fetcher in stores(folder.path()).await {
            let answer = fetcher.fetch("splits/a.split", range).await;
            let answer = answer
                .map(|fetched| fetched.bytes)
                .map_err(|error| error.kind);
            assert_eq!(answer, expect.map(Bytes::from_static), "{range}");
        }
    }

    #[tokio::test]
    async fn a_range_is_exactly_its_bytes() {
        check(ByteRange::new(2, 3), Ok(b"234")).await;
        check(ByteRange::new(0, 10), Ok(b"0123456789")).await;
        check(ByteRange::new(4, 0), Ok(b"")).await;
    }

    #[tokio::test]
    async fn an_open_range_reads_to_the_end() {
        check(ByteRange::from(0), Ok(b"0123456789")).await;
        check(ByteRange::from(8), Ok(b"89")).await;
    }

    #[tokio::test]
    async fn a_range_past_the_end_is_truncated() {
        check(ByteRange::new(8, 3), Err(FetchErrorKind::Truncated)).await;
        check(ByteRange::new(50, 3), Err(FetchErrorKind::Truncated)).await;
    }

    #[tokio::test]
    async fn an_absent_object_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        for fetcher in stores(folder.path()).await {
            let error = fetcher
                .fetch("splits/b.split", ByteRange::new(0, 1))
                .await
                .unwrap_err();
            assert_eq!(error.kind, FetchErrorKind::NotFound);
            assert!(!error.is_transient);
        }
    }

    #[tokio::test]
    async fn an_error_says_nothing_of_where_the_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let mut fetchers = stores(&folder).await;
        let fetcher = fetchers.pop().unwrap();
        std::fs::write(folder.join("index/pages"), "a file").unwrap();
        std::fs::create_dir(folder.join("index/filters")).unwrap();
        for (object, range) in [
            ("splits/b.split", ByteRange::new(0, 1)),
            ("splits/a.split", ByteRange::new(50, 3)),
            ("splits/a.split", ByteRange::new(8, 3)),
            ("splits", ByteRange::from(0)),
            ("filters", ByteRange::new(0, 7)),
            ("pages/a.page", ByteRange::from(0)),
            ("splits/a.split/more", ByteRange::from(0)),
            (&"a".repeat(300), ByteRange::from(0)),
        ] {
            let error = fetcher.fetch(object, range).await.unwrap_err();
            assert!(error.message.starts_with(object), "{error}");
            let place = folder.to_str().unwrap().trim_start_matches('/');
            assert!(!error.message.contains(place), "{error}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_out_of_the_index_is_denied() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("other")).unwrap();
        std::fs::write(folder.path().join("other/secret"), "secret").unwrap();
        for fetcher in stores(folder.path()).await {
            for name in [
                "../other/secret",
                "splits/../../other/secret",
                "/splits/a.split",
                "splits//a",
            ] {
                let error = fetcher.fetch(name, ByteRange::from(0)).await.unwrap_err();
                assert_eq!(error.kind, FetchErrorKind::Denied, "{name}");
                assert!(error.message.contains("leads out of the index"), "{error}");
            }
        }
    }
}
