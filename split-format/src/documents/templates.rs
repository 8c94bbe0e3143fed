//! Common parts of a split's documents, stored once: shapes, and texts that only differ in
//! variables.
//!
//! ```text
//!   number of shapes │ length · pieces │ … │ number of texts │ length · literals │ …
//!
//!   piece      0 · length · bytes   documents begin, or go on, with these bytes
//!              1                    a text, its length before it
//!              2                    a number, as a varint
//!              3 + n                n bytes
//!   literal    length · bytes       a variable is between each two
//! ```

use crate::FormatError;
use crate::codec::{Reader, Writer, put_bytes, put_varint};
use crate::version::DOCUMENTS_NAME;

const LITERAL: u64 = 0;
const TEXT: u64 = 1;
const NUMBER: u64 = 2;
const FIXED: u64 = 3;

/// Common parts of a split's documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Templates {
    /// Shapes of documents, as pieces. Blocks refer to them by index from 1; 0 is a document
    /// without a shape.
    pub shapes: Vec<Vec<u8>>,
    /// Templates of texts, as literals. Blocks refer to them by index from 1; 0 is a text without a
    /// template.
    pub texts: Vec<Vec<u8>>,
}

impl Templates {
    /// Encodes the templates; empty if there are none.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        if *self != Self::default() {
            for templates in [&self.shapes, &self.texts] {
                out.varint(templates.len() as u64);
                templates.iter().for_each(|template| out.bytes(template));
            }
        }
        out.into_bytes()
    }

    /// Decodes templates.
    ///
    /// # Errors
    /// The bytes are invalid.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut opened = Self::default();
        if bytes.is_empty() {
            return Ok(opened);
        }
        let mut reader = Reader::new(DOCUMENTS_NAME, bytes);
        for templates in [&mut opened.shapes, &mut opened.texts] {
            for _ in 0..reader.varint()? {
                templates.push(reader.bytes()?.to_vec());
            }
        }
        reader.finish()?;
        Ok(opened)
    }
}

/// Piece of a shape, for readers.
pub(super) enum Piece<'t> {
    /// Bytes that are the same in each document.
    Literal(&'t [u8]),
    Text,
    /// Number, as a varint.
    Number,
    /// Bytes whose number is the same in each document.
    Fixed,
}

impl<'t> Piece<'t> {
    /// Reads the next piece of a shape.
    pub(super) fn read(shape: &mut Reader<'t>) -> Result<Self, FormatError> {
        Ok(match shape.varint()? {
            LITERAL => Self::Literal(shape.bytes()?),
            TEXT => Self::Text,
            NUMBER => Self::Number,
            _ => Self::Fixed,
        })
    }
}

/// Part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'d> {
    /// Bytes that most documents have here.
    Literal(&'d [u8]),
    /// Number, stored as the shortest varint.
    Number(u64),
    /// Bytes of a length that most documents have here.
    Fixed(&'d [u8]),
    /// Bytes after the shortest varint of their length.
    Text(&'d [u8]),
}

impl Part<'_> {
    /// Appends the piece of a shape for this part.
    pub(super) fn put_piece(&self, shape: &mut Vec<u8>) {
        match self {
            Self::Literal(literal) => {
                put_varint(shape, LITERAL);
                put_bytes(shape, literal);
            }
            Self::Text(_) => put_varint(shape, TEXT),
            Self::Number(_) => put_varint(shape, NUMBER),
            Self::Fixed(value) => put_varint(shape, FIXED + value.len() as u64),
        }
    }
}
