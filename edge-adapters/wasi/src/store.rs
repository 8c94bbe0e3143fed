//! The cache: a folder that whoever starts the component lets it see as `/cache`, or none.

use std::io;
use std::path::Path;

use canter_edge_io::FolderCache;

/// Where the folder is.
const FOLDER: &str = "/cache";
/// What it may hold unless it is said otherwise: 1 GiB.
pub(crate) const MAX_CACHE_BYTES: u64 = 1 << 30;

/// The folder if there is one. With `max_bytes` of 0 nothing is kept.
///
/// # Errors
/// If it is there and cannot be used.
pub(crate) fn open(max_bytes: u64) -> Result<Option<FolderCache>, String> {
    let folder = Path::new(FOLDER);
    if max_bytes == 0 || !folder.is_dir() {
        return Ok(None);
    }
    match FolderCache::open(folder, max_bytes) {
        Ok(cache) => Ok(Some(cache)),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Err(format!("the cache cannot have {max_bytes} bytes: {error}"))
        }
        Err(error) => Err(format!(
            "the folder {FOLDER} cannot be used: {error}; start with another one, or without"
        )),
    }
}
