//! What parts look like.

use super::compound::{is_of_facility, level_and_id, logcat_parts, named_level, topic_level};
use super::part::Element;
use crate::log_line::level::{self, Sureness};

/// What a part looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::log_line) enum Class {
    /// A level, perhaps with a name: `core:error`, `app.INFO`.
    Level,
    /// A letter that may be one.
    Letter,
    /// In brackets.
    Group,
    /// Signs alone: `-`, `---`, `|`.
    Mark,
    /// `Main.java:12`.
    Source,
    /// `name:`.
    Tag,
    /// Digits, perhaps with `#` before or within.
    Number,
    /// `a.b.Class`, `a::b`.
    Dotted,
    /// A UUID, or many hexadecimal digits.
    Id,
    /// A word before a gap.
    Column,
    /// A word before a single space.
    Word,
    /// Begins with a digit: an address, a day.
    Figure,
}

/// What an element looks like; nothing if it looks like a part of a sentence.
pub(in crate::log_line) fn class(text: &[u8], element: &Element) -> Option<Class> {
    let word = text.get(element.inside.clone())?;
    if element.open.is_some() {
        return Some(match () {
            () if is_told(word) => return None,
            () if is_level(word, element) => Class::Level,
            () if is_letter_in_brackets(word, element) => Class::Letter,
            () if is_source(word) => Class::Source,
            () => Class::Group,
        });
    }
    // `98.50%`, of which FreeSWITCH writes one in each line.
    let is_figure = word.first().is_some_and(u8::is_ascii_digit);
    let is_sign =
        |byte: &u8| b"_.-$/:@#()[]~+*><&!=".contains(byte) || (is_figure && *byte == b'%');
    Some(match () {
        () if word.is_empty() || word.len() > LONGEST_WORD => return None,
        () if !is_word(word) => return is_mark(word).then_some(Class::Mark),
        () if is_level(word, element) => Class::Level,
        () if is_letter(word) => Class::Letter,
        () if is_number(word) => Class::Number,
        () if is_source(word) => Class::Source,
        () if is_id(word) => Class::Id,
        () if word.starts_with(b"cpu") && memchr::memmem::find(word, b" opID=").is_some() => {
            Class::Word
        }
        () if !word
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte)) =>
        {
            return None;
        }
        () => name_class(word, element),
    })
}

/// Whether what stands in brackets is told: a text in quotes, as TiDB writes it, or an address of Oracle's,
/// `(ADDRESS=(PROTOCOL=tcp)(HOST=10.0.0.1))`.
fn is_told(word: &[u8]) -> bool {
    let has_pairs = || memchr::memmem::find(word, b"=(").is_some();
    let is_pair = || word.ends_with(b")") && memchr::memchr(b'=', word).is_some();
    word.first() == Some(&b'"') || has_pairs() || is_pair()
}

/// Whether a letter in brackets stands for a level, as in `[W][sensor:094]:` of ESPHome and `(W) 2024-05-01T10:00:00` of
/// qBittorrent; `<I>` of Nokia's platform.
pub(in crate::log_line) fn is_letter_in_brackets(word: &[u8], element: &Element) -> bool {
    matches!(word, [letter] if level::of_letter(*letter).is_some())
        && matches!(element.open, Some(b'[' | b'(' | b'<'))
}

fn name_class(word: &[u8], element: &Element) -> Class {
    let is_figure = word.first().is_some_and(u8::is_ascii_digit);
    match (element.tail, element.is_column) {
        (Some(b':'), _) if !is_figure => Class::Tag,
        (_, false) if is_figure => Class::Figure,
        _ if is_qualified(word) => Class::Dotted,
        (_, true) => Class::Column,
        _ => Class::Word,
    }
}

/// A longer one is none of a head.
const LONGEST_WORD: usize = 120;

/// Whether a word is more than signs.
pub(in crate::log_line) fn is_word(word: &[u8]) -> bool {
    word.iter()
        .any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
}

/// Whether signs stand between parts: a few, or one again and again.
pub(in crate::log_line) fn is_mark(word: &[u8]) -> bool {
    let is_alike = |first: &u8| word.iter().all(|byte| byte == first);
    !is_word(word) && (word.len() <= 4 || (word.len() <= 20 && word.first().is_some_and(is_alike)))
}

