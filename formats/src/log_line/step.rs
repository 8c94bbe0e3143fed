//! What a layout says of a line's parts, and taking them one after another.

use std::ops::Range;

use super::element::{
    Class, Element, class, element, is_letter, is_letter_in_brackets, is_level, is_mark, is_number,
    is_small_letter, is_source, is_word, level_and_id, logcat_parts, named_level, quoted,
    thread_and_name, topic_level,
};
use super::level;

/// A part of a line: what it looks like, and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) shape: Shape,
    pub(super) meaning: Meaning,
}

/// Which elements a step takes; others are left to the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Level,
    /// `PHP Warning: `.
    PhpLevel,
    /// `3]`, `3, pid=42, class=auth]`: Samba's debug level, up to the end of its bracket.
    Verbosity,
    Letter,
    Group,
    Mark,
    Number,
    /// A word with a colon behind it.
    Tag,
    /// `Main.java:12`.
    Source,
    /// Any word.
    Word,
    /// A word that some records lack before their level: `alice@shop ERROR:  text`, `LOG:  text`.
    User,
    /// Any element whatever.
    Any,
}

/// What a part is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meaning {
    Nothing,
    Level,
    /// A sign of Redis.
    Sign,
    Logger,
    /// The name of a node of a cluster.
    Node,
    /// `sshd[42]`: a logger and a process.
    LoggerAndProcess,
    Thread,
    ProcessId,
    /// `1234#5678`, `pid 1234:tid 5678`.
    Ids,
    ThreadId,
    RequestId,
    Trace,
    Source,
    Code,
    /// `client 10.0.0.1:50000`.
    Client,
}

/// Fields of documents, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Level,
    Logger,
    Node,
    Thread,
    ProcessId,
    ThreadId,
    RequestId,
    TraceId,
    SpanId,
    Source,
    Code,
    Client,
}

impl Field {
    pub(super) const ALL: [(Field, &'static str); 12] = [
        (Field::Level, "level"),
        (Field::Logger, "logger"),
        (Field::Node, "node"),
        (Field::Thread, "thread"),
        (Field::ProcessId, "process_id"),
        (Field::ThreadId, "thread_id"),
        (Field::RequestId, "request_id"),
        (Field::TraceId, "trace_id"),
        (Field::SpanId, "span_id"),
        (Field::Source, "source"),
        (Field::Code, "code"),
        (Field::Client, "client"),
    ];
}

/// What was found in a line: where values stand, and a level that is not written out.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    places: [Option<(usize, usize)>; Field::ALL.len()],
    pub(super) level: Option<&'static str>,
}

impl Found {
    pub(super) fn set(&mut self, field: Field, range: Range<usize>) {
        if range.start < range.end
            && let Some(place) = self.places.get_mut(field as usize)
        {
            *place = Some((range.start, range.end));
        }
    }

    pub(super) fn has_level(&self) -> bool {
        self.level.is_some() || self.get(Field::Level).is_some()
    }

    pub(super) fn get(&self, field: Field) -> Option<Range<usize>> {
        let (start, end) = (*self.places.get(field as usize)?)?;
        Some(start..end)
    }
}

/// Parts of which nothing is known.
pub(super) fn unknown(num: usize) -> Vec<Step> {
    let step = Step {
        shape: Shape::Any,
        meaning: Meaning::Nothing,
    };
    vec![step; num]
}

/// Returns whether a level stands at a place.
pub(super) fn is_level_at(text: &[u8], place: usize) -> bool {
    element(text, place).is_some_and(|found| class(text, &found) == Some(Class::Level))
}

/// Returns the place behind the elements that steps take.
pub(super) fn end_of(steps: &[Step], text: &[u8], place: usize) -> usize {
    steps.iter().fold(place, |place, step| {
        take(*step, text, place, &mut Found::default()).unwrap_or(place)
    })
}

/// Takes an element if it is of the step's shape. Notes what it says, and gives back where the next one begins.
pub(super) fn take(step: Step, text: &[u8], place: usize, found: &mut Found) -> Option<usize> {
    if step.shape == Shape::PhpLevel {
        let (inside, next) = php_level(text, place)?;
        found.set(Field::Level, inside);
        return Some(next);
    }
    if step.shape == Shape::Verbosity {
        let verbosity = verbosity(text, place)?;
        found.level = Some(level::of_verbosity(verbosity.number));
        if let Some(process) = verbosity.process {
            found.set(Field::ProcessId, process);
        }
        return Some(verbosity.next);
    }
    let element = match (element(text, place), step.shape) {
        (None, Shape::Any) => quoted(text, place)?,
        (element, _) => element?,
    };
    fits(step.shape, text, &element).then_some(())?;
    note(step.meaning, text, &element, found);
    Some(element.next)
}

