//! Writer of times as text.

use std::fmt::Write;

use super::fields::Fields;
use super::pattern::{Item, Name, Number, Style};

/// English names; their first three letters are the short forms.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Names of weekdays, from Monday.
pub(super) const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
/// Names of the halves of a day.
pub(super) const HALF_DAYS: [&str; 2] = ["AM", "PM"];

/// Writes all items, including optional ones.
pub(super) fn print(items: &[Item], fields: &Fields<'_>, text: &mut String) {
    for item in items {
        print_item(item, fields, text);
    }
}

fn print_item(item: &Item, fields: &Fields<'_>, text: &mut String) {
    match item {
        Item::Literal(literal) => text.push_str(literal),
        Item::Number { field, min, .. } => number(text, fields.number(*field), *min),
        Item::TwoDigitYear { field } => number(text, fields.number(*field).rem_euclid(100), 2),
        Item::Name { of, style } => text.push_str(name(*of, *style, fields)),
        Item::Fraction { digits } => text.extend(nanos(fields).chars().take(*digits)),
        Item::PointAndFraction { zero: false, .. } if fields.nanos() == 0 => {}
        Item::PointAndFraction { .. } => {
            let all = nanos(fields);
            let digits = all.trim_end_matches('0').len();
            text.push('.');
            text.extend(all.chars().take(digits.max(3)));
        }
        Item::Offset { style, letter_z } => offset(text, fields.local.offset_s, *style, *letter_z),
        Item::Zone => text.push_str(fields.zone.name()),
        Item::Optional(items) => print(items, fields, text),
    }
}

/// Writes a number with at least `min` digits. Writing to a string cannot fail.
fn number(text: &mut String, value: i64, min: usize) {
    // A fast path for the usual numbers in dates: an answer may contain thousands of dates.
    match (u8::try_from(value), min) {
        (Ok(value @ 0..=99), 2) => {
            text.push(char::from(b'0' + value / 10));
            text.push(char::from(b'0' + value % 10));
        }
        _ if (1_000..=9_999).contains(&value) && min <= 4 => {
            number(text, value / 100, 2);
            number(text, value % 100, 2);
        }
        _ => {
            let _ = write!(text, "{value:0min$}");
        }
    }
}

/// Returns the nine digits of the fraction of a second.
fn nanos(fields: &Fields<'_>) -> String {
    format!("{:09}", fields.nanos())
}

fn name(of: Name, style: Style, fields: &Fields<'_>) -> &'static str {
    let pick = |names: &[&'static str], at: i64| -> &'static str {
        usize::try_from(at)
            .ok()
            .and_then(|at| names.get(at).copied())
            .unwrap_or("")
    };
    let full = match of {
        Name::Month => pick(&MONTHS, fields.number(Number::Month) - 1),
        Name::Weekday => pick(&WEEKDAYS, fields.number(Number::Weekday) - 1),
        Name::AmPm => pick(&HALF_DAYS, fields.number(Number::Hour) / 12),
    };
    let len = match style {
        Style::Full => full.len(),
        Style::Short => 3,
        Style::Narrow => 1,
    };
    full.get(..len).unwrap_or(full)
}

/// Writes an offset in one of Java's five styles: hours with minutes if any, `+hhmm`, `+hh:mm`, and
/// the last two with seconds if any.
fn offset(text: &mut String, offset_s: i64, style: usize, letter_z: bool) {
    if offset_s == 0 && letter_z {
        text.push('Z');
        return;
    }
    let (total, colon) = (
        offset_s.abs(),
        if style == 3 || style == 5 { ":" } else { "" },
    );
    let (hours, minutes, seconds) = (total / 3_600, total / 60 % 60, total % 60);
    // An offset truncated to minutes may be zero.
    let sign = if offset_s < 0 { '-' } else { '+' };
    let _ = write!(text, "{sign}{hours:02}");
    if style > 1 || minutes > 0 {
        let _ = write!(text, "{colon}{minutes:02}");
    }
    if style > 3 && seconds > 0 {
        let _ = write!(text, "{colon}{seconds:02}");
    }
}

/// Writes units since 1970, with as many decimals as needed.
pub(super) fn epoch(time_ns: i64, unit_ns: u64) -> String {
    let (unit_ns, total) = (unit_ns.max(1), time_ns.unsigned_abs());
    let (whole, fraction) = (total / unit_ns, total % unit_ns);
    let sign = if time_ns < 0 { "-" } else { "" };
    if fraction == 0 {
        return format!("{sign}{whole}");
    }
    // Units are powers of ten, so they have one digit more than the fraction.
    let digits = unit_ns.to_string().len().saturating_sub(1);
    let fraction = format!("{fraction:0digits$}");
    format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))
}
