//! Bytes and times in command line arguments.

use std::time::Duration;

pub(crate) use canter_runtime::parse_bytes;

/// Parses bytes as [`parse_bytes`] does, at least one.
pub(crate) fn parse_some_bytes(text: &str) -> Result<u64, String> {
    match parse_bytes(text)? {
        0 => Err("0 bytes are too few: give at least 1".to_owned()),
        num_bytes => Ok(num_bytes),
    }
}

/// Parses a time span: `30s`, `500ms`, `5m`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<jiff::SignedDuration>().ok();
    let span = span.and_then(|span| Duration::try_from(span).ok());
    span.ok_or_else(|| "not a time span such as 30s, 500ms or 5m".to_owned())
}

/// Parses a time span as [`parse_duration`] does, longer than zero.
pub(crate) fn parse_some_duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        Duration::ZERO => Err("no time at all: give at least 1ms".to_owned()),
        span => Ok(span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_hold_something_is_not_empty() {
        assert_eq!(parse_some_bytes("1GiB"), Ok(1 << 30));
        assert!(parse_some_bytes("0MB").unwrap_err().contains("at least 1"));
        assert!(parse_some_bytes("MB").unwrap_err().contains("512MiB"));
    }

    #[test]
    fn times_have_a_unit() {
        let check = |text: &str, expect: Option<u64>| {
            let expect = expect.map(Duration::from_millis);
            assert_eq!(parse_duration(text).ok(), expect, "{text}");
        };
        check("0s", Some(0));
        check("500ms", Some(500));
        check("30s", Some(30_000));
        check("5m", Some(300_000));
        check("1h", Some(3_600_000));
        for wrong in ["", "30", "-5s", "soon"] {
            check(wrong, None);
        }
    }
}
