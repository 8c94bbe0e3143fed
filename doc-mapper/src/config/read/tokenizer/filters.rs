//! Filters of a custom tokenizer: of characters before text is cut, and of tokens.

use crate::config::read::node::{MapReader, Node, NodeValue, Result};
use crate::tokenizers::{
    CharFilter, Delimiter, FILTERS, Grams, STEMS, STOP_WORDS, Shingles, Stem, StemBut,
    SynonymRules, TokenizerFilter,
};

/// Maximum number of filters of one tokenizer.
const MAX_FILTERS: usize = 16;
/// Maximum length of a gram, in characters.
const MAX_GRAM: u64 = 100;
/// Greatest bound of the filter `length`: that of Elasticsearch.
const MAX_LENGTH: u64 = i32::MAX as u64;
/// Maximum number of words of the filter `stop`.
const MAX_STOP_WORDS: usize = 10_000;
/// Name of the frequent words of English.
const ENGLISH: &str = "_english_";
/// Articles of French.
const ARTICLES: [&str; 13] = [
    "l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu",
];
/// Maximum size of the rules of a filter: each reader of an index reads them.
const MAX_RULE_BYTES: usize = 256 << 10;
/// Maximum length of a pattern and of what replaces it, in bytes.
const MAX_PATTERN_BYTES: usize = 1_000;
/// Maximum number of words of a shingle.
const MAX_SHINGLE: u64 = 10;
/// Maximum length of a separator or filler of shingles, in bytes.
const MAX_SEPARATOR_BYTES: usize = 32;

/// Reads the filters of characters.
pub(super) fn char_filters(map: &MapReader<'_>, what: &str) -> Result<Vec<CharFilter>> {
    let given = at_most(map, "char_filters", what)?;
    let at = map.at("char_filters");
    let filters = given.iter().enumerate().map(|(i, node)| {
        let what = format!("a char filter of {what}");
        if let NodeValue::Str(name) = &node.value {
            return match name.as_str() {
                "html_strip" => Ok(CharFilter::HtmlStrip {
                    escaped_tags: Vec::new(),
                }),
                _ => Err(map.error("char_filters", no_char_filter(&what, name))),
            };
        }
        let keys = ["type", "escaped_tags", "mappings", "pattern", "replacement"];
        let own = MapReader::new(node, &format!("{at}[{i}]"), &what, &keys)?;
        match own.required_str("type", &what)?.as_str() {
            "html_strip" => Ok(CharFilter::HtmlStrip {
                escaped_tags: own.str_list("escaped_tags")?,
            }),
            "mapping" => Ok(CharFilter::Mapping {
                mappings: rules(&own, "mappings")?,
            }),
            "pattern_replace" => pattern_replace(&own, &what),
            other => Err(own.error("type", no_char_filter(&what, other))),
        }
    });
    filters.collect()
}

fn pattern_replace(map: &MapReader<'_>, what: &str) -> Result<CharFilter> {
    let pattern = map.required_str("pattern", what)?;
    let replacement = map.str("replacement")?.unwrap_or_default();
    match pattern.len().max(replacement.len()) > MAX_PATTERN_BYTES {
        true => Err(map.error(
            "pattern",
            format!("{what} has more than {MAX_PATTERN_BYTES} bytes"),
        )),
        false => Ok(CharFilter::PatternReplace {
            pattern,
            replacement,
        }),
    }
}

fn no_char_filter(what: &str, name: &str) -> String {
    format!("{what} can be html_strip, mapping or pattern_replace; got {name:?}")
}

/// Reads rules, whose size is limited.
fn rules(map: &MapReader<'_>, key: &str) -> Result<Vec<String>> {
    let rules = map.str_list(key)?;
    match rules.iter().map(String::len).sum::<usize>() > MAX_RULE_BYTES {
        true => Err(map.error(key, format!("{key:?} has more than {MAX_RULE_BYTES} bytes"))),
        false => Ok(rules),
    }
}

fn at_most<'n>(map: &MapReader<'n>, key: &str, what: &str) -> Result<&'n [Node]> {
    let given = map.seq(key)?;
    if given.len() > MAX_FILTERS {
        let message = format!(
            "{what} has {} {key}; at most {MAX_FILTERS} are allowed",
            given.len()
        );
        return Err(map.error(key, message));
    }
    Ok(given)
}

