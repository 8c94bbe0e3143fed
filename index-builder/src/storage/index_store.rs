//! The objects of one index.

mod below;
mod conditions;

use super::local_lock::LocalLock;
use super::own_names::{LOCK_NAME, PROBE_FOLDER, is_own};
use super::uri::{Location, parse_uri};
use super::write_probe::WriteProbe;
use crate::error::{BuildError, ErrorKind, Shows};
use bytes::Bytes;
use canter_stores::{Answer, Misbehaviour, NotImplemented, StoreFault, redact_urls};
use futures_util::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
    WriteMultipart,
};
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Objects over this length go up in parts.
const MULTIPART_THRESHOLD_NUM_BYTES: usize = 64 << 20;
const PART_NUM_BYTES: usize = 16 << 20;
const PARTS_AT_ONCE: usize = 4;

/// Before a write that a bucket did not answer is asked for again. Its client does not do so by itself: for all it
/// knows, a conditional write may have been done.
const PAUSES_BEFORE_RETRIES: [Duration; 3] = [
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(800),
];

/// Where one index is kept.
#[derive(Clone)]
pub struct IndexStore {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    uri: String,
    /// What messages call it, if not by its URI; nothing of where it is stands in them then.
    called: Option<Arc<str>>,
    /// Whether it is one of several below a root, whose objects are deleted with it.
    is_of_several: bool,
    lock: Option<LocalLock>,
    options: WriteOptions,
    /// Before each further attempt at an object whose name is made from its bytes, which may be written any number
    /// of times.
    pauses: &'static [Duration],
    /// What a probe of conditional writes found: one is enough for a store.
    probed: Arc<OnceLock<WriteProbe>>,
}

/// How an index is written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Write although the store does not keep to conditions on writes. **Two writers at once then lose
    /// each other's documents**: the caller sees to it that there is one.
    pub unsafe_single_writer: bool,
}

/// What the store said the manifest's version was when it was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Version(UpdateVersion);

/// How a conditional write ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Swap {
    Done,
    /// Somebody else wrote first.
    Conflict,
}

/// How one request to write ended.
#[derive(Debug)]
pub(super) enum Attempt {
    Done(Version),
    /// The condition did not hold.
    Conflict,
    /// What was to be replaced is not there.
    Gone,
    /// The store takes no write with this condition.
    Unsupported(BuildError),
}

impl Attempt {
    fn into_swap(self) -> Result<Swap, BuildError> {
        match self {
            Attempt::Done(_) => Ok(Swap::Done),
            Attempt::Conflict | Attempt::Gone => Ok(Swap::Conflict),
            Attempt::Unsupported(error) => Err(error),
        }
    }
}

impl IndexStore {
    /// The store that `uri` names: a folder, `file://`, `s3://`, `gs://` or `az://`. Credentials and
    /// endpoints come from the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`,
    /// `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on).
    ///
    /// # Errors
    /// `Invalid` for a URI that names nothing that can be written, or a folder that is not there.
    pub fn open(uri: &str) -> Result<IndexStore, BuildError> {
        match parse_uri(uri)? {
            Location::Folder(folder) if !folder.is_dir() => Err(no_index(uri)),
            location => IndexStore::at(uri, location),
        }
    }

    /// The same, and makes a folder that is not there.
    pub(crate) fn open_or_make(uri: &str) -> Result<IndexStore, BuildError> {
        let location = parse_uri(uri)?;
        if let Location::Folder(folder) = &location {
            fs::create_dir_all(folder).map_err(|error| {
                BuildError::unavailable(format!("cannot make the folder `{}`", folder.display()))
                    .caused_by(error)
            })?;
        }
        IndexStore::at(uri, location)
    }

    /// An index in a store of the caller's making; `uri` is for messages. The store must support
    /// conditional writes (`PutMode::Create` and `PutMode::Update`).
    pub fn new(store: Arc<dyn ObjectStore>, prefix: Path, uri: impl Into<String>) -> IndexStore {
        IndexStore {
            store,
            prefix,
            uri: redact_urls(&uri.into()),
            called: None,
            is_of_several: false,
            lock: None,
            options: WriteOptions::default(),
            pauses: &[],
            probed: Arc::default(),
        }
    }

    /// The same, written to as `options` say.
    #[must_use]
    pub fn with_write_options(self, options: WriteOptions) -> IndexStore {
        IndexStore { options, ..self }
    }

