//! Formats: examples, comparison with jiff's printer, and round trips.

use jiff::Timestamp;
use jiff::fmt::strtime;
use proptest::prelude::*;

use super::super::zone::Zone;
use super::super::zone::tests::{ZONES, oracle};
use super::named::names;
use super::*;

fn at(text: &str) -> i64 {
    i64::try_from(text.parse::<Timestamp>().unwrap().as_nanosecond()).unwrap()
}

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn print(format: &str, time: &str, name: &str) -> String {
    DateFormat::parse(format)
        .unwrap()
        .format(at(time), &zone(name))
}

fn read(format: &str, text: &str) -> Result<i64, String> {
    DateFormat::parse(format)
        .unwrap()
        .read(text, &Zone::utc(), false)
}

#[test]
fn elasticsearchs_default_always_has_milliseconds() {
    let format = DateFormat::with_milliseconds();
    for (time, name, expect) in [
        ("2016-04-13T00:00:00Z", "UTC", "2016-04-13T00:00:00.000Z"),
        (
            "2016-04-12T22:00:00Z",
            "Europe/Berlin",
            "2016-04-13T00:00:00.000+02:00",
        ),
        (
            "2016-04-13T00:00:00.000001Z",
            "UTC",
            "2016-04-13T00:00:00.000001Z",
        ),
    ] {
        assert_eq!(format.format(at(time), &zone(name)), expect);
        assert_eq!(format.read(expect, &Zone::utc(), false), Ok(at(time)));
    }
}

#[test]
fn the_default_is_rfc_3339_with_no_more_digits_than_it_takes() {
    let format = DateFormat::default();
    for (time, name, expect) in [
        ("2016-04-13T00:00:00Z", "UTC", "2016-04-13T00:00:00Z"),
        (
            "2016-04-12T22:00:00Z",
            "Europe/Berlin",
            "2016-04-13T00:00:00+02:00",
        ),
        ("2016-04-13T00:00:00.5Z", "UTC", "2016-04-13T00:00:00.500Z"),
        (
            "2016-04-13T00:00:00.000001Z",
            "UTC",
            "2016-04-13T00:00:00.000001Z",
        ),
        (
            "2016-04-13T00:00:00.123456789Z",
            "-03:30",
            "2016-04-12T20:30:00.123456789-03:30",
        ),
        (
            "1880-01-01T00:00:00Z",
            "Europe/Berlin",
            "1880-01-01T00:53:28+00:53:28",
        ),
    ] {
        assert_eq!(format.format(at(time), &zone(name)), expect);
        assert_eq!(format.read(expect, &Zone::utc(), false), Ok(at(time)));
    }
    assert_eq!(
        format.read("1460505600000", &Zone::utc(), false),
        Ok(at("2016-04-13T00:00:00Z"))
    );
    assert_eq!(
        format.read("2016", &Zone::utc(), false),
        Ok(at("2016-01-01T00:00:00Z"))
    );
}

#[test]
fn letters_are_those_of_java() {
    for (format, expect) in [
        ("yyyy-MM-dd", "2016-04-03"),
        (
            "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            "2016-04-03T17:05:09.012+02:00",
        ),
        ("yy y yyy yyyyy uuuu", "16 2016 2016 02016 2016"),
        ("M MM MMM MMMM MMMMM L", "4 04 Apr April A 4"),
        ("d dd", "3 03"),
        ("E EEE EEEE EEEEE", "Sun Sun Sunday S"),
        ("e ee eee c", "7 07 Sun 7"),
        ("H HH k K h hh a", "17 17 17 5 5 05 PM"),
        ("D DD DDD", "94 94 094"),
        ("Y-'W'w ww", "2016-W13 13"),
        ("Q q QQ", "2 2 02"),
        ("S SS SSSSSSSSS", "0 01 012345678"),
        ("X XX XXX XXXX XXXXX", "+02 +0200 +02:00 +0200 +02:00"),
        ("x xx xxx Z ZZZZZ", "+02 +0200 +02:00 +0200 +02:00"),
        ("VV", "Europe/Berlin"),
        ("'it''s' '' [yyyy[-MM]]", "it's ' 2016-04"),
        ("dd.MM.yyyy, H 'Uhr' é", "03.04.2016, 17 Uhr é"),
    ] {
        assert_eq!(
            print(format, "2016-04-03T15:05:09.012345678Z", "Europe/Berlin"),
            expect,
            "{format}"
        );
    }
    assert_eq!(
        print("X XXX xx h k K a", "2016-01-01T00:00:00Z", "UTC"),
        "Z Z +0000 12 24 0 AM"
    );
    assert_eq!(
        print("x XXXX XXX", "2016-01-01T00:00:00Z", "-03:30:05"),
        "-0330 -033005 -03:30"
    );
}

