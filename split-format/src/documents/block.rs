//! Uncompressed block of documents: one column for each place where documents of a shape differ,
//! and one for each place where texts of a template differ.
//!
//! ```text
//!   shape of each document │ documents of no shape
//!     │ of each shape, in their order: columns of its pieces, in their order; of a text: template of each │ those of none
//!     │ of each template, in their order: columns of its variables, in their order
//! ```
//!
//! Columns without values are omitted.

use std::ops::Range;
use std::sync::Arc;

use super::column::{Column, extend};
use super::templates::{Piece, Templates};
use crate::FormatError;
use crate::codec::{Reader, put_varint};
use crate::version::DOCUMENTS_NAME;

/// Maximum size of documents kept in memory for reading backwards. Blocks are a tenth of that. A
/// larger block is decoded from its start again, since a few bytes of a block can use long
/// templates any number of times.
const MAX_KEPT_NUM_BYTES: usize = 16 << 20;

/// Documents of a block, assembled on demand, so that reading one of hundreds does not pay for all.
/// Reading forwards costs no more than assembling all at once.
#[derive(Clone, Debug)]
pub(super) struct ColumnsBlock {
    content: Vec<u8>,
    templates: Arc<Templates>,
    num_docs: usize,
    max_len: usize,
    /// Columns of the documents from `next` on; `None` after a damaged document, which makes the
    /// rest unreadable.
    columns: Option<Columns>,
    next: usize,
    /// Bytes of the document before `next`, or of all documents from the first on.
    bytes: Vec<u8>,
    /// Ranges of all documents in `bytes`, if they are there.
    all: Option<Vec<Range<usize>>>,
}

impl ColumnsBlock {
    /// Reads the columns of a block from its uncompressed bytes.
    ///
    /// # Errors
    /// The bytes are not exactly those of `num_docs` documents. A document of more than `max_len`
    /// bytes is reported when it is read.
    pub(super) fn open(
        content: Vec<u8>,
        num_docs: u32,
        templates: &Arc<Templates>,
        max_len: usize,
    ) -> Result<Self, FormatError> {
        let num_docs = usize::try_from(num_docs).unwrap_or(usize::MAX);
        Ok(Self {
            columns: Some(Columns::read(&content, num_docs, templates)?),
            content,
            templates: Arc::clone(templates),
            num_docs,
            max_len,
            next: 0,
            bytes: Vec::new(),
            all: None,
        })
    }

    /// Returns a document by its index in the block. Reading backwards assembles all documents,
    /// once.
    ///
    /// # Errors
    /// The document does not exist, is damaged, or exceeds the maximum length of the split's
    /// documents.
    pub(super) fn get(&mut self, place: usize) -> Result<&[u8], FormatError> {
        if place >= self.num_docs {
            return Err(no_such_document());
        }
        if self.all.is_none() && place < self.next.saturating_sub(1) {
            self.go_back()?;
        }
        let document = match &self.all {
            Some(all) => all
                .get(place)
                .and_then(|range| self.bytes.get(range.clone())),
            None => {
                if place >= self.next {
                    self.put_one(place)?;
                }
                Some(self.bytes.as_slice())
            }
        };
        document.ok_or_else(damaged)
    }

    #[cfg(test)]
    pub(super) fn kept_num_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn put_one(&mut self, place: usize) -> Result<(), FormatError> {
        let mut columns = self.columns.take().ok_or_else(damaged)?;
        columns.skip(place - self.next, &self.templates)?;
        self.bytes.clear();
        columns.put_document(
            &self.content,
            &self.templates,
            self.max_len,
            &mut self.bytes,
        )?;
        self.columns = Some(columns);
        self.next = place + 1;
        Ok(())
    }

    /// Assembles all documents, or starts again if they are too long to keep.
    fn go_back(&mut self) -> Result<(), FormatError> {
        let beginning = Columns::read(&self.content, self.num_docs, &self.templates)?;
        let mut columns = beginning.clone();
        // There are at most as many documents as bytes: each has a shape.
        let (mut bytes, mut all) = (Vec::new(), Vec::with_capacity(self.num_docs));
        for _ in 0..self.num_docs {
            let start = bytes.len();
            columns.put_document(&self.content, &self.templates, self.max_len, &mut bytes)?;
            all.push(start..bytes.len());
            if bytes.len() > MAX_KEPT_NUM_BYTES {
                (self.columns, self.next) = (Some(beginning), 0);
                return Ok(());
            }
        }
        (self.bytes, self.all) = (bytes, Some(all));
        Ok(())
    }
}

#[derive(Clone, Debug)]
struct Columns {
    shapes: Column,
    /// Columns: first that of documents without a shape, then those of shapes and of texts. A text
    /// has two: its templates, and the texts without a template.
    values: Vec<Column>,
    /// Start of each shape's columns in `values`.
    of_shapes: Vec<usize>,
    of_texts: Vec<usize>,
}

fn damaged() -> FormatError {
    FormatError::new(
        DOCUMENTS_NAME,
        "a block calls a template that is none, or is too long",
    )
}

/// Counts the uses of each template; the first entry counts uses of none.
fn count(calls: &[u64], counts: &mut [usize]) -> Result<(), FormatError> {
    for call in calls {
        let place = usize::try_from(*call).unwrap_or(usize::MAX);
        *counts.get_mut(place).ok_or_else(damaged)? += 1;
    }
    Ok(())
}

