//! The formats that have a name. A name that begins with `strict_` asks for all digits; without it, fewer are
//! read wherever something stands between the numbers.

use super::date_format::Form;
use super::pattern::{Item, Strictness, compile};

/// Stands in the patterns of this file for a point and a fraction; no letter that a request could write.
const FRACTION: &str = "@";

/// Names and their patterns.
const PATTERNS: [(&str, &str); 43] = [
    ("basic_date", "uuuuMMdd"),
    ("basic_date_time", "uuuuMMdd'T'HHmmss@XX"),
    ("basic_date_time_no_millis", "uuuuMMdd'T'HHmmssXX"),
    ("basic_ordinal_date", "uuuuDDD"),
    ("basic_ordinal_date_time", "uuuuDDD'T'HHmmss@XX"),
    ("basic_ordinal_date_time_no_millis", "uuuuDDD'T'HHmmssXX"),
    ("basic_time", "HHmmss@XX"),
    ("basic_time_no_millis", "HHmmssXX"),
    ("basic_t_time", "'T'HHmmss@XX"),
    ("basic_t_time_no_millis", "'T'HHmmssXX"),
    ("basic_week_date", "YYYY'W'wwe"),
    ("basic_week_date_time", "YYYY'W'wwe'T'HHmmss@XX"),
    ("basic_week_date_time_no_millis", "YYYY'W'wwe'T'HHmmssXX"),
    ("date", "uuuu-MM-dd"),
    ("date_hour", "uuuu-MM-dd'T'HH"),
    ("date_hour_minute", "uuuu-MM-dd'T'HH:mm"),
    ("date_hour_minute_second", "uuuu-MM-dd'T'HH:mm:ss"),
    ("date_hour_minute_second_fraction", "uuuu-MM-dd'T'HH:mm:ss@"),
    ("date_hour_minute_second_millis", "uuuu-MM-dd'T'HH:mm:ss@"),
    ("date_time", "uuuu-MM-dd'T'HH:mm:ss@XXX"),
    ("date_time_no_millis", "uuuu-MM-dd'T'HH:mm:ssXXX"),
    ("hour", "HH"),
    ("hour_minute", "HH:mm"),
    ("hour_minute_second", "HH:mm:ss"),
    ("hour_minute_second_fraction", "HH:mm:ss@"),
    ("hour_minute_second_millis", "HH:mm:ss@"),
    ("ordinal_date", "uuuu-DDD"),
    ("ordinal_date_time", "uuuu-DDD'T'HH:mm:ss@XXX"),
    ("ordinal_date_time_no_millis", "uuuu-DDD'T'HH:mm:ssXXX"),
    ("time", "HH:mm:ss@XXX"),
    ("time_no_millis", "HH:mm:ssXXX"),
    ("t_time", "'T'HH:mm:ss@XXX"),
    ("t_time_no_millis", "'T'HH:mm:ssXXX"),
    ("week_date", "YYYY-'W'ww-e"),
    ("week_date_time", "YYYY-'W'ww-e'T'HH:mm:ss@XXX"),
    ("week_date_time_no_millis", "YYYY-'W'ww-e'T'HH:mm:ssXXX"),
    ("week_year", "YYYY"),
    ("weekyear", "YYYY"),
    ("weekyear_week", "YYYY-'W'ww"),
    ("weekyear_week_day", "YYYY-'W'ww-e"),
    ("year", "uuuu"),
    ("year_month", "uuuu-MM"),
    ("year_month_day", "uuuu-MM-dd"),
];

/// What `date_optional_time` and the default write, and what both read.
const PRINT_OPTIONAL: &str = "uuuu-MM-dd'T'HH:mm:ss@XXXXX";
const READ_OPTIONAL: &str = "uuuu[-MM[-dd['T'[HH[:mm[:ss@]]][XXXXX]]]]";

/// What the default writes, and milliseconds, which it reads also.
pub(super) fn default_forms() -> [Form; 2] {
    let print = pattern(PRINT_OPTIONAL, Strictness::Exact, fraction(false, false));
    let read = pattern(READ_OPTIONAL, Strictness::Exact, fraction(false, true));
    [
        Form::Pattern { print, read },
        Form::Epoch { unit_ns: 1_000_000 },
    ]
}

/// The format of a name.
pub(super) fn form(name: &str) -> Option<Form> {
    let (strictness, plain) = match name.strip_prefix("strict_") {
        Some(plain) => (Strictness::Exact, plain),
        None => (Strictness::Lenient, name),
    };
    match plain {
        "epoch_millis" => return Some(Form::Epoch { unit_ns: 1_000_000 }),
        "epoch_second" => {
            return Some(Form::Epoch {
                unit_ns: 1_000_000_000,
            });
        }
        "date_optional_time" | "date_optional_time_nanos" | "iso8601" => {
            let print = pattern(PRINT_OPTIONAL, Strictness::Exact, fraction(true, false));
            let read = pattern(READ_OPTIONAL, strictness, fraction(true, true));
            return Some(Form::Pattern { print, read });
        }
        _ => {}
    }
    let (_, text) = PATTERNS.iter().find(|(known, _)| *known == plain)?;
    // Where numbers stand side by side, only all digits tell them apart.
    let strictness = if plain.starts_with("basic_") {
        Strictness::Exact
    } else {
        strictness
    };
    let items = pattern(text, strictness, fraction(true, false));
    Some(Form::Pattern {
        print: items.clone(),
        read: items,
    })
}

/// A point and a fraction; see [`Item::PointAndFraction`].
fn fraction(zero: bool, optional: bool) -> Item {
    Item::PointAndFraction { zero, optional }
}

/// The items of a pattern of this file, with a fraction where it has the sign of one.
fn pattern(text: &str, strictness: Strictness, fraction: Item) -> Vec<Item> {
    fn put(items: &mut [Item], fraction: &Item) {
        for item in items {
            match item {
                Item::Literal(literal) if literal == FRACTION => *item = fraction.clone(),
                Item::Optional(inner) => put(inner, fraction),
                _ => {}
            }
        }
    }
    // The patterns are constants; a test compiles every one.
    let mut items = compile(text, strictness).unwrap_or_default();
    put(&mut items, &fraction);
    items
}

/// Every name without `strict_`, for tests.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().map(|(name, _)| *name).chain([
        "date_optional_time",
        "date_optional_time_nanos",
        "iso8601",
    ])
}
