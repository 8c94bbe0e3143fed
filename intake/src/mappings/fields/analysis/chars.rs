//! Filters of characters, built in or defined in `analysis`.

use serde_json::{Map, Value, json};

use super::parts::{PartOptions, Parts, found, list_of};
use super::patterns::ascii_pattern;
use crate::mappings::error::{MappingError, Result};

/// Java's names of flags, and their letters.
const FLAGS: [(&str, char); 4] = [
    ("CASE_INSENSITIVE", 'i'),
    ("MULTILINE", 'm'),
    ("DOTALL", 's'),
    ("COMMENTS", 'x'),
];

/// Returns the filters of characters of a config for those of an analyzer.
pub(super) fn resolve_all(
    parts: &Parts,
    what: &str,
    definition: &Map<String, Value>,
) -> Result<Vec<Value>> {
    let given = match definition.get("char_filter") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.clone(),
        Some(one) => vec![one.clone()],
    };
    let all = given.iter().map(|given| resolve(parts, what, given));
    all.collect()
}

fn resolve(parts: &Parts, what: &str, given: &Value) -> Result<Value> {
    let (kind, own) = found(parts, "char_filter", given, what)?;
    let options = PartOptions {
        own,
        what: format!("the char filter [{kind}] of {what}"),
    };
    Ok(match kind.as_str() {
        "html_strip" | "htmlStrip" => {
            options.only(&["escaped_tags"])?;
            json!({"type": "html_strip", "escaped_tags": list_of(options.get("escaped_tags"))})
        }
        "mapping" => {
            options.only(&["mappings"])?;
            let mappings = list_of(options.get("mappings"));
            if mappings.is_empty() {
                return Err(options.wrong(
                    "mappings",
                    "is a list of rules such as \"& => and\"; a file cannot be read here",
                ));
            }
            json!({"type": "mapping", "mappings": mappings})
        }
        "pattern_replace" => {
            options.only(&["pattern", "replacement", "flags"])?;
            json!({
                "type": "pattern_replace", "pattern": pattern_of(&options)?,
                "replacement": options.text("replacement").unwrap_or_default(),
            })
        }
        other => {
            return Err(MappingError::illegal(format!(
                "the char filter [{other}] of {what} is not supported: there are html_strip, mapping and pattern_replace"
            )));
        }
    })
}

/// Returns a pattern that is replaced, with its flags.
pub(super) fn pattern_of(options: &PartOptions<'_>) -> Result<String> {
    let Some(pattern) = options.text("pattern") else {
        return Err(options.wrong("pattern", "is missing"));
    };
    let names = options.text("flags").unwrap_or_default();
    let names = names
        .split('|')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let letters = names.map(|name| {
        let found = FLAGS.iter().find(|(known, _)| *known == name);
        found.map(|(_, letter)| *letter)
    });
    let letters: Option<String> = letters.collect();
    let letters = letters.ok_or_else(|| {
        options.wrong(
            "flags",
            "can be CASE_INSENSITIVE, MULTILINE, DOTALL and COMMENTS here",
        )
    })?;
    let pattern = ascii_pattern(pattern).ok_or_else(|| {
        options.wrong("pattern", "has a class of characters that is not supported")
    })?;
    Ok(match letters.is_empty() {
        true => pattern,
        false => format!("(?{letters}){pattern}"),
    })
}
