//! Limit on decompression: compressed data may grow a thousandfold, and a malicious file arbitrarily.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of bytes that are always permitted.
const FREE_NUM_BYTES: u64 = 1 << 30;

/// Counts the bytes that pass.
pub(super) struct Stored<R> {
    reader: R,
    num_bytes: Arc<AtomicU64>,
}

impl<R> Stored<R> {
    pub(super) fn new(reader: R) -> Stored<R> {
        Stored {
            reader,
            num_bytes: Arc::default(),
        }
    }

    pub(super) fn count(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.num_bytes)
    }
}

impl<R: Read> Read for Stored<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.reader.read(out)?;
        self.num_bytes.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

/// Reads decompressed bytes, until they exceed a multiple of the stored bytes.
pub(super) struct Expanding<R> {
    reader: R,
    num_stored_bytes: Arc<AtomicU64>,
    num_bytes: u64,
    max_expansion: u64,
}

impl<R> Expanding<R> {
    pub(super) fn new(reader: R, num_stored_bytes: Arc<AtomicU64>, max_expansion: u64) -> Self {
        Expanding {
            reader,
            num_stored_bytes,
            num_bytes: 0,
            max_expansion,
        }
    }
}

impl<R: Read> Read for Expanding<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let num_stored_bytes = self.num_stored_bytes.load(Ordering::Relaxed);
        let max = num_stored_bytes.saturating_mul(self.max_expansion);
        if self.num_bytes > max.max(FREE_NUM_BYTES) {
            return Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                format!(
                    "it becomes more than {} times as long as it is stored, as what is made to do harm does; if it is \
                     none of that, raise --max-expansion",
                    self.max_expansion
                ),
            ));
        }
        let len = self.reader.read(out)?;
        self.num_bytes += len as u64;
        Ok(len)
    }
}
