//! An index config for documents that somebody has, with the reasons as comments.

use super::first_records::Preview;
use super::shape::{Shape, Shapes};
use canter_doc_mapper::config::check_field_name;
use canter_doc_mapper::escape_segment;
use canter_formats::Format;
use std::fmt::Write;

/// More fields in an object are its keys' own business: it is mapped as a whole.
const MAX_INSIDE: usize = 30;
const TIME_NAMES: [&str; 11] = [
    "timestamp",
    "@timestamp",
    "__REALTIME_TIMESTAMP",
    "epochSecond",
    "time",
    "ts",
    "eventTime",
    "event_time",
    "datetime",
    "date",
    "created_at",
];

/// A mapped field as it is to be written.
struct Field {
    /// Names from the root on.
    path: Vec<String>,
    kind: Kind,
    is_list: bool,
    comment: String,
    inside: Vec<Field>,
    is_everywhere: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Texts, with the forms that read them.
    Date(&'static str),
    /// Numbers, or texts of digits.
    UnixTime,
    Ip,
    Bool,
    U64,
    I64,
    F64,
    Words,
    Word {
        is_tag: bool,
        is_needle: bool,
    },
    /// How grave a line of a log is.
    Level {
        is_tag: bool,
    },
    /// What stands before the message of a line: words, of which the order says nothing.
    Head,
    /// Shown, and found by other fields.
    Shown,
    Object,
    Json,
    Mixed,
}

/// Writes a config, in YAML, that suits the documents of a preview. Records that are no documents do not
/// count. Fields in which values of several types are found, and fields that are not in the preview, are
/// left to the dynamic mode.
#[must_use]
pub fn suggest(preview: &Preview, index_id: &str) -> String {
    let mut shapes = Shapes::default();
    let (mut num_docs, mut num_refused) = (0_u64, 0_u64);
    for doc in preview.records.iter().flat_map(|record| &record.docs) {
        match doc.json.as_object() {
            Some(object) => {
                num_docs += 1;
                shapes.add(object);
            }
            None => num_refused += 1,
        }
    }
    let mut fields = fields_of(&shapes, &[], num_docs, 0);
    if matches!(preview.format, Format::Log | Format::Container) {
        for field in &mut fields {
            field.kind = kind_in_lines(field, &shapes);
        }
    }
    let timestamp = timestamp_field(&fields);
    let mut yaml = format!(
        "# Suggested after {num_docs} documents of {name}, which is {format}",
        name = serde_json::Value::from(preview.name.as_str()),
        format = preview.format,
    );
    // Writing to a string cannot fail.
    let _ = match num_refused {
        0 => writeln!(yaml, "."),
        num => writeln!(yaml, "; {num} records were none."),
    };
    if let Some(times) = &preview.times {
        let _ = writeln!(yaml, "# Note: {times}.");
    }
    let _ = write!(
        yaml,
        "# Look at what is said of each field: a type cannot be changed later.\n\
         version: 0.8\n\
         index_id: {index_id}\n\
         doc_mapping:\n  \
           mode: dynamic             # fields that are not listed are indexed too\n  \
           dynamic_mapping: {{tokenizer: default, record: position, fast: true}}\n"
    );
    match &timestamp {
        Some(path) => {
            let _ = writeln!(yaml, "  timestamp_field: {}", quoted(&joined(path)));
        }
        None => yaml.push_str(
            "  # No field has a time in every document: name one in timestamp_field if you know better.\n",
        ),
    }
    let tags = tags_of(&fields);
    if !tags.is_empty() {
        let _ = writeln!(
            yaml,
            "  tag_fields: [{}]   # few values each: a query on one skips splits without it",
            tags.join(", ")
        );
    }
    match fields.is_empty() {
        true => yaml.push_str("  field_mappings: []\n"),
        false => yaml.push_str("  field_mappings:\n"),
    }
    for field in &fields {
        write_field(&mut yaml, field, 4, timestamp.as_deref());
    }
    let words = words_of(&fields);
    let _ = writeln!(
        yaml,
        "search_settings:\n  default_search_fields: [{}]\nindexing_settings:\n  # At most so many \
         documents in a split.\n  split_num_docs_target: 10000000\ningest_settings:\n  # `keep` makes a \
         document of a record that is none, with its text in _raw.\n  on_error: rejects",
        words.join(", ")
    );
    yaml
}

/// Three fields with few values; what is a level for sure comes first.
fn tags_of(fields: &[Field]) -> Vec<String> {
    let mut tags = leaves(fields);
    tags.retain(|field| field.kind.is_tag() && !field.is_list);
    tags.sort_by_key(|field| !matches!(field.kind, Kind::Level { .. }));
    let names = tags.into_iter().map(|field| quoted(&joined(&field.path)));
    names.take(3).collect()
}

/// The fields in which words are looked for; what stands before messages comes last.
fn words_of(fields: &[Field]) -> Vec<String> {
    let mut words = leaves(fields);
    words.retain(|field| matches!(field.kind, Kind::Words | Kind::Head));
    words.sort_by_key(|field| field.kind == Kind::Head);
    let names = words.into_iter().map(|field| quoted(&joined(&field.path)));
    names.collect()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn joined(path: &[String]) -> String {
    let parts: Vec<String> = path.iter().map(|part| escape_segment(part)).collect();
    parts.join(".")
}

fn fields_of(shapes: &Shapes, parent: &[String], num_docs: u64, depth: usize) -> Vec<Field> {
    let field = |(name, shape): (&str, &Shape)| {
        let path = [parent, &[name.to_string()]].concat();
        let kind = kind_of(name, shape, num_docs, depth);
        let inside = match kind {
            Kind::Object => fields_of(&shape.inside, &path, num_docs, depth + 1),
            _ => Vec::new(),
        };
        Field {
            comment: comment_of(shape, kind, num_docs),
            is_list: shape.num_lists > 0,
            is_everywhere: shape.num_docs == num_docs,
            path,
            kind,
            inside,
        }
    };
    shapes
        .iter()
        .filter(|(name, _)| is_mappable(name))
        .map(field)
        .collect()
}

impl Kind {
    fn is_tag(self) -> bool {
        matches!(
            self,
            Kind::Word { is_tag: true, .. } | Kind::Level { is_tag: true }
        )
    }
}

/// What the fields are for that the reader of lines makes; others are what they look like.
fn kind_in_lines(field: &Field, shapes: &Shapes) -> Kind {
    let Some(name) = field.path.last() else {
        return field.kind;
    };
    match (name.as_str(), field.kind) {
        ("message", Kind::Words | Kind::Word { .. }) => Kind::Words,
        ("head", Kind::Words | Kind::Word { .. }) => Kind::Head,
        ("original", Kind::Words | Kind::Word { .. }) => Kind::Shown,
        ("level", Kind::Word { .. }) => Kind::Level {
            is_tag: field.is_everywhere && shapes.num_distinct(name) <= 20,
        },
        (_, kind) => kind,
    }
}

/// Names that a mapping may have; others are left to the dynamic mode.
fn is_mappable(name: &str) -> bool {
    check_field_name(name).is_ok()
}

fn kind_of(name: &str, shape: &Shape, num_docs: u64, depth: usize) -> Kind {
    let all = |num: u64| num > 0 && num == shape.num_values();
    if all(shape.num_strings)
        && let Some(forms) = shape.times.forms_of(shape.num_strings)
    {
        return Kind::Date(forms);
    }
    if shape.times.are_unix(shape.num_values(), name) {
        return Kind::UnixTime;
    }
    if all(shape.num_integers) {
        return match shape.num_negative {
            0 => Kind::U64,
            _ => Kind::I64,
        };
    }
    if all(shape.num_integers + shape.num_fractions) {
        return Kind::F64;
    }
    if all(shape.num_booleans) {
        return Kind::Bool;
    }
    if all(shape.num_ips) {
        return Kind::Ip;
    }
    if all(shape.num_objects) {
        let is_small = shape.inside.len() <= MAX_INSIDE;
        let is_regular = shape
            .inside
            .iter()
            .all(|(_, inside)| inside.num_docs * 4 >= shape.num_objects);
        return match depth == 0 && is_small && is_regular && shape.num_lists == 0 {
            true => Kind::Object,
            false => Kind::Json,
        };
    }
    if !all(shape.num_strings) {
        return Kind::Mixed;
    }
    let num_distinct = shape.distinct.len() as u64;
    let is_varied = num_distinct * 3 >= shape.num_strings || !shape.is_distinct_known();
    let has_words = match is_varied {
        // Names of people and places.
        true => shape.num_spaces * 4 >= shape.num_strings,
        false => shape.num_spaces >= shape.num_strings * 2,
    };
    if has_words || shape.max_len > 200 {
        return Kind::Words;
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
    if kind == Kind::Mixed {
        comment.push_str("; values of several types");
    }
    if let Kind::Word { .. } = kind {
        let shown: Vec<String> = shape
            .distinct
            .iter()
            .take(3)
            .map(|value| value.chars().filter(|c| !c.is_control()).take(24).collect())
            .collect();
        let more = match (shape.is_distinct_known(), shape.distinct.len()) {
            (false, _) => "many values, such as ".to_string(),
            (_, 1) if shape.distinct.contains("") => "always empty".to_string(),
            (_, 1) => "one value: ".to_string(),
            (_, num) => format!("{num} values: "),
        };
        let dots = if shape.distinct.len() > shown.len() {
            ", …"
        } else {
            ""
        };
        let _ = write!(comment, "; {more}{}{dots}", shown.join(", "));
    }
    comment
}

fn leaves<'f>(fields: &'f [Field]) -> Vec<&'f Field> {
    let inside = |field: &'f Field| match field {
        Field {
            kind: Kind::Object,
            inside,
            ..
        } => leaves(inside),
        field => vec![field],
    };
    fields.iter().flat_map(inside).collect()
}

