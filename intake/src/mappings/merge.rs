//! Merging of mappings and settings: later ones override earlier ones.

use serde_json::{Map, Value};

use super::error::{MappingError, Result};
use super::options::object;

/// Expands names with dots into objects: `a.b` becomes `b` in `a`.
pub(super) fn expanded(properties: &Map<String, Value>) -> Result<Map<String, Value>> {
    let mut whole = Map::new();
    for (name, definition) in properties {
        let mut parts = name.split('.').rev();
        if name.is_empty() {
            return Err(MappingError::illegal(
                "field name cannot be an empty string",
            ));
        }
        if name.split('.').any(str::is_empty) {
            return Err(MappingError::mapper(format!(
                "the field name [{name}] is empty, or has an empty part"
            )));
        }
        let last = parts.next().unwrap_or_default();
        let mut one = Map::new();
        one.insert(last.to_owned(), definition.clone());
        for part in parts {
            let mut inner = Map::new();
            inner.insert("properties".to_owned(), one.into());
            one = Map::new();
            one.insert(part.to_owned(), inner.into());
        }
        add_properties(&mut whole, &one)?;
    }
    Ok(whole)
}

/// Adds the fields `more`, whose names contain no dots. Objects are merged, and other fields
/// replaced.
fn add_properties(whole: &mut Map<String, Value>, more: &Map<String, Value>) -> Result<()> {
    for (name, definition) in more {
        let before = whole.get_mut(name).and_then(Value::as_object_mut);
        match (before, definition.as_object()) {
            (Some(before), Some(after)) if is_object(before) && is_object(after) => {
                merge_into(before, after)?;
            }
            _ => {
                whole.insert(name.clone(), definition.clone());
            }
        }
    }
    Ok(())
}

/// Returns whether a field has fields of its own.
fn is_object(definition: &Map<String, Value>) -> bool {
    match definition.get("type").and_then(Value::as_str) {
        None | Some("object" | "nested") => true,
        Some(_) => false,
    }
}

/// Merges a later mapping into `mapping`.
pub(super) fn merge_into(
    mapping: &mut Map<String, Value>,
    later: &Map<String, Value>,
) -> Result<()> {
    for (key, value) in later {
        match (key.as_str(), mapping.get_mut(key)) {
            ("properties", before) => {
                let mut whole = match before {
                    Some(before) => expanded(object(before, "[properties]")?)?,
                    None => Map::new(),
                };
                let more = expanded(object(value, "[properties]")?)?;
                add_properties(&mut whole, &more)?;
                mapping.insert(key.clone(), whole.into());
            }
            ("dynamic_templates", Some(Value::Array(before))) => {
                let more = value.as_array().cloned().unwrap_or_default();
                let is_replaced = |entry: &Value| {
                    let name = name_of(entry);
                    name.is_some() && more.iter().any(|other| name_of(other) == name)
                };
                before.retain(|entry| !is_replaced(entry));
                before.extend(more);
            }
            ("_meta", Some(Value::Object(before))) => {
                let more = value.as_object().cloned().unwrap_or_default();
                before.extend(more);
            }
            _ => {
                mapping.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(())
}

/// Returns the name of an entry of `dynamic_templates`.
fn name_of(entry: &Value) -> Option<&String> {
    entry.as_object()?.keys().next()
}
