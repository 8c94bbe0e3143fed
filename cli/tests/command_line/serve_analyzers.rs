//! Analyzers that clients put together in the settings of an index.

use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_managing::{put, send, server};

/// Starts a server with an index of these settings and fields, and these documents.
fn start(settings: &Value, properties: &Value, documents: &[Value]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let body = json!({"settings": settings, "mappings": {"properties": properties}});
    let answer = put(&server, "/things", &body);
    assert_eq!(answer.status, 200, "{}", answer.text);
    for (id, document) in documents.iter().enumerate() {
        let answer = put(&server, &format!("/things/_doc/{id}"), document);
        assert_eq!(answer.status, 201, "{}", answer.text);
    }
    (folder, server)
}

/// Returns the ids that a query finds, sorted.
fn ids(server: &Server, query: &Value) -> Vec<String> {
    let answer = send(
        server,
        "POST",
        "/things/_search",
        &json!({"query": query, "size": 100}),
    );
    assert_eq!(answer.status, 200, "{query}: {}", answer.text);
    let hits = answer.json()["hits"]["hits"].as_array().unwrap().clone();
    let ids = hits
        .iter()
        .map(|hit| hit["_id"].as_str().unwrap().to_owned());
    let mut ids: Vec<String> = ids.collect();
    ids.sort();
    ids
}

fn tokens(server: &Server, path: &str, body: &Value) -> Vec<String> {
    let answer = send(server, "POST", path, body);
    assert_eq!(answer.status, 200, "{body}: {}", answer.text);
    let tokens = answer.json()["tokens"].as_array().unwrap().clone();
    let words = tokens
        .iter()
        .map(|token| token["token"].as_str().unwrap().to_owned());
    words.collect()
}

/// As in "Index-Time Search-as-You-Type" of Elasticsearch's guide.
#[test]
fn words_are_completed_by_grams_of_their_beginnings() {
    let settings = json!({"number_of_shards": 1, "analysis": {
        "filter": {"autocomplete_filter": {"type": "edge_ngram", "min_gram": 1, "max_gram": 20}},
        "analyzer": {"autocomplete": {
            "type": "custom", "tokenizer": "standard", "filter": ["lowercase", "autocomplete_filter"],
        }},
    }});
    let properties = json!({"name": {"type": "text", "analyzer": "autocomplete", "search_analyzer": "standard"}});
    let documents = [
        json!({"name": "Brown foxes"}),
        json!({"name": "Yellow furballs"}),
        json!({"name": "The quick brown Fox"}),
    ];
    let (_folder, server) = start(&settings, &properties, &documents);
    let matching = |text: &str, operator: &str| json!({"match": {"name": {"query": text, "operator": operator}}});
    for (query, expect) in [
        (matching("brown fo", "and"), vec!["0", "2"]),
        (matching("brown fo", "or"), vec!["0", "2"]),
        (matching("F", "or"), vec!["0", "1", "2"]),
        (matching("fox", "or"), vec!["0", "2"]),
        (matching("oxes", "or"), vec![]),
        (matching("qu br fox", "and"), vec!["2"]),
        (json!({"match_phrase": {"name": "quick bro"}}), vec!["2"]),
        (json!({"match_phrase": {"name": "bro quick"}}), vec![]),
        (
            json!({"query_string": {"query": "name:yel AND name:fur"}}),
            vec!["1"],
        ),
        (
            json!({"multi_match": {"query": "yel", "fields": ["name"]}}),
            vec!["1"],
        ),
        (json!({"term": {"name": "furba"}}), vec!["1"]),
        // Without an analyzer for queries, each word stands for all of its grams.
        (
            json!({"match": {"name": {"query": "fzzz", "analyzer": "autocomplete"}}}),
            vec!["0", "1", "2"],
        ),
        (
            json!({"match": {"name": {"query": "bxx fxx", "analyzer": "autocomplete", "operator": "and"}}}),
            vec!["0", "2"],
        ),
    ] {
        assert_eq!(ids(&server, &query), expect, "{query}");
    }
    let phrase =
        json!({"match_phrase": {"name": {"query": "quick bro", "analyzer": "autocomplete"}}});
    assert_eq!(ids(&server, &phrase), ["2"]);
    let marked = json!({"query": {"match": {"name": "fo"}}, "highlight": {"fields": {"name": {}}}});
    let answer = send(&server, "POST", "/things/_search", &marked).json();
    let hits = answer["hits"]["hits"].as_array().unwrap();
    let first = hits.iter().find(|hit| hit["_id"] == "0").unwrap();
    assert_eq!(first["highlight"]["name"], json!(["Brown <em>foxes</em>"]));
    let words = tokens(
        &server,
        "/things/_analyze",
        &json!({"analyzer": "autocomplete", "text": "Quick F"}),
    );
    assert_eq!(words, ["q", "qu", "qui", "quic", "quick", "f"]);
    // A field that is added later has the same analyzers, which do not change.
    let later = json!({"properties": {"tag": {"type": "text", "analyzer": "autocomplete"}}});
    assert_eq!(put(&server, "/things/_mapping", &later).status, 200);
    let other = put(
        &server,
        "/things/_settings",
        &json!({"analysis": {"filter": {"x": {"type": "stop"}}}}),
    );
    assert_eq!(other.status, 400, "{}", other.text);
}

