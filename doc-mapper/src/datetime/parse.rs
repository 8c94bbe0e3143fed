//! Parser of dates from texts and numbers, in the formats that a field accepts.

use jiff::civil;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::{rfc2822, temporal};
use jiff::tz::TimeZone;
use tantivy::DateTime;

use super::named_zone::with_offset;
use super::partial::completed;
use super::rfc3339::{self, days_from_civil};

/// Range of numbers that are unambiguously seconds, from 1972-04-13 to 2242-03-16: smaller numbers
/// of milliseconds are larger than these.
const MIN_SECS: i64 = 72_057_595;
const MAX_SECS: i64 = 8_589_934_591;

/// Entry of `input_formats`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DateInput {
    /// `2024-05-01T10:00:00Z`.
    Rfc3339,
    /// `Wed, 1 May 2024 10:00:00 +0000`.
    Rfc2822,
    /// ISO 8601, including `20240501T100000Z`, dates without time, and times without offset, which
    /// are in UTC.
    Iso8601,
    /// Seconds, milliseconds, microseconds or nanoseconds, distinguished by magnitude. They may have a fraction.
    UnixTimestamp,
    /// Seconds since 1970, which may have a fraction. As Elasticsearch's `epoch_second`.
    UnixSecs,
    /// Milliseconds since 1970. As Elasticsearch's `epoch_millis`.
    UnixMillis,
    /// As `Iso8601`, but a year, a month or an hour suffices, and digits alone are a year if they are four. As
    /// Elasticsearch's `strict_date_optional_time`.
    DateOptionalTime,
    /// strptime pattern.
    Strptime(String),
}

/// Reason for which a value is no date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateParseError {
    /// It matches none of the accepted formats.
    Format,
    /// It is outside 1677 to 2262 (or, for a number, 1972 to 2242).
    Range,
}

impl DateInput {
    /// Parses the name of a format, or a strptime pattern, which is tested.
    ///
    /// # Errors
    /// The pattern is invalid. The message does not contain the field name.
    pub fn parse(text: &str) -> Result<DateInput, String> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "rfc3339" => DateInput::Rfc3339,
            "rfc2822" => DateInput::Rfc2822,
            "iso8601" => DateInput::Iso8601,
            "unix_timestamp" => DateInput::UnixTimestamp,
            "unix_timestamp_secs" => DateInput::UnixSecs,
            "unix_timestamp_millis" => DateInput::UnixMillis,
            "date_optional_time" => DateInput::DateOptionalTime,
            _ if !text.contains('%') => {
                return Err(format!(
                    "unknown format {text:?}; allowed: rfc3339, rfc2822, iso8601, date_optional_time, unix_timestamp, unix_timestamp_secs, unix_timestamp_millis, or a strptime pattern with %"
                ));
            }
            _ => {
                check_pattern(text)?;
                DateInput::Strptime(text.to_string())
            }
        })
    }

    /// Returns whether a text has this format, and is a date within the range of fields.
    #[must_use]
    pub fn reads(&self, text: &str) -> bool {
        parse_str(text, std::slice::from_ref(self)).is_ok()
    }

    /// Returns whether dates may lack their last parts in a range.
    pub(crate) fn has_parts(&self) -> bool {
        matches!(
            self,
            DateInput::Iso8601 | DateInput::Rfc3339 | DateInput::DateOptionalTime
        )
    }

    /// Returns whether a number is read as its text, in a unit that the format says.
    pub fn has_unit(&self) -> bool {
        matches!(self, DateInput::UnixSecs | DateInput::UnixMillis)
    }

    /// Returns whether a number of a document may be a date.
    pub(crate) fn reads_numbers(&self) -> bool {
        // `20240501` and `20240501100007` are written without quotes, too.
        let is_of_digits = |pattern: &str| pattern.starts_with("%Y%m%d");
        self.has_unit()
            || matches!(self, DateInput::UnixTimestamp | DateInput::DateOptionalTime)
            || matches!(self, DateInput::Strptime(pattern) if is_of_digits(pattern))
    }

    /// Returns the name in a config, or the pattern.
    pub fn as_str(&self) -> &str {
        match self {
            DateInput::Rfc3339 => "rfc3339",
            DateInput::Rfc2822 => "rfc2822",
            DateInput::Iso8601 => "iso8601",
            DateInput::UnixTimestamp => "unix_timestamp",
            DateInput::UnixSecs => "unix_timestamp_secs",
            DateInput::UnixMillis => "unix_timestamp_millis",
            DateInput::DateOptionalTime => "date_optional_time",
            DateInput::Strptime(pattern) => pattern,
        }
    }
}

