//! Tokens of filters that look at several or make several, with the positions that Lucene's have.

use tantivy::tokenizer::TextAnalyzer;

use crate::tokenizers::{CustomTokenizer, length_of};

/// Returns tokens as `text position from-to`, with `+length` behind the position if it is not 1.
fn tokens(definition: &serde_json::Value, text: &str) -> String {
    let mut definition = definition.clone();
    definition["name"] = "mine".into();
    let tokenizer = CustomTokenizer::from_json(&definition).unwrap();
    // As it is written, it is read again.
    let written = serde_json::to_value(&tokenizer).unwrap();
    assert_eq!(CustomTokenizer::from_json(&written).unwrap(), tokenizer);
    let mut analyzer: TextAnalyzer = tokenizer.analyzer().unwrap();
    let mut shown = Vec::new();
    analyzer.token_stream(text).process(&mut |token| {
        let length = match length_of(token) {
            1 => String::new(),
            length => format!("+{length}"),
        };
        shown.push(format!(
            "{} {}{length} {}-{}",
            token.text, token.position, token.offset_from, token.offset_to
        ));
    });
    shown.join(", ")
}

fn with(filter: serde_json::Value) -> serde_json::Value {
    serde_json::json!({"type": "standard", "filters": ["lowercase", filter]})
}

fn synonyms(kind: &str, rules: &[&str]) -> serde_json::Value {
    with(serde_json::json!({"type": kind, "synonyms": rules}))
}

#[test]
fn flat_synonyms_stand_beside_the_words_that_follow() {
    let rules = [
        "laptop, Notebook",
        "quick => fast",
        "# none",
        "dns => domain name system",
        "united states, usa",
    ];
    let flat = synonyms("synonym", &rules);
    assert_eq!(
        tokens(&flat, "Quick laptop"),
        "fast 0 0-5, laptop 1 6-12, notebook 1 6-12"
    );
    assert_eq!(
        tokens(&flat, "dns is fragile"),
        "domain 0 0-3, is 1 4-6, name 1 4-6, fragile 2 7-14, system 2 7-14"
    );
    assert_eq!(
        tokens(&flat, "dns"),
        "domain 0 0-3, name 1 0-3, system 2 0-3"
    );
    assert_eq!(
        tokens(&flat, "the United States now"),
        "the 0 0-3, united 1 4-10, usa 1+2 4-17, states 2 11-17, now 3 18-21"
    );
    assert_eq!(
        tokens(&flat, "usa"),
        "usa 0 0-3, united 0 0-3, states 1 0-3"
    );
    assert_eq!(tokens(&flat, "united"), "united 0 0-6");
    assert_eq!(tokens(&flat, ""), "");
}

#[test]
fn words_of_several_have_places_of_their_own_in_a_graph() {
    let rules = ["nyc, new york, new york city", "pb => peanut butter"];
    let graph = synonyms("synonym_graph", &rules);
    assert_eq!(
        tokens(&graph, "nyc pizza"),
        "new 0 0-3, new 0+2 0-3, nyc 0+4 0-3, york 1+3 0-3, york 2 0-3, city 3 0-3, pizza 4 4-9"
    );
    assert_eq!(
        tokens(&graph, "in New York, pb"),
        "in 0 0-2, nyc 1+4 3-11, new 1 3-11, new 1+3 3-6, york 2 3-11, city 3+2 3-11, york 4 7-11, peanut 5 13-15, butter 6 13-15"
    );
}

#[test]
fn rules_are_cut_as_texts_are() {
    let strip = serde_json::json!({
        "type": "whitespace", "char_filters": [{"type": "mapping", "mappings": ["- =>"]}],
        "filters": ["lowercase", {"type": "synonym", "synonyms": ["Wi-Fi, WLAN", "a\\,b => c\\=>d"], "expand": false}],
    });
    assert_eq!(
        tokens(&strip, "wlan a,b WiFi"),
        "wifi 0 0-4, c=>d 1 5-8, wifi 2 9-13"
    );
    let refused = |filters: serde_json::Value| {
        let definition = serde_json::json!({"name": "x", "type": "standard", "filters": filters});
        CustomTokenizer::from_json(&definition)
            .unwrap_err()
            .to_string()
    };
    let stop = serde_json::json!({"type": "stop", "stopwords": ["the"]});
    let rule = |rule: &str, is_lenient: bool| serde_json::json!({"type": "synonym", "synonyms": [rule], "lenient": is_lenient});
    assert!(refused(serde_json::json!([stop, rule("the, a", false)])).contains("eliminated"));
    assert!(refused(serde_json::json!([stop, rule("of the day, x", false)])).contains("increment"));
    assert!(refused(serde_json::json!([rule("a => b => c", false)])).contains("more than one"));
    let lenient = serde_json::json!({"type": "standard", "filters": [stop, rule("the, a", true)]});
    assert_eq!(tokens(&lenient, "the a"), "a 1 4-5");
}

