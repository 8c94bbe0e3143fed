//! Validation of a call's arguments against the schema of its tool, so that the shown rules are the enforced ones.
//!
//! Not a general validator of JSON Schema: it supports the keywords in `list.rs`.

use serde_json::Value;

/// Maximum length of a wrong value in a message, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// Returns an error about the first part of `value` that violates `schema`. `name` is the name of the value, or empty
/// for all arguments together.
pub(in crate::commands::mcp) fn check(
    schema: &Value,
    value: &Value,
    name: &str,
) -> Result<(), String> {
    let wrong = |expected: &str| {
        let shown: String = value.to_string().chars().take(MAX_SHOWN_CHARS).collect();
        Err(format!("{name}: this must be {expected}, and not {shown}"))
    };
    match schema["type"].as_str() {
        Some("string") => match value.as_str() {
            None => wrong("text"),
            Some(_) => Ok(()),
        },
        Some("integer") => match value.as_u64() {
            None => wrong("a whole number, 0 or more"),
            Some(number) => check_range(schema, number, name),
        },
        Some("array") => match value.as_array() {
            None => wrong("a list"),
            Some(items) => check_items(schema, items, name),
        },
        _ => match value {
            Value::Object(_) => check_properties(schema, value, name),
            _ => wrong("an object"),
        },
    }
}

fn check_range(schema: &Value, number: u64, name: &str) -> Result<(), String> {
    let bound = |key: &str| schema[key].as_u64();
    if let Some(min) = bound("minimum").filter(|min| number < *min) {
        return Err(format!(
            "{name}: {number} is too little: ask for {min} or more"
        ));
    }
    if let Some(max) = bound("maximum").filter(|max| number > *max) {
        return Err(format!(
            "{name}: {number} is too much: {max} is the most that this server allows"
        ));
    }
    Ok(())
}

fn check_items(schema: &Value, items: &[Value], name: &str) -> Result<(), String> {
    let max = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
    if items.len() as u64 > max {
        return Err(format!(
            "{name}: this has {} parts and may have {max}",
            items.len()
        ));
    }
    let mut items = items.iter().enumerate();
    items.try_for_each(|(place, item)| check(&schema["items"], item, &format!("{name}[{place}]")))
}

fn check_properties(schema: &Value, value: &Value, name: &str) -> Result<(), String> {
    let Some(known) = schema["properties"].as_object() else {
        return Ok(());
    };
    let below = |part: &str| match name {
        "" => part.to_owned(),
        name => format!("{name}.{part}"),
    };
    for (part, value) in value.as_object().into_iter().flatten() {
        let Some(schema) = known.get(part) else {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(format!(
                "the argument {:?} is not known; there are {}",
                below(part),
                known.join(", ")
            ));
        };
        check(schema, value, &below(part))?;
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    match required.find(|part| value.get(part).is_none()) {
        Some(missing) => Err(format!("the argument {:?} is missing", below(missing))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        let schema = json!({
            "type": "object",
            "properties": {
                "index": {"type": "string"},
                "max_hits": {"type": "integer", "minimum": 1, "maximum": 100},
                "fields": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "aggs": {"type": "object"},
                "budget": {
                    "type": "object",
                    "properties": {"max_bytes": {"type": "integer"}},
                    "additionalProperties": false,
                },
            },
            "required": ["index"],
            "additionalProperties": false,
        });
        let wrong = |value: Value, expect: &str| {
            let error = check(&schema, &value, "").unwrap_err();
            assert!(error.contains(expect), "{value}: {error}");
        };
        let right = json!({"index": "a", "max_hits": 100, "fields": ["b", "c"], "aggs": {"d": {}}, "budget": {}});
        assert_eq!(check(&schema, &right, ""), Ok(()));
        wrong(json!({}), "\"index\" is missing");
        wrong(
            json!({"index": "a", "indx": 1}),
            "\"indx\" is not known; there are index, max_hits",
        );
        wrong(json!({"index": 5}), "index: this must be text, and not 5");
        wrong(
            json!({"index": "a", "max_hits": 0}),
            "max_hits: 0 is too little",
        );
        wrong(json!({"index": "a", "max_hits": 101}), "100 is the most");
        wrong(json!({"index": "a", "max_hits": -1}), "a whole number");
        wrong(json!({"index": "a", "max_hits": "5"}), "max_hits");
        wrong(
            json!({"index": "a", "fields": "b"}),
            "fields: this must be a list",
        );
        wrong(json!({"index": "a", "fields": [1]}), "fields[0]");
        wrong(
            json!({"index": "a", "fields": ["a", "b", "c"]}),
            "may have 2",
        );
        wrong(
            json!({"index": "a", "aggs": []}),
            "aggs: this must be an object",
        );
        wrong(
            json!({"index": "a", "budget": {"max_byte": 1}}),
            "\"budget.max_byte\" is not known",
        );
        wrong(
            json!({"index": "a", "budget": {"max_bytes": null}}),
            "budget.max_bytes",
        );
    }
}
