//! Entry of `doc_mapping.tokenizers`: how a custom tokenizer splits text and filters tokens.
//! `tokenizers/custom.rs` implements it.

use crate::config::ConfigError;
use crate::config::read::node::{MapReader, Node, NodeValue, Result};
use crate::tokenizers::{
    self, CHAR_KINDS, CustomTokenizer, FILTERS, Grams, STEMS, STOP_WORDS, Stem, TokenizerCut,
    TokenizerFilter,
};

/// Maximum number of tokenizers.
const MAX_TOKENIZERS: usize = 100;
/// Maximum number of filters of one tokenizer.
const MAX_FILTERS: usize = 8;
/// Maximum length of the pattern of a `regex` tokenizer.
const MAX_PATTERN_BYTES: usize = 1_000;
/// Maximum length of a gram, in characters.
const MAX_GRAM: u64 = 100;
/// Greatest bound of the filter `length`: that of Elasticsearch.
const MAX_LENGTH: u64 = i32::MAX as u64;
/// Maximum number of words of the filter `stop`.
const MAX_STOP_WORDS: usize = 10_000;
/// Name of the frequent words of English.
const ENGLISH: &str = "_english_";

/// Values of `type`.
const TYPES: [&str; 9] = [
    "simple",
    "source_code",
    "ngram",
    "regex",
    "whitespace",
    "keyword",
    "standard",
    "letter",
    "grams",
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
    const KEYS: [&str; 8] = [
        "name",
        "type",
        "filters",
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
        other if TYPES.contains(&other) => &[],
        _ => {
            let message = format!(
                "\"type\" in {what} must be one of {}; got {type_name:?}",
                TYPES.join(", ")
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
        "grams" => grams(&map, &what)?,
        "whitespace" => TokenizerCut::Whitespace,
        "keyword" => TokenizerCut::Whole,
        "standard" => TokenizerCut::Standard,
        "letter" => TokenizerCut::Letters,
        _ => regex(&map, &what)?,
    };
    Ok(CustomTokenizer {
        name,
        cut,
        filters: filters(&map, &what)?,
    })
}

/// Reads the lengths of grams.
fn lengths(map: &MapReader<'_>, what: &str) -> Result<(usize, usize)> {
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
    Ok((min_gram, max_gram))
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

fn filters(map: &MapReader<'_>, what: &str) -> Result<Vec<TokenizerFilter>> {
    let given = map.seq("filters")?;
    if given.len() > MAX_FILTERS {
        let message = format!(
            "{what} has {} filters; at most {MAX_FILTERS} are allowed",
            given.len()
        );
        return Err(map.error("filters", message));
    }
    let at = map.at("filters");
    let filters = given.iter().enumerate().map(|(i, node)| {
        if let NodeValue::Map(_) = &node.value {
            return filter_with_options(node, &format!("{at}[{i}]"), what);
        }
        let name = match &node.value {
            NodeValue::Str(name) => name.as_str(),
            _ => "",
        };
        let found = FILTERS.iter().find(|(known, _)| *known == name);
        found.map(|(_, filter)| filter.clone()).ok_or_else(|| {
            let known: Vec<&str> = FILTERS.iter().map(|(name, _)| *name).collect();
            let options = FILTERS_WITH_OPTIONS.map(|(name, _)| name);
            let message = format!(
                "a filter in {what} must be one of {}, or one with options ({}); got {}",
                known.join(", "),
                options.join(", "),
                node.describe(),
            );
            map.error("filters", message)
        })
    });
    filters.collect()
}

/// Filters with options, and their keys.
const FILTERS_WITH_OPTIONS: [(&str, &[&str]); 5] = [
    ("stop", &["type", "stopwords", "ignore_case"]),
    ("length", &["type", "min", "max"]),
    ("stemmer", &["type", "language"]),
    (
        "ngram",
        &["type", "min_gram", "max_gram", "preserve_original"],
    ),
    (
        "edge_ngram",
        &["type", "min_gram", "max_gram", "preserve_original"],
    ),
];

fn filter_with_options(node: &Node, path: &str, what: &str) -> Result<TokenizerFilter> {
    let what = format!("a filter of {what}");
    let keys = match &node.value {
        NodeValue::Map(entries) => entries.iter().map(|entry| entry.key.as_str()).collect(),
        _ => Vec::new(),
    };
    let map = MapReader::new(node, path, &what, &keys)?;
    let name = map.required_str("type", &what)?;
    let Some((kind, keys)) = FILTERS_WITH_OPTIONS
        .iter()
        .find(|(known, _)| *known == name)
    else {
        let known = FILTERS_WITH_OPTIONS.map(|(name, _)| name);
        let message = format!(
            "\"type\" in {what} must be one of {}; got {name:?}",
            known.join(", ")
        );
        return Err(map.error("type", message));
    };
    let map = MapReader::new(node, path, &what, keys)?;
    Ok(match *kind {
        "stop" => stop(&map)?,
        "length" => TokenizerFilter::Length {
            min: map.u64("min", 0, 0, MAX_LENGTH)? as usize,
            max: map.u64("max", MAX_LENGTH, 0, MAX_LENGTH)? as usize,
        },
        "stemmer" => TokenizerFilter::Stem(map.choice("language", &STEMS, Stem::Porter)?),
        kind => {
            let (min_gram, max_gram) = lengths(&map, &what)?;
            TokenizerFilter::Grams(Grams {
                min_gram,
                max_gram,
                prefix_only: kind == "edge_ngram",
                preserve_original: map.bool("preserve_original", false)?,
                has_positions: false,
            })
        }
    })
}

fn stop(map: &MapReader<'_>) -> Result<TokenizerFilter> {
    let ignores_case = map.bool("ignore_case", false)?;
    let mut words: Vec<String> = match map.has("stopwords") {
        true => map.str_list("stopwords")?,
        false => vec![ENGLISH.to_owned()],
    };
    if let Some(at) = words.iter().position(|word| word == ENGLISH) {
        words.remove(at);
        words.extend(STOP_WORDS.map(str::to_owned));
    }
    if words.len() > MAX_STOP_WORDS {
        let message = format!("\"stopwords\" has more than {MAX_STOP_WORDS} words");
        return Err(map.error("stopwords", message));
    }
    if ignores_case {
        for word in &mut words {
            *word = word.chars().flat_map(char::to_lowercase).collect();
        }
    }
    canter_sorting::sort(&mut words);
    words.dedup();
    Ok(TokenizerFilter::Stop {
        words,
        ignores_case,
    })
}
