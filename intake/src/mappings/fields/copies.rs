//! `copy_to`: fields that receive the values of others, as fields of type `concatenate`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::analysis::Analysis;
use super::dynamic::Strings;
use crate::mappings::error::{MappingError, Result};
use crate::mappings::options::Options;

/// Paths whose values are copied, by the path that receives them.
pub(in crate::mappings) type Copies = BTreeMap<String, Vec<String>>;

/// Reads the `copy_to` parameter of the field at `path`.
pub(in crate::mappings) fn take(
    options: &mut Options,
    path: &str,
    copies: &mut Copies,
) -> Result<()> {
    let targets = match options.take("copy_to") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::String(target)) => vec![Value::String(target)],
        Some(Value::Array(targets)) => targets,
        Some(other) => {
            let problem = format!("is a name or a list of names, and not [{other}]");
            return Err(options.wrong("copy_to", &problem));
        }
    };
    for target in targets {
        let Value::String(target) = &target else {
            return Err(options.wrong("copy_to", &format!("has [{target}], which is no name")));
        };
        let sources = copies.entry(target.clone()).or_default();
        if !sources.iter().any(|source| source == path) {
            sources.push(path.to_owned());
        }
    }
    Ok(())
}

/// Makes the fields that receive copies out of those that are mapped, or adds them.
pub(in crate::mappings) fn apply(
    fields: &mut Vec<Value>,
    copies: &Copies,
    analysis: &Analysis,
) -> Result<Vec<String>> {
    let mut words = Vec::new();
    for (target, sources) in copies {
        for source in sources {
            check_source(fields, source, target)?;
        }
        if copies.values().flatten().any(|source| source == target) {
            return Err(wrong(
                target,
                "has a [copy_to] of its own: name all fields at their sources",
            ));
        }
        let made = match find(fields, target) {
            Some(field) => {
                let made = of_mapped(field, target, sources)?;
                *field = made.clone();
                made
            }
            None if target.contains('.') => {
                return Err(wrong(
                    target,
                    "is not mapped: map it as [text] or [keyword]",
                ));
            }
            None => {
                let strings = Strings::Words;
                let made = json!({
                    "name": target, "type": "concatenate", "concatenate_fields": sources,
                    "tokenizer": strings.tokenizer(analysis), "record": strings.record(), "fieldnorms": true,
                });
                fields.push(made.clone());
                made
            }
        };
        if made["tokenizer"] != "raw" {
            words.push(target.clone());
        }
    }
    Ok(words)
}

fn wrong(target: &str, problem: &str) -> MappingError {
    MappingError::mapper(format!("[{target}], which [copy_to] names, {problem}"))
}

fn of_mapped(field: &Value, target: &str, sources: &[String]) -> Result<Value> {
    if field["type"] != "array<text>" {
        return Err(wrong(
            target,
            "can only be [text] or [keyword]: copies are text",
        ));
    }
    if field.get("completion").is_some() {
        return Err(wrong(
            target,
            "is a [completion], which takes no copies: its entries are its own",
        ));
    }
    if field.get("aliases").is_some() {
        return Err(wrong(
            target,
            "can only be [text] or [keyword]: a [search_as_you_type] takes no copies",
        ));
    }
    if field.get("fields").is_some() || field.get("sub_fields").is_some() {
        return Err(wrong(
            target,
            "cannot have [fields]: name each of them in [copy_to] instead",
        ));
    }
    if field["indexed"] == false {
        return Err(wrong(
            target,
            "is not indexed, so that copies could not be found",
        ));
    }
    let mut made = json!({
        "name": field["name"], "type": "concatenate", "concatenate_fields": sources,
        "tokenizer": field["tokenizer"], "record": field["record"], "fieldnorms": field["fieldnorms"],
    });
    if let Some(of_queries) = field.get("search_tokenizer") {
        made["search_tokenizer"] = of_queries.clone();
    }
    Ok(made)
}

fn check_source(fields: &mut [Value], source: &str, target: &str) -> Result<()> {
    let field = find(fields, source);
    if field
        .as_ref()
        .is_some_and(|field| field.get("counted_by").is_some())
    {
        return Err(MappingError::mapper(format!(
            "[copy_to] of field [{source}] of type [token_count] is not supported: its values are numbers of words"
        )));
    }
    let kind = field.map(|field| field["type"].clone());
    let copied = [
        "array<text>",
        "array<i64>",
        "array<u64>",
        "array<f64>",
        "array<bool>",
    ];
    match kind.as_ref().and_then(Value::as_str) {
        Some(kind) if copied.contains(&kind) => Ok(()),
        _ => Err(MappingError::mapper(format!(
            "[copy_to] of field [{source}] is not supported: texts, numbers and booleans can be copied to [{target}]"
        ))),
    }
}

/// Returns the field at a path.
fn find<'f>(fields: &'f mut [Value], path: &str) -> Option<&'f mut Value> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let field = fields.iter_mut().find(|field| field["name"] == first)?;
    match rest {
        None => Some(field),
        Some(rest) => find(field.get_mut("field_mappings")?.as_array_mut()?, rest),
    }
}
