//! Column of a block: the values at one place in documents of one shape, or in texts of one
//! template.
//!
//! ```text
//!   form                    │
//!   0 varints               │ value, as a varint, …                          is a varint in the document
//!   1 varints, differences  │ zigzag varint of the difference, …             the same
//!   2 decimals              │ width │ as 0                                   is digits, with zeros before it up to the width
//!   3 decimals, differences │ width │ as 1                                   the same
//!   4 bytes                 │ length, as a varint, … │ bytes, …
//! ```

use crate::FormatError;
use crate::codec::{Reader, put_varint, zigzag};
use crate::version::DOCUMENTS_NAME;

const DIFFERENCES: u64 = 1;
const DECIMALS: u64 = 2;
const BYTES: u64 = 4;

/// Maximum number of digits of a number.
const MAX_DIGITS: usize = 20;

/// Maximum length of a varint in bytes.
const MAX_VARINT_NUM_BYTES: usize = 10;

/// Maximum number of digits that always fit into 64 bits.
const MAX_EXACT_DIGITS: usize = 19;

/// Values of a column, read from first to last.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    form: Form,
    /// Values, or their lengths.
    numbers: std::vec::IntoIter<u64>,
    /// Distance from the end of the block to the bytes of the next value.
    before_end: usize,
}

#[derive(Clone, Copy, Debug, Default)]
enum Form {
    #[default]
    Varints,
    Decimals(usize),
    Bytes,
}

impl Column {
    /// Reads a column of `num_values` values. A column without values is absent.
    pub(super) fn read(reader: &mut Reader<'_>, num_values: usize) -> Result<Self, FormatError> {
        if num_values == 0 {
            return Ok(Self::default());
        }
        let code = reader.varint()?;
        let form = match code {
            BYTES => Form::Bytes,
            code if code < DECIMALS => Form::Varints,
            code if code < BYTES => {
                let width = reader.varint_u32()? as usize;
                if width > MAX_DIGITS {
                    return Err(reader.error("a number has more digits than can be"));
                }
                Form::Decimals(width)
            }
            _ => return Err(reader.error("a column has no known form")),
        };
        if num_values > reader.remaining() {
            return Err(reader.error("a column is cut short"));
        }
        let is_differences = code != BYTES && code & DIFFERENCES != 0;
        let mut last = 0_u64;
        let mut sum = 0_usize;
        let mut numbers = Vec::with_capacity(num_values);
        for _ in 0..num_values {
            last = match is_differences {
                true => last.wrapping_add_signed(reader.varint_signed()?),
                false => reader.varint()?,
            };
            sum = sum.saturating_add(usize::try_from(last).unwrap_or(usize::MAX));
            numbers.push(last);
        }
        let before_end = reader.remaining();
        if let Form::Bytes = form {
            reader.raw(sum)?;
        }
        Ok(Self {
            form,
            numbers: numbers.into_iter(),
            before_end,
        })
    }

    /// Returns the next value of a column of numbers.
    pub(super) fn next_number(&mut self) -> Option<u64> {
        self.numbers.next()
    }

    /// Returns all remaining numbers.
    pub(super) fn numbers(&self) -> &[u64] {
        self.numbers.as_slice()
    }

    /// Returns the next `num` of the remaining numbers.
    ///
    /// # Errors
    /// There are fewer.
    pub(super) fn first_numbers(&self, num: usize) -> Result<&[u64], FormatError> {
        let error = || FormatError::new(DOCUMENTS_NAME, "a column is cut short");
        self.numbers.as_slice().get(..num).ok_or_else(error)
    }

    /// Skips `num` values; returns `None` if there are fewer.
    pub(super) fn skip(&mut self, num: usize) -> Option<()> {
        let skipped = self.numbers.as_slice().get(..num)?;
        if let Form::Bytes = self.form {
            let len = skipped.iter().sum::<u64>();
            self.before_end = self.before_end.checked_sub(usize::try_from(len).ok()?)?;
        }
        if let Some(last) = num.checked_sub(1) {
            self.numbers.nth(last);
        }
        Some(())
    }

    /// Appends the next value in the form of the document. `block` are the bytes that the column
    /// was read from. Returns `None` if no value is left.
    pub(super) fn append(&mut self, block: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let number = self.numbers.next()?;
        match self.form {
            Form::Varints => {
                out.try_reserve(MAX_VARINT_NUM_BYTES).ok()?;
                put_varint(out, number);
            }
            Form::Decimals(width) => {
                out.try_reserve(MAX_DIGITS).ok()?;
                put_decimal(out, number, width);
            }
            Form::Bytes => {
                let len = usize::try_from(number).ok()?;
                let from = block.len().checked_sub(self.before_end)?;
                extend(out, block.get(from..from.checked_add(len)?)?)?;
                self.before_end = self.before_end.checked_sub(len)?;
            }
        }
        Some(())
    }
}

