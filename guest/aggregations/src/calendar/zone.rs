//! Time zones: a fixed offset, or a name of the bundled IANA database.
//!
//! A zone is converted once into spans of time with a constant offset, which cover all `i64`
//! nanoseconds. Look-ups search that table. Changes of only a zone's abbreviation or daylight
//! saving flag start no span.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::civil::{DAY_NS, SECOND_NS};

mod zones;

use self::zones::RELEASE;

/// Time zone, such as `Europe/Berlin` or `+01:00`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    name: Arc<str>,
    /// Spans, ascending by `from_ns`; the first one begins at the first representable time. Never
    /// empty.
    spans: Arc<[Span]>,
}

/// Span of time without a clock change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// First time in the span.
    pub(super) from_ns: i64,
    /// First time after the span; for the last span, its last time, which is the last representable
    /// one.
    pub(super) until_ns: i64,
    /// Local time minus UTC, in nanoseconds.
    pub(super) offset_ns: i64,
}

/// Local time in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    /// Days since 1970-01-01.
    pub(super) day: i64,
    /// Nanoseconds since midnight, less than a day.
    pub(super) ns: i64,
    /// Local time minus UTC, in seconds.
    pub(super) offset_s: i64,
}

/// Returns the release of the bundled time zone database, such as `2026e`.
pub(crate) fn tz_release() -> &'static str {
    RELEASE
}

impl Zone {
    /// Returns coordinated universal time.
    pub(crate) fn utc() -> Zone {
        Zone::fixed("UTC", 0)
    }

    /// Parses a `time_zone`: `Z`, `UTC`, `+01:00`, `-0800`, `+01`, `UTC+1`, or a name of the IANA
    /// database in any case.
    ///
    /// # Errors
    /// The zone is unknown. The message shows valid ones.
    pub(crate) fn parse(text: &str) -> Result<Zone, String> {
        if matches!(text, "Z" | "UTC" | "GMT" | "UT") {
            return Ok(Zone::utc());
        }
        let offset = ["UTC", "GMT", "UT"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
            .unwrap_or(text);
        if let Some((offset_s, "")) = read_offset(offset)
            && !offset.starts_with(['Z', 'z'])
        {
            return Ok(Zone::fixed(text, offset_s));
        }
        named(text).ok_or_else(|| {
            format!(
                "unknown time zone {text:?}: write an offset such as +02:00, or a name of the IANA time zone \
                 database (release {}) such as Europe/Berlin",
                tz_release()
            )
        })
    }

    /// Returns the name that the zone was parsed from, in the database's case.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns local time minus UTC at a time, in seconds.
    pub(crate) fn offset_s(&self, time_ns: i64) -> i64 {
        self.span_at(time_ns).1.offset_ns / SECOND_NS
    }

    /// Returns the offset in nanoseconds if it never changes.
    pub(super) fn only_offset_ns(&self) -> Option<i64> {
        match &*self.spans {
            [span] => Some(span.offset_ns),
            _ => None,
        }
    }

    /// Returns the span at an index.
    pub(super) fn span(&self, index: usize) -> Option<Span> {
        self.spans.get(index).copied()
    }

    /// Returns the index and the span of a time.
    pub(super) fn span_at(&self, time_ns: i64) -> (usize, Span) {
        let index = self
            .spans
            .partition_point(|span| span.from_ns <= time_ns)
            .saturating_sub(1);
        let whole = Span {
            from_ns: i64::MIN,
            until_ns: i64::MAX,
            offset_ns: 0,
        };
        (index, self.span(index).unwrap_or(whole))
    }

    /// Returns the local time.
    pub(super) fn local(&self, time_ns: i64) -> Local {
        let offset_ns = self.span_at(time_ns).1.offset_ns;
        // An offset is less than a day, so the sum stays in range.
        let ns = time_ns.rem_euclid(DAY_NS) + offset_ns;
        Local {
            day: time_ns.div_euclid(DAY_NS) + ns.div_euclid(DAY_NS),
            ns: ns.rem_euclid(DAY_NS),
            offset_s: offset_ns / SECOND_NS,
        }
    }

    /// Returns the first time at which the clocks show this day or a later one: its midnight, or
    /// the end of the gap if midnight is skipped. Returns the first representable time if it lies
    /// before, and `None` if it lies after the last one.
    pub(super) fn first_of_day(&self, day: i64) -> Option<i64> {
        let local = i128::from(day) * i128::from(DAY_NS);
        self.spans_near(local).find_map(|(_, span)| {
            let at = (local - i128::from(span.offset_ns)).max(i128::from(span.from_ns));
            i64::try_from(at).ok().filter(|at| *at < span.until_ns)
        })
    }

    /// Returns the time at which the clocks show a local time. If it occurs twice, returns the one
    /// with `offset_s`, or else the first. If it is skipped, counts with the offset before the
    /// change, so that the result shows a local time later by the length of the gap. Times beyond
    /// the range become its ends.
    pub(super) fn time_of(&self, day: i64, ns: i64, offset_s: Option<i64>) -> i64 {
        let local = i128::from(day) * i128::from(DAY_NS) + i128::from(ns);
        if let Some(offset_s) = offset_s {
            let at = clamped(local - i128::from(offset_s) * i128::from(SECOND_NS));
            if self.offset_s(at) == offset_s {
                return at;
            }
        }
        let mut before_ns = None;
        for (index, span) in self.spans_near(local) {
            let at = local - i128::from(span.offset_ns);
            if at < i128::from(span.from_ns) && index > 0 {
                return clamped(local - i128::from(before_ns.unwrap_or(span.offset_ns)));
            }
            if at < i128::from(span.until_ns) {
                return clamped(at);
            }
            before_ns = Some(span.offset_ns);
        }
        i64::MAX
    }

    /// Returns the spans that may contain a local time, and all later ones.
    fn spans_near(&self, local_ns: i128) -> impl Iterator<Item = (usize, Span)> + '_ {
        // No offset exceeds 26 hours.
        let from = self.span_at(clamped(local_ns - 2 * i128::from(DAY_NS))).0;
        self.spans.iter().copied().enumerate().skip(from)
    }

