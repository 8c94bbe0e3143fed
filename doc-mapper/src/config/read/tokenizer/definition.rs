//! Entry of `doc_mapping.tokenizers`: how a custom tokenizer splits text and filters tokens.
//! `tokenizers/custom.rs` implements it.

use super::filters::{char_filters, filters, lengths};
use crate::config::ConfigError;
use crate::config::read::node::{MapReader, Node, Result};
use crate::tokenizers::{self, CHAR_KINDS, CustomTokenizer, Grams, Paths, TokenizerCut};

/// Maximum number of tokenizers.
const MAX_TOKENIZERS: usize = 100;
/// Maximum length of the pattern of a `regex` tokenizer.
const MAX_PATTERN_BYTES: usize = 1_000;
/// Maximum number of parts of a path that are left out.
const MAX_SKIPPED: u64 = 1_000;

/// Values of `type`.
const TYPES: [&str; 10] = [
    "simple",
    "source_code",
    "ngram",
    "regex",
    "whitespace",
    "keyword",
    "standard",
    "letter",
    "grams",
    "path_hierarchy",
];

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

pub(in crate::config) fn custom_tokenizer(node: &Node, path: &str) -> Result<CustomTokenizer> {
    const KEYS: [&str; 13] = [
        "name",
        "type",
        "char_filters",
        "filters",
        "delimiter",
        "replacement",
        "skip",
        "reverse",
        "pattern",
        "min_gram",
        "max_gram",
        "prefix_only",
        "token_chars",
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
        "ngram" => &["min_gram", "max_gram", "prefix_only"],
        "grams" => &["min_gram", "max_gram", "prefix_only", "token_chars"],
        "regex" => &["pattern"],
        "path_hierarchy" => &["delimiter", "replacement", "skip", "reverse"],
        other if TYPES.contains(&other) => &[],
        _ => {
            let message = format!(
                "\"type\" in {what} must be one of {}; got {type_name:?}",
                TYPES.join(", ")
            );
            return Err(map.error("type", message));
        }
    };
    let allowed = [&["name", "type", "char_filters", "filters"], own_keys].concat();
    let map = MapReader::new(node, path, &what, &allowed)?;
    let cut = match type_name.as_str() {
        "simple" => TokenizerCut::Simple,
        "source_code" => TokenizerCut::SourceCode,
        "ngram" => ngram(&map, &what)?,
        "grams" => grams(&map, &what)?,
        "whitespace" => TokenizerCut::Whitespace,
        "keyword" => TokenizerCut::Whole,
        "standard" => TokenizerCut::Standard,
        "letter" => TokenizerCut::Letters,
        "path_hierarchy" => paths(&map)?,
        _ => regex(&map, &what)?,
    };
    let tokenizer = CustomTokenizer {
        name,
        char_filters: char_filters(&map, &what)?,
        cut,
        filters: filters(&map, &what)?,
    };
    match tokenizer.analyzer() {
        Ok(_) => Ok(tokenizer),
        Err(problem) => Err(map.error("filters", format!("{what}: {problem}"))),
    }
}

fn paths(map: &MapReader<'_>) -> Result<TokenizerCut> {
    let one = |key: &str, default: char| -> Result<char> {
        let Some(text) = map.str(key)? else {
            return Ok(default);
        };
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(map.error(key, format!("{key:?} is one character"))),
        }
    };
    let delimiter = one("delimiter", '/')?;
    Ok(TokenizerCut::Paths(Paths {
        delimiter,
        replacement: one("replacement", delimiter)?,
        skip: map.u64("skip", 0, 0, MAX_SKIPPED)? as usize,
        is_reverse: map.bool("reverse", false)?,
    }))
}

fn ngram(map: &MapReader<'_>, what: &str) -> Result<TokenizerCut> {
    let (min_gram, max_gram) = lengths(map, what)?;
    Ok(TokenizerCut::Ngram {
        min_gram,
        max_gram,
        prefix_only: map.bool("prefix_only", false)?,
    })
}

fn grams(map: &MapReader<'_>, what: &str) -> Result<TokenizerCut> {
    let (min_gram, max_gram) = lengths(map, what)?;
    let names = map.str_list("token_chars")?;
    let kinds = names.iter().map(|name| {
        let found = CHAR_KINDS.iter().find(|(known, _)| known == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let known: Vec<&str> = CHAR_KINDS.iter().map(|(name, _)| *name).collect();
            let message = format!(
                "\"token_chars\" in {what} must be of {}; got {name:?}",
                known.join(", ")
            );
            map.error("token_chars", message)
        })
    });
    Ok(TokenizerCut::Grams {
        token_chars: kinds.collect::<Result<_>>()?,
        grams: Grams {
            min_gram,
            max_gram,
            prefix_only: map.bool("prefix_only", false)?,
            preserve_original: false,
            has_positions: true,
        },
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
