//! Times in every form, and what they say.

use super::MonthDay;
use super::*;
use proptest::prelude::*;

fn written(text: &str, reference: &Reference<'_>) -> Vec<String> {
    let read = |form| match read(form, text.as_bytes(), 0) {
        Some((Reading::Time(stamp), end)) if end == text.len() => {
            let mut out = Vec::new();
            match stamp.write(reference, &mut out) {
                Some(()) => {}
                None => stamp.write_clock(&mut out),
            }
            Some(String::from_utf8(out).unwrap())
        }
        Some((Reading::Uptime { start, end }, _)) => Some(text[start..end].to_string()),
        _ => None,
    };
    TimeForm::all().filter_map(read).collect()
}

#[test]
fn times_are_read_in_every_form() {
    let reference = Reference {
        year: Some(2024),
        ..Reference::default()
    };
    let check = |text: &str, expect: &str| {
        let written = written(text, &reference);
        assert!(
            written.iter().any(|time| time == expect),
            "{text}: {written:?}"
        );
    };
    check("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z");
    check("2024-05-01t10:00:00.5z", "2024-05-01T10:00:00.5Z");
    check("2024-05-01 10:00:00,123", "2024-05-01T10:00:00.123Z");
    check(
        "2024-05-01T10:00:00.123456789+02:00",
        "2024-05-01T10:00:00.123456789+02:00",
    );
    check(
        "2024-05-01T10:00:00.1234567891",
        "2024-05-01T10:00:00.123456789Z",
    );
    check("2024-05-01 10:00:00 -0730", "2024-05-01T10:00:00-07:30");
    check("2024-05-01 10:00:00.123 UTC", "2024-05-01T10:00:00.123Z");
    check("2024-05-01 10:00:00 CEST", "2024-05-01T10:00:00+02:00");
    check("2024-05-01 10:00:00+00", "2024-05-01T10:00:00Z");
    check(
        "2024-05-01T10:00:00+02:00[Europe/Berlin]",
        "2024-05-01T10:00:00+02:00",
    );
    check("2024/05/01 10:00:00", "2024-05-01T10:00:00Z");
    check("2024-05-01 10:00", "2024-05-01T10:00:00Z");
    check("2005-06-03-15.42.50.363779", "2005-06-03T15:42:50.363779Z");
    check("20171223-22:15:29:606", "2017-12-23T22:15:29.606Z");
    check("20171224-0:0:1:12", "2017-12-24T00:00:01.012Z");
    check("20240501T100000Z", "2024-05-01T10:00:00Z");
    check("20240501100000", "2024-05-01T10:00:00Z");
    check("17/06/09 20:10:40", "2017-06-09T20:10:40Z");
    check("081109 203615", "2008-11-09T20:36:15Z");
    check("240501  9:05:07", "2024-05-01T09:05:07Z");
    check("01-May-2024 10:00:00 UTC", "2024-05-01T10:00:00Z");
    check("01-May-2024 10:00:00.123", "2024-05-01T10:00:00.123Z");
    check("1-May-2024::10:00:00", "2024-05-01T10:00:00Z");
    check("01 May 2024 10:00:00.123", "2024-05-01T10:00:00.123Z");
    check("01/May/2024:10:00:00 +0000", "2024-05-01T10:00:00Z");
    check("Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00Z");
    check("May 01, 2024 10:00:00 AM", "2024-05-01T10:00:00Z");
    check("May 1, 2024 12:05:00 AM", "2024-05-01T00:05:00Z");
    check("Sun Dec 04 04:47:44 2005", "2005-12-04T04:47:44Z");
    check(
        "Sun Dec  4 04:47:44.123456 2005",
        "2005-12-04T04:47:44.123456Z",
    );
    check("Wed May  1 10:00:00 UTC 2024", "2024-05-01T10:00:00Z");
    check("May  1 10:00:00", "2024-05-01T10:00:00Z");
    check("Feb 29 10:00:00", "2024-02-29T10:00:00Z");
    check("05-01 10:00:00.123", "2024-05-01T10:00:00.123Z");
    check("10.30 16:49:06", "2024-10-30T16:49:06Z");
    check("5/1/2024 1:02:03 PM", "2024-05-01T13:02:03Z");
    check("31/12/2024 10:00:00", "2024-12-31T10:00:00Z");
    check("31.12.2024 10:00:00", "2024-12-31T10:00:00Z");
    check("12/31/24 10:00:00", "2024-12-31T10:00:00Z");
    check("I0501 10:00:00.123456", "2024-05-01T10:00:00.123456Z");
    check("E20240501 10:00:00.123456", "2024-05-01T10:00:00.123456Z");
    check("1117838570", "2005-06-03T22:42:50Z");
    check("1714557600.52", "2024-05-01T10:00:00.52Z");
    check("1714557600123", "2024-05-01T10:00:00.123Z");
    check("1714557600123456789", "2024-05-01T10:00:00.123456789Z");
    check("[    12.345678]", "12.345678");
    check("10:00:00.123", "10:00:00.123");
    check("10:00PM", "22:00:00");
    check("2024年5月1日 10:00:00", "2024-05-01T10:00:00Z");
    check("2024年05月01日 10時00分07秒", "2024-05-01T10:00:07Z");
    check("2024-W18-3T10:00:00Z", "2024-05-01T10:00:00Z");
    // The first day of a year may be of the last week of another, and the last of the first.
    check("2020-W53-5T10:00:00Z", "2021-01-01T10:00:00Z");
    check("2025-W01-1T10:00:00Z", "2024-12-30T10:00:00Z");
    check("2024-122T10:00:00Z", "2024-05-01T10:00:00Z");
    check("2024-366T10:00:00Z", "2024-12-31T10:00:00Z");
    check("1. Mai 2024 10:00:00", "2024-05-01T10:00:00Z");
    check("1 févr. 2024 10:00:00", "2024-02-01T10:00:00Z");
    check("01-ene-2024 10:00:00.123", "2024-01-01T10:00:00.123Z");
    check("3 März 2024 10:00:00", "2024-03-03T10:00:00Z");
    check("2024-05-01 10-00-07", "2024-05-01T10:00:07Z");
    check("2024/05/01 - 10:00:00", "2024-05-01T10:00:00Z");
    check("2024-05-01;10:00:00", "2024-05-01T10:00:00Z");
    // Firewalls of Sophos, and cameras.
    check("2024:05:01-10:00:07", "2024-05-01T10:00:07Z");
    check("2024:05:01 10:00:07", "2024-05-01T10:00:07Z");
    // Windows' sammui.log.
    check("2024\\5\\1  7:8:27", "2024-05-01T07:08:27Z");
    // TIBCO's logs.
    check(
        "2024 May 01 10:00:07:123 GMT -0500",
        "2024-05-01T10:00:07.123-05:00",
    );
    check("2024.05.01 10:00:07 123 +0000", "2024-05-01T10:00:07.123Z");
    check("2024-05-01 10:00:07123", "2024-05-01T10:00:07.123Z");
    check("[    12.345]", "12.345");
    check("2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z");
}

