//! Parts of a document, cut out of its JSON text: numbers need not fit any type, so values that stay are not parsed.

use std::fmt;

use canter_doc_mapper::DocMapper;
use canter_names::matches_pattern;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::request::SourceFilter;

/// The entries of a JSON object in their order.
pub(super) struct Entries<'j>(pub(super) Vec<(String, &'j RawValue)>);

impl<'de: 'j, 'j> Deserialize<'de> for Entries<'j> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_map(InOrder).map(Self)
    }
}

/// Returns the entries of an object; `None` for anything else.
pub(crate) fn entries(json: &str) -> Option<Vec<(String, &RawValue)>> {
    let is_object = json.trim_start().starts_with('{');
    let entries = is_object.then(|| serde_json::from_str::<Entries<'_>>(json));
    entries?.ok().map(|entries| entries.0)
}

/// Returns the elements of a list; `None` for anything else.
pub(crate) fn elements(json: &str) -> Option<Vec<&RawValue>> {
    let is_list = json.trim_start().starts_with('[');
    is_list.then(|| serde_json::from_str(json).ok())?
}

/// Returns the value under a key of a document.
pub(in crate::root) fn own<'j>(document: &'j str, key: &str) -> Option<&'j str> {
    let entries = entries(document)?;
    let found = entries.into_iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value.get())
}

/// Returns the part of a document that a filter keeps.
pub(super) fn filtered(document: &str, filter: &SourceFilter) -> String {
    if filter.includes.is_empty() && filter.excludes.is_empty() {
        return document.to_owned();
    }
    let is_in = filter.includes.is_empty();
    part(document, "", is_in, filter).unwrap_or_else(|| "{}".to_owned())
}

/// Returns whether an index shows nothing of its documents.
pub(super) fn is_hidden(mapper: &DocMapper) -> bool {
    let shown = mapper.shown_source();
    shown.is_some_and(|shown| shown.excludes.iter().any(|name| name == "*"))
}

/// Returns the part of a document that its index shows; `None` for all of it.
pub(super) fn shown_by(document: &str, mapper: &DocMapper) -> Option<String> {
    let shown = mapper.shown_source()?;
    let filter = SourceFilter {
        includes: shown.includes.clone(),
        excludes: shown.excludes.clone(),
        ..SourceFilter::default()
    };
    Some(filtered(document, &filter))
}

/// Returns whether passages of a field may be shown: the index shows the field, or would store it by itself.
pub(in crate::root) fn shows_passages(path: &str, mapper: &DocMapper) -> bool {
    let Some(shown) = mapper.shown_source() else {
        return true;
    };
    let fits = |name: &String| {
        let below = format!("{name}.*");
        matches_pattern(name, path) || matches_pattern(&below, path)
    };
    let is_shown = (shown.includes.is_empty() || shown.includes.iter().any(fits))
        && !shown.excludes.iter().any(fits);
    is_shown || shown.stored_fields.iter().any(|name| name == path)
}

/// Returns the part of a value that is kept; `None` if nothing is. `is_in` is true if the value itself is requested.
fn part(json: &str, path: &str, is_in: bool, filter: &SourceFilter) -> Option<String> {
    if let Some(entries) = entries(json) {
        let mut kept = Vec::new();
        for (name, value) in &entries {
            let path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let is_named = |names: &[String]| names.iter().any(|name| matches_pattern(name, &path));
            if is_named(&filter.excludes) {
                continue;
            }
            let is_in = is_in || is_named(&filter.includes);
            if let Some(value) = part(value.get(), &path, is_in, filter) {
                kept.push(format!("{}:{value}", Value::from(name.as_str())));
            }
        }
        // An object that was empty stays; one that has become empty does not.
        let is_left = !kept.is_empty() || (is_in && entries.is_empty()) || path.is_empty();
        return is_left.then(|| format!("{{{}}}", kept.join(",")));
    }
    let is_of_objects = |list: &Vec<&RawValue>| {
        list.iter()
            .any(|value| value.get().trim_start().starts_with(['{', '[']))
    };
    if let Some(list) = elements(json).filter(is_of_objects) {
        let parts = list.iter();
        let parts = parts.filter_map(|value| part(value.get(), path, is_in, filter));
        let parts: Vec<String> = parts.collect();
        return (!parts.is_empty()).then(|| format!("[{}]", parts.join(",")));
    }
    is_in.then(|| json.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_and_left_out_by_name() {
        let document =
            r#"{"a":1.0,"b":{"c":12345678901234567890123,"d":[{"e":1,"f":2},{"f":3}]},"g":{}}"#;
        for (includes, excludes, expect) in [
            (vec![], vec![], document),
            (vec!["a"], vec![], r#"{"a":1.0}"#),
            (
                vec!["b.c"],
                vec![],
                r#"{"b":{"c":12345678901234567890123}}"#,
            ),
            (vec!["b.d.f"], vec![], r#"{"b":{"d":[{"f":2},{"f":3}]}}"#),
            (vec!["b.d.e"], vec![], r#"{"b":{"d":[{"e":1}]}}"#),
            (
                vec!["b"],
                vec!["b.d"],
                r#"{"b":{"c":12345678901234567890123}}"#,
            ),
            (vec![], vec!["b*"], r#"{"a":1.0,"g":{}}"#),
            (vec!["*.e", "g"], vec![], r#"{"b":{"d":[{"e":1}]},"g":{}}"#),
            (vec!["x"], vec![], "{}"),
        ] {
            let texts = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
            let filter = SourceFilter {
                is_off: false,
                hides_id: false,
                includes: texts(includes),
                excludes: texts(excludes),
            };
            assert_eq!(filtered(document, &filter), expect, "{filter:?}");
        }
    }
}
