//! Parser of texts into the components of a time.

use super::super::zone::{Zone, read_offset};
use super::fields::Parsed;
use super::pattern::{Item, Name, Number, Style};
use super::print::{HALF_DAYS, MONTHS, WEEKDAYS};

/// Parses a complete text; returns `None` if it does not match the pattern.
pub(super) fn read(items: &[Item], text: &str) -> Option<Parsed> {
    let mut parsed = Parsed::default();
    let rest = read_items(items, text, &mut parsed)?;
    rest.is_empty().then_some(parsed)
}

/// Parses all items from the start of a text, and returns the rest. An optional item that matches
/// is consumed without backtracking, even if a later item fails.
fn read_items<'t>(items: &[Item], text: &'t str, parsed: &mut Parsed) -> Option<&'t str> {
    let mut rest = text;
    for (at, item) in items.iter().enumerate() {
        rest = match item {
            Item::Optional(inner) => {
                let mut with = parsed.clone();
                match read_items(inner, rest, &mut with) {
                    Some(after) => {
                        *parsed = with;
                        after
                    }
                    None => rest,
                }
            }
            Item::Number {
                field,
                min_read,
                max,
                ..
            } => {
                // Adjacent items, as in Hmm, take their digits first; this number gets the
                // remaining ones.
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let reserved =
                    digits_of_next(items.get(at.saturating_add(1)..).unwrap_or_default());
                let max = digits
                    .saturating_sub(reserved)
                    .clamp((*min_read).min(*max), *max);
                read_number(rest, *min_read, max, |value| parsed.set(*field, value))?
            }
            item => read_item(item, rest, parsed)?,
        };
    }
    Some(rest)
}

/// Returns the number of digits that the directly following items take.
fn digits_of_next(items: &[Item]) -> usize {
    let digits = items.iter().map_while(|item| match item {
        Item::Number { min_read, .. } => Some(*min_read),
        Item::TwoDigitYear { .. } => Some(2),
        Item::Fraction { digits } => Some(*digits),
        _ => None,
    });
    digits.fold(0, usize::saturating_add)
}

fn read_item<'t>(item: &Item, text: &'t str, parsed: &mut Parsed) -> Option<&'t str> {
    match item {
        Item::Literal(literal) => text.strip_prefix(literal.as_str()),
        Item::TwoDigitYear { field } => read_number(text, 2, 2, |value| {
            parsed.set(*field, value.saturating_add(2000))
        }),
        Item::Name { of, style } => read_name(text, *of, *style, parsed),
        Item::Fraction { digits } => read_fraction(text, *digits, *digits, parsed),
        Item::PointAndFraction { optional, .. } => match text.strip_prefix(['.', ',']) {
            Some(digits) => read_fraction(digits, 1, 9, parsed),
            None => optional.then_some(text),
        },
        Item::Offset { .. } => {
            let (offset_s, rest) = read_offset(text)?;
            parsed.offset_s = Some(offset_s);
            Some(rest)
        }
        Item::Zone => {
            let part_of_name =
                |character: char| character.is_ascii_alphanumeric() || "/_+-:".contains(character);
            let len = text
                .find(|character| !part_of_name(character))
                .unwrap_or(text.len());
            let (name, rest) = text.split_at_checked(len)?;
            parsed.zone = Some(Zone::parse(name).ok()?);
            Some(rest)
        }
        // Callers handle these, since they depend on neighbouring items.
        Item::Number { .. } | Item::Optional(_) => None,
    }
}

/// Splits digits off the start of a text: at least `min`, and at most `max`.
fn split_digits(text: &str, min: usize, max: usize) -> Option<(&str, &str)> {
    let len = text
        .bytes()
        .take(max)
        .take_while(u8::is_ascii_digit)
        .count();
    if len < min.max(1) {
        None
    } else {
        text.split_at_checked(len)
    }
}

/// Parses a number and passes it to `set`.
fn read_number(
    text: &str,
    min: usize,
    max: usize,
    set: impl FnOnce(i64) -> Option<()>,
) -> Option<&str> {
    let (digits, rest) = split_digits(text, min, max)?;
    set(digits.parse().ok()?)?;
    Some(rest)
}

/// Parses the digits of a fraction of a second.
fn read_fraction<'t>(
    text: &'t str,
    min: usize,
    max: usize,
    parsed: &mut Parsed,
) -> Option<&'t str> {
    let (digits, rest) = split_digits(text, min, max)?;
    parsed.nanos = Some(format!("{digits:0<9}").parse().ok()?);
    Some(rest)
}

/// Parses a name in any case.
fn read_name<'t>(text: &'t str, of: Name, style: Style, parsed: &mut Parsed) -> Option<&'t str> {
    let names: &[&str] = match of {
        Name::Month => &MONTHS,
        Name::Weekday => &WEEKDAYS,
        Name::AmPm => &HALF_DAYS,
    };
    if style == Style::Narrow {
        return None;
    }
    let found = names.iter().zip(1_i64..).find_map(|(full, number)| {
        let name = if style == Style::Short {
            full.get(..3)?
        } else {
            full
        };
        let (front, rest) = text.split_at_checked(name.len())?;
        front.eq_ignore_ascii_case(name).then_some((number, rest))
    });
    let (number, rest) = found?;
    match of {
        Name::Month => parsed.set(Number::Month, number)?,
        Name::Weekday => parsed.set(Number::Weekday, number)?,
        Name::AmPm => parsed.pm = Some(number == 2),
    }
    Some(rest)
}

/// Parses units since 1970 with a fraction, truncated to nanoseconds.
pub(super) fn epoch(text: &str, unit_ns: u64, round_up: bool) -> Option<i128> {
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => (-1, number),
        None => (1, text),
    };
    let (whole, fraction) = number
        .split_once('.')
        .map_or((number, None), |(whole, part)| (whole, Some(part)));
    let digits = |text: &str| {
        !text.is_empty() && text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !digits(whole) || fraction.is_some_and(|fraction| !digits(fraction)) {
        return None;
    }
    let unit = i128::from(unit_ns);
    // 18 digits and units of at most ten digits fit easily.
    let fraction_ns = match fraction {
        Some(fraction) => {
            format!("{fraction:0<18}").parse::<i128>().ok()? * unit / 1_000_000_000_000_000_000
        }
        // The text covers its whole unit, up to its last nanosecond, before and after 1970.
        None if round_up => sign * (unit - 1),
        None => 0,
    };
    Some(sign * (whole.parse::<i128>().ok()? * unit + fraction_ns))
}
