//! Columns in memory of the objects of a list, as tantivy would write them to a segment.
//!
//! ```text
//!   (object, field, value) ──▶ cells by column and kind of value
//!   a column that is asked for ──▶ type of its numbers, order of its terms ──▶ packed codes, index
//! ```
//!
//! tantivy's own writer serves for this too, but it brings the encodings of all its files: 40 KB after gzip in the
//! component, for columns that live for one request.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use tantivy::TantivyDocument;
use tantivy::TantivyError;
use tantivy::columnar::column_index::open_column_index;
use tantivy::columnar::{
    ColumnIndex, ColumnType, MonotonicallyMappableToU64, NumericalType, NumericalValue, Version,
};
use tantivy::directory::OwnedBytes;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf, Value};
use tantivy::schema::{DateTimePrecision, FieldType, Schema};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy_common::JsonPathWriter;

use crate::Result;
use crate::columns::Values;

/// Number of levels of JSON that have columns; tantivy's is the same.
const MAX_JSON_DEPTH: usize = 20;

/// About how many bytes a column takes beside its values.
const BYTES_OF_A_COLUMN: usize = 256;

/// Name of the tokenizer that leaves texts as they are.
const RAW: &str = "raw";

/// One column of the objects, opened.
#[derive(Clone)]
pub(in crate::collect) struct MemoryColumn {
    pub(in crate::collect) column_type: ColumnType,
    pub(in crate::collect) index: ColumnIndex,
    pub(in crate::collect) values: Values,
    /// Terms by code: UTF-8, or the 16 bytes of addresses. Empty for other types.
    pub(in crate::collect) terms: Arc<Vec<Vec<u8>>>,
}

/// Columns of all objects.
pub(super) struct MemoryColumns {
    cells: BTreeMap<String, Vec<Cells>>,
    num_objects: u32,
}

impl MemoryColumns {
    /// Returns the columns of this name, one for each type of value. Objects of any shape may have very many columns, so
    /// only those that are asked for are made.
    ///
    /// # Errors
    /// tantivy cannot read an index that was made here.
    pub(super) fn open(&self, name: &str) -> io::Result<Vec<MemoryColumn>> {
        let cells = self.cells.get(name).into_iter().flatten();
        cells.map(|cells| cells.open(self.num_objects)).collect()
    }
}

/// Collector of the values of objects.
pub(super) struct ObjectColumnsWriter {
    /// By the number of the field; `None` where it has no column.
    fields: Vec<Option<FieldOptions>>,
    cells: BTreeMap<String, Vec<Cells>>,
    path: JsonPathWriter,
    num_bytes: usize,
}

/// What a field of the schema asks of its column.
struct FieldOptions {
    name: String,
    tokenizer: Option<TextAnalyzer>,
    precision: DateTimePrecision,
    expands_dots: bool,
    /// Type of all numbers; `None` for JSON, whose values decide.
    number: Option<NumericalType>,
}

/// Kinds of values that share a column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Number,
    Text,
    Bytes,
    Bool,
    Date,
    Address,
}

/// Values of one column in the order of their objects.
struct Cells {
    kind: Kind,
    objects: Vec<u32>,
    values: CellValues,
    /// Type of all numbers, if the schema says it.
    number: Option<NumericalType>,
}

enum CellValues {
    Codes(Vec<u64>),
    Numbers(Vec<NumericalValue>),
    /// Terms with their numbers in the order of arrival, and the number of each cell.
    Terms(BTreeMap<Vec<u8>, usize>, Vec<usize>),
}

/// A value on its way into its column.
enum Cell<'a> {
    Code(Kind, u64),
    Number(NumericalValue),
    Term(Kind, &'a [u8]),
}