/// As in the example of the `edge_ngram` tokenizer in Elasticsearch's reference.
#[test]
fn tokenizers_cut_grams_of_letters_and_digits() {
    let settings = json!({"index": {"max_ngram_diff": 2, "analysis": {
        "analyzer": {
            "autocomplete": {"tokenizer": "autocomplete", "filter": ["lowercase"]},
            "autocomplete_search": {"tokenizer": "lowercase"},
            "parts": {"tokenizer": "parts"},
            "csv": {"type": "pattern", "pattern": ","},
            "plain": {"tokenizer": "keyword", "filter": ["trim", "lowercase", "asciifolding"]},
            "short": {"type": "standard", "stopwords": ["foo", "bar"]},
            "stems": {"tokenizer": "whitespace", "filter": ["lowercase", "my_stop", "stemmer", "unique", "my_length"]},
        },
        "tokenizer": {
            "autocomplete": {"type": "edge_ngram", "min_gram": "2", "max_gram": 10, "token_chars": ["letter"]},
            "parts": {"type": "ngram", "min_gram": 2, "max_gram": 4, "token_chars": ["letter", "digit"]},
        },
        "filter": {
            "my_stop": {"type": "stop", "stopwords": "_english_", "ignore_case": true},
            "my_length": {"type": "length", "min": 3},
            "unused": {"type": "synonym", "synonyms": ["a, b"]},
        },
    }}});
    let properties = json!({
        "title": {"type": "text", "analyzer": "autocomplete", "search_analyzer": "autocomplete_search"},
        "parts": {"type": "text", "analyzer": "parts"},
    });
    let documents = [
        json!({"title": "Quick Foxes", "parts": "2 Quick"}),
        json!({"title": "Quiet Hounds", "parts": "quill"}),
    ];
    let (_folder, server) = start(&settings, &properties, &documents);
    let and =
        |field: &str, text: &str| json!({"match": {field: {"query": text, "operator": "and"}}});
    assert_eq!(ids(&server, &and("title", "Quick Fo")), ["0"]);
    assert_eq!(ids(&server, &and("title", "qui")), ["0", "1"]);
    assert_eq!(ids(&server, &and("title", "Quick Ho")), [""; 0]);
    assert_eq!(ids(&server, &and("parts", "uic")), ["0"]);
    assert_eq!(
        ids(&server, &json!({"match": {"parts": "uil"}})),
        ["0", "1"]
    );
    assert_eq!(
        ids(&server, &json!({"match_phrase": {"parts": "uick"}})),
        ["0"]
    );
    for (analyzer, text, expect) in [
        (
            "autocomplete",
            "2 Quick Fo.",
            vec!["qu", "qui", "quic", "quick", "fo"],
        ),
        ("parts", "2 Abc", vec!["Ab", "Abc", "bc"]),
        ("csv", "A b,C,,d", vec!["a b", "c", "d"]),
        ("plain", "  Crème Brûlée ", vec!["creme brulee"]),
        ("short", "The foo Bar x_y", vec!["the", "x_y"]),
        (
            "stems",
            "THE Runners running runner's is of a",
            vec!["runner", "run", "runner'"],
        ),
        (
            "english",
            "The Running's generously importantly",
            vec!["run", "gener", "importantli"],
        ),
    ] {
        let words = tokens(
            &server,
            "/things/_analyze",
            &json!({"analyzer": analyzer, "text": text}),
        );
        assert_eq!(words, expect, "{analyzer}");
    }
}

