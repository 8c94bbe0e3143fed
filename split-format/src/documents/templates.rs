//! What the documents of a split have in common, said once: their shapes, and the texts that only variables tell apart.
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

/// What the documents of a split have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Templates {
    /// What documents consist of, as pieces. A block calls them by their place, from 1; 0 are documents of no such shape.
    pub shapes: Vec<Vec<u8>>,
    /// What texts consist of, as literals. They are called by their place, too, and 0 are texts that are none of these.
    pub texts: Vec<Vec<u8>>,
}

impl Templates {
    /// Encodes them; nothing if there are none.
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

    /// Decodes them.
    ///
    /// # Errors
    /// If the bytes are none.
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

/// A piece of a shape, as its reader takes it.
pub(super) enum Piece<'t> {
    /// The same bytes in each document.
    Literal(&'t [u8]),
    Text,
    /// A column says what its bytes are.
    Value,
}

impl<'t> Piece<'t> {
    /// The next piece of a shape.
    pub(super) fn read(shape: &mut Reader<'t>) -> Result<Self, FormatError> {
        Ok(match shape.varint()? {
            LITERAL => Self::Literal(shape.bytes()?),
            TEXT => Self::Text,
            _ => Self::Value,
        })
    }
}

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'d> {
    /// Bytes that most documents have here.
    Literal(&'d [u8]),
    /// A number, which is a varint of the least length in the document.
    Number(u64),
    /// Bytes, as many as most documents have here.
    Fixed(&'d [u8]),
    /// Bytes, behind a varint of the least length that says how many.
    Text(&'d [u8]),
}

impl Part<'_> {
    /// Appends the piece of a shape that documents with such a part have here.
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
