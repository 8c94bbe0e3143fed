//! Decoder of one row.

use super::super::block::put_length_before;
use super::super::column::{extend, put_decimal};
use super::super::slots::{SHAPELESS, SHAPES};
use super::super::templates::Piece;
use super::coder::Decoder;
use super::models::{
    BYTE, CLASS_BITS, END, IN_LETTERS, NO_NUMBER, NUM_SYMBOLS_OF_LETTERS, NUM_SYMBOLS_OF_NUMBERS,
    NUM_SYMBOLS_OF_STRINGS, NumberModel, NumberSlot, NumberSymbol, OTHER_CLASS, Relation,
    SAME_NUMBER, SAME_STRING, SlotModel,
};
use super::reader::{RowContext, damaged};
use crate::FormatError;
use crate::codec::{Reader, put_varint, unzigzag};
use crate::version::DOCUMENTS_NAME;

/// Piece of a shape, read once for all rows.
#[derive(Clone, Debug)]
pub(super) enum RowPiece {
    Literal(Vec<u8>),
    Text,
    Number,
    Fixed,
}

impl RowPiece {
    /// Reads the pieces of a shape.
    ///
    /// # Errors
    /// The shape is damaged.
    pub(super) fn all_of(shape: &[u8]) -> Result<Vec<Self>, FormatError> {
        let mut pieces = Vec::new();
        let mut shape = Reader::new(DOCUMENTS_NAME, shape);
        while !shape.is_empty() {
            pieces.push(match Piece::read(&mut shape)? {
                Piece::Literal(literal) => Self::Literal(literal.to_vec()),
                Piece::Text => Self::Text,
                Piece::Number => Self::Number,
                Piece::Fixed => Self::Fixed,
            });
        }
        Ok(pieces)
    }
}

/// Values of the rows before, in a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Last {
    /// Last number of each slot that needs it.
    numbers: Vec<Option<u64>>,
    /// Last string of each slot that says whether it repeats itself, by slot; few slots do.
    strings: Vec<(usize, Vec<u8>)>,
}

impl Last {
    pub(super) fn of(num_lasts: usize) -> Self {
        Self {
            numbers: vec![None; num_lasts],
            strings: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.numbers.fill(None);
        self.strings.clear();
    }

    pub(super) fn number(&self, slot: &NumberSlot) -> Option<u64> {
        match slot.relation {
            Relation::ToBase => None,
            Relation::ToLast | Relation::Repeating => {
                self.numbers.get(slot.last).copied().flatten()
            }
        }
    }

    pub(super) fn set_number(&mut self, slot: &NumberSlot, number: u64) {
        if slot.relation != Relation::ToBase
            && let Some(last) = self.numbers.get_mut(slot.last)
        {
            *last = Some(number);
        }
    }

    pub(super) fn string(&self, slot: usize) -> Option<&[u8]> {
        let mut strings = self.strings.iter();
        strings.find_map(|(at, string)| (*at == slot).then_some(string.as_slice()))
    }

    pub(super) fn set_string(&mut self, slot: usize, string: &[u8]) {
        match self.strings.iter_mut().find(|(at, _)| *at == slot) {
            Some((_, last)) => {
                last.clear();
                last.extend_from_slice(string);
            }
            None => self.strings.push((slot, string.to_vec())),
        }
    }
}

/// Adds to the length of a document, which must not become too long.
fn count(len: &mut usize, num_bytes: usize, max_len: usize) -> Result<(), FormatError> {
    *len = len.saturating_add(num_bytes);
    match *len > max_len {
        true => Err(damaged()),
        false => Ok(()),
    }
}

/// Decoder of a row.
pub(super) struct Row<'r> {
    pub(super) context: &'r RowContext,
    pub(super) block: &'r [u8],
    pub(super) decoder: &'r mut Decoder,
    pub(super) last: &'r mut Last,
    pub(super) max_len: usize,
    /// Whether the row is only decoded because it stands before another.
    pub(super) is_passed: bool,
    /// Number of bytes of the row's literals and strings.
    pub(super) len: usize,
    /// The document, or, of a row that is passed, parts of it.
    pub(super) out: &'r mut Vec<u8>,
}

