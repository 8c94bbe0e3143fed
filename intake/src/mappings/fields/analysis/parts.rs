//! Parts of analyzers: tokenizers and filters of tokens, built in or defined in `analysis`.

use serde_json::{Map, Value, json};

use super::analyzers::{named_words as expand_words, stop_words};
use super::languages;
use super::patterns::{ascii_pattern, words_between, words_between_chars};
use super::words;
use crate::mappings::error::{MappingError, Result};
use crate::mappings::options::flag_of;
use crate::mappings::settings::{self, Settings};

/// Definitions of `analysis`, by kind and name.
pub(super) struct Parts {
    kinds: Map<String, Value>,
    /// How far the lengths of grams may be apart.
    max_ngram_diff: u64,
}

impl Parts {
    /// Reads settings, in which names are dotted.
    pub(super) fn of(given: &Settings) -> Result<Self> {
        let mut kinds = Map::new();
        for (name, value) in given {
            let Some(path) = name.strip_prefix("analysis.") else {
                continue;
            };
            let mut path = path.splitn(3, '.');
            let (Some(kind), Some(name), Some(option)) = (path.next(), path.next(), path.next())
            else {
                return Err(MappingError::illegal(format!(
                    "the setting [index.{name}] is no option of a part of an analyzer"
                )));
            };
            let kind = kinds.entry(kind).or_insert_with(|| json!({}));
            kind[name][option] = value.clone();
        }
        let known = [
            "analyzer",
            "normalizer",
            "tokenizer",
            "filter",
            "char_filter",
        ];
        if let Some(other) = kinds.keys().find(|kind| !known.contains(&kind.as_str())) {
            return Err(MappingError::illegal(format!(
                "unknown setting [index.analysis.{other}]: there are {}",
                known.join(", ")
            )));
        }
        let max_ngram_diff = settings::number(given, "max_ngram_diff")?.unwrap_or(1);
        Ok(Self {
            kinds,
            max_ngram_diff: max_ngram_diff.into(),
        })
    }

    /// Returns the definitions of a kind.
    pub(super) fn kind(&self, kind: &str) -> Result<Vec<(&String, &Map<String, Value>)>> {
        let all = self.kinds.get(kind).and_then(Value::as_object);
        let all = all.into_iter().flatten();
        all.map(|(name, definition)| {
            let definition = definition.as_object();
            let definition = definition.ok_or_else(|| {
                MappingError::illegal(format!("the {kind} [{name}] is an object"))
            })?;
            Ok((name, definition))
        })
        .collect()
    }

    fn definition(&self, kind: &str, name: &str) -> Option<&Map<String, Value>> {
        self.kinds.get(kind)?.get(name)?.as_object()
    }

    /// Checks the lengths of grams, as Elasticsearch does.
    pub(super) fn check_grams(&self, tokenizers: &[Value]) -> Result<()> {
        let of_filters = tokenizers
            .iter()
            .flat_map(|entry| entry["filters"].as_array());
        let all = tokenizers.iter().chain(of_filters.flatten());
        for part in all {
            let is_cut_everywhere = part["type"] == "ngram"
                || (part["type"] == "grams" && part["prefix_only"] == false);
            let (Some(min), Some(max)) = (part["min_gram"].as_u64(), part["max_gram"].as_u64())
            else {
                continue;
            };
            let diff = max.saturating_sub(min);
            if is_cut_everywhere && diff > self.max_ngram_diff {
                return Err(MappingError::illegal(format!(
                    "The difference between max_gram and min_gram in NGram Tokenizer must be less than or equal to: [{}] \
                     but was [{diff}]. This limit can be set by changing the [index.max_ngram_diff] index level setting.",
                    self.max_ngram_diff
                )));
            }
        }
        Ok(())
    }
}

