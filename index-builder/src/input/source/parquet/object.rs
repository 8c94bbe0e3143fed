//! An object of a bucket with random access, by range.

use std::io::{self, BufReader, Read};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use crate::input::source::object::ObjectPlace;

/// Length of the ranges in which pages of a column are read, in bytes.
const RANGE_NUM_BYTES: usize = 1 << 20;

/// Object with random access, see the module.
pub(in crate::input::source) struct ObjectRanges(pub(in crate::input::source) ObjectPlace);

impl Length for ObjectRanges {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for ObjectRanges {
    type T = BufReader<FromPlace>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let place = FromPlace {
            object: self.0.clone(),
            at: start,
        };
        Ok(BufReader::with_capacity(RANGE_NUM_BYTES, place))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self
            .0
            .read_range(start..start.saturating_add(length as u64));
        let bytes = bytes.map_err(|error| ParquetError::External(Box::new(error)))?;
        match bytes.len() == length {
            true => Ok(bytes),
            false => Err(ParquetError::EOF(format!(
                "{length} bytes from byte {start} on are not there"
            ))),
        }
    }
}

/// Reads an object from an offset on.
pub(in crate::input::source) struct FromPlace {
    object: ObjectPlace,
    at: u64,
}

impl Read for FromPlace {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let end = self.at.saturating_add(out.len() as u64);
        let end = end.min(self.object.len());
        if end <= self.at {
            return Ok(0);
        }
        let bytes = self.object.read_range(self.at..end)?;
        let len = bytes.len().min(out.len());
        if let (Some(out), Some(bytes)) = (out.get_mut(..len), bytes.get(..len)) {
            out.copy_from_slice(bytes);
        }
        self.at += len as u64;
        Ok(len)
    }
}
