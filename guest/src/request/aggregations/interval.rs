//! Intervals of time, as aggregations write them.

/// Milliseconds of an interval such as `30s` or `1d`; `None` if it is none, or too long for nanoseconds.
pub(super) fn interval_ms(text: &str) -> Option<u64> {
    let unit_at = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let unit_ms: u64 = match unit {
        "ms" | "milliseconds" => 1,
        "s" | "seconds" => 1_000,
        "m" | "minutes" => 60_000,
        "h" | "hours" => 3_600_000,
        "d" | "days" => 86_400_000,
        _ => return None,
    };
    let ms = number.parse::<u64>().ok()?.checked_mul(unit_ms)?;
    let ns = i64::try_from(ms).ok()?.checked_mul(1_000_000);
    ns.map(|_| ms)
}

/// What an interval must be, for the one who wrote another.
pub(super) const INTERVAL_FORM: &str = "an interval is a whole number and one of s, m, h and d, such as 30s or 1d; \
     intervals with parts of seconds cannot be answered exactly";

/// As [`interval_ms`], for those that can be answered exactly: times are compared as floating point numbers,
/// which have whole seconds and not every millisecond.
pub(super) fn whole_seconds_ms(text: &str) -> Option<u64> {
    interval_ms(text).filter(|ms| *ms > 0 && ms % 1_000 == 0)
}
