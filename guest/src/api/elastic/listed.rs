//! Documents that the body of `_mget` lists.

use serde_json::Value;

use super::errors::VALIDATION;
use super::given::body::{Body, wrong};
use crate::SearchError;

/// Document of a list, as the request names it.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) index: String,
    pub(super) id: String,
    pub(super) routing: Option<String>,
    pub(super) version: Option<u64>,
    pub(super) shown: Shown,
}

/// Parts of a document that an answer shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shown {
    /// `_source` of a list, as JSON text.
    pub(super) source: Option<String>,
    /// `stored_fields`.
    pub(super) stored: Option<Vec<String>>,
}

/// Takes the documents that a body lists.
pub(super) fn listed(of_path: Option<&str>, body: &mut Body) -> Result<Vec<Listed>, SearchError> {
    let lacking = |what: &str| SearchError::invalid(format!("{VALIDATION}1: {what};"));
    let missing = || lacking("index is missing");
    let mut listed = Vec::new();
    match (body.take("docs"), body.take("ids")) {
        (Some(Value::Array(docs)), None) => {
            for doc in docs {
                let Value::Object(mut doc) = doc else {
                    return Err(wrong("docs", "each of these must be an object"));
                };
                let index = doc.shift_remove("_index");
                let index = index.as_ref().and_then(Value::as_str).or(of_path);
                let index = index.ok_or_else(missing)?.to_owned();
                let id = text_of(doc.shift_remove("_id").unwrap_or_default())
                    .ok_or_else(|| lacking("id is missing"))?;
                let source = doc
                    .shift_remove("_source")
                    .filter(|source| !source.is_null());
                let stored = doc
                    .shift_remove("stored_fields")
                    .map(names_of)
                    .transpose()?;
                let routing = doc.shift_remove("routing");
                let version = doc.shift_remove("version");
                for without_effect in ["_type", "version_type"] {
                    doc.shift_remove(without_effect);
                }
                if let Some(key) = doc.keys().next() {
                    return Err(wrong("docs", format!("{key:?} is not supported")));
                }
                listed.push(Listed {
                    index,
                    id,
                    routing: routing.and_then(text_of),
                    version: version.as_ref().and_then(Value::as_u64),
                    shown: Shown {
                        source: source.map(|source| source.to_string()),
                        stored,
                    },
                });
            }
        }
        (None, Some(Value::Array(ids))) => {
            let index = of_path.ok_or_else(missing)?;
            for id in ids {
                let id = text_of(id).ok_or_else(|| wrong("ids", "an id is a text"))?;
                listed.push(Listed {
                    index: index.to_owned(),
                    id,
                    routing: None,
                    version: None,
                    shown: Shown::default(),
                });
            }
        }
        (None, None) => return Err(lacking("no documents to get")),
        _ => return Err(wrong("docs", "there must be a list of docs, or of ids")),
    }
    match listed.is_empty() {
        true => Err(lacking("no documents to get")),
        false => Ok(listed),
    }
}

/// Returns names of fields.
///
/// # Errors
/// The value is no text and no list of texts.
fn names_of(value: Value) -> Result<Vec<String>, SearchError> {
    let names = match value {
        Value::String(names) => Some(names.split(',').map(str::to_owned).collect()),
        Value::Array(names) => names.into_iter().map(text_of).collect(),
        _ => None,
    };
    names.ok_or_else(|| wrong("stored_fields", "this must be a list of names"))
}

fn text_of(id: Value) -> Option<String> {
    match id {
        Value::String(id) => Some(id),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}