#[test]
fn analyzers_are_put_together_to_see_their_words() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    for (body, expect) in [
        (
            json!({"tokenizer": "standard", "filter": ["lowercase", "asciifolding"], "text": "Is this Déjà vu?"}),
            vec!["is", "this", "deja", "vu"],
        ),
        (
            json!({"tokenizer": "keyword", "filter": ["lowercase"], "text": "Foo BAR"}),
            vec!["foo bar"],
        ),
        (
            json!({"tokenizer": "lowercase", "text": "a1B"}),
            vec!["a", "b"],
        ),
        (
            json!({"tokenizer": "whitespace", "filter": ["lowercase", {"type": "stop", "stopwords": ["a", "is"]}], "text": "A test is here"}),
            vec!["test", "here"],
        ),
        (
            json!({"tokenizer": "standard", "filter": ["stop", "porter_stem"], "text": "the foxes of jumping"}),
            vec!["fox", "jump"],
        ),
        (
            json!({"tokenizer": {"type": "edge_ngram", "max_gram": 3}, "text": "abcd"}),
            vec!["a", "ab", "abc"],
        ),
        (
            json!({"filter": [{"type": "edge_ngram", "min_gram": 2, "max_gram": 3}], "text": "abcd"}),
            vec!["ab", "abc"],
        ),
        (
            json!({"normalizer": "lowercase", "text": "Foo BAR"}),
            vec!["foo bar"],
        ),
    ] {
        assert_eq!(tokens(&server, "/_analyze", &body), expect, "{body}");
    }
    for (body, named) in [
        (
            json!({"tokenizer": "standard", "filter": ["kstem"], "text": "a"}),
            "kstem",
        ),
        (
            json!({"tokenizer": "uax_url_email", "text": "a"}),
            "uax_url_email",
        ),
        (
            json!({"tokenizer": "standard", "char_filter": ["icu_normalizer"], "text": "a"}),
            "icu_normalizer",
        ),
        (json!({"tokenizer": 5, "text": "a"}), "tokenizer"),
        (json!({"filter": [["stop"]], "text": "a"}), "filter"),
    ] {
        let answer = send(&server, "POST", "/_analyze", &body);
        assert_eq!(answer.status, 400, "{}", answer.text);
        assert!(answer.text.contains(named), "{}", answer.text);
    }
}