impl ObjectColumnsWriter {
    /// Begins without values. `tokenizers` are those of fast fields.
    ///
    /// # Errors
    /// The schema has a field with an unknown tokenizer.
    pub(super) fn new(schema: &Schema, tokenizers: &TokenizerManager) -> Result<Self> {
        let fields = schema.fields().map(|(_, entry)| {
            if !entry.is_fast() {
                return Ok(None);
            }
            let mut options = FieldOptions {
                name: entry.name().to_owned(),
                tokenizer: None,
                // Dates in JSON are not rounded.
                precision: DateTimePrecision::Nanoseconds,
                expands_dots: false,
                number: None,
            };
            let tokenizer = match entry.field_type() {
                FieldType::Str(text) => text.get_fast_field_tokenizer_name(),
                FieldType::JsonObject(json) => {
                    options.expands_dots = json.is_expand_dots_enabled();
                    json.get_fast_field_tokenizer_name()
                }
                FieldType::Date(date) => {
                    options.precision = date.get_precision();
                    None
                }
                FieldType::U64(_) => {
                    options.number = Some(NumericalType::U64);
                    None
                }
                FieldType::I64(_) => {
                    options.number = Some(NumericalType::I64);
                    None
                }
                FieldType::F64(_) => {
                    options.number = Some(NumericalType::F64);
                    None
                }
                _ => None,
            };
            if let Some(name) = tokenizer.filter(|name| *name != RAW) {
                let unknown = || {
                    TantivyError::InvalidArgument(format!("the tokenizer {name:?} is not known"))
                };
                options.tokenizer = Some(tokenizers.get(name).ok_or_else(unknown)?);
            }
            Ok(Some(options))
        });
        Ok(Self {
            fields: fields.collect::<Result<_>>()?,
            cells: BTreeMap::new(),
            path: JsonPathWriter::default(),
            num_bytes: 0,
        })
    }

    /// Returns about how many bytes of memory the values take.
    pub(super) fn mem_usage(&self) -> usize {
        self.num_bytes
    }

    /// Adds the values of an object; numbers of objects ascend.
    pub(super) fn add(&mut self, object: u32, document: &TantivyDocument) {
        for (field, value) in document.field_values() {
            let place = field.field_id() as usize;
            let Some(mut options) = self.fields.get_mut(place).and_then(Option::take) else {
                continue;
            };
            self.path.clear();
            // Dots in the name of the field itself are its own.
            self.path.set_expand_dots(false);
            self.path.push(&options.name);
            self.path.set_expand_dots(options.expands_dots);
            self.add_value(object, &mut options, value, MAX_JSON_DEPTH);
            if let Some(taken) = self.fields.get_mut(place) {
                *taken = Some(options);
            }
        }
    }

