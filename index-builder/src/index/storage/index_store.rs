//! Objects of one index.

mod below;
mod conditions;
mod held;
mod immutable;
mod write_probe;

use held::Held;
pub(crate) use held::{HeldKeys, HeldSplit};
pub use write_probe::{Condition, WriteProbe};

use super::local_lock::LocalLock;
use super::own_names::{LOCK_NAME, PROBE_FOLDER, is_own};
use super::uri::{Location, parse_uri};
use crate::error::{BuildError, Shows};
use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_stores::{Answer, Misbehaviour, NotImplemented, StoreFault, redact_urls};
use futures_util::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Store of one index.
#[derive(Clone)]
pub struct IndexStore {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    uri: String,
    /// Name of the index in messages. With a name, messages do not show its location.
    called: Option<Arc<str>>,
    /// True if it is one of several indexes below a root, whose objects are deleted with it.
    is_of_several: bool,
    lock: Option<LocalLock>,
    options: WriteOptions,
    /// Pauses before further attempts to write an object whose name is derived from its bytes, and
    /// which can therefore be written repeatedly.
    pauses: &'static [Duration],
    /// Result of the probe of conditional writes, which a store only needs once.
    probed: Arc<OnceLock<WriteProbe>>,
    /// The config of a new index, which an ingest creates when it publishes, if there is none.
    new_config: Option<Arc<IndexConfig>>,
    held: Arc<Held>,
}

/// Options for writes to an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Writes although the store ignores conditions on writes. **Two concurrent writers then lose
    /// each other's documents**: the caller must ensure that there is only one.
    pub unsafe_single_writer: bool,
}

/// Version of the manifest that was read, as reported by the store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Version(UpdateVersion);

/// Result of a conditional write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Swap {
    Done,
    /// Another writer was faster.
    Conflict,
}

/// Result of one write request.
#[derive(Debug)]
pub(super) enum Attempt {
    Done(Version),
    /// The condition did not hold.
    Conflict,
    /// The object to replace does not exist.
    Gone,
    /// The store does not support this condition on writes.
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
    /// Opens the store at `uri`: a folder, `file://`, `s3://`, `gs://` or `az://`. Credentials and
    /// endpoints come from the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`,
    /// `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on).
    ///
    /// # Errors
    /// `Invalid` for a URI that does not name a writable store, or a folder that does not exist.
    pub fn open(uri: &str) -> Result<IndexStore, BuildError> {
        match parse_uri(uri)? {
            Location::Folder(folder) if !folder.is_dir() => Err(no_index(uri)),
            location => IndexStore::at(uri, location),
        }
    }

    /// Opens the store at `uri`, and creates a missing folder.
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

