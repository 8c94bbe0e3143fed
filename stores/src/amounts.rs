//! Parser of byte counts as people write them, shared by all command lines and settings.

const UNITS: [(&str, u64); 10] = [
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

/// Maximum number of decimals: more than any byte count can use.
const MAX_FRACTION_LEN: usize = 12;

/// Parses `500000`, `4GB` (powers of ten) or `512MiB` (powers of two), in any case. Fractions such
/// as `1.5GiB` are accepted if they are a whole number of bytes.
///
/// # Errors
/// The text has none of these forms, or is too large. The message names a valid form.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || "not a number of bytes such as 500000, 4GB or 512MiB".to_owned();
    let text = text.trim();
    let is_number = |c: &char| c.is_ascii_digit() || *c == '.';
    let (number, unit) = text.split_at(text.chars().take_while(is_number).count());
    let unit = unit.trim_start().to_ascii_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, factor) = factor.ok_or_else(wrong)?;
    let (whole, fraction) = match number.split_once('.') {
        None => (number, ""),
        Some((_, "")) => return Err(wrong()),
        Some(parts) => parts,
    };
    if fraction.len() > MAX_FRACTION_LEN {
        return Err(wrong());
    }
    let scaled: u128 = match whole.parse::<u64>() {
        // The digits of both parts are parsed as one number, which the scale divides below.
        Ok(_) => format!("{whole}{fraction}").parse().map_err(|_| wrong())?,
        Err(_) if !whole.is_empty() && whole.bytes().all(|c| c.is_ascii_digit()) => u128::MAX,
        Err(_) => return Err(wrong()),
    };
    let scale = 10u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
    let num_bytes = scaled.checked_mul(u128::from(*factor));
    let num_bytes = num_bytes.ok_or_else(too_many)?;
    if num_bytes % scale != 0 {
        return Err("not a whole number of bytes".to_owned());
    }
    u64::try_from(num_bytes / scale).map_err(|_| too_many())
}

fn too_many() -> String {
    "more bytes than can be counted".to_owned()
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
        check(" 65536 ", Some(65_536));
        check("4GB", Some(4_000_000_000));
        check("4 gb", Some(4_000_000_000));
        check("512MiB", Some(512 << 20));
        check("1GiB", Some(1 << 30));
        check("1TiB", Some(1 << 40));
        check("7b", Some(7));
        check("1.5GB", Some(1_500_000_000));
        check("0.5 MiB", Some(1 << 19));
        check("1.0", Some(1));
        check("18446744073709551615", Some(u64::MAX));
        for wrong in [
            "",
            "GB",
            "-1",
            "1.5",
            "1.",
            ".5GB",
            "1.2.3GB",
            "4 G B",
            "4X",
            "4M",
            "99999999999TB",
            "²",
            "18446744073709551616",
            "340282366920938463463374607431768211456",
            "0.0000000000001TB",
        ] {
            check(wrong, None);
        }
    }
}
