//! What each document has of a field, in the order of documents.
//!
//! ```text
//!   varint 8 · number + 2 · kind + is_far ╎ is_far: varint documents left out ╎ contents
//!
//!   kind 0  number terms at positions 0, 1, 2 …    varint term, for each
//!   kind 1  number terms at any positions          varint term · zigzag difference to the position after the last
//!   kind 2  number is a shape                      varint term, for each slot of the shape
//! ```
//!
//! Positions cost nothing where words follow each other, and a document costs its shape where it has one. Lists are made
//! of it when a segment is written.

use crate::shapes::Shapes;

const KIND_WORDS: u32 = 0;
const KIND_PLACED: u32 = 1;
const KIND_SHAPE: u32 = 2;

/// Lengths of pieces of the log: documents lie in one of them, unless they are longer.
const MIN_PIECE: usize = 256;
const MAX_PIECE: usize = 1 << 20;

#[derive(Default)]
pub(crate) struct Log {
    /// Full pieces, and the open one.
    pieces: Vec<Vec<u8>>,
    /// Number of bytes of the full pieces.
    num_closed_bytes: usize,
    next_doc: u32,
}

/// A term of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    pub(crate) term: u32,
    pub(crate) position: u32,
}

impl Log {
    /// Returns the number of bytes in memory.
    pub(crate) fn num_bytes(&self) -> usize {
        self.num_closed_bytes + self.pieces.last().map_or(0, Vec::capacity)
    }

    fn begin(&mut self, doc: u32, number: u32, kind: u32, max_len: usize) -> &mut Vec<u8> {
        let max_len = max_len + 15;
        let open = self.pieces.last();
        if open.is_none_or(|open| open.capacity() - open.len() < max_len) {
            let len = open.map_or(MIN_PIECE, |open| 2 * open.capacity());
            self.num_closed_bytes += open.map_or(0, Vec::capacity);
            self.pieces
                .push(Vec::with_capacity(len.min(MAX_PIECE).max(max_len)));
        }
        let last = self.pieces.len() - 1;
        let out = &mut self.pieces[last];
        let num_left_out = doc - self.next_doc;
        self.next_doc = doc + 1;
        let header = u64::from(number) << 3 | u64::from(kind) << 1;
        match num_left_out {
            0 => put(header, out),
            _ => {
                put(header | 1, out);
                put(num_left_out.into(), out);
            }
        }
        out
    }

    /// Adds a document with these terms. Positions may be 0 where none are kept.
    pub(crate) fn add(&mut self, doc: u32, found: &[Occurrence], has_positions: bool) {
        let number = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let is_plain = !has_positions || (0..).zip(found).all(|(nth, one)| one.position == nth);
        if is_plain {
            let out = self.begin(doc, number, KIND_WORDS, 5 * found.len());
            for one in found {
                put(one.term.into(), out);
            }
            return;
        }
        let out = self.begin(doc, number, KIND_PLACED, 10 * found.len());
        let mut next = 0_u32;
        for one in found {
            put(one.term.into(), out);
            let difference = one.position.wrapping_sub(next) as i32;
            put(u64::from((difference << 1 ^ difference >> 31) as u32), out);
            next = one.position.wrapping_add(1);
        }
    }

    /// Adds a document of a shape, with the terms in its slots.
    pub(crate) fn add_shape(&mut self, doc: u32, shape: u32, slots: &[u32]) {
        let out = self.begin(doc, shape, KIND_SHAPE, 5 * slots.len());
        for term in slots {
            put((*term).into(), out);
        }
    }

    /// Passes on each document that has a shape.
    pub(crate) fn for_each_shape(&self, shapes: &Shapes, mut take: impl FnMut(u32, u32)) {
        self.for_each_doc(|doc, number, kind, reader| match kind {
            KIND_SHAPE => {
                take(doc, number);
                reader.skip(shapes.slots(number).len());
            }
            KIND_WORDS => reader.skip(number as usize),
            _ => reader.skip(2 * number as usize),
        });
    }

    /// Passes on each term of each document, but for the fixed words of shapes: document, term, position.
    #[inline]
    pub(crate) fn for_each(&self, shapes: &Shapes, mut take: impl FnMut(u32, u32, u32)) {
        self.for_each_doc(|doc, number, kind, reader| match kind {
            KIND_SHAPE => {
                for position in shapes.slots(number) {
                    take(doc, reader.varint(), *position);
                }
            }
            KIND_WORDS => {
                for position in 0..number {
                    take(doc, reader.varint(), position);
                }
            }
            _ => {
                let mut next = 0_u32;
                for _ in 0..number {
                    let term = reader.varint();
                    let zigzag = reader.varint();
                    let difference = zigzag >> 1 ^ (zigzag & 1).wrapping_neg();
                    let position = next.wrapping_add(difference);
                    take(doc, term, position);
                    next = position.wrapping_add(1);
                }
            }
        });
    }

    #[inline]
    fn for_each_doc(&self, mut take: impl FnMut(u32, u32, u32, &mut Reader<'_>)) {
        let mut next_doc = 0;
        for piece in &self.pieces {
            let mut reader = Reader {
                bytes: piece,
                at: 0,
            };
            while reader.at < piece.len() {
                let header = reader.varint_u64();
                let num_left_out = if header & 1 == 1 { reader.varint() } else { 0 };
                let doc = next_doc + num_left_out;
                take(
                    doc,
                    (header >> 3) as u32,
                    (header >> 1) as u32 & 3,
                    &mut reader,
                );
                next_doc = doc + 1;
            }
        }
    }
}

#[inline]
fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    #[inline]
    fn varint(&mut self) -> u32 {
        self.varint_u64() as u32
    }

    #[inline]
    fn varint_u64(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                break;
            }
            shift += 7;
        }
        number
    }

    fn skip(&mut self, num: usize) {
        for _ in 0..num {
            self.varint_u64();
        }
    }
}
