//! The spool: documents that are safe in the store and not published yet.
//!
//! ```text
//!   spool/<id>.ndjson.zst: lines, a document each
//! ```
//!
//! An object is written once, ingested as the source of its own name, and removed. Whoever stops in between leaves it to the
//! next one that looks: the ledger of sources knows whether it was published, so that none of its documents is there
//! twice. Garbage collection leaves it alone.

use bytes::Bytes;

use crate::blocking;
use crate::error::BuildError;
use crate::source::Source;
use crate::storage::IndexStore;

const SPOOL_FOLDER: &str = "spool";
const SUFFIX: &str = ".ndjson.zst";
/// Fast: it stands between a client and its answer.
const COMPRESSION_LEVEL: i32 = 1;

/// Whether this can be the id of a spooled object.
fn is_spooled_name(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Keeps lines, a document each, in the store. `id` must be new.
///
/// # Errors
/// `Invalid` for an id of other characters than letters and digits; `Unavailable` if storage cannot be written.
pub fn spool(store: &IndexStore, id: &str, lines: &[u8]) -> Result<(), BuildError> {
    if !is_spooled_name(id) {
        return Err(BuildError::invalid(format!(
            "{id:?} cannot be the name of spooled documents: letters and digits only"
        )));
    }
    let packed = zstd::encode_all(lines, COMPRESSION_LEVEL)
        .map_err(|error| BuildError::internal("documents cannot be compressed").caused_by(error))?;
    blocking::run(async {
        store.overwrite(&object_of(id), Bytes::from(packed)).await?;
        Ok(())
    })
}

/// The ids of what is in the spool.
///
/// # Errors
/// `Unavailable` if storage does not answer.
pub fn spooled(store: &IndexStore) -> Result<Vec<String>, BuildError> {
    let listed = blocking::run(store.list(SPOOL_FOLDER))?;
    let ids = listed.iter().filter_map(|(name, _)| {
        let id = name
            .strip_prefix(SPOOL_FOLDER)?
            .strip_prefix('/')?
            .strip_suffix(SUFFIX)?;
        is_spooled_name(id).then(|| id.to_owned())
    });
    Ok(ids.collect())
}

/// The lines of what was spooled; nothing if it is not there any more.
///
/// # Errors
/// `Unavailable` if storage does not answer; `Data` for an object that is damaged.
pub fn read_spooled(store: &IndexStore, id: &str) -> Result<Option<Vec<u8>>, BuildError> {
    let object = object_of(id);
    let Some((packed, _)) = blocking::run(store.get(&object))? else {
        return Ok(None);
    };
    let lines = zstd::decode_all(packed.as_ref()).map_err(|error| {
        BuildError::data(format!("`{object}` of `{}` is damaged", store.uri())).caused_by(error)
    })?;
    Ok(Some(lines))
}

/// What was spooled under this id, as a source to ingest: the same one whoever ingests it.
#[must_use]
pub fn spooled_source(id: &str, lines: Vec<u8>) -> Source {
    let object = object_of(id);
    Source::lines(object.clone(), lines).with_id(object)
}

/// Removes what was ingested.
///
/// # Errors
/// `Unavailable` if storage cannot be written.
pub fn remove_spooled(store: &IndexStore, id: &str) -> Result<(), BuildError> {
    blocking::run(async { store.delete_if_there(&object_of(id)).await })
}

/// Keeps lines that were spooled and that the index does not allow any more, for people to look at.
///
/// # Errors
/// `Unavailable` if storage cannot be written.
pub fn keep_rejected(store: &IndexStore, id: &str, lines: &[u8]) -> Result<(), BuildError> {
    let name = format!("rejected/{id}.ndjson");
    let bytes = Bytes::copy_from_slice(lines);
    blocking::run(async {
        store.overwrite(&name, bytes).await?;
        Ok(())
    })
}

pub(super) fn object_of(id: &str) -> String {
    format!("{SPOOL_FOLDER}/{id}{SUFFIX}")
}
