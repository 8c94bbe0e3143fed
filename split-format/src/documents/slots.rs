//! Slots: the places at which documents and texts of a split differ, numbered.
//!
//! ```text
//!   0 shape of the document │ 1 document without a shape
//!     │ of each shape, for each of its pieces but literals: the value; of a text: its template, the text without a template
//!     │ of each template of texts: its variables
//! ```
//!
//! A document is the values of some slots in a defined order: first its shape, then for each piece of
//! the shape the piece's slots, and after a call of a template those of the template.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::templates::{Part, Piece, Templates};
use super::variables::{MAX_TEXT_NUM_BYTES, variables};
use crate::codec::{Reader, put_bytes};
use crate::version::DOCUMENTS_NAME;

/// Slot of the shape of each document.
pub(super) const SHAPES: usize = 0;

/// Slot of documents without a shape.
pub(super) const SHAPELESS: usize = 1;

/// Values that a slot has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotKind {
    /// Numbers: of a shape or template, or varints of documents.
    Numbers,
    /// Bytes without known structure.
    Bytes,
    /// Bytes that are often digits.
    Variables,
}

/// Numbering of slots.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    pub(super) kinds: Vec<SlotKind>,
    /// First slot of each shape.
    pub(super) of_shapes: Vec<usize>,
    /// First slot of each template of texts.
    pub(super) of_texts: Vec<usize>,
}

impl Slots {
    /// Numbers the slots of these templates, each as far as it is valid; readers find the damage of
    /// others themselves.
    pub(super) fn of(templates: &Templates) -> Self {
        let mut kinds = vec![SlotKind::Numbers, SlotKind::Bytes];
        let mut of_shapes = Vec::with_capacity(templates.shapes.len());
        for shape in &templates.shapes {
            of_shapes.push(kinds.len());
            let mut shape = Reader::new(DOCUMENTS_NAME, shape);
            while let Ok(piece) = Piece::read(&mut shape) {
                match piece {
                    Piece::Literal(_) => {}
                    Piece::Number => kinds.push(SlotKind::Numbers),
                    Piece::Fixed => kinds.push(SlotKind::Bytes),
                    Piece::Text => kinds.extend([SlotKind::Numbers, SlotKind::Bytes]),
                }
            }
        }
        let mut of_texts = Vec::with_capacity(templates.texts.len());
        for text in &templates.texts {
            of_texts.push(kinds.len());
            let mut literals = Reader::new(DOCUMENTS_NAME, text);
            let _first = literals.bytes();
            while literals.bytes().is_ok() {
                kinds.push(SlotKind::Variables);
            }
        }
        Self {
            kinds,
            of_shapes,
            of_texts,
        }
    }
}

/// Value of a slot in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotValue<'d> {
    Number(u64),
    Bytes(&'d [u8]),
}

type Places = HashMap<Vec<u8>, usize, FixedState>;

/// Divides documents into the values of slots, for writers.
#[derive(Debug)]
pub(super) struct Dissector {
    templates: Templates,
    slots: Slots,
    shape_places: Places,
    text_places: Places,
    key: Vec<u8>,
    /// The variables of a text.
    variables: Vec<Range<usize>>,
}

impl Dissector {
    pub(super) fn new(templates: Templates) -> Self {
        let places = |templates: &[Vec<u8>]| templates.iter().cloned().zip(0..).collect();
        Self {
            shape_places: places(&templates.shapes),
            text_places: places(&templates.texts),
            slots: Slots::of(&templates),
            templates,
            key: Vec::new(),
            variables: Vec::new(),
        }
    }

    pub(super) fn templates(&self) -> &Templates {
        &self.templates
    }

    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Calls `put` with the slots of a document and their values, in the order in which a reader
    /// needs them. The document consists of `parts`, which are empty if they are unknown.
    pub(super) fn dissect<'d>(
        &mut self,
        document: &'d [u8],
        parts: &[Part<'d>],
        put: &mut impl FnMut(usize, SlotValue<'d>),
    ) {
        self.key.clear();
        parts.iter().for_each(|part| part.put_piece(&mut self.key));
        let place = self.shape_places.get(&self.key).copied();
        let first = place.and_then(|place| self.slots.of_shapes.get(place).copied());
        let (Some(place), Some(mut slot), false) = (place, first, parts.is_empty()) else {
            put(SHAPES, SlotValue::Number(0));
            put(SHAPELESS, SlotValue::Bytes(document));
            return;
        };
        put(SHAPES, SlotValue::Number(place as u64 + 1));
        for part in parts {
            match part {
                Part::Literal(_) => {}
                Part::Number(number) => {
                    put(slot, SlotValue::Number(*number));
                    slot += 1;
                }
                Part::Fixed(bytes) => {
                    put(slot, SlotValue::Bytes(bytes));
                    slot += 1;
                }
                Part::Text(text) => {
                    self.dissect_text(text, slot, put);
                    slot += 2;
                }
            }
        }
    }

    fn dissect_text<'d>(
        &mut self,
        text: &'d [u8],
        slot: usize,
        put: &mut impl FnMut(usize, SlotValue<'d>),
    ) {
        self.key.clear();
        let is_known = put_literals(&mut self.key, text, &mut self.variables);
        let place = self.text_places.get(&self.key).filter(|_| is_known);
        let first = place.and_then(|place| self.slots.of_texts.get(*place));
        let (Some(place), Some(first)) = (place, first) else {
            put(slot, SlotValue::Number(0));
            put(slot + 1, SlotValue::Bytes(text));
            return;
        };
        put(slot, SlotValue::Number(*place as u64 + 1));
        for (nth, variable) in self.variables.drain(..).enumerate() {
            let value = text.get(variable).unwrap_or_default();
            put(first + nth, SlotValue::Bytes(value));
        }
    }
}

/// Appends the literals of a text, and sets `found` to its variables; returns `false` if it is too
/// long for a template.
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
