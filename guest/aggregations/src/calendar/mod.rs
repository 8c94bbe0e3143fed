//! What date aggregations need to know of time: intervals, time zones, where buckets begin, how dates are
//! written and read, and date arithmetic.
//!
//! Times are nanoseconds since 1970-01-01 UTC in an `i64`, so from 1677 to 2262. What lies beyond is taken
//! as the end of that range. Nothing here reads a clock or a file: the time of `now` is given, and the time
//! zones are part of the program, so that every host gives the same answer.

mod civil;
mod format;
mod interval;
mod math;
mod rounding;
mod span;
mod zone;
mod zones;

pub(crate) use format::DateFormat;
pub(crate) use interval::{CalendarUnit, fixed_interval_ns, offset_ns};
pub(crate) use math::DateMath;
pub(crate) use rounding::{Rounding, RoundingCursor};
pub(crate) use span::Span;
pub(crate) use zone::Zone;

/// The time of a date or of date arithmetic (`now-1d/d`, `2024-01-01||+1M`), in nanoseconds since 1970. `format` says
/// how dates are written, and `time_zone` where those are that name no zone. With `round_up`, a day that is not said
/// further is its last nanosecond and not its first.
///
/// # Errors
/// What to write instead.
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

/// A time in a format of Elasticsearch's, in UTC.
///
/// # Errors
/// What is wrong with the format.
pub fn format_date(time_ns: i64, format: &str) -> Result<String, String> {
    Ok(DateFormat::parse(format)?.format(time_ns, &Zone::utc()))
}
