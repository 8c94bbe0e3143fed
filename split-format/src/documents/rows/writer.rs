//! Writer of blocks of rows, which [`RowsBlock`](super::RowsBlock) reads.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::super::column::{is_without_zeros, number_of};
use super::super::slots::{Dissector, SlotValue};
use super::super::templates::{Part, Templates};
use super::coder::{Encoder, WORD_NUM_BYTES};
use super::models::{
    BYTE, BytesModel, CLASS_BITS, END, IN_LETTERS, Models, NO_NUMBER, NUM_SYMBOLS_OF_LETTERS,
    NUM_SYMBOLS_OF_NUMBERS, NUM_SYMBOLS_OF_STRINGS, NumberModel, NumberSlot, NumberSymbol,
    OTHER_CLASS, Relation, SAME_NUMBER, SAME_STRING, SlotModel,
};
use super::row::Last;
use crate::codec::{put_varint, zigzag};

/// Writer of documents into rows.
#[derive(Debug)]
pub struct RowWriter {
    dissector: Dissector,
    models: Models,
    numbers: Vec<NumberCodes>,
    strings: Vec<StringCodes>,
    letters: Vec<LetterCodes>,
    last: Last,
    encoder: Encoder,
    num_docs: usize,
    num_bytes: usize,
    /// Lengths of the block's groups, in words.
    lens: Vec<u8>,
    groups: Vec<u8>,
}

impl RowWriter {
    pub(super) fn with_models(templates: Templates, mut models: Models) -> Self {
        models.number_lasts();
        Self {
            numbers: models.numbers.iter().map(NumberCodes::of).collect(),
            strings: models.strings.iter().map(StringCodes::of).collect(),
            letters: models.letters.iter().map(LetterCodes::of).collect(),
            last: Last::of(models.num_lasts),
            models,
            dissector: Dissector::new(templates),
            encoder: Encoder::default(),
            num_docs: 0,
            num_bytes: 0,
            lens: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Returns the templates of this writer.
    pub fn templates(&self) -> &Templates {
        self.dissector.templates()
    }

    /// Returns the models in the form of the split.
    pub fn models(&self) -> Vec<u8> {
        self.models.write()
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
        let mut row = Row {
            models: &self.models,
            numbers: &self.numbers,
            strings: &self.strings,
            letters: &self.letters,
            last: &mut self.last,
            encoder: &mut self.encoder,
        };
        self.dissector
            .dissect(document, parts, &mut |slot, value| row.put(slot, value));
        if self.num_docs.is_multiple_of(self.models.group_num_rows) {
            self.close_group();
        }
    }

    fn close_group(&mut self) {
        let before = self.groups.len();
        self.encoder.finish(&mut self.groups);
        let num_words = (self.groups.len() - before) / WORD_NUM_BYTES;
        put_varint(&mut self.lens, num_words as u64);
        self.last.clear();
    }

    /// Writes the documents since the last block as one, and starts the next.
    pub fn finish(&mut self) -> Vec<u8> {
        if !self.num_docs.is_multiple_of(self.models.group_num_rows) {
            self.close_group();
        }
        (self.num_bytes, self.num_docs) = (0, 0);
        let mut out = std::mem::take(&mut self.lens);
        out.append(&mut self.groups);
        out
    }
}

/// Encodes one row.
struct Row<'w> {
    models: &'w Models,
    numbers: &'w [NumberCodes],
    strings: &'w [StringCodes],
    letters: &'w [LetterCodes],
    last: &'w mut Last,
    encoder: &'w mut Encoder,
}

impl Row<'_> {
    fn put(&mut self, slot: usize, value: SlotValue<'_>) {
        match (self.models.slots.get(slot), value) {
            (Some(SlotModel::Numbers(numbers)), SlotValue::Number(number)) => {
                self.put_number(numbers, Some(number));
            }
            (
                Some(SlotModel::Decimals {
                    numbers,
                    width,
                    letters,
                }),
                SlotValue::Bytes(bytes),
            ) => {
                let number = decimal(bytes, *width);
                self.put_number(numbers, number);
                if number.is_none() {
                    self.put_letters(*letters, bytes);
                }
            }
            (
                Some(SlotModel::Strings {
                    strings,
                    letters,
                    is_repeating,
                }),
                SlotValue::Bytes(bytes),
            ) => self.put_string(slot, (*strings, *letters), *is_repeating, bytes),
            _ => debug_assert!(false, "a value of a slot that is none"),
        }
    }

    fn put_string(
        &mut self,
        slot: usize,
        (strings, letters): (usize, usize),
        is_repeating: bool,
        bytes: &[u8],
    ) {
        let model = self.models.strings.get(strings);
        let (Some(model), Some(codes)) = (model, self.strings.get(strings)) else {
            return;
        };
        let is_same = is_repeating && self.last.string(slot) == Some(bytes);
        let symbol = match is_same {
            true => SAME_STRING,
            false => codes.symbol_of(bytes),
        };
        model.alphabet.encode(symbol, self.encoder);
        if symbol == IN_LETTERS {
            self.put_letters(letters, bytes);
        }
        if is_repeating && !is_same {
            self.last.set_string(slot, bytes);
        }
    }

