//! The words in values that are kept whole: paths, addresses, names with dots. A concatenation has them, so that a query
//! without a field finds them; it costs one lookup, and takes no place among the default search fields.

use super::field::{Field, Kind, leaves};
use super::write::is_default_field;

/// Name of the concatenation, with underscores behind it if a field has the same one.
const NAME: &str = "words";

/// Fields that the parser of lines makes, the words of which are those of heads.
const OF_HEADS: [&str; 13] = [
    "level",
    "logger",
    "node",
    "thread",
    "process_id",
    "thread_id",
    "request_id",
    "trace_id",
    "span_id",
    "source",
    "code",
    "client",
    "stream",
];

/// A concatenation of fields.
pub(super) struct Concatenation {
    pub(super) name: String,
    /// Paths of the fields whose words it has.
    pub(super) fields: Vec<String>,
}

/// Returns the concatenation that fields need; `None` if all their values are single words.
pub(super) fn of(fields: &[Field]) -> Option<Concatenation> {
    let has_heads = fields.iter().any(|field| field.kind == Kind::LineHead);
    let is_of_head = |field: &Field| {
        let name = field.path.first().map_or("", String::as_str);
        has_heads && field.path.len() == 1 && OF_HEADS.contains(&name)
    };
    let is_whole = |field: &Field| {
        matches!(
            field.kind,
            Kind::Word {
                is_needle: false,
                ..
            }
        )
    };
    let parted = leaves(fields)
        .into_iter()
        .filter(|field| is_whole(field) && field.is_parted && !is_of_head(field))
        .map(Field::name)
        .filter(|name| is_default_field(name));
    let sources: Vec<String> = parted.collect();
    (!sources.is_empty()).then(|| {
        let mut name = NAME.to_owned();
        while fields.iter().any(|field| field.path.first() == Some(&name)) {
            name.push('_');
        }
        Concatenation {
            name,
            fields: sources,
        }
    })
}
