//! Numbers in a readable form.

use std::time::Duration;

/// Formats a number as `1,234,567`.
pub(crate) fn count(num: u64) -> String {
    let digits = num.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with a noun: `1 split`, `8 splits`.
pub(crate) fn counted(num: u64, noun: &str) -> String {
    match num {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", count(num)),
    }
}

/// Formats bytes as `512 B`, `20.3 KB`, `88.1 MB`: powers of ten.
pub(crate) fn bytes(num: u64) -> String {
    if num < 1_000 {
        return format!("{num} B");
    }
    let mut value = num as f64;
    let mut unit = "B";
    for next in ["KB", "MB", "GB", "TB", "PB"] {
        // A value that would round up to 1000 takes the next unit.
        if value < 999.5 {
            break;
        }
        value /= 1e3;
        unit = next;
    }
    format!("{} {unit}", three_digits(value))
}

/// Formats a time span as `0.08 ms`, `34.2 ms`, `1.23 s`, `2 min 5 s`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 0.9995 {
        format!("{} ms", three_digits(seconds * 1e3))
    } else if seconds < 99.5 {
        format!("{} s", three_digits(seconds))
    } else {
        let whole = seconds.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
    }
}

/// Formats microseconds as [`duration`] does.
pub(crate) fn micros(num: u64) -> String {
    duration(Duration::from_micros(num))
}

/// Formats a width as `500 ms`, `10 min`, `1 h`, `30 d`: it was chosen, so it is a whole number of some unit.
pub(crate) fn width_of_time(millis: u64) -> String {
    let units = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "min"),
        (1_000, "s"),
    ];
    let whole = |(len, _): &&(u64, &str)| millis > 0 && millis.is_multiple_of(*len);
    match units.iter().find(whole) {
        Some((len, unit)) => format!("{} {unit}", count(millis / len)),
        None => format!("{} ms", count(millis)),
    }
}

/// Formats a rate: `123,000 documents/s`.
pub(crate) fn rate(num: u64, time: Duration, nouns: &str) -> String {
    let per_second = num as f64 / time.as_secs_f64().max(1e-6);
    // Three digits: the rest is noise.
    let step = 10f64.powi((per_second.max(1.0).log10().floor() as i32 - 2).max(0));
    format!(
        "{} {nouns}/s",
        count(((per_second / step).round() * step) as u64)
    )
}

/// Formats a share as `25.2 %`; `None` if the whole is zero.
pub(crate) fn share(part: u64, whole: u64) -> Option<String> {
    (whole > 0).then(|| format!("{} %", three_digits(100.0 * part as f64 / whole as f64)))
}

/// Formats any number of an answer: integers with separators, others with a few decimals.
pub(crate) fn real(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(value.abs() as u64));
    }
    if value.abs() >= 1e15 || (value != 0.0 && value.abs() < 1e-3) {
        return format!("{value:e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn three_digits(value: f64) -> String {
    let places = match value {
        _ if value < 9.995 => 2,
        _ if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let check = |text: String, expect: &str| assert_eq!(text, expect);
        check(count(0), "0");
        check(count(999), "999");
        check(count(1_000), "1,000");
        check(count(1_234_567), "1,234,567");
        check(counted(1, "split"), "1 split");
        check(counted(2_000, "split"), "2,000 splits");
        check(bytes(0), "0 B");
        check(bytes(999), "999 B");
        check(bytes(1_000), "1.00 KB");
        check(bytes(20_345), "20.3 KB");
        check(bytes(999_600), "1.00 MB");
        check(bytes(88_100_000), "88.1 MB");
        check(bytes(u64::MAX), "18447 PB");
        check(micros(83), "0.08 ms");
        check(micros(34_200), "34.2 ms");
        check(micros(999_900), "1.00 s");
        check(micros(125_000_000), "2 min 5 s");
        check(
            rate(1_000_000, Duration::from_secs(7), "documents"),
            "143,000 documents/s",
        );
        check(
            rate(3, Duration::from_secs(2), "documents"),
            "2 documents/s",
        );
        check(rate(0, Duration::ZERO, "documents"), "0 documents/s");
        check(share(1, 4).unwrap_or_default(), "25.0 %");
        assert_eq!(share(1, 0), None);
        check(real(12_345.0), "12,345");
        check(real(-2.0), "-2");
        check(real(0.125), "0.125");
        check(real(2.34567), "2.3457");
        check(real(1e-9), "1e-9");
    }
}
