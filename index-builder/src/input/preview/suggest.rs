//! A suggested index config for existing documents, with the reasons as comments.

use super::field::{Field, fields_of, kind_in_lines, leaves};
use super::first_records::Preview;
use super::shape::Shapes;
use super::words;
use super::write::{Amount, Draft};
use canter_formats::Format;
use std::fmt::Write;

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
/// Maximum number of inputs that the comment names.
const MAX_NAMED: usize = 3;

/// A config that suits documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The config, in YAML.
    pub yaml: String,
    /// Number of sampled documents.
    pub num_docs: u64,
    /// The detected formats of the inputs, each once.
    pub formats: Vec<Format>,
    /// The path of the timestamp field.
    pub timestamp_field: Option<String>,
    /// The paths of the fields that are searched for words without a field.
    pub default_search_fields: Vec<String>,
    /// The paths of the fields whose words such a search finds, concatenated ones each by its name.
    pub searched_fields: Vec<String>,
    /// The reason why the first record that is no document is none.
    pub refused: Option<String>,
    /// True if that is its length.
    pub is_too_long: bool,
    /// Assumptions about incomplete times of the inputs, each sentence once.
    pub times: Vec<String>,
}

/// Returns a config that suits the sampled documents, and accepts the rest of their inputs: a value that does not fit
/// its field, and a record that cannot be parsed, are no reason to reject anything. Fields with values of several
/// types, lists of objects, and fields that are in no sample are left to the dynamic mode.
///
/// `num_stored_bytes` is the size of all inputs, as far as it is known: small inputs are packed more densely.
#[must_use]
pub fn suggest(samples: &[Preview], index_id: &str, num_stored_bytes: Option<u64>) -> Suggestion {
    let mut shapes = Shapes::default();
    let (mut num_docs, mut num_refused) = (0_u64, 0_u64);
    let mut refused: Option<&(String, String)> = None;
    let records = samples.iter().flat_map(|sample| &sample.records);
    for doc in records.flat_map(|record| &record.docs) {
        match doc.json.as_object() {
            Some(object) => {
                num_docs += 1;
                shapes.add(object);
            }
            None => {
                num_refused += 1;
                refused = refused.or(doc.refused.as_ref());
            }
        }
    }
    let mut fields = fields_of(&shapes, &[], num_docs);
    let is_of_lines = |sample: &Preview| matches!(sample.format, Format::Log | Format::Container);
    if samples.iter().any(is_of_lines) {
        for field in &mut fields {
            field.kind = kind_in_lines(field, &shapes);
        }
    }
    let records = samples.iter().flat_map(|sample| &sample.records);
    let docs = records.flat_map(|record| &record.docs);
    let docs: Vec<_> = docs.filter_map(|doc| doc.json.as_object()).collect();
    words::mark_quoted(&mut fields, &docs);
    words::mark_worded(&mut fields, &docs);
    let timestamp = timestamp_field(&fields, num_docs);
    let (mut formats, mut times) = (Vec::new(), Vec::new());
    for sample in samples {
        if !formats.contains(&sample.format) {
            formats.push(sample.format);
        }
        if let Some(said) = sample.times.as_ref().filter(|said| !times.contains(*said)) {
            times.push(said.clone());
        }
    }
    if timestamp.is_none() {
        times.extend(unread_times(&fields, num_docs));
    }
    let draft = Draft {
        comment: comment_of(samples, &formats, &times, (num_docs, num_refused)),
        index_id,
        fields: &fields,
        timestamp: timestamp.as_deref(),
        amount: Amount::of(num_stored_bytes),
    };
    Suggestion {
        yaml: draft.yaml(),
        num_docs,
        default_search_fields: draft.default_fields(),
        searched_fields: draft.searched_fields(),
        refused: refused.map(|(_, message)| message.clone()),
        is_too_long: refused.is_some_and(|(reason, _)| reason == "line_too_long"),
        timestamp_field: timestamp.as_deref().map(super::field::joined),
        formats,
        times,
    }
}

/// Returns a sentence on the first field whose values look like times that no format reads.
fn unread_times(fields: &[Field], num_docs: u64) -> Option<String> {
    let leaves = leaves(fields);
    let field = leaves
        .iter()
        .find(|field| field.is_everywhere && num_docs > 0 && field.unread_time.is_some())?;
    let text = field.unread_time.as_deref()?;
    Some(format!(
        "`{}` looks like a time ({text:?}) but how it is read is not certain: give the field the type datetime with \
         `input_formats`, such as \"%d/%m/%Y %H:%M\", and name it in `timestamp_field`",
        field.name()
    ))
}

fn comment_of(
    samples: &[Preview],
    formats: &[Format],
    times: &[String],
    (num_docs, num_refused): (u64, u64),
) -> String {
    let names: Vec<String> = samples
        .iter()
        .take(MAX_NAMED)
        .map(|sample| serde_json::Value::from(sample.name.as_str()).to_string())
        .collect();
    let mut names = names.join(", ");
    if samples.len() > MAX_NAMED {
        // Writing to a string cannot fail.
        let _ = write!(names, " and {} more", samples.len() - MAX_NAMED);
    }
    let formats: Vec<&str> = formats.iter().map(|format| format.name()).collect();
    let is = if samples.len() > 1 { "are" } else { "is" };
    let mut comment = format!(
        "# Suggested after {num_docs} documents of {names}, which {is} {}",
        formats.join(", ")
    );
    let _ = match num_refused {
        0 => writeln!(comment, "."),
        num => writeln!(comment, "; {num} records were none."),
    };
    for said in times {
        let _ = writeln!(comment, "# Note: {said}.");
    }
    comment.push_str("# Look at what is said of each field: a type cannot be changed later.\n");
    comment
}

/// Returns a time that most documents have, chosen by name if there are several. One whose name suggests a time may be
/// absent from up to half of the documents: those get the time of the previous one.
fn timestamp_field(fields: &[Field], num_docs: u64) -> Option<Vec<String>> {
    let place = |field: &Field| {
        let name = field.path.last().map_or("", String::as_str);
        // Far inside, a name tells of what it is within.
        (field.path.len() <= 2).then_some(())?;
        TIME_NAMES.iter().position(|known| *known == name)
    };
    let leaves = leaves(fields);
    let times = leaves.iter().filter(|field| {
        let num_needed = match place(field) {
            Some(_) => num_docs.div_ceil(2),
            None => num_docs - num_docs / 10,
        };
        field.kind.is_time() && !field.is_list && field.num_timed >= num_needed
    });
    let rank = |field: &&&Field| {
        (
            place(field).unwrap_or(TIME_NAMES.len()),
            field.path.len(),
            num_docs.saturating_sub(field.num_timed),
        )
    };
    times.min_by_key(rank).map(|field| field.path.clone())
}
