//! Date math: examples, and comparison with jiff.

use jiff::{Span, Timestamp, ToSpan};
use proptest::prelude::*;

use super::super::zone::tests::{ZONES, oracle};
use super::*;

fn at(text: &str) -> i64 {
    i64::try_from(text.parse::<Timestamp>().unwrap().as_nanosecond()).unwrap()
}

fn resolve(text: &str, zone: &str, round_up: bool) -> Result<i64, String> {
    let (format, zone) = (DateFormat::default(), Zone::parse(zone).unwrap());
    DateMath {
        format: &format,
        zone: &zone,
        now_ns: at("2024-05-16T17:18:19.5Z"),
    }
    .resolve(text, round_up)
}

#[test]
fn expressions_are_worked_off_from_left_to_right() {
    for (text, down, up) in [
        ("now", "2024-05-16T17:18:19.5Z", "2024-05-16T17:18:19.5Z"),
        (
            "now-1d/d",
            "2024-05-15T00:00:00Z",
            "2024-05-15T23:59:59.999999999Z",
        ),
        (
            "now/w",
            "2024-05-13T00:00:00Z",
            "2024-05-19T23:59:59.999999999Z",
        ),
        (
            "now/M+1M",
            "2024-06-01T00:00:00Z",
            "2024-06-30T23:59:59.999999999Z",
        ),
        (
            "now/y",
            "2024-01-01T00:00:00Z",
            "2024-12-31T23:59:59.999999999Z",
        ),
        (
            "now/h",
            "2024-05-16T17:00:00Z",
            "2024-05-16T17:59:59.999999999Z",
        ),
        (
            "now/m",
            "2024-05-16T17:18:00Z",
            "2024-05-16T17:18:59.999999999Z",
        ),
        (
            "now/s",
            "2024-05-16T17:18:19Z",
            "2024-05-16T17:18:19.999999999Z",
        ),
        ("now+d", "2024-05-17T17:18:19.5Z", "2024-05-17T17:18:19.5Z"),
        (
            "now-2H+5m-10s",
            "2024-05-16T15:23:09.5Z",
            "2024-05-16T15:23:09.5Z",
        ),
        (
            "2024-01-31||+1M/d",
            "2024-02-29T00:00:00Z",
            "2024-02-29T23:59:59.999999999Z",
        ),
        (
            "2024-02-29||+1y",
            "2025-02-28T00:00:00Z",
            "2025-02-28T00:00:00Z",
        ),
        (
            "2024-01-01||",
            "2024-01-01T00:00:00Z",
            "2024-01-01T00:00:00Z",
        ),
        (
            "2024-01-01||-2w",
            "2023-12-18T00:00:00Z",
            "2023-12-18T00:00:00Z",
        ),
        (
            "2024-01-01",
            "2024-01-01T00:00:00Z",
            "2024-01-01T23:59:59.999999999Z",
        ),
    ] {
        assert_eq!(resolve(text, "UTC", false), Ok(at(down)), "{text}");
        assert_eq!(resolve(text, "UTC", true), Ok(at(up)), "{text}");
    }
}

#[test]
fn days_are_those_of_the_zone() {
    assert_eq!(
        resolve("now/d", "Europe/Berlin", false),
        Ok(at("2024-05-15T22:00:00Z"))
    );
    assert_eq!(
        resolve("2024-03-30T02:30:00||+1d", "Europe/Berlin", false),
        Ok(at("2024-03-31T01:30:00Z"))
    );
    assert_eq!(
        resolve("2024-03-30T02:30:00||+24h", "Europe/Berlin", false),
        Ok(at("2024-03-31T01:30:00Z"))
    );
    assert_eq!(
        resolve("2024-03-31||+1d", "Europe/Berlin", false),
        Ok(at("2024-03-31T22:00:00Z"))
    );
    assert_eq!(
        resolve("2024-03-31||+24h", "Europe/Berlin", false),
        Ok(at("2024-03-31T23:00:00Z"))
    );
    // Adding nothing keeps the second 02:30 of a night.
    assert_eq!(
        resolve("2024-10-27T01:30:00Z||+0d", "Europe/Berlin", false),
        Ok(at("2024-10-27T01:30:00Z"))
    );
}