    fn fixed(name: &str, offset_s: i64) -> Zone {
        let offset_ns = offset_s.saturating_mul(SECOND_NS);
        Zone {
            name: name.into(),
            spans: [Span {
                from_ns: i64::MIN,
                until_ns: i64::MAX,
                offset_ns,
            }]
            .into(),
        }
    }
}

/// Converts a time, and limits it to the range.
pub(super) fn clamped(time_ns: i128) -> i64 {
    i64::try_from(time_ns).unwrap_or(if time_ns < 0 { i64::MIN } else { i64::MAX })
}

/// Returns a zone of the bundled database.
fn named(name: &str) -> Option<Zone> {
    let (name, data) = zones::get(name)?;
    let zone = TimeZone::tzif(name, &data).ok()?;
    let first = Timestamp::from_nanosecond(i128::from(i64::MIN)).ok()?;
    let first_offset = zone.to_offset(first);
    let mut starts = vec![(i64::MIN, i64::from(first_offset.seconds()) * SECOND_NS)];
    for change in zone.following(first) {
        let Ok(at) = i64::try_from(change.timestamp().as_nanosecond()) else {
            break;
        };
        let offset_ns = i64::from(change.offset().seconds()) * SECOND_NS;
        if starts
            .last()
            .is_some_and(|(_, before_ns)| *before_ns != offset_ns)
        {
            starts.push((at, offset_ns));
        }
    }
    let ends = starts
        .iter()
        .skip(1)
        .map(|(from_ns, _)| *from_ns)
        .chain([i64::MAX]);
    let spans = starts.iter().zip(ends);
    let spans = spans.map(|(&(from_ns, offset_ns), until_ns)| Span {
        from_ns,
        until_ns,
        offset_ns,
    });
    Some(Zone {
        name: name.into(),
        spans: spans.collect(),
    })
}

/// Parses an offset at the start of a text: `Z`, or a sign with `h`, `hh`, `hhmm`, `hhmmss`,
/// `hh:mm` or `hh:mm:ss`, of at most 18 hours. Returns the seconds and the rest of the text.
pub(super) fn read_offset(text: &str) -> Option<(i64, &str)> {
    if let Some(rest) = text.strip_prefix(['Z', 'z']) {
        return Some((0, rest));
    }
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+')?),
    };
    let len = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (hours, minutes, seconds);
    if len > 2 {
        hours = take_two(&mut rest)?;
        minutes = take_two(&mut rest)?;
        seconds = if len > 4 { take_two(&mut rest)? } else { 0 };
        if len % 2 == 1 || len > 6 {
            return None;
        }
    } else {
        let (digits, after) = rest.split_at_checked(len)?;
        hours = digits.parse().ok()?;
        rest = after;
        let given = take_after_colon(&mut rest);
        seconds = given.and_then(|_| take_after_colon(&mut rest)).unwrap_or(0);
        minutes = given.unwrap_or(0);
    }
    let total = hours * 3_600 + minutes * 60 + seconds;
    (minutes < 60 && seconds < 60 && total <= 18 * 3_600).then_some((sign * total, rest))
}

/// Takes two digits from the start of a text.
fn take_two(text: &mut &str) -> Option<i64> {
    let (digits, rest) = text.split_at_checked(2)?;
    let number = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())??;
    *text = rest;
    Some(number)
}

/// Takes a colon and two digits from the start of a text, or nothing.
fn take_after_colon(text: &mut &str) -> Option<i64> {
    let mut rest = text.strip_prefix(':')?;
    let number = take_two(&mut rest)?;
    *text = rest;
    Some(number)
}

#[cfg(test)]
pub(super) mod tests;
