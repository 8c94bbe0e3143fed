//! The parts of a line's head: words, and groups in brackets.
//!
//! ```text
//! [main] o.a.X$Y: text          1234#5678: *90
//! └group┘└─word─┘└ its tail     └─number──┘└ tail
//! ```

use std::ops::Range;

use super::level::{self, Sureness};

/// One part, and where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// `[`, `(` or `<` of a group.
    pub(super) open: Option<u8>,
    /// Without brackets and what closes it.
    pub(super) inside: Range<usize>,
    /// Whether a `:`, `,`, `]` or the like closes it.
    pub(super) tail: Option<u8>,
    /// Whether it ends as columns do: at two spaces, a tab, a `|` or the line's end.
    pub(super) is_column: bool,
    /// Behind it and the space that follows.
    pub(super) next: usize,
}

/// What a part looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
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

fn at(text: &[u8], place: usize) -> Option<u8> {
    text.get(place).copied()
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Passes white space.
pub(super) fn after_space(text: &[u8], place: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    place + rest.iter().take_while(|byte| is_space(**byte)).count()
}

fn closing(open: u8) -> u8 {
    match open {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        _ => b'>',
    }
}

/// A group is given up behind so many bytes.
const LONGEST_GROUP: usize = 200;

/// The element that begins at a place, where no white space is. Nothing at the end, or before a quote or a
/// brace: those begin what people are told.
pub(super) fn element(text: &[u8], place: usize) -> Option<Element> {
    let first = at(text, place)?;
    if matches!(first, b'"' | b'\'' | b'`') {
        return None;
    }
    if first == b'{' {
        return braced(text, place);
    }
    if first == b'[' && opens_letter(text, place) {
        return Some(ended(text, None, place..place + 1, place + 1));
    }
    if matches!(first, b'[' | b'(' | b'<')
        && let Some(end) = group_end(text, place, first)
    {
        let inside = trimmed(text, place + 1, end);
        return Some(ended(text, Some(first), inside, end + 1));
    }
    if first == b'|' {
        return Some(ended(text, None, place..place + 1, place + 1));
    }
    let rest = text.get(place..)?;
    let is_end = |byte: &u8| is_space(*byte) || *byte == b'|';
    let len = rest.iter().position(is_end).unwrap_or(rest.len());
    let cut = before_date(rest, len)
        .or_else(|| level_and_name(rest, len))
        .or_else(|| before_bracket(rest, len))
        .or_else(|| processor(rest, len));
    let len = cut.unwrap_or(len);
    Some(ended(text, None, place..place + len, place + len))
}

/// `{main.py:12}`, `{a1b2-…}`: a source or an id. Other braces begin objects.
fn braced(text: &[u8], place: usize) -> Option<Element> {
    let end = group_end(text, place, b'{')?;
    let inside = text.get(place + 1..end)?;
    // `{}` is an id that is missing.
    let is_number = inside.iter().all(u8::is_ascii_digit);
    // `{40 vars in 700 bytes}`, as uWSGI writes it.
    let is_count = inside.first().is_some_and(u8::is_ascii_digit)
        && inside
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ');
    let is_it = is_source(inside) || is_id(inside) || is_number || is_count;
    is_it.then(|| ended(text, Some(b'{'), place + 1..end, end + 1))
}

/// Returns whether a bracket opens with a level's letter and a time, as Passenger's: `[ N 2024-05-01 10:00:00.1234 …`.
fn opens_letter(text: &[u8], place: usize) -> bool {
    matches!(
        text.get(place..place + 8),
        Some([b'[', b' ', letter, b' ', year @ ..])
            if level::of_letter(*letter).is_some() && year.iter().all(u8::is_ascii_digit)
    )
}

/// Text in quotes: it may stand before a time, and begins what people are told behind one.
pub(super) fn quoted(text: &[u8], place: usize) -> Option<Element> {
    let rest = text.get(place..)?.strip_prefix(b"\"")?;
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\n');
    let len = rest.iter().take(LONGEST_GROUP).position(is_end)?;
    let is_whole = rest.get(len) == Some(&b'"');
    is_whole.then(|| {
        ended(
            text,
            Some(b'"'),
            place + 1..place + 1 + len,
            place + len + 2,
        )
    })
}

/// A longer word before a date is none of a head.
const LONGEST_BEFORE: usize = 48;

/// Where `INFO:` of `INFO:2024-05-01` ends, `1,` of `1,2024/05/01`, `Error,` of `Error,5/1/2024`, `4242:` of `4242:20240501:100000`,
/// and `00:0002:00012:` of `00:0002:00012:2024/05/01`.
fn before_date(rest: &[u8], len: usize) -> Option<usize> {
    let word = rest.get(..len)?;
    let seps = word.iter().take(LONGEST_BEFORE).enumerate();
    let mut seps = seps.filter(|(_, byte)| matches!(byte, b':' | b','));
    let first = seps.next()?.0;
    begins_date(word, first)
        .or_else(|| seps.find_map(|(sep, byte)| begins_date(word, sep).filter(|_| *byte == b':')))
}

/// Where a word ends behind whose separator a date stands.
fn begins_date(word: &[u8], sep: usize) -> Option<usize> {
    let are_digits = |range: Range<usize>| {
        let digits = word.get(range);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
    };
    let is_divided =
        are_digits(sep + 1..sep + 5) && matches!(word.get(sep + 5), Some(b'-' | b'/' | b'.'));
    let is_compact = are_digits(sep + 1..sep + 9) && word.get(sep + 9) == Some(&b':');
    // `Error,5/1/2024`.
    let mut parts = word.get(sep + 1..)?.split(|byte| *byte == b'/');
    let mut is_part = |len: std::ops::RangeInclusive<usize>| {
        let part = parts.next();
        part.is_some_and(|part| len.contains(&part.len()) && part.iter().all(u8::is_ascii_digit))
    };
    let is_american = is_part(1..=2) && is_part(1..=2) && is_part(4..=4);
    let is_day = is_divided || is_compact || is_american;
    (word.first()?.is_ascii_alphanumeric() && is_day).then_some(sep + 1)
}

/// Where `WARNING:root:` of `WARNING:root:text` ends, as Python's logging begins a line.
fn level_and_name(rest: &[u8], len: usize) -> Option<usize> {
    let mut parts = rest.get(..len)?.splitn(3, |byte| *byte == b':');
    let (level, name) = (parts.next()?, parts.next()?);
    parts.next()?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_it = level.iter().all(u8::is_ascii_uppercase)
        && level::sureness(level) == Some(Sureness::Sure)
        && name
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.iter().all(is_name);
    is_it.then_some(level.len() + name.len() + 2)
}

/// Where `ERROR` of `ERROR[05-01|10:00:00.123]` ends: a level before a bracket with more than a number.
fn before_bracket(rest: &[u8], len: usize) -> Option<usize> {
    let word = rest.get(..len)?;
    let open = word.iter().position(|byte| *byte == b'[')?;
    let (level, inside) = word.split_at_checked(open)?;
    let is_time = matches!(inside, [_, first, second, b'-' | b'/' | b':' | b'.', ..] if first.is_ascii_digit() && second.is_ascii_digit());
    (is_time && level::sureness(level) == Some(Sureness::Sure)).then_some(open)
}

/// Where `cpu3:12345)` of `cpu3:12345)ScsiDeviceIO:` ends, as ESXi's kernel begins a line.
fn processor(rest: &[u8], len: usize) -> Option<usize> {
    let word = rest.get(..len)?;
    let ids = word.strip_prefix(b"cpu")?;
    let close = ids.iter().position(|byte| *byte == b')')?;
    let mut numbers = ids.get(..close)?.splitn(2, |byte| *byte == b':');
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let is_it = is_number(numbers.next()?) && is_number(numbers.next()?);
    is_it.then_some(close + 4)
}

fn trimmed(text: &[u8], start: usize, end: usize) -> Range<usize> {
    let inside = text.get(start..end).unwrap_or_default();
    let from = inside.len() - inside.trim_ascii_start().len();
    start + from..start + from + inside.trim_ascii().len()
}

/// Where a group's bracket closes, those within it counted.
fn group_end(text: &[u8], place: usize, open: u8) -> Option<usize> {
    let close = closing(open);
    let mut depth = 0_usize;
    let rest = text.get(place..)?.iter().take(LONGEST_GROUP).enumerate();
    for (len, byte) in rest {
        match *byte {
            byte if byte == open => depth += 1,
            byte if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(place + len);
                }
            }
            b'\n' => return None,
            _ => {}
        }
    }
    None
}

