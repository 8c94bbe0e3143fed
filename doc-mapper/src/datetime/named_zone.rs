//! Dates with the name of their zone, in the forms that have an offset in its place.

use canter_names::zone_minutes;

/// Rewrites a date so that its zone is an offset, which the formats read: `… CEST` becomes `… +0200`; what names a zone
/// beside an offset is left out, as in `…+02:00[Europe/Berlin]` and `… GMT+0200 (Central European Summer Time)`. `None` if
/// nothing is to be rewritten.
pub(super) fn with_offset(text: &str) -> Option<String> {
    let is_name = |name: &str| {
        !name.is_empty() && !name.contains(|c: char| c.is_ascii_digit() || "[]()".contains(c))
    };
    if let Some((date, name)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        return (has_offset(date) && is_name(name)).then(|| date.to_owned());
    }
    if let Some((date, name)) = text
        .strip_suffix(')')
        .and_then(|text| text.split_once(" ("))
    {
        return (has_offset(date) && is_name(name)).then(|| date.to_owned());
    }
    // Behind the time of day, where no other word in capitals stands.
    let (start, name) = text.match_indices(' ').find_map(|(place, _)| {
        let rest = text.get(place + 1..)?;
        let name = rest.split(' ').next()?;
        let is_behind = text.get(..place)?.contains(':');
        (is_behind && name.bytes().all(|byte| byte.is_ascii_uppercase()))
            .then_some((place + 1, name))
    })?;
    let minutes = zone_minutes(name.as_bytes())?;
    let (before, after) = (text.get(..start)?, text.get(start + name.len()..)?);
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    Some(format!("{before}{sign}{hours:02}{minutes:02}{after}"))
}

/// Returns whether a date ends with `Z` or an offset.
fn has_offset(date: &str) -> bool {
    let digits = date.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    let num_digits = date.len() - digits.len();
    date.ends_with('Z')
        || (digits.ends_with(['+', '-']) && (2..=5).contains(&num_digits) && date.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_become_offsets() {
        for (text, expect) in [
            (
                "2024-05-01 10:00:00 CEST",
                Some("2024-05-01 10:00:00 +0200"),
            ),
            (
                "Wed May  1 10:00:00 EST 2024",
                Some("Wed May  1 10:00:00 -0500 2024"),
            ),
            (
                "2024-05-01T10:00:00.5+02:00[Europe/Berlin]",
                Some("2024-05-01T10:00:00.5+02:00"),
            ),
            ("2024-05-01T10:00:00Z[UTC]", Some("2024-05-01T10:00:00Z")),
            (
                "Wed May 01 2024 10:00:00 GMT+0200 (Central European Summer Time)",
                Some("Wed May 01 2024 10:00:00 GMT+0200"),
            ),
            // Without an offset, the name would be needed.
            ("2024-05-01T10:00:00[Europe/Berlin]", None),
            // Not known, or not certain.
            ("2024-05-01 10:00:00 IST", None),
            ("2024-05-01 10:00:00 PM", None),
            ("2024-05-01 10:00:00", None),
            ("05-01 GMT 2024", None),
            ("", None),
            ("[", None),
            ("a:b X\u{fc} CET", Some("a:b X\u{fc} +0100")),
        ] {
            assert_eq!(with_offset(text).as_deref(), expect, "{text}");
        }
    }
}
