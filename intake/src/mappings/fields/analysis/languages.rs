//! Analyzers of languages: the words that each leaves out, and the filters that each consists of. Words are written into the
//! index config, so that searches need no lists.

use serde_json::{Map, Value, json};

use super::parts::list_of;
use crate::mappings::settings::Settings;

/// A language with an analyzer of its own.
struct Language {
    /// Name of its analyzer.
    name: &'static str,
    /// Words that are left out.
    stop_words: &'static str,
    /// Articles with an apostrophe; the usual ones are French.
    articles: Option<&'static str>,
    /// Reductions of words, in order.
    stems: &'static [&'static str],
}

const ITALIAN_ARTICLES: &str =
    "c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d";

const LANGUAGES: [Language; 10] = [
    Language {
        name: "danish",
        stop_words: include_str!("stopwords/danish.txt"),
        articles: None,
        stems: &["danish"],
    },
    Language {
        name: "dutch",
        stop_words: include_str!("stopwords/dutch.txt"),
        articles: None,
        stems: &["dutch"],
    },
    Language {
        name: "french",
        stop_words: include_str!("stopwords/french.txt"),
        articles: Some(""),
        stems: &["light_french"],
    },
    Language {
        name: "german",
        stop_words: include_str!("stopwords/german.txt"),
        articles: None,
        stems: &["german_normalization", "light_german"],
    },
    Language {
        name: "italian",
        stop_words: include_str!("stopwords/italian.txt"),
        articles: Some(ITALIAN_ARTICLES),
        stems: &["light_italian"],
    },
    Language {
        name: "norwegian",
        stop_words: include_str!("stopwords/norwegian.txt"),
        articles: None,
        stems: &["norwegian"],
    },
    Language {
        name: "portuguese",
        stop_words: include_str!("stopwords/portuguese.txt"),
        articles: None,
        stems: &["light_portuguese"],
    },
    Language {
        name: "russian",
        stop_words: include_str!("stopwords/russian.txt"),
        articles: None,
        stems: &["russian"],
    },
    Language {
        name: "spanish",
        stop_words: include_str!("stopwords/spanish.txt"),
        articles: None,
        stems: &["light_spanish"],
    },
    Language {
        name: "swedish",
        stop_words: include_str!("stopwords/swedish.txt"),
        articles: None,
        stems: &["swedish"],
    },
];

/// Dutch words with a stem of their own in Elasticsearch's analyzer.
const DUTCH_STEMS: [&str; 4] = [
    "fiets => fiets",
    "bromfiets => bromfiets",
    "ei => eier",
    "kind => kinder",
];

/// Analyzer that fields may name without defining it, besides those of languages.
const SNOWBALL: &str = "snowball";

/// Returns the names of the analyzers of languages.
pub(super) fn names() -> Vec<&'static str> {
    LANGUAGES.iter().map(|language| language.name).collect()
}

/// Returns whether a name is that of an analyzer of a language.
pub(super) fn is_analyzer(name: &str) -> bool {
    name == SNOWBALL || LANGUAGES.iter().any(|language| language.name == name)
}

/// Returns the words that a name such as `_german_` stands for.
pub(super) fn stop_words(name: &str) -> Option<Vec<String>> {
    let name = name.strip_prefix('_')?.strip_suffix('_')?;
    let language = LANGUAGES.iter().find(|language| language.name == name)?;
    Some(language.stop_words.lines().map(str::to_owned).collect())
}

/// Returns the language of a stemmer in a config for one of Elasticsearch's.
pub(super) fn stemmer(kind: &str, language: &str) -> Option<&'static str> {
    Some(match (kind, language) {
        ("snowball", "english") => "porter2",
        ("snowball", "porter") | ("stemmer", "english" | "porter") => "english",
        ("stemmer", "porter2") => "porter2",
        ("stemmer", "possessive_english") => "possessive_english",
        ("stemmer", "light_german" | "german_light") => "light_german",
        ("stemmer", "light_french" | "french_light") => "light_french",
        ("stemmer", "light_spanish" | "spanish_light") => "light_spanish",
        ("stemmer", "light_italian" | "italian_light") => "light_italian",
        ("stemmer", "light_portuguese" | "portuguese_light") => "light_portuguese",
        (_, "russian") => "russian",
        (_, "swedish") => "swedish",
        (_, "danish") => "danish",
        (_, "norwegian") => "norwegian",
        (_, "dutch") => "dutch",
        _ => return None,
    })
}

/// Returns the tokenizer of a config for the analyzer of a language, whose words and exceptions may be given.
pub(super) fn analyzer(kind: &str, words: Option<Vec<String>>, unchanged: &[String]) -> Value {
    let language = LANGUAGES.iter().find(|language| language.name == kind);
    let Some(language) = language else {
        let words = words.unwrap_or_else(|| vec!["_english_".to_owned()]);
        return json!({"type": "standard", "filters": ["lower_caser", stop(&words), "snowball"]});
    };
    let mut filters: Vec<Value> = Vec::new();
    if let Some(articles) = language.articles {
        let articles: Vec<&str> = articles.split_whitespace().collect();
        filters.push(match articles.is_empty() {
            true => json!({"type": "elision"}),
            false => json!({"type": "elision", "articles": articles}),
        });
    }
    filters.push("lower_caser".into());
    let usual = || language.stop_words.lines().map(str::to_owned).collect();
    filters.push(stop(&words.unwrap_or_else(usual)));
    for stem in language.stems {
        let mut overrides: Vec<String> = unchanged
            .iter()
            .map(|word| format!("{word} => {word}"))
            .collect();
        if kind == "dutch" {
            overrides.extend(DUTCH_STEMS.map(str::to_owned));
        }
        // The letters of all words are normalized, whatever their stems.
        let is_stem = *stem != "german_normalization" && !overrides.is_empty();
        filters.push(match is_stem {
            true => json!({"type": "stemmer", "language": stem, "overrides": overrides}),
            false => json!({"type": "stemmer", "language": stem}),
        });
    }
    json!({"type": "standard", "filters": filters})
}

fn stop(words: &[String]) -> Value {
    json!({"type": "stop", "stopwords": words})
}

/// Adds to the settings of an index the analyzers of languages that the fields of a mapping name and that the settings do
/// not define.
pub(in crate::mappings) fn define_named(mapping: &Map<String, Value>, settings: &mut Settings) {
    let mut named = Vec::new();
    for (key, value) in mapping {
        match value {
            Value::String(name) if key.ends_with("analyzer") && is_analyzer(name) => {
                named.push(name.clone());
            }
            Value::Object(inner) => define_named(inner, settings),
            Value::Array(list) => {
                let objects = list.iter().filter_map(Value::as_object);
                objects.for_each(|inner| define_named(inner, settings));
            }
            _ => {}
        }
    }
    for name in named {
        let prefix = format!("analysis.analyzer.{name}.");
        if !settings.keys().any(|key| key.starts_with(&prefix)) {
            settings.insert(format!("{prefix}type"), name.into());
        }
    }
}

/// Returns the words of `stem_exclusion`, which a list or a text with commas has.
pub(super) fn unchanged(definition: &Map<String, Value>) -> Vec<String> {
    let given = list_of(definition.get("stem_exclusion"));
    let words = given.iter().flat_map(|words| words.split(','));
    let words = words.map(|word| word.trim().to_owned());
    words.filter(|word| !word.is_empty()).collect()
}