#[test]
fn dates_are_of_the_format_that_is_given() {
    let (format, zone) = (DateFormat::parse("yyyy/M/d").unwrap(), Zone::utc());
    let math = DateMath {
        format: &format,
        zone: &zone,
        now_ns: 0,
    };
    assert_eq!(
        math.resolve("2016/2/1", false),
        Ok(at("2016-02-01T00:00:00Z"))
    );
    assert_eq!(
        math.resolve("2016/2/1||+1M", false),
        Ok(at("2016-03-01T00:00:00Z"))
    );
    assert!(
        math.resolve("2016-02-01", false)
            .unwrap_err()
            .contains("2016/4/13")
    );
}

#[test]
fn what_is_no_arithmetic_is_refused_with_what_to_write() {
    for text in [
        "now1d",
        "now+",
        "now+1",
        "now+1x",
        "now/2d",
        "now/",
        "now*2d",
        "now+99999999999999999999d",
        "2024-01-01||d",
        "now+é",
    ] {
        let error = resolve(text, "UTC", false).unwrap_err();
        assert!(error.contains(FORM), "{text}: {error}");
    }
    assert!(
        resolve("tomorrow", "UTC", false)
            .unwrap_err()
            .contains("2016-04-13T00:00:00Z")
    );
    assert!(resolve("", "UTC", false).is_err());
    assert!(resolve("||+1d", "UTC", false).is_err());
}

#[test]
fn what_leaves_the_range_is_its_end() {
    for unit in ["y", "M", "w", "d", "h", "m", "s"] {
        for zone in ["UTC", "Pacific/Apia", "America/New_York"] {
            let sum = |sign| resolve(&format!("now{sign}{}{unit}", i64::MAX), zone, false);
            assert_eq!(
                (sum('+'), sum('-')),
                (Ok(i64::MAX), Ok(i64::MIN)),
                "{unit} {zone}"
            );
        }
    }
    assert_eq!(resolve("now+1000y/y", "UTC", true), Ok(i64::MAX));
    assert_eq!(resolve("now-1000y/y", "UTC", false), Ok(i64::MIN));
}

proptest! {
    #[test]
    fn sums_are_those_of_jiff(
        name in prop::sample::select(&ZONES[..]),
        seconds in -2_000_000_000_i64..4_000_000_000,
        count in -400_i64..400,
        unit in prop::sample::select(&['y', 'M', 'w', 'd', 'h', 'm', 's'][..]),
    ) {
        let count = if unit == 'y' { count / 20 } else { count };
        let span: Span = match unit {
            'y' => count.years(),
            'M' => count.months(),
            'w' => count.weeks(),
            'd' => count.days(),
            'h' => count.hours(),
            'm' => count.minutes(),
            _ => count.seconds(),
        };
        let oracle = oracle(name);
        let zoned = Timestamp::from_second(seconds).unwrap().to_zoned(oracle.clone());
        let sum = zoned.checked_add(span).unwrap();
        let (format, zone) = (DateFormat::default(), Zone::parse(name).unwrap());
        let math = DateMath { format: &format, zone: &zone, now_ns: seconds * SECOND_NS };
        let found = math.resolve(&format!("now{count:+}{unit}"), false).unwrap() / SECOND_NS;
        // jiff takes the first of two equal local times; we keep the offset if possible.
        let shown = |seconds: i64| oracle.to_datetime(Timestamp::from_second(seconds).unwrap());
        prop_assert_eq!(shown(found), shown(sum.timestamp().as_second()));
        prop_assert!(found >= sum.timestamp().as_second());
    }

    #[test]
    fn no_text_makes_it_panic(
        text in "(now|2024-01-01\\|\\|)?([-+/][0-9]{0,20}[yMwdhmsé]){0,4}",
        round_up: bool,
        now_ns: i64,
    ) {
        let (format, zone) = (DateFormat::default(), Zone::parse("America/St_Johns").unwrap());
        let _ = DateMath { format: &format, zone: &zone, now_ns }.resolve(&text, round_up);
    }
}
