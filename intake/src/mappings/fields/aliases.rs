//! Fields of the type `alias`: further names of other fields of a mapping.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::mappings::error::{MappingError, Result};
use crate::mappings::options::Options;

/// Checks the options of an alias. What it stands for is checked with the whole mapping.
pub(in crate::mappings) fn read(path: &str, mut options: Options) -> Result<()> {
    match options.text("path")? {
        Some(_) => {}
        None => {
            return Err(MappingError::mapper(format!(
                "The [path] property must be specified for field alias [{path}]"
            )));
        }
    }
    options.finish()
}

/// Checks that the aliases of a mapping stand for fields of it.
///
/// # Errors
/// One stands for an object, another alias, or nothing.
pub(in crate::mappings) fn check(mapping: &Map<String, Value>) -> Result<()> {
    let mut fields = BTreeMap::new();
    add(mapping, "", &mut fields);
    let aliases = fields
        .iter()
        .filter_map(|(name, target)| Some((name, target.as_ref()?)));
    for (name, target) in aliases {
        let problem = match fields.get(target) {
            Some(None) => continue,
            Some(Some(_)) => "an alias cannot refer to another alias",
            None => "an alias must refer to an existing field in the mappings",
        };
        return Err(MappingError::mapper(format!(
            "Invalid [path] value [{target}] for field alias [{name}]: {problem}"
        )));
    }
    Ok(())
}

/// Returns whether a mapping has an alias.
pub(in crate::mappings) fn has_any(mapping: &Map<String, Value>) -> bool {
    let mut fields = BTreeMap::new();
    add(mapping, "", &mut fields);
    fields.values().any(Option::is_some)
}

/// Adds the paths of all fields below an object, those of aliases with what they stand for.
fn add(object: &Map<String, Value>, path: &str, fields: &mut BTreeMap<String, Option<String>>) {
    for inner in ["properties", "fields"] {
        let properties = object.get(inner).and_then(Value::as_object);
        for (name, definition) in properties.into_iter().flatten() {
            let path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let Some(definition) = definition.as_object() else {
                continue;
            };
            let text = |key: &str| definition.get(key).and_then(Value::as_str);
            match text("type") {
                Some("alias") => drop(fields.insert(path, text("path").map(str::to_owned))),
                None | Some("object" | "nested") => add(definition, &path, fields),
                Some(_) => {
                    add(definition, &path, fields);
                    fields.insert(path, None);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn an_alias_stands_for_a_field_of_the_mapping() {
        let check = |target: &str| {
            let mapping = json!({"properties": {
                "name": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
                "host": {"properties": {"ip": {"type": "ip"}}},
                "one": {"type": "alias", "path": target}, "other": {"type": "alias", "path": "name"},
            }});
            let error = super::check(mapping.as_object().unwrap()).err();
            error.map(|error| error.reason)
        };
        for target in ["name", "name.keyword", "host.ip"] {
            assert_eq!(check(target), None, "{target}");
        }
        for (target, part) in [
            ("host", "existing field"),
            ("nope", "[nope]"),
            ("other", "another alias"),
        ] {
            let reason = check(target).unwrap();
            assert!(
                reason.contains("[one]") && reason.contains(part),
                "{reason}"
            );
        }
    }
}