/// Checks that a pattern can write a date and read it back, at least to the day.
fn check_pattern(pattern: &str) -> Result<(), String> {
    // Without a time zone database, any zone name would count as UTC.
    if ["%Z", "%Q", "%:Q"]
        .iter()
        .any(|named| pattern.contains(named))
    {
        return Err(format!(
            "strptime pattern {pattern:?} asks for the name of a time zone; only offsets (%z) are supported"
        ));
    }
    let works = |e: jiff::Error| format!("strptime pattern {pattern:?} does not work: {e}");
    let sample = civil::date(2021, 3, 4)
        .at(5, 6, 7, 0)
        .to_zoned(TimeZone::UTC)
        .map_err(works)?;
    let text = BrokenDownTime::from(&sample)
        .to_string(pattern.trim())
        .map_err(works)?;
    let parsed = parse_broken_down(pattern, text.trim()).map_err(works)?;
    match to_nanos(&parsed) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!(
            "strptime pattern {pattern:?} does not give a full date; it needs a year, a month and a day"
        )),
    }
}

fn parse_broken_down(pattern: &str, text: &str) -> Result<BrokenDownTime, jiff::Error> {
    let pattern = pattern.trim();
    // `%z` accepts `+0200`; Quickwit's also accepts `+02:00`, which is jiff's `%:z`.
    BrokenDownTime::parse(pattern, text).or_else(|error| match pattern.contains("%z") {
        true => BrokenDownTime::parse(pattern.replace("%z", "%:z"), text),
        false => Err(error),
    })
}

/// Converts to nanoseconds. A missing offset means UTC, and a missing time means midnight.
fn to_nanos(parsed: &BrokenDownTime) -> Result<i128, DateParseError> {
    if let Some(timestamp) = parsed.timestamp() {
        return Ok(timestamp.as_nanosecond());
    }
    if parsed.offset().is_some() {
        let timestamp = parsed.to_timestamp().map_err(|_| DateParseError::Format)?;
        return Ok(timestamp.as_nanosecond());
    }
    let date = date_of(parsed).map_err(|_| DateParseError::Format)?;
    let time = if parsed.hour().is_none() {
        civil::Time::midnight()
    } else {
        parsed.to_time().map_err(|_| DateParseError::Format)?
    };
    Ok(civil_nanos(date.to_datetime(time)))
}

/// Returns the day of a date. A year alone begins in January, a month on its first.
fn date_of(parsed: &BrokenDownTime) -> Result<civil::Date, jiff::Error> {
    match parsed.year() {
        Some(year) if parsed.day().is_none() && parsed.day_of_year().is_none() => {
            civil::Date::new(year, parsed.month().unwrap_or(1), 1)
        }
        _ => parsed.to_date(),
    }
}

/// Returns nanoseconds since the epoch of a time in UTC. Timestamps of `jiff` end a day before the year 9999 does.
fn civil_nanos(datetime: civil::DateTime) -> i128 {
    let (date, time) = (datetime.date(), datetime.time());
    let days = days_from_civil(date.year().into(), date.month().into(), date.day().into());
    let hours = days * 24 + i64::from(time.hour());
    let minutes = hours * 60 + i64::from(time.minute());
    let seconds = minutes * 60 + i64::from(time.second());
    i128::from(seconds) * 1_000_000_000 + i128::from(time.subsec_nanosecond())
}

/// Tries the formats in order, ignoring white space around the text.
pub(crate) fn parse_str(text: &str, formats: &[DateInput]) -> Result<DateTime, DateParseError> {
    parse_as(text, formats, |nanos| {
        i64::try_from(nanos)
            .ok()
            .map(DateTime::from_timestamp_nanos)
    })
}

/// Tries the formats in order, and returns milliseconds since the epoch, rounded down, for years from -9999 to 9999.
pub(crate) fn parse_millis(text: &str, formats: &[DateInput]) -> Result<i64, DateParseError> {
    parse_as(text, formats, |nanos| {
        i64::try_from(nanos.div_euclid(1_000_000)).ok()
    })
}

