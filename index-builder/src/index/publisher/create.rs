//! Creation of indexes, and reading of their manifests.

use super::update::{is_config_of, may_become};
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::storage::{IndexStore, Swap, Version, WriteOptions, no_index};
use crate::input::source::zone_named;
use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_split_format::{MANIFEST_OBJECT, Manifest, ManifestFile};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Maximum number of attempts. More successive conflicts than that indicate another problem.
pub(crate) const MAX_ATTEMPTS: u32 = 20;
const FIRST_PAUSE_MS: u64 = if cfg!(test) { 1 } else { 10 };
const MAX_PAUSE_MS: u64 = 2_000;

/// Creates an empty index at `uri` and returns its store.
///
/// # Errors
/// `Invalid` if an index exists already, which is not changed, or for a store that ignores
/// conditions on writes; `Unavailable` if storage cannot be written.
pub fn create_index(uri: &str, config: &IndexConfig) -> Result<IndexStore, BuildError> {
    create_index_with(uri, config, WriteOptions::default())
}

/// Creates an empty index like [`create_index`], with the given write options, which also apply to
/// ingests through the returned store.
///
/// # Errors
/// Same as for [`create_index`].
pub fn create_index_with(
    uri: &str,
    config: &IndexConfig,
    options: WriteOptions,
) -> Result<IndexStore, BuildError> {
    let store = IndexStore::open_or_make(uri)?.with_write_options(options);
    store.create_manifest(config)?;
    Ok(store)
}

/// Opens the index at `uri`, or creates it with `config` if it does not exist. Returns its store
/// and whether it was created. Several processes can do so concurrently.
///
/// # Errors
/// `Invalid` if there is an index with another config, and otherwise the errors of [`create_index`]
/// and [`IndexStore::load_manifest`].
pub fn open_or_create_index(
    uri: &str,
    config: &IndexConfig,
) -> Result<(IndexStore, bool), BuildError> {
    open_or_create_index_with(uri, config, WriteOptions::default())
}

/// Opens or creates an index like [`open_or_create_index`], with the given write options, which
/// also apply to ingests through the returned store.
///
/// # Errors
/// Same as for [`open_or_create_index`].
pub fn open_or_create_index_with(
    uri: &str,
    config: &IndexConfig,
    options: WriteOptions,
) -> Result<(IndexStore, bool), BuildError> {
    if let Some(store) = find_same(uri, config, options)? {
        return Ok((store, false));
    }
    create_index_with(uri, config, options)
        .map(|store| (store, true))
        .or_else(|error| match find_same(uri, config, options) {
            // Another process has created the same index in the meantime.
            Ok(Some(store)) => Ok((store, false)),
            _ => Err(error),
        })
}

/// Opens the index at `uri`, or a store in which an ingest creates it with `config` when it publishes: an ingest that
/// fails before leaves no index behind. Also returns whether there is none yet.
///
/// # Errors
/// As [`open_or_create_index`].
pub fn open_or_start_index_with(
    uri: &str,
    config: &IndexConfig,
    options: WriteOptions,
) -> Result<(IndexStore, bool), BuildError> {
    if let Some(store) = find_same(uri, config, options)? {
        return Ok((store, false));
    }
    check_zone(config)?;
    let store = IndexStore::open_or_make(uri)?.with_write_options(options);
    Ok((store.starting_with(config.clone()), true))
}

/// Refuses a config with an unknown time zone.
fn check_zone(config: &IndexConfig) -> Result<(), BuildError> {
    let zone = config.ingest_settings.time_zone.as_deref();
    zone.map_or(Ok(()), |name| zone_named(name).map(drop))
}

