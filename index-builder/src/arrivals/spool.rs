//! The spool: documents that are durable in the store but not published yet.
//!
//! ```text
//!   spool/<id>.ndjson.zst: lines, a document each
//! ```
//!
//! An object is written once, ingested as a source with its own name, and removed. After an interruption, the next
//! process continues: the ledger of sources knows whether the object was published, so that documents are never
//! duplicated. Garbage collection ignores the spool.

use std::io::{self, Read};

use bytes::Bytes;

use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::{
    IndexStore, SPOOL_FOLDER, rejected_object, spooled_id, spooled_object,
};
use crate::input::source::Source;

/// Maximum size of an object's lines, in bytes: far larger than a request's body. They are read completely.
const MAX_LINES_NUM_BYTES: usize = 256 << 20;
/// Fast, because clients wait for it.
const COMPRESSION_LEVEL: i32 = 1;

/// Stores lines, one document each. `id` must be new.
///
/// # Errors
/// `Invalid` for an id of other characters than letters and digits; `Limit` for more than 256 MiB; `Unavailable` if storage
/// cannot be written.
pub fn spool(store: &IndexStore, id: &str, lines: &[u8]) -> Result<(), BuildError> {
    let object = object_of(id)?;
    if lines.len() > MAX_LINES_NUM_BYTES {
        return Err(BuildError::limit(format!(
            "the documents have {} bytes, and {MAX_LINES_NUM_BYTES} may be made durable at once: send them in parts",
            lines.len()
        )));
    }
    let packed = zstd::encode_all(lines, COMPRESSION_LEVEL)
        .map_err(|error| BuildError::internal("documents cannot be compressed").caused_by(error))?;
    blocking::run(async {
        store.overwrite(&object, Bytes::from(packed)).await?;
        Ok(())
    })
}

/// Returns the ids of the spooled objects.
///
/// # Errors
/// `Unavailable` if storage does not answer.
pub fn spooled(store: &IndexStore) -> Result<Vec<String>, BuildError> {
    let listed = blocking::run(store.list(SPOOL_FOLDER))?;
    let ids = listed.iter().filter_map(|(name, _)| spooled_id(name));
    Ok(ids.map(str::to_owned).collect())
}

/// Returns the lines of a spooled object; `None` if it does not exist any more.
///
/// # Errors
/// `Unavailable` if storage does not answer; `Data` for an object that is damaged, or that has more than 256 MiB of lines.
pub fn read_spooled(store: &IndexStore, id: &str) -> Result<Option<Vec<u8>>, BuildError> {
    let object = object_of(id)?;
    let Some((packed, _)) = blocking::run(store.get(&object))? else {
        return Ok(None);
    };
    let lines = unpacked(&packed, MAX_LINES_NUM_BYTES).map_err(|error| {
        BuildError::data(format!("`{}` is damaged", store.shown(&object))).caused_by(error)
    })?;
    Ok(Some(lines))
}

/// Decompresses the lines of an object, up to a limit: a few bytes may decompress to any length.
pub(crate) fn unpacked(packed: &[u8], max_num_bytes: usize) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    let limit = max_num_bytes as u64 + 1;
    let decoder = zstd::Decoder::with_buffer(packed)?;
    decoder.take(limit).read_to_end(&mut lines)?;
    match lines.len() > max_num_bytes {
        true => Err(io::Error::other(format!(
            "it has more than {max_num_bytes} bytes of lines"
        ))),
        false => Ok(lines),
    }
}

/// Returns the object spooled under this id as a source to ingest: the same source in every process.
#[must_use]
pub fn spooled_source(id: &str, lines: Vec<u8>) -> Source {
    let object = source_id_of(id);
    Source::lines(object.clone(), lines).with_id(object)
}

/// Removes an ingested object.
///
/// # Errors
/// `Unavailable` if storage cannot be written.
pub fn remove_spooled(store: &IndexStore, id: &str) -> Result<(), BuildError> {
    let object = object_of(id)?;
    blocking::run(async { store.delete_if_there(&object).await })
}

/// Removes an object that was spooled into the folder of a deleted index, and empty folders.
///
/// # Errors
/// `Unavailable` if storage cannot be written.
pub fn withdraw_spooled(store: &IndexStore, id: &str) -> Result<(), BuildError> {
    remove_spooled(store, id)?;
    store.remove_empty_folders(SPOOL_FOLDER);
    Ok(())
}

/// Keeps spooled lines that the index does not accept any more, for manual inspection.
///
/// # Errors
/// `Unavailable` if storage cannot be written.
pub fn keep_rejected(store: &IndexStore, id: &str, lines: &[u8]) -> Result<(), BuildError> {
    let name = rejected_object(id).ok_or_else(|| no_id(id))?;
    let bytes = Bytes::copy_from_slice(lines);
    blocking::run(async {
        store.overwrite(&name, bytes).await?;
        Ok(())
    })
}

/// Keeps spooled lines that cannot be built, for inspection and bug reports.
///
/// # Errors
/// `Unavailable` if storage cannot be written.
pub fn keep_unbuildable(store: &IndexStore, id: &str, lines: &[u8]) -> Result<(), BuildError> {
    keep_rejected(store, &format!("{id}unbuildable"), lines)
}

fn object_of(id: &str) -> Result<String, BuildError> {
    spooled_object(id).ok_or_else(|| no_id(id))
}

fn no_id(id: &str) -> BuildError {
    BuildError::invalid(format!(
        "{id:?} cannot be the name of spooled documents: letters and digits only"
    ))
}

/// Returns the ledger's id of spooled documents, without access to a store.
pub(super) fn source_id_of(id: &str) -> String {
    spooled_object(id).unwrap_or_else(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_up_to_a_limit() {
        let packed = zstd::encode_all(&[b'a'; 1000][..], 1).unwrap();
        assert_eq!(unpacked(&packed, 1000).unwrap(), [b'a'; 1000]);
        let error = unpacked(&packed, 999).unwrap_err();
        assert!(error.to_string().contains("more than 999"), "{error}");
        let twice = [packed.as_slice(), packed.as_slice()].concat();
        assert_eq!(unpacked(&twice, 2000).unwrap(), [b'a'; 2000]);
        assert!(unpacked(&packed[..packed.len() - 1], 1000).is_err());
        assert!(unpacked(b"no zstd", 1000).is_err());
    }
}