#[test]
fn weeks_are_those_of_iso_8601() {
    assert_eq!(
        print("YYYY-'W'ww-e", "2021-01-03T00:00:00Z", "UTC"),
        "2020-W53-7"
    );
    assert_eq!(
        read("YYYY-'W'ww-e", "2020-W53-7"),
        Ok(at("2021-01-03T00:00:00Z"))
    );
    assert_eq!(
        read("YYYY-'W'ww", "2021-W01"),
        Ok(at("2021-01-04T00:00:00Z"))
    );
    assert!(read("YYYY-'W'ww", "2021-W53").is_err());
}

#[test]
fn unknown_letters_and_broken_patterns_are_refused_by_name() {
    for (format, expect) in [
        ("yyyy-bb", "the letter b is not known"),
        ("yyyy-MM-dd z", "the letter z is not known"),
        ("ddd", "d cannot stand 3 times"),
        ("yyyy 'at", "a quote"),
        ("[yyyy", "a [ is not closed"),
        ("yyyy]", "a ] has no [ before it"),
        ("{", "{ must stand in quotes"),
        ("", "a pattern has 1 to"),
        ("yyyy||", "a pattern has 1 to"),
        ("strict_dates", "the letter t is not known"),
        ("[[[[[[[[[[yyyy]]]]]]]]]]", "deeper than 8"),
    ] {
        let error = DateFormat::parse(format).unwrap_err();
        assert!(
            error.contains(expect) && error.contains("epoch_millis"),
            "{format}: {error}"
        );
    }
    let letters = ('a'..='z')
        .chain('A'..='Z')
        .filter(|letter| DateFormat::parse(&letter.to_string()).is_ok());
    assert_eq!(letters.collect::<String>(), "acdehkmqsuwxyDEHKLMQSXYZ");
}

#[test]
fn epochs_are_numbers_with_the_fraction_they_need() {
    for (format, ns, text) in [
        ("epoch_millis", 1_460_505_600_000_000_000, "1460505600000"),
        ("epoch_millis", 1_500_000, "1.5"),
        ("epoch_second", -1_500_000_000, "-1.5"),
        ("epoch_second", 1, "0.000000001"),
        ("epoch_second", 0, "0"),
        ("epoch_second", i64::MIN, "-9223372036.854775808"),
    ] {
        let parsed = DateFormat::parse(format).unwrap();
        assert_eq!(parsed.format(ns, &Zone::utc()), text);
        assert_eq!(parsed.read(text, &Zone::utc(), false), Ok(ns));
    }
    assert_eq!(read("epoch_second", "999999999999999999"), Ok(i64::MAX));
    for text in ["", "-", "1.", ".5", "1e3", "+1", "9999999999999999999", "é"] {
        assert!(read("epoch_millis", text).is_err(), "{text}");
    }
}

#[test]
fn the_first_of_several_writes_and_all_read() {
    let format = "yyyy/MM/dd||epoch_second||yyyy-MM-dd'T'HH";
    assert_eq!(print(format, "2016-04-13T05:00:00Z", "UTC"), "2016/04/13");
    assert_eq!(read(format, "86400"), Ok(at("1970-01-02T00:00:00Z")));
    assert_eq!(
        read(format, "2016-04-13T05"),
        Ok(at("2016-04-13T05:00:00Z"))
    );
    assert!(
        read(format, "2016-04-13")
            .unwrap_err()
            .contains("2016/04/13")
    );
}