/// Returns the index at `uri`, if there is one.
fn find_same(
    uri: &str,
    config: &IndexConfig,
    options: WriteOptions,
) -> Result<Option<IndexStore>, BuildError> {
    let known = IndexStore::open(uri).and_then(|store| {
        let store = store.with_write_options(options);
        Ok((store.load_config()?, store))
    });
    match known {
        Ok((known, store)) if is_config_of(&known, config) => Ok(Some(store)),
        Ok(_) => Err(BuildError::invalid(format!(
            "the index at `{uri}` has another config: leave the config out to ingest into it as it is, \
             change it with `canter index update`, or choose another URI"
        ))),
        // There is no index; creating one reports any other problem.
        Err(error) if error.kind() == ErrorKind::Invalid => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates the index that an ingest begins with, if it still does not exist.
///
/// # Errors
/// As [`create_index`]; publishing checks whether an index that another process has created meanwhile is the same.
pub(crate) fn create_new(store: &IndexStore) -> Result<(), BuildError> {
    match store.new_config() {
        Some(config) if !store.exists()? => store.create_manifest(config),
        _ => Ok(()),
    }
}

impl IndexStore {
    /// Writes the manifest of an empty index; see [`create_index`].
    ///
    /// # Errors
    /// Same as for [`create_index`].
    pub fn create_manifest(&self, config: &IndexConfig) -> Result<(), BuildError> {
        check_zone(config)?;
        let manifest = ManifestFile::new(Manifest::new(config_value(config)?));
        let bytes = manifest_bytes(&manifest)?;
        blocking::run(create(self, config, bytes))
    }

    /// Returns whether there is an index, without a check of its content.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer.
    pub fn exists(&self) -> Result<bool, BuildError> {
        let len = blocking::run(self.len_of(MANIFEST_OBJECT))?;
        Ok(len.is_some())
    }

    /// Reads the manifest, with the heads that it carries.
    ///
    /// # Errors
    /// `Invalid` if there is no index, `Data` if the manifest is damaged, `Unavailable` if storage
    /// does not answer.
    pub fn load_manifest(&self) -> Result<ManifestFile, BuildError> {
        blocking::run(load(self)).map(|loaded| loaded.file)
    }

    /// Returns the config with which the index was created.
    ///
    /// # Errors
    /// Errors of [`IndexStore::load_manifest`], or `Data` if this version cannot read the config.
    pub fn load_config(&self) -> Result<IndexConfig, BuildError> {
        config_of(self, &self.load_manifest()?)
    }
}

/// Checks for an existing index first, so that it is safe even from a store that would let it be
/// replaced, and checks the result afterwards.
async fn create(store: &IndexStore, config: &IndexConfig, bytes: Bytes) -> Result<(), BuildError> {
    let taken = || {
        BuildError::invalid(format!(
            "there is an index at `{}` already: ingest into it, or choose another URI",
            store.name()
        ))
    };
    if store.len_of(MANIFEST_OBJECT).await?.is_some() {
        return Err(taken());
    }
    store.ensure_conditional_writes().await?;
    if store.create(MANIFEST_OBJECT, bytes).await? == Swap::Conflict {
        return Err(taken());
    }
    // Another process may have ingested into it by now. A different config means a different index.
    let found = load(store).await?;
    match may_become(config, &config_of(store, &found.file)?) {
        true => Ok(()),
        false => Err(BuildError::unavailable(format!(
            "another index was made at `{}` at the same time and took this one's place: choose \
             another URI, or ingest into that one",
            store.name()
        ))),
    }
}

/// Returns the parsed config of a manifest. Its JSON form differs between versions by the defaults
/// that each version adds.
pub(crate) fn config_of(
    store: &IndexStore,
    file: &ManifestFile,
) -> Result<IndexConfig, BuildError> {
    serde_json::from_value(file.manifest.index_config.clone()).map_err(|error| {
        BuildError::data(format!(
            "the index config in the manifest of `{}` cannot be read",
            store.name()
        ))
        .caused_by(error)
    })
}

/// Manifest with the version that was read.
pub(crate) struct LoadedManifest {
    pub(crate) file: ManifestFile,
    pub(crate) version: Version,
    /// Length of its object in bytes.
    pub(crate) len: u64,
}

pub(crate) async fn load(store: &IndexStore) -> Result<LoadedManifest, BuildError> {
    let found = store.get(MANIFEST_OBJECT).await?;
    loaded_of(store, found)
}

/// Reads the manifest, and holds what was read for the ingest that follows, which saves a request.
pub(crate) async fn load_and_hold(store: &IndexStore) -> Result<LoadedManifest, BuildError> {
    let found = store.get(MANIFEST_OBJECT).await?;
    store.hold_manifest(found.clone());
    loaded_of(store, found)
}

/// Reads the manifest, or returns the one that [`IndexStore::has_index`] read, if that was the last request.
pub(crate) async fn load_held(store: &IndexStore) -> Result<LoadedManifest, BuildError> {
    match store.take_held_manifest() {
        Some(held) => loaded_of(store, Some(held)),
        None => load(store).await,
    }
}

fn loaded_of(
    store: &IndexStore,
    found: Option<(Bytes, Version)>,
) -> Result<LoadedManifest, BuildError> {
    let Some((bytes, version)) = found else {
        return Err(no_index(store.name()));
    };
    let file = ManifestFile::from_bytes(&bytes).map_err(|error| {
        BuildError::data(format!("the manifest of `{}` cannot be read", store.name()))
            .caused_by(error)
    })?;
    Ok(LoadedManifest {
        file,
        version,
        len: bytes.len() as u64,
    })
}

pub(crate) fn manifest_bytes(manifest: &ManifestFile) -> Result<Bytes, BuildError> {
    let bytes = manifest
        .to_bytes()
        .map_err(|error| BuildError::internal("the manifest cannot be encoded").caused_by(error))?;
    Ok(Bytes::from(bytes))
}

/// Returns the config in the form in which manifests and splits contain it.
pub(super) fn config_value(config: &IndexConfig) -> Result<serde_json::Value, BuildError> {
    serde_json::to_value(config).map_err(|error| {
        BuildError::internal("the index config cannot be written as JSON").caused_by(error)
    })
}

/// Returns whether an error concerns an object that only an outdated manifest referred to: another
/// writer and a garbage collection were faster.
pub(crate) async fn is_outdated(
    store: &IndexStore,
    error: &BuildError,
    version: &Version,
) -> Result<bool, BuildError> {
    match error.kind() {
        ErrorKind::Data => Ok(load(store).await?.version != *version),
        _ => Ok(false),
    }
}

/// Returns a pause that doubles with each attempt, randomized by up to a half to separate writers
/// that collided.
pub(crate) fn pause(num_attempts: u32) -> Duration {
    let longest = (FIRST_PAUSE_MS << num_attempts.min(16)).min(MAX_PAUSE_MS);
    // Each `RandomState` has random keys, which is enough randomness for jitter.
    let random = RandomState::new().hash_one(num_attempts);
    Duration::from_millis(longest / 2 + random % (longest / 2).max(1))
}

/// Returns whether documents of an index are identified by a field.
pub(super) fn has_id_field(manifest: &ManifestFile) -> bool {
    let config = &manifest.manifest.index_config;
    config.pointer("/doc_mapping/id_field").is_some()
}
