//! Points in time in a readable form, in UTC.

/// Formats a time as `2016-04-13T00:00:03.5Z`.
pub(crate) fn date_of(time_ns: i64) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(time_ns)) {
        Ok(time) => time.to_string(),
        Err(_) => format!("{time_ns} ns"),
    }
}

/// Formats a time as `2016-04-13 00:00`: enough to distinguish splits.
pub(crate) fn short_date_of(time_ns: i64) -> String {
    let date = date_of(time_ns);
    match date.get(..16) {
        Some(minutes) if date.ends_with('Z') => minutes.replacen('T', " ", 1),
        _ => date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_short_in_tables() {
        assert_eq!(date_of(1_460_505_603_500_000_000), "2016-04-13T00:00:03.5Z");
        assert_eq!(short_date_of(1_460_505_603_500_000_000), "2016-04-13 00:00");
    }
}
