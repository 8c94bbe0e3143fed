//! `auto_date_histogram`: time buckets, up to the number asked for.

use super::super::body::Body;
use super::super::bounds::MAX_AUTO_BUCKETS;
use super::super::types::{AutoDateHistogram, Rung};
use super::intervals::{date_source, format, zone};
use crate::Result;
use crate::calendar::{CalendarUnit, Rounding};

pub(crate) const AUTO_DATE_HISTOGRAM: [&str; 6] = [
    "field",
    "buckets",
    "minimum_interval",
    "format",
    "time_zone",
    "missing",
];

/// Default number of buckets.
const DEFAULT_BUCKETS: u64 = 10;

/// Unit: name, letter, calendar unit, and the multiples that may make a bucket.
type Unit = (&'static str, char, CalendarUnit, &'static [usize]);

/// Intervals that Elasticsearch tries, the smallest first.
const LADDER: [Unit; 6] = [
    ("second", 's', CalendarUnit::Second, &[1, 5, 10, 30]),
    ("minute", 'm', CalendarUnit::Minute, &[1, 5, 10, 30]),
    ("hour", 'h', CalendarUnit::Hour, &[1, 3, 12]),
    ("day", 'd', CalendarUnit::Day, &[1, 7]),
    ("month", 'M', CalendarUnit::Month, &[1, 3]),
    ("year", 'y', CalendarUnit::Year, &[1, 5, 10, 20, 50, 100]),
];

pub(crate) fn auto_date_histogram(body: &Body<'_>) -> Result<AutoDateHistogram> {
    let most = body.count("buckets", 1, MAX_AUTO_BUCKETS)?;
    let zone = zone(body)?;
    let format = format(body)?;
    let first = match body.text("minimum_interval")? {
        None => 0,
        Some(name) => {
            let place = LADDER.iter().position(|(known, ..)| *known == name);
            place.ok_or_else(|| {
                let what = "this must be second, minute, hour, day, month or year";
                body.invalid("minimum_interval", what)
            })?
        }
    };
    let rungs = LADDER
        .iter()
        .skip(first)
        .map(|(_, letter, unit, steps)| Rung {
            rounding: Rounding::calendar(*unit, 0, zone.clone()),
            letter: *letter,
            steps,
            longest_ns: longest_ns(*unit),
        });
    Ok(AutoDateHistogram {
        source: date_source(body, format.as_ref(), &zone)?,
        most: usize::try_from(most.unwrap_or(DEFAULT_BUCKETS)).unwrap_or(usize::MAX),
        rungs: rungs.collect(),
        format,
        zone,
    })
}

/// Returns an upper bound for the length of a unit, with any clock changes: no clock has moved by
/// more than two days.
fn longest_ns(unit: CalendarUnit) -> i64 {
    const SECOND_NS: i64 = 1_000_000_000;
    const DAY_NS: i64 = 86_400 * SECOND_NS;
    let usual_ns = match unit {
        CalendarUnit::Second => SECOND_NS,
        CalendarUnit::Minute => 60 * SECOND_NS,
        CalendarUnit::Hour => 3_600 * SECOND_NS,
        CalendarUnit::Day => DAY_NS,
        CalendarUnit::Week => 7 * DAY_NS,
        CalendarUnit::Month => 31 * DAY_NS,
        CalendarUnit::Quarter => 92 * DAY_NS,
        CalendarUnit::Year => 366 * DAY_NS,
    };
    match unit {
        // The part not affected by a clock change, and one more on either side of the change.
        CalendarUnit::Second | CalendarUnit::Minute | CalendarUnit::Hour => 3 * usual_ns,
        _ => usual_ns + 2 * DAY_NS,
    }
}
