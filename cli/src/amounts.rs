//! Bytes and times as people write them on a command line.

use std::time::Duration;

const UNITS: [(&str, u64); 10] = [
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("", 1),
];

/// Bytes: `500000`, `4GB` (powers of ten), `512MiB` (powers of two).
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let num_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, unit) = text.split_at(num_digits);
    let unit = unit.trim().to_ascii_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit);
    match (digits.parse::<u64>(), factor) {
        (Ok(num), Some((_, factor))) => num
            .checked_mul(*factor)
            .ok_or_else(|| "more bytes than can be counted".to_owned()),
        _ => Err("not a number of bytes such as 500000, 4GB or 512MiB".to_owned()),
    }
}

/// A time span: `30s`, `500ms`, `5m`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<jiff::SignedDuration>().ok();
    let span = span.and_then(|span| Duration::try_from(span).ok());
    span.ok_or_else(|| "not a time span such as 30s, 500ms or 5m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units_of_ten_and_of_two() {
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(parse_bytes(text).ok(), expect, "{text}");
        };
        check("0", Some(0));
        check("65536", Some(65_536));
        check("4GB", Some(4_000_000_000));
        check("4 gb", Some(4_000_000_000));
        check("512MiB", Some(512 << 20));
        check("1TiB", Some(1 << 40));
        check("7b", Some(7));
        for wrong in ["", "GB", "-1", "1.5GB", "4 G B", "4X", "99999999999TB", "²"] {
            check(wrong, None);
        }
    }

    #[test]
    fn times_have_a_unit() {
        let check = |text: &str, expect: Option<u64>| {
            let expect = expect.map(Duration::from_millis);
            assert_eq!(parse_duration(text).ok(), expect, "{text}");
        };
        check("0s", Some(0));
        check("500ms", Some(500));
        check("30s", Some(30_000));
        check("5m", Some(300_000));
        check("1h", Some(3_600_000));
        for wrong in ["", "30", "-5s", "soon"] {
            check(wrong, None);
        }
    }
}
