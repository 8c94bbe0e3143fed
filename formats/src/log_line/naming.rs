//! What the parts of a head are for, by their values in a sample.

use super::element::{Class, is_id};
use super::level;
use super::step::{Meaning, Shape, tagged, trace, without_line};

/// The values of a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(pub(super) Vec<Vec<u8>>);

impl Values {
    /// Whether so many of a hundred are of a kind.
    pub(super) fn are(&self, percent: usize, is_it: impl Fn(&[u8]) -> bool) -> bool {
        let num = self.0.iter().filter(|value| is_it(value)).count();
        num > 0 && num * 100 >= self.0.len() * percent
    }
}

impl Values {
    /// Whether all are one name: a log is of one node, and what is told has many.
    fn are_of_one_node(&self) -> bool {
        let first = self.0.first();
        self.0.len() >= 2
            && first.is_some_and(|first| is_group_logger(first))
            && self.0.iter().all(|value| Some(value) == first)
    }
}

/// What each part is for.
pub(super) fn meanings(parts: &[(Shape, Class, &Values)]) -> Vec<Meaning> {
    let logger = logger(parts);
    let has_thread = parts
        .iter()
        .any(|(_, class, values)| *class == Class::Group && values.are(60, is_thread));
    let mut found = Vec::with_capacity(parts.len());
    for (place, (shape, class, values)) in parts.iter().enumerate() {
        let meaning = match class {
            _ if logger == Some(place) => logger_of(values),
            Class::Level | Class::Letter => Meaning::Level,
            Class::Mark => mark(values),
            Class::Source => Meaning::Source,
            Class::Id => id(values),
            Class::Tag if values.are(90, is_code) => Meaning::Code,
            Class::Number | Class::Group => {
                group(values, *class, !has_thread && logger > Some(place))
            }
            _ if *shape == Shape::Any && values.are(90, is_role) => Meaning::Ids,
            _ => Meaning::Nothing,
        };
        let is_behind_logger = *class == Class::Group
            && place > 0
            && logger == Some(place - 1)
            && parts
                .get(place - 1)
                .is_some_and(|part| part.1 == Class::Group);
        let meaning = match meaning {
            // `[o.e.n.Node] [node-1]`.
            Meaning::Nothing if is_behind_logger && values.are_of_one_node() => Meaning::Node,
            meaning => meaning,
        };
        // The first process id is one of a process, a second one of a thread.
        let meaning = match meaning {
            Meaning::ProcessId if found.contains(&Meaning::ProcessId) => Meaning::ThreadId,
            meaning => meaning,
        };
        let is_twice = meaning != Meaning::Level && found.contains(&meaning);
        found.push(if is_twice { Meaning::Nothing } else { meaning });
    }
    found
}

/// `1:M`, as Redis begins.
fn is_role(value: &[u8]) -> bool {
    matches!(value, [digits @ .., b':', b'A'..=b'Z'] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

/// Whether a line begins as Redis', `1:M` or `[1]`: its signs are levels, and those of others, as `*` in lists, are not.
pub(super) fn has_role(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"[").unwrap_or(text);
    let num_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    num_digits > 0
        && match rest.get(num_digits..) {
            Some([b':', b'A'..=b'Z', b' ', ..]) => rest.len() == text.len(),
            Some([b']', b' ', ..]) => rest.len() < text.len(),
            _ => false,
        }
}

fn mark(values: &Values) -> Meaning {
    let is_sign = |value: &[u8]| matches!(value, [sign] if level::of_sign(*sign).is_some());
    let is_marked = values.are(1, |value| matches!(value, b"*" | b"#"));
    match is_marked && values.are(100, is_sign) {
        true => Meaning::Sign,
        false => Meaning::Nothing,
    }
}

fn id(values: &Values) -> Meaning {
    match values.are(50, |value| value.len() == 32 && !value.contains(&b'-')) {
        true => Meaning::Trace,
        false => Meaning::RequestId,
    }
}

fn logger_of(values: &Values) -> Meaning {
    let is_tagged = |value: &[u8]| !tagged(value).1.is_empty();
    let is_process = |value: &[u8]| {
        let inside = value.get(tagged(value).1).unwrap_or_default();
        inside.first().is_some_and(u8::is_ascii_digit)
            && inside
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b':')
    };
    // `Microsoft.Hosting.Lifetime[14]` names an event, and keeps it.
    match values.are(20, is_tagged) && values.are(20, is_process) && !values.are(50, is_dotted) {
        true => Meaning::LoggerAndProcess,
        false => Meaning::Logger,
    }
}

