//! Reader of numbers from bytes that may end too early.

use std::io;

use super::damaged;

/// Bit that marks the last byte of a vint.
const LAST: u8 = 0x80;

/// Remaining bytes.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the number of remaining bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the next `len` bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> io::Result<&'a [u8]> {
        let (bytes, rest) = self
            .0
            .split_at_checked(len)
            .ok_or_else(|| damaged("it ends too early"))?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Takes the last `len` bytes.
    pub(crate) fn bytes_from_end(&mut self, len: usize) -> io::Result<&'a [u8]> {
        let before = self.0.len().checked_sub(len);
        let split = before.and_then(|before| self.0.split_at_checked(before));
        let (rest, bytes) = split.ok_or_else(|| damaged("it ends too early"))?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn u8(&mut self) -> io::Result<u8> {
        self.bytes(1)?
            .first()
            .copied()
            .ok_or_else(|| damaged("it ends too early"))
    }

    /// Takes the last four bytes as a length.
    pub(crate) fn len_from_end(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.bytes_from_end(4)?);
        usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| damaged("a length is out of range"))
    }

    /// Takes the last two bytes as a number.
    pub(crate) fn u16_from_end(&mut self) -> io::Result<u16> {
        let mut bytes = [0; 2];
        bytes.copy_from_slice(self.bytes_from_end(2)?);
        Ok(u16::from_le_bytes(bytes))
    }

    /// Takes a vint of at most 64 bits. Columns in blocks contain thousands of them.
    #[inline]
    pub(crate) fn vint(&mut self) -> io::Result<u64> {
        const MAX_LEN: usize = 10;
        let mut number = 0u64;
        for (place, byte) in self.0.iter().enumerate().take(MAX_LEN) {
            let bits = u64::from(byte & !LAST);
            // The tenth byte has room for one bit only.
            if place + 1 == MAX_LEN && bits > 1 {
                break;
            }
            number |= bits << (7 * place);
            if byte & LAST != 0 {
                self.0 = self.0.get(place + 1..).unwrap_or_default();
                return Ok(number);
            }
        }
        Err(damaged(match self.0.len() < MAX_LEN {
            true => "it ends too early",
            false => "a number is out of range",
        }))
    }

    /// Takes a vint that is a number of rows or documents.
    pub(crate) fn vint_u32(&mut self) -> io::Result<u32> {
        u32::try_from(self.vint()?).map_err(|_| damaged("a number of rows is out of range"))
    }

    /// Takes a vint of at most 128 bits.
    pub(crate) fn vint_u128(&mut self) -> io::Result<u128> {
        let mut number = 0u128;
        for shift in (0u32..128).step_by(7) {
            let byte = self.u8()?;
            let bits = u128::from(byte & !LAST);
            let shifted = bits << shift;
            if shifted >> shift != bits {
                break;
            }
            number |= shifted;
            if byte & LAST != 0 {
                return Ok(number);
            }
        }
        Err(damaged("a number is out of range"))
    }
}