#[test]
fn keywords_are_normalized_in_queries_orders_and_aggregations() {
    let settings = json!({"analysis": {"normalizer": {
        "folded": {"type": "custom", "char_filter": [], "filter": ["lowercase", "asciifolding"]},
        "ascii": {"filter": "asciifolding"},
    }}});
    let properties = json!({
        "city": {"type": "keyword", "normalizer": "folded"},
        "name": {"type": "text", "fields": {"raw": {"type": "keyword", "normalizer": "folded"}}},
        "code": {"type": "keyword", "normalizer": "ascii"},
    });
    let document = |text: &str| json!({"city": text, "name": text, "code": text});
    let documents = ["Köln", "KOLN", "Zürich", "aarau"].map(document);
    let (_folder, server) = start(&settings, &properties, &documents);
    for (query, expect) in [
        (json!({"term": {"city": "kÖLN"}}), vec!["0", "1"]),
        (json!({"terms": {"city": ["Zurich", "x"]}}), vec!["2"]),
        (json!({"prefix": {"city": "KÖ"}}), vec!["0", "1"]),
        (json!({"wildcard": {"city": "Z*ICH"}}), vec!["2"]),
        (
            json!({"range": {"city": {"gte": "KÖLN", "lt": "Z"}}}),
            vec!["0", "1"],
        ),
        (json!({"match": {"name.raw": "Koln"}}), vec!["0", "1"]),
        (json!({"term": {"name.raw": "ZÜRICH"}}), vec!["2"]),
        (json!({"term": {"code": "Köln"}}), vec!["0"]),
        (json!({"term": {"code": "koln"}}), vec![]),
        (
            json!({"query_string": {"query": "city:Köln"}}),
            vec!["0", "1"],
        ),
    ] {
        assert_eq!(ids(&server, &query), expect, "{query}");
    }
    let body = json!({"size": 0, "aggs": {
        "cities": {"terms": {"field": "city"}}, "names": {"terms": {"field": "name.raw"}},
        "codes": {"terms": {"field": "code", "order": {"_key": "asc"}}},
    }});
    let answer = send(&server, "POST", "/things/_search", &body).json();
    let keys = |name: &str| -> Vec<(String, u64)> {
        let buckets = answer["aggregations"][name]["buckets"].as_array().unwrap();
        let pairs = buckets.iter().map(|bucket| {
            (
                bucket["key"].as_str().unwrap().to_owned(),
                bucket["doc_count"].as_u64().unwrap(),
            )
        });
        pairs.collect()
    };
    let owned = |pairs: &[(&str, u64)]| -> Vec<(String, u64)> {
        pairs
            .iter()
            .map(|(key, count)| ((*key).to_owned(), *count))
            .collect()
    };
    let folded = owned(&[("koln", 2), ("aarau", 1), ("zurich", 1)]);
    assert_eq!(keys("cities"), folded);
    assert_eq!(keys("names"), folded);
    assert_eq!(
        keys("codes"),
        owned(&[("KOLN", 1), ("Koln", 1), ("Zurich", 1), ("aarau", 1)])
    );
    let sorted = json!({"sort": [{"city": "asc"}, {"_doc": "asc"}]});
    let answer = send(&server, "POST", "/things/_search", &sorted).json();
    assert_eq!(answer["hits"]["hits"][0]["sort"][0], "aarau");
    assert_eq!(answer["hits"]["hits"][0]["_source"]["city"], "aarau");
}

#[test]
fn an_analyzer_named_default_is_that_of_all_texts() {
    let settings = json!({"analysis": {"analyzer": {
        "default": {"type": "english"}, "standard": {"type": "custom", "tokenizer": "keyword"},
    }}});
    let properties =
        json!({"body": {"type": "text"}, "whole": {"type": "text", "analyzer": "standard"}});
    let documents = [json!({"body": "Running dogs", "whole": "a b", "other": "Walked home"})];
    let (_folder, server) = start(&settings, &properties, &documents);
    for (query, expect) in [
        (json!({"match": {"body": "run"}}), 1),
        (json!({"match": {"body": "the"}}), 0),
        (json!({"match": {"other": "walking"}}), 1),
        (json!({"match": {"whole": "a b"}}), 1),
        (json!({"match": {"whole": "a"}}), 0),
    ] {
        assert_eq!(ids(&server, &query).len(), expect, "{query}");
    }
}

