//! Models: what the values of a split's slots probably are. Written once, in the head.
//!
//! ```text
//!   rows of a group │ numbers: count × model │ strings: count × model │ letters: count × model │ a slot for each slot
//!
//!   model of numbers   alphabet │ of each symbol from the fourth: 0 · varint number │ 1 + class
//!   model of strings   alphabet │ of each symbol from the third: bytes
//!   model of letters   alphabet │ of each symbol from the third: bytes
//!   alphabet           number of symbols │ frequency of each but the last; together they are 2^14
//!
//!   slot   form + relation + 16 × model │ then
//!            0 numbers    varint base
//!            4 decimals   varint base · width · model of letters
//!            8 strings    model of letters
//!          relation: 0 none, 1 difference (not of strings), 2 may be the same
//! ```
//!
//! A number is what it is above the base; or, as a difference, the zigzag of what it is above the
//! slot's number before it in the group, or above the base. Of numbers, symbol 0 is something that is
//! no number, 1 a number of a class that has no symbol (its class follows in 7 bits), 2 the slot's
//! number before it. A class is the number of significant bits; all but the highest follow. Of
//! strings, symbol 0 is a text in letters, 1 the slot's string before it. Of letters, symbol 0 is the
//! end of the text, 1 a byte in 8 bits.

use super::super::slots::{SlotKind, Slots};
use super::MAX_GROUP_NUM_ROWS;
use super::alphabet::Alphabet;
use crate::FormatError;
use crate::codec::{Reader, put_bytes, put_varint};
use crate::version::DOCUMENTS_NAME;

/// Symbols of each model of numbers.
pub(super) const NO_NUMBER: usize = 0;
pub(super) const OTHER_CLASS: usize = 1;
pub(super) const SAME_NUMBER: usize = 2;
pub(super) const NUM_SYMBOLS_OF_NUMBERS: usize = 3;

/// Symbol of each model of strings.
pub(super) const IN_LETTERS: usize = 0;
pub(super) const SAME_STRING: usize = 1;
pub(super) const NUM_SYMBOLS_OF_STRINGS: usize = 2;

/// Symbols of each model of letters.
pub(super) const END: usize = 0;
pub(super) const BYTE: usize = 1;
pub(super) const NUM_SYMBOLS_OF_LETTERS: usize = 2;

/// Number of bits in which a class stands.
pub(super) const CLASS_BITS: u32 = 7;

/// Maximum number of digits of a number.
pub(super) const MAX_DIGITS: usize = 20;

const TO_BASE: u64 = 0;
const TO_LAST: u64 = 1;
const REPEATING: u64 = 2;
const RELATIONS: u64 = 3;
const DECIMALS: u64 = 4;
const STRINGS: u64 = 8;
const FORM_BITS: u32 = 4;

const UNKNOWN_FORM: &str = "a slot has no known form";

/// Model of one kind of values.
pub(super) trait Model {
    /// Encodes the model.
    fn write(&self, out: &mut Vec<u8>);

    /// Returns the encoded length.
    fn num_bytes(&self) -> usize {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes.len()
    }
}

/// Symbol of a model of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberSymbol {
    Exactly(u64),
    /// Numbers with this many significant bits.
    Class(u32),
}

/// Model of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NumberModel {
    pub(super) alphabet: Alphabet,
    /// Symbols from [`NUM_SYMBOLS_OF_NUMBERS`] on.
    pub(super) symbols: Vec<NumberSymbol>,
}

/// Model of strings, or of letters: symbols that stand for bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BytesModel {
    pub(super) alphabet: Alphabet,
    /// Bytes of the symbols that have some, one behind the other.
    bytes: Vec<u8>,
    /// Ends of these.
    ends: Vec<usize>,
}

impl BytesModel {
    pub(super) fn new(alphabet: Alphabet, strings: &[Vec<u8>]) -> Self {
        let mut model = Self {
            alphabet,
            bytes: Vec::new(),
            ends: Vec::new(),
        };
        strings.iter().for_each(|string| model.push(string));
        model
    }

    fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
    }

    /// Returns the bytes of a symbol by its index among those that have some.
    pub(super) fn string(&self, nth: usize) -> Option<&[u8]> {
        let end = *self.ends.get(nth)?;
        let start = match nth.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start..end)
    }

    pub(super) fn num_strings(&self) -> usize {
        self.ends.len()
    }
}

