//! Lengths of date buckets, and conversion to other units.

use super::super::civil::{DAY_NS, SECOND_NS};
use super::super::interval::CalendarUnit;

/// Length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// Nanoseconds. A day has 24 hours, even with a clock change.
    Time(i64),
    /// Months, whose lengths differ.
    Months(i64),
}

impl CalendarUnit {
    pub(crate) fn length(self) -> Length {
        match self {
            Self::Second => Length::Time(SECOND_NS),
            Self::Minute => Length::Time(60 * SECOND_NS),
            Self::Hour => Length::Time(3_600 * SECOND_NS),
            Self::Day => Length::Time(DAY_NS),
            Self::Week => Length::Time(7 * DAY_NS),
            Self::Month => Length::Months(1),
            Self::Quarter => Length::Months(3),
            Self::Year => Length::Months(12),
        }
    }
}

/// Length of one date bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    length: Length,
    /// Nanoseconds to the next start, for buckets of months.
    lasts_ns: i64,
}

impl Span {
    pub(crate) fn new(length: Length, lasts_ns: i64) -> Self {
        Self { length, lasts_ns }
    }

    /// Returns the length in a unit, or `None` for months, which have no fixed length.
    pub(crate) fn num_units(self, unit: CalendarUnit) -> Option<f64> {
        match (self.length, unit.length()) {
            (Length::Time(own), Length::Time(unit))
            | (Length::Months(own), Length::Months(unit)) => Some(own as f64 / unit as f64),
            (Length::Months(_), Length::Time(unit)) => Some(self.lasts_ns as f64 / unit as f64),
            (Length::Time(_), Length::Months(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::{Rounding, Zone};

    #[test]
    fn a_bucket_is_so_many_units_long() {
        // 2024-02-01
        const FEBRUARY_NS: i64 = 1_706_745_600 * SECOND_NS;
        let calendar = |unit| Rounding::calendar(unit, 0, Zone::utc());
        let hours = Rounding::fixed(36 * 3_600 * SECOND_NS, 0, Zone::utc());
        for (rounding, unit, expect) in [
            (calendar(CalendarUnit::Month), CalendarUnit::Day, Some(29.0)),
            (
                calendar(CalendarUnit::Month),
                CalendarUnit::Quarter,
                Some(1.0 / 3.0),
            ),
            (
                calendar(CalendarUnit::Year),
                CalendarUnit::Month,
                Some(12.0),
            ),
            (
                calendar(CalendarUnit::Day),
                CalendarUnit::Minute,
                Some(1_440.0),
            ),
            (calendar(CalendarUnit::Week), CalendarUnit::Day, Some(7.0)),
            (calendar(CalendarUnit::Week), CalendarUnit::Month, None),
            (hours.clone(), CalendarUnit::Day, Some(1.5)),
            (hours, CalendarUnit::Year, None),
        ] {
            assert_eq!(
                rounding.span(FEBRUARY_NS).num_units(unit),
                expect,
                "{unit:?}"
            );
        }
    }

    /// As in Elasticsearch, a day with a clock change counts as one day.
    #[test]
    fn days_are_as_long_as_each_other() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let days = Rounding::calendar(CalendarUnit::Day, 0, berlin);
        // The end of March 2024, when an hour was skipped.
        let start_ns = days.start_of(1_711_879_200 * SECOND_NS);
        assert_eq!(days.next(start_ns) - start_ns, 23 * 3_600 * SECOND_NS);
        assert_eq!(
            days.span(start_ns).num_units(CalendarUnit::Hour),
            Some(24.0)
        );
    }
}