#[test]
fn shingles_are_neighbours() {
    let shingle = |options: serde_json::Value| {
        let mut filter = options;
        filter["type"] = "shingle".into();
        with(filter)
    };
    assert_eq!(
        tokens(&shingle(serde_json::json!({})), "please divide this"),
        "please 0 0-6, please divide 0 0-13, divide 1 7-13, divide this 1 7-18, this 2 14-18"
    );
    let only = serde_json::json!({"min_shingle_size": 2, "max_shingle_size": 3, "output_unigrams": false, "token_separator": "+"});
    assert_eq!(
        tokens(&shingle(only.clone()), "a b c"),
        "a+b 0 0-3, a+b+c 0 0-5, b+c 1 2-5"
    );
    assert_eq!(tokens(&shingle(only), "a"), "");
    let alone =
        serde_json::json!({"output_unigrams": false, "output_unigrams_if_no_shingles": true});
    assert_eq!(tokens(&shingle(alone.clone()), "a"), "a 0 0-1");
    assert_eq!(tokens(&shingle(alone), "a b"), "a b 0 0-3");
    let left_out = serde_json::json!({"type": "standard", "filters": [
        {"type": "stop", "stopwords": ["of"]}, {"type": "shingle", "output_unigrams": false},
    ]});
    assert_eq!(
        tokens(&left_out, "end of day x"),
        "end _ 0 0-7, _ day 1 7-10, day x 2 7-12"
    );
}

#[test]
fn parts_of_words_keep_their_places() {
    let parts = |options: serde_json::Value| {
        let mut filter = options;
        filter["type"] = "word_delimiter_graph".into();
        serde_json::json!({"type": "whitespace", "filters": [filter, "lowercase"]})
    };
    assert_eq!(
        tokens(&parts(serde_json::json!({})), "my PowerShot-500 -- x"),
        "my 0 0-2, power 1 3-8, shot 2 8-12, 500 3 13-16, x 5 20-21"
    );
    assert_eq!(
        tokens(
            &parts(serde_json::json!({"catenate_all": true, "preserve_original": true})),
            "Wi-Fi x"
        ),
        "wifi 0+2 0-5, wi-fi 0+2 0-5, wi 0 0-2, fi 1 3-5, x 2 6-7"
    );
}

#[test]
fn paths_have_parents() {
    let paths = |options: serde_json::Value| {
        let mut tokenizer = options;
        tokenizer["type"] = "path_hierarchy".into();
        tokenizer
    };
    let plain = paths(serde_json::json!({}));
    assert_eq!(
        tokens(&plain, "/one/two/three"),
        "/one 0 0-4, /one/two 0 0-8, /one/two/three 0 0-14"
    );
    assert_eq!(tokens(&plain, "a/"), "a 0 0-1, a/ 0 0-2");
    assert_eq!(tokens(&plain, "/"), "/ 0 0-1");
    let skip = paths(serde_json::json!({"delimiter": "-", "replacement": "/", "skip": 2}));
    assert_eq!(
        tokens(&skip, "one-two-three-four-five"),
        "/three 0 7-13, /three/four 0 7-18, /three/four/five 0 7-23"
    );
    let reverse = paths(serde_json::json!({"delimiter": ".", "reverse": true}));
    assert_eq!(
        tokens(&reverse, "www.a.de"),
        "www.a.de 0 0-8, a.de 0 4-8, de 0 6-8"
    );
    let skipping = paths(serde_json::json!({"reverse": true, "skip": 1}));
    assert_eq!(
        tokens(&skipping, "/a/b/c"),
        "/a/b/ 0 0-5, a/b/ 0 1-5, b/ 0 3-5"
    );
}

#[test]
fn tokens_change_one_by_one() {
    let filters =
        |filters: serde_json::Value| serde_json::json!({"type": "whitespace", "filters": filters});
    assert_eq!(
        tokens(&filters(serde_json::json!(["reverse"])), "añb c"),
        "bña 0 0-4, c 1 5-6"
    );
    let truncate = serde_json::json!([{"type": "truncate", "length": 2}]);
    assert_eq!(tokens(&filters(truncate), "éàb c"), "éà 0 0-5, c 1 6-7");
    let limit = serde_json::json!([{"type": "limit", "max_token_count": 2}]);
    assert_eq!(tokens(&filters(limit), "a b c"), "a 0 0-1, b 1 2-3");
    let changed = |filter: serde_json::Value, text: &str| {
        let shown = tokens(&filters(serde_json::json!([filter])), text);
        let words = shown
            .split(", ")
            .map(|token| token.split(' ').next().unwrap_or(""));
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(changed("uppercase".into(), "the Quick ß"), "THE QUICK SS");
    assert_eq!(
        changed("apostrophe".into(), "Istanbul'a veya x\u{2019}y'z"),
        "Istanbul veya x"
    );
    let keep =
        serde_json::json!({"type": "keep", "keep_words": ["Dog", "fox"], "ignore_case": true});
    assert_eq!(changed(keep, "the FOX jumps dog"), "FOX dog");
    let elision = serde_json::json!({"type": "elision"});
    assert_eq!(
        changed(elision, "j\u{2019}examine L'art aujourd'hui"),
        "examine art aujourd'hui"
    );
    let replace = serde_json::json!({"type": "pattern_replace", "pattern": "(dog)", "replacement": "watch$1"});
    assert_eq!(
        changed(replace, "foxes dogs dogdog"),
        "foxes watchdogs watchdogwatchdog"
    );
    let distinct = serde_json::json!([{"type": "synonym", "synonyms": ["a => b, c", "b, c"]}, "remove_duplicates"]);
    assert_eq!(
        tokens(&filters(distinct), "a b b"),
        "b 0 0-1, c 0 0-1, b 1 2-3, c 1 2-3, b 2 4-5, c 2 4-5"
    );
    let beside = serde_json::json!(["folded_beside"]);
    assert_eq!(
        tokens(&filters(beside), "açaí x"),
        "acai 0 0-6, açaí 0 0-6, x 1 7-8"
    );
}