#[test]
fn what_only_looks_like_a_time_is_none() {
    for text in [
        "",
        "10:00",
        "2024-05-01",
        "2024-13-01 10:00:00",
        "2023-02-29 10:00:00",
        "2024-05-01 24:00:00",
        "2024-05-01 10:60:00",
        "10.0.0.1",
        "1.2.3",
        "0714557600",
        "9914557600",
        "12345678",
        "99:00:00",
        "2024-05-01 10:00:00x",
        "13:00 PM",
        "Mae 1 10:00:00",
        "J0501 10:00:00.123456",
        "[12.5]",
        "1/2",
        "32.12.2024 10:00:00",
        "1714557600.1.2",
        "2023-366T10:00:00Z",
        "2024-W54-1T10:00:00Z",
        "2024-W18-8T10:00:00Z",
        "2024-05-01 10-00",
        "2024-05-01 10:00:0712",
        "2024-05-01 10:00:07 123",
        "10:00:07123",
    ] {
        assert_eq!(
            written(text, &Reference::default()),
            Vec::<String>::new(),
            "{text}"
        );
    }
}

#[test]
fn a_year_that_is_not_written_is_the_latest_that_is_no_more_than_a_day_ahead() {
    let check = |text: &str, end: (u16, u8, u8), expect: &str| {
        let (year, month, day) = end;
        let reference = Reference {
            ended: Some(MonthDay { year, month, day }),
            zone: &Zone::east(-90),
            ..Reference::default()
        };
        assert_eq!(written(text, &reference), [expect], "{text} before {end:?}");
    };
    check("May  1 10:00:00", (2024, 5, 1), "2024-05-01T10:00:00-01:30");
    check("May  2 10:00:00", (2024, 5, 1), "2024-05-02T10:00:00-01:30");
    check("May  3 10:00:00", (2024, 5, 1), "2023-05-03T10:00:00-01:30");
    check(
        "Feb  1 10:00:00",
        (2024, 1, 31),
        "2024-02-01T10:00:00-01:30",
    );
    check("Dec 31 23:59:59", (2025, 1, 1), "2024-12-31T23:59:59-01:30");
    check(
        "Jan  1 00:00:01",
        (2024, 12, 31),
        "2025-01-01T00:00:01-01:30",
    );
    check(
        "Jan  2 00:00:01",
        (2024, 12, 31),
        "2024-01-02T00:00:01-01:30",
    );
    check("Feb 29 00:00:01", (2023, 6, 1), "2020-02-29T00:00:01-01:30");
}

#[test]
fn zones_are_offsets() {
    for (text, expect) in [
        ("UTC", Some(0)),
        ("Z", Some(0)),
        ("+02:00", Some(120)),
        ("-0730", Some(-450)),
        ("+01", Some(60)),
        ("Europe/Berlin", None),
        ("", None),
        (" UTC", None),
        ("+2", None),
        ("+24:00", None),
    ] {
        assert_eq!(super::form::zone_minutes(text), expect, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_at_any_place_does_no_harm(text in "[0-9A-Za-z:./,+ \\[\\]é-]{0,40}", place in 0..50_usize) {
        for form in TimeForm::all() {
            if let Some((_, end)) = read(form, text.as_bytes(), place) {
                prop_assert!(end > place && end <= text.len());
            }
        }
    }

    #[test]
    fn days_are_counted_and_counted_back(days in -300_000..300_000_i64) {
        if let Some(day) = super::calendar::day_of(days) {
            prop_assert_eq!(super::calendar::days_since_1970(day), days);
        }
    }
}
