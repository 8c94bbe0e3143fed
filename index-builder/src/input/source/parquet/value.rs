//! Rows of Arrow's columns as JSON objects. Nulls, and numbers that JSON does not have, are left out.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, GenericListArray, MapArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::texts::{durations, hex, times, uuid, wide_time};
use super::wanted::{Wanted, Written};
use super::{Special, intervals};

/// Writes one value; returns false if there is none, and writes nothing.
pub(super) type Writer<'a> = Box<dyn Fn(usize, &mut Vec<u8>) -> bool + 'a>;

/// Writes rows of a batch, or of a column of objects.
pub(super) struct RowWriter<'a> {
    columns: Vec<NamedColumn<'a>>,
    /// Maximum length of an object; the rest is not written.
    max_num_bytes: usize,
}

struct NamedColumn<'a> {
    /// In quotes, with a colon.
    key: Vec<u8>,
    write: Writer<'a>,
}

/// Location of a column, and the wanted form of its values.
pub(super) struct Place<'a> {
    path: Vec<String>,
    /// The path in the schema of the file, in which lists have levels of their own.
    schema_path: String,
    wanted: &'a Wanted,
    special: &'a Special,
    /// Maximum length of a value; the rest is not written.
    max_num_bytes: usize,
}

impl Place<'_> {
    fn child(&self, name: &str) -> Place<'_> {
        Place {
            path: [self.path.as_slice(), &[name.to_owned()]].concat(),
            schema_path: match self.schema_path.is_empty() {
                true => name.to_owned(),
                false => format!("{}.{name}", self.schema_path),
            },
            ..*self
        }
    }

    pub(super) fn written(&self) -> Option<Written> {
        self.wanted.written(&self.path)
    }

    pub(super) fn unsupported(&self, kind: &DataType) -> String {
        format!(
            "its column `{}` holds values of the type {kind}, which no document has",
            self.path.join(".")
        )
    }
}

impl<'a> RowWriter<'a> {
    /// Creates a writer of a batch. A row that exceeds `max_num_bytes` is cut soon after the limit, so that it still
    /// exceeds it: one value of a dictionary may be in a row a million times.
    ///
    /// # Errors
    /// A type of values that documents cannot represent, with the name of its column.
    pub(super) fn of_batch(
        batch: &'a RecordBatch,
        wanted: &Wanted,
        special: &Special,
        max_num_bytes: usize,
    ) -> Result<RowWriter<'a>, String> {
        let root = Place {
            path: Vec::new(),
            schema_path: String::new(),
            wanted,
            special,
            max_num_bytes,
        };
        let schema = batch.schema_ref();
        let columns = schema.fields().iter().zip(batch.columns());
        Self::of_columns(
            columns.map(|(field, column)| (field.name().as_str(), &**column)),
            &root,
        )
    }

    fn of_columns<'n>(
        columns: impl Iterator<Item = (&'n str, &'a dyn Array)>,
        place: &Place<'_>,
    ) -> Result<RowWriter<'a>, String> {
        let columns = columns.map(|(name, column)| {
            let mut key = Vec::new();
            write_json(&mut key, &name);
            key.push(b':');
            let write = writer(column, &place.child(name))?;
            Ok(NamedColumn { key, write })
        });
        Ok(RowWriter {
            columns: columns.collect::<Result<_, String>>()?,
            max_num_bytes: place.max_num_bytes,
        })
    }

    /// Writes an object.
    pub(super) fn write(&self, row: usize, out: &mut Vec<u8>) {
        out.push(b'{');
        let start = out.len();
        for column in &self.columns {
            let before = out.len();
            if before - start > self.max_num_bytes {
                break;
            }
            if before > start {
                out.push(b',');
            }
            out.extend_from_slice(&column.key);
            if !(column.write)(row, out) {
                out.truncate(before);
            }
        }
        out.push(b'}');
    }
}

/// Writes a value whose serialization cannot fail.
pub(super) fn write_json(out: &mut Vec<u8>, value: &impl Serialize) {
    // Strings and numbers cannot, nor can writing to memory.
    let _ = serde_json::to_writer(out, value);
}

fn writer<'a>(column: &'a dyn Array, place: &Place<'_>) -> Result<Writer<'a>, String> {
    let write = writer_of_values(column, place)?;
    Ok(Box::new(move |row, out| {
        column.is_valid(row) && write(row, out)
    }))
}

macro_rules! number {
    ($column:expr, $kind:ty, $place:expr) => {{
        let values = $column.as_primitive::<$kind>();
        // A text field does not accept numbers.
        let is_text = $place.written() == Some(Written::Text);
        Box::new(move |row, out: &mut Vec<u8>| {
            let value = values.value(row);
            match is_text {
                true => write_json(out, &value.to_string()),
                false => write_json(out, &value),
            }
            true
        })
    }};
}

