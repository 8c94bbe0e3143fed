//! Analyzers of languages, and filters that mark words for stemmers.

use canter_doc_mapper::tokenizers::CustomTokenizer;

use super::*;

/// Returns the words that a tokenizer of a config makes of a text.
fn words(config: &IndexConfig, name: &str, text: &str) -> Vec<String> {
    let mut tokenizers = config.doc_mapping.tokenizers.iter();
    let tokenizer: &CustomTokenizer = tokenizers.find(|own| own.name == name).unwrap();
    let mut words = Vec::new();
    let mut analyzer = tokenizer.analyzer().unwrap();
    analyzer
        .token_stream(text)
        .process(&mut |token| words.push(token.text.clone()));
    words
}

#[test]
fn a_field_may_name_the_analyzer_of_a_language() {
    for (language, text, expected) in [
        (
            "german",
            "Die Häuser der alten Städte",
            vec!["haus", "alt", "stadt"],
        ),
        (
            "french",
            "L'équipe mange des pommes",
            vec!["equip", "mang", "pome"],
        ),
        ("spanish", "Los gatos en las casas", vec!["gat", "cas"]),
        (
            "italian",
            "L'uomo nella biblioteca",
            vec!["uomo", "bibliotec"],
        ),
        (
            "portuguese",
            "As meninas cantam canções",
            vec!["menin", "cantam", "canca"],
        ),
        ("russian", "книги и книга", vec!["книг", "книг"]),
        ("swedish", "Flickorna och skolan", vec!["flick", "skolan"]),
        ("dutch", "De katten lopen", vec!["kat", "lop"]),
        ("snowball", "the running foxes", vec!["run", "fox"]),
    ] {
        let field = json!({"type": "text", "analyzer": language});
        let config = mapped(json!({"properties": {"t": field}})).unwrap();
        assert_eq!(words(&config, language, text), expected, "{language}");
    }
    let error = mapped(json!({"properties": {"t": {"type": "text", "analyzer": "klingon"}}}));
    assert!(error.unwrap_err().reason.contains("[klingon]"));
}

#[test]
fn stemmers_leave_marked_words_as_they_are_or_beside_their_stems() {
    let analysis = json!({"settings": {"analysis": {
        "filter": {
            "keep": {"type": "keyword_marker", "keywords": ["jumping"]},
            "own": {"type": "stemmer_override", "rules": ["mice, mouses => mouse"]},
            "once": {"type": "unique", "only_on_same_position": true},
            "worte": {"type": "stop", "stopwords": "_german_"}},
        "analyzer": {
            "marked": {"tokenizer": "standard", "filter": ["keep", "own", "porter_stem"]},
            "both": {"tokenizer": "standard", "filter": ["lowercase", "keyword_repeat", "asciifolding", "porter_stem", "once"]},
            "ohne": {"tokenizer": "standard", "filter": ["lowercase", "worte"]}}}}});
    let config = config_of(&analysis).unwrap();
    let marked = words(&config, "marked", "running jumping mice mouses");
    assert_eq!(marked, ["run", "jumping", "mouse", "mouse"]);
    let both = words(&config, "both", "Running fox");
    assert_eq!(both, ["running", "run", "fox"]);
    assert_eq!(words(&config, "ohne", "Der Mantel"), ["mantel"]);
    // A mark that no stemmer heeds changes no word; a stem of one's own would.
    let of_analyzer = |filter: Value, more: Value| json!({"settings": {"analysis": {"filter": more, "analyzer": {"a": {"tokenizer": "standard", "filter": filter}}}}});
    let unheeded = config_of(&of_analyzer(json!(["keyword_repeat"]), json!({}))).unwrap();
    assert_eq!(words(&unheeded, "a", "one two"), ["one", "two"]);
    let own = json!({"own": {"type": "stemmer_override", "rules": ["mice => mouse"]}});
    let error = config_of(&of_analyzer(json!(["own"]), own)).unwrap_err();
    assert!(error.reason.contains("[stemmer_override]"), "{error}");
}
