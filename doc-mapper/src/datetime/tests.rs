//! Dates in all formats, and invalid patterns.

use super::*;

fn nanos(text: &str, formats: &[&str]) -> Result<i64, DateParseError> {
    let formats: Vec<DateInput> = formats
        .iter()
        .map(|f| DateInput::parse(f).unwrap())
        .collect();
    parse_str(text, &formats).map(tantivy::DateTime::into_timestamp_nanos)
}

/// 2012-05-21T12:09:14Z.
const SECS: i64 = 1_337_602_154;
const NANOS: i64 = SECS * 1_000_000_000;

#[test]
fn every_input_format_reads_its_dates() {
    let check = |format: &str, text: &str, expect: i64| {
        assert_eq!(nanos(text, &[format]), Ok(expect), "{format}: {text}");
    };
    check("rfc3339", "2012-05-21T12:09:14Z", NANOS);
    check("rfc3339", " 2012-05-21t14:09:14+02:00 ", NANOS);
    check("rfc3339", "2012-05-21 12:09:14-00:00", NANOS);
    check("rfc3339", "2012-05-21T12:09:14.5Z", NANOS + 500_000_000);
    check(
        "rfc3339",
        "2012-05-21T12:09:14.1234567891Z",
        NANOS + 123_456_789,
    );
    check("rfc3339", "1970-01-01T00:00:00Z", 0);
    check("rfc3339", "1969-12-31T23:59:59Z", -1_000_000_000);
    check("rfc3339", "2024-02-29T00:00:00Z", 1_709_164_800_000_000_000);
    check("rfc3339", "2016-12-31T23:59:60Z", 1_483_228_799_999_999_999);
    check("rfc2822", "Mon, 21 May 2012 12:09:14 GMT", NANOS);
    check("rfc2822", "Tue, 21 May 2012 14:09:14 +0200", NANOS);
    check("iso8601", "20120521T120914Z", NANOS);
    check("iso8601", "2012-05-21T12:09:14", NANOS);
    check("iso8601", "2012-05-21", 1_337_558_400_000_000_000);
    check("unix_timestamp", "1337602154", NANOS);
    check("unix_timestamp", "1337602154.0", NANOS);
    check("unix_timestamp", "1337602154.", NANOS);
    check(
        "unix_timestamp",
        "1337602154.123456789",
        NANOS + 123_456_789,
    );
    check("unix_timestamp", "1337602154123", NANOS + 123_000_000);
    check("unix_timestamp", "1337602154123456", NANOS + 123_456_000);
    check("unix_timestamp", "1337602154123456789", NANOS + 123_456_789);
    check("unix_timestamp_secs", "1337602154", NANOS);
    check("unix_timestamp_secs", "0.25", 250_000_000);
    check("unix_timestamp_millis", "1337602154000", NANOS);
    check("unix_timestamp_millis", "1000", 1_000_000_000);
    check("unix_timestamp_millis", "-1.5", -1_500_000);
    check("date_optional_time", "2012-05-21T12:09:14Z", NANOS);
    check("date_optional_time", "2012", 1_325_376_000_000_000_000);
    check("date_optional_time", "2012-05", 1_335_830_400_000_000_000);
    check(
        "date_optional_time",
        "2012-05-21",
        1_337_558_400_000_000_000,
    );
    check(
        "date_optional_time",
        "2012-05-21T12",
        1_337_601_600_000_000_000,
    );
    check(
        "date_optional_time",
        "2012-05-21T12:09:14.5+00:00",
        NANOS + 500_000_000,
    );
    check("%Y-%m-%d %H:%M:%S", "2012-05-21 12:09:14", NANOS);
    check(" %Y/%m/%d %H:%M:%S ", "2012/05/21 12:09:14", NANOS);
    check("%Y-%m-%d %H:%M:%S %z", "2012-05-21 14:09:14 +0200", NANOS);
    check("%Y-%m-%d %H:%M:%S %z", "2012-05-21 14:09:14 +02:00", NANOS);
    check(
        "%Y-%m-%d %H:%M:%S.%f",
        "2012-05-21 12:09:14.950",
        NANOS + 950_000_000,
    );
    check(
        "%Y-%m-%dT%H:%M:%S.%f%z",
        "2012-05-21T08:09:14.5-0400",
        NANOS + 500_000_000,
    );
    check("%Y-%m-%d %I:%M:%S %p", "2012-05-21 12:09:14 pm", NANOS);
    check("%Y-%m-%d", "2012-05-21", 1_337_558_400_000_000_000);
    check("%d/%b/%Y:%H:%M:%S %z", "21/May/2012:12:09:14 +0000", NANOS);
}

