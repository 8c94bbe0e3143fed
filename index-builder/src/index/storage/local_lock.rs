//! Compare-and-swap in a folder, which has no `If-Match`: a lock file next to the manifest.
//!
//! The operating system releases the lock when its holder dies, so a killed process never blocks
//! the next one. Readers take no lock: because of the rename, they see either the old or the new
//! manifest.

use super::own_names::LOCK_NAME;
use crate::error::BuildError;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Maximum time to wait for the lock, whose holder only writes one small file.
const TIMEOUT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// Lock of one local index.
#[derive(Clone, Debug)]
pub(super) struct LocalLock {
    folder: PathBuf,
}

impl LocalLock {
    pub(super) fn of_folder(folder: PathBuf) -> LocalLock {
        LocalLock { folder }
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Waits for the lock and holds it until the file is dropped. Messages refer to it as `shown`.
    pub(super) async fn acquire(&self, shown: &str) -> Result<File, BuildError> {
        let path = self.folder.join(LOCK_NAME);
        let failed = |error: std::io::Error| {
            BuildError::unavailable(format!("cannot lock `{shown}`")).caused_by(error)
        };
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if started.elapsed() > TIMEOUT => {
                    return Err(BuildError::unavailable(format!(
                        "another process has held `{shown}` for {} seconds: look whether it hangs",
                        TIMEOUT.as_secs()
                    )));
                }
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}