/// Looks at what closes an element, and what follows.
fn ended(text: &[u8], open: Option<u8>, inside: Range<usize>, end: usize) -> Element {
    let mut element = Element {
        open,
        inside,
        tail: None,
        is_column: false,
        next: end,
    };
    match open {
        None => cut_tail(text, &mut element),
        Some(_) => {
            if let Some(tail @ (b':' | b',')) = at(text, end) {
                element.tail = Some(tail);
                element.next = end + 1;
            }
        }
    }
    let next = after_space(text, element.next);
    let gap = text.get(element.next..next).unwrap_or_default();
    element.is_column = gap.len() >= 2 || gap.iter().any(|b| matches!(b, b'\t' | b'\n'));
    element.next = next;
    let is_bar = open.is_none() && at(text, element.inside.start) == Some(b'|');
    if !is_bar && at(text, next) == Some(b'|') {
        element.is_column = true;
        element.next = after_space(text, next + 1);
    }
    element
}

/// `name:` → `name`, `1234]` → `1234`: a bracket that was not opened in the word closes it.
fn cut_tail(text: &[u8], element: &mut Element) {
    let word = text.get(element.inside.clone()).unwrap_or_default();
    let Some((last, before)) = word.split_last().filter(|(_, before)| !before.is_empty()) else {
        return;
    };
    if !before.iter().any(u8::is_ascii_alphanumeric) {
        return;
    }
    let is_tail = match *last {
        b':' | b',' | b';' => true,
        b']' => !before.contains(&b'['),
        b')' => !before.contains(&b'('),
        _ => false,
    };
    if is_tail {
        element.tail = Some(*last);
        element.inside.end -= 1;
        // `main.go:12]:`.
        let is_bracket = *last == b':' && before.last() == Some(&b']') && !before.contains(&b'[');
        element.inside.end -= usize::from(is_bracket);
    }
    // `=INFO REPORT====`.
    let signs = before.iter().take_while(|byte| **byte == b'=').count();
    element.inside.start += signs;
}

