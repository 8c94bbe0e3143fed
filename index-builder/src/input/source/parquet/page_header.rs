//! Header of a page, parsed before the page is read: Thrift's compact protocol, of which only sizes and counts are
//! kept. It validates only what the library depends on.
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>

use std::io::{self, Read};

/// Maximum length of a header in bytes. It may contain the minimum and the maximum of its page.
const MAX_HEADER_BYTES: usize = 16 << 20;

/// Maximum nesting depth of structures, with a margin.
const MAX_DEPTH: usize = 16;

/// A page according to its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PageHeader {
    pub(super) is_dictionary: bool,
    /// Decompressed length, including levels.
    pub(super) num_bytes: u64,
    pub(super) num_packed_bytes: u64,
    /// Number of values, or of levels if there are any.
    pub(super) num_values: u64,
    /// True if each value may repeat a prefix of the previous one.
    pub(super) has_shared_prefixes: bool,
    /// Length of the levels in front, which are never compressed, in a page of version 2.
    pub(super) num_level_bytes: u64,
    pub(super) is_compressed: bool,
}

/// Type of a page that is a dictionary.
const DICTIONARY_PAGE: i64 = 2;
/// `DELTA_BYTE_ARRAY`.
const DELTA_BYTE_ARRAY: i64 = 7;

impl PageHeader {
    /// Reads a header; also returns its bytes.
    ///
    /// # Errors
    /// If it is invalid or too long, or if reading fails.
    pub(super) fn read(file: impl Read) -> io::Result<(Self, Vec<u8>)> {
        let mut header = Self {
            is_compressed: true,
            ..Self::default()
        };
        let mut thrift = Thrift {
            file: file.take(MAX_HEADER_BYTES as u64),
            bytes: Vec::new(),
        };
        thrift.structure(0, 0, &mut |parent, id, number| {
            header.take(parent, id, number)
        })?;
        Ok((header, thrift.bytes))
    }

    /// Takes a number of the header itself, or of the structure in its field `parent`.
    fn take(&mut self, parent: i16, id: i16, number: i64) {
        // The caller refuses a negative length.
        let unsigned = u64::try_from(number).unwrap_or(u64::MAX);
        match (parent, id) {
            (0, 1) => self.is_dictionary = number == DICTIONARY_PAGE,
            (0, 2) => self.num_bytes = unsigned,
            (0, 3) => self.num_packed_bytes = unsigned,
            // Data pages, dictionaries, and data pages of version 2.
            (5 | 7 | 8, 1) => self.num_values = unsigned,
            (5, 2) | (8, 4) => self.has_shared_prefixes = number == DELTA_BYTE_ARRAY,
            (8, 5 | 6) => self.num_level_bytes = self.num_level_bytes.saturating_add(unsigned),
            (8, 7) => self.is_compressed = number != 0,
            _ => {}
        }
    }
}

/// Parser of Thrift's compact protocol, which keeps the bytes that it has read.
struct Thrift<R> {
    file: R,
    bytes: Vec<u8>,
}

/// Receives a field's number or boolean: the field of its structure, its own id, and the value.
type TakeNumber<'t> = dyn FnMut(i16, i16, i64) + 't;

impl<R: Read> Thrift<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.file.read_exact(&mut byte)?;
        self.bytes.extend_from_slice(&byte);
        let [byte] = byte;
        Ok(byte)
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(damaged())
    }

    fn number(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn pass(&mut self, num_bytes: u64) -> io::Result<()> {
        let passed = (&mut self.file)
            .take(num_bytes)
            .read_to_end(&mut self.bytes)?;
        match passed as u64 == num_bytes {
            true => Ok(()),
            false => Err(damaged()),
        }
    }

    fn structure(
        &mut self,
        parent: i16,
        depth: usize,
        take: &mut TakeNumber<'_>,
    ) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(damaged());
        }
        let mut id = 0_i16;
        loop {
            let begin = self.byte()?;
            if begin == 0 {
                return Ok(());
            }
            id = match begin >> 4 {
                0 => i16::try_from(self.number()?).map_err(|_| damaged())?,
                delta => id.checked_add(i16::from(delta)).ok_or_else(damaged)?,
            };
            match begin & 0x0f {
                truth @ (1 | 2) => take(parent, id, i64::from(truth == 1)),
                3 => take(parent, id, i64::from(self.byte()?)),
                4..=6 => {
                    let number = self.number()?;
                    take(parent, id, number);
                }
                12 => {
                    // Only structures directly in the header have relevant numbers.
                    let place = if depth == 0 { id } else { i16::MAX };
                    self.structure(place, depth + 1, take)?;
                }
                kind => self.value(kind, depth + 1, take)?,
            }
        }
    }

    /// Skips a value.
    fn value(&mut self, kind: u8, depth: usize, take: &mut TakeNumber<'_>) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(damaged());
        }
        match kind {
            // Within lists.
            1..=3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let len = self.varint()?;
                self.pass(len)
            }
            9 | 10 => {
                let begin = self.byte()?;
                let num = match begin >> 4 {
                    15 => self.varint()?,
                    num => u64::from(num),
                };
                // Each takes at least one byte, of the limited number.
                (0..num).try_for_each(|_| self.value(begin & 0x0f, depth + 1, take))
            }
            12 => self.structure(i16::MAX, depth + 1, take),
            13 => self.pass(16),
            _ => Err(damaged()),
        }
    }
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the header of a page is damaged",
    )
}
