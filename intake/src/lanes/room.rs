//! Memory limit for documents that wait to be published, shared by all indexes of a server.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::refusal::Refusal;

/// Memory for documents that wait to be published.
#[derive(Clone, Debug)]
pub struct Room {
    /// One permit for each byte.
    free: Arc<Semaphore>,
    max_bytes: usize,
    patience: Duration,
}

impl Room {
    /// Creates a limit of `max_bytes`. A request for more than is free waits for `patience`: most
    /// room returns within a commit interval, and many shippers drop refused documents or stop.
    #[must_use]
    pub fn new(max_bytes: usize, patience: Duration) -> Self {
        let max_bytes = max_bytes.min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(max_bytes)),
            max_bytes,
            patience,
        }
    }

    /// Reserves `num_bytes`, which become free when the permit is dropped.
    ///
    /// # Errors
    /// There was too little room during the whole wait, or `num_bytes` exceeds the limit.
    pub(crate) async fn take(&self, num_bytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let max_bytes = self.max_bytes;
        let num_permits = u32::try_from(num_bytes)
            .ok()
            .filter(|_| num_bytes <= max_bytes);
        let num_permits = num_permits.ok_or(Refusal::TooLarge {
            num_bytes,
            max_bytes,
        })?;
        let taken = Arc::clone(&self.free).acquire_many_owned(num_permits);
        match timeout(self.patience, taken).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Refusal::Busy { max_bytes }),
        }
    }

    /// Returns the limit in bytes.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Returns the number of free bytes.
    #[must_use]
    pub fn num_free_bytes(&self) -> usize {
        self.free.available_permits()
    }
}
