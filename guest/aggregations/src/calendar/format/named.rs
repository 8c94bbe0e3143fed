//! Named formats. Those that begin with `strict_` require all digits; the others accept fewer
//! digits wherever a separator follows.

use super::date_format::Form;
use super::pattern::{Item, Strictness, compile};

/// Placeholder for a decimal point and a fraction in the patterns of this file. It is no pattern
/// letter.
const FRACTION: &str = "@";

/// Names and patterns of the formats.
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

/// Patterns of `date_optional_time` and the default format: one for writing, one for reading.
const PRINT_OPTIONAL: &str = "uuuu-MM-dd'T'HH:mm:ss@XXXXX";
const READ_OPTIONAL: &str = "uuuu[-MM[-dd['T'[HH[:mm[:ss@]]][XXXXX]]]]";

/// Returns the two default forms: dates, and milliseconds, which are only read.
pub(super) fn default_forms() -> [Form; 2] {
    let print = pattern(PRINT_OPTIONAL, Strictness::Exact, fraction(false, false));
    let read = pattern(READ_OPTIONAL, Strictness::Exact, fraction(false, true));
    [
        Form::Pattern { print, read },
        Form::Epoch { unit_ns: 1_000_000 },
    ]
}

/// Returns the form of a named format.
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
    // Without separators, only complete digits separate the numbers.
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

/// Returns an item for a decimal point and a fraction; see [`Item::PointAndFraction`].
fn fraction(zero: bool, optional: bool) -> Item {
    Item::PointAndFraction { zero, optional }
}

/// Compiles a pattern of this file, and replaces its placeholder by `fraction`.
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
    // The patterns are constants; a test compiles each of them.
    let mut items = compile(text, strictness).unwrap_or_default();
    put(&mut items, &fraction);
    items
}

/// Returns all names without `strict_`, for tests.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().map(|(name, _)| *name).chain([
        "date_optional_time",
        "date_optional_time_nanos",
        "iso8601",
    ])
}
