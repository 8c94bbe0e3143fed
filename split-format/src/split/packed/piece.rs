//! The pieces of a file: where each stands in the body, and which bytes of the file it holds.

use std::ops::Range;

use super::{decimals, presence};
use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::documents::unpack_frame;
use crate::version::FILE_TABLE;

/// How the bytes of a piece stand in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As they are.
    Plain,
    /// Words of a column of floating-point numbers with few decimal digits, as whole numbers.
    Decimals,
    /// A block that says which documents have a value, as bits or as a list.
    Presence,
    /// As a zstd frame.
    Compressed,
}

impl Form {
    fn code(self) -> u64 {
        match self {
            Self::Plain => 0,
            Self::Decimals => 1,
            Self::Presence => 2,
            Self::Compressed => 3,
        }
    }

    fn of_code(code: u64) -> Option<Self> {
        let all = [
            Self::Plain,
            Self::Decimals,
            Self::Presence,
            Self::Compressed,
        ];
        all.into_iter().find(|form| form.code() == code)
    }
}

/// Maximum length of a packed piece, unpacked: what a reader allocates for a few bytes.
pub(super) const MAX_PACKED_PLAIN_LEN: u64 = 16 << 20;

/// Piece of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// How its bytes stand in the body.
    pub form: Form,
    /// First byte in the file, unpacked.
    pub plain_start: u64,
    /// Number of bytes, unpacked.
    pub plain_len: u64,
    /// First byte in the file as it stands in the body.
    pub packed_start: u64,
    /// Number of bytes in the body.
    pub packed_len: u64,
}

impl Piece {
    /// Returns the end of the piece in the file, unpacked.
    pub(crate) fn plain_end(&self) -> u64 {
        self.plain_start.saturating_add(self.plain_len)
    }

    pub(crate) fn packed_end(&self) -> u64 {
        self.packed_start.saturating_add(self.packed_len)
    }

    /// Returns the part of a range of the file that lies in the piece, of a file at `offset` in the body.
    pub(crate) fn part(&self, range: &Range<u64>, offset: u64) -> FilePart {
        let start = range.start.max(self.plain_start) - self.plain_start;
        let end = range.end.min(self.plain_end()).max(self.plain_start) - self.plain_start;
        let wanted = start..end.max(start);
        let packed = match self.form {
            Form::Plain => wanted.clone(),
            _ => 0..self.packed_len,
        };
        let place = offset + self.packed_start;
        FilePart {
            body: place + packed.start..place + packed.end,
            form: self.form,
            plain_len: self.plain_len,
            wanted,
        }
    }
}

/// Part of a range of a file, all of one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Bytes of the body that it is read from.
    pub body: Range<u64>,
    form: Form,
    plain_len: u64,
    /// Bytes of the piece that are wanted.
    wanted: Range<u64>,
}

impl FilePart {
    /// Returns whether the bytes of the body are those of the file.
    pub fn is_plain(&self) -> bool {
        self.form == Form::Plain
    }

    /// Appends the wanted bytes of the file, from those of the body.
    ///
    /// # Errors
    /// The bytes are not what the piece should be.
    pub fn unpack(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
        let plain = match self.form {
            Form::Plain => {
                out.extend_from_slice(bytes);
                return Ok(());
            }
            Form::Decimals => decimals::unpack(bytes, self.plain_len)?,
            Form::Presence => presence::unpack(bytes)?,
            Form::Compressed => {
                unpack_frame(bytes, usize::try_from(self.plain_len).unwrap_or(usize::MAX))?
            }
        };
        let start = usize::try_from(self.wanted.start).ok();
        let end = usize::try_from(self.wanted.end).ok();
        let wanted = start
            .zip(end)
            .filter(|_| plain.len() as u64 == self.plain_len)
            .and_then(|(start, end)| plain.get(start..end));
        let wanted = wanted.ok_or_else(|| {
            FormatError::new(
                FILE_TABLE.name,
                "a packed piece has another length than it should",
            )
        })?;
        out.extend_from_slice(wanted);
        Ok(())
    }
}

/// Writes the pieces of one file.
pub(crate) fn write_pieces(pieces: &[Piece], out: &mut Writer) {
    out.varint(pieces.len() as u64);
    for piece in pieces {
        out.varint(piece.form.code());
        out.varint(piece.plain_len);
        if piece.form != Form::Plain {
            out.varint(piece.packed_len);
        }
    }
}

/// Reads the pieces of a file that has `packed_len` bytes in the body.
pub(crate) fn open_pieces(
    reader: &mut Reader<'_>,
    packed_len: u64,
) -> Result<Vec<Piece>, FormatError> {
    let num_pieces = reader.count(2)?;
    let mut pieces = Vec::with_capacity(num_pieces);
    let (mut plain_start, mut packed_start) = (0_u64, 0_u64);
    for _ in 0..num_pieces {
        let form = Form::of_code(reader.varint()?)
            .ok_or_else(|| reader.error("a piece of a file is packed in an unknown form"))?;
        let plain_len = reader.varint()?;
        let packed_len = match form {
            Form::Plain => plain_len,
            _ => reader.varint()?,
        };
        if form != Form::Plain && plain_len > MAX_PACKED_PLAIN_LEN {
            return Err(reader.error("a packed piece of a file is too long"));
        }
        let piece = Piece {
            form,
            plain_start,
            plain_len,
            packed_start,
            packed_len,
        };
        let ends = plain_start
            .checked_add(plain_len)
            .zip(packed_start.checked_add(packed_len));
        (plain_start, packed_start) =
            ends.ok_or_else(|| reader.error("a file is longer than 64 bits can say"))?;
        pieces.push(piece);
    }
    match packed_start == packed_len && !pieces.is_empty() {
        true => Ok(pieces),
        false => Err(reader.error("the pieces of a file do not make up the file")),
    }
}