macro_rules! float {
    ($column:expr, $kind:ty, $place:expr) => {{
        let values = $column.as_primitive::<$kind>();
        let is_text = $place.written() == Some(Written::Text);
        Box::new(move |row, out: &mut Vec<u8>| {
            let value = f64::from(values.value(row));
            match (is_text, value.is_finite()) {
                (true, _) => write_json(out, &value.to_string()),
                (false, true) => write_json(out, &value),
                (false, false) => return false,
            }
            true
        })
    }};
}

macro_rules! decimal {
    ($column:expr, $kind:ty, $place:expr) => {{
        let values = $column.as_primitive::<$kind>();
        let is_text = $place.written() == Some(Written::Text);
        Box::new(move |row, out: &mut Vec<u8>| {
            // All of its digits, as in the file.
            let digits = values.value_as_string(row);
            match is_text {
                true => write_json(out, &digits),
                false => out.extend_from_slice(digits.as_bytes()),
            }
            true
        })
    }};
}

fn writer_of_values<'a>(column: &'a dyn Array, place: &Place<'_>) -> Result<Writer<'a>, String> {
    match column.data_type() {
        DataType::Null => Ok(Box::new(|_, _| false)),
        DataType::Boolean => {
            let values = column.as_boolean();
            Ok(Box::new(move |row, out| {
                write_json(out, &values.value(row));
                true
            }))
        }
        kind if kind.is_numeric() => numbers(column, place),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => texts(column, place),
        kind if kind.is_binary() => binaries(column, place),
        DataType::Interval(_) => durations(column, place),
        kind if kind.is_temporal() => times(column, place),
        _ => nested(column, place),
    }
}

/// Writes numbers.
fn numbers<'a>(column: &'a dyn Array, place: &Place<'_>) -> Result<Writer<'a>, String> {
    Ok(match column.data_type() {
        DataType::Int8 => number!(column, Int8Type, place),
        DataType::Int16 => number!(column, Int16Type, place),
        DataType::Int32 => number!(column, Int32Type, place),
        DataType::Int64 => number!(column, Int64Type, place),
        DataType::UInt8 => number!(column, UInt8Type, place),
        DataType::UInt16 => number!(column, UInt16Type, place),
        DataType::UInt32 => number!(column, UInt32Type, place),
        DataType::UInt64 => number!(column, UInt64Type, place),
        DataType::Float16 => float!(column, Float16Type, place),
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>();
            let is_text = place.written() == Some(Written::Text);
            // With the digits of 32 bits: 0.1 stays 0.1.
            Box::new(move |row, out| {
                let value = values.value(row);
                match (is_text, value.is_finite()) {
                    (true, _) => write_json(out, &value.to_string()),
                    (false, true) => write_json(out, &value),
                    (false, false) => return false,
                }
                true
            })
        }
        DataType::Float64 => float!(column, Float64Type, place),
        DataType::Decimal32(..) => decimal!(column, Decimal32Type, place),
        DataType::Decimal64(..) => decimal!(column, Decimal64Type, place),
        DataType::Decimal128(..) => decimal!(column, Decimal128Type, place),
        DataType::Decimal256(..) => decimal!(column, Decimal256Type, place),
        other => return Err(place.unsupported(other)),
    })
}

/// Writes texts.
fn texts<'a>(column: &'a dyn Array, place: &Place<'_>) -> Result<Writer<'a>, String> {
    Ok(match column.data_type() {
        DataType::Utf8 => {
            let values = column.as_string::<i32>();
            text(move |row| values.value(row), place)
        }
        DataType::LargeUtf8 => {
            let values = column.as_string::<i64>();
            text(move |row| values.value(row), place)
        }
        DataType::Utf8View => {
            let values = column.as_string_view();
            text(move |row| values.value(row), place)
        }
        other => return Err(place.unsupported(other)),
    })
}

/// Writes bytes, some of which have a meaning.
fn binaries<'a>(column: &'a dyn Array, place: &Place<'_>) -> Result<Writer<'a>, String> {
    Ok(match column.data_type() {
        DataType::Binary => {
            let values = column.as_binary::<i32>();
            bytes(move |row| values.value(row), place)
        }
        DataType::LargeBinary => {
            let values = column.as_binary::<i64>();
            bytes(move |row| values.value(row), place)
        }
        DataType::BinaryView => {
            let values = column.as_binary_view();
            bytes(move |row| values.value(row), place)
        }
        DataType::FixedSizeBinary(_) => {
            let values = column.as_fixed_size_binary();
            if place.special.intervals.contains(&place.schema_path) {
                return Ok(Box::new(move |row, out| {
                    let text = intervals::of_bytes(values.value(row));
                    text.as_ref()
                        .inspect(|text| write_json(out, text))
                        .is_some()
                }));
            }
            if place.special.int96.contains(&place.schema_path) {
                let is_number = place.written() == Some(Written::UnixTime);
                return Ok(Box::new(move |row, out| {
                    wide_time(intervals::int96(values.value(row)), is_number, out)
                }));
            }
            match place.special.uuids.contains(&place.schema_path) {
                true => Box::new(move |row, out| {
                    write_json(out, &uuid(values.value(row)));
                    true
                }),
                false => bytes(move |row| values.value(row), place),
            }
        }
        other => return Err(place.unsupported(other)),
    })
}

