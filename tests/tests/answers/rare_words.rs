//! Words with digits of few documents, which dictionaries lack: all clauses find them as in an index of the same
//! documents that has them in its dictionaries, because it does not store its texts.

use std::collections::BTreeMap;

use canter_runtime::{Limits, Searcher};
use canter_split_format::{Head, RARE_WORDS_FILE, RareWordsIndex};
use canter_tests::{TestIndex, usual_or_full};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::calls::{call, call_within, named};

const CONFIG: &str = "
version: 0.9
index_id: rare
doc_mapping:
  timestamp_field: time
  field_mappings:
    - {name: time, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: n, type: u64, fast: true}
    - {name: body, type: array<text>, record: position, fieldnorms: true, stored: STORED}
search_settings:
  default_search_fields: [body]
indexing_settings:
  rare_words: true
";

const NUM_DOCS: usize = 5_000;

/// Numbers of documents of drawn words, at both sides of the limit of rare words.
const FREQUENCIES: [usize; 7] = [1, 1, 2, 4, 16, 17, 40];

/// Documents, and words of them by the number of documents.
struct Corpus {
    lines: Vec<String>,
    ids: BTreeMap<usize, Vec<String>>,
}

fn id(random: &mut ChaCha8Rng) -> String {
    match random.random_range(0..6) {
        0 => format!("{}", random.random_range(0..100_000)),
        1 => format!("blk{}", random.random_range(10_000_000..10_000_000_000_u64)),
        2 => format!("{:08x}7", random.random::<u32>()),
        3 => format!("1{}", "0".repeat(random.random_range(0..9))),
        4 => format!("é{}ß", random.random_range(0..50_000)),
        _ => format!(
            "{}",
            random.random_range(1_608_000_000_000_u64..1_609_000_000_000)
        ),
    }
}

fn corpus(seed: u64) -> Corpus {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut texts: Vec<Vec<Vec<String>>> = (0..NUM_DOCS)
        .map(|_| {
            let num = [1, 1, 1, 2, 3][random.random_range(0..5)];
            let text = |random: &mut ChaCha8Rng| {
                let num_words = random.random_range(0..6);
                let words = (0..num_words).map(|_| {
                    let most = random.random_range(1..40);
                    format!("w{}", random.random_range(0..most))
                });
                words.collect()
            };
            (0..num).map(|_| text(&mut random)).collect()
        })
        .collect();
    let mut ids: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut slots: Vec<usize> = (0..NUM_DOCS).collect();
    slots.shuffle(&mut random);
    let mut at = 0;
    while at < 12 * NUM_DOCS {
        let frequency = *FREQUENCIES.choose(&mut random).unwrap();
        let word = id(&mut random);
        // Neighbours have the same words, and sometimes all over.
        let is_near = random.random_bool(0.5);
        let first = random.random_range(0..NUM_DOCS);
        for nth in 0..frequency {
            let doc = match is_near {
                true => (first + nth) % NUM_DOCS,
                false => slots[(at + nth) % NUM_DOCS],
            };
            let values = &mut texts[doc];
            let place = random.random_range(0..values.len());
            let text = &mut values[place];
            for _ in 0..[1, 1, 1, 1, 1, 2, 9][random.random_range(0..7)] {
                text.insert(random.random_range(0..=text.len()), word.clone());
            }
        }
        at += frequency;
        ids.entry(frequency).or_default().push(word);
    }
    // One word is so frequent in one document that its positions fill a block.
    texts[7][0].extend(vec!["often999".to_owned(); 300]);
    ids.entry(1).or_default().push("often999".to_owned());
    let lines = texts.iter().enumerate().map(|(n, values)| {
        let values: Vec<String> = values.iter().map(|text| text.join(" ")).collect();
        json!({"time": 1_700_000_000 + n / 3, "n": n, "body": values}).to_string()
    });
    Corpus {
        lines: lines.collect(),
        ids,
    }
}

fn config(stored: bool) -> String {
    CONFIG.replace("STORED", &stored.to_string())
}