/// Appends bytes; returns `None` if memory is exhausted. A few bytes may demand a long document.
pub(super) fn extend(out: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    out.try_reserve(bytes.len()).ok()?;
    out.extend_from_slice(bytes);
    Some(())
}

/// Appends the digits of a number, with zeros before them up to a width.
pub(super) fn put_decimal(out: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut digits = [b'0'; MAX_DIGITS];
    let mut num_digits = 0;
    for digit in digits.iter_mut().rev() {
        if number == 0 && num_digits >= width.max(1) {
            break;
        }
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        num_digits += 1;
    }
    out.extend_from_slice(digits.get(MAX_DIGITS - num_digits..).unwrap_or_default());
}

/// Consecutive values of any length.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    lens: Vec<u64>,
    bytes: Vec<u8>,
}

impl Values {
    pub(super) fn push(&mut self, value: &[u8]) {
        self.lens.push(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    pub(super) fn clear(&mut self) {
        self.lens.clear();
        self.bytes.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lens.is_empty()
    }

    /// Writes the values unchanged.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_varint(out, BYTES);
        for len in &self.lens {
            put_varint(out, *len);
        }
        out.extend_from_slice(&self.bytes);
    }

    /// Writes the values as numbers if each of them is one that survives the conversion.
    pub(super) fn write_shortest(&self, out: &mut Vec<u8>, scratch: &mut Vec<u64>) {
        match self.as_numbers(scratch) {
            Some(width) => write_numbers(out, scratch, Some(width)),
            None => self.write(out),
        }
    }

    /// Converts the values to numbers if they are decimals of a common width, and returns that
    /// width, or 0 if none has leading zeros.
    fn as_numbers(&self, numbers: &mut Vec<u64>) -> Option<usize> {
        numbers.clear();
        let first_len = *self.lens.first()?;
        let (mut is_one_width, mut is_plain) = (true, true);
        let mut rest = self.bytes.as_slice();
        for len in &self.lens {
            let value;
            (value, rest) = rest.split_at_checked(usize::try_from(*len).ok()?)?;
            numbers.push(number_of(value)?);
            is_one_width &= *len == first_len;
            is_plain &= is_without_zeros(value);
        }
        match (is_plain, is_one_width) {
            (true, _) => Some(0),
            (false, true) => usize::try_from(first_len).ok(),
            (false, false) => None,
        }
    }
}

/// Returns the number whose digits these are; `None` if they are none, or too many to be exact.
pub(super) fn number_of(digits: &[u8]) -> Option<u64> {
    let is_number = (1..=MAX_EXACT_DIGITS).contains(&digits.len());
    if !is_number || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = digits.iter().map(|digit| u64::from(digit - b'0'));
    Some(digits.fold(0, |number, digit| number * 10 + digit))
}

/// Returns whether digits have no zeros before them.
pub(super) fn is_without_zeros(digits: &[u8]) -> bool {
    digits.len() == 1 || digits.first() != Some(&b'0')
}

/// Writes a column of numbers in the shorter of two forms: decimals of a width, or varints.
pub(super) fn write_numbers(out: &mut Vec<u8>, numbers: &[u64], width: Option<usize>) {
    let differences = || {
        let before = std::iter::once(0).chain(numbers.iter().copied());
        let pairs = before.zip(numbers);
        pairs.map(|(before, number)| zigzag(number.wrapping_sub(before).cast_signed()))
    };
    let len = |numbers: &mut dyn Iterator<Item = u64>| numbers.map(varint_len).sum::<usize>();
    let is_shorter = len(&mut differences()) < len(&mut numbers.iter().copied());
    let decimals = if width.is_some() { DECIMALS } else { 0 };
    put_varint(out, decimals + u64::from(is_shorter));
    if let Some(width) = width {
        put_varint(out, width as u64);
    }
    match is_shorter {
        true => differences().for_each(|number| put_varint(out, number)),
        false => numbers.iter().for_each(|number| put_varint(out, *number)),
    }
}

/// Returns the length of a varint in bytes.
pub(super) fn varint_len(number: u64) -> usize {
    (u64::BITS - (number | 1).leading_zeros()).div_ceil(7) as usize
}