fn is_dotted(value: &[u8]) -> bool {
    value.contains(&b'.') && value.first().is_some_and(u8::is_ascii_alphabetic)
}

/// Which part names what wrote the line: the likeliest by its looks, the last one of equals.
fn logger(parts: &[(Shape, Class, &Values)]) -> Option<usize> {
    let rank = |place: usize| -> u8 {
        let Some((shape, class, values)) = parts.get(place) else {
            return 0;
        };
        let next = parts.get(place + 1).map(|(_, class, _)| *class);
        match (shape, class) {
            (Shape::Any, _) => 0,
            (_, Class::Tag) if values.are(90, is_code) => 0,
            (_, Class::Tag) => 6,
            (_, Class::Dotted) => 7,
            (_, Class::Column) if values.are(80, is_name) => 4,
            (_, Class::Word) if values.are(80, is_name) => match next {
                // `synapse.http.server - 7 - INFO - GET-7 - text`.
                Some(Class::Mark) if values.are(90, is_dotted) => 6,
                Some(Class::Mark) => 5,
                Some(Class::Group | Class::Level | Class::Tag | Class::Source) => 3,
                _ => 0,
            },
            (_, Class::Group) if values.are(90, is_group_logger) => match values.are(90, is_dotted)
            {
                true => 5,
                false => 1,
            },
            _ => 0,
        }
    };
    let ranked = (0..parts.len()).map(|place| (rank(place), place));
    // The first of the groups, the last of the words.
    let best = ranked
        .filter(|(rank, _)| *rank > 0)
        .max_by_key(|(rank, place)| {
            let is_group = parts.get(*place).is_some_and(|part| part.1 == Class::Group);
            (*rank, if is_group { usize::MAX - place } else { *place })
        });
    best.map(|(_, place)| place)
}

/// Returns whether a value is a name, not a figure, a letter, a pair or an address.
fn is_name(value: &[u8]) -> bool {
    let is_pair_or_address = value.contains(&b'=') || value.windows(3).any(|part| part == b"://");
    let is_null = value == b"null";
    value.first().is_some_and(u8::is_ascii_alphabetic)
        && value.len() > 1
        && !is_pair_or_address
        && !is_null
}

fn is_group_logger(value: &[u8]) -> bool {
    // `(pid:1234)`.
    let is_process = is_ids(value);
    let value = without_line(value);
    // `akka://system/user/a`.
    let value = value.strip_prefix(b"akka:/").unwrap_or(value);
    let value = value.strip_prefix(b"/").unwrap_or(value);
    let is_plain = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$' | b'/' | b'*')
    };
    // `gc,start`, the tags of Java's collector.
    let are_tags = value
        .iter()
        .all(|byte| byte.is_ascii_lowercase() || *byte == b',');
    is_name(value)
        && (value.iter().all(is_plain) || are_tags)
        && !is_thread(value)
        && !is_code(value)
        && !is_process
        && !is_id(value)
}

/// Parts of the names that threads have.
const THREADS: [&[u8]; 20] = [
    b"thread",
    b"main",
    b"pool",
    b"worker",
    b"exec",
    b"nio-",
    b"conn",
    b"listen",
    b"scheduler",
    b"dispatcher",
    b"reactor",
    b"forkjoin",
    b"timer",
    b"handler",
    b"qtp",
    b"eventloop",
    b"process",
    b"stage",
    b"task",
    b"http-",
];

