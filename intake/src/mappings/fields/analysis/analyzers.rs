//! `analysis` in the settings of an index → tokenizers of its config. Parts that cannot be had are refused by name.
//!
//! ```text
//!   analyzer ──▶ char_filter … ▶ char_filters ┐
//!            ──▶ tokenizer ────▶ cut ─────────┼─▶ doc_mapping.tokenizers
//!            ──▶ filter … ─────▶ filters ─────┘
//! ```

use canter_doc_mapper::IndexConfig;
use serde_json::{Map, Value, json};

use super::chars;
use super::languages;
use super::marks::Marks;
use super::parts::{Parts, list_of, only, resolve_cut, resolve_filter};
use crate::mappings::error::{MappingError, Result};
use crate::mappings::settings::Settings;

/// Prefix of analyzers with the name of one that is built in.
const ANALYZER: &str = "analyzer.";
/// Prefix of normalizers.
const NORMALIZER: &str = "normalizer.";

/// Analyzers of Elasticsearch without options, and their tokenizers.
const BUILT_IN: [(&str, &str); 6] = [
    ("standard", "standard"),
    ("simple", "letters"),
    ("stop", "letters_stop"),
    ("keyword", "raw"),
    ("whitespace", "whitespace"),
    ("english", "english"),
];

/// Normalizers, by their filters: tokenizer of the terms, and normalizer of the column.
const NORMALIZERS: [(&[&str], &str, &str); 5] = [
    (&[], "raw", "raw"),
    (&["lower_caser"], "lowercase", "lowercase"),
    (&["ascii_folding"], "raw_ascii_folding", "ascii_folding"),
    (&["lower_caser", "ascii_folding"], "raw_folded", "folded"),
    (&["ascii_folding", "lower_caser"], "raw_folded", "folded"),
];

/// Analyzers and normalizers of an index.
#[derive(Debug, Default)]
pub(in crate::mappings) struct Analysis {
    /// Entries of `doc_mapping.tokenizers`.
    pub(in crate::mappings) tokenizers: Vec<Value>,
}

impl Analysis {
    /// Reads the settings of an index.
    pub(in crate::mappings) fn of_settings(settings: &Settings) -> Result<Self> {
        let parts = Parts::of(settings)?;
        let mut tokenizers = Vec::new();
        for (name, definition) in parts.kind("analyzer")? {
            let mut entry = analyzer(&parts, name, definition)?;
            entry["name"] = match is_built_in(name) {
                true => format!("{ANALYZER}{name}"),
                false => name.clone(),
            }
            .into();
            tokenizers.push(entry);
        }
        for (name, definition) in parts.kind("normalizer")? {
            let mut entry = normalizer(&parts, name, definition)?;
            entry["name"] = format!("{NORMALIZER}{name}").into();
            tokenizers.push(entry);
        }
        parts.check_grams(&tokenizers)?;
        Ok(Self { tokenizers })
    }

    /// Returns those of an index that exists.
    pub(in crate::mappings) fn of_config(config: &IndexConfig) -> Self {
        let tokenizers = serde_json::to_value(&config.doc_mapping.tokenizers);
        let tokenizers = tokenizers.ok().and_then(|list| list.as_array().cloned());
        Self {
            tokenizers: tokenizers.unwrap_or_default(),
        }
    }

    /// Returns the tokenizer of texts without an analyzer.
    pub(in crate::mappings) fn of_texts(&self) -> String {
        let default = self.own("default").map(|(name, _)| name.to_owned());
        default.unwrap_or_else(|| "standard".to_owned())
    }

    /// Returns the tokenizer of queries for such texts, if it is another.
    pub(super) fn of_queries(&self) -> Option<String> {
        self.own("default_search").map(|(name, _)| name.to_owned())
    }

    /// Returns the tokenizer that an analyzer is.
    pub(super) fn analyzer(&self, name: &str) -> Option<String> {
        if let Some((own, _)) = self.own(name) {
            return Some(own.to_owned());
        }
        if name == "default" {
            return Some(self.of_texts());
        }
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        found.map(|(_, tokenizer)| (*tokenizer).to_owned())
    }

    /// Returns the tokenizer of the terms, and the normalizer of the column, that a normalizer is.
    pub(super) fn normalizer(&self, name: &str) -> Option<(&'static str, &'static str)> {
        let filters = match self.entry(&format!("{NORMALIZER}{name}")) {
            Some(entry) => list_of(entry.get("filters")),
            None if name == "lowercase" => vec!["lower_caser".to_owned()],
            None => return None,
        };
        let found = NORMALIZERS.iter().find(|(of, ..)| filters == *of);
        found.map(|(_, tokenizer, column)| (*tokenizer, *column))
    }

