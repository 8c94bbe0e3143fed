//! Writer of blocks, which [`DocumentsBlock`](super::DocumentsBlock) reads.

use std::collections::HashMap;
use std::ops::Range;

use xxhash_rust::xxh3::Xxh3DefaultBuilder;

use super::column::{Values, varint_len, write_numbers};
use super::templates::{Part, Templates};
use super::variables::{MAX_TEXT_NUM_BYTES, variables};
use crate::codec::put_bytes;

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

type Places = HashMap<Vec<u8>, usize, Xxh3DefaultBuilder>;

/// Writer of documents into columns.
#[derive(Debug)]
pub struct BlockWriter {
    templates: Templates,
    shape_places: Places,
    text_places: Places,
    key: Vec<u8>,
    /// The variables of a text.
    variables: Vec<Range<usize>>,
    scratch: Vec<u64>,
    num_bytes: usize,
    shapes: Vec<u64>,
    shapeless: Values,
    of_shapes: Vec<Vec<PieceValues>>,
    of_texts: Vec<Vec<Values>>,
}

/// Values of documents of a shape at one place. The first of them determines the kind.
#[derive(Clone, Debug)]
enum PieceValues {
    Same,
    Numbers(Vec<u64>),
    Fixed(Values),
    Texts(Vec<u64>, Values),
}

impl PieceValues {
    fn of(part: &Part<'_>) -> Self {
        match part {
            Part::Literal(_) => Self::Same,
            Part::Number(_) => Self::Numbers(Vec::new()),
            Part::Fixed(_) => Self::Fixed(Values::default()),
            Part::Text(_) => Self::Texts(Vec::new(), Values::default()),
        }
    }
}

impl BlockWriter {
    /// Creates a writer with these templates.
    pub fn new(templates: Templates) -> Self {
        let places = |templates: &[Vec<u8>]| templates.iter().cloned().zip(0..).collect();
        Self {
            shape_places: places(&templates.shapes),
            text_places: places(&templates.texts),
            key: Vec::new(),
            variables: Vec::new(),
            scratch: Vec::new(),
            num_bytes: 0,
            shapes: Vec::new(),
            shapeless: Values::default(),
            of_shapes: vec![Vec::new(); templates.shapes.len()],
            of_texts: vec![Vec::new(); templates.texts.len()],
            templates,
        }
    }

    /// Returns the templates of this writer.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// Returns the number of documents since the last block.
    pub fn num_docs(&self) -> usize {
        self.shapes.len()
    }

    /// Returns the number of bytes of these documents.
    pub fn num_bytes(&self) -> usize {
        self.num_bytes
    }

    /// Adds a document that consists of these parts; without parts if they are unknown.
    pub fn add(&mut self, document: &[u8], parts: &[Part<'_>]) {
        self.num_bytes += document.len();
        self.key.clear();
        parts.iter().for_each(|part| part.put_piece(&mut self.key));
        let place = self.shape_places.get(&self.key).copied();
        let columns = place.and_then(|place| self.of_shapes.get_mut(place));
        let (Some(place), Some(columns), false) = (place, columns, parts.is_empty()) else {
            self.shapes.push(0);
            self.shapeless.push(document);
            return;
        };
        self.shapes.push(place as u64 + 1);
        if columns.is_empty() {
            columns.extend(parts.iter().map(PieceValues::of));
        }
        for (part, column) in parts.iter().zip(columns) {
            match (part, column) {
                (Part::Number(number), PieceValues::Numbers(numbers)) => numbers.push(*number),
                (Part::Fixed(value), PieceValues::Fixed(values)) => values.push(value),
                (Part::Text(text), PieceValues::Texts(calls, rest)) => {
                    self.key.clear();
                    let is_known = put_literals(&mut self.key, text, &mut self.variables);
                    let place = self.text_places.get(&self.key).copied();
                    let columns = place.and_then(|place| self.of_texts.get_mut(place));
                    match (place, columns, is_known) {
                        (Some(place), Some(columns), true) => {
                            calls.push(place as u64 + 1);
                            for (nth, variable) in self.variables.drain(..).enumerate() {
                                if nth == columns.len() {
                                    columns.push(Values::default());
                                }
                                if let Some(column) = columns.get_mut(nth) {
                                    column.push(text.get(variable).unwrap_or_default());
                                }
                            }
                        }
                        _ => {
                            calls.push(0);
                            rest.push(text);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Writes the documents since the last block as one, and starts the next.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        let put_values = |values: &mut Values, out: &mut Vec<u8>| {
            if !values.is_empty() {
                values.write(out);
                values.clear();
            }
        };
        let put_numbers = |numbers: &mut Vec<u64>, out: &mut Vec<u8>| {
            if !numbers.is_empty() {
                write_numbers(out, numbers, None);
                numbers.clear();
            }
        };
        write_numbers(&mut out, &self.shapes, None);
        self.shapes.clear();
        self.num_bytes = 0;
        put_values(&mut self.shapeless, &mut out);
        for column in self.of_shapes.iter_mut().flatten() {
            match column {
                PieceValues::Same => {}
                PieceValues::Numbers(numbers) => put_numbers(numbers, &mut out),
                PieceValues::Fixed(values) => put_values(values, &mut out),
                PieceValues::Texts(calls, rest) => {
                    put_numbers(calls, &mut out);
                    put_values(rest, &mut out);
                }
            }
        }
        for column in self.of_texts.iter_mut().flatten() {
            if !column.is_empty() {
                column.write_shortest(&mut out, &mut self.scratch);
                column.clear();
            }
        }
        out
    }
}

/// Appends the literals of a text, and sets `found` to its variables; returns `false` if it is too long for a template.
fn put_literals(key: &mut Vec<u8>, text: &[u8], found: &mut Vec<Range<usize>>) -> bool {
    found.clear();
    if text.len() > MAX_TEXT_NUM_BYTES {
        return false;
    }
    found.extend(variables(text));
    let mut from = 0;
    for variable in found.iter() {
        put_bytes(key, text.get(from..variable.start).unwrap_or_default());
        from = variable.end;
    }
    put_bytes(key, text.get(from..).unwrap_or_default());
    true
}

/// Returns the shape of documents like this one.
pub fn shape_of(parts: &[Part<'_>]) -> Vec<u8> {
    let mut shape = Vec::new();
    parts.iter().for_each(|part| part.put_piece(&mut shape));
    shape
}

/// Returns the template of texts like this one; `None` if it is too long for one.
pub fn template_of(text: &[u8]) -> Option<Vec<u8>> {
    let mut literals = Vec::new();
    put_literals(&mut literals, text, &mut Vec::new()).then_some(literals)
}
