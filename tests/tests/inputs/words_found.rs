//! What is visible in a document finds it without a field: words of texts, names and addresses, whole values, addresses of
//! machines, and codes. A scan of the documents says how many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use canter_samples::{LAYOUTS, sample as sample_of};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::suggestions::index_of;

const NUM_DOCS: usize = 120;
/// Documents of which every word is looked up.
const NUM_EXAMINED: usize = 3;

/// Returns what of a value a search without a field shall find.
fn visible(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let is_time =
                text.len() > 7 && text.bytes().filter(u8::is_ascii_digit).count() * 2 > text.len();
            if text.parse::<IpAddr>().is_ok() {
                found.insert(text.clone());
                return;
            }
            if is_time {
                return;
            }
            let words = text.split(|c: char| !c.is_alphanumeric());
            let is_word = |word: &&str| {
                word.len() >= 3
                    && word.chars().all(|c| c.is_ascii_alphabetic())
                    && !word.chars().all(|c| c.is_ascii_hexdigit())
            };
            found.extend(words.filter(is_word).map(str::to_lowercase));
        }
        Value::Array(values) => values.iter().for_each(|value| visible(value, found)),
        Value::Object(object) => object.values().for_each(|value| visible(value, found)),
        _ => {}
    }
}

fn all_visible(doc: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    visible(doc, &mut found);
    found
}

/// Returns the words that find fewer documents than have them, with what the config says.
fn missed(bytes: &[u8], docs: &[Value]) -> Vec<String> {
    let (suggestion, index) = index_of(bytes);
    let words: Vec<BTreeSet<String>> = docs.iter().map(all_visible).collect();
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    for word in words.iter().flatten() {
        *expected.entry(word).or_default() += 1;
    }
    let examined: BTreeSet<&String> = words.iter().take(NUM_EXAMINED).flatten().collect();
    let mut missed = Vec::new();
    for word in examined {
        // Quoted, since `and` and its like are operators.
        let query = json!({"query": format!("\"{word}\""), "max_hits": 0});
        let answer = index.search(&query).unwrap().json;
        let found = answer["num_hits"].as_u64().unwrap();
        if found < expected[word.as_str()] {
            missed.push(format!("{word}: {found} of {}", expected[word.as_str()]));
        }
    }
    if !missed.is_empty() {
        missed.push(suggestion.yaml);
    }
    missed
}

/// A field of drawn documents.
#[derive(Clone, Copy)]
enum Drawn {
    Sentence,
    Url,
    Host,
    Email,
    Path,
    Name,
    Uuid,
    Ip,
    Tag,
    Code,
    Measure,
}

const DRAWN: [Drawn; 11] = [
    Drawn::Sentence,
    Drawn::Url,
    Drawn::Host,
    Drawn::Email,
    Drawn::Path,
    Drawn::Name,
    Drawn::Uuid,
    Drawn::Ip,
    Drawn::Tag,
    Drawn::Code,
    Drawn::Measure,
];

fn word(rng: &mut ChaCha8Rng) -> String {
    const WORDS: [&str; 16] = [
        "harbour", "lantern", "otter", "meadow", "quartz", "violin", "ginger", "saddle", "pigment",
        "turbine", "walnut", "yonder", "zephyr", "marble", "copper", "juniper",
    ];
    WORDS[rng.random_range(0..WORDS.len())].to_owned()
}

