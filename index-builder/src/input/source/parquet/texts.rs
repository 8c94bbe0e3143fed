//! Values that are texts in JSON: bytes in hexadecimal digits, UUIDs, dates, times of day, intervals. The other values
//! are in `value.rs`.

use std::io::Write as _;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use tantivy::time::OffsetDateTime;
use tantivy::time::format_description::well_known::Rfc3339;

use super::intervals;
use super::value::{Place, Writer, write_json};
use super::wanted::Written;

const DAY_NS: i128 = 86_400_000_000_000;

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn uuid(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    let parts: Option<Vec<&str>> = parts.into_iter().map(|part| digits.get(part)).collect();
    parts.map_or(digits.clone(), |parts| parts.join("-"))
}

/// Formats a date as RFC 3339, for the years 0 to 9999.
pub(super) fn date_of(ns: i128) -> Option<String> {
    let date = OffsetDateTime::from_unix_timestamp_nanos(ns).ok()?;
    date.format(&Rfc3339).ok()
}

/// Formats a time of day: `13:07:09.25`.
pub(super) fn clock(ns: i64) -> String {
    let (seconds, rest_ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write!(text, "{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if rest_ns != 0 {
        let _ = write!(text, ".{}", format!("{rest_ns:09}").trim_end_matches('0'));
    }
    String::from_utf8(text).unwrap_or_default()
}

/// Times, in nanoseconds for one of `$unit_ns`.
macro_rules! instant {
    ($column:expr, $kind:ty, $unit_ns:expr, $place:expr) => {{
        let values = $column.as_primitive::<$kind>();
        let is_number = $place.written() == Some(Written::UnixTime);
        Box::new(move |row, out: &mut Vec<u8>| {
            let value = values.value(row);
            let date = date_of(i128::from(value) * $unit_ns);
            match date.filter(|_| !is_number) {
                Some(date) => write_json(out, &date),
                None => write_json(out, &value),
            }
            true
        })
    }};
}

/// Writes a time that may have any year and nanoseconds; a number if RFC 3339 lacks its year, or the field reads only
/// those.
pub(super) fn wide_time(ns: Option<i128>, is_number: bool, out: &mut Vec<u8>) -> bool {
    let Some(ns) = ns else {
        return false;
    };
    if let Some(date) = date_of(ns).filter(|_| !is_number) {
        write_json(out, &date);
        return true;
    }
    // Units are told apart by their magnitude, so the shortest that is exact will do.
    let number = match ns % 1_000 {
        0 => ns / 1_000,
        _ => i64::try_from(ns).map_or(ns / 1_000, i128::from),
    };
    let number = i64::try_from(number);
    number.inspect(|number| write_json(out, number)).is_ok()
}

macro_rules! time_of_day {
    ($column:expr, $kind:ty, $unit_ns:expr) => {{
        let values = $column.as_primitive::<$kind>();
        Box::new(move |row, out: &mut Vec<u8>| {
            write_json(
                out,
                &clock(i64::from(values.value(row)).saturating_mul($unit_ns)),
            );
            true
        })
    }};
}

/// Writes times, dates and times of day.
pub(super) fn times<'a>(column: &'a dyn Array, place: &Place<'_>) -> Result<Writer<'a>, String> {
    Ok(match column.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            instant!(column, TimestampSecondType, 1_000_000_000, place)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            instant!(column, TimestampMillisecondType, 1_000_000, place)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            instant!(column, TimestampMicrosecondType, 1_000, place)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            instant!(column, TimestampNanosecondType, 1, place)
        }
        DataType::Date32 => {
            let values = column.as_primitive::<Date32Type>();
            let written = place.written();
            Box::new(move |row, out| {
                let days = i128::from(values.value(row));
                match (written, date_of(days * DAY_NS)) {
                    (Some(Written::Date), Some(date)) => write_json(out, &date),
                    (Some(Written::UnixTime), _) | (_, None) => {
                        write_json(out, &(days as i64 * 86_400))
                    }
                    (_, Some(date)) => write_json(out, &date.split('T').next()),
                }
                true
            })
        }
        DataType::Date64 => instant!(column, Date64Type, 1_000_000, place),
        DataType::Time32(TimeUnit::Second) => {
            time_of_day!(column, Time32SecondType, 1_000_000_000)
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            time_of_day!(column, Time32MillisecondType, 1_000_000)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            time_of_day!(column, Time64MicrosecondType, 1_000)
        }
        DataType::Time64(TimeUnit::Nanosecond) => time_of_day!(column, Time64NanosecondType, 1),
        other => return Err(place.unsupported(other)),
    })
}

/// Writes intervals.
pub(super) fn durations<'a>(
    column: &'a dyn Array,
    place: &Place<'_>,
) -> Result<Writer<'a>, String> {
    Ok(match column.data_type() {
        DataType::Interval(IntervalUnit::YearMonth) => {
            let values = column.as_primitive::<IntervalYearMonthType>();
            Box::new(move |row, out| {
                write_json(out, &intervals::duration(values.value(row).into(), 0, 0));
                true
            })
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let values = column.as_primitive::<IntervalDayTimeType>();
            Box::new(move |row, out| {
                let value = values.value(row);
                let nanos = i64::from(value.milliseconds) * 1_000_000;
                write_json(out, &intervals::duration(0, i64::from(value.days), nanos));
                true
            })
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let values = column.as_primitive::<IntervalMonthDayNanoType>();
            Box::new(move |row, out| {
                let value = values.value(row);
                let (months, days) = (i64::from(value.months), i64::from(value.days));
                write_json(out, &intervals::duration(months, days, value.nanoseconds));
                true
            })
        }
        other => return Err(place.unsupported(other)),
    })
}
