//! Entry of `doc_mapping.tokenizers`: how a custom tokenizer splits text and filters tokens.
//! `tokenizers/custom.rs` implements it.

use crate::config::ConfigError;
use crate::config::read::node::{MapReader, Node, Result};
use crate::tokenizers::{self, CustomTokenizer, FILTERS, TokenizerCut, TokenizerFilter};

/// Maximum number of tokenizers.
const MAX_TOKENIZERS: usize = 100;
/// Maximum number of filters of one tokenizer.
const MAX_FILTERS: usize = 8;
/// Maximum length of the pattern of a `regex` tokenizer.
const MAX_PATTERN_BYTES: usize = 1_000;
/// Maximum length of a gram of an `ngram` tokenizer, in characters.
const MAX_GRAM: u64 = 100;

pub(in crate::config) fn custom_tokenizers(
    nodes: &[Node],
    path: &str,
) -> Result<Vec<CustomTokenizer>> {
    if nodes.len() > MAX_TOKENIZERS {
        let message = format!(
            "{} tokenizers are defined; at most {MAX_TOKENIZERS} may be",
            nodes.len()
        );
        return Err(ConfigError::new(path, message));
    }
    let mut all: Vec<CustomTokenizer> = Vec::with_capacity(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        let at = format!("{path}[{i}]");
        let tokenizer = custom_tokenizer(node, &at)?;
        let name = &tokenizer.name;
        let problem = if tokenizers::NAMES.contains(&name.as_str()) {
            "is built in: give yours another name"
        } else if all.iter().any(|other| other.name == *name) {
            "is defined twice"
        } else {
            all.push(tokenizer);
            continue;
        };
        let message = format!("the tokenizer {name:?} {problem}");
        return Err(ConfigError::at(node.line, format!("{at}.name"), message));
    }
    Ok(all)
}

fn custom_tokenizer(node: &Node, path: &str) -> Result<CustomTokenizer> {
    const KEYS: [&str; 7] = [
        "name",
        "type",
        "filters",
        "pattern",
        "min_gram",
        "max_gram",
        "prefix_only",
    ];
    // The type determines the allowed keys.
    let map = MapReader::new(node, path, "a tokenizer", &KEYS)?;
    let name = map.required_str("name", "a tokenizer")?;
    if name.is_empty() || name.len() > 255 {
        return Err(map.error("name", "a tokenizer's name has 1 to 255 bytes"));
    }
    let what = format!("tokenizer {name:?}");
    let type_name = map.required_str("type", &what)?;
    let own_keys: &[&str] = match type_name.as_str() {
        "simple" | "source_code" => &[],
        "ngram" => &["min_gram", "max_gram", "prefix_only"],
        "regex" => &["pattern"],
        _ => {
            let message = format!(
                "\"type\" in {what} must be one of simple, source_code, ngram, regex; got {type_name:?}"
            );
            return Err(map.error("type", message));
        }
    };
    let allowed = [&["name", "type", "filters"], own_keys].concat();
    let map = MapReader::new(node, path, &what, &allowed)?;
    let cut = match type_name.as_str() {
        "simple" => TokenizerCut::Simple,
        "source_code" => TokenizerCut::SourceCode,
        "ngram" => ngram(&map, &what)?,
        _ => regex(&map, &what)?,
    };
    Ok(CustomTokenizer {
        name,
        cut,
        filters: filters(&map, &what)?,
    })
}

fn ngram(map: &MapReader<'_>, what: &str) -> Result<TokenizerCut> {
    let gram = |key: &str| {
        if !map.has(key) {
            return Err(map.error(key, format!("{what} needs the key {key:?}")));
        }
        Ok(map.u64(key, 1, 1, MAX_GRAM)? as usize)
    };
    let (min_gram, max_gram) = (gram("min_gram")?, gram("max_gram")?);
    if min_gram > max_gram {
        let message = format!(
            "{what}: \"min_gram\" is {min_gram}, and must not be greater than \"max_gram\", which is {max_gram}"
        );
        return Err(map.error("min_gram", message));
    }
    Ok(TokenizerCut::Ngram {
        min_gram,
        max_gram,
        prefix_only: map.bool("prefix_only", false)?,
    })
}

fn regex(map: &MapReader<'_>, what: &str) -> Result<TokenizerCut> {
    let pattern = map.required_str("pattern", what)?;
    if pattern.len() > MAX_PATTERN_BYTES {
        let message = format!(
            "the pattern of {what} has {} bytes; at most {MAX_PATTERN_BYTES} are allowed",
            pattern.len()
        );
        return Err(map.error("pattern", message));
    }
    if let Err(problem) = tokenizers::check_pattern(&pattern) {
        return Err(map.error("pattern", format!("the pattern of {what} {problem}")));
    }
    Ok(TokenizerCut::Regex { pattern })
}

fn filters(map: &MapReader<'_>, what: &str) -> Result<Vec<TokenizerFilter>> {
    let names = map.str_list("filters")?;
    if names.len() > MAX_FILTERS {
        let message = format!(
            "{what} has {} filters; at most {MAX_FILTERS} are allowed",
            names.len()
        );
        return Err(map.error("filters", message));
    }
    let filters = names.iter().map(|name| {
        let found = FILTERS.iter().find(|(known, _)| known == name);
        found.map(|(_, filter)| *filter).ok_or_else(|| {
            let known: Vec<&str> = FILTERS.iter().map(|(name, _)| *name).collect();
            let message = format!(
                "a filter in {what} must be one of {}; got {name:?}",
                known.join(", ")
            );
            map.error("filters", message)
        })
    });
    filters.collect()
}
