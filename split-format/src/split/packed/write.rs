//! Packing of a file.

use std::ops::Range;

use super::decimals::Words;
use super::piece::{Form, MAX_PACKED_PLAIN_LEN, Piece};
use super::{decimals, presence};

/// What may be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packable {
    /// As many words of a column of floating-point numbers.
    Decimals(Words, u64),
    /// A block of a column that not all documents have.
    Presence,
    /// Anything, with the zstd frame of it.
    Compressed(Vec<u8>),
}

/// File in pieces, as it stands in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedFile {
    /// Bytes of the body.
    pub bytes: Vec<u8>,
    /// What they are, in the order of the file.
    pub pieces: Vec<Piece>,
}

/// A piece costs some bytes of the head, which every search reads.
const MIN_GAIN: usize = 64;

/// Packs what can be packed and gets shorter; `None` if nothing does. The ranges must be in order and not overlap.
pub fn pack(plain: &[u8], ranges: &[(Range<usize>, Packable)]) -> Option<PackedFile> {
    let mut packed = PackedFile {
        bytes: Vec::with_capacity(plain.len()),
        pieces: Vec::new(),
    };
    let mut end = 0;
    for (range, what) in ranges {
        let bytes = plain.get(range.clone()).filter(|_| range.start >= end)?;
        if bytes.len() as u64 > MAX_PACKED_PLAIN_LEN {
            continue;
        }
        let (form, shorter) = match what {
            Packable::Decimals(words, num) => (Form::Decimals, decimals::pack(bytes, *words, *num)),
            Packable::Presence => (Form::Presence, presence::pack(bytes)),
            Packable::Compressed(frame) => (Form::Compressed, Some(frame.clone())),
        };
        let is_worth_it =
            |shorter: &Vec<u8>| shorter.len() + MIN_GAIN.max(bytes.len() / 8) <= bytes.len();
        if let Some(shorter) = shorter.filter(is_worth_it) {
            packed.put(Form::Plain, plain.get(end..range.start)?, None);
            packed.put(form, bytes, Some(&shorter));
            end = range.end;
        }
    }
    if end == 0 {
        return None;
    }
    packed.put(Form::Plain, plain.get(end..)?, None);
    Some(packed)
}

impl PackedFile {
    fn put(&mut self, form: Form, plain: &[u8], packed: Option<&[u8]>) {
        if plain.is_empty() {
            return;
        }
        let bytes = packed.unwrap_or(plain);
        let (plain_start, packed_start) = match self.pieces.last() {
            Some(last) => (last.plain_end(), last.packed_end()),
            None => (0, 0),
        };
        self.pieces.push(Piece {
            form,
            plain_start,
            plain_len: plain.len() as u64,
            packed_start,
            packed_len: bytes.len() as u64,
        });
        self.bytes.extend_from_slice(bytes);
    }
}