/// Writes values that consist of others.
fn nested<'a>(column: &'a dyn Array, place: &Place<'_>) -> Result<Writer<'a>, String> {
    Ok(match column.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let write = writer(&**dictionary.values(), place)?;
            let keys = dictionary.normalized_keys();
            Box::new(move |row, out| keys.get(row).is_some_and(|key| write(*key, out)))
        }
        DataType::Struct(fields) => {
            let values = column.as_struct();
            let columns = fields.iter().zip(values.columns());
            let columns = columns.map(|(field, column)| (field.name().as_str(), &**column));
            let rows = RowWriter::of_columns(columns, place)?;
            Box::new(move |row, out| {
                rows.write(row, out);
                true
            })
        }
        DataType::List(_) => list(column.as_list::<i32>(), place)?,
        DataType::LargeList(_) => list(column.as_list::<i64>(), place)?,
        DataType::Map(..) => map(column.as_map(), place)?,
        other => return Err(place.unsupported(other)),
    })
}

/// Writes maps as objects.
fn map<'a>(maps: &'a MapArray, place: &Place<'_>) -> Result<Writer<'a>, String> {
    let keys = maps.keys();
    let key = writer(keys, place)?;
    let value = writer(maps.values(), place)?;
    let max_num_bytes = place.max_num_bytes;
    Ok(Box::new(move |row, out| {
        let ends = maps.value_offsets().get(row..row + 2);
        let (start, end) = match ends {
            Some([start, end]) => (*start as usize, *end as usize),
            _ => return false,
        };
        out.push(b'{');
        let first = out.len();
        for entry in start..end {
            let before = out.len();
            if before - first > max_num_bytes {
                break;
            }
            if before > first {
                out.push(b',');
            }
            if !(write_key(entry, &key, out) && value(entry, out)) {
                out.truncate(before);
            }
        }
        out.push(b'}');
        true
    }))
}

/// Writes lists as arrays. An element has the path of its list, as in documents.
fn list<'a, O: OffsetSizeTrait>(
    lists: &'a GenericListArray<O>,
    place: &Place<'_>,
) -> Result<Writer<'a>, String> {
    let elements = Place {
        path: place.path.clone(),
        schema_path: format!("{}.list.element", place.schema_path),
        ..*place
    };
    let write = writer(lists.values(), &elements)?;
    let max_num_bytes = place.max_num_bytes;
    Ok(Box::new(move |row, out| {
        let ends = lists.value_offsets().get(row..row + 2);
        let (start, end) = match ends {
            Some([start, end]) => (start.as_usize(), end.as_usize()),
            _ => return false,
        };
        out.push(b'[');
        let first = out.len();
        for element in start..end {
            let before = out.len();
            if before - first > max_num_bytes {
                break;
            }
            if before > first {
                out.push(b',');
            }
            if !write(element, out) {
                out.truncate(before);
            }
        }
        out.push(b']');
        true
    }))
}

/// Writes a key of any type as a string.
fn write_key(entry: usize, key: &Writer<'_>, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    if !key(entry, out) {
        return false;
    }
    if out.get(start) != Some(&b'"') {
        out.insert(start, b'"');
        out.push(b'"');
    }
    out.push(b':');
    true
}

fn text<'a>(value: impl Fn(usize) -> &'a str + 'a, place: &Place<'_>) -> Writer<'a> {
    let max_num_bytes = place.max_num_bytes;
    Box::new(move |row, out| {
        let text = value(row);
        let end = text.floor_char_boundary(text.len().min(max_num_bytes).saturating_add(4));
        write_json(out, &text.get(..end));
        true
    })
}

/// Writes bytes as text if they are: older writers do not mark text as such.
fn bytes<'a>(value: impl Fn(usize) -> &'a [u8] + 'a, place: &Place<'_>) -> Writer<'a> {
    let written = place.written();
    let max_num_bytes = place.max_num_bytes;
    Box::new(move |row, out| {
        let bytes = value(row);
        let end = bytes.len().min(max_num_bytes.saturating_add(4));
        let bytes = bytes.get(..end).unwrap_or(bytes);
        match (written, std::str::from_utf8(bytes)) {
            (Some(Written::Hex), _) => write_json(out, &hex(bytes)),
            (Some(Written::Base64), _) | (_, Err(_)) => write_json(out, &STANDARD.encode(bytes)),
            (_, Ok(text)) => write_json(out, &text),
        }
        true
    })
}