/// Returns the number of rare words of each split.
fn num_rare_words(index: &TestIndex) -> Vec<u64> {
    let splits = index
        .objects
        .iter()
        .filter(|(name, _)| name.starts_with("splits/"));
    let nums = splits.map(|(_, bytes)| {
        let head = Head::open(bytes).unwrap();
        let start = bytes.len() as u64 - head.files.body_len();
        let Some((_, file)) = head.files.find(canter_split_format::RARE_WORDS_INDEX_FILE) else {
            assert!(head.files.find(RARE_WORDS_FILE).is_none());
            return 0;
        };
        let start = (start + file.offset) as usize;
        let index = RareWordsIndex::open(&bytes[start..start + file.len as usize]).unwrap();
        let blocks = index
            .fields()
            .flat_map(|field| index.blocks_of(field).to_vec());
        blocks.map(|block| block.num_words).sum()
    });
    nums.collect()
}

/// Draws words that queries name.
struct Words<'c> {
    random: ChaCha8Rng,
    corpus: &'c Corpus,
}

impl Words<'_> {
    fn word(&mut self) -> String {
        match self.random.random_range(0..10) {
            0 => id(&mut self.random),
            1 => format!("w{}", self.random.random_range(0..40)),
            _ => {
                let frequencies: Vec<&Vec<String>> = self.corpus.ids.values().collect();
                let words = frequencies.choose(&mut self.random).unwrap();
                words.choose(&mut self.random).unwrap().clone()
            }
        }
    }

    /// Words that stand in one document, in their order.
    fn neighbours(&mut self, num: usize) -> String {
        loop {
            let line = self.corpus.lines.choose(&mut self.random).unwrap();
            let line: Value = serde_json::from_str(line).unwrap();
            let values = line["body"].as_array().unwrap();
            let text = values.choose(&mut self.random).unwrap().as_str().unwrap();
            let words: Vec<&str> = text.split(' ').collect();
            if words.len() >= num {
                let first = self.random.random_range(0..=words.len() - num);
                return words[first..first + num].join(" ");
            }
        }
    }

    fn beginning(&mut self, least: usize) -> String {
        let word = self.word();
        let chars: Vec<char> = word.chars().collect();
        let num = self
            .random
            .random_range(least.min(chars.len())..=chars.len());
        chars[..num].iter().collect()
    }

    fn changed(&mut self) -> String {
        let mut chars: Vec<char> = self.word().chars().collect();
        let place = self.random.random_range(0..chars.len());
        match self.random.random_range(0..3) {
            0 => drop(chars.remove(place)),
            1 => chars[place] = '4',
            _ => chars.insert(place, '5'),
        }
        chars.iter().collect()
    }

    fn query(&mut self, depth: usize) -> Value {
        let num_kinds = if depth == 0 { 15 } else { 19 };
        match self.random.random_range(0..num_kinds) {
            0 | 1 => json!({"term": {"body": self.word()}}),
            2 => json!({"terms": {"body": [self.word(), self.word(), self.word()]}}),
            3 => {
                let words = (0..40).map(|_| self.word()).collect::<Vec<_>>();
                json!({"terms": {"body": words}})
            }
            4 => json!({"match": {"body": {"query": format!("{} {}", self.word(), self.word()),
                "operator": if self.random.random() { "and" } else { "or" }}}}),
            5 => json!({"match_phrase": {"body": self.neighbours(2)}}),
            6 => {
                json!({"match_phrase": {"body": {"query": format!("{} {}", self.neighbours(2), self.word()),
                "slop": self.random.random_range(0..4)}}})
            }
            7 => json!({"match_phrase_prefix": {"body": {
                "query": format!("{} {}", self.neighbours(1), self.beginning(2)), "max_expansions": 1000}}}),
            8 => json!({"prefix": {"body": self.beginning(0)}}),
            9 => {
                let pattern = format!(
                    "{}*{}",
                    self.beginning(0),
                    ["", "7", "?", "0"][self.random.random_range(0..4)]
                );
                json!({"wildcard": {"body": pattern}})
            }
            10 => json!({"regexp": {"body": format!("{}[0-9]+.?", self.beginning(0))}}),
            11 => {
                json!({"fuzzy": {"body": {"value": self.changed(), "prefix_length": self.random.random_range(0..3)}}})
            }
            12 => {
                let (mut one, mut other) = (self.beginning(1), self.word());
                if one > other {
                    std::mem::swap(&mut one, &mut other);
                }
                let (lower, upper) = (
                    ["gt", "gte"][self.random.random_range(0..2)],
                    ["lt", "lte"][self.random.random_range(0..2)],
                );
                json!({"range": {"body": {lower: one, upper: other}}})
            }
            13 => {
                json!({"intervals": {"body": {"all_of": {"ordered": self.random.random::<bool>(), "max_gaps": 3, "intervals": [
                {"match": {"query": self.neighbours(1)}},
                {"any_of": {"intervals": [{"match": {"query": self.word()}}, {"prefix": {"prefix": self.beginning(5)}}]}}]}}}})
            }
            14 => {
                let words = self.neighbours(2);
                let (one, other) = words.split_once(' ').unwrap();
                json!({"span_near": {"slop": 1, "in_order": true, "clauses": [
                    {"span_term": {"body": one}}, {"span_term": {"body": other}}]}})
            }
            15 => {
                json!({"bool": {"must": [self.query(depth - 1)], "must_not": [self.query(depth - 1)]}})
            }
            16 => {
                json!({"bool": {"should": [self.query(depth - 1), self.query(depth - 1)], "minimum_should_match": 1,
                "filter": {"range": {"n": {"gte": self.random.random_range(0..NUM_DOCS)}}}}})
            }
            17 => {
                json!({"query_string": {"query": format!("{} OR body:{}* AND NOT {}", self.word(), self.beginning(3), self.word()),
                "default_field": "body"}})
            }
            _ => {
                json!({"more_like_this": {"fields": ["body"], "like": format!("{} {} {}", self.word(), self.word(), self.neighbours(2)),
                "min_term_freq": 1, "min_doc_freq": 1, "minimum_should_match": 1}})
            }
        }
    }

    fn request(&mut self) -> Value {
        let query = self.query(2);
        match self.random.random_range(0..5) {
            0 => json!({"query": query, "size": 0, "track_total_hits": true}),
            1 => {
                json!({"query": query, "size": 20, "sort": [{"time": "desc"}], "track_total_hits": true})
            }
            2 => {
                let filter = self.query(1);
                json!({"query": query, "size": 3, "aggs": {
                    "f": {"filter": filter, "aggs": {"s": {"sum": {"field": "n"}}}},
                    "h": {"histogram": {"field": "n", "interval": 500}}}})
            }
            _ => json!({"query": query, "size": 50, "track_total_hits": true}),
        }
    }
}