    /// Returns the normalizer of a column that has the only word of a text as this tokenizer makes it, if it makes one word
    /// of a text.
    pub(in crate::mappings) fn normalizer_of_words(&self, tokenizer: &str) -> Option<&'static str> {
        let entry = self.entry(tokenizer)?;
        if entry["type"] != "keyword" || entry.get("char_filters").is_some() {
            return None;
        }
        let filters = list_of(entry.get("filters"));
        let is_named = entry["filters"].as_array().map(Vec::len) == Some(filters.len());
        let found = NORMALIZERS
            .iter()
            .find(|(of, ..)| is_named && filters == *of);
        found.map(|(_, _, column)| *column)
    }

    /// Returns the names of the analyzers that fields may have.
    pub(super) fn names(&self) -> String {
        let own = self
            .tokenizers
            .iter()
            .filter_map(|entry| entry["name"].as_str());
        let own = own.filter(|name| !name.starts_with(NORMALIZER));
        let own = own.map(|name| name.strip_prefix(ANALYZER).unwrap_or(name));
        let mut names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        names.extend(languages::names());
        names.extend(own.filter(|name| !is_built_in(name)));
        names.join(", ")
    }

    fn own(&self, name: &str) -> Option<(&str, &Value)> {
        let wanted = [format!("{ANALYZER}{name}"), name.to_owned()];
        let found = wanted.iter().find_map(|name| self.entry(name))?;
        Some((found["name"].as_str()?, found))
    }

    fn entry(&self, name: &str) -> Option<&Value> {
        self.tokenizers.iter().find(|entry| entry["name"] == name)
    }
}

/// Returns the parts of an analyzer that a request to analyze texts puts together, as an index config has them; `None` if it
/// names none, or some that cannot be had. With `is_global`, it may name the analyzer of a language.
#[must_use]
pub fn analyzer_parts(body: &Map<String, Value>, is_global: bool) -> Option<Map<String, Value>> {
    let has = |key: &str| body.get(key).is_some_and(|value| !value.is_null());
    let has_parts = has("tokenizer") || has("filter") || has("char_filter");
    let parts = Parts::of(&Settings::new()).ok()?;
    let mut entry = if has("analyzer") {
        let name = body.get("analyzer")?.as_str()?;
        let is_known = is_global && !has_parts && languages::is_analyzer(name);
        is_known.then(|| languages::analyzer(name, None, &[]))?
    } else if has_parts && !has("field") && !has("normalizer") {
        let mut definition = body.clone();
        definition
            .entry("tokenizer")
            .or_insert_with(|| "keyword".into());
        custom(&parts, "the request", &definition).ok()?
    } else {
        return None;
    };
    let entry = entry.as_object_mut()?;
    let mut found = Map::new();
    for (key, of_config) in [("filter", "filters"), ("char_filter", "char_filters")] {
        let own = entry.shift_remove(of_config);
        found.insert(key.to_owned(), own.unwrap_or_else(|| json!([])));
    }
    found.insert("tokenizer".to_owned(), Value::Object(std::mem::take(entry)));
    Some(found)
}

fn is_built_in(name: &str) -> bool {
    let names = canter_doc_mapper::tokenizers::NAMES;
    names.contains(&name) || BUILT_IN.iter().any(|(known, _)| *known == name)
}

/// Reads an analyzer.
fn analyzer(parts: &Parts, name: &str, definition: &Map<String, Value>) -> Result<Value> {
    let what = format!("analyzer [{name}]");
    let kind = definition.get("type").and_then(Value::as_str);
    let kind = kind.unwrap_or("custom");
    let allowed: &[&str] = match kind {
        "custom" => &[
            "tokenizer",
            "filter",
            "char_filter",
            "position_increment_gap",
            // Clients send it, and Elasticsearch does not read it.
            "language",
        ],
        "standard" | "stop" | "english" => &["stopwords", "max_token_length"],
        "pattern" => &["pattern", "flags", "lowercase", "stopwords"],
        "simple" | "whitespace" | "keyword" => &[],
        "snowball" => &["stopwords", "language"],
        kind if languages::is_analyzer(kind) => &["stopwords", "stem_exclusion"],
        other => {
            return Err(MappingError::illegal(format!(
                "{what} has the type [{other}], which is not supported: it can be custom, standard, simple, whitespace, \
                 keyword, stop, pattern, snowball, english, {}",
                languages::names().join(", ")
            )));
        }
    };
    only(definition, &what, allowed)?;
    if kind == "custom" {
        return custom(parts, &what, definition);
    }
    if languages::is_analyzer(kind) {
        return of_language(&what, kind, definition);
    }
    let stop = || -> Result<Value> {
        let mut filter = json!({"type": "stop"});
        filter["stopwords"] = match definition.get("stopwords") {
            None | Some(Value::Null) if kind == "standard" || kind == "pattern" => json!([]),
            None | Some(Value::Null) => json!(["_english_"]),
            Some(words) => named_words(&what, stop_words(words))?.into(),
        };
        Ok(filter)
    };
    Ok(match kind {
        "standard" => json!({"type": "standard", "filters": ["lower_caser", stop()?]}),
        "simple" => json!({"type": "letter", "filters": ["lower_caser"]}),
        "whitespace" | "keyword" => json!({"type": kind, "filters": []}),
        "stop" => json!({"type": "letter", "filters": ["lower_caser", stop()?]}),
        "english" => json!({"type": "standard", "filters": [
            {"type": "stemmer", "language": "possessive_english"}, "lower_caser", stop()?, "porter_stem",
        ]}),
        _ => {
            let mut given = json!({"type": "pattern"});
            for key in ["pattern", "flags"] {
                if let Some(value) = definition.get(key) {
                    given[key] = value.clone();
                }
            }
            let (mut cut, _) = resolve_cut(parts, &what, &given)?;
            let lowers = definition
                .get("lowercase")
                .is_none_or(|given| given != false && given != "false");
            let mut filters = vec![stop()?];
            if lowers {
                filters.insert(0, "lower_caser".into());
            }
            cut["filters"] = filters.into();
            cut
        }
    })
}

