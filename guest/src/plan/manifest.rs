//! Reading the manifest: the first wave of every search.

use canter_protocol::{ByteClass, FetchErrorKind};
use canter_split_format::{MANIFEST_OBJECT, ManifestFile};
use tantivy::directory::OwnedBytes;

use crate::exchange::Exchange;
use crate::limits::Limits;
use crate::{ErrorKind, SearchError};

/// Reads the index's manifest.
///
/// # Errors
/// If it cannot be fetched or parsed.
pub(crate) async fn read_manifest(
    exchange: &Exchange,
    limits: &Limits,
) -> Result<ManifestFile, SearchError> {
    read_sound(exchange, limits)
        .await
        .map(|(manifest, _)| manifest)
}

/// Reads the manifest; `None` if there is no index.
///
/// # Errors
/// As [`read_manifest`], apart from an index that is not there.
pub(crate) async fn read_manifest_if_there(
    exchange: &Exchange,
    limits: &Limits,
) -> Result<Option<ManifestFile>, SearchError> {
    match read_manifest(exchange, limits).await {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the manifest and offers it to the host's cache, where [`read_pinned`] finds it once there is a newer one. Also
/// returns its hash.
///
/// # Errors
/// If it cannot be fetched or parsed.
pub(crate) async fn keep_manifest(
    exchange: &Exchange,
    limits: &Limits,
) -> Result<(ManifestFile, String), SearchError> {
    let (manifest, bytes) = read_sound(exchange, limits).await?;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    exchange.store(&pinned_key(&hash), bytes.to_vec(), ByteClass::PartialResult);
    Ok((manifest, hash))
}

/// Puts the manifest into the host's cache, and checks that it is stored. Returns its hash.
///
/// # Errors
/// If it cannot be fetched or parsed, or the host has no cache.
pub(crate) async fn pin_manifest(
    exchange: &Exchange,
    limits: &Limits,
) -> Result<String, SearchError> {
    let (_, hash) = keep_manifest(exchange, limits).await?;
    exchange.hand_over_stores().await;
    let key = pinned_key(&hash);
    match exchange.look_up(&key, ByteClass::PartialResult).await {
        Some(_) => Ok(hash),
        None => Err(SearchError::invalid(
            "there are no points in time here, since this host keeps nothing between requests: use search_after \
             without one, or a scroll",
        )),
    }
}

/// Reads the manifest with this hash: the newest, or the one in the host's cache. `None` if neither has it.
///
/// # Errors
/// If the newest cannot be fetched or parsed.
pub(crate) async fn read_pinned(
    hash: &str,
    exchange: &Exchange,
    limits: &Limits,
) -> Result<Option<ManifestFile>, SearchError> {
    let is_it = |bytes: &[u8]| blake3::hash(bytes).to_hex().as_str() == hash;
    let (newest, bytes) = read_sound(exchange, limits).await?;
    if is_it(&bytes) {
        return Ok(Some(newest));
    }
    let key = pinned_key(hash);
    let kept = exchange.look_up(&key, ByteClass::PartialResult).await;
    let kept = kept.filter(|bytes| is_it(bytes));
    Ok(kept.and_then(|bytes| ManifestFile::from_bytes(&bytes).ok()))
}

fn pinned_key(hash: &str) -> String {
    format!("pit/{hash}")
}

/// Reads the manifest and its bytes.
async fn read_sound(
    exchange: &Exchange,
    limits: &Limits,
) -> Result<(ManifestFile, OwnedBytes), SearchError> {
    match read_once(exchange, limits).await? {
        Ok(manifest) => Ok(manifest),
        // The host may have served it from a cache: a second request bypasses that.
        Err(_) => read_once(exchange, limits).await?,
    }
}

/// Reads the manifest once; the inner error concerns its bytes.
async fn read_once(
    exchange: &Exchange,
    limits: &Limits,
) -> Result<Result<(ManifestFile, OwnedBytes), SearchError>, SearchError> {
    let read = match exchange.kept(MANIFEST_OBJECT, 0) {
        Some(kept) => Ok(kept),
        None => {
            exchange
                .read(MANIFEST_OBJECT, 0, None, ByteClass::Manifest)
                .await
        }
    };
    let bytes = read.map_err(|failure| {
        let hint = match failure.kind {
            FetchErrorKind::NotFound => "there is no index here: check the index URI",
            FetchErrorKind::Denied => "the store refused: check the credentials",
            _ => "the manifest cannot be read",
        };
        let is_missing = failure.kind == FetchErrorKind::NotFound;
        let mut error = failure.into_search_error(&format!("{MANIFEST_OBJECT}: {hint}"));
        if is_missing {
            error.kind = ErrorKind::NotFound;
        }
        error
    })?;
    if bytes.len() as u64 > limits.max_manifest_bytes {
        return Err(SearchError::new(
            ErrorKind::Limit,
            format!(
                "{MANIFEST_OBJECT} is longer than the limit max_manifest_bytes of {}",
                limits.max_manifest_bytes
            ),
        ));
    }
    Ok(ManifestFile::from_bytes(&bytes)
        .map_err(|error| SearchError::data(format!("{MANIFEST_OBJECT}: {error}")))
        .map(|manifest| {
            exchange.keep(MANIFEST_OBJECT, 0, &bytes, true);
            (manifest, bytes)
        }))
}
