//! A block of documents, uncompressed: columns, one for each place where documents of a shape differ, and one for each
//! where texts of a template do.
//!
//! ```text
//!   shape of each document │ documents of no shape
//!     │ of each shape, in their order: columns of its pieces, in their order; of a text: template of each │ those of none
//!     │ of each template, in their order: columns of its variables, in their order
//! ```
//!
//! What no document of the block has is left out.

use std::ops::Range;

use super::column::Column;
use super::templates::{Piece, Templates};
use crate::FormatError;
use crate::codec::{Reader, put_varint};
use crate::version::DOCUMENTS_NAME;

/// The documents of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentsBlock {
    bytes: Vec<u8>,
    documents: Vec<Range<usize>>,
}

impl DocumentsBlock {
    /// Puts the documents of a block together, from its uncompressed bytes.
    ///
    /// # Errors
    /// If they are not exactly so many, or have more than `max_len` bytes together.
    pub fn open(
        bytes: &[u8],
        num_docs: u32,
        templates: &Templates,
        max_len: usize,
    ) -> Result<Self, FormatError> {
        let mut reader = Reader::new(DOCUMENTS_NAME, bytes);
        let num_docs = usize::try_from(num_docs).unwrap_or(usize::MAX);
        let mut columns = Columns::read(&mut reader, num_docs, templates)?;
        reader.finish()?;
        let mut block = Self::default();
        while let Some(shape) = columns.shapes.next_number() {
            let start = block.bytes.len();
            columns.put_document(shape, templates, max_len, &mut block.bytes)?;
            block.documents.push(start..block.bytes.len());
        }
        Ok(block)
    }

    /// A document, by its place in the block.
    pub fn get(&self, place: usize) -> Option<&[u8]> {
        self.bytes.get(self.documents.get(place)?.clone())
    }
}

struct Columns<'b> {
    shapes: Column<'b>,
    /// First that of documents without a shape; then those of shapes, and of texts. A text has two: its templates, and
    /// those that are of none.
    values: Vec<Column<'b>>,
    /// Where those of each shape begin among them.
    of_shapes: Vec<usize>,
    of_texts: Vec<usize>,
}

fn damaged() -> FormatError {
    FormatError::new(
        DOCUMENTS_NAME,
        "a block calls a template that is none, or is too long",
    )
}

/// Adds how often each is called; the first is none of them.
fn count(calls: &[u64], counts: &mut [usize]) -> Result<(), FormatError> {
    for call in calls {
        let place = usize::try_from(*call).unwrap_or(usize::MAX);
        *counts.get_mut(place).ok_or_else(damaged)? += 1;
    }
    Ok(())
}

impl<'b> Columns<'b> {
    fn read(
        reader: &mut Reader<'b>,
        num_docs: usize,
        templates: &Templates,
    ) -> Result<Self, FormatError> {
        let mut counts = vec![0; templates.shapes.len() + 1];
        let mut text_counts = vec![0; templates.texts.len() + 1];
        let mut read = Self {
            shapes: Column::read(reader, num_docs)?,
            values: Vec::new(),
            of_shapes: Vec::new(),
            of_texts: Vec::new(),
        };
        count(read.shapes.numbers(), &mut counts)?;
        let num_shapeless = counts.first().copied().unwrap_or(0);
        read.values.push(Column::read(reader, num_shapeless)?);
        for (shape, num) in templates.shapes.iter().zip(counts.iter().skip(1)) {
            read.of_shapes.push(read.values.len());
            let mut shape = Reader::new(DOCUMENTS_NAME, shape);
            while !shape.is_empty() {
                match Piece::read(&mut shape)? {
                    Piece::Literal(_) => {}
                    Piece::Value => read.values.push(Column::read(reader, *num)?),
                    Piece::Text => {
                        let calls = Column::read(reader, *num)?;
                        let before = text_counts.first().copied().unwrap_or(0);
                        count(calls.numbers(), &mut text_counts)?;
                        let after = text_counts.first().copied().unwrap_or(0);
                        read.values.push(calls);
                        read.values.push(Column::read(reader, after - before)?);
                    }
                }
            }
        }
        for (text, num) in templates.texts.iter().zip(text_counts.iter().skip(1)) {
            read.of_texts.push(read.values.len());
            let mut literals = Reader::new(DOCUMENTS_NAME, text);
            literals.bytes()?;
            while !literals.is_empty() {
                literals.bytes()?;
                read.values.push(Column::read(reader, *num)?);
            }
        }
        Ok(read)
    }

    /// Appends the next document, which has this shape.
    fn put_document(
        &mut self,
        shape: u64,
        templates: &Templates,
        max_len: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let Some(shape) = shape.checked_sub(1).and_then(|at| usize::try_from(at).ok()) else {
            return self.put(0, out);
        };
        let mut at = self.of_shapes.get(shape).copied().unwrap_or(usize::MAX);
        let pieces = templates.shapes.get(shape).map_or(&[][..], Vec::as_slice);
        let mut pieces = Reader::new(DOCUMENTS_NAME, pieces);
        while !pieces.is_empty() {
            match Piece::read(&mut pieces)? {
                Piece::Literal(literal) => out.extend_from_slice(literal),
                Piece::Value => {
                    self.put(at, out)?;
                    at += 1;
                }
                Piece::Text => {
                    let from = out.len();
                    let call = self.values.get_mut(at).and_then(Column::next_number);
                    match call.ok_or_else(damaged)?.checked_sub(1) {
                        None => self.put(at + 1, out)?,
                        Some(text) => self.put_text(text, templates, out)?,
                    }
                    at += 2;
                    put_length_before(out, from);
                }
            }
            // Templates may be long, and be called often.
            if out.len() > max_len {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// Appends a text of a template.
    fn put_text(
        &mut self,
        text: u64,
        templates: &Templates,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let text = usize::try_from(text).unwrap_or(usize::MAX);
        let literals = templates.texts.get(text).ok_or_else(damaged)?;
        let mut literals = Reader::new(DOCUMENTS_NAME, literals);
        out.extend_from_slice(literals.bytes()?);
        let mut at = self.of_texts.get(text).copied().unwrap_or(usize::MAX);
        while !literals.is_empty() {
            self.put(at, out)?;
            at += 1;
            out.extend_from_slice(literals.bytes()?);
        }
        Ok(())
    }

    /// Appends the next value of a column.
    fn put(&mut self, column: usize, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let column = self.values.get_mut(column);
        column
            .and_then(|column| column.append(out))
            .ok_or_else(damaged)
    }
}

/// Puts before the bytes from `from` on how many they are.
fn put_length_before(bytes: &mut Vec<u8>, from: usize) {
    let end = bytes.len();
    put_varint(bytes, (end - from) as u64);
    let len_bytes = bytes.len() - end;
    if let Some(text) = bytes.get_mut(from..) {
        text.rotate_right(len_bytes);
    }
}