#[test]
fn dates_that_do_not_exist_are_refused() {
    for (format, text) in [
        ("yyyy-MM-dd", "2023-02-29"),
        ("yyyy-MM-dd", "2023-13-01"),
        ("yyyy-MM-dd", "2023-00-01"),
        ("yyyy-MM-dd", "2023-1-01"),
        ("yyyy-MM-dd", "2023-01-01 "),
        ("yyyy-MM-dd HH", "2023-01-01 24"),
        ("yyyy-DDD", "2023-366"),
        ("hh a", "13 PM"),
        ("strict_date", "2016-4-13"),
        ("MMMMM", "A"),
    ] {
        assert!(read(format, text).is_err(), "{format} {text}");
    }
    assert_eq!(read("date", "2016-4-3"), Ok(at("2016-04-03T00:00:00Z")));
    assert_eq!(read("yyyyMMdd", "20160403"), Ok(at("2016-04-03T00:00:00Z")));
    assert_eq!(
        read("d MMM yyyy, h a", "3 apr 2016, 12 AM"),
        Ok(at("2016-04-03T00:00:00Z"))
    );
    assert_eq!(
        read("yyyy-MM-dd VV", "2016-04-03 Europe/Berlin"),
        Ok(at("2016-04-02T22:00:00Z"))
    );
}

#[test]
fn numbers_without_a_gap_leave_their_digits_to_those_that_follow() {
    assert_eq!(read("Hmm", "930"), Ok(at("1970-01-01T09:30:00Z")));
    assert_eq!(read("Hmm", "1130"), Ok(at("1970-01-01T11:30:00Z")));
    assert_eq!(
        read("dMMyySSS", "30416250"),
        Ok(at("2016-04-03T00:00:00.25Z"))
    );
    assert!(read("Hmm", "30").is_err());
}

#[test]
fn dates_beyond_the_range_are_its_ends() {
    assert_eq!(read("date", "9999-12-31"), Ok(i64::MAX));
    assert_eq!(read("date", "0001-01-01"), Ok(i64::MIN));
    let berlin = zone("Europe/Berlin");
    assert_eq!(
        DateFormat::default().read("0001-01-01", &berlin, false),
        Ok(i64::MIN)
    );
    assert_eq!(
        DateFormat::default().read("9999-12-31", &berlin, true),
        Ok(i64::MAX)
    );
}

#[test]
fn what_is_missing_is_the_first_or_the_last_it_can_be() {
    let format = DateFormat::default();
    let read = |text, round_up| format.read(text, &Zone::utc(), round_up).unwrap();
    assert_eq!(read("2016-04-13", false), at("2016-04-13T00:00:00Z"));
    assert_eq!(
        read("2016-04-13", true),
        at("2016-04-13T23:59:59.999999999Z")
    );
    assert_eq!(
        read("2016-04-13T10", true),
        at("2016-04-13T10:59:59.999999999Z")
    );
    // Elasticsearch sets a missing month or day to 1 in both roundings.
    assert_eq!(read("2016-04", true), at("2016-04-01T23:59:59.999999999Z"));
}