fn fits(shape: Shape, text: &[u8], element: &Element) -> bool {
    let word = text.get(element.inside.clone()).unwrap_or_default();
    let is_bare = element.open.is_none();
    match shape {
        Shape::Any => true,
        Shape::Group => !is_bare,
        Shape::Word => is_bare && is_word(word),
        Shape::User => is_bare && is_word(word) && !is_level_tag(word, element),
        Shape::Level => is_level(word, element),
        Shape::Letter if is_bare => is_letter(word) || is_small_letter(word),
        Shape::Letter => is_letter_in_brackets(word, element),
        Shape::Mark => is_bare && is_mark(word),
        Shape::Number => is_bare && is_number(word),
        Shape::Tag => is_bare && element.tail == Some(b':'),
        Shape::Source => is_source(word),
        Shape::PhpLevel | Shape::Verbosity => false,
    }
}

/// Whether an element is a level in capitals with a colon behind it.
pub(super) fn is_level_tag(word: &[u8], element: &Element) -> bool {
    element.tail == Some(b':')
        && word.iter().all(u8::is_ascii_uppercase)
        && level::sureness(word).is_some()
}

/// What Samba writes behind a time.
pub(super) struct Verbosity {
    number: usize,
    process: Option<Range<usize>>,
    /// Behind the bracket and the space that follows.
    pub(super) next: usize,
}

/// `3]`, `3, pid=42, effective(0, 0)]`: a debug level, what else is in the bracket, and its end.
pub(super) fn verbosity(text: &[u8], place: usize) -> Option<Verbosity> {
    let rest = text.get(place..)?;
    let line = rest.split(|byte| *byte == b'\n').next()?;
    let num_digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = line.split_at_checked(num_digits)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let close = match behind.first()? {
        b']' => 0,
        b',' => memchr::memchr(b']', behind)?,
        _ => return None,
    };
    (num_digits <= 2).then_some(())?;
    const PROCESS: &[u8] = b" pid=";
    let process = memchr::memmem::find(behind.get(..close)?, PROCESS).map(|start| {
        let start = place + num_digits + start + PROCESS.len();
        let digits = text.get(start..).unwrap_or_default();
        let len = digits.iter().take_while(|byte| byte.is_ascii_digit());
        start..start + len.count()
    });
    Some(Verbosity {
        number,
        process,
        next: super::element::after_space(text, place + num_digits + close + 1),
    })
}

/// `PHP Warning:  text`: `Warning`, and where the text begins.
pub(super) fn php_level(text: &[u8], place: usize) -> Option<(Range<usize>, usize)> {
    let rest = text.get(place..)?.strip_prefix(b"PHP ")?;
    let end = rest.iter().take(30).position(|byte| *byte == b':')?;
    let is_name = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b' ';
    let name = rest.get(..end).filter(|name| name.iter().all(is_name))?;
    const NAMES: [&[u8]; 7] = [
        b"Warning",
        b"Notice",
        b"Deprecated",
        b"Fatal error",
        b"Parse error",
        b"Strict Standards",
        b"Catchable fatal error",
    ];
    NAMES
        .iter()
        .any(|known| name.ends_with(known))
        .then_some(())?;
    let start = place + 4;
    let next = super::element::after_space(text, start + end + 1);
    Some((start..start + end, next))
}

fn note(meaning: Meaning, text: &[u8], element: &Element, found: &mut Found) {
    let inside = element.inside.clone();
    let word = text.get(inside.clone()).unwrap_or_default();
    let within = |range: Range<usize>| inside.start + range.start..inside.start + range.end;
    match meaning {
        Meaning::Nothing => {}
        Meaning::Level => note_level(word, inside, found),
        Meaning::Sign => found.level = word.first().and_then(|sign| level::of_sign(*sign)),
        Meaning::Logger => note_logger(word, element, found),
        Meaning::Node => found.set(Field::Node, inside),
        Meaning::LoggerAndProcess => {
            let (name, process) = tagged(word);
            found.set(Field::Logger, within(name));
            // `unbound[1234:0]`.
            let ids = word.get(process.clone()).unwrap_or_default();
            let len = ids.iter().take_while(|byte| **byte != b':').count();
            let thread = process.start + (len + 1).min(ids.len())..process.end;
            found.set(Field::ProcessId, within(process.start..process.start + len));
            found.set(Field::ThreadId, within(thread));
        }
        Meaning::Thread => found.set(Field::Thread, inside),
        Meaning::ProcessId => {
            let skip = usize::from(word.first() == Some(&b'#'));
            // `4242 on web01`.
            let len = word.iter().take_while(|byte| **byte != b' ').count();
            found.set(Field::ProcessId, inside.start + skip..inside.start + len);
        }
        Meaning::ThreadId => found.set(Field::ThreadId, inside),
        Meaning::Ids => {
            let (process, thread) = ids(word);
            found.set(Field::ProcessId, within(process));
            found.set(Field::ThreadId, within(thread));
        }
        Meaning::RequestId => {
            let len = word.iter().take_while(|byte| !byte.is_ascii_whitespace());
            let len = len.count();
            // `-` is none.
            if len > 1 {
                found.set(Field::RequestId, inside.start..inside.start + len);
            }
        }
        Meaning::Trace => {
            let (trace, span) = trace(word);
            found.set(Field::TraceId, within(trace));
            found.set(Field::SpanId, within(span));
        }
        Meaning::Source => found.set(Field::Source, inside),
        Meaning::Code => found.set(Field::Code, inside),
        Meaning::Client => {
            let skip = word.len() - word.strip_prefix(b"client ").unwrap_or(word).len();
            found.set(Field::Client, inside.start + skip..inside.end);
        }
    }
}

