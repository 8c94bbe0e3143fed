//! How much may wait to be published, of all indexes of a server together.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::refusal::Refusal;

/// Room for documents that wait to be published.
#[derive(Clone, Debug)]
pub struct Room {
    /// A permit for each byte.
    free: Arc<Semaphore>,
    max_bytes: usize,
    patience: Duration,
}

impl Room {
    /// Room for so many bytes. Who finds none waits for so long: most room comes back within a commit interval, and many
    /// shippers drop what is refused, or stop.
    #[must_use]
    pub fn new(max_bytes: usize, patience: Duration) -> Self {
        let max_bytes = max_bytes.min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(max_bytes)),
            max_bytes,
            patience,
        }
    }

    /// Takes room for so many bytes, which comes back when what is returned is dropped.
    ///
    /// # Errors
    /// If there was none for so long, or if there never is so much.
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

    /// How many bytes there is room for if nothing waits.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// How many bytes find room now.
    #[must_use]
    pub fn num_free_bytes(&self) -> usize {
        self.free.available_permits()
    }
}