/// Reads the analyzer of a language.
fn of_language(what: &str, kind: &str, definition: &Map<String, Value>) -> Result<Value> {
    let language = definition.get("language").and_then(Value::as_str);
    if language.is_some_and(|language| !language.eq_ignore_ascii_case("english")) {
        return Err(MappingError::illegal(format!(
            "[language] of {what} can only be English: other languages have analyzers of their own, such as german"
        )));
    }
    let words = match definition.get("stopwords") {
        None | Some(Value::Null) => None,
        Some(given) => Some(named_words(what, stop_words(given))?),
    };
    Ok(languages::analyzer(
        kind,
        words,
        &languages::unchanged(definition),
    ))
}

/// Replaces the names of lists among words by the words of these.
///
/// # Errors
/// There is no list of a name.
pub(super) fn named_words(what: &str, words: Vec<String>) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for word in words {
        let is_name = word.len() > 2 && word.starts_with('_') && word.ends_with('_');
        match languages::stop_words(&word) {
            Some(list) => all.extend(list),
            None if is_name && word != "_english_" => {
                return Err(MappingError::illegal(format!(
                    "[stopwords] of {what} has the list [{word}], which is not there: write out its words, or use _english_ \
                     or that of {}",
                    languages::names().join(", ")
                )));
            }
            None => all.push(word),
        }
    }
    Ok(all)
}

/// Returns the words of a list, of a text with commas, or the name of a list.
pub(super) fn stop_words(given: &Value) -> Vec<String> {
    let words = list_of(Some(given)).into_iter();
    let words = words.flat_map(|word| match given {
        Value::String(_) => word.split(',').map(|word| word.trim().to_owned()).collect(),
        _ => vec![word],
    });
    words.filter(|word| word != "_none_").collect()
}

fn custom(parts: &Parts, what: &str, definition: &Map<String, Value>) -> Result<Value> {
    let char_filters = chars::resolve_all(parts, what, definition)?;
    let Some(tokenizer) = definition.get("tokenizer") else {
        return Err(MappingError::illegal(format!(
            "{what} of type [custom] has no [tokenizer]"
        )));
    };
    let (mut entry, first) = resolve_cut(parts, what, tokenizer)?;
    let mut filters: Vec<Value> = first.into_iter().collect();
    let mut marks = Marks::default();
    for filter in list(definition.get("filter")) {
        if !marks.take(parts, what, &filter)? {
            let filter = resolve_filter(parts, what, &filter)?;
            filters.extend(filter.map(|filter| marks.applied_to(filter)));
        }
    }
    marks.check_used(what)?;
    entry["filters"] = filters.into();
    if !char_filters.is_empty() {
        entry["char_filters"] = char_filters.into();
    }
    Ok(entry)
}

fn normalizer(parts: &Parts, name: &str, definition: &Map<String, Value>) -> Result<Value> {
    let what = format!("normalizer [{name}]");
    only(definition, &what, &["filter", "char_filter"])?;
    no_char_filters(&what, definition)?;
    let mut filters = Vec::new();
    for filter in list(definition.get("filter")) {
        filters.extend(resolve_filter(parts, &what, &filter)?);
    }
    let names = list_of(Some(&filters.clone().into()));
    let is_known = names.len() == filters.len() && NORMALIZERS.iter().any(|(of, ..)| names == *of);
    match is_known {
        true => Ok(json!({"type": "keyword", "filters": filters})),
        false => Err(MappingError::illegal(format!(
            "{what} is not supported: its filters can be lowercase and asciifolding, each once"
        ))),
    }
}

fn no_char_filters(what: &str, definition: &Map<String, Value>) -> Result<()> {
    match list_of(definition.get("char_filter")).first() {
        None => Ok(()),
        Some(filter) => Err(MappingError::illegal(format!(
            "{what} has the char filter [{filter}], which only analyzers can have here"
        ))),
    }
}

/// Returns the entries of a list, which may be a single one.
fn list(given: Option<&Value>) -> Vec<Value> {
    match given {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.clone(),
        Some(one) => vec![one.clone()],
    }
}