/// Returns the parts of an answer that do not depend on what is stored.
fn facts(searcher: &Searcher, body: &Value) -> Value {
    let (status, answer) = call(searcher, "POST", "/rare/_search", "", body);
    let hits = answer["hits"]["hits"].as_array();
    let hits = hits.map(|hits| {
        let facts = hits
            .iter()
            .map(|hit| json!([hit["_source"]["n"], hit["_score"], hit["sort"]]));
        facts.collect::<Vec<_>>()
    });
    json!({"status": status, "hits": hits, "total": answer["hits"]["total"], "max": answer["hits"]["max_score"],
        "aggs": answer["aggregations"], "suggest": answer["suggest"], "failures": answer["_shards"]["failures"],
        "error": answer["error"]})
}

/// Compares answers about an index with rare words and one without.
fn compare(indexes: [&TestIndex; 2], corpus: &Corpus, seed: u64, num: usize) {
    let [rare, plain] = indexes;
    assert!(
        num_rare_words(rare).iter().all(|num| *num >= 1_024),
        "{:?}",
        num_rare_words(rare)
    );
    assert!(num_rare_words(plain).iter().all(|num| *num == 0));
    let searchers = indexes.map(|index| named(index, "rare"));
    let mut words = Words {
        random: ChaCha8Rng::seed_from_u64(seed),
        corpus,
    };
    let (mut num_found, mut num_refused) = (0, 0);
    for _ in 0..num {
        let request = words.request();
        let [one, other] = searchers
            .each_ref()
            .map(|searcher| facts(searcher, &request));
        assert_eq!(one, other, "{request}");
        // Some drawn requests are refused, by both alike.
        if one["status"] != 200 {
            assert_eq!(one["status"], 400, "{request}: {one}");
            num_refused += 1;
            continue;
        }
        assert!(one["failures"].is_null(), "{request}: {one}");
        num_found += usize::from(one["total"]["value"] != 0);
    }
    assert!(num_found * 2 > num, "{num_found} of {num}");
    assert!(num_refused * 10 < num, "{num_refused} of {num}");
    for _ in 0..num / 10 {
        let text = format!("{} {}", words.changed(), words.word());
        let request = json!({"size": 0, "suggest": {"s": {"text": text, "term": {
            "field": "body", "suggest_mode": "always", "prefix_length": 0, "size": 20}}}});
        let [one, other] = searchers
            .each_ref()
            .map(|searcher| facts(searcher, &request));
        assert_eq!(one, other, "{request}");
    }
}

