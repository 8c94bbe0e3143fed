//! Fields that the path of a source gives its documents.

use canter_doc_mapper::FieldKind;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Type of a path's value in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathKind {
    /// Text, which fields of numbers parse, too.
    Text,
    /// As true or false.
    Bool,
    /// Omitted: a path cannot contain an object.
    None,
}

impl PathKind {
    pub(super) fn of(kind: &FieldKind) -> PathKind {
        match kind {
            FieldKind::Bool => PathKind::Bool,
            FieldKind::Json(_) | FieldKind::Object(_) | FieldKind::Concatenate(_) => PathKind::None,
            _ => PathKind::Text,
        }
    }
}

/// The fields, already serialized.
#[derive(Debug, Default)]
pub(crate) struct PathFields(Vec<(String, Vec<u8>)>);

impl PathFields {
    pub(super) fn new(fields: impl Iterator<Item = (String, PathKind, String)>) -> PathFields {
        let fields = fields.filter_map(|(name, kind, value)| {
            let written = match (kind, value.as_str()) {
                (PathKind::None, _) => return None,
                (PathKind::Bool, "true") => Value::Bool(true),
                (PathKind::Bool, "false") => Value::Bool(false),
                (PathKind::Bool | PathKind::Text, _) => Value::String(value),
            };
            let member = format!("{}:{written}", Value::String(name.clone()));
            Some((name, member.into_bytes()))
        });
        PathFields(fields.collect())
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a document with those of the fields that it lacks. Anything except an object stays unchanged.
    pub(crate) fn add_to<'j>(&self, json: &'j [u8]) -> Cow<'j, [u8]> {
        if self.0.is_empty() {
            return Cow::Borrowed(json);
        }
        let members = serde_json::from_slice::<BTreeMap<Cow<'_, str>, IgnoredAny>>(json);
        let (Ok(members), Some(start)) = (members, memchr::memchr(b'{', json)) else {
            return Cow::Borrowed(json);
        };
        let (before, rest) = json.split_at(start + 1);
        let mut whole = before.to_vec();
        let mut is_first = true;
        for (_, member) in self
            .0
            .iter()
            .filter(|(name, _)| !members.contains_key(name.as_str()))
        {
            if !is_first {
                whole.push(b',');
            }
            is_first = false;
            whole.extend_from_slice(member);
        }
        if !is_first && !members.is_empty() {
            whole.push(b',');
        }
        whole.extend_from_slice(rest);
        Cow::Owned(whole)
    }
}