#[test]
fn what_analyzers_cannot_have_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let analyzer = |analyzer: Value| json!({"analyzer": {"mine": analyzer}});
    for (analysis, named) in [
        (
            analyzer(json!({"tokenizer": "standard", "char_filter": ["icu_normalizer"]})),
            "icu_normalizer",
        ),
        (
            json!({"analyzer": {"mine": {"tokenizer": "standard", "filter": ["s"]}}, "filter": {"s": {"type": "synonym", "synonyms_path": "a.txt"}}}),
            "[synonyms_path]",
        ),
        (
            json!({"analyzer": {"mine": {"tokenizer": "standard", "filter": ["s"]}}, "filter": {"s": {"type": "synonym", "synonyms": ["a => b => c"]}}}),
            "[a => b => c]",
        ),
        (
            json!({"analyzer": {"mine": {"tokenizer": "standard", "char_filter": ["p"]}}, "char_filter": {"p": {"type": "pattern_replace", "pattern": "(?<!a)b"}}}),
            "(?<!a)b",
        ),
        (
            analyzer(json!({"tokenizer": "uax_url_email"})),
            "uax_url_email",
        ),
        (
            analyzer(json!({"tokenizer": "standard", "filter": ["lowercase", "kstem"]})),
            "kstem",
        ),
        (analyzer(json!({"type": "fingerprint"})), "fingerprint"),
        (
            analyzer(json!({"tokenizer": "standard", "filters": []})),
            "filters",
        ),
        (analyzer(json!({"filter": ["lowercase"]})), "tokenizer"),
        (
            analyzer(json!({"type": "pattern", "pattern": "(?<=a)b"})),
            "(?<=a)b",
        ),
        (
            json!({"normalizer": {"mine": {"filter": ["trim"]}}}),
            "mine",
        ),
        (
            json!({"analyzer": {"mine": {"tokenizer": "grams"}}, "tokenizer": {"grams": {"type": "ngram", "min_gram": 2, "max_gram": 9}}}),
            "[index.max_ngram_diff]",
        ),
        (
            json!({"analyzer": {"mine": {"tokenizer": "standard", "filter": ["g"]}}, "filter": {"g": {"type": "stemmer", "language": "german"}}}),
            "german",
        ),
        (
            json!({"analyzer": {"mine": {"tokenizer": "standard", "filter": ["s"]}}, "filter": {"s": {"type": "stop", "stopwords": "_greek_"}}}),
            "_greek_",
        ),
    ] {
        let answer = put(&server, "/x", &json!({"settings": {"analysis": analysis}}));
        assert_eq!(answer.status, 400, "{analysis}: {}", answer.text);
        assert!(answer.text.contains(named), "{analysis}: {}", answer.text);
    }
    let unknown = json!({"mappings": {"properties": {"a": {"type": "text", "analyzer": "mine"}}}});
    let answer = put(&server, "/x", &unknown);
    assert!(answer.text.contains("[mine]"), "{}", answer.text);
}

#[test]
fn texts_are_changed_before_they_are_cut_and_marked_where_they_stand() {
    let settings = json!({"analysis": {
        "char_filter": {
            "signs": {"type": "mapping", "mappings": ["& => and", "c++ => cpp"]},
            "camels": {"type": "pattern_replace", "pattern": "(?<=\\p{Lower})(?=\\p{Upper})", "replacement": " "},
        },
        "analyzer": {"html": {"tokenizer": "standard", "char_filter": ["html_strip", "signs", "camels"], "filter": ["lowercase"]}},
    }});
    let properties = json!({"t": {"type": "text", "analyzer": "html"}});
    let documents = [
        json!({"t": "<p>Tom &amp; <b>Jer</b>ry write c++</p>"}),
        json!({"t": "The fooBarBaz method"}),
    ];
    let (_folder, server) = start(&settings, &properties, &documents);
    for (query, expect) in [
        (
            json!({"match": {"t": {"query": "jerry and cpp", "operator": "and"}}}),
            vec!["0"],
        ),
        (json!({"match": {"t": "c++"}}), vec!["0"]),
        (json!({"match": {"t": "p amp b"}}), vec![]),
        (json!({"match_phrase": {"t": "foo bar baz"}}), vec!["1"]),
        (json!({"query_string": {"query": "t:barBaz"}}), vec!["1"]),
    ] {
        assert_eq!(ids(&server, &query), expect, "{query}");
    }
    let marked = |word: &str| {
        let body = json!({"query": {"match": {"t": word}}, "highlight": {"fields": {"t": {"number_of_fragments": 0}}}});
        let answer = send(&server, "POST", "/things/_search", &body);
        answer.json()["hits"]["hits"][0]["highlight"]["t"][0]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        marked("cpp"),
        "<p>Tom &amp; <b>Jer</b>ry write <em>c++</em></p>"
    );
    assert_eq!(
        marked("and"),
        "<p>Tom <em>&amp;</em> <b>Jer</b>ry write c++</p>"
    );
    assert_eq!(marked("bar"), "The foo<em>Bar</em>Baz method");
}