    /// The same, which messages call by a name instead of its URI, and say nothing of where it is: for answers to those who
    /// need not know. What [`BuildError::with_causes`] gives says more, and is for logs.
    #[must_use]
    pub fn called(self, name: impl Into<Arc<str>>) -> IndexStore {
        IndexStore {
            called: Some(name.into()),
            ..self
        }
    }

    fn at(uri: &str, location: Location) -> Result<IndexStore, BuildError> {
        let uri = uri.trim_end_matches('/');
        match location {
            Location::Bucket(store, prefix) => Ok(IndexStore {
                pauses: &PAUSES_BEFORE_RETRIES,
                ..IndexStore::new(store, prefix, uri)
            }),
            Location::Folder(folder) => {
                let store = LocalFileSystem::new_with_prefix(&folder).map_err(|error| {
                    BuildError::unavailable(format!("cannot open the folder `{uri}`"))
                        .caused_by(error)
                })?;
                Ok(IndexStore::in_folder(
                    Arc::new(store.with_fsync(true)),
                    folder,
                    uri,
                ))
            }
        }
    }

    /// A store without conditional updates, whose files are in `folder`.
    pub(crate) fn in_folder(store: Arc<dyn ObjectStore>, folder: PathBuf, uri: &str) -> IndexStore {
        IndexStore {
            lock: Some(LocalLock::of_folder(folder)),
            ..IndexStore::new(store, Path::default(), uri)
        }
    }

