//! Purpose of a field, derived from its values and its name.

use super::shape::{Shape, Shapes};
use super::times::{is_id, is_version};
use canter_doc_mapper::config::check_field_name;
use canter_doc_mapper::escape_segment;
use canter_names::normal_level;
use std::borrow::Cow;
use std::fmt::Write;

/// Maximum number of mapped fields of an object: with more, its keys are data, and it is left to the dynamic mode.
const MAX_INSIDE: usize = 30;
/// Maximum number of mapped fields; more are left to the dynamic mode.
const MAX_MAPPED: usize = 500;
/// Maximum number of objects that a time is within.
const MAX_DEPTH: usize = 4;
/// Number of dynamic fields that are still examined for words.
const MAX_DYNAMIC_WORDS: usize = 100;

/// Names of log messages, as the last part of a field's name: they are full text, however few of them differ.
const MESSAGES: [&str; 22] = [
    "message",
    "msg",
    "log",
    "text",
    "body",
    "content",
    "description",
    "error",
    "err",
    "errormessage",
    "error_message",
    "exception",
    "stack",
    "stacktrace",
    "stack_trace",
    "backtrace",
    "reason",
    "detail",
    "details",
    "title",
    "summary",
    "short_message",
];

/// Names of the severity of a record, as the last part of a field's name.
const LEVELS: [&str; 10] = [
    "level",
    "severity",
    "loglevel",
    "log_level",
    "levelname",
    "lvl",
    "pri",
    "severity_text",
    "severitytext",
    "error_severity",
];

const MESSAGE: Kind = Kind::Words {
    is_message: true,
    is_repeated: false,
};

/// A mapped field for the suggested config.
pub(super) struct Field {
    /// Names from the root on.
    pub(super) path: Vec<String>,
    pub(super) kind: Kind,
    pub(super) is_list: bool,
    pub(super) comment: String,
    pub(super) inside: Vec<Field>,
    /// Number of documents that have it.
    num_docs: u64,
    /// Number of values that are times, in a field of times.
    pub(super) num_timed: u64,
    /// True if all its texts are blank.
    pub(super) is_blank: bool,
    /// True if values have several words, such as paths.
    pub(super) is_parted: bool,
    /// True if each value stands in a full text of its document, too, as a path does in a request line.
    pub(super) is_quoted: bool,
    /// True if distinct values have words in common, as addresses and names of hosts do, and identifiers do not.
    pub(super) is_worded: bool,
    /// True if it has few integers, such as status codes.
    pub(super) is_code: bool,
    /// True if its texts are few, and each is repeated.
    pub(super) is_repeated: bool,
    /// The formats of its dates.
    pub(super) date_forms: Option<Cow<'static, str>>,
    /// A text that looks like a time, where all do and none is read as one.
    pub(super) unread_time: Option<String>,
    /// True if every document has it.
    pub(super) is_everywhere: bool,
    /// Paths of texts in it that are left to the dynamic mode.
    pub(super) dynamic_words: Vec<Vec<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Texts, or numbers of digits that are days.
    Date,
    /// Numbers, or texts of digits.
    UnixTime,
    Ip,
    Bool,
    U64 {
        is_id: bool,
    },
    I64 {
        is_id: bool,
    },
    F64,
    Words {
        is_message: bool,
        /// True if most values are repeated, as names of browsers are.
        is_repeated: bool,
    },
    Word {
        is_tag: bool,
        is_needle: bool,
    },
    /// The severity of a log line.
    Level {
        is_tag: bool,
    },
    /// The severity of a record in a program's own spelling, or a number of its own: found in any spelling.
    Severity,
    /// The text before a line's message: its words have a field of their own.
    LineHead,
    /// The words around a line's message, whose order has no meaning.
    Head,
    /// Shown in hits, but found by other fields.
    Shown,
    Object,
    /// Left to the dynamic mode, which takes anything: objects of many shapes, lists of objects, values of several
    /// types, names that are invalid in a mapping.
    Dynamic(&'static str),
}

impl Kind {
    pub(super) fn is_tag(self) -> bool {
        matches!(
            self,
            Kind::Word { is_tag: true, .. } | Kind::Level { is_tag: true }
        )
    }

