//! Valid and invalid intervals.

use super::*;

#[test]
fn fixed_intervals_are_numbers_and_units() {
    for (text, ns) in [
        ("500ms", 500_000_000),
        ("30s", 30_000_000_000),
        ("5m", 300_000_000_000),
        ("1h", 3_600_000_000_000),
        ("7d", 604_800_000_000_000),
        ("2milliseconds", 2_000_000),
        ("2seconds", 2_000_000_000),
        ("2minutes", 120_000_000_000),
        ("2hours", 7_200_000_000_000),
        ("2days", 172_800_000_000_000),
        ("106751d", 106_751 * 86_400_000_000_000),
    ] {
        assert_eq!(fixed_interval_ns(text), Ok(ns), "{text}");
    }
    for text in [
        "",
        "5",
        "s",
        "0s",
        "-1s",
        "+1s",
        "1M",
        "1w",
        "1y",
        "1.5h",
        "1 h",
        "106752d",
        "99999999999999999999s",
        "é",
    ] {
        assert!(
            fixed_interval_ns(text).unwrap_err().contains("such as 30s"),
            "{text}"
        );
    }
}

#[test]
fn offsets_have_a_sign_or_none() {
    for (text, ns) in [
        ("+6h", 21_600_000_000_000),
        ("-1d", -86_400_000_000_000),
        ("30m", 1_800_000_000_000),
        ("0", 0),
        ("-0s", 0),
    ] {
        assert_eq!(offset_ns(text), Ok(ns), "{text}");
    }
    for text in ["", "+", "--1h", "+-1h", "6", "1M", "-999999999999d"] {
        assert!(
            offset_ns(text).unwrap_err().contains("such as +6h"),
            "{text}"
        );
    }
}

#[test]
fn calendar_intervals_are_single_units() {
    use CalendarUnit::*;
    for (names, unit) in [
        (["second", "1s"], Second),
        (["minute", "1m"], Minute),
        (["hour", "1h"], Hour),
        (["day", "1d"], Day),
        (["week", "1w"], Week),
        (["month", "1M"], Month),
        (["quarter", "1q"], Quarter),
        (["year", "1y"], Year),
    ] {
        for name in names {
            assert_eq!(CalendarUnit::parse(name), Ok(unit));
        }
    }
    for text in ["", "2d", "Month", "days", "1Q", "d"] {
        assert!(
            CalendarUnit::parse(text)
                .unwrap_err()
                .contains("fixed_interval"),
            "{text}"
        );
    }
}
