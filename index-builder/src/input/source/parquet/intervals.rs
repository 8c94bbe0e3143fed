//! Values of twelve bytes, which Arrow's types do not keep whole: intervals (months, days, milliseconds), and INT96, a
//! time of a Julian day and nanoseconds of that day.
//!
//! The schema therefore declares bytes. Intervals are written as ISO 8601 durations, `P14M3DT14706.5S`, and times as
//! other times are.

use std::io;
use std::sync::Arc;

use parquet::basic::{ConvertedType, Type as PhysicalType};
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataBuilder};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::invalid;

/// Returns the paths of columns with intervals.
pub(super) fn intervals_of(metadata: &ParquetMetaData) -> Vec<String> {
    let columns = metadata.file_metadata().schema_descr().columns().iter();
    let intervals = columns.filter(|column| {
        column.converted_type() == ConvertedType::INTERVAL
            && column.physical_type() == PhysicalType::FIXED_LEN_BYTE_ARRAY
            && column.type_length() == 12
    });
    intervals.map(|column| column.path().string()).collect()
}

/// Returns the paths of columns with INT96.
pub(super) fn int96_of(metadata: &ParquetMetaData) -> Vec<String> {
    let columns = metadata.file_metadata().schema_descr().columns().iter();
    let times = columns.filter(|column| column.physical_type() == PhysicalType::INT96);
    times.map(|column| column.path().string()).collect()
}

/// Returns the metadata with bytes in place of intervals and INT96; `None` if there are none.
pub(super) fn with_bytes(metadata: &ParquetMetaData) -> io::Result<Option<Arc<ParquetMetaData>>> {
    if intervals_of(metadata).is_empty() && int96_of(metadata).is_empty() {
        return Ok(None);
    }
    let file = metadata.file_metadata();
    let root = file.schema_descr().root_schema();
    let schema = SchemaDescriptor::new(with_bytes_below(root)?);
    let file = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        file.key_value_metadata().cloned(),
        Arc::new(schema),
        None,
    );
    let row_groups = metadata.row_groups().to_vec();
    let metadata = ParquetMetaDataBuilder::new(file).set_row_groups(row_groups);
    Ok(Some(Arc::new(metadata.build())))
}

fn with_bytes_below(kind: &Type) -> io::Result<TypePtr> {
    let info = kind.get_basic_info();
    let id = info.has_id().then(|| info.id());
    if kind.is_group() {
        let fields = kind
            .get_fields()
            .iter()
            .map(|field| with_bytes_below(field));
        let mut builder = Type::group_type_builder(kind.name())
            .with_fields(fields.collect::<io::Result<_>>()?)
            .with_converted_type(info.converted_type())
            .with_logical_type(info.logical_type_ref().cloned())
            .with_id(id);
        if info.has_repetition() {
            builder = builder.with_repetition(info.repetition());
        }
        return builder.build().map(Arc::new).map_err(invalid);
    }
    let is_int96 = kind.get_physical_type() == PhysicalType::INT96;
    if info.converted_type() != ConvertedType::INTERVAL && !is_int96 {
        return Ok(Arc::new(kind.clone()));
    }
    let bytes = Type::primitive_type_builder(kind.name(), PhysicalType::FIXED_LEN_BYTE_ARRAY)
        .with_repetition(info.repetition())
        .with_length(12)
        .with_id(id);
    bytes.build().map(Arc::new).map_err(invalid)
}

/// Formats an ISO 8601 duration: each unit separately, since a month is not a fixed number of days.
pub(super) fn duration(months: i64, days: i64, nanos: i64) -> String {
    let mut text = "P".to_owned();
    if months != 0 {
        text.push_str(&format!("{months}M"));
    }
    if days != 0 {
        text.push_str(&format!("{days}D"));
    }
    if nanos != 0 || text == "P" {
        let (whole, rest) = (
            nanos.unsigned_abs() / 1_000_000_000,
            nanos.unsigned_abs() % 1_000_000_000,
        );
        let sign = if nanos < 0 { "-" } else { "" };
        text.push_str(&format!("T{sign}{whole}"));
        if rest != 0 {
            text.push('.');
            text.push_str(format!("{rest:09}").trim_end_matches('0'));
        }
        text.push('S');
    }
    text
}

/// Formats the twelve bytes of a file as a duration.
pub(super) fn of_bytes(bytes: &[u8]) -> Option<String> {
    let (parts, []) = bytes.as_chunks::<4>() else {
        return None;
    };
    let [months, days, millis] = parts else {
        return None;
    };
    let number = |part: &[u8; 4]| i64::from(u32::from_le_bytes(*part));
    Some(duration(
        number(months),
        number(days),
        number(millis) * 1_000_000,
    ))
}

/// Returns the nanoseconds since 1970 of an INT96.
pub(super) fn int96(bytes: &[u8]) -> Option<i128> {
    const DAY_OF_1970: i128 = 2_440_588;
    const DAY_NS: i128 = 86_400_000_000_000;
    let (ns, day) = bytes.split_first_chunk::<8>()?;
    let day = i128::from(u32::from_le_bytes(day.try_into().ok()?));
    Some((day - DAY_OF_1970) * DAY_NS + i128::from(u64::from_le_bytes(*ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_of_an_interval_is_kept() {
        for (months, days, nanos, expect) in [
            (0, 0, 0, "PT0S"),
            (14, 3, 14_706_500_000_000, "P14M3DT14706.5S"),
            (0, 1, 0, "P1D"),
            (-1, 0, -1_000_000, "P-1MT-0.001S"),
        ] {
            assert_eq!(duration(months, days, nanos), expect);
        }
        assert_eq!(
            of_bytes(&[1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255]).unwrap(),
            "P1M2DT4294967.295S"
        );
        assert_eq!(of_bytes(&[1]), None);
    }
}
