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

    /// Returns the names of the analyzers that fields may have.
    pub(super) fn names(&self) -> String {
        let own = self
            .tokenizers
            .iter()
            .filter_map(|entry| entry["name"].as_str());
        let own = own.filter(|name| !name.starts_with(NORMALIZER));
        let own = own.map(|name| name.strip_prefix(ANALYZER).unwrap_or(name));
        let mut names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
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
        other => {
            return Err(MappingError::illegal(format!(
                "{what} has the type [{other}], which is not supported: it can be custom, standard, simple, whitespace, \
                 keyword, stop, pattern or english"
            )));
        }
    };
    only(definition, &what, allowed)?;
    if kind == "custom" {
        return custom(parts, &what, definition);
    }
    let stop = || -> Result<Value> {
        let mut filter = json!({"type": "stop"});
        filter["stopwords"] = match definition.get("stopwords") {
            None | Some(Value::Null) if kind == "standard" || kind == "pattern" => json!([]),
            None | Some(Value::Null) => json!(["_english_"]),
            Some(words) => stop_words(words).into(),
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
    for filter in list(definition.get("filter")) {
        filters.extend(resolve_filter(parts, what, &filter)?);
    }
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