#[test]
fn every_named_format_reads_what_it_writes() {
    let time = at("2016-04-13T05:06:07.089Z");
    for name in names() {
        for name in [name.to_string(), format!("strict_{name}")] {
            let format = DateFormat::parse(&name).unwrap();
            let text = format.format(time, &Zone::utc());
            assert!(!text.is_empty(), "{name}");
            let again = format.read(&text, &Zone::utc(), false).unwrap();
            assert_eq!(format.format(again, &Zone::utc()), text, "{name}");
            assert!(!text.contains('@'), "{name}: {text}");
        }
    }
    let written = |name| print(name, "2016-04-13T05:06:07.089Z", "+02:00");
    assert_eq!(
        written("strict_date_optional_time"),
        "2016-04-13T07:06:07.089+02:00"
    );
    assert_eq!(written("basic_date_time"), "20160413T070607.089+0200");
    assert_eq!(written("basic_date"), "20160413");
    assert_eq!(written("week_date"), "2016-W15-3");
    assert_eq!(written("ordinal_date"), "2016-104");
    assert_eq!(
        print("date_optional_time", "2016-04-13T00:00:00Z", "UTC"),
        "2016-04-13T00:00:00.000Z"
    );
}

#[test]
fn what_optional_time_reads_may_end_early() {
    for (text, expect) in [
        ("2016", "2016-01-01T00:00:00Z"),
        ("2016-04", "2016-04-01T00:00:00Z"),
        ("2016-04-13", "2016-04-13T00:00:00Z"),
        ("2016-04-13T05", "2016-04-13T05:00:00Z"),
        ("2016-04-13T05+02", "2016-04-13T03:00:00Z"),
        ("2016-04-13T05:06Z", "2016-04-13T05:06:00Z"),
        ("2016-04-13T05:06:07", "2016-04-13T05:06:07Z"),
        ("2016-04-13T05:06:07,5-0100", "2016-04-13T06:06:07.5Z"),
    ] {
        assert_eq!(
            read("strict_date_optional_time", text),
            Ok(at(expect)),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn dates_are_written_as_jiff_writes_them(
        name in prop::sample::select(&ZONES[..]),
        seconds in -2_208_988_800_i64..4_133_980_800,
        nanos in 0_i64..1_000_000_000,
    ) {
        let time = seconds * 1_000_000_000 + nanos;
        let zoned = Timestamp::from_nanosecond(i128::from(time)).unwrap().to_zoned(oracle(name));
        let letters = "yyyy MM dd HH mm ss SSSSSSSSS DDD hh a EEE EEEE MMM MMMM YYYY ww e";
        let format = DateFormat::parse(letters).unwrap();
        let expect = strtime::format("%Y %m %d %H %M %S %9N %j %I %p %a %A %b %B %G %V %u", &zoned).unwrap();
        prop_assert_eq!(format.format(time, &zone(name)), expect);
    }

    #[test]
    fn what_is_written_is_read_back(
        name in prop::sample::select(&ZONES[..]),
        time: i64,
        format in prop::sample::select(&[
            "", "strict_date_optional_time", "epoch_millis", "epoch_second", "date_time||epoch_millis",
            "uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSSXXXXX", "EEEE, d MMMM yyyy h:m:s a SSSSSSSSS XXXXX",
            "uuuuDDDHHmmssSSSSSSSSSXXXXX",
        ][..]),
    ) {
        let zone = zone(name);
        let parsed = match format {
            "" => DateFormat::default(),
            _ => DateFormat::parse(format).unwrap(),
        };
        let text = parsed.format(time, &zone);
        // Three letters only print whole minutes of an offset.
        if zone.offset_s(time) % 60 == 0 || !format.starts_with("date_") {
            prop_assert_eq!(parsed.read(&text, &Zone::utc(), false), Ok(time), "{}", text);
        }
    }

    #[test]
    fn no_format_and_no_text_make_the_reading_panic(
        format in "([yuYMLdDEewHhKkmsSXxZVQqa'\\[\\]|: é-]{1,3}){1,6}",
        text in "[-0-9a-zA-Z:.,+é]{0,20}",
        time: i64,
        round_up: bool,
    ) {
        if let Ok(format) = DateFormat::parse(&format) {
            let zone = zone("Europe/Berlin");
            let _ = format.read(&text, &zone, round_up);
            let written = format.format(time, &zone);
            let _ = format.read(&written, &zone, round_up);
        }
        for format in ["date_optional_time", "epoch_second", "basic_week_date_time", "ordinal_date"] {
            let _ = read(format, &text);
        }
    }
}