/// Refuses options other than these and `type`.
pub(super) fn only(definition: &Map<String, Value>, what: &str, allowed: &[&str]) -> Result<()> {
    let is_other =
        |key: &&String| *key != "type" && *key != "version" && !allowed.contains(&key.as_str());
    match definition.keys().find(is_other) {
        None => Ok(()),
        Some(key) => Err(MappingError::illegal(format!(
            "the option [{key}] of {what} is not supported here"
        ))),
    }
}

/// Returns the texts of a list, which may be a single one.
pub(super) fn list_of(given: Option<&Value>) -> Vec<String> {
    match given {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(list)) => {
            let texts = list.iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Finds a part: by its name among those of the index or the built-in ones, or defined in its place.
pub(super) fn found<'p>(
    parts: &'p Parts,
    kind: &str,
    given: &'p Value,
    what: &str,
) -> Result<(String, Option<&'p Map<String, Value>>)> {
    let own = match given {
        Value::String(name) => match parts.definition(kind, name) {
            None => return Ok((name.clone(), None)),
            Some(own) => own,
        },
        Value::Object(own) => own,
        other => {
            return Err(MappingError::illegal(format!(
                "the {kind} of {what} is a name, and not [{other}]"
            )));
        }
    };
    match own.get("type").and_then(Value::as_str) {
        Some(kind) => Ok((kind.to_owned(), Some(own))),
        None => Err(MappingError::illegal(format!(
            "a {kind} of {what} has no [type]"
        ))),
    }
}

/// Options of a part.
pub(super) struct PartOptions<'p> {
    pub(super) own: Option<&'p Map<String, Value>>,
    pub(super) what: String,
}