    fn put_number(&mut self, numbers: &NumberSlot, number: Option<u64>) {
        let model = self.models.numbers.get(numbers.model);
        let (Some(model), Some(codes)) = (model, self.numbers.get(numbers.model)) else {
            return;
        };
        let told = told(numbers, self.last.number(numbers), number);
        if let Some(number) = number {
            self.last.set_number(numbers, number);
        }
        codes.code(told).encode(model, self.encoder);
    }

    fn put_letters(&mut self, letters: usize, bytes: &[u8]) {
        let (Some(model), Some(codes)) =
            (self.models.letters.get(letters), self.letters.get(letters))
        else {
            return;
        };
        codes.for_each_symbol(model, bytes, |symbol, byte| {
            model.alphabet.encode(symbol, self.encoder);
            if symbol == BYTE {
                self.encoder.bits(u64::from(byte), u8::BITS);
            }
        });
    }
}

/// What a model of numbers describes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It is no number.
    NoNumber,
    /// It is the number before it.
    Same,
    Number(u64),
}

/// Returns what a model describes of a number, or of what is none.
pub(super) fn told(slot: &NumberSlot, last: Option<u64>, number: Option<u64>) -> Told {
    let Some(number) = number else {
        return Told::NoNumber;
    };
    Told::Number(match slot.relation {
        Relation::Repeating if last == Some(number) => return Told::Same,
        Relation::ToLast => zigzag(number.wrapping_sub(last.unwrap_or(slot.base)).cast_signed()),
        Relation::ToBase | Relation::Repeating => number.wrapping_sub(slot.base),
    })
}

/// Returns the number whose digits these are, with zeros before them up to a width, or none if it
/// is 0.
pub(super) fn decimal(bytes: &[u8], width: usize) -> Option<u64> {
    // Digits beyond the width have no zeros before them.
    let has_width = match width {
        0 => is_without_zeros(bytes),
        width => bytes.len() == width || bytes.len() > width && is_without_zeros(bytes),
    };
    number_of(bytes).filter(|_| has_width)
}

/// Symbol of a number, and the bits that follow it.
pub(super) struct NumberCode {
    pub(super) symbol: usize,
    class: u32,
    bits: u64,
}

impl NumberCode {
    fn encode(&self, model: &NumberModel, encoder: &mut Encoder) {
        model.alphabet.encode(self.symbol, encoder);
        if self.symbol == OTHER_CLASS {
            encoder.bits(u64::from(self.class), CLASS_BITS);
        }
        encoder.bits(self.bits, self.num_bits());
    }

    /// Returns the number of bits after the symbol and the class.
    pub(super) fn num_bits(&self) -> u32 {
        self.class.saturating_sub(1)
    }
}

/// Symbols of a model by number.
#[derive(Debug)]
pub(super) struct NumberCodes {
    exact: HashMap<u64, usize, FixedState>,
    classes: [usize; u64::BITS as usize + 1],
}

impl NumberCodes {
    pub(super) fn of(model: &NumberModel) -> Self {
        let mut codes = Self {
            exact: HashMap::default(),
            classes: [OTHER_CLASS; u64::BITS as usize + 1],
        };
        for (symbol, meaning) in (NUM_SYMBOLS_OF_NUMBERS..).zip(&model.symbols) {
            match meaning {
                NumberSymbol::Exactly(number) => {
                    codes.exact.insert(*number, symbol);
                }
                NumberSymbol::Class(class) => {
                    if let Some(of_class) = codes.classes.get_mut(*class as usize) {
                        *of_class = symbol;
                    }
                }
            }
        }
        codes
    }

    /// Returns the code of a number, or of what is none.
    pub(super) fn code(&self, told: Told) -> NumberCode {
        let only = |symbol: usize| NumberCode {
            symbol,
            class: 0,
            bits: 0,
        };
        let number = match told {
            Told::NoNumber => return only(NO_NUMBER),
            Told::Same => return only(SAME_NUMBER),
            Told::Number(number) => number,
        };
        if let Some(symbol) = self.exact.get(&number) {
            return only(*symbol);
        }
        let class = class_of(number);
        NumberCode {
            symbol: self
                .classes
                .get(class as usize)
                .copied()
                .unwrap_or(OTHER_CLASS),
            class,
            bits: match class {
                0 => 0,
                class => number ^ 1 << (class - 1),
            },
        }
    }
}

/// Returns the number of significant bits.
pub(super) fn class_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Symbols of a model by string.
#[derive(Debug)]
pub(super) struct StringCodes {
    symbols: HashMap<Vec<u8>, usize, FixedState>,
}

impl StringCodes {
    pub(super) fn of(model: &BytesModel) -> Self {
        let strings = (0..model.num_strings()).filter_map(|nth| {
            let string = model.string(nth)?;
            Some((string.to_vec(), nth + NUM_SYMBOLS_OF_STRINGS))
        });
        Self {
            symbols: strings.collect(),
        }
    }

