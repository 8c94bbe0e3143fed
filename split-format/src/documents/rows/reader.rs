//! Block of rows, for readers.

use std::sync::Arc;

use super::super::block::no_such_document;
use super::super::slots::Slots;
use super::super::templates::Templates;
use super::coder::{Decoder, WORD_NUM_BYTES};
use super::models::Models;
use super::row::{Last, Row, RowPiece};
use crate::FormatError;
use crate::codec::Reader;
use crate::version::DOCUMENTS_NAME;

/// What readers of a split's rows know.
#[derive(Clone, Debug)]
pub(in super::super) struct RowContext {
    /// Pieces of each shape.
    pub(super) shapes: Vec<Vec<RowPiece>>,
    /// Literals of each template of texts.
    pub(super) texts: Vec<Vec<Vec<u8>>>,
    pub(super) slots: Slots,
    pub(super) models: Models,
}

impl RowContext {
    /// Reads the models of a split with these templates.
    ///
    /// # Errors
    /// The bytes are no models of these templates, or a template is damaged.
    pub(in super::super) fn open(
        templates: &Templates,
        models: &[u8],
    ) -> Result<Self, FormatError> {
        let slots = Slots::of(templates);
        let shapes = templates.shapes.iter().map(|shape| RowPiece::all_of(shape));
        let texts = templates.texts.iter().map(|text| {
            let mut literals = Vec::new();
            let mut text = Reader::new(DOCUMENTS_NAME, text);
            while !text.is_empty() {
                literals.push(text.bytes()?.to_vec());
            }
            Ok(literals)
        });
        Ok(Self {
            shapes: shapes.collect::<Result<_, _>>()?,
            texts: texts.collect::<Result<_, FormatError>>()?,
            models: Models::open(models, &slots)?,
            slots,
        })
    }
}

/// Block of rows.
#[derive(Clone, Debug)]
pub(in super::super) struct RowsBlock {
    content: Vec<u8>,
    context: Arc<RowContext>,
    num_docs: usize,
    max_len: usize,
    /// Start of each group in `content`, followed by the end of the last.
    groups: Vec<usize>,
    /// Row that `decoder` decodes next, with its group.
    next: usize,
    decoder: Option<Decoder>,
    last: Last,
    /// The row before `next`.
    bytes: Vec<u8>,
}

pub(super) fn damaged() -> FormatError {
    FormatError::new(DOCUMENTS_NAME, "a row is damaged, or is too long")
}

impl RowsBlock {
    /// Finds the groups of a block. Zeros may follow them.
    ///
    /// # Errors
    /// The block ends before its groups do. Damaged rows are reported when they are read.
    pub(in super::super) fn open(
        content: Vec<u8>,
        num_docs: u32,
        context: &Arc<RowContext>,
        max_len: usize,
    ) -> Result<Self, FormatError> {
        let num_docs = usize::try_from(num_docs).unwrap_or(usize::MAX);
        let num_groups = num_docs.div_ceil(context.models.group_num_rows);
        let mut reader = Reader::new(DOCUMENTS_NAME, &content);
        if num_groups > reader.remaining() {
            return Err(reader.error("a block is cut short"));
        }
        let mut lens = Vec::with_capacity(num_groups);
        for _ in 0..num_groups {
            let len = reader.varint_u32()? as usize;
            lens.push(len.saturating_mul(WORD_NUM_BYTES));
        }
        let mut at = content.len() - reader.remaining();
        let mut groups = vec![at];
        for len in lens {
            reader.raw(len)?;
            at += len;
            groups.push(at);
        }
        Ok(Self {
            last: Last::of(context.models.num_lasts),
            context: Arc::clone(context),
            content,
            num_docs,
            max_len,
            groups,
            next: 0,
            decoder: None,
            bytes: Vec::new(),
        })
    }

    /// Returns a document by its index in the block. Rows of its group that precede it are decoded
    /// unless they were.
    ///
    /// # Errors
    /// The document does not exist, is damaged, or exceeds the maximum length of the split's
    /// documents.
    pub(in super::super) fn get(&mut self, place: usize) -> Result<&[u8], FormatError> {
        if place >= self.num_docs {
            return Err(no_such_document());
        }
        if self.decoder.is_none() || place + 1 != self.next {
            let decoded = self.decode_to(place);
            if decoded.is_err() {
                self.decoder = None;
            }
            decoded?;
        }
        Ok(&self.bytes)
    }

    fn decode_to(&mut self, place: usize) -> Result<(), FormatError> {
        let group_num_rows = self.context.models.group_num_rows;
        let group = place / group_num_rows;
        let first = group * group_num_rows;
        let goes_on = self.next > first && self.next <= place;
        let mut decoder = match self.decoder.filter(|_| goes_on) {
            Some(decoder) => decoder,
            None => {
                self.next = first;
                self.last.clear();
                match self.groups.get(group..) {
                    Some([start, end, ..]) => Decoder::new(&self.content, *start, *end),
                    _ => None,
                }
                .ok_or_else(damaged)?
            }
        };
        let context = Arc::clone(&self.context);
        while self.next <= place {
            self.bytes.clear();
            let row = Row {
                context: &context,
                block: &self.content,
                decoder: &mut decoder,
                last: &mut self.last,
                max_len: self.max_len,
                is_passed: self.next < place,
                len: 0,
                out: &mut self.bytes,
            };
            row.put()?;
            if !decoder.is_sound() {
                return Err(damaged());
            }
            self.next += 1;
        }
        // The last row of a group uses it up.
        let num_rows_after = self.num_docs.min(first + group_num_rows) - self.next;
        if num_rows_after == 0 && !decoder.is_at_end() {
            return Err(damaged());
        }
        self.decoder = Some(decoder);
        Ok(())
    }
}