    fn add_value<'a>(
        &mut self,
        object: u32,
        options: &mut FieldOptions,
        value: impl Value<'a>,
        depth: usize,
    ) {
        let leaf = match value.as_value() {
            ReferenceValue::Leaf(leaf) => leaf,
            ReferenceValue::Array(values) => {
                for value in values {
                    self.add_value(object, options, value, depth);
                }
                return;
            }
            ReferenceValue::Object(members) => {
                let Some(depth) = depth.checked_sub(1) else {
                    return;
                };
                for (key, value) in members {
                    self.path.push(key);
                    self.add_value(object, options, value, depth);
                    self.path.pop();
                }
                return;
            }
        };
        let cell = match leaf {
            ReferenceValueLeaf::Str(text) => match &mut options.tokenizer {
                None => Cell::Term(Kind::Text, text.as_bytes()),
                Some(tokenizer) => {
                    let mut tokens = tokenizer.token_stream(text);
                    while tokens.advance() {
                        let token = tokens.token().text.as_bytes();
                        self.push(object, options.number, Cell::Term(Kind::Text, token));
                    }
                    return;
                }
            },
            ReferenceValueLeaf::Facet(path) => Cell::Term(Kind::Text, path.as_bytes()),
            ReferenceValueLeaf::PreTokStr(text) => {
                for token in &text.tokens {
                    let cell = Cell::Term(Kind::Text, token.text.as_bytes());
                    self.push(object, options.number, cell);
                }
                return;
            }
            ReferenceValueLeaf::U64(number) => Cell::Number(number.into()),
            ReferenceValueLeaf::I64(number) => Cell::Number(number.into()),
            ReferenceValueLeaf::F64(number) => Cell::Number(number.into()),
            ReferenceValueLeaf::Date(date) => {
                Cell::Code(Kind::Date, date.truncate(options.precision).to_u64())
            }
            ReferenceValueLeaf::Bool(flag) => Cell::Code(Kind::Bool, u64::from(flag)),
            ReferenceValueLeaf::Bytes(bytes) => Cell::Term(Kind::Bytes, bytes),
            ReferenceValueLeaf::IpAddr(address) => {
                let bytes = address.octets();
                self.push(object, options.number, Cell::Term(Kind::Address, &bytes));
                return;
            }
            ReferenceValueLeaf::Null | ReferenceValueLeaf::Custom(_) => return,
        };
        self.push(object, options.number, cell);
    }

    fn push(&mut self, object: u32, number: Option<NumericalType>, cell: Cell<'_>) {
        let (kind, empty) = match &cell {
            Cell::Code(kind, _) => (*kind, CellValues::Codes(Vec::new())),
            Cell::Number(_) => (Kind::Number, CellValues::Numbers(Vec::new())),
            Cell::Term(kind, _) => (*kind, CellValues::Terms(BTreeMap::new(), Vec::new())),
        };
        let name = self.path.as_str();
        if !self.cells.contains_key(name) {
            self.num_bytes += name.len() + BYTES_OF_A_COLUMN;
            self.cells.insert(name.to_owned(), Vec::new());
        }
        let Some(columns) = self.cells.get_mut(name) else {
            return;
        };
        let place = columns.iter().position(|cells| cells.kind == kind);
        let place = place.unwrap_or_else(|| {
            self.num_bytes += BYTES_OF_A_COLUMN;
            columns.push(Cells {
                kind,
                objects: Vec::new(),
                values: empty,
                number,
            });
            columns.len().saturating_sub(1)
        });
        let Some(cells) = columns.get_mut(place) else {
            return;
        };
        cells.objects.push(object);
        self.num_bytes += 12;
        match (&mut cells.values, cell) {
            (CellValues::Codes(codes), Cell::Code(_, code)) => codes.push(code),
            (CellValues::Numbers(numbers), Cell::Number(number)) => {
                self.num_bytes += 8;
                numbers.push(number);
            }
            (CellValues::Terms(known, numbers), Cell::Term(_, term)) => {
                let next = known.len();
                let number = match known.get(term) {
                    Some(number) => *number,
                    None => {
                        self.num_bytes += term.len() + 48;
                        known.insert(term.to_owned(), next);
                        next
                    }
                };
                numbers.push(number);
            }
            _ => {}
        }
    }

    /// Ends with the columns of `num_objects` objects.
    pub(super) fn finish(self, num_objects: u32) -> MemoryColumns {
        MemoryColumns {
            cells: self.cells,
            num_objects,
        }
    }
}

impl Cells {
    fn open(&self, num_objects: u32) -> io::Result<MemoryColumn> {
        let index = open_index(&self.objects, num_objects)?;
        let mut terms = Vec::new();
        let (column_type, codes) = match &self.values {
            CellValues::Codes(codes) => match self.kind {
                Kind::Date => (ColumnType::DateTime, codes.clone()),
                _ => (ColumnType::Bool, codes.clone()),
            },
            CellValues::Numbers(numbers) => {
                let is_of = |number: &NumericalType| {
                    let types = numbers.iter().map(NumericalValue::numerical_type);
                    *number == NumericalType::F64 || types.into_iter().all(|other| other == *number)
                };
                let number = self.number.filter(is_of);
                let number = number.unwrap_or_else(|| type_of_all(numbers));
                let codes = numbers.iter().map(|value| code_of(*value, number));
                (number.into(), codes.collect())
            }
            CellValues::Terms(known, numbers) => {
                let mut ranks = vec![0; known.len()];
                for (rank, (term, number)) in known.iter().enumerate() {
                    if let Some(slot) = ranks.get_mut(*number) {
                        *slot = rank as u64;
                    }
                    terms.push(term.clone());
                }
                let codes = numbers.iter();
                let codes = codes.filter_map(|number| ranks.get(*number).copied());
                let column_type = match self.kind {
                    Kind::Address => ColumnType::IpAddr,
                    Kind::Bytes => ColumnType::Bytes,
                    _ => ColumnType::Str,
                };
                (column_type, codes.collect())
            }
        };
        Ok(MemoryColumn {
            column_type,
            index,
            values: Values::open_values(packed(&codes))?,
            terms: Arc::new(terms),
        })
    }
}