/// Whether a word is a letter that may be a level, as in `W!` of Telegraf, `W>` of Tarantool, and `Df` of macOS; or one of those
/// that WebSphere writes in their place.
pub(in crate::log_line) fn is_letter(word: &[u8]) -> bool {
    match word {
        [b'A' | b'O' | b'R'] => true,
        _ => level::of_letters(word).is_some(),
    }
}

/// Whether a word is a letter in lower case that may be a level, as SAP HANA writes them: `… 10:00:00.123456 i Basis  text`. Only
/// if all records of a sample have one there is it more than a word.
pub(in crate::log_line) fn is_small_letter(word: &[u8]) -> bool {
    matches!(word, [b'd' | b'i' | b'w' | b'e' | b'f'])
}

/// `1234`, `#1234`, `1234#5678`.
pub(in crate::log_line) fn is_number(word: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'#';
    word.last().is_some_and(u8::is_ascii_digit) && word.len() <= 20 && word.iter().all(is_digit)
}

/// Whether an element is a level, alone or beside a name.
pub(in crate::log_line) fn is_level(word: &[u8], element: &Element) -> bool {
    if element.open.is_some() {
        let is_pair = element.open == Some(b'(') && level::of_pair(word).is_some();
        let is_it = level::sureness(word).is_some() || named_level(word).is_some() || is_pair;
        return is_it && word.len() <= 40;
    }
    let is_marked = level_and_id(word).is_some()
        || level::of_priority(word).is_some()
        || logcat_parts(word).is_some()
        || topic_level(word).is_some()
        || is_of_facility(word);
    if is_marked {
        return true;
    }
    let is_capital = !word.iter().any(u8::is_ascii_lowercase);
    match level::sureness(word) {
        Some(Sureness::Sure) => true,
        Some(Sureness::Dressed) => is_capital || element.tail == Some(b':') || element.is_column,
        None => element.tail.is_some() && named_level(word).is_some(),
    }
}

/// `a.b.Class`, `a::b`: a name of code, and not of a host.
fn is_qualified(word: &[u8]) -> bool {
    let has_colons = word.windows(2).any(|pair| pair == b"::");
    let mut parts = word.split(|byte| *byte == b'.');
    let is_class = |part: &[u8]| part.first().is_some_and(u8::is_ascii_uppercase);
    let first_is_name = parts
        .next()
        .is_some_and(|part| part.first().is_some_and(u8::is_ascii_alphabetic));
    has_colons || (first_is_name && parts.any(is_class) && !word.contains(&b'/'))
}

/// The ends of names of source files: `example.com:80` is none.
const SUFFIXES: [&str; 30] = [
    "c", "cc", "cpp", "cxx", "h", "hpp", "go", "java", "kt", "scala", "groovy", "clj", "py", "rs",
    "rb", "js", "ts", "mjs", "tsx", "php", "cs", "fs", "vb", "swift", "m", "mm", "ex", "erl", "pl",
    "lua",
];

/// `Main.java:12`, `main.go:12`, `src/net.c:40`, `server.c:1746(main)`.
pub(in crate::log_line) fn is_source(word: &[u8]) -> bool {
    let word = match word.strip_suffix(b")").and_then(|word| {
        let open = memchr::memrchr(b'(', word)?;
        Some((word.get(..open)?, word.get(open + 1..)?))
    }) {
        Some((place, function))
            if function
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') =>
        {
            place
        }
        _ => word,
    };
    let Some(colon) = word.iter().rposition(|byte| *byte == b':') else {
        return false;
    };
    let (name, line) = (word.get(..colon).unwrap_or_default(), word.get(colon + 1..));
    let is_line = line.is_some_and(|l| !l.is_empty() && l.iter().all(u8::is_ascii_digit));
    let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else {
        return false;
    };
    let suffix = name.get(dot + 1..).unwrap_or_default();
    is_line && dot > 0 && SUFFIXES.iter().any(|known| known.as_bytes() == suffix)
}

/// `8f507cfc-6adf-11e6-a5d5-2f3f5e8b2c5a`, `req-…`, 16 hexadecimal digits and more.
pub(in crate::log_line) fn is_id(word: &[u8]) -> bool {
    let bare = word.strip_prefix(b"req-").unwrap_or(word);
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    bare.len() >= 16
        && bare.iter().all(is_hex)
        && bare.iter().any(u8::is_ascii_digit)
        && bare.iter().filter(|byte| **byte == b'-').count() <= 4
        && (bare.len() == 36 || bare.len() != word.len() || !bare.contains(&b'-'))
}