/// Reads the filters of tokens.
pub(super) fn filters(map: &MapReader<'_>, what: &str) -> Result<Vec<TokenizerFilter>> {
    let given = at_most(map, "filters", what)?;
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
const FILTERS_WITH_OPTIONS: [(&str, &[&str]); 14] = [
    ("keep", &["type", "keep_words", "ignore_case"]),
    ("elision", &["type", "articles"]),
    ("pattern_replace", &["type", "pattern", "replacement"]),
    ("synonym", &["type", "synonyms", "expand", "lenient"]),
    ("synonym_graph", &["type", "synonyms", "expand", "lenient"]),
    (
        "shingle",
        &[
            "type",
            "min_shingle_size",
            "max_shingle_size",
            "output_unigrams",
            "output_unigrams_if_no_shingles",
            "token_separator",
            "filler_token",
        ],
    ),
    (
        "word_delimiter_graph",
        &[
            "type",
            "generate_word_parts",
            "generate_number_parts",
            "catenate_words",
            "catenate_numbers",
            "catenate_all",
            "preserve_original",
            "split_on_case_change",
            "split_on_numerics",
            "stem_english_possessive",
            "protected_words",
        ],
    ),
    ("truncate", &["type", "length"]),
    ("limit", &["type", "max_token_count"]),
    ("stop", &["type", "stopwords", "ignore_case"]),
    ("length", &["type", "min", "max"]),
    (
        "stemmer",
        &["type", "language", "overrides", "preserve_original"],
    ),
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
        "stemmer" => stemmer(&map)?,
        "truncate" => TokenizerFilter::Truncate {
            length: map.u64("length", 10, 1, MAX_LENGTH)? as usize,
        },
        "limit" => TokenizerFilter::Limit {
            count: map.u64("max_token_count", 1, 1, MAX_LENGTH)? as usize,
        },
        "synonym" | "synonym_graph" => TokenizerFilter::Synonyms(SynonymRules {
            rules: rules(&map, "synonyms")?,
            expands: map.bool("expand", true)?,
            is_graph: *kind == "synonym_graph",
            is_lenient: map.bool("lenient", false)?,
        }),
        "keep" | "elision" | "pattern_replace" => of_words(kind, &map, &what)?,
        "shingle" => shingles(&map)?,
        "word_delimiter_graph" => TokenizerFilter::Delimiter(delimiter(&map)?),
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

/// Reads a filter that changes or drops words.
fn of_words(kind: &str, map: &MapReader<'_>, what: &str) -> Result<TokenizerFilter> {
    Ok(match kind {
        "keep" => {
            let ignores_case = map.bool("ignore_case", false)?;
            TokenizerFilter::Keep {
                words: sorted(rules(map, "keep_words")?, ignores_case),
                ignores_case,
            }
        }
        "elision" => TokenizerFilter::Elision {
            articles: match map.has("articles") {
                true => sorted(rules(map, "articles")?, true),
                false => sorted(ARTICLES.map(str::to_owned).to_vec(), true),
            },
        },
        _ => match pattern_replace(map, what)? {
            CharFilter::PatternReplace {
                pattern,
                replacement,
            } => TokenizerFilter::Replace {
                pattern,
                replacement,
            },
            _ => return Err(map.error("type", "it replaces nothing")),
        },
    })
}

fn stemmer(map: &MapReader<'_>) -> Result<TokenizerFilter> {
    let stem = map.choice("language", &STEMS, Stem::Porter)?;
    let is_beside = map.bool("preserve_original", false)?;
    let mut overrides = Vec::new();
    for rule in rules(map, "overrides")? {
        match rule.split_once("=>") {
            Some((word, own)) if !word.trim().is_empty() && !own.trim().is_empty() => {
                overrides.push((word.trim().to_owned(), own.trim().to_owned()));
            }
            _ => {
                let message =
                    format!("an entry of \"overrides\" is \"word => stem\"; got {rule:?}");
                return Err(map.error("overrides", message));
            }
        }
    }
    // Of several entries of a word the first counts.
    canter_sorting::sort_by(&mut overrides, |one, other| one.0.cmp(&other.0));
    overrides.dedup_by(|later, first| later.0 == first.0);
    if overrides.is_empty() && !is_beside {
        return Ok(TokenizerFilter::Stem(stem));
    }
    Ok(TokenizerFilter::StemBut(StemBut {
        stem,
        overrides,
        is_beside,
    }))
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
    let words = sorted(words, ignores_case);
    Ok(TokenizerFilter::Stop {
        words,
        ignores_case,
    })
}

fn shingles(map: &MapReader<'_>) -> Result<TokenizerFilter> {
    let text = |key: &str, default: &str| -> Result<String> {
        let text = map.str(key)?.unwrap_or_else(|| default.to_owned());
        match text.len() > MAX_SEPARATOR_BYTES {
            true => Err(map.error(
                key,
                format!("{key:?} has more than {MAX_SEPARATOR_BYTES} bytes"),
            )),
            false => Ok(text),
        }
    };
    let min = map.u64("min_shingle_size", 2, 2, MAX_SHINGLE)? as usize;
    let max = map.u64("max_shingle_size", 2, 2, MAX_SHINGLE)? as usize;
    if min > max {
        let message = "\"min_shingle_size\" must not be greater than \"max_shingle_size\"";
        return Err(map.error("min_shingle_size", message));
    }
    Ok(TokenizerFilter::Shingles(Shingles {
        min,
        max,
        has_words: map.bool("output_unigrams", true)?,
        has_words_alone: map.bool("output_unigrams_if_no_shingles", false)?,
        separator: text("token_separator", " ")?,
        filler: text("filler_token", "_")?,
    }))
}

fn delimiter(map: &MapReader<'_>) -> Result<Delimiter> {
    let mut protected = map.str_list("protected_words")?;
    canter_sorting::sort(&mut protected);
    Ok(Delimiter {
        has_words: map.bool("generate_word_parts", true)?,
        has_numbers: map.bool("generate_number_parts", true)?,
        joins_words: map.bool("catenate_words", false)?,
        joins_numbers: map.bool("catenate_numbers", false)?,
        joins_all: map.bool("catenate_all", false)?,
        preserve_original: map.bool("preserve_original", false)?,
        splits_on_case: map.bool("split_on_case_change", true)?,
        splits_on_numerics: map.bool("split_on_numerics", true)?,
        drops_possessive: map.bool("stem_english_possessive", true)?,
        protected,
    })
}

/// Reads the lengths of grams.
pub(super) fn lengths(map: &MapReader<'_>, what: &str) -> Result<(usize, usize)> {
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

/// Sorts words, without those that are there twice.
fn sorted(mut words: Vec<String>, ignores_case: bool) -> Vec<String> {
    if ignores_case {
        for word in &mut words {
            *word = word.chars().flat_map(char::to_lowercase).collect();
        }
    }
    canter_sorting::sort(&mut words);
    words.dedup();
    words
}
