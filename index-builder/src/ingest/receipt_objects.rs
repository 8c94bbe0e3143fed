//! Receipts in a bucket, for machines of a shared build without a common folder.

use bytes::Bytes;

use super::Receipt;
use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::IndexStore;

/// Suffix of receipts that are found below a prefix.
const ENDING: &str = ".json";

/// Writes a receipt to the object at `uri`, and replaces an existing one.
///
/// # Errors
/// `Invalid` if `uri` is not an object of a bucket; `Unavailable` if storage does not answer.
pub fn write_receipt(uri: &str, receipt: &Receipt) -> Result<(), BuildError> {
    let (store, name) = place_of(uri)?;
    let bytes = Bytes::from(receipt.to_json()?);
    blocking::run(store.overwrite(name, bytes)).map(drop)
}

/// Reads the receipts at `uri`: an object, or, with a `/` at its end, all objects below it that end in
/// `.json`, by name.
///
/// # Errors
/// `Invalid` if there is none, or one of them is not a receipt; `Unavailable` if storage does not answer.
pub fn read_receipts(uri: &str) -> Result<Vec<Receipt>, BuildError> {
    let (store, names) = match uri.strip_suffix('/') {
        None => {
            let (store, name) = place_of(uri)?;
            (store, vec![name.to_owned()])
        }
        Some(folder) => {
            let (store, folder) = place_of(folder)?;
            let found = blocking::run(store.list(folder))?;
            let names = found.into_iter().map(|(name, _)| name);
            (store, names.filter(|name| name.ends_with(ENDING)).collect())
        }
    };
    if names.is_empty() {
        return Err(BuildError::invalid(format!(
            "no receipt below `{uri}`: they end in {ENDING}"
        )));
    }
    let read = names.iter().map(|name| {
        let found = blocking::run(store.get(name))?;
        let (bytes, _) = found.ok_or_else(|| BuildError::invalid(format!("no receipt `{uri}`")))?;
        let text = String::from_utf8_lossy(&bytes);
        Receipt::from_json(&text)
            .map_err(|error| BuildError::invalid(format!("receipt `{name}`: {error}")))
    });
    read.collect()
}

/// Returns the bucket with the prefix before the last `/`, and the name after it.
fn place_of(uri: &str) -> Result<(IndexStore, &str), BuildError> {
    let parts = uri.rsplit_once('/').filter(|(folder, name)| {
        folder.contains("://") && !folder.ends_with('/') && !name.is_empty()
    });
    let (folder, name) = parts.ok_or_else(|| {
        BuildError::invalid(format!(
            "`{uri}` names no object: write s3://bucket/folder/name.json"
        ))
    })?;
    Ok((IndexStore::open_or_make(folder)?, name))
}
