//! Conversion of UTF-16 to UTF-8. Invalid characters become U+FFFD.

use std::io::{self, BufRead, Read};

use super::converted::Converted;
use super::kinds::Endian;

/// Reads UTF-16 as UTF-8. A byte order mark becomes one of UTF-8.
pub(super) struct Utf16<R> {
    reader: R,
    endian: Endian,
    /// A byte whose other half has not arrived.
    half: Option<u8>,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    out: Converted,
    is_ended: bool,
}

impl<R: BufRead> Utf16<R> {
    pub(super) fn new(reader: R, endian: Endian) -> Utf16<R> {
        Utf16 {
            reader,
            endian,
            half: None,
            high: None,
            out: Converted::default(),
            is_ended: false,
        }
    }

    fn push_unit(&mut self, unit: u16) {
        if let Some(high) = self.high.take() {
            if let Some(Ok(character)) = char::decode_utf16([high, unit]).next() {
                return self.out.push(character);
            }
            self.out.push(char::REPLACEMENT_CHARACTER);
        }
        match unit {
            0xd800..0xdc00 => self.high = Some(unit),
            _ => {
                let character = char::from_u32(u32::from(unit));
                self.out
                    .push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }

    /// Decodes the reader's buffer; returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.out.clear();
        if self.is_ended {
            return Ok(false);
        }
        let bytes = self.reader.fill_buf()?.to_vec();
        self.reader.consume(bytes.len());
        if bytes.is_empty() {
            self.is_ended = true;
            let is_cut = self.half.take().is_some() | self.high.take().is_some();
            if is_cut {
                self.out.push(char::REPLACEMENT_CHARACTER);
            }
            return Ok(is_cut);
        }
        for byte in bytes {
            let Some(first) = self.half.take() else {
                self.half = Some(byte);
                continue;
            };
            self.push_unit(match self.endian {
                Endian::Little => u16::from_le_bytes([first, byte]),
                Endian::Big => u16::from_be_bytes([first, byte]),
            });
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.out.is_read() {
            if !self.fill()? {
                return Ok(0);
            }
        }
        Ok(self.out.read(out))
    }
}
