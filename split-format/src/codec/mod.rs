//! Little-endian integers, varints and length-prefixed bytes: the primitives of every component.
//!
//! The reader checks every length against the remaining bytes before it allocates.

use crate::FormatError;

pub(crate) mod bits;
pub(crate) mod groups;

/// Encoder that appends values to a buffer.
#[derive(Default)]
pub(crate) struct Writer {
    buf: Vec<u8>,
}

impl Writer {
    pub(crate) fn u32(&mut self, value: u32) {
        self.buf.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.buf.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.buf.extend_from_slice(bytes);
    }

    pub(crate) fn varint(&mut self, value: u64) {
        put_varint(&mut self.buf, value);
    }

    /// Appends a signed varint in zigzag encoding.
    pub(crate) fn varint_signed(&mut self, value: i64) {
        self.varint(zigzag(value));
    }

    /// Appends a varint length and the bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        put_bytes(&mut self.buf, bytes);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.buf
    }
}

/// Appends a number as LEB128: seven bits in each byte, lowest first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(low_byte(value) | 0x80);
        value >>= 7;
    }
    out.push(low_byte(value));
}

/// Appends a varint length and the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Maps a signed number to an unsigned one that is small if the number is near zero.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Undoes [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

fn low_byte(value: u64) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}

/// Decoder that takes values off the front of a slice.
pub(crate) struct Reader<'a> {
    component: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(component: &'static str, bytes: &'a [u8]) -> Self {
        Self {
            component,
            rest: bytes,
        }
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> FormatError {
        FormatError::new(self.component, problem)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the number of remaining bytes.
    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn raw(&mut self, len: usize) -> Result<&'a [u8], FormatError> {
        match self.rest.split_at_checked(len) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(self.error(format!(
                "cut short: {len} more bytes are needed and {} are left",
                self.rest.len()
            ))),
        }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(*head)
            }
            None => Err(self.error("cut short")),
        }
    }

    pub(crate) fn u32(&mut self) -> Result<u32, FormatError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, FormatError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn tag(&mut self) -> Result<[u8; 4], FormatError> {
        self.array()
    }

    pub(crate) fn varint(&mut self) -> Result<u64, FormatError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array::<1>()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(self.error("a varint does not fit 64 bits"));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.error("a varint is longer than ten bytes"))
    }

    pub(crate) fn varint_signed(&mut self) -> Result<i64, FormatError> {
        Ok(unzigzag(self.varint()?))
    }

    pub(crate) fn varint_u32(&mut self) -> Result<u32, FormatError> {
        let value = self.varint()?;
        u32::try_from(value).map_err(|_| self.error(format!("{value} does not fit 32 bits")))
    }

    /// Returns a count of items of at least `min_len` bytes each, which must fit the remaining
    /// bytes.
    pub(crate) fn count(&mut self, min_len: usize) -> Result<usize, FormatError> {
        let count = self.varint()?;
        usize::try_from(count)
            .ok()
            .filter(|count| count.saturating_mul(min_len.max(1)) <= self.rest.len())
            .ok_or_else(|| self.error(format!("a count of {count} cannot fit what is left")))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], FormatError> {
        let len = self.count(1)?;
        self.raw(len)
    }

    pub(crate) fn string(&mut self) -> Result<&'a str, FormatError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.error("a name is not UTF-8"))
    }

    pub(crate) fn finish(self) -> Result<(), FormatError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.error(format!("{} bytes too many", self.rest.len())))
        }
    }
}

#[cfg(test)]
mod tests;