/// A level and a name beside it: `core:error`, `INFO/MainProcess`, `app.INFO`. Where they stand in the word.
pub(super) fn named_level(word: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    // `util.py[DEBUG]`.
    if let Some(inside) = word.strip_suffix(b"]")
        && let Some(open) = inside
            .iter()
            .position(|byte| *byte == b'[')
            .filter(|open| *open > 0)
        && inside.get(open + 1..).is_some_and(|level| {
            level.iter().all(u8::is_ascii_uppercase) && level::sureness(level).is_some()
        })
    {
        return Some((open + 1..inside.len(), 0..open));
    }
    let sep = word.iter().rposition(|b| matches!(b, b':' | b'/' | b'.'))?;
    let (before, after) = (word.get(..sep)?, word.get(sep + 1..)?);
    let is_level = |word: &[u8]| level::sureness(word).is_some();
    // `[:error]`, as Apache writes it of a module without a name.
    if is_level(after) && (!before.is_empty() || word.first() == Some(&b':')) {
        return Some((sep + 1..word.len(), 0..sep));
    }
    let sep = word.iter().position(|b| matches!(b, b':' | b'/'))?;
    let (before, after) = (word.get(..sep)?, word.get(sep + 1..)?);
    (is_level(before) && !after.is_empty()).then_some((0..sep, sep + 1..word.len()))
}