fn is_thread(value: &[u8]) -> bool {
    if is_dotted(value) && !value.contains(&b'-') {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let has = |part: &&[u8]| lower.windows(part.len()).any(|window| window == *part);
    THREADS.iter().any(has)
}

/// `MY-010116`, `AH00001`, `CWWKF0011I`.
fn is_code(value: &[u8]) -> bool {
    let num_letters = value.iter().take_while(|b| b.is_ascii_uppercase()).count();
    let rest = value.get(num_letters..).unwrap_or_default();
    let number = rest.strip_prefix(b"-").unwrap_or(rest);
    // `CWWKF0011I`.
    let number = match number {
        [digits @ .., b'A'..=b'Z'] => digits,
        number => number,
    };
    (2..=12).contains(&num_letters)
        && (3..=8).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
}

fn is_ids(value: &[u8]) -> bool {
    // `pid 7`, `pid:7`.
    let value = match value.strip_prefix(b"pid") {
        Some([b' ' | b':', number @ ..]) => number,
        _ => value,
    };
    let mut parts = value.splitn(2, |byte| matches!(byte, b'#' | b':'));
    let is_number =
        |part: &[u8]| (1..=10).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let first = parts.next().is_some_and(is_number);
    let second = parts
        .next()
        .map(|part| part.strip_prefix(b"tid ").unwrap_or(part));
    first && second.is_none_or(is_number)
}

/// What stands in brackets, or is a number.
fn group(values: &Values, class: Class, is_before_logger: bool) -> Meaning {
    let is_digits = |value: &[u8]| {
        let digits = value.strip_prefix(b"#").unwrap_or(value);
        (1..=10).contains(&digits.len())
            && digits
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'-')
            && digits.first() != Some(&b'-')
    };
    let is_erlang = |value: &[u8]| {
        value.contains(&b'.') && value.iter().all(|b| b.is_ascii_digit() || *b == b'.')
    };
    let has_trace = |value: &[u8]| !trace(value).0.is_empty();
    // `4242 on web01`.
    let is_on_host = |value: &[u8]| {
        let num_digits = value
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        num_digits > 0
            && value
                .get(num_digits..)
                .is_some_and(|rest| rest.starts_with(b" on "))
    };
    if values.are(90, is_digits) || values.are(90, is_erlang) || values.are(90, is_on_host) {
        return Meaning::ProcessId;
    }
    if values.are(90, is_ids) {
        return Meaning::Ids;
    }
    if class == Class::Number {
        return Meaning::Nothing;
    }
    if values.are(90, |value| value.starts_with(b"client ")) {
        return Meaning::Client;
    }
    let is_request = |value: &[u8]| {
        let first = value.split(u8::is_ascii_whitespace).next();
        value.starts_with(b"req-") || first.is_some_and(|word| word.len() == 36 && is_id(word))
    };
    if values.are(50, is_request) {
        return Meaning::RequestId;
    }
    if values.are(50, has_trace) {
        return Meaning::Trace;
    }
    if values.are(90, is_code) {
        return Meaning::Code;
    }
    match values.are(60, is_thread) || is_before_logger {
        true => Meaning::Thread,
        false => Meaning::Nothing,
    }
}

/// `text (kafka.server.KafkaServer)`: where the name stands.
pub(super) fn logger_at_end(line: &[u8]) -> Option<std::ops::Range<usize>> {
    let before = line.strip_suffix(b")")?;
    let open = before.iter().rposition(|byte| *byte == b'(')?;
    let name = before.get(open + 1..)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$');
    let is_it = name.contains(&b'.')
        && name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(is_name);
    is_it.then_some(open + 1..before.len())
}
