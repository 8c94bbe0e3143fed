//! Conversion of dates to JSON, as hits show them.

use jiff::Timestamp;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::temporal;
use jiff::tz::TimeZone;
use serde_json::Value;
use tantivy::DateTime;

use super::parse::DateInput;

const RFC2822: &str = "%a, %d %b %Y %H:%M:%S +0000";

/// `output_format` of a datetime field. All texts are in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DateOutput {
    /// `2024-05-01T10:00:00.25Z`.
    Rfc3339,
    /// `Wed, 01 May 2024 10:00:00 +0000`.
    Rfc2822,
    /// `2024-05-01T10:00:00.250000000Z`.
    Iso8601,
    /// Number of seconds, truncated.
    UnixSecs,
    /// Number of milliseconds, truncated.
    UnixMillis,
    /// Number of microseconds, truncated.
    UnixMicros,
    /// Number of nanoseconds.
    UnixNanos,
    /// A strftime pattern.
    Strftime(String),
}

impl DateOutput {
    /// Parses the name of a format, or a strftime pattern, which is tested.
    ///
    /// # Errors
    /// The pattern is invalid. The message does not contain the field name.
    pub fn parse(text: &str) -> Result<DateOutput, String> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "rfc3339" => DateOutput::Rfc3339,
            "rfc2822" => DateOutput::Rfc2822,
            "iso8601" => DateOutput::Iso8601,
            "unix_timestamp_secs" => DateOutput::UnixSecs,
            "unix_timestamp_millis" => DateOutput::UnixMillis,
            "unix_timestamp_micros" => DateOutput::UnixMicros,
            "unix_timestamp_nanos" => DateOutput::UnixNanos,
            _ if !text.contains('%') => {
                return Err(format!(
                    "unknown format {text:?}; allowed: rfc3339, rfc2822, iso8601, unix_timestamp_secs, unix_timestamp_millis, unix_timestamp_micros, unix_timestamp_nanos, or a strftime pattern with %"
                ));
            }
            _ => {
                strftime(text, Timestamp::UNIX_EPOCH)
                    .map_err(|e| format!("strftime pattern {text:?} does not work: {e}"))?;
                DateOutput::Strftime(text.to_string())
            }
        })
    }

    /// Returns the name in a config, or the pattern.
    pub fn as_str(&self) -> &str {
        match self {
            DateOutput::Rfc3339 => "rfc3339",
            DateOutput::Rfc2822 => "rfc2822",
            DateOutput::Iso8601 => "iso8601",
            DateOutput::UnixSecs => "unix_timestamp_secs",
            DateOutput::UnixMillis => "unix_timestamp_millis",
            DateOutput::UnixMicros => "unix_timestamp_micros",
            DateOutput::UnixNanos => "unix_timestamp_nanos",
            DateOutput::Strftime(pattern) => pattern,
        }
    }

    /// Converts a date for a hit: a string, or a number of seconds and so on.
    pub fn to_json(&self, date: DateTime) -> Value {
        let text = match self {
            DateOutput::UnixSecs => return date.into_timestamp_secs().into(),
            DateOutput::UnixMillis => return date.into_timestamp_millis().into(),
            DateOutput::UnixMicros => return date.into_timestamp_micros().into(),
            DateOutput::UnixNanos => return date.into_timestamp_nanos().into(),
            DateOutput::Rfc3339 => return rfc3339_string(date).into(),
            DateOutput::Rfc2822 => strftime(RFC2822, timestamp(date)),
            DateOutput::Iso8601 => {
                let printer = temporal::DateTimePrinter::new().precision(Some(9));
                Ok(printer.timestamp_to_string(&timestamp(date)))
            }
            DateOutput::Strftime(pattern) => strftime(pattern, timestamp(date)),
        };
        text.map_or_else(|_| rfc3339_string(date).into(), Value::String)
    }
}

impl DateInput {
    /// Writes a date as documents have it in this format, unless that is ISO 8601 or one of several forms.
    pub fn written(&self, date: DateTime) -> Option<String> {
        match self {
            DateInput::UnixSecs => Some(date.into_timestamp_secs().to_string()),
            DateInput::UnixMillis => {
                let nanos = date.into_timestamp_nanos();
                Some(nanos.div_euclid(1_000_000).to_string())
            }
            // A fraction is read with any number of digits.
            DateInput::Strptime(pattern) => {
                strftime(&pattern.replace("%.f", "%.3f"), timestamp(date)).ok()
            }
            _ => None,
        }
    }
}

fn strftime(pattern: &str, timestamp: Timestamp) -> Result<String, jiff::Error> {
    BrokenDownTime::from(&timestamp.to_zoned(TimeZone::UTC)).to_string(pattern)
}

/// Converts a date; all 64-bit nanoseconds are within jiff's years -9999 to 9999.
fn timestamp(date: DateTime) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(date.into_timestamp_nanos())).unwrap_or_default()
}

/// Formats a date with as few decimals as represent it exactly.
pub(crate) fn rfc3339_string(date: DateTime) -> String {
    timestamp(date).to_string()
}