/// A time that every document has, by its name if there are several.
fn timestamp_field(fields: &[Field]) -> Option<Vec<String>> {
    let leaves = leaves(fields);
    let times = leaves.iter().filter(|field| {
        matches!(field.kind, Kind::Date(_) | Kind::UnixTime)
            && field.is_everywhere
            && !field.is_list
    });
    let rank = |field: &&&Field| {
        let name = field.path.last().map_or("", String::as_str);
        let place = TIME_NAMES.iter().position(|known| *known == name);
        (place.unwrap_or(TIME_NAMES.len()), field.path.len())
    };
    times.min_by_key(rank).map(|field| field.path.clone())
}

fn write_field(yaml: &mut String, field: &Field, indent: usize, timestamp: Option<&[String]>) {
    let name = field.path.last().map_or("", String::as_str);
    let dates;
    let (kind, options) = match field.kind {
        Kind::Date(_) | Kind::UnixTime => {
            let forms = match field.kind {
                Kind::Date(forms) => forms,
                _ => "[unix_timestamp, rfc3339]",
            };
            dates = format!("input_formats: {forms}, fast: true");
            ("datetime", dates.as_str())
        }
        Kind::Ip => ("ip", "fast: true"),
        Kind::Bool => ("bool", "fast: true"),
        Kind::U64 => ("u64", "fast: true"),
        Kind::I64 => ("i64", "fast: true"),
        Kind::F64 => ("f64", "fast: true"),
        Kind::Words => ("text", "record: position"),
        Kind::Head => ("text", "record: basic"),
        Kind::Shown => ("text", "indexed: false"),
        Kind::Level { .. } => ("text", "tokenizer: raw, fast: true"),
        Kind::Word {
            is_needle: true, ..
        } => ("text", "tokenizer: raw, fast: true, needle: true"),
        Kind::Word { .. } => ("text", "tokenizer: raw, fast: true"),
        Kind::Json => ("json", "tokenizer: default, record: position, fast: true"),
        Kind::Object => ("object", ""),
        Kind::Mixed => {
            let _ = writeln!(yaml, "{:indent$}# {}: {}", "", quoted(name), field.comment);
            return;
        }
    };
    if field.kind == Kind::Object {
        let _ = writeln!(
            yaml,
            "{:indent$}- name: {}   # {}\n{:indent$}  type: object\n{:indent$}  field_mappings:",
            "",
            quoted(name),
            field.comment,
            "",
            "",
        );
        for inside in &field.inside {
            write_field(yaml, inside, indent + 4, timestamp);
        }
        return;
    }
    let kind = match field.is_list && field.kind != Kind::Json {
        true => format!("array<{kind}>"),
        false => kind.to_string(),
    };
    let precision = match timestamp == Some(&field.path) {
        true => ", fast_precision: milliseconds",
        false => "",
    };
    let _ = writeln!(
        yaml,
        "{:indent$}- {{name: {}, type: {kind}, {options}{precision}}}   # {}",
        "",
        quoted(name),
        field.comment,
    );
}
