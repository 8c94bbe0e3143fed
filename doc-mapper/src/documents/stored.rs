//! Stored form of a document: the values that hits show, in sequence.
//!
//! ```text
//!   value    varint: field · 8 + kind │ content by kind
//!
//!   0 text   varint length, UTF-8           4 bool   a byte
//!   1 u64    varint                         5 date   a byte: 0 ns, 1 µs, 2 ms, 3 s; zigzag varint of them
//!   2 i64    zigzag varint                  6 IP     16 bytes, IPv4 as `::ffff:a.b.c.d`
//!   3 f64    8 bytes, little-endian         7 bytes  varint length, bytes
//! ```
//!
//! A date uses the largest unit that represents it exactly, since nanoseconds look random to a
//! compressor. Field numbers are those of the segment's schema.

use std::fmt;
use std::net::Ipv6Addr;

use tantivy::schema::document::{CompactDocValue, ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, Schema, Value};
use tantivy::{DateTime, TantivyDocument};

pub(crate) const TEXT: u64 = 0;
pub(crate) const UNSIGNED: u64 = 1;
pub(crate) const SIGNED: u64 = 2;
pub(crate) const FLOAT: u64 = 3;
pub(crate) const BOOL: u64 = 4;
pub(crate) const DATE: u64 = 5;
pub(crate) const IP: u64 = 6;
pub(crate) const BYTES: u64 = 7;

/// Number of bits of a kind.
pub(crate) const KIND_BITS: u32 = 3;

/// Units of dates in nanoseconds.
const UNITS: [i64; 4] = [1, 1_000, 1_000_000, 1_000_000_000];

/// Reason for which bytes are no stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredError(&'static str);

impl fmt::Display for StoredError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a stored document: {}", self.0)
    }
}

impl std::error::Error for StoredError {}

/// Appends the stored values of a document.
///
/// # Errors
/// The document has a value of a type that the doc mapper never creates, which is a bug.
pub fn write_stored(
    document: &TantivyDocument,
    schema: &Schema,
    out: &mut Vec<u8>,
) -> Result<(), StoredError> {
    for (field, value) in document.field_values() {
        if schema.get_field_entry(field).is_stored() {
            write_value(field, value, out)?;
        }
    }
    Ok(())
}

fn write_value(
    field: Field,
    value: CompactDocValue<'_>,
    out: &mut Vec<u8>,
) -> Result<(), StoredError> {
    let ReferenceValue::Leaf(leaf) = value.as_value() else {
        return Err(StoredError("it has an object or a list"));
    };
    let mut begin = |kind: u64| varint(u64::from(field.field_id()) << KIND_BITS | kind, out);
    match leaf {
        ReferenceValueLeaf::Str(text) => {
            begin(TEXT);
            bytes(text.as_bytes(), out);
        }
        ReferenceValueLeaf::U64(number) => {
            begin(UNSIGNED);
            varint(number, out);
        }
        ReferenceValueLeaf::I64(number) => {
            begin(SIGNED);
            varint(zigzag(number), out);
        }
        ReferenceValueLeaf::F64(number) => {
            begin(FLOAT);
            out.extend_from_slice(&number.to_le_bytes());
        }
        ReferenceValueLeaf::Bool(is) => {
            begin(BOOL);
            out.push(u8::from(is));
        }
        ReferenceValueLeaf::Date(time) => {
            begin(DATE);
            date(time, out);
        }
        ReferenceValueLeaf::IpAddr(ip) => {
            begin(IP);
            out.extend_from_slice(&ip.octets());
        }
        ReferenceValueLeaf::Bytes(value) => {
            begin(BYTES);
            bytes(value, out);
        }
        ReferenceValueLeaf::Null
        | ReferenceValueLeaf::Facet(_)
        | ReferenceValueLeaf::PreTokStr(_)
        | ReferenceValueLeaf::Custom(_) => {
            return Err(StoredError("it has a value of no known kind"));
        }
    }
    Ok(())
}

/// Parses a stored document.
///
/// # Errors
/// The bytes are invalid.
pub fn read_stored(bytes: &[u8]) -> Result<TantivyDocument, StoredError> {
    read_stored_as(bytes, Some)
}

/// Parses a stored document, and renumbers its fields by `number_of`; fields without a number are
/// dropped.
///
/// # Errors
/// As [`read_stored`].
pub fn read_stored_as(
    bytes: &[u8],
    number_of: impl Fn(Field) -> Option<Field>,
) -> Result<TantivyDocument, StoredError> {
    let mut reader = Reader(bytes);
    let mut document = TantivyDocument::new();
    while !reader.0.is_empty() {
        let begin = reader.varint()?;
        // Field numbers in tantivy's documents have 16 bits.
        let field = u16::try_from(begin >> KIND_BITS)
            .map_err(|_| StoredError("a field has a number of more than 16 bits"))?;
        let field = number_of(Field::from_field_id(u32::from(field)));
        let kind = begin & ((1 << KIND_BITS) - 1);
        // Dropped values are parsed too.
        let mut nowhere = TantivyDocument::new();
        let (document, field) = match field {
            Some(field) => (&mut document, field),
            None => (&mut nowhere, Field::from_field_id(0)),
        };
        document.add_leaf_field_value(field, reader.leaf(kind)?);
    }
    Ok(document)
}