#[test]
fn texts_without_a_type_are_dates_if_they_say_a_day_and_a_time() {
    let check = |text: &str, expect: Option<i64>| {
        let got = super::infer_date(text).map(tantivy::DateTime::into_timestamp_nanos);
        assert_eq!(got, expect, "{text}");
    };
    check("2012-05-21T12:09:14Z", Some(NANOS));
    check("2012-05-21T12:09:14", Some(NANOS));
    check("2012-05-21 12:09:14", Some(NANOS));
    check("2012-05-21T14:09:14+0200", Some(NANOS));
    check("2012-05-21 14:09:14.5+02:00", Some(NANOS + 500_000_000));
    check("2012-05-21 12:09:14,123", Some(NANOS + 123_000_000));
    check("2012-05-21T12:09:14.000001", Some(NANOS + 1_000));
    for text in [
        "",
        "2012-05-21",
        "2012-05-21T12:09",
        "2012-05-21T12:09:14 Z",
        "2012-05-21T12:09:14+02",
        "2012-05-21x12:09:14",
        "2012-05-21T12:09:14 done",
        "2012-05-21T12:09:14.",
        "1337602154",
        "2012-13-21T12:09:14",
        "20120521T120914",
    ] {
        check(text, None);
    }
}

#[test]
fn formats_are_tried_in_their_order() {
    let formats = ["rfc3339", "%d/%m/%Y", "%m/%d/%Y", "unix_timestamp"];
    assert_eq!(
        nanos("02/01/2000", &formats),
        nanos("2000-01-02", &["iso8601"])
    );
    assert_eq!(
        nanos("01/31/2000", &formats),
        nanos("2000-01-31", &["iso8601"])
    );
    assert_eq!(nanos("1337602154", &formats), Ok(NANOS));
}

#[test]
fn what_is_no_date_is_told_from_what_is_out_of_range() {
    use DateParseError::{Format, Range};
    let check = |format: &str, text: &str, expect: DateParseError| {
        assert_eq!(nanos(text, &[format]), Err(expect), "{format}: {text}");
    };
    for text in [
        "",
        "2012",
        "2012-05-21",
        "2012-05-21T12:09:14",
        "2012-13-21T12:09:14Z",
        "2023-02-29T00:00:00Z",
        "2012-05-21T24:09:14Z",
        "2012-05-21T12:60:14Z",
        "2012-05-21T12:09:14.Z",
        "2012-05-21T12:09:14+0200",
        "2012-05-21T12:09:14+24:00",
        "2012-05-21T12:09:14ZZ",
        "2012-05-00T12:09:14Z",
        "é012-05-21T12:09:14Z",
    ] {
        check("rfc3339", text, Format);
    }
    check("rfc3339", "0001-01-01T00:00:00Z", Range);
    check("rfc3339", "9999-12-31T23:59:59Z", Range);
    check("iso8601", "9999-12-31", Range);
    check("unix_timestamp", "1", Range);
    check("unix_timestamp", "9223372036854775807", Range);
    check("unix_timestamp", "99999999999999999999", Format);
    check("unix_timestamp", "1337602154.x", Format);
    check("unix_timestamp", "-1337602154", Range);
    check("%Y-%m-%d", "21.05.2012", Format);
}

#[test]
fn numbers_are_told_apart_by_magnitude() {
    let formats = [DateInput::UnixTimestamp];
    let check = |number: &str, expect: Result<i64, DateParseError>| {
        let got = parse_number(number, &formats).map(tantivy::DateTime::into_timestamp_nanos);
        assert_eq!(got, expect, "{number}");
    };
    check("1337602154", Ok(NANOS));
    check("1337602154000", Ok(NANOS));
    check("1337602154000000", Ok(NANOS));
    check("1337602154000000000", Ok(NANOS));
    check("1337602154.25", Ok(NANOS + 250_000_000));
    check("1337602154.123456789123", Ok(NANOS + 123_456_789));
    check("1337602154123.5", Ok(NANOS + 123_500_000));
    check("1337602154000001.5", Ok(NANOS + 1_500));
    check("1337602154000000001.5", Ok(NANOS + 1));
    check("1.337602154e12", Ok(NANOS));
    check("1.3376021545E+9", Ok(NANOS + 500_000_000));
    check("13376021545e-1", Ok(NANOS + 500_000_000));
    for number in [
        "0",
        "1",
        "-1",
        "72057594",
        "9223372036854775807",
        "0.5",
        "-1.5",
        "1e300",
        "1e-300",
        "NaN",
        "inf",
    ] {
        check(number, Err(DateParseError::Range));
    }
}

