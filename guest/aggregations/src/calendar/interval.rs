//! Lengths of time in aggregations: `fixed_interval`, `calendar_interval` and `offset`.

/// Unit of the calendar that makes one bucket. The length of days and larger units varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CalendarUnit {
    /// `second` or `1s`.
    Second,
    /// `minute` or `1m`.
    Minute,
    /// `hour` or `1h`.
    Hour,
    /// `day` or `1d`: from midnight to midnight.
    Day,
    /// `week` or `1w`: from Monday to Monday.
    Week,
    /// `month` or `1M`.
    Month,
    /// `quarter` or `1q`: from January, April, July and October.
    Quarter,
    /// `year` or `1y`.
    Year,
}

impl CalendarUnit {
    /// Parses a `calendar_interval`.
    ///
    /// # Errors
    /// The text is no calendar interval. The message lists the valid ones.
    pub(crate) fn parse(text: &str) -> Result<CalendarUnit, String> {
        Ok(match text {
            "second" | "1s" => CalendarUnit::Second,
            "minute" | "1m" => CalendarUnit::Minute,
            "hour" | "1h" => CalendarUnit::Hour,
            "day" | "1d" => CalendarUnit::Day,
            "week" | "1w" => CalendarUnit::Week,
            "month" | "1M" => CalendarUnit::Month,
            "quarter" | "1q" => CalendarUnit::Quarter,
            "year" | "1y" => CalendarUnit::Year,
            _ => {
                return Err(format!(
                    "{text:?} is no calendar interval: write one of second, minute, hour, day, week, month, \
                     quarter and year, or 1s, 1m, 1h, 1d, 1w, 1M, 1q and 1y; several of a unit are a \
                     fixed_interval, such as 2d"
                ));
            }
        })
    }
}

/// Parses a `fixed_interval` such as `500ms`, `30s`, `5m`, `1h` or `7d` into nanoseconds; at least
/// one millisecond.
///
/// # Errors
/// The text is no fixed interval. The message describes a valid one.
pub(crate) fn fixed_interval_ns(text: &str) -> Result<i64, String> {
    length_ns(text).filter(|ns| *ns > 0).ok_or_else(|| {
        format!(
            "{text:?} is no fixed interval: write a whole number from 1 and one of ms, s, m, h and d, such \
             as 30s, of at most 292 years; for weeks, months, quarters and years write a calendar_interval"
        )
    })
}

/// Parses an `offset` such as `+6h`, `-1d` or `30m` into nanoseconds.
///
/// # Errors
/// The text is no offset. The message describes a valid one.
pub(crate) fn offset_ns(text: &str) -> Result<i64, String> {
    let (negative, length) = match text.strip_prefix('-') {
        Some(length) => (true, length),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let ns = if length == "0" {
        Some(0)
    } else {
        length_ns(length)
    };
    // Saturation matters for `i64::MIN` only, which is no valid length.
    ns.map(|ns| if negative { ns.saturating_neg() } else { ns }).ok_or_else(|| {
        format!(
            "{text:?} is no offset: write + or -, a whole number, and one of ms, s, m, h and d, such as \
             +6h"
        )
    })
}

/// Parses a number and a unit; returns `None` if the text has another form or is too long a time.
fn length_ns(text: &str) -> Option<i64> {
    let unit_at = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let unit_ns: i64 = match unit {
        "ms" | "milliseconds" => 1_000_000,
        "s" | "seconds" => 1_000_000_000,
        "m" | "minutes" => 60_000_000_000,
        "h" | "hours" => 3_600_000_000_000,
        "d" | "days" => 86_400_000_000_000,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit_ns)
}

#[cfg(test)]
mod tests;