/// Tries the formats in order for a date that `narrow` takes; if the date names its zone, then with its offset.
fn parse_as<T>(
    text: &str,
    formats: &[DateInput],
    narrow: impl Fn(i128) -> Option<T>,
) -> Result<T, DateParseError> {
    let text = text.trim_ascii();
    match parse_plain(text, formats, &narrow) {
        Err(DateParseError::Format) => match with_offset(text) {
            Some(text) => parse_plain(&text, formats, &narrow),
            None => Err(DateParseError::Format),
        },
        read => read,
    }
}

fn parse_plain<T>(
    text: &str,
    formats: &[DateInput],
    narrow: impl Fn(i128) -> Option<T>,
) -> Result<T, DateParseError> {
    let mut error = DateParseError::Format;
    for format in formats {
        let nanos = match format {
            DateInput::Rfc3339 => rfc3339::parse(text.as_bytes()),
            DateInput::Rfc2822 => rfc2822::DateTimeParser::new()
                .relaxed_weekday(true)
                .parse_timestamp(text)
                .map_err(|_| DateParseError::Format)
                .map(jiff::Timestamp::as_nanosecond),
            DateInput::Iso8601 => parse_iso8601(text),
            DateInput::UnixTimestamp => parse_decimal(text).map(i128::from),
            DateInput::UnixSecs => parse_units(text, 1_000_000_000),
            DateInput::UnixMillis => parse_units(text, 1_000_000),
            DateInput::DateOptionalTime => parse_optional_time(text),
            DateInput::Strptime(pattern) => parse_broken_down(pattern, text)
                .map_err(|_| DateParseError::Format)
                .and_then(|parsed| to_nanos(&parsed)),
        };
        match nanos.map(&narrow) {
            Ok(Some(date)) => return Ok(date),
            Ok(None) | Err(DateParseError::Range) => error = DateParseError::Range,
            Err(DateParseError::Format) => {}
        }
    }
    Err(error)
}

/// Parses a date of which the last parts may be missing.
fn parse_optional_time(text: &str) -> Result<i128, DateParseError> {
    const LEN_OF_YEAR: usize = "2024".len();
    match completed(text, true) {
        Some(full) => parse_iso8601(&full),
        None if text.as_bytes().get(LEN_OF_YEAR) == Some(&b'-') => parse_iso8601(text),
        None => Err(DateParseError::Format),
    }
}

/// Parses a number of units since 1970, which may have a fraction.
fn parse_units(text: &str, unit_ns: i128) -> Result<i128, DateParseError> {
    /// Fractions of a nanosecond are cut off.
    const DIGITS: u32 = 9;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let number: i64 = whole.parse().map_err(|_| DateParseError::Format)?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DateParseError::Format);
    }
    let digits = fraction.bytes().map(|digit| i128::from(digit - b'0'));
    let digits = digits.chain(std::iter::repeat(0)).take(DIGITS as usize);
    let fraction = digits.fold(0, |number, digit| number * 10 + digit) * unit_ns;
    let fraction = fraction / 10_i128.pow(DIGITS);
    let is_negative = whole.starts_with('-');
    let whole = i128::from(number) * unit_ns;
    Ok(whole + if is_negative { -fraction } else { fraction })
}

fn parse_iso8601(text: &str) -> Result<i128, DateParseError> {
    let parser = temporal::DateTimeParser::new();
    if let Ok(timestamp) = parser.parse_timestamp(text) {
        return Ok(timestamp.as_nanosecond());
    }
    // The end of the year 9999 is no timestamp of `jiff`.
    if let Ok(nanos) = rfc3339::parse(text.as_bytes()) {
        return Ok(nanos);
    }
    // A local time with an unknown zone name must not count as UTC.
    if text.contains(['[', 'Z', 'z']) {
        return Err(DateParseError::Format);
    }
    let datetime = parser.parse_datetime(text);
    Ok(civil_nanos(datetime.map_err(|_| DateParseError::Format)?))
}