/// As in Elasticsearch's documentation of the filters.
#[test]
fn synonyms_of_several_words_are_found_both_ways() {
    let documents = [
        json!({"t": "I love New York pizza", "s": "I love New York pizza"}),
        json!({"t": "NYC pizza", "s": "NYC pizza"}),
        json!({"t": "york new pizza", "s": "york new pizza"}),
        json!({"t": "big apple pie", "s": "big apple pie"}),
    ];
    let settings = json!({"analysis": {
        "filter": {
            "graph": {"type": "synonym_graph", "synonyms": ["nyc, new york, big apple"]},
            "flat": {"type": "synonym", "synonyms": ["nyc, new york, big apple => city"]},
        },
        "analyzer": {
            "graph": {"tokenizer": "standard", "filter": ["lowercase", "graph"]},
            "flat": {"tokenizer": "standard", "filter": ["lowercase", "flat"]},
        },
    }});
    let properties = json!({
        "t": {"type": "text", "search_analyzer": "graph"}, "s": {"type": "text", "analyzer": "flat"},
    });
    let (_folder, server) = start(&settings, &properties, &documents);
    let all = |text: &str| json!({"match": {"t": {"query": text, "operator": "and"}}});
    for (query, expect) in [
        (json!({"match": {"t": "nyc"}}), vec!["0", "1", "3"]),
        (all("nyc pizza"), vec!["0", "1"]),
        (all("new york"), vec!["0", "1", "3"]),
        (all("york"), vec!["0", "2"]),
        (json!({"match_phrase": {"t": "nyc pizza"}}), vec!["0", "1"]),
        (
            json!({"match_phrase_prefix": {"t": "new york piz"}}),
            vec!["0", "1"],
        ),
        (
            json!({"query_string": {"query": "t:nyc AND t:pie"}}),
            vec!["3"],
        ),
        (
            json!({"multi_match": {"query": "big apple", "fields": ["t"]}}),
            vec!["0", "1", "3"],
        ),
        (json!({"match": {"s": "nyc"}}), vec!["0", "1", "3"]),
        (json!({"match": {"s": "new york"}}), vec!["0", "1", "3"]),
        (json!({"match_phrase": {"s": "city pizza"}}), vec!["0", "1"]),
        (json!({"match": {"s": "york"}}), vec!["2"]),
    ] {
        assert_eq!(ids(&server, &query), expect, "{query}");
    }
    let intervals = json!({"query": {"intervals": {"t": {"match": {"query": "nyc pizza", "max_gaps": 0, "ordered": true}}}}});
    let answer = send(&server, "POST", "/things/_search", &intervals);
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert!(answer.text.contains("synonyms"), "{}", answer.text);
}

#[test]
fn texts_without_a_mapping_are_what_the_mapping_says() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let body = json!({"mappings": {"date_detection": false, "numeric_detection": true}});
    assert_eq!(put(&server, "/open", &body).status, 200);
    for (id, document) in [
        json!({"day": "2024-05-01T00:00:00Z", "count": "12", "part": "1.5"}),
        json!({"day": "2024-06-01", "count": "7", "part": "x"}),
    ]
    .iter()
    .enumerate()
    {
        let answer = put(&server, &format!("/open/_doc/{id}"), document);
        assert_eq!(answer.status, 201, "{}", answer.text);
    }
    let body = json!({
        "query": {"range": {"day.keyword": {"gte": "2024-05-01T", "lt": "2024-07"}}}, "sort": [{"day.keyword": "desc"}],
        "aggs": {"sum": {"sum": {"field": "count"}}, "days": {"terms": {"field": "day.keyword"}}},
    });
    let answer = send(&server, "POST", "/open/_search", &body).json();
    let hits = answer["hits"]["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2, "{answer}");
    assert_eq!(hits[0]["sort"][0], "2024-06-01");
    assert_eq!(answer["aggregations"]["sum"]["value"], 19.0);
    assert_eq!(
        answer["aggregations"]["days"]["buckets"][0]["key"],
        "2024-05-01T00:00:00Z"
    );
    let answer = send(&server, "GET", "/open/_mapping", &json!({})).json();
    let types = &answer["open"]["mappings"]["properties"];
    assert_eq!(types["day"]["type"], "text", "{answer}");
    assert_eq!(types["count"]["type"], "long", "{answer}");
    let answer = put(&server, "/open/_mapping", &json!({"date_detection": true}));
    assert_eq!(answer.status, 400, "{}", answer.text);
}