fn draw(kind: Drawn, n: usize, rng: &mut ChaCha8Rng) -> Value {
    match kind {
        Drawn::Sentence => json!(format!(
            "{} {} reached the {} in {n} ms",
            word(rng),
            word(rng),
            word(rng)
        )),
        Drawn::Url => json!(format!(
            "https://{}{n}.example.com/{}/{}?q={}",
            word(rng),
            word(rng),
            rng.random::<u32>(),
            word(rng)
        )),
        Drawn::Host => json!(format!("{}-{n:03}.{}.internal", word(rng), word(rng))),
        Drawn::Email => json!(format!("{}.{n}@{}.example.org", word(rng), word(rng))),
        Drawn::Path => json!(format!("/srv/{}/{}/{n}.log", word(rng), word(rng))),
        Drawn::Name => json!(word(rng)),
        Drawn::Uuid => json!(format!(
            "{:08x}-{:04x}-{:04x}",
            rng.random::<u32>(),
            rng.random::<u16>(),
            rng.random::<u16>()
        )),
        Drawn::Ip => json!(format!(
            "10.{}.{}.{}",
            rng.random_range(0..256),
            rng.random_range(0..256),
            n % 256
        )),
        Drawn::Tag => json!(["red", "green", "blue"][rng.random_range(0..3)]),
        Drawn::Code => json!([200, 301, 404, 503][rng.random_range(0..4)]),
        Drawn::Measure => json!(rng.random_range(0..1_000_000)),
    }
}

/// Returns documents of one drawn form, with more fields than are looked up one by one in some.
fn drawn_docs(seed: u64) -> Vec<Value> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let num_fields = [4, 9, 24][seed as usize % 3];
    let fields: Vec<(String, Drawn, bool)> = (0..num_fields)
        .map(|n| {
            let kind = DRAWN[rng.random_range(0..DRAWN.len())];
            (format!("field_{n}"), kind, rng.random_bool(0.2))
        })
        .collect();
    let doc = |n: usize| {
        let mut doc = Map::new();
        doc.insert(
            "time".to_owned(),
            json!(format!("2024-05-01T10:{:02}:{:02}Z", n / 60, n % 60)),
        );
        let mut inside = Map::new();
        for (name, kind, is_inside) in &fields {
            let value = draw(*kind, n, &mut rng);
            let object = if *is_inside { &mut inside } else { &mut doc };
            object.insert(name.clone(), value);
        }
        if !inside.is_empty() {
            doc.insert("context".to_owned(), inside.into());
        }
        Value::from(doc)
    };
    (0..NUM_DOCS).map(doc).collect()
}

#[test]
fn every_visible_word_of_drawn_documents_finds_them() {
    for seed in 0..24 {
        let docs = drawn_docs(seed);
        let lines: String = docs.iter().map(|doc| format!("{doc}\n")).collect();
        let missed = missed(lines.as_bytes(), &docs);
        assert!(missed.is_empty(), "seed {seed}: {}", missed.join("\n"));
    }
}

#[test]
fn every_visible_word_of_samples_finds_them() {
    let mut all = Vec::new();
    for format in LAYOUTS {
        let made = sample_of(format, NUM_DOCS as u64, 5);
        for line in missed(&made.bytes, &made.docs) {
            all.push(format!("{format}: {line}"));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn codes_and_addresses_are_found_without_a_field() {
    let docs: Vec<Value> = (0..60)
        .map(|n| {
            json!({"msg": format!("handled in {n} ms"), "status": ([200, 404, 500][n % 3]), "client": format!("10.0.7.{n}"),
                "order_id": 70_000 + n, "took": n * 7_919, "trace": format!("{:016x}", n * 0x0123_4567_89ab)})
        })
        .collect();
    let lines: String = docs.iter().map(|doc| format!("{doc}\n")).collect();
    let (suggestion, index) = index_of(lines.as_bytes());
    let found = |query: &str| {
        let answer = index.search(&json!({"query": query, "max_hits": 0}));
        answer.unwrap().json["num_hits"].as_u64().unwrap()
    };
    let yaml = &suggestion.yaml;
    assert_eq!(found("404"), 20, "{yaml}");
    assert_eq!(found("10.0.7.13"), 1, "{yaml}");
    assert_eq!(found("70021"), 1, "{yaml}");
    assert_eq!(found("handled AND 404"), 20, "{yaml}");
    // Measures are found by their fields.
    assert_eq!(found("316760"), 0, "{yaml}");
    assert_eq!(found("took:316760"), 1, "{yaml}");
    assert_eq!(found("nowhere"), 0, "{yaml}");
}