/// Parses a number in a document, which is written as the text of its digits: a double has too few of them.
pub(crate) fn parse_number(text: &str, formats: &[DateInput]) -> Result<DateTime, DateParseError> {
    let plain = without_exponent(text);
    let text = plain.as_deref().unwrap_or(text);
    if !formats.contains(&DateInput::UnixTimestamp) {
        return match formats.iter().any(DateInput::reads_numbers) {
            true => parse_str(text, formats),
            false => Err(DateParseError::Format),
        };
    }
    // Any number has the form of a Unix time.
    parse_decimal(text)
        .map(DateTime::from_timestamp_nanos)
        .map_err(|_| DateParseError::Range)
}

/// Writes a JSON number with an exponent, such as `1.6468614e9`, without one; `None` for other texts.
fn without_exponent(text: &str) -> Option<String> {
    /// Numbers with larger exponents are no times, or whole zeros.
    const MAX_EXPONENT: usize = 40;
    let (number, exponent) = text.split_once(['e', 'E'])?;
    let exponent: isize = exponent.parse().ok()?;
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let num_zeros = exponent.unsigned_abs();
    let is_number = (whole.bytes().chain(fraction.bytes())).all(|byte| byte.is_ascii_digit());
    (num_zeros <= MAX_EXPONENT && is_number).then_some(())?;
    let zeros = "0".repeat(num_zeros);
    let digits = match exponent >= 0 {
        true => format!("{whole}{fraction}{zeros}"),
        false => format!("{zeros}{whole}{fraction}"),
    };
    let point = match exponent >= 0 {
        true => whole.len() + num_zeros,
        false => whole.len(),
    };
    let (whole, fraction) = digits.split_at_checked(point)?;
    let (whole, fraction) = (
        whole.trim_start_matches('0'),
        fraction.trim_end_matches('0'),
    );
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(match fraction {
        "" => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    })
}

fn by_magnitude(n: i64) -> Option<i64> {
    n.checked_mul(nanos_per_unit(n)?)
}

/// Returns the nanoseconds in the unit of a Unix time, which its magnitude tells.
fn nanos_per_unit(n: i64) -> Option<i64> {
    let nanos_per_unit = [1_000_000_000, 1_000_000, 1_000, 1];
    let units_per_sec = [1, 1_000, 1_000_000, 1_000_000_000];
    nanos_per_unit
        .into_iter()
        .zip(units_per_sec)
        .find(|(_, per_sec)| (MIN_SECS * per_sec..=MAX_SECS * per_sec).contains(&n))
        .map(|(nanos, _)| nanos)
}

/// Parses a decimal such as `1337602154.25` exactly, unlike a double. Parts of a nanosecond are cut off.
fn parse_decimal(text: &str) -> Result<i64, DateParseError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: i64 = whole.parse().map_err(|_| DateParseError::Format)?;
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DateParseError::Format);
    }
    let nanos_per_unit = nanos_per_unit(whole).ok_or(DateParseError::Range)?;
    let digits = fraction.bytes().map(|b| i64::from(b - b'0'));
    let (nanos, _) = digits.fold((0, nanos_per_unit), |(nanos, unit), digit| {
        (nanos + digit * (unit / 10), unit / 10)
    });
    let whole = whole.checked_mul(nanos_per_unit);
    whole
        .and_then(|whole| whole.checked_add(nanos))
        .ok_or(DateParseError::Range)
}

/// Parses a date in a query as Quickwit does: RFC 3339, RFC 2822, ISO 8601 with or without a time
/// or offset (UTC then), `2023/05/25`, or a Unix timestamp whose unit follows from its magnitude.
///
/// A number too small to be distinguished is in seconds, so that `0` is the epoch.
pub fn parse_datetime_literal(text: &str) -> Option<DateTime> {
    let text = text.trim_ascii();
    if let Ok(n) = text.parse::<i64>() {
        let nanos = by_magnitude(n).or_else(|| {
            (n.unsigned_abs() <= MAX_SECS.unsigned_abs()).then(|| n.checked_mul(1_000_000_000))?
        })?;
        return Some(DateTime::from_timestamp_nanos(nanos));
    }
    parse_str(
        text,
        &[
            DateInput::Rfc3339,
            DateInput::Iso8601,
            DateInput::UnixTimestamp,
            DateInput::Rfc2822,
            DateInput::Strptime("%Y/%m/%d".to_owned()),
        ],
    )
    .ok()
}
