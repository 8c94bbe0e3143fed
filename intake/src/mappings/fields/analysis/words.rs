//! Filters that look at several tokens or make several of one: synonyms, shingles, parts of words.

use serde_json::{Value, json};

use super::chars::pattern_of;
use super::parts::{PartOptions, list_of};
use crate::mappings::error::Result;

/// Options of `word_delimiter_graph` that are true or false.
const FLAGS: [(&str, bool); 9] = [
    ("generate_word_parts", true),
    ("generate_number_parts", true),
    ("catenate_words", false),
    ("catenate_numbers", false),
    ("catenate_all", false),
    ("preserve_original", false),
    ("split_on_case_change", true),
    ("split_on_numerics", true),
    ("stem_english_possessive", true),
];

/// Returns the filter of a config for one of these kinds; `None` for other kinds.
pub(super) fn resolve(kind: &str, options: &PartOptions<'_>) -> Result<Option<Value>> {
    Ok(Some(match kind {
        "synonym" | "synonym_graph" => synonyms(kind, options)?,
        "shingle" => shingles(options)?,
        "word_delimiter" | "word_delimiter_graph" => delimiter(kind, options)?,
        "reverse" | "uppercase" | "apostrophe" | "remove_duplicates" => {
            options.only(&[])?;
            kind.into()
        }
        "keep" => {
            options.only(&["keep_words", "keep_words_case"])?;
            let words = list_of(options.get("keep_words"));
            if words.is_empty() {
                return Err(options.wrong("keep_words", "is a list of words"));
            }
            json!({"type": kind, "keep_words": words, "ignore_case": options.flag("keep_words_case")?})
        }
        "elision" => {
            options.only(&["articles", "articles_case"])?;
            match options.get("articles") {
                None => json!({"type": kind}),
                Some(articles) if options.flag("articles_case")? => {
                    json!({"type": kind, "articles": list_of(Some(articles))})
                }
                Some(_) => {
                    return Err(options.wrong("articles_case", "can only be true here"));
                }
            }
        }
        "pattern_replace" => {
            options.only(&["pattern", "replacement", "all", "flags"])?;
            if options.get("all").is_some() && !options.flag("all")? {
                return Err(options.wrong("all", "can only be true here"));
            }
            json!({
                "type": kind, "pattern": pattern_of(options)?,
                "replacement": options.text("replacement").unwrap_or_default(),
            })
        }
        "truncate" => {
            options.only(&["length"])?;
            json!({"type": kind, "length": options.number("length", 10)?})
        }
        "limit" => {
            options.only(&["max_token_count", "consume_all_tokens"])?;
            json!({"type": kind, "max_token_count": options.number("max_token_count", 1)?})
        }
        _ => return Ok(None),
    }))
}

fn synonyms(kind: &str, options: &PartOptions<'_>) -> Result<Value> {
    for key in ["synonyms_path", "synonyms_set"] {
        if options.get(key).is_some() {
            return Err(options.wrong(
                key,
                "is not supported: write the rules into the list [synonyms]",
            ));
        }
    }
    options.only(&["synonyms", "expand", "lenient", "format", "updateable"])?;
    if options
        .text("format")
        .is_some_and(|format| format != "solr")
    {
        return Err(options.wrong("format", "can only be solr here"));
    }
    // Lists cannot change here, so they need not be read again.
    options.flag("updateable")?;
    let rules = match options.get("synonyms") {
        Some(given) => list_of(Some(given)),
        None => return Err(options.wrong("synonyms", "is missing: it is a list of rules")),
    };
    let expands = options.get("expand").is_none() || options.flag("expand")?;
    Ok(json!({
        "type": kind, "synonyms": rules, "expand": expands, "lenient": options.flag("lenient")?,
    }))
}

fn shingles(options: &PartOptions<'_>) -> Result<Value> {
    options.only(&[
        "min_shingle_size",
        "max_shingle_size",
        "output_unigrams",
        "output_unigrams_if_no_shingles",
        "token_separator",
        "filler_token",
    ])?;
    let min = options.number("min_shingle_size", 2)?;
    let max = options.number("max_shingle_size", 2)?;
    let has_words = options.get("output_unigrams").is_none() || options.flag("output_unigrams")?;
    Ok(json!({
        "type": "shingle", "min_shingle_size": min, "max_shingle_size": max, "output_unigrams": has_words,
        "output_unigrams_if_no_shingles": options.flag("output_unigrams_if_no_shingles")?,
        "token_separator": options.text("token_separator").unwrap_or(" "),
        "filler_token": options.text("filler_token").unwrap_or("_"),
    }))
}

fn delimiter(kind: &str, options: &PartOptions<'_>) -> Result<Value> {
    let mut known: Vec<&str> = FLAGS.iter().map(|(name, _)| *name).collect();
    known.extend(["protected_words", "adjust_offsets"]);
    options.only(&known)?;
    let mut filter = json!({"type": "word_delimiter_graph"});
    for (name, default) in FLAGS {
        let flag = match options.get(name) {
            None => default,
            Some(_) => options.flag(name)?,
        };
        // Both filters differ in where joined words stand.
        if flag && kind == "word_delimiter" && name.starts_with("catenate") {
            return Err(options.wrong(name, "is not supported: use word_delimiter_graph"));
        }
        filter[name] = flag.into();
    }
    filter["protected_words"] = list_of(options.get("protected_words")).into();
    Ok(filter)
}
