//! Cache in the folder `/cache`, if the component was started with access to one.

use std::io;
use std::path::Path;

use canter_edge_io::FolderCache;

/// Path of the folder.
const FOLDER: &str = "/cache";
/// Default maximum length of the cache: 1 GiB.
pub(crate) const MAX_CACHE_BYTES: u64 = 1 << 30;

/// Opens the folder if it exists. With a `max_bytes` of 0, there is no cache.
///
/// # Errors
/// The folder exists but cannot be used.
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