/// Use of a model of numbers by a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberSlot {
    pub(super) model: usize,
    pub(super) base: u64,
    pub(super) relation: Relation,
    /// Place of the number before among those of all slots that need theirs.
    pub(super) last: usize,
}

/// What a number is told in relation to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    ToBase,
    /// To the slot's number before it in the group, or the base.
    ToLast,
    /// To the base, or it is the one before it again.
    Repeating,
}

/// Models of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotModel {
    Numbers(NumberSlot),
    /// Digits with zeros before them up to a width, or none if it is 0.
    Decimals {
        numbers: NumberSlot,
        width: usize,
        letters: usize,
    },
    Strings {
        strings: usize,
        letters: usize,
        /// Whether a value may be said to be that before it.
        is_repeating: bool,
    },
}

/// Models of all slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Models {
    pub(super) group_num_rows: usize,
    pub(super) numbers: Vec<NumberModel>,
    pub(super) strings: Vec<BytesModel>,
    pub(super) letters: Vec<BytesModel>,
    pub(super) slots: Vec<SlotModel>,
    /// Number of slots that need the number before.
    pub(super) num_lasts: usize,
}

impl Models {
    /// Encodes the models.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.group_num_rows as u64);
        put_varint(&mut out, self.numbers.len() as u64);
        self.numbers.iter().for_each(|model| model.write(&mut out));
        for models in [&self.strings, &self.letters] {
            put_varint(&mut out, models.len() as u64);
            models.iter().for_each(|model| model.write(&mut out));
        }
        self.slots.iter().for_each(|slot| slot.write(&mut out));
        out
    }

    /// Decodes the models of these slots.
    ///
    /// # Errors
    /// The bytes are invalid, or are models of other slots.
    pub(in super::super) fn open(bytes: &[u8], slots: &Slots) -> Result<Self, FormatError> {
        let mut whole = Reader::new(DOCUMENTS_NAME, bytes);
        let reader = &mut whole;
        let group_num_rows = reader.varint_u32()? as usize;
        if !(1..=MAX_GROUP_NUM_ROWS).contains(&group_num_rows) {
            return Err(reader.error("a group has more rows than it may have, or none"));
        }
        let mut read = Self {
            group_num_rows,
            numbers: read_list(reader, NumberModel::read)?,
            strings: read_list(reader, |reader| {
                BytesModel::read(reader, NUM_SYMBOLS_OF_STRINGS, 0)
            })?,
            letters: read_list(reader, |reader| {
                BytesModel::read(reader, NUM_SYMBOLS_OF_LETTERS, 1)
            })?,
            slots: Vec::with_capacity(slots.kinds.len()),
            num_lasts: 0,
        };
        for kind in &slots.kinds {
            let slot = SlotModel::read(reader, *kind)?;
            if !read.has_models_of(&slot) {
                return Err(reader.error("a slot has a model that is none"));
            }
            read.slots.push(slot);
        }
        whole.finish()?;
        read.number_lasts();
        Ok(read)
    }

    /// Gives a place to the number before of each slot that needs it.
    pub(super) fn number_lasts(&mut self) {
        self.num_lasts = 0;
        for slot in &mut self.slots {
            if let SlotModel::Numbers(numbers) | SlotModel::Decimals { numbers, .. } = slot
                && numbers.relation != Relation::ToBase
            {
                numbers.last = self.num_lasts;
                self.num_lasts += 1;
            }
        }
    }

    fn has_models_of(&self, slot: &SlotModel) -> bool {
        let has_numbers = |slot: &NumberSlot| slot.model < self.numbers.len();
        let has_letters = |letters: &usize| *letters < self.letters.len();
        match slot {
            SlotModel::Numbers(numbers) => has_numbers(numbers),
            SlotModel::Decimals {
                numbers, letters, ..
            } => has_numbers(numbers) && has_letters(letters),
            SlotModel::Strings {
                strings, letters, ..
            } => *strings < self.strings.len() && has_letters(letters),
        }
    }
}

fn read_list<T>(
    reader: &mut Reader<'_>,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, FormatError>,
) -> Result<Vec<T>, FormatError> {
    let num = reader.count(1)?;
    (0..num).map(|_| read(reader)).collect()
}

impl Model for NumberModel {
    fn write(&self, out: &mut Vec<u8>) {
        self.alphabet.write(out);
        for symbol in &self.symbols {
            match symbol {
                NumberSymbol::Exactly(number) => {
                    put_varint(out, 0);
                    put_varint(out, *number);
                }
                NumberSymbol::Class(class) => put_varint(out, u64::from(*class) + 1),
            }
        }
    }
}