/// Returns the type that tantivy would choose for a column with these numbers.
fn type_of_all(numbers: &[NumericalValue]) -> NumericalType {
    let all = |is_of: fn(&NumericalValue) -> bool| numbers.iter().all(is_of);
    let is_integer = |number: &NumericalValue| match number {
        NumericalValue::I64(_) => true,
        NumericalValue::U64(number) => *number < i64::MAX.unsigned_abs(),
        NumericalValue::F64(_) => false,
    };
    let is_unsigned = |number: &NumericalValue| match number {
        NumericalValue::I64(number) => *number >= 0,
        NumericalValue::U64(_) => true,
        NumericalValue::F64(_) => false,
    };
    match (all(is_integer), all(is_unsigned)) {
        (true, _) => NumericalType::I64,
        (false, true) => NumericalType::U64,
        (false, false) => NumericalType::F64,
    }
}

/// Returns the code of a number in a column of a type that holds it.
fn code_of(value: NumericalValue, number: NumericalType) -> u64 {
    match (number, value) {
        (NumericalType::I64, NumericalValue::I64(value)) => value.to_u64(),
        (NumericalType::I64, NumericalValue::U64(value)) => {
            i64::try_from(value).unwrap_or(i64::MAX).to_u64()
        }
        (NumericalType::U64, NumericalValue::I64(value)) => {
            u64::try_from(value).unwrap_or_default()
        }
        (NumericalType::U64, NumericalValue::U64(value)) => value,
        (_, NumericalValue::I64(value)) => (value as f64).to_u64(),
        (_, NumericalValue::U64(value)) => (value as f64).to_u64(),
        (_, NumericalValue::F64(value)) => value.to_u64(),
    }
}

/// Returns the index of a column whose rows belong to `objects`, ascending.
fn open_index(objects: &[u32], num_objects: u32) -> io::Result<ColumnIndex> {
    if (0..num_objects).eq(objects.iter().copied()) {
        return Ok(ColumnIndex::Full);
    }
    let mut starts = Vec::with_capacity(num_objects as usize + 1);
    let mut row = 0;
    for object in 0..=num_objects {
        while objects.get(row).is_some_and(|other| *other < object) {
            row += 1;
        }
        starts.push(row as u64);
    }
    // The first form of such an index: the first row of each document, and the number of rows.
    const SEVERAL_VALUES: u8 = 2;
    let mut bytes = vec![SEVERAL_VALUES];
    bytes.extend_from_slice(&packed(&starts));
    open_column_index(OwnedBytes::new(bytes), Version::V1)
}

/// Writes codes as tantivy packs them: one width for all.
fn packed(codes: &[u64]) -> OwnedBytes {
    const PACKED: u8 = 0;
    let least = codes.iter().copied().min().unwrap_or_default();
    let greatest = codes.iter().copied().max().unwrap_or_default();
    let span = greatest - least;
    let width = match u64::BITS - span.leading_zeros() {
        width @ 0..=56 => width,
        _ => u64::BITS,
    };
    let mut bytes = vec![PACKED];
    for number in [least, 1, span, codes.len() as u64] {
        push_vint(number, &mut bytes);
    }
    let (mut waiting, mut num_waiting) = (0u128, 0);
    for code in codes {
        waiting |= u128::from(code - least) << num_waiting;
        num_waiting += width;
        while num_waiting >= u8::BITS {
            bytes.push((waiting & 0xff) as u8);
            waiting >>= u8::BITS;
            num_waiting -= u8::BITS;
        }
    }
    bytes.push((waiting & 0xff) as u8);
    // Readers take eight bytes at a time.
    bytes.extend_from_slice(&[0; 8]);
    OwnedBytes::new(bytes)
}

fn push_vint(mut number: u64, bytes: &mut Vec<u8>) {
    const LAST: u8 = 0x80;
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            return bytes.push(low | LAST);
        }
        bytes.push(low);
    }
}

#[cfg(test)]
mod tests;
