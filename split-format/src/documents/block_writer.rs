//! Writer of blocks, which [`DocumentsBlock`](super::DocumentsBlock) reads.

use super::column::{Values, varint_len, write_numbers};
use super::slots::{Dissector, SlotKind, SlotValue};
use super::templates::{Part, Templates};

impl Part<'_> {
    /// Returns the number of bytes in a document.
    pub fn num_bytes(&self) -> usize {
        match self {
            Self::Literal(bytes) | Self::Fixed(bytes) => bytes.len(),
            Self::Number(number) => varint_len(*number),
            Self::Text(text) => varint_len(text.len() as u64) + text.len(),
        }
    }
}

/// Writer of documents into columns.
#[derive(Debug)]
pub struct BlockWriter {
    dissector: Dissector,
    scratch: Vec<u64>,
    num_bytes: usize,
    num_docs: usize,
    /// Values of each slot.
    columns: Vec<ColumnValues>,
}

#[derive(Clone, Debug)]
enum ColumnValues {
    Numbers(Vec<u64>),
    Bytes(Values),
    Variables(Values),
}

impl BlockWriter {
    /// Creates a writer with these templates.
    pub fn new(templates: Templates) -> Self {
        let dissector = Dissector::new(templates);
        let column = |kind: &SlotKind| match kind {
            SlotKind::Numbers => ColumnValues::Numbers(Vec::new()),
            SlotKind::Bytes => ColumnValues::Bytes(Values::default()),
            SlotKind::Variables => ColumnValues::Variables(Values::default()),
        };
        Self {
            columns: dissector.slots().kinds.iter().map(column).collect(),
            dissector,
            scratch: Vec::new(),
            num_bytes: 0,
            num_docs: 0,
        }
    }

    /// Returns the templates of this writer.
    pub fn templates(&self) -> &Templates {
        self.dissector.templates()
    }

    /// Returns the number of documents since the last block.
    pub fn num_docs(&self) -> usize {
        self.num_docs
    }

    /// Returns the number of bytes of these documents.
    pub fn num_bytes(&self) -> usize {
        self.num_bytes
    }

    /// Adds a document that consists of these parts; without parts if they are unknown.
    pub fn add(&mut self, document: &[u8], parts: &[Part<'_>]) {
        self.num_bytes += document.len();
        self.num_docs += 1;
        let columns = &mut self.columns;
        self.dissector
            .dissect(
                document,
                parts,
                &mut |slot, value| match (columns.get_mut(slot), value) {
                    (Some(ColumnValues::Numbers(numbers)), SlotValue::Number(number)) => {
                        numbers.push(number);
                    }
                    (
                        Some(ColumnValues::Bytes(values) | ColumnValues::Variables(values)),
                        SlotValue::Bytes(bytes),
                    ) => values.push(bytes),
                    _ => {}
                },
            );
    }

    /// Writes the documents since the last block as one, and starts the next.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        (self.num_bytes, self.num_docs) = (0, 0);
        for column in &mut self.columns {
            match column {
                ColumnValues::Numbers(numbers) if !numbers.is_empty() => {
                    write_numbers(&mut out, numbers, None);
                    numbers.clear();
                }
                ColumnValues::Bytes(values) if !values.is_empty() => {
                    values.write(&mut out);
                    values.clear();
                }
                ColumnValues::Variables(values) if !values.is_empty() => {
                    values.write_shortest(&mut out, &mut self.scratch);
                    values.clear();
                }
                _ => {}
            }
        }
        out
    }
}
