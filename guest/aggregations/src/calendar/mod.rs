//! Time for date aggregations: intervals, time zones, the starts of buckets, date formats, and date
//! math.
//!
//! Times are nanoseconds since 1970-01-01 UTC in an `i64`, so they range from 1677 to 2262. Times
//! beyond become the ends of that range. This module reads no clock and no files: the caller gives
//! the time of `now`, and the time zones are part of the program, so that every host gives the same
//! answer.

mod civil;
mod format;
mod interval;
mod math;
mod rounding;
mod zone;

pub(crate) use format::DateFormat;
pub(crate) use interval::{CalendarUnit, fixed_interval_ns, offset_ns};
pub(crate) use math::DateMath;
pub(crate) use rounding::{Rounding, RoundingCursor, Span};
pub(crate) use zone::Zone;

/// Resolves a date or date math (`now-1d/d`, `2024-01-01||+1M`) to nanoseconds since 1970. `format`
/// is the format of dates, and `time_zone` the zone of those that name none. With `round_up`, a
/// date without a time of day is its last nanosecond instead of its first.
///
/// # Errors
/// The expression, the format or the zone is invalid. The message describes a valid one.
pub fn resolve_date(
    text: &str,
    format: Option<&str>,
    time_zone: Option<&str>,
    now_ns: i64,
    round_up: bool,
) -> Result<i64, String> {
    let format = match format {
        Some(format) => &DateFormat::parse(format)?,
        None => DateFormat::usual(),
    };
    let zone = match time_zone {
        Some(name) => Zone::parse(name)?,
        None => Zone::utc(),
    };
    let math = DateMath {
        format,
        zone: &zone,
        now_ns,
    };
    math.resolve(text, round_up)
}

/// Formats a time with one of Elasticsearch's formats, in UTC.
///
/// # Errors
/// The format is invalid.
pub fn format_date(time_ns: i64, format: &str) -> Result<String, String> {
    Ok(DateFormat::parse(format)?.format(time_ns, &Zone::utc()))
}