/// Value of a stored document, split by how its bytes vary between documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredValue<'d> {
    /// Start of the value: its field and kind, and the unit of a date.
    pub begin: &'d [u8],
    /// Rest of the value.
    pub content: StoredContent<'d>,
}

/// Content of a stored value after its field and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredContent<'d> {
    /// Varint.
    Number(u64),
    /// Number of bytes fixed by the kind.
    Fixed(&'d [u8]),
    /// Bytes after a varint with their length.
    Counted(&'d [u8]),
}

/// Iterates over the values of a stored document.
///
/// # Errors
/// An item is an error if the bytes are invalid there.
pub fn stored_values(
    document: &[u8],
) -> impl Iterator<Item = Result<StoredValue<'_>, StoredError>> {
    let mut reader = Reader(document);
    std::iter::from_fn(move || {
        let value = (!reader.0.is_empty()).then(|| reader.stored_value());
        if let Some(Err(_)) = value {
            reader = Reader(&[]);
        }
        value
    })
}

pub(crate) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        let [low, ..] = number.to_le_bytes();
        out.push(low | 0x80);
        number >>= 7;
    }
    let [low, ..] = number.to_le_bytes();
    out.push(low);
}

pub(crate) fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Appends a date in the largest unit that represents it exactly.
pub(crate) fn date(time: DateTime, out: &mut Vec<u8>) {
    let ns = time.into_timestamp_nanos();
    let units = (0..4_u8).zip(UNITS).rev();
    let mut exact = units.filter(|(_, unit)| ns % unit == 0);
    let (code, unit) = exact.next().unwrap_or((0, 1));
    out.push(code);
    varint(zigzag(ns / unit), out);
}

pub(crate) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn from_zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

const CUT_SHORT: StoredError = StoredError("it is cut short");

#[derive(Clone, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// Reads a value of this kind.
    pub(crate) fn leaf(&mut self, kind: u64) -> Result<ReferenceValueLeaf<'a>, StoredError> {
        Ok(match kind {
            TEXT => {
                let text = std::str::from_utf8(self.bytes()?);
                let text = text.map_err(|_| StoredError("a text is not UTF-8"))?;
                ReferenceValueLeaf::Str(text)
            }
            UNSIGNED => ReferenceValueLeaf::U64(self.varint()?),
            SIGNED => ReferenceValueLeaf::I64(from_zigzag(self.varint()?)),
            FLOAT => ReferenceValueLeaf::F64(f64::from_le_bytes(self.array()?)),
            BOOL => ReferenceValueLeaf::Bool(self.array::<1>()? != [0]),
            DATE => {
                let [code] = self.array()?;
                let unit = UNITS.get(usize::from(code));
                let number = from_zigzag(self.varint()?);
                let ns = unit.and_then(|unit| number.checked_mul(*unit));
                let ns = ns.ok_or(StoredError("a date is out of range"))?;
                ReferenceValueLeaf::Date(DateTime::from_timestamp_nanos(ns))
            }
            IP => ReferenceValueLeaf::IpAddr(Ipv6Addr::from(self.array::<16>()?)),
            _ => ReferenceValueLeaf::Bytes(self.bytes()?),
        })
    }

    fn stored_value(&mut self) -> Result<StoredValue<'a>, StoredError> {
        let whole = self.0;
        let begin = self.varint()?;
        let kind = begin & ((1 << KIND_BITS) - 1);
        if kind == DATE {
            self.array::<1>()?;
        }
        let len = whole.len() - self.0.len();
        let content = match kind {
            UNSIGNED | SIGNED | DATE => StoredContent::Number(self.varint()?),
            FLOAT | BOOL | IP => StoredContent::Fixed(self.passed(kind)?),
            _ => StoredContent::Counted(self.bytes()?),
        };
        let begin = whole.get(..len).ok_or(CUT_SHORT)?;
        Ok(StoredValue { begin, content })
    }

    /// Skips a value of this kind, and returns its bytes; for text and bytes, without the length.
    #[inline]
    pub(crate) fn passed(&mut self, kind: u64) -> Result<&'a [u8], StoredError> {
        let of_varint = |from: usize| {
            let bytes = self.0.get(from..).unwrap_or_default();
            let last = bytes.iter().position(|byte| *byte < 0x80);
            last.map(|last| from + last + 1).ok_or(CUT_SHORT)
        };
        let len = match kind {
            UNSIGNED | SIGNED => of_varint(0)?,
            FLOAT => 8,
            BOOL => 1,
            DATE => of_varint(1)?,
            IP => 16,
            _ => return self.bytes(),
        };
        let (first, rest) = self.0.split_at_checked(len).ok_or(CUT_SHORT)?;
        self.0 = rest;
        Ok(first)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], StoredError> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(CUT_SHORT)?;
        self.0 = rest;
        Ok(*first)
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, StoredError> {
        match self.0.split_first() {
            Some((byte, rest)) if *byte < 0x80 => {
                self.0 = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, StoredError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(StoredError("a number is longer than ten bytes"))
    }

    fn bytes(&mut self) -> Result<&'a [u8], StoredError> {
        let len = usize::try_from(self.varint()?).map_err(|_| CUT_SHORT)?;
        let (first, rest) = self.0.split_at_checked(len).ok_or(CUT_SHORT)?;
        self.0 = rest;
        Ok(first)
    }
}

#[cfg(test)]
mod tests;
