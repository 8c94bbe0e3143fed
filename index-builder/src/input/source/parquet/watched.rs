//! Remembers why a file could not be read: the library's errors do not distinguish a damaged file from a failing
//! system, whose reads may be retried.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// The reason why reading failed, until it is taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    pub(super) fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps an error, and returns a substitute.
    pub(super) fn keep(&self, error: io::Error) -> io::Error {
        let stand_in = io::Error::new(error.kind(), "it cannot be read");
        // The first one is the cause of the others.
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        stand_in
    }

    fn keep_cause(&self, error: ParquetError) -> ParquetError {
        match error {
            ParquetError::External(cause) => match cause.downcast::<io::Error>() {
                Ok(cause) => self.keep(*cause).into(),
                Err(cause) => ParquetError::External(cause),
            },
            other => other,
        }
    }
}

/// A watched file.
pub(super) struct Watched<R> {
    pub(super) inner: R,
    pub(super) failure: Failure,
}

impl<R: Length> Length for Watched<R> {
    fn len(&self) -> u64 {
        self.inner.len()
    }
}

impl<R: ChunkReader> ChunkReader for Watched<R> {
    type T = WatchedRead<R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let inner = self.inner.get_read(start);
        Ok(WatchedRead {
            inner: inner.map_err(|error| self.failure.keep_cause(error))?,
            failure: self.failure.clone(),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.inner.get_bytes(start, length);
        bytes.map_err(|error| self.failure.keep_cause(error))
    }
}

/// A part of a watched file.
pub(super) struct WatchedRead<T> {
    inner: T,
    failure: Failure,
}

impl<T: Read> Read for WatchedRead<T> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => self.failure.keep(error),
        })
    }
}