fn built(corpus: &Corpus, split_num_docs: u64) -> [TestIndex; 2] {
    [true, false]
        .map(|stored| TestIndex::build(&config(stored), &corpus.lines, split_num_docs).unwrap())
}

#[test]
fn rare_words_are_found_by_all_clauses() {
    for (seed, split_num_docs) in [(1, 10_000), (2, 2_500)] {
        let corpus = corpus(seed);
        let [rare, plain] = built(&corpus, split_num_docs);
        compare([&rare, &plain], &corpus, seed, usual_or_full(60, 400));
    }
}

#[test]
fn rare_words_are_found_after_deletes_and_merges() {
    let corpus = corpus(3);
    let deletion = json!({"query": "n:[100 TO 300] OR n:[3000 TO 3007] OR w39"});
    let indexes = built(&corpus, 2_500).map(|index| index.delete(&deletion).unwrap().0);
    let [rare, plain] = &indexes;
    compare([rare, plain], &corpus, 3, usual_or_full(40, 200));
    let merged = indexes
        .each_ref()
        .map(|index| index.merge_deleted().unwrap());
    let [rare, plain] = &merged;
    compare([rare, plain], &corpus, 4, usual_or_full(40, 200));
}

#[test]
fn a_merged_split_has_the_rare_words_of_all_its_documents() {
    let corpus = corpus(5);
    let config = config(true);
    let at_once = TestIndex::build(&config, &corpus.lines, 10_000).unwrap();
    let divided = TestIndex::build(&config, &corpus.lines, 1_700).unwrap();
    let entries = divided.entries().unwrap();
    assert_eq!(entries.len(), 3);
    let merged = divided.merge(&config, &entries).unwrap().unwrap().unwrap();
    let object = format!("splits/{}.split", at_once.entries().unwrap()[0].id);
    assert!(merged.bytes == at_once.objects[&object]);
}

#[test]
fn rare_words_are_shown_in_passages() {
    let corpus = corpus(6);
    let index = TestIndex::build(&config(true), &corpus.lines, 10_000).unwrap();
    let searcher = named(&index, "rare");
    for word in corpus.ids[&2].iter().take(10) {
        let request =
            json!({"query": {"term": {"body": word}}, "highlight": {"fields": {"body": {}}}});
        let (status, answer) = call(&searcher, "POST", "/rare/_search", "", &request);
        assert_eq!(status, 200);
        for hit in answer["hits"]["hits"].as_array().unwrap() {
            assert!(
                hit["highlight"]["body"]
                    .to_string()
                    .contains(&format!("<em>{word}</em>")),
                "{hit}"
            );
        }
    }
}

/// A pattern that may begin with anything would have to look into every document that has a rare word.
#[test]
fn letters_that_no_identifier_has_cost_no_document() {
    let lines: Vec<String> = (0..4_000_u64)
        .map(|n| {
            let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let what = if n % 4 == 0 { "readtimeout" } else { "done" };
            json!({"time": 1_700_000_000 + n, "n": n, "body": format!("request {id} {what}")})
                .to_string()
        })
        .collect();
    let index = TestIndex::build(&config(true), &lines, 10_000).unwrap();
    assert!(num_rare_words(&index)[0] >= 3_900);
    let searcher = named(&index, "rare");
    let mut limits = Limits::default();
    limits.guest.insert("max_docs_scanned".to_owned(), 0.into());
    let count = |query: Value| {
        let body = json!({"query": query, "size": 0, "track_total_hits": true});
        let (_, answer) = call_within(&searcher, "POST", "/rare/_search", "", &body, &limits);
        (
            answer["hits"]["total"]["value"].as_u64(),
            answer.to_string(),
        )
    };
    let (found, answer) = count(json!({"wildcard": {"body": "*timeout*"}}));
    assert_eq!(found, Some(1_000), "{answer}");
    let (found, answer) = count(json!({"regexp": {"body": ".*done"}}));
    assert_eq!(found, Some(3_000), "{answer}");
    let (_, answer) = count(json!({"wildcard": {"body": "*12345*"}}));
    assert!(answer.contains("max_docs_scanned"), "{answer}");
}
