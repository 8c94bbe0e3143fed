//! Compiler of patterns into items to write and read.

/// Item of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Literal text.
    Literal(String),
    /// Number, written with at least `min` digits and read with `min_read` to `max` digits.
    Number {
        field: Number,
        min: usize,
        min_read: usize,
        max: usize,
    },
    /// Last two digits of a year from 2000 to 2099.
    TwoDigitYear { field: Number },
    /// English name.
    Name { of: Name, style: Style },
    /// Digits of the fraction of a second, truncated.
    Fraction { digits: usize },
    /// Point or comma, and 1 to 9 digits of a second. At least three digits are written; without
    /// `zero`, a fraction of zero is omitted. With `optional`, it may be missing when reading.
    PointAndFraction { zero: bool, optional: bool },
    /// Offset from UTC; all styles are accepted for reading.
    Offset { style: usize, letter_z: bool },
    /// Name of the zone.
    Zone,
    /// Items that may be missing when reading.
    Optional(Vec<Item>),
}

/// Component of a date that is written as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Year,
    WeekYear,
    Quarter,
    Month,
    Week,
    Day,
    DayOfYear,
    Weekday,
    /// From 0 to 23.
    Hour,
    /// From 1 to 24.
    Hour1To24,
    /// From 1 to 12.
    Hour1To12,
    /// From 0 to 11.
    Hour0To11,
    Minute,
    Second,
}

/// Component of a date that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Month,
    Weekday,
    AmPm,
}

/// Length of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// First three letters.
    Short,
    Full,
    /// First letter, which is never read.
    Narrow,
}

/// Number of digits required for reading a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// As many as the pattern has letters.
    Exact,
    /// At least one.
    Lenient,
}

/// Maximum length of a pattern in bytes, and maximum depth of its brackets.
const MAX_LEN: usize = 256;
const MAX_DEPTH: usize = 8;

/// Compiles a pattern.
///
/// # Errors
/// The pattern is invalid. The message describes the problem without quoting the pattern.
pub(super) fn compile(pattern: &str, strictness: Strictness) -> Result<Vec<Item>, String> {
    if pattern.is_empty() || pattern.len() > MAX_LEN {
        return Err(format!("a pattern has 1 to {MAX_LEN} bytes"));
    }
    let mut rest = pattern;
    let mut open: Vec<Vec<Item>> = Vec::new();
    let mut items = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (taken, after) = rest.split_at(run_len(rest, first));
        rest = after;
        match first {
            '[' if open.len() < MAX_DEPTH => open.push(std::mem::take(&mut items)),
            '[' => return Err(format!("brackets are nested deeper than {MAX_DEPTH}")),
            ']' => {
                let outer = open.pop().ok_or("a ] has no [ before it")?;
                let inner = std::mem::replace(&mut items, outer);
                items.push(Item::Optional(inner));
            }
            '\'' => {
                let (text, after) = quoted(rest).ok_or("a quote ' is not closed")?;
                items.push(Item::Literal(text));
                rest = after;
            }
            '{' | '}' | '#' => return Err(format!("{first} must stand in quotes '")),
            _ if first.is_ascii_alphabetic() => items.push(field(first, taken.len(), strictness)?),
            _ => items.push(Item::Literal(taken.to_string())),
        }
    }
    match open.is_empty() {
        true => Ok(items),
        false => Err("a [ is not closed".to_string()),
    }
}

/// Returns the length in bytes of the initial run of one letter, or of the initial character that
/// is no letter.
fn run_len(text: &str, first: char) -> usize {
    match first.is_ascii_alphabetic() {
        true => text
            .chars()
            .take_while(|character| *character == first)
            .count(),
        false => first.len_utf8(),
    }
}

/// Returns the text up to the closing quote, and the rest; two quotes are an escaped one.
fn quoted(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('\'') {
        return Some(("'".to_string(), rest));
    }
    let mut rest = text;
    let mut found = String::new();
    loop {
        let (part, after) = rest.split_once('\'')?;
        found.push_str(part);
        rest = match after.strip_prefix('\'') {
            Some(more) => {
                found.push('\'');
                more
            }
            None => return Some((found, after)),
        };
    }
}

/// Returns the item for `count` repetitions of a letter.
fn field(letter: char, count: usize, strictness: Strictness) -> Result<Item, String> {
    if let Some((field, most)) = number(letter, count) {
        let all = count == 1 || strictness == Strictness::Lenient;
        let min_read = if all { 1 } else { count };
        let max = if count == 1 { most } else { most.max(count) };
        return Ok(Item::Number {
            field,
            min: count,
            min_read,
            max,
        });
    }
    let name = |of| Item::Name {
        of,
        style: style(count),
    };
    let offset = |style, letter_z| Item::Offset { style, letter_z };
    Ok(match (letter, count) {
        ('y' | 'u', 2) => Item::TwoDigitYear {
            field: Number::Year,
        },
        ('Y', 2) => Item::TwoDigitYear {
            field: Number::WeekYear,
        },
        ('M' | 'L', 3..=5) => name(Name::Month),
        ('e' | 'c', 3..=5) | ('E', 1..=5) => name(Name::Weekday),
        ('a', 1) => Item::Name {
            of: Name::AmPm,
            style: Style::Full,
        },
        ('S', 1..=9) => Item::Fraction { digits: count },
        ('X', 1..=5) => offset(count, true),
        ('x', 1..=5) => offset(count, false),
        ('Z', 1..=3) => offset(2, false),
        ('Z', 5) => offset(5, true),
        ('V', 2) => Item::Zone,
        _ if "yuYQqMLwdDecEaHkhKmsSXxZV".contains(letter) => {
            return Err(format!("{letter} cannot stand {count} times"));
        }
        _ => return Err(format!("the letter {letter} is not known")),
    })
}

/// Returns the number that `count` repetitions of a letter stand for, and its maximum of digits.
fn number(letter: char, count: usize) -> Option<(Number, usize)> {
    Some(match (letter, count) {
        ('y' | 'u', 1 | 3..=9) => (Number::Year, 4),
        ('Y', 1 | 3..=9) => (Number::WeekYear, 4),
        ('Q' | 'q', 1 | 2) => (Number::Quarter, count),
        ('M' | 'L', 1 | 2) => (Number::Month, 2),
        ('w', 1 | 2) => (Number::Week, 2),
        ('d', 1 | 2) => (Number::Day, 2),
        ('D', 1..=3) => (Number::DayOfYear, 3),
        ('e', 1 | 2) | ('c', 1) => (Number::Weekday, count),
        ('H', 1 | 2) => (Number::Hour, 2),
        ('k', 1 | 2) => (Number::Hour1To24, 2),
        ('h', 1 | 2) => (Number::Hour1To12, 2),
        ('K', 1 | 2) => (Number::Hour0To11, 2),
        ('m', 1 | 2) => (Number::Minute, 2),
        ('s', 1 | 2) => (Number::Second, 2),
        _ => return None,
    })
}

/// Returns the style of a name with `count` letters in its pattern.
fn style(count: usize) -> Style {
    match count {
        4 => Style::Full,
        5 => Style::Narrow,
        _ => Style::Short,
    }
}
