//! Tokenizers, strategies, variants and `concatenate`.

use serde_json::json;

use super::*;

fn mapping(mapping: serde_json::Value) -> Result<IndexConfig, ConfigError> {
    let config = json!({ "version": "0.9", "index_id": "test", "doc_mapping": mapping });
    IndexConfig::from_json(config.to_string().as_bytes())
}

fn fields(fields: serde_json::Value) -> Result<IndexConfig, ConfigError> {
    mapping(json!({ "mode": "lenient", "field_mappings": fields }))
}

/// Reads a config, serializes it, and checks that reading it again gives the same.
#[track_caller]
fn read(doc_mapping: serde_json::Value) -> IndexConfig {
    let config = mapping(doc_mapping).unwrap();
    let canonical = config.to_canonical_json().unwrap();
    assert_eq!(IndexConfig::from_json(&canonical).unwrap(), config);
    // As stored in a manifest, where keys have no order.
    let value: serde_json::Value = serde_json::from_slice(&canonical).unwrap();
    assert_eq!(
        serde_json::from_value::<IndexConfig>(value).unwrap(),
        config
    );
    config
}

#[test]
fn tokenizers_are_read_as_quickwit_writes_them() {
    let config = read(json!({
        "tokenizers": [
            { "name": "grams", "type": "ngram", "min_gram": 2, "max_gram": 3,
              "filters": ["remove_long", "lower_caser", "ascii_folding"] },
            { "name": "words", "type": "regex", "pattern": r"[\w.]+" },
            { "name": "code", "type": "source_code", "filters": ["lower_caser"] },
            { "name": "plain", "type": "simple" },
        ],
        "field_mappings": [
            { "name": "a", "type": "text", "tokenizer": "grams" },
            { "name": "j", "type": "json", "tokenizer": "code" },
        ],
        "dynamic_mapping": { "tokenizer": "words" },
    }));
    let tokenizers = &config.doc_mapping.tokenizers;
    let names: Vec<&str> = tokenizers.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["grams", "words", "code", "plain"]);
    let ngram = TokenizerCut::Ngram {
        min_gram: 2,
        max_gram: 3,
        prefix_only: false,
    };
    assert_eq!(tokenizers[0].cut, ngram);
    assert_eq!(tokenizers[0].filters.len(), 3);
}

#[test]
fn grams_of_too_many_lengths_are_refused_where_they_are_written_and_not_in_an_index() {
    let config = |tokenizer: serde_json::Value, settings: serde_json::Value| {
        let config = json!({
            "version": "0.8",
            "index_id": "abc",
            "doc_mapping": { "tokenizers": [tokenizer] },
            "indexing_settings": settings,
        });
        config.to_string()
    };
    let grams = |min: u32, max: u32, prefix_only: bool| json!({ "name": "x", "type": "ngram", "min_gram": min, "max_gram": max, "prefix_only": prefix_only });
    let written = |text: &str| IndexConfig::from_json(text.as_bytes());
    let all = config(grams(1, 100, false), json!({}));
    let refused = written(&all).unwrap_err();
    assert_eq!(refused.key_path, "doc_mapping.tokenizers[0].max_gram");
    assert_eq!(
        refused.message,
        "tokenizer \"x\" makes 100 grams of each character: \"max_gram\" may be \"min_gram\" and 4 more; bring them \
         nearer, or set \"max_ngram_diff\" in \"indexing_settings\" to 99"
    );
    assert!(written(&config(grams(2, 7, false), json!({}))).is_err());
    assert!(written(&config(grams(3, 7, false), json!({}))).is_ok());
    // Grams of the whole value, not from each character.
    assert!(written(&config(grams(1, 20, true), json!({}))).is_ok());
    let raised = written(&config(
        grams(1, 100, false),
        json!({ "max_ngram_diff": 99 }),
    ))
    .unwrap();
    // An existing index stays readable, and its config gains no keys.
    let there: IndexConfig = serde_json::from_str(&all).unwrap();
    let canonical = String::from_utf8(there.to_canonical_json().unwrap()).unwrap();
    let says = ["max_ngram_diff", "max_doc_term"].map(|key| canonical.contains(key));
    assert_eq!(says, [false, false], "{canonical}");
    let canonical = raised.to_canonical_json().unwrap();
    assert_eq!(IndexConfig::from_json(&canonical).unwrap(), raised);
}