impl Row<'_> {
    /// Appends the document.
    pub(super) fn put(mut self) -> Result<(), FormatError> {
        let context = self.context;
        let Some(shape) = self.call(SHAPES)? else {
            return self.put_bytes(SHAPELESS);
        };
        let pieces = context.shapes.get(shape).ok_or_else(damaged)?;
        let slot = context.slots.of_shapes.get(shape).copied();
        let mut slot = slot.ok_or_else(damaged)?;
        for piece in pieces {
            match piece {
                RowPiece::Literal(literal) => self.append(literal)?,
                RowPiece::Number => {
                    let number = self.number_of(slot)?;
                    if !self.is_passed {
                        put_varint(self.out, number);
                    }
                    slot += 1;
                }
                RowPiece::Fixed => {
                    self.put_bytes(slot)?;
                    slot += 1;
                }
                RowPiece::Text => {
                    let from = self.out.len();
                    match self.call(slot)? {
                        None => self.put_bytes(slot + 1)?,
                        Some(text) => self.put_text(text)?,
                    }
                    slot += 2;
                    if !self.is_passed {
                        put_length_before(self.out, from);
                    }
                }
            }
        }
        match self.out.len() > self.max_len {
            true => Err(damaged()),
            false => Ok(()),
        }
    }

    /// Appends a text that uses a template.
    fn put_text(&mut self, text: usize) -> Result<(), FormatError> {
        let context = self.context;
        let literals = context.texts.get(text).ok_or_else(damaged)?;
        let slot = context.slots.of_texts.get(text).copied();
        let slot = slot.ok_or_else(damaged)?;
        let Some((first, rest)) = literals.split_first() else {
            return Ok(());
        };
        self.append(first)?;
        for (slot, literal) in (slot..).zip(rest) {
            self.put_bytes(slot)?;
            self.append(literal)?;
        }
        Ok(())
    }

    /// Appends bytes to the document, which must not become too long.
    fn append(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        count(&mut self.len, bytes.len(), self.max_len)?;
        match self.is_passed {
            true => Ok(()),
            false => extend(self.out, bytes).ok_or_else(damaged),
        }
    }

    /// Returns the template that a slot calls, if any.
    fn call(&mut self, slot: usize) -> Result<Option<usize>, FormatError> {
        let call = self.number_of(slot)?.checked_sub(1);
        call.map(|call| usize::try_from(call).map_err(|_| damaged()))
            .transpose()
    }

    fn number_of(&mut self, slot: usize) -> Result<u64, FormatError> {
        match self.context.models.slots.get(slot) {
            Some(SlotModel::Numbers(numbers)) => self.number(numbers)?.ok_or_else(damaged),
            _ => Err(damaged()),
        }
    }

    /// Returns the next number of a slot; `None` if its value is none.
    fn number(&mut self, numbers: &NumberSlot) -> Result<Option<u64>, FormatError> {
        let model = self.context.models.numbers.get(numbers.model);
        let model = model.ok_or_else(damaged)?;
        let symbol = model.alphabet.decode(self.block, self.decoder);
        let number = match symbol {
            NO_NUMBER => return Ok(None),
            SAME_NUMBER => return Ok(Some(self.last.number(numbers).ok_or_else(damaged)?)),
            symbol => self.above(model, symbol)?,
        };
        let number = match numbers.relation {
            Relation::ToBase | Relation::Repeating => numbers.base.wrapping_add(number),
            Relation::ToLast => {
                let last = self.last.number(numbers).unwrap_or(numbers.base);
                last.wrapping_add_signed(unzigzag(number))
            }
        };
        self.last.set_number(numbers, number);
        Ok(Some(number))
    }

    /// Returns the next bits, of which there are at most 32.
    fn bits(&mut self, num_bits: u32) -> Result<u32, FormatError> {
        u32::try_from(self.decoder.bits(self.block, num_bits)).map_err(|_| damaged())
    }

    fn above(&mut self, model: &NumberModel, symbol: usize) -> Result<u64, FormatError> {
        let class = match symbol {
            OTHER_CLASS => self.bits(CLASS_BITS)?,
            symbol => match model.symbols.get(symbol - NUM_SYMBOLS_OF_NUMBERS) {
                Some(NumberSymbol::Exactly(number)) => return Ok(*number),
                Some(NumberSymbol::Class(class)) => *class,
                None => return Err(damaged()),
            },
        };
        let Some(num_bits) = class.checked_sub(1) else {
            return Ok(0);
        };
        if class > u64::BITS {
            return Err(damaged());
        }
        Ok(1 << num_bits | self.decoder.bits(self.block, num_bits))
    }

    /// Appends the next value of a slot of bytes.
    fn put_bytes(&mut self, slot: usize) -> Result<(), FormatError> {
        match self.context.models.slots.get(slot) {
            Some(SlotModel::Decimals {
                numbers,
                width,
                letters,
            }) => {
                match self.number(numbers)? {
                    None => self.put_letters(*letters)?,
                    Some(_) if self.is_passed => {}
                    Some(number) => put_decimal(self.out, number, *width),
                }
                Ok(())
            }
            Some(SlotModel::Strings {
                strings,
                letters,
                is_repeating: false,
            }) => self.put_string(slot, *strings, *letters),
            Some(SlotModel::Strings {
                strings, letters, ..
            }) => {
                // The next row may repeat the string of one that is passed.
                let is_passed = std::mem::take(&mut self.is_passed);
                let from = self.out.len();
                self.put_string(slot, *strings, *letters)?;
                self.is_passed = is_passed;
                let string = self.out.get(from..).unwrap_or_default();
                self.last.set_string(slot, string);
                Ok(())
            }
            _ => Err(damaged()),
        }
    }

    fn put_string(
        &mut self,
        slot: usize,
        strings: usize,
        letters: usize,
    ) -> Result<(), FormatError> {
        let model = self.context.models.strings.get(strings);
        let model = model.ok_or_else(damaged)?;
        match model.alphabet.decode(self.block, self.decoder) {
            IN_LETTERS => self.put_letters(letters),
            SAME_STRING => {
                let string = self.last.string(slot).ok_or_else(damaged)?;
                count(&mut self.len, string.len(), self.max_len)?;
                extend(self.out, string).ok_or_else(damaged)
            }
            symbol => {
                let string = model.string(symbol - NUM_SYMBOLS_OF_STRINGS);
                self.append(string.ok_or_else(damaged)?)
            }
        }
    }

    fn put_letters(&mut self, letters: usize) -> Result<(), FormatError> {
        let model = self.context.models.letters.get(letters);
        let model = model.ok_or_else(damaged)?;
        // A symbol of all frequencies takes no bits; but each has bytes, so that the limit ends this.
        loop {
            match model.alphabet.decode(self.block, self.decoder) {
                END => return Ok(()),
                BYTE => {
                    let [byte, ..] = self.decoder.bits(self.block, u8::BITS).to_le_bytes();
                    self.append(&[byte])?;
                }
                symbol => {
                    let string = model.string(symbol - NUM_SYMBOLS_OF_LETTERS);
                    self.append(string.ok_or_else(damaged)?)?;
                }
            }
        }
    }
}