impl NumberModel {
    fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let alphabet = Alphabet::read(reader, NUM_SYMBOLS_OF_NUMBERS)?;
        let num = alphabet.num_symbols() - NUM_SYMBOLS_OF_NUMBERS;
        let mut symbols = Vec::with_capacity(num.min(reader.remaining()));
        for _ in 0..num {
            symbols.push(match reader.varint_u32()? {
                0 => NumberSymbol::Exactly(reader.varint()?),
                class if class <= u64::BITS + 1 => NumberSymbol::Class(class - 1),
                _ => return Err(reader.error("a number has more bits than can be")),
            });
        }
        Ok(Self { alphabet, symbols })
    }
}

impl Model for BytesModel {
    fn write(&self, out: &mut Vec<u8>) {
        self.alphabet.write(out);
        for nth in 0..self.num_strings() {
            put_bytes(out, self.string(nth).unwrap_or_default());
        }
    }
}

impl BytesModel {
    fn read(
        reader: &mut Reader<'_>,
        num_others: usize,
        min_num_bytes: usize,
    ) -> Result<Self, FormatError> {
        let alphabet = Alphabet::read(reader, num_others)?;
        let num = alphabet.num_symbols() - num_others;
        let mut model = Self::new(alphabet, &[]);
        for _ in 0..num {
            let string = reader.bytes()?;
            if string.len() < min_num_bytes {
                return Err(reader.error("a letter has no bytes"));
            }
            model.push(string);
        }
        Ok(model)
    }
}

impl SlotModel {
    fn write(&self, out: &mut Vec<u8>) {
        let form = |numbers: &NumberSlot| match numbers.relation {
            Relation::ToBase => TO_BASE,
            Relation::ToLast => TO_LAST,
            Relation::Repeating => REPEATING,
        };
        let mut put_form = |form: u64, model: usize| {
            put_varint(out, form | (model as u64) << FORM_BITS);
        };
        match self {
            Self::Numbers(numbers) => {
                put_form(form(numbers), numbers.model);
                put_varint(out, numbers.base);
            }
            Self::Decimals {
                numbers,
                width,
                letters,
            } => {
                put_form(DECIMALS | form(numbers), numbers.model);
                put_varint(out, numbers.base);
                put_varint(out, *width as u64);
                put_varint(out, *letters as u64);
            }
            Self::Strings {
                strings,
                letters,
                is_repeating,
            } => {
                let form = if *is_repeating { REPEATING } else { TO_BASE };
                put_form(STRINGS | form, *strings);
                put_varint(out, *letters as u64);
            }
        }
    }

    fn read(reader: &mut Reader<'_>, kind: SlotKind) -> Result<Self, FormatError> {
        let first = reader.varint_u32()?;
        let form = u64::from(first & ((1 << FORM_BITS) - 1));
        let model = (first >> FORM_BITS) as usize;
        let relation = match form & RELATIONS {
            TO_BASE => Relation::ToBase,
            TO_LAST => Relation::ToLast,
            REPEATING => Relation::Repeating,
            _ => return Err(reader.error(UNKNOWN_FORM)),
        };
        let slot = match form & !RELATIONS {
            STRINGS if relation != Relation::ToLast => Self::Strings {
                strings: model,
                letters: reader.varint_u32()? as usize,
                is_repeating: relation == Relation::Repeating,
            },
            form @ (0 | DECIMALS) => {
                let numbers = NumberSlot {
                    model,
                    base: reader.varint()?,
                    relation,
                    last: 0,
                };
                match form {
                    DECIMALS => Self::Decimals {
                        numbers,
                        width: reader.varint_u32()? as usize,
                        letters: reader.varint_u32()? as usize,
                    },
                    _ => Self::Numbers(numbers),
                }
            }
            _ => return Err(reader.error(UNKNOWN_FORM)),
        };
        let is_fit = match slot {
            Self::Numbers(_) => kind == SlotKind::Numbers,
            Self::Decimals { width, .. } => kind != SlotKind::Numbers && width <= MAX_DIGITS,
            Self::Strings { .. } => kind != SlotKind::Numbers,
        };
        match is_fit {
            true => Ok(slot),
            false => Err(reader.error("a slot has a form of other values")),
        }
    }
}