proptest::proptest! {
    /// Any number of decimals, in any unit, against integers of 128 bits.
    #[test]
    fn fractions_of_unix_times_are_exact(
        seconds in 1_000_000_000_i64..4_102_444_800,
        unit in 0_u32..4,
        fraction in "[0-9]{0,20}",
        exponent in -9_i32..10,
    ) {
        let digits = format!("{seconds}{fraction}");
        // The point stands behind the digits of whole units.
        let num_whole = 10 + 3 * unit as usize;
        let all = format!("{digits:0<width$}", width = num_whole.max(digits.len()));
        let (whole, part) = all.split_at(num_whole);
        let text = match part {
            "" => whole.to_owned(),
            part => format!("{whole}.{part}"),
        };
        let nine: String = fraction.chars().chain("000000000".chars()).take(9).collect();
        let expect = i128::from(seconds) * 1_000_000_000 + nine.parse::<i128>().unwrap();
        let expect = Ok(i64::try_from(expect).unwrap());
        let read = |got: Result<tantivy::DateTime, DateParseError>| {
            got.map(tantivy::DateTime::into_timestamp_nanos)
        };
        let formats = [DateInput::Rfc3339, DateInput::UnixTimestamp];
        proptest::prop_assert_eq!(read(parse_number(&text, &formats)), expect, "{}", &text);
        proptest::prop_assert_eq!(read(parse_str(&text, &formats)), expect, "{}", &text);
        // The same number with an exponent.
        let moved = num_whole as i32 - exponent;
        if moved > 0 && (moved as usize) < all.len() {
            let (whole, part) = all.split_at(moved as usize);
            let text = format!("{whole}.{part}e{exponent}");
            proptest::prop_assert_eq!(read(parse_number(&text, &formats)), expect, "{}", &text);
        }
    }
}

#[test]
fn every_output_format_writes_its_dates() {
    let date = tantivy::DateTime::from_timestamp_nanos(NANOS + 250_000_000);
    let check = |format: &str, expect: serde_json::Value| {
        let format = DateOutput::parse(format).unwrap();
        assert_eq!(format.to_json(date), expect, "{format:?}");
    };
    check("rfc3339", "2012-05-21T12:09:14.25Z".into());
    check("iso8601", "2012-05-21T12:09:14.250000000Z".into());
    check("rfc2822", "Mon, 21 May 2012 12:09:14 +0000".into());
    check("unix_timestamp_secs", SECS.into());
    check("unix_timestamp_millis", (SECS * 1_000 + 250).into());
    check("unix_timestamp_micros", (SECS * 1_000_000 + 250_000).into());
    check("unix_timestamp_nanos", (NANOS + 250_000_000).into());
    check("%Y/%m/%d %H:%M:%S%.3f", "2012/05/21 12:09:14.250".into());
}

#[test]
fn patterns_that_cannot_work_are_refused_when_they_are_read() {
    let check = |pattern: &str, expect: &str| {
        let error = DateInput::parse(pattern).unwrap_err();
        assert!(error.contains(expect), "{pattern}: {error}");
    };
    check(
        "rfc-3339",
        "unknown format \"rfc-3339\"; allowed: rfc3339, rfc2822",
    );
    check("unix_timestamp_micros", "unknown format");
    check("%b %d %H:%M:%S", "needs a year");
    check("%H:%M", "needs a year");
    check("%Y-%m-%d %Q", "only offsets (%z) are supported");
    check("%Y-%m-%d %Z", "only offsets (%z) are supported");
    check("%Y-%m-%d %E", "does not work");
    check("%Y-%m-%d %", "does not work");
    assert!(DateOutput::parse("%Y-%q-%&").is_err());
    assert!(DateOutput::parse("unix_timestamp").is_err());
}

#[test]
fn a_literal_is_a_date_a_time_or_a_timestamp() {
    let check = |text: &str, expect: Option<i64>| {
        let got = parse_datetime_literal(text).map(tantivy::DateTime::into_timestamp_nanos);
        assert_eq!(got, expect, "{text}");
    };
    check("2012-05-21T12:09:14Z", Some(NANOS));
    check("2012-05-21T12:09:14", Some(NANOS));
    check("2012-05-21 12:09:14", Some(NANOS));
    check("2012-05-21", Some(1_337_558_400_000_000_000));
    check("2012/05/21", Some(1_337_558_400_000_000_000));
    check("2012-05-21 12:09:14.000", Some(NANOS));
    check("Mon, 21 May 2012 12:09:14 +0000", Some(NANOS));
    check("Mon, 21 May 2012 14:09:14 +0200", Some(NANOS));
    check("1337602154", Some(NANOS));
    check("1337602154123", Some(NANOS + 123_000_000));
    check("1337602154.5", Some(NANOS + 500_000_000));
    check("0", Some(0));
    check("-5", Some(-5_000_000_000));
    for none in [
        "",
        "now",
        "2012-13-01",
        "error",
        "9223372036854775807",
        "2012-05-21T12:09:14Z[Europe/Paris",
    ] {
        check(none, None);
    }
}

#[test]
fn times_of_arguments_are_seconds_or_dates() {
    let check = |text: &str, expect: Option<i64>| {
        assert_eq!(parse_seconds(text).ok(), expect, "{text}");
    };
    check("0", Some(0));
    check("-5", Some(-5));
    check("1460505600", Some(1_460_505_600));
    check("2016-04-13", Some(1_460_505_600));
    check("2016-04-13T01:00:00Z", Some(1_460_509_200));
    check("2016-04-13T01:00:00+01:00", Some(1_460_505_600));
    check("yesterday", None);
    check("", None);
}
