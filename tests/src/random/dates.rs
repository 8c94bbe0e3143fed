//! Dates as nanoseconds since 1970, formatted and parsed with calendar arithmetic.

pub(super) const SECOND: i64 = 1_000_000_000;
pub(super) const MILLISECOND: i64 = 1_000_000;

/// Formats a date as RFC 3339 in UTC, with the minimum number of fraction digits.
pub(super) fn write(nanos: i64) -> String {
    write_at(nanos, 0)
}

/// Formats a date as RFC 3339 with an offset of `offset_minutes`.
pub(super) fn write_at(nanos: i64, offset_minutes: i64) -> String {
    let local = i128::from(nanos) + i128::from(offset_minutes) * 60 * i128::from(SECOND);
    let secs = local.div_euclid(i128::from(SECOND)) as i64;
    let (year, month, day) = civil(secs.div_euclid(86_400));
    let of_day = secs.rem_euclid(86_400);
    let fraction = match nanos.rem_euclid(SECOND) {
        0 => String::new(),
        nanos => format!(".{nanos:09}").trim_end_matches('0').to_owned(),
    };
    let offset = match offset_minutes {
        0 => "Z".to_owned(),
        minutes => format!(
            "{}{:02}:{:02}",
            if minutes < 0 { '-' } else { '+' },
            minutes.abs() / 60,
            minutes.abs() % 60
        ),
    };
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}{fraction}{offset}",
        of_day / 3_600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// Parses exactly the form that [`write_at`] writes.
pub(super) fn read(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() < 20 || bytes[4] != b'-' || bytes[10] != b'T' || bytes[13] != b':' {
        return None;
    }
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let days = days_of(number(0..4)?, number(5..7)?, number(8..10)?);
    let secs = days * 86_400 + number(11..13)? * 3_600 + number(14..16)? * 60 + number(17..19)?;
    let mut rest = text.get(19..)?;
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let len = fraction.bytes().take_while(u8::is_ascii_digit).count();
        nanos = format!("{:0<9}", fraction.get(..len)?)
            .get(..9)?
            .parse()
            .ok()?;
        rest = fraction.get(len..)?;
    }
    let offset_secs = match rest {
        "Z" => 0,
        _ => {
            let sign = match rest.get(..1)? {
                "+" => 1,
                "-" => -1,
                _ => return None,
            };
            let (hours, minutes) = rest.get(1..)?.split_once(':')?;
            sign * (hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60)
        }
    };
    (secs - offset_secs).checked_mul(SECOND)?.checked_add(nanos)
}

/// Truncates a time to a multiple of `unit`, towards 1970, as tantivy does.
pub(super) fn cut(nanos: i64, unit: i64) -> i64 {
    nanos / unit * unit
}

/// Returns year, month and day of a day counted from 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns the day's number, by counting from the nearest year that [`civil`] returns.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let mut days = (year - 1970) * 365 + (year - 1969).div_euclid(4)
        - (year - 1901).div_euclid(100)
        + (year - 1601).div_euclid(400);
    days += (month - 1) * 28;
    while civil(days).0 == year && civil(days).1 < month {
        days += 1;
    }
    days + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_read_as_they_were_written() {
        for (nanos, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400 * SECOND, "2000-02-29T00:00:00Z"),
            (-2_203_891_200 * SECOND, "1900-03-01T00:00:00Z"),
            (1_714_557_600_250_000_000, "2024-05-01T10:00:00.25Z"),
        ] {
            assert_eq!(write(nanos), text);
            assert_eq!(read(text), Some(nanos), "{text}");
            assert_eq!(read(&write_at(nanos, 120)), Some(nanos));
            assert_eq!(read(&write_at(nanos, -90)), Some(nanos));
        }
    }
}