impl PartOptions<'_> {
    pub(super) fn only(&self, allowed: &[&str]) -> Result<()> {
        match self.own {
            None => Ok(()),
            Some(own) => only(own, &self.what, allowed),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.own?.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn number(&self, key: &str, default: u64) -> Result<u64> {
        let Some(value) = self.get(key) else {
            return Ok(default);
        };
        let number = match value {
            Value::String(text) => text.parse().ok(),
            value => value.as_u64(),
        };
        number.ok_or_else(|| self.wrong(key, &format!("is a number, and not [{value}]")))
    }

    pub(super) fn flag(&self, key: &str) -> Result<bool> {
        self.get(key).map_or(Ok(false), |value| {
            flag_of(value)
                .ok_or_else(|| self.wrong(key, &format!("is true or false, and not [{value}]")))
        })
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    pub(super) fn wrong(&self, key: &str, problem: &str) -> MappingError {
        MappingError::illegal(format!("[{key}] of {} {problem}", self.what))
    }

    /// Returns the lengths of grams, with these defaults.
    fn lengths(&self, min: u64, max: u64) -> Result<(u64, u64)> {
        let (min, max) = (self.number("min_gram", min)?, self.number("max_gram", max)?);
        match (1..=max).contains(&min) {
            true => Ok((min, max)),
            false => Err(self.wrong("min_gram", "is from 1 to [max_gram]")),
        }
    }
}

/// Returns the `type` and options of a tokenizer of a config for one of Elasticsearch's, and the filter that it begins with.
pub(super) fn resolve_cut(
    parts: &Parts,
    what: &str,
    given: &Value,
) -> Result<(Value, Option<Value>)> {
    let (kind, own) = found(parts, "tokenizer", given, what)?;
    let options = PartOptions {
        own,
        what: format!("the tokenizer [{kind}] of {what}"),
    };
    let cut = match kind.as_str() {
        "standard" | "whitespace" => {
            options.only(&["max_token_length"])?;
            if options.number("max_token_length", 255)? != 255 {
                return Err(options.wrong("max_token_length", "can only be 255 here"));
            }
            json!({"type": kind})
        }
        "keyword" | "letter" => {
            options.only(&["buffer_size"])?;
            json!({"type": kind})
        }
        "lowercase" => {
            options.only(&[])?;
            return Ok((json!({"type": "letter"}), Some("lower_caser".into())));
        }
        "ngram" | "nGram" | "edge_ngram" | "edgeNGram" => {
            options.only(&["min_gram", "max_gram", "token_chars"])?;
            let (min, max) = options.lengths(1, 2)?;
            let kinds = list_of(options.get("token_chars"));
            if kinds.iter().any(|kind| kind == "custom") {
                return Err(options.wrong("token_chars", "cannot be [custom] here"));
            }
            json!({
                "type": "grams", "min_gram": min, "max_gram": max, "prefix_only": kind.starts_with("edge"),
                "token_chars": kinds,
            })
        }
        "pattern" => {
            options.only(&["pattern", "flags", "group"])?;
            json!({"type": "regex", "pattern": pattern(&options)?})
        }
        other => match more_cuts(other, &options)? {
            Some(cut) => cut,
            None => {
                return Err(MappingError::illegal(format!(
                    "the tokenizer [{other}] of {what} is not supported: there are standard, whitespace, keyword, letter, \
                 lowercase, ngram, edge_ngram, path_hierarchy, char_group, simple_pattern and pattern"
                )));
            }
        },
    };
    Ok((cut, None))
}

/// Returns the `type` and options of a tokenizer of further kinds; `None` for other kinds.
fn more_cuts(kind: &str, options: &PartOptions<'_>) -> Result<Option<Value>> {
    Ok(Some(match kind {
        "path_hierarchy" | "PathHierarchy" => {
            options.only(&["delimiter", "replacement", "buffer_size", "reverse", "skip"])?;
            let delimiter = options.text("delimiter").unwrap_or("/");
            json!({
                "type": "path_hierarchy", "delimiter": delimiter,
                "replacement": options.text("replacement").unwrap_or(delimiter),
                "skip": options.number("skip", 0)?, "reverse": options.flag("reverse")?,
            })
        }
        "char_group" => {
            options.only(&["tokenize_on_chars", "max_token_length"])?;
            json!({"type": "regex", "pattern": words_between_chars(&list_of(options.get("tokenize_on_chars"))).ok_or_else(|| {
                options.wrong("tokenize_on_chars", "is a list of characters, or of whitespace, letter, digit, punctuation and symbol")
            })?})
        }
        "simple_pattern" | "simple_pattern_split" => {
            options.only(&["pattern"])?;
            let pattern = options.text("pattern").unwrap_or_default();
            let words = match kind.ends_with("split") {
                true => words_between(pattern),
                // What Lucene's patterns have of their own.
                false => Some(pattern.to_owned())
                    .filter(|pattern| !pattern.contains(['&', '~', '<', '@', '#', '"', '\\'])),
            };
            let words = words.ok_or_else(|| {
                options.wrong(
                    "pattern",
                    &format!("is [{pattern}], which is not supported here"),
                )
            })?;
            json!({"type": "regex", "pattern": words})
        }
        _ => return Ok(None),
    }))
}

/// Returns the pattern of words that a tokenizer makes.
fn pattern(options: &PartOptions<'_>) -> Result<String> {
    let pattern = options.text("pattern").unwrap_or("\\W+");
    if options.text("flags").is_some_and(|flags| !flags.is_empty()) {
        return Err(options.wrong("flags", "is not supported: write the pattern without them"));
    }
    let group = match options.get("group") {
        Some(Value::String(text)) => text.parse().ok(),
        Some(other) => other.as_i64(),
        None => Some(-1),
    };
    let words = match group {
        Some(-1) => words_between(pattern),
        Some(0) => ascii_pattern(pattern),
        _ => return Err(options.wrong("group", "can only be -1 or 0 here")),
    };
    words.ok_or_else(|| {
        options.wrong(
            "pattern",
            &format!(
                "is [{pattern}]: one that separates words can be a character or a class of characters here, such as , or \
                 [\\s/]+; with [group: 0] it is that of the words"
            ),
        )
    })
}

/// Returns the filter of a config for one of Elasticsearch's; none if it would do nothing.
pub(super) fn resolve_filter(parts: &Parts, what: &str, given: &Value) -> Result<Option<Value>> {
    let (kind, own) = found(parts, "filter", given, what)?;
    let options = PartOptions {
        own,
        what: format!("the filter [{kind}] of {what}"),
    };
    Ok(Some(match kind.as_str() {
        "lowercase" => {
            options.only(&[])?;
            "lower_caser".into()
        }
        "asciifolding" => {
            options.only(&["preserve_original"])?;
            match options.flag("preserve_original")? {
                true => "folded_beside".into(),
                false => "ascii_folding".into(),
            }
        }
        "unique" => {
            options.only(&["only_on_same_position"])?;
            match options.flag("only_on_same_position")? {
                true => "remove_duplicates".into(),
                false => "unique".into(),
            }
        }
        "trim" | "porter_stem" => {
            options.only(&[])?;
            kind.into()
        }
        "german_normalization" => {
            options.only(&[])?;
            json!({"type": "stemmer", "language": kind})
        }
        "snowball" | "stemmer" => stemmer(&kind, &options)?,
        "stop" => {
            options.only(&["stopwords", "ignore_case", "remove_trailing"])?;
            json!({
                "type": "stop", "ignore_case": options.flag("ignore_case")?,
                "stopwords": named_words(&options)?,
            })
        }
        "length" => {
            options.only(&["min", "max"])?;
            let most = i32::MAX as u64;
            json!({"type": "length", "min": options.number("min", 0)?, "max": options.number("max", most)?.min(most)})
        }
        "ngram" | "nGram" => grams("ngram", &options, 2)?,
        "edge_ngram" | "edgeNGram" => {
            grams("edge_ngram", &options, if own.is_some() { 2 } else { 1 })?
        }
        other => match words::resolve(other, &options)? {
            Some(filter) => filter,
            None => {
                return Err(MappingError::illegal(format!(
                    "the filter [{other}] of {what} is not supported: there are lowercase, asciifolding, trim, unique, \
                     stop, keep, length, limit, truncate, reverse, uppercase, elision, apostrophe, pattern_replace, remove_duplicates, ngram, edge_ngram, shingle, synonym, synonym_graph, \
                     word_delimiter_graph, stemmer, snowball, porter_stem, german_normalization, keyword_marker, keyword_repeat and stemmer_override"
                )));
            }
        },
    }))
}

fn grams(kind: &str, options: &PartOptions<'_>, max: u64) -> Result<Value> {
    options.only(&["min_gram", "max_gram", "preserve_original", "side"])?;
    if options.text("side").is_some_and(|side| side != "front") {
        return Err(options.wrong("side", "can only be front here"));
    }
    let (min, max) = options.lengths(1, max)?;
    Ok(json!({
        "type": kind, "min_gram": min, "max_gram": max,
        "preserve_original": options.flag("preserve_original")?,
    }))
}

fn stemmer(kind: &str, options: &PartOptions<'_>) -> Result<Value> {
    options.only(&["language", "name"])?;
    let language = options.text("language").or(options.text("name"));
    let language = language.unwrap_or("english").to_lowercase();
    match languages::stemmer(kind, &language) {
        Some(own) => Ok(json!({"type": "stemmer", "language": own})),
        None => {
            let problem = format!(
                "is [{language}], whose stemmer is not supported: there are english, porter, porter2, possessive_english, \
                 light_german, light_french, light_spanish, light_italian, light_portuguese, russian, swedish, danish, \
                 norwegian and dutch"
            );
            Err(options.wrong("language", &problem))
        }
    }
}

fn named_words(options: &PartOptions<'_>) -> Result<Vec<String>> {
    let words = match options.get("stopwords") {
        None => vec!["_english_".to_owned()],
        Some(given) => stop_words(given),
    };
    expand_words(&options.what, words)
}
