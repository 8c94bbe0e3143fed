//! Durations and sizes as people write them: `90 days`, `2h 30min`, `2GB`.

use std::time::Duration;

/// Parses spans such as `2 days 3h 24min`; a month is 30.44 days and a year 365.25.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(duration_error(text));
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest
            .split_at_checked(digits)
            .ok_or_else(|| duration_error(text))?;
        let after = after.trim_start();
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = after
            .split_at_checked(letters)
            .ok_or_else(|| duration_error(text))?;
        let nanos = unit_nanos(unit).ok_or_else(|| duration_error(text))?;
        total = number
            .parse::<u64>()
            .ok()
            .and_then(|n| n.checked_mul(nanos))
            .and_then(|n| total.checked_add(Duration::from_nanos(n)))
            .ok_or_else(|| duration_error(text))?;
        rest = after.trim_start();
    }
    Ok(total)
}

fn unit_nanos(unit: &str) -> Option<u64> {
    const SECOND: u64 = 1_000_000_000;
    Some(match unit {
        "nsec" | "ns" => 1,
        "usec" | "us" => 1_000,
        "msec" | "ms" => 1_000_000,
        "seconds" | "second" | "sec" | "secs" | "s" => SECOND,
        "minutes" | "minute" | "min" | "mins" | "m" => 60 * SECOND,
        "hours" | "hour" | "hr" | "hrs" | "h" => 3_600 * SECOND,
        "days" | "day" | "d" => 86_400 * SECOND,
        "weeks" | "week" | "w" => 7 * 86_400 * SECOND,
        "months" | "month" | "M" => 2_630_016 * SECOND,
        "years" | "year" | "y" => 31_557_600 * SECOND,
        _ => return None,
    })
}

fn duration_error(text: &str) -> String {
    format!(
        "{text:?} is not a duration; write an integer and a unit, such as \"90 days\" or \"48h\""
    )
}

/// Parses bytes: `2GB` (decimal), `2GiB` (binary), `2_000_000_000` without a unit.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let error =
        || format!("{text:?} is not a size in bytes; write a number and a unit, such as \"2GB\"");
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at_checked(split).ok_or_else(error)?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        "ti" | "tib" => 1 << 40,
        _ => return Err(error()),
    };
    let number = number.trim().replace('_', "");
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(error);
    }
    let bytes = number.parse::<f64>().map_err(|_| error())? * factor as f64;
    if bytes.is_finite() && (0.0..1e18).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err(error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_add_up() {
        let check = |text: &str, secs: Option<u64>| {
            assert_eq!(
                parse_duration(text).ok().map(|d| d.as_secs()),
                secs,
                "{text}"
            );
        };
        check("90 days", Some(90 * 86_400));
        check("2 days 3h 24min", Some(2 * 86_400 + 3 * 3_600 + 24 * 60));
        check("48h", Some(48 * 3_600));
        check("1 month", Some(2_630_016));
        for wrong in [
            "",
            "days",
            "3",
            "3 parsecs",
            "-1 day",
            "99999999999999999999 days",
            "3é",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn sizes_know_their_units() {
        let check =
            |text: &str, bytes: Option<u64>| assert_eq!(parse_bytes(text).ok(), bytes, "{text}");
        check("2GB", Some(2_000_000_000));
        check("2.5 GB", Some(2_500_000_000));
        check("1GiB", Some(1 << 30));
        check("2000000000", Some(2_000_000_000));
        for wrong in ["", "GB", "2 bananas", "-1GB", "99999999999 TB"] {
            check(wrong, None);
        }
    }
}
