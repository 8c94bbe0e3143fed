//! Components of a date: split for writing, and combined after reading.

use super::super::civil::{
    Civil, DAY_NS, SECOND_NS, iso_week, iso_week_start, weekday, year_start,
};
use super::super::zone::{Local, Zone};
use super::pattern::Number;

/// Components of a time in a zone.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    pub(super) date: Civil,
    pub(super) local: Local,
    pub(super) zone: &'a Zone,
}

impl<'a> Fields<'a> {
    /// Splits a time into its components.
    pub(super) fn of(time_ns: i64, zone: &'a Zone) -> Fields<'a> {
        let local = zone.local(time_ns);
        Fields {
            date: Civil::from_days(local.day),
            local,
            zone,
        }
    }

    /// Returns the value of one component.
    pub(super) fn number(&self, field: Number) -> i64 {
        let seconds = self.local.ns / SECOND_NS;
        let hour = seconds / 3_600;
        // In a count from 1, the hour 0 is written as the last one.
        let from_1 = |hours: i64| {
            if hour % hours == 0 {
                hours
            } else {
                hour % hours
            }
        };
        match field {
            Number::Year => self.date.year,
            Number::WeekYear => iso_week(self.local.day).0,
            Number::Quarter => (self.date.month - 1) / 3 + 1,
            Number::Month => self.date.month,
            Number::Week => iso_week(self.local.day).1,
            Number::Day => self.date.day,
            Number::DayOfYear => self.local.day - year_start(self.date.year) + 1,
            Number::Weekday => weekday(self.local.day),
            Number::Hour => hour,
            Number::Hour1To24 => from_1(24),
            Number::Hour1To12 => from_1(12),
            Number::Hour0To11 => hour % 12,
            Number::Minute => seconds / 60 % 60,
            Number::Second => seconds % 60,
        }
    }

    /// Returns the nanoseconds of the second.
    pub(super) fn nanos(&self) -> i64 {
        self.local.ns % SECOND_NS
    }
}

/// Components that were read; others are `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    year: Option<i64>,
    week_year: Option<i64>,
    quarter: Option<i64>,
    month: Option<i64>,
    week: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    weekday: Option<i64>,
    /// 0 to 23.
    hour: Option<i64>,
    /// 0 to 11.
    half_day_hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    pub(super) pm: Option<bool>,
    pub(super) nanos: Option<i64>,
    pub(super) offset_s: Option<i64>,
    pub(super) zone: Option<Zone>,
}

impl Parsed {
    /// Stores a number; returns `None` if it is out of range for its component.
    pub(super) fn set(&mut self, field: Number, value: i64) -> Option<()> {
        let (place, allowed) = match field {
            Number::Year => (&mut self.year, 0..=999_999_999),
            Number::WeekYear => (&mut self.week_year, 0..=999_999_999),
            Number::Quarter => (&mut self.quarter, 1..=4),
            Number::Month => (&mut self.month, 1..=12),
            Number::Week => (&mut self.week, 1..=53),
            Number::Day => (&mut self.day, 1..=31),
            Number::DayOfYear => (&mut self.day_of_year, 1..=366),
            Number::Weekday => (&mut self.weekday, 1..=7),
            Number::Hour => (&mut self.hour, 0..=23),
            Number::Hour1To24 => (&mut self.hour, 1..=24),
            Number::Hour1To12 => (&mut self.half_day_hour, 1..=12),
            Number::Hour0To11 => (&mut self.half_day_hour, 0..=11),
            Number::Minute => (&mut self.minute, 0..=59),
            Number::Second => (&mut self.second, 0..=59),
        };
        let hours = match field {
            Number::Hour1To24 => 24,
            Number::Hour1To12 => 12,
            _ => i64::MAX,
        };
        *place = Some(if allowed.contains(&value) {
            value % hours
        } else {
            return None;
        });
        Some(())
    }

    /// Returns the time of the components, with missing ones filled in as in
    /// [`super::DateFormat::read`]; `None` if there is no such date.
    pub(super) fn resolve(&self, zone: &Zone, round_up: bool) -> Option<i64> {
        let missing = |last: i64| if round_up { last } else { 0 };
        let hour = match (self.hour, self.half_day_hour) {
            (Some(hour), _) => hour,
            (None, Some(hour)) => hour + if self.pm == Some(true) { 12 } else { 0 },
            (None, None) => missing(23),
        };
        let minutes = hour * 60 + self.minute.unwrap_or_else(|| missing(59));
        let seconds = minutes * 60 + self.second.unwrap_or_else(|| missing(59));
        let ns = seconds * SECOND_NS + self.nanos.unwrap_or_else(|| missing(SECOND_NS - 1));
        let day = self.day()?;
        match self.offset_s {
            // The offset in the text takes precedence over the zone.
            Some(offset_s) => {
                let time = i128::from(day) * i128::from(DAY_NS) + i128::from(ns);
                Some(super::super::zone::clamped(
                    time - i128::from(offset_s) * i128::from(SECOND_NS),
                ))
            }
            None => Some(self.zone.as_ref().unwrap_or(zone).time_of(day, ns, None)),
        }
    }

    /// Returns the day, in days since 1970-01-01.
    fn day(&self) -> Option<i64> {
        if self.week.is_some() || self.week_year.is_some() {
            let year = self.week_year.or(self.year).unwrap_or(1970);
            let monday = iso_week_start(year, self.week.unwrap_or(1))?;
            return Some(monday + self.weekday.unwrap_or(1) - 1);
        }
        let year = self.year.unwrap_or(1970);
        if let Some(day) = self.day_of_year {
            let days = year_start(year) + day - 1;
            let exists = days < year_start(year.saturating_add(1));
            return exists.then_some(days);
        }
        let month = self
            .month
            .or(self.quarter.map(|quarter| quarter * 3 - 2))
            .unwrap_or(1);
        Civil::checked(year, month, self.day.unwrap_or(1)).map(Civil::to_days)
    }
}