fn note_logger(word: &[u8], element: &Element, found: &mut Found) {
    let start = element.inside.start;
    if let Some((thread, name)) = thread_and_name(word) {
        found.set(Field::Thread, start + thread.start..start + thread.end);
        found.set(Field::Logger, start + name.start..start + name.end);
        return;
    }
    let name = match element.open {
        Some(_) => without_line(word),
        None => word,
    };
    // `cpu1:12346)WARNING: NFS: 12: text`.
    let is_level = word.iter().all(u8::is_ascii_uppercase)
        && level::sureness(word) == Some(level::Sureness::Sure);
    let is_level = is_level || is_level_tag(word, element);
    let field = match is_level && element.open.is_none() && !found.has_level() {
        true => Field::Level,
        false => Field::Logger,
    };
    found.set(field, start..start + name.len());
}

fn note_level(word: &[u8], inside: Range<usize>, found: &mut Found) {
    if is_letter(word) {
        found.level = level::of_letters(word);
        return;
    }
    if let ([letter], true) = (word, is_small_letter(word)) {
        found.level = level::of_letter(letter.to_ascii_uppercase());
        return;
    }
    found.level = level::of_pair(word).or_else(|| level::of_priority(word));
    if found.level.is_some() {
        return;
    }
    let set = |found: &mut Found, field: Field, range: Range<usize>| {
        found.set(field, inside.start + range.start..inside.start + range.end);
    };
    if let Some((tag, process)) = logcat_parts(word) {
        found.level = word.first().and_then(|letter| level::of_letter(*letter));
        set(found, Field::Logger, tag);
        set(found, Field::ProcessId, process);
        return;
    }
    if let Some((level, topic)) = topic_level(word) {
        set(found, Field::Level, level);
        set(found, Field::Logger, topic);
        return;
    }
    if let Some((level, id)) = level_and_id(word) {
        set(found, Field::Level, level);
        set(found, Field::ProcessId, id);
        return;
    }
    match named_level(word) {
        Some((level, name)) => {
            found.set(
                Field::Level,
                inside.start + level.start..inside.start + level.end,
            );
            // `[Server thread/INFO]`, as Minecraft writes it.
            let is_thread = word
                .get(name.clone())
                .is_some_and(|name| name.ends_with(b" thread"));
            if let Some(named) = word.get(name.clone()).filter(|named| named.ends_with(b"]")) {
                let (tag, id) = tagged(named);
                set(found, Field::Logger, tag);
                set(found, Field::ProcessId, id);
                return;
            }
            let field = match is_thread {
                true => Field::Thread,
                false => Field::Logger,
            };
            found.set(field, inside.start + name.start..inside.start + name.end);
        }
        None => found.set(Field::Level, inside),
    }
}

/// `django.server:161`, `salt.minion      :100` → the name.
pub(super) fn without_line(word: &[u8]) -> &[u8] {
    let num_digits = word.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let name = word.get(..word.len() - num_digits).unwrap_or(word);
    match name.strip_suffix(b":") {
        Some(name) if num_digits > 0 => name.trim_ascii_end(),
        _ => word,
    }
}

/// `sshd[42]` → where the name and the number stand.
pub(super) fn tagged(word: &[u8]) -> (Range<usize>, Range<usize>) {
    let open = word.iter().rposition(|byte| *byte == b'[');
    match (open, word.last()) {
        (Some(open), Some(b']')) if open > 0 => (0..open, open + 1..word.len() - 1),
        _ => (0..word.len(), 0..0),
    }
}

/// `1234#5678`, `pid 1234:tid 5678`, `pid 1234`, `1:M`.
fn ids(word: &[u8]) -> (Range<usize>, Range<usize>) {
    let mut numbers = [(0, 0); 2];
    let mut place = 0;
    for number in &mut numbers {
        let rest = word.get(place..).unwrap_or_default();
        let Some(skip) = rest.iter().position(u8::is_ascii_digit) else {
            break;
        };
        let digits = rest.get(skip..).unwrap_or_default();
        let len = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        *number = (place + skip, place + skip + len);
        place += skip + len;
    }
    let [process, thread] = numbers;
    (process.0..process.1, thread.0..thread.1)
}

/// `app,463ac35c9f6413ad48485a3953bb6124,a2fb4a1d1a96d312`, `463a…-a2fb…`.
pub(super) fn trace(word: &[u8]) -> (Range<usize>, Range<usize>) {
    let mut found = [(0, 0); 2];
    let mut ids = found.iter_mut();
    let mut start = 0;
    for part in word.split(|byte| matches!(byte, b',' | b'-' | b' ')) {
        let is_id = matches!(part.len(), 16 | 32) && part.iter().all(u8::is_ascii_hexdigit);
        if is_id && let Some(id) = ids.next() {
            *id = (start, start + part.len());
        }
        start += part.len() + 1;
    }
    let [trace, span] = found;
    (trace.0..trace.1, span.0..span.1)
}