impl Columns {
    fn read(content: &[u8], num_docs: usize, templates: &Templates) -> Result<Self, FormatError> {
        let mut whole = Reader::new(DOCUMENTS_NAME, content);
        let reader = &mut whole;
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
                    Piece::Number | Piece::Fixed => read.values.push(Column::read(reader, *num)?),
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
        whole.finish()?;
        Ok(read)
    }

    /// Skips documents.
    fn skip(&mut self, num_docs: usize, templates: &Templates) -> Result<(), FormatError> {
        if num_docs == 0 {
            return Ok(());
        }
        let mut counts = vec![0; templates.shapes.len() + 1];
        let mut text_counts = vec![0; templates.texts.len() + 1];
        count(self.shapes.first_numbers(num_docs)?, &mut counts)?;
        self.shapes.skip(num_docs).ok_or_else(damaged)?;
        self.skip_values(0, counts.first().copied().unwrap_or(0))?;
        let of_shapes = std::mem::take(&mut self.of_shapes);
        let shapes = of_shapes.iter().zip(&templates.shapes);
        for ((at, shape), num) in shapes.zip(counts.iter().skip(1)) {
            if *num > 0 {
                self.skip_shape(*at, shape, *num, &mut text_counts)?;
            }
        }
        self.of_shapes = of_shapes;
        let of_texts = std::mem::take(&mut self.of_texts);
        let ends = of_texts.iter().skip(1).copied().chain([self.values.len()]);
        for ((from, to), num) in of_texts.iter().zip(ends).zip(text_counts.iter().skip(1)) {
            for at in *from..to {
                self.skip_values(at, *num)?;
            }
        }
        self.of_texts = of_texts;
        Ok(())
    }

    /// Skips the values of documents with this shape, whose columns begin at `at`.
    fn skip_shape(
        &mut self,
        mut at: usize,
        shape: &[u8],
        num_docs: usize,
        text_counts: &mut [usize],
    ) -> Result<(), FormatError> {
        let mut shape = Reader::new(DOCUMENTS_NAME, shape);
        while !shape.is_empty() {
            match Piece::read(&mut shape)? {
                Piece::Literal(_) => {}
                Piece::Number | Piece::Fixed => {
                    self.skip_values(at, num_docs)?;
                    at += 1;
                }
                Piece::Text => {
                    let calls = self.values.get(at).ok_or_else(damaged)?;
                    let before = text_counts.first().copied().unwrap_or(0);
                    count(calls.first_numbers(num_docs)?, text_counts)?;
                    let after = text_counts.first().copied().unwrap_or(0);
                    self.skip_values(at, num_docs)?;
                    self.skip_values(at + 1, after - before)?;
                    at += 2;
                }
            }
        }
        Ok(())
    }

    fn skip_values(&mut self, column: usize, num: usize) -> Result<(), FormatError> {
        let column = self.values.get_mut(column);
        column
            .and_then(|column| column.skip(num))
            .ok_or_else(damaged)
    }

    /// Appends the next document.
    fn put_document(
        &mut self,
        content: &[u8],
        templates: &Templates,
        max_len: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let shape = self.shapes.next_number().ok_or_else(damaged)?;
        let Some(shape) = shape.checked_sub(1).and_then(|at| usize::try_from(at).ok()) else {
            return self.put(0, content, out);
        };
        let mut at = self.of_shapes.get(shape).copied().unwrap_or(usize::MAX);
        let pieces = templates.shapes.get(shape).map_or(&[][..], Vec::as_slice);
        let mut pieces = Reader::new(DOCUMENTS_NAME, pieces);
        while !pieces.is_empty() {
            match Piece::read(&mut pieces)? {
                Piece::Literal(literal) => extend(out, literal).ok_or_else(damaged)?,
                Piece::Number | Piece::Fixed => {
                    self.put(at, content, out)?;
                    at += 1;
                }
                Piece::Text => {
                    let from = out.len();
                    let call = self.values.get_mut(at).and_then(Column::next_number);
                    match call.ok_or_else(damaged)?.checked_sub(1) {
                        None => self.put(at + 1, content, out)?,
                        Some(text) => self.put_text(text, content, templates, out)?,
                    }
                    at += 2;
                    put_length_before(out, from);
                }
            }
            // Templates may be long, and used often.
            if out.len() > max_len {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// Appends a text that uses a template.
    fn put_text(
        &mut self,
        text: u64,
        content: &[u8],
        templates: &Templates,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let text = usize::try_from(text).unwrap_or(usize::MAX);
        let literals = templates.texts.get(text).ok_or_else(damaged)?;
        let mut literals = Reader::new(DOCUMENTS_NAME, literals);
        extend(out, literals.bytes()?).ok_or_else(damaged)?;
        let mut at = self.of_texts.get(text).copied().unwrap_or(usize::MAX);
        while !literals.is_empty() {
            self.put(at, content, out)?;
            at += 1;
            extend(out, literals.bytes()?).ok_or_else(damaged)?;
        }
        Ok(())
    }

    /// Appends the next value of a column.
    fn put(&mut self, column: usize, content: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
        let column = self.values.get_mut(column);
        column
            .and_then(|column| column.append(content, out))
            .ok_or_else(damaged)
    }
}

/// Returns the error of documents that do not exist.
pub(super) fn no_such_document() -> FormatError {
    FormatError::new(DOCUMENTS_NAME, "a block has no such document")
}

/// Inserts the length of the bytes from `from` before them.
pub(super) fn put_length_before(bytes: &mut Vec<u8>, from: usize) {
    let end = bytes.len();
    put_varint(bytes, (end - from) as u64);
    let len_bytes = bytes.len() - end;
    if let Some(text) = bytes.get_mut(from..) {
        text.rotate_right(len_bytes);
    }
}