    pub(super) fn is_time(self) -> bool {
        matches!(self, Kind::Date | Kind::UnixTime)
    }
}

impl Field {
    /// Returns the field's name in queries and configs.
    pub(super) fn name(&self) -> String {
        joined(&self.path)
    }
}

/// Returns a path as queries and configs write it.
pub(super) fn joined(path: &[String]) -> String {
    let parts: Vec<String> = path.iter().map(|part| escape_segment(part)).collect();
    parts.join(".")
}

/// Returns the fields of objects, each with its purpose.
pub(super) fn fields_of(shapes: &Shapes, parent: &[String], num_docs: u64) -> Vec<Field> {
    let field = |(name, shape): (&str, &Shape)| {
        let path = [parent, &[name.to_string()]].concat();
        let (mut kind, mut inside) = (kind_of(&path, shape, num_docs), Vec::new());
        if is_numbered_level(name, shape, shapes) {
            kind = Kind::Severity;
        }
        if kind == Kind::Object {
            inside = fields_of(&shape.inside, &path, num_docs);
            let is_dynamic = |field: &Field| matches!(field.kind, Kind::Dynamic(_));
            if inside.iter().all(is_dynamic) {
                (kind, inside) = (Kind::Dynamic("an object"), Vec::new());
            }
        }
        let mut dynamic_words = Vec::new();
        if let Kind::Dynamic(_) = kind {
            add_words(shape, &path, &mut dynamic_words);
        }
        Field {
            comment: comment_of(shape, kind, num_docs),
            is_list: shape.num_lists > 0,
            num_docs: shape.num_docs,
            num_timed: shape
                .num_values()
                .saturating_sub(shape.num_blank.max(shape.times.num_never())),
            is_blank: shape.num_blank == shape.num_values(),
            is_parted: shape.num_parted > 0,
            is_quoted: false,
            is_worded: false,
            is_code: shape.are_codes(),
            is_repeated: shape.is_repeated(),
            date_forms: shape.times.forms_of(shape.num_strings).or_else(|| {
                let num_given = shape.num_values() - shape.num_blank;
                let forms = shape.times.compact_forms(num_given, name);
                forms.map(Cow::Borrowed)
            }),
            unread_time: match kind {
                Kind::Word { .. } | Kind::Words { .. } => {
                    shape.times.unread(shape.num_strings).map(str::to_owned)
                }
                _ => None,
            },
            is_everywhere: shape.num_docs == num_docs,
            path,
            kind,
            inside,
            dynamic_words,
        }
    };
    let mut fields: Vec<Field> = shapes.iter().map(field).collect();
    leave_rare(&mut fields);
    fields
}

/// Leaves the rarest of very many fields to the dynamic mode: their names are values, such as users.
fn leave_rare(fields: &mut [Field]) {
    let mut counts: Vec<u64> = fields.iter().map(|field| field.num_docs).collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    let Some(most_of_rare) = counts.get(MAX_MAPPED) else {
        return;
    };
    for field in fields {
        if field.num_docs <= *most_of_rare {
            field.kind = Kind::Dynamic("one of very many fields");
            field.inside = Vec::new();
        }
    }
}

/// Returns the fields that have values of their own, including those in objects.
pub(super) fn leaves(fields: &[Field]) -> Vec<&Field> {
    let mut all = Vec::new();
    for field in fields {
        match field.kind {
            Kind::Object => all.extend(leaves(&field.inside)),
            _ => all.push(field),
        }
    }
    all
}

/// Returns the purpose of the fields that the parser of lines creates; others are classified by their values.
pub(super) fn kind_in_lines(field: &Field, shapes: &Shapes) -> Kind {
    let Some(name) = field.path.last() else {
        return field.kind;
    };
    match (name.as_str(), field.kind) {
        // Whatever these look like: together they are the line, and a date or a number would be given back as it is read.
        ("message", kind) if is_text(kind) => MESSAGE,
        // Nothing but the time, which the timestamp finds.
        ("head", Kind::Date) => Kind::Shown,
        ("head", kind) if is_text(kind) => Kind::LineHead,
        ("tail", kind) if is_text(kind) => Kind::Head,
        ("original", kind) if is_text(kind) => Kind::Shown,
        ("level", Kind::Word { .. }) => Kind::Level {
            is_tag: field.is_everywhere && shapes.num_distinct(name) <= 20,
        },
        (_, kind) => kind,
    }
}

/// Returns whether values are texts, or look like something else that a text may say.
fn is_text(kind: Kind) -> bool {
    !matches!(kind, Kind::Object | Kind::Dynamic(_))
}

/// Collects texts below a value that is not mapped.
fn add_words(shape: &Shape, path: &[String], words: &mut Vec<Vec<String>>) {
    if words.len() >= MAX_DYNAMIC_WORDS {
        return;
    }
    if shape.num_strings > shape.num_blank {
        words.push(path.to_vec());
    }
    for (name, inside) in shape.inside.iter() {
        add_words(inside, &[path, &[name.to_string()]].concat(), words);
    }
}

/// Returns whether a field has a name of messages: the last part of its name, or ECS's name of the whole record.
pub(super) fn is_message(path: &[String]) -> bool {
    let mut parts = path
        .iter()
        .flat_map(|name| name.split('.'))
        .map(|part| part.trim_start_matches(['@', '_']).to_ascii_lowercase());
    let last = parts.next_back().unwrap_or_default();
    match (parts.next_back().as_deref(), last.as_str()) {
        (Some("event" | "log"), "original") => true,
        (_, last) => MESSAGES.contains(&last),
    }
}

/// Returns the name that says what a value is: that around the type of a number, as MongoDB exports it, `{"$date":
/// {"$numberLong": "1714557607123"}}`.
fn name_of_value(path: &[String]) -> &str {
    match path {
        [.., around, name] if name == "$numberLong" => around,
        [.., name] => name,
        [] => "",
    }
}

fn kind_of(path: &[String], shape: &Shape, num_docs: u64) -> Kind {
    let name = path.last().map_or("", String::as_str);
    if check_field_name(name, path.len() == 1).is_err() {
        return Kind::Dynamic("a name that a mapping may not have");
    }
    // A blank text counts as no value in a field with other values.
    let all = |num: u64| num > 0 && num + shape.num_blank == shape.num_values();
    let num_strings = shape.num_strings;
    let is_message = is_message(path);
    let is_text = num_strings > 0 && num_strings == shape.num_values();
    let is_scalar = shape.num_scalars() == shape.num_values();
    if is_message && is_scalar && num_strings * 2 > shape.num_values() && !has_times(shape) {
        return MESSAGE;
    }
    if is_text && !is_version(name) && shape.times.forms_of(num_strings).is_some() {
        return Kind::Date;
    }
    let num_given = shape.num_values() - shape.num_blank;
    if shape.times.compact_forms(num_given, name).is_some() {
        return Kind::Date;
    }
    if shape.times.are_unix(num_given, name_of_value(path)) {
        return Kind::UnixTime;
    }
    if all(shape.num_integers) {
        let is_id = is_id(name);
        return match (shape.num_negative, shape.num_large) {
            (0, _) => Kind::U64 { is_id },
            (_, 0) => Kind::I64 { is_id },
            _ => Kind::Dynamic("numbers of more than one type"),
        };
    }
    if all(shape.num_integers + shape.num_fractions) {
        return match shape.num_inexact {
            0 => Kind::F64,
            _ => Kind::Dynamic("numbers that one type would round"),
        };
    }
    if all(shape.num_booleans) {
        return Kind::Bool;
    }
    if all(shape.num_ips) {
        return Kind::Ip;
    }
    if shape.num_objects > 0 && shape.num_objects == shape.num_values() {
        return kind_of_objects(path, shape, num_docs);
    }
    match is_text {
        true => match kind_of_texts(shape, num_docs) {
            Kind::Word { .. } if is_level(name) && has_other_levels(shape) => Kind::Severity,
            kind => kind,
        },
        false => Kind::Dynamic("values of several types"),
    }
}

/// Returns whether a few values are not all written as the levels that [`Kind::Level`] has.
fn has_other_levels(shape: &Shape) -> bool {
    let is_other = |value: &String| {
        value.contains(char::is_lowercase)
            || normal_level(value).is_some_and(|level| level != value)
            || value.bytes().all(|byte| byte.is_ascii_digit())
    };
    shape.distinct.len() <= 20 && shape.distinct.iter().any(is_other)
}

/// Returns whether numbers are levels: those of bunyan and pino, or those of syslog in GELF.
fn is_numbered_level(name: &str, shape: &Shape, beside: &Shapes) -> bool {
    let num_levels = match beside.has("short_message") {
        true => shape.num_severities,
        false => shape.num_tens,
    };
    num_levels > 0 && num_levels == shape.num_values() && shape.num_lists == 0 && is_level(name)
}

/// Returns whether a field has a name of severities.
fn is_level(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    LEVELS.contains(&last.to_ascii_lowercase().as_str())
}

fn has_times(shape: &Shape) -> bool {
    shape.times.forms_of(shape.num_strings).is_some()
}

fn kind_of_objects(path: &[String], shape: &Shape, num_docs: u64) -> Kind {
    let num_inside = shape.inside.len();
    let is_regular = shape
        .inside
        .iter()
        .all(|(_, inside)| inside.num_docs * 4 >= shape.num_objects);
    match () {
        () if shape.num_lists > 0 => Kind::Dynamic("a list of objects"),
        () if num_inside == 0 => Kind::Dynamic("an object that is always empty"),
        () if num_inside > MAX_INSIDE || !is_regular => Kind::Dynamic("an object"),
        () if path.len() == 1 => Kind::Object,
        () if path.len() <= MAX_DEPTH && has_time(path, shape, num_docs) => Kind::Object,
        () => Kind::Dynamic("an object"),
    }
}

/// Returns whether objects contain a time.
fn has_time(path: &[String], shape: &Shape, num_docs: u64) -> bool {
    shape.inside.iter().any(|(name, inside)| {
        let path = [path, &[name.to_string()]].concat();
        match inside.num_scalars() == inside.num_values() {
            true => kind_of(&path, inside, num_docs).is_time(),
            false => path.len() <= MAX_DEPTH && has_time(&path, inside, num_docs),
        }
    })
}

fn kind_of_texts(shape: &Shape, num_docs: u64) -> Kind {
    let num_distinct = shape.num_distinct() as u64;
    let is_varied = !shape.is_repeated();
    let has_words = match is_varied {
        // Names of people and places.
        true => shape.num_spaces * 4 >= shape.num_strings,
        false => shape.num_spaces >= shape.num_strings * 2,
    };
    if has_words || shape.max_len > 200 {
        return Kind::Words {
            is_message: false,
            is_repeated: !is_varied,
        };
    }
    Kind::Word {
        is_tag: shape.is_distinct_known()
            && shape.num_docs == num_docs
            && (2..=20).contains(&num_distinct)
            && !shape.distinct.contains("")
            && shape.num_strings >= num_distinct * 10,
        is_needle: shape.max_len >= 16
            && shape.num_spaces == 0
            && (num_distinct * 10 >= shape.num_strings * 9 || !shape.is_distinct_known()),
    }
}

fn comment_of(shape: &Shape, kind: Kind, num_docs: u64) -> String {
    let mut comment = match shape.num_docs == num_docs {
        true => "in every document".to_string(),
        false => format!("in {} of {num_docs}", shape.num_docs),
    };
    if let Kind::Dynamic(why) = kind {
        let _ = write!(comment, "; {why}");
    }
    if let Kind::Word { .. } | Kind::Severity = kind {
        let shown: Vec<String> = shape
            .distinct
            .iter()
            .take(3)
            .map(|value| value.chars().take(24).collect())
            .collect();
        let num_distinct = shape.num_distinct();
        let more = match (shape.is_distinct_known(), num_distinct) {
            (false, _) => "many values, such as ".to_string(),
            (_, 1) if shape.distinct.contains("") => "always empty".to_string(),
            (_, 1) => "one value: ".to_string(),
            (_, num) if shown.is_empty() => format!("{num} values"),
            (_, num) => format!("{num} values: "),
        };
        let dots = if num_distinct > shown.len() {
            ", …"
        } else {
            ""
        };
        let _ = write!(comment, "; {more}{}{dots}", shown.join(", "));
    }
    comment
}