    /// The index's URI as it was given, without credentials: for logs and reports. Messages call the index by
    /// `name`.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    fn path_of(&self, name: &str) -> Path {
        self.prefix
            .parts()
            .chain(Path::from(name).parts())
            .collect()
    }

    /// What messages call the index.
    pub(crate) fn name(&self) -> &str {
        self.called.as_deref().unwrap_or(&self.uri)
    }

    /// What messages call an object.
    pub(crate) fn shown(&self, name: &str) -> String {
        match self.name() {
            "" => name.to_owned(),
            index => format!("{index}/{name}"),
        }
    }

    /// The length of an object, or `None` if there is none of that name.
    ///
    /// It is what `Content-Range` says of the first byte: an answer to HEAD has its length in
    /// `Content-Length` alone, which a proxy may leave out.
    pub(crate) async fn len_of(&self, name: &str) -> Result<Option<u64>, BuildError> {
        let first = GetOptions::default().with_range(Some(0..1));
        match self.store.get_opts(&self.path_of(name), first).await {
            Ok(result) => {
                let found = match result.extensions.get::<Answer>() {
                    None => Some(result.meta.size),
                    Some(answer) => answer.object_len,
                };
                // A connection whose answer is not read to its end is not used again.
                let _ = result.bytes().await;
                match found {
                    Some(_) => Ok(found),
                    None => Err(BuildError::unavailable(format!(
                        "the store does not say how long `{}` is: Content-Range must end in the length",
                        self.shown(name)
                    ))),
                }
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) if is_empty(&error) => Ok(Some(0)),
            Err(error) => Err(self.failed("look up", name, error)),
        }
    }

    /// A whole object and its version, or `None` if there is none of that name.
    pub(crate) async fn get(&self, name: &str) -> Result<Option<(Bytes, Version)>, BuildError> {
        let result = match self.store.get(&self.path_of(name)).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            other => other.map_err(|error| self.failed("read", name, error))?,
        };
        let version = Version(UpdateVersion {
            e_tag: result.meta.e_tag.clone(),
            version: result.meta.version.clone(),
        });
        let bytes = result
            .bytes()
            .await
            .map_err(|error| self.failed("read", name, error))?;
        Ok(Some((bytes, version)))
    }

    /// A range of an object, or `None` if there is none of that name.
    pub(crate) async fn get_range(
        &self,
        name: &str,
        range: std::ops::Range<u64>,
    ) -> Result<Option<Bytes>, BuildError> {
        if range.is_empty() {
            return Ok(Some(Bytes::new()));
        }
        match self.store.get_range(&self.path_of(name), range).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            other => Ok(Some(
                other.map_err(|error| self.failed("read", name, error))?,
            )),
        }
    }

    /// Writes an object whose name is made from its bytes. One that is there already is left alone.
    /// Returns whether it was written.
    pub(crate) async fn put_immutable(&self, name: &str, bytes: Bytes) -> Result<bool, BuildError> {
        let len = bytes.len() as u64;
        // A multipart upload cannot be made conditional on every store, so it looks first.
        if bytes.len() > MULTIPART_THRESHOLD_NUM_BYTES && self.lock.is_none() {
            if self.is_there(name, len).await? {
                return Ok(false);
            }
            self.put_in_parts(name, bytes).await?;
            return Ok(true);
        }
        let mut pauses = self.pauses.iter();
        let mut is_retry = false;
        loop {
            match self.create(name, bytes.clone()).await {
                Ok(Swap::Done) => return Ok(true),
                Ok(Swap::Conflict) => {
                    self.is_there(name, len).await?;
                    // An attempt without an answer may have been what wrote it.
                    return Ok(is_retry);
                }
                Err(error) => match pauses.next() {
                    Some(pause) if error.kind() == ErrorKind::Unavailable => {
                        tokio::time::sleep(*pause).await;
                        is_retry = true;
                    }
                    _ => return Err(error),
                },
            }
        }
    }

    async fn is_there(&self, name: &str, len: u64) -> Result<bool, BuildError> {
        match self.len_of(name).await? {
            None => Ok(false),
            Some(found) if found == len => Ok(true),
            Some(found) => Err(BuildError::data(format!(
                "`{}` is {found} bytes long, but its name stands for {len} bytes: it was damaged or \
                 cut short in storage; delete it and ingest again",
                self.shown(name)
            ))),
        }
    }

    async fn put_in_parts(&self, name: &str, bytes: Bytes) -> Result<(), BuildError> {
        let failed = |error| self.failed("write", name, error);
        let upload = self
            .store
            .put_multipart(&self.path_of(name))
            .await
            .map_err(failed)?;
        let mut write = WriteMultipart::new_with_chunk_size(upload, PART_NUM_BYTES);
        for start in (0..bytes.len()).step_by(PART_NUM_BYTES) {
            write
                .wait_for_capacity(PARTS_AT_ONCE)
                .await
                .map_err(failed)?;
            write.put(bytes.slice(start..bytes.len().min(start + PART_NUM_BYTES)));
        }
        write.finish().await.map_err(failed)?;
        Ok(())
    }

    /// Writes an object that must not be there yet.
    pub(crate) async fn create(&self, name: &str, bytes: Bytes) -> Result<Swap, BuildError> {
        if self.goes_without(|probe| probe.if_none_match) {
            return self.overwrite(name, bytes).await;
        }
        self.put_new(name, bytes).await?.into_swap()
    }

    /// Replaces an object if it still has the version that was read.
    pub(crate) async fn replace(
        &self,
        name: &str,
        bytes: Bytes,
        version: &Version,
    ) -> Result<Swap, BuildError> {
        if self.goes_without(|probe| probe.if_match) {
            return self.overwrite(name, bytes).await;
        }
        self.put_over(name, bytes, version).await?.into_swap()
    }

    /// Asks the store once to write an object that must not be there yet.
    pub(super) async fn put_new(&self, name: &str, bytes: Bytes) -> Result<Attempt, BuildError> {
        self.put(name, bytes, PutMode::Create).await
    }

    /// Asks the store once to replace an object that must have this version.
    pub(super) async fn put_over(
        &self,
        name: &str,
        bytes: Bytes,
        version: &Version,
    ) -> Result<Attempt, BuildError> {
        let Some(lock) = &self.lock else {
            return self
                .put(name, bytes, PutMode::Update(version.0.clone()))
                .await;
        };
        let _held = lock.acquire(&self.shown(LOCK_NAME)).await?;
        // The ETag of a file is its inode, its time and its length.
        let found = match self.store.head(&self.path_of(name)).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(Attempt::Gone),
            other => other.map_err(|error| self.failed("look up", name, error))?,
        };
        if found.e_tag != version.0.e_tag {
            return Ok(Attempt::Conflict);
        }
        self.put(name, bytes, PutMode::Overwrite).await
    }

    /// The objects below a folder, with their lengths, by name.
    pub(crate) async fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, BuildError> {
        let prefix = self.path_of(folder);
        let mut listed = self.store.list(Some(&prefix));
        let mut objects = Vec::new();
        while let Some(found) = listed.next().await {
            let found = found.map_err(|error| self.failed("list", folder, error))?;
            let parts = found.location.prefix_match(&prefix);
            let rest: Vec<String> = parts
                .into_iter()
                .flatten()
                .map(|part| part.as_ref().to_owned())
                .collect();
            objects.push((format!("{folder}/{}", rest.join("/")), found.size));
        }
        objects.sort();
        Ok(objects)
    }

    /// Deletes an object; one that is not there is no error.
    pub(crate) async fn delete_if_there(&self, name: &str) -> Result<(), BuildError> {
        match self.store.delete(&self.path_of(name)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            other => other.map_err(|error| self.failed("delete", name, error)),
        }
    }

    /// Writes an object, whatever was there.
    pub(crate) async fn overwrite(&self, name: &str, bytes: Bytes) -> Result<Swap, BuildError> {
        self.put(name, bytes, PutMode::Overwrite).await?.into_swap()
    }

    /// Deletes the object of a probe.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), BuildError> {
        let deleted = self.store.delete(&self.path_of(name)).await;
        if let Some(lock) = &self.lock {
            // Only if it is empty: another probe may be under way.
            let _ = fs::remove_dir(lock.folder().join(PROBE_FOLDER));
        }
        deleted.map_err(|error| self.failed("delete", name, error))
    }

    /// Removes a folder of the index, and the index's own, if they are folders of this machine in which there is nothing.
    pub(crate) fn remove_empty_folders(&self, folder: &str) {
        if let Some(lock) = &self.lock {
            let of_index = lock.folder();
            // Others may write there at any time, and then they stay.
            let _ = fs::remove_dir(of_index.join(folder)).and_then(|()| fs::remove_dir(of_index));
        }
    }

    async fn put(&self, name: &str, bytes: Bytes, mode: PutMode) -> Result<Attempt, BuildError> {
        debug_assert!(
            !self.is_of_several || is_own(name),
            "`{name}` is not on the list of what is deleted with an index"
        );
        let is_conditional = !matches!(mode, PutMode::Overwrite);
        let is_update = matches!(mode, PutMode::Update(_));
        let options = PutOptions::from(mode);
        let payload = PutPayload::from_bytes(bytes);
        match self
            .store
            .put_opts(&self.path_of(name), payload, options)
            .await
        {
            Ok(put) => Ok(Attempt::Done(Version(UpdateVersion {
                e_tag: put.e_tag,
                version: put.version,
            }))),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. },
            ) => Ok(Attempt::Conflict),
            // Of a write that replaces nothing, it is the bucket that is not there.
            Err(object_store::Error::NotFound { .. }) if is_update => Ok(Attempt::Gone),
            Err(error) if is_conditional && is_unsupported(&error) => Ok(Attempt::Unsupported(
                BuildError::invalid(format!(
                    "cannot write `{}`: this store does not support conditional writes (If-Match, \
                     If-None-Match), without which two writers could lose each other's splits",
                    self.shown(name)
                ))
                .caused_by_store(error, self.shows_of_causes()),
            )),
            Err(error) => Err(self.failed("write", name, error)),
        }
    }

    fn failed(&self, verb: &str, name: &str, error: object_store::Error) -> BuildError {
        let shown = self.shown(name);
        let error_is = |message: String| BuildError::unavailable(message);
        match &error {
            object_store::Error::Unauthenticated { .. }
            | object_store::Error::PermissionDenied { .. } => error_is(format!(
                "not allowed to {verb} `{shown}`: check the credentials in the environment and \
                 what they may do"
            )),
            _ => error_is(format!("cannot {verb} `{shown}`")),
        }
        .caused_by_store(error, self.shows_of_causes())
    }

    fn shows_of_causes(&self) -> Shows {
        match (&self.called, &self.lock) {
            (None, _) => Shows::All,
            (Some(_), Some(_)) => Shows::System,
            (Some(_), None) => Shows::Nothing,
        }
    }
}

/// Whether an object has not even a first byte: over HTTP a fault with a name, elsewhere a text.
fn is_empty(error: &object_store::Error) -> bool {
    let is_past_the_end = |found: &Misbehaviour| found.fault == StoreFault::PastTheEnd;
    Misbehaviour::behind(error).is_some_and(is_past_the_end)
        || error.to_string().contains("object was only 0 bytes")
}

/// Whether a store says that it does not do what it was asked: `object_store`'s own word for it, or
/// status 501, which some give to a header that they do not know.
fn is_unsupported(error: &object_store::Error) -> bool {
    matches!(
        error,
        object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. }
    ) || NotImplemented::is_behind(error)
}

impl fmt::Debug for IndexStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexStore")
            .field("uri", &self.uri)
            .finish_non_exhaustive()
    }
}

/// There is no index at `uri`.
pub(crate) fn no_index(uri: &str) -> BuildError {
    let uri = redact_urls(uri);
    BuildError::invalid(format!(
        "no index at `{uri}`: make one with `canter index create --index {uri} --index-config FILE`"
    ))
}
