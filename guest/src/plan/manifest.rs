//! Reading the manifest: the first wave of every search.

use canter_split_format::{MANIFEST_OBJECT, ManifestFile};

use crate::request::Limits;
use crate::session::exchange::Exchange;
use crate::session::protocol::{ByteClass, FetchErrorKind};
use crate::{ErrorKind, SearchError};

/// Reads the index's manifest.
///
/// # Errors
/// If it cannot be had or read.
pub(crate) async fn read_manifest(
    exchange: &Exchange,
    limits: &Limits,
) -> Result<ManifestFile, SearchError> {
    match read_once(exchange, limits).await? {
        Ok(manifest) => Ok(manifest),
        // The host may have had it from a cache: asked once more, it passes that by.
        Err(_) => read_once(exchange, limits).await?,
    }
}

/// The manifest; the inner error is about its bytes.
async fn read_once(
    exchange: &Exchange,
    limits: &Limits,
) -> Result<Result<ManifestFile, SearchError>, SearchError> {
    let bytes = exchange
        .read(MANIFEST_OBJECT, 0, None, ByteClass::Manifest)
        .await
        .map_err(|failure| {
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
                "{MANIFEST_OBJECT} is {} bytes long, more than the limit max_manifest_bytes of {}",
                bytes.len(),
                limits.max_manifest_bytes
            ),
        ));
    }
    Ok(ManifestFile::from_bytes(&bytes)
        .map_err(|error| SearchError::data(format!("{MANIFEST_OBJECT}: {error}"))))
}
