//! Further names of whole fields: Elasticsearch's type `alias`, as the mapping has it that was put through its API.

use std::collections::BTreeMap;

use serde_json::Value;

/// Returns the paths of the aliases in a mapping, each with the path of its field.
pub(super) fn field_aliases(mapping: Option<&str>) -> BTreeMap<String, String> {
    let mut aliases = BTreeMap::new();
    // Most mappings have none, and every segment that is opened comes here.
    if let Some(text) = mapping.filter(|text| text.contains("\"alias\""))
        && let Ok(mapping) = serde_json::from_str(text)
    {
        add(&mapping, "", &mut aliases);
    }
    aliases
}

fn add(definition: &Value, path: &str, aliases: &mut BTreeMap<String, String>) {
    let properties = definition.get("properties").and_then(Value::as_object);
    for (name, definition) in properties.into_iter().flatten() {
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        let text = |key: &str| definition.get(key).and_then(Value::as_str);
        match (text("type"), text("path")) {
            (Some("alias"), Some(target)) => drop(aliases.insert(path, target.to_owned())),
            _ => add(definition, &path, aliases),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_found_in_objects() {
        let mapping = r#"{"properties": {"at": {"type": "alias", "path": "time"}, "time": {"type": "date"},
            "host": {"properties": {"ip": {"type": "alias", "path": "source.ip"}, "alias": {"type": "keyword"}}}}}"#;
        let found = field_aliases(Some(mapping));
        let found: Vec<_> = found
            .iter()
            .map(|(name, path)| (&**name, &**path))
            .collect();
        assert_eq!(found, [("at", "time"), ("host.ip", "source.ip")]);
        assert!(field_aliases(Some("{\"alias\"")).is_empty());
        assert!(field_aliases(None).is_empty());
    }
}
