//! Dates in names, as in `<logs-{now/d-1d{yyyy.MM.dd|+01:00}}>`.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp, ToSpan};

use crate::requests::Problem;

const DEFAULT_FORMAT: &str = "yyyy.MM.dd";

/// Returns a name in which dates are written out; `None` for a name that is not in angle brackets.
///
/// # Errors
/// An expression is invalid, or its time zone is not an offset.
pub(crate) fn written_out(name: &str, now_ms: u64) -> Result<Option<String>, Problem> {
    let Some(pattern) = name
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
    else {
        return Ok(None);
    };
    let wrong = |problem: &str| {
        Problem::illegal(format!(
            "invalid dynamic name expression [{name}]: {problem}"
        ))
    };
    let (mut out, mut rest) = (String::new(), pattern);
    while let Some(at) = rest.find(['{', '}', '\\']) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        if let Some(escaped) = tail.strip_prefix('\\') {
            out.extend(escaped.chars().next());
            rest = escaped.get(1..).unwrap_or_default();
            continue;
        }
        let end = end_of(tail).ok_or_else(|| wrong("a bracket has no counterpart"))?;
        out.push_str(&dated(&tail[1..end], now_ms).map_err(|problem| wrong(&problem))?);
        rest = &tail[end + 1..];
    }
    out.push_str(rest);
    Ok(Some(out))
}

/// Returns where the bracket that a text begins with is closed.
fn end_of(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (char == '}').then_some(at);
        }
    }
    None
}

fn dated(expression: &str, now_ms: u64) -> Result<String, String> {
    let (math, format) = match expression.split_once('{') {
        Some((math, format)) => (
            math,
            format
                .strip_suffix('}')
                .ok_or("a bracket has no counterpart")?,
        ),
        None => (expression, DEFAULT_FORMAT),
    };
    let (format, zone) = match format.split_once('|') {
        Some((format, zone)) => (format, offset(zone)?),
        None => (format, Offset::UTC),
    };
    let now = i64::try_from(now_ms).ok();
    let now = now.and_then(|now| Timestamp::from_millisecond(now).ok());
    let now = now.ok_or("the clock is wrong")?;
    let now = now.to_zoned(TimeZone::fixed(zone)).datetime();
    formatted(computed(math, now)?, format)
}

fn offset(text: &str) -> Result<Offset, String> {
    if ["Z", "UTC", "utc"].contains(&text) {
        return Ok(Offset::UTC);
    }
    let unknown = || format!("the time zone [{text}] is none such as +01:00");
    let (sign, rest) = match text.split_at_checked(1) {
        Some(("+", rest)) => (1, rest),
        Some(("-", rest)) => (-1, rest),
        _ => return Err(unknown()),
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    let seconds = match (hours.parse::<i32>(), minutes.parse::<i32>()) {
        (Ok(hours @ 0..=18), Ok(minutes @ 0..=59)) => sign * (hours * 60 + minutes) * 60,
        _ => return Err(unknown()),
    };
    Offset::from_seconds(seconds).map_err(|_| unknown())
}

fn computed(math: &str, now: DateTime) -> Result<DateTime, String> {
    let wrong = || format!("[{math}] is not now with steps such as +1d and /d");
    let mut rest = math.strip_prefix("now").ok_or_else(wrong)?;
    let mut time = now;
    while let Some(operator) = rest.chars().next() {
        rest = &rest[1..];
        let num_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, tail) = rest.split_at(num_digits);
        let unit = tail
            .chars()
            .next()
            .filter(char::is_ascii)
            .ok_or_else(wrong)?;
        rest = &tail[1..];
        let amount: i64 = match digits {
            "" => 1,
            _ => digits.parse().map_err(|_| wrong())?,
        };
        time = match operator {
            '/' if digits.is_empty() => rounded(time, unit).ok_or_else(wrong)?,
            '+' | '-' => {
                let amount = if operator == '-' { -amount } else { amount };
                let span = span(amount, unit).ok_or_else(wrong)?;
                time.checked_add(span).map_err(|_| wrong())?
            }
            _ => return Err(wrong()),
        };
    }
    Ok(time)
}

fn span(amount: i64, unit: char) -> Option<Span> {
    let span = Span::new();
    match unit {
        'y' => span.try_years(amount).ok(),
        'M' => span.try_months(amount).ok(),
        'w' => span.try_weeks(amount).ok(),
        'd' => span.try_days(amount).ok(),
        'h' | 'H' => span.try_hours(amount).ok(),
        'm' => span.try_minutes(amount).ok(),
        's' => span.try_seconds(amount).ok(),
        _ => None,
    }
}

fn rounded(time: DateTime, unit: char) -> Option<DateTime> {
    let date = time.date();
    let at = |date: Date| Some(date.to_datetime(Time::midnight()));
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    match unit {
        'y' => at(date.first_of_year()),
        'M' => at(date.first_of_month()),
        'w' => {
            let days = i64::from(date.weekday().to_monday_zero_offset());
            at(date.checked_sub(days.days()).ok()?)
        }
        'd' => at(date),
        'h' | 'H' => Some(date.at(hour, 0, 0, 0)),
        'm' => Some(date.at(hour, minute, 0, 0)),
        's' => Some(date.at(hour, minute, second, 0)),
        _ => None,
    }
}

fn formatted(time: DateTime, format: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    while let Some(char) = chars.next() {
        if !char.is_ascii_alphabetic() {
            out.push(char);
            continue;
        }
        let mut len = 1;
        while chars.next_if_eq(&char).is_some() {
            len += 1;
        }
        let value = match char {
            'y' | 'u' => i32::from(time.year()),
            'M' => i32::from(time.month()),
            'd' => i32::from(time.day()),
            'D' => i32::from(time.date().day_of_year()),
            'H' => i32::from(time.hour()),
            'm' => i32::from(time.minute()),
            's' => i32::from(time.second()),
            _ => {
                return Err(format!(
                    "the format [{format}] has letters other than yMdDHms"
                ));
            }
        };
        let value = if char != 'M' && len == 2 && matches!(char, 'y' | 'u') {
            value % 100
        } else {
            value
        };
        out.push_str(&format!("{value:0len$}"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_names_are_written_out() {
        // 2024-03-22T11:05:06Z, a Friday.
        let now_ms = 1_711_105_506_000;
        for (name, expected) in [
            ("logs", None),
            ("<logs-{now/d}>", Some("logs-2024.03.22")),
            ("<logs-{now/M}>", Some("logs-2024.03.01")),
            ("<logs-{now/M{yyyy.MM}}>", Some("logs-2024.03")),
            ("<logs-{now/M-1M{yyyy.MM}}>", Some("logs-2024.02")),
            ("<a-{now/w{yyyy-MM-dd}}-b>", Some("a-2024-03-18-b")),
            ("<logs-{now/d{yyyy.MM.dd|+13:00}}>", Some("logs-2024.03.23")),
            ("<logs-{now-1d{yy.DDD}}>", Some("logs-24.081")),
            ("<el\\{a\\}-{now/y}>", Some("el{a}-2024.01.01")),
        ] {
            let written = written_out(name, now_ms).unwrap();
            assert_eq!(written.as_deref(), expected, "{name}");
        }
        for name in [
            "<a-{now>",
            "<a-{later}>",
            "<a-{now/d{yyyy|Europe/Oslo}}>",
            "<a-{now+1x}>",
            "<a-{now/d{EEE}}>",
        ] {
            assert!(written_out(name, now_ms).is_err(), "{name}");
        }
    }
}