/// What an element looks like; nothing if it looks like a part of a sentence.
pub(super) fn class(text: &[u8], element: &Element) -> Option<Class> {
    let word = text.get(element.inside.clone())?;
    if element.open.is_some() {
        return Some(match () {
            () if is_level(word, element) => Class::Level,
            () if is_source(word) => Class::Source,
            () => Class::Group,
        });
    }
    let is_sign = |byte: &u8| b"_.-$/:@#()[]~+*><&!=".contains(byte);
    Some(match () {
        () if word.is_empty() || word.len() > LONGEST_WORD => return None,
        () if !is_word(word) => return is_mark(word).then_some(Class::Mark),
        () if is_level(word, element) => Class::Level,
        () if is_letter(word) => Class::Letter,
        () if is_number(word) => Class::Number,
        () if is_source(word) => Class::Source,
        () if is_id(word) => Class::Id,
        () if !word
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte)) =>
        {
            return None;
        }
        () => name_class(word, element),
    })
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
pub(super) fn is_word(word: &[u8]) -> bool {
    word.iter()
        .any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
}

/// Whether signs stand between parts: a few, or one again and again.
pub(super) fn is_mark(word: &[u8]) -> bool {
    let is_alike = |first: &u8| word.iter().all(|byte| byte == first);
    !is_word(word) && (word.len() <= 4 || (word.len() <= 20 && word.first().is_some_and(is_alike)))
}

/// Whether a word is a letter that may be a level, as in `W!` of Telegraf, `W>` of Tarantool, and `Df` of macOS; or one of those
/// that WebSphere writes in their place.
pub(super) fn is_letter(word: &[u8]) -> bool {
    match word {
        [b'A' | b'O' | b'R'] => true,
        _ => level::of_letters(word).is_some(),
    }
}

/// `WARNING[4242]`, `NOTICE[4242][C-00000001]`: where the level stands, and what is in the first brackets.
pub(super) fn level_and_id(word: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let open = word.iter().position(|byte| *byte == b'[')?;
    let inside = word.get(open + 1..)?;
    let close = inside.iter().position(|byte| *byte == b']')?;
    let (id, others) = inside.split_at_checked(close)?;
    (others.len() == 1 || (others.starts_with(b"][") && others.ends_with(b"]"))).then_some(())?;
    let is_it = !id.is_empty()
        && id.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
        && level::sureness(word.get(..open)?).is_some();
    is_it.then(|| (0..open, open + 1..open + 1 + id.len()))
}

/// `1234`, `#1234`, `1234#5678`.
pub(super) fn is_number(word: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'#';
    word.last().is_some_and(u8::is_ascii_digit) && word.len() <= 20 && word.iter().all(is_digit)
}

/// Whether an element is a level, alone or beside a name.
pub(super) fn is_level(word: &[u8], element: &Element) -> bool {
    if element.open.is_some() {
        let is_pair = element.open == Some(b'(') && level::of_pair(word).is_some();
        let is_it = level::sureness(word).is_some() || named_level(word).is_some() || is_pair;
        return is_it && word.len() <= 40;
    }
    if level_and_id(word).is_some() {
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

/// `Main.java:12`, `main.go:12`, `src/net.c:40`.
pub(super) fn is_source(word: &[u8]) -> bool {
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
pub(super) fn is_id(word: &[u8]) -> bool {
    let bare = word.strip_prefix(b"req-").unwrap_or(word);
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    bare.len() >= 16
        && bare.iter().all(is_hex)
        && bare.iter().any(u8::is_ascii_digit)
        && bare.iter().filter(|byte| **byte == b'-').count() <= 4
        && (bare.len() == 36 || bare.len() != word.len() || !bare.contains(&b'-'))
}