    pub(super) fn symbol_of(&self, string: &[u8]) -> usize {
        self.symbols.get(string).copied().unwrap_or(IN_LETTERS)
    }
}

/// Symbols of a model of letters by their first two bytes.
#[derive(Debug)]
pub(super) struct LetterCodes {
    /// Strings of one byte.
    single: Vec<Option<usize>>,
    /// Longer strings, by their first two bytes, of equal ones the longest first.
    longer: Vec<LongString>,
    /// By the first byte of longer strings: where the entries of its second bytes begin in `ranges`.
    rows: Vec<Option<usize>>,
    /// By the second byte: the strings of `longer`.
    ranges: Vec<Range<usize>>,
}

/// A string of at least two bytes.
#[derive(Debug)]
struct LongString {
    nth: usize,
    len: usize,
    start: Start,
    /// The bits of `start` that are its own.
    mask: Start,
}

/// The first 24 bytes of a text, with zeros behind a shorter one. Strings that training finds are not longer.
type Start = [u64; 3];

const NUM_BYTE_VALUES: usize = 1 << u8::BITS;

impl LetterCodes {
    pub(super) fn of(model: &BytesModel) -> Self {
        let string = |nth: usize| model.string(nth).unwrap_or_default();
        let mut single = vec![None; NUM_BYTE_VALUES];
        let mut sorted: Vec<usize> = Vec::new();
        for nth in 0..model.num_strings() {
            match string(nth) {
                [byte] => {
                    if let Some(symbol) = single.get_mut(usize::from(*byte)) {
                        *symbol = Some(nth);
                    }
                }
                _ => sorted.push(nth),
            }
        }
        let key = |nth: usize| string(nth).first_chunk::<2>().copied();
        sorted.sort_by_key(|nth| (key(*nth), std::cmp::Reverse(string(*nth).len())));
        let mut rows = vec![None; NUM_BYTE_VALUES];
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (at, nth) in sorted.iter().enumerate() {
            let Some([first, second]) = key(*nth) else {
                continue;
            };
            if let Some(row) = rows.get_mut(usize::from(first)) {
                let start = *row.get_or_insert(ranges.len());
                ranges.resize(ranges.len().max(start + NUM_BYTE_VALUES), 0..0);
                if let Some(range) = ranges.get_mut(start + usize::from(second)) {
                    *range = if range.end == 0 { at } else { range.start }..at + 1;
                }
            }
        }
        let longer = sorted
            .into_iter()
            .map(|nth| LongString::of(nth, string(nth)));
        Self {
            single,
            longer: longer.collect(),
            rows,
            ranges,
        }
    }

    /// Returns the strings with the first two bytes of a text.
    fn longer(&self, text: &[u8]) -> &[LongString] {
        let strings = || {
            let [first, second] = text.first_chunk::<2>()?;
            let row = (*self.rows.get(usize::from(*first))?)?;
            let range = self.ranges.get(row + usize::from(*second))?;
            self.longer.get(range.clone())
        };
        strings().unwrap_or_default()
    }

    /// Calls `put` with the symbols of a text, the end included; each with its first byte.
    pub(super) fn for_each_symbol(
        &self,
        model: &BytesModel,
        mut text: &[u8],
        mut put: impl FnMut(usize, u8),
    ) {
        while let Some((first, rest)) = text.split_first() {
            let start = start_of(text);
            let longest = self.longer(text).iter().find_map(|string| {
                if !string.begins(&start) {
                    return None;
                }
                let rest = text.get(string.len..)?;
                let is_equal = string.len <= size_of::<Start>()
                    || model.string(string.nth) == text.get(..string.len);
                is_equal.then_some((string.nth + NUM_SYMBOLS_OF_LETTERS, rest))
            });
            let (symbol, rest) = longest.unwrap_or_else(|| {
                let single = self.single.get(usize::from(*first)).copied().flatten();
                (
                    single.map_or(BYTE, |nth| nth + NUM_SYMBOLS_OF_LETTERS),
                    rest,
                )
            });
            put(symbol, *first);
            text = rest;
        }
        put(END, 0);
    }
}

impl LongString {
    fn of(nth: usize, string: &[u8]) -> Self {
        let len = string.len().min(size_of::<Start>());
        Self {
            nth,
            len: string.len(),
            start: start_of(string),
            mask: start_of([u8::MAX; size_of::<Start>()].get(..len).unwrap_or_default()),
        }
    }

    /// Returns whether a text that starts like this may begin with the string.
    #[inline]
    fn begins(&self, text: &Start) -> bool {
        let [a, b, c] = text;
        let [mask_a, mask_b, mask_c] = self.mask;
        [a & mask_a, b & mask_b, c & mask_c] == self.start
    }
}

fn start_of(text: &[u8]) -> Start {
    let mut words = [0; 3];
    for (word, bytes) in words.iter_mut().zip(text.chunks(size_of::<u64>())) {
        *word = match bytes.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                let low = bytes.iter().rev();
                low.fold(0, |word, byte| word << u8::BITS | u64::from(*byte))
            }
        };
    }
    words
}