#[test]
fn limits_of_terms_are_read_and_have_bounds() {
    let settings = |settings: &str| {
        load(&format!(
            "version: 0.8\nindex_id: abc\nindexing_settings: {settings}\n"
        ))
    };
    let limits = settings("{max_doc_terms: 5, max_doc_term_bytes: 1MB}").unwrap();
    let limits = limits.indexing_settings.term_limits;
    assert_eq!(
        (limits.max_doc_terms, limits.max_doc_term_bytes),
        (5, 1_000_000)
    );
    for (wrong, expect) in [
        (
            "{max_doc_terms: 0}",
            "\"max_doc_terms\" must be an integer from 1 to 20000000",
        ),
        (
            "{max_doc_term_bytes: 1GB}",
            "must be between 1 and 536870912 bytes, got 1000000000",
        ),
        (
            "{max_doc_term_bytes: 0}",
            "must be between 1 and 536870912 bytes, got 0",
        ),
        (
            "{max_ngram_diff: 100}",
            "\"max_ngram_diff\" must be an integer from 0 to 99",
        ),
    ] {
        let error = settings(wrong).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

#[test]
fn tokenizers_that_cannot_be_are_refused() {
    let check = |tokenizer: serde_json::Value, expect: &str| {
        let refused = mapping(json!({ "tokenizers": [tokenizer] })).unwrap_err();
        assert_eq!(refused.message, expect);
    };
    check(
        json!({ "name": "x", "type": "chinese" }),
        r#""type" in tokenizer "x" must be one of simple, source_code, ngram, regex, whitespace, keyword, standard, letter, grams, path_hierarchy; got "chinese""#,
    );
    check(
        json!({ "name": "x", "type": "ngram", "min_gram": 2 }),
        r#"tokenizer "x" needs the key "max_gram""#,
    );
    check(
        json!({ "name": "x", "type": "ngram", "min_gram": 0, "max_gram": 3 }),
        r#""min_gram" must be an integer from 1 to 100, got the number 0"#,
    );
    check(
        json!({ "name": "x", "type": "ngram", "min_gram": 4, "max_gram": 3 }),
        r#"tokenizer "x": "min_gram" is 4, and must not be greater than "max_gram", which is 3"#,
    );
    check(
        json!({ "name": "x", "type": "regex" }),
        r#"tokenizer "x" needs the key "pattern""#,
    );
    check(
        json!({ "name": "x", "type": "regex", "pattern": "a*" }),
        r#"the pattern of tokenizer "x" matches the empty text, and tokens end where it does: write + in place of *"#,
    );
    check(
        json!({ "name": "x", "type": "regex", "pattern": "a".repeat(1_001) }),
        r#"the pattern of tokenizer "x" has 1001 bytes; at most 1000 are allowed"#,
    );
    check(
        json!({ "name": "x", "type": "simple", "pattern": "a" }),
        r#"unknown key "pattern" in tokenizer "x"; allowed: name, type, char_filters, filters"#,
    );
    check(
        json!({ "name": "x", "type": "simple", "filters": ["stem"] }),
        r#"a filter in tokenizer "x" must be one of remove_long, lower_caser, ascii_folding, lowercase, asciifolding, trim, unique, log_pattern, porter_stem, snowball, reverse, folded_beside, uppercase, apostrophe, remove_duplicates, or one with options (keep, elision, pattern_replace, synonym, synonym_graph, shingle, word_delimiter_graph, truncate, limit, stop, length, stemmer, ngram, edge_ngram); got the string "stem""#,
    );
    check(
        json!({ "name": "raw", "type": "simple" }),
        r#"the tokenizer "raw" is built in: give yours another name"#,
    );
    let too_large = json!({ "name": "x", "type": "regex", "pattern": r"\w{900}{900}" });
    let refused = mapping(json!({ "tokenizers": [too_large] })).unwrap_err();
    assert!(refused.message.contains("cannot be used"), "{refused}");
    let twice = json!({ "name": "x", "type": "simple" });
    let refused = mapping(json!({ "tokenizers": [twice, twice] })).unwrap_err();
    assert_eq!(refused.message, r#"the tokenizer "x" is defined twice"#);
    assert_eq!(refused.key_path, "doc_mapping.tokenizers[1].name");
    let refused = fields(json!([{ "name": "a", "type": "text", "tokenizer": "grams" }]));
    assert_eq!(
        refused.unwrap_err().message,
        "\"tokenizer\" in field mapping \"a\" must be one of raw, lowercase, raw_lowercase, default, en_stem, \
         whitespace, chinese_compatible, source_code_default, standard, letters, letters_stop, level, english, \
         raw_ascii_folding, raw_folded; got \"grams\""
    );
}

#[test]
fn strategies_are_short_for_options() {
    let check = |short: serde_json::Value, long: serde_json::Value| {
        let read = |field: serde_json::Value| read(json!({ "field_mappings": [field] }));
        assert_eq!(read(short), read(long));
    };
    check(
        json!({ "name": "a", "type": "text", "strategy": "term" }),
        json!({ "name": "a", "type": "text", "tokenizer": "raw" }),
    );
    check(
        json!({ "name": "a", "type": "text", "strategy": "fulltext", "tokenizer": "en_stem" }),
        json!({ "name": "a", "type": "text", "tokenizer": "en_stem", "record": "position" }),
    );
    check(
        json!({ "name": "a", "type": "array<text>", "strategy": ["fulltext", "term"] }),
        json!({ "name": "a", "type": "array<text>", "record": "position",
            "fields": { "term": { "tokenizer": "raw" } } }),
    );
    check(
        json!({ "name": "a", "type": "u64", "strategy": "term" }),
        json!({ "name": "a", "type": "u64" }),
    );
    let none = read(json!({ "field_mappings": [
        { "name": "a", "type": "text", "strategy": "none" },
        { "name": "d", "type": "datetime", "strategy": ["none"], "fast": true },
        { "name": "j", "type": "json", "strategy": "none", "tokenizer": "default" },
    ], "dynamic_mapping": { "strategy": "none" } }));
    for field in &none.doc_mapping.field_mappings {
        assert_eq!((field.indexed, field.scanned), (false, true));
    }
    assert!(none.doc_mapping.dynamic_mapping.unwrap().scanned);
}

#[test]
fn words_in_values_need_values_and_words() {
    let written = json!([
        { "name": "a", "type": "array<text>", "strategy": "values", "fast": true },
        { "name": "b", "type": "text", "tokenizer": "lowercase" },
        { "name": "c", "type": "text", "indexed": false, "fast": true },
        { "name": "all", "type": "concatenate", "concatenate_fields": ["a", "b", "c"], "strategy": "values" },
    ]);
    // What is written is read again as it was.
    let read = read(json!({ "field_mappings": written }))
        .doc_mapping
        .field_mappings;
    assert!(read[0].by_values && read[3].by_values && !read[1].by_values);
    let check = |fields_of: serde_json::Value, expect: &str| {
        let message = fields(fields_of).unwrap_err().message;
        assert!(message.contains(expect), "{message}");
    };
    for (options, expect) in [
        (
            json!({ "tokenizer": "raw" }),
            "the tokenizer must cut words",
        ),
        (json!({ "ignore_above": 10 }), "would leave words out"),
        (
            json!({ "needle": true }),
            r#""needle" is not for the strategy values"#,
        ),
        (
            json!({ "fieldnorms": true }),
            r#""fieldnorms" is not for the strategy values"#,
        ),
        (
            json!({ "strategy": ["values", "term"] }),
            "the strategy values stands alone",
        ),
        (json!({ "type": "json" }), "for text and concatenate only"),
    ] {
        let mut field = json!({ "name": "a", "type": "text", "strategy": "values" });
        let own = options.as_object().unwrap().clone();
        field.as_object_mut().unwrap().extend(own);
        check(json!([field]), expect);
    }
    let of = |field: serde_json::Value| json!([field, { "name": "all", "type": "concatenate", "concatenate_fields": ["a"], "strategy": "values" }]);
    check(
        of(json!({ "name": "a", "type": "text" })),
        "is no text with the tokenizer",
    );
    check(
        of(json!({ "name": "a", "type": "u64" })),
        "is no text with the tokenizer",
    );
    check(
        json!([{ "name": "b", "type": "text", "tokenizer": "raw" },
            { "name": "all", "type": "concatenate", "concatenate_fields": ["b"], "strategy": "term" }]),
        "a concatenation has no strategy but values",
    );
}

#[test]
fn strategies_that_contradict_are_refused() {
    let check = |field: serde_json::Value, expect: &str| {
        assert_eq!(fields(json!([field])).unwrap_err().message, expect);
    };
    check(
        json!({ "name": "a", "type": "text", "strategy": "all" }),
        r#""strategy" in field mapping "a" must be none, term, fulltext, values, or a list of these; got "all""#,
    );
    check(
        json!({ "name": "a", "type": "text", "strategy": "none", "indexed": true }),
        r#"field mapping "a": "strategy" says whether it is indexed: leave out "indexed""#,
    );
    check(
        json!({ "name": "a", "type": "text", "strategy": "none", "stored": false }),
        r#"field mapping "a": the strategy none looks through stored documents: leave out "stored: false""#,
    );
    check(
        json!({ "name": "a", "type": "text", "strategy": ["none", "term"] }),
        r#"field mapping "a": the strategy none stands alone: with another there is nothing to look through"#,
    );
    check(
        json!({ "name": "a", "type": "u64", "strategy": "fulltext" }),
        r#"field mapping "a": the strategy fulltext is for text and json only"#,
    );
    check(
        json!({ "name": "a", "type": "json", "strategy": ["term", "fulltext"] }),
        r#"field mapping "a": several strategies are for text only"#,
    );
    check(
        json!({ "name": "a", "type": "text", "strategy": ["fulltext", "term"],
            "fields": { "term": { "tokenizer": "raw" } } }),
        r#"field mapping "a": "fields" and "strategy" both make "term""#,
    );
    check(
        json!({ "name": "a", "type": "text", "fields": { "b.c": { "tokenizer": "raw" } } }),
        "\"b.c\" in field mapping \"a\" is no name for a way of indexing it: 1 to 255 ASCII letters, digits, _ and -",
    );
    check(
        json!({ "name": "a", "type": "text", "fields": { "b": {} } }),
        r#""b" of field mapping "a" needs the key "tokenizer""#,
    );
    let refused = fields(json!([
        { "name": "a", "type": "text", "fields": { "b": { "tokenizer": "raw" } } },
        { "name": "a.b", "type": "text" },
    ]));
    assert_eq!(
        refused.unwrap_err().message,
        r#"field mapping "a": "a.b" is a field of its own: call this way of indexing it something else"#
    );
}

#[test]
fn concatenations_that_cannot_be_are_refused() {
    let check = |concatenate: serde_json::Value, expect: &str| {
        let mut field = json!({ "name": "all", "type": "concatenate" });
        field
            .as_object_mut()
            .unwrap()
            .extend(concatenate.as_object().unwrap().clone());
        let refused = fields(json!([
            field,
            { "name": "text", "type": "text" },
            { "name": "when", "type": "datetime" },
            { "name": "j", "type": "json" },
            { "name": "o", "type": "object", "field_mappings": [{ "name": "ip", "type": "ip" }] },
            { "name": "other", "type": "concatenate", "concatenate_fields": ["text"] },
        ]));
        let refused = refused.unwrap_err();
        assert_eq!(refused.message, expect);
    };
    check(
        json!({ "concatenate_fields": ["text", "nix"] }),
        r#"field mapping "all" concatenates "nix", which is not in "field_mappings""#,
    );
    check(
        json!({ "concatenate_fields": ["other"] }),
        r#"field mapping "all" cannot concatenate "other", which is itself of the type concatenate"#,
    );
    check(
        json!({ "concatenate_fields": ["when"] }),
        r#"field mapping "all" cannot concatenate "when": only text, i64, u64, f64, bool and json can be, and it is datetime"#,
    );
    check(
        json!({ "concatenate_fields": ["o"] }),
        r#"field mapping "all" cannot concatenate "o.ip": only text, i64, u64, f64, bool and json can be, and it is ip"#,
    );
    check(
        json!({ "concatenate_fields": ["j.a"] }),
        r#"field mapping "all" cannot concatenate "j.a", which is a part of "j": name the whole field"#,
    );
    check(
        json!({ "concatenate_fields": ["text", "text"] }),
        r#"field mapping "all" concatenates "text" twice"#,
    );
    check(
        json!({}),
        r#"field mapping "all" concatenates nothing: name fields in "concatenate_fields""#,
    );
    check(
        json!({ "include_dynamic_fields": true }),
        r#"field mapping "all" has "include_dynamic_fields", which is allowed only with "mode: dynamic""#,
    );
    check(
        json!({ "fast": true }),
        "unknown key \"fast\" in field mapping \"all\"; allowed: name, type, description, concatenate_fields, \
         include_dynamic_fields, strategy, tokenizer, search_tokenizer, record, fieldnorms",
    );
}

#[test]
fn variants_and_concatenations_are_default_search_fields() {
    let config = json!({ "version": "0.9", "index_id": "test",
        "doc_mapping": { "mode": "strict", "field_mappings": [
            { "name": "a", "type": "text", "strategy": ["term", "fulltext"] },
            { "name": "n", "type": "text", "strategy": "none" },
            { "name": "all", "type": "concatenate", "concatenate_fields": ["a"] },
        ] },
        "search_settings": { "default_search_fields": ["a.fulltext", "all", "n"] },
    });
    IndexConfig::from_json(config.to_string().as_bytes()).unwrap();
}

#[test]
fn tokenizers_have_the_parts_of_elasticsearch_s_analyzers() {
    let given = json!({
        "tokenizers": [
            { "name": "autocomplete", "type": "standard",
              "filters": ["lowercase", "asciifolding", { "type": "edge_ngram", "min_gram": 1, "max_gram": 20 }] },
            { "name": "words", "type": "letter", "filters": [
                "lower_caser", { "type": "stop", "stopwords": ["b", "A", "b"], "ignore_case": true },
                { "type": "length", "max": 9 }, { "type": "stemmer", "language": "porter2" }, "unique", "trim" ] },
            { "name": "stopped", "type": "whitespace", "filters": [{ "type": "stop" }, "porter_stem"] },
            { "name": "parts", "type": "grams", "min_gram": 2, "max_gram": 3, "token_chars": ["letter", "digit"] },
            { "name": "whole", "type": "keyword", "filters": [{ "type": "ngram", "min_gram": 2, "max_gram": 2 }] },
        ],
        "field_mappings": [
            { "name": "a", "type": "text", "tokenizer": "autocomplete", "search_tokenizer": "standard",
              "fields": { "b": { "tokenizer": "parts", "search_tokenizer": "raw" } } },
        ],
    });
    let config = read(given);
    let [_, words, stopped, ..] = &config.doc_mapping.tokenizers[..] else {
        panic!("they are five");
    };
    assert_eq!(
        words.filters[1],
        TokenizerFilter::Stop {
            words: vec!["a".to_owned(), "b".to_owned()],
            ignores_case: true
        }
    );
    let TokenizerFilter::Stop { words, .. } = &stopped.filters[0] else {
        panic!("{:?}", stopped.filters);
    };
    assert_eq!(words.len(), 33);
    let canonical = config.to_canonical_json().unwrap();
    assert_eq!(IndexConfig::from_json(&canonical).unwrap(), config);
}

#[test]
fn parts_of_tokenizers_are_checked() {
    let check = |tokenizer: serde_json::Value, expect: &str| {
        let config = json!({ "version": "0.8", "index_id": "abc", "doc_mapping": { "tokenizers": [tokenizer] } });
        let error = IndexConfig::from_json(config.to_string().as_bytes()).unwrap_err();
        assert!(error.message.contains(expect), "{}", error.message);
    };
    let filter =
        |filter: serde_json::Value| json!({ "name": "x", "type": "standard", "filters": [filter] });
    check(filter(json!("kstem")), "\"kstem\"");
    check(filter(json!({ "type": "kstem" })), "\"kstem\"");
    check(
        filter(json!({ "type": "shingle", "min_shingle_size": 3 })),
        "max_shingle_size",
    );
    check(
        filter(json!({ "type": "pattern_replace", "pattern": "(?!a)" })),
        "(?!a)",
    );
    check(
        filter(json!({ "type": "synonym", "synonyms": ["a => b => c"] })),
        "[a => b => c]",
    );
    let chars = |filter: serde_json::Value| json!({ "name": "x", "type": "standard", "char_filters": [filter] });
    check(chars(json!("icu")), "\"icu\"");
    check(
        chars(json!({ "type": "mapping", "mappings": ["a"] })),
        "Invalid Mapping Rule : [a]",
    );
    check(
        chars(json!({ "type": "pattern_replace", "pattern": "a", "replacement": "$1" })),
        "[$1]",
    );
    check(
        json!({ "name": "x", "type": "path_hierarchy", "delimiter": "::" }),
        "one character",
    );
    check(filter(json!({ "type": "stop", "words": [] })), "\"words\"");
    check(
        filter(json!({ "type": "edge_ngram", "min_gram": 3, "max_gram": 2 })),
        "min_gram",
    );
    check(
        filter(json!({ "type": "stemmer", "language": "german" })),
        "porter2",
    );
    check(
        filter(json!({ "type": "ngram", "min_gram": 1, "max_gram": 20 })),
        "max_ngram_diff",
    );
    check(filter(json!(5)), "the number 5");
    check(
        json!({ "name": "x", "type": "grams", "min_gram": 1, "max_gram": 1, "token_chars": ["vowel"] }),
        "vowel",
    );
    check(
        json!({ "name": "x", "type": "grams", "min_gram": 1, "max_gram": 9 }),
        "max_ngram_diff",
    );
    check(
        json!({ "name": "x", "type": "standard", "pattern": "a" }),
        "\"pattern\"",
    );
    check(json!({ "name": "english", "type": "standard" }), "built in");
    let field = json!({ "version": "0.8", "index_id": "abc", "doc_mapping": {
        "field_mappings": [{ "name": "a", "type": "text", "search_tokenizer": "nosuch" }] } });
    let error = IndexConfig::from_json(field.to_string().as_bytes()).unwrap_err();
    assert_eq!(
        error.key_path,
        "doc_mapping.field_mappings[0].search_tokenizer"
    );
}
