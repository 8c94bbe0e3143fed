//! Reader of the option `completion` of a text.

use super::node::{MapReader, Result};
use crate::config::ConfigError;
use crate::documents::completion::{Completion, CompletionContext};

/// Default of `max_input_length`, as in Elasticsearch.
const MAX_INPUT_LENGTH: u64 = 50;

/// Maximum number of contexts of a field, as in Elasticsearch.
const MAX_CONTEXTS: usize = 10;

/// Reads the option.
pub(in crate::config) fn completion(map: &MapReader<'_>) -> Result<Option<Completion>> {
    const KEY: &str = "completion";
    let Some(node) = map.get(KEY) else {
        return Ok(None);
    };
    let keys = [
        "analyzer",
        "preserve_separators",
        "max_input_length",
        "contexts",
        "names",
    ];
    let own = MapReader::new(node, &map.at(KEY), KEY, &keys)?;
    if map.bool("stored", true)? || map.str("tokenizer")?.as_deref() != Some("raw") {
        let message =
            "a completion needs \"stored: false\" and the tokenizer raw: its terms are its entries";
        return Err(map.error(KEY, message));
    }
    let max = own.u64("max_input_length", MAX_INPUT_LENGTH, 1, 1_000)?;
    let mut names = own.str_list("names")?;
    canter_sorting::sort(&mut names);
    Ok(Some(Completion {
        analyzer: own.str("analyzer")?.unwrap_or_else(|| "letters".to_owned()),
        preserve_separators: own.bool("preserve_separators", true)?,
        max_input_length: u32::try_from(max).unwrap_or(u32::MAX),
        contexts: contexts(&own)?,
        names,
    }))
}

fn contexts(map: &MapReader<'_>) -> Result<Vec<CompletionContext>> {
    let mut contexts: Vec<CompletionContext> = Vec::new();
    for (nth, node) in map.seq("contexts")?.iter().enumerate() {
        let at = format!("{}[{nth}]", map.at("contexts"));
        let own = MapReader::new(node, &at, "a context", &["name", "path", "geohash"])?;
        let name = own.required_str("name", "a context")?;
        let is_twice = contexts.iter().any(|other| other.name == name);
        if name.is_empty() || is_twice || name.chars().any(char::is_control) {
            let message = format!("{name:?} is no name for a context, or there twice");
            return Err(own.error("name", message));
        }
        let letters = own.u64("geohash", 0, 1, 12)?;
        contexts.push(CompletionContext {
            name,
            path: own.str("path")?,
            geohash: u32::try_from(letters).ok().filter(|letters| *letters > 0),
        });
    }
    if contexts.len() > MAX_CONTEXTS {
        let message = format!("a completion has at most {MAX_CONTEXTS} contexts");
        return Err(ConfigError::at(map.line, map.at("contexts"), message));
    }
    Ok(contexts)
}