    /// Returns an index in a store that the caller provides; `uri` is for messages. The store must
    /// support conditional writes (`PutMode::Create` and `PutMode::Update`).
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
            new_config: None,
            held: Arc::default(),
        }
    }

    /// Makes the next ingest create the index with `config` when it publishes, if there is none: an ingest that fails
    /// before leaves no index.
    #[must_use]
    pub fn starting_with(self, config: IndexConfig) -> IndexStore {
        IndexStore {
            new_config: Some(Arc::new(config)),
            ..self
        }
    }

    /// Returns the config of a new index, if it is to be created.
    pub(crate) fn new_config(&self) -> Option<&IndexConfig> {
        self.new_config.as_deref()
    }

    /// Sets the write options.
    #[must_use]
    pub fn with_write_options(self, options: WriteOptions) -> IndexStore {
        IndexStore { options, ..self }
    }

    /// Sets a name that messages use instead of the URI, so that they do not reveal the location to
    /// users who need not know it. [`BuildError::with_causes`] reveals more, and is for logs.
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
                pauses: &immutable::PAUSES_BEFORE_RETRIES,
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

    /// Returns a store without conditional updates, whose files are in `folder`.
    pub(crate) fn in_folder(store: Arc<dyn ObjectStore>, folder: PathBuf, uri: &str) -> IndexStore {
        IndexStore {
            lock: Some(LocalLock::of_folder(folder)),
            ..IndexStore::new(store, Path::default(), uri)
        }
    }

    /// Returns the index's URI as it was given, without credentials, for logs and reports. Messages
    /// refer to the index by `name`.
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

    /// Returns the name of the index in messages.
    pub(crate) fn name(&self) -> &str {
        self.called.as_deref().unwrap_or(&self.uri)
    }

    /// Returns the name of an object in messages.
    pub(crate) fn shown(&self, name: &str) -> String {
        match self.name() {
            "" => name.to_owned(),
            index => format!("{index}/{name}"),
        }
    }

    /// Returns the length of an object, or `None` if it does not exist.
    ///
    /// It is taken from the `Content-Range` of the first byte, because an answer to HEAD has it
    /// only in `Content-Length`, which a proxy may omit.
    pub(crate) async fn len_of(&self, name: &str) -> Result<Option<u64>, BuildError> {
        let first = GetOptions::default().with_range(Some(0..1));
        match self.store.get_opts(&self.path_of(name), first).await {
            Ok(result) => {
                let found = match result.extensions.get::<Answer>() {
                    None => Some(result.meta.size),
                    Some(answer) => answer.object_len,
                };
                // A connection is only reused after its answer was read to the end.
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

    /// Returns a whole object and its version, or `None` if it does not exist.
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

    /// Returns a range of an object, or `None` if it does not exist.
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

    /// Writes an object that must not exist yet.
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

    /// Sends one request to write an object that must not exist yet.
    pub(super) async fn put_new(&self, name: &str, bytes: Bytes) -> Result<Attempt, BuildError> {
        self.put(name, bytes, PutMode::Create).await
    }

    /// Sends one request to replace an object that must have this version.
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
        // The ETag of a file consists of its inode, time and length.
        let found = match self.store.head(&self.path_of(name)).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(Attempt::Gone),
            other => other.map_err(|error| self.failed("look up", name, error))?,
        };
        if found.e_tag != version.0.e_tag {
            return Ok(Attempt::Conflict);
        }
        self.put(name, bytes, PutMode::Overwrite).await
    }

    /// Returns the objects below a folder with their lengths, ordered by name.
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

    /// Deletes an object, if it exists.
    pub(crate) async fn delete_if_there(&self, name: &str) -> Result<(), BuildError> {
        match self.store.delete(&self.path_of(name)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            other => other.map_err(|error| self.failed("delete", name, error)),
        }
    }

    /// Writes an object unconditionally.
    pub(crate) async fn overwrite(&self, name: &str, bytes: Bytes) -> Result<Swap, BuildError> {
        self.put(name, bytes, PutMode::Overwrite).await?.into_swap()
    }

    /// Deletes the object of a probe.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), BuildError> {
        let deleted = self.store.delete(&self.path_of(name)).await;
        if let Some(lock) = &self.lock {
            // The folder is only removed if it is empty, because another probe may be running.
            let _ = fs::remove_dir(lock.folder().join(PROBE_FOLDER));
        }
        deleted.map_err(|error| self.failed("delete", name, error))
    }

    /// Removes a folder of the index and the index's own folder, if they are local and empty.
    pub(crate) fn remove_empty_folders(&self, folder: &str) {
        if let Some(lock) = &self.lock {
            let of_index = lock.folder();
            // Other writers may add files at any time; then the folders stay.
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
            // If the write does not replace anything, it is the bucket that is missing.
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

/// Returns whether an error means that an object is empty: a named fault over HTTP, a message
/// elsewhere.
fn is_empty(error: &object_store::Error) -> bool {
    let is_past_the_end = |found: &Misbehaviour| found.fault == StoreFault::PastTheEnd;
    Misbehaviour::behind(error).is_some_and(is_past_the_end)
        || error.to_string().contains("object was only 0 bytes")
}

/// Returns whether a store does not support a request: `object_store` reports that itself, or the
/// store answers with status 501, as some do for unknown headers.
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

/// Returns the error that there is no index at `uri`.
pub(crate) fn no_index(uri: &str) -> BuildError {
    let uri = redact_urls(uri);
    BuildError::invalid(format!(
        "no index at `{uri}`: make one with `canter index create --index {uri} --index-config FILE`"
    ))
}
