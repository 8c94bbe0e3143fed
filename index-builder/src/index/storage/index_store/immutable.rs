//! Writes of objects whose names are derived from their bytes, which can therefore be repeated.

use super::{IndexStore, Swap};
use crate::error::{BuildError, ErrorKind};
use bytes::Bytes;
use object_store::{ObjectStoreExt, WriteMultipart};
use std::time::Duration;

/// Minimum length in bytes of an object that is uploaded in parts.
const MULTIPART_THRESHOLD_NUM_BYTES: usize = 64 << 20;
const PART_NUM_BYTES: usize = 16 << 20;
const PARTS_AT_ONCE: usize = 4;

/// Pauses before a write that a bucket did not answer is repeated. The client does not repeat it by
/// itself, because a conditional write may have succeeded.
pub(super) const PAUSES_BEFORE_RETRIES: [Duration; 3] = [
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(800),
];

impl IndexStore {
    /// Writes an object whose name is derived from its bytes, unless it exists. Returns whether it
    /// was written.
    pub(crate) async fn put_immutable(&self, name: &str, bytes: Bytes) -> Result<bool, BuildError> {
        let len = bytes.len() as u64;
        // Not every store supports conditional multipart uploads, so this checks for the object
        // first.
        if bytes.len() > MULTIPART_THRESHOLD_NUM_BYTES && self.lock.is_none() {
            if self.is_there(name, len).await? {
                return Ok(false);
            }
            self.put_in_parts(name, bytes).await?;
            return Ok(true);
        }
        let mut pauses = self.pauses.iter();
        let mut is_retry = false;
        loop {
            match self.create(name, bytes.clone()).await {
                Ok(Swap::Done) => return Ok(true),
                Ok(Swap::Conflict) => {
                    self.is_there(name, len).await?;
                    // An earlier attempt without an answer may have written it.
                    return Ok(is_retry);
                }
                Err(error) => match pauses.next() {
                    Some(pause) if error.kind() == ErrorKind::Unavailable => {
                        tokio::time::sleep(*pause).await;
                        is_retry = true;
                    }
                    _ => return Err(error),
                },
            }
        }
    }

    async fn is_there(&self, name: &str, len: u64) -> Result<bool, BuildError> {
        match self.len_of(name).await? {
            None => Ok(false),
            Some(found) if found == len => Ok(true),
            Some(found) => Err(BuildError::data(format!(
                "`{}` is {found} bytes long, but its name stands for {len} bytes: it was damaged or \
                 cut short in storage; delete it and ingest again",
                self.shown(name)
            ))),
        }
    }

    async fn put_in_parts(&self, name: &str, bytes: Bytes) -> Result<(), BuildError> {
        let failed = |error| self.failed("write", name, error);
        let upload = self
            .store
            .put_multipart(&self.path_of(name))
            .await
            .map_err(failed)?;
        let mut write = WriteMultipart::new_with_chunk_size(upload, PART_NUM_BYTES);
        for start in (0..bytes.len()).step_by(PART_NUM_BYTES) {
            write
                .wait_for_capacity(PARTS_AT_ONCE)
                .await
                .map_err(failed)?;
            write.put(bytes.slice(start..bytes.len().min(start + PART_NUM_BYTES)));
        }
        write.finish().await.map_err(failed)?;
        Ok(())
    }
}
